"""Whether an emulated device that was served in real time had its core: else its drops are the tester's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from netdyno.values.outcome import Outcome
from netdyno.values.served import read_served
from netdyno.values.verdict import Verdict
from netdyno.verdict.reasons import ServedDeviceLate

LONG_GAP_NS = 10 * 10**6
"""81 full frames of 100 Mbit/s come at once after it: more than many a queue holds."""
LATE = 20
"""One part in so many of the trial, late in all."""
OF_DEVICE = ("device", "policer", "loss", "inconclusive")
"""Limits that the drops of a late device look like."""


def with_late_device(found: Mapping[str, Verdict], outcomes: Iterable[Outcome]) -> dict[str, Verdict]:
    """The verdicts by scope: the tester is the limit in place of a device that was served late."""
    late = next(filter(None, map(find_late_device, outcomes)), None)
    return {
        scope: Verdict("tester", late) if late is not None and verdict.limit in OF_DEVICE else verdict
        for scope, verdict in found.items()
    }


def find_late_device(outcome: Outcome) -> ServedDeviceLate | None:
    """How a served device was late in a trial; None: it was not, or there is none."""
    served = read_served(outcome)
    if served is None:
        return None
    lost = served.spilled + served.unheard
    took_ns = sum(phase.duration_ns for phase in outcome.phases)
    if not lost and served.longest_gap_ns <= LONG_GAP_NS and served.late_ns * LATE <= took_ns:
        return None
    return ServedDeviceLate(served.longest_gap_ns, served.late_ns, lost)
