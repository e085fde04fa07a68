"""The soak in virtual time: every loss dated, in the part it falls into, and nothing else."""

from __future__ import annotations

import io
import os
import re
import signal
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from campaigns import finish, start, wait_for, write_plan
from methodlab import measure_plan, run_example, table, text, value
from netdyno.campaign import run as runner
from netdyno.campaign.events import Event, Looked, Wired
from netdyno.campaign.reasons import REASONS
from netdyno.campaign.selection import Selection, total_seconds
from netdyno.cli import live
from netdyno.cli.run import conclude
from netdyno.cli.run_reports import Wanted
from netdyno.methods import METHODS
from netdyno.methods.reasons.outages import SoakClean, SoakPaused
from netdyno.methods.soak import SoakParameters
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.reports.model import unfinished
from netdyno.reports.model.from_store import view
from netdyno.reports.model.view import RunView
from netdyno.store import StoreError, open_run
from netdyno.testers.tester import Progress
from netdyno.values.finding import Result
from netdyno.values.health import Health
from netdyno.values.outcome import FrameCounts, Gap, Gaps, Outcome, Phase, StreamResult
from netdyno.values.records import CaseWiring
from netdyno.values.situation import Situation
from pages import OF_RUNS, report_text
from tendevices import measure, passes_everything
from words import within

MS = 10**6
APART_NS = 2000
"""From frame to frame at 500 kpps."""
ONE_STREAM = StreamResult(
    *("", 10**6, 10**6, 64 * 10**6, 10**6, 64 * 10**6, 0, 0, 0, 0, 0, 0, 1, None, (), (), (), None)
)
ENGINE = {"CAMPAIGN_ENGINE": "netdyno._engine"}


def soak(lost: list[int], **changes: str) -> Result:
    """50 ms in parts of 20 ms, so 10,000 frames, of which the device loses those with these numbers."""
    asked = {"duration": "50ms", "part": "20ms", "apart": "1ms", "load": "500kpps", **changes}
    given = ", ".join(f"{name}: {what}" for name, what in asked.items())

    def lose(device: dict[str, object]) -> None:
        device["impairments"] = [{"port": 1, "fault": "lose", "when": {"frames": lost}}]

    result, trials, outcomes = measure_plan(text(f"soak: {{{given}}}"), lose)
    assert sum(one.lost for one in outcomes) == len(lost)
    assert all(trial.stands for trial in trials)
    return result


def test_losses_are_dated_in_the_soak_and_in_their_part() -> None:
    result = soak([100, 101, 102, 12_000, 12_400, 24_999])
    rows = table(result, "Loss events")
    found = [
        (row["event"], row["part"], row["lost"], row["first lost"], row["last lost"], row["first frame"])
        for row in rows
    ]
    assert found == [
        (1, 1, 3, 100 * APART_NS, 102 * APART_NS, 100),
        # 0.8 ms apart, and what is no further apart than 1 ms is one event.
        (2, 2, 2, 12_000 * APART_NS, 12_400 * APART_NS, 2_000),
        (3, 3, 1, 24_999 * APART_NS, 24_999 * APART_NS, 4_999),
    ]
    assert [row["first lost, clock"] for row in rows] == [None] * 3, "virtual time has no time of day"
    assert value(result, "loss ratio").number == Fraction(6, 25_000)
    (total,) = table(result, "Soak")
    assert (total["sent"], total["lost"], total["events"], total["loss at most"]) == (25_000, 6, 3, None)


def test_losses_that_are_further_apart_are_events_of_their_own() -> None:
    rows = table(soak([12_000, 12_400], apart="700us"), "Loss events")
    assert [row["first lost"] for row in rows] == [12_000 * APART_NS, 12_400 * APART_NS]


@pytest.mark.parametrize(("second", "events"), [(12_500, 1), (12_501, 2)])
def test_losses_exactly_apart_are_one_event_and_no_further(second: int, events: int) -> None:
    """500 frames of 2 us each are 1 ms."""
    result = soak([12_000, second], apart="1ms")
    (total,) = table(result, "Soak")
    assert total["events"] == events


def test_without_a_loss_the_ratio_is_bounded_by_the_rule_of_three() -> None:
    result = soak([])
    found = value(result, "loss ratio")
    assert (found.number, found.low, found.high) == (0, 0, Fraction(3, 25_000))
    assert table(result, "Loss events") == []
    assert within(SoakClean, result.notes)


