"""A device that is served in real time without its core is no limit: the tester is."""

from __future__ import annotations

import pytest
from netdyno.values.health import Health
from netdyno.values.outcome import ConnectionCounts, Outcome, Phase
from netdyno.values.series import Series
from netdyno.values.served import LATE, LONGEST_GAP, SOURCE
from netdyno.values.verdict import Verdict
from netdyno.verdict.reasons import LimitNotJudged, NoValue, ServedDeviceLate
from netdyno.verdict.served import with_late_device

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


FOUND = {"west-east": Verdict("device", NoValue()), "sum": Verdict("line", LimitNotJudged())}


@pytest.mark.parametrize(
    ("made", "fields"),
    [
        (outcome((0, 1, 11)), (11 * MS, 0, 0)),
        (outcome(late_ms=51), (1 * MS, 51 * MS, 0)),
        (outcome(spilled=2), (1 * MS, 0, 4)),
    ],
)
def test_late_served_device_is_a_limit_of_the_tester(made: Outcome, fields: tuple[int, int, int]) -> None:
    found = with_late_device(FOUND, [outcome(), made])
    assert found["west-east"] == Verdict("tester", ServedDeviceLate(*fields))
    # What filled the line did so whatever the device did.
    assert found["sum"] == FOUND["sum"]


def test_served_device_in_time_changes_no_verdict() -> None:
    # A gap before the trial is none of it.
    assert with_late_device(FOUND, [outcome((99, 10), late_ms=50)]) == FOUND
