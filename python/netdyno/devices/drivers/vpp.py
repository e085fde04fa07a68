"""VPP, by SSH to its machine and `vppctl` there."""

from __future__ import annotations

from netdyno.devices.drivers.by_cli import CliDriver
from netdyno.devices.drivers.counted import ECHO, NO_COMMAND, counters
from netdyno.devices.shell import Shell

_LINE = r"^\S+ +\d+ +"
"""The begin of a port. Counters that are 0 are not printed behind it."""
_COUNTED = (
    ("rx_packets", "rx packets"),
    ("rx_bytes", "rx bytes"),
    ("tx_packets", "tx packets"),
    ("tx_bytes", "tx bytes"),
    ("in_drops", "drops"),
    ("punted", "punt"),
    ("in_errors", "rx-error"),
    ("out_errors", "tx-error"),
    ("rx_miss_drops", "rx-miss"),
)

DRIVER = CliDriver(
    name="vpp",
    title="VPP, by SSH and vppctl",
    proof="written",
    shell=Shell(
        netmiko="linux",
        refused=(r"^(?:[\w ]{1,40}: )?unknown input [^\n]*", *NO_COMMAND),
        running="vppctl show interface address",
        comment="#",
        echo=ECHO,
    ),
    version=("vppctl show version", r"^vpp v(?P<n>\S+)"),
    port=("vppctl show interface {port}", rf"{_LINE}(?P<n>up|down) "),
    readings=(
        counters(
            "vppctl show interface {port}",
            ((name, rf"\b{shown} +(?P<n>\d+) *$") for name, shown in _COUNTED),
            unshown=_LINE,
        ),
    ),
    static_routes=("ip route add {network} via {via}", "ip route add {network} via {via}"),
)
