"""A fixed load that was sent with frames late, however many were caught up on: the limit stays as it is."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from netdyno.values.load import Trial
from netdyno.values.number import count
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Codes, Reason, declared

UNEVEN = Fraction(1, 100)
"""Frames that were sent late by more than this share of the time were no even load, even if all were sent."""


class SentUnevenly(Reason, code="sent-unevenly"):
    """Frames of a fixed load were sent late by more than a hundredth of the time, though none need be
    missing. latest_ns: by how much, at most. trials: in how many of those that values rest on."""

    latest_ns: int
    trials: int
    of: int
    says = "the load was uneven{_where}: frames were sent up to {latest_ns} late"

    @property
    def _where(self) -> str:
        return f" in {count(self.trials)} of {count(self.of)} trials" if self.of > 1 else ""


def find_uneven_load(trials: Collection[tuple[Trial, Outcome]]) -> SentUnevenly | None:
    """Whether frames of any of these trials, of one constant load each, were sent so late; None: of none."""
    each = [(outcome.health.latest_departure_ns, trial.duration_ns) for trial, outcome in trials]
    late = [latest_ns for latest_ns, planned_ns in each if latest_ns > UNEVEN * planned_ns]
    return SentUnevenly(max(late), len(late), len(each)) if late else None


REASONS: Codes = declared(globals())
