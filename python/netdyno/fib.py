"""Any method against the number of routes: every route is proven first, by a frame that comes back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from netdyno.errors import NotMeasuredError, counted
from netdyno.labs import routes
from netdyno.matrix import cases
from netdyno.methods.procedure import part, starved
from netdyno.trial import Column, Figure, Method, Result, Segment, Situation, Table, Trial, TrialResult

if TYPE_CHECKING:
    from netdyno.plan import Plan

MOST_FPS = Fraction(10_000)
LINE_SHARE = Fraction(1, 20)
"""The load of the proof: low enough for any device that forwards at all."""

TABLE = "Against the number of routes"


def proven(method: Method, situation: Situation, count: int) -> Method:
    """The method, after a trial in which each of so many routes behind each port had a frame.

    RFC 3222 measures with entries that are all used. Raises NotMeasuredError if one of them does not forward.
    """
    several = len(situation.streams)
    fps = min(MOST_FPS, situation.line_fps * LINE_SHARE / several)
    load = (Segment("routes", count * 10**9 // fps, fps, fps),)
    outcome = yield Trial("every route", load, dict.fromkeys(situation.streams, load), flows=count)
    _assert_all(outcome, load[0].duration_ns, count)
    result, _ = yield from part("measured", method, 1)
    return _told(result, situation, count)


def _assert_all(outcome: TrialResult, duration_ns: int, count: int) -> None:
    short = starved(outcome, duration_ns)
    for stream in outcome.streams:
        missing = count - stream.flows_received
        if missing and stream.offered < count:
            raise NotMeasuredError(
                f"not every route was tried: {short or f'{stream.offered} of {count} frames were sent'}"
            )
        if missing:
            raise NotMeasuredError(
                f"{missing} of {count} routes forward nothing of `{stream.name}`: no frame to them came back",
                "`netdyno routes` lists the routes that the device must have",
            )


def _told(result: Result, situation: Situation, count: int) -> Result:
    """The result with a row of the table that joins the cases; each number of routes is a case."""
    value = result.headline(("sum", *situation.streams))
    if value is None:
        return result
    columns = (Column(routes.SETTING), Column(value.name, value.unit))
    caption = (
        "Routes behind each port, all of them proven before by a frame that came back (RFC 3222); each frame"
        " goes to the next of them in random order."
    )
    row = (Fraction(count), value.number)
    table = Table(TABLE, columns, (row,), caption, Figure(routes.SETTING, (value.name,)))
    return replace(result, tables=(*result.tables, table))


def listed(plan: Plan) -> Iterator[str]:
    """The routes of every case, those of one number together: `48.0.0.0/24 via 192.0.2.6`, a line each."""
    seen: set[str] = set()
    for case in cases(plan):
        asked = case.settings.get(routes.SETTING)
        if asked is None or asked in seen:
            continue
        seen.add(asked)
        wiring = plan.kind.wire(plan.lab.links, case.settings)
        version = routes.version(wiring.routes[0])
        kind = "route" if version == 4 else "IPv6 route"
        yield f"# {counted(len(wiring.routes[0]), kind)} behind each port"
        for port, prefixes in zip(wiring.ports, wiring.routes, strict=True):
            via = port.ipv4 if version == 4 else port.ipv6
            yield from (f"{prefix} via {via}" for prefix in prefixes)
