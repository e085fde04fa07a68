"""The trunk of a lab: a line between two halves of an external device, as its owner declares it."""

from __future__ import annotations

from collections.abc import Sequence

from netdyno.devices.kind import Kind
from netdyno.devices.wiring import LabLink
from netdyno.errors import suggestion
from netdyno.plan import models as m
from netdyno.plan.problems import salvage_part
from netdyno.plan.source import Source
from netdyno.values.trunk import Trunk


def trunk(source: Source, raw: object, links: Sequence[LabLink], kind: Kind) -> Trunk | None:
    """The trunk with the numbers of its near ports; None: the plan has none, or it cannot be so."""
    given, _ = salvage_part(m.LabTrunk, raw) if raw is not None else (None, ())
    if given is None:
        return None
    if kind.emulated or kind.configured:
        source.report(
            ("lab", "trunk"),
            f"`{kind.name}` has no trunk to declare",
            "leave `trunk` out: netdyno knows what it built",
            key=True,
            code="unsupported",
        )
        return None
    numbers = {link.tester_port: number for number, link in enumerate(links)}
    near: dict[int, None] = {}
    for place, port in enumerate(given.ports):
        where = ("lab", "trunk", "ports", place)
        if port not in numbers:
            hint = suggestion(port, numbers, "ports")
            source.report(where, f"`{port[:40]}` is not a port of the tester", hint, code="unknown-name")
            return None
        if numbers[port] in near:
            source.report(where, f"`{port}` is named twice", "remove one of the two", code="given-twice")
        near[numbers[port]] = None
    if len(near) == len(numbers):
        source.report(
            ("lab", "trunk", "ports"),
            "all ports are on one half, so no frame crosses the trunk",
            "name the ports of one of the two halves only",
            key=True,
            code="conflict",
        )
        return None
    return Trunk(int(given.rate.amount), tuple(near), given.adds)
