"""The lab of a plan: one tester, one device of a known kind, and links that fit."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from netdyno.devices import routing
from netdyno.devices.addresses import MOST_VLANS
from netdyno.devices.kind import Kind
from netdyno.devices.peering import Lag, Speaker
from netdyno.devices.wiring import TWO_LINKS, Hosts, LabLink, Subinterface, in_words, is_group
from netdyno.errors import PlanErrors, Problem, counted, names, suggestion
from netdyno.plan import Tables, link_routing, reached
from netdyno.plan import models as m
from netdyno.plan.fields import Element
from netdyno.plan.lab import Lab as PlannedLab
from netdyno.plan.link_vlans import LinkVlan
from netdyno.plan.models import TESTER
from netdyno.plan.problems import salvage_part
from netdyno.plan.source import Path_, Source, read_file
from netdyno.ports.backends import ALL, BACKENDS, KERNEL, OWNER, USUAL, PortBackend, options_of
from netdyno.ports.threads import Threads
from netdyno.values.offer import EVERY_OFFER, Offer
from netdyno.values.trunk import Trunk

EXTERNAL = "external"
"""The kind of a device that other hosts can be behind."""


def include(source: Source, base: Path | None) -> dict[str, str] | None:
    """`lab: lab.yaml` stands for the content of that file, beside the plan. None: it could not be read."""
    name = source.value.get("lab")
    if not isinstance(name, str):
        return {}
    if base is None or not name.strip():
        source.report(
            ("lab",),
            f"`lab` must be a mapping or a file, not `{name[:40]}`",
            "needed here: `nodes` and `links`",
            code="wrong-type",
        )
        return None
    if Path(name).is_absolute() or ".." in Path(name).parts:
        source.report(
            ("lab",),
            f"`{name[:60]}` is not beside the plan",
            "a run keeps what its plan includes in its own folder: put the file beside the plan or below it",
            code="not-beside-the-plan",
        )
        return None
    try:
        other = read_file(base / name, name)
    except PlanErrors as found:
        for error in found.errors:
            if error.line:
                source.errors.append(error)
            else:
                source.report(("lab",), f"`{name[:60]}`: {error.message}", error.hint, code=error.code)
        return None
    source.graft(("lab",), other)
    source.value["lab"] = other.value
    return {name: other.text}


def lab(source: Source, raw: object, tables: Tables, base: Path | None = None) -> PlannedLab | None:
    """One tester, one device of a known kind, and links that fit."""
    if not isinstance(raw, dict):
        return None
    testers: dict[str, m.Node] = {}
    each: dict[str, Threads] = {}
    devices, known, complete = [], [], True
    table = raw.get("nodes")
    for name, value in table.items() if isinstance(table, dict) else ():
        known.append(str(name))
        node, _ = salvage_part(m.Node, value)
        if node is None:
            complete = False
            continue
        place = ("lab", "nodes", name)
        if node.kind == TESTER:
            testers[str(name)] = node
            each[str(name)] = _threads(source, place, node)
            if node.settings:
                source.report_key(
                    (*place, "settings"),
                    "the tester has no settings",
                    "settings belong to the device",
                    code="unknown-field",
                )
        elif node.kind in tables.kinds:
            devices.append((str(name), node))
            for field in ("workers", "cores"):
                if getattr(node, field):
                    source.report_key(
                        (*place, field),
                        f"a device has no `{field}`",
                        "they are the tester's",
                        code="unknown-field",
                    )
            each_link = raw.get("links")
            of_links = each_link if isinstance(each_link, list) else ()
            speaks = any("routing" in one for one in of_links if isinstance(one, dict))
            of_kind = reached.kind(node, tables, base)
            _settings(source, (*place, "settings"), node.settings, of_kind, speaks=speaks)
            reached.check(source, place, node, tables)
        else:
            complete = False
            message = f"unknown device kind `{node.kind[:60]}`"
            kinds, meant = [TESTER, *tables.kinds], reached.find_kinds_meant(node.kind, tables)
            drivers = reached.find_drivers_meant(node.kind, tables)
            hint = suggestion(node.kind, kinds, "kinds", meant)
            if drivers and not node.driver:
                hint = f"{hint}; with {' or '.join(f'`driver: {one}`' for one in drivers)} on the node"
            source.report((*place, "kind"), message, hint, code="unknown-name")
    is_whole = isinstance(table, dict) and complete
    here = [name for name, node in testers.items() if not node.host]
    for found, noun, hint in (
        # Beside the one on this host there may be others.
        (
            here or list(testers)[:1],
            f"node of kind `{TESTER}`",
            "one node is the tester; others have a `host`",
        ),
        (devices, "device under test", f"kinds: {names(tables.kinds)}"),
    ):
        if is_whole and len(found) != 1:
            message = f"the lab has {'more than one' if found else 'no'} {noun}"
            source.report_key(("lab", "nodes"), message, hint, code="wrong-count")
            break
    links = _links(source, raw.get("links"), known, testers if len(here) < 2 else {}, is_whole, base)
    hosts = _hosts(source, raw.get("hosts"), testers, each, [node for _, node in devices], links)
    trunk = None
    if devices:
        kind = tables.kinds[devices[0][1].kind]
        _count(source, raw.get("links"), kind)
        if complete and len(devices) == 1:
            _ports(source, raw.get("links"), kind, {name: node.host for name, node in testers.items()})
            trunk = _trunk(source, raw.get("trunk"), links, kind) if links else None
        if links is not None and len(links) not in kind.links:
            links = None
    if not links or not complete or not testers or len(here) > 1 or len(devices) != 1:
        return None
    (name, node) = devices[0]
    # A setting that is wrong has been reported; the cases are looked at without it.
    known_values = reached.kind(node, tables, base).settings
    settings = {
        setting: value
        for setting, value in node.settings.items()
        if setting in known_values and value in (known_values[setting] or (value,))
    }
    driver = node.driver if node.driver in tables.drivers else ""
    access = reached.access(node) if driver and (node.host or node.api) else None
    return PlannedLab(
        tester=next(iter(testers)),
        device=name,
        kind=node.kind,
        settings=settings,
        links=links,
        driver=driver,
        access=access,
        configuration=node.configuration,
        trunk=trunk,
        licence_bps=_licence(raw),
        threads=each[here[0]] if here else Threads(),
        hosts=hosts,
    )


def _hosts(
    source: Source,
    raw: object,
    testers: Mapping[str, m.Node],
    threads: Mapping[str, Threads],
    devices: Sequence[m.Node],
    links: Sequence[LabLink] | None,
) -> Hosts | None:
    """The generator hosts, each with a node of the tester and ports of names of their own; None: none."""
    given, _ = salvage_part(m.LabHosts, raw) if raw is not None else (None, ())
    named = {name: node.host for name, node in testers.items() if node.host}
    if not named:
        return None
    for name, host in named.items():
        place = ("lab", "nodes", name, "host")
        if raw is None:
            source.report(
                place,
                f"`{host}` is on another host, and the lab does not say where hosts are found",
                "give the lab `hosts: {scheduler: tls://ADDRESS:8786}` (docs/hosts.md)",
                code="missing-field",
            )
        if list(named.values()).index(host) < list(named).index(name):
            source.report(place, f"host `{host}` has two nodes", "one node for each host", code="given-twice")
        for device in devices:
            if device.kind != EXTERNAL:
                source.report(
                    place,
                    f"`{device.kind}` is built on this host, where no port of another one is",
                    f"leave `host` out, or take `kind: {EXTERNAL}`",
                    code="unsupported",
                )
    taken: dict[str, int] = {}
    for index, link in enumerate(links or ()):
        at: Path_ = ("lab", "links", index)
        if link.tester_port in taken and link.tester_port != _UNNAMED[0]:
            source.report(
                (*at, "endpoints"),
                f"two hosts have a port `{link.tester_port}`",
                "names of ports stand in results: another one for each",
                code="given-twice",
            )
        taken.setdefault(link.tester_port, index)
        for field in ("routing", "server") if link.host else ():
            if (field == "routing" and link.speaker) or (field == "server" and link.server):
                source.report_key(
                    (*at, field),
                    f"a port of another host has no `{field}`",
                    "give it to a port of this host",
                    code="unsupported",
                )
    if given is None:
        return None
    for host in set(given.ssh) - set(named.values()):
        source.report_unknown(
            ("lab", "hosts", "ssh", host), f"no node has the host `{host}`", host, named.values(), key=True
        )
    return Hosts(given.scheduler, {host: threads[name] for name, host in named.items()}, dict(given.ssh))


def _threads(source: Source, place: Path_, node: m.Node) -> Threads:
    """The tester's threads: each named core once, and no more workers than cores."""
    if len(set(node.cores)) < len(node.cores):
        hint = "each thread keeps a core busy: name every core once"
        source.report((*place, "cores"), "a core is named twice", hint, code="given-twice")
    elif node.cores and node.workers is not None and node.workers > len(node.cores):
        source.report(
            (*place, "workers"),
            f"{counted(node.workers, 'worker')}, and `cores` names {counted(len(node.cores), 'core')}",
            "name a core for each worker, or leave `cores` out",
            code="wrong-count",
        )
    return Threads(node.workers, tuple(node.cores))


