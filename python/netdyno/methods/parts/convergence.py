"""How long prefixes took to be forwarded otherwise after an event, by what their flows lost, and how long the
device's own table took.

Flow k of a stream goes to prefix k, and a stream sends to its prefixes in turn: every flow at the same rate.
So what a flow lost, over its rate, is the route-specific loss-derived convergence time of RFC 6413 section
5.1.2, known to one frame of the flow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from statistics import median
from typing import TypeAlias

from netdyno.methods.reasons.convergence import (
    ChangeNotSeen,
    PlanesAgree,
    PlanesDiffer,
    RoutesNotCounted,
    TableStillChanging,
    TableUnchanged,
)
from netdyno.values.load import EventKind
from netdyno.values.outcome import FlowCounts, Outcome, StreamResult
from netdyno.values.reason import Reason
from netdyno.values.series import Series
from netdyno.values.table_series import ROUTES, TABLE

TAIL = 10
"""A prefix that is forwarded in the last tenth of the time after the event has converged."""
SECOND_NS = 10**9
NAMED = 3
"""Prefixes that are named of those that did not converge."""


@dataclass(frozen=True)
class Sent:
    """How a stream sent to its prefixes. fps: frames a second to all of them. event_ns: when the event began,
    end_ns: when sending was to end; both from the begin of traffic. prefixes: that of each flow, if known."""

    fps: Fraction
    flows: int
    event_ns: int
    end_ns: int
    prefixes: Sequence[str] = ()

    @property
    def period_ns(self) -> Fraction:
        """From one frame of a flow to its next one."""
        return self.flows * SECOND_NS / self.fps

    @property
    def tail_ns(self) -> Fraction:
        """When the time begins in which a prefix that has converged is forwarded."""
        return self.end_ns - max(2 * self.period_ns, Fraction(self.end_ns - self.event_ns, TAIL))

    def count_before(self, flow: int) -> int:
        """Frames of a flow that were due before the event: frame n of flow k is number n * flows + k."""
        due = self.event_ns * self.fps / SECOND_NS
        return max(math.ceil((due - flow) / self.flows), 0)


@dataclass(frozen=True)
class Converged:
    """The convergence times of the prefixes of a stream.

    times_ns: of those that converged, sorted. late: how many had not when traffic ended. left_out: how many
    had nothing to converge: not forwarded before the event, or before an announcement forwarded already.
    resolution_ns: one frame of a flow, or how late the tester sent. lost_before: frames lost before a cut,
    which look as if they were lost by it.
    """

    times_ns: tuple[Fraction, ...]
    late: int
    left_out: int
    resolution_ns: Fraction
    lost_before: int = 0
    elsewhere: int = 0
    """Frames that came by another port."""
    late_named: tuple[str, ...] = ()
    left_out_named: tuple[str, ...] = ()
    """The first prefixes that are late, and that are left out."""

    @property
    def prefixes(self) -> int:
        """How many were measured."""
        return len(self.times_ns) + self.late

    @property
    def first_ns(self) -> Fraction | None:
        """The shortest time; None: none converged."""
        return self.times_ns[0] if self.times_ns else None

    @property
    def median_ns(self) -> Fraction | None:
        """The median of all that were measured; None: of the half or more it is unknown."""
        every = [*self.times_ns, *[None] * self.late]
        middle = every[(len(every) - 1) // 2 : len(every) // 2 + 1]
        known = [one for one in middle if one is not None]
        return Fraction(median(known)) if known and len(known) == len(middle) else None

    @property
    def last_ns(self) -> Fraction | None:
        """Full convergence: the longest time; None: some did not converge, or nothing was measured."""
        return self.times_ns[-1] if self.times_ns and not self.late else None


def find_times(kind: EventKind, stream: StreamResult, sent: Sent, outcome: Outcome) -> Converged | None:
    """The convergence times of a stream's prefixes after an event; None: flows were not counted apart."""
    flows = stream.by_flow
    if flows is None:
        return None
    late_ns = Fraction(max(outcome.health.longest_gap_ns, outcome.health.latest_departure_ns))
    # Frames that were due before the event and left after it.
    slack = 1 + math.ceil(late_ns / sent.period_ns)
    found = [_find_time(kind, flows, flow, sent, slack) for flow in range(len(flows.sent))]
    return Converged(
        tuple(sorted(one for one in found if isinstance(one, Fraction))),
        found.count("late"),
        found.count("left out"),
        max(sent.period_ns, late_ns),
        _count_lost_before(stream, sent, outcome.sample_ns) if kind == "link-down" else 0,
        sum(flows.elsewhere),
        _name(found, "late", sent),
        _name(found, "left out", sent),
    )


def _name(found: Sequence[_Found], what: str, sent: Sent) -> tuple[str, ...]:
    every = zip(found, sent.prefixes, strict=False)
    return tuple(islice((prefix for one, prefix in every if one == what), NAMED))


def join(found: Sequence[Converged]) -> Converged:
    """The prefixes of several streams together."""
    return Converged(
        tuple(sorted(time for one in found for time in one.times_ns)),
        sum(one.late for one in found),
        sum(one.left_out for one in found),
        max(one.resolution_ns for one in found),
        sum(one.lost_before for one in found),
        sum(one.elsewhere for one in found),
        tuple(name for one in found for name in one.late_named)[:NAMED],
        tuple(name for one in found for name in one.left_out_named)[:NAMED],
    )


