"""What the tester is calibrated for, beside what it found of the device."""

from __future__ import annotations

from fractions import Fraction

from netdyno.reports.model.table import PRINTED, Table
from netdyno.reports.model.view import RunView
from netdyno.values import number as printed
from netdyno.values.finding import columns
from netdyno.values.proven import Proven

COLUMNS = columns(
    f"Traffic | Most without loss: {PRINTED} | Latency floor: {PRINTED} | Noise: {PRINTED}"
    f" | Rate error: {PRINTED} | Calibration"
)
CAPTION = (
    "The tester by itself, its ports joined with no device between them: frames a second of each direction,"
    " the median latency, and the 99.9th percentile above it."
)


def table(run: RunView) -> Table:
    """A row for each traffic with what was proven of it; without rows: of none."""
    found = {
        (case.profile, case.direction, case.proven): None for case in run.cases if case.proven is not None
    }
    rows = [
        (" / ".join(part for part in (profile, direction) if part), *_cells(proven))
        for profile, direction, proven in found
    ]
    return Table("Calibration", (CAPTION,), COLUMNS, rows, cases=(None,) * len(rows))


def _cells(proven: Proven) -> tuple[str, ...]:
    return (
        "not found" if proven.max_fps is None else printed.searched(proven.max_fps),
        _time(proven.latency_floor_ns),
        _time(proven.latency_noise_ns),
        "" if proven.rate_error_ppm is None else f"{printed.fixed(proven.rate_error_ppm, 1)} ppm",
        _name(proven),
    )


def _name(proven: Proven) -> str:
    """The calibration, and of several hosts whose it is."""
    if proven.expired is not None:
        return f"{proven.id}, which proves nothing now: {proven.expired}"
    host = f" of host `{proven.host}`" if proven.host else ""
    others = f", the least of {len(proven.others) + 1} hosts'" if proven.others else ""
    return f"{proven.id}{host}{others}"


def _time(ns: int | None) -> str:
    return "" if ns is None else printed.duration(Fraction(ns))