@pytest.mark.parametrize(("part", "parts"), [("1us", 43_200_000_000), ("4.319s", 10_003)])
def test_soak_parts_without_a_number_are_refused_at_once(part: str, parts: int) -> None:
    """Listing 43 billion of them took all memory there was; 12 h are 10,002 parts of 4.319 s and a rest."""
    with pytest.raises(ValueError, match=f"{parts} parts of {part}, at most 10000"):
        METHODS["soak"].parameters(part=part)


def test_how_long_the_load_pauses_between_parts_is_said() -> None:
    """A drain of 100 ms behind a part and a settling of 1 ms in front of the next one: the plan's."""
    result = soak([])
    paused = [row["load paused before"] for row in table(result, "Parts of the soak")]
    assert paused == [None, 101 * MS, 101 * MS]
    assert SoakPaused(3, 101 * MS, 202 * MS, 0) in result.notes
    assert len(table(soak([], part="0s"), "Parts of the soak")) == 1


def test_two_streams_that_lose_at_one_time_are_one_event() -> None:
    def lose(device: dict[str, object]) -> None:
        device["impairments"] = [
            {"port": port, "fault": "lose", "when": {"frames": [1000]}} for port in (0, 1)
        ]

    plan = text("soak: {duration: 10ms, part: 0s, apart: 1ms, load: 500kpps}", matrix="direction: [bidir]")
    result, _, _ = measure_plan(plan, lose)
    rows = table(result, "Loss events")
    # What a bridge is taught by passes the ports too, so the frame that is lost is not number 1000 in both.
    assert [(row["event"], row["stream"], row["lost"]) for row in rows] == [
        (1, "west-east", 1),
        (1, "east-west", 1),
    ]
    counts = [value(result, "loss events", scope).number for scope in ("west-east", "east-west", "sum")]
    assert counts == [1, 1, 1]


def meshed(streams: int, losses: int, parts: int) -> Result:
    """A soak of so many streams, each of which loses one frame in each of so many events of a part: stream
    i's i ns after the event's begin, every 3 s."""
    names = tuple(f"s{number}" for number in range(streams))

    def stream(number: int) -> StreamResult:
        gaps = [
            Gap(k * 1000, k * 1000, 1, k * 3 * 10**9 + number, k * 3 * 10**9 + number) for k in range(losses)
        ]
        sent = 10**6
        return replace(
            ONE_STREAM, name=names[number], lost=losses, gaps=Gaps(tuple(gaps), 0, 0), offered=sent
        )

    phases = (Phase("traffic", 0, 3 * 10**9 * losses),)
    health = Health(0, 0, 0, 0, 0, None)
    outcome = Outcome(FrameCounts(tuple(map(stream, range(streams))), (), 10**9), health, phases)
    parameters = SoakParameters.model_validate(
        {"duration": f"{3 * losses * parts}s", "part": f"{3 * losses}s"}
    )
    method = METHODS["soak"].start(parameters, Situation(names, Fraction(1000), Fraction(64)))
    next(method)
    for _ in range(parts - 1):
        method.send(outcome)
    with pytest.raises(StopIteration) as ended:
        method.send(outcome)
    result = ended.value.value
    assert isinstance(result, Result)
    return result


def test_long_soak_tables_are_shortened_and_their_sums_are_complete() -> None:
    """300 streams that lose in 20 events of 2 parts would be 12,000 rows; 300 in 40 parts as many."""
    result = meshed(streams=300, losses=20, parts=2)
    rows = table(result, "Loss events")
    assert [len([one for one in rows if one["event"] == event]) for event in (1, 33, 34, 40)] == [
        300,
        300,
        1,
        1,
    ]
    last = rows[-1]
    assert (last["stream"], last["lost"], last["part"]) == ("300 streams", 300, 2)
    # The last of 20 events of the second part, which begins after 60 s: 57 s in, to its last stream's.
    assert (last["first lost"], last["last lost"]) == (117 * 10**9, 117 * 10**9 + 299)
    assert sum(one["lost"] for one in rows) == 300 * 20 * 2
    assert [value(result, "loss events", scope).number for scope in ("s0", "s299", "sum")] == [40, 40, 40]
    parts = table(meshed(streams=300, losses=1, parts=40), "Parts of the soak")
    assert [one["stream"] for one in parts] == ["sum"] * 40
    assert [one["lost"] for one in parts] == [300] * 40
    assert len(table(meshed(streams=300, losses=1, parts=3), "Parts of the soak")) == 900


