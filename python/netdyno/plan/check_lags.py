"""Whether a plan can have the LAGs of its links, several interfaces of the tester each, and its bundles."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from netdyno.devices.kind import Kind
from netdyno.plan.check_lab import EXTERNAL
from netdyno.plan.lab import Lab
from netdyno.plan.source import Source
from netdyno.plan.traffic import Profile
from netdyno.values.offer import Offer


def lags(
    source: Source, lab: Lab, kind: Kind, profiles: Collection[Profile], offers: Collection[Offer]
) -> Lab:
    """The lab, without its LAGs if it cannot have them, which is reported. offers: of the plan's tester."""
    places = [number for number, link in enumerate(lab.links) if link.lag]
    if not places:
        return lab
    reasons = (
        (
            kind.name != EXTERNAL,
            f"`{kind.name}` has one interface at each end of a link",
            f"take `kind: {EXTERNAL}`",
        ),
        (
            Offer.FRAMES not in offers,
            "the plan's tester has one interface for each port",
            "leave `tester` out",
        ),
        (
            bool(source.value.get("groups")),
            "ports of `groups` have one interface each",
            "leave `groups` out",
        ),
        (
            any(link.host for link in lab.links),
            "LACP is spoken on this host alone",
            "leave out `host` of the nodes",
        ),
        (
            has_answers(profiles),
            "answers come back to the interface of a LAG that the device chooses",
            "leave out `answers` of the profile",
        ),
    )
    taken: set[str] = set()
    for number, link in enumerate(lab.links):
        twice = sorted(taken.intersection(link.interfaces)) if link.server == "" else ()
        if twice:
            why = f"interface `{twice[0]}` is named by two links"
            source.report_key(("lab", "links", number), why, "give each link its own", code="given-twice")
        taken.update(link.interfaces)
        if link.lag and link.members and len(link.device_ports) != len(link.interfaces):
            source.report_key(
                ("lab", "links", number, "members"),
                f"the device's port and its `members` are {len(link.device_ports)}, and the LAG has"
                f" {len(link.interfaces)} `interfaces`",
                "name the device's port of each interface, in their order; or leave `members` out",
                code="conflict",
            )
    found = [(why, hint) for is_so, why, hint in reasons if is_so]
    for why, hint in found:
        source.report_key(("lab", "links", places[0], "lag"), why, hint, code="unsupported")
    return replace(lab, links=tuple(replace(link, lag=None) for link in lab.links)) if found else lab


def bundles(source: Source, lab: Lab, profiles: Collection[Profile]) -> None:
    """Links of a LAG or ECMP group: two or more, alike, of a device that another one built, on one host."""
    each: dict[str, list[int]] = {}
    for index, link in enumerate(lab.links):
        if link.bundle:
            each.setdefault(link.bundle, []).append(index)
    for name, indexes in each.items():
        code = "conflict"
        alike = {(lab.links[index].rate_bps, lab.links[index].host) for index in indexes}
        if lab.kind != EXTERNAL:
            why = (
                f"`{lab.kind}` spreads no frames over its links",
                f"leave `bundle` out, or `kind: {EXTERNAL}`",
            )
        elif len(indexes) < 2:
            why = f"`{name}` has one link", "give another link the same `bundle`, or leave it out"
        elif len(alike) > 1:
            why = f"the links of `{name}` have different rates or hosts", "one rate, and ports of one host"
        elif has_answers(profiles):
            code = "unsupported"
            why = (
                "answers come back to the port of a bundle that the device chooses",
                "leave out `answers` of the profile",
            )
        else:
            continue
        source.report_key(("lab", "links", indexes[0], "bundle"), *why, code=code)


def has_answers(profiles: Collection[Profile]) -> bool:
    """Whether streams of these profiles or of their classes answer others."""
    return any(one.of_class(name).answers for one in profiles for name in ("", *one.classes))
