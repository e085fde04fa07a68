"""Losses that no wait of the kernel's threads for frames (`ksoftirqd`) explains, however long they waited.

Frames that a wait held back come in a bunch. A device that loses frames for that begins to do so in the time
of the wait or soon after it, and at less load its queue has room again sooner. One that loses the same share
of frames at loads apart, in more samples than there were waits, has reasons of its own.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from netdyno.stats.intervals import Interval, of_share
from netdyno.verdict.excuses import BEGUN_NS, Timed, count_apart, delay_ns, find_begins, lost_by_sample

LOADS = 3
"""So many loads, each half or more above the one before, have to lose the same share."""


@dataclass(frozen=True)
class SteadyLoss:
    """The trials of a case, and which of them lost a share of frames that others lost at other loads."""

    trials: Sequence[Timed] = ()
    _known: dict[str | None, Sequence[tuple[Fraction, Interval]]] = field(default_factory=dict, init=False)

    def has(self, timed: Timed, of: str | None) -> bool:
        """Whether a trial lost this share of a stream, or of all, whatever waited."""
        if of not in self._known:
            each = (_find_share(one, of) for one in self.trials)
            self._known[of] = [found for found in each if found is not None]
        own = _find_share(timed, of)
        if own is None:
            return False
        _, mine = own
        # Intervals of several shares that overlap have one share in common, the highest of their lower ends.
        shares = [one.low for _, one in self._known[of] if mine.low <= one.low <= mine.high] + [mine.low]
        return any(
            count_apart(load for load, one in self._known[of] if one.low <= share <= one.high) >= LOADS
            for share in shares
        )


def _find_share(timed: Timed, of: str | None) -> tuple[Fraction, Interval] | None:
    """The load of a trial, and the interval of the share that it lost.

    None: no more samples lost frames, in no time of a wait and in no row of losses that begins with one, than
    there were waits; or when these were is unknown.
    """
    trial = timed.trial
    if not timed.is_constant or sum(one.waited_ns for one in trial.softirq_waits) != trial.softirq_waited_ns:
        return None
    judged = [stream for stream in trial.streams if of in (None, stream.name)]
    lost = lost_by_sample(judged)
    lossy = [number for number, frames in enumerate(lost) if frames]
    touched: set[int] = set()
    begun: set[int] = set()
    waits = 0
    for wait in trial.softirq_waits:
        begin = max(wait.from_ns - wait.waited_ns - delay_ns(trial), 0) // trial.sample_ns
        if wait.until_ns >= 0 and begin < len(lost):
            touched.update(range(begin, wait.until_ns // trial.sample_ns + 1))
            begun.update(range(begin, (wait.until_ns + BEGUN_NS[0]) // trial.sample_ns + 1))
            waits += 1
    begins = list(find_begins(lossy))
    own = [one for one in lossy if one not in touched and begins[bisect(begins, one) - 1] not in begun]
    if not own or len(lossy) <= waits:
        return None
    sent = sum(stream.offered for stream in judged)
    return Fraction(sent, timed.sent_ns), of_share(min(sum(lost), sent), sent)
