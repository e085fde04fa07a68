"""`netdyno compare`: sides, exit codes, and what it writes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from commands import said
from netdyno.plan.flat import baselines_of
from netdyno.values.finding import Result
from report_sample import SMALL, Asked, write


def bracketed(asked: Asked, result: Result) -> Result:
    """What a search would have found: each number is known to a thousandth."""
    thousandth = Fraction(1, 1000)
    return replace(
        result,
        values=tuple(
            one
            if one.number is None
            else replace(
                one,
                kind=replace(one.kind, role=""),
                low=one.number * (1 - thousandth),
                high=one.number * (1 + thousandth),
            )
            for one in result.values
        ),
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four runs: two of a device, one of a slower one, one of other axes."""
    parent = tmp_path_factory.mktemp("runs")
    first = replace(SMALL, found=bracketed)
    slower = tuple(
        replace(one, capacity_fps=(one.capacity_fps or 0) * 9 // 10 or None) for one in first.cases
    )
    other = (Asked({"profile": "1514b", "direction": "bidir"}, 100_000),)
    slow = replace(first, cases=slower, title="ASR9006 <b>slow</b>")
    folders = []
    for number, one in enumerate((first, first, slow, replace(first, cases=other))):
        folders.append(parent / f"run{number}")
        folders[-1].mkdir()
        write(folders[-1], one).close()
    return folders


def test_a_slower_device_is_worse_and_ends_with_1(runs: list[Path]) -> None:
    done = said("compare", runs[0], runs[2], "--worse-than", "2%", "--as", "json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert found["verdict"] == "worse"
    changes = [one["changes"][0] for one in found["values"]]
    shares = [one["share"] for one in changes if one["outcome"] == "worse"]
    assert shares == pytest.approx([-0.1] * len(shares), abs=0.02)
    assert len(shares) >= 3


def test_without_a_limit_a_difference_is_no_failure(runs: list[Path]) -> None:
    done = said("compare", runs[0], runs[2])
    assert done.returncode == 0
    assert "worse" in done.stdout


def test_a_case_that_failed_leaves_a_limit_open_and_strict_fails_it(runs: list[Path]) -> None:
    assert said("compare", runs[0], runs[1], "--worse-than", "2%").returncode == 3
    assert said("compare", runs[0], runs[1], "--worse-than", "2%", "--strict").returncode == 1


def test_runs_of_two_sides_stand_on_both_sides_of_the_dashes(runs: list[Path]) -> None:
    done = said("compare", runs[0], runs[1], "--", runs[2], "--as", "json", "--name", "old", "--name", "new")
    sides = json.loads(done.stdout)["sides"]
    assert [(one["name"], one["runs"]) for one in sides] == [("old", ["run0", "run1"]), ("new", ["run2"])]


@pytest.mark.parametrize(
    "arguments",
    [
        ("{0}",),
        ("{0}", "--"),
        ("{0}", "{1}", "--strict"),
        ("{0}", "{1}", "--name", "A"),
        ("{0}", "{1}", "--as", "x"),
        ("{0}", "{1}", "--worse-than", "2"),
        ("{0}", "{0}/none"),
        ("{0}", "{0}"),
        ("{0}", "{1}", "--value", "nothing"),
    ],
)
def test_what_makes_no_sense_is_refused(runs: list[Path], arguments: tuple[str, ...]) -> None:
    done = said("compare", *(one.format(*runs) for one in arguments))
    assert done.returncode == 2
    assert done.stdout == ""


def test_runs_without_a_common_case_are_said_to_have_none(runs: list[Path]) -> None:
    found = json.loads(said("compare", runs[0], runs[3], "--as", "json").stdout)
    assert found["values"] == []
    assert sum(found["only_in"].values()) == 9


def test_the_page_is_one_file_and_texts_of_strangers_are_no_markup(runs: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert said("compare", runs[0], runs[2], "--as", "html", "-o", page).returncode == 0
    text = page.read_text()
    assert "<b>slow</b>" not in text
    assert "&lt;b&gt;slow&lt;/b&gt;" in text
    assert not re.search(
        r"""(?:src|href)=["']?(?!#)[^"' >]+""", re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    )


def test_markdown_has_a_row_for_each_value(runs: list[Path]) -> None:
    lines = said("compare", runs[0], runs[2], "--as", "markdown").stdout.splitlines()
    found = json.loads(said("compare", runs[0], runs[2], "--as", "json").stdout)
    assert sum(line.startswith("|") for line in lines) == len(found["values"]) + 2


BOXES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two boxes of the example, of its 64-byte frames."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    parent = tmp_path_factory.mktemp("boxes")
    for kind in ("asr9006", "ccr1072"):
        put = ("--set", f"title={kind}", "--set", f"lab.nodes.dut.kind=emulated/{kind}")
        run = said("run", BOXES / "boxes.yaml", "--out", parent, *put, "--only", "profile=64b")
        assert run.returncode == 0, run.stderr
    return sorted(parent.iterdir(), key=lambda folder: said("report", folder, "--as", "brief").stdout)


def test_boxes_are_compared_by_watt_price_and_rack_unit(boxes: list[Path]) -> None:
    inventory = BOXES / "boxes-inventory.yml"
    found = json.loads(said("compare", *boxes, "--inventory", inventory, "--as", "json").stdout)
    of = {(one["case"], one["device"]): one for one in found["efficiency"]}
    asr, ccr = of["uni", "ASR9006"], of["uni", "CCR1072"]
    assert asr["power_is"] == "idle"
    assert asr["kpps_each_watt"] == pytest.approx(asr["rate_pps"] / 1000 / 2219.3)
    assert asr["mpps_each_1000"] == pytest.approx(asr["rate_pps"] / 10**6 / 10)
    assert "kpps_each_watt" not in ccr, "its power is in no article"
    assert ccr["mpps_each_1000"] == pytest.approx(ccr["rate_pps"] / 10**6 / 3)
    # The emulated models forward what the article found, and the line: 14.88 Mpps.
    assert asr["rate_pps"] == pytest.approx(14_660_000, rel=0.01)
    assert ccr["rate_pps"] == pytest.approx(14_880_952, rel=0.001)
    for form in ("terminal", "markdown", "html"):
        assert said("compare", *boxes, "--inventory", inventory, "--as", form).returncode == 0


def test_folder_of_runs_stands_for_its_runs_oldest_first(boxes: list[Path]) -> None:
    """Both were begun in one minute, so their names are in any order."""
    found = json.loads(said("compare", boxes[0].parent, "--as", "json").stdout)
    assert [one["name"] for one in found["sides"]] == ["asr9006", "ccr1072"]


def test_a_goal_against_another_run_decides_the_exit_code(boxes: list[Path], tmp_path: Path) -> None:
    asr = boxes[0] if "asr9006" in said("report", boxes[0], "--as", "brief").stdout else boxes[1]
    goal = ("--set", f"goals=[no worse than {asr} by 2%]", "--only", "profile=64b", "--out", tmp_path)
    plan = BOXES / "boxes.yaml"
    same = said("run", plan, *goal)
    assert same.returncode == 0, same.stderr
    for_ci = ("--junit", tmp_path / "j.xml", "--github-summary")
    another = ("--set", "lab.nodes.dut.kind=emulated/asr1000-esp20")
    slower = said("run", plan, *goal, *another, *for_ci, GITHUB_STEP_SUMMARY=str(tmp_path / "page.md"))
    assert slower.returncode == 1
    assert (tmp_path / "j.xml").read_text().count("<failure ") == 1
    (row,) = [one for one in (tmp_path / "page.md").read_text().splitlines() if f"than {asr} by 2 %" in one]
    assert "| missed" in row
    assert f"netdyno compare {asr}" in " ".join(slower.stdout.split())


@pytest.mark.parametrize("goal", ["no worse than {0}/none by 2%", "no worse than {0} by 2", "no worse by 2%"])
def test_a_goal_against_no_run_is_refused_before_the_start(
    runs: list[Path], goal: str, tmp_path: Path
) -> None:
    put = ("--set", f"goals=[{goal.format(*runs)}]")
    assert said("check", BOXES / "boxes.yaml", *put).returncode == 2
    assert said("run", BOXES / "boxes.yaml", *put, "--out", tmp_path).returncode == 2
    assert not list(tmp_path.iterdir())


def test_a_goal_that_is_set_at_its_place_in_the_list_is_found() -> None:
    text = (BOXES / "boxes.yaml").read_text() + 'goals: ["throughput >= 1%", "loss <= 0.1%"]\n'
    assert baselines_of(text) == ()
    (one,) = baselines_of(text, ["goals[1]=no worse than runs/a by 2%"])
    assert (one.run, one.limit) == ("runs/a", Fraction(1, 50))
