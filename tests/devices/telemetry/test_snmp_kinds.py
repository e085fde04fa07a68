"""Kinds of agents that were once read wrongly: names and numbers are made up."""

from __future__ import annotations

import time
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from netdyno.devices import secrets
from netdyno.devices.telemetry import snmp
from netdyno.devices.telemetry.reasons import SensorsLeftOut, WideCounterStill
from netdyno.devices.telemetry.snmp import SnmpInstrument
from netdyno.values.sample import Absent
from snmp_agent import COUNTER, COUNTER64, GAUGE, Agent, Request, Value, oid, parse, serving, text, whole
from snmprec import load

RECORDS = Path(__file__).parents[2] / "data" / "telemetry"
IF, IFX = "1.3.6.1.2.1.2.2.1", "1.3.6.1.2.1.31.1.1.1"
SENSOR, ENTITY = "1.3.6.1.2.1.99.1.1.1", "1.3.6.1.2.1.47.1.1.1.1"
VOLTS, WATTS, CELSIUS = 4, 6, 8
CHASSIS, SUPPLY, MODULE, PORT = 3, 6, 9, 10

Found = dict[tuple[str, str], Fraction | Absent]


@pytest.fixture(autouse=True)
def _community(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_read", set())
    monkeypatch.delenv("NETDYNO_SNMP_USER", raising=False)
    monkeypatch.setenv("NETDYNO_SNMP_COMMUNITY", "quiet")


def take(instrument: SnmpInstrument) -> Found:
    return {
        (channel.subject, channel.name): sample.value
        if isinstance(sample.value, Absent)
        else Fraction(sample.value, 10**channel.scale)
        for channel, sample in instrument.read(time.monotonic_ns).items()
    }


def read(objects: Mapping[str, Value], *interfaces: str) -> Found:
    with serving(Agent(dict(objects))) as agent:
        instrument = SnmpInstrument("127.0.0.1", agent.port, interfaces=interfaces)
        try:
            return take(instrument)
        finally:
            instrument.close()


def of(found: Found, *names: str) -> dict[tuple[str, str], Fraction]:
    return {key: one for key, one in found.items() if key[1] in names and isinstance(one, Fraction)}


def sensor(
    number: int, name: str, kind: int, number_shown: int, scale: int = 9, digits: int = 0
) -> dict[str, Value]:
    """A sensor whose state is right."""
    columns = enumerate((kind, scale, digits, number_shown, 1), 1)
    found = {f"{SENSOR}.{column}.{number}": whole(one) for column, one in columns}
    return found | {f"{ENTITY}.7.{number}": text(name)}


def entity(number: int, name: str, within: int, kind: int) -> dict[str, Value]:
    return {
        f"{ENTITY}.4.{number}": whole(within),
        f"{ENTITY}.5.{number}": whole(kind),
        f"{ENTITY}.7.{number}": text(name),
    }


def vendor(object_id: str, *columns: tuple[str, Mapping[str, Value]]) -> dict[str, Value]:
    found = {f"{column}.{index}": value for column, rows in columns for index, value in rows.items()}
    return {"1.3.6.1.2.1.1.2.0": oid(parse(object_id))} | found


def test_sensors_of_the_device_come_before_its_rails() -> None:
    found = read(load(RECORDS / "snmp_sensors_70.snmprec"), "port1")
    assert of(found, "temperature", "fan", "power") == {
        ("inlet", "temperature"): 24,
        ("outlet", "temperature"): 39,
        ("fan 1", "fan"): 6000,
        ("psu", "power"): 180,
    }
    left = found["device", "sensors left out"]
    assert isinstance(left, Absent)
    assert left.reason == SensorsLeftOut(6)


def test_sensors_of_the_labs_port_come_first() -> None:
    objects: dict[str, Value] = {f"{IFX}.1.7": text("xe-0/0/7"), f"{IFX}.6.7": whole(1, COUNTER64)}
    for port in range(1, 41):
        objects |= entity(port, f"xe-0/0/{port}", 0, PORT)
        for number, kind in ((100 + 2 * port, CELSIUS), (101 + 2 * port, VOLTS)):
            objects |= sensor(number, f"sensor {number}", kind, port) | entity(
                number, f"sensor {number}", port, 8
            )
    objects |= sensor(900, "intake", CELSIUS, 21)
    found = of(read(objects, "xe-0/0/7"), "temperature", "voltage")
    assert len(found) == 64
    assert list(found)[:3] == [
        ("sensor 114", "temperature"),
        ("sensor 115", "voltage"),
        ("intake", "temperature"),
    ]


def test_watts_of_light_are_not_what_the_device_draws() -> None:
    found = read(load(RECORDS / "snmp_light.snmprec"), "port1")
    assert of(found, "power") == {("psu1", "power"): 150}
    light = of(found, "optical power")
    assert set(light.values()) == {Fraction("0.00055"), Fraction("0.00042")}
    # By its name another one is not: by the port that it is in.
    objects = sensor(1, "supply A", WATTS, 96) | sensor(2, "channel 1", WATTS, 6123, 8, 4)
    objects |= entity(2, "channel 1", 3, 8) | entity(3, "module", 4, MODULE) | entity(4, "p7", 5, PORT)
    objects |= entity(1, "supply A", 5, 8) | entity(5, "chassis", 0, CHASSIS)
    found = read(objects)
    assert of(found, "power") == {("supply A", "power"): 96}
    assert of(found, "optical power") == {("channel 1", "optical power"): Fraction("0.0006123")}


def test_sensors_without_names_of_their_own_have_their_descriptions() -> None:
    descriptions = {
        1: ("", "DOM TX Power Sensor for Ethernet5", 6015, 8, 4),
        2: ("Power Sensor", "MGMT/PS1/POWER", 60, 9, 0),
        3: ("Power Sensor", "MGMT/monitor/CONSUMER_POWER", 63, 9, 0),
        4: ("Power Sensor", "Eth1/9 Port Module Sensor, Rx Power, Channel 1", 5917, 8, 4),
    }
    objects: dict[str, Value] = {}
    for number, (name, description, value, scale, digits) in descriptions.items():
        objects |= sensor(number, name, WATTS, value, scale, digits)
        objects[f"{ENTITY}.2.{number}"] = text(description)
    found = read(objects)
    assert of(found, "power") == {("MGMT/monitor/CONSUMER_POWER", "power"): 63}
    assert set(of(found, "optical power").values()) == {Fraction("0.0006015"), Fraction("0.0005917")}
    assert found["MGMT/PS1/POWER", "power of a part"] == 60


@pytest.mark.parametrize(
    ("watts", "drawn"),
    [
        ({"PSU1 Input Power": 110, "PSU1 Output Power": 99, "PSU2 Input Power": 5}, 115),
        ({"PS1 POWin": 96, "PS1 POWout": 84}, 96),
        ({"psu1": 100, "psu2": 90, "Total power": 190}, 190),
        ({"PSU1 Output Power": 99, "PSU2 Output Power": 98}, 197),
        ({"psu1": 100, "PoE power": 60, "psu1 maximum": 500}, 100),
    ],
)
def test_watts_are_counted_once(watts: Mapping[str, int], drawn: int) -> None:
    objects: dict[str, Value] = {}
    for number, (name, value) in enumerate(watts.items(), 1):
        objects |= sensor(number, name, WATTS, value)
    found = read(objects)
    assert sum(of(found, "power").values()) == drawn
    assert len([key for key in found if "power" in key[1]]) == len(watts)


def test_wide_counters_that_stay_0_give_way_to_narrow_ones() -> None:
    found = read(load(RECORDS / "snmp_hc_zero.snmprec"), "port1")
    assert of(found, "ifInUcastPkts", "ifOutUcastPkts") == {
        ("port1", "ifInUcastPkts"): 77,
        ("port1", "ifOutUcastPkts"): 66,
    }
    assert found["port1", "ifHCInOctets"] == 5000
    still = found["port1", "ifHCInUcastPkts"]
    assert isinstance(still, Absent)
    assert still.reason == WideCounterStill("ifHCInUcastPkts")


def test_wide_counter_that_does_not_begin_to_count_gives_way_then() -> None:
    objects = {
        f"{IFX}.1.1": text("p1"),
        f"{IFX}.6.1": whole(0, COUNTER64),
        f"{IFX}.7.1": whole(0, COUNTER64),
        f"{IF}.10.1": whole(0, COUNTER),
        f"{IF}.11.1": whole(0, COUNTER),
    }
    with serving(Agent(objects)) as agent:
        instrument = SnmpInstrument("127.0.0.1", agent.port, interfaces=("p1",))
        first = take(instrument)
        assert first["p1", "ifHCInUcastPkts"] == first["p1", "ifHCInOctets"] == 0
        agent.objects |= {f"{IF}.10.1": whole(64, COUNTER), f"{IF}.11.1": whole(1, COUNTER)}
        agent.objects[f"{IFX}.6.1"] = whole(64, COUNTER64)
        then = take(instrument)
        instrument.close()
    assert then["p1", "ifInUcastPkts"] == 1
    assert isinstance(then["p1", "ifHCInUcastPkts"], Absent)
    assert then["p1", "ifHCInOctets"] == 64
    assert ("p1", "ifInOctets") not in then


def test_pauses_of_a_port_are_counted() -> None:
    pauses = "1.3.6.1.2.1.10.7.10.1"
    objects = {f"{IFX}.1.4": text("p1"), f"{IFX}.6.4": whole(9, COUNTER64)}
    objects |= {f"{pauses}.3.4": whole(17, COUNTER), f"{pauses}.4.4": whole(3, COUNTER)}
    assert of(read(objects, "p1"), "dot3InPauseFrames", "dot3OutPauseFrames") == {
        ("p1", "dot3InPauseFrames"): 17,
        ("p1", "dot3OutPauseFrames"): 3,
    }
    wide = of(read(objects | {f"{pauses}.5.4": whole(2**33, COUNTER64)}, "p1"), "dot3HCInPauseFrames")
    assert wide == {("p1", "dot3HCInPauseFrames"): 2**33}


CISCO, MIKROTIK = "1.3.6.1.4.1.9.9", "1.3.6.1.4.1.14988.1.1.3"
JUNIPER, RUIJIE, FS = "1.3.6.1.4.1.2636.3.1.13.1", "1.3.6.1.4.1.4881.1.1.10.2", "1.3.6.1.4.1.52642.1.1.10.2"
VENDORS = [
    (
        "cisco",
        vendor(
            "1.3.6.1.4.1.9.1.2068",
            (f"{CISCO}.109.1.1.1.1.6", {"2": whole(13, GAUGE), "7": whole(100, GAUGE)}),
            (f"{CISCO}.109.1.1.1.1.3", {"2": whole(99, GAUGE)}),
            (f"{CISCO}.91.1.1.1.1.1", {"22": whole(8)}),
            (f"{CISCO}.91.1.1.1.1.2", {"22": whole(9)}),
            (f"{CISCO}.91.1.1.1.1.3", {"22": whole(1)}),
            (f"{CISCO}.91.1.1.1.1.4", {"22": whole(345)}),
            (f"{CISCO}.91.1.1.1.1.5", {"22": whole(1)}),
            (f"{CISCO}.13.1.3.1.2", {"1": text("inlet")}),
            (f"{CISCO}.13.1.3.1.3", {"1": whole(35, GAUGE)}),
        ),
        {
            ("processor 2", "CPU"): 13,
            ("processor 7", "CPU"): 100,
            ("sensor 22", "temperature"): Fraction("34.5"),
        },
    ),
    (
        "cisco, older",
        vendor(
            "1.3.6.1.4.1.9.1.576",
            (f"{CISCO}.109.1.1.1.1.3", {"1": whole(7, GAUGE)}),
            (f"{CISCO}.13.1.3.1.2", {"1": text("chassis inlet"), "2": text("not there")}),
            (f"{CISCO}.13.1.3.1.3", {"1": whole(29, GAUGE), "2": whole(0, GAUGE)}),
        ),
        {("processor", "CPU"): 7, ("chassis inlet", "temperature"): 29},
    ),
    (
        "mikrotik",
        vendor(
            "1.3.6.1.4.1.14988.1",
            (f"{MIKROTIK}.10", {"0": whole(310)}),
            (f"{MIKROTIK}.12", {"0": whole(504)}),
            (f"{MIKROTIK}.100.1.2", {"17": text("cpu-temperature"), "7": text("fan1"), "9": text("draw")}),
            (f"{MIKROTIK}.100.1.3", {"17": whole(54), "7": whole(4300), "9": whole(505)}),
            (f"{MIKROTIK}.100.1.4", {"17": whole(1), "7": whole(2), "9": whole(5)}),
            ("1.3.6.1.2.1.25.3.3.1.2", {"1": whole(12)}),
        ),
        {
            ("cpu-temperature", "temperature"): 54,
            ("fan1", "fan"): 4300,
            ("draw", "power"): Fraction("50.5"),
            ("cpu0", "hrProcessorLoad"): 12,
        },
    ),
    (
        "mikrotik, RouterOS 6",
        vendor(
            "1.3.6.1.4.1.14988.1",
            (f"{MIKROTIK}.10", {"0": whole(310)}),
            (f"{MIKROTIK}.11", {"0": whole(0)}),
            (f"{MIKROTIK}.12", {"0": whole(504)}),
        ),
        {("board", "temperature"): 31, ("device", "power"): Fraction("50.4")},
    ),
    (
        "juniper",
        vendor(
            "1.3.6.1.4.1.2636.1.1.1.2.25",
            (f"{JUNIPER}.5", {"9.1.0.0": text("Routing Engine 0"), "4.1.0.0": text("Fan 1")}),
            (f"{JUNIPER}.7", {"9.1.0.0": whole(38, GAUGE), "4.1.0.0": whole(0, GAUGE)}),
            (f"{JUNIPER}.8", {"9.1.0.0": whole(0, GAUGE), "4.1.0.0": whole(0, GAUGE)}),
            (f"{JUNIPER}.15", {"9.1.0.0": whole(2048), "4.1.0.0": whole(0)}),
        ),
        {("Routing Engine 0", "CPU"): 0, ("Routing Engine 0", "temperature"): 38},
    ),
    *(
        (
            name,
            vendor(
                f"{base.removesuffix('.1.1.10.2')}.1.1.10.1.99",
                (f"{base}.36.1.1.1", {"0": whole(21, GAUGE)}),
                (f"{base}.1.1.44.1.4", {"1.0.1": text("board")}),
                (f"{base}.1.1.44.1.5", {"1.0.1": whole(44), "1.0.2": whole(0)}),
            ),
            {("processor", "CPU"): 21, ("board", "temperature"): 44},
        )
        for name, base in (("ruijie", RUIJIE), ("fs", FS))
    ),
]


@pytest.mark.parametrize(
    ("objects", "expected"), [one[1:] for one in VENDORS], ids=[one[0] for one in VENDORS]
)
def test_vendors_have_cpu_and_temperature_in_mibs_of_their_own(
    objects: Mapping[str, Value], expected: Mapping[tuple[str, str], Fraction]
) -> None:
    found = read(objects)
    assert of(found, "CPU", "hrProcessorLoad", "temperature", "fan", "power") == expected


def test_agent_that_is_slow_in_what_sensors_can_do_without_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snmp, "CONNECT_S", 1.0)
    objects = sensor(1, "psu", WATTS, 90) | sensor(2, "psu", WATTS, 80)
    objects |= vendor("1.3.6.1.4.1.9.1", (f"{CISCO}.109.1.1.1.1.6", {"1": whole(7, GAUGE)}))
    slow = [parse(one) for one in (f"{ENTITY}.2", f"{ENTITY}.4", f"{CISCO}.109.1.1.1.1.6")]

    def silent(request: Request, answer: bytes) -> list[bytes]:
        return [] if any(oid[: len(one)] == one for oid in request.oids for one in slow) else [answer]

    with serving(Agent(objects, silent)) as agent:
        instrument = SnmpInstrument("127.0.0.1", agent.port)
        found = take(instrument)
        instrument.close()
    assert sum(of(found, "power").values()) == 170
    assert of(found, "CPU") == {}


def test_mib_of_another_vendor_is_not_read() -> None:
    objects = dict(VENDORS[0][1]) | {"1.3.6.1.2.1.1.2.0": oid(parse("1.3.6.1.4.1.2636.1"))}
    assert of(read(objects), "CPU", "temperature") == {}
