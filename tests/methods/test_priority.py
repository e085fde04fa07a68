"""A priority test: voice at a constant rate beside a default class that rises above the line."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.plan import load, parse
from netdyno.reports import Look
from netdyno.reports.figures.hero import hero
from netdyno.reports.formats import terminal
from netdyno.reports.model.from_store import view
from netdyno.reports.model.run_set import RunSet
from netdyno.store import open_run
from netdyno.values.classes import TABLE
from netdyno.values.records import StoredCase
from netdyno.verdict.reasons import LineOversubscribed, LineShared
from netdyno.verdict.watched import plain

EXAMPLE = Path(__file__).parents[2] / "examples/priority.yaml"

LINE_FPS = Fraction(10**10, 1538 * 8)
"""Frames of 1518 bytes a second on 10 Gbit/s."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the example, its trials a fifth as long."""
    assert load(EXAMPLE).goals
    text = EXAMPLE.read_text().replace("duration: 1s", "duration: 200ms")
    outcome = runner.run(parse(text), tmp_path_factory.mktemp("runs"), watcher(), runner.Selection())
    return outcome.folder


def by_class(case: StoredCase) -> Mapping[str, list[dict[str, Any]]]:
    """The rows of the table of classes, by class, in order of load."""
    assert case.result is not None, case.error
    (table,) = (one for one in case.result.tables if one.name == TABLE)
    rows = [dict(zip([column.name for column in table.columns], row, strict=True)) for row in table.rows]
    return {name: [row for row in rows if row["class"] == name] for name in ("voice", "default")}


def cases(folder: Path) -> Mapping[str, StoredCase]:
    with open_run(folder, REASONS) as run:
        return {case.head.settings["qos"]: case for case in run.cases}


def test_voice_stays_flat_with_its_queue_while_the_default_class_is_lost(folder: Path) -> None:
    rows = by_class(cases(folder)["llq"])
    assert [row["trial"] for row in rows["voice"]] == [f"{share}%" for share in range(5, 61, 5)]
    assert {row["lost"] for row in rows["voice"]} == {0}
    highest = [row["latency p99"] for row in rows["voice"]]
    assert max(highest) - min(highest) <= 2_000  # One frame of 1518 bytes on the line, ns.
    last = rows["default"][-1]
    # What the line carries beside voice in 200 ms, and the queue of 1024: all else is lost.
    room = LINE_FPS * Fraction(98, 100) / 5 + 1024
    assert abs(last["lost"] - (last["sent"] - room)) <= 5
    assert last["latency p99"] > 10 * rows["default"][0]["latency p99"]


def test_voice_is_lost_with_the_others_without_its_queue(folder: Path) -> None:
    rows = by_class(cases(folder)["none"])
    assert {row["lost"] for row in rows["voice"][:9]} == {0}
    assert rows["voice"][-1]["loss"] > Fraction(9, 10)
    assert rows["voice"][-1]["latency max"] > 10 * rows["voice"][0]["latency max"]


def test_loss_free_load_loses_no_class_and_means_are_of_one_load(folder: Path) -> None:
    for qos, case in cases(folder).items():
        assert case.result is not None
        values = {(one.name, one.scope): one for one in case.result.values}
        whole = values["loss-free load", "sum"].number
        assert whole is not None
        clean = [row for row in by_class(case)["voice"] if not row["lost"]]
        # Two senders, each of this share of a line.
        shares = [Fraction(row["trial"].rstrip("%")) / 100 for row in clean]
        assert whole <= 2 * max(shares) * LINE_FPS, qos
        means = {scope: one.number for (name, scope), one in values.items() if name == "latency mean"}
        mean, parts = means.pop("sum"), [one for one in means.values() if one is not None]
        assert mean is not None
        assert len(parts) == 2
        assert min(parts) <= mean <= max(parts), qos


def test_goals_of_a_class_are_judged_by_its_worst_trial(folder: Path) -> None:
    judged = {qos: [goal.passed for goal in case.goals] for qos, case in cases(folder).items()}
    assert judged == {"none": [False, False], "llq": [True, True]}


def test_full_line_is_the_limit_with_voice_counted(folder: Path) -> None:
    for qos, case in cases(folder).items():
        assert {
            one.limit for one in case.verdicts if one.value == "loss-free load" and one.scope == "sum"
        } == {"line"}, qos


def test_first_screen_has_a_line_for_each_class(folder: Path) -> None:
    with open_run(folder, REASONS) as run:
        lines = terminal.render(RunSet((view(run),)), Look(level="summary")).decode().splitlines()
    (first,) = (place for place, line in enumerate(lines) if line.strip().startswith("classes"))
    assert [line[14:].partition(":")[0] for line in lines[first : first + 4]] == [
        "qos none, voice",
        "qos none, default",
        "llq, voice",
        "llq, default",
    ]
    assert "no loss" in lines[first + 2]


def test_first_figure_has_a_line_for_each_class_and_case(folder: Path) -> None:
    with open_run(folder, REASONS) as run:
        found = hero(view(run))
    assert found is not None
    rows = found.live["data"]["values"]
    assert {(row["case"], row["who"]) for row in rows} == {
        (qos, traffic) for qos in ("qos none", "llq") for traffic in ("voice", "default")
    }
    # Per cent of what voice leaves of the line, as the plan and all other parts of the page have them.
    assert {row["load"] for row in rows} == set(range(5, 61, 5))
    worst = {(row["case"], row["who"]): row for row in rows if row["load"] > 59}
    assert (worst["qos none", "voice"]["loss"] > 90, worst["llq", "voice"]["loss"]) == (True, 0)
    assert worst["llq", "default"]["us"] > 5 * worst["llq", "voice"]["us"]


def test_no_more_than_a_full_line_is_said_to_come(folder: Path) -> None:
    """Both ports send 60 % of what voice leaves, 99 % of the line, and voice 1 % each."""
    reasons = [plain(one.reason) for one in cases(folder)["none"].verdicts]
    (offered, *_) = over = [one for one in reasons if isinstance(one, LineOversubscribed)]
    assert abs(offered.offered_share - Fraction(2 * (60 * 99 + 100), 10_000)) < Fraction(1, 10_000)
    assert {Fraction(99, 100) <= one.came_share <= 1 for one in over} == {True}
    assert {one.share <= 1 for one in reasons if isinstance(one, LineShared)} == {True}
