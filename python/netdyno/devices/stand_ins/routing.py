"""What a stand-in says of its routing: the table and the neighbours of the published ASR9006.

A comment changes it: `! netdyno-routing {"lost": ["194.1.163.87"], "silent_s": 30}`. What is not named stays.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field

ROUTING = "netdyno-routing"
MOST_ROUTES = 10_000_000
MOST_SILENT_S = 600
AS = 8298
ROUTER_ID = "194.1.163.88"
INTERFACE = "TenGigE0/0/0/0.101"
OWN = (("connected", 3), ("local", 5), ("static", 1))
"""Routes of its own, by source."""
BGP = ("194.1.163.87", "194.1.163.140", "194.1.163.148")
BGP_IPV6 = ("2001:678:d78:3::87", "2001:678:d78:6::140", "2001:678:d78:7::148")
OSPF = (
    ("194.1.163.3", "2WAY/DROTHER", "194.1.163.66", 16),
    ("194.1.163.4", "FULL/BDR", "194.1.163.67", 20),
    ("194.1.163.87", "FULL/DR", "194.1.163.87", 2),
)
"""Router, state, address and interface's number of each neighbour, of both versions."""


@dataclass
class Routing:
    """routes, routes_ipv6: that its BGP sessions bring. lost: addresses of BGP neighbours that it has no
    session with, and routers of OSPF that it does not hear any more."""

    routes: int = 903_406
    routes_ipv6: int = 142_542
    lost: set[str] = field(default_factory=set)
    _silent_until: float = 0.0

    @property
    def silent_s(self) -> float:
        """For how long it answers nothing, from now."""
        return max(0.0, self._silent_until - time.monotonic())

    def change(self, text: str) -> str:
        """Takes over the fields of a JSON object. Returns what is wrong with it; empty: nothing is."""
        try:
            wanted = json.loads(text)
            known = {"routes", "routes_ipv6", "lost", "silent_s"}
            if not isinstance(wanted, dict) or wanted.keys() - known:
                return f"it knows {', '.join(sorted(known))}"
            counts = [wanted.get(name, 0) for name in ("routes", "routes_ipv6")]
            neighbours = {*BGP, *BGP_IPV6, *(one[0] for one in OSPF)}
            lost, silent_s = set(wanted.get("lost", self.lost)), float(wanted.get("silent_s", 0))
        except (ValueError, TypeError) as error:
            return str(error)
        if any(not isinstance(one, int) or not 0 <= one <= MOST_ROUTES for one in counts):
            return f"routes are 0 to {MOST_ROUTES}"
        if lost - neighbours:
            return f"its neighbours are {', '.join(sorted(neighbours))}"
        if not 0 <= silent_s <= MOST_SILENT_S:
            return f"it is silent for 0 to {MOST_SILENT_S} s"
        self.routes = wanted.get("routes", self.routes)
        self.routes_ipv6 = wanted.get("routes_ipv6", self.routes_ipv6)
        self.lost = lost
        if "silent_s" in wanted:
            self._silent_until = time.monotonic() + silent_s
        return ""

    def sources(self, version: int) -> tuple[tuple[str, int], ...]:
        """Routes of each source of a table. A table outlives all but its last session."""
        neighbours, routes = (BGP, self.routes) if version == 4 else (BGP_IPV6, self.routes_ipv6)
        return (*OWN, (f"bgp {AS}", 0 if set(neighbours) <= self.lost else routes))

    def sessions(self, version: int) -> tuple[tuple[str, str], ...]:
        """Address of each BGP neighbour, and its prefixes or the state of the session."""
        neighbours, routes = (BGP, self.routes) if version == 4 else (BGP_IPV6, self.routes_ipv6)
        return tuple((one, "Active" if one in self.lost else str(routes)) for one in neighbours)

    def heard(self) -> tuple[tuple[str, str, str, int], ...]:
        """The neighbours of OSPF that are left: one that is lost is no longer listed."""
        return tuple(one for one in OSPF if one[0] not in self.lost)


def print_xr(routing: Routing) -> dict[str, str]:
    """Commands of IOS XR and what they print."""
    return {
        "show route summary": _xr_routes(routing, 4),
        "show route ipv6 summary": _xr_routes(routing, 6),
        "show bgp ipv4 unicast summary": _xr_bgp(routing, 4),
        "show bgp ipv6 unicast summary": _xr_bgp(routing, 6),
        "show ospf neighbor": _xr_ospf(routing),
        "show ospfv3 neighbor": _xr_ospf3(routing),
    }


