"""A throughput at which a later trial of the same case lost frames says so, by name.

A device forwards 1,000 frames a second and holds 100: a trial of a second passes at 1,100, one of two seconds
at that load loses 100 of its 2,200 frames. So what is found and what contradicts it are known beforehand.
"""

from __future__ import annotations

import csv
import io
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import PlainView, watcher
from netdyno.methods import METHODS
from netdyno.methods.latency import LatencyParameters
from netdyno.methods.reasons.deviations import OutsideRule
from netdyno.methods.reasons.loss import LostAtThroughput
from netdyno.methods.reasons.searches import StillQueued
from netdyno.methods.wrap.contradicted import checked
from netdyno.plan import parse
from netdyno.reports.model import answer
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.values.finding import Result, Value
from netdyno.values.reason import About
from netdyno.values.situation import Situation
from pages import OF_RUNS, report_text
from tendevices import Device, drive, finite_queue, wall
from words import within

LINE = Fraction(10_000)


def latency(device: Device, *streams: str, **changes: Any) -> Result:
    """Latency in `changes` at a throughput of trials of a second, told of what contradicts that."""
    situation = Situation(streams or ("a",), LINE, Fraction(64))
    written: dict[str, Any] = {"repeats": 3, "duration": "2s", "after": "0s"}
    written |= {"throughput": {"duration": "1s"}, **changes}
    method = METHODS["latency"].start(LatencyParameters.model_validate(written), situation)
    return drive(checked(method, situation), device, situation)[0]


def value(result: Result, scope: str, name: str = "throughput") -> Value:
    found = result.value(name, scope)
    assert found is not None
    return found


def test_throughput_whose_latency_trials_lose_frames_is_contradicted() -> None:
    result = latency(finite_queue(1000, 100))
    assert value(result, "a").number == 1100
    lost = LostAtThroughput(3, "latency 1", Fraction(1100), 100, 2200, 0, 0, 0)
    assert value(result, "a").contradicted == value(result, "sum").contradicted == lost
    assert result.notes.count(About("throughput", lost)) == 1


def test_trials_as_long_as_the_search_contradict_nothing() -> None:
    result = latency(finite_queue(1000, 100), duration="1s")
    assert value(result, "a").number == 1100
    assert not any(one.contradicted for one in result.values)


def test_a_device_without_a_queue_is_not_contradicted() -> None:
    result = latency(wall(1000))
    assert value(result, "a").number == 1000
    assert not any(one.contradicted for one in result.values)


def test_each_stream_is_contradicted_by_its_own_frames() -> None:
    queue, plenty = finite_queue(1000, 100), wall(5000)
    result = latency(lambda fps, s, stream: (queue if stream == "b" else plenty)(fps, s, stream), "a", "b")
    assert value(result, "a").number == value(result, "b").number == 1100
    assert value(result, "a").contradicted is None
    for scope, streams in (("b", 1), ("sum", 2)):
        lost: Any = value(result, scope).contradicted
        assert (lost.rate_pps, lost.lost, lost.sent) == (1100 * streams, 100, 2200 * streams)


def test_a_throughput_that_the_plan_gives_is_contradicted_too() -> None:
    result = latency(finite_queue(1000, 100), throughput="2kpps", repeats=1)
    given = value(result, "a", "throughput, given")
    assert given.contradicted == LostAtThroughput(1, "latency 1", Fraction(2000), 1900, 4000, 0, 0, 0)


