"""What each driver reads of the texts that its system prints: literal figures, the device's own."""

from __future__ import annotations

import time
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from netdyno.devices import outputs
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.drivers.driver import Driver
from netdyno.devices.drivers.system import System
from netdyno.devices.reach.instrument import CliInstrument, Turn
from netdyno.devices.shell import Shell
from netdyno.devices.wiring import LabError

TEXTS = Path(__file__).parents[1] / "data" / "outputs"
LINUX = """\
/sys/class/net/eth1/statistics/rx_bytes:6000
/sys/class/net/eth1/statistics/rx_dropped:2
/sys/class/net/eth1/statistics/rx_packets:100
/sys/class/net/eth1/statistics/tx_dropped:3
/sys/class/net/eth1/statistics/tx_packets:95
"""
STAT = """\
cpu  11 0 7 300 0 0 9 0 0 0
cpu0 5 0 3 150 0 0 4 0 0 0
cpu1 6 0 4 150 0 0 5 0 0 0
"""
ROUTEROS = """\
 0  R name="sfp-sfpplus1" last-link-up-time=jan/02/1970 00:00:11 rx-byte=1 234 567 890
      tx-byte=987 654 rx-packet=1 230 004 tx-packet=654 rx-drop=7 tx-drop=0 rx-error=0 tx-error=1
"""
ROUTEROS_CPU = """\
Columns: CPU, LOAD, IRQ, DISK
 #  CPU    LOAD  IRQ  DISK
 0  cpu0   10%   9%   0%
 1  cpu1   3%    2%   0%
"""
HEALTH = """\
   power-consumption: 68.5W
     cpu-temperature: 54C
         fan1-speed: 4230RPM
"""
VPP = """\
              Name               Idx    State  MTU (L3/IP4/IP6/MPLS)     Counter          Count
memif0/0                          1      up          9000/0/0/0     rx packets                 1234
                                                                    rx bytes                  74040
                                                                    tx packets                 1200
                                                                    drops                        34
                                                                    tx-error                      5
"""
OVS = """\
OFPST_PORT reply (xid=0x4): 1 ports
  port  1: rx pkts=30, bytes=17740, drop=2, errs=1, frame=0, over=0, crc=0
           tx pkts=28, bytes=17860, drop=3, errs=4, coll=0
"""
OVS_AF_XDP = """\
OFPST_PORT reply (OF1.4) (xid=0x4): 1 ports
  port  1: rx pkts=30, bytes=17320, drop=?, errs=?, frame=?, over=?, crc=?
           tx pkts=0, bytes=0, drop=?, errs=?, coll=?
           duration=1.003s
           CUSTOM Statistics
                      xsk_queue_0_rx_dropped=0, xsk_queue_0_rx_invalid_descs=0,
"""
OVS_PMD = """\
pmd thread numa_id 0 core_id 1:
  packets received: 30
  avg. datapath passes per packet: 1.00
  miss with failed upcall: 0
  idle cycles: 2336357544 (99.97%)
  processing cycles: 585068 (0.03%)
  avg cycles per packet: 77898087.07 (2336942612/30)
pmd thread numa_id 0 core_id 2:
  packets received: 0
main thread:
  packets received: 0
  avg. packets per output batch: 0.00
"""
ASP = """\

Frame drop:
  Flow is denied by configured rule (acl-drop)                              118
  First TCP packet not SYN (tcp-not-syn)                                      2

Last clearing: Never
"""


class Printing:
    """A command line that prints one text."""

    shell = Shell("none", (), "")

    def __init__(self, text: str) -> None:
        self.text = text

    def ask(self, command: str, within_s: float = 15.0) -> str:
        return self.text

    def configure(self, text: str, confirm_s: int | None = None, within_s: float = 30.0) -> str:
        raise AssertionError

    def confirm(self) -> None:
        raise AssertionError


def system(driver: Driver) -> System:
    found = import_module(f"netdyno.devices.drivers.{driver.name}").DRIVER
    assert isinstance(found, System)
    return found