def _settings(source: Source, place: Path_, given: Mapping[str, str], kind: Any, *, speaks: bool) -> None:
    """Settings that the device does not have. speaks: the tester is its routing neighbour on a link."""
    for name, value in given.items():
        if name not in kind.settings:
            hint = (
                suggestion(name, kind.settings, "settings")
                if kind.settings
                else f"`{kind.name}` has no settings"
            )
            source.report_key(
                (*place, name), f"`{kind.name}` has no setting `{name}`", hint, code="unknown-field"
            )
        elif kind.settings[name] and value not in kind.settings[name]:
            hint = suggestion(value, kind.settings[name], "values")
            if name == routing.SETTING and speaks:
                hint = f"{names(routing.WITH_SPEAKERS)} are neighbours of the links that have `routing`"
            source.report(
                (*place, name),
                f"`{name}` of `{kind.name}` cannot be `{value[:40]}`",
                hint,
                code="out-of-range",
            )


def _links(
    source: Source,
    raw: object,
    known: list[str],
    testers: Mapping[str, m.Node],
    nodes_right: bool,
    base: Path | None,
) -> tuple[LabLink, ...] | None:
    """The links in order; what is wrong of one is noted or left to who reads the fields, and stood in for."""
    if not isinstance(raw, list):
        return None
    links: list[LabLink] = []
    taken: dict[tuple[str, str], int] = {}
    for index, value in enumerate(raw):
        place = ("lab", "links", index)
        ends = _ends(value)
        for side, end in enumerate(ends or ()):
            where = (*place, "endpoints", side)
            if end[0] not in known and known:
                message = f"`{end[0]}` is not a node of the lab"
                source.report_unknown(where, message, end[0], known, "nodes")
            if end in taken:
                line = source.position(("lab", "links", taken[end]))[0]
                source.report(
                    where,
                    f"`{end[0]}:{end[1]}` is linked twice",
                    f"the first link is in line {line}; a port takes one cable",
                    code="given-twice",
                )
            taken.setdefault(end, index)
        names_of_ports = _UNNAMED
        host = ""
        if ends is not None and testers and nodes_right and all(end[0] in known for end in ends):
            ours = [end for end in ends if end[0] in testers]
            if len(ours) == 1:
                theirs = ends[1] if ends[0] == ours[0] else ends[0]
                names_of_ports = (ours[0][1], theirs[1])
                host = testers[ours[0][0]].host
            else:
                source.report(
                    (*place, "endpoints"),
                    "a link joins the tester and the device",
                    f'for example `["{next(iter(testers))}:west", "dut:p0"]`',
                    code="conflict",
                )
        links.append(replace(_link(source, place, value, names_of_ports, base), host=host))
    return tuple(links)


