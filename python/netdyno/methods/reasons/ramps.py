"""Reasons of ramps about their samples and the knee."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from netdyno.errors import counted
from netdyno.values.number import count, duration, rate, share
from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class Survey(Reason):
    """A ramp-up holds no load long enough for a throughput. held_ns: each of them, on the way up."""

    code: ClassVar[str] = "survey"
    held_ns: int

    def __str__(self) -> str:
        return (
            f"survey only: the ramp-up held each load for {duration(self.held_ns)}. Use `method: throughput`"
            " for an RFC 2544 result"
        )


@dataclass(frozen=True)
class CorruptedAsLost(Reason):
    """Corrupted frames of streams, by name, which count as lost."""

    code: ClassVar[str] = "corrupted-as-lost"
    streams: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        which = ", ".join(f"{count(frames)} of `{name}`" for name, frames in self.streams)
        return f"corrupted frames count as lost: {which}"


@dataclass(frozen=True)
class ShortRamp(Reason):
    """A ramp-up so short that a queue hides loss past the knee's bounds. error_pps: how far."""

    code: ClassVar[str] = "short-ramp"
    queue_frames: int
    error_pps: Fraction

    def __str__(self) -> str:
        return (
            f"short ramp-up: a queue of {counted(self.queue_frames, 'frame')} in the device hides loss, so"
            f" the knee may show {rate(self.error_pps, 'pps', 'at most')} too high. Use a longer `ramp`"
        )


@dataclass(frozen=True)
class RampPreempted(Reason):
    """A pause of the tester in a ramp, whose samples are left out."""

    code: ClassVar[str] = "ramp-preempted"
    pause_ns: int

    def __str__(self) -> str:
        return (
            f"tester preempted for up to {duration(self.pause_ns)}: samples behind schedule count neither for"
            " the knee nor for the loss"
        )


@dataclass(frozen=True)
class RampShort(Reason):
    """The tester did not send all of a ramp. cause: how much it sent."""

    code: ClassVar[str] = "ramp-short"
    cause: Reason

    def __str__(self) -> str:
        return f"{self.cause}: what the device does beyond that is unknown"


@dataclass(frozen=True)
class RampTooShort(Reason):
    """A ramp shorter than the samples that a rate is read from."""

    code: ClassVar[str] = "ramp-too-short"
    samples: int

    def __str__(self) -> str:
        return f"the ramp is shorter than {counted(self.samples, 'whole sample')}"


@dataclass(frozen=True)
class KeptUp(Reason):
    """The tester kept its schedule in a ramp never, up to a load, or to the end."""

    code: ClassVar[str] = "kept-up"
    until: Literal["never", "load", "end"]

    def __str__(self) -> str:
        return {
            "never": "the tester was behind schedule all the time",
            "load": "the tester fell behind schedule for good above it",
            "end": "to the end of the ramp",
        }[self.until]


@dataclass(frozen=True)
class BestWindow(Reason):
    """The part of a ramp that a rate is read from. is_capped: no more than the load asked for counts."""

    code: ClassVar[str] = "best-window"
    length_ns: int
    samples: int
    is_capped: bool

    def __str__(self) -> str:
        caught_up = "; the tester caught up, so no more than the load counts" if self.is_capped else ""
        return f"best {duration(self.length_ns)} of {counted(self.samples, 'sample')}{caught_up}"


@dataclass(frozen=True)
class BehindThroughout(Reason):
    """The tester was behind its schedule in every window, so a rate is the mean of the whole."""

    code: ClassVar[str] = "behind-throughout"

    def __str__(self) -> str:
        return "the tester was behind schedule in every window: the mean over the whole ramp-up or hold"


@dataclass(frozen=True)
class FullestWindow(Reason):
    """The part of a ramp in which the line was fullest, by the sizes received."""

    code: ClassVar[str] = "fullest-window"
    length_ns: int

    def __str__(self) -> str:
        return f"fullest {duration(self.length_ns)}, by the sizes received"


@dataclass(frozen=True)
class NoKnee(Reason):
    """A ramp that cannot show a knee."""

    code: ClassVar[str] = "no-knee"
    cause: Literal["more-arrived", "late", "nothing-sent"]

    def __str__(self) -> str:
        why = {
            "more-arrived": "more frames arrived than were sent",
            "late": "the tester was late in the whole ramp",
            "nothing-sent": "nothing was sent in the ramp",
        }[self.cause]
        return f"no knee: {why}"


