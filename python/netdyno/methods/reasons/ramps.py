"""Reasons of ramps about their samples and the knee."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from netdyno.errors import counted
from netdyno.values.number import count, duration
from netdyno.values.reason import Codes, Reason, declared

_EARLIER = "{earlier_pps:?; loss above {threshold:%} also at {earlier_pps}}"


class Survey(Reason, code="survey"):
    """A ramp-up holds no load long enough for a throughput. held_ns: each of them, on the way up."""

    held_ns: int
    says = """survey only: the ramp-up held each load for {held_ns}. Use `method: throughput` for an RFC 2544
        result"""


class CorruptedAsLost(Reason, code="corrupted-as-lost"):
    """Corrupted frames of streams, by name, which count as lost."""

    streams: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        which = ", ".join(f"{count(frames)} of `{name}`" for name, frames in self.streams)
        return f"corrupted frames count as lost: {which}"


class ShortRamp(Reason, code="short-ramp"):
    """A ramp-up so short that a queue hides loss past the knee's bounds. error_pps: how far."""

    queue_frames: int
    error_pps: Fraction
    says = """short ramp-up: a queue of {queue_frames:frame} in the device hides loss, so the knee may show
        {error_pps:at most} too high. Use a longer `ramp`"""


class RampPreempted(Reason, code="ramp-preempted"):
    """A pause of the tester in a ramp, whose samples are left out."""

    pause_ns: int
    says = """tester preempted for up to {pause_ns}: samples behind schedule count neither for the knee nor
        for the loss"""


class RampShort(Reason, code="ramp-short"):
    """The tester did not send all of a ramp. cause: how much it sent."""

    cause: Reason
    says = "{cause}: what the device does beyond that is unknown"


class RampTooShort(Reason, code="ramp-too-short"):
    """A ramp shorter than the samples that a rate is read from."""

    samples: int
    says = "the ramp is shorter than {samples:whole sample}"


class KeptUp(Reason, code="kept-up"):
    """The tester kept its schedule in a ramp never, up to a load, or to the end."""

    until: Literal["never", "load", "end"]

    def __str__(self) -> str:
        return {
            "never": "the tester was behind schedule all the time",
            "load": "the tester fell behind schedule for good above it",
            "end": "to the end of the ramp",
        }[self.until]


class BestWindow(Reason, code="best-window"):
    """The part of a ramp that a rate is read from. is_capped: no more than the load asked for counts."""

    length_ns: int
    samples: int
    is_capped: bool
    says = """best {length_ns} of {samples:sample}{is_capped:?; the tester caught up, so no more than the
        load counts}"""


class BehindThroughout(Reason, code="behind-throughout"):
    """The tester was behind its schedule in every window, so a rate is the mean of the whole."""

    says = "the tester was behind schedule in every window: the mean over the whole ramp-up or hold"


class FullestWindow(Reason, code="fullest-window"):
    """The part of a ramp in which the line was fullest, by the sizes received."""

    length_ns: int
    says = "fullest {length_ns}, by the sizes received"


class NoKnee(Reason, code="no-knee"):
    """A ramp that cannot show a knee."""

    cause: Literal["more-arrived", "late", "nothing-sent"]

    def __str__(self) -> str:
        why = {
            "more-arrived": "more frames arrived than were sent",
            "late": "the tester was late in the whole ramp",
            "nothing-sent": "nothing was sent in the ramp",
        }[self.cause]
        return f"no knee: {why}"


class NoneAtTheEnd(Reason, code="none-at-the-end"):
    """The tester sent frames, and none of them in the hold or in the last sample of a ramp."""

    says = "the tester was late: it sent no frame in the hold or in the last sample"


class NoKneeUpTo(Reason, code="no-knee-up-to"):
    """Loss did not stay above the threshold. lossy: samples of the hold that lost more, of so many.

    mean_pps: the last sample's mean load, if no more is certain; earlier_pps: where loss passed it before.
    """

    threshold: Fraction
    rate_pps: Fraction
    lossy: int
    hold: int
    mean_pps: Fraction | None
    earlier_pps: Fraction | None
    says = (
        """no knee: loss did not stay above {threshold:%} up to {rate_pps:at least}{lossy:?; but {lossy} of
        {hold:sample} of the hold lost more}{mean_pps:?; the last sample's mean is {mean_pps:at least}, and
        nothing more is certain}"""
        + _EARLIER
    )


class Knee(Reason, code="knee"):
    """The load from which loss stays above the threshold.

    step_pps: to the first lossy sample; late: samples between in which the tester was late; earlier_pps: a
    lower load at which loss passed the threshold too. hidden_pps: the last load without that loss, if it is
    above the best rate that came back: a queue hid the loss.
    """

    threshold: Fraction
    step_pps: Fraction
    late: int
    earlier_pps: Fraction | None
    hidden_pps: Fraction | None = None
    says = f"""{{hidden_pps:?at most the best rate received: a queue hid the loss up to {{hidden_pps}}|loss
        stays above {{threshold:%}} from here on; {{late:?known to {{step_pps}}, as the tester was late in the
        {{late:sample}} before|one step of the ramp is {{step_pps}}}}{_EARLIER}}}"""


class KneeAtStart(Reason, code="knee-at-start"):
    """Loss is above the threshold in the whole ramp."""

    threshold: Fraction
    says = "loss above {threshold:%} from the first sample of the ramp on"


class SecondRamp(Reason, code="second-ramp"):
    """A knee as a second ramp across it shows it."""

    knee: Reason
    says = "{knee}; from a second ramp across the knee"


class NoHold(Reason, code="no-hold"):
    """A ramp without a hold."""

    says = "no hold"


class HoldReceived(Reason, code="hold-received"):
    """Frames received in a hold. is_capped: no more than the load asked for counts.

    above: why more came than the line carries. edge: a frame or a burst at its edge, and the rate is the
    line's. declared: nothing enforces the line. mix: more small frames came than the mix has.
    """

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


REASONS: Codes = declared(globals())