_UNNAMED = ("?", reached.NO_PORT)
"""Ports of a link whose ends are not known. Such a plan has mistakes, and nothing comes of it."""

_STAND_IN = {"endpoints": ["a:?", "b:?"], "rate": "10Tbps"}
"""For what of a link is wrong: the fastest line there is, which no load is above."""


NO_SERVERS = frozenset(("interface", "address", "gateway", "mac", "vlans", "backend"))
"""Fields of a link that a server on another host has not."""


def servers(source: Source, lab: PlannedLab, tester: str, tables: Tables) -> None:
    """That the tester can do with a server in place of a port, where a link has one."""
    for index, link in enumerate(lab.links):
        place = ("lab", "links", index, "server")
        if not link.server:
            continue
        if lab.kind != EXTERNAL:
            source.report_key(
                place,
                f"`{lab.kind}` is built here: no other host is behind it",
                f"leave `server` out, or take `kind: {EXTERNAL}`",
                code="unsupported",
            )
        elif Offer.SERVERS not in tables.testers.get(tester, EVERY_OFFER):
            able = [name for name, offers in tables.testers.items() if Offer.SERVERS in offers]
            source.report_key(
                place,
                f"the tester `{tester}` has both ends of what it sends",
                f"`tester: {able[0]}` takes a server of its own kind" if able else None,
                code="unsupported",
            )


