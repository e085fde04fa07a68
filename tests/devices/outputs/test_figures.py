"""The figures of the articles, out of their own outputs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from netdyno.devices.outputs import look_up, number, parse
from printed import ASA, BY_NAME, FSOS, TOP, XE, XR, Printed

LAYOUTS = pytest.mark.parametrize("layout", [0, 1], ids=["laid_out", "cut"])


def column(printed: Printed, layout: int, *fields: str) -> list[tuple[str, ...]]:
    """Some fields of every row."""
    rows = printed.parse(printed.texts()[layout]).rows
    return [tuple(row[field] for field in fields) for row in rows]


@LAYOUTS
def test_power_supplies_of_the_asr9006_add_up_to_the_total(layout: int) -> None:
    printed = BY_NAME["iosxr_power"]
    parsed = printed.parse(printed.texts()[layout])
    assert parsed.fields == ("location", "power_w", "voltage_v", "current_a")
    assert parsed.total == "2219.3"
    assert sum(number(row["power_w"]) for row in parsed.rows) == Fraction(22193, 10)
    assert column(printed, layout, *parsed.fields)[0] == ("0/PS0/M1/*", "741.1", "54.9", "13.5")


@LAYOUTS
def test_lldp_neighbors_of_the_asr9006_keep_every_field(layout: int) -> None:
    fields = ("device_id", "local_interface", "hold_time_s", "capability", "port_id")
    assert column(BY_NAME["iosxr_lldp"], layout, *fields) == [
        ("xsw1-btl", "Te0/0/0/0", "120", "B,R", "bridge/sfp-sfpplus9"),
        ("fsw0", "Te0/1/0/0", "41", "P,B,R", "TenGigabitEthernet 0/9"),
        ("fsw0", "Te0/1/0/1", "41", "P,B,R", "TenGigabitEthernet 0/10"),
        ("fsw0", "Te0/2/0/0", "41", "P,B,R", "TenGigabitEthernet 0/7"),
        ("fsw0", "Te0/2/0/1", "41", "P,B,R", "TenGigabitEthernet 0/8"),
    ]


@LAYOUTS
def test_ospf_neighbors_of_the_asr9006_are_all_three(layout: int) -> None:
    assert column(BY_NAME["iosxr_ospf"], layout, "neighbor_id", "state", "address", "up_for") == [
        ("194.1.163.3", "2WAY/DROTHER", "194.1.163.66", "00:11:14"),
        ("194.1.163.4", "FULL/BDR", "194.1.163.67", "00:11:11"),
        ("194.1.163.87", "FULL/DR", "194.1.163.87", "00:11:12"),
    ]
    assert column(BY_NAME["iosxr_ospfv3"], layout, "neighbor_id", "interface_id", "up_for") == [
        ("194.1.163.87", "2", "00:12:14"),
        ("194.1.163.3", "16", "00:12:16"),
        ("194.1.163.4", "20", "00:12:12"),
    ]


@LAYOUTS
def test_bgp_neighbors_of_the_asr9006_have_their_prefixes(layout: int) -> None:
    fields = ("neighbor", "as", "messages_received", "up_down", "state_or_prefixes")
    assert column(BY_NAME["iosxr_bgp_ipv4"], layout, *fields) == [
        ("194.1.163.87", "8298", "172514", "00:04:47", "903406"),
        ("194.1.163.140", "8298", "171853", "00:04:56", "903406"),
        ("194.1.163.148", "8298", "176244", "00:04:49", "903406"),
    ]
    assert column(BY_NAME["iosxr_bgp_ipv6"], layout, *fields) == [
        ("2001:678:d78:3::87", "8298", "54763", "00:05:19", "142542"),
        ("2001:678:d78:6::140", "8298", "51350", "00:05:23", "142542"),
        ("2001:678:d78:7::148", "8298", "54572", "00:05:25", "142542"),
    ]


@LAYOUTS
def test_rates_of_the_asr9006_are_averages_of_five_minutes(layout: int) -> None:
    rows = column(BY_NAME["iosxr_rates"], layout, "interval", "direction", "packets_per_second")
    assert {row[:2] for row in rows} == {("5 minute", "output")}
    assert [int(row[2]) for row in rows[2:]] == [
        4547012,
        4528937,
        4563507,
        4537368,
        4519367,
        4562365,
        4554872,
    ]
    assert column(BY_NAME["iosxr_rates"], layout, "bits_per_second")[0] == ("18390237000",)


@LAYOUTS
@pytest.mark.parametrize(
    ("name", "cpu", "first"),
    [
        ("ios_cpu_cef", ("47", "42", "40", "35"), ("89", "1.51", "COLLECT STAT COU")),
        ("ios_cpu_process_switching", ("99", "27", "82", "48"), ("129", "69.91", "IP Input")),
        ("ios_cpu_acl_log", ("99", "37", "80", "52"), ("129", "60.83", "IP Input")),
        ("iosxe_cpu", ("1", "0", "1", "1"), ("658", "0.47", "IP SLAs XOS Even")),
    ],
)
def test_cpu_of_ios_is_the_whole_and_each_process(
    name: str, cpu: tuple[str, ...], first: tuple[str, ...], layout: int
) -> None:
    whole = ("cpu_usage_5_sec", "cpu_interruption_5_sec", "cpu_usage_1_min", "cpu_usage_5_min")
    each = ("process_pid", "process_cpu_usage_5_sec", "process_name")
    assert set(column(BY_NAME[name], layout, *whole)) == {cpu}
    assert column(BY_NAME[name], layout, *each)[0] == first


@LAYOUTS
def test_cores_of_the_isr4321_are_all_four(layout: int) -> None:
    rows = column(BY_NAME["iosxe_cores"], layout, "slot", "cpu", "user_percent", "system_percent")
    assert [row for row in rows if row[1]] == [
        ("RP0", "0", "5.28", "10.57"),
        ("RP0", "1", "1.80", "1.60"),
        ("RP0", "2", "41.00", "2.70"),
        ("RP0", "3", "23.02", "76.97"),
    ]
    assert column(BY_NAME["iosxe_cores"], layout, "load_1_minute")[0] == ("1.14",)
    assert column(BY_NAME["iosxe_cores"], layout, "memory_kb", "memory_free_kb")[1] == ("3950540", "61704")


@LAYOUTS
def test_processes_of_the_isr4321_begin_with_the_forwarding_one(layout: int) -> None:
    rows = column(BY_NAME["iosxe_top"], layout, "pid", "cpu_percent", "memory_percent", "time", "command")
    assert rows[0] == ("3111", "150", "15.3", "28747:48", "qfp-ucode-utah")
    assert rows[4] == ("26108", "2", "23.2", "881:05.01", "linux_iosd-imag")
    whole = column(
        BY_NAME["iosxe_top"], layout, "load_1_minute", "user_percent", "system_percent", "idle_percent"
    )
    assert set(whole) == {("1.13", "8.8", "22.3", "68.8")}


@LAYOUTS
def test_processes_of_the_asa_have_both_addresses(layout: int) -> None:
    rows = column(BY_NAME["asa_cpu"], layout, "pc", "thread", "cpu_5_seconds_percent", "process")
    assert rows[0] == ("0x082a2849", "0xa86e0994", "31.1", "Dispatch Unit")
    assert rows[3] == ("0x0919171d", "0xa86c9404", "0.2", "IP SLA Mon Event Processor")


@LAYOUTS
def test_usage_of_the_switch_is_as_in_the_articles(layout: int) -> None:
    fields = ("interface", "bandwidth_mbit", "output_percent", "input_percent")
    assert column(BY_NAME["fsos_usage_qinq"], layout, *fields)[0] == (
        *("TenGigabitEthernet 0/1", "10000"),
        *("93.63", "94.67"),
    )
    assert column(BY_NAME["fsos_usage_l3"], layout, *fields)[2] == (
        *("TFGigabitEthernet 0/24", "25000"),
        *("75.79", "75.81"),
    )
    assert column(BY_NAME["fsos_usage_lag"], layout, *fields)[8] == (
        *("AggregatePort 1", "20000"),
        *("0.0000023400", "0.0000005799"),
    )


@LAYOUTS
def test_routes_of_the_switch_keep_the_number_of_the_vlan(layout: int) -> None:
    rows = column(BY_NAME["fsos_route"], layout, "code", "prefix", "kind", "next_hop", "interface")
    assert rows == [
        ("O E2", "16.0.0.0/8", "via", "100.65.2.1", "VLAN 100"),
        ("S", "48.0.0.0/8", "via", "100.65.0.2", ""),
        ("O E2", "100.64.0.0/32", "via", "100.65.2.1", "VLAN 100"),
        ("C", "100.64.0.1/32", "local host", "", ""),
        ("C", "100.65.0.0/24", "directly connected", "", "TFGigabitEthernet 0/24"),
        ("C", "100.65.0.1/32", "local host", "", ""),
        ("O E2", "100.65.1.0/24", "via", "100.65.2.1", "VLAN 100"),
        ("C", "100.65.2.0/30", "directly connected", "", "VLAN 100"),
        ("C", "100.65.2.2/32", "local host", "", ""),
    ]


@LAYOUTS
def test_ipv6_routes_of_the_switch_are_all_thirteen(layout: int) -> None:
    printed = BY_NAME["fsos_route_ipv6"]
    rows = column(printed, layout, "prefix", "kind", "next_hop", "interface")
    assert rows[0] == ("2001:DB8::/128", "via", "FE80::669D:99FF:FED0:A054", "VLAN 100")
    assert rows[6] == ("FE80::/10", "via", "::1", "Null0")
    assert rows[12] == ("FE80::669D:99FF:FED0:A076/128", "local host", "", "VLAN 100")
    assert printed.parse().total == "12"


@LAYOUTS
def test_neighbors_of_the_switch_are_full_without_a_designated_router(layout: int) -> None:
    for name, field, value in (("fsos_ospf", "address", "100.65.2.1"), ("fsos_ospfv3", "instance_id", "0")):
        fields = ("neighbor_id", "state", "bfd_state", field, "interface")
        assert column(BY_NAME[name], layout, *fields) == [("100.65.2.1", "Full/ -", "-", value, "VLAN 100")]


@LAYOUTS
def test_other_outputs_of_the_switch_are_as_in_the_articles(layout: int) -> None:
    macs = column(BY_NAME["fsos_mac_qinq"], layout, "vlan", "mac", "interface", "live_time")
    assert macs[4] == ("21", "0002.0101.0000", "TenGigabitEthernet 0/4", "0d 00:01:50")
    core = ("slot", "model", "core", "cpu_5_seconds_percent", "cpu_5_minutes_percent")
    assert column(BY_NAME["fsos_cpu_core"], layout, *core) == [("0", "S5860-20SQ", "0", "16.40", "12.80")]
    ports = column(BY_NAME["fsos_vlan"], layout, "vlan", "name", "ports")[0]
    assert ports[:2] == ("1", "v-default")
    assert len(ports[2].split(", ")) == 25
    optics = column(
        BY_NAME["fsos_transceiver"], layout, "serial", "temperature_c", "rx_power_dbm", "tx_power_dbm"
    )
    assert optics == [("G2006362849", "33", "-0.10", "-0.07")]
    rates = column(BY_NAME["fsos_rates_fo"], layout, "interval", "direction", "packets_per_second")
    assert rates == [("10 seconds", "input", "13032078"), ("10 seconds", "output", "13026051")]
    members = column(BY_NAME["fsos_members"], layout, "name", "interface", "lacp")
    assert members[1] == ("AggregatePort 1", "TenGigabitEthernet 0/10", "bndl")


@LAYOUTS
def test_interfaces_have_bytes_drops_and_the_averaging_interval(layout: int) -> None:
    fields = ("interface", "interval", "input_bytes", "input_drops", "output_drops")
    assert column(BY_NAME["iosxr_interfaces"], layout, *fields) == [
        ("TenGigE0/1/0/0", "5 minute", "349210521600", "16040", "9943"),
        ("Bundle-Ether1", "30 second", "1488", "0", "0"),
        ("Loopback0", "", "", "", ""),
        ("TenGigE0/0/0/0.101", "5 minute", "71234567", "7", "0"),
    ]
    fields = ("interface", "interval", "input_bytes", "input_queue_drops", "output_drops")
    assert column(BY_NAME["ios_interfaces"], layout, *fields)[1] == (
        *("FastEthernet4", "30 second"),
        *("3614206331", "217", "31"),
    )
    assert column(BY_NAME["iosxe_interfaces"], layout, *fields)[0][4] == "4127"
    fields = ("interface", "interval", "input_bytes", "input_drops", "output_drops")
    assert column(BY_NAME["fsos_interfaces"], layout, *fields)[0] == (
        *("TenGigabitEthernet 0/1", "10 seconds"),
        *("52855428936763", "31", "12"),
    )
    assert column(BY_NAME["fsos_counters"], layout, "input_bytes", "drop_events") == [
        ("52855428936763", "31")
    ]
    fields = ("interface", "interval", "packets_dropped", "switch_ingress_drops")
    assert column(BY_NAME["asa_interface"], layout, *fields) == [
        ("Ethernet0/0", "", "", "41"),
        ("Vlan2", "1 minute", "118", ""),
    ]


@LAYOUTS
def test_versions_are_without_their_punctuation(layout: int) -> None:
    assert column(BY_NAME["iosxr_version"], layout, "version", "model") == [("6.1.4", "ASR9K Series")]
    assert column(BY_NAME["ios_version"], layout, "version", "model") == [("15.2(4)M5", "881")]
    assert column(BY_NAME["iosxe_version"], layout, "version", "model") == [("15.5(3)S2", "ISR4321/K9")]
    assert column(BY_NAME["asa_version"], layout, "version", "cpu") == [("9.2(4)5", "Geode 500 MHz")]
    assert column(BY_NAME["fsos_version"], layout, "software", "hardware", "model") == [
        ("S5860_FSOS 12.4(1)B0101P1", "1.00", "S5860-20SQ")
    ]


def test_load_of_the_forwarding_processor_has_four_averages() -> None:
    assert BY_NAME["iosxe_qfp"].parse().rows[-1]["percent_5_seconds"] == "37"
    assert BY_NAME["iosxe_qfp"].parse().rows[5]["direction"] == "Output"


@pytest.mark.parametrize(
    ("system", "command", "proof"),
    [
        (XR, "show lldp neighbors", "transcript"),
        (XE, TOP, "transcript"),
        (FSOS, "show int fo0/26 | inc packets/sec", "transcript"),
        (XR, "show interfaces", "written"),
        (ASA, "show interface Vlan2", "written"),
    ],
)
def test_proof_of_an_output_is_its_source(system: str, command: str, proof: str) -> None:
    output = look_up(system, command)
    assert output.proof == proof
    assert bool(output.source) == (proof == "transcript")


def test_several_next_hops_of_a_route_are_a_row_each() -> None:
    text = (
        BY_NAME["fsos_route"]
        .texts()[0]
        .replace(
            "S     48.0.0.0/8 [1/0] via 100.65.0.2\n",
            "S     48.0.0.0/8 [1/0] via 100.65.0.2\n                 [1/0] via 100.65.0.6\n",
        )
    )
    rows = parse(FSOS, "show ip route", text).rows
    assert [(row["prefix"], row["next_hop"]) for row in rows[1:3]] == [
        ("48.0.0.0/8", "100.65.0.2"),
        ("48.0.0.0/8", "100.65.0.6"),
    ]


def test_long_name_of_an_lldp_neighbor_may_have_a_line_of_its_own() -> None:
    text = (
        BY_NAME["iosxr_lldp"]
        .texts()[0]
        .replace("xsw1-btl       ", "xsw1-btl.lab.example.net\n               ")
    )
    assert parse(XR, "show lldp neighbors", text).rows[0]["device_id"] == "xsw1-btl.lab.example.net"


def test_table_without_rows_is_right_where_it_may_be_empty() -> None:
    header = "\n".join(BY_NAME["fsos_usage"].texts()[0].split("\n")[:2])
    assert parse(FSOS, "show int usage up", header).rows == ()
    none = "Device ID  Local Intf  Hold-time  Capability  Port ID\n\nTotal entries displayed: 0\n"
    assert parse(XR, "show lldp neighbors", none).total == "0"
    nobody = "OSPF process 1, 0 Neighbors, 0 is Full:\n"
    assert parse(FSOS, "show ip ospf neighbor", nobody).rows == ()
