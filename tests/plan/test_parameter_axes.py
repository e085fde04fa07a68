"""Parameters of the method as axes of the matrix: which values they take, and what each case has."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from methodlab import text
from netdyno.campaign.selection import Length, Selection, total_seconds
from netdyno.errors import PlanErrors
from netdyno.methods import METHODS
from netdyno.methods.tcp import TcpParameters
from netdyno.plan import Plan, json_schema, parse
from netdyno.plan.matrix import case_seed, cases
from netdyno.plan.parameters import scalars
from netdyno.testers import tables
from netdyno.values.load import Connections
from netdyno.values.units import DataSize
from netdyno.values.unmeasured import NotAskable, NotMeasuredError
from ruamel.yaml import YAML

TCP = (Path(__file__).parents[2] / "examples" / "linux-tcp.yaml").read_text()
TCP = TCP[: TCP.index("traffic:")]


def tcp(matrix: str, method: str = "{}", more: str = "") -> str:
    """A plan of TCP with these axes."""
    return f"{TCP}traffic: {{long: {{size: 1518B}}}}\nmatrix: {{{matrix}}}\nmethod: {{tcp: {method}}}\n{more}"


def mistakes(plan: str) -> list[tuple[str, str]]:
    """Code and path of each mistake, in order of its place."""
    with pytest.raises(PlanErrors) as refused:
        parse(plan, tables=tables())
    assert all(error.line and error.column for error in refused.value.errors)
    return [(error.code, error.path) for error in refused.value.errors]


def test_axis_values_of_parameters_have_the_parameters_type() -> None:
    plan = tcp(
        "streams: [0, 129, x, 5], window: [64kB, 64K, 0B, 600MB], mss: [87, 1460, 9217], congestion: [BBR]",
        "{omit: 3}",
    )
    assert mistakes(plan) == [
        ("out-of-range", "matrix.streams[0]"),
        ("out-of-range", "matrix.streams[1]"),
        ("wrong-type", "matrix.streams[2]"),
        ("wrong-unit", "matrix.window[1]"),
        ("out-of-range", "matrix.window[2]"),
        ("out-of-range", "matrix.window[3]"),
        ("out-of-range", "matrix.mss[0]"),
        ("out-of-range", "matrix.mss[2]"),
        ("wrong-format", "matrix.congestion[0]"),
        ("wrong-unit", "method.tcp.omit"),
    ]


@pytest.mark.parametrize(
    ("plan", "found"),
    [
        (tcp("streams: [1, 5], omit: [0s]", "{streams: 5}"), [("conflict", "matrix.streams")]),
        (tcp("streams: [1], omit: [1s, 1000ms]"), [("given-twice", "matrix.omit[1]")]),
        (tcp("streams: [1], window: [64kB, 64000B]"), [("given-twice", "matrix.window[1]")]),
        (tcp("strems: [1], streams: [1]"), [("unknown-name", "matrix.strems")]),
        (tcp("streams: [1, 5]", more="skip: [{streams: 7}]"), [("unknown-name", "skip[0].streams")]),
        (tcp("omit: [0s]"), [("missing-field", "traffic.long")]),
        # What is no scalar is no axis.
        (text("frame-loss: {}", matrix="goals: [1]"), [("unknown-name", "matrix.goals")]),
        # Of an unknown method any parameter may be meant.
        (tcp("streams: [1]").replace("tcp:", "tpc:"), [("unknown-name", "method.tpc")]),
    ],
)
def test_axis_of_a_parameter_that_cannot_be_is_refused(plan: str, found: list[tuple[str, str]]) -> None:
    assert mistakes(plan) == found


def test_values_that_do_not_fit_together_are_refused_where_they_meet() -> None:
    plan = text("latency: {throughput: 50%, repeats: 1}", matrix="duration: [1s, 3s], after: [100ms, 2s]")
    assert mistakes(plan) == [("conflict", "matrix.after[1]")]
    kept = parse(f"{plan}skip: [{{duration: 1s, after: 2s}}]\n")
    assert len(kept.variants) == 3
    beside = text("latency: {throughput: 50%, duration: 1s}", matrix="after: [100ms, 2s]")
    assert mistakes(beside) == [("conflict", "matrix.after[1]")]


def test_loads_and_trials_of_axes_are_looked_at_one_by_one() -> None:
    plan = text(
        "throughput: {}", matrix="maximum: [50%, 101%, 2Mpps], duration: [100ms, 1us]", trial="settle: 1ms"
    )
    assert mistakes(plan) == [
        ("load-above-line", "matrix.maximum[1]"),
        ("load-above-line", "matrix.maximum[2]"),
        ("trial-too-short", "matrix.duration[1]"),
    ]
    samples = text("soak: {load: 1kpps}", matrix="duration: [1s, 100h]", trial="sample: 1ms")
    assert mistakes(samples) == [("too-many", "trial.sample")]


def parameters(plan: Plan) -> list[Any]:
    return [plan.parameters_of(case) for case in cases(plan)]


def test_each_case_has_its_values_and_the_seed_of_a_plan_without_axes() -> None:
    plan = parse(
        tcp("streams: [1, 5], direction: [uni], window: [64kB, 256KiB]", "{omit: 2s}"), tables=tables()
    )
    assert [(one.streams, one.window.octets, one.omit.amount) for one in parameters(plan)] == [
        (1, 64_000, 2),
        (1, 262_144, 2),
        (5, 64_000, 2),
        (5, 262_144, 2),
    ]
    assert plan.parameter_axes == ("streams", "window")
    found = cases(plan)
    assert {case.seed for case in found} == {case_seed(1, "uni / long")}
    assert [case.name for case in found[1:3]] == [
        "streams 1 / uni / 256KiB / long",
        "streams 5 / uni / 64kB / long",
    ]
    chosen = Selection(only={"streams": "5", "window": "64kB"}).cases(plan)
    assert chosen == (found[2],)


def test_parameter_axis_of_scaled_plan_is_scaled_once() -> None:
    plan = parse(
        text("throughput: {}", matrix="direction: [uni], duration: [10s, 20s], search: [1s]")
        + "scale: 1/10\n"
    )
    assert [(one.duration.ns, one.search.ns) for one in parameters(plan)] == [
        (10**9, 10**8),
        (2 * 10**9, 10**8),
    ]
    faster = Selection(scale=Fraction(1, 100)).plan(plan)
    assert [one.duration.ns for one in parameters(faster)] == [10**8, 2 * 10**8]


def test_time_of_a_plan_is_the_sum_of_its_cases() -> None:
    plan = parse(
        text(
            "frame-loss: {step: 10%}",
            matrix="direction: [uni], duration: [1s, 5s]",
            trial="settle: 1s, drain: 1s",
        )
    )
    longest = Length.of(plan, cases(plan)[1])
    assert longest.traffic_s == 50
    assert total_seconds(plan, cases(plan)) == 10 + 50 + 2 * longest.around_s * (longest.trials or 1)


def test_method_of_connections_passes_its_parameters_on() -> None:
    given = {
        "duration": "3s",
        "omit": "1s",
        "streams": 5,
        "window": "256KiB",
        "mss": 536,
        "congestion": "bbr",
    }
    method = METHODS["tcp"].start(TcpParameters.model_validate(given), None)  # type: ignore[arg-type]
    next(method)
    trial = method.throw(NotMeasuredError(NotAskable(())))
    assert trial.load == Connections(
        counted_ns=3 * 10**9,
        congestion="bbr",
        streams=5,
        window_bytes=262_144,
        mss_bytes=536,
        omit_ns=10**9,
    )
    assert trial.duration_ns == 4 * 10**9


@pytest.mark.parametrize(
    ("written", "octets", "printed"),
    [
        ("64kB", 64_000, "64kB"),
        ("64000B", 64_000, "64kB"),
        ("65536B", 65_536, "64KiB"),
        ("1.5MiB", 1_572_864, "1536KiB"),
        ("600MB", 600_000_000, "600MB"),
    ],
)
def test_data_size_is_printed_in_its_shortest_exact_form(written: str, octets: int, printed: str) -> None:
    size = DataSize.parse(written)
    assert (size.octets, str(size)) == (octets, printed)
    assert DataSize.parse(str(size)) == size


def test_schema_takes_axes_of_each_method_as_plans_do() -> None:
    judge = jsonschema.Draft202012Validator(json_schema(tables()))
    plan = tcp("streams: [1, 5], window: [64kB, 256KiB], mss: [536], congestion: [cubic, bbr], omit: [0s]")
    assert [error.message for error in judge.iter_errors(YAML(typ="safe").load(plan))] == []
    wrong = plan.replace("[1, 5]", "[0]").replace("64kB", "64K").replace("congestion", "congestoin")
    found = list(judge.iter_errors(YAML(typ="safe").load(wrong)))
    assert len(found) == 3
    axes = judge.schema["properties"]["matrix"]["properties"]
    assert all(name in axes for method in METHODS.values() for name in scalars(method.parameters))