def _link(source: Source, place: Path_, value: object, ports_: tuple[str, str], base: Path | None) -> LabLink:
    given = value if isinstance(value, dict) else {}
    link, wrong = salvage_part(m.Link, given)
    if link is None:
        _, wrong = salvage_part(m.Link, {**_STAND_IN, **given})
        right = {name: part for name, part in given.items() if name not in wrong}
        link, _ = salvage_part(m.Link, {**_STAND_IN, **right})
    assert link is not None, "what stands in is right"
    if "routing" in wrong:
        stand_in = link_routing.LinkRouting.model_validate(_stand_in(given["routing"]))
        link = link.model_copy(update={"routing": stand_in})
    if "gateway" in given and link.gateway and not link.address and "address" not in given:
        source.report_key(
            (*place, "gateway"),
            "the tester has no address to ask for the gateway from",
            "give the link its `address`, the tester's, too; or the next hop's `mac` instead of `gateway`",
            code="conflict",
        )
    elif link.address and link.gateway:
        _next_hop(source, (*place, "gateway"), link.address, link.gateway)
    _one_hop(source, place, link)
    for field in sorted(NO_SERVERS.intersection(given)) if link.server else ():
        source.report_key(
            (*place, field),
            f"`{field}` is of a port of this machine, and `server` is on another host",
            "leave one of them out",
            code="conflict",
        )
    gateway = link.gateway if link.address else None
    vlans = _vlans(source, place, link) if "vlans" in given else ()
    return LabLink(
        *ports_,
        int(link.rate.amount),
        link.interface,
        link.address,
        gateway,
        link.mac,
        _backend(link),
        vlans,
        link.card or "",
        tuple(link.members),
        link.server or "",
        _speaker(source, (*place, "routing"), link, base),
        bundle=link.bundle or "",
        lag=_lag(source, (*place, "lag"), ports_[0], link, given),
    )


_USUAL: Mapping[str, Any] = {"bgp": {"own_as": 1, "routes": 1000, "withdraw": 1000}, "ospf": {}, "ospf3": {}}
"""For a protocol of a link that is wrong: one that nothing else of a plan finds fault with."""
_PROTOCOLS: Mapping[str, type[Element]] = {
    "bgp": link_routing.LinkBgp,
    "ospf": link_routing.LinkOspf,
    "ospf3": link_routing.LinkOspf,
}


def _stand_in(given: object) -> dict[str, Any]:
    """`routing` of a link in which something is wrong, with the protocols that it names."""
    if not isinstance(given, dict):
        return {"ospf": {}}
    found: dict[str, Any] = {}
    for name, usual in _USUAL.items():
        if name not in given:
            continue
        own = given[name] if isinstance(given[name], dict) else {}
        model, wrong = salvage_part(_PROTOCOLS[name], own)
        numbers = {key: own[key] for key in ("own_as", "peer_as") if key in own and key not in wrong}
        found[name] = {**usual, **numbers} if model is None or wrong else own
    return found or {"ospf": {}}