def test_a_tester_that_falls_short_contradicts_nothing() -> None:
    """What it sends then is another load."""

    def device(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        sent = int(fps * seconds)
        return (sent, min(sent, 1100)) if seconds == 1 else (sent - 50, sent - 60)

    assert not any(one.contradicted for one in latency(device).values)


PLAN = """\
title: A queue
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/router, settings: {capacity: 10kpps}}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 100Mbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 100Mbps}
traffic: {small: {size: 64B}}
matrix: {direction: [uni]}
method: {latency: {repeats: 2, duration: 2s, after: 0s, throughput: {duration: %s}}}
trial: {settle: 100ms, drain: 200ms, sample: 1ms}
goals: [throughput >= 5kpps]
"""
LINE_FPS = Fraction(10**8, 672)
HELD = 1025
"""What an emulated port holds (docs/labs.md): 1,024 wait and one is served."""


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, dict[str, str]]:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    return ran("1s", tmp_path_factory.mktemp("short"))


def ran(duration: str, place: Path) -> tuple[Result, dict[str, str]]:
    outcome = runner.run(parse(PLAN % duration), place, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        shown = view(run)
        assert run.cases[0].result is not None
        return run.cases[0].result, {name: report_text(name, shown) for name in OF_RUNS}


def test_an_emulated_device_with_a_queue_is_seen_through(short: tuple[Result, dict[str, str]]) -> None:
    """10,000 frames a second and 1,025 held: a second passes up to 11,025, two lose what is above 10,512."""
    result, _ = short
    found = value(result, "sum")
    load = found.as_searched
    assert load is not None
    assert found.number is not None
    assert 10_000 + HELD - Fraction(14881, 100) <= load <= 10_000 + HELD
    # What lasts stands for the device, and is not refuted by a loss above it.
    assert 9_990 <= found.number <= 10_000 < load == found.high
    assert not found.is_refuted
    told: Any = found.contradicted
    assert (told.trials, told.first) == (2, "latency 1")
    lost, sent = told.lost, told.sent
    assert abs(sent - 2 * load) <= 1
    assert abs(lost - (sent - 2 * 10_000 - HELD)) <= 2


def test_a_short_trial_says_what_of_it_a_queue_held(short: tuple[Result, dict[str, str]]) -> None:
    result, _ = short
    rate = value(result, "sum").load
    assert rate is not None
    (final,) = (one for one in within(OutsideRule, result.recommended) if one.cause is not None)
    queued = final.cause
    assert isinstance(queued, StillQueued)
    assert queued in within(StillQueued, result.notes)
    assert abs(queued.offered - rate) <= 1
    # All but the 10,000 of the second; ten a millisecond, which is a sample.
    assert rate - 10_000 - 12 <= queued.frames <= rate - 10_000 + 2
    assert abs(queued.rate_pps - queued.frames) <= 1


def test_every_report_marks_it(short: tuple[Result, dict[str, str]]) -> None:
    result, pages = short
    clause = str(value(result, "sum").contradicted)
    for name in ("terminal", "markdown", "html"):
        page = " ".join(re.sub(r"<[^>]*>|[\\]", "", pages[name]).replace("&gt;", ">").split())
        assert f"contradicted: throughput as searched: {clause}".replace("`", "") in page.replace("`", ""), (
            name
        )
    shown = json.loads(pages["json"])["cases"][0]["values"]
    (one,) = (one for one in shown if (one["value"], one["scope"]) == ("throughput", "sum"))
    lost = one["as_searched_contradicted"]
    assert (lost["code"], lost["text"]) == ("lost-at-throughput", clause)
    assert "contradicted" not in one, "no doubt of what lasts"
    brief = json.loads(pages["json-small"])["cases"][0]["values"]
    (one,) = (one for one in brief if (one["value"], one["scope"]) == ("throughput", "sum"))
    assert one["as_searched_contradicted"]["code"] == "lost-at-throughput"
    assert clause in pages["csv"]


def test_progress_of_a_contradicted_case_says_so_in_each_form(tmp_path: Path) -> None:
    """Of one stream and of two: the latency is one at that throughput."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    stream = io.StringIO()
    plan = parse((PLAN % "1s").replace("[uni]", "[uni, bidir]"))
    outcome = runner.run(plan, tmp_path, PlainView(stream), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        shown = view(run)
    lines = stream.getvalue().splitlines()
    assert len(shown.cases) == 2
    for case in shown.cases:
        assert case.headline is not None
        ended = f"] {case.name}: {case.headline.name} {answer.text(case, case.headline)}"
        # A busy machine has lines about the case under way before that.
        (place,) = (n for n, line in enumerate(lines) if ended in line)
        assert lines[place].endswith(f", limit: {case.limit()}")
        named = case.headline.contradicted_name if case.headline.contradicted else "throughput as searched"
        assert lines[place + 1] == f"    contradicted: {named}: {case.contradiction('sum')}"


FOOTNOTE = "the throughput as searched, or what was measured at it or follows from it"
STARRED = r"[0-9][0-9.,]*(?: [a-zA-Z]+)? \*"


def rows_of(page: str, heading: str) -> list[list[str]]:
    """The rows of a Markdown table below a heading, cell by cell, the first with the columns' names."""
    below = page.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in below.splitlines() if line.startswith("|") and not line.startswith("|-")]
    return [[cell.strip().replace("\\", "") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_every_table_that_stands_on_it_is_marked(
    short: tuple[Result, dict[str, str]], tmp_path: Path
) -> None:
    """By what RFC 2544 section 26.2 measures at the throughput."""
    _, pages = short
    heading, row = rows_of(pages["markdown"], "Latency")
    told = dict(zip(heading, row, strict=True))
    assert [name for name, cell in told.items() if cell.endswith("*")] == ["load (pps)"]
    assert re.search(r"\| +[0-9.]+ ms \\\* +\|", pages["markdown"]), "the latency of the case"
    for name in ("terminal", "markdown", "html"):
        page = " ".join(re.sub(r"<[^>]*>|[\\]", "", pages[name]).split())
        assert page.count(f"*: {FOOTNOTE}") == 1, name
    below = pages["tables"].split("Latency\n", 1)[1].splitlines()
    assert below[0].endswith(",contradicted")
    assert below[1].endswith(",load")
    (table,) = json.loads(pages["json"])["cases"][0]["tables"]
    assert table["contradicted_columns"] == [["load"]]


BURSTS = """\
method:
  rfc2544:
    throughput: {duration: 1s}
    latency: {repeats: 1, duration: 2s, after: 0s}
    frame-loss: {duration: 100ms}
    back-to-back: {repeats: 1, quiet: 200ms, longest: 1s}
    recovery: {repeats: 1}
    reset: null
"""


def test_the_tables_of_all_six_tests_are_marked(tmp_path: Path) -> None:
    text = re.sub(r"method: .*\n", BURSTS, PLAN).replace("throughput >= 5kpps", "throughput >= 1kpps")
    outcome = runner.run(parse(text), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        shown = view(run)
    page = report_text("markdown", shown)
    marked = {}
    for name in ("Throughput", "Latency", "Frame loss rate", "Back-to-back frames", "System recovery"):
        heading, *rows = rows_of(page, name)
        marked[name] = {
            column for row in rows for column, cell in zip(heading, row, strict=True) if cell.endswith("*")
        }
    assert marked == {
        # What lasts of that load is not contradicted.
        "Throughput": {"passed (pps)"},
        "Latency": {"load (pps)"},
        # Its loads are shares of the line, whatever the throughput is.
        "Frame loss rate": set(),
        "Back-to-back frames": {"corrected buffer time", "throughput (pps)"},
        "System recovery": {"overload (pps)", "then (pps)"},
    }
    # RFC 2544 section 26.1: the text beside it "SHOULD indicate the protocol, data stream format, and type of
    # media used"; sections 26.2 to 26.5 have columns or lines for media and types of data streams.

    stated = "Protocol, data stream and media: Ethernet, IPv4, UDP; evenly spaced frames, 65,536 flows"
    for name in marked:
        below = page.split(f"## {name}\n", 1)[1].split("\n## ", 1)[0]
        assert below.count(f"{stated}; emulated Ethernet lines of 100.00 Mbit/s.") == 1, name
    (case,) = json.loads(report_text("json", shown))["cases"]
    doubted = {one["value"] for one in case["values"] if "contradicted" in one}
    assert doubted == {"latency", "buffer time", "recovery time"}
    assert {one["value"] for one in case["values"] if "as_searched_contradicted" in one} == {"throughput"}


def test_the_values_that_stand_on_a_throughput_are_those_of_the_methods() -> None:
    """Of methods that take a throughput as known; a longest burst and a loss curve need none."""
    told = {
        *("latency", "PDV", "IPDV, least", "IPDV, median", "IPDV, most"),
        *("recovery time", "reset time", "buffer time"),
    }
    assert told == {one.name for method in METHODS.values() for one in method.values if one.on_throughput}


def test_goal_below_what_lasts_is_met_and_one_above_is_unknown(tmp_path: Path) -> None:
    """10 kpps last; 11.02 passed for a second and lost frames later."""
    plan = (PLAN % "1s").replace("[throughput >= 5kpps]", "[throughput >= 5kpps, throughput >= 10.5kpps]")
    outcome = runner.run(parse(plan), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        assert [goal.passed for goal in run.cases[0].goals] == [True, None]


REFUTED = """\
title: A leak
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/bridge, settings: {loses: 1/%s}}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 100Mbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 100Mbps}
traffic: {small: {size: 64B}}
matrix: {direction: [uni]}
method: {%s: {%s, throughput: {duration: %s}}}
trial: {settle: 1ms, drain: 200ms, sample: 1ms}
goals: [throughput >= 1kpps]
"""


@pytest.mark.parametrize(
    ("every", "method", "settings", "duration"),
    [
        (100_000, "latency", "repeats: 1, duration: 2s, after: 0s", "100ms"),
        (10_000, "delay-variation", "repeats: 1, duration: 1s", "20ms"),
    ],
)
def test_refuted_throughput_is_shown_as_below_and_has_no_number(
    every: int, method: str, settings: str, duration: str, tmp_path: Path
) -> None:
    """A full line passes until the device has seen half of so many frames; longer trials lose some."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    plan = parse(REFUTED % (every, method, settings, duration))
    outcome = runner.run(plan, tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        shown = view(run)
    assert case.result is not None
    found = value(case.result, "sum")
    assert found.is_refuted
    assert found.only_below == found.load == LINE_FPS
    verdict = case.verdict("sum", "throughput")
    assert verdict is not None
    assert (verdict.limit, verdict.reason.code) == ("device", "device-lost")
    assert [goal.passed for goal in case.goals] == [None]
    (one,) = (
        one
        for one in json.loads(report_text("json", shown))["cases"][0]["values"]
        if (one["value"], one["scope"]) == ("throughput", "sum")
    )
    assert "number_pps" not in one
    assert "low_pps" not in one
    assert one["high_pps"] == one["as_searched_pps"] == float(LINE_FPS)
    assert one["contradicted"]["code"] == "lost-at-throughput"
    rows = csv.DictReader(io.StringIO(report_text("csv", shown)))
    (row,) = (one for one in rows if (one["value"], one["scope"]) == ("throughput", "sum"))
    assert (row["pps"], row["low_pps"], row["share_of_line_percent"]) == ("", "", "")
    assert row["high_pps"] == row["as_searched_pps"] != ""
    assert answer.text(shown.cases[0], found) == "< 149 kpps *"
    assert answer.bounds(found) == ""


def test_a_trial_in_which_a_queue_is_no_more_than_a_step_says_nothing(tmp_path: Path) -> None:
    """1,025 frames in 10 s are 102 fps, and the search knows the rate to 149."""
    result, _ = ran("10s", tmp_path)
    assert not within(StillQueued, result.recommended, result.notes)
