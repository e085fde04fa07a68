"""SNMP of an agent that answers as it should, and of those that do not: bounded, and absent with a reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from random import Random

import pytest
from netdyno.devices import secrets
from netdyno.devices.live import Channel
from netdyno.devices.secrets import Secret
from netdyno.devices.telemetry import snmp, snmp_agent
from netdyno.devices.telemetry.snmp import SnmpInstrument
from netdyno.devices.wiring import LabError
from netdyno.values.sample import Absent, Sample
from snmp_agent import COUNTER, COUNTER64, GAUGE, TICKS, Agent, Request, Value, parse, serving, text, whole
from words import has_code

IF, IFX, SENSOR = "1.3.6.1.2.1.2.2.1", "1.3.6.1.2.1.31.1.1.1", "1.3.6.1.2.1.99.1.1.1"
STORAGE, RAM = "1.3.6.1.2.1.25.2.3.1", (6, bytes((0x2B, 6, 1, 2, 1, 25, 2, 1, 2)))
UPTIME = "1.3.6.1.2.1.1.3.0"
OCTETS, ERRORS = f"{IFX}.6.3", f"{IF}.14.3"
ROUTER: Mapping[str, Value] = {
    "1.3.6.1.2.1.1.1.0": text("Router 9000"),
    UPTIME: whole(4000, TICKS),
    f"{IF}.2.3": text("TenGigE0/0"),
    f"{IF}.8.3": whole(1),
    f"{IF}.10.3": whole(7, COUNTER),
    f"{IF}.14.3": whole(2, COUNTER),
    f"{IFX}.1.2": text("Te0/1"),
    f"{IFX}.1.3": text("Te0/0"),
    f"{IFX}.6.2": whole(1, COUNTER64),
    OCTETS: whole(2**40, COUNTER64),
    f"{IFX}.15.3": whole(10_000, GAUGE),
    f"{IFX}.19.3": whole(0, TICKS),
    "1.3.6.1.2.1.47.1.1.1.1.7.5": text("Slot 0"),
    "1.3.6.1.2.1.47.1.1.1.1.7.6": text("PSU 0\x1b[2J"),
    **{f"{SENSOR}.{n}.5": whole(value) for n, value in enumerate((8, 9, 1, 345, 1), 1)},
    **{f"{SENSOR}.{n}.6": whole(value) for n, value in enumerate((6, 10, 0, 2, 1), 1)},
    **{f"{SENSOR}.{n}.7": whole(value) for n, value in enumerate((14, 8, 0, -2500, 1), 1)},
    **{f"{SENSOR}.{n}.8": whole(value) for n, value in enumerate((8, 9, 0, 0, 3), 1)},
    "1.3.6.1.2.1.25.3.3.1.2.10": whole(35),
    f"{STORAGE}.2.4": RAM,
    f"{STORAGE}.4.4": whole(1024),
    f"{STORAGE}.5.4": whole(2000),
    f"{STORAGE}.6.4": whole(1500),
}


@pytest.fixture(autouse=True)
def _community(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_read", set())
    monkeypatch.delenv("NETDYNO_SNMP_USER", raising=False)
    monkeypatch.setenv("NETDYNO_SNMP_COMMUNITY", "quiet")
    monkeypatch.setattr(snmp, "CONNECT_S", 0.6)


@contextmanager
def reading(
    objects: Mapping[str, Value] = ROUTER, *, period_s: float = 0.4
) -> Iterator[tuple[Agent, SnmpInstrument, dict[tuple[str, str], Sample]]]:
    """A router, an instrument of its Te0/0 and its first reading."""
    with serving(Agent(dict(objects))) as agent:
        instrument = SnmpInstrument("127.0.0.1", agent.port, interfaces=("Te0/0",), period_s=period_s)
        yield agent, instrument, read(instrument)
        instrument.close()


def read(instrument: SnmpInstrument) -> dict[tuple[str, str], Sample]:
    found: Mapping[Channel, Sample] = instrument.read(time.monotonic_ns)
    return {(channel.subject, channel.name): sample for channel, sample in found.items()}


def code(sample: Sample) -> str:
    assert isinstance(sample.value, Absent)
    return sample.value.reason.code


def test_agent_gives_interfaces_sensors_processors_and_memory() -> None:
    with reading() as (_, instrument, found):
        values = {name: one.value for name, one in found.items() if not isinstance(one.value, Absent)}
        assert instrument.description == "Router 9000"
    assert values == {
        ("device", "sysUpTime"): 4000,
        ("Te0/0", "ifHCInOctets"): 2**40,
        ("Te0/0", "ifInErrors"): 2,
        ("Te0/0", "ifOperStatus"): 1,
        ("Te0/0", "ifHighSpeed"): 10_000,
        ("Te0/0", "ifCounterDiscontinuityTime"): 0,
        ("Slot 0", "temperature"): 345,
        ("PSU 0?[2J", "power"): 2000,
        ("sensor 7", "optical power"): -2500,
        ("cpu0", "hrProcessorLoad"): 35,
        ("memory", "hrStorageSize"): 2000 * 1024,
        ("memory", "hrStorageUsed"): 1500 * 1024,
    }
    assert code(found["sensor 8", "temperature"]) == "sensor-failed"
    assert found["cpu0", "hrProcessorLoad"].window_ns == 60 * 10**9
    assert found["Te0/0", "ifHCInOctets"].window_ns is None


def test_channels_have_scale_and_width() -> None:
    with serving(Agent(dict(ROUTER))) as agent:
        instrument = SnmpInstrument("127.0.0.1", agent.port, interfaces=("Te0/0",))
        found = instrument.read(time.monotonic_ns)
    channels = {one.name: one for one in found if one.subject != "sensor 8"}
    assert (channels["ifHCInOctets"].bits, channels["ifHCInOctets"].counts_traffic) == (64, True)
    assert (channels["ifInErrors"].bits, channels["ifInErrors"].counts_traffic) == (32, False)
    assert (channels["temperature"].scale, channels["optical power"].scale) == (1, 3)
    assert channels["ifOperStatus"].bits is None


def test_agent_without_wide_counters_gives_32_bits() -> None:
    narrow = {name: value for name, value in ROUTER.items() if not name.startswith(IFX)}
    with serving(Agent(narrow)) as agent:
        instrument = SnmpInstrument("127.0.0.1", agent.port, interfaces=("TenGigE0/0",))
        channels = {one.name: one for one in instrument.read(time.monotonic_ns)}
    assert channels["ifInOctets"].bits == 32
    assert "ifHCInOctets" not in channels


def test_interface_of_another_name_in_the_lab_has_that_one() -> None:
    """Its counters and its ifCounterDiscontinuityTime have the subject of the other instruments."""
    with serving(Agent(dict(ROUTER))) as agent:
        found = read(SnmpInstrument("127.0.0.1", agent.port, interfaces={"Te0/0": "west"}))
    assert found["west", "ifHCInOctets"].value == 2**40
    assert found["west", "ifCounterDiscontinuityTime"].value == 0
    assert "Te0/0" not in {subject for subject, _ in found}


def test_reading_is_one_request_and_no_walk() -> None:
    with reading() as (agent, instrument, _):
        agent.asked.clear()
        read(instrument)
        assert [len(one.oids) for one in agent.asked] == [18]


def test_interface_that_the_agent_lacks_is_an_error() -> None:
    with serving(Agent(dict(ROUTER))) as agent:
        instrument = SnmpInstrument("127.0.0.1", agent.port, interfaces=("Te0/2",))
        with pytest.raises(LabError, check=has_code("no-such-interface")) as caught:
            instrument.connect()
    assert "`Te0/1`" in (caught.value.hint or "")


def test_no_secret_is_an_error_that_names_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NETDYNO_SNMP_COMMUNITY")
    with pytest.raises(LabError, check=has_code("login-missing")) as caught:
        SnmpInstrument("127.0.0.1", 9).connect()
    assert "NETDYNO_127_0_0_1_SNMP_COMMUNITY" in (caught.value.hint or "")


def test_secrets_given_by_the_caller_are_used() -> None:
    with serving(Agent(dict(ROUTER))) as agent:
        asked: list[str] = []

        def find(name: str) -> Secret | None:
            asked.append(name)
            return Secret("mine") if name == "SNMP_COMMUNITY" else None

        SnmpInstrument("127.0.0.1", agent.port, find).connect()
        assert b"mine" in agent.asked[0].head
    assert asked == ["SNMP_USER", "SNMP_COMMUNITY"]


def test_agent_that_is_silent_at_first_is_an_error_without_secrets() -> None:
    with serving(Agent({}, lambda request, answer: [])) as agent:
        instrument = SnmpInstrument("127.0.0.1", agent.port)
        with pytest.raises(LabError, check=has_code("device-unreachable")) as caught:
            instrument.read(time.monotonic_ns)
    assert "NETDYNO_SNMP_COMMUNITY" in (caught.value.hint or "")
    assert "quiet" not in f"{caught.value!r} {caught.value} {caught.value.hint} {instrument!r}"


def test_host_without_an_address_is_an_error() -> None:
    with pytest.raises(LabError, check=has_code("device-unreachable")):
        SnmpInstrument("no-such-host.invalid").connect()


def test_agent_that_falls_silent_has_absent_values() -> None:
    with reading() as (agent, instrument, before):
        agent.spoil = lambda request, answer: []
        begun = time.monotonic()
        found = read(instrument)
        assert time.monotonic() - begun < 60
        assert {code(one) for one in found.values()} == {"agent-silent"}
        assert found.keys() == before.keys()
        agent.spoil = None
        assert read(instrument)["Te0/0", "ifHCInOctets"].value == 2**40


def test_index_of_another_interface_is_absent_and_looked_up_again() -> None:
    with reading() as (agent, instrument, _):
        agent.objects |= {f"{IFX}.1.3": text("Te0/1"), f"{IFX}.1.2": text("Te0/0")}
        assert code(read(instrument)["Te0/0", "ifHCInOctets"]) == "interface-index-moved"
        assert read(instrument)["Te0/0", "ifHCInOctets"].value == 1


def test_restart_of_the_agent_has_indexes_looked_up_again() -> None:
    with reading() as (agent, instrument, _):
        agent.objects |= {UPTIME: whole(5, TICKS)}
        agent.asked.clear()
        read(instrument)
        assert len(agent.asked) == 1
        read(instrument)
        assert len(agent.asked) > 2
        agent.asked.clear()
        read(instrument)
        assert len(agent.asked) == 1


def test_interface_that_vanished_is_absent() -> None:
    with reading() as (agent, instrument, _):
        agent.objects = {name: one for name, one in agent.objects.items() if not name.endswith(".3")}
        read(instrument)
        found = read(instrument)
        assert code(found["Te0/0", "ifHCInOctets"]) == "interface-unlisted"
        assert found["device", "sysUpTime"].value == 4000


@pytest.mark.parametrize(
    "value",
    [text("many"), text("x" * 20_000), whole(-1), whole(2**32, COUNTER64), (5, b""), (0x44, b"\x9f\x78\x04")],
)
def test_value_of_a_wrong_type_or_range_is_absent(value: Value) -> None:
    with reading() as (agent, instrument, _):
        agent.objects[ERRORS] = value
        found = read(instrument)
        assert code(found["Te0/0", "ifInErrors"]) in ("object-wrong-type", "object-missing")
        assert found["Te0/0", "ifHCInOctets"].value == 2**40


def test_object_that_the_agent_lost_is_absent() -> None:
    with reading() as (agent, instrument, _):
        del agent.objects[ERRORS]
        assert code(read(instrument)["Te0/0", "ifInErrors"]) == "object-missing"


def others(request: Request, answer: bytes) -> list[bytes]:
    """The answer to somebody else's request, again and again."""
    other = request.answer([(one, whole(1)) for one in request.oids], number=b"\x01")
    return [other] * 50


