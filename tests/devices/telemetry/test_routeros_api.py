"""The RouterOS API: literal answers of a router, its two logins, TLS, and routers that do not behave."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from certificates import make_identity
from fakes.routeros_api import PASSWORD, USER, Router, Row, sentence, serving
from netdyno.devices import secrets
from netdyno.devices.access import Api
from netdyno.devices.telemetry import routeros_target
from netdyno.devices.telemetry.api import ApiInstrument, Target, open_api
from netdyno.devices.wiring import LabError

ETHER1: Row = {
    ".id": "*1",
    "name": "ether1",
    "running": "true",
    "rx-byte": "18446744073",
    "tx-byte": "987654",
    "rx-packet": "1230004",
    "tx-packet": "654",
    "rx-drop": "7",
    "tx-drop": "0",
    "rx-error": "0",
    "tx-error": "1",
}
RESOURCE: Row = {
    "version": "6.49.10 (long-term)",
    "cpu-load": "14",
    "free-memory": "1000000000",
    "total-memory": "1200000000",
}
CORES: tuple[Row, ...] = ({"cpu": "cpu0", "load": "10", "irq": "9"}, {"cpu": "cpu1", "load": "3", "irq": "2"})
HEALTH_6: tuple[Row, ...] = ({"power-consumption": "68.5", "cpu-temperature": "54", "fan1-speed": "4230"},)
HEALTH_7: tuple[Row, ...] = (
    {"name": "cpu-temperature", "value": "54", "type": "C"},
    {"name": "power-consumption", "value": "68.5", "type": "W"},
    {"name": "fan1-speed", "value": "4230", "type": "RPM"},
    {"name": "psu1-state", "value": "ok", "type": ""},
)
PRINT = "/interface/print"


@pytest.fixture(autouse=True)
def _login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_read", set())
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)


def a_router(health: tuple[Row, ...] = HEALTH_6, **options: bool) -> Router:
    return Router(
        {
            PRINT: lambda: (ETHER1, {**ETHER1, "name": "ether2", "rx-packet": "1"}),
            "/system/resource/print": lambda: (RESOURCE,),
            "/system/resource/cpu/print": lambda: CORES,
            "/system/health/print": lambda: health,
        },
        **options,
    )


def target(router: Router, api: Api | None = None, port: str = "ether1") -> Target:
    return Target("127.0.0.1", USER, api or Api(router.port, tls=False), ((port, port),))


@contextmanager
def opened(router: Router, port: str = "ether1") -> Iterator[tuple[ApiInstrument, ...]]:
    with serving(router):
        connection, instruments = open_api("routeros", target(router, port=port))
        try:
            yield instruments
        finally:
            connection.close()


def read(*instruments: ApiInstrument) -> dict[tuple[str, str], Fraction]:
    return {
        (channel.subject, channel.name): Fraction(sample.value, 10**channel.scale)
        for one in instruments
        for channel, sample in one.read(time.monotonic_ns).items()
        if isinstance(sample.value, int)
    }


def refused(router: Router, api: Api | None = None, port: str = "ether1") -> LabError:
    with pytest.raises(LabError) as caught:
        open_api("routeros", target(router, api, port))
    assert PASSWORD not in f"{caught.value.message} {caught.value.hint}"
    return caught.value


@pytest.mark.parametrize("health", [HEALTH_6, HEALTH_7], ids=["version 6", "version 7"])
def test_routeros_api_gives_counters_cores_memory_and_health(health: tuple[Row, ...]) -> None:
    with opened(a_router(health)) as instruments:
        assert read(*instruments) == {
            ("ether1", "rx_packets"): 1_230_004,
            ("ether1", "rx_bytes"): 18_446_744_073,
            ("ether1", "in_drops"): 7,
            ("ether1", "in_errors"): 0,
            ("ether1", "tx_packets"): 654,
            ("ether1", "tx_bytes"): 987_654,
            ("ether1", "out_drops"): 0,
            ("ether1", "out_errors"): 1,
            ("all cores", "CPU"): 14,
            ("memory", "memory used"): 200_000_000,
            ("memory", "memory free"): 1_000_000_000,
            ("cpu0", "CPU"): 10,
            ("cpu1", "CPU"): 3,
            ("device", "power"): Fraction(137, 2),
            ("cpu-temperature", "temperature"): 54,
            ("fan1-speed", "fan"): 4230,
        }
        channels = {one.name: one for one in instruments[0].read(time.monotonic_ns)}
    assert (channels["rx_packets"].bits, channels["rx_packets"].counts_traffic) == (64, True)
    assert channels["in_drops"].is_counter
    assert not channels["in_drops"].counts_traffic


def test_routeros_api_counter_moves_with_the_router() -> None:
    seen = iter(range(100, 200, 10))
    router = a_router()
    router.tables[PRINT] = lambda: ({**ETHER1, "rx-packet": str(next(seen))},)
    with opened(router) as (counters, *_):
        found = [read(counters)["ether1", "rx_packets"] for _ in range(3)]
    # The first one was read when the API was opened.
    assert found == [110, 120, 130]
    assert router.logins == 1


def test_server_of_the_test_is_understood_by_librouteros_alone() -> None:
    librouteros = pytest.importorskip("librouteros")
    with serving(a_router()) as router:
        api = librouteros.connect("127.0.0.1", USER, PASSWORD, port=router.port)
        assert [row["name"] for row in api.path("interface")] == ["ether1", "ether2"]
        api.close()


def test_router_before_6_43_is_logged_in_by_its_challenge() -> None:
    router = a_router(old=True)
    with opened(router) as instruments:
        assert read(*instruments)["cpu1", "CPU"] == 3
    assert router.logins == 1


def test_router_without_health_is_read_without_it() -> None:
    router = a_router()
    del router.tables["/system/health/print"]
    with opened(router) as instruments:
        names = [one.reading.name for one in instruments]
        assert names == ["counters and drops", "CPU", "memory", "CPU per core"]


@pytest.mark.parametrize("old", [False, True])
def test_wrong_password_is_a_refused_login(old: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_PASSWORD", "another-planted-1")
    with serving(a_router(old=old)) as router:
        error = refused(router)
    assert error.code == "login-refused"
    assert "NETDYNO_127_0_0_1_PASSWORD" in str(error.hint)


def test_password_that_an_old_router_does_not_take_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETDYNO_PASSWORD", "p\u00e4ss-1")
    with serving(a_router(old=True)) as router:
        error = refused(router)
    assert (error.code, "\\xe4" in error.message) == ("login-refused", False)


def test_login_without_a_password_names_its_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NETDYNO_PASSWORD")
    error = refused(a_router(), Api(1, tls=False))
    assert error.code == "login-missing"
    assert "NETDYNO_PASSWORD" in str(error.hint)


def test_port_that_the_router_lacks_is_named() -> None:
    with serving(a_router()) as router:
        error = refused(router, port="ether9")
    assert error.code == "no-such-interface"
    assert "ether9" in error.message


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("hang up", "session-lost"),
        (sentence("!fatal", "too many sessions"), "session-lost"),
        (sentence("!trap", "=message=not enough permissions (9)") + sentence("!done"), "command-refused"),
        (
            sentence("!trap", "=message=a") + sentence("!trap", "=message=b") + sentence("!done"),
            "command-refused",
        ),
        (sentence("!re", "no attribute") + sentence("!done"), "not-understood"),
        (sentence("!re", "=name=ether1", "=rx-packet=1e9") + sentence("!done"), "not-understood"),
        (sentence("!re", "=name=ether1", "=comment=x") + sentence("!done"), "not-understood"),
        (sentence("!trap", "=unheard-of=1") + sentence("!done"), "not-understood"),
        (b"\0", "not-understood"),
        (b"\xff" * 8, "not-understood"),
        (b"\xef\xff\xff\xff" + b"a" * 3 * 2**20, "too-long"),
        (sentence("!re", "=a=" + "b" * 9000) * 400, "too-long"),
        ("silent", "device-silent"),
    ],
)
def test_answer_that_is_none_is_an_error_with_a_code(
    fault: bytes | str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routeros_target, "ANSWER_S", 0.5)
    router = a_router()
    router.faults[PRINT] = fault
    with serving(router):
        begun = time.monotonic()
        assert refused(router).code == code
        assert time.monotonic() - begun < 60


@pytest.mark.parametrize("answer", [b"\xff", b"\0", sentence("!trap", "=unheard-of=1") + sentence("!done")])
def test_answer_to_a_login_that_is_none_is_an_error(answer: bytes) -> None:
    router = a_router()
    router.faults["/login"] = answer
    with serving(router):
        assert refused(router).code == "device-unreachable"


def test_answer_that_drips_ends_at_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routeros_target, "CONNECT_S", 0.6)

    def drip(listener: socket.socket) -> None:
        stream, _ = listener.accept()
        with stream:
            for _ in range(200):
                try:
                    stream.sendall(b"\x50")
                except OSError:
                    return
                time.sleep(0.1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=drip, args=(listener,), daemon=True).start()
        for tls in (False, True):
            begun = time.monotonic()
            port = listener.getsockname()[1]
            assert refused(a_router(), Api(port, tls=tls)).code == "device-unreachable"
            assert time.monotonic() - begun < 60


def test_answers_of_random_bytes_end_as_errors_with_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routeros_target, "ANSWER_S", 0.05)
    random, seen = Random(7), set()
    whole = sentence("!re", *(f"={name}={value}" for name, value in ETHER1.items())) + sentence("!done")
    with serving(a_router()) as router:
        for _ in range(150):
            damaged = bytearray(whole if random.random() < 0.8 else random.randbytes(200))
            for _ in range(random.randrange(1, 6)):
                damaged[random.randrange(len(damaged))] = random.randrange(256)
            router.faults[PRINT] = bytes(damaged)
            try:
                connection, _ = open_api("routeros", target(router))
                connection.close()
            except LabError as error:
                seen.add(error.code)
    assert {"not-understood", "device-silent"} <= seen
    assert seen <= {"not-understood", "device-silent", "session-lost", "command-refused", "no-such-interface"}


def test_lost_connection_is_opened_again_at_the_next_reading() -> None:
    router = a_router()
    with opened(router) as (counters, *_):
        router.faults[PRINT] = "hang up"
        with pytest.raises(LabError) as caught:
            read(counters)
        assert caught.value.code == "session-lost"
        router.faults.clear()
        assert read(counters)["ether1", "rx_packets"] == 1_230_004
    assert router.logins == 2


def tls_of(folder: Path, address: str | None = "127.0.0.1") -> tuple[ssl.SSLContext, str]:
    identity = make_identity(folder, address=address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.certificate, identity.key)
    return context, str(identity.certificate)


def test_certificate_that_is_trusted_by_file_is_taken(tmp_path: Path) -> None:
    context, file = tls_of(tmp_path)
    with serving(a_router(), context) as router:
        connection, instruments = open_api("routeros", target(router, Api(router.port, ca=file)))
        assert read(*instruments)["cpu0", "CPU"] == 10
        connection.close()


def test_certificate_that_is_not_trusted_is_refused(tmp_path: Path) -> None:
    context, _ = tls_of(tmp_path)
    with serving(a_router(), context) as router:
        assert refused(router, Api(router.port)).code == "certificate-refused"
        assert router.asked == []


def test_certificate_of_another_name_is_refused(tmp_path: Path) -> None:
    context, file = tls_of(tmp_path, address=None)
    with serving(a_router(), context) as router:
        assert refused(router, Api(router.port, ca=file)).code == "certificate-refused"


def test_certificate_is_not_checked_where_the_plan_says_so(tmp_path: Path) -> None:
    context, _ = tls_of(tmp_path, address=None)
    with serving(a_router(), context) as router:
        connection, instruments = open_api("routeros", target(router, Api(router.port, strict=False)))
        assert read(*instruments)["cpu0", "CPU"] == 10
        connection.close()


def test_api_without_tls_is_unreachable_by_tls() -> None:
    with serving(a_router()) as router:
        assert refused(router, Api(router.port)).code == "device-unreachable"


def test_file_of_certificates_that_has_none_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    for file in (empty, tmp_path / "missing.pem"):
        error = refused(a_router(), Api(1, ca=str(file)))
        assert (error.code, str(file) in error.message) == ("cannot-read", True)


def test_port_that_nothing_listens_at_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert refused(a_router(), Api(port, tls=False)).code == "device-unreachable"


def test_password_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with opened(a_router()) as instruments:
        read(*instruments)
    assert PASSWORD not in caplog.text