def _xr_routes(routing: Routing, version: int) -> str:
    row = "{:<33}{:<11}{:<11}{:<12}{:<12}\n".format
    rows = [(name, count, 0, 0, 240 * count) for name, count in routing.sources(version)]
    routes = sum(count for _, count in routing.sources(version))
    total = ("Total", routes, 0, 0, 240 * routes)
    head = ("Route Source", "Routes", "Backup", "Deleted", "Memory(bytes)")
    return "".join(row(*one) for one in (head, *rows, total))


def _xr_bgp(routing: Routing, version: int) -> str:
    row = "{:<15} {:>3} {:>5} {:>7} {:>7} {:>8} {:>4} {:>4} {:>8} {:>10}\n".format
    made = routing.routes + 12_111
    head = (
        f"BGP router identifier {ROUTER_ID}, local AS number {AS}\n"
        "BGP generic scan interval 60 secs\nNon-stop routing is enabled\nBGP table state: Active\n"
        f"Table ID: 0xe0000000   RD version: {made}\nBGP main routing table version {made}\n"
        "BGP NSR Initial initsync version 11 (Reached)\nBGP NSR/ISSU Sync-Group versions 0/0\n"
        "BGP scan interval 60 secs\n\nBGP is operating in STANDALONE mode.\n\n\n"
        "Process       RcvTblVer   bRIB/RIB   LabelVer  ImportVer  SendTblVer  StandbyVer\n"
        f"Speaker      {made:>10} {made:>10} {made:>10} {made:>10} {made:>11} {made:>11}\n\n"
        "Neighbor        Spk    AS MsgRcvd MsgSent   TblVer  InQ OutQ  Up/Down  St/PfxRcd\n"
    )
    rows = []
    for address, state in routing.sessions(version):
        # A long address has a line of its own.
        begin, name = ("", address) if len(address) <= 15 else (f"{address}\n", "")
        up = "00:04:47" if state.isdigit() else "00:00:03"
        rows.append(begin + row(name, 0, AS, 172_514, 9, made, 0, 0, up, state))
    return head + "".join(rows)


def _xr_ospf(routing: Routing) -> str:
    row = "{:<15} {:<5} {:<15} {:<11} {:<15} {}\n    Neighbor is up for 00:11:12\n".format
    heard = routing.heard()
    return (
        f"* Indicates MADJ interface\n# Indicates Neighbor awaiting BFD session up\n\nNeighbors for OSPF {AS}"
        "\n\nNeighbor ID     Pri   State           Dead Time   Address         Interface\n"
        + "".join(
            row(router, 1, state, "00:00:37", address, INTERFACE) for router, state, address, _ in heard
        )
        + f"\nTotal neighbor count: {len(heard)}\n"
    )


def _xr_ospf3(routing: Routing) -> str:
    row = "{:<15} {:<5} {:<15} {:<11} {:<15} {}\n    Neighbor is up for 00:12:12\n".format
    heard = routing.heard()
    return (
        f"# Indicates Neighbor awaiting BFD session up\n\nNeighbors for OSPFv3 {AS}"
        "\n\nNeighbor ID     Pri   State           Dead Time   Interface ID    Interface\n"
        + "".join(row(router, 1, state, "00:00:36", number, INTERFACE) for router, state, _, number in heard)
        + f"\nTotal neighbor count: {len(heard)}\n"
    )


def print_xe(routing: Routing) -> dict[str, str]:
    """Commands of IOS and IOS XE and what they print."""
    return {
        "show ip route summary": _xe_routes(routing),
        "show ipv6 route summary": _xe_routes_ipv6(routing),
        "show bgp ipv4 unicast summary": _xe_bgp(routing, 4),
        "show bgp ipv6 unicast summary": _xe_bgp(routing, 6),
        "show ip ospf neighbor": _xe_ospf(routing),
        "show ipv6 ospf neighbor": _xe_ospf3(routing),
    }


