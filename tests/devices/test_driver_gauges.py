"""What drivers read beside counters and CPU, of texts that others published: the source is at each."""

from __future__ import annotations

import subprocess
import time
from fractions import Fraction
from pathlib import Path

import pytest
from campaigns import wait_for
from netdyno.devices import outputs, secrets
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.drivers.linux import read_queues
from netdyno.devices.reach.instrument import CliInstrument, Turn
from netdyno.devices.telemetry.reasons import CommandRefused, NothingPrinted, TextTooLong, TextUnknown
from netdyno.devices.wiring import LabError
from netdyno.values.sample import Absent
from test_driver_texts import Printing, system

DATA = Path(__file__).parents[1] / "data"
ARTICLES, OTHERS = DATA / "outputs", DATA / "telemetry"

Found = dict[tuple[str, str], Fraction]


class Refusing(Printing):
    """A command line that knows no command."""

    asked = 0

    def ask(self, command: str, within_s: float = 15.0) -> str:
        self.asked += 1
        raise LabError("% Invalid input", code="command-refused")


def instrument_of(name: str, reading: str, cli: Printing) -> CliInstrument:
    own = system(DRIVERS[name])
    found = next(one for one in own.readings if one.name == reading)
    return CliInstrument(
        name,
        cli,
        found,
        (("p1", "Te0/1"),),
        lambda asked, said: outputs.parse(name, asked, said).rows,
        Turn(),
    )


def read(name: str, reading: str, path: Path) -> Found:
    samples = instrument_of(name, reading, Printing(path.read_text())).read(time.monotonic_ns)
    return {
        (channel.subject, channel.name): Fraction(sample.value, 10**channel.scale)
        for channel, sample in samples.items()
        if isinstance(sample.value, int)
    }


def of(subject: str, **values: float | str) -> Found:
    return {(subject, name.replace("_", " ")): Fraction(str(one)) for name, one in values.items()}


def named(path: Path, reading: str, name: str) -> dict[str, int]:
    """One quantity of each subject, whole."""
    driver = path.name.partition("_")[0]
    system_of = {"iosxr": "cisco_iosxr", "iosxe": "cisco_iosxe"}.get(driver, driver)
    found = read(system_of, reading, path)
    return {who: int(value) for (who, what), value in found.items() if what == name}


def test_memory_of_ios_xe_is_of_each_pool() -> None:
    """genieparser's test data, ShowMemoryStatistics."""
    found = read("cisco_iosxe", "memory", OTHERS / "iosxe_memory.txt")
    assert found == (
        of("Processor", memory_used=355116128, memory_free=501425640)
        | of("lsmpi_io", memory_used=6294304, memory_free=824)
    )


def test_memory_of_the_asa_is_in_bytes(tmp_path: Path) -> None:
    """`show memory` as highlighting rules for terminals quote it."""
    path = tmp_path / "memory"
    path.write_text(
        "Free memory:        1088409600 bytes (51%)\nUsed memory:        1059074048 bytes (49%)\n"
    )
    assert read("cisco_asa", "memory", path) == of("memory", memory_used=1059074048, memory_free=1088409600)


def test_memory_of_ios_xr_is_what_is_available() -> None:
    """A published log of Ansible on an XRv; the form feed is the device's."""
    found = read("cisco_iosxr", "memory", OTHERS / "iosxr_memory.txt")
    assert found == of("route processor", memory_free=1448083456)


def test_memory_of_routeros_is_used_and_free() -> None:
    """ntc-templates' test data, system_resource_print_4: 3704.1 of 4032.0 MiB."""
    found = read("routeros", "memory", OTHERS / "routeros_resource.txt")
    assert found == of("memory", memory_used=343828070, memory_free=3884030362)


def test_memory_of_linux_is_that_of_free() -> None:
    """This machine's own: what `free` prints, within a hundredth at a moment when others take none."""

    def is_that_of_free() -> bool:
        said = subprocess.run(["free", "-b"], capture_output=True, text=True, check=True).stdout
        total, available = (int(said.splitlines()[1].split()[column]) for column in (1, 6))
        found = read("linux", "memory", Path("/proc/meminfo"))
        assert sum(found.values()) == total
        return abs(found[("memory", "memory free")] - available) < total / 100

    wait_for(is_that_of_free)


@pytest.mark.parametrize(
    ("name", "file", "total"),
    [
        ("cisco_ios", "ios_routes_eigrp", 3061),
        ("cisco_ios", "ios_routes_isis", 6),
        ("cisco_ios", "ios_routes_old", 7),
        ("cisco_iosxr", "iosxr_routes", 14),
    ],
)
def test_routes_of_a_summary_are_those_of_its_sources(name: str, file: str, total: int) -> None:
    """ntc-templates' test data, show_ip_route_summary; genieparser's, ShowRouteSummary."""
    assert read(name, "IPv4 routes", OTHERS / f"{file}.txt") == of("IPv4", routes=total)


