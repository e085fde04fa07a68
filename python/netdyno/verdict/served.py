"""Whether an emulated device that was served in real time had its core: else its drops are the tester's."""

from __future__ import annotations

from netdyno.values.outcome import Outcome
from netdyno.values.served import read_served
from netdyno.verdict.reasons import ServedDeviceLate

LONG_GAP_NS = 10 * 10**6
"""81 full frames of 100 Mbit/s come at once after it: more than many a queue holds."""
LATE = 20
"""One part in so many of the trial, late in all."""


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
