# ruff: noqa: E501 (parameters are written a case a line)
"""RFC 2544's tests beside the throughput, and the sweep, against devices of a few lines whose answer is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from statistics import mean, stdev
from typing import Any

import pytest
from netdyno.errors import Problem
from netdyno.methods import METHODS, find_long_pause, find_spoiling_pause
from netdyno.methods.reasons.bursts import BufferAtMost, BufferUnknown, BurstsUnsent, NoBurstLimit
from netdyno.methods.reasons.common import LineRateForwarded, NotCounted
from netdyno.methods.reasons.deviations import NotTested, OtherThanRule, OutsideRule, ResetByHand
from netdyno.methods.reasons.loss import Copied, StillLosing
from netdyno.methods.reasons.outages import LostBefore, NotReset, ResetEarly
from netdyno.methods.reasons.searches import (
    NotHeld,
    NotWhole,
    PassedHighest,
    SharesOfBound,
    StreamFailed,
    TesterBound,
)
from netdyno.methods.reasons.tester import OfOffered, Preempted, Unsent
from netdyno.plan import PlanErrors, parse
from netdyno.values.finding import Cell, Result, Table
from netdyno.values.load import Trial
from netdyno.values.outcome import Gap, Gaps, Outcome, StreamResult
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from pydantic import ValidationError
from tendevices import (
    Device,
    behind_a_starved_tester,
    drive,
    measure,
    never_passes,
    passes_everything,
    starved_tester,
    wall,
    window_loss,
)
from words import within

LINE = 10_000_000
EXTERNAL = (
    "{nodes: {tester: {kind: netdyno}, dut: {kind: external}}, links:"
    " [{endpoints: ['tester:west', 'dut:a'], rate: 1Gbps}, {endpoints: ['tester:east', 'dut:b'], rate: 1Gbps}]}"
)
UNI = Situation(("west-east",), Fraction(LINE), Fraction(100))
BOTH = Situation(("west-east", "east-west"), Fraction(LINE), Fraction(100))


def run(
    name: str, device: Device, situation: Situation = UNI, **parameters: Any
) -> tuple[Result, list[Outcome]]:
    method = METHODS[name]
    return drive(method.start(method.parameters(**parameters), situation), device, situation)


def changed(name: str, change: Callable[[int, StreamResult], StreamResult], **parameters: Any) -> Result:
    """On a device that passes everything, with what the trials found of their stream changed by number."""
    method = METHODS[name]
    generator = method.start(method.parameters(**parameters), UNI)
    try:
        trial = next(generator)
        for number in range(1000):
            outcome = measure(trial, passes_everything(), UNI)
            streams = tuple(change(number, stream) for stream in outcome.streams)
            trial = generator.send(outcome.with_counts(streams=streams))
    except StopIteration as stop:
        result: Result = stop.value
        return result
    raise AssertionError("the method does not end")


def rows(table: Table, *columns: str) -> list[tuple[Cell, ...]]:
    places = [[column.name for column in table.columns].index(name) for name in columns]
    return [tuple(row[place] for place in places) for row in table.rows]


def numbers(result: Result, name: str) -> dict[str, Fraction | None]:
    return {one.scope: one.number for one in result.values if one.name == name}


def test_table_of_a_device_that_passes_nothing_shows_no_throughput() -> None:
    """What is known is that the least load tried, a thousandth of the line, did not pass."""
    result, _ = run("throughput", never_passes(), duration="1s")
    columns = ("throughput", "of the line", "passed", "did not pass")
    assert rows(result.tables[0], *columns) == [(None, None, None, LINE / 1000)]


# The throughput that others are measured at.

ON_THROUGHPUT: dict[str, dict[str, Any]] = {
    "latency": {},
    "back-to-back": {"repeats": 50},
    "recovery": {},
    "reset": {},
    "delay-variation": {},
    "max-forwarding-rate": {},
}


@pytest.mark.parametrize("name", ON_THROUGHPUT)
def test_a_throughput_that_was_given_is_a_deviation_and_meets_no_goal(name: str) -> None:
    result, _ = run(name, wall(6_500_000), throughput="30%", **ON_THROUGHPUT[name])
    given = OtherThanRule("source", "the plan (30%)", "a measurement", "RFC 2544 section 26.1", True)
    assert About("throughput", given) in result.compliance
    assert numbers(result, "throughput, given") == {"west-east": 3_000_000, "sum": 3_000_000}
    assert not numbers(result, "throughput")
    assert "throughput, given" not in result.headlines


@pytest.mark.parametrize("name", ON_THROUGHPUT)
def test_searched_throughput_is_reported_with_its_deviations(name: str) -> None:
    """Trials of 20 ms where the standard has 60 s; 6.5 Mpps of 10, to 0.1 %."""
    search = {"duration": "20ms"}
    result, _ = run(name, wall(6_500_000), throughput=search, **ON_THROUGHPUT[name])
    found = numbers(result, "throughput")["west-east"]
    assert found is not None
    assert 6_490_000 <= found <= 6_500_000
    shorts = [one.reason for one in result.recommended if isinstance(one, About)]
    (final,) = (one for one in shorts if isinstance(one, OutsideRule))
    assert (final.found, final.bound, final.section) == (20 * 10**6, 60 * 10**9, "RFC 2544 section 24")
    assert result.conformity != "unconditional"
    assert any(one.lost for one in within(StreamFailed, result.notes))
    # Two values that stand for the case, each with trials of its own; the method's is first.
    assert result.headlines[-1] == "throughput" != result.headlines[0]
    assert len(result.resting("throughput")) == 2
    assert not set(result.resting("throughput")) & set(result.resting(result.headlines[0]))


def test_a_throughput_that_is_the_testers_makes_a_buffer_time_a_bound() -> None:
    """Of trials of 60 s the tester sends 4 Mpps at most; bursts come whole. RFC 9004: implied x (1 - T / R)."""
    held, capacity = 1000, 8_000_000

    def device(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        if seconds < 1:
            return buffers(lambda: held, capacity)(fps, seconds, stream)
        return starved_tester(4_000_000)(fps, seconds, stream)

    result, _ = run("back-to-back", device, repeats=2, longest="100ms")
    (found,) = (one for one in result.values if (one.name, one.scope) == ("buffer time", "west-east"))
    mean = numbers(result, "back-to-back frames")["west-east"]
    assert mean is not None
    implied = mean / LINE * 10**9
    assert (found.number, found.high) == (None, implied * Fraction(6, 10))
    assert found.high >= implied * (1 - Fraction(capacity, LINE)), "that of the device is below it"
    assert isinstance(found.note, BufferAtMost)
    assert within(Unsent, found.note)
    assert rows(result.tables[0], "implied buffer time", "corrected buffer time") == [(implied, None)]
    (unknown,) = within(BufferUnknown, result.notes)
    assert unknown.most_ns == found.high
    assert isinstance(unknown.bound, TesterBound)
    assert About("throughput", unknown.bound) in result.notes


def test_waits_that_the_clock_makes_unlike_are_one_deviation() -> None:
    """The plan waits for 0.1 s each; a trial waits for a little longer, each one for another time."""
    asked = {"latency": {"repeats": 1}, "back-to-back": None, "recovery": None, "reset": None}
    settle_ns = iter(range(100_123_456, 10**9, 1_100_000))

    def settled(situation: Situation) -> list[Fraction]:
        method = METHODS["rfc2544"]
        generator = method.start(method.parameters.model_validate(asked), situation)
        try:
            trial = next(generator)
            while True:
                outcome = measure(trial, wall(6_500_000), situation)
                settle = replace(outcome.phases[0], duration_ns=next(settle_ns))
                trial = generator.send(replace(outcome, phases=(settle, *outcome.phases[1:])))
        except StopIteration as stop:
            numbers = [one for one in stop.value.compliance if isinstance(one, OutsideRule)]
            return [one.found for one in numbers if one.section == "RFC 2544 section 23 phase b"]

    known = replace(UNI, waits_ns=(100_000_000, 2 * 10**9))
    assert settled(known) == [100_000_000]
    assert len(settled(UNI)) == 3, "of a throughput, a latency and a loss"


# Frame loss rate.


def test_loss_is_that_of_each_load_until_two_lose_nothing() -> None:
    """6.5 Mpps of 10: 35 % are lost at 100 %, 25/90 at 90 %, 15/80, 5/70, and then nothing twice."""
    result, outcomes = run("frame-loss", wall(6_500_000), duration="1s")
    assert len(outcomes) == 6
    (table,) = result.tables
    expected = [(Fraction(n, 10), Fraction(max(10 * n - 65, 0), 10 * n)) for n in (10, 9, 8, 7, 6, 5)]
    assert rows(table, "load", "loss") == expected
    assert numbers(result, "frame loss rate") == {"west-east": Fraction(35, 100)}
    assert table.figure is not None
    assert (table.figure.x_range, table.figure.y_range) == ((0, 1), (0, 1)), "RFC 2544 forces both axes"


def test_loss_has_each_direction_and_all_together() -> None:
    def lopsided(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        return (wall(8_000_000) if stream == "east-west" else passes_everything())(fps, seconds, stream)

    result, _ = run("frame-loss", lopsided, BOTH, duration="1s")
    assert numbers(result, "frame loss rate") == {
        "west-east": 0,
        "east-west": Fraction(1, 5),
        "sum": Fraction(1, 10),
    }


def test_loss_curve_of_a_device_that_passes_nothing_ends_at_lowest_load() -> None:
    result, outcomes = run("frame-loss", never_passes(), duration="1s")
    assert len(outcomes) == 10
    assert {loss for (loss,) in rows(result.tables[0], "loss")} == {1}


def test_loss_of_a_load_that_was_not_fully_offered_is_not_shown() -> None:
    result, _ = run("frame-loss", starved_tester(5_500_000), duration="1s")
    assert numbers(result, "frame loss rate") == {"west-east": None}
    short = OfOffered(Unsent("west-east", 4_500_000, 10_000_000))
    assert result.notes[0] == About("loss at 100 %", short)
    # 50 % and 40 % were offered; 60 % was not.
    assert rows(result.tables[0], "load")[-1] == (Fraction(4, 10),)


def test_loss_between_two_loads_does_not_end_the_curve_too_soon() -> None:
    result, _ = run("frame-loss", window_loss(6_500_000, 8_500_000), duration="1s")
    assert rows(result.tables[0], "load", "loss") == [
        (1, 0),
        (Fraction(9, 10), 0),
    ], "two in a row lose nothing: as the RFC has it, what is below is not looked at"
    fine, _ = run("frame-loss", window_loss(9_500_000, 9_700_000), duration="1s", step="1%")
    assert [load for load, loss in rows(fine.tables[0], "load", "loss") if loss] == []


def test_a_device_that_copies_every_frame_has_no_load_that_ends_the_curve() -> None:
    """Nothing is lost at any load, and at none does each frame come once: as its throughput, which is none."""
    result = changed("frame-loss", lambda _, one: replace(one, duplicates=one.received), duration="1s")
    assert len(rows(result.tables[0], "load")) == 10
    assert numbers(result, "frame loss rate") == {"west-east": 0}
    assert within(Copied, result.notes)[0] == Copied(10_000_000)


@pytest.mark.parametrize("parameters", [{"step": "11%"}, {"step": "0%"}, {"maximum": "0%"}])
def test_steps_of_more_than_ten_per_cent_are_refused(parameters: dict[str, str]) -> None:
    with pytest.raises((Problem, ValidationError)):
        METHODS["frame-loss"].parameters(**parameters)


# Sweep.


def test_a_sweep_finds_the_highest_load_without_loss() -> None:
    result, outcomes = run("sweep", wall(9_550_000), loads="90% to 100% by 1%", duration="1s")
    assert len(outcomes) == 11
    (found,) = (one for one in result.values if (one.name, one.scope) == ("loss-free load", "west-east"))
    assert (found.number, found.high) == (9_500_000, 9_600_000)
    assert result.trials == (5, 6)
    loads = [(Fraction(90 + n, 100), Fraction((90 + n) * LINE, 100)) for n in range(11)]
    assert rows(result.tables[0], "load", "offered") == loads
    assert {remark for (remark,) in rows(result.tables[0], "remark")} == {""}


def test_loads_are_shares_of_what_a_search_finds_first() -> None:
    """A wall at 5 Mpps. NDR and its loads are the same frames; 0 % is a thousandth of the line, not nothing."""
    loads = ["0%", "50% of NDR", "100% of NDR", "20%"]
    result, outcomes = run("sweep", wall(5_000_000), loads=loads, duration="1s", idle="10kpps")
    found = numbers(result, "NDR")["west-east"]
    assert found is not None
    assert 0.995 * 5_000_000 <= found <= 5_000_000
    assert rows(result.tables[0], "point", "asked") == [
        ("0%", 10_000),
        ("50% of NDR", found / 2),
        ("100% of NDR", found),
        ("20%", 2_000_000),
    ]
    assert numbers(result, "loss-free load")["west-east"] == found
    # What it rests on is numbered with the trials of the search before it.
    assert result.trials == (len(outcomes) - 2,)
    assert outcomes[result.trials[0]].streams[0].offered == int(found)
    assert "Search goals" in [table.name for table in result.tables]
    # NDR is judged by the trials that prove it.
    assert list(result.headlines) == ["loss-free load", "NDR", "PDR"]
    assert set(result.resting("NDR")).isdisjoint(result.trials)


def test_shares_of_what_is_known_from_below_alone_are_marked() -> None:
    """The tester sends 3 Mpps at most, and the device passes all: NDR is at least that."""
    asked = ["50% of NDR", "20%"]
    result, _ = run(
        "sweep", behind_a_starved_tester(passes_everything(), 3_000_000), loads=asked, duration="1s"
    )
    assert rows(result.tables[0], "point", "remark") == [
        ("50% of NDR", "of a lower bound of NDR"),
        ("20%", ""),
    ]
    assert [one.goal for one in within(SharesOfBound, result.notes)] == ["NDR"]
    exact, _ = run("sweep", wall(5_000_000), loads=asked, duration="1s")
    assert {remark for (remark,) in rows(exact.tables[0], "remark")} == {""}


def test_a_range_may_be_of_a_goal() -> None:
    result, _ = run("sweep", wall(5_000_000), loads="50% to 100% by 25% of PDR", duration="1s")
    at = numbers(result, "PDR")["west-east"]
    assert at is not None
    assert at > 5_000_000, "half a per cent may be lost"
    assert rows(result.tables[0], "asked") == [(at / 2,), (at * Fraction(3, 4),), (at,)]


def test_shares_of_what_is_not_found_are_not_held() -> None:
    result, _ = run("sweep", never_passes(), loads=["0%", "90% of NDR"], duration="1s")
    assert rows(result.tables[0], "point", "loss") == [("0%", 1)]
    assert NotHeld("90% of NDR", is_above_line=False) in result.notes
    assert numbers(result, "loss-free load")["west-east"] == 0, "and is below the lowest that was held"
    result, _ = run("sweep", wall(9_000_000), loads=["120% of NDR"], duration="1s")
    assert NotHeld("120% of NDR", is_above_line=True) in result.notes
    result, _ = run("sweep", never_passes(), loads=["90% of NDR"], duration="1s")
    assert result.trials == ()
    assert result.tables[0].rows == ()


def test_loss_below_a_load_that_passes_is_not_passed_over() -> None:
    result, _ = run("sweep", window_loss(2_500_000, 5_500_000), loads=["100%", "50%", "20%"], duration="1s")
    assert numbers(result, "loss-free load")["west-east"] == 2_000_000


def test_a_load_that_was_missed_is_flagged_from_two_in_ten_thousand_on() -> None:
    def slow(share: Fraction) -> Device:
        return lambda fps, seconds, stream: (int(fps * seconds * share), int(fps * seconds * share))

    for share, remark in (
        (Fraction(9999, 10000), ""),
        (Fraction(9997, 10000), "another load than asked for"),
    ):
        result, _ = run("sweep", slow(share), loads=["50%"], duration="1s")
        assert rows(result.tables[0], "remark") == [(remark,)]


@pytest.mark.parametrize(
    ("device", "number", "note"),
    [
        (never_passes(), 0, NotWhole),
        (passes_everything(), LINE, PassedHighest),
        (starved_tester(6_000_000), 5_000_000, TesterBound),
        (starved_tester(600_000), None, Unsent),
    ],
)
def test_a_sweep_of_strange_devices(device: Device, number: int | None, note: type[Reason]) -> None:
    result, _ = run("sweep", device, duration="1s")
    (found,) = (one for one in result.values if (one.name, one.scope) == ("loss-free load", "sum"))
    assert (found.number, type(found.note)) == (number, note)


def test_a_load_of_which_no_frame_was_sent_is_not_one_without_loss() -> None:
    """A tenth of a millisecond at 1 kpps has no frame in it."""
    result, outcomes = run("sweep", passes_everything(), loads=["1kpps", "2kpps"], duration="100us")
    assert {one.streams[0].offered for one in outcomes} == {0}
    assert numbers(result, "loss-free load")["west-east"] is None


@pytest.mark.parametrize(
    "loads",
    [
        "90% to 80% by 1%",
        "1% to 2Mpps by 1%",
        "1% to 100% by 0%",
        "1% to 100%",
        [],
        ["50% of GDR"],
        ["half of NDR"],
        "1Mpps to 3Mpps by 1Mpps of NDR",
        "0.01% to 100% by 0.01%",
    ],
)
def test_what_is_no_range_is_refused(loads: Any) -> None:
    with pytest.raises((Problem, ValidationError)):
        METHODS["sweep"].parameters(loads=loads)


# Back-to-back frames.


def buffers(frames: Callable[[], int], capacity: int) -> Device:
    """Passes a burst at the line's rate of up to so many frames, and below that any load up to its capacity."""

    def device(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        sent = math.ceil(fps * seconds)
        return sent, sent if fps <= capacity or sent <= frames() else sent - 1

    return device


@pytest.mark.parametrize("held", [1, 2, 517, 1024, 1500, 70_001])
def test_the_longest_burst_is_found_to_the_frame(held: int) -> None:
    result, outcomes = run(
        "back-to-back", buffers(lambda: held, 4_000_000), throughput="40%", repeats=3, longest="100ms"
    )
    assert numbers(result, "back-to-back frames")["west-east"] == held
    # RFC 9004 section 6: implied = mean / R, corrected = implied x (1 - T / R).
    implied = Fraction(held, LINE) * 10**9
    assert rows(result.tables[0], "implied buffer time", "corrected buffer time") == [
        (implied, implied * Fraction(6, 10))
    ]
    assert len(outcomes) < 3 * (2 * math.log2(max(held, 1024)) + 4)


def test_repeated_searches_give_mean_and_spread() -> None:
    asked = iter(range(10**6))
    sizes = (900, 1000, 1100)

    def held() -> int:
        return sizes[current[0]]

    current = [0]
    found: list[int] = []

    def device(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        next(asked)
        return buffers(held, 4_000_000)(fps, seconds, stream)

    method = METHODS["back-to-back"]
    generator = method.start(method.parameters(throughput="40%", repeats=3, longest="100ms"), UNI)
    trial: Trial = next(generator)
    while True:
        current[0] = int(trial.name.split(":")[0].removeprefix("search ")) - 1
        try:
            trial = generator.send(measure(trial, device, UNI))
        except StopIteration as stop:
            result: Result = stop.value
            break
    found = list(sizes)
    (row,) = rows(result.tables[0], "mean", "least", "most", "stdev", "searches")
    assert row == (mean(found), 900, 1100, stdev(found), 3)


def test_burst_drains_for_the_holding_time_and_two_seconds_more() -> None:
    """RFC 9004 section 5.3: 1000 frames of 100 ns at the line, and 250 ns each at the throughput."""
    method = METHODS["back-to-back"]
    generator = method.start(method.parameters(throughput="40%", longest="100ms", step=1000), UNI)
    trial = next(generator)
    while trial.segments[0].duration_ns != 1000 * 100:
        trial = generator.send(measure(trial, buffers(lambda: 0, 1), UNI))
    assert trial.drain_ns == 2 * 10**9 + 1000 * 150
    generator.close()


@pytest.mark.parametrize(
    ("device", "throughput", "note"),
    [
        (passes_everything(), "100%", LineRateForwarded),
        (passes_everything(), "40%", NoBurstLimit),
        (starved_tester(1000), "40%", BurstsUnsent),
    ],
)
def test_bursts_that_show_nothing_give_no_number(device: Device, throughput: str, note: type[Reason]) -> None:
    result, outcomes = run("back-to-back", device, throughput=throughput, repeats=2, longest="10ms")
    assert numbers(result, "back-to-back frames")["west-east"] is None
    assert within(note, result.values[0].note)
    assert len(outcomes) < 40


def test_a_search_without_a_limit_leaves_a_lower_bound_of_those_before_it() -> None:
    """The first search finds 1000 frames, and the second all 100,000 that are tried: their mean at least."""
    seen: list[int] = []

    def device(fps: Fraction, seconds: Fraction, stream: str) -> tuple[int, int]:
        held = 1000 if seen.count(1000) + seen.count(1001) < 2 else 10**6
        seen.append(math.ceil(fps * seconds))
        return buffers(lambda: held, 4_000_000)(fps, seconds, stream)

    result, _ = run("back-to-back", device, throughput="40%", repeats=50, longest="10ms")
    found = result.values[0]
    assert (found.number, found.low, found.high) == (None, (1000 + 100_000) // 2, None)
    assert isinstance(found.note, NoBurstLimit)


@pytest.mark.parametrize("held", [900, 1500])
def test_bursts_of_several_searches_rest_on_the_last_search(held: int) -> None:
    """Each search tries lengths of an earlier one again; the last ones that passed and did not are its own."""
    sizes = iter((1000, held))
    now = [next(sizes)]
    generator = METHODS["back-to-back"].start(
        METHODS["back-to-back"].parameters(throughput="40%", repeats=2, longest="100ms"), UNI
    )
    trial: Trial = next(generator)
    outcomes: list[Outcome] = []
    result: Result | None = None
    while result is None:
        if trial.name.startswith("search 2"):
            now[0] = held
        outcomes.append(measure(trial, buffers(lambda: now[0], 4_000_000), UNI))
        try:
            trial = generator.send(outcomes[-1])
        except StopIteration as stop:
            result = stop.value
    tried = [outcomes[number].streams[0] for number in result.trials]
    assert sorted((one.offered, one.lost) for one in tried) == [(held, 0), (held + 1, 1)]


@pytest.mark.parametrize("name", ["back-to-back", "rfc2544"])
def test_a_step_longer_than_the_longest_burst_is_a_mistake_of_the_plan(name: str) -> None:
    method = METHODS[name]
    for step, fits in ((1000, True), (1001, False)):
        asked = {"longest": "100us", "step": step}
        parameters = method.parameters(**({"back-to-back": asked} if name == "rfc2544" else asked))
        assert method.fits is not None
        problem = method.fits(parameters, UNI)
        assert (problem is None) == fits
    assert problem is not None
    assert problem.code == "conflict"


def test_the_throughput_is_searched_first_where_it_is_not_known() -> None:
    result, outcomes = run(
        "back-to-back",
        buffers(lambda: 1500, 4_000_000),
        throughput={"duration": "1s", "width": "1%"},
        repeats=1,
        longest="100ms",
    )
    assert rows(result.tables[0], "throughput", "mean") == [(4_000_000, 1500)]
    # What it rests on is numbered with the trials of the search before it.
    passed, failed = (outcomes[number].streams[0] for number in result.trials)
    assert {passed.offered, failed.offered} == {1500, 1501}


# The suite: what every method says of itself.


@pytest.mark.parametrize(
    "name", ["frame-loss", "sweep", "back-to-back", "latency", "recovery", "reset", "rfc2544"]
)
def test_the_standards_own_parameters_deviate_in_nothing(name: str) -> None:
    method = METHODS[name]
    generator = method.start(method.parameters(), UNI)
    result, _ = drive(generator, never_passes(), UNI)
    assert result.compliance == (), "of a device that passes nothing the parameters are all there is to say"
    assert all(
        one.number is None or one.name in ("frame loss rate", "throughput", "loss-free load")
        for one in result.values
    )


# Recovery and reset.


@pytest.mark.parametrize("away_ms", [50, 150])
def test_a_pause_of_the_tester_spoils_a_recovery(away_ms: int) -> None:
    """The load is held, and then a lower one is: a pause in either is behind it a burst, which may be lost."""
    method = METHODS["recovery"]
    trial = next(method.start(method.parameters(throughput="50%"), UNI))
    outcome = measure(trial, passes_everything(), UNI)
    health = replace(outcome.health, longest_gap_ns=away_ms * 10**6)
    pause = Preempted(away_ms * 10**6)
    assert find_spoiling_pause(trial, replace(outcome, health=health)) == pause
    assert (find_long_pause(trial, replace(outcome, health=health)) == pause) == (away_ms > 100)


def reset(*lost: tuple[int, int], short: tuple[int, ...] = (), repeats: int = 2) -> Result:
    """Resets after 1 s at 1,000 fps, watched for 9 s. lost: gaps, from and to in ms, the same in each reset.

    short: resets, from 0, of which the tester left half unsent, and which lost ten times as much.
    """
    gaps = tuple(Gap(a, b, b - a + 1, a * 10**6, b * 10**6) for a, b in lost)
    frames = sum(gap.frames for gap in gaps)

    def change(number: int, one: StreamResult) -> StreamResult:
        one = replace(one, lost=frames, gaps=Gaps(gaps, 0, 0))
        return replace(one, offered=one.offered // 2, lost=10 * frames) if number in short else one

    return changed("reset", change, throughput="1kpps", before="1s", watch="9s", repeats=repeats)


def test_a_reset_of_which_the_tester_fell_short_does_not_count() -> None:
    result = reset((1000, 1999), short=(1,), repeats=3)
    assert numbers(result, "reset time") == {"west-east": 10**9, "sum": 10**9}
    assert result.trials == (0, 2)
    assert result.notes[0] == About("reset 2", NotCounted(Unsent("west-east", 5_000, 10_000)))


def test_loss_before_a_reset_is_noted_and_not_counted_to_the_reset() -> None:
    result = reset((100, 119), (1000, 1999))
    found = result.values[0]
    assert (found.number, found.low, found.high) == (None, None, 10**9), "it is no more than what came after"
    assert found.note == LostBefore()
    assert result.notes[0] == About("reset 1", LostBefore(20))


def by_hand(*lost: tuple[int, int]) -> Result:
    """Three resets by hand, 1 s after traffic began: in the second nobody lifted a finger, the third came at 1 s.

    lost: gaps of the first.
    """
    rows = (lost, (), ((1000, 1999),))

    def change(number: int, one: StreamResult) -> StreamResult:
        gaps = tuple(Gap(a, b, b - a + 1, a * 10**6, b * 10**6) for a, b in rows[number])
        return replace(one, lost=sum(gap.frames for gap in gaps), gaps=Gaps(gaps, 0, 0))

    given = {"throughput": "1kpps", "before": "1s", "watch": "9s", "repeats": 3}
    return changed("reset", change, kind="by-hand", **given)


def test_a_reset_by_hand_counts_if_it_came_and_came_in_time() -> None:
    result = by_hand((1100, 1599))
    assert result.trials == (0, 2)
    assert numbers(result, "reset time") == {"west-east": 750_000_000, "sum": 750_000_000}, "of 0.5 and 1 s"
    assert result.notes[0] == About("reset 2", NotCounted(NotReset()))
    for begin, end in ((500, 599), (900, 1599)):
        early = by_hand((begin, end))
        assert early.trials == (2,)
        assert early.notes[0] == About("reset 1", NotCounted(ResetEarly(10**9)))


def test_reset_by_hand_sends_no_command_and_prints_what_to_do() -> None:
    method = METHODS["reset"]
    trial = next(method.start(method.parameters(kind="by-hand", throughput="1kpps"), UNI))
    assert trial.events == ()
    assert trial.name == "reset 1, by hand after 15s"


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ("method: {reset: {}}", "netdyno cannot ask this device for `reset`"),
        ("method: {reset: {kind: link-down}}", "netdyno cannot ask this device for `link-down`"),
        (
            "suite: {rfc2544: {reset: {repeats: 2}}}\nscale: 1/60",
            "netdyno cannot ask this device for `reset`",
        ),
        ("suite: {rfc2544: {reset: {kind: by-hand}}}", None),
        ("suite: rfc2544\nscale: 1/60", None),
    ],
)
def test_external_device_is_reset_by_hand_or_not_at_all(plan: str, problem: str | None) -> None:
    text = f"title: An own device\nlab: {EXTERNAL}\ntraffic: {{p: {{size: 64B}}}}\n{plan}\n"
    if problem is None:
        parse(text)
    else:
        with pytest.raises(PlanErrors, match=problem) as found:
            parse(text)
        assert "by-hand" in str(found.value)


def test_suite_without_a_possible_reset_omits_it_with_a_note() -> None:
    method = METHODS["rfc2544"]
    there = replace(UNI, asked=False)
    result, _ = drive(method.start(method.parameters(), there), never_passes(), there)
    (left,) = result.compliance
    assert isinstance(left, NotTested)
    assert (left.test, left.section, left.is_required) == ("reset", "RFC 2544 section 26", True)
    assert left.why == ResetByHand("reset")
    assert "reset time" not in {value.name for value in result.values}


def test_a_reset_that_did_not_end_is_not_left_out_of_the_mean() -> None:
    result = reset((1000, 9999))
    found = [one for one in result.values if one.name == "reset time"]
    assert [(one.number, one.low, one.high) for one in found] == [(None, 9 * 10**9, None)] * 2
    assert isinstance(result.values[0].note, StillLosing)


def test_a_link_that_is_down_to_the_end_is_a_mistake_of_the_plan() -> None:
    METHODS["reset"].parameters(kind="link-down", down="59s")
    METHODS["reset"].parameters(kind="reset", watch="1s")
    with pytest.raises((Problem, ValidationError), match=r"`down` \(60s\)"):
        METHODS["reset"].parameters(kind="link-down", down="60s")


def test_the_quiet_of_a_rehearsal_is_as_long_as_a_queue_takes() -> None:
    """1024 frames at 10 kpps are 102 ms: what still comes after 33 ms (2 s / 60) would count as lost."""
    parameters = METHODS["back-to-back"].parameters()
    assert parameters.scaled(Fraction(1, 60)).quiet.ns == 200_000_000
    assert parameters.scaled(Fraction(1, 60)).longest.ns == parameters.longest.ns // 60
    assert parameters.scaled(Fraction(1, 5)).quiet.ns == 400_000_000


def test_the_pause_of_a_rehearsal_is_as_long_as_learning_takes() -> None:
    """A bridge that has not learned yet floods, and looks as if it knew few addresses."""
    parameters = METHODS["address-caching"].parameters.model_validate({})
    assert parameters.scaled(Fraction(1, 60)).pause.ns == 200_000_000
    assert parameters.scaled(Fraction(1, 2)).pause.ns == 500_000_000
