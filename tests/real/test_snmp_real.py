"""Net-SNMP's own agent: its cache, its restart, its logins, and counters of which no rate can be known."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest
import snmpd
from netdyno.campaign.instruments import Recorder
from netdyno.devices import secrets
from netdyno.devices.telemetry.snmp import SnmpInstrument
from netdyno.devices.wiring import LabError
from netdyno.testers.tester import Progress
from netdyno.values.counter import find_resets, rate_within, rates, resets_by_change, resets_by_uptime
from netdyno.values.health import Health
from netdyno.values.outcome import FrameCounts, Outcome
from netdyno.values.series import Series
from snmprec import load_for_snmpd
from words import has_code

IF, IFX = ".1.3.6.1.2.1.2.2.1", ".1.3.6.1.2.1.31.1.1.1"
NOTHING = Outcome(FrameCounts((), (), 1), Health(0, 0, 0, 0, 0, None), ())
TICK_S = 0.05
SLOW, FAST = Fraction(12_500_000), Fraction(12_500_000_000)
"""Bytes a second of 100 Mbit/s, of whose line a 32-bit counter wraps in minutes, and of 100 Gbit/s.

A step of the counter is 2000 bytes: two readings a few ms apart, as after a stall, are within that line.
"""


@pytest.fixture(autouse=True)
def _login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_read", set())
    for name in ("SNMP_USER", "SNMP_AUTH", "SNMP_PRIV"):
        monkeypatch.delenv(f"NETDYNO_{name}", raising=False)
    monkeypatch.setenv("NETDYNO_SNMP_COMMUNITY", snmpd.COMMUNITY)


def log_in_as(monkeypatch: pytest.MonkeyPatch, user: str, auth: str, priv: str) -> None:
    for name, value in (("SNMP_USER", user), ("SNMP_AUTH", auth), ("SNMP_PRIV", priv)):
        monkeypatch.setenv(f"NETDYNO_{name}", value)


def ports(octets: int, narrow: int, cleared: int = 0) -> dict[str, tuple[str, object]]:
    """`xe0` has 64 bits; `xe1` and `xe2` have 32."""
    found: dict[str, tuple[str, object]] = {
        f"{IFX}.1.{number}": ("string", f"xe{number - 1}") for number in (1, 2, 3)
    }
    found |= {f"{IF}.10.{number}": ("counter", narrow % 2**32) for number in (2, 3)}
    return found | {
        f"{IFX}.6.1": ("counter64", octets),
        f"{IFX}.19.1": ("timeticks", cleared),
    }


def recorded(
    instrument: SnmpInstrument, meanwhile: Callable[[], None]
) -> tuple[dict[tuple[str, str], Series], int]:
    """The series by subject and name, and when traffic began, monotonic clock."""
    with Recorder((instrument,)) as recorder:
        recorder.look(lambda: Progress("traffic", 0, 10**9, traffic_ns=0))
        meanwhile()
        series = recorder.with_readings(NOTHING).series
        assert recorder.began_ns is not None
        return {(one.subject, one.name): one for one in series}, recorder.began_ns


def test_snmpd_counters_that_lie_during_a_run_have_no_rate(tmp_path: Path) -> None:
    """Its counters are stopped, wrapped and set back: no rate is printed where none can be known."""
    stopped_ns: list[int] = []
    with snmpd.running(tmp_path, ports(10**12, 2**32 - 50_000)) as agent:
        instrument = SnmpInstrument(
            "127.0.0.1", agent.port, interfaces=("xe0", "xe1", "xe2"), period_s=TICK_S
        )

        def meanwhile() -> None:
            octets, narrow, cleared = 10**12, 2**32 - 50_000, 0
            for tick in range(120):
                time.sleep(TICK_S)
                narrow += 2000
                octets += 0 if 50 <= tick < 80 else 2000
                if tick == 25:
                    octets = 5
                if tick == 100:
                    cleared, octets = 777, octets + 10**6
                agent.say(ports(octets, narrow, cleared))
                if tick in (50, 79):
                    stopped_ns.append(time.monotonic_ns())

        series, began_ns = recorded(instrument, meanwhile)
    resets = resets_by_change(series["xe0", "ifCounterDiscontinuityTime"])
    wide = rates(series["xe0", "ifHCInOctets"], SLOW, moving=True, resets=resets)
    assert [one.reason.code for one in wide if one.reason] == [
        "counter-reset",
        "counter-stuck",
        "counter-reset",
    ]
    known = [one for one in wide if one.rate is not None]
    assert len(known) > 20
    assert max(one.low for one in known if one.low is not None) <= 2000 / Fraction(TICK_S)
    begin_ns, end_ns = (at_ns - began_ns for at_ns in stopped_ns)
    overlaps = [min(one.end_ns, end_ns) - max(one.begin_ns, begin_ns) for one in known]
    assert max(overlaps) < 3 * TICK_S * 10**9
    wrapping = series["xe1", "ifInOctets"]
    assert wrapping.bits == 32
    assert min(wrapping.values) < wrapping.values[0]
    across = rates(wrapping, SLOW, moving=True)
    assert {one.reason for one in across} == {None}
    mean = rate_within(wrapping, SLOW, wrapping.at_ns[0], wrapping.at_ns[-1], moving=True)
    assert mean.rate is not None
    assert 0 < mean.rate < 2000 / Fraction(TICK_S)
    unknown = rates(series["xe2", "ifInOctets"], FAST * 1000, moving=True)
    assert {one.rate for one in unknown} == {None}
    assert {one.reason.code for one in unknown if one.reason} == {"counter-may-wrap"}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            "sensors_70",
            {("inlet", "temperature", 24), ("outlet", "temperature", 39), ("fan 1", "fan", 6000)}
            | {("psu", "power", 180)},
        ),
        (
            "light",
            {("psu1", "power", 150), ("laser tx of port1", "optical power", 5500)}
            | {("laser rx of port1", "optical power", 4200)},
        ),
        ("hc_zero", {("port1", "ifInUcastPkts", 77), ("port1", "ifOutUcastPkts", 66)}),
    ],
)
def test_snmpd_with_a_record_gives_its_values(
    record: str, expected: set[tuple[str, str, int]], tmp_path: Path
) -> None:
    path = Path(__file__).parents[1] / "data" / "telemetry" / f"snmp_{record}.snmprec"
    with snmpd.running(tmp_path, load_for_snmpd(path)) as agent:
        instrument = SnmpInstrument("127.0.0.1", agent.port, interfaces=("port1",), period_s=5.0)
        found = instrument.read(time.monotonic_ns)
        instrument.close()
    read = {(channel.subject, channel.name, sample.value) for channel, sample in found.items()}
    assert expected <= read
    power = [channel.subject for channel in found if channel.name == "power"]
    assert power == [subject for subject, name, _ in expected if name == "power"]


@contextmanager
def sending(pause_s: float = 0.002) -> Iterator[None]:
    """Datagrams of 1000 bytes on the loopback, steadily."""
    over = threading.Event()

    def send() -> None:
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here,
        ):
            there.bind(("127.0.0.1", 0))
            while not over.wait(pause_s):
                here.sendto(bytes(1000), there.getsockname())

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    yield
    over.set()
    thread.join()


def kernel_bytes() -> int:
    (line,) = [one for one in Path("/proc/net/dev").read_text().splitlines() if one.strip().startswith("lo:")]
    return int(line.split(":")[1].split()[0])


def test_snmpd_cache_is_noticed_and_the_rate_holds_the_kernels(tmp_path: Path) -> None:
    with snmpd.running(tmp_path) as agent, sending():
        instrument = SnmpInstrument("127.0.0.1", agent.port, interfaces=("lo",), period_s=0.25)
        before, begun = kernel_bytes(), time.monotonic()
        series, _ = recorded(instrument, lambda: time.sleep(10))
        truth = (kernel_bytes() - before) / (time.monotonic() - begun)
    octets = series["lo", "ifHCInOctets"]
    assert octets.bits == 64
    assert len(octets.values) > 30
    found = [one for one in rates(octets, None, moving=True) if one.rate is not None]
    assert 2 <= len(found) <= 5
    for one in found:
        assert 2.5 < one.window_ns / 10**9 < 4
        assert one.low is not None
        assert one.high is not None
        assert float(one.low) * 0.8 < truth < float(one.high) * 1.2


def test_snmpd_restart_is_absent_values_then_a_reset(tmp_path: Path) -> None:
    with snmpd.running(tmp_path, ports(10**12, 5)) as agent:
        instrument = SnmpInstrument("127.0.0.1", agent.port, interfaces=("xe0",), period_s=0.2)

        def meanwhile() -> None:
            time.sleep(3)
            agent.stop()
            time.sleep(1)
            agent.say(ports(10**12 + 1000, 5))
            agent.start()
            time.sleep(1.5)

        series, _ = recorded(instrument, meanwhile)
    octets = series["xe0", "ifHCInOctets"]
    assert {one.reason.code for one in octets.missed} == {"agent-silent"}
    resets = resets_by_uptime(series["device", "sysUpTime"])
    assert len(resets) == 1
    assert find_resets(series.values()).of("xe0") == resets
    found = rates(octets, FAST, resets=resets)
    assert [one.reason.code for one in found if one.reason] == ["counter-reset"]
    assert not [one for one in found if one.rate]


def test_snmpd_user_of_version_3_is_logged_in_again_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_in_as(monkeypatch, snmpd.USER, snmpd.AUTH, snmpd.PRIV)
    with snmpd.running(tmp_path, ports(7, 5)) as agent:
        instrument = SnmpInstrument("127.0.0.1", agent.port, interfaces=("xe0",), period_s=0.5)
        assert octets(instrument) == 7
        agent.stop()
        assert octets(instrument) is None
        agent.start()
        until = time.monotonic() + 10
        while octets(instrument) is None:
            assert time.monotonic() < until


def octets(instrument: SnmpInstrument) -> int | None:
    found = instrument.read(time.monotonic_ns)
    (value,) = [one.value for channel, one in found.items() if channel.name == "ifHCInOctets"]
    return value if isinstance(value, int) else None


@pytest.mark.parametrize(
    ("user", "auth", "priv", "code"),
    [
        ("nobody", snmpd.AUTH, snmpd.PRIV, "login-refused"),
        (snmpd.USER, "wrongauth123", snmpd.PRIV, "login-refused"),
        (snmpd.USER, snmpd.AUTH, "wrongpriv123", "device-unreachable"),
        (snmpd.USER, "SHA256:" + snmpd.AUTH, snmpd.PRIV, "login-refused"),
        (snmpd.USER, "SHA:" + snmpd.AUTH, "AES:" + snmpd.PRIV, ""),
        ("", "", "", "device-unreachable"),
    ],
)
def test_snmpd_login_that_is_wrong_is_an_error_without_secrets(
    user: str, auth: str, priv: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_in_as(monkeypatch, user, auth, priv)
    monkeypatch.setenv("NETDYNO_SNMP_COMMUNITY", "wrongcommunity")
    with snmpd.running(tmp_path, ports(7, 5)) as agent:
        instrument = SnmpInstrument("127.0.0.1", agent.port, interfaces=("xe0",))
        if not code:
            instrument.connect()
            return
        with pytest.raises(LabError, check=has_code(code)) as caught:
            instrument.connect()
    shown = f"{caught.value!r} {caught.value} {caught.value.hint} {vars(instrument)!r}"
    shown += Path("/proc/self/cmdline").read_text()
    assert not [one for one in (auth, priv, "wrongcommunity") if one and one in shown]
    assert "NETDYNO_127_0_0_1_SNMP" in (caught.value.hint or "")
