"""How many lost frames the tester's own timing may explain; docs/verdicts.md has the rules.

The question of each lost frame is whether a device would have lost it, too, had every frame left when it was
due. Suppose a device that then loses nothing: a queue or a bucket of at least one frame, served at least at
the load. What arrives late arrives in a bunch. Each frame that is moved in time changes what such a device
loses by one frame at most, so a pause explains no more frames than it moved.

Samples of a trial in which nothing was lost are witnesses: a bunch that the device took there it takes
anywhere at no higher load, for such a device does not depend on the time of day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest

from netdyno.stats.histogram import decode
from netdyno.values.outcome import Lag, LatePeriod, Outcome, StreamResult

TRUSTED_RATE = Fraction(9, 10)
"""A device that passed a rate over a whole trial serves at least this share of it: a bucket that makes up the
rest holds more frames than any bunch of on-time frames."""

ENOUGH = 16
"""Frames of each flow, from which on one that never came is dead."""

SECOND_NS = 10**9


@dataclass(frozen=True)
class Timed:
    """A trial, and how long it was to send, ns; None: unknown."""

    trial: Outcome
    planned_ns: int | None = None

    @property
    def sent_ns(self) -> int:
        """How long it sent, ns, as planned or as it did."""
        samples = max((len(stream.tx) for stream in self.trial.streams), default=0)
        return max(self.planned_ns or self.trial.sample_ns * samples, 1)


@dataclass(frozen=True)
class Judged:
    """What a trial lost, and how much of that the tester's timing, rings and drops may explain.

    sure: frames that came elsewhere or corrupted, or of flows that never came: no pause causes that.
    """

    lost: int
    excused: int
    sure: int

    @property
    def left(self) -> int:
        """Frames that the tester does not explain."""
        return max(self.lost - self.excused, self.sure)


@dataclass(frozen=True)
class Witnesses:
    """How tightly frames came where nothing was lost: the bunches that the device is known to take.

    bunch: frames that left at once, beyond the first. closer_ns: where one stream was sent, the most that a
    frame left closer to the one before it than due, less the time between two due frames. rate: what the
    device passed over a whole trial, frames per second, where one stream was sent.
    """

    bunch: int = 0
    closer_ns: Fraction | None = None
    rate: Fraction = Fraction(0)
    dead: Mapping[str, Fraction] = field(default_factory=dict)
    """The share of a stream's flows that never came, the same number of them at every load: no bunches
    that come and go lose all of one flow and none of others, wherever in time its frames are."""

    @classmethod
    def of(cls, trials: Iterable[Timed], flows: int = 0) -> Witnesses:
        """Those of all trials of a case. flows: of each stream; 0: unknown."""
        trials = tuple(trials)
        bunch, rate = 0, Fraction(0)
        closer: list[Fraction] = []
        for timed in trials:
            trial = timed.trial
            alone = len(trial.streams) == 1
            if alone:
                rate = max(rate, Fraction(trial.streams[0].received * SECOND_NS, timed.sent_ns))
            clean = [bool(row) and all(tx == came for tx, came in row) for row in _rows(trial.streams)]
            for stream in trial.streams:
                known = () if stream.lag is None else stream.lag.by_sample
                for whole, tx, (_, closer_ns, at_once) in zip(clean, stream.tx, known, strict=False):
                    if not whole or not tx:
                        continue
                    bunch = max(bunch, at_once - 1)
                    if alone and closer_ns:
                        # No more than on average: after a pause more of them leave.
                        load = min(Fraction(tx, trial.sample_ns), Fraction(stream.offered, timed.sent_ns))
                        closer.append(closer_ns - 1 / load)
        return cls(bunch, max(closer, default=None), rate, dict(_dead(trials, flows)))

    def harmless_ns(self, fps: Fraction) -> Fraction:
        """The lag up to which frames of this load, all streams together, make no bunch that would be lost."""
        if not fps:
            return Fraction(0)
        gap_ns = SECOND_NS / fps
        least = max(self.bunch * gap_ns, Fraction(0))
        if self.closer_ns is not None:
            least = max(least, self.closer_ns + gap_ns)
        if self.rate:
            least = max(least, gap_ns - SECOND_NS / (TRUSTED_RATE * self.rate))
        return least


def judge_loss(timed: Timed, witnesses: Witnesses, of: str | None = None, other: int = 0) -> Judged:
    """What a trial lost, of one stream or of all, and what excuses it.

    Frames of all streams meet in the device: whoever was late excuses what any of them lost afterwards.
    other: frames that something else excuses.
    """
    trial = timed.trial
    judged = [stream for stream in trial.streams if of is None or stream.name == of]
    sure = sum(
        stream.corrupted
        + max(stream.elsewhere, min(int(stream.offered * witnesses.dead.get(stream.name, 0)), stream.lost))
        for stream in judged
    )
    lost = [sum(max(tx - came, 0) for tx, came in row) for row in _rows(judged)]
    if not any(lost):
        # What has no date may have been lost behind any pause.
        lost = [*lost[1:], sum(max(stream.missing, 0) for stream in judged)]
    lossy = [(number, frames) for number, frames in enumerate(lost) if frames]
    pauses, small = sorted(_dated(timed, witnesses)), _Small.of(timed, witnesses, [one for one, _ in lossy])
    left, begun, excused = other, 0, 0
    for number, frames in lossy:
        while begun < len(pauses) and pauses[begun][0] < (number + 1) * trial.sample_ns:
            left += pauses[begun][1]
            begun += 1
        taken = min(frames, left)
        left -= taken
        excused += taken + small.take(number, frames - taken)
    return Judged(sum(lost), excused, sure)


@dataclass
class _Small:
    """Frames that left on time, as far as that goes, but later than any witness.

    moved: how many, that excuse nothing yet. most: how many of them may excuse in each lossy sample.
    """

    moved: int
    most: Mapping[int, int]

    @classmethod
    def of(cls, timed: Timed, witnesses: Witnesses, lossy: Sequence[int]) -> _Small:
        """Those of a trial that lost frames in these samples."""
        trial = timed.trial
        lags = [stream.lag for stream in trial.streams if stream.lag is not None]
        sent = [sum(tx for tx, _ in row) for row in _rows(trial.streams)]
        average = Fraction(sum(sent) * SECOND_NS, timed.sent_ns)
        most: dict[int, int] = {}
        least: Fraction | None = None
        for number in lossy:
            if number >= len(sent):
                continue
            fps = max(Fraction(sent[number] * SECOND_NS, trial.sample_ns), average)
            harmless_ns = witnesses.harmless_ns(fps)
            late_ns = max((min(_lag_in(lag, number), lag.limit_ns) for lag in lags), default=0)
            if late_ns <= harmless_ns:
                continue
            least = harmless_ns if least is None else min(least, harmless_ns)
            # Behind each frame that it takes, even a device of one place loses no more than these.
            behind = int(fps * late_ns / SECOND_NS) + len(trial.streams)
            most[number] = sent[number] * behind // (behind + 1)
        if least is None:
            return cls(0, {})
        buckets = [one for lag in lags for one in decode(lag.histogram).buckets]
        moved = sum(frames for ns, frames in buckets if ns > least) - sum(lag.late for lag in lags)
        return cls(max(moved, 0), most)

    def take(self, number: int, frames: int) -> int:
        """How many of so many frames lost in a sample they explain."""
        taken = min(frames, self.moved, self.most.get(number, 0))
        self.moved -= taken
        return taken


def _lag_in(lag: Lag, number: int) -> int:
    """The most a frame was late in a sample, ns."""
    return lag.by_sample[number][0] if number < len(lag.by_sample) else 0


def _dead(trials: Sequence[Timed], flows: int) -> Iterator[tuple[str, Fraction]]:
    """Streams and the share of their flows that never came."""
    if not flows:
        return
    found: dict[str, set[int]] = {}
    loads: dict[str, set[int]] = {}
    for timed in trials:
        for stream in timed.trial.streams:
            if stream.offered < ENOUGH * flows:
                continue
            found.setdefault(stream.name, set()).add(flows - stream.flows_received)
            loads.setdefault(stream.name, set()).add(stream.offered)
    for name, counts in found.items():
        if len(counts) == 1 and len(loads[name]) > 1 and (dead := counts.pop()) > 0:
            yield name, Fraction(dead, flows)


def _dated(timed: Timed, witnesses: Witnesses) -> Iterator[tuple[int, int]]:
    """From when on, ns, a late period excuses frames, and how many: none if witnesses were as late."""
    trial = timed.trial
    delay_ns = max((one.latency.max_ns for one in trial.streams if one.latency is not None), default=0)
    total = max(
        Fraction(max((sum(tx for tx, _ in row) for row in _rows(trial.streams)), default=0), trial.sample_ns),
        Fraction(sum(stream.offered for stream in trial.streams), timed.sent_ns),
    )
    harmless_ns = witnesses.harmless_ns(total * SECOND_NS)
    for stream in trial.streams:
        # Frames per ns.
        load = max(
            Fraction(max(stream.tx, default=0), trial.sample_ns), Fraction(stream.offered, timed.sent_ns)
        )
        for period in _periods(stream, trial):
            if period.longest_ns > harmless_ns:
                moved = int(load * period.sum_ns) + period.times
                # What was on its way when the late frames came may be lost to them.
                yield max(period.from_ns - delay_ns, 0), min(moved, period.frames)


def _periods(stream: StreamResult, trial: Outcome) -> Sequence[LatePeriod]:
    if stream.lag is not None:
        return stream.lag.periods
    # Nothing is known of single frames: one period, all the time.
    late_ns = trial.health.latest_departure_ns
    if not late_ns or not stream.offered:
        return ()
    return (LatePeriod(0, late_ns, late_ns, late_ns, 1, stream.offered),)


def _rows(streams: Sequence[StreamResult]) -> Iterator[list[tuple[int, int]]]:
    """Of each sample the frames that each stream sent in it, and how many of them came back."""
    for row in zip_longest(*(zip(stream.tx, stream.arrived, strict=False) for stream in streams)):
        yield [pair for pair in row if pair is not None]