def _xe_routes(routing: Routing) -> str:
    row = "{:<16}{:<12}{:<12}{:<12}{:<12}{}\n".format
    # The networks of the old classes, and the subnets of others.
    rows = [
        (name, count // 20, count - count // 20, 0, 96 * count, 288 * count)
        for name, count in routing.sources(4)
    ]
    head = ("Route Source", "Networks", "Subnets", "Replicates", "Overhead", "Memory (bytes)")
    begin = "IP routing table name is default (0x0)\nIP routing table maximum-paths is 32\n"
    text = "".join(row(*one) for one in (head, *rows))
    kinds = f"  External: 0 Internal: {rows[-1][1] + rows[-1][2]} Local: 0\n"
    networks, routes = sum(one[1] for one in rows), sum(count for _, count in routing.sources(4))
    # Networks that have subnets count as networks.
    total = ("Total", networks + 9240, routes - networks, 0, 96 * routes, 288 * routes)
    return f"{begin}{text}{kinds}internal        9240{'':>44}40212480\n{row(*total)}"


def _xe_routes_ipv6(routing: Routing) -> str:
    row = "{:<16}{:<12}{:<12}{:<12}\n".format
    rows = [(name, count, 192 * count, 216 * count) for name, count in routing.sources(6)]
    total = ("Total", *(sum(int(one[place]) for one in rows) for place in (1, 2, 3)))
    return (
        f"IPv6 routing table name is default(0) global scope - {total[1]} entries\n"
        "IPv6 routing table default maximum-paths is 16\n"
        "Route Source    Networks    Overhead    Memory (bytes)\n"
        + "".join(row(*one) for one in rows)
        + f"  Internal: {rows[-1][1]}  External: 0  Local: 0\n{row(*total)}\n  Number of prefixes:\n"
        f"    /8: 1, /48: {rows[-1][1]}, /64: 3, /128: 5\n"
    )


def _xe_bgp(routing: Routing, version: int) -> str:
    row = "{:<15} {} {:>12} {:>7} {:>7} {:>8} {:>4} {:>4} {:<8} {:>8}\n".format
    routes = routing.routes if version == 4 else routing.routes_ipv6
    rows = []
    for address, state in routing.sessions(version):
        begin, name = ("", address) if len(address) <= 15 else (f"{address}\n", "")
        up = "00:04:47" if state.isdigit() else "00:00:03"
        rows.append(begin + row(name, 4, AS, 172_514, 9, routes, 0, 0, up, state))
    return (
        f"BGP router identifier {ROUTER_ID}, local AS number {AS}\n"
        f"BGP table version is {routes}, main routing table version {routes}\n"
        f"{routes} network entries using {248 * routes} bytes of memory\n"
        f"{3 * routes} path entries using {136 * 3 * routes} bytes of memory\n"
        "139226/139226 BGP path/bestpath attribute entries using 40097088 bytes of memory\n"
        "123412 BGP AS-PATH entries using 5923776 bytes of memory\n"
        "0 BGP route-map cache entries using 0 bytes of memory\n"
        "0 BGP filter-list cache entries using 0 bytes of memory\n"
        f"BGP using {700 * routes} total bytes of memory\n"
        f"BGP activity {routes}/0 prefixes, {3 * routes}/0 paths, scan interval 60 secs\n\n"
        "Neighbor        V           AS MsgRcvd MsgSent   TblVer  InQ OutQ Up/Down  State/PfxRcd\n"
        + "".join(rows)
    )


def _xe_ospf(routing: Routing) -> str:
    """Nothing at all without a neighbour."""
    row = "{:<15}  {:>3}   {:<16}00:00:37    {:<16}{}\n".format
    heard = routing.heard()
    head = "Neighbor ID     Pri   State           Dead Time   Address         Interface\n" if heard else ""
    return head + "".join(
        row(router, 1, state, address, "Port-channel1.101") for router, state, address, _ in heard
    )


def _xe_ospf3(routing: Routing) -> str:
    row = "{:<15}  {:>3}   {:<16}00:00:36    {:<16}{}\n".format
    heard = routing.heard()
    head = (
        f"\n            OSPFv3 Router with ID ({ROUTER_ID}) (Process ID 1)\n\n"
        "Neighbor ID     Pri   State           Dead Time   Interface ID    Interface\n"
    )
    rows = (row(router, 1, state, number, "Port-channel1.101") for router, state, _, number in heard)
    return head + "".join(rows) if heard else ""
