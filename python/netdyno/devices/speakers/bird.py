"""The configuration of a speaker's BIRD (BIRD 2)."""

from __future__ import annotations

from collections.abc import Iterator

from netdyno.devices.peering import Bgp, Ospf, Speaker

TABLES = ("table4", "withdrawn4", "table6")
"""Static protocols that hold the table: `withdrawn4` is the part that can be withdrawn at once."""
WITHDRAWN = TABLES[1]
HOLD_S = 90
"""RFC 4271 section 10 suggests it; the device may ask for less."""


def configure(
    speaker: Speaker,
    *,
    interface: str,
    address: str,
    address_ipv6: str,
    peer: str,
    addresses: tuple[str, ...],
    includes: str,
    password: str,
) -> str:
    """The configuration. address: the port's. addresses: of the BGP sessions. includes: of the table."""
    return "\n".join(
        (
            "log stderr { info, warning, error, fatal, bug, remote, auth };",
            f"router id {address};",
            "protocol device { scan time 5; }",
            includes,
            *(
                _ospf(one, interface, tuple(own for own in addresses if own != address))
                for one in (speaker.ospf, speaker.ospf3)
                if one
            ),
            *(
                _session(speaker.bgp, number, own, address, address_ipv6, peer, password)
                for number, own in enumerate(addresses, 1)
                if speaker.bgp
            ),
            "",
        )
    )


def _ospf(ospf: Ospf, interface: str, loopbacks: tuple[str, ...]) -> str:
    """An adjacency on the interface. loopbacks: announced with it (version 2)."""
    stubs = "".join(f"stubnet {one}/32; " for one in loopbacks) if ospf.version == 2 else ""
    channel = "ipv4" if ospf.version == 2 else "ipv6"
    # Routes of others are of no use: the speaker forwards nothing, and its kernel learns none.
    return (
        f"protocol ospf v{ospf.version} ospf{ospf.version} {{ {channel} {{ import none; export none; }};\n"
        f'  area {ospf.area} {{ {stubs}interface "{interface}" '
        f"{{ type ptp; hello {ospf.hello_s}; dead {ospf.dead_s}; }}; }};\n}}"
    )


def _session(
    bgp: Bgp, number: int, own: str, address: str, address_ipv6: str, peer: str, password: str
) -> str:
    return "\n".join(_lines(bgp, number, own, address, address_ipv6, peer, password))


def _lines(
    bgp: Bgp, number: int, own: str, address: str, address_ipv6: str, peer: str, password: str
) -> Iterator[str]:
    is_direct = own == address
    yield f"protocol bgp bgp{number} {{"
    yield f"  local {own} as {bgp.own_as}; neighbor {peer} as {bgp.peer_as};"
    # Each session is another router's to the device, which compares them by it.
    yield f"  router id {own}; {'direct' if is_direct else 'multihop'};"
    yield f"  hold time {HOLD_S}; connect delay time 1; connect retry time 2; error wait time 1, 2;"
    yield f"  graceful restart {'on' if bgp.restarts else 'off'};"
    if password:
        yield f'  password "{password}";'
    yield f"  ipv4 {{ import none; export where {_from(TABLES[:2])}; next hop self; }};"
    if bgp.routes_ipv6 or bgp.next_hop_ipv6:
        hop = bgp.next_hop_ipv6 or address_ipv6
        yield f"  ipv6 {{ import none; export where {_from(TABLES[2:])}; next hop address {hop}; }};"
    yield "}"


def _from(names: tuple[str, ...]) -> str:
    """The condition of a route that is of one of these protocols."""
    return " || ".join(f'proto = "{name}"' for name in names)
