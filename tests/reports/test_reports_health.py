"""What reports say of the tester itself, from a stored run, and that they say nothing where all was well."""

from __future__ import annotations

import csv
import html
import io
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from campaigns import write_plan
from kinds import kind
from netdyno.campaign.events import Measured, TrialEnded
from netdyno.campaign.run import Selection
from netdyno.cli import live
from netdyno.methods.reasons.tester import Preempted
from netdyno.plan import load
from netdyno.reports.model import health
from netdyno.reports.model.from_store import view
from netdyno.values.finding import Result, Value
from netdyno.values.health import CatchUp, Health, WorkerHealth
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Lag, Outcome
from netdyno.values.records import StoredVerdict
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from pages import report_text
from readers import read_slowly
from report_sample import HISTOGRAM, SMALL, Sample, write
from words import said

ALONE = Health(
    0, 0, 12_000, 0, 0, 999_000, workers=(WorkerHealth(0, 999_000, 9, 12_000, 9, 450),), threads=1, cores=2
)
ON_TIME = Lag(1_000_000, 0, 50_000_000, 9_900, 0, HISTOGRAM, 0, 10_000)
LATE = replace(ON_TIME, max_ns=1_250_000, late=25)
TWO = (
    WorkerHealth(0, 998_400, 9, 12_000, 1000, 45_000, (400, 0), (0, 600)),
    WorkerHealth(1, 871_000, 9, 4_210_000, 0, 0, (0, 0), (0, 500)),
)


def rendered(folder: Path, report: str, tester: Health, lag: Lag | None = None) -> str:
    """As one report says it, on one line."""
    return " ".join(html.unescape(written(folder, report, tester, lag)).replace("\\", "").split())


def written(folder: Path, report: str, tester: Health, lag: Lag | None = None) -> str:
    """A run of four cases (two of them send both ways) as a report."""
    with write(folder, replace(SMALL, cases=SMALL.cases[:4], health=tester, lag=lag)) as run:
        return report_text(report, view(run))


READ = pytest.mark.parametrize("report", ["terminal", "markdown", "html", "json"])
CASE = "l2-xconnect / plain / imix / uni: "


@READ
def test_a_tester_that_did_well_is_not_spoken_of(tmp_path: Path, report: str) -> None:
    text = rendered(tmp_path, report, ALONE, ON_TIME)
    assert "no usable latency" not in text
    assert "not known" not in text
    assert "share core" not in text
    assert "worker 1" not in text


@READ
def test_latency_of_frames_sent_late_is_called_not_usable(tmp_path: Path, report: str) -> None:
    text = rendered(tmp_path, report, ALONE, LATE)
    assert "no usable latency: 25 of 1,000,000 frames were sent more than 10 us late, up to 1.25 ms" in text
    if report in ("html", "json"):
        assert "50 of 2,000,000 frames were sent more than 10 us late" in text, "of both streams"
    if report != "json":
        assert f"{CASE}no usable latency" in text
        assert "(the worst of 4 load tests)" in text


@READ
def test_what_was_made_up_for_after_pauses_is_said(tmp_path: Path, report: str) -> None:
    caught = CatchUp(200, 3, 12_500_000, 40_000, 25_000, 512)
    text = rendered(tmp_path, report, replace(ALONE, catch_up=caught))
    assert "the tester fell behind its schedule 3 times, by up to 12.5 ms: 40,000 of " in text
    assert "left at up to 200 % of the rate to make up for it, at most 25,000 in a row" in text
    assert "hardly ever" not in text
    (tmp_path / "late").mkdir()
    always = replace(caught, frames=20_000_000)
    text = rendered(tmp_path / "late", report, replace(ALONE, catch_up=always))
    assert "in a row, and it hardly ever was on time: leave it its core, or ask for less" in text
    (tmp_path / "well").mkdir()
    assert "fell behind" not in rendered(
        tmp_path / "well", report, replace(ALONE, catch_up=replace(caught, frames=0))
    )


