"""Words of plans and reports that name what they are about: the group, the section, what is said once."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from methodlab import text
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from netdyno.reports.model import joined
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.values.finding import Cell
from pages import report_text


def rendered(place: Path, plan: str) -> tuple[str, str]:
    """A run's standard, and its terminal report on one line."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    outcome = runner.run(parse(plan), place, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        assert run.cases[0].result is not None
        return run.cases[0].result.standard, " ".join(report_text("terminal", view(run)).split())


@pytest.mark.parametrize(
    ("pattern", "links", "stated"),
    [
        ("full-mesh", 3, "RFC 2544 section 26.1, RFC 2889 section 5.1"),
        ("many-to-one", 3, "RFC 2544 section 26.1, RFC 2889 section 5.2"),
        ("half-to-half", 4, "RFC 2544 section 26.1, RFC 2889 section 5.4"),
        ("pairs", 2, "RFC 2544 section 26.1"),
    ],
)
def test_a_mesh_states_the_section_whose_traffic_it_is(
    tmp_path: Path, pattern: str, links: int, stated: str
) -> None:
    plan = text("throughput: {duration: 10ms, width: 50%}", links=links, matrix=f"pattern: [{pattern}]")
    standard, page = rendered(tmp_path, plan)
    assert standard == stated
    assert f"Compliance with {stated}: " in page


def test_what_is_not_run_in_any_case_stands_once(tmp_path: Path) -> None:
    plan = text("errored-frames: {duration: 10ms, loads: [10%]}", matrix="direction: [uni, bidir]")
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    outcome = runner.run(parse(plan), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        (table,) = (one for one in joined.join_tables(view(run)) if one.name == "Errored frames")
    words = [row for row in table.rows if not any(isinstance(cell, Fraction) for cell in row)]
    assert len(words) == 4
    assert table.cases == (0, 1, None, None, None, None)


def test_a_group_with_too_few_ports_is_named() -> None:
    plan = text("throughput: {duration: 1s}", links=4, matrix="pattern: [full-mesh]")
    with pytest.raises(PlanErrors) as found:
        parse(plan + "groups: {big: [west, east, south], small: [north]}\n")
    (error,) = found.value.errors
    assert error.message == "`full-mesh` wants 2 or more ports, and the group `small` has 1"


def test_reset_by_hand_in_virtual_time_is_refused() -> None:
    with pytest.raises(PlanErrors) as found:
        parse(text("reset: {kind: by-hand, throughput: 1kpps}"))
    (error,) = found.value.errors
    assert error.path == "method.reset.kind"
    assert error.code == "unsupported"
    parse(text("reset: {kind: link-down, throughput: 1kpps}"))


def test_rows_of_cases_that_found_nothing_stay_theirs() -> None:
    rows: list[tuple[Cell, ...]] = [("64B", "n/a", None, "fail"), ("1518B", "n/a", None, "fail")]
    assert joined._told_once(rows, [0, 1], 1, 2) == (rows, [0, 1])
    left = [(size, "runts", None, "not run: too short") for size in ("64B", "1518B")]
    assert joined._told_once(left, [0, 1], 1, 2) == ([("", "runts", None, "not run: too short")], [None])
