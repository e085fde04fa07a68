"""Outputs of FSOS, the system of FS switches, a line each."""

from __future__ import annotations

from netdyno.devices.outputs.output import AT_LEAST, ROWS, Output, Total, count_begun, sum_of

_S5860 = "IPng Networks, review of the FS S5860-20SQ, 2021-08"
_ASR9006 = "IPng Networks, review of the ASR9006, 2022-02-21"

_FSOS = "fsos"

_FULL = Total("total_full", count_begun("state", "full"))
_COUNTS = Total("total", sum_of("count"))

_USAGE = (
    *("show int usage", "show int usage up", "show interfaces usage up"),
    *("show int usage | exclude 0.00", "show int usage | e 0.00", "show interfaces usage | exclude 0.00"),
)
_MAC = ("show mac",)
_RATES = "show interfaces {interface} | include packets/sec"
_RATES_SHORT = ("show int {interface} | inc packets/sec",)
_OPTICS = "show interfaces {interface} transceiver"
_OPTICS_FILE = "fsos_show-interfaces-transceiver.textfsm"
_MEMBERS = "show interfaces {interface} | begin Aggregate Port Informations"
_MEMBERS_FILE = "fsos_aggregate-port-informations.textfsm"
_ONE = ("show interfaces {interface}", "show int {interface}")
_COUNTERS = ("show interfaces {interface} counters",)
_VERSION = ("description", "model", "uptime", "software", "serial")

OUTPUTS = (
    Output(_FSOS, "show interfaces usage", _S5860, _USAGE, unique=("interface",), is_table=True),
    Output(_FSOS, "show mac-address-table", _S5860, _MAC, unique=("vlan", "mac"), is_table=True),
    Output(_FSOS, "show mac-address-table count", totals=(_COUNTS,), unique=("type",)),
    Output(_FSOS, "show cpu core", _S5860, unique=("slot", "core")),
    Output(_FSOS, "show vlan", _S5860, ("show vlan id {number}",), unique=("vlan",)),
    Output(_FSOS, "show ip ospf neighbor", _S5860, totals=(ROWS, _FULL), is_table=True),
    Output(_FSOS, "show ipv6 ospf neighbor", _S5860, totals=(ROWS, _FULL), is_table=True),
    Output(_FSOS, "show ip route", _S5860, is_table=True),
    # The article's device prints 12 entries above 13 routes: what it counts is not known.
    Output(_FSOS, "show ipv6 route", _S5860, totals=(AT_LEAST,), is_table=True),
    Output(_FSOS, _RATES, _S5860, _RATES_SHORT, unique=("direction",), file="rates.textfsm"),
    Output(_FSOS, _OPTICS, _S5860, always=("temperature_c", "rx_power_dbm"), file=_OPTICS_FILE),
    Output(_FSOS, _MEMBERS, _ASR9006, totals=(ROWS,), unique=("interface",), file=_MEMBERS_FILE),
    Output(_FSOS, "show interfaces", aliases=_ONE, unique=("interface",), always=("hardware",)),
    Output(_FSOS, "show interfaces counters", aliases=_COUNTERS, unique=("interface",)),
    Output(_FSOS, "show version", always=_VERSION),
)
