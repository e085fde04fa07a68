"""Members of LAGs that die under load, by their carrier or in silence, and what that cost.

Where LACP falls silent the link stays up: what still comes by the member shows how long the device sends
there, and would be lost if the member had died without a trace. Without a carrier nothing comes, and what the
device still sent there is lost. The tester sends no test frames on a member while it is dead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from netdyno.methods.parts.procedure import Parameters
from netdyno.values.failures import (
    BY,
    CAME,
    DIES,
    LASTED,
    LASTED_BACK,
    LEFT,
    LOST,
    LOST_BACK,
    MEMBER,
    RETURNS,
    TABLE,
    UNTIL,
    find_return,
)
from netdyno.values.finding import Cell, Table, columns
from netdyno.values.load import STEADY, Event, EventKind, Frames, Segment
from netdyno.values.units import FrameRate, PositiveDuration

if TYPE_CHECKING:
    from netdyno.values.outcome import Gap, Outcome, PortResult, StreamResult
    from netdyno.values.situation import Situation
    from netdyno.values.units import Rate

COLUMNS = columns(
    f"{MEMBER} | {BY} | died: at | {CAME}: frames | {LEFT}: ns | {UNTIL}: frames"
    f" | {LOST}: frames | {LASTED}: ns | back: at | first frame after: ns | {LOST_BACK}: frames"
    f" | {LASTED_BACK}: ns | own lost: frames"
)
CAPTION = (
    "When a member died, and the frames that came by it in the second before. Then how long the device sent"
    " there, and how many frames came meanwhile: in silence by samples, without a carrier by the last frame"
    " lost. Lost are frames of the LAG's streams, both ways, due between the death and the return, and how"
    " long they were lost: from the first to the last of each loss event. Then when the member was back, the"
    " first frame on it, and the frames lost from there to the next failure."
    " Own lost are frames that the tester sent on this member itself, in no other column."
)
BEFORE_NS = 10**9
"""A member that no frame came by for so long before it died had none to lose."""
RESTS_NS = 3 * 10**9
"""A member that is back is sent on after so long: LACP waits 2 s for further members (802.1AX 6.4.15)."""
BEFORE, DEAD, BACK = STEADY, "member dead", "member back"
"""Segments of the stream of a member that dies."""


class Failure(Parameters):
    """A time in which a member of a LAG of the tester is dead."""

    member: str = Field(max_length=64, examples=["east.eth3"])
    """The member, by the name of its port."""
    by: Literal["carrier", "silence"] = "carrier"
    """How it dies: the tester switches its interface off, or its LACP falls silent there."""
    at: PositiveDuration
    """When it dies, from the begin of the load."""
    lasts: PositiveDuration
    """For how long."""

    @property
    def ends_ns(self) -> int:
        """When it is back, from the begin of the load."""
        return self.at.ns + self.lasts.ns

    @property
    def kind(self) -> EventKind:
        """The event with which it dies."""
        return next(kind for kind, by in DIES.items() if by == self.by)


def find_within(failures: Sequence[Failure], begin_ns: int, end_ns: int) -> tuple[Failure, ...]:
    """Those of a part of the load, in order of time."""
    found = (one for one in failures if begin_ns <= one.at.ns and one.ends_ns <= end_ns)
    return tuple(sorted(found, key=lambda one: one.at.ns))


def list_events(failures: Sequence[Failure], begin_ns: int) -> tuple[Event, ...]:
    """The events of a trial in which these failures are, in order of time. begin_ns: of its load in the whole
    load."""
    found = (
        event
        for one in failures
        for event in (
            Event(one.at.ns - begin_ns, one.kind, one.member),
            Event(one.ends_ns - begin_ns, RETURNS[one.kind], one.member),
        )
    )
    return tuple(sorted(found, key=lambda event: event.at_ns))


def spare_dead(
    load: Frames, rate: Rate, failures: Sequence[Failure], begin_ns: int, situation: Situation
) -> Frames:
    """A steady load without what members would send while they are dead. rate: of the load."""
    loads = dict(load.loads)
    for stream, place in zip(situation.streams, situation.places, strict=False):
        own = [one for one in failures if one.member == situation.behind[place.tx].port]
        if own:
            full = FrameRate(situation.fps(rate) * place.share)
            loads[stream] = tuple(_rests(own, full, begin_ns, load.duration_ns))
    return Frames(load.segments, loads)


def _rests(own: Sequence[Failure], full: Rate, begin_ns: int, end_ns: int) -> Iterator[Segment]:
    """The load of the stream of a member that dies. end_ns: of the load."""
    nothing, at_ns, name = FrameRate(Fraction(0)), 0, BEFORE
    for place, one in enumerate(own):
        next_ns = own[place + 1].at.ns - begin_ns if place + 1 < len(own) else end_ns
        died_ns, back_ns = one.at.ns - begin_ns, min(one.ends_ns - begin_ns + RESTS_NS, next_ns)
        if died_ns > at_ns:
            yield Segment(name, died_ns - at_ns, full, full)
        yield Segment(DEAD, back_ns - died_ns, nothing, nothing)
        at_ns, name = back_ns, BACK
    if end_ns > at_ns:
        yield Segment(name, end_ns - at_ns, full, full)


def tables(parts: Sequence[tuple[int, Outcome]], situation: Situation, apart_ns: int) -> Iterator[Table]:
    """A row for each failure; none if there was none. parts: when each began in the load, and what came.
    apart_ns: losses no further apart are one."""
    found = [row for begin_ns, outcome in parts for row in _rows(begin_ns, outcome, situation, apart_ns)]
    if found:
        yield Table(TABLE, COLUMNS, tuple(found), CAPTION)


@dataclass(frozen=True)
class _Lost:
    """Frames that some streams lost in a span of time. events: when the first and the last frame of each loss
    event were due. lasted_ns: of all events together, with the time of their last frames."""

    frames: int = 0
    events: tuple[tuple[int, int], ...] = ()
    lasted_ns: Fraction = Fraction(0)

    def find_end(self, at_ns: int, apart_ns: int) -> int | None:
        """When the last frame was due of what was lost at a time; None: nothing was."""
        return next((last for first, last in self.events[:1] if first - at_ns <= apart_ns), None)


def _rows(begin_ns: int, outcome: Outcome, situation: Situation, apart_ns: int) -> Iterator[tuple[Cell, ...]]:
    ports = {port.name: number for number, port in enumerate(outcome.ports)}
    happened = sorted(
        (one for one in outcome.happened if one.event.port in ports), key=lambda one: one.from_ns
    )
    # What was lost is put down to the last thing that befell a member before it.
    ends = {id(one): after.from_ns for one, after in pairwise(happened)}
    sample_ns = outcome.sample_ns
    for place, died in enumerate(happened):
        if died.event.kind not in DIES:
            continue
        behind = happened[place + 1 :]
        back = find_return(died.event, behind)
        if back is None:
            continue
        assert died.event.port is not None, "an event of a member"
        number = ports[died.event.port]
        port, lag = outcome.ports[number], situation.lag_of(number)
        own, others, out = [], [], []
        for stream, where in zip(outcome.streams, situation.places, strict=False):
            if where.tx == number:
                own.append(stream)
            elif where.tx in lag or where.rx in lag:
                others.append(stream)
            if where.rx in lag:
                out.append(stream)
        span = (died.from_ns, ends.get(id(died)))
        gone = _lost(others, outcome, span, apart_ns)
        late = _lost(others, outcome, (back.from_ns, ends.get(id(back))), apart_ns)
        again = (one for one in behind if one.event.kind in DIES and one.event.port == port.name)
        next_ns = next((one.from_ns for one in again), None)
        silent = died.event.kind == "lacp-silent"
        at_ns = died.until_ns if silent else died.from_ns
        # What the tester sent into the LAG and the device lost says nothing of where the device sends.
        end_ns = _lost(out, outcome, span, apart_ns).find_end(at_ns, apart_ns)
        left = (
            _last_frame(port, at_ns, back.from_ns, sample_ns)
            if silent
            else (None if end_ns is None else Fraction(max(end_ns - at_ns, 0)), None)
        )
        first_ns = _first_frame(port, back.until_ns, sample_ns)
        yield (
            port.name,
            DIES[died.event.kind],
            Fraction(begin_ns + at_ns),
            Fraction(sum(port.rx[max(at_ns - BEFORE_NS, 0) // sample_ns : at_ns // sample_ns])),
            *left,
            Fraction(gone.frames),
            gone.lasted_ns,
            Fraction(begin_ns + back.until_ns),
            None if first_ns is None else Fraction(first_ns),
            Fraction(late.frames),
            late.lasted_ns,
            Fraction(_lost(own, outcome, (died.from_ns, next_ns), apart_ns).frames),
        )


def _lost(
    streams: Sequence[StreamResult], outcome: Outcome, span: tuple[int, int | None], apart_ns: int
) -> _Lost:
    """What streams lost of the frames that were due in a span of time, or on their way when it began.

    span: None, to the end.
    """
    on_way_ns = max((one.latency.max_ns for one in streams if one.latency is not None), default=0)
    on_way_ns += outcome.health.latest_departure_ns
    from_ns, until_ns = span
    gaps = [
        (gap, one)
        for one in streams
        for gap in (() if one.gaps is None else one.gaps.gaps)
        if from_ns - on_way_ns <= gap.first_ns
        if until_ns is None or gap.first_ns < until_ns - on_way_ns
    ]
    found: list[tuple[int, int]] = []
    for gap, _ in sorted(gaps, key=lambda one: one[0].first_ns):
        if found and gap.first_ns - found[-1][1] <= apart_ns:
            found[-1] = (found[-1][0], max(found[-1][1], gap.last_ns))
        else:
            found.append((gap.first_ns, gap.last_ns))
    period = max((_period(*one, outcome.sample_ns) for one in gaps), default=Fraction(0))
    lasted_ns = sum((last - first + period for first, last in found), Fraction(0))
    return _Lost(sum(gap.frames for gap, _ in gaps), tuple(found), lasted_ns)


def _period(gap: Gap, stream: StreamResult, sample_ns: int) -> Fraction:
    """From one frame of a stream to the next, where it lost some, ns."""
    frames = gap.last - gap.first
    if frames:
        return Fraction(gap.last_ns - gap.first_ns, frames)
    place = min(gap.first_ns // sample_ns, len(stream.tx) - 1)
    return Fraction(sample_ns, max(stream.tx[place], 1))


def _last_frame(port: PortResult, from_ns: int, until_ns: int, sample_ns: int) -> tuple[Cell, Cell]:
    """How long frames came by a member from a time on, ns, and how many; the sample it fell silent in is not
    counted. No time: they came until the end, or none came."""
    first, end = from_ns // sample_ns + 1, until_ns // sample_ns
    came = port.rx[first:end]
    last = next((place for place in reversed(range(len(came))) if came[place]), None)
    if last is None or last == len(came) - 1:
        return None, Fraction(sum(came))
    return Fraction((first + last + 1) * sample_ns - from_ns), Fraction(sum(came))


def _first_frame(port: PortResult, from_ns: int, sample_ns: int) -> int | None:
    """How long after a time the first frame came by a member; None: none came."""
    first = from_ns // sample_ns
    found = next((place for place, count in enumerate(port.rx[first:], first) if count), None)
    return None if found is None else max((found + 1) * sample_ns - from_ns, 0)