def read(name: str, number: int, text: str) -> dict[tuple[str, str], Fraction]:
    """What a reading of a driver finds in a text, by subject and name."""
    one = system(DRIVERS[name])

    def rows(command: str, printed: str) -> Any:
        return outputs.parse(one.name, command, printed).rows

    cli = Printing(text)
    instrument = CliInstrument(name, cli, one.readings[number], (("p1", "PORT"),), rows, Turn())
    found = instrument.read(time.monotonic_ns)
    return {
        (channel.subject, channel.name): Fraction(sample.value, 10**channel.scale)
        for channel, sample in found.items()
        if isinstance(sample.value, int)
    }


def port(name: str, **counted: int) -> dict[tuple[str, str], Fraction]:
    return {(name, what): Fraction(number) for what, number in counted.items()}


def part(file: str, begin: str) -> str:
    """The part of a text from a line that begins so up to the next interface."""
    lines = (TEXTS / f"{file}.laid_out.txt").read_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith(begin))
    ends = (n for n in range(at + 1, len(lines)) if lines[n].strip() and not lines[n][0].isspace())
    return "".join(lines[at : next(ends, len(lines))])


COUNTERS = [
    (
        "cisco_iosxr",
        part("iosxr_interfaces", "TenGigE0/1/0/0"),
        {"rx_packets": 1364103600, "rx_bytes": 349210521600, "in_drops": 16040, "in_errors": 1}
        | {"tx_packets": 1358681100, "tx_bytes": 347822361600, "out_drops": 9943, "out_errors": 0},
    ),
    (
        "cisco_ios",
        part("ios_interfaces", "FastEthernet4"),
        {"input queue": 3, "output queue": 0}
        | {"rx_packets": 5420113, "rx_bytes": 3614206331, "in_queue_drops": 217, "in_errors": 11}
        | {"tx_packets": 2710211, "tx_bytes": 182347812, "out_queue_drops": 31, "out_errors": 0},
    ),
    (
        "cisco_iosxe",
        part("iosxe_interfaces", "GigabitEthernet0/0/0"),
        {"input queue": 0, "output queue": 0, "in_pauses": 0, "out_pauses": 0}
        | {"rx_packets": 409607083, "rx_bytes": 567812345678, "in_queue_drops": 0, "in_errors": 0}
        | {"tx_packets": 204803541, "tx_bytes": 14336247870, "out_queue_drops": 4127, "out_errors": 0},
    ),
    (
        "cisco_asa",
        part("asa_interface", "Interface Ethernet0/0"),
        {"rx_packets": 8241337, "rx_bytes": 10934872211, "in_policy_drops": 41, "in_errors": 3}
        | {"tx_packets": 4120668, "tx_bytes": 288446760, "out_policy_drops": 7, "out_errors": 0}
        | {"in_pauses": 0, "out_pauses": 0},
    ),
    (
        "fsos",
        part("fsos_interfaces", "TenGigabitEthernet 0/1 is"),
        {"rx_packets": 146076456077, "rx_bytes": 52855428936763, "in_drops": 31, "in_errors": 2}
        | {"tx_packets": 146107830540, "tx_bytes": 52866706405253, "out_drops": 12, "out_errors": 0},
    ),
    (
        "linux",
        LINUX,
        {"rx_packets": 100, "rx_bytes": 6000, "in_drops": 2, "tx_packets": 95, "out_drops": 3},
    ),
    (
        "routeros",
        ROUTEROS,
        {"rx_packets": 1230004, "rx_bytes": 1234567890, "in_drops": 7, "in_errors": 0}
        | {"tx_packets": 654, "tx_bytes": 987654, "out_drops": 0, "out_errors": 1},
    ),
    (
        "vpp",
        VPP,
        {"rx_packets": 1234, "rx_bytes": 74040, "tx_packets": 1200, "in_drops": 34, "out_errors": 5}
        # Counters that are 0 it does not print.
        | {"tx_bytes": 0, "punted": 0, "in_errors": 0, "rx_miss_drops": 0},
    ),
    (
        "openvswitch",
        OVS,
        {"rx_packets": 30, "rx_bytes": 17740, "in_port_drops": 2, "in_errors": 1}
        | {"tx_packets": 28, "tx_bytes": 17860, "out_drops": 3, "out_errors": 4},
    ),
    (
        "openvswitch",
        OVS_AF_XDP,
        {"rx_packets": 30, "rx_bytes": 17320, "tx_packets": 0, "tx_bytes": 0},
    ),
]


