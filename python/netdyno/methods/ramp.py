"""The ramp: one trial that tries every load, and shows the knee.

After the load test of Coloclue and IPng: a warm-up at a low rate, a linear rise to the target, a hold.
A survey and not a benchmark: a load is held for one sample only, so its numbers are called *ramp max
Rx* and *knee*, never throughput (RFC 1242 section 3.17 keeps that word for zero loss).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, ClassVar

from pydantic import Field, model_validator

from netdyno.arithmetic import WIRE_OVERHEAD
from netdyno.methods.procedure import (
    AWAY_NS,
    Parameters,
    Procedure,
    Shape,
    frames_per_second,
    milliseconds,
    rounded,
    starved,
)
from netdyno.trial import Method, Result, Segment, Situation, Trial, TrialResult, Value
from netdyno.units import FrameRate, Load, Percent, PositiveDuration, UnitError, decimal

MAX_RX_SHARE = 120
"""The best rate is taken over this part of the rise."""

BEHIND_NS = 5_000_000
"""A tester is behind its schedule when more than this much traffic is waiting to be sent."""

LONGEST_FRAME = Fraction(9216)
"""Bytes on the line of a long frame, such as any mix has: what the edge of a window can cut."""

QUEUE_FRAMES = 1000
"""A queue of this length is taken as usual when saying how far queues move a knee."""

MIN_FRAMES = 1000
"""A rate is read from at least as many frames as this at line rate, so that one frame is 0.1 % of it."""


class WarmUp(Shape):
    """A constant low load before the rise, so that caches, tables and governors are awake."""

    short_form: ClassVar[str] = r"^\S.* at \S.*$"
    short_examples: ClassVar[tuple[str, ...]] = ("30s at 1kpps",)

    duration: PositiveDuration
    load: Load

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        found = re.fullmatch(r"\s*(.+?)\s+at\s+(.+?)\s*", value)
        if not found:
            raise UnitError(value, "is not a duration and a load", "write `30s at 1kpps`")
        return {"duration": PositiveDuration.parse(found[1]), "load": Load.parse(found[2])}


class Rise(Shape):
    """The load rises linearly, from nothing unless a start is given."""

    short_form: ClassVar[str] = r"^\S.* to \S.*$"
    short_examples: ClassVar[tuple[str, ...]] = ("120s to 100%", "60s from 1Mpps to 5Mpps")

    duration: PositiveDuration
    start: Load = Field(default=Load(FrameRate(Fraction(0))), alias="from")
    end: Load = Field(alias="to")

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        found = re.fullmatch(r"\s*(.+?)(?:\s+from\s+(.+?))?\s+to\s+(.+?)\s*", value)
        if not found:
            raise UnitError(value, "is not a duration and a load to rise to", "write `120s to 100%`")
        parts: dict[str, Any] = {"duration": PositiveDuration.parse(found[1]), "to": Load.parse(found[3])}
        if found[2]:
            parts["from"] = Load.parse(found[2])
        return parts


class RampParameters(Parameters):
    """Parameters of the ramp."""

    warmup: WarmUp | None = Field(
        default=WarmUp(duration=PositiveDuration(Fraction(30)), load=Load(FrameRate(Fraction(1000)))),
        description="A constant low load first: `30s at 1kpps`; `null` for none.",
    )
    ramp: Rise = Field(
        default=Rise(duration=PositiveDuration(Fraction(120)), to=Load(Percent(Fraction(1)))),
        description="The rise: `120s to 100%`.",
    )
    hold: PositiveDuration | None = Field(
        default=PositiveDuration(Fraction(30)),
        description="How long to stay at the target; `null` for not at all.",
    )
    threshold: Percent = Field(
        default=Percent(Fraction(1, 1000)),
        description="The knee is where loss stays above this share of what was sent.",
    )

    def loads(self) -> Iterator[tuple[tuple[str, ...], Load]]:
        """Warm-up, start and target."""
        if self.warmup is not None:
            yield ("warmup", "load"), self.warmup.load
        yield ("ramp", "from"), self.ramp.start
        yield ("ramp", "to"), self.ramp.end


def ramp(parameters: RampParameters, situation: Situation) -> Method:
    """One trial: warm-up, rise, hold. What it shows is read from the samples of the rise and the hold."""
    target = frames_per_second(parameters.ramp.end, situation)
    rise_ns = parameters.ramp.duration.ns
    segments = []
    if parameters.warmup is not None:
        low = frames_per_second(parameters.warmup.load, situation)
        segments.append(Segment("warmup", parameters.warmup.duration.ns, low, low))
    start = frames_per_second(parameters.ramp.start, situation)
    segments.append(Segment("ramp", parameters.ramp.duration.ns, start, target))
    if parameters.hold is not None:
        segments.append(Segment("hold", parameters.hold.ns, target, target))
    trial = Trial("ramp", tuple(segments))

    outcome = yield trial

    threshold = parameters.threshold.amount
    values: list[Value] = []
    for scope, samples in _scopes(outcome, trial, situation):
        rise = _inside(samples, trial, "ramp", outcome.sample_ns)
        hold = _inside(samples, trial, "hold", outcome.sample_ns)
        kept = _kept_up(rise, outcome.sample_ns)
        values.append(_max_rx(scope, (rise, hold), outcome.sample_ns, rise_ns, situation))
        values.append(_kept_up_to(scope, kept, len(rise), outcome.sample_ns))
        values.append(_knee(scope, kept, hold if kept == rise else (), threshold, outcome.sample_ns))
        values.append(_loss_at_the_end(scope, hold or rise[-1:]))
        values.append(_hold_rate(scope, hold, outcome.sample_ns))
    notes = [
        f"each load was held for {milliseconds(outcome.sample_ns)} only: a survey, not a throughput",
    ]
    held = _held_back(target - start, rise_ns)
    if held * 100 > situation.line_fps:
        notes.append(
            f"the rise is short: {QUEUE_FRAMES} frames waiting in the device hide loss for so long that the"
            f" knee shows {rounded(held)} fps too high"
        )
    away = outcome.health.longest_gap_ns
    if away > AWAY_NS:
        notes.append(
            f"the tester was kept from its core for up to {milliseconds(away)}: samples in which it was"
            " behind its schedule count neither for the knee nor for the loss"
        )
    reason = starved(outcome)
    if reason is not None:
        notes.append(f"{reason}: what the device does beyond that is not known")
    return Result(method=RAMP.name, values=tuple(values), trials=(0,), notes=tuple(notes))


def _held_back(rise_fps: Fraction, rise_ns: int) -> Fraction:
    """How far a queue moves the knee up. Loads that rise by r in a second bring r t^2 / 2 frames too many
    in the time t after the capacity is passed, and the load is r t further by then: sqrt(2 r q)."""
    slope = rise_fps * 10**9 / rise_ns
    return Fraction(math.isqrt(max(math.floor(2 * slope * QUEUE_FRAMES), 0)))


@dataclass(frozen=True)
class _Sample:
    """Frames sent in one sample, received in it, and received of those sent in it."""

    tx: int
    rx: int | Fraction
    """Whole frames; of a mix, frames of average size that take as long on the line."""
    arrived: int
    intended: Fraction
    """Frames the schedule asks for in it."""
    behind: Fraction
    """Frames the schedule has asked for by its end that were not sent by then."""
    late: bool = False
    """Whether the tester was behind its schedule when it began or ended: its load was another one."""

    @property
    def lost(self) -> int:
        return self.tx - self.arrived


def _scopes(outcome: TrialResult, trial: Trial, situation: Situation) -> Iterator[tuple[str, list[_Sample]]]:
    """The samples of each stream, and of all together."""
    every: list[list[_Sample]] = []
    # Frames of a mix are no even flow: behind by a few of them is late only if a frame was.
    ever_late = outcome.health.latest_departure_ns > BEHIND_NS
    for number, stream in enumerate(outcome.streams):
        samples, behind, late = [], Fraction(0), False
        received = _received(outcome, number, situation)
        asked = [_asked(trial, edge * outcome.sample_ns) for edge in range(len(stream.tx) + 1)]
        counts = zip(pairwise(asked), stream.tx, received, stream.arrived, strict=False)
        for (before, after), tx, rx, arrived in counts:
            intended = after - before
            behind += intended - tx
            began_late, late = late, ever_late and _is_behind(behind, intended, outcome.sample_ns)
            samples.append(_Sample(tx, rx, arrived, intended, behind, began_late or late))
        every.append(samples)
        yield stream.name, samples
    yield (
        "sum",
        [
            _Sample(
                sum(one.tx for one in together),
                sum(one.rx for one in together),
                sum(one.arrived for one in together),
                sum((one.intended for one in together), Fraction(0)),
                sum((one.behind for one in together), Fraction(0)),
                any(one.late for one in together),
            )
            for together in zip(*every, strict=False)
        ],
    )


def _received(outcome: TrialResult, number: int, situation: Situation) -> Sequence[int | Fraction]:
    """Frames of a stream received in each sample.

    The sizes of a mix that fall into a short sample are not the mix: small ones for a while pass for more
    frames than the line carries. So a mix is counted by its time on the line, in frames of average size.
    """
    if not situation.mixed_receivers:
        return outcome.streams[number].rx
    port = outcome.ports[situation.mixed_receivers[number]]
    on_line = situation.mean_size + WIRE_OVERHEAD
    return [
        (count + WIRE_OVERHEAD * frames) / on_line
        for count, frames in zip(port.rx_bytes_series, port.rx, strict=False)
    ]


def _asked(trial: Trial, until_ns: int) -> Fraction:
    """Frames a stream is asked to send by `until_ns` from the start of traffic, whole or not."""
    asked, begin = Fraction(0), 0
    for segment in trial.segments:
        inside = min(max(until_ns - begin, 0), segment.duration_ns)
        slope = (segment.to_fps - segment.from_fps) / segment.duration_ns
        asked += (segment.from_fps + slope * inside / 2) * inside / 10**9
        begin += segment.duration_ns
    return asked


def _kept_up(rise: list[_Sample], sample_ns: int) -> list[_Sample]:
    """The part of the rise in which the tester kept its schedule: until it falls behind for good.

    A pause that is made up for is no reason to stop: what counts is whether the schedule is reached
    again.
    """
    end = len(rise)
    while end and _is_behind(rise[end - 1].behind, rise[end - 1].intended, sample_ns):
        end -= 1
    return rise[:end]


def _is_behind(frames: Fraction, intended: Fraction, sample_ns: int) -> bool:
    """Whether so many frames waiting to be sent are more than 5 ms of traffic at that load: the machines
    netdyno is at home on pause for that long."""
    return frames > 2 + intended * BEHIND_NS / sample_ns


def _kept_up_to(scope: str, kept: Sequence[_Sample], samples: int, sample_ns: int) -> Value:
    """The load up to which the tester kept its schedule; what lies above says nothing of the device."""
    if not kept:
        return Value("kept up to", scope, Fraction(0), "fps", note="the tester was behind all the time")
    load = kept[-1].intended * 10**9 / sample_ns
    note = "to the end of the ramp" if len(kept) == samples else "then the tester fell behind for good"
    return Value("kept up to", scope, load, "fps", note=note)


def _inside(samples: Sequence[_Sample], trial: Trial, name: str, sample_ns: int) -> list[_Sample]:
    """The samples that lie in the segment as a whole. One that a border cuts belongs to neither side."""
    begin = 0
    for segment in trial.segments:
        end = begin + segment.duration_ns
        if segment.name == name:
            return list(samples[-(-begin // sample_ns) : end // sample_ns])
        begin = end
    return []


def _max_rx(
    scope: str, parts: Sequence[Sequence[_Sample]], sample_ns: int, rise_ns: int, situation: Situation
) -> Value:
    """The best forwarding rate over a window of whole samples that is long enough to tell a rate from noise.

    The window holds 1000 frames at line rate, for a count is within one frame of the rate times the
    time. And it is no shorter than 1/120 of the rise, the share that one second has of the articles'
    two minutes: the best of many very short samples is the luckiest of them, above all with a mix,
    where a burst of small frames passes for more than the line carries.
    """
    share = rise_ns // (MAX_RX_SHARE * sample_ns)
    width = max(math.ceil(MIN_FRAMES * 10**9 / (situation.line_fps * sample_ns)), share, 1)
    windows = []
    for part in parts:
        before = list(accumulate((sample.rx for sample in part), initial=0))
        windows += [after - start for start, after in zip(before, before[width:], strict=False)]
    if not windows:
        return Value(
            "ramp max Rx", scope, None, "fps", note=f"the ramp is shorter than {width} whole samples"
        )
    best, length = Fraction(max(windows)), width * sample_ns
    note = f"best {milliseconds(length)} of {sum(len(part) for part in parts)} samples"
    if situation.mixed_receivers:
        note += ", in frames of average size"
    # A window may hold one frame more than the rate times its length. The line carries no more than it does.
    streams = len(situation.streams) if scope == "sum" else 1
    line = situation.line_fps * streams * length / 10**9
    one = LONGEST_FRAME / (situation.mean_size + WIRE_OVERHEAD) if situation.mixed_receivers else Fraction(1)
    low, high = max(best - streams * one, Fraction(0)), best + streams * one
    if low <= line < best:
        best = line
    return Value(
        "ramp max Rx",
        scope,
        _fps(best, length),
        "fps",
        _fps(min(low, best), length),
        _fps(high, length),
        note,
    )


def _knee(
    scope: str,
    rise: Sequence[_Sample],
    hold: Sequence[_Sample],
    threshold: Fraction,
    sample_ns: int,
) -> Value:
    """Where loss begins for good: between the last good sample's load and the first bad one's.

    Loss is of the frames that departed in the sample, so the time a frame takes does not show as loss.
    A load is the schedule's mean over the sample, which the tester kept: so few frames are no rate.
    A negative loss is not good: the device made frames. Samples in which the tester was late count for
    nothing: in a pause too few frames come to lose any, in the burst after it too many.
    """
    sent = [sample for sample in rise if sample.tx > 0 and not sample.late]
    share = f"{decimal(threshold * 100)} %"
    if any(sample.lost < 0 for sample in rise):
        return Value("knee", scope, None, "fps", note="no knee: more frames arrived than were sent")
    if not sent:
        what = "the tester was late all the time" if any(one.tx for one in rise) else "nothing was sent"
        return Value("knee", scope, None, "fps", note=f"no knee: {what} in the ramp")
    bad = [sample.lost > threshold * sample.tx for sample in sent]
    first = len(sent)
    while first > 0 and bad[first - 1]:
        first -= 1
    earlier = next((sent[place] for place in range(first) if bad[place]), None)
    before = ""
    if earlier is not None:
        before = f"; loss above {share} also passed at {rounded(_fps(earlier.intended, sample_ns))} fps"
    if first == len(sent):
        offered = _fps(sent[-1].intended, sample_ns)
        in_hold = sum(sample.lost > threshold * sample.tx and not sample.late for sample in hold)
        note = f"no knee: loss did not stay above {share} up to {rounded(offered)} fps"
        if in_hold:
            note += f"; but {in_hold} of {len(hold)} samples of the hold lost more"
        return Value("knee", scope, None, "fps", low=offered, note=note + before)
    high = _fps(sent[first].intended, sample_ns)
    if first == 0:
        note = f"loss above {share} from the first sample of the ramp on"
        return Value("knee", scope, Fraction(0), "fps", low=Fraction(0), high=high, note=note)
    low = _fps(sent[first - 1].intended, sample_ns)
    width = high - low
    late = sum(sample.late for sample in rise if low < _fps(sample.intended, sample_ns) < high)
    step = "one step of the ramp is" if not late else f"the tester was late in the {late} samples before:"
    note = f"loss stays above {share} from here on; {step} {rounded(width)} fps"
    return Value("knee", scope, low, "fps", low, high, note + before)


def _loss_at_the_end(scope: str, samples: Sequence[_Sample]) -> Value:
    """Share of the frames sent in the hold (or in the last sample of the ramp) that was lost; signed.

    Without the samples in which the tester was late, if it kept its schedule in any.
    """
    samples = [sample for sample in samples if not sample.late] or samples
    sent = sum(sample.tx for sample in samples)
    if not sent:
        return Value("loss at the end", scope, None, "ratio", note="nothing was sent at the end")
    lost = sum(sample.lost for sample in samples)
    return Value("loss at the end", scope, Fraction(lost, sent), "ratio", note=f"{lost} of {sent} frames")


def _hold_rate(scope: str, hold: Sequence[_Sample], sample_ns: int) -> Value:
    """Forwarding rate over the whole hold."""
    if not hold:
        return Value("hold rate", scope, None, "fps", note="no hold")
    received = Fraction(sum(sample.rx for sample in hold))
    note = f"{rounded(received)} frames in {milliseconds(sample_ns * len(hold))}"
    return Value("hold rate", scope, _fps(received, sample_ns * len(hold)), "fps", note=note)


def _fps(frames: Fraction | int, ns: int) -> Fraction:
    return Fraction(frames) * 10**9 / ns


def _traffic_seconds(parameters: RampParameters) -> Fraction:
    parts = [parameters.ramp.duration.amount]
    if parameters.warmup is not None:
        parts.append(parameters.warmup.duration.amount)
    if parameters.hold is not None:
        parts.append(parameters.hold.amount)
    return sum(parts, Fraction(0))


RAMP = Procedure(
    name="ramp",
    title="Ramp",
    doc="One trial from a low load to the target: the best forwarding rate and the knee where loss sets in.",
    standard="none; after the Coloclue/IPng load test",
    parameters=RampParameters,
    start=ramp,
    traffic_seconds=_traffic_seconds,
)
