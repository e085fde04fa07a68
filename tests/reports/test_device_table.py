"""Configuration, software, CPU and power of the device in Markdown and on the terminal, and its loss."""

from __future__ import annotations

from dataclasses import replace

import pytest
from device_sample import HOSTILE as NAME
from device_sample import with_device
from netdyno.campaign.readings import ReadingFailed
from netdyno.devices.reasons import NotUndone
from netdyno.reports.model import device_table
from netdyno.reports.model.from_store import view
from netdyno.reports.model.headline import headline
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values.records import CaseError, Configured
from netdyno.values.series import Missed
from pages import report_text
from report_sample import SMALL, write

DIFF = "+ description ````x</details>\n+ mtu 9000\n"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> RunView:
    with write(tmp_path_factory.mktemp("bare"), SMALL) as run:
        return view(run)


@pytest.fixture(scope="module")
def whole(bare: RunView) -> RunView:
    """Read by a driver, and configured alike in all cases."""
    run = with_device(bare)
    own = Configured("mtu 9000\n", DIFF, "5.3.4", "lab.j2")
    return replace(run, cases=tuple(replace(case, configuration=own) for case in run.cases))


def lossy(run: RunView) -> CaseView:
    return next(case for case in run.cases if (case.profile, case.direction) == ("64b-multi", "uni"))


def test_row_of_a_case_has_what_was_read_of_the_device(whole: RunView) -> None:
    """Two supplies of 20 W under load and 9 W before; 14.66 Mpps through 40 W."""
    case = lossy(whole)
    row = next(row for row in device_table.table(whole).rows if row[0] == case.name)
    assert row[1:3] == ("lab.j2", "5.3.4")
    assert row[3] == f"19 % (control-plane CPU of {NAME}, 1 min average)"
    assert row[4:] == ("40 W", "18 W", "0.3665")


def test_markdown_has_the_device_and_folds_what_was_configured(whole: RunView) -> None:
    text = report_text("markdown", whole)
    device = text.partition("## Device\n")[2].partition("\n## ")[0]
    assert device.count("<details>") == 1
    fence = device.partition("```")[1] + device.partition("```")[2].partition("diff\n")[0]
    assert fence == "`````"
    inside = device.partition(f"{fence}diff\n")[2].partition(f"\n{fence}\n")[0]
    assert inside == DIFF.rstrip("\n")
    assert "40 W" in device


def test_terminal_has_the_device_in_a_line(whole: RunView) -> None:
    line = device_table.line(whole)
    assert line.startswith("1 configuration, software 5.3.4; CPU over whole trials at most ")
    assert "power in the hold at most " in line
    assert line.partition("; ")[0] in report_text("terminal", whole)


def test_run_that_no_driver_read_has_no_device(bare: RunView) -> None:
    assert not device_table.table(bare).rows
    assert device_table.line(bare) == ""
    assert "## Device" not in report_text("markdown", bare)
    assert list(device_table.caveats(bare)) == []


def test_device_that_was_lost_is_the_first_note(whole: RunView) -> None:
    first = whole.cases[0]
    trial = first.resting_trials[0]
    lost = Missed(90 * 10**9, ReadingFailed("device-silent"))
    series = tuple(replace(one, missed=(*one.missed, lost)) for one in trial.result.series)
    ended = replace(trial, result=replace(trial.result, series=series))
    trials = tuple(ended if one is trial else one for one in first.trials)
    run = replace(whole, cases=(replace(first, trials=trials), *whole.cases[1:]))
    (note,) = device_table.caveats(run)
    assert " ".join(report_text("terminal", run).split()).count(note) == 1
    assert "90 s" in note
    assert "`device-silent`" in note
    assert headline(run).caveats[0] == note


def test_reading_that_was_missed_and_came_again_is_no_loss(whole: RunView) -> None:
    """Each case of the sample misses one in the middle."""
    assert any(one.missed for one in lossy(whole).trials[0].result.series)
    assert list(device_table.caveats(whole)) == []


def test_configuration_that_is_left_is_the_first_note_once(whole: RunView) -> None:
    left = NotUndone("the device `r1` refused the login.\nStill needed: no mtu", "set NETDYNO_PASSWORD")
    cases = tuple(replace(case, notes=(*case.notes, left)) for case in whole.cases)
    found = headline(replace(whole, cases=cases)).caveats
    assert ["still has its configuration" in one for one in found] == [True] + [False] * (len(found) - 1)
    assert ".." not in found[0]


@pytest.mark.parametrize(
    ("code", "then"),
    [
        ("changed-since", "Enter the commands, or delete its journal"),
        ("not-undone", "The next `netdyno run`"),
    ],
)
def test_configuration_that_is_left_has_its_next_step(code: str, then: str, whole: RunView) -> None:
    """The commands are in the note that the report has; the first line ends before them."""
    left = NotUndone("r1: the device was changed. By hand:\nno mtu\n", "compare", code)
    (case, *_) = whole.cases
    (note,) = device_table.caveats(replace(whole, cases=(replace(case, notes=(left,)),)))
    assert then in note
    assert ("The next `netdyno run` undoes it" in note) == (code != "changed-since")
    assert "by hand:" not in note.lower()
    assert "the notes of the report have the commands" in note


def test_case_refused_for_a_change_by_hand_is_noted_in_whole_sentences(whole: RunView) -> None:
    message = "r1: the device was changed, so it is not undone. By hand: / no mtu"
    (case, *_) = whole.cases
    run = replace(whole, cases=(replace(case, error=CaseError("changed-since", message, "compare")),))
    (note,) = (one for one in headline(run).caveats if "not measured" in one)
    assert "so it is not undone. The report has the commands" in note
    assert "By hand:" not in note


def test_configuration_left_for_an_empty_reason_is_a_note(whole: RunView) -> None:
    (case, *_) = whole.cases
    run = replace(whole, cases=(replace(case, notes=(NotUndone("", ""),)),))
    (note,) = device_table.caveats(run)
    assert "still has its configuration" in note


@pytest.mark.parametrize(
    ("message", "hint", "text"),
    [
        ("refused `x`: % Invalid input.", "check the line", "refused `x`: % Invalid input. Check the line"),
        ("no answer", "`ssh r1` must log in", "no answer. `ssh r1` must log in"),
        ("it ended.", None, "it ended."),
    ],
)
def test_error_and_hint_are_two_sentences(message: str, hint: str | None, text: str) -> None:
    assert str(CaseError("command-refused", message, hint)) == text
    assert ".." not in text