def test_routes_that_do_not_add_up_are_not_read(tmp_path: Path) -> None:
    text = (
        (OTHERS / "iosxr_routes.txt").read_text().replace("Total                            14", "Total   15")
    )
    samples = instrument_of("cisco_iosxr", "IPv4 routes", Printing(text)).read(time.monotonic_ns)
    ((channel, sample),) = samples.items()
    assert (channel.subject, channel.name, channel.unit) == ("IPv4", "IPv4 routes", "n/a")
    assert isinstance(sample.value, Absent)
    assert isinstance(sample.value.reason, TextUnknown)


def test_routes_and_neighbors_of_fsos_are_the_articles() -> None:
    """The S5860 article: nine prefixes, one OSPF neighbor that is full; nine MAC addresses."""
    assert read("fsos", "IPv4 routes", ARTICLES / "fsos_route.laid_out.txt") == of("IPv4", routes=9)
    assert read("fsos", "OSPF neighbors", ARTICLES / "fsos_ospf.laid_out.txt") == of(
        "OSPF", neighbors=1, adjacencies=1
    )
    assert read("fsos", "MAC table", ARTICLES / "fsos_mac_count.laid_out.txt") == of(
        "device", MAC_addresses=9
    )


def test_neighbors_of_ios_xr_that_are_not_full_are_no_adjacencies() -> None:
    """The ASR9006 article: of three OSPF neighbors one is only 2-way; three BGP neighbors send prefixes."""
    assert read("cisco_iosxr", "OSPF neighbors", ARTICLES / "iosxr_ospf.laid_out.txt") == of(
        "OSPF", neighbors=3, adjacencies=2
    )
    assert read("cisco_iosxr", "OSPFv3 neighbors", ARTICLES / "iosxr_ospfv3.laid_out.txt") == of(
        "OSPFv3", neighbors=3, adjacencies=2
    )
    assert read("cisco_iosxr", "BGP IPv4 neighbors", ARTICLES / "iosxr_bgp_ipv4.laid_out.txt") == of(
        "BGP IPv4", neighbors=3, adjacencies=3
    )


def test_optics_are_read_in_dbm_on_each_system() -> None:
    """The S5860 article; ntc-templates' phy and monitor; `ethtool -m` of a Finisar module as published."""
    quantities = ("optical power received", "optical power sent", "optics temperature")

    def optics(name: str, path: Path) -> tuple[float, ...]:
        found = read(name, "optics", path)
        assert {who for who, _ in found} == {"p1"}
        return tuple(float(found[("p1", one)]) for one in quantities)

    assert optics("fsos", ARTICLES / "fsos_transceiver.laid_out.txt") == (-0.10, -0.07, 33)
    assert optics("cisco_iosxr", OTHERS / "iosxr_phy.txt") == (-40.0, -15.64, 28.5)
    assert optics("routeros", OTHERS / "routeros_monitor.txt") == (-1.203, -2.843, 33)
    assert optics("linux", OTHERS / "linux_optics.txt") == (-1.27, -1.21, 53.13)


def test_temperatures_and_fans_of_ios_xr_are_of_each_sensor() -> None:
    """A leaf switch in Cisco's xrdocs; an NCS 5516 in ntc-templates' test data."""
    degrees = named(OTHERS / "iosxr_temperatures.txt", "temperature", "temperature")
    assert len(degrees) == 15
    assert (degrees["CPU Core"], degrees["ChassisThermalSensor 3"], degrees["NP8"]) == (67, 36, 63)
    speeds = named(OTHERS / "iosxr_fans.txt", "fans", "fan")
    assert len(speeds) == 56
    assert (speeds["0/FT0 fan 0"], speeds["0/FT0 fan 11"], speeds["0/PM8 fan 1"]) == (6192, 4066, 8516)


def test_temperatures_of_ios_xe_have_their_slot() -> None:
    """genieparser's test data, ShowEnvironment of an ASR 1000, some of its rows."""
    path = OTHERS / "iosxe_environment.txt"
    assert named(path, "temperature and fans", "temperature") == {
        "F0 Temp: Inlet": 30,
        "F0 Temp: Pop Die": 43,
        "F0 Temp: Left Ext": 42,
        "P0 Temp1": 26,
        "P6 Temp1": 38,
        "P6 Temp: FC PWM1": 26,
    }
    assert named(path, "temperature and fans", "fan") == {"P6 Temp: FC PWM1": 60}


def test_health_of_routeros_7_is_read_from_its_table() -> None:
    """MikroTik's documentation, Health: a CCR1072-1G-8S+."""
    found = read("routeros", "power and temperature", OTHERS / "routeros_health.txt")
    assert found[("device", "power")] == Fraction("50.8")
    assert found[("board-temperature2", "temperature")] == 28
    assert [int(found[(f"fan{n}-speed", "fan")]) for n in (1, 2, 3, 4)] == [5654, 5825, 5800, 5750]


