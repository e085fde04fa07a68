"""Kinds of texts that were once read wrongly, each with two of its texts: names and numbers are made up."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.telemetry.reasons import AnswerLate, TextUnknown
from netdyno.devices.wiring import LabError
from netdyno.values.sample import Absent
from test_driver_gauges import OTHERS, Found, instrument_of, of, read
from test_driver_texts import Printing, system

COUNTERS = "counters and drops"

INTERFACE = """\
GigabitEthernet0/1 is up, line protocol is up
     {before}9876 packets input, 654321 bytes, 0 no buffer
     0 input errors, 0 CRC, 0 frame, 0 overrun, 0 ignored
     777 packets output, 88888 bytes, 0 underruns
     0 output errors, 0 collisions, 1 interface resets
"""


def reading(name: str, quantity: str, text: str, folder: Path) -> Found:
    path = folder / "text"
    path.write_text(text)
    return read(name, quantity, path)


def missed(name: str, quantity: str, text: str) -> tuple[int | None, str]:
    """The line and its begin for which a whole optional reading is missed."""
    ((_, sample),) = instrument_of(name, quantity, Printing(text)).read(time.monotonic_ns).items()
    assert isinstance(sample.value, Absent)
    assert isinstance(sample.value.reason, TextUnknown)
    return sample.value.reason.line, sample.value.reason.shown


def of_port(found: Found) -> dict[str, int]:
    names = ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes")
    return {name: int(found[("p1", name)]) for name in names if ("p1", name) in found}


def counted(*numbers: int) -> dict[str, int]:
    return dict(zip(("rx_packets", "rx_bytes", "tx_packets", "tx_bytes"), numbers, strict=True))


def test_counters_of_an_asa_port_are_not_those_of_its_name(tmp_path: Path) -> None:
    found = read("cisco_asa", COUNTERS, OTHERS / "asa_port.txt")
    assert of_port(found) == counted(500000, 45000000, 499000, 44900000)
    assert found[("p1", "traffic_rx_packets")] == 499990
    idle = read("cisco_asa", COUNTERS, OTHERS / "asa_port_idle.txt")
    assert of_port(idle) == counted(1000, 1518000, 0, 0)
    vlan = reading(
        "cisco_asa",
        COUNTERS,
        'Interface Vlan7 "dmz", is up, line protocol is up\n  Traffic Statistics for "dmz":\n'
        "\t71 packets input, 5964 bytes\n\t72 packets output, 6048 bytes\n\t1 packets dropped\n",
        tmp_path,
    )
    assert vlan == of("p1") | {
        ("p1", f"traffic_{name}"): number
        for name, number in {"rx_packets": 71, "rx_bytes": 5964, "tx_packets": 72, "tx_bytes": 6048}.items()
    }


def test_counters_without_their_spaces_and_commas_are_read(tmp_path: Path) -> None:
    """As FSOS prints those of a serial port, and as older releases print errors."""
    text = (
        "Serial 1/0 is UP  , line protocol is UP\n"
        "    38021 packets input, 5656110 bytes, 0 no buffer, 0 dropped\n"
        "    3 input errors, 0 CRC, 0 frame, 0 overrun, 0 abort\n"
        "    38097packets output, 2135697bytes, 0 underruns , 2 dropped\n"
        "    1 output errors 0 collisions, 0 interface resets\n"
    )
    found = reading("fsos", COUNTERS, text, tmp_path)
    assert of_port(found) == counted(38021, 5656110, 38097, 2135697)
    assert (found[("p1", "in_errors")], found[("p1", "out_errors")]) == (3, 1)
    assert (found[("p1", "in_drops")], found[("p1", "out_drops")]) == (0, 2)
    with pytest.raises(LabError, match="Line 1 "):
        reading("fsos", COUNTERS, "38,021 packets input, 5,656 bytes\n", tmp_path)


def test_pauses_of_a_port_are_counted(tmp_path: Path) -> None:
    text = INTERFACE.format(before="") + "     0 watchdog, 8 multicast, 17 pause input\n"
    text += "     0 lost carrier, 0 no carrier, 3 pause output\n"
    for name in ("cisco_ios", "cisco_iosxe", "cisco_asa"):
        found = reading(name, COUNTERS, text, tmp_path)
        assert (found[("p1", "in_pauses")], found[("p1", "out_pauses")]) == (17, 3)


def test_flows_that_the_asa_dropped_are_no_packets(tmp_path: Path) -> None:
    found = read("cisco_asa", "drop reasons", OTHERS / "asa_drops.txt")
    assert found == {
        ("acl-drop", "dropped"): 41,
        ("no-adjacency", "dropped"): 6,
        ("acl-drop", "flows dropped"): 9000,
        ("inspect-fail", "flows dropped"): 3,
    }
    cut = "Flow drop:\n  A name that is too long for its column (socket-lock-failu         61\n"
    assert reading("cisco_asa", "drop reasons", cut, tmp_path) == {("socket-lock-failu", "flows dropped"): 61}
    assert missed("cisco_asa", "drop reasons", "Frame drop:\n  Some reason (some)  many\n") == (
        2,
        "  Some reason (some)  many",
    )


def test_quantity_that_is_there_twice_is_missed_with_its_second_line() -> None:
    text = " Processor  3A4E5F80  180  90  90  80  70\n Processor  4A4E5F80  180  10  170  80  70\n"
    assert missed("cisco_ios", "memory", text) == (2, " Processor  4A4E5F80  180  10  170  80  70")
    twice = "cpu-load: 3%\ncpu-load: 40%\n"
    assert missed("routeros", "CPU", twice) == (2, "cpu-load: 40%")


LOGGED = [
    ("cisco_ios", (OTHERS / "ios_log.txt").read_text(), 7),
    (
        "cisco_iosxr",
        INTERFACE.format(
            before="1\nRP/0/RSP0/CPU0:Nov 28 12:00:00.123 : ifmgr[2]: %PKT_INFRA-LINK-3-UPDOWN : x\n"
        ),
        None,
    ),
    ("cisco_asa", INTERFACE.format(before="1\n%ASA-6-302013: Built inbound TCP connection 7\n"), 3),
    ("fsos", INTERFACE.format(before="1\n*Nov 28 12:00:00: %LINEPROTO-5-UPDOWN: Line protocol\n"), 3),
]


@pytest.mark.parametrize(("name", "text", "line"), LOGGED, ids=[name for name, _, _ in LOGGED])
def test_log_line_in_a_number_is_no_number(name: str, text: str, line: int | None) -> None:
    instrument = instrument_of(name, COUNTERS, Printing(text))
    with pytest.raises(LabError) as caught:
        instrument.read(time.monotonic_ns)
    assert caught.value.code == "not-understood"
    assert line is None or f"Line {line} " in str(caught.value)


def test_answer_with_a_log_line_is_asked_for_again_then_missed() -> None:
    class Logging(Printing):
        def ask(self, command: str, within_s: float = 15.0) -> str:
            asked.append(command)
            return texts.pop(0)

    whole, broken = INTERFACE.format(before=""), LOGGED[0][1]
    texts, asked = [broken, whole, broken, broken], list[str]()
    instrument = instrument_of("cisco_ios", COUNTERS, Logging(""))
    first = instrument.read(time.monotonic_ns)
    assert {one.name: sample.value for one, sample in first.items()}["rx_packets"] == 9876
    second = instrument.read(time.monotonic_ns)
    assert second.keys() == first.keys()
    for sample in second.values():
        assert isinstance(sample.value, Absent)
        assert isinstance(sample.value.reason, TextUnknown)
        assert sample.value.reason.line == 7
    assert len(asked) == 4


def test_log_line_of_routeros_in_an_answer_is_missed() -> None:
    line = "12:00:06 echo: system,error,critical login failure for user lab from 192.0.2.9 via ssh"
    assert missed("routeros", "CPU", f"uptime: 1d\n{line}\ncpu-load: 3%\n")[0] == 2


def test_neighbor_that_is_not_up_is_counted_as_one(tmp_path: Path) -> None:
    expected = of("OSPF", neighbors=2, adjacencies=1)
    assert read("cisco_iosxr", "OSPF neighbors", OTHERS / "iosxr_ospf_init.txt") == expected
    text = (
        "Neighbors for OSPFv3 3, VRF lab\n\n"
        "Neighbor ID     Pri   State           Dead Time   Interface ID    Interface\n"
        "192.0.2.9       1     DOWN/DROTHER    -           0               TenGigE0/0/0/1\n"
        "192.0.2.8       1     EXSTART/BDR     00:00:33    8               TenGigE0/0/0/2\n"
        "    Neighbor is up for 00:00:03\n"
        "192.0.2.7       1     INIT/DROTHER    00:00:33    9               TenGigE0/0/0/3\n\n"
        "Total neighbor count: 3\n"
    )
    found = reading("cisco_iosxr", "OSPFv3 neighbors", text, tmp_path)
    assert found == of("OSPFv3", neighbors=3, adjacencies=0)
    cut = text[: text.index("Total")]
    assert missed("cisco_iosxr", "OSPFv3 neighbors", cut)[0] is None


def test_bgp_neighbors_without_a_policy_are_counted_below_their_notice(tmp_path: Path) -> None:
    text = (OTHERS.parent / "outputs" / "iosxr_bgp_ipv4.laid_out.txt").read_text()
    notice = (
        "Some configured eBGP neighbors (under default or non-default vrfs)\n"
        "do not have both inbound and outbound policies configured for IPv4 Unicast\n"
        "address family. These neighbors will default to sending and/or\n"
        "receiving no routes and are marked with '!' in the output below.\n"
        "Use the 'show bgp neighbor <nbr_address>' command for details.\n\n"
    )
    text = text.replace("Neighbor        Spk", f"{notice}Neighbor        Spk")
    text += "192.0.2.3         0 64500       0       0        0    0    0 00:00:00 Idle!\n"
    found = reading("cisco_iosxr", "BGP IPv4 neighbors", text, tmp_path)
    assert found == of("BGP IPv4", neighbors=4, adjacencies=3)


def test_neighbors_of_several_processes_and_vrfs_add_up(tmp_path: Path) -> None:
    path = OTHERS / "iosxr_ospf_two.txt"
    assert read("cisco_iosxr", "OSPF neighbors", path) == of("OSPF", neighbors=3, adjacencies=3)
    three = path.read_text().replace("Neighbors for OSPF 1\n", "Neighbors for OSPF 1, VRF red\n")
    three += (
        "\n* Indicates MADJ interface\n\nNeighbors for OSPF\n\n"
        "Neighbor ID     Pri   State           Dead Time   Address         Interface\n"
        "192.0.2.9       1     2WAY/DROTHER    00:00:31    203.0.113.9     TenGigE0/0/0/9\n"
        "    Neighbor is up for 00:01:01\n\nTotal neighbor count: 1\n"
    )
    found = reading("cisco_iosxr", "OSPF neighbors", three, tmp_path)
    assert found == of("OSPF", neighbors=4, adjacencies=3)


def test_process_of_a_neighbor_has_no_vrf_of_the_one_before() -> None:
    from netdyno.devices.outputs import parse

    text = (OTHERS / "iosxr_ospf_two.txt").read_text().replace("OSPF 1\n", "OSPF 1, VRF red\n")
    rows = parse("cisco_iosxr", "show ospf neighbor", text).rows
    assert [(row["process"], row["vrf"]) for row in rows] == [("1", "red"), ("2", ""), ("2", "")]


def test_cores_of_several_slots_have_their_slot(tmp_path: Path) -> None:
    path = OTHERS / "iosxe_stack.txt"
    found = read("cisco_iosxe", "CPU per core", path)
    assert {who: float(value) for (who, name), value in found.items() if name == "CPU"} == {
        "1-RP0 core 0": 5.0,
        "1-RP0 core 1": 2.0,
        "2-RP0 core 0": 6.0,
        "2-RP0 core 1": 2.0,
    }
    assert found[("2-RP0", "memory used")] == 1000000
    cards = path.read_text().replace("1-RP0", "RP0  ").replace("2-RP0", "ESP0 ")
    found = reading("cisco_iosxe", "CPU per core", cards, tmp_path)
    assert found[("RP0 core 1", "CPU")] == 2
    assert found[("ESP0 core 0", "CPU")] == 6


def test_loads_of_ios_on_several_cores_are_separate(tmp_path: Path) -> None:
    cores = (
        "Core 0: CPU utilization for five seconds: 7%; one minute: 9%;  five minutes: 8%\n"
        "Core 1: CPU utilization for five seconds: 12%; one minute: 16%;  five minutes: 15%\n"
    )
    assert reading("cisco_iosxe", "CPU", cores, tmp_path) == {
        ("Core 0", "control-plane CPU"): 7,
        ("Core 1", "control-plane CPU"): 12,
    }
    assert missed("cisco_iosxe", "CPU", cores + "Core x: CPU utilization for five seconds: 3%;\n")[0] == 3


def test_loads_of_several_packet_processors_are_separate(tmp_path: Path) -> None:
    part = (OTHERS.parent / "outputs" / "iosxe_qfp.laid_out.txt").read_text()
    assert reading("cisco_iosxe", "data plane", part, tmp_path) == {("QFP", "data-plane CPU"): 37}
    other = part.replace("CPP 0", "CPP 1").replace("          37 ", "          55 ", 1)
    both = reading("cisco_iosxe", "data plane", part + other, tmp_path)
    assert both == {("QFP 0.0", "data-plane CPU"): 37, ("QFP 1.0", "data-plane CPU"): 55}
    assert missed("cisco_iosxe", "data plane", part + part)[0] is not None


def test_readings_of_ios_xe_may_be_padded_to_a_column(tmp_path: Path) -> None:
    found = read("cisco_iosxe", "temperature and fans", OTHERS / "iosxe_environment_padded.txt")
    assert found == of("R0 Temp: Outlet", temperature=41) | of("R0 Temp: Inlet", temperature=24)
    text = (
        " P2          RPM: fan0       Warning         25800 RPM      \tna\n"
        " R0          Temp: CPU 1     Critical        101   Celsius\t(na ,na ,100,na )(Celsius)\n"
        " SYSTEM INLET    2               GREEN                 29 Celsius   0 - 56\n"
        " 1/0         Temp:   Outlet  Normal          31   Celsius\t(51 ,61 ,88 ,90 )(Celsius)\n"
        " 1/0         Temp:    Inlet  Normal          28   Celsius\t(50 ,60 ,84 ,86 )(Celsius)\n"
    )
    assert reading("cisco_iosxe", "temperature and fans", text, tmp_path) == (
        of("P2 RPM: fan0", fan=25800)
        | of("R0 Temp: CPU 1", temperature=101)
        | of("SYSTEM INLET 2", temperature=29)
        | of("1/0 Temp: Outlet", temperature=31)
        | of("1/0 Temp: Inlet", temperature=28)
    )
    assert missed("cisco_iosxe", "temperature and fans", "Inlet Temperature Value: 29 Degree Celsius\n") == (
        1,
        "Inlet Temperature Value: 29 Degree Celsius",
    )


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("Cisco IOS XR Software, Version 7.11.2 LNT", "7.11.2"),
        ("Cisco IOS XR Software, Version 24.2.1 LNT ", "24.2.1"),
        ("Cisco IOS XR Software, Version 6.1.4[Default]", "6.1.4"),
        ("Cisco IOS XR Software, Version 7.3.2", "7.3.2"),
    ],
)
def test_version_of_ios_xr_is_without_its_build(line: str, version: str) -> None:
    found = re.search(system(DRIVERS["cisco_iosxr"]).version[1], f"date\n{line}\nrest\n", re.MULTILINE)
    assert found is not None
    assert found["n"] == version


def test_lanes_of_an_optic_are_separate(tmp_path: Path) -> None:
    found = read("cisco_iosxr", "optics", OTHERS / "iosxr_phy_lanes.txt")
    assert {who: float(value) for (who, name), value in found.items() if "received" in name} == {
        "p1 lane 0": -3.01,
        "p1 lane 1": -30.0,
    }
    assert float(found[("p1 lane 1", "optical power sent")]) == -2.22
    text = (
        "\tModule temperature                        : 31.50 degrees C / 88.70 degrees F\n"
        "\tLaser tx bias current (Channel 2)         : 7.010 mA\n"
        "\tTransmit avg optical power (Channel 2)    : 0.9000 mW / -0.46 dBm\n"
        "\tRcvr signal avg optical power(Channel 2)  : 0.0010 mW / -30.00 dBm\n"
        "\tLaser output power high alarm threshold   : 3.4674 mW / 5.40 dBm\n"
    )
    assert reading("linux", "optics", text, tmp_path) == (
        of("p1 lane 2", optical_power_sent="-0.46", optical_power_received="-30")
        | of("p1", optics_temperature="31.5")
    )
    # No light at all is no number: of that lane alone there is none.
    dark = text + "\tRcvr signal avg optical power(Channel 3)  : 0.0000 mW / -inf dBm\n"
    samples = instrument_of("linux", "optics", Printing(dark)).read(time.monotonic_ns)
    absent = {
        one.subject: sample.value for one, sample in samples.items() if isinstance(sample.value, Absent)
    }
    shown = "Rcvr signal avg optical power(Channel 3)  : 0.0000 mW / -inf dBm"
    command = "ethtool -m Te0/1"
    assert absent == {"p1 lane 3": Absent(TextUnknown(command, 6, f"\\t{shown}"))}
    assert len(samples) == 4
    # Of a lane whose form is not known nothing is left out without a word.
    odd = (OTHERS / "iosxr_phy_lanes.txt").read_text().replace("0.00100 mW", "0.00100 W")
    assert missed("cisco_iosxr", "optics", odd)[0] == 5


def test_pool_of_two_words_is_read(tmp_path: Path) -> None:
    found = read("cisco_ios", "memory", OTHERS / "ios_pools.txt")
    assert found == (
        of("Processor", memory_used=90000000, memory_free=90000000)
        | of("reserve P", memory_used=92, memory_free=102312)
    )
    cut = "Processor FF86F210 856541 355116 501425 499097 501041\nDriver te 7F00A0B0 1048 40 1008 1000 1000\n"
    assert reading("cisco_iosxe", "memory", cut, tmp_path) == (
        of("Processor", memory_used=355116, memory_free=501425)
        | of("Driver te", memory_used=40, memory_free=1008)
    )
    assert missed("cisco_ios", "memory", " a,b  3A4E5FA8  102404  92  102312  102312  102312\n")[0] == 1


def test_rarer_sources_of_routes_and_a_closing_line_are_read(tmp_path: Path) -> None:
    path = OTHERS / "iosxe_routes_ospfv3.txt"
    assert read("cisco_iosxe", "IPv4 routes", path) == of("IPv4", routes=14)
    text = (
        "IP routing table name is Default-IP-Routing-Table(0)\nIP routing table maximum-paths is 16\n"
        "Route Source    Networks    Subnets     Overhead    Memory (bytes)\n"
        "connected       1           3           288         544\n"
        "isis            0           2           0           0\n"
        "  Level 1: 1 Level 2: 1 Inter-area: 0\n"
        "odr 2           0           5           0           0\n"
        "internal        3                                   3468\n"
        "Total           4           10          504         4420\nRemoving Queue Size 0\n"
    )
    assert reading("cisco_ios", "IPv4 routes", text, tmp_path) == of("IPv4", routes=11)


def test_temperatures_of_several_places_have_their_place(tmp_path: Path) -> None:
    rows = "        host    Inlet0          {}\n        host    Hotspot0        41.5\n\n"
    places = f"0/RSP0/*\n{rows.format('30.5')}0/1/*\n{rows.format('31.0')}"
    text = f"R/S/I   Modules Sensor          (deg C)\n{places}"
    found = reading("cisco_iosxr", "temperature", text, tmp_path)
    assert {who: float(value) for (who, _), value in found.items()} == {
        "0/RSP0 Inlet0": 30.5,
        "0/RSP0 Hotspot0": 41.5,
        "0/1 Inlet0": 31.0,
        "0/1 Hotspot0": 41.5,
    }
    one = (OTHERS / "iosxr_temperatures.txt").read_text()
    both = one + "0/1\n" + one[one.index("          NP8") :]
    assert reading("cisco_iosxr", "temperature", both, tmp_path)[("0/1 NP8", "temperature")] == 63
    assert missed("cisco_iosxr", "temperature", one + "  Inlet: 30 C\n")[1] == "  Inlet: 30 C"


def test_fans_of_a_tray_on_the_lines_below_it_are_read(tmp_path: Path) -> None:
    text = (
        "            Fan speed (rpm):\n      FAN0    FAN1\n\n"
        "0/FT0/*\n      3510    3520\n0/FT1/*\n      3530    3540\n"
    )
    found = reading("cisco_iosxr", "fans", text, tmp_path)
    assert [int(value) for value in found.values()] == [3510, 3520, 3530, 3540]
    assert missed("cisco_iosxr", "fans", "0/FT0  3510 rpm\n") == (1, "0/FT0  3510 rpm")


@pytest.mark.parametrize(
    ("name", "quantity", "line"),
    [
        ("cisco_ios", "CPU", "Core 0: CPU utilization for five seconds: 6%; one minute: 8%"),
        ("cisco_asa", "CPU", "CPU utilization for 5 seconds is 1%"),
        ("cisco_asa", "memory", "Free memory:  1,088 MB (51%)"),
        ("cisco_iosxr", "memory", "Physical Memory: 3.0G total (1.3G available)"),
        ("routeros", "power and temperature", " 0  cpu-temperature  54.5  F"),
        ("routeros", "optics", "  sfp-rx-power: -1.2/-1.3dBm"),
        ("linux", "optics", "  Receiver signal OMA  : 0.5 mW / -3.01 dBm"),
    ],
)
def test_quantity_in_another_form_is_missed_with_its_line(name: str, quantity: str, line: str) -> None:
    assert missed(name, quantity, f"first\n{line}\n") == (2, line)


def test_number_of_routeros_that_is_broken_in_two_is_no_number() -> None:
    text = ' 0  R name="ether1" rx-byte=1 234\n      567 890 tx-byte=987 654 rx-packet=1 230\n'
    with pytest.raises(LabError, match="Line 2 "):
        instrument_of("routeros", COUNTERS, Printing(text)).read(time.monotonic_ns)


def test_cpu_of_linux_is_the_share_of_the_time_between_two_texts() -> None:
    class Ticking(Printing):
        def ask(self, command: str, within_s: float = 15.0) -> str:
            return texts.pop(0)

    texts = [
        "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 100 0 100 0 0 0 0 0 0 0\ncpu1 0 0 0 800 0 0 0 0 0 0\nintr 5\n",
        "cpu  110 0 120 900 20 0 50 0 9 0\ncpu0 110 0 120 20 0 0 50 0 9 0\ncpu1 0 0 0 880 20 0 0 0 0 0\n",
        # iowait of a core may fall, and a core may be switched off.
        "cpu  110 0 120 1000 10 0 50 0 9 0\ncpu0 110 0 120 120 0 0 50 0 9 0\n",
    ]
    instrument = instrument_of("linux", "CPU per core", Ticking(""))
    times = iter(range(10**9, 10**11, 10**9))

    def cpu() -> dict[str, tuple[float, int | None]]:
        return {
            channel.subject: (sample.value / 100, sample.window_ns)
            for channel, sample in instrument.read(lambda: next(times)).items()
            if channel.name == "CPU" and isinstance(sample.value, int)
        }

    assert cpu() == {}
    # Of 200 ticks of both cores 80 were work; the time of guests is in that of users already.
    window_ns = 3 * 10**9
    assert cpu() == {"all cores": (40.0, window_ns), "cpu0": (80.0, window_ns), "cpu1": (0.0, window_ns)}
    assert cpu() == {"all cores": (0.0, window_ns), "cpu0": (0.0, window_ns)}


def test_quantity_that_is_printed_no_more_is_missed_from_then_on() -> None:
    cli = Printing(INTERFACE.format(before=""))
    instrument = instrument_of("cisco_ios", COUNTERS, cli)
    first = instrument.read(time.monotonic_ns)
    cli.text = cli.text.replace("     777 packets output, 88888 bytes, 0 underruns\n", "")
    for _ in range(2):
        later = instrument.read(time.monotonic_ns)
        assert later.keys() == first.keys()
        absent = {one.name for one, sample in later.items() if isinstance(sample.value, Absent)}
        assert absent == {"tx_packets", "tx_bytes"}


def test_late_answer_of_an_optional_reading_is_missed() -> None:
    class Late(Printing):
        def ask(self, command: str, within_s: float = 15.0) -> str:
            raise LabError("no answer in time", code="device-silent")

    ((_, sample),) = instrument_of("cisco_iosxr", "memory", Late("")).read(time.monotonic_ns).items()
    assert sample.value == Absent(AnswerLate("show memory summary"))
    with pytest.raises(LabError):
        instrument_of("cisco_iosxr", COUNTERS, Late("")).read(time.monotonic_ns)