@dataclass(frozen=True)
class NoneAtTheEnd(Reason):
    """The tester sent frames, and none of them in the hold or in the last sample of a ramp."""

    code: ClassVar[str] = "none-at-the-end"

    def __str__(self) -> str:
        return "the tester was late: it sent no frame in the hold or in the last sample"


@dataclass(frozen=True)
class NoKneeUpTo(Reason):
    """Loss did not stay above the threshold. lossy: samples of the hold that lost more, of so many.

    mean_pps: the last sample's mean load, if no more is certain; earlier_pps: where loss passed it before.
    """

    code: ClassVar[str] = "no-knee-up-to"
    threshold: Fraction
    rate_pps: Fraction
    lossy: int
    hold: int
    mean_pps: Fraction | None
    earlier_pps: Fraction | None

    def __str__(self) -> str:
        above = f"loss did not stay above {share(self.threshold)}"
        text = f"no knee: {above} up to {rate(self.rate_pps, 'pps', 'at least')}"
        if self.lossy:
            text += f"; but {count(self.lossy)} of {counted(self.hold, 'sample')} of the hold lost more"
        if self.mean_pps is not None:
            mean = rate(self.mean_pps, "pps", "at least")
            text += f"; the last sample's mean is {mean}, and nothing more is certain"
        return text + _earlier(self.threshold, self.earlier_pps)


@dataclass(frozen=True)
class Knee(Reason):
    """The load from which loss stays above the threshold.

    step_pps: to the first lossy sample; late: samples between in which the tester was late; earlier_pps: a
    lower load at which loss passed the threshold too. hidden_pps: the last load without that loss, if it is
    above the best rate that came back: a queue hid the loss.
    """

    code: ClassVar[str] = "knee"
    threshold: Fraction
    step_pps: Fraction
    late: int
    earlier_pps: Fraction | None
    hidden_pps: Fraction | None = None

    def __str__(self) -> str:
        if self.hidden_pps is not None:
            return (
                f"at most the best rate received: a queue hid the loss up to {rate(self.hidden_pps, 'pps')}"
            )
        step = f"one step of the ramp is {rate(self.step_pps, 'pps')}"
        if self.late:
            late = counted(self.late, "sample")
            step = f"known to {rate(self.step_pps, 'pps')}, as the tester was late in the {late} before"
        above = f"loss stays above {share(self.threshold)} from here on"
        return f"{above}; {step}{_earlier(self.threshold, self.earlier_pps)}"


@dataclass(frozen=True)
class KneeAtStart(Reason):
    """Loss is above the threshold in the whole ramp."""

    code: ClassVar[str] = "knee-at-start"
    threshold: Fraction

    def __str__(self) -> str:
        return f"loss above {share(self.threshold)} from the first sample of the ramp on"


@dataclass(frozen=True)
class SecondRamp(Reason):
    """A knee as a second ramp across it shows it."""

    code: ClassVar[str] = "second-ramp"
    knee: Reason

    def __str__(self) -> str:
        return f"{self.knee}; from a second ramp across the knee"


@dataclass(frozen=True)
class NoHold(Reason):
    """A ramp without a hold."""

    code: ClassVar[str] = "no-hold"

    def __str__(self) -> str:
        return "no hold"


@dataclass(frozen=True)
class HoldReceived(Reason):
    """Frames received in a hold. is_capped: no more than the load asked for counts.

    above: why more came than the line carries. edge: a frame or a burst at its edge, and the rate is the
    line's. declared: nothing enforces the line. mix: more small frames came than the mix has.
    """

    code: ClassVar[str] = "hold-received"
    frames: int
    length_ns: int
    is_capped: bool
    above: Literal["", "edge", "declared", "mix"] = ""

    def __str__(self) -> str:
        caught_up = "; the tester caught up, so no more than the load counts" if self.is_capped else ""
        above = {
            "": "",
            "edge": "; no more than the line carries counts",
            "declared": "; above line rate as the plan declares it, which nothing enforces",
            "mix": "; above line rate for this mix, as more of its small frames came",
        }[self.above]
        return f"{counted(self.frames, 'frame')} in {duration(self.length_ns)}{caught_up}{above}"


def _earlier(threshold: Fraction, earlier_pps: Fraction | None) -> str:
    if earlier_pps is None:
        return ""
    return f"; loss above {share(threshold)} also at {rate(earlier_pps, 'pps')}"


REASONS: Codes = declared(globals())
