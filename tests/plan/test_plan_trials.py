"""Trials that can show nothing are mistakes of the plan: too short for frames, or searches without room.

A frame of 64 bytes takes 672 ns on a gigabit line, so ten take 6720 ns.
"""

from __future__ import annotations

import pytest
from methodlab import measure_plan, table, text
from netdyno.errors import PlanErrors
from netdyno.plan import parse

FINE = "settle: 1ms, drain: 1ms"


def list_mistakes(method: str, more: str = "", **changes: str) -> list[str]:
    """The mistakes of a plan with this method, with their hints."""
    try:
        parse(text(method, **{"trial": FINE, **changes}) + more)
    except PlanErrors as found:
        return [f"{error.path}: {error.message}; {error.hint}" for error in found.errors]
    return []


@pytest.mark.parametrize(
    ("method", "place"),
    [
        ("throughput: {duration: %s}", "duration"),
        ("throughput: {duration: 1s, search: %s}", "search"),
        ("rfc2544: {throughput: {search: %s}}", "throughput.search"),
        ("bisection: {duration: %s}", "duration"),
        ("frame-loss: {duration: %s}", "duration"),
        ("sweep: {duration: %s, loads: [0%%, 100%%]}", "duration"),
        ("order: {duration: %s, load: 100%%}", "duration"),
        ("soak: {duration: 1ms, part: %s, load: 100%%}", "part"),
        ("errored-frames: {duration: %s}", "duration"),
        ("ramp: {ramp: {duration: %s, to: 100%%}}", "ramp.duration"),
        ("ndr: {goals: {NDR: {loss: 0%%, exceed: 0%%, duration: %s, sum: 1s}}}", "goals.NDR.duration"),
        ("y1564: {step: %s, performance: 1s}", "step"),
    ],
)
def test_a_trial_holds_ten_frames(method: str, place: str) -> None:
    name = method.partition(":")[0]
    assert list_mistakes(method % "6.72us") == []
    (found,) = list_mistakes(method % "6.719us")
    assert found.startswith(f"method.{name}.{place}: a trial of 6.719us holds ")
    assert "frames at its highest load, 1488095.238 frames/s of 64B, in case `it / uni`" in found
    # Two digits, rounded up.
    assert found.endswith("; at least 10 frames: `6.8us` or longer")


def test_rehearsal_is_named_by_the_duration_as_written() -> None:
    (found,) = list_mistakes("throughput: {duration: 60us}", "scale: 1/10\n")
    assert "a trial of 6us, as `scale: 1/10` has it, holds 8.92 frames" in found
    assert found.endswith("`68us` or longer")
    assert list_mistakes("throughput: {duration: 68us}", "scale: 1/10\n") == []


def test_the_highest_load_of_a_method_is_what_counts() -> None:
    """A tenth of the line: ten frames take 67.2 us."""
    assert list_mistakes("order: {duration: 67200ns, load: 10%}") == []
    assert len(list_mistakes("order: {duration: 67199ns, load: 10%}")) == 1


@pytest.mark.parametrize(
    ("method", "place"),
    [
        ("throughput: {width: %s}", "width"),
        ("bisection: {width: %s}", "width"),
        ("rfc2544: {throughput: {width: %s}}", "throughput.width"),
        ("latency: {throughput: {width: %s}}", "throughput.width"),
    ],
)
@pytest.mark.parametrize("width", ["200%", "100.1%", "1.5Mpps"])
def test_a_search_ends_with_bounds_closer_than_where_it_begins(method: str, place: str, width: str) -> None:
    (found,) = list_mistakes(method % width)
    name = method.partition(":")[0]
    assert found.startswith(f"method.{name}.{place}: a search up to 100% that stops at bounds {width}")
    # One trial at the maximum, which passes or does not.
    assert list_mistakes(method % "100%") == []


def test_a_sample_is_no_longer_than_a_trial() -> None:
    (found,) = list_mistakes("throughput: {duration: 1s, search: 500ms}", trial="sample: 501ms")
    assert found.startswith("trial.sample: a sample of 501ms is longer than a trial of 500ms")
    assert list_mistakes("throughput: {duration: 1s, search: 500ms}", trial="sample: 500ms") == []
    # One that the plan does not give is as it is.
    assert list_mistakes("throughput: {duration: 10ms}", trial="settle: 1ms") == []


def test_a_part_is_no_longer_than_the_soak() -> None:
    (found,) = list_mistakes("soak: {duration: 2s, part: 5s}")
    assert found.startswith("method.soak.part: a part of 5s is longer than the whole soak of 2s")
    assert list_mistakes("soak: {duration: 2s}") == []


@pytest.mark.parametrize("zero", ["0%", "0pps", "0bps"])
def test_a_load_of_zero_is_held_as_the_idle_one(zero: str) -> None:
    """Latency at about no load, as CSIT has it: that of `idle`, here 100 frames in 100 ms."""
    result, _, _ = measure_plan(text(f"sweep: {{loads: [{zero}], idle: 1kpps, duration: 100ms}}"))
    (row,) = table(result, "Latency against load")
    assert (row["asked"], row["sent"], row["received"], row["remark"]) == (1000, 100, 100, "")
    assert row["mean"]
