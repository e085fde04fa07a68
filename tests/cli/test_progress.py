"""How the live view names an attempt at a trial: its number, how many there can be, and why it is retried."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from netdyno.campaign.attempts import ATTEMPTS
from netdyno.cli.live import Now
from netdyno.methods.reasons.tester import Preempted
from words import said

PAUSE = Preempted(72_000_000)
LINK = said("the link went down")


def invalid(reason: object, name: str = "search-1") -> Any:
    """An attempt that does not count."""
    return SimpleNamespace(name=name, number=0, result=SimpleNamespace(invalid=(reason,)))


@pytest.mark.parametrize(
    ("before", "number", "most"),
    [
        ([PAUSE], 2, 3),
        ([PAUSE, PAUSE], 3, 3),
        ([LINK], 2, ATTEMPTS),
        ([PAUSE, LINK], 3, ATTEMPTS + 1),
    ],
)
def test_progress_of_a_retried_trial_names_attempt_and_reason(
    before: list[Any], number: int, most: int
) -> None:
    case: Any = None
    now = Now(case, trial="search-1", phase="traffic", retries=2, invalid=[invalid(one) for one in before])
    assert f", attempt {number} of {most} ({before[-1]})" in now.where


def test_progress_of_another_trial_names_no_attempt() -> None:
    case: Any = None
    now = Now(case, trial="search-2", phase="traffic", retries=2, invalid=[invalid(PAUSE)])
    assert "attempt" not in now.where
