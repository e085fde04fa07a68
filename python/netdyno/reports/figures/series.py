"""From the samples of a trial to the points of a figure: min, mean and max per bucket, so a dropout stays."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from netdyno.reports.model.view import TrialView


class Point(NamedTuple):
    """A bucket of samples, as exact as it is drawn. Rates are frames a second over all streams of the trial.

    loss: share of the frames that departed in the bucket and never arrived; None if none departed.
    """

    at_ns: int
    offered_fps: float
    rx_fps: float
    rx_min_fps: float
    rx_max_fps: float
    loss: float | None


@dataclass(frozen=True)
class Stretch:
    """A phase at a glance: counts by departure, rates by sample. Counts are of whole samples only."""

    offered: int
    lost: int
    duration_ns: int
    rx_mean_fps: Fraction
    rx_min_fps: Fraction
    rx_max_fps: Fraction


def samples_of(trial: TrialView, segment_name: str | None) -> range:
    """The samples that lie wholly in a segment; None: in any segment."""
    step = trial.result.sample_ns
    if segment_name is None:
        return range(0, -(-trial.duration_ns // step))
    found = trial.segment(segment_name)
    if found is None:
        return range(0)
    segment, start_ns = found
    return range(-(-start_ns // step), (start_ns + segment.duration_ns) // step)


def points(trial: TrialView, segment_name: str | None, buckets: int) -> list[Point]:
    """At most `buckets` points over a segment, or over the whole trial."""
    tx, rx, arrived = trial.result.samples.tx, trial.result.samples.rx, trial.result.samples.arrived
    span = samples_of(trial, segment_name)
    end = min(span.stop, len(tx))
    step = trial.result.sample_ns
    width = max(1, -(-(end - span.start) // buckets))
    found = []
    for first in range(span.start, end, width):
        bucket = slice(first, min(first + width, end))
        many = bucket.stop - first
        sent, received = sum(tx[bucket]), rx[bucket]
        # The first frames of a trial arrive later than they were sent, and its last sample may be a part.
        inner = received[1:-1] if segment_name is None and many > 3 else received
        found.append(
            Point(
                at_ns=(2 * first + many) * step // 2,
                offered_fps=sent * 10**9 / (step * many),
                rx_fps=sum(received) * 10**9 / (step * many),
                rx_min_fps=min(inner) * 10**9 / step,
                rx_max_fps=max(inner) * 10**9 / step,
                loss=(sent - sum(arrived[bucket])) / sent if sent else None,
            )
        )
    return found


def stretch(trial: TrialView, segment_name: str) -> Stretch | None:
    """A segment at a glance; None if it was not run or is shorter than a sample."""
    tx, rx, arrived = trial.result.samples.tx, trial.result.samples.rx, trial.result.samples.arrived
    span = samples_of(trial, segment_name)
    many = min(span.stop, len(tx)) - span.start
    if many <= 0:
        return None
    part = slice(span.start, span.start + many)
    per_sample = Fraction(10**9, trial.result.sample_ns)
    offered, received = sum(tx[part]), rx[part]
    return Stretch(
        offered=offered,
        lost=offered - sum(arrived[part]),
        duration_ns=many * trial.result.sample_ns,
        rx_mean_fps=sum(received) * per_sample / many,
        rx_min_fps=min(received) * per_sample,
        rx_max_fps=max(received) * per_sample,
    )
