"""The interface of a speaker: above the port's, in a namespace of its own, where no test frame gets to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from ipaddress import IPv4Address

from netdyno.devices.kind import Program
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import leftovers
from netdyno.devices.linux.links import ip
from netdyno.devices.speakers.taps import Taps
from netdyno.devices.wiring import LabError, Subinterface

INTERFACE = "r0"
NFT = Program("nft", "nftables", "it keeps test frames from a speaker's kernel")
OSPF, BGP, BFD = 89, 179, "3784, 3785, 4784"
"""An IP protocol, a port of TCP, ports of UDP."""

# The kernel of a speaker is a host for ARP, neighbour discovery, pings and its protocols alone. All else is
# of the test, whose prefixes it has announced: it may neither answer it nor send it anywhere.
_FILTER = """table netdev netdyno {{
  chain in {{
    type filter hook ingress device "{interface}" priority 0; policy drop;
    ether type arp accept
    ip protocol {ospf} accept
    ip6 nexthdr {ospf} accept
    ip daddr {{ {own} }} ip protocol 1 accept
    ip daddr {{ {own} }} tcp dport {bgp} accept
    ip daddr {{ {own} }} tcp sport {bgp} accept
    ip daddr {{ {own} }} udp dport {{ {bfd} }} accept
    icmpv6 type {{ 128, 129, 135, 136 }} accept
  }}
}}
"""


@contextmanager
def speaker_port(
    interface: str, mac: str, networks: Sequence[str], loopbacks: Sequence[str]
) -> Iterator[dut.Device]:
    """A namespace that has an interface of these addresses on the wire of another one. Raises LabError.

    interface: of this namespace, which the test frames go through. mac: of the port's frames. networks: own
    addresses with their prefix lengths. loopbacks: further own addresses.
    """
    folder = leftovers.state_folder()
    own = [one.partition("/")[0] for one in (*networks, *loopbacks)]
    own_ipv4 = ", ".join(one for one in own if ":" not in one)
    with dut.device_namespace() as made, leftovers.remember_process(folder, made.pid):
        made.do("ip link set lo up")
        above = f"link add link {interface} name {INTERFACE} address {mac} netns {made.pid}"
        ip(f"{above} type macvlan mode private")
        try:
            if not any(":" in one for one in own):
                made.do(f"echo 1 > /proc/sys/net/ipv6/conf/{INTERFACE}/disable_ipv6")
            for one in networks:
                made.do(f"ip address add {one} dev {INTERFACE}{' nodad' if ':' in one else ''}")
            for one in loopbacks:
                made.do(f"ip address add {one}/32 dev lo")
            rules = _FILTER.format(interface=INTERFACE, own=own_ipv4, ospf=OSPF, bgp=BGP, bfd=BFD)
            made.do(f"{dut.tool(NFT)} -f - <<'END'\n{rules}END")
            made.do(f"ip link set {INTERFACE} up")
            yield made
        finally:
            # It goes with its namespace, but not at once, and the port's interface may be wanted again.
            with suppress(LabError):
                made.ask(f"ip link delete {INTERFACE}")


@contextmanager
def speaker_vlans(interface: str, mac: str, vlans: Sequence[Subinterface]) -> Iterator[dut.Device]:
    """A namespace that has an interface for each VLAN of another one, with the tester's address there.

    Only control frames come to them (`Taps`). Raises LabError.
    """
    folder = leftovers.state_folder()
    with dut.device_namespace() as made, leftovers.remember_process(folder, made.pid):
        made.do("ip link set lo up")
        made.do("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
        with Taps(interface, vlans, made.pid, mac) as carrier:
            for name, vlan in zip(carrier.names, vlans, strict=True):
                made.do(f"ip address add {vlan.address}/{_find_length(vlan)} dev {name}")
            yield made


def _find_length(vlan: Subinterface) -> int:
    """The prefix length of the smallest network that has the tester and its next hop as hosts."""
    ours, theirs = (int(IPv4Address(one or "")) for one in (vlan.address, vlan.gateway))
    return next(
        length
        for length in range(31, -1, -1)
        if ours >> (32 - length) == theirs >> (32 - length)
        and (length == 31 or not {ours, theirs} & set(_ends(ours, length)))
    )


def _ends(address: int, length: int) -> tuple[int, int]:
    """The first and the last address of a network, which no host has."""
    size = 1 << (32 - length)
    return address // size * size, address // size * size + size - 1
