"""Cells that tables of several methods share: a row for each stream and one for all together.

Counts are summed over streams, loss never across them: frames that one stream has too many do not make up for
those another one lost. Histograms are merged; percentiles are never averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from netdyno.methods.reasons.common import LostAndRefused, Taken
from netdyno.methods.reasons.loss import StillLosing
from netdyno.stats.delay_variation import PDV_SHARE
from netdyno.stats.histogram import Histogram, decode, merge
from netdyno.stats.intervals import loss_bound, percentile
from netdyno.values.finding import Cell, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation

PERCENTILES = (Fraction(1, 2), *(1 - Fraction(1, 10**nines) for nines in range(1, 6)))

COUNTED = columns("offered: fps | sent: frames | received: frames | lost: frames | loss: share")

TIMED = columns(
    "min: ns | mean: ns | p50: ns | p90: ns | p99: ns | p99.9: ns | p99.99: ns | p99.999: ns"
    " | max: ns | PDV: ns"
)
"""One-way latency, first bit out to last bit in (FILO). A percentile p needs 10 / (1 - p) frames."""


def scopes(
    outcome: Outcome, situation: Situation | None = None
) -> tuple[tuple[str, tuple[StreamResult, ...]], ...]:
    """Each stream that sent, each port group of the situation, and all together if there are several."""
    sending = tuple(stream for stream in outcome.streams if stream.intended)
    each = tuple((stream.name, (stream,)) for stream in sending)
    if len(each) == 1:
        return each
    groups = []
    if situation is not None:
        for group in situation.groups:
            names = [situation.streams[member] for member in situation.members(group)]
            theirs = tuple(stream for stream in sending if stream.name in names)
            groups += [(group, theirs)] if theirs else []
    return (*each, *groups, ("sum", sending))


def count_lost(streams: Sequence[StreamResult]) -> int:
    """Frames that did not come back intact."""
    return sum(max(stream.missing, 0) for stream in streams)


def is_clean(streams: Sequence[StreamResult]) -> bool:
    """Whether of each stream some frames were sent, none was refused, and each came back once and intact.

    By stream: frames that one of them made do not make up for those another one lost.
    """
    return all(
        one.offered > 0 and not (one.lost or one.corrupted or one.duplicates or one.refused)
        for one in streams
    )


def count_refused(streams: Sequence[StreamResult]) -> int:
    """Frames that a memif peer's full ring did not take."""
    return sum(one.refused for one in streams)


STILL = StillLosing()
"""Said of a trial in which loss lasted to its end."""


def is_still_losing(outcome: Outcome, from_ns: int, until_ns: int) -> tuple[bool, ...]:
    """Of each stream, whether loss from `from_ns` on lasted to the end of a trial whose traffic ended at
    `until_ns`: to its last sample, or to the last tenth of the time between where that is shorter.

    The trial has to have observed gaps. When that loss would have ended, it does not tell.
    """
    last_ns = until_ns - min(outcome.sample_ns, (until_ns - from_ns) // 10)
    return tuple(one.last_loss_ns is not None and one.last_loss_ns >= last_ns for one in outcome.streams)


def longest(values: Sequence[Value], kind: ValueKind) -> Value:
    """The longest of the times of several streams, as that of all: only a bound where one is no more."""
    unknown = [value for value in values if value.number is None]
    if not unknown:
        return Value(
            kind,
            "sum",
            max(value.number or Fraction(0) for value in values),
            note=Taken("longest-of-streams"),
        )
    least = max(
        (end for value in values for end in (value.number, value.low) if end is not None), default=None
    )
    return Value(kind, "sum", None, least, None, unknown[0].note)


def loss(streams: Sequence[StreamResult]) -> Fraction | None:
    """The share of frames lost or refused, of those sent or refused; None if there were none."""
    asked = sum(stream.offered + stream.refused for stream in streams)
    return Fraction(count_lost(streams) + count_refused(streams), asked) if asked else None


def note_loss(at: Reason, streams: Sequence[StreamResult]) -> Reason:
    """The note of a loss ratio: the load; if frames were refused, also how many were, and how many lost."""
    not_taken = count_refused(streams)
    if not not_taken:
        return at
    return LostAndRefused(
        at, count_lost(streams), not_taken, sum(one.offered + one.refused for one in streams)
    )


def loss_bounds(ratio: Fraction | None, sent: int) -> tuple[Fraction | None, Fraction | None]:
    """The 95 % bounds of a loss ratio where none of so many frames was lost; else None and None."""
    return (Fraction(0), loss_bound(sent)) if ratio == 0 and sent else (None, None)


def cells_of_counts(streams: Sequence[StreamResult], duration_ns: int) -> tuple[Cell, ...]:
    """The cells of `COUNTED`. The offered load is the frames sent over the planned time."""
    sent, received = sum(one.offered for one in streams), sum(one.received for one in streams)
    rate = Fraction(sent * 10**9, duration_ns)
    return rate, Fraction(sent), Fraction(received), Fraction(count_lost(streams)), loss(streams)


@dataclass(frozen=True)
class Times:
    """Latencies of several streams together."""

    count: int
    min_ns: int
    max_ns: int
    mean_ns: Fraction
    histogram: Histogram

    @classmethod
    def of(cls, streams: Sequence[StreamResult]) -> Times | None:
        """The latencies of streams; None if a frame is not timed, out of range, or before departure."""
        timed = [one.latency for one in streams if one.latency is not None and one.latency.count]
        if not timed or any(one.over or one.negative for one in timed):
            return None
        count = sum(one.count for one in timed)
        return cls(
            count,
            min(one.min_ns for one in timed),
            max(one.max_ns for one in timed),
            Fraction(sum(one.sum_ns for one in timed), count),
            merge(decode(one.histogram) for one in timed),
        )

    def percentile(self, share: Fraction) -> int | None:
        """As `Histogram.percentile`; never more than the greatest there was."""
        found = self.histogram.percentile(share)
        return None if found is None else min(found, self.max_ns)


def cells_of_times(streams: Sequence[StreamResult]) -> tuple[Cell, ...]:
    """The cells of `TIMED`."""
    times = Times.of(streams)
    if times is None:
        return (None,) * len(TIMED)
    worst = times.percentile(PDV_SHARE)
    cells = [times.min_ns, times.mean_ns, *map(times.percentile, PERCENTILES), times.max_ns]
    cells.append(None if worst is None else worst - times.min_ns)
    return tuple(None if cell is None else Fraction(cell) for cell in cells)


def over(found: Sequence[int | None]) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    """Median, first and 99th percentile over trials; None if one of them had too few frames to say."""
    known = sorted(Fraction(one) for one in found if one is not None)
    if not known or len(known) < len(found):
        return None, None, None
    return median(known), percentile(known, Fraction(1, 100)), percentile(known, Fraction(99, 100))
