"""What the tester is calibrated for, beside what it found of the device."""

from __future__ import annotations

from fractions import Fraction

from netdyno.reports.model.view import RunView
from netdyno.values import number as printed
from netdyno.values.proven import Proven

COLUMNS = ("Traffic", "Most without loss", "Latency floor", "Noise", "Rate error", "Calibration")
TITLE = "Calibration"
CAPTION = (
    "The tester by itself, its ports joined with no device between them: frames a second of each direction,"
    " the median latency, and the 99.9th percentile above it."
)


def rows(run: RunView) -> list[tuple[str, ...]]:
    """A row for each traffic with what was proven of it; empty: of none."""
    found = {
        (case.profile, case.direction, case.proven): None for case in run.cases if case.proven is not None
    }
    return [
        (" / ".join(part for part in (profile, direction) if part), *_cells(proven))
        for profile, direction, proven in found
    ]


def _cells(proven: Proven) -> tuple[str, ...]:
    return (
        "not found" if proven.max_fps is None else printed.rate(proven.max_fps, "pps"),
        _time(proven.latency_floor_ns),
        _time(proven.latency_noise_ns),
        "" if proven.rate_error_ppm is None else f"{printed.fixed(proven.rate_error_ppm, 1)} ppm",
        proven.id if proven.expired is None else f"{proven.id}, which proves nothing now: {proven.expired}",
    )


def _time(ns: int | None) -> str:
    return "" if ns is None else printed.duration(Fraction(ns))
