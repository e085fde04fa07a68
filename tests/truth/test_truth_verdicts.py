"""Each headline of a case has a verdict, and each goal of the plan that of the value it is about."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from laboratory import Device, Silent, plan_text, truth_kind
from methodlab import OneProcess
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.devices import KINDS
from netdyno.plan import parse
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from pages import report_text

pytest.importorskip("netdyno._engine", reason="the engine is not built")

LEAKING = Device(impairments=({"fault": "lose", "when": {"every": {"every": 1000, "first": 500}}},))
GOAL = "exceed: 0%, duration: 10ms, sum: 10ms, initial: 10ms"
NDR = f"{{ndr: {{warmup: 0s, goals: {{PDR: {{loss: 0.5%, {GOAL}}}, NDR: {{loss: 0%, {GOAL}}}}}}}}}"
SUITE = """{rfc2544: {
    throughput: {duration: 4ms, width: 10%}, latency: {repeats: 2, duration: 4ms, after: 0s},
    back-to-back: {repeats: 1, longest: 2ms}, recovery: {repeats: 1, overload: 4ms, watch: 4ms},
    frame-loss: null, reset: null}}"""


def run(folder: Path, device: Device, method: str, goals: str) -> tuple[dict[str, str], dict[str, bool], str]:
    """The limit of each headline, the goals that were met, and the report as CSV."""
    text = plan_text(
        traffic={"64b": "{size: 64B}"}, method=method, matrix={"device": ["it"], "direction": ["uni"]}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(KINDS, "emulated/truth", truth_kind({"it": device}))
        patch.setattr(runner, "Workers", OneProcess)
        outcome = runner.run(
            parse(f"{text}goals: [{goals}]\n", name="truth.yaml", base=folder),
            folder,
            Silent(),
            runner.Selection(),
        )
        with open_run(outcome.folder, REASONS) as stored:
            (case,) = stored.cases
            page = report_text("csv", view(stored))
            assert sum(stored.summary().limits.values()) == 1, "a case counts once"
    limits = {one.value: one.limit for one in case.verdicts}
    assert [*limits] == [one for one in case.result.headlines if one in limits]  # type: ignore[union-attr]
    return limits, {goal.name: bool(goal.passed) for goal in case.goals}, page


def test_device_with_little_loss_limits_ndr_and_the_line_limits_pdr(tmp_path: Path) -> None:
    """One frame in a thousand is lost: only so few as to miss all of these pass whole, and with 0.5 % of loss
    the line does."""
    limits, goals, page = run(tmp_path, LEAKING, NDR, "PDR >= 100%, NDR >= 10%")
    assert limits == {"NDR": "device", "PDR": "line"}
    assert [*limits] == ["NDR", "PDR"], "the one that stands for the case is first"
    assert goals == {"PDR >= 100%": True, "NDR >= 10%": False}
    rows = list(csv.DictReader(io.StringIO(page)))
    assert {row["value"]: row["limit"] for row in rows if row["scope"] == "sum"} == limits
    assert all("1 of" in row["reason"] or row["value"] == "PDR" for row in rows)


def test_suite_names_the_limit_of_each_test(tmp_path: Path) -> None:
    limits, goals, _ = run(tmp_path, Device(), SUITE, "throughput >= 100%")
    assert goals == {"throughput >= 100%": True}
    # What does not apply to a device as fast as its line has no trials, and so is nothing of the device's.
    assert limits == {
        "throughput": "line",
        "latency": "device",
        "back-to-back frames": "inconclusive",
        "recovery time": "inconclusive",
    }