def test_retried_trials_are_counted_by_reason() -> None:
    assert health.count_retries([]) is None
    away, flap = (Preempted(25_000_000),), (said("the link went down"),)
    found = health.count_retries([away, away, flap])
    assert found is not None
    assert found.sentence == "3 trials were retried: tester preempted for 25 ms; the link went down"
    found = health.count_retries([away, flap, (Preempted(31_500_000),)])
    assert found is not None
    why = "tester preempted for 25 ms (and 1 more like it); the link went down"
    assert found.sentence == f"3 trials were retried: {why}"


@READ
def test_flows_that_came_in_on_several_workers_are_said_to_be_unknown(tmp_path: Path, report: str) -> None:
    text = rendered(tmp_path, report, replace(ALONE, split_flows=1200))
    assert "order and copies of 1,200 flows whose frames came in on several workers are not known" in text


def test_counts_that_are_not_known_across_workers_are_absent(tmp_path: Path) -> None:
    """Never 0: a copy among them may have been counted as a frame."""
    for name in ("csv", "json", "known"):
        (tmp_path / name).mkdir()
    split = replace(ALONE, split_flows=1200)
    rows = list(csv.DictReader(io.StringIO(written(tmp_path / "csv", "csv", split))))
    row = next(row for row in rows if row["received_frames"])
    assert (row["duplicates_frames"], row["out_of_order_frames"]) == ("", "")
    assert "order and copies of 1,200 flows" in row["tester"]
    cases = json.loads(written(tmp_path / "json", "json", split))["cases"]
    (stream, *_) = cases[0]["trials"][0]["streams"]
    assert "received_frames" in stream
    assert not {"duplicates_frames", "out_of_order_frames"} & set(stream)
    known = csv.DictReader(io.StringIO(written(tmp_path / "known", "csv", ALONE)))
    assert all(row["duplicates_frames"] for row in known if row["received_frames"])


@READ
@pytest.mark.parametrize(
    ("noticed", "told"),
    [
        ({"tx_dropped": 7000}, "the tester's card, driver or kernel dropped 7,000 frames it was to send"),
        ({"rx_full": 12}, "12 times the tester found a ring full that it receives into"),
        ({"rx_full": 1}, "once the tester found a ring full that it receives into: what came then"),
        ({"rx_full": 2, "rx_full_ns": 3_000_000}, "that it receives into, for 3 ms in all at most: what"),
        ({"rx_too_long": 1131}, "1,131 frames longer than any sent came: frames were joined"),
        ({"unheard": 744}, "744 frames that are no test frames came so many at once"),
        (
            {"tx_ahead": 4032, "tx_ahead_ns": 270_950},
            "up to 270.95 us of a latency may be the tester's own: it is counted from when a frame is handed"
            " to the card, where up to 4,032 others were still to leave before it",
        ),
    ],
)
def test_what_the_ports_noticed_of_themselves_is_said(
    tmp_path: Path, report: str, noticed: dict[str, int], told: str
) -> None:
    assert told in rendered(tmp_path, report, replace(ALONE, **noticed))


@READ
@pytest.mark.parametrize(
    ("workers", "threads", "cores", "told"),
    [
        (ALONE.workers, 2, 1, "tester and emulated device share core 0,"),
        ((replace(ALONE.workers[0], core=None),), 2, 1, "tester and emulated device share a core,"),
        (TWO, 3, 2, "2 workers of the tester and 1 emulated device share 2 cores,"),
        (ALONE.workers, 4, 2, "1 worker of the tester and 3 emulated devices share 2 cores,"),
    ],
)
def test_threads_that_share_a_core_are_named(
    tmp_path: Path, report: str, workers: tuple[WorkerHealth, ...], threads: int, cores: int, told: str
) -> None:
    text = rendered(tmp_path, report, replace(ALONE, workers=workers, threads=threads, cores=cores))
    assert told in text