@pytest.mark.parametrize(("name", "text", "counted"), COUNTERS, ids=[name for name, _, _ in COUNTERS])
def test_counters_of_a_port_are_those_the_device_prints(
    name: str, text: str, counted: dict[str, int]
) -> None:
    found = read(name, 0, text)
    assert {key: value for key, value in found.items() if not key[1].endswith("_rate")} == port(
        "p1", **counted
    )


FSOS_TEXT = (TEXTS / "fsos_counters.laid_out.txt").read_text()
FSOS_RATES = (9381044793, 9378930906, 3240802, 3240123)
RATES = [
    (
        "cisco_iosxr",
        part("iosxr_interfaces", "TenGigE0/1/0/0"),
        300,
        "bit",
        (9278278000, 9242023000, 4547012, 4528937),
    ),
    ("cisco_ios", part("ios_interfaces", "FastEthernet4"), 30, "bit", (95012000, 2107000, 7842, 3921)),
    (
        "cisco_iosxe",
        part("iosxe_interfaces", "GigabitEthernet0/0/0"),
        300,
        "bit",
        (95104000, 2214000, 8127, 4030),
    ),
    (
        "cisco_asa",
        part("asa_interface", 'Interface Vlan2 "outside"'),
        60,
        "byte",
        (11302145, 203892, 7842, 3921),
    ),
    ("fsos", part("fsos_interfaces", "TenGigabitEthernet 0/1 is"), 10, "bit", FSOS_RATES),
    ("fsos", FSOS_TEXT, 10, "bit", FSOS_RATES),
]


@pytest.mark.parametrize(("name", "text", "window_s", "unit", "rates"), RATES)
def test_rates_have_the_window_that_the_device_prints(
    name: str, text: str, window_s: int, unit: str, rates: tuple[int, ...]
) -> None:
    found = {
        value.channel.name: (int(value.number), value.window_ns)
        for quantity in system(DRIVERS[name]).readings[0].quantities
        for value in quantity.values(text, "p1")
        if value.channel.name.endswith("_rate")
    }
    names = (f"rx_{unit}_rate", f"tx_{unit}_rate", "rx_packet_rate", "tx_packet_rate")
    assert found == {name: (rate, window_s * 10**9) for name, rate in zip(names, rates, strict=True)}


def test_power_of_each_supply_adds_up_to_the_printed_total() -> None:
    found = read("cisco_iosxr", 2, (TEXTS / "iosxr_power.laid_out.txt").read_text())
    assert sum(value for (_, name), value in found.items() if name == "power") == Fraction("2219.3")
    assert len(found) == 9


def test_cpu_of_ios_is_apart_for_control_and_data_plane() -> None:
    found = read("cisco_ios", 1, (TEXTS / "ios_cpu_cef.laid_out.txt").read_text())
    assert found == port("processor", **{"control-plane CPU": 47, "data-plane CPU": 42})


def test_cpu_of_ios_xe_is_read_where_the_frames_are() -> None:
    cores = read("cisco_iosxe", 2, (TEXTS / "iosxe_cores.laid_out.txt").read_text())
    assert {who: float(value) for (who, name), value in cores.items() if name == "CPU"} == {
        "core 0": 20.16,
        "core 1": 4.01,
        "core 2": 43.7,
        "core 3": 100.0,
    }
    plane = read("cisco_iosxe", 3, (TEXTS / "iosxe_qfp.laid_out.txt").read_text())
    assert plane == port("QFP", **{"data-plane CPU": 37})
    iosd = read("cisco_iosxe", 1, (TEXTS / "iosxe_cpu.laid_out.txt").read_text())
    assert iosd == port("IOSd", **{"control-plane CPU": 1})


