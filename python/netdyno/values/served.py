"""How an emulated device fared that was served in real time: without its core it is the tester's fault."""

from __future__ import annotations

from dataclasses import dataclass

from netdyno.values.outcome import Outcome

SOURCE = "the served device"
"""Of its series."""
LONGEST_GAP, LATE = "longest_gap", "late"
"""Names of its series and counters."""


@dataclass(frozen=True)
class ServedHealth:
    """Of a served device in one trial.

    longest_gap_ns: the longest time it did nothing for want of its core. late_ns: the sum of all of over a
    millisecond. spilled: frames that left it and found no room. unheard: frames that came and were lost
    before the device.
    """

    longest_gap_ns: int
    late_ns: int
    spilled: int
    unheard: int


def read_served(outcome: Outcome) -> ServedHealth | None:
    """How the served device of a trial fared; None: there was none."""
    device = next((one for one in outcome.devices if LATE in one), None)
    if device is None:
        return None
    gaps = [one for one in outcome.series if (one.source, one.name) == (SOURCE, LONGEST_GAP)]
    ports = device["ports"]
    return ServedHealth(
        # The first reading, before the trial, has the time since the one before.
        max((gap for one in gaps for gap in one.values[1:]), default=0),
        device[LATE],
        sum(port["spilled"] for port in ports),
        sum(port["unheard"] for port in ports),
    )