@READ
def test_of_several_workers_each_ones_share_and_longest_pause_are_said(tmp_path: Path, report: str) -> None:
    text = rendered(tmp_path, report, replace(ALONE, workers=TWO, threads=2))
    assert (
        "worker 1 on core 0 had 99.8 % of it, longest pause 12 us, 45 ns a frame, 600 frames received;"
        " worker 2 on core 1 had 87.1 % of it, longest pause 4.21 ms, 500 frames received" in text
        # A table of all trials, of each by itself.
    ) or report == "html"
    if report == "html":
        assert "worker 1 on core 0 had 99.8 % of it, longest pause 12 us, 45 ns a frame, 600 frames" in text


def result(folder: Path, sample: Sample) -> Outcome:
    with write(folder, sample) as run:
        return view(run).cases[0].trials[0].result


def test_trials_with_late_frames_are_counted_and_workers_merged(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    quiet = result(tmp_path / "first", replace(SMALL, lag=ON_TIME, health=replace(ALONE, workers=TWO)))
    swapped = tuple(replace(one, core=at) for at, one in enumerate(reversed(TWO)))
    late = result(tmp_path / "second", replace(SMALL, lag=LATE, health=replace(ALONE, workers=swapped)))
    found = {one.kind: one for one in health.findings([quiet, late, quiet])}
    assert set(found) == {"late", "workers"}
    assert found["late"].sentence.startswith("no usable latency in 1 of 3 trials: 25 of 1,000,000 frames")
    assert found["workers"].sentence == (
        "worker 1 on core 0 had 87.1 % of it, longest pause 4.21 ms, 45 ns a frame, 1,700 frames received;"
        " worker 2 on core 1 had 87.1 % of it, longest pause 4.21 ms, 45 ns a frame, 1,600 frames received"
    )


@pytest.mark.parametrize(
    ("came", "told"),
    [
        ((1_000, 1_000), None),
        ((1_500, 500), None),
        ((1_501, 499), "of the 2,000 frames that came in on `west` worker 1 had 75.0 %"),
        ((0, 2_000), "worker 1 had 0.0 % and worker 2 100.0 %"),
        ((0, 999), None),
        ((700, 700, 700, 100), "worker 3 31.8 % and worker 4 4.5 %"),
        ((2_000,), None),
    ],
)
def test_a_port_whose_frames_came_to_few_of_its_queues_is_named(
    tmp_path: Path, came: tuple[int, ...], told: str | None
) -> None:
    """Less than half of an even share is uneven; too few frames say nothing, and one worker has them all."""
    workers = tuple(replace(TWO[0], rx_frames=(count,)) for count in came)
    found = health.findings([result(tmp_path, replace(SMALL, health=replace(ALONE, workers=workers)))])
    sentences = [one.sentence for one in found if one.kind == "queues"]
    assert len(sentences) == (told is not None)
    assert all(told is not None and told in sentence for sentence in sentences)


def test_lag_above_a_tenth_of_the_latency_is_noted_without_late_frames(tmp_path: Path) -> None:
    """The sample's frames take 1,058 ns in the mean."""
    for number, (mean_ns, told) in enumerate(
        [(105, None), (106, "106 ns after they were due (10.0 % of it)")]
    ):
        (tmp_path / str(number)).mkdir()
        lag = replace(ON_TIME, sum_ns=mean_ns * ON_TIME.count)
        found = health.findings([result(tmp_path / str(number), replace(SMALL, health=ALONE, lag=lag))])
        assert [one.kind for one in found] == ([] if told is None else ["lag"])
        assert all(
            "the mean latency, 1.06 us" in one.sentence and told in one.sentence for one in found if told
        )


def test_case_without_latency_has_no_note_on_it(tmp_path: Path) -> None:
    late = result(tmp_path, replace(SMALL, lag=LATE))
    untimed = late.with_counts(streams=tuple(replace(one, latency=None) for one in late.streams))
    assert health.findings([late])
    assert health.findings([untimed]) == ()


def test_health_of_a_run_is_that_of_its_worst_case() -> None:
    def late(weight: Fraction) -> tuple[health.Finding, ...]:
        return (health.Finding("late", weight, f"{weight} late"),)

    cases = [
        ("one", late(Fraction(1, 9))),
        ("two", late(Fraction(1, 3))),
        ("three", ()),
        ("four", late(Fraction(0))),
    ]
    assert health.merge_worst(cases) == ("two: 1/3 late (the worst of 3 load tests)",)
    assert health.merge_worst(cases[:1]) == ("one: 1/9 late",)


def ended(tmp_path: Path, sample: Sample) -> list[str]:
    """What a run says on stderr when a case with one trial has ended."""
    (folder := tmp_path / "run").mkdir()
    with write(folder, sample) as run:
        (trial,) = run.trials(0)
    plan = load(write_plan(tmp_path))
    cases: list[Any] = list(Selection().cases(plan))
    stream = io.StringIO()
    watching = live.PlainView(stream)
    watching.begin(plan, cases, 0)
    watching.event(TrialEnded(0, replace(trial, number=0)))
    rate = Value(kind("throughput"), "sum", Fraction(14_880_952))
    watching.event(
        Measured(
            0,
            Result("throughput", (rate,), (0,), headlines=(rate.name,)),
            (StoredVerdict("sum", "line", said("full")),),
            (),
        )
    )
    return stream.getvalue().splitlines()


def test_live_view_shows_the_health_of_the_tester_in_a_line(tmp_path: Path) -> None:
    *_, headline, tester = ended(tmp_path, replace(SMALL, health=ALONE, lag=LATE))
    assert headline.endswith("limit: line")
    assert tester == (
        "    tester: 99.9 % of its core at least, longest pause 12 us,"
        " 25 of 1,000,000 frames late, at most 1.25 ms"
    )


def test_in_virtual_time_there_is_nothing_to_say_of_the_tester(tmp_path: Path) -> None:
    assert ended(tmp_path, SMALL)[-1].endswith("limit: line")


def test_what_json_says_of_lateness_is_what_was_stored(tmp_path: Path) -> None:
    with write(tmp_path, replace(SMALL, health=ALONE, lag=LATE)) as run:
        document = json.loads(report_text("json", view(run)))
    (stream,) = document["cases"][0]["trials"][0]["streams"]
    told = stream["lag"]
    assert (told["mean_ns"], told["max_ns"], told["late_frames"], told["late_beyond_ns"]) == (
        50,
        1_250_000,
        25,
        10_000,
    )
    # From when they were due frames took as long as their latency in the mean, or up to all of the lag more.
    assert stream["response_time"]["mean_ns"] == [1058, 1058 + 50_000_000 / 1000 + 1]
    assert stream["response_time"]["p50_ns"][0] == stream["latency"]["p50_ns"]


def test_frames_a_full_memif_ring_refused_are_reported_and_no_catching_up() -> None:
    """A tester that waits for its peer's ring is behind its schedule for that, and not for want of a core."""
    trial = Trial("t", Frames.steady(FrameRate(100_000), 10**9))
    slow = read_slowly(trial, 50_000, Situation(("west-east",), Fraction(10**7), Fraction(64)))
    behind = replace(slow, health=replace(slow.health, catch_up=CatchUp(200, 1, 10**8, 500, 500, 64)))
    kinds = {finding.kind: finding for finding in health.findings((behind,))}
    assert kinds["refused"].weight == Fraction(1, 2)
    assert "caught up" not in kinds
    fast = read_slowly(trial, 200_000, Situation(("west-east",), Fraction(10**7), Fraction(64)))
    behind = replace(fast, health=replace(fast.health, catch_up=behind.health.catch_up))
    kinds = {finding.kind: finding for finding in health.findings((behind,))}
    assert "caught up" in kinds
    assert "refused" not in kinds
