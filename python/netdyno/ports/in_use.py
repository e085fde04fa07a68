"""Interfaces by the names that a user gives, and what this machine itself uses them for."""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from netdyno.errors import NetdynoError, suggestion
from netdyno.ports.holders import Holder, read_holders
from netdyno.ports.nic import netlink
from netdyno.ports.nic.netlink import Link

WINDOW_S = 0.3
"""Over how long the counters of an interface are compared."""
MOST_SENT, MOST_RECEIVED = 10, 30
"""Frames in that time up to which an interface counts as idle. A new one says what its address is, and a
switch sends its own frames and the broadcasts of its hosts."""
_ESTABLISHED = "01"
"""In /proc/net/tcp, include/net/tcp_states.h."""


@dataclass(frozen=True)
class Use:
    """What this machine uses an interface for. why: a clause, `it holds the default route`. pid: of another
    netdyno, if that uses it."""

    interface: str
    why: str
    pid: int | None = None


@dataclass(frozen=True)
class Machine:
    """What tells of the use of interfaces, in this network namespace.

    ssh: both addresses of the session that this process belongs to, ours first; None: it belongs to none.
    ssh_route: index of the interface by which its other end is reached. connections: both addresses of each
    TCP connection, ours first. holders: other netdynos, by the index of the interface.
    """

    links: Sequence[Link]
    default_routes: frozenset[int] = frozenset()
    addresses: Mapping[int, Sequence[str]] | None = None
    ssh: tuple[str, str] | None = None
    ssh_route: int | None = None
    connections: Sequence[tuple[str, str]] = ()
    holders: Mapping[int, Holder] = field(default_factory=dict)


def find_links(names: Sequence[str], links: Sequence[Link] | None = None) -> tuple[Link, ...]:
    """The interfaces of these names, which may be alternative ones (`ip link property`).

    NetdynoError if there is none of a name, or two names are of one interface.
    """
    links = netlink.links() if links is None else links
    found: dict[int, tuple[str, Link]] = {}
    for name in names:
        link = _find_link(name, links)
        if link.index in found:
            other = found[link.index][0]
            message = (
                f"interface `{name}` is given twice"
                if other == name
                else f"`{other}` and `{name}` are two names of one interface, `{link.name}`"
            )
            raise NetdynoError(message, "give two interfaces", code="given-twice")
        found[link.index] = (name, link)
    return tuple(link for _, link in found.values())


def _find_link(name: str, links: Sequence[Link]) -> Link:
    # `ip link` prints `eth1@if5`, and that is what is copied.
    name = name.partition("@")[0]
    for link in links:
        if link.name == name:
            return link
    with suppress(OSError):
        index = socket.if_nametoindex(name)
        return next(link for link in links if link.index == index)
    raise NetdynoError(
        f"there is no interface `{name}` on this machine",
        suggestion(name, sorted(one.name for one in links if not one.loopback), "interfaces")
        + "; one of another network namespace is reached from there: `ip netns exec NAME netdyno ...`",
        code="no-such-interface",
    )


def refuse_used(names: Sequence[str], *, instead: str, sleep: Callable[[float], object] = time.sleep) -> None:
    """Raises NetdynoError if this machine uses one of the interfaces itself. instead: a hint."""
    uses = find_uses(names, sleep=sleep)
    if uses:
        message = "; ".join(f"interface `{one.interface}` is in use: {one.why}" for one in uses)
        pids = dict.fromkeys(str(one.pid) for one in uses if one.pid is not None)
        # Two loads on one interface make both wrong: no way around is proposed.
        wait = f"wait until that has ended, or end it: `kill -INT {' '.join(pids)}`"
        raise NetdynoError(message, wait if pids else instead, code="interface-in-use")


def find_uses(
    names: Sequence[str],
    read: Callable[[], Machine] | None = None,
    sleep: Callable[[float], object] = time.sleep,
) -> list[Use]:
    """What this machine uses the interfaces of these names for; takes `WINDOW_S` seconds. Empty: nothing.

    What is made on an interface (a VLAN, a bridge, a LAG) uses it, too.
    """
    read = read or read_machine
    before = {link.index: link.counters for link in read().links}
    began = time.monotonic()
    sleep(WINDOW_S)
    now = read()
    passed_s = max(time.monotonic() - began, WINDOW_S)
    return [use for link in now.links if link.name in names for use in _uses(link, now, before, passed_s)]


