"""Reasons about frames that were lost, came late or came twice."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from netdyno.errors import counted
from netdyno.values.number import count, duration, rate
from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class StillLosing(Reason):
    """Loss lasted to the end of the trial, so when it would have ended is unknown."""

    code: ClassVar[str] = "still-losing"

    def __str__(self) -> str:
        return "frames were still lost when the trial ended. Use a longer `watch`"


@dataclass(frozen=True)
class LostAtThroughput(Reason):
    """Trials that lost frames at a throughput or below it, and the counts of the first of them.

    lost, sent: with those that a memif peer did not take. beyond: more received than sent; dropped: by the
    tester itself.
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
        several = f"{counted(self.trials, 'later trial')}, first " if self.trials > 1 else ""
        counts = [f"{count(self.lost)} of {counted(self.sent, 'frame')}"] if self._is_lost else []
        counts += [f"{count(self.beyond)} more received than sent"] if self.beyond else []
        counts += [f"{count(self.copies)} duplicated"] if self.copies else []
        counts += [f"{count(self.dropped)} dropped by the tester itself"] if self.dropped else []
        at = rate(self.rate_pps, "pps", "at least")
        return (
            f"frames were lost at this load or below in {several}`{self.first}` at {at}: {', '.join(counts)}"
        )

    @property
    def _is_lost(self) -> bool:
        return bool(self.lost) or not (self.beyond or self.copies)


@dataclass(frozen=True)
class CameAfter(Reason):
    """Frames arrived after the trial that counted them as lost: the loss is unknown."""

    code: ClassVar[str] = "came-after"
    frames: int

    def __str__(self) -> str:
        return (
            f"{counted(self.frames, 'frame')} came only after the trial that counted them as lost. Use a"
            " longer `drain`"
        )


@dataclass(frozen=True)
class MayBeLate(Reason):
    """Frames took as long as a trial waited: missing frames may have been on their way."""

    code: ClassVar[str] = "may-be-late"
    longest_ns: int
    drain_ns: int

    def __str__(self) -> str:
        return (
            f"frames took up to {duration(self.longest_ns)}, and the trial ended {duration(self.drain_ns)}"
            " after the last was sent: frames counted as lost may only be late. Use a longer `drain`"
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
            " longer after they were sent than the `drain` lasts: they are counted as lost where they were"
            " sent"
        )


@dataclass(frozen=True)
class NotMeasured(Reason):
    """A part of a suite could not be measured."""

    code: ClassVar[str] = "not-measured"
    cause: Reason

    def __str__(self) -> str:
        return f"not measured: {self.cause}"


@dataclass(frozen=True)
class Untimed(Reason):
    """Frames lost at the load of a latency, which have none."""

    code: ClassVar[str] = "untimed"
    lost: int

    def __str__(self) -> str:
        return f"{counted(self.lost, 'frame')} lost at that load, without a latency"


@dataclass(frozen=True)
class Copied(Reason):
    """Frames that came more than once."""

    code: ClassVar[str] = "copied"
    copies: int

    def __str__(self) -> str:
        return f"{counted(self.copies, 'frame')} came more than once, which is no loss"


REASONS: Codes = declared(globals())
