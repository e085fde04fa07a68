"""The ramp: one trial that tries every load, and shows the knee.

After the load test of Coloclue and IPng: a warm-up at a low rate, a linear ramp-up to the target, a hold.
A survey and not a benchmark: a load is held for one sample only, so its numbers are called *ramp max
Rx* and *knee*, never throughput (RFC 1242 section 3.17 keeps that word for zero loss).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from netdyno.errors import Problem
from netdyno.methods.ndr import METHOD as NDR
from netdyno.methods.ndr import NdrParameters, check_names, knees, no_room, search
from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import AWAY_NS, Allowed, Parameters, Procedure, Shape, find_shortfall
from netdyno.methods.parts.samples import Sample, find_on_schedule, inside, on_schedule, scopes, windows
from netdyno.methods.reasons.common import LostOf, NothingSent
from netdyno.methods.reasons.ramps import (
    BehindThroughout,
    BestWindow,
    CorruptedAsLost,
    FullestWindow,
    HoldReceived,
    KeptUp,
    Knee,
    KneeAtStart,
    NoHold,
    NoKnee,
    NoKneeUpTo,
    NoneAtTheEnd,
    RampPreempted,
    RampShort,
    RampTooShort,
    SecondRamp,
    ShortRamp,
    Survey,
)
from netdyno.values.finding import Result, Value
from netdyno.values.kind import ValueKind
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome
from netdyno.values.rates import LONGEST_FRAME, WIRE_OVERHEAD
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, Load, Percent, PositiveDuration

MAX_RX_SHARE = 120
"""The best rate is taken over this part of the ramp-up."""

QUEUE_FRAMES = 1000
"""A queue of this length is taken as usual when saying how far queues move a knee."""

MIN_FRAMES = 1000
"""A rate is read from at least as many frames as this at line rate, so that one frame is 0.1 % of it."""

USUAL_THRESHOLD = Fraction(1, 1000)

WAITING = 2
"""More frames than these do not meet by chance: a queue grew."""

MAX_RX = ValueKind(
    "ramp max Rx",
    "fps",
    "the best rate received in ramp-up or hold with the tester on schedule, over at least 1,000 frames at"
    " line rate and 1/120 of the ramp-up; frames may be lost at it: it is no throughput",
    goal="ramp max Rx >= 14Mpps",
    role="best rate",
)
LINE_UTILISATION = ValueKind(
    "line utilisation",
    "ratio",
    "how full the line back was at most, by the sizes that were received; of mixes",
    role="line share",
)
KEPT_UP_TO = ValueKind(
    "kept up to",
    "fps",
    "the load up to which the tester kept its schedule; above it the ramp says nothing of the device",
    about="tester",
    role="schedule",
    label="tester kept its schedule to",
)
KNEE = ValueKind(
    "knee",
    "fps",
    "the load where loss sets in for good on the ramp-up",
    goal="knee >= 9Gbps",
    role="knee",
    closer="a longer `ramp`",
)
LOSS_AT_THE_END = ValueKind(
    "loss at the end",
    "ratio",
    "the share of frames lost in the hold, or in the last sample of a ramp without one",
    goal="loss <= 0.1%",
    role="loss at the end",
)
HOLD_RATE = ValueKind("hold rate", "fps", "the rate received over the whole hold", role="held rate")
VALUES = (MAX_RX, LINE_UTILISATION, KEPT_UP_TO, KNEE, LOSS_AT_THE_END, HOLD_RATE)


class WarmUp(Shape):
    """A constant low load before the ramp-up, so that caches, tables and governors are awake."""

    short_form: ClassVar[str] = r"^\S.* at \S.*$"
    short_examples: ClassVar[tuple[str, ...]] = ("30s at 1kpps",)
    misread = "is not a duration and a load", "write `30s at 1kpps`"

    duration: PositiveDuration
    load: Load

    @classmethod
    def parse_short(cls, text: str) -> Mapping[str, Any] | None:
        found = re.fullmatch(r"\s*(.+?)\s+at\s+(.+?)\s*", text)
        if not found:
            return None
        return {"duration": PositiveDuration.parse(found[1]), "load": Load.parse(found[2])}


class Rise(Shape):
    """The load rises linearly, from nothing unless a start is given."""

    short_form: ClassVar[str] = r"^\S.* to \S.*$"
    short_examples: ClassVar[tuple[str, ...]] = ("120s to 100%", "60s from 1Mpps to 5Mpps")
    misread = "is not a duration and a load to rise to", "write `120s to 100%`"

    duration: PositiveDuration
    start: Load = Field(default=Load(FrameRate(Fraction(0))), alias="from")
    end: Load = Field(alias="to")

    @classmethod
    def parse_short(cls, text: str) -> Mapping[str, Any] | None:
        found = re.fullmatch(r"\s*(.+?)(?:\s+from\s+(.+?))?\s+to\s+(.+?)\s*", text)
        if not found:
            return None
        parts: dict[str, Any] = {"duration": PositiveDuration.parse(found[1]), "to": Load.parse(found[3])}
        if found[2]:
            parts["from"] = Load.parse(found[2])
        return parts


class SearchFrom(NdrParameters, Shape):
    """A search from the knee, with the parameters of `ndr`; the ramp stands for its warm-up and its seed."""

    short_form: ClassVar[str] = r"^search$"
    short_examples: ClassVar[tuple[str, ...]] = ("search",)
    misread = "is not what can follow a ramp", "write `search`, or its parameters"

    @classmethod
    def parse_short(cls, text: str) -> Mapping[str, Any] | None:
        return {} if text.strip() == "search" else None


class RampParameters(Parameters):
    """Parameters of the ramp."""

    warmup: WarmUp | None = WarmUp(
        duration=PositiveDuration(Fraction(30)), load=Load(FrameRate(Fraction(1000)))
    )
    """A constant low load first: `30s at 1kpps`; `null` for none."""
    ramp: Rise = Rise(duration=PositiveDuration(Fraction(120)), to=Load(Percent(Fraction(1))))
    """The ramp-up: `120s to 100%`."""
    hold: PositiveDuration | None = PositiveDuration(Fraction(30))
    """How long to stay at the target; `null` for not at all."""
    threshold: Percent = Percent(USUAL_THRESHOLD)
    """The knee is where loss stays above this share of what was sent."""
    refine: PositiveDuration | None = None
    """A second ramp of that length, across the knee alone, which narrows it; `null` for none."""
    then: SearchFrom | None = None
    """`search`, or parameters of `ndr`: NDR and PDR, searched from the knee; `null` for none."""

    @property
    def searched(self) -> Mapping[str, Allowed]:
        """What the search behind it is for."""
        return {} if self.then is None else self.then.searched

    @model_validator(mode="after")
    def _names_apart(self) -> RampParameters:
        if self.then is not None:
            check_names(self.then.goals, VALUES, ("then", "goals"))
        return self


def ramp(parameters: RampParameters, situation: Situation) -> Method:
    """One trial: warm-up, rise, hold. Where asked for, a second one across the knee, and a search there."""
    trial = _trial(parameters)
    outcome = yield trial
    result = _read(parameters, situation, trial, outcome)
    across = None if parameters.refine is None else _across(result, parameters.refine, trial, situation)
    closer = None
    if across is not None:
        closer = yield across
        result = _refine_knees(result, parameters, situation, across, closer)
    if parameters.then is None:
        return result
    goals = parameters.then.goals
    found = knees(outcome, trial, situation, goals)
    if across is not None and closer is not None:
        near = knees(closer, across, situation, goals)
        found = {name: at if near[name] is None else near[name] for name, at in found.items()}
    target = situation.fps(parameters.ramp.end.amount)
    if target < situation.fps(parameters.then.maximum.amount):
        found = {name: target if at is None else at for name, at in found.items()}
    proven = yield from search(parameters.then, situation, found, first=1 if closer is None else 2)
    return replace(
        result,
        values=(*result.values, *proven.values),
        trials=proven.trials,
        notes=(*result.notes, *proven.notes),
        tables=proven.tables,
        standard=proven.standard,
        headlines=(*proven.headlines, *result.headlines),
        rests={**dict.fromkeys(result.headlines, result.trials), **proven.rests},
    )


def _trial(parameters: RampParameters) -> Trial:
    target = parameters.ramp.end.amount
    segments = []
    if parameters.warmup is not None:
        low = parameters.warmup.load.amount
        segments.append(Segment("warmup", parameters.warmup.duration.ns, low, low))
    segments.append(Segment("ramp", parameters.ramp.duration.ns, parameters.ramp.start.amount, target))
    if parameters.hold is not None:
        segments.append(Segment("hold", parameters.hold.ns, target, target))
    return Trial("ramp", Frames(tuple(segments)))


def _read(parameters: RampParameters, situation: Situation, trial: Trial, outcome: Outcome) -> Result:
    """The result of a ramp, from the samples of the ramp-up and the hold."""
    start = situation.fps(parameters.ramp.start.amount)
    target = situation.fps(parameters.ramp.end.amount)
    rise_ns = parameters.ramp.duration.ns
    threshold = parameters.threshold.amount
    corrupted = {stream.name: stream.corrupted for stream in outcome.streams}
    values: list[Value] = []
    for scope, samples in scopes(outcome, trial, situation):
        rise = inside(samples, trial, "ramp", outcome.sample_ns)
        hold = inside(samples, trial, "hold", outcome.sample_ns)
        on_time = find_on_schedule(rise)
        width = _window(scope, outcome.sample_ns, rise_ns, situation)
        latest_ns = outcome.health.latest_departure_ns
        best = _max_rx(scope, (rise, hold), width, outcome.sample_ns, situation, latest_ns)
        values.append(best)
        if situation.mixed_receivers:
            values.append(_line_utilisation(scope, (rise, hold), width, outcome.sample_ns, situation))
        values.append(_find_load_on_schedule(scope, on_time, len(rise), outcome.sample_ns))
        knee = _knee(scope, on_time, hold if on_time == rise else (), threshold, outcome.sample_ns)
        knee = _within_best(knee, best, on_time, width, outcome, situation, threshold)
        was_sent = any(sample.tx for sample in samples)
        values.append(replace(knee, note=NoKnee("late")) if not on_time and was_sent else knee)
        spoiled = any(corrupted[situation.streams[member]] for member in situation.members(scope))
        values.append(_loss_at_the_end(scope, hold or rise[-1:], spoiled, was_sent))
        values.append(_hold_rate(scope, hold, outcome.sample_ns, situation, latest_ns))
    notes: list[Reason] = [Survey(outcome.sample_ns)]
    if any(corrupted.values()):
        notes.append(CorruptedAsLost(tuple((name, count) for name, count in corrupted.items() if count)))
    held = _find_queue_shift(target - start, rise_ns)
    # Worth a word only beside a knee whose bounds do not reach further than that already.
    knees = [one for one in values if one.kind is KNEE and one.scope in situation.streams and one.number]
    if held * 100 > situation.line_fps and any(
        one.low is not None and one.high is not None and one.high - one.low < held for one in knees
    ):
        notes.append(ShortRamp(QUEUE_FRAMES, Fraction(held)))
    away = outcome.health.longest_gap_ns
    if away > AWAY_NS:
        notes.append(RampPreempted(away))
    reason = find_shortfall(outcome, trial.duration_ns)
    if reason is not None:
        notes.append(RampShort(reason))
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=(0,),
        notes=tuple(notes),
        headlines=(MAX_RX.name,),
    )


def _across(result: Result, duration: PositiveDuration, trial: Trial, situation: Situation) -> Trial | None:
    """A ramp over the knees of all streams, with half as much room on both sides; None if there are none."""
    found = [
        one for one in result.values if one.kind is KNEE and one.scope in situation.streams and one.number
    ]
    lows = [one.low / situation.share(one.scope) for one in found if one.low is not None]
    highs = [one.high / situation.share(one.scope) for one in found if one.high is not None]
    if not lows or not highs:
        return None
    rise = next(segment for segment in trial.segments if segment.name == "ramp")
    room = (max(highs) - min(lows)) / 2
    begin, end = max(min(lows) - room, Fraction(0)), min(max(highs) + room, situation.fps(rise.to_rate))
    return Trial(
        "ramp across the knee", Frames((Segment("ramp", duration.ns, FrameRate(begin), FrameRate(end)),))
    )


def _refine_knees(
    result: Result, parameters: RampParameters, situation: Situation, trial: Trial, outcome: Outcome
) -> Result:
    """The knees as the second ramp has them, where it has them closer."""
    values = list(result.values)
    for scope, samples in scopes(outcome, trial, situation):
        on_time = find_on_schedule(inside(samples, trial, "ramp", outcome.sample_ns))
        closer = _knee(scope, on_time, (), parameters.threshold.amount, outcome.sample_ns)
        width = _window(scope, outcome.sample_ns, trial.duration_ns, situation)
        latest_ns = outcome.health.latest_departure_ns
        best = _max_rx(scope, (on_time,), width, outcome.sample_ns, situation, latest_ns)
        closer = _within_best(closer, best, on_time, width, outcome, situation, parameters.threshold.amount)
        place = next(n for n, one in enumerate(values) if one.kind is KNEE and one.scope == scope)
        if closer.number and _span(closer) < _span(values[place]):
            note = None if closer.note is None else SecondRamp(closer.note)
            values[place] = replace(closer, note=note)
    return replace(result, values=tuple(values))


def _span(knee: Value) -> Fraction | float:
    """The distance of its bounds, frames a second; infinite if one is missing."""
    return math.inf if knee.low is None or knee.high is None else knee.high - knee.low


def _find_queue_shift(rise_fps: Fraction, rise_ns: int) -> Fraction:
    """How far a queue moves the knee up. Loads that rise by r in a second bring r t^2 / 2 frames too many
    in the time t after the capacity is passed, and the load is r t further by then: sqrt(2 r q)."""
    slope = rise_fps * 10**9 / rise_ns
    return Fraction(math.isqrt(max(math.floor(2 * slope * QUEUE_FRAMES), 0)))


def _find_load_on_schedule(scope: str, on_time: Sequence[Sample], samples: int, sample_ns: int) -> Value:
    """The load up to which the tester kept its schedule; samples above say nothing of the device."""
    if not on_time:
        return Value(KEPT_UP_TO, scope, Fraction(0), note=KeptUp("never"))
    if len(on_time) == samples:
        return Value(KEPT_UP_TO, scope, on_time[-1].peak, note=KeptUp("end"))
    load = _fps(on_time[-1].intended, sample_ns)
    return Value(KEPT_UP_TO, scope, load, note=KeptUp("load"))


def _window(scope: str, sample_ns: int, rise_ns: int, situation: Situation) -> int:
    """The number of whole samples that a rate is computed over.

    They hold 1000 frames at line rate, because a count is within one frame of the rate times the time. And
    they are no shorter than 1/120 of the ramp-up, the share that one second has of the articles' two
    minutes: the best of many very short samples is the luckiest of them.
    """
    share = rise_ns // (MAX_RX_SHARE * sample_ns)
    line_fps = situation.line_fps * min(situation.share(scope), Fraction(1))
    return max(math.ceil(MIN_FRAMES * 10**9 / (line_fps * sample_ns)), share, 1)


def _max_rx(
    scope: str,
    parts: Sequence[Sequence[Sample]],
    width: int,
    sample_ns: int,
    situation: Situation,
    latest_ns: int,
) -> Value:
    """The best forwarding rate over a window of the ramp-up or the hold: distinct and intact frames.

    A window can hold more than the rate times its length: at its edge, by one frame, or by a burst where
    frames are sent in bursts. With a mix also by
    the order of the sizes, by as many small frames as there is room for in the longest; what exceeds the
    line by no more, with nothing lost, is the line. With loss, or by more than that, it is luck: a device
    that reorders or queues lets small frames through together. No device passes on more than it was sent
    in the long run, so such a window is made longer until the line is not exceeded.

    A window at line rate that holds all the whole frames the line has room for is the line, too.

    Frames that a tester sends to make up for a pause are not the load asked for, and no rate of the device.
    So windows lie where the tester was on schedule; without any, each part counts as a whole. And if frames
    were sent late at all, by up to `latest_ns`, a rate above the load asked for counts as such a burst. On
    time to the frame, as in virtual time, it stands: a queue of the device that empties.
    """
    mixed = bool(situation.mixed_receivers)
    streams = len(situation.members(scope))
    most_fps = situation.line(scope)
    edge = _edge(scope, situation)
    if all(len(part) < width for part in parts):
        return Value(MAX_RX, scope, None, note=RampTooShort(width))
    # Rise and hold are straight: they are highest at an end.
    asked_fps = max(edge.peak for part in parts if part for edge in (part[0], part[-1]))
    runs = [run for part in parts for run in on_schedule(part)]
    if all(len(run) < width for run in runs):
        return _mean_rx(scope, parts, sample_ns, asked_fps)
    while True:
        counted, whole, room = max(_count_received_by_window(runs, width))
        length = width * sample_ns
        line = most_fps * length / 10**9
        near = counted - edge <= line
        if not mixed or counted <= line or (near and whole) or width == room:
            break
        width = min(2 * width, room)
    best, low, high = Fraction(counted), max(counted - edge, Fraction(0)), counted + edge
    asked = asked_fps * length / 10**9
    full = not mixed and whole and line - streams < best and asked >= line
    if near and ((line < best and (whole or not mixed)) or full):
        best = line
    is_capped = asked < best and asked * latest_ns >= length
    if is_capped:
        best, high = asked, asked + edge
    return Value(
        MAX_RX,
        scope,
        _fps(best, length),
        _fps(min(low, best), length),
        _fps(high, length),
        BestWindow(length, sum(len(run) for run in runs), is_capped),
    )


def _mean_rx(scope: str, parts: Sequence[Sequence[Sample]], sample_ns: int, asked_fps: Fraction) -> Value:
    """The best rate where the tester was late in every window: over the whole rise or hold, and no more than
    the load asked for."""
    best = max(_fps(sum(one.rx for one in part), len(part) * sample_ns) for part in parts if part)
    return Value(MAX_RX, scope, min(best, asked_fps), note=BehindThroughout())


def _count_received_by_window(parts: Sequence[Sequence[Sample]], width: int) -> list[tuple[int, bool, int]]:
    """Of every window of that many samples: frames received, whether none sent in it was lost, and how long
    it can be made where it is."""
    return [
        (received, lost <= 0, len(part))
        for part in parts
        for received, lost in zip(
            windows([sample.rx for sample in part], width),
            windows([sample.lost for sample in part], width),
            strict=True,
        )
    ]


def _line_utilisation(
    scope: str, parts: Sequence[Sequence[Sample]], width: int, sample_ns: int, situation: Situation
) -> Value:
    """The highest utilisation of the line back to the tester, by the sizes received.

    Of a mix the frame rate does not say it: a device that loses small frames first fills more of the line
    than its share of the frames. Copies and corrupted frames take their time on the line as well.
    """
    sums = [count for part in parts for count in windows([sample.line_bytes for sample in part], width)]
    if not sums:
        return Value(LINE_UTILISATION, scope, None, note=RampTooShort(width))
    length = width * sample_ns
    streams = len(situation.members(scope))
    line = situation.line(scope) * (situation.mean_size + WIRE_OVERHEAD) * length / 10**9
    most = Fraction(max(sums))
    # A window may hold one frame more than its time has room for.
    if most - streams * LONGEST_FRAME <= line < most:
        most = line
    return Value(LINE_UTILISATION, scope, most / line, note=FullestWindow(length))


def _knee(
    scope: str,
    rise: Sequence[Sample],
    hold: Sequence[Sample],
    threshold: Fraction,
    sample_ns: int,
) -> Value:
    """Where loss begins for good: from the last good sample's mean load to the first bad one's highest.

    Loss may begin anywhere in the bad sample, above its mean too. It does not begin below the good one's
    mean: the upper half would have lost more than the threshold allows for all of it.

    Loss is of the frames that departed in the sample, so the time a frame takes does not show as loss; a
    frame that came corrupted is lost.
    A load is the schedule's mean over the sample, which the tester kept: so few frames are no rate.
    A negative loss is not good: the device made frames. Samples in which the tester was late count for
    nothing: in a pause too few frames come to lose any, in the burst after it too many.
    """
    sent = [sample for sample in rise if sample.tx > 0 and not sample.late]
    if any(sample.lost < 0 for sample in rise):
        return Value(KNEE, scope, None, note=NoKnee("more-arrived"))
    if not sent:
        cause: Literal["late", "nothing-sent"] = "late" if any(one.tx for one in rise) else "nothing-sent"
        return Value(KNEE, scope, None, note=NoKnee(cause))
    bad = [sample.loses(threshold) for sample in sent]
    first = len(sent)
    while first > 0 and bad[first - 1]:
        first -= 1
    earlier = next((sent[place] for place in range(first) if bad[place]), None)
    earlier_pps = None if earlier is None else _fps(earlier.intended, sample_ns)
    if first == len(sent):
        held = [sample for sample in hold if not sample.late]
        in_hold = sum(sample.loses(threshold) for sample in held)
        mean, end = _fps(sent[-1].intended, sample_ns), sent[-1].peak
        # The end itself was offered for an instant only, unless it was held.
        stood = any(sample.tx for sample in held) and all(sample.lost == 0 for sample in held)
        low = held[-1].peak if stood else mean
        note = NoKneeUpTo(
            threshold, max(low, end), in_hold, len(hold), mean if low < end else None, earlier_pps
        )
        return Value(KNEE, scope, None, low=low, note=note)
    high = sent[first].peak
    if first == 0:
        start = KneeAtStart(threshold)
        return Value(KNEE, scope, Fraction(0), low=Fraction(0), high=high, note=start)
    low = _fps(sent[first - 1].intended, sample_ns)
    mean = _fps(sent[first].intended, sample_ns)
    late = sum(sample.late and low < _fps(sample.intended, sample_ns) < mean for sample in rise)
    return Value(KNEE, scope, low, low, high, Knee(threshold, mean - low, late, earlier_pps))


def _within_best(
    knee: Value,
    best: Value,
    rise: Sequence[Sample],
    width: int,
    outcome: Outcome,
    situation: Situation,
    threshold: Fraction,
) -> Value:
    """The knee with bounds that hold what the device lasts at, by the best rate received in the same ramp.

    A sample without loss shows little: it may be too short to lose a whole frame at a load just above the
    knee, or a queue may have kept what was too much. What came back in a whole window was forwarded, and so
    the lower bound is not above that. A device that forwards its best rate in every window from the first
    lossy sample on has no pause there, and does no more. One that loses every second frame does not.

    At a rate c the share s is lost of a load of c / (1 - s). Of the usual threshold the lower bound holds the
    load at which loss begins, too.
    """
    if knee.low is None or best.low is None or best.high is None:
        return knee
    if knee.number is None:
        # Nothing was lost up to the end: by a device that did it all, or by a queue that was not yet full.
        waited = _count_waiting_frames(knee.scope, rise, outcome, situation)
        # Long frames of a mix take longer than short ones on each of two lines.
        most = WAITING + (2 * _edge(knee.scope, situation) if situation.mixed_receivers else 0)
        return replace(knee, low=min(knee.low, best.low)) if waited > most else knee
    if not knee.number or knee.high is None:
        return knee
    if not best.number or threshold >= 1:
        return knee
    scale = max((1 - USUAL_THRESHOLD) / (1 - threshold), Fraction(1))
    low, high, number = min(knee.low, best.low * scale), knee.high, min(knee.number, best.number * scale)
    behind = [sample.rx for sample in rise if sample.reaches(high) and not sample.late]
    least = min(windows(behind, width), default=0)
    # A window at either end may hold a frame more or less.
    if low < knee.low and _fps(least, width * outcome.sample_ns) >= 2 * best.low - best.high:
        high = min(high, best.high / (1 - threshold))
    note = knee.note
    if number < knee.number and isinstance(note, Knee):
        note = replace(note, hidden_pps=knee.number)
    return replace(knee, number=number, low=low, high=high, note=note)


def _count_waiting_frames(
    scope: str, rise: Sequence[Sample], outcome: Outcome, situation: Situation
) -> Fraction:
    """How many frames came in the time that one of a scope's frames waited longer than another."""
    names = {situation.streams[member] for member in situation.members(scope)}
    times = [one.latency for one in outcome.streams if one.name in names and one.latency is not None]
    longest_ns = max((one.max_ns - one.min_ns for one in times if one.count), default=0)
    # A rise is straight: it is highest at an end.
    return max((sample.peak for sample in (*rise[:1], *rise[-1:])), default=Fraction(0)) * longest_ns / 10**9


