"""Outputs of Cisco's systems, a line each."""

from __future__ import annotations

from netdyno.devices.outputs.output import AT_MOST, ROWS, Output, Total, sum_of, sum_where_printed

_ASR9006 = "IPng Networks, review of the ASR9006, 2022-02-21"
_CBS = "CBS, performance of Cisco routers and firewalls, 2016-06-22"

_XR, _XE, _IOS, _ASA = "cisco_iosxr", "cisco_iosxe", "cisco_ios", "cisco_asa"

_POWER = "admin show environment power-supply"
_WATTS = Total("total", sum_of("power_w"))
_BGP = "cisco_iosxr_show-bgp-summary.textfsm"
_RATES = "show interfaces | utility egrep 'output.*packets/sec' | exclude 0 packets"

_CPU = "ntc:cisco_ios_show_processes_cpu.textfsm"
_SORTED = ("show processes cpu sorted", "sh processes cpu sorted", "show proc cpu sorted")
_CPU_HEAD = ("cpu_usage_5_sec", "cpu_interruption_5_sec", "cpu_usage_1_min", "cpu_usage_5_min")
"""Of the first line, which the template does not insist on."""
_CORES = "show platform software status control-processor brief"
_CORE = ("slot", "cpu", "memory_kb", "load_1_minute")
_TOP = "show platform software process slot RP active monitor cycles 1 interval 1"
_TOP_FILE = "cisco_iosxe_show-platform-software-process-slot-monitor.textfsm"
_QFP = "show platform hardware qfp active datapath utilization"
_ONE = ("show interfaces {interface}",)
_IOS_VERSION = ("version", "hostname", "uptime", "image", "model", "serial")
_IOS_INTERFACES = "cisco_ios_show-interfaces.textfsm"

_NTC = "ntc-templates, test data, 2026-07-26"
_GENIE = "genieparser, test data, 2021"
_ROUTES = "show ip route summary"
_ROUTES_FILE = "cisco_ios_show-ip-route-summary.textfsm"
_ROUTES_TOTALS = tuple(Total(f"total_{name}", sum_where_printed(name)) for name in ("networks", "subnets"))
_XR_TOTALS = (Total("total", sum_of("routes")), Total("total_backup", sum_of("backup")))

_ASA_CPU = "show processes cpu-usage non-zero sorted"
_ASA_CPU_FILE = "cisco_asa_show-processes-cpu-usage.textfsm"
_ASA_ALIASES = ("sh proc cpu-usage non-zero sorted", "show proc cpu-usage non-zero sorted")
_ASA_UNIQUE = ("pc", "thread", "process")
_ASA_VERSION = ("version", "hostname", "uptime", "model", "serial")

_LAB = "IPv6 in a lab of eight routers (P3, IOS XR), notes on GitHub, June 8"
_BGP_LAB = "BGP and IPv6 lab (RT-SITE-A, IOS), notes on GitHub"
_OSPF3_LAB = "OSPFv3 in a lab of service provider routers (p2, IOS XE), notes on GitHub, January 21"


def _routing(system: str) -> tuple[Output, ...]:
    """What IOS and IOS XE print alike of their routing beside the IPv4 table."""
    table = Total("total_networks", sum_of("networks"))
    bgp, old = "cisco_ios_show-bgp-summary.textfsm", ("show ip bgp summary",)
    routes, ospf, ospf3 = (
        f"cisco_ios_show-{name}.textfsm"
        for name in ("ipv6-route-summary", "ip-ospf-neighbor", "ipv6-ospf-neighbor")
    )
    link = ("neighbor_id", "interface")
    return (
        Output(system, "show ipv6 route summary", _GENIE, totals=(table,), unique=("source",), file=routes),
        Output(system, "show bgp ipv4 unicast summary", _NTC, old, unique=("neighbor",), file=bgp),
        Output(system, "show bgp ipv6 unicast summary", _BGP_LAB, unique=("neighbor",), file=bgp),
        Output(system, "show ip ospf neighbor", _NTC, unique=("address", "interface"), file=ospf),
        Output(system, "show ipv6 ospf neighbor", _OSPF3_LAB, unique=link, file=ospf3),
    )


OUTPUTS = (
    Output(_XR, _POWER, _ASR9006, ("show environment power-supply",), (_WATTS,), unique=("location",)),
    Output(_XR, "show lldp neighbors", _ASR9006, totals=(ROWS,), is_table=True),
    Output(_XR, "show ip ospf neighbor", _ASR9006, ("show ospf neighbor",), (ROWS,), is_table=True),
    Output(_XR, "show ospfv3 neighbor", _ASR9006, totals=(ROWS,), is_table=True),
    Output(_XR, "show bgp ipv4 unicast summary", _ASR9006, ("show bgp ipv4 uni sum",), file=_BGP),
    Output(_XR, "show bgp ipv6 unicast summary", _ASR9006, ("show bgp ipv6 uni sum",), file=_BGP),
    Output(_XR, "show route summary", _GENIE, totals=_XR_TOTALS, unique=("source",)),
    Output(
        _XR,
        "show route ipv6 summary",
        _LAB,
        totals=_XR_TOTALS,
        unique=("source",),
        file="cisco_iosxr_show-route-summary.textfsm",
    ),
    Output(_XR, _RATES, _ASR9006, file="rates.textfsm"),
    Output(_XR, "show interfaces", aliases=_ONE, unique=("interface",), always=("hardware",)),
    Output(_XR, "show version", always=("hostname", "uptime", "image")),
    Output(_IOS, "show processes cpu", _CBS, _SORTED, always=_CPU_HEAD, unique=("process_pid",), file=_CPU),
    Output(_IOS, "show interfaces", aliases=_ONE, unique=("interface",), always=("hardware",)),
    Output(_IOS, _ROUTES, _NTC, totals=_ROUTES_TOTALS, unique=("source",)),
    *_routing(_IOS),
    Output(_IOS, "show version", always=_IOS_VERSION),
    Output(_XE, "show processes cpu", _CBS, _SORTED, always=_CPU_HEAD, unique=("process_pid",), file=_CPU),
    Output(_XE, _CORES, _CBS, unique=_CORE),
    Output(_XE, _TOP, _CBS, totals=(ROWS,), unique=("pid",), file=_TOP_FILE),
    Output(_XE, f"{_TOP} lines {{number}}", _CBS, totals=(AT_MOST,), unique=("pid",), file=_TOP_FILE),
    Output(_XE, _QFP, unique=("cpp", "direction", "class")),
    Output(_XE, "show interfaces", aliases=_ONE, unique=("interface",), file=_IOS_INTERFACES),
    Output(_XE, _ROUTES, _NTC, totals=_ROUTES_TOTALS, unique=("source",), file=_ROUTES_FILE),
    *_routing(_XE),
    Output(_XE, "show version", always=_IOS_VERSION, file="cisco_ios_show-version.textfsm"),
    Output(_ASA, _ASA_CPU, _CBS, _ASA_ALIASES, unique=_ASA_UNIQUE, is_table=True, file=_ASA_CPU_FILE),
    Output(_ASA, "show processes cpu-usage", is_table=True, file=_ASA_CPU_FILE),
    Output(_ASA, "show interface", aliases=("show interface {interface}",), unique=("interface",)),
    Output(_ASA, "show version", always=_ASA_VERSION),
)
