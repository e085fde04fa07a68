"""Soak: one load for hours, every loss dated; in parts, so that a killed run loses one part at most."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from itertools import accumulate

from pydantic import Field, model_validator

from netdyno.errors import Problem, counted
from netdyno.methods.parts import carrier, failures, rows
from netdyno.methods.parts.failures import Failure
from netdyno.methods.parts.procedure import (
    PAUSE_NS,
    Parameters,
    Procedure,
    clock,
    find_shortfall,
    load_begin_ns,
)
from netdyno.methods.reasons.common import AtLoad, LostOf
from netdyno.methods.reasons.outages import (
    EventsCut,
    FailuresLeftOut,
    MorePartsShort,
    PartsPreempted,
    SoakClean,
    SoakPaused,
    Undated,
)
from netdyno.stats.carrier import SLACK_NS, CarrierSpan, ahead_ns, spans
from netdyno.stats.intervals import loss_bound
from netdyno.stats.losses import LossEvent, events
from netdyno.values import number as printed
from netdyno.values.finding import Cell, Figure, Result, Table, Value, columns
from netdyno.values.interval import intervals
from netdyno.values.kind import ValueKind
from netdyno.values.load import Frames, Observe, Trial
from netdyno.values.method import Method
from netdyno.values.number import milliseconds
from netdyno.values.outcome import Gap, Outcome, StreamResult
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import Duration, FrameRate, Percent, PositiveDuration, PositiveLoad

HOUR_NS = 3600 * 10**9
MOST_EVENTS = 1000
"""Events in their table: what a reader can take in; the further ones are counted."""
MOST_ROWS = 10_000
"""Rows of a table up to which each stream has its own; above, one row is of all together."""
MOST_PARTS = 10_000
MOST_SHORT = 10
"""Parts in which the tester fell short that are noted one by one; the further ones are counted."""
NEAR_NS = 100_000_000
"""Losses no further apart than this are one gap in a part in which a member dies."""
FINE_NS = tuple(one * 1_000_000 for one in (10, 20, 50, 100, 200, 500))
"""Lengths of a sample of a part in which a member dies: the first that makes few enough."""
MOST_FINE = 500_000
"""Samples of all streams in all these parts: 120 MB where they are one part."""
GAPS = 1000
"""Gaps of a stream that are dated in a part; those nearer to each other than an event's are one."""

LOSS_RATIO = ValueKind(
    "loss ratio",
    "share",
    "the share of all frames of the soak that did not come back intact",
    goal="loss <= 0.1%",
)
LOSS_EVENTS = ValueKind(
    "loss events",
    "",
    "stretches of lost frames, those no further apart than `apart` counted as one",
    good="less",
)