def test_cpu_of_fsos_is_that_of_five_seconds() -> None:
    found = read("fsos", 1, (TEXTS / "fsos_cpu_core.laid_out.txt").read_text())
    assert found == {("core 0", "CPU"): Fraction("16.40")}


def test_cores_of_linux_count_ticks_of_work_and_of_softirqs() -> None:
    found = read("linux", 1, STAT)
    assert found[("cpu1", "softirq ticks")] == 5
    assert set(found) == {(f"cpu{n}", f"{what} ticks") for n in (0, 1) for what in ("idle", "softirq")}
    assert found[("cpu0", "idle ticks")] == 150


def test_routeros_gives_cores_power_and_temperature() -> None:
    assert read("routeros", 2, ROUTEROS_CPU) == {("cpu0", "CPU"): 10, ("cpu1", "CPU"): 3}
    assert read("routeros", 3, HEALTH) == {
        ("device", "power"): Fraction("68.5"),
        ("cpu-temperature", "temperature"): 54,
        ("fan1-speed", "fan"): 4230,
    }


def test_fast_path_of_routeros_is_not_taken_for_all_frames() -> None:
    counted = {"rx_bytes": 205164277, "tx_bytes": 147977500, "rx_packets": 158254, "tx_packets": 150156}
    assert read("routeros", 0, (TEXTS.parent / "routeros-stats-detail.txt").read_text()) == port(
        "p1", **counted, out_queue_drops=2
    )


def test_cycles_of_open_vswitch_are_those_of_each_thread() -> None:
    thread = "pmd thread numa_id 0 core_id 1"
    expected = port(thread, **{"idle cycles": 2336357544, "busy cycles": 585068})
    assert read("openvswitch", 1, OVS_PMD) == expected


def test_drop_reasons_of_open_vswitch_are_counters_of_packets() -> None:
    text = "datapath_drop_meter 0\ndrop_action_of_pipeline 30\nnetdev_sent 4\n"
    assert read("openvswitch", 2, text) == {
        ("datapath_drop_meter", "datapath_drops"): 0,
        ("drop_action_of_pipeline", "datapath_drops"): 30,
    }


def test_drops_of_the_asa_have_their_reasons() -> None:
    assert read("cisco_asa", 2, ASP) == {("acl-drop", "dropped"): 118, ("tcp-not-syn", "dropped"): 2}


@pytest.mark.parametrize("name", [one for one in DRIVERS if one != "this-kernel"])
def test_text_without_a_quantity_is_an_error_and_no_zero(name: str) -> None:
    with pytest.raises(LabError) as caught:
        read(name, 0, "nothing of it\n")
    assert caught.value.code == "not-understood"
    for number in range(1, len(system(DRIVERS[name]).readings)):
        assert read(name, number, "nothing of it\n") == {}


@pytest.mark.parametrize(
    ("name", "short", "long"),
    [
        ("cisco_iosxr", "Te0/1/0/0", "TenGigE0/1/0/0"),
        ("cisco_iosxr", "TenGigE0/1/0/0", "TenGigE0/1/0/0"),
        ("cisco_iosxr", "BE1", "Bundle-Ether1"),
        ("cisco_ios", "Fa4", "FastEthernet4"),
        ("fsos", "Tf0/24", "TFGigabitEthernet 0/24"),
        ("fsos", "Te0/1", "TenGigabitEthernet 0/1"),
        ("routeros", "sfp-sfpplus1", "sfp-sfpplus1"),
    ],
)
def test_short_name_of_a_port_is_written_out_as_the_system_does(name: str, short: str, long: str) -> None:
    assert system(DRIVERS[name]).long_name(short) == long
