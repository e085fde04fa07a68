"""Bursts from the plan to the report: of an emulated device with a known buffer, what it holds."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from netdyno.calibration.traffic import key
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.cli.outline import lines
from netdyno.plan import load, parse
from netdyno.plan.matrix import cases
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from pages import report_text

pytest.importorskip("netdyno._engine", reason="the engine is not built")

EXAMPLE = Path(__file__).parents[2] / "examples" / "bursts.yaml"


def held(text: str, place: Path) -> dict[str, Fraction | None]:
    """The throughput of each profile as a share of the line, None where no load passed."""
    outcome = runner.run(parse(text, name="bursts.yaml"), place, watcher(), runner.Selection())
    found: dict[str, Fraction | None] = {}
    with open_run(outcome.folder, REASONS) as run:
        for case in run.cases:
            assert case.result is not None, case.error
            assert case.wiring is not None
            (value,) = (one for one in case.result.values if one.scope == "sum")
            found[case.head.axes["profile"]] = (
                value.number / case.wiring.situation.line_fps if value.number else None
            )
            verdict = case.verdict("sum")
            assert verdict is not None
            assert verdict.limit == "device"
        for report in ("markdown", "html"):
            assert "in bursts of 4,096" in report_text(report, view(run))
        told = json.loads(report_text("json", view(run)))
        assert [case.get("burst_frames") for case in told["cases"]] == [None, 16, 1024, 4096][
            : len(told["cases"])
        ]
    return found


def test_the_example_finds_the_buffer_of_the_device(tmp_path: Path) -> None:
    """5.14 Mpps are 34.5 % of the line, in steps of one: 34 passes and 35 does not."""
    found = held(EXAMPLE.read_text(), tmp_path)
    passed = Fraction(34, 100)
    assert found == {"one-by-one": passed, "16-at-once": passed, "1k-at-once": passed, "4k-at-once": None}


def test_the_longest_burst_that_fits_is_the_closed_form(tmp_path: Path) -> None:
    """Frames come each 67.2 ns and one is done each 194.6: of n, (n-1) x 67.2 / 194.6 are done when the last
    one comes, one is at work and 1024 wait. 517 + 1025 hold a burst of 1500; 552 + 1025 do not hold 1600."""
    text = EXAMPLE.read_text().replace("burst: 1024", "burst: 1500").replace("burst: 4096", "burst: 1600")
    text = text.replace("[one-by-one, 16-at-once, 1k-at-once, 4k-at-once]", "[1k-at-once, 4k-at-once]")
    plan = parse(text, name="bursts.yaml")
    outcome = runner.run(plan, tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        numbers = [next(one.number for one in case.result.values) for case in run.cases if case.result]
    assert bool(numbers[0])
    assert not numbers[1]


def test_a_calibration_without_bursts_proves_nothing_with_them() -> None:
    plan = load(EXAMPLE)
    wiring = plan.kind.wire(plan.lab.links, {})
    keys = {key(case, wiring, verify=True) for case in cases(plan)}
    assert len(keys) == len(plan.profiles)


def test_the_outline_says_which_profiles_are_in_bursts() -> None:
    told = list(lines(load(EXAMPLE)))
    assert "  16-at-once: in bursts of 16 frames, back to back" in told
    assert not any(line.startswith("  one-by-one") for line in told)