class SoakParameters(Parameters):
    """Parameters of the soak."""

    load: PositiveLoad = PositiveLoad(Percent(Fraction(9, 10)))
    """The load, held all the time. Where all classes of a profile send by themselves there is none."""
    duration: PositiveDuration = PositiveDuration.of_ns(12 * HOUR_NS)
    """How long it is held, pauses not counted."""
    part: Duration = Duration.of_ns(HOUR_NS // 6)
    """It is made of parts of this length, each kept as it ends; `0s`: one part."""
    apart: PositiveDuration = PositiveDuration.of_ns(10**9)
    """Losses no further apart than this are one event."""
    interval: Duration = Duration.of_ns(0)
    """Give counts and latency of each interval of this length, a whole number of samples; `0s`: none."""
    failures: list[Failure] = Field(default=[], max_length=100)
    """Times in which a member of a LAG of the tester is dead: without carrier, or silent."""

    @model_validator(mode="after")
    def _possible(self) -> SoakParameters:
        # Counted, not listed: of parts of a microsecond there are more than memory has room for.
        count = -(-self.duration.ns // (self.part.ns or self.duration.ns))
        if count > MOST_PARTS:
            raise Problem(
                f"{count} parts of {self.part}, at most {MOST_PARTS}",
                "longer parts",
                at=("part",),
                code="too-many",
            )
        if self.interval.ns and self.duration.ns > MOST_ROWS * self.interval.ns:
            raise Problem(
                f"intervals of {self.interval} are more than {MOST_ROWS}",
                "a longer `interval`",
                at=("interval",),
                code="too-many",
            )
        if "part" in self.model_fields_set and self.part.ns > self.duration.ns:
            message = f"a part of {self.part} is longer than the whole soak of {self.duration}"
            raise Problem(
                message, "a shorter `part`, or `0s` for a soak of one", at=("part",), code="too-many"
            )
        borders = [0, *accumulate(self.parts)]
        for place, one in enumerate(self.failures):
            part = bisect_right(borders, one.at.ns)
            if part == len(borders) or one.ends_ns > borders[part]:
                raise Problem(
                    f"from {one.at} on for {one.lasts} is not within a part of the soak",
                    "an earlier or shorter one; or `part: 0s`, a soak of one part",
                    at=("failures", place),
                    code="out-of-range",
                )
            again = next(
                (
                    other
                    for other in self.failures[:place]
                    if other.member == one.member
                    if other.at.ns <= one.ends_ns and one.at.ns <= other.ends_ns
                ),
                None,
            )
            if again is not None:
                raise Problem(
                    f"`{one.member}` dies at {one.at}, and is dead from {again.at} on for {again.lasts}",
                    "a later one",
                    at=("failures", place),
                    code="conflict",
                )
        return self

    def scaled(self, scale: Fraction) -> SoakParameters:
        """As of all parameters, failures with them."""
        found: SoakParameters = super().scaled(scale)
        return found.model_copy(update={"failures": [one.scaled(scale) for one in self.failures]})

    @property
    def parts(self) -> list[int]:
        """The lengths of the parts, ns: all of `part`, the last one of the rest."""
        length = self.part.ns or self.duration.ns
        count, rest = divmod(self.duration.ns, length)
        return [length] * count + [rest] * (rest > 0)


EVENTS = columns(
    "event | stream | lost: frames | first lost: at | last lost: at | first lost, clock"
    " | last lost, clock | part | first frame | last frame | no carrier"
)
TOTALS = columns(
    "stream",
    *rows.COUNTED,
    "loss at most: share | events | duplicates: frames | out of order: frames | corrupted: frames",
    *rows.TIMED,
)
INTERVALS = columns(
    "from: at | stream | sent: frames | received: frames | lost: frames | p50: ns | p99: ns | max: ns"
    " | sent late: ns"
)
PARTS = columns(
    "part | from: at | begun, clock | load paused before: ns | stream",
    *rows.COUNTED,
    "p99: ns | max: ns | remark",
)


@dataclass(frozen=True)
class _Part:
    """A part as it went. begin_ns: in the soak, pauses not counted."""

    number: int
    begin_ns: int
    outcome: Outcome
    short: Reason | None
    paused_ns: int | None
    """How long no load was offered before it; None: the first one, or unknown."""

    @property
    def pause_ns(self) -> int:
        """The longest time in which the tester did nothing while it was to send, if that was long."""
        gap = self.outcome.health.longest_gap_ns
        return gap if gap > PAUSE_NS else 0

    @property
    def remark(self) -> str:
        """What the tester did not do as it should."""
        paused = f"the tester paused for {milliseconds(self.pause_ns)}" if self.pause_ns else ""
        return "; ".join(map(str, filter(None, (self.short, paused))))

    def clock(self, at_ns: int) -> str | None:
        """The time of day, UTC, `at_ns` after this part's load began; None in virtual time."""
        return clock(self.outcome, at_ns)


def soak(parameters: SoakParameters, situation: Situation) -> Method:
    """Holds the load; reports the losses over time and the latency of all parts.

    Parts are trials of their own: drained, read and kept. Between two of them the load pauses, and how long
    is said, for what a device does in such a pause (empty a queue, cool down) it does not do under load.
    """
    load = parameters.load.amount if situation.own_fps is None else FrameRate(situation.own_fps)
    fps = situation.fps(load)
    lengths = parameters.parts
    parts: list[_Part] = []
    loads = {length: Frames.steady(load, length) for length in set(lengths)}
    bridge = _count_frames_between(parameters.apart.ns, situation, fps)
    observe = Observe(gaps=GAPS, bridge=bridge, interval_ns=parameters.interval.ns)
    # What was lost as a member died is not one with what was lost as it came back.
    near = _count_frames_between(min(parameters.apart.ns, NEAR_NS), situation, fps)
    finer = replace(observe, bridge=near)
    named = {one.port for one in situation.behind}
    carrying = [one for one in parameters.failures if one.member in named]
    begins = list(accumulate(lengths, initial=0))[:-1]
    fatal = [
        failures.find_within(carrying, begin, begin + length)
        for begin, length in zip(begins, lengths, strict=True)
    ]
    dying_ns = sum(length for length, dying in zip(lengths, fatal, strict=True) if dying)
    sample_ns = _find_fine_sample(dying_ns * len(situation.streams), parameters.interval.ns)
    for number, (length, begin, dying) in enumerate(zip(lengths, begins, fatal, strict=True), 1):
        outcome = yield Trial(
            f"part {number} of {len(lengths)}",
            failures.spare_dead(loads[length], load, dying, begin, situation),
            observe=finer if dying else observe,
            stands=True,
            counts_carrier_losses=True,
            begin_ns=begin,
            sample_ns=sample_ns if dying else None,
            events=failures.list_events(dying, begin),
        )
        paused = _find_pause(parts[-1].outcome, outcome) if parts else None
        parts.append(_Part(number, begin, outcome, find_shortfall(outcome, length), paused))
    return _result(parameters, situation, parts, lengths)


def _find_fine_sample(total_ns: int, interval_ns: int) -> int | None:
    """The shortest sample of parts in which members die; None: there would be too many of them. total_ns: of
    these parts, each stream's by itself."""
    few = (one for one in FINE_NS if total_ns <= MOST_FINE * one and interval_ns % one == 0)
    return next(few, None)


def _count_frames_between(apart_ns: int, situation: Situation, fps: Fraction) -> int:
    """Frames that the slowest stream sends between two losses so far apart: not counting these two."""
    share = min(situation.share(name) for name in situation.streams)
    return max(int(fps * share * apart_ns / 10**9) - 1, 0)


def _find_pause(before: Outcome, after: Outcome) -> int | None:
    """From the end of the load of one part to the begin of the next one's."""
    ended = load_begin_ns(before) + sum(one.duration_ns for one in before.phases if one.name == "traffic")
    if before.started is not None and after.started is not None:
        between = (after.started - before.started) // timedelta(microseconds=1) * 1000
        return between + load_begin_ns(after) - ended
    if before.started is not after.started:
        return None
    # In virtual time nothing passes between two trials.
    end = max(phase.start_ns + phase.duration_ns for phase in before.phases)
    return end - ended + load_begin_ns(after)


def _result(
    parameters: SoakParameters, situation: Situation, parts: Sequence[_Part], lengths: Sequence[int]
) -> Result:
    outcomes = [part.outcome for part in parts]
    without = spans((length, one.carrier_losses) for length, one in zip(lengths, outcomes, strict=True))
    found = _events(parameters, parts, without)
    count = found.count
    totals, values = [], []
    every = [stream for part in parts for stream in part.outcome.streams]
    of: dict[str, list[StreamResult]] = {"sum": every}
    for stream in every:
        of.setdefault(stream.name, []).append(stream)
    for scope in (*situation.streams, "sum"):
        streams = of.get(scope, [])
        if scope == "sum" and len(situation.streams) == 1:
            values.append(_ratio(parameters, scope, streams))
            continue
        theirs = count if scope == "sum" else found.of[scope]
        values.append(_ratio(parameters, scope, streams))
        values.append(Value(LOSS_EVENTS, scope, Fraction(theirs)))
        totals.append(_totals(scope, streams, theirs, parameters.duration.ns))
    values.append(carrier.number(without, outcomes))
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=tuple(range(len(parts))),
        notes=tuple(_notes(parameters, situation, parts, count, found.undated)),
        headlines=(LOSS_RATIO.name,),
        tables=(
            Table(
                "Loss events",
                EVENTS,
                tuple(found.rows),
                "What was lost, by when it was due to depart. Losses no further apart than"
                f" {printed.duration(parameters.apart.ns)} are one event. Times are of the load, pauses"
                " between parts not counted; the clock is UTC; frames of a stream are numbered from 0 in each"
                " part. An event that goes"
                f" on over a border of parts has rows of each. Beyond {MOST_ROWS} rows an event of several"
                " streams has a single one. *No carrier*: ports that had none meanwhile.",
            ),
            *carrier.tables(without[:MOST_EVENTS], found.meanwhile, _clock(parts)),
            *failures.tables(
                [(part.begin_ns, part.outcome) for part in parts], situation, parameters.apart.ns
            ),
            Table(
                "Soak",
                TOTALS,
                tuple(totals),
                "All parts together. Of a stream that lost none of N frames, the loss ratio is at most 3/N"
                " at 95 % (rule of three). A percentile p of fewer than 10 / (1 - p) frames is not given.",
            ),
            Table("Parts of the soak", PARTS, tuple(_parts(situation, parts, lengths))),
            *_interval_tables(parameters, parts),
        ),
    )


def _interval_tables(parameters: SoakParameters, parts: Sequence[_Part]) -> Iterator[Table]:
    """The intervals, if they were asked for."""
    interval_ns = parameters.interval.ns
    rows_ = tuple(
        (
            Fraction(part.begin_ns + one.number * interval_ns),
            stream.name,
            *map(Fraction, (found.sent, found.received, found.lost)),
            *(None if time is None else Fraction(time) for time in (found.p50_ns, found.p99_ns)),
            Fraction(found.latency.max_ns) if found.latency.count else None,
            Fraction(found.late_ns),
        )
        for part in parts
        for one in intervals(part.outcome, interval_ns)
        for stream, found in zip(part.outcome.streams, one.streams, strict=True)
    )
    if rows_:
        yield Table(
            "Intervals",
            INTERVALS,
            rows_,
            "Sent, and received of these whenever they arrived; latency of what arrived in the interval."
            " *Sent late*: the most that a frame left after it was due.",
            Figure("from", ("p50", "p99", "max"), by="stream" if len(parts[0].outcome.streams) > 1 else None),
        )


def _ratio(parameters: SoakParameters, scope: str, streams: Sequence[StreamResult]) -> Value:
    sent, lost, ratio = sum(one.offered for one in streams), rows.count_lost(streams), rows.loss(streams)
    bound = _bound_loss(streams)
    not_taken = rows.count_refused(streams)
    note = rows.note_loss(AtLoad(str(parameters.load)), streams) if not_taken else LostOf(lost, sent)
    return Value(LOSS_RATIO, scope, ratio, ratio, ratio if bound is None else bound, note, of_frames=sent)


def _bound_loss(streams: Sequence[StreamResult]) -> Fraction | None:
    """The most the loss ratio can be at 95 % where it is 0; else, or if none was sent, None."""
    return loss_bound(sum(one.offered for one in streams)) if rows.loss(streams) == 0 else None


def _totals(scope: str, streams: Sequence[StreamResult], count: int, duration_ns: int) -> tuple[Cell, ...]:
    wrong = (
        sum(one.duplicates for one in streams),
        sum(one.out_of_order for one in streams),
        sum(one.corrupted for one in streams),
    )
    return (
        scope,
        *rows.cells_of_counts(streams, duration_ns),
        _bound_loss(streams),
        Fraction(count),
        *map(Fraction, wrong),
        *rows.cells_of_times(streams),
    )


def _clock(parts: Sequence[_Part]) -> Callable[[int, int], str | None]:
    """What tells the time of day of a part, from 0, and a time of the whole load, ns."""
    return lambda number, at_ns: parts[number].clock(at_ns - parts[number].begin_ns)


@dataclass
class _Events:
    """rows: of the first events. count: how many there are. of: in how many each stream lost frames. undated:
    lost frames without a date. meanwhile: those lost in the events that each carrier loss falls in."""

    rows: list[tuple[Cell, ...]] = field(default_factory=list)
    count: int = 0
    of: Counter[str] = field(default_factory=Counter)
    undated: int = 0
    meanwhile: Counter[int] = field(default_factory=Counter)


def _events(parameters: SoakParameters, parts: Iterable[_Part], without: Sequence[CarrierSpan]) -> _Events:
    """The loss events.

    What goes on behind the border of two parts is the same event: the load paused, and its time as well.
    """
    found = _Events()
    end_ns: int | None = None
    names: set[str] = set()
    for part in parts:
        losses = events(part.outcome.streams, parameters.apart.ns)
        found.undated += losses.undated
        dated = _Dated(part.outcome)
        ports_of = _Carrierless(part, without)
        for event in losses.events:
            if end_ns is None or part.begin_ns + event.first_ns - end_ns > parameters.apart.ns:
                found.count += 1
                names = set()
            end_ns = part.begin_ns + event.last_ns
            found.of.update(name for name in event.streams if name not in names)
            names.update(event.streams)
            places = ports_of.places(event)
            found.meanwhile.update(dict.fromkeys(places, event.frames))
            if found.count <= MOST_EVENTS:
                ports = ", ".join(dict.fromkeys(without[place].port for place in places))
                rows = _event_rows(part, dated, found.count, event, MOST_ROWS - len(found.rows))
                found.rows += ((*row, ports or None) for row in rows)
    return found


class _Carrierless:
    """The times without carrier that loss events of a part fall in."""

    def __init__(self, part: _Part, without: Sequence[CarrierSpan]) -> None:
        self._begin_ns = part.begin_ns
        is_real = part.outcome.started is not None
        self._ahead_ns = ahead_ns(part.outcome.streams, is_real=is_real)
        self._behind_ns = SLACK_NS if is_real else 0
        self._near = [
            (place, span) for place, span in enumerate(without) if span.first <= part.number - 1 <= span.last
        ]

    def places(self, event: LossEvent) -> list[int]:
        """Their places."""
        first_ns, last_ns = self._begin_ns + event.first_ns, self._begin_ns + event.last_ns
        return [
            place
            for place, span in self._near
            if span.touches(first_ns, last_ns, self._ahead_ns, self._behind_ns)
        ]


class _Dated:
    """The gaps of a part's streams, by time."""

    def __init__(self, outcome: Outcome) -> None:
        self._gaps = {
            one.name: sorted(one.gaps.gaps, key=lambda gap: gap.first_ns)
            for one in outcome.streams
            if one.gaps is not None
        }
        self._begin = {name: [gap.first_ns for gap in gaps] for name, gaps in self._gaps.items()}
        self._place = {name: place for place, name in enumerate(self._gaps)}

    def streams(self, event: LossEvent) -> list[str]:
        """Those that lost frames in it, in the order of the trial."""
        return sorted(event.streams, key=self._place.__getitem__)

    def gaps(self, name: str, event: LossEvent) -> list[Gap]:
        """The gaps of a stream in a loss event."""
        begin = self._begin[name]
        return self._gaps[name][bisect_left(begin, event.first_ns) : bisect_right(begin, event.last_ns)]


def _event_rows(
    part: _Part, dated: _Dated, number: int, event: LossEvent, room: int
) -> Iterator[tuple[Cell, ...]]:
    """An event, a row for each stream that lost frames in it; a single one if there is no room for them."""
    if 1 < len(event.streams) > room:
        yield (
            Fraction(number),
            counted(len(event.streams), "stream"),
            Fraction(event.frames),
            *_when(part, event.first_ns, event.last_ns),
            Fraction(part.number),
            None,
            None,
        )
        return
    for name in dated.streams(event):
        gaps = dated.gaps(name, event)
        first, last = gaps[0], gaps[-1]
        yield (
            Fraction(number),
            name,
            Fraction(sum(one.frames for one in gaps)),
            *_when(part, first.first_ns, last.last_ns),
            Fraction(part.number),
            Fraction(first.first),
            Fraction(last.last),
        )


def _when(part: _Part, first_ns: int, last_ns: int) -> tuple[Cell, ...]:
    """Times in the soak, and UTC."""
    return (
        Fraction(part.begin_ns + first_ns),
        Fraction(part.begin_ns + last_ns),
        part.clock(first_ns),
        part.clock(last_ns),
    )


def _parts(
    situation: Situation, parts: Sequence[_Part], lengths: Sequence[int]
) -> Iterator[tuple[Cell, ...]]:
    together = len(situation.streams) > 1 and len(parts) * len(situation.streams) > MOST_ROWS
    for part, length in zip(parts, lengths, strict=True):
        paused = None if part.paused_ns is None else Fraction(part.paused_ns)
        head = (Fraction(part.number), Fraction(part.begin_ns), part.clock(0), paused)
        for scope, streams in rows.scopes(part.outcome):
            if (scope == "sum") != together:
                continue
            times = rows.cells_of_times(streams)
            at = [column.name for column in rows.TIMED]
            worst = (times[at.index("p99")], times[at.index("max")])
            yield (*head, scope, *rows.cells_of_counts(streams, length), *worst, part.remark)


def _notes(
    parameters: SoakParameters, situation: Situation, parts: Sequence[_Part], count: int, undated: int
) -> Iterator[Reason]:
    absent = {one.member for one in parameters.failures} - {one.port for one in situation.behind}
    if absent:
        yield FailuresLeftOut(tuple(sorted(absent)))
    if len(parts) > 1:
        pauses = [part.paused_ns for part in parts[1:] if part.paused_ns is not None]
        unknown = len(parts) - 1 - len(pauses)
        yield SoakPaused(len(parts), max(pauses, default=0), sum(pauses), unknown)
    if count > MOST_EVENTS:
        yield EventsCut(count, MOST_EVENTS)
    if undated:
        yield Undated(undated, GAPS)
    short = [(part.number, part.short) for part in parts if part.short is not None]
    for number, why in short[:MOST_SHORT]:
        yield About(f"part {number}", why)
    if len(short) > MOST_SHORT:
        yield MorePartsShort(len(short) - MOST_SHORT)
    paused = [part.pause_ns for part in parts if part.pause_ns]
    if paused:
        yield PartsPreempted(len(paused), len(parts), PAUSE_NS, max(paused))
    if not rows.loss([stream for part in parts for stream in part.outcome.streams]):
        yield SoakClean(parameters.duration.ns)


def _fits(parameters: SoakParameters, situation: Situation) -> Problem | None:
    """The problem if there is a load for streams that have rates of their own, or a failure of what is no
    member and whose link the device does not take down."""
    if situation.own_fps is not None and "load" in parameters.model_fields_set:
        return Problem(
            f"every class has a time of its own to send, and a load of {parameters.load} is of none",
            "leave `load` out, or add a class that has it: `default: {}`",
            at=("load",),
            code="conflict",
        )
    ports = [one.port for one in situation.behind]
    members = [ports[number] for lag in situation.lags for number in lag]
    able = {"silence": members, "carrier": ports if situation.asked else members}
    for place, one in enumerate(parameters.failures):
        if one.member in able[one.by]:
            continue
        known = ", ".join(f"`{name}`" for name in able[one.by])
        lacks = "give a link several interfaces: `lag: {interfaces: [eth2, eth3]}`"
        return Problem(
            f"`{one.member}` is no member of a LAG of the tester",
            f"one of {known}" if known else lacks,
            at=("failures", place, "member"),
            code="unknown-name",
        )
    return None


METHOD = Procedure(
    name="soak",
    title="Soak",
    doc="One load for hours: every loss is dated, and a run that was killed goes on where it was.",
    standard="",
    like="the loss of RFC 2544 section 26.3 and the latency of RFC 8238, over hours",
    parameters=SoakParameters,
    groups=True,
    is_in_parts=True,
    sends_by_itself=True,
    start=soak,
    fits=_fits,
    traffic_seconds=lambda parameters: parameters.duration.amount,
    trials=lambda parameters: len(parameters.parts),
    sample=PositiveDuration.of_ns(10**9),
    values=(LOSS_RATIO, LOSS_EVENTS, carrier.CARRIER_LOSSES),
)
