"""Any method against the number of routes: every route is proven first, by a frame that comes back."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from netdyno.methods.parts.convergence import NAMED
from netdyno.methods.parts.procedure import find_shortfall, part
from netdyno.methods.reasons.learned import RoutesRetried, RoutesSilent, RoutesUntried
from netdyno.values.finding import Figure, Result, Table, columns
from netdyno.values.load import Frames, Observe, Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from netdyno.values.unmeasured import NotMeasuredError

MOST_FPS = Fraction(10_000)
LINE_SHARE = Fraction(1, 20)
"""The load of the proof: low enough for any device that forwards at all."""

AGAIN = 4
"""Frames to each route where some had no frame come back: a device that loses one in a thousand has all its
routes, and of a million of them the chance to lose all four frames of any is one in a million."""
MOST_NAMED = 10_000
"""Routes of all streams up to which each is counted by itself: those that do not forward are then named."""
FEW = Fraction(1, 20)
"""The share of routes up to which they are tried again: no device worth measuring loses more frames."""

SETTING = "routes"
"""The setting of a device that the table is by."""

TABLE = "Against the number of routes"


def proven(method: Method, situation: Situation, every: int, counts: Mapping[str, int]) -> Method:
    """The method, after a trial in which each of so many routes behind each port had a frame.

    counts: routes of each stream, which are fewer where the VLANs of a link have them among them.

    RFC 3222 measures with entries that are all used. Where few frames did not come back each route has some
    more, in a trial of its own, for a lost frame is no missing route. Raises NotMeasuredError if one of them
    does not forward.
    """
    fps = min(MOST_FPS, situation.line_fps * LINE_SHARE / len(situation.streams))
    names = dict(zip(situation.streams, situation.destinations, strict=False))
    observe = Observe(by_flow=sum(counts.values()) <= MOST_NAMED and bool(names))
    outcome = yield from _tried(observe, fps, every, counts, 1)
    missing = max(counts[stream.name] - stream.flows_received for stream in outcome.streams)
    rounds = AGAIN if missing == 1 or 0 < missing <= max(counts.values()) * FEW else 1
    if rounds > 1:
        outcome = yield from _tried(observe, fps, every, counts, rounds)
    _assert_all(outcome, fps, counts, rounds, names)
    result, _ = yield from part("measured", method, 1 if rounds == 1 else 2)
    return _with_row(result, situation, every, missing)


def _tried(
    observe: Observe, fps: Fraction, every: int, counts: Mapping[str, int], rounds: int
) -> Generator[Trial, Outcome, Outcome]:
    """So many frames to each route, in turn."""
    loads = {
        name: Frames.steady(FrameRate(fps), _length_ns(rounds * count, fps), "routes").segments
        for name, count in counts.items()
    }
    longest = max(loads.values(), key=lambda load: load[0].duration_ns)
    name = "every route" if rounds == 1 else f"every route, {rounds} frames each"
    return (yield Trial(name, Frames(longest, loads=loads, flows=every), observe=observe))


def _length_ns(frames: int, fps: Fraction) -> int:
    return frames * 10**9 // fps


def _assert_all(
    outcome: Outcome,
    fps: Fraction,
    counts: Mapping[str, int],
    rounds: int,
    names: Mapping[str, Sequence[str]],
) -> None:
    for stream in outcome.streams:
        count = counts[stream.name]
        missing, wanted = count - stream.flows_received, rounds * count
        if missing and stream.offered < wanted:
            short = find_shortfall(outcome, _length_ns(wanted, fps))
            raise NotMeasuredError(
                RoutesUntried(stream.offered, wanted, short),
                "end other programs on this machine",
            )
        if missing:
            received = () if stream.by_flow is None else stream.by_flow.received
            silent = (
                name for name, came in zip(names.get(stream.name, ()), received, strict=False) if not came
            )
            raise NotMeasuredError(
                RoutesSilent(stream.name, missing, count, rounds, tuple(islice(silent, NAMED))),
                "`netdyno routes` lists the routes that the device must have",
            )


def _with_row(result: Result, situation: Situation, count: int, again: int) -> Result:
    """The result with a row of the table that joins the cases; each number of routes is a case.

    again: how many routes, of one stream at most, forwarded only when they were tried again.
    """
    value = result.headline(("sum", *situation.streams))
    if value is None:
        return result
    caption = (
        "Routes behind each port, all of them proven before by a frame that came back (RFC 3222); each frame"
        " goes to the next of them in random order."
    )
    row = (Fraction(count), value.number)
    table = Table(TABLE, columns(SETTING, value.kind), (row,), caption, Figure(SETTING, (value.name,)))
    notes = result.notes
    if again:
        notes += (RoutesRetried(again, count, AGAIN),)
    return replace(result, tables=(*result.tables, table), notes=notes)