NO_LAG = ("interface", "server", "vlans", "routing", "bundle")
"""Fields of a link that one with `lag` has not."""


def _lag(source: Source, place: Path_, port: str, link: m.Link, given: Mapping[str, object]) -> Lag | None:
    """The interfaces of a link that are one LAG."""
    if link.lag is None:
        return None
    for field in (name for name in NO_LAG if name in given):
        source.report_key(
            (*place[:-1], field),
            f"a link with `lag` has no `{field}`",
            "leave one of them out" + ("; `lag` has the `interfaces`" if field == "interface" else ""),
            code="unsupported",
        )
    backend = _backend(link).kind
    if backend not in KERNEL:
        source.report(
            (*place[:-1], "backend"),
            f"LACP is spoken on interfaces of this machine, and `{backend}` is none",
            f"one of {', '.join(f'`{name}`' for name in KERNEL)}",
            code="unsupported",
        )
    names_ = link.lag.interfaces
    if len(set(names_)) < len(names_):
        source.report(
            (*place, "interfaces"), "an interface stands twice", "each member once", code="given-twice"
        )
    return Lag(port, tuple(names_), link.lag.mode == "active", link.lag.rate == "fast")


def _speaker(source: Source, place: Path_, link: m.Link, base: Path | None) -> Speaker | None:
    """What the tester speaks on a link."""
    if link.routing is None:
        return None
    given = link.routing
    for one in link_routing.problems(link.routing, base):
        source.report((*place, *one.at), one.message, one.hint, code=one.code)
        if one.at[-1:] == ("table",) and given.bgp is not None:
            # A file that is not there is not read either.
            update = {"table": "", "routes": given.bgp.routes or given.bgp.withdraw or 1000}
            given = given.model_copy(update={"bgp": given.bgp.model_copy(update=update)})
    if link.server:
        source.report_key(
            place, "a link with `server` has no `routing`", "leave one of them out", code="unsupported"
        )
        return None
    for one in link_routing.problems_of_vlans(link.routing) if link.vlans else ():
        source.report_key((*place, *one.at), one.message, one.hint, code=one.code)
    return link_routing.speaker_of(given, base)


def _backend(link: m.Link) -> PortBackend:
    """Its backend, with the options that are this one's."""
    written = link.model_dump(include=set(OWNER) | {"backend"})
    kind = written.pop("backend")
    return PortBackend.of(kind, **{name: written[name] for name in options_of(kind)})


def _one_hop(source: Source, place: Path_, given: m.Link | LinkVlan) -> None:
    """A next hop is asked for, or its MAC address is given."""
    if given.mac and given.gateway:
        source.report_key(
            (*place, "mac"),
            "`mac` beside `gateway` says twice where frames go",
            "leave one of them out: a `gateway` is asked for its MAC address",
            code="given-twice",
        )
    elif given.mac and is_group(given.mac):
        source.report(
            (*place, "mac"),
            f"`{given.mac}` is a group address, and a next hop is one host",
            "an even first byte; or the next hop's `gateway`, which is asked for it",
            code="conflict",
        )


