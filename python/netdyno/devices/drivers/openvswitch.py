"""Open vSwitch, by SSH to its machine: the userspace datapath and the kernel's.

Counters are asked of the switch itself: those in its database are up to five seconds old.
"""

from __future__ import annotations

from netdyno.devices.drivers.by_cli import CliDriver
from netdyno.devices.drivers.counted import NO_COMMAND, counter, counters
from netdyno.devices.drivers.reading import Quantity, Reading
from netdyno.devices.shell import Shell

_ANY = r"[\d?]+"
"""A number, or `?` where a type of port does not count it."""

_IN = rf"\brx pkts={_ANY}, bytes={_ANY}, "
_OUT = rf"\btx pkts={_ANY}, bytes={_ANY}, "
_COUNTED = (
    ("rx_packets", r"\brx pkts=(?P<n>\d+),"),
    ("rx_bytes", rf"\brx pkts={_ANY}, bytes=(?P<n>\d+),"),
    # No total of what is lost: of a `system` port the kernel counts each tagged frame here that it handed to
    # nobody but Open vSwitch.
    ("in_port_drops", rf"{_IN}drop=(?P<n>\d+),"),
    ("in_errors", rf"{_IN}drop={_ANY}, errs=(?P<n>\d+),"),
    ("tx_packets", r"\btx pkts=(?P<n>\d+),"),
    ("tx_bytes", rf"\btx pkts={_ANY}, bytes=(?P<n>\d+),"),
    ("out_drops", rf"{_OUT}drop=(?P<n>\d+),"),
    ("out_errors", rf"{_OUT}drop={_ANY}, errs=(?P<n>\d+),"),
)

_REASONS = (
    *("datapath_drop_upcall_error", "datapath_drop_lock_error", "datapath_drop_rx_invalid_packet"),
    *("datapath_drop_meter", "datapath_drop_recirc_error", "datapath_drop_invalid_port"),
    *("datapath_drop_tunnel_push_error", "datapath_drop_tunnel_pop_error", "datapath_drop_invalid_tnl_port"),
    *("datapath_drop_invalid_bond", "drop_action_of_pipeline", "drop_action_congestion"),
    *("drop_action_forwarding_disabled", "drop_action_bridge_not_found", "drop_action_recursion_too_deep"),
    *("drop_action_too_many_resubmit", "drop_action_stack_too_deep"),
)
# A counter that never moved is not printed, and has to be 0 before traffic: awk adds it. Of no answer it
# makes nothing.
_DROPS = (
    "ovs-appctl coverage/show | awk '/^Event coverage/ {all = 1} {n[$1] = $NF} END {if (all) {"
    f'split("{" ".join(_REASONS)}", names); for (i in names) print names[i], n[names[i]] + 0}}}}\''
)

_OF_THREAD = r"^(?P<subject>(?:pmd|main) thread[^\n:]{0,80}):\n(?:  [^\n]*\n)*?  "
"""A thread, and what it counts, up to a line of its own."""

DRIVER = CliDriver(
    name="openvswitch",
    title="Open vSwitch, by SSH",
    proof="real",
    shell=Shell(
        netmiko="linux",
        refused=(r"^ovs-\w+: [^\n]*", *NO_COMMAND),
        running="ovs-vsctl show",
        comment="#",
    ),
    version=("ovs-appctl version", r"\(Open vSwitch\) (?P<n>\S+)"),
    mark=r"Open vSwitch",
    port=("ovs-vsctl get Interface {port} link_state", r"^(?P<n>\w+)$"),
    readings=(
        counters('ovs-ofctl dump-ports "$(ovs-vsctl iface-to-br {port})" {port}', _COUNTED),
        Reading(
            "cycles of PMD threads",
            "ovs-appctl dpif-netdev/pmd-stats-show",
            1.0,
            (
                Quantity("idle cycles", "cycles", rf"{_OF_THREAD}idle cycles: (?P<n>\d+)", is_counter=True),
                Quantity(
                    "busy cycles", "cycles", rf"{_OF_THREAD}processing cycles: (?P<n>\d+)", is_counter=True
                ),
            ),
        ),
        Reading(
            "drop reasons",
            _DROPS,
            5.0,
            tuple(counter("datapath_drops", rf"^(?P<subject>{reason}) (?P<n>\d+)$") for reason in _REASONS),
        ),
    ),
)