def _loss_at_the_end(scope: str, samples: Sequence[Sample], corrupted: bool, was_sent: bool) -> Value:
    """Share of the frames sent in the hold (or in the last sample of the ramp) that came not or not intact.

    Without the samples in which the tester was late, if it kept its schedule in any. was_sent: whether frames
    were sent at all.
    """
    samples = [sample for sample in samples if not sample.late] or samples
    sent = sum(sample.tx for sample in samples)
    if not sent:
        return Value(LOSS_AT_THE_END, scope, None, note=NoneAtTheEnd() if was_sent else NothingSent())
    lost = sum(sample.lost for sample in samples)
    note = LostOf(lost, sent, corrupted)
    ratio = Fraction(lost, sent)
    return Value(LOSS_AT_THE_END, scope, ratio, *rows.loss_bounds(ratio, sent), note, of_frames=sent)


def _hold_rate(
    scope: str, hold: Sequence[Sample], sample_ns: int, situation: Situation, latest_ns: int
) -> Value:
    """Forwarding rate over the whole hold.

    A hold may receive a frame or a burst more than its line carries in the time, at its edge. No rate is
    above a line that is enforced. Where nothing enforces it, or small frames of a mix came and long ones did
    not, the rate stands, and the note says why.

    A tester that makes up for a pause during the ramp-up sends more in the hold than was asked for: a rate
    above the load held is then no rate of the device. If all frames were sent on time, as in virtual time,
    such a rate counts: a queue of the device empties.
    """
    if not hold:
        return Value(HOLD_RATE, scope, None, note=NoHold())
    length = sample_ns * len(hold)
    received, asked = sum(sample.rx for sample in hold), hold[-1].due - hold[0].due + hold[0].intended
    # Late by the time from one frame to the next, or more. Of a load that is no whole number of frames in
    # that time the next whole one is no more than was asked for.
    is_capped = received >= asked + 1 and asked * latest_ns >= length
    counted = asked if is_capped else Fraction(received)
    line = situation.line(scope) * length / 10**9
    above: Literal["", "edge", "declared", "mix"] = ""
    if counted > line:
        edge = _edge(scope, situation)
        lossless = sum(sample.lost for sample in hold) <= 0
        if situation.mixed_receivers and not (lossless and counted - edge <= line):
            above = "mix"
        elif situation.enforced or counted - edge <= line:
            above, counted = "edge", line
        else:
            above = "declared"
    note = HoldReceived(received, length, is_capped, above)
    return Value(HOLD_RATE, scope, _fps(counted, length), note=note)


