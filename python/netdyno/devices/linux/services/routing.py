"""Routing protocols of a Linux router, by BIRD, which gives the kernel the routes that it learns.

With OSPF and BGP it has a neighbour, BIRD in a namespace of its own, on a link of its own:

    this machine                device's namespace            neighbour's namespace
      w0 .2 <100.64.101.0/30> .1 w1
                                c0 .1  <100.64.100.0/30>  .2 n0    100.64.102.1 (behind it)

The neighbour announces its own address by OSPF. By BGP it announces the networks behind the tester's ports
with the ports as next hops, as a route server does (RFC 7947 section 2.2): it forwards none of the traffic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from netdyno.devices import addresses, routing
from netdyno.devices.kind import Program
from netdyno.devices.linux import daemon, leftovers
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.bird import BIRD, BIRDC, IS_UP, OF_PROTOCOLS, UP_S, run_bird
from netdyno.devices.linux.frr import VTYSH
from netdyno.devices.linux.services import peers
from netdyno.devices.linux.services.service import Installed, Lab, Service
from netdyno.devices.watches import NEIGHBOUR
from netdyno.devices.watches.adjacency import AdjacencyInstrument
from netdyno.devices.watches.bird import COMMANDS, ask_bird

PORT, FAR_PORT = "c0", "n0"
"""Ends of the link, in the device's namespace and in the neighbour's."""

# Passive: a router that announced its own routes would send the tester what the tester sent it.
_RIP = """log stderr all;
router id 100.64.0.1;
protocol device {}
protocol kernel { ipv4 { import none; export all; }; }
protocol rip {
  ipv4 { import all; export none; };
  interface %s { version 2; mode multicast; passive yes; };
}
"""
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
_UP = {
    routing.RIP: "show protocols | grep -q 'RIP .* up '",
    routing.OSPF: "show ospf neighbors | grep -q Full/",
    routing.BGP: "show protocols all | grep -q 'BGP state: *Established'",
}


@dataclass(frozen=True)
class Routing(Service):
    """Learns by RIP what the tester announces, or has an adjacency with its neighbour."""

    @contextmanager
    def install(self, lab: Lab) -> Iterator[Installed]:
        ports = len(lab.ports)
        protocol = lab.wiring.settings[self.setting]
        if protocol in routing.WITH_SPEAKERS:
            with peers.install(lab, protocol) as installed:
                yield installed
            return
        if protocol == routing.RIP:
            with run_bird(lab.device, configure_router(protocol, ports), _UP[protocol]) as own:
                yield Installed((own,))
            return
        behind = lab.wiring.routes or [addresses.networks_behind(port, ports) for port in range(ports)]
        with run_neighbour(lab.device, protocol, behind) as daemons:
            ask = partial(ask_bird, daemons[0].control)
            yield Installed(daemons, adjacencies=AdjacencyInstrument(ask, "; ".join(COMMANDS)))

    def addresses_of(self, settings: Mapping[str, str]) -> Mapping[str, str]:
        is_there = settings.get(self.setting) in routing.WITH_NEIGHBOUR
        return {NEIGHBOUR: addresses.NEIGHBOUR} if is_there else {}

    def list_programs(self, settings: Mapping[str, str]) -> tuple[Program, ...]:
        # The tester's speakers are BIRD, whatever the device has.
        return (*self.programs, VTYSH) if settings.get(self.setting) == routing.FRR else self.programs

    def has_adjacencies(self, settings: Mapping[str, str]) -> bool:
        return settings.get(self.setting) in routing.WITH_NEIGHBOUR


SERVICE = Routing(
    routing.SETTING,
    (*routing.WITHOUT_NEIGHBOUR, *routing.WITH_NEIGHBOUR, *routing.WITH_SPEAKERS),
    programs=(BIRD, BIRDC),
)


def configure_router(protocol: str, ports: int) -> str:
    """The configuration of the device's BIRD. The networks of its ports are what next hops are found by."""
    names = ", ".join(f'"{name}"' for name in dut.PORTS[:ports])
    if protocol == routing.RIP:
        return _RIP % names
    own, other = addresses.CONTROL
    text = _COMMON % {"own": own, "exported": OF_PROTOCOLS, "stub": "", "port": PORT}
    if protocol == routing.BGP:
        text += f"protocol direct {{ ipv4; check link; interface {names}; }}\n"
        text += _BGP % {"own": own, "other": other, "imported": "all", "announced": "none"}
    return text


def configure_neighbour(protocol: str, behind: Sequence[Sequence[str]]) -> str:
    """The configuration of the neighbour's BIRD. behind: prefixes behind each port."""
    other, own = addresses.CONTROL
    stub = f"stubnet {addresses.NEIGHBOUR}/32;"
    text = _COMMON % {"own": own, "exported": "none", "stub": stub, "port": FAR_PORT}
    if protocol == routing.BGP:
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
def run_neighbour(
    device: dut.Device, protocol: str, behind: Sequence[Sequence[str]]
) -> Iterator[tuple[daemon.Daemon, ...]]:
    """A neighbour, once its adjacency with the device is up: the device's BIRD and its own.

    behind: prefixes behind each port. Raises LabError where this machine cannot.
    """
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
        far = within.enter_context(run_bird(other, configure_neighbour(protocol, behind), IS_UP))
        up = within.enter_context(run_bird(device, configure_router(protocol, len(behind)), _UP[protocol]))
        birdc = f"{dut.tool(BIRDC)} -s {up.control}"
        dut.await_success(device, f"{birdc} {_UP[routing.OSPF]}", UP_S, "OSPF adjacency")
        known = f"ip route show {addresses.NEIGHBOUR} | grep -q via"
        if protocol == routing.BGP:
            last = addresses.tester(len(behind) - 1)
            known += f" && ip route show proto bird via {last} | grep -q dev"
        dut.await_success(device, known, UP_S, "route to its neighbour")
        yield up, far