def test_samples_of_a_soak_are_a_second_unless_the_plan_says_otherwise() -> None:
    plan = text("soak: {duration: 12h}", trial="settle: 1s")
    assert parse(plan).trial.sample.ns == 10**9
    assert parse(plan.replace("settle: 1s", "sample: 200ms")).trial.sample.ns == 2 * 10**8
    # 12 h, and 72 parts with 1 s to settle and 2 s to drain.
    long = parse(plan)
    assert total_seconds(long, cases(long)[:1]) == 43_200 + 72 * 3


def test_what_is_left_counts_the_parts_that_are_done(tmp_path: Path) -> None:
    """36 parts of 72 were there when the run was gone on with: the other half is left, and then less."""
    plan = parse(text("soak: {duration: 12h}", trial="settle: 0s, drain: 0s"))
    view = live.PlainView(open(os.devnull, "w"))  # noqa: SIM115
    view.begin(plan, list(Selection().cases(plan)), 0)
    wiring = CaseWiring("real", Situation((), Fraction(1), Fraction(64)), False, (), "{}")
    view.event(Wired(0, wiring))
    for elapsed, left in ((0, 6 * 3600), (50, 6 * 3600 - 300)):
        now = Progress("traffic", elapsed, 100)
        view.event(Looked(0, "part 37 of 72", 36, now))
        assert view.left_s() == pytest.approx(left)


def test_the_example_runs_in_seconds_for_hours(tmp_path: Path) -> None:
    """examples/soak.yaml: four streams of 1 kpps in 72 parts, here of 1/6 s: frames 0 to 166."""
    with run_example("soak.yaml", "1/3600", tmp_path) as run:
        result = run.cases[0].result
        assert result is not None
        assert value(result, "loss ratio").high == Fraction(3, 72 * 4 * 167)
        assert len(result.trials) == 72


def test_a_goal_for_the_loss_is_about_all_of_it(tmp_path: Path) -> None:
    text_ = (
        text("soak: {duration: 20ms, part: 10ms, load: 500kpps}")
        + 'goals: ["loss <= 0.03%", "loss <= 0.029%"]\n'
    )
    outcome = runner.run(parse(text_), tmp_path, live.watcher(), Selection())
    with open_run(outcome.folder, REASONS) as run:
        met, unknown = run.cases[0].goals
    assert met.passed is True, "none of 10,000 lost shows 3/10,000"
    assert "0 of 10,000 frames" in str(met.reason)
    assert unknown.passed is None


def assert_parts_are_shown(folder: Path, kept: int) -> None:
    """Each report has the parts that were finished, as the counts they are, and how to go on."""
    with open_run(folder, REASONS) as run:
        shown = view(run)
        trials = [trial for trial in run.trials(0) if trial.state == "done"]
        pages = {name: report_text(name, shown) for name in OF_RUNS}
    assert shown.state == "interrupted"
    (found,) = unfinished.tables(shown)
    rows = [dict(zip([column.name for column in found.columns], row, strict=True)) for row in found.rows]
    assert [row["trial"] for row in rows] == [
        *(f"part {number} of 8" for number in range(1, kept + 1) for _ in range(2)),
        f"all {kept}",
    ]
    assert rows[-1]["sent"] == sum(stream.offered for trial in trials for stream in trial.result.streams)
    for name in ("terminal", "markdown", "html"):
        page = " ".join(re.sub(r"<[^>]*>|[\\`]", "", pages[name]).split())
        assert unfinished.TITLE in page, name
        # A terminal breaks a name over lines.
        assert f"part {kept} of 8" in page or name == "terminal", name
        assert "The run was interrupted; netdyno run --resume goes on with its folder, " in page, name
        assert f"Finished and kept, without a result yet: {kept} trials of" in page, name
    assert pages["tables"].startswith(unfinished.TITLE)


class Interrupting(live.PlainView):
    """Interrupts the run, as Ctrl-C does, while the third trial is under way."""

    def event(self, event: Event) -> None:
        super().event(event)
        if isinstance(event, Looked) and event.number == 2:
            os.kill(os.getpid(), signal.SIGINT)