def _edge(scope: str, situation: Situation) -> Fraction:
    """How many frames more a window of time may hold than the rate says: one of each stream, or a burst; of a
    mix as many small ones as there is room for in the longest."""
    streams = len(situation.members(scope))
    mixed = bool(situation.mixed_receivers)
    edge = streams * (LONGEST_FRAME / (situation.mean_size + WIRE_OVERHEAD) if mixed else Fraction(1))
    return max(edge, Fraction(streams * situation.burst))


def _fps(frames: Fraction | int, ns: int) -> Fraction:
    return Fraction(frames) * 10**9 / ns


def _traffic_seconds(parameters: RampParameters) -> Fraction:
    parts = [parameters.ramp.duration.amount]
    if parameters.warmup is not None:
        parts.append(parameters.warmup.duration.amount)
    if parameters.hold is not None:
        parts.append(parameters.hold.amount)
    if parameters.refine is not None:
        parts.append(parameters.refine.amount)
    if parameters.then is not None:
        parts.append(NDR.traffic_seconds(parameters.then))
    return sum(parts, Fraction(0))


def _fits(parameters: RampParameters, situation: Situation) -> Problem | None:
    problem = None if parameters.then is None else no_room(parameters.then, situation)
    return problem and problem.below("then")


METHOD = Procedure(
    name="ramp",
    title="Ramp",
    doc="One trial from a low load to the target: the best forwarding rate and the knee where loss sets in.",
    standard="",
    like="after the Coloclue/IPng load test",
    parameters=RampParameters,
    groups=True,
    start=ramp,
    traffic_seconds=_traffic_seconds,
    fits=_fits,
    values=(*VALUES, *NDR.values),
    needs_even=True,
)
