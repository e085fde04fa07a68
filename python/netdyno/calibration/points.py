"""C2, C6, C8: at one load the error of the rate, the latency, and the spacing of frames."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import Any

from netdyno.calibration.bench import Shot
from netdyno.calibration.document import Point
from netdyno.stats.histogram import decode, merge

RATE_PPM = 100
"""Of a paced load: 0.01 %."""


def point(share_percent: int, shot: Shot, drift_ppm: float) -> Point:
    """drift_ppm: how much faster the tester's clock runs than the kernel's raw one, the measure of rates.

    Of two directions, and of several workers, the worse one is given. A rate is that of a direction, whoever
    sent it; spacing is that of what came to one worker's queue.
    """
    # The latencies of all directions in one histogram: percentiles are not averaged.
    timed = [stream.latency for stream in shot.result.streams if stream.latency is not None]
    merged = merge(decode(latency.histogram) for latency in timed)
    seen = [[one["departures"] | {"frames": one["frames"]} for one in queues] for queues in shot.spacing]
    spaced = [one for queues in seen for one in queues if one["frames"] > 1]
    whole = [_together(queues) for queues in seen]
    loads = shot.loads or (shot.fps,) * len(whole)
    errors = [
        error
        for one, fps in zip(whole, loads, strict=True)
        if one and (error := _rate_error_ppm(one, fps)) is not None
    ]
    worst = max(errors, key=abs, default=None)
    means = [(one["last_ps"] - one["first_ps"]) / (one["frames"] - 1) for one in spaced]
    return Point(
        share_percent=share_percent,
        fps=shot.fps,
        frames=sum(stream.received for stream in shot.result.streams),
        rate_error_ppm=None if worst is None else round(worst + drift_ppm, 3),
        latency_min_ns=min((latency.min_ns for latency in timed), default=None),
        latency_p50_ns=merged.percentile(Fraction(1, 2)),
        latency_p99_ns=merged.percentile(Fraction(99, 100)),
        latency_p999_ns=merged.percentile(Fraction(999, 1000)),
        gap_mean_ns=round(max(means) / 1000, 3) if means else None,
        gap_stdev_ns=round(
            max(_stdev_ps(one, mean) for one, mean in zip(spaced, means, strict=True)) / 1000, 3
        )
        if means
        else None,
        gap_max_ns=max(one["longest_ps"] for one in spaced) / 1000 if spaced else None,
        longest_burst=max((one["longest_burst"] for one in spaced), default=0),
        disturbed=shot.disturbed,
    )


def allowed_ppm(point: Point, streams: int) -> float:
    """The allowed error of the rate, ppm: 0.01 % and one frame of the trial."""
    frames = max(point.frames // max(streams, 1), 1)
    return RATE_PPM + 1e6 / frames


def _together(queues: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The first and the last departure of a direction, and how many frames came; None: fewer than two."""
    came = [one for one in queues if one["frames"]]
    frames = sum(one["frames"] for one in came)
    if frames < 2:
        return None
    first, last = min(one["first_ps"] for one in came), max(one["last_ps"] for one in came)
    return {"frames": frames, "first_ps": first, "last_ps": last}


def _rate_error_ppm(gaps: dict[str, Any], fps: Fraction) -> float | None:
    """From the first departure to the last, which are a whole number of gaps apart."""
    elapsed_ps = gaps["last_ps"] - gaps["first_ps"]
    if elapsed_ps <= 0:
        return None
    sent = Fraction((gaps["frames"] - 1) * 10**12, elapsed_ps)
    return float((sent / fps - 1) * 1_000_000)


def _stdev_ps(gaps: dict[str, Any], mean: float) -> float:
    """Of all gaps, those within a burst (nothing) among them."""
    return sqrt(max(gaps["squares_ps2"] / (gaps["frames"] - 1) - mean * mean, 0.0))
