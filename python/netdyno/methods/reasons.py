"""Why a trial did not offer what it was to, as methods and verdicts say it: clauses about the tester."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from netdyno.errors import counted
from netdyno.values.number import count, duration, rate, share
from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class Unsent(Reason):
    """The tester did not send all frames of a stream."""

    code: ClassVar[str] = "unsent"
    stream: str
    unsent: int
    intended: int

    def __str__(self) -> str:
        part = share(Fraction(self.unsent, self.intended))
        return (
            f"the tester left {count(self.unsent)} of {counted(self.intended, 'frame')} of"
            f" `{self.stream}` unsent"
            f" ({part})"
        )


@dataclass(frozen=True)
class SentLonger(Reason):
    """The tester took longer than planned to send a stream, which is a lower rate. unsent: not even then."""

    code: ClassVar[str] = "sent-longer"
    stream: str
    planned_ns: int
    over_ns: int
    unsent: int
    intended: int

    def __str__(self) -> str:
        left = f", {count(self.unsent)} of {counted(self.intended, 'frame')} unsent" if self.unsent else ""
        return (
            f"the tester could not send `{self.stream}` faster ({duration(self.over_ns)} behind"
            f" schedule after"
            f" {duration(self.planned_ns)}{left})"
        )


@dataclass(frozen=True)
class Preempted(Reason):
    """The tester was preempted while it sent."""

    code: ClassVar[str] = "preempted"
    pause_ns: int

    def __str__(self) -> str:
        return f"tester preempted for {duration(self.pause_ns)}"


@dataclass(frozen=True)
class ShortAfterPause(Reason):
    """A pause made the tester send less than it was to."""

    code: ClassVar[str] = "short-after-pause"
    short: Reason
    pause_ns: int

    def __str__(self) -> str:
        return f"{self.short}, after a pause of {duration(self.pause_ns)}"


@dataclass(frozen=True)
class StillLosing(Reason):
    """Loss lasted to the end of the trial, so when it would have ended is unknown."""

    code: ClassVar[str] = "still-losing"

    def __str__(self) -> str:
        return "frames were still lost at the end: watch it for longer"


@dataclass(frozen=True)
class Survey(Reason):
    """A ramp holds no load long enough for a throughput."""

    code: ClassVar[str] = "survey"
    held_ns: int

    def __str__(self) -> str:
        return (
            f"survey only: each load was held for {duration(self.held_ns)}. Use `method: throughput` for an"
            " RFC 2544 result"
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
            f"short ramp-up: a queue of {counted(self.queue_frames, 'frame')} in the device"
            f" hides loss, so the"
            f" knee may show {rate(self.error_pps, 'pps', 'at most')} too high. Use a longer `ramp`"
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
class LostAtThroughput(Reason):
    """Trials that lost frames at a throughput or below it, and the counts of the first of them.

    beyond: more received than sent; dropped: by the tester itself.
    """

    code: ClassVar[str] = "lost-at-throughput"
    trials: int
    first: str
    rate_pps: Fraction
    lost: int
    sent: int
    beyond: int
    copies: int
    dropped: int

    def __str__(self) -> str:
        several = f"{counted(self.trials, 'trial')}, first in " if self.trials > 1 else ""
        counts = [f"{count(self.lost)} of {counted(self.sent, 'frame')}"] if self._is_lost else []
        counts += [f"{count(self.beyond)} more received than sent"] if self.beyond else []
        counts += [f"{count(self.copies)} duplicated"] if self.copies else []
        counts += [f"{count(self.dropped)} dropped by the tester itself"] if self.dropped else []
        at = rate(self.rate_pps, "pps", "at least")
        return f"frames were lost at it or below in {several}`{self.first}` at {at}: {', '.join(counts)}"

    @property
    def _is_lost(self) -> bool:
        return bool(self.lost) or not (self.beyond or self.copies)


@dataclass(frozen=True)
class CameAfter(Reason):
    """Frames that came after the trial that counted them as lost: what is missing is unknown."""

    code: ClassVar[str] = "came-after"
    frames: int

    def __str__(self) -> str:
        return (
            f"{counted(self.frames, 'frame')} came only after the trial that counted them as"
            f" lost. Use a longer"
            " `drain`"
        )


@dataclass(frozen=True)
class MayBeLate(Reason):
    """Frames took as long as a trial waited: what is missing may have been on its way."""

    code: ClassVar[str] = "may-be-late"
    longest_ns: int
    drain_ns: int

    def __str__(self) -> str:
        return (
            f"frames took up to {duration(self.longest_ns)}, and the trial ended"
            f" {duration(self.drain_ns)} after"
            " the last was sent: what is missing may have been on its way. Use a longer `drain`"
        )


@dataclass(frozen=True)
class StaleFrames(Reason):
    """Frames of earlier trials that came in later ones, where no result rests on them."""

    code: ClassVar[str] = "stale-frames"
    frames: int
    trials: int

    def __str__(self) -> str:
        return (
            f"{counted(self.frames, 'frame')} of earlier trials came in {counted(self.trials, 'later one')},"
            " longer after they were sent than the `drain` lasts: they are counted as lost where"
            " they were sent"
        )


REASONS: Codes = declared(globals())
