"""Reset as RFC 6201 has it: how long a device forwards nothing, or not all, after it was reset."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Literal

from pydantic import Field, model_validator

from netdyno.errors import Problem
from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import Parameters, Procedure, find_shortfall
from netdyno.methods.parts.rules import deviations
from netdyno.methods.reasons.common import NotCounted
from netdyno.methods.reasons.outages import LostBefore, NoneCounts, NotReset, ResetEarly
from netdyno.methods.throughput import KNOWN, WAIT, Known, OnThroughput, at_the_throughput
from netdyno.values.finding import Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import Event, Frames, Observe, Trial
from netdyno.values.method import Method
from netdyno.values.offer import Offer
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, PositiveDuration

CLEAN_NS = 15 * 10**9
"""RFC 6201 section 4: traffic is forwarded for at least 15 seconds before the reset."""
REPEATS = 10
GAPS = 64

RESET = ValueKind(
    "reset time",
    "ns",
    "how long frames were lost, by their number over the offered rate, the mean",
    on_throughput=True,
    hinges_on="loss",
)


class ResetSettings(Parameters):
    """Parameters of the reset."""

    kind: Literal["reset", "link-down", "by-hand"] = "reset"
    """What is done to the device: `reset`; `link-down` and up again; or whatever you do to it `by-hand`, once
    in each trial, when traffic has lasted `before`."""
    before: PositiveDuration = PositiveDuration.of_ns(CLEAN_NS)
    """Traffic before the reset."""
    down: PositiveDuration = PositiveDuration.of_ns(10**9)
    """Of `link-down`: until the link is up again."""
    watch: PositiveDuration = PositiveDuration.of_ns(60 * 10**9)
    """Traffic after it: longer than it takes."""
    repeats: int = Field(default=REPEATS, ge=1, le=1000)
    """Resets; their mean is the result."""

    @model_validator(mode="after")
    def _comes_up_again(self) -> ResetSettings:
        if self.kind == "link-down" and self.down.ns >= self.watch.ns:
            raise Problem(
                f"`down` ({self.down}) is not shorter than `watch` ({self.watch}): traffic after the link is"
                " up again is not seen",
                "a longer `watch`, or a shorter `down`",
                at=("down",),
                code="conflict",
            )
        return self

    @property
    def seconds(self) -> Fraction:
        """The time of traffic, s."""
        return self.repeats * (self.before.amount + self.watch.amount)


class ResetParameters(ResetSettings, OnThroughput):
    """The same, and the throughput."""


def fits(parameters: ResetSettings, situation: Situation) -> Problem | None:
    """The problem of a reset that the device cannot have: an external one is reset by hand; else None."""
    if parameters.kind == "by-hand" and not situation.by_hand:
        return Problem(
            "a device in virtual time cannot be reset by hand: a trial takes no time",
            "`kind: reset` or `kind: link-down`, which an emulated device does itself",
            at=("kind",),
            code="unsupported",
        )
    if situation.asked or parameters.kind == "by-hand":
        return None
    return Problem(
        f"netdyno cannot ask this device for `{parameters.kind}`",
        "`kind: by-hand`, and reset it yourself in each trial; or a device that netdyno builds",
        at=("kind",),
        code="not-askable",
    )


COLUMNS = columns(
    "frame size: B | stream | load: fps * | resets | lost: frames"
    " | by lost frames: ns | by time stamps: ns | least: ns | most: ns",
)


def measure(parameters: ResetSettings, situation: Situation, known: Known) -> Method:
    """The resets, at a known load."""
    fps = known.fps
    outcomes: list[Outcome] = []
    counting: list[int] = []
    notes: list[Reason] = []
    total_ns = parameters.before.ns + parameters.watch.ns
    if not fps:
        notes.append(About("reset", known.is_missing))
    for number in range(parameters.repeats if fps else 0):
        assert fps is not None
        by_hand = f", by hand after {parameters.before}" if parameters.kind == "by-hand" else ""
        outcome = yield Trial(
            f"reset {number + 1}{by_hand}",
            Frames.steady(FrameRate(fps), total_ns, "reset"),
            observe=Observe(gaps=GAPS),
            events=tuple(_events(parameters)),
        )
        outcomes.append(outcome)
        short = find_shortfall(outcome, total_ns)
        if short is not None:
            notes.append(About(f"reset {number + 1}", NotCounted(short)))
            continue
        missed = _find_missed_reset(outcome, parameters) if by_hand else None
        if missed is not None:
            notes.append(About(f"reset {number + 1}", NotCounted(missed)))
            continue
        counting.append(number)
        if any(rows.is_still_losing(outcome, parameters.before.ns, total_ns)):
            notes.append(About(f"reset {number + 1}", rows.STILL))
        before = sum(_count_lost_before(one, parameters.before.ns) for one in outcome.streams)
        if before:
            notes.append(About(f"reset {number + 1}", LostBefore(before)))
    resting = tuple(counting or range(len(outcomes)))
    used = [outcomes[number] for number in counting]
    return _result(parameters, situation, fps, used, notes, resting)


def _events(parameters: ResetSettings) -> Iterator[Event]:
    if parameters.kind == "by-hand":
        return
    yield Event(parameters.before.ns, parameters.kind)
    if parameters.kind == "link-down":
        yield Event(parameters.before.ns + parameters.down.ns, "link-up")


def _find_missed_reset(outcome: Outcome, parameters: ResetSettings) -> Reason | None:
    """The reason why a trial shows no reset by hand, seen in its frames; None if it shows one."""
    if not any(stream.missing for stream in outcome.streams):
        return NotReset()
    gaps = [gap for stream in outcome.streams if stream.gaps is not None for gap in stream.gaps.gaps]
    if any(gap.first_ns < parameters.before.ns for gap in gaps):
        return ResetEarly(parameters.before.ns)
    return None


def _count_lost_before(stream: StreamResult, reset_ns: int) -> int:
    """Frames that were lost before the reset: not by it, nor on their way through the device when it came.

    At least so many: gaps beyond those that were dated are taken for the reset's.
    """
    on_their_way_ns = stream.latency.max_ns if stream.latency is not None else 0
    gaps = stream.gaps.gaps if stream.gaps is not None else ()
    return sum(gap.frames for gap in gaps if gap.last_ns < reset_ns - on_their_way_ns)


def _result(
    parameters: ResetSettings,
    situation: Situation,
    fps: Fraction | None,
    outcomes: list[Outcome],
    notes: list[Reason],
    resting: tuple[int, ...],
) -> Result:
    """outcomes: of the resets that count; resting: their numbers."""
    values, table = [], []
    before_ns, end_ns = parameters.before.ns, parameters.before.ns + parameters.watch.ns
    for place, name in enumerate(situation.streams):
        streams = [outcome.streams[place] for outcome in outcomes]
        # Frame-loss method (section 1.3): frames lost over the offered rate, from the reset on.
        rate = None if fps is None else fps * situation.share(name)
        earlier = [_count_lost_before(one, before_ns) for one in streams]
        missing = [max(one.missing - less, 0) for one, less in zip(streams, earlier, strict=True)]
        by_loss = [Fraction(frames) * 10**9 / rate for frames in missing if rate]
        still = [rows.is_still_losing(one, before_ns, end_ns)[place] for one in outcomes]
        # A silence that did not end has no length.
        silences = [
            one.silence
            for one, goes_on in zip(streams, still, strict=True)
            if one.silence is not None and not goes_on
        ]
        by_time = [Fraction(one.until_ns - one.from_ns) for one in silences]
        mean = sum(by_loss, Fraction(0)) / len(by_loss) if by_loss else None
        ends = (min(by_loss, default=None), max(by_loss, default=None))
        note = None if by_loss else notes[0] if notes else NoneCounts()
        value = Value(RESET, name, mean, *ends, note)
        if any(still):
            # What did not end took no less than was seen; leaving it out would praise the device for it.
            # Where it loses at that load anyway, not all of that is the reset's, and there is no bound.
            value = Value(RESET, name, None, None if any(earlier) else mean, None, rows.STILL)
        elif any(earlier):
            # What it loses at that load anyway goes on behind the reset, and is in the time.
            value = Value(RESET, name, None, None, mean, LostBefore())
        values.append(value)
        mean, ends = value.number, ends if value.number is not None else (value.low, value.high)
        lost = sum(missing)
        stamps = sum(by_time, Fraction(0)) / len(by_time) if by_time else None
        count = Fraction(len(streams))
        table.append((situation.mean_size, name, rate, count, Fraction(lost), mean, stamps, *ends))
    values.append(rows.longest(values, RESET))
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=resting,
        **deviations(METHOD.name, parameters, situation, outcomes),
        notes=tuple(notes),
        headlines=(RESET.name,),
        tables=(
            Table(
                "Reset",
                COLUMNS,
                tuple(table) if fps else (),
                "RFC 6201: the reset time by lost frames over the offered rate (frame-loss method, section"
                " 1.3; from the reset on) and by the longest time without an arrival (timestamp method);"
                " mean, least and most are of the resets.",
            ),
        ),
    )


METHOD = Procedure(
    name="reset",
    title="Reset",
    doc="How long a device loses frames after a reset under load, by lost frames and by time stamps.",
    standard="RFC 6201",
    parameters=ResetParameters,
    start=at_the_throughput(measure),
    fits=fits,
    settle=WAIT,
    traffic_seconds=lambda parameters: parameters.seconds + parameters.search_seconds,
    further_needs=frozenset({Offer.EVENTS}),
    values=(RESET, *KNOWN),
    needs_even=True,
)
