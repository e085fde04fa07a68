"""`--as ipng`: what trex-loadtest-viz reads of it, by its rules (tests/support/ipng_reader.py)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from campaigns import TWO, write_plan
from commands import netdyno, said
from ipng_reader import read
from netdyno.errors import NetdynoError
from netdyno.reports.each_case import case_file, render_each
from netdyno.reports.model.from_store import view
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values.ipng import mix_of, profile_file
from netdyno.values.mixes import MIXES
from pages import report_text
from report_sample import SECOND, SMALL, Asked, Sample, axes, write

ONE_WAY, BOTH_WAYS = 2, 7


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of eight cases, sampled ten times a second; one of them has no result."""
    folder = tmp_path_factory.mktemp("small")
    write(folder, replace(SMALL, sample_ns=SECOND // 10, ramp=(30, 120, 30))).close()
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> Iterator[RunView]:
    from netdyno.campaign.reasons import REASONS
    from netdyno.store import open_run

    with open_run(folder, REASONS) as stored:
        yield view(stored)


def only(run: RunView, case: CaseView | int) -> RunView:
    return replace(run, cases=(run.cases[case] if isinstance(case, int) else case,))


def document(run: RunView, case: CaseView | int) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads(report_text("ipng", only(run, case)))
    return found


def test_each_file_of_a_page_is_drawn_beside_the_others(folder: Path, tmp_path: Path) -> None:
    done = said("report", folder, "--as", "ipng", "-o", tmp_path / "files")
    assert done.returncode == 0
    assert "left out ipv4 / plain / imix / bidir" in done.stderr
    drawn = [read(path) for path in sorted((tmp_path / "files").iterdir())]
    assert len(drawn) == 7
    assert {one.asked for one in drawn} == {("1kpps", 3, "100%", 12, 3)}
    assert {len(way.sent) for one in drawn for way in one.channels.values()} == {18}
    assert {one.profile for one in drawn} == {"64B", "64:28,590:16,1514:4"}
    assert {len(one.channels) for one in drawn} == {1, 2}


def test_rates_and_loss_are_those_of_the_device(run: RunView, tmp_path: Path) -> None:
    """It forwards 6.15 Mpps of 14.88 Mpps each way."""
    path = tmp_path / "x.json"
    path.write_text(report_text("ipng", only(run, BOTH_WAYS)))
    for way in read(path).channels.values():
        assert way.sent[:3] == (1000.0,) * 3
        assert way.loss[:3] == (0.0,) * 3
        assert way.most_pps == 6_150_000.0
        assert way.line_percent == pytest.approx(6.15 / 14.88095 * 100, abs=0.001)
        assert way.loss[-1] == pytest.approx(1 - 6.15 / 14.88095, abs=1e-5)


def test_one_direction_has_a_port_that_sends_nothing(run: RunView) -> None:
    found = document(run, ONE_WAY)
    assert found["vars"]["unidirectional"] is True
    assert {sample["1"]["tx_pps"] for sample in found["stats"].values()} == {0.0}  # type: ignore[index]


@pytest.mark.parametrize("sample_ns", [SECOND // 4, SECOND * 3 // 10, SECOND * 3 // 2, 2 * SECOND])
def test_samples_of_any_length_become_seconds(sample_ns: int, tmp_path: Path) -> None:
    """No frame is lost or made: those of a sample that a second cuts are shared out by time."""
    many = 12 * SECOND // sample_ns
    one = (Asked(axes("ipv4", "plain", "64b-multi", "uni"), 5_000_000),)
    with write(tmp_path, Sample(one, sample_ns=sample_ns, ramp=(1, many, 1))) as stored:
        shown = view(stored)
    found = document(shown, 0)["stats"]
    counts = shown.cases[0].trials[0].result.streams[0].tx
    seconds = shown.cases[0].trials[0].duration_ns // SECOND
    assert [*found] == [str(second) for second in range(seconds)]
    sent = sum(sample["0"]["tx_pps"] for sample in found.values())  # type: ignore[index]
    ends = [min(sample_ns, seconds * SECOND - place * sample_ns) for place in range(len(counts))]
    assert sent == pytest.approx(
        sum(count * max(end, 0) for count, end in zip(counts, ends, strict=True)) / sample_ns
    )


def test_second_without_a_frame_is_left_out(run: RunView) -> None:
    case = run.cases[ONE_WAY]
    (trial,) = case.trials
    (stream,) = trial.result.streams
    gone = replace(stream, tx=(*stream.tx[:40], *(0,) * 10, *stream.tx[50:]))
    counted = replace(trial, result=trial.result.with_counts(streams=(gone,)))
    found = document(run, replace(case, trials=(counted,)))
    assert [*found["stats"]] == [str(second) for second in range(18) if second != 4]


def test_load_that_is_held_is_a_hold(run: RunView) -> None:
    case = run.cases[ONE_WAY]
    (trial,) = case.trials
    held = replace(trial, segments=trial.segments[-1:])
    found = document(run, replace(case, trials=(held,)))["vars"]
    assert (found["warmup_duration"], found["rampup_duration"], found["hold_duration"]) == (0, 0, 3)
    assert found["rampup_target"] == "100%"


def test_what_the_format_has_no_room_for_is_refused(run: RunView) -> None:
    case = run.cases[BOTH_WAYS]
    (trial,) = case.trials
    twice = replace(trial, segments=(*trial.segments, *trial.segments))
    short = replace(trial, segments=(replace(trial.segments[1], duration_ns=SECOND // 2),))
    others = [
        replace(case, trials=()),
        replace(case, trials=(twice,)),
        replace(case, trials=(short,)),
        replace(case, places=three_ports()),
    ]
    for one in others:
        with pytest.raises(NetdynoError) as error:
            report_text("ipng", only(run, one))
        assert error.value.code == "unsupported"
    with pytest.raises(NetdynoError) as error:
        report_text("ipng", run)
    assert error.value.code == "wrong-count"


def three_ports() -> tuple[object, ...]:
    from netdyno.values.situation import Place

    return Place(0, 1), Place(1, 2)


def test_several_cases_need_a_folder(folder: Path, tmp_path: Path) -> None:
    for more in ((), ("-o", tmp_path / "one.json")):
        done = said("report", folder, "--as", "ipng", *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert "-o FOLDER" in done.stderr
    assert not [*tmp_path.iterdir()]


def test_report_of_a_run_is_a_folder_beside_its_record(tmp_path: Path) -> None:
    ramp = "{ramp: {warmup: null, ramp: 2s to 100%, hold: 1s}}"
    text = TWO.replace("{throughput: {duration: 10ms, width: 1%}}", ramp).replace("sample: 1ms, ", "")
    done = netdyno("run", write_plan(tmp_path, text), "--out", tmp_path / "runs", "--report", "ipng")
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    drawn = [read(path) for path in (folder / "report.ipng").iterdir()]
    assert sorted(len(one.channels) for one in drawn) == [1, 2]
    assert {one.asked for one in drawn} == {("0pps", 0, "100%", 2, 1)}


def test_run_of_one_case_is_a_file_or_stdout(tmp_path: Path) -> None:
    write(tmp_path, Sample(cases=SMALL.cases[2:3])).close()
    done = said("report", tmp_path, "--as", "ipng")
    assert done.returncode == 0
    assert said("report", tmp_path, "--as", "ipng", "-o", tmp_path / "one.json").returncode == 0
    assert json.loads(done.stdout) == json.loads((tmp_path / "one.json").read_text())


def test_files_are_named_by_axes_and_never_leave_the_folder(run: RunView) -> None:
    names = [name for name, _ in render_each(run, "ipng")]
    assert len(set(names)) == len(names)
    assert "forwarding=ipv4,lag=plain,profile=64b-multi,direction=uni.json" in names
    hostile = replace(run.cases[0], settings={"../a": "b/../c,d=e"}, profile="", direction="")
    assert case_file(hostile) == "..%2Fa=b%2F..%2Fc%2Cd%3De"
    assert case_file(replace(hostile, settings={"long": "x" * 300})) == "case-0"
    assert case_file(replace(hostile, settings={})) == "case-0"


@pytest.mark.parametrize("mix", MIXES.values(), ids=MIXES)
def test_profile_says_the_sizes_of_a_mix(mix: object) -> None:
    assert mix_of(profile_file(mix.weights)) == mix  # type: ignore[attr-defined]


def test_profile_says_any_sizes() -> None:
    for sizes in (((64, 1),), ((128, 3),), ((64, 7), (594, 4))):
        found = mix_of(profile_file(sizes))
        assert found is not None
        assert found.mean == Fraction(sum(size * one for size, one in sizes), sum(one for _, one in sizes))
    assert profile_file(((64, 7), (594, 4), (1518, 1))) == "imix.py"
    assert profile_file(((64, 14), (594, 4))) == "64:14,594:4.py"
    assert mix_of("bench.py") is None
