"""Members that die: their table from series and gaps written by hand, and an emulated device's cut link."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from balanced import S, by_hand
from methodlab import measure_plan, run_here, table, text
from netdyno.campaign.reasons import REASONS
from netdyno.methods.parts.failures import (
    COLUMNS,
    DEAD,
    Failure,
    find_within,
    list_events,
    spare_dead,
    tables,
)
from netdyno.methods.soak import METHOD, SoakParameters
from netdyno.plan import parse
from netdyno.reports.model.first_lines import failure_lines
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.values.failures import TABLE
from netdyno.values.finding import Table
from netdyno.values.load import Event, EventKind, Frames, Happened
from netdyno.values.outcome import Gap, Gaps, Outcome
from netdyno.values.situation import Behind, Place, Situation
from netdyno.values.units import FrameRate
from netdyno.verdict.doubt_reasons import LostAsPlanned
from pydantic import ValidationError

KNOWN = Situation(
    ("west-east", "east.e0-west", "east.e1-west"),
    Fraction(10_000),
    Fraction(64),
    places=(Place(0, 1), Place(1, 0, Fraction(1, 2)), Place(2, 0, Fraction(1, 2))),
    lags=((1, 2),),
    behind=(Behind("west"), Behind("east.e0"), Behind("east.e1")),
    asked=False,
)
LOST = {
    # Before the failure, of it, and of the return: 3 of 5 frames a millisecond apart.
    "west-east": (Gap(100, 100, 1, S // 10, S // 10), Gap(2000, 2004, 3, 2 * S, 2 * S + 4 * S // 1000)),
    "east.e0-west": (Gap(500, 599, 100, 3 * S, 4 * S),),
    "east.e1-west": (Gap(200, 230, 31, 2 * S, 23 * S // 10), Gap(900, 900, 1, 9 * S, 9 * S)),
}


def outcome(rx: tuple[int, ...], *kinds: EventKind) -> Outcome:
    """Samples of a second; dead from 2.25 s to 8.5 s."""
    made = by_hand({}, sent=1000, received=1000)
    west, east = made.ports
    (stream,) = made.streams
    streams = tuple(replace(stream, name=name, gaps=Gaps(gaps, 0, 0)) for name, gaps in LOST.items())
    ports = (west, replace(east, name="east.e0", rx=rx), replace(east, name="east.e1"))
    times = ((2 * S, 9 * S // 4), (8 * S, 17 * S // 2))
    happened = (
        Happened(Event(at, kind, "east.e0"), at, until)
        for kind, (at, until) in zip(kinds, times, strict=True)
    )
    return replace(made, happened=tuple(happened)).with_counts(ports=ports, streams=streams)


@pytest.mark.parametrize(
    ("rx", "left", "frames", "back"),
    [
        ((9, 9, 9, 9, 5, 0, 0, 0, 0, 4, 9), 11 * S // 4, 14, 3 * S // 2),
        # The device never left it, or never sent there.
        ((9,) * 11, None, 45, S // 2),
        ((0,) * 11, None, 0, None),
    ],
)
def test_last_and_first_frame_of_a_silent_member(
    rx: tuple[int, ...], left: int | None, frames: int, back: int | None
) -> None:
    (found,) = tables([(60 * S, outcome(rx, "lacp-silent", "lacp-speaks"))], KNOWN, S)
    ((member, by, died, came, last, count, *_, returned, first, _, _, _),) = found.rows
    assert (member, by, died) == ("east.e0", "silence", Fraction(249 * S, 4))
    assert (returned, first) == (Fraction(137 * S, 2), back)
    assert (came, last, count) == (rx[1], left, frames)


def test_losses_are_those_of_the_death_the_return_and_the_member() -> None:
    """The frame lost before is of none, and what the tester sent on the dead member stands apart.

    What the other member's stream lost says nothing of how long the device sent there.
    """
    (found,) = tables([(0, outcome((9, 9, 0, 0, 0, 0, 0, 0, 0, 4, 9), "link-down", "link-up"))], KNOWN, S)
    ((_, by, died, _, left, _, lost, lasted, _, _, lost_back, lasted_back, own),) = found.rows
    period = S // 1000
    assert (by, died, left, own) == ("carrier", 2 * S, 4 * period, 100)
    # A single frame of a stream that sends 100 a second.
    assert (lost, lasted, lost_back, lasted_back) == (34, 31 * S // 100, 1, S // 100)


NOTHING = Fraction(0)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        # What came in the second before, how long it came after the death, and how many frames.
        ([(9, 3 * S, 20)], "left after 3 s:"),
        ([(9, 3 * S, 20), *[(9, None, 40)] * 4], "left after 3 s (once), not left (4 times):"),
        ([(9, None, 40), (0, None, 0)], "carried nothing (once), not left (once):"),
        ([(9, None, 0)], "left at once:"),
    ],
)
def test_first_screen_counts_members_that_were_not_left(
    rows: list[tuple[int, int | None, int]], said: str, tmp_path: Path
) -> None:
    asked = "soak: {load: 1000pps, duration: 1s, part: 0s}"
    with open_run(run_here(parse(text(asked)), tmp_path).folder, REASONS) as stored:
        run = view(stored)
    (case,) = run.cases
    assert case.result is not None
    cells = tuple(
        ("e0", "silence", NOTHING, Fraction(came), None if left is None else Fraction(left), Fraction(until))
        + (NOTHING,) * 7
        for came, left, until in rows
    )
    result = replace(case.result, tables=(Table(TABLE, COLUMNS, cells, ""),))
    (line,) = failure_lines(replace(run, cases=(replace(case, result=result),)), lambda case: case.name)
    assert f" by silence, {said} " in line


def failure(at: str, lasts: str, by: str = "silence", member: str = "east.e1") -> Failure:
    return Failure.model_validate({"member": member, "by": by, "at": at, "lasts": lasts})


def test_events_are_those_of_their_part() -> None:
    both = [failure("12s", "3s", "carrier"), failure("2s", "3s")]
    assert list_events(find_within(both, 0, 10 * S), 0) == (
        Event(2 * S, "lacp-silent", "east.e1"),
        Event(5 * S, "lacp-speaks", "east.e1"),
    )
    assert list_events(find_within(both, 10 * S, 20 * S), 10 * S) == (
        Event(2 * S, "link-down", "east.e1"),
        Event(5 * S, "link-up", "east.e1"),
    )


def test_events_of_two_members_are_in_order_of_time() -> None:
    both = [failure("2s", "3s"), failure("3s", "3s", member="east.e0")]
    found = list_events(find_within(both, 0, 10 * S), 0)
    assert [(one.at_ns // S, one.port) for one in found] == [
        (2, "east.e1"), (3, "east.e0"), (5, "east.e1"), (6, "east.e0"),
    ]  # fmt: skip


def test_nothing_is_sent_on_a_dead_member_nor_three_seconds_after() -> None:
    """Until the next failure, where that comes first."""
    load = Frames.steady(FrameRate(1000), 20 * S)
    dying = [failure("12s", "1s"), failure("14s", "1s")]
    spared = spare_dead(load, FrameRate(1000), dying, 10 * S, KNOWN)
    assert spared.segments == load.segments
    (stream,) = spared.loads
    assert stream == "east.e1-west"
    found = [(one.name == DEAD, one.duration_ns, one.from_rate) for one in spared.loads[stream]]
    nothing, half = FrameRate(0), FrameRate(500)
    assert found == [
        (False, 2 * S, half),
        (True, 2 * S, nothing),
        (True, 4 * S, nothing),
        (False, 12 * S, half),
    ]


def test_cut_link_loses_each_frame_until_it_is_back(tmp_path: Path) -> None:
    """At 1,000 frames/s 2,000 in 2 s, the last of them a millisecond before the end; none to the device."""
    failures = "[{member: east, at: 1s, lasts: 2s}]"
    asked = f"soak: {{load: 1000pps, duration: 10s, part: 0s, failures: {failures}}}"
    plan = parse(text(asked, matrix="direction: [bidir]"))
    with open_run(run_here(plan, tmp_path).folder, REASONS) as stored:
        (case,) = view(stored).cases
    result = case.result
    assert result is not None
    (row,) = table(result, TABLE)
    found = [row[name] for name in ("member", "died by", "died", "lost", "for", "back", "lost on return")]
    assert found == ["east", "carrier", S, 2000, 2 * S, 3 * S, 0]
    assert (row["left after"], row["own lost"]) == (2 * S - S // 1000, 0)
    sent = {one.name: (one.offered, one.lost) for one in case.trials[0].result.streams}
    assert sent == {"west-east": (10_000, 2000), "east-west": (5000, 0)}
    verdict = case.verdicts["west-east"]
    assert (verdict.limit, verdict.reason.code) == ("inconclusive", LostAsPlanned.code)
    assert verdict.reason.fields() == {"lost": 2000, "sent": 10_000}
    assert case.verdicts["east-west"].limit == "none"


@pytest.mark.parametrize(
    ("trial", "samples"),
    [("", [S, S // 100]), ("sample: 2s, ", [2 * S] * 2), ("sample: 1ms, ", [S // 1000] * 2)],
)
def test_part_with_a_failure_has_short_samples_unless_the_plan_says(trial: str, samples: list[int]) -> None:
    asked = "soak: {load: 1000pps, duration: 20s, part: 10s, failures: [{member: east, at: 11s, lasts: 2s}]}"
    _, _, made = measure_plan(text(asked, trial=f"{trial}settle: 1ms, drain: 100ms"))
    assert [one.sample_ns for one in made] == samples


def test_device_that_loses_beside_a_cut_is_the_limit(tmp_path: Path) -> None:
    """Each 200th frame, of which the 2,000 of the cut have none in the count."""
    asked = "soak: {load: 1000pps, duration: 10s, part: 5s, failures: [{member: east, at: 1s, lasts: 2s}]}"
    plan = parse(text(asked, kind="emulated/path, settings: {loses: 1/200}"))
    with open_run(run_here(plan, tmp_path).folder, REASONS) as stored:
        (case,) = view(stored).cases
    verdict = case.verdict()
    assert verdict is not None
    assert (verdict.limit, verdict.reason.code) == ("device", "device-measured")
    assert verdict.reason.fields()["lost"] == pytest.approx(8000 / 200, abs=3)


@pytest.mark.parametrize(
    ("failures", "code"),
    [
        ([("8s", "3s")], "out-of-range"),
        ([("18s", "3s")], "out-of-range"),
        ([("30s", "3s")], "out-of-range"),
        ([("2s", "3s"), ("4s", "1s")], "conflict"),
        ([("4s", "1s"), ("2s", "3s")], "conflict"),
    ],
)
def test_failure_across_a_border_or_of_a_dead_member_is_refused(
    failures: list[tuple[str, str]], code: str
) -> None:
    given = [{"member": "e", "at": at, "lasts": lasts} for at, lasts in failures]
    with pytest.raises(ValidationError) as refused:
        SoakParameters.model_validate({"duration": "20s", "part": "10s", "failures": given})
    (error,) = refused.value.errors()
    assert error["ctx"]["error"].code == code


def test_failures_are_scaled_with_the_soak() -> None:
    scaled = SoakParameters(failures=[failure("20s", "3s")]).scaled(Fraction(1, 10))
    assert [one.at.ns for one in scaled.failures] == [2 * S]


@pytest.mark.parametrize(
    ("by", "member", "asked", "fits"),
    [
        ("carrier", "east.e0", False, True),
        ("silence", "east.e0", False, True),
        ("carrier", "east.e9", False, False),
        ("carrier", "west", False, False),
        ("carrier", "west", True, True),
        ("silence", "west", True, False),
    ],
)
def test_member_must_be_of_a_lag_or_its_link_the_devices(
    by: str, member: str, asked: bool, fits: bool
) -> None:
    parameters = SoakParameters(failures=[failure("1s", "1s", by, member)])
    assert METHOD.fits is not None
    problem = METHOD.fits(parameters, replace(KNOWN, asked=asked))
    assert (None if problem is None else (problem.code, problem.at)) == (
        None if fits else ("unknown-name", ("failures", 0, "member"))
    )
