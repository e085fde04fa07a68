"""A bridge of Open vSwitch's userspace datapath with an access port and a bond that speaks LACP.

tester w0 -- p0 [br] bond0: m0, m1, ... -- e0, e1, ... tester
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ovs
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import links, namespaces

ACCESS = ("w0", "p0")


def members(count: int) -> tuple[tuple[str, str], ...]:
    """The tester's interface and the switch's, of each member."""
    return tuple((f"e{number}", f"m{number}") for number in range(count))


@contextmanager
def lag_lab(count: int) -> Iterator[ovs.Switch]:
    """The cables and the switch, without ports yet; the caller is in the tester's namespace."""
    with (
        tempfile.TemporaryDirectory(prefix="nd-", dir="/tmp") as short,
        namespaces.tester_namespace(),
        dut.device_namespace() as device,
    ):
        links.ip("link set lo up")
        device.do("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6; ip link set lo up")
        for ours, theirs in (ACCESS, *members(count)):
            links.ip(f"link add {ours} type veth peer name {theirs} netns {device.pid}")
            links.ip(f"link set {ours} up")
            device.do(f"ip link set {theirs} up")
        with ovs.run_switch(Path(short), device) as switch:
            switch.do(
                "ovs-vsctl --timeout=10 add-br br -- set Bridge br datapath_type=netdev"
                " other-config:mac-table-size=64 -- add-port br p0"
            )
            yield switch


def bond(switch: ovs.Switch, count: int, options: str = "lacp=active other_config:lacp-time=fast") -> None:
    """Makes the members one bond."""
    names = " ".join(theirs for _, theirs in members(count))
    switch.do(f"ovs-vsctl --timeout=10 add-bond br bond0 {names} bond_mode=balance-tcp {options}")


def count_frames(switch: ovs.Switch, names: tuple[str, ...], way: str) -> list[int]:
    """Frames of interfaces, as Open vSwitch counts them now. way: `tx` or `rx`."""
    printed = switch.do("ovs-ofctl --names dump-ports br")
    found = (re.search(rf'"?{name}"?: rx pkts=(\d+),.*?tx pkts=(\d+),', printed, re.DOTALL) for name in names)
    return [int(one[1 if way == "rx" else 2]) if one else 0 for one in found]
