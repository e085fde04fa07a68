"""The configuration of a speaker's BIRD (BIRD 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from netdyno.devices.peering import Bgp, Ospf, Speaker

TABLES = {4: ("table4", "withdrawn4"), 6: ("table6", "withdrawn6")}
"""Static protocols that hold the table, by IP version; of the second all routes can be withdrawn at once."""
SESSION = "bgp1"
PREPENDED, LOW_PREFERENCE = 3, 50
"""What makes a second choice; 100 is the usual preference."""


@dataclass(frozen=True)
class Session:
    """A session of BGP. own, peer: addresses of both ends. suffix: of names, if it has a table of its own."""

    own: str
    peer: str
    is_direct: bool = True
    suffix: str = ""


def configure(
    speaker: Speaker,
    sessions: Sequence[Session],
    ospfs: Sequence[Ospf],
    *,
    interfaces: tuple[str, ...],
    loopbacks: tuple[str, ...],
    includes: str,
    password: str,
) -> str:
    """The configuration of one of a speaker's BIRDs. loopbacks: announced by OSPF. includes: of the table."""
    bgp = speaker.bgp
    return "\n".join(
        (
            "log stderr { info, warning, error, fatal, bug, remote, auth };",
            f"router id {sessions[0].own if sessions else speaker.address};",
            "protocol device { scan time 5; }",
            includes,
            *(_ospf(one, interfaces, loopbacks) for one in ospfs),
            *(line for one in sessions if bgp for line in _session(bgp, speaker, one, password)),
            "",
        )
    )


def _ospf(ospf: Ospf, interfaces: tuple[str, ...], loopbacks: tuple[str, ...]) -> str:
    """An adjacency on each interface. loopbacks: announced with it (version 2)."""
    stubs = "".join(f"stubnet {one}/32; " for one in loopbacks) if ospf.version == 2 else ""
    channel = "ipv4" if ospf.version == 2 else "ipv6"
    names = ", ".join(f'"{one}"' for one in interfaces)
    # Routes of others are of no use: the speaker forwards nothing, and its kernel learns none.
    return (
        f"protocol ospf v{ospf.version} ospf{ospf.version} {{ {channel} {{ import none; export none; }};\n"
        f"  area {ospf.area} {{ {stubs}interface {names} "
        f"{{ type ptp; hello {ospf.hello_s}; dead {ospf.dead_s}; }}; }};\n}}"
    )


def _session(bgp: Bgp, speaker: Speaker, one: Session, password: str) -> Iterator[str]:
    # All sessions begin at once, when every speaker has read its table.
    yield f"protocol bgp {SESSION}{one.suffix} {{ disabled yes;"
    yield f"  local {one.own} as {bgp.own_as}; neighbor {one.peer} as {bgp.peer_as};"
    # Several BIRDs listen in one namespace, each at its own address.
    yield f"  {'direct' if one.is_direct else 'multihop'}; strict bind on;"
    yield f"  hold time {bgp.hold_s}; connect delay time 1; connect retry time 2; error wait time 1, 2;"
    yield f"  graceful restart {'on' if bgp.restarts else 'off'};"
    if password:
        yield f'  password "{password}";'
    yield f"  ipv4 {{ import none; export {_export(bgp, TABLES[4], one.suffix)}; next hop self; }};"
    if bgp.has_ipv6:
        export, hop = _export(bgp, TABLES[6], one.suffix), bgp.next_hop_ipv6 or speaker.address_ipv6
        yield f"  ipv6 {{ import none; export {export}; next hop address {hop}; }};"
    yield "}"


def _export(bgp: Bgp, names: tuple[str, ...], suffix: str) -> str:
    """What is announced of these protocols."""
    is_one = " || ".join(f'proto = "{name}{suffix}"' for name in names)
    changed = ""
    if bgp.is_backup:
        longer = f"bgp_path.prepend({bgp.own_as});" * PREPENDED
        changed = f"bgp_local_pref = {LOW_PREFERENCE};" if bgp.is_internal else longer
    # BIRD keeps a MED from a neighbour outside unless this filter sets it.
    med = "" if bgp.is_internal else "if defined(bgp_med) then bgp_med = bgp_med;"
    return f"filter {{ if {is_one} then {{ {changed} {med} accept; }} reject; }}"
