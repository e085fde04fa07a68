"""The record of `make power`: the page shows it, and no device without a fault is blamed in it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "power"))
import page
from faults import FAULTS, INNOCENT, scenario

ROWS = page.read(page.RECORD)


def test_page_shows_the_record() -> None:
    _, _, rest = page.PAGE.read_text().partition(page.BEGIN)
    assert rest.partition(page.END)[0].strip() == page.text(ROWS)


def test_no_device_without_a_fault_is_blamed() -> None:
    innocent = [row for row in ROWS if row["fault"] in INNOCENT]
    assert innocent
    assert "device" not in {row["limit"] for row in innocent}


def is_right(row: dict[str, str]) -> bool:
    return row["limit"] == scenario(row["fault"], int(row["seed"])).right


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_named_if_the_tester_is_left_alone(fault: str) -> None:
    """17 of 20, also of those runs in which nothing disturbed it. The device's log says that it did it."""
    alone = [row for row in ROWS if row["fault"] == fault and row["tester"] == "undisturbed"]
    undisturbed = [row for row in alone if page.state(row) == "undisturbed"]
    for rows in (alone, undisturbed):
        assert len(rows) >= 20
        assert sum(map(is_right, rows)) >= 17 * len(rows) / 20


def test_faults_are_named_in_95_of_100_runs_if_nothing_disturbs_the_tester() -> None:
    rows = [row for row in ROWS if row["fault"] in FAULTS and page.state(row) == "undisturbed"]
    assert sum(map(is_right, rows)) >= 95 * len(rows) / 100
