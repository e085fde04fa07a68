"""Port groups of a plan, and which of them each case loads."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from netdyno import modifiers
from netdyno.errors import suggestion
from netdyno.plan.groups import BESIDE, Group
from netdyno.plan.lab import Lab
from netdyno.plan.models import PortGroup
from netdyno.plan.patterns import PATTERNS
from netdyno.plan.source import Source
from netdyno.ports.backends import BACKENDS
from netdyno.values.situation import GROUP_AXIS


def groups(source: Source, given: Mapping[str, PortGroup], lab: Lab) -> tuple[Lab, tuple[Group, ...]]:
    """The groups in order, each port in one at most; and the lab, with the groups' cards on its links."""
    links = {link.tester_port: link for link in lab.links}
    taken: dict[str, str] = {}
    found = []
    for name, group in given.items():
        for number, port in enumerate(group.ports):
            written = source.value["groups"][name]
            where = (
                ("groups", name, number) if isinstance(written, list) else ("groups", name, "ports", number)
            )
            if port not in links:
                message = f"`{port[:40]}` is not a port of the tester"
                source.report_unknown(where, message, port, links, "ports")
                continue
            if port in taken:
                other = "the same group" if taken[port] == name else f"the group `{taken[port]}`"
                source.report(
                    where,
                    f"`{port}` is in {other} already",
                    "a port is in one group at most",
                    code="given-twice",
                )
                continue
            taken[port] = name
            link = links[port]
            if group.card and link.card and group.card != link.card:
                source.report(
                    ("groups", name, "card"),
                    f"`{port}` is on the card `{link.card[:40]}` by its link, here on `{group.card[:40]}`",
                    "say it in one of the two places",
                    code="conflict",
                )
            backend = BACKENDS.get(link.backend.kind)
            if backend is not None and backend.keeps_peers:
                source.report(
                    where,
                    f"`{port}` is {backend.noun}, which stays connected from case to case",
                    "a group alone leaves the others closed: a plan for each, or other ports",
                    code="unsupported",
                )
            links[port] = replace(link, card=link.card or group.card or "")
        ports = tuple(port for port in dict.fromkeys(group.ports) if taken.get(port) == name)
        if ports:
            found.append(Group(name, ports, tuple(links[port].card for port in ports)))
    return replace(lab, links=tuple(links[link.tester_port] for link in lab.links)), tuple(found)


def axis(source: Source, values: Sequence[str], groups: Collection[str]) -> None:
    """Each value of the axis names groups of the plan, and no two values the same ones."""
    if not groups:
        source.report_key(
            ("matrix", GROUP_AXIS),
            "the plan has no `groups`",
            "`groups: {one: [west, east], ...}`",
            code="missing-field",
        )
        return
    seen: dict[frozenset[str], str] = {}
    for number, value in enumerate(values):
        names = value.split(BESIDE)
        place = ("matrix", GROUP_AXIS, number)
        wrong = [name for name in names if name not in groups]
        if wrong:
            hint = suggestion(wrong[0], groups, "groups")
            joined = f"; several at once are joined with `{BESIDE}`"
            source.report(
                place, f"`{wrong[0][:40]}` is not a group of the plan", f"{hint}{joined}", code="unknown-name"
            )
        elif len(set(names)) < len(names):
            source.report(
                place, f"`{value[:60]}` names a group twice", "remove one of the two", code="given-twice"
            )
        elif (before := seen.get(frozenset(names))) not in (None, value):
            source.report(
                place,
                f"`{value[:60]}` loads the same groups as `{before}`",
                "remove one of the two",
                code="given-twice",
            )
        seen.setdefault(frozenset(names), value)


_TABLE = "it fills the device's one table of addresses, which the ports of all groups share"
_MEET = "whose frames meet where is its own choice among all ports of the lab"
_BURSTS = "it sends bursts of one searched length, which one group may pass and another not"
_DEVICE = "it is about the device as a whole, which is one for all groups"
_WHY_NOT: Mapping[str, str] = {
    "address-caching": _TABLE,
    "address-learning-rate": _TABLE,
    "broadcast": "its frames go to every port of the lab, those of other groups too",
    "congestion": _MEET,
    "microburst": _MEET,
    "max-forwarding-rate": _MEET,
    "errored-frames": _DEVICE,
    "back-to-back": _BURSTS,
    "recovery": _DEVICE,
    "reset": _DEVICE,
    "rfc2544": "its recovery and reset are about the device as a whole, which is one for all groups",
}
"""Of methods that cannot be measured in groups."""
_UNTOLD = "what it finds is of all streams together, and is not told apart by group"
"""Of the others that are not."""

_MODIFIERS: Mapping[str, str] = {
    "broadcast": "its broadcasts reach the ports of all groups, also where a case loads one alone",
    "filters": "filters are configured for all ports of the device, and looked at for the frames of all",
    "management": "its queries are to the device as a whole, from one port that sends",
    "routing": "its updates change the one routing table of the device, from one port that receives",
}
"""By the modifier's name, or what that begins with."""

APART = "the same plan without `groups`, with the links of one group: once for each group"


def check_fit(source: Source, method: Any, matrix: Mapping[str, Sequence[str]], able: Sequence[str]) -> None:
    """Whether method, patterns and modifiers are of groups at all. able: the methods that are, by name."""
    if not method.groups:
        source.report_key(
            ("groups",),
            f"`{method.name}` is not measured in groups: {_WHY_NOT.get(method.name, _UNTOLD)}",
            f"{APART}; or a method that measures groups: {', '.join(f'`{name}`' for name in able)}",
            code="unsupported",
        )
    for name in matrix.get("pattern", ()):
        if name in PATTERNS and PATTERNS[name].bridged:
            source.report_key(
                ("groups",),
                f"the pattern `{name}` uses the whole lab, not one group: a bridge floods its frames to"
                " the ports of all groups",
                f"{APART}; or another pattern",
                code="unsupported",
            )
    for name in matrix.get(modifiers.AXIS, ()):
        if name != modifiers.NONE.name:
            why = next((why for begin, why in _MODIFIERS.items() if name.startswith(begin)), "")
            source.report_key(
                ("groups",),
                f"the modifier `{name}` acts on the whole lab, not on one group{': ' if why else ''}{why}",
                f"{APART}; or this plan without the modifier",
                code="unsupported",
            )
