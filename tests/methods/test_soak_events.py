"""A soak in virtual time with a carrier loss, a burst of losses and a single loss: all three dated."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from methodlab import run_here, table, text, value
from netdyno.campaign.reasons import REASONS
from netdyno.plan import parse
from netdyno.reports.model.from_store import view
from netdyno.store import StoredRun, open_run
from netdyno.values.finding import Result
from pages import report_text

S, MS = 10**9, 10**6
HOUR = 60 * S
"""Of a run at 1/60 of the times."""
INCIDENTS = "d1 down at 2h for 3min, d1 drops at 5h for 12s, d0 drops at 9h for 600ms"
"""At 1/60 of the times and 100 frames a second each way the last one is a single frame."""
GOALS = 'goals: ["loss <= 0", "loss <= 1%", "carrier losses <= 0", "carrier losses <= 1"]\n'


def plan_text(method: str, incidents: str, matrix: str = "direction: [bidir]") -> str:
    given = text(method, matrix=matrix, trial="sample: 1s, settle: 1s, drain: 1s")
    kind = "kind: emulated/bridge"
    return given.replace(kind, f'{kind}, settings: {{incidents: "{incidents}"}}')


def run(folder: Path, method: str, incidents: str, goals: str = "") -> tuple[int, StoredRun]:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    outcome = run_here(parse(plan_text(method, incidents) + goals), folder)
    return outcome.exit_code, open_run(outcome.folder, REASONS)


def result_of(stored: StoredRun) -> Result:
    found = stored.cases[0].result
    assert found is not None
    return found


def test_three_losses_of_twelve_hours_are_dated_on_the_first_screen(tmp_path: Path) -> None:
    """Twelve hours in 72 parts, rehearsed in twelve minutes."""
    code, stored = run(tmp_path, "soak: {load: 100pps, duration: 12h}", INCIDENTS, f"{GOALS}scale: 1/60\n")
    with stored:
        result, verdicts, goals = result_of(stored), stored.cases[0].verdicts, stored.cases[0].goals
        shown = view(stored)
    assert code == 1
    assert [goal.passed for goal in goals] == [False, True, False, True]
    rows = table(result, "Loss events")
    found = [
        (row["event"], row["stream"], row["lost"], row["first lost"], row["last lost"], row["no carrier"])
        for row in rows
    ]
    # Frame k is due at k * 10 ms. All that is due while the link is down is lost, each way.
    assert found == [
        (1, "west-east", 300, 2 * HOUR, 2 * HOUR + 2990 * MS, "east"),
        (1, "east-west", 300, 2 * HOUR, 2 * HOUR + 2990 * MS, "east"),
        (2, "west-east", 20, 5 * HOUR, 5 * HOUR + 190 * MS, None),
        (3, "east-west", 1, 9 * HOUR, 9 * HOUR, None),
    ]
    (carrier,) = table(result, "Carrier losses")
    assert (carrier["port"], carrier["from"], carrier["until"]) == ("east", 2 * HOUR, 2 * HOUR + 3 * S)
    assert (carrier["no carrier for"], carrier["lost meanwhile"], carrier["limit"]) == (3 * S, 600, "link")
    assert value(result, "carrier losses").number == 1
    assert value(result, "loss ratio").number == Fraction(621, 2 * 72_000)
    # What was lost beside the carrier loss is the device's.
    assert {one.scope: one.limit for one in verdicts} == dict.fromkeys(
        ("west-east", "east-west", "sum"), "device"
    )
    by_scope = {one.scope: one.reason.fields() for one in verdicts}
    assert [(by_scope[name]["lost"], by_scope[name]["of_links"]) for name in ("west-east", "east-west")] == [
        (20, 300),
        (1, 300),
    ]
    trials = json.loads(report_text("json", shown))["cases"][0]["trials"]
    losses = [one for trial in trials for one in trial.get("carrier_losses", ())]
    assert losses == [{"port": "east", "from_ns": 0, "until_ns": 3 * S, "cause": "link", "times": 1}]
    for form in ("summary", "html", "markdown"):
        page = report_text(form, shown)
        first = page.split('id="reasoning"')[0] if form == "html" else page.split("## Results")[0]
        for event in ("0:02:00.000000", "0:05:00.000000", "0:09:00.000000", "east for 3 s"):
            assert event in first.replace("\N{NO-BREAK SPACE}", " "), (form, event)


def test_carrier_loss_alone_is_the_limit_link(tmp_path: Path) -> None:
    """Without goals an event is no failure."""
    code, stored = run(tmp_path, "soak: {load: 1kpps, duration: 4s, part: 1s}", "d1 down at 1500ms for 100ms")
    with stored:
        verdicts = stored.cases[0].verdicts
    assert code == 0
    assert {one.limit for one in verdicts} == {"link"}
    (reason,) = {one.reason for one in verdicts if one.scope == "west-east"}
    fields = reason.fields()
    assert reason.code == "carrier-lost"
    assert (fields["lost"], fields["losses"], fields["without_ns"]) == (100, 1, 100 * MS)
    assert (fields["ports"], fields["by_device"], fields["others"]) == (["east"], False, 0)


def test_port_that_the_device_shut_is_the_devices(tmp_path: Path) -> None:
    code, stored = run(tmp_path, "soak: {load: 1kpps, duration: 2s, part: 0s}", "d1 shut at 1s for 100ms")
    with stored:
        verdicts, result = stored.cases[0].verdicts, result_of(stored)
    assert code == 0
    assert {one.limit for one in verdicts} == {"device"}
    assert [row["limit"] for row in table(result, "Carrier losses")] == ["device"]


def test_carrier_loss_over_a_border_of_parts_is_one_event(tmp_path: Path) -> None:
    code, stored = run(tmp_path, "soak: {load: 1kpps, duration: 3s, part: 1s}", "d1 down at 900ms for 1200ms")
    with stored:
        result = result_of(stored)
    assert code == 0
    (carrier,) = table(result, "Carrier losses")
    assert (carrier["from"], carrier["until"], carrier["times"]) == (900 * MS, 2100 * MS, 1)
    assert carrier["lost meanwhile"] == 2 * 1200
    rows = table(result, "Loss events")
    assert {row["event"] for row in rows} == {1}
    assert {row["no carrier"] for row in rows} == {"east"}
    assert value(result, "loss events").number == value(result, "carrier losses").number == 1


def test_carrier_loss_without_lost_frames_is_an_event(tmp_path: Path) -> None:
    """A frame each 500 ms; the link is away for 100 ms between two of them."""
    code, stored = run(
        tmp_path,
        "soak: {load: 2pps, duration: 6s, part: 0s}",
        "d1 down at 1700ms for 100ms",
        'goals: ["carrier losses <= 0"]\n',
    )
    with stored:
        result, verdicts, shown = result_of(stored), stored.cases[0].verdicts, view(stored)
    assert code == 1
    assert value(result, "loss ratio").number == 0
    assert {one.limit for one in verdicts} == {"none"}
    assert "0:00:01.700000" in report_text("summary", shown)


def test_searches_have_no_carrier_losses(tmp_path: Path) -> None:
    """Nothing befalls its trials: in real time they would be retried."""
    method = "throughput: {maximum: 1kpps, duration: 2s, width: 1kpps}"
    _, stored = run(tmp_path, method, "d1 down at 50ms for 10ms")
    with stored:
        assert all(trial.result.carrier_losses == () for trial in stored.trials(0))
        assert {one.limit for one in stored.cases[0].verdicts} == {"none"}


@pytest.mark.parametrize(("apart", "events", "limit"), [("500ms", 1, "link"), ("499ms", 2, "device")])
def test_losses_within_apart_of_a_carrier_loss_are_its_event(
    tmp_path: Path, apart: str, events: int, limit: str
) -> None:
    """The last frame without carrier is due at 1,099 ms; one more is lost 500 ms behind it."""
    method = f"soak: {{load: 1kpps, duration: 4s, part: 0s, apart: {apart}}}"
    _, stored = run(tmp_path, method, "d1 down at 1s for 100ms, d1 drops at 1599ms for 1ms")
    with stored:
        result, verdicts = result_of(stored), {one.scope: one for one in stored.cases[0].verdicts}
    assert value(result, "loss events", "west-east").number == events
    assert verdicts["west-east"].limit == limit
    assert verdicts["east-west"].limit == "link"


def test_carrier_loss_in_a_performance_test_is_reported(tmp_path: Path) -> None:
    """Y.1564: the steps before it are spared; a service that fails for it is not the device's fault."""
    method = "y1564: {services: {it: {cir: 1kpps}}, step: 1s, performance: 20s}"
    code, stored = run(tmp_path, method, "d1 down at 5s for 2s", 'goals: ["carrier losses <= 0"]\n')
    with stored:
        result, case, shown = result_of(stored), stored.cases[0], view(stored)
    assert code == 1
    assert [goal.passed for goal in case.goals] == [False]
    (row,) = table(result, "Carrier losses")
    assert (row["port"], row["from"], row["until"], row["limit"]) == ("east", 5 * S, 7 * S, "link")
    failed = [one for one in table(result, "Service configuration") if one["result"] == "fail"]
    assert {one["step"] for one in failed} <= {"policing"}
    assert case.verdict("sum").limit == "link"
    assert "0:00:05.000000" in report_text("summary", shown)
