"""Breaks: times in which what is watched beside the traffic was lost, found in its series.

A watch looks at instants, so a break begins and ends between two of them: both are kept. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from netdyno.values.kind import ValueKind
from netdyno.values.load import EventKind, Happened
from netdyno.values.reason import Reason
from netdyno.values.series import MOST_MISSED, Series

if TYPE_CHECKING:
    from netdyno.values.outcome import Outcome

PING = "ping"
"""Source of series of pings: round trips, ns."""
ADJACENCY = "adjacency"
"""Source of series of adjacencies: 1 up, 0 down."""
ANSWERS = "command line"
"""Source of series of the time that a command line took to answer, ns."""
ANSWER_TIME = "answer time"
"""Their name."""

WATCH_BREAKS = ValueKind(
    "watch breaks",
    "",
    "how often a watch of the plan broke during traffic, in all trials",
    goal="watch breaks <= 0",
)

TAKE_DOWN: frozenset[EventKind] = frozenset(("link-down", "reset", "lacp-silent"))
"""Events that take a link or a member of a LAG down, and what is watched over it."""
BRING_BACK: frozenset[EventKind] = frozenset(("link-up", "lacp-speaks"))

Bounds: TypeAlias = tuple[int | None, int | None]
"""Not before, not after; ns from the begin of traffic. None: unknown."""


@dataclass(frozen=True)
class Break:
    """A time in which a watch was lost.

    source, subject: of its series. begin: it was there at the first of these times, and lost by the second.
    Without the first it was lost from the start. end: it was lost at the first and back by the second.
    Without the second it did not come back in this trial. missed: readings that found it lost: pings without
    an answer, polls, answers that were late or did not come. is_at_least: there were more than are listed.
    """

    source: str
    subject: str
    begin: Bounds
    end: Bounds
    missed: int
    is_at_least: bool = False
    why: Reason | None = None
    """Where it is known: of an adjacency of an emulated router."""


@dataclass(frozen=True)
class _Reading:
    """What one reading of a watch found: asked at the earliest, answered by the latest."""

    asked_ns: int
    answered_ns: int
    is_good: bool


def is_watch(series: Series) -> bool:
    """Whether a series is that of a watch."""
    return series.source in (PING, ADJACENCY, ANSWERS)


def is_asked(found: Break, happened: Sequence[Happened]) -> bool:
    """Whether the device was asked for what took the watch down: a link that is down, or a reset, before the
    break and no longer over than since the watch was there last. A command line needs no link that is cut."""
    if found.source == ANSWERS:
        return False
    good_ns, bad_ns = found.begin
    assert bad_ns is not None
    for one in happened:
        if one.event.kind not in TAKE_DOWN or one.from_ns > bad_ns:
            continue
        ups = (up for up in happened if up.event.kind in BRING_BACK and up.event.port == one.event.port)
        back_ns = next((up.from_ns for up in ups if up.from_ns >= one.from_ns), None)
        if back_ns is None or good_ns is None or good_ns < back_ns:
            return True
    return False


def find_breaks(series: Series, longest_ns: int | None = None) -> tuple[Break, ...]:
    """The breaks of a watch, in order of time.

    longest_ns: of a command line, the longest that an answer may take; None: as long as it likes.
    """
    readings = sorted(_readings(series, longest_ns), key=lambda one: (one.asked_ns, one.answered_ns))
    is_cut = len(series.missed) >= MOST_MISSED
    return tuple(_breaks(series, readings, is_cut=is_cut))


def list_breaks(outcome: Outcome, series: Series, longest_ns: int | None = None) -> tuple[Break, ...]:
    """The breaks of a watch in a trial, each with its reason as far as that is known."""
    known = {(one.subject, one.at_ns): one.why for one in outcome.adjacencies_lost}
    found = find_breaks(series, longest_ns)
    return tuple(replace(one, why=known.get((one.subject, one.begin[1] or 0))) for one in found)


def _readings(series: Series, longest_ns: int | None) -> Iterator[_Reading]:
    took = series.took_ns or (0,) * len(series.values)
    for at_ns, value, took_ns in zip(series.times_ns, series.values, took, strict=True):
        is_good = value == 1 if series.source == ADJACENCY else longest_ns is None or value <= longest_ns
        yield _Reading(at_ns - took_ns // 2, at_ns + took_ns - took_ns // 2, is_good)
    if series.source == ADJACENCY:
        # A daemon that does not answer says nothing of its neighbours: the bounds are then further apart.
        return
    for missed in series.missed:
        yield _Reading(missed.at_ns, missed.at_ns, is_good=False)


def _breaks(series: Series, readings: Sequence[_Reading], *, is_cut: bool) -> Iterator[Break]:
    good: _Reading | None = None
    bad: list[_Reading] = []
    for one in readings:
        if not one.is_good:
            bad.append(one)
            continue
        if bad:
            yield _break(series, good, bad, one, is_cut=is_cut)
        good, bad = one, []
    if bad:
        yield _break(series, good, bad, None, is_cut=is_cut)


def _break(
    series: Series, good: _Reading | None, bad: Sequence[_Reading], back: _Reading | None, *, is_cut: bool
) -> Break:
    # What was on its way when it broke may have been lost there: it takes as long as the one before it took.
    way_ns = 0 if good is None or series.source == ADJACENCY else good.answered_ns - good.asked_ns
    begin = (None if good is None else good.asked_ns, bad[0].answered_ns + way_ns)
    end = (bad[-1].asked_ns, None if back is None else back.answered_ns)
    return Break(series.source, series.subject, begin, end, len(bad), is_cut)