def assert_last_is_shown_as_cut_short(run: RunView) -> None:
    """Whether the last trial ended before the interrupt is chance; here it was cut after a second."""
    (case,) = run.cases
    phases = [
        replace(one, duration_ns=10**9) if one.name == "traffic" else one
        for one in case.trials[-1].result.phases
    ]
    cut = replace(case.trials[-1], state="cancelled", result=replace(case.trials[-1].result, phases=phases))
    (found,) = unfinished.tables(replace(run, cases=(replace(case, trials=(*case.trials[:-1], cut)),)))
    rows = [dict(zip([column.name for column in found.columns], row, strict=True)) for row in found.rows]
    shown = [row for row in rows if row["trial"] == f"{cut.name}, cut short"]
    assert [row["sent"] for row in shown] == [stream.offered for stream in cut.result.streams]
    assert [row["load for"] for row in shown] == [10**9, 10**9]
    (alone,) = unfinished.tables(replace(run, cases=(replace(case, trials=(cut,)),)))
    assert len(alone.rows) == 2


def test_an_interrupted_run_says_how_many_trials_are_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that was cut short is stored and shown as well, and is none of them."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    plan = parse(text("soak: {duration: 80s, part: 10s, load: 30%}", matrix="direction: [bidir]"))
    outcome = runner.run(plan, tmp_path, Interrupting(io.StringIO()), Selection())
    with open_run(outcome.folder, REASONS) as run:
        done = sum(trial.state == "done" for trial in run.trials(0))
        shown = view(run)
    assert 2 <= done < 8
    assert_last_is_shown_as_cut_short(shown)
    with pytest.raises(SystemExit) as ended:
        conclude(outcome, Wanted(), verbose=True)
    assert ended.value.code == 130
    said = capsys.readouterr()
    for told in (said.err, " ".join(said.out.split())):
        assert f"inished and kept, without a result yet: {done} trials of" in told


def test_a_soak_that_was_killed_goes_on_with_the_next_part(tmp_path: Path) -> None:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    plan = write_plan(
        tmp_path, text("soak: {duration: 2s, part: 250ms, load: 100%}", matrix="direction: [bidir]")
    )
    whole = tmp_path / "whole"
    _, uncut, _ = finish("run", plan, whole, **ENGINE)
    running = start("run", plan, tmp_path / "cut", **ENGINE)

    def parts() -> int:
        folders = list((tmp_path / "cut").glob("*"))
        try:
            with open_run(folders[0], REASONS) as run:
                return len(list(run.trials(0)))
        except (StoreError, IndexError):
            return 0

    wait_for(lambda: parts() >= 2, 60)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    (folder,) = (tmp_path / "cut").glob("*")
    kept = parts()
    assert 2 <= kept < 8
    assert_parts_are_shown(folder, kept)
    code, _, said = finish("resume", folder, **ENGINE)
    assert code == 0, said
    with open_run(folder, REASONS) as run, open_run(uncut, REASONS) as other:
        assert run.cases[0].result == other.cases[0].result
        assert len(list(run.trials(0))) == 8


@pytest.mark.parametrize(
    ("before", "behind", "events"),
    [
        ((995, 999), (0, 4), 1),
        ((900, 902), (0, 4), 1),
        ((899, 899), (1, 4), 2),
        ((995, 999), (101, 104), 2),
    ],
)
def test_what_goes_on_over_a_border_of_parts_is_one_event(
    before: tuple[int, int], behind: tuple[int, int], events: int
) -> None:
    """Parts of 1 s at 1 kpps, losses 100 ms apart or less are one: by the time of the load, in ms."""
    method = METHODS["soak"]
    parameters = method.parameters(duration="3s", part="1s", load="1kpps", apart="100ms")
    situation = Situation(("west-east",), Fraction(10_000_000), Fraction(64))
    generator = method.start(parameters, situation)
    lost: list[tuple[int, int] | None] = [before, behind, None]
    try:
        trial = next(generator)
        while True:
            outcome = measure(trial, passes_everything(), situation)
            gone = lost.pop(0)
            if gone is not None:
                first, last = gone
                gap = Gap(first, last, last - first + 1, first * 10**6, last * 10**6)
                streams = (replace(outcome.streams[0], lost=gap.frames, gaps=Gaps((gap,), 0, 0)),)
                outcome = outcome.with_counts(streams=streams)
            trial = generator.send(outcome)
    except StopIteration as stop:
        result: Result = stop.value
    assert value(result, "loss events", "west-east").number == events
    assert [row["event"] for row in table(result, "Loss events")] == [1, events]
    assert [row["part"] for row in table(result, "Loss events")] == [1, 2]
