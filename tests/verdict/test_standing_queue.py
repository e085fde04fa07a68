"""A rate that is line rate with a queue that stands: stalls fill it, and a full line never empties it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from methodlab import run_here, text
from netdyno.campaign.reasons import REASONS
from netdyno.plan import parse
from netdyno.reports.model.from_store import view
from netdyno.reports.model.headline import headline
from netdyno.store import open_run
from netdyno.values.number import duration
from netdyno.verdict.reasons import LineFull

pytest.importorskip("netdyno._engine", reason="the engine is not built")

STALLS = "sweep: {loads: [10%, 50%, 100%], duration: 1s}"


@pytest.mark.parametrize(("kind", "size"), [("emulated/bridge", "1518B"), ("emulated/router", "1280B")])
def test_line_rate_over_a_queue_that_stands_says_so(kind: str, size: str, tmp_path: Path) -> None:
    """The line's rate is what it brings in: what a stall of milliseconds left behind stays."""
    plan = text(STALLS, kind=f"{kind}, settings: {{behaviour: stalls}}", profile=f"size: {size}")
    with open_run(run_here(parse(plan), tmp_path).folder, REASONS) as run:
        (case,) = run.cases
        shown = headline(view(run))
    verdict = case.verdict("west-east", "loss-free load")
    assert verdict is not None
    assert verdict.limit == "line"
    assert isinstance(verdict.reason, LineFull)
    queue_ns = verdict.reason.queue_ns
    assert queue_ns is not None
    assert case.result is not None
    rows = next(one for one in case.result.tables if one.name == "Latency against load")
    names = [column.name for column in rows.columns]
    (mean,) = (row[names.index("mean")] for row in rows.rows if row[names.index("load")] == 1)
    assert isinstance(mean, Fraction)
    assert queue_ns == int(mean)
    assert shown.line_rate == ("yes", f"with a standing queue ({duration(queue_ns)})")


@pytest.mark.parametrize(("behaviour", "loads"), [("steady", "[10%, 100%]"), ("stalls", "[10%, 50%]")])
def test_line_without_a_queue_at_the_end_has_none_standing(
    behaviour: str, loads: str, tmp_path: Path
) -> None:
    plan = text(
        f"sweep: {{loads: {loads}, duration: 1s}}",
        kind=f"emulated/bridge, settings: {{behaviour: {behaviour}}}",
        profile="size: 1518B",
    )
    with open_run(run_here(parse(plan), tmp_path).folder, REASONS) as run:
        (case,) = run.cases
    reasons = [one.reason for one in case.verdicts]
    assert not any(getattr(reason, "queue_ns", None) for reason in reasons)
