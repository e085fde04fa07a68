"""A device that is served in real time without its core is no limit: the tester is."""

from __future__ import annotations

import pytest
from netdyno.values.health import Health
from netdyno.values.outcome import ConnectionCounts, Outcome, Phase
from netdyno.values.series import Series
from netdyno.values.served import LATE, LONGEST_GAP, SOURCE
from netdyno.verdict.reasons import ServedDeviceLate
from netdyno.verdict.served import find_late_device

MS = 1_000_000


def outcome(gaps_ms: tuple[int, ...] = (0, 1), late_ms: int = 0, spilled: int = 0) -> Outcome:
    """A trial of a second. gaps_ms: as the device was read, first before the trial."""
    gaps = tuple(gap * MS for gap in gaps_ms)
    times = tuple(100 * MS * number for number in range(len(gaps)))
    ports = [{"name": name, "spilled": spilled, "unheard": 0} for name in ("d0", "d1")]
    return Outcome(
        ConnectionCounts((), 10**9),
        Health(0, 0, 0, 0, 0, None),
        (Phase("traffic", 0, 1000 * MS),),
        devices=({"name": "dut", LATE: late_ms * MS, "ports": ports},),
        series=(Series(SOURCE, SOURCE, LONGEST_GAP, "ns", times, gaps),),
    )


@pytest.mark.parametrize(
    ("made", "fields"),
    [
        (outcome((0, 1, 11)), (11 * MS, 0, 0)),
        (outcome(late_ms=51), (1 * MS, 51 * MS, 0)),
        (outcome(spilled=2), (1 * MS, 0, 4)),
    ],
)
def test_served_device_without_its_core_was_late(made: Outcome, fields: tuple[int, int, int]) -> None:
    assert find_late_device(made) == ServedDeviceLate(*fields)


def test_served_device_in_time_was_not_late() -> None:
    # A gap before the trial is none of it.
    assert find_late_device(outcome((99, 10), late_ms=50)) is None
