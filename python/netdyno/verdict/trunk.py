"""Loss on a trunk inside the device that follows from the tags on it, as declared.

A frame with a tag more takes more of the trunk than of the port that it came from: full ports then offer a
trunk of their rate more than it carries. Four ports of 10 Gbit/s with frames of 361.83 bytes on average fill
40 Gbit/s; with 4 bytes more each, 1 - 381.83 / 385.83 = 1.0367 % of them find no room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from netdyno.values import number as printed
from netdyno.values.finding import Result
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Codes, Reason, declared
from netdyno.values.situation import Situation
from netdyno.values.trunk import Trunk

AGREES = Fraction(6, 100)
"""Of the predicted loss: a queue that drops whole stretches of a mix loses a few per cent more of its short
frames or of its long ones than of others."""
SECOND_NS = 10**9


class TagOverhead(Reason, code="tag-overhead"):
    """The loss is what tags take of a trunk. predicted, measured: shares of the frames that crossed it.

    lost, sent: frames that crossed it. tag_bytes: that a frame has more on it. resolution: by how much the
    two shares may differ.
    """

    trunk_bps: int
    tag_bytes: int
    predicted: Fraction
    measured: Fraction
    resolution: Fraction
    lost: int
    sent: int

    def __str__(self) -> str:
        predicted, measured = (printed.percent(one, 4) for one in (self.predicted, self.measured))
        return (
            f"Tag overhead explains the loss: {self.tag_bytes} bytes more a frame on the trunk of"
            f" {printed.bits(self.trunk_bps)} predict {predicted}, measured {measured} (within"
            f" {printed.percent(self.resolution, 2, 'at most')})."
        )


REASONS: Codes = declared(globals())


def with_tag_overhead(
    result: Result, situation: Situation, trials: Sequence[tuple[Trial, Outcome]]
) -> Result:
    """The result with a note on the highest load, if tags on a trunk explain what was lost at it."""
    found = [one for trial, outcome in trials if (one := tag_overhead(trial, outcome, situation)) is not None]
    most = max(found, key=lambda one: (one.predicted, one.sent), default=None)
    return result if most is None else replace(result, notes=(*result.notes, most))


def tag_overhead(trial: Trial, outcome: Outcome, situation: Situation) -> TagOverhead | None:
    """What the tags on a trunk explain of the last segment of a trial; None: they explain nothing of it.

    They do only if the same frames without tags would have fitted, and the measured loss agrees with the
    predicted one. Unequal ways are not told apart: each is held against its own prediction.
    """
    trunk = situation.trunk
    if trunk is None or not trunk.more_bytes or not isinstance(trial.load, Frames) or not situation.places:
        return None
    ways = [one for near in (True, False) if (one := _Way.of(trial, outcome, situation, trunk, near))]
    if not any(way.predicted for way in ways) or any(way.bare for way in ways):
        return None
    if not all(way.agrees for way in ways):
        return None
    sent, lost = sum(way.sent for way in ways), sum(way.lost for way in ways)
    return TagOverhead(
        trunk_bps=trunk.rate_bps,
        tag_bytes=trunk.more_bytes,
        predicted=sum((way.predicted * way.sent for way in ways), Fraction(0)) / sent,
        measured=Fraction(lost, sent),
        resolution=max(way.resolution for way in ways),
        lost=lost,
        sent=sent,
    )


@dataclass(frozen=True)
class _Way:
    """Frames that cross the trunk one way, in samples of the last segment of a trial.

    bare: the share that would be lost without tags.
    """

    sent: int
    lost: int
    predicted: Fraction
    bare: Fraction
    queue: int

    @classmethod
    def of(
        cls, trial: Trial, outcome: Outcome, situation: Situation, trunk: Trunk, near: bool
    ) -> _Way | None:
        """None: nothing was sent this way."""
        span_ns = trial.load.segments[-1].duration_ns if isinstance(trial.load, Frames) else 0
        first = -(-(trial.duration_ns - span_ns) // outcome.sample_ns)
        until = trial.duration_ns // outcome.sample_ns
        names = [
            name
            for name, place in zip(situation.streams, situation.places, strict=True)
            if trunk.side(place.tx, place.rx) is near
        ]
        streams = [one for one in outcome.streams if one.name in names]
        sent = sum(sum(one.tx[first:until]) for one in streams)
        if not sent or until <= first:
            return None
        lost = sent - sum(sum(one.arrived[first:until]) for one in streams)
        per_s = Fraction(SECOND_NS, (until - first) * outcome.sample_ns)
        loads = [
            (sum(one.tx[first:until]) * per_s, Fraction(one.offered_bytes, one.offered))
            for one in streams
            if one.offered
        ]
        predicted, bare = trunk.lost_share(loads), replace(trunk, more_bytes=0).lost_share(loads)
        # The sizes of a mix are not those of its mean in every sample: full ports offer a trunk of their rate
        # a few frames more than it carries, or less.
        return cls(sent, lost, predicted, bare if bare > AGREES * predicted else Fraction(0), trunk.queue)

    @property
    def resolution(self) -> Fraction:
        """By how much predicted and measured share may differ: a few per cent, and what the queue holds."""
        return self.predicted * AGREES + Fraction(self.queue + 1, self.sent)

    @property
    def agrees(self) -> bool:
        """Whether the measured loss is the predicted one."""
        return abs(Fraction(self.lost, self.sent) - self.predicted) <= self.resolution