def _vlans(source: Source, place: Path_, link: m.Link) -> tuple[Subinterface, ...]:
    """The VLANs of a link, each once, with a next hop of its address's IP version."""
    found: dict[tuple[tuple[int, int], ...], Subinterface] = {}
    for index, one in enumerate(link.vlans):
        where = (*place, "vlans", index)
        if one.address and one.gateway:
            _next_hop(source, (*where, "gateway"), one.address, one.gateway)
        elif one.gateway and (*where, "address") not in source.values:
            source.report_key(
                (*where, "gateway"),
                "the tester has no address on this VLAN to ask for the gateway from",
                "give the VLAN its `address`, the tester's, too; or the next hop's `mac`",
                code="conflict",
            )
            continue
        _one_hop(source, where, one)
        try:
            row = list(one.subinterfaces())
        except Problem as problem:
            source.report((*where, "address"), problem.message, problem.hint, code=problem.code)
            continue
        names_ = [vlan.name for vlan in (*found.values(), *row)]
        twice = (
            [vlan for vlan in row if names_.count(vlan.name) > 1] if len(set(names_)) < len(names_) else []
        )
        if twice:
            some = "" if len(twice) == 1 else f" and {counted(len(twice) - 1, 'other')}"
            source.report(
                (*where, "vlan"),
                f"VLAN {twice[0].name}{some} stands twice in the `vlans` of this link",
                "each VLAN once: streams are called after their VLANs, whatever their TPIDs are",
                code="given-twice",
            )
        found |= {vlan.tags: vlan for vlan in row}
    if len(found) > MOST_VLANS:
        message = f"the link has {len(found)} VLANs, at most {MOST_VLANS}"
        source.report_key((*place, "vlans"), message, "fewer VLANs, or another link", code="too-many")
    return tuple(found.values())


def _ports(source: Source, raw: object, kind: Any, hosts: Mapping[str, str]) -> None:
    """That each link, as written, has a backend its kind of device can be reached by, and what that needs."""
    taken: dict[Any, int] = {}
    interfaces: dict[tuple[str, str], int] = {}
    for index, link in enumerate(raw if isinstance(raw, list) else ()):
        if not isinstance(link, dict):
            continue
        place = ("lab", "links", index)
        backend = link.get("backend", USUAL)
        if _takes_backend(source, place, link, backend, kind):
            _options(source, place, link, backend, kind)
        own = BACKENDS.get(backend) if isinstance(backend, str) else None
        if own is not None and not own.on_interface:
            if own.needed is not None and link.get(own.needed[0]) is None:
                source.report(
                    place, f"{own.noun} has no `{own.needed[0]}`", own.needed[1], code="missing-field"
                )
            elif own.identity is not None:
                what, named = own.identity(link)
                field = () if own.needed is None else (own.needed[0],)
                _once(source, (*place, *field), taken, what, index, named)
        elif isinstance(interface := link.get("interface"), str):
            host = next((hosts[end[0]] for end in _ends(link) or () if end[0] in hosts), "")
            own_interface = (host, interface)
            _once(source, (*place, "interface"), interfaces, own_interface, index, f"interface `{interface}`")


def _takes_backend(source: Source, place: Path_, link: dict[str, Any], backend: object, kind: Any) -> bool:
    known = kind.backends
    if "backend" in link and isinstance(backend, str) and backend not in known:
        if not known:
            message = f"`{kind.name}` is emulated in this process: no backend carries its frames"
            hint = "leave `backend` out"
        else:
            message = f"the ports of `{kind.name}` cannot be `{backend[:40]}`"
            hint = suggestion(backend, known)
        if backend in ALL:
            source.report((*place, "backend"), message, hint, code="unsupported")
        return False  # An unknown name is reported where the fields are read.
    return isinstance(backend, str)


def _options(source: Source, place: Path_, link: dict[str, Any], backend: str, kind: Any) -> None:
    """No field of another backend than the link has."""
    known = kind.backends
    may = options_of(backend) if backend in ALL else frozenset(OWNER)
    for field, owner in OWNER.items():
        if field in link and field not in may:
            hint = f"`backend: {owner.name}` has it" if owner.name in known else "leave it out"
            source.report_key(
                (*place, field),
                f"`{field}` is {owner.whose}, and this link is none",
                hint,
                code="unknown-field",
            )
    own = BACKENDS.get(backend)
    if own is not None and not own.on_interface and "interface" in link:
        source.report_key(
            (*place, "interface"),
            f"{own.noun} is no interface of this machine",
            f"leave out `interface`, or take another backend: {', '.join(f'`{name}`' for name in KERNEL)}",
            code="conflict",
        )


def _once(source: Source, place: Path_, seen: dict[Any, int], what: Any, index: int, named: str) -> None:
    if what in seen:
        line = source.position(("lab", "links", seen[what]))[0]
        source.report(
            place,
            f"{named} is used twice",
            f"the first link is in line {line}; each needs its own",
            code="given-twice",
        )
    seen.setdefault(what, index)