SPOILT: Mapping[str, tuple[Callable[[Request, bytes], list[bytes]], str]] = {
    "of-others": (others, "agent-silent"),
    "not-ber": (lambda request, answer: [b"\xff" * 300], "answer-unreadable"),
    "cut-off": (lambda request, answer: [answer[:-9]], "answer-unreadable"),
    "length-beyond-the-end": (lambda request, answer: [b"\x30\x84\xff\xff\xff\xff"], "answer-unreadable"),
    "empty": (lambda request, answer: [b""], "answer-unreadable"),
    "error": (lambda request, answer: [request.answer([], error=5)], "object-missing"),
    "nothing-bound": (lambda request, answer: [request.answer([])], "object-missing"),
    "objects-not-asked": (
        lambda request, answer: [request.answer([((1, 3, 6, 1, 9, n), whole(n)) for n in range(100)])],
        "object-missing",
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_answer_that_is_spoilt_is_absent_in_time(name: str) -> None:
    spoil, expected = SPOILT[name]
    with reading() as (agent, instrument, before):
        agent.spoil = spoil
        begun = time.monotonic()
        found = read(instrument)
        assert time.monotonic() - begun < 60
        assert found.keys() == before.keys()
        assert code(found["Te0/0", "ifHCInOctets"]) == expected


def test_answer_too_big_is_asked_for_in_parts() -> None:
    def refuse(request: Request, answer: bytes) -> list[bytes]:
        return [request.answer([], error=1) if len(request.oids) > 6 else answer]

    with reading() as (agent, instrument, _):
        agent.spoil = refuse
        assert read(instrument)["Te0/0", "ifHCInOctets"].value == 2**40


WALKS: Mapping[str, Callable[[Request, bytes], list[bytes]]] = {
    "same-again": lambda request, answer: [request.answer([(parse(f"{IFX}.1.3"), text("Te0/0"))] * 40)],
    "backwards": lambda request, answer: [
        request.answer([(parse(f"{IFX}.1.{n}"), text("x")) for n in range(90, 50, -1)])
    ],
    "endless": lambda request, answer: [
        request.answer([((*request.oids[0], n), text("x")) for n in range(1, 41)])
    ],
    "elsewhere": lambda request, answer: [request.answer([((1, 3, 6, 1, 9), text("x"))])],
    "nothing": lambda request, answer: [request.answer([])],
    "end": lambda request, answer: [request.answer([(request.oids[0], (0x82, b""))])],
}


@pytest.mark.parametrize("name", WALKS)
def test_table_that_never_ends_is_an_error_in_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snmp_agent, "MOST_ROWS", 200)

    def spoil(request: Request, answer: bytes) -> list[bytes]:
        return WALKS[name](request, answer) if request.tag == 0xA5 else [answer]

    with serving(Agent(dict(ROUTER), spoil)) as agent:
        instrument = SnmpInstrument("127.0.0.1", agent.port, interfaces=("Te0/7",))
        begun = time.monotonic()
        with pytest.raises(LabError, check=has_code("no-such-interface", "device-unreachable")):
            instrument.connect()
        assert time.monotonic() - begun < 60
        assert len(agent.asked) < 100


def test_answer_with_random_bytes_is_absent_in_time() -> None:
    random = Random(7)

    def mutate(request: Request, answer: bytes) -> list[bytes]:
        found = bytearray(answer)
        for _ in range(random.randrange(1, 6)):
            found[random.randrange(len(found))] = random.choice(
                (0, 1, 0x7F, 0x80, 0x84, 0xFF, random.randrange(256))
            )
        return [bytes(found[: random.randrange(len(found))] if random.random() < 0.2 else found)]

    with reading(period_s=0.1) as (agent, instrument, before):
        agent.spoil = mutate
        for _ in range(100):
            begun = time.monotonic()
            found = read(instrument)
            assert time.monotonic() - begun < 60
            assert found.keys() == before.keys()
            for one in found.values():
                assert isinstance(one.value, int | Absent)


def test_agent_of_a_case_is_kept_from_trial_to_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """One login and one look at the tables; the session is closed with the case."""
    from netdyno.devices.access import Access, Snmp
    from netdyno.devices.drivers.cisco_iosxr import DRIVER
    from netdyno.devices.drivers.driver import Reached
    from netdyno.devices.reach import live as reach
    from netdyno.devices.wiring import Wiring

    monkeypatch.setattr(reach, "_opened", lambda system, reached: (None, ()))
    closed: list[SnmpInstrument] = []
    monkeypatch.setattr(SnmpInstrument, "close", lambda self: closed.append(self))
    access = Access("127.0.0.1", snmp=Snmp(161))
    wiring = Wiring("real", (), {})
    with reach.reach(DRIVER, wiring, Reached(ports=("Te0/0/0/0",), access=access)) as live:
        first, second = (live.instruments()[-1] for _ in range(2))
        assert isinstance(first, SnmpInstrument)
        assert first is second
        assert closed == []
    assert closed == [first]
