"""The first plan of a user's own router, as text: a survey of each case, then the search, with comments."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network, ip_network

from netdyno.devices.own_router import OTHER, Port, Router
from netdyno.plan.pools import ADDRESSES
from netdyno.values.units import L1Rate

NAMES = ("west", "east")
"""Of the tester's ports."""
POOL = "rfc2544"
"""Addresses of the traffic: RFC 2544's own networks, which no router has a use for elsewhere."""
ROUTING = "{ospf: true, bgp: {own_as: 64513, peer_as: 64512, routes: 100000}}"
"""An example, towards a router of AS 64512."""
ROUTER_TEXT = "#| "
"""Before each line of the router's configuration in a plan."""
UNDO_TEXT = "#- "
"""Before each line that takes it back."""


@dataclass(frozen=True)
class Cable:
    """One link: an interface of this machine and a port of the router, or a LAG of several of both.

    rate_known: the interface's card says the rate. mac: of the interface, empty if unknown. more: the further
    members of a LAG, an interface and a port each.
    """

    interface: str
    port: str
    address: IPv4Interface
    """The router's."""
    rate: L1Rate
    rate_known: bool = True
    mac: str = ""
    vlan: int | None = None
    more: tuple[tuple[str, str], ...] = ()

    @property
    def joined(self) -> tuple[tuple[str, str], ...]:
        """Each interface with the port that it is cabled to."""
        return ((self.interface, self.port), *self.more)

    @property
    def tester(self) -> IPv4Interface:
        """The tester's address: the first other host of the router's network, a /31 or shorter."""
        host = next(host for host in self.address.network.hosts() if host != self.address.ip)
        return IPv4Interface(f"{host}/{self.address.network.prefixlen}")


@dataclass(frozen=True)
class FirstPlan:
    """What a user has said of his lab. host: of the router, for its driver; empty: it is not read."""

    file: str
    router: Router
    cables: tuple[Cable, Cable]
    host: str = ""
    user: str = ""
    static_arp: bool = False

    @property
    def _ports(self) -> tuple[Port, ...]:
        found = []
        for number, one in enumerate(self.cables):
            names = tuple(self.router.long_name(port) for _, port in one.joined)
            lag = self.router.lag.format(number + 1)
            port = Port(
                lag if one.more else names[0],
                one.address,
                str(one.tester.ip),
                one.mac,
                (_behind(number),),
                one.vlan,
                names if one.more else (),
                number + 1 if one.more else 0,
            )
            found.append(port)
        return tuple(found)

    @property
    def router_text(self) -> str:
        """What is entered on the router."""
        return self.router.text(self._ports, static_arp=self.static_arp)

    @property
    def undo_text(self) -> str:
        """What takes that back."""
        return self.router.undo(self._ports, static_arp=self.static_arp)

    def text(self) -> str:
        """The plan."""
        return TEXT.format(
            file=self.file,
            title=self.router.title.partition(" (")[0],
            first="+".join(one for one, _ in self.cables[0].joined),
            second="+".join(one for one, _ in self.cables[1].joined),
            configuration=_marked(ROUTER_TEXT, self.router_text),
            mark=ROUTER_TEXT,
            undo=_marked(UNDO_TEXT, self.undo_text),
            undo_mark=UNDO_TEXT,
            device="".join(f"\n      {line}" for line in self._device()),
            links="\n".join(_link(name, cable) for name, cable in zip(NAMES, self.cables, strict=True)),
            # A tag takes 4 bytes of a frame.
            small="68" if any(one.vlan for one in self.cables) else "64",
            pool=POOL,
            routing=self._routing(),
        )

    def _routing(self) -> str:
        """A comment on the last link, which has no speaker beside LACP."""
        if self.cables[-1].more:
            return ""
        system = "" if self.router.lacks or self.router.name == OTHER else f" --router {self.router.name}"
        routing = "{ospf: true}" if any(one.vlan for one in self.cables) else ROUTING
        return (
            f"      # A routing neighbour, with a table; `netdyno routes {self.file}{system}` prints the"
            f" router's side:\n      # routing: {routing}\n"
        )

    def _device(self) -> list[str]:
        if not self.host:
            return []
        user = [f"user: {_quoted(self.user)}"] if self.user else []
        return [
            "# Its counters and its CPU beside the traffic, by SSH. The password is in NETDYNO_PASSWORD.",
            f"driver: {self.router.driver}",
            f"host: {_quoted(self.host)}",
            *user,
        ]


def _marked(mark: str, text: str) -> str:
    return "".join(f"{mark}{line}\n" for line in text.splitlines())


def _behind(number: int) -> IPv4Network:
    """What lies behind a tester port: where its frames come from, and the other port's go to."""
    pool = ADDRESSES[POOL]
    network = ip_network((pool.source, pool.destination)[number])
    assert isinstance(network, IPv4Network)
    return network


def _quoted(text: str) -> str:
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"'))


def _link(name: str, cable: Cable) -> str:
    """A link, with its comments."""
    endpoints = f'["tester:{name}", {_quoted(f"dut:{cable.port}")}]'
    guessed = "" if cable.rate_known else "   # A guess: the interface does not say its speed."
    addresses = f"address: {cable.tester}", f"gateway: {cable.address.ip}"
    if cable.vlan:
        where = [f"vlans: [{{vlan: {cable.vlan}, {', '.join(addresses)}}}]"]
    else:
        where = [f"{addresses[0]}   # The tester's.", f"{addresses[1]}   # The router's."]
    lines = [f"endpoints: {endpoints}"]
    rate = f"rate: {str(cable.rate).removesuffix(' L1')}"
    if cable.more:
        interfaces, ports = ([_quoted(one[side]) for one in cable.joined] for side in (0, 1))
        lines += [f"members: [{', '.join(ports[1:])}]", f"{rate}   # Of each member.{guessed[4:]}"]
        lines.append(f"lag: {{interfaces: [{', '.join(interfaces)}], mode: active, rate: fast}}")
    else:
        lines += [f"interface: {_quoted(cable.interface)}", f"{rate}{guessed}"]
    lines += where
    return "    - " + "\n      ".join(lines)


TEXT = """\
# {title} between {first} and {second} of this machine. Written by `netdyno new`; it is yours to change.
#
#   netdyno check {file}
#   netdyno run {file}          # as root
#
# The router is given this first; `sed -n 's/^{mark}//p' {file}` prints it:
#
{configuration}#
# And this afterwards, `sed -n 's/^{undo_mark}//p' {file}`, which takes it back:
#
{undo}#
title: "{title}: survey and search"

lab:
  nodes:
    tester: {{kind: netdyno}}
    dut:
      kind: external{device}
  links:
{links}
      # Faster than packet sockets, on both links: `backend: af_xdp`.
{routing}
traffic:
  # Sizes count the FCS. The addresses are of 198.18.0.0/15, which is kept for benchmarks.
  large: {{size: 1518B, flows: 4096, addresses: {pool}}}
  small: {{size: {small}B, flows: 4096, addresses: {pool}}}

matrix:
  profile: [large, small]
  direction: [uni, bidir]   # From the first link to the second; both ways at once.

method:
  ramp:
    # The survey, half a minute a case: does traffic pass at all, and up to which load?
    warmup: 3s at 1kpps
    ramp: 20s to 100%
    hold: 2s
    # Then the search near that load: NDR loses no frame, PDR at most 0.5 %. For a throughput of RFC 2544 put
    # `throughput: {{duration: 60s}}` in place of `ramp`.
    then: search

# Shorter waits around each trial than the 2 s that RFC 2544 asks for.
trial: {{settle: 500ms, drain: 500ms}}
"""
