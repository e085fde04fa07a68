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
from netdyno.values.outcome import Outcome
from netdyno.verdict.excuses import (
    BEGUN_NS,
    Timed,
    Witnesses,
    count_apart,
    delay_ns,
    find_begins,
    judge_loss,
    lost_by_sample,
)

LOADS = 3
"""So many loads, each half or more above the one before, have to lose the same share."""


@dataclass(frozen=True)
class SteadyLoss:
    """The trials of a case, and which of them lost a share of frames that others lost at other loads.

    witnesses: what the device is known to take; None: what each trial shows alone.
    """

    trials: Sequence[Timed] = ()
    witnesses: Witnesses | None = None
    _known: dict[str | None, Sequence[_Apart]] = field(default_factory=dict, init=False)

    def count_frames(self, timed: Timed, of: str | None) -> int:
        """Frames of a stream, or of all, that a trial lost apart from all waits; 0 where other loads did not
        lose the same share so."""
        if of not in self._known:
            each = (self._find_apart(one, of) for one in self.trials)
            self._known[of] = [found for found in each if found is not None]
        own = self._find_apart(timed, of) if self._known[of] else None
        if own is None:
            return 0
        return own.frames if _is_common(own, self._known[of]) else 0

    def is_alike(self, timed: Timed, of: str | None) -> bool:
        """Whether a trial lost the same share, of a stream or of all, as others at loads apart: pauses lose
        more of a higher load. It proves nothing, for all these loads may have had their pauses."""
        each = [_lost_share(one, of) for one in self.trials]
        own = _lost_share(timed, of)
        return own is not None and _is_common(own, [one for one in each if one is not None])

    def _find_apart(self, timed: Timed, of: str | None) -> _Apart | None:
        """What a trial lost apart from all waits.

        None: no more samples lost frames, in no time of a wait and in no row of losses that begins with one,
        than there were waits; the tester may have lost these itself; or when the waits were is unknown.
        """
        trial = timed.trial
        dated_ns = sum(one.waited_ns for one in trial.softirq_waits)
        if not timed.is_constant or dated_ns != trial.softirq_waited_ns:
            return None
        judged = [stream for stream in trial.streams if of in (None, stream.name)]
        lost = lost_by_sample(judged)
        lossy = [number for number, frames in enumerate(lost) if frames]
        if not lossy:
            return None
        touched, begun, waits = _find_samples_of_waits(trial, len(lost))
        begins = list(find_begins(lossy))
        own = [one for one in lossy if one not in touched and begins[bisect(begins, one) - 1] not in begun]
        if not own or len(lossy) <= waits:
            return None
        # What the tester dropped, or its own pauses may have lost, has no date: it may be any of these.
        frames = sum(lost[one] for one in own) - _count_own(trial)
        if frames > 0:
            frames -= judge_loss(timed, self.witnesses or Witnesses.of([timed]), of).explained
        sent = sum(
            tx for stream in judged for number, tx in enumerate(stream.tx) if number not in touched | begun
        )
        if frames <= 0 or frames > sent:
            return None
        offered = sum(stream.offered for stream in judged)
        return _Apart(Fraction(offered, timed.sent_ns), frames, of_share(frames, sent))


@dataclass(frozen=True)
class _Apart:
    """Of a trial its load, frames a ns, frames that it lost (apart from waits, or all), their share."""

    load: Fraction
    frames: int
    share: Interval


def _lost_share(timed: Timed, of: str | None) -> _Apart | None:
    """All that a trial of one load lost; None: nothing."""
    judged = [stream for stream in timed.trial.streams if of in (None, stream.name)]
    lost, sent = (sum(getattr(one, name) for one in judged) for name in ("missing", "offered"))
    if not timed.is_constant or not 0 < lost <= sent:
        return None
    return _Apart(Fraction(sent, timed.sent_ns), lost, of_share(lost, sent))


def _is_common(own: _Apart, known: Sequence[_Apart]) -> bool:
    """Whether as many loads as are asked for, apart from each other, lost the same share."""
    # Intervals of several shares that overlap have one share in common, the highest of their lower ends.
    shares = [one.share.low for one in known if own.share.low <= one.share.low <= own.share.high]
    return any(
        count_apart(one.load for one in known if one.share.low <= share <= one.share.high) >= LOADS
        for share in (*shares, own.share.low)
    )


def _find_samples_of_waits(trial: Outcome, samples: int) -> tuple[set[int], set[int], int]:
    """The samples in which something waited; those in which losses begin with that; how many waits."""
    touched: set[int] = set()
    begun: set[int] = set()
    waits, most_ns = 0, delay_ns(trial)
    for wait in trial.softirq_waits:
        begin = max(wait.from_ns - wait.waited_ns - most_ns, 0) // trial.sample_ns
        if wait.until_ns >= 0 and begin < samples:
            touched.update(range(begin, wait.until_ns // trial.sample_ns + 1))
            begun.update(range(begin, (wait.until_ns + BEGUN_NS[0]) // trial.sample_ns + 1))
            waits += 1
    return touched, begun, waits


def _count_own(trial: Outcome) -> int:
    """Frames that the tester, its ports or others' frames lost."""
    others, _ = trial.others
    own = trial.dropped + trial.unseen + trial.not_sent + trial.damaged + others
    return own + trial.health.rx_too_long + sum(one.beyond_window for one in trial.streams)