def _uses(
    link: Link, now: Machine, before: Mapping[int, Mapping[str, int]], passed_s: float
) -> Iterator[Use]:
    """At most one use of each kind, the gravest first. passed_s: since the counters before."""
    if link.loopback:
        yield Use(link.name, "it is the loopback of this machine")
    upon = [one for one in now.links if one is link or link in netlink.below(one, now.links)]
    for one in upon:
        it = "it" if one is link else f"`{one.name}`, which is made on it,"
        if one.index in now.default_routes:
            yield Use(link.name, f"{it} holds the default route of this machine")
        own = {address.partition("/")[0] for address in (now.addresses or {}).get(one.index, ())}
        carries_ssh = now.ssh is not None and (now.ssh[0] in own or one.index == now.ssh_route)
        if now.ssh is not None and carries_ssh:
            yield Use(link.name, f"{it} carries this ssh session, from {now.ssh[1]}")
        peers = [theirs for ours, theirs in now.connections if ours in own]
        if peers and not carries_ssh:
            yield Use(link.name, f"{it} has TCP connections of this machine, such as with {peers[0]}")
    group = next((one for one in now.links if one.index == link.group), None)
    if group is not None and group.kind != "vrf":
        yield Use(link.name, f"it belongs to `{group.name}`, a {group.kind} of this machine")
    holder = now.holders.get(link.index)
    if holder is not None:
        why = f"another netdyno runs on it, process {holder.pid}, `{holder.command}`"
        yield Use(link.name, why, holder.pid)
        return
    sent, received = (_moved(link, before, f"{way}_packets") for way in ("tx", "rx"))
    received -= _moved(link, before, "multicast")
    if sent > MOST_SENT * passed_s / WINDOW_S or received > MOST_RECEIVED * passed_s / WINDOW_S:
        yield Use(
            link.name,
            f"it has other traffic: {sent} frames sent and {received} received within {passed_s:.1f} s",
        )


def _moved(link: Link, before: Mapping[int, Mapping[str, int]], counter: str) -> int:
    """By how much a counter moved."""
    return link.counters.get(counter, 0) - before.get(link.index, link.counters).get(counter, 0)


def read_machine(proc: Path = Path("/proc"), environ: Mapping[str, str] | None = None) -> Machine:
    """What this machine says of its interfaces. What it does not tell is left out."""
    ssh = _ssh_session(proc, os.environ if environ is None else environ)
    return Machine(
        netlink.links(),
        frozenset(netlink.default_routes()),
        netlink.addresses(),
        ssh,
        None if ssh is None else netlink.route_to(ssh[1]),
        tuple(_connections(proc / "thread-self" / "net")),
        read_holders(proc),
    )


def _ssh_session(proc: Path, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Both ends of the ssh session that this process, or the one that started it, belongs to: `sudo` does not
    hand the variable on."""
    text, pid = environ.get("SSH_CONNECTION"), "self"
    with suppress(OSError, IndexError):
        while text is None and pid != "0":
            pid = (proc / pid / "stat").read_text(errors="replace").rpartition(")")[2].split()[1]
            for variable in (proc / pid / "environ").read_bytes().split(b"\0"):
                name, _, value = variable.partition(b"=")
                text = value.decode(errors="replace") if name == b"SSH_CONNECTION" else text
    match (text or "").split():
        case [theirs, _, ours, _]:
            return ours, theirs
    return None


def _connections(net: Path) -> Iterator[tuple[str, str]]:
    """Both addresses of each TCP connection that is open."""
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (net / name).read_text().splitlines()[1:]:
                _, ours, theirs, state, *_ = line.split()
                if state == _ESTABLISHED:
                    yield _address(ours), _address(theirs)


def _address(text: str) -> str:
    """`0100007F:0016` is 127.0.0.1: words of this machine's byte order."""
    digits = text.partition(":")[0]
    raw = b"".join(struct.pack("=I", int(digits[at : at + 8], 16)) for at in range(0, len(digits), 8))
    address = ipaddress.ip_address(raw)
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)
