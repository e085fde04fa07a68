"""Outputs of devices, as the articles cut them and as devices lay them out."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from netdyno.devices.outputs import Rows, parse

FOLDER = Path(__file__).parents[1] / "data" / "outputs"

EGREP = "show interfaces | utility egrep 'output.*packets/sec' | exclude 0 packets"
CORES = "show platform software status control-processor brief"
TOP = "show platform software process slot RP active monitor cycles 1 interval 1"
QFP = "show platform hardware qfp active datapath utilization"
MEMBERS = "show interfaces AggregatePort 1 | begin Aggregate Port Informations"

XR, XE, IOS, ASA, FSOS = "cisco_iosxr", "cisco_iosxe", "cisco_ios", "cisco_asa", "fsos"


class Printed(NamedTuple):
    """An output in tests/data/outputs. rows: how many it has. shared: fields that one line gives to all."""

    system: str
    command: str
    name: str
    rows: int
    shared: tuple[str, ...] = ()

    def texts(self) -> tuple[str, ...]:
        """In each layout: laid out, and cut. Where no article has it cut, its spaces are made one."""
        laid_out = (FOLDER / f"{self.name}.laid_out.txt").read_text()
        cut = FOLDER / f"{self.name}.cut.txt"
        return laid_out, cut.read_text() if cut.exists() else as_cut(laid_out)

    def parse(self, text: str | None = None) -> Rows:
        """The rows of a text; None: of the laid out one."""
        return parse(self.system, self.command, self.texts()[0] if text is None else text)


def as_cut(text: str) -> str:
    """A text without indentation and columns, as a web page leaves it."""
    return "".join(f"{' '.join(line.split())}\n" for line in text.split("\n") if line.strip())


_CPU = ("cpu_usage_5_sec", "cpu_interruption_5_sec", "cpu_usage_1_min", "cpu_usage_5_min")
_LOAD = ("load_1_minute", "load_5_minutes", "load_15_minutes", "user_percent", "system_percent")
_PROCESS = ("process", "vrf")

PRINTED = (
    Printed(XR, "show environment power-supply", "iosxr_power", 3),
    Printed(XR, "show route summary", "iosxr_routes", 7),
    Printed(IOS, "show ip route summary", "ios_routes", 7),
    Printed(XE, "show ip route summary", "ios_routes", 7),
    Printed(XR, "show route ipv6 summary", "iosxr_routes_ipv6", 4),
    *(
        Printed(system, command, name, rows, shared)
        for system in (IOS, XE)
        for command, name, rows, shared in (
            ("show ipv6 route summary", "ios_routes_ipv6", 10, ()),
            ("show ip bgp summary", "ios_bgp_ipv4", 10, ()),
            ("show bgp ipv6 unicast summary", "ios_bgp_ipv6", 2, ()),
            ("show ip ospf neighbor", "ios_ospf", 4, ()),
            ("show ipv6 ospf neighbor", "ios_ospfv3", 2, ("process",)),
        )
    ),
    Printed(XR, "show lldp neighbors", "iosxr_lldp", 5),
    Printed(XR, "show ip ospf neighbor", "iosxr_ospf", 3, _PROCESS),
    Printed(XR, "show ospfv3 neighbor", "iosxr_ospfv3", 3, _PROCESS),
    Printed(XR, "show bgp ipv4 uni sum", "iosxr_bgp_ipv4", 3),
    Printed(XR, "show bgp ipv6 uni sum", "iosxr_bgp_ipv6", 3),
    Printed(XR, EGREP, "iosxr_rates", 9),
    Printed(XR, "show interfaces", "iosxr_interfaces", 4),
    Printed(XR, "show version", "iosxr_version", 1),
    Printed(IOS, "sh processes cpu sorted", "ios_cpu_cef", 3, _CPU),
    Printed(IOS, "sh processes cpu sorted", "ios_cpu_process_switching", 3, _CPU),
    Printed(IOS, "sh processes cpu sorted", "ios_cpu_acl_log", 3, _CPU),
    Printed(IOS, "show interfaces", "ios_interfaces", 2),
    Printed(IOS, "show version", "ios_version", 1),
    Printed(XE, "show proc cpu sorted", "iosxe_cpu", 4, _CPU),
    Printed(XE, CORES, "iosxe_cores", 6),
    Printed(XE, f"{TOP} lines 8", "iosxe_top", 8, (*_LOAD, "idle_percent")),
    Printed(XE, QFP, "iosxe_qfp", 7, ("cpp", "direction")),
    Printed(XE, "show interfaces GigabitEthernet0/0/0", "iosxe_interfaces", 1),
    Printed(XE, "show version", "iosxe_version", 1),
    Printed(ASA, "sh proc cpu-usage non-zero sorted", "asa_cpu", 5),
    Printed(ASA, "show processes cpu-usage", "asa_cpu_datapath", 3),
    Printed(ASA, "show interface", "asa_interface", 2),
    Printed(ASA, "show version", "asa_version", 1),
    Printed(FSOS, MEMBERS, "fsos_members", 2, ("number", "name")),
    Printed(FSOS, "show int usage up", "fsos_usage_lag", 10),
    Printed(FSOS, "show int usage | exclude 0.00", "fsos_usage", 5),
    Printed(FSOS, "show int usage | e 0.00", "fsos_usage_qinq", 5),
    Printed(FSOS, "show interfaces usage | exclude 0.00", "fsos_usage_l3", 4),
    Printed(FSOS, "show mac", "fsos_mac", 8),
    Printed(FSOS, "show mac", "fsos_mac_qinq", 8),
    Printed(FSOS, "show mac-address-table count", "fsos_mac_count", 3),
    Printed(FSOS, "show cpu core", "fsos_cpu_core", 1, ("slot", "model")),
    Printed(FSOS, "show vlan id 1", "fsos_vlan", 1),
    Printed(FSOS, "show ip ospf  neighbor", "fsos_ospf", 1, ("process",)),
    Printed(FSOS, "show ipv6 ospf  neighbor", "fsos_ospfv3", 1, ("process",)),
    Printed(FSOS, "show ip route", "fsos_route", 9),
    Printed(FSOS, "show ipv6 route", "fsos_route_ipv6", 13),
    Printed(FSOS, "show int te0/1 | inc packets/sec", "fsos_rates_te", 2),
    Printed(FSOS, "show int tf0/24 | inc packets/sec", "fsos_rates_tf", 2),
    Printed(FSOS, "show int fo0/26 | inc packets/sec", "fsos_rates_fo", 2),
    Printed(FSOS, "show interfaces TFGigabitEthernet0/24 transceiver", "fsos_transceiver", 1),
    Printed(FSOS, "show interfaces", "fsos_interfaces", 2),
    Printed(FSOS, "show interfaces TenGigabitEthernet 0/1 counters", "fsos_counters", 1),
    Printed(FSOS, "show version", "fsos_version", 1),
)

BY_NAME = {one.name: one for one in PRINTED}
