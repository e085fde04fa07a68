"""The routing neighbour of a Linux router: BIRD in a namespace of its own, on a link of its own.

    this machine                device's namespace            neighbour's namespace
      w0 .2 <100.64.101.0/30> .1 w1
                                c0 .1  <100.64.100.0/30>  .2 n0    100.64.102.1 (behind it)

The neighbour announces its own address by OSPF. By BGP it announces the networks behind the tester's ports
with the ports as next hops, as a route server does (RFC 7947 section 2.2): it forwards none of the traffic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from netdyno.devices import addresses, neighbours
from netdyno.devices.linux import bird, daemon, leftovers
from netdyno.devices.linux import device as dut

PORT, FAR_PORT = "c0", "n0"
"""Ends of the link, in the device's namespace and in the neighbour's."""
OURS, THEIRS = "w0", "w1"
"""Ends of the link that pings take, in this machine's namespace and in the device's."""

_COMMON = """log stderr all;
router id %(own)s;
protocol device { scan time 1; }
protocol kernel { ipv4 { import none; export %(exported)s; }; }
protocol ospf v2 control {
  ipv4 { import all; export none; };
  area 0 { %(stub)s interface "%(port)s" { type ptp; hello 1; dead count 4; check link; }; };
}
"""
_BGP = """protocol bgp peer {
  local %(own)s as 64512; neighbor %(other)s as 64512; direct; check link;
  connect delay time 1; error wait time 1, 2;
  # Recursive: a port that goes takes the routes by it along, and brings them back.
  ipv4 { gateway recursive; import %(imported)s; export %(announced)s; };
}
"""
_OF_PROTOCOLS = "where source ~ [ RTS_OSPF, RTS_OSPF_IA, RTS_OSPF_EXT1, RTS_OSPF_EXT2, RTS_BGP ]"
_UP = {
    neighbours.OSPF: "show ospf neighbors | grep -q Full/",
    neighbours.BGP: "show protocols all | grep -q 'BGP state: *Established'",
}


@dataclass(frozen=True)
class Neighbour:
    """A running neighbour, with the BIRD of the device and its own."""

    device: dut.Device
    daemons: tuple[daemon.Daemon, ...]


def configure_router(routing: str, ports: int) -> str:
    """The configuration of the device's BIRD. The networks of its ports are what next hops are found by."""
    own, other = addresses.CONTROL
    text = _COMMON % {"own": own, "exported": _OF_PROTOCOLS, "stub": "", "port": PORT}
    if routing == neighbours.BGP:
        names = ", ".join(f'"{name}"' for name in dut.PORTS[:ports])
        text += f"protocol direct {{ ipv4; check link; interface {names}; }}\n"
        text += _BGP % {"own": own, "other": other, "imported": "all", "announced": "none"}
    return text


def configure_neighbour(routing: str, behind: Sequence[Sequence[str]]) -> str:
    """The configuration of the neighbour's BIRD. behind: prefixes behind each port."""
    other, own = addresses.CONTROL
    stub = f"stubnet {addresses.NEIGHBOUR}/32;"
    text = _COMMON % {"own": own, "exported": "none", "stub": stub, "port": FAR_PORT}
    if routing == neighbours.BGP:
        routes = "".join(
            f"  route {prefix} via {other} {{ bgp_next_hop = {addresses.tester(port)}; }};\n"
            for port, prefixes in enumerate(behind)
            for prefix in prefixes
        )
        text += f"protocol static behind {{\n  ipv4;\n{routes}}}\n"
        text += _BGP % {
            "own": own,
            "other": other,
            "imported": "none",
            "announced": 'where proto = "behind"',
        }
    return text


@contextmanager
def run_neighbour(device: dut.Device, routing: str, behind: Sequence[Sequence[str]]) -> Iterator[Neighbour]:
    """A neighbour, until its adjacency with the device is up. Raises LabError where this machine cannot."""
    ours, theirs = addresses.CONTROL
    with ExitStack() as within:
        other = within.enter_context(dut.device_namespace())
        within.enter_context(leftovers.remember_process(leftovers.state_folder(), other.pid))
        device.do(f"ip link add {PORT} type veth peer name {FAR_PORT} netns {other.pid}")
        for line in (f"ip address add {ours}/30 dev {PORT}", f"ip link set {PORT} up"):
            device.do(line)
        for line in (
            "ip link set lo up",
            f"ip address add {addresses.NEIGHBOUR}/32 dev lo",
            f"ip address add {theirs}/30 dev {FAR_PORT}",
            f"ip link set {FAR_PORT} up",
            f"ip route add default via {ours}",
        ):
            other.do(line)
        far = within.enter_context(
            bird.run_bird(
                other, 0, configure_neighbour(routing, behind), "show status | grep -q 'up and run'"
            )
        )
        up = within.enter_context(
            bird.run_bird(device, len(behind), configure_router(routing, len(behind)), _UP[routing])
        )
        birdc = f"{dut.tool('birdc')} -s {up.control}"
        dut.await_success(device, f"{birdc} {_UP[neighbours.OSPF]}", bird.UP_S, "OSPF adjacency")
        known = f"ip route show {addresses.NEIGHBOUR} | grep -q via"
        if routing == neighbours.BGP:
            last = addresses.tester(len(behind) - 1)
            known += f" && ip route show proto bird via {last} | grep -q dev"
        dut.await_success(device, known, bird.UP_S, "route to its neighbour")
        yield Neighbour(other, (up, far))