_Found: TypeAlias = Fraction | str


def _find_time(kind: EventKind, flows: FlowCounts, flow: int, sent: Sent, slack: int) -> _Found:
    """The time of a prefix, ns; `late`: it did not converge; `left out`: it had nothing to.

    slack: frames that may be missing on either side of the event though they were due on the other.
    """
    before, last_ns = sent.count_before(flow), flows.last_ns[flow]
    here, elsewhere = flows.received[flow], flows.elsewhere[flow]
    is_forwarded = last_ns >= sent.tail_ns
    if kind == "announce":
        # What an announcement brings back came elsewhere before, or nowhere.
        missing = flows.sent[flow] - here
        if missing < before - slack:
            return "left out"
        return _time(missing - before, sent) if is_forwarded and here else "late"
    if not is_forwarded and last_ns + (1 + slack) * sent.period_ns < sent.event_ns:
        return "left out"
    if kind == "withdraw":
        # Silence for a few frames is enough here: what was withdrawn does not come back.
        if last_ns < sent.end_ns - (1 + slack) * sent.period_ns:
            # The first frame that came no more was due a period behind the last one that did.
            return max(last_ns + sent.period_ns - sent.event_ns, Fraction(0))
        # Where another port has the same routes it takes over.
        return _time(flows.sent[flow] - elsewhere - before, sent) if elsewhere else "late"
    if not is_forwarded:
        return "late"
    missing = flows.sent[flow] - here - elsewhere
    return _time(missing, sent) if missing <= flows.sent[flow] - before + slack else "left out"


def _time(frames: int, sent: Sent) -> Fraction:
    return max(frames, 0) * sent.period_ns


def _count_lost_before(stream: StreamResult, sent: Sent, sample_ns: int) -> int:
    """Frames lost of those that departed in the samples before the event."""
    samples = sent.event_ns // sample_ns
    return max(sum(stream.tx[:samples]) - sum(stream.arrived[:samples]), 0)


@dataclass(frozen=True)
class TableTime:
    """When the device's own table had its final count of routes, ns from the event: after the question of the
    last reading with another count, and by the answer of the first one with it."""

    after_ns: int
    by_ns: int

    @property
    def resolution_ns(self) -> int:
        """From one reading to the next."""
        return self.by_ns - self.after_ns


def find_table_time(series: Sequence[Series], event_ns: int, end_ns: int | None = None) -> TableTime | Reason:
    """How long the device's table took after an event, by the readings of its routes; or why that is unknown.

    Of several IP versions the one that took longest. event_ns, end_ns: from the begin of traffic;
    readings after the end say nothing, as a link that was cut is up again.
    """
    counted = [one for one in series if one.source == ROUTES and one.subject == TABLE]
    if not any(one.values for one in counted):
        missed = next((one.missed[0].reason for one in counted if one.missed), None)
        return RoutesNotCounted(missed)
    found = [_find_change(one, event_ns, end_ns) for one in counted if one.values]
    times = [one for one in found if isinstance(one, TableTime)]
    reasons = [one for one in found if isinstance(one, Reason) and not isinstance(one, TableUnchanged)]
    if reasons or not times:
        return next(iter(reasons or [one for one in found if isinstance(one, Reason)]))
    return max(times, key=lambda one: one.by_ns)


def _find_change(series: Series, event_ns: int, end_ns: int | None = None) -> TableTime | Reason:
    readings = [one for one in list_readings(series) if end_ns is None or one.answered_ns <= end_ns]
    routes = [one.routes for one in readings]
    before = [one for one in readings if one.answered_ns <= event_ns]
    if not before or len(before) == len(readings):
        return ChangeNotSeen(len(readings))
    last_other = max((place for place, count in enumerate(routes) if count != routes[-1]), default=None)
    if last_other is None:
        return TableUnchanged(routes[-1])
    if last_other == len(routes) - 2:
        # Whether that was the last change, no later reading says.
        return TableStillChanging(routes[-2], routes[-1])
    if last_other + 1 < len(before):
        return TableUnchanged(routes[-1])
    after_ns = max(readings[last_other].asked_ns - event_ns, 0)
    return TableTime(after_ns, readings[last_other + 1].answered_ns - event_ns)


@dataclass(frozen=True)
class Reading:
    """A reading of the number of routes; ns from the begin of traffic."""

    asked_ns: int
    answered_ns: int
    routes: int


def list_readings(series: Series) -> Iterator[Reading]:
    """The readings of a series, in order of time."""
    took = series.took_ns or (0,) * len(series.values)
    for at_ns, took_ns, routes in zip(series.times_ns, took, series.values, strict=True):
        yield Reading(at_ns - took_ns // 2, at_ns + took_ns - took_ns // 2, routes)


def compare_planes(found: Converged, table: TableTime | Reason) -> Reason | None:
    """Whether forwarding and the device's table changed at the same time, within the sum of their
    resolutions; or why that is unknown. None: forwarding did not converge."""
    if found.last_ns is None:
        return None
    if isinstance(table, Reason):
        return table
    within_ns = found.resolution_ns + table.resolution_ns
    apart_ns = table.by_ns - found.last_ns
    if abs(apart_ns) <= within_ns:
        return PlanesAgree(abs(apart_ns), within_ns)
    return PlanesDiffer(apart_ns > 0, abs(apart_ns), within_ns, apart_ns < 0 < found.elsewhere)
