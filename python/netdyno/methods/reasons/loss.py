"""Reasons about frames that were lost, came late or came twice."""

from __future__ import annotations

from fractions import Fraction

from netdyno.errors import counted
from netdyno.values.number import count, rate
from netdyno.values.reason import Codes, Reason, declared


class StillLosing(Reason, code="still-losing"):
    """Loss lasted to the end of the trial, so when it would have ended is unknown."""

    says = "frames were still lost when the trial ended. Use a longer `watch`"


class LostAtThroughput(Reason, code="lost-at-throughput"):
    """Trials that lost frames at a throughput or below it, and the counts of the first at their lowest load.

    lost, sent: with those that a memif peer did not take. beyond: more received than sent; dropped: by the
    tester itself.
    """

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


class ClassesInPhase(Reason, code="classes-in-phase"):
    """A class of few frames lost a far larger share than another one in the same trial, at even spacing."""

    traffic: str
    other: str
    loss: Fraction
    other_loss: Fraction
    trial: str
    says = """`{traffic}` lost {loss:.1%} beside {other_loss:.1%} of `{other}` at {trial}: evenly spaced
        frames may meet one queue in phase. Set `arrival: poisson` to tell that from a policer"""


class CameAfter(Reason, code="came-after"):
    """Frames arrived after the trial that counted them as lost: the loss is unknown."""

    frames: int
    says = "{frames:frame} came only after the trial that counted them as lost. Use a longer `drain`"


class MayBeLate(Reason, code="may-be-late"):
    """Frames took as long as a trial waited: missing frames may have been on their way."""

    longest_ns: int
    drain_ns: int
    says = """frames took up to {longest_ns}, and the trial ended {drain_ns} after the last was sent: frames
        counted as lost may only be late. Use a longer `drain`"""


class StaleFrames(Reason, code="stale-frames"):
    """Frames of earlier trials that came in later ones, where no result rests on them."""

    frames: int
    trials: int
    says = """{frames:frame} of earlier trials came in {trials:later one}, longer after they were sent than
        the `drain` lasts: they are counted as lost where they were sent"""


class NotMeasured(Reason, code="not-measured"):
    """A part of a suite could not be measured."""

    cause: Reason
    says = "not measured: {cause}"


class Untimed(Reason, code="untimed"):
    """Frames lost at the load of a latency, which have none."""

    lost: int
    says = "{lost:frame} lost at that load, without a latency"


class Copied(Reason, code="copied"):
    """Frames that came more than once."""

    copies: int
    says = "{copies:frame} came more than once, which is no loss"


REASONS: Codes = declared(globals())