def test_sensors_of_linux_have_their_labels() -> None:
    """A published transcript of a server with an Arm SoC: 7.178 W and 12.141 W."""
    found = read("linux", "sensors", OTHERS / "linux_sensors.txt")
    assert found == (
        of("hwmon0 loc1", temperature=34)
        | of("hwmon1 SoC Temperature", temperature=32)
        | of("hwmon1 CPU power", power="7.178")
        | of("hwmon1 IO power", power="12.141")
    )


def test_refused_reading_is_missed_with_its_command_and_asked_once() -> None:
    cli = Refusing("")
    instrument = instrument_of("cisco_iosxr", "memory", cli)
    ((channel, sample),) = instrument.read(time.monotonic_ns).items()
    assert (channel.subject, channel.name) == ("device", "memory")
    assert sample.value == Absent(CommandRefused("show memory summary"))
    assert instrument.read(time.monotonic_ns) == {}
    assert cli.asked == 1


def test_text_of_another_form_is_missed_with_its_line() -> None:
    text = "Route Source   Routes   Backup   Deleted   Memory(bytes)\nconnected 3 2 0\n"
    ((_, sample),) = (
        instrument_of("cisco_iosxr", "IPv4 routes", Printing(text)).read(time.monotonic_ns).items()
    )
    assert sample.value == Absent(TextUnknown("show route summary", 2, "connected 3 2 0"))
    assert sample.raw is not None
    assert sample.raw.text == text


def test_text_without_a_value_or_without_end_is_missed() -> None:
    def reason(text: str) -> object:
        ((_, one),) = instrument_of("cisco_asa", "memory", Printing(text)).read(time.monotonic_ns).items()
        assert isinstance(one.value, Absent)
        return one.value.reason

    assert reason("none\n") == NothingPrinted("show memory")
    assert reason("Used memory: 1 bytes\n" * 20_000) == TextTooLong("show memory", 2**18)


def test_reading_that_fails_later_is_missed_in_its_own_series() -> None:
    cli = Printing((OTHERS / "iosxr_memory.txt").read_text())
    instrument = instrument_of("cisco_iosxr", "memory", cli)
    (first,) = instrument.read(time.monotonic_ns)
    cli.text = "busy\n"
    ((channel, sample),) = instrument.read(time.monotonic_ns).items()
    assert channel == first
    assert sample.value == Absent(NothingPrinted("show memory summary"))


def test_text_that_is_kept_has_no_secret_and_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_read", {"hunter2-planted"})
    # The line of a key, in base64, that the bound cuts; the first line has netdyno's own secret.
    begin = " 1 packets input, 64 bytes\nhunter2-planted\nsnmp-server community planted-2 RO\n".ljust(
        3990, "\n"
    )
    text = begin + "PlAnted3" * 8 + "\n" + "x" * 1000
    instrument = instrument_of("cisco_asa", "counters and drops", Printing(text))
    sample = next(iter(instrument.read(time.monotonic_ns).values()))
    assert sample.raw is not None
    shown = " 1 packets input, 64 bytes\n***\nsnmp-server community ***\n[1,065 more characters]"
    assert sample.raw.text == shown


QUEUES = """[{"kind":"mq","handle":"8005:","root":true,"options":{},"bytes":0,"packets":0,"drops":7,\
"overlimits":0,"requeues":0,"backlog":0,"qlen":0},{"kind":"pfifo_fast","handle":"0:","parent":"8005:1","options":{"bands":3},\
"bytes":0,"packets":0,"drops":7,"overlimits":0,"requeues":0,"backlog":0,"qlen":0},{"kind":"clsact","handle":\
"ffff:","parent":"ffff:fff1","options":{},"bytes":0,"packets":0,"drops":0,"overlimits":0,"requeues":0,\
"backlog":0,"qlen":0}]"""
"""iproute2 6.1.0, `mq` on a veth of two queues; seven drops written into it."""


@pytest.mark.parametrize(
    ("kinds", "name"),
    [
        ({}, "queue_drops"),
        ({"mq": "fq_codel"}, "queue_drops"),
        ({"mq": "netem"}, "queue_policy_drops"),
        ({"mq": "htb"}, "queue_policy_drops"),
        ({"mq": "prio"}, "queue_policy_drops"),
        ({"pfifo_fast": "netem"}, "queue_policy_drops"),
    ],
)
def test_linux_queue_drops_are_for_room_where_no_discipline_drops_else(
    kinds: dict[str, str], name: str
) -> None:
    text = QUEUES
    for before, after in kinds.items():
        text = text.replace(f'"kind":"{before}"', f'"kind":"{after}"')
    found = {one.channel.name: one.number for one in read_queues(text)}
    assert found == {"queue depth": 0, "queue depth, bytes": 0, name: 7}