def _licence(raw: Mapping[str, Any]) -> int | None:
    """What the device is licensed to pass, bit/s; None: nothing is declared, or it cannot be understood."""
    lab, _ = salvage_part(m.Lab, {"nodes": {}, "links": [], "licence": raw.get("licence")})
    return None if lab is None or lab.licence is None else int(lab.licence.amount)


def _trunk(source: Source, raw: object, links: Sequence[LabLink], kind: Kind) -> Trunk | None:
    """The trunk with the numbers of its near ports; None: the plan has none, or it cannot be so."""
    given, _ = salvage_part(m.LabTrunk, raw) if raw is not None else (None, ())
    if given is None:
        return None
    if kind.emulated or kind.configured:
        source.report_key(
            ("lab", "trunk"),
            f"`{kind.name}` has no trunk to declare",
            "leave `trunk` out: netdyno knows what it built",
            code="unsupported",
        )
        return None
    numbers = {link.tester_port: number for number, link in enumerate(links)}
    near: dict[int, None] = {}
    for place, port in enumerate(given.ports):
        where = ("lab", "trunk", "ports", place)
        if port not in numbers:
            message = f"`{port[:40]}` is not a port of the tester"
            source.report_unknown(where, message, port, numbers, "ports")
            return None
        if numbers[port] in near:
            source.report(where, f"`{port}` is named twice", "remove one of the two", code="given-twice")
        near[numbers[port]] = None
    if len(near) == len(numbers):
        source.report_key(
            ("lab", "trunk", "ports"),
            "all ports are on one half, so no frame crosses the trunk",
            "name the ports of one of the two halves only",
            code="conflict",
        )
        return None
    return Trunk(int(given.rate.amount), tuple(near), given.adds)


def _next_hop(source: Source, place: Path_, address: str, gateway: str) -> None:
    """The gateway is another host of the address's network (RFC 1122 section 3.3.1.1, RFC 4861 section 5.2).

    Not asked of an address without a network (/32, /128), nor of a link-local gateway.
    """
    ours, hop = ipaddress.ip_interface(address), ipaddress.ip_address(gateway)
    if ours.version != hop.version:
        found = f"the gateway {gateway} and the address {address} are of different IP versions"
        hint = "both IPv4 or both IPv6"
    elif hop == ours.ip:
        found = f"the gateway {gateway} is the tester's own address"
        hint = "`address` is the tester's on this link, `gateway` the device's"
    elif not hop.is_link_local and ours.network.num_addresses > 1 and hop not in ours.network:
        found = f"the gateway {gateway} is outside the network {ours.network} of the address {address}"
        hint = "correct one of them, or write the address with /32 (/128) if it has no network of its own"
    elif ours.version == 4 and ours.network.num_addresses > 2 and hop in (ours.network[0], ours.network[-1]):
        found = f"the gateway {gateway} is the {'network' if hop == ours.network[0] else 'broadcast'} address"
        found += f" of {ours.network}"
        hint = f"the device's own address, {ours.network[1]} to {ours.network[-2]}"
    else:
        return
    source.report(place, found, hint, code="conflict")


def _count(source: Source, raw: object, kind: Any) -> None:
    """A device has so many ports, and each kind says how many."""
    count = len(raw) if isinstance(raw, list) else 0
    if not isinstance(raw, list) or count in kind.links:
        return
    hint = (
        "one link to send on, one to receive on"
        if kind.links == TWO_LINKS
        else "`netdyno kinds` says how many links a kind takes"
    )
    some = "1 link" if count == 1 else f"{count} links"
    source.report_key(
        ("lab", "links"),
        f"the lab has {some}, and `{kind.name}` takes {in_words(kind.links)}",
        hint,
        code="wrong-count",
    )


def _ends(value: object) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """The endpoints of a link, whatever else is wrong with it."""
    link, _ = salvage_part(
        m.Link, {**_STAND_IN, "endpoints": value.get("endpoints")} if isinstance(value, dict) else None
    )
    return link.endpoints if link else None
