"""What reports say of services: a row each, the cost or why there is none, and what a further rule costs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from methodlab import run_here
from netdyno.campaign.reasons import REASONS
from netdyno.devices.reasons import DeviceOnOwnCore
from netdyno.methods.reasons.services import CoreTooBusy, NotTimed
from netdyno.methods.service_cost import BASELINE, COST, LOST, NEW, RATE, TIME
from netdyno.plan import parse
from netdyno.reports import Look, render
from netdyno.reports.formats.terminal import first_screen
from netdyno.reports.model import families
from netdyno.reports.model.core_share import core_share
from netdyno.reports.model.families import service_cost
from netdyno.reports.model.families.service_cost import NONE_SHOWN, cost_of
from netdyno.reports.model.from_store import view
from netdyno.reports.model.headline import headline
from netdyno.reports.model.view import CaseView, RunView
from netdyno.store import open_run
from netdyno.values.finding import Value
from netdyno.values.series import Series
from netdyno.values.verdict import Limit

BUSY = {"none": Fraction(47, 100), "process-switching": Fraction(99, 100)}
"""The published share of an 881's core at 12,301 frames a second."""
CAPACITY = {
    service: int(Fraction(95_000_000, 1448 * 8) * Fraction(3, 2) / busy) for service, busy in BUSY.items()
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunView:
    asked = parse("""\
title: Services
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/isr-881}}
  links:
    - {endpoints: ["tester:in", "dut:fa0"], rate: 100Mbps}
    - {endpoints: ["tester:out", "dut:fa1"], rate: 100Mbps}
traffic: {64b: {size: 64B, flows: 16}, 1518b: {size: 1518B, flows: 16}}
matrix: {service: [none, process-switching], profile: [64b, 1518b], direction: [uni]}
method: {service-cost: {pairs: 2, duration: 500ms}}
trial: {settle: 1ms, drain: 100ms, sample: 50ms}
""")
    with open_run(run_here(asked, tmp_path_factory.mktemp("run")).folder, REASONS) as stored:
        return view(stored)


def found(
    case: CaseView,
    *values: Value,
    service: str = "acl-25",
    profile: str = "64b",
    limits: Mapping[str, Limit] | None = None,
) -> CaseView:
    """A case with this service that found these values. limits: by the name of a value; else the device's."""
    verdict = case.verdict()
    assert verdict is not None
    assert case.result is not None
    judged = {
        name: replace(verdict, limit=(limits or {}).get(name, "device"))
        for name in (RATE.name, BASELINE.name)
    }
    rests = {BASELINE.name: case.result.trials}
    return replace(
        case,
        settings={"service": service},
        profile=profile,
        result=replace(case.result, values=values, rests=rests),
        verdicts={"sum": judged[RATE.name]},
        others={(BASELINE.name, "sum"): judged[BASELINE.name]},
    )


def rates(having: int, alone: int) -> tuple[Value, Value]:
    return tuple(  # type: ignore[return-value]
        Value(
            kind,
            "sum",
            Fraction(fps),
            low=Fraction(fps),
            high=Fraction(fps) * Fraction(101, 100),
            searched=True,
        )
        for kind, fps in ((RATE, having), (BASELINE, alone))
    )


def cost(number: str, low: str, high: str | None) -> Value:
    return Value(
        COST, "sum", Fraction(number), low=Fraction(low), high=None if high is None else Fraction(high)
    )


def time(ns: int, reach: int = 10) -> Value:
    return Value(TIME, "sum", Fraction(ns), low=Fraction(ns - reach), high=Fraction(ns + reach))


def cells(run: RunView) -> list[dict[str, str]]:
    """The rows of the first screen by their headings, without units."""
    grid = families.of_run(run).grid
    headings = [name.partition(" (")[0] for name in grid.headings]
    return [dict(zip(headings, row, strict=True)) for row in grid.texts]


def test_emulated_core_works_the_share_of_its_capacity(run: RunView) -> None:
    rows = cells(run)
    assert [(row["service"], row["profile"]) for row in rows] == [
        (service, size) for service in BUSY for size in ("64b", "1518b")
    ]
    for case, row in zip(run.cases, rows, strict=True):
        share = core_share(case)
        assert share is not None
        assert case.headline is not None
        assert case.headline.number is not None
        assert share.share == min(case.headline.number / CAPACITY[row["service"]], Fraction(1))
    # 8,127 frames of 1518 bytes a second are the line.
    assert [row["device CPU"] for row in rows] == ["99 %", "31 %", "100 %", "65 %"]


def test_cost_is_a_number_or_the_word_of_what_ended_the_search(run: RunView) -> None:
    none, _, switched, filled = cells(run)
    assert none["cost"] == "-"
    assert switched["cost"].endswith(" %")
    assert filled["cost"] == "line"
    assert any("`line`" in one for one in families.of_run(run).grid.captions)


@pytest.mark.parametrize(
    ("of_cost", "limits", "text", "interval"),
    [
        (cost("0.243", "0.231", "0.255"), {}, "24.3 %", "23.1 to 25.5"),
        (cost("0.46", "0.46", None), {BASELINE.name: "line"}, ">= 46.0 %", ""),
        (cost("0.002", "-0.01", "0.014"), {}, NONE_SHOWN, "-1.0 to 1.4"),
        (cost("0.243", "0.231", "0.255"), {RATE.name: "tester"}, "tester", ""),
        (cost("0.243", "0.231", "0.255"), {BASELINE.name: "inconclusive"}, "inconclusive", ""),
        (Value(COST, "sum", None), {}, "unknown", ""),
    ],
)
def test_cost_as_it_is_printed(
    run: RunView, of_cost: Value, limits: Mapping[str, Limit], text: str, interval: str
) -> None:
    case = found(run.cases[2], *rates(300_000, 400_000), of_cost, limits=limits)
    shown = cost_of(case)
    assert (shown.text, shown.interval) == (text, interval)
    assert shown.would == (Fraction(12, 1000) if text == NONE_SHOWN else None)
    said = families.of_run(replace(run, cases=(case,))).grid.captions
    assert any("1.2 % would" in one for one in said) == (text == NONE_SHOWN)
    assert any(f"`{text}`" in one for one in said) == (shown.value is None)


def test_times_losses_and_rates_stand_in_their_cells(run: RunView) -> None:
    known = found(
        run.cases[2],
        *rates(300_000, 400_000),
        cost("0.25", "0.24", "0.26"),
        time(782, 40),
        Value(NEW, "sum", Fraction(3712), low=Fraction(3500), high=Fraction(3900)),
        Value(LOST, "sum", Fraction(42, 10_000)),
    )
    busy = found(
        run.cases[3], *rates(5, 6), Value(TIME, "sum", None, note=CoreTooBusy(Fraction(1, 2), 0, 12))
    )
    idle = found(run.cases[3], *rates(5, 6), Value(TIME, "sum", None, note=NotTimed()))
    first, second, third = cells(replace(run, cases=(known, busy, idle)))
    assert third["ns a frame"] == "n/a"
    assert any(str(NotTimed()) in one for one in families.of_run(replace(run, cases=(idle,))).grid.captions)
    assert (first["ns a frame"], first["ns a new flow"], first["lost"]) == (
        "+782 +-40",
        "+3,712 +-212",
        "0.42 %",
    )
    assert (second["ns a frame"], second["ns a new flow"], second["lost"]) == ("busy", "", "")
    assert cells(replace(run, cases=(idle,)))[0]["ns a frame"] == ""
    # Rates of one unit have it in the heading.
    (alone,) = cells(replace(run, cases=(known,)))
    assert (alone["rate"], alone["without"]) == ("300.0", "400.0")


def further(run: RunView, points: Sequence[tuple[str, str, int]], reach: int = 10) -> str:
    """What is said of a further rule. points: service, profile, ns."""
    cases = tuple(
        found(run.cases[2], *rates(3, 4), time(ns, reach), service=service, profile=profile)
        for service, profile, ns in points
    )
    said = families.of_run(replace(run, cases=cases)).grid.captions
    return next((one for one in said if one.startswith("A further rule")), "")


def test_further_rule_costs_the_slope_of_one_line_of_each_size(run: RunView) -> None:
    """Three different lists at least make a line; a set is looked up at once, and is no part of it."""
    lists = [(f"acl-{rules}", "64b", 40 + 7 * rules) for rules in (1, 25, 50, 100)]
    others = [("acl-250-set", "64b", 9_000), ("masquerade", "64b", 5)]
    wide = [(f"acl-{rules}", "512b", 40 + 3 * rules) for rules in (1, 25, 50, 100)]
    said = further(run, [*lists, *others, *wide])
    assert "+7.0 +-0.0 (64b, one line fits)" in said
    assert "+3.0 +-0.0 (512b, one line fits)" in said
    assert further(run, lists[:2]) == ""


@pytest.mark.parametrize(("reach", "fits"), [(49, False), (51, True)])
def test_one_line_fits_if_it_passes_within_each_interval(run: RunView, reach: int, fits: bool) -> None:
    """At 0, 1 and 2 hundred rules 0, 0 and 300 ns: the line is -50, 100, 250, so the middle is 100 off."""
    points = [("acl-100", "64b", 0), ("acl-200", "64b", 0), ("acl-300", "64b", 300)]
    said = further(run, points, 2 * reach)
    assert ("one line fits)" in said) == fits
    assert ("no one line fits: 200" in said) == (not fits)


def test_every_service_stands_on_the_first_screen(run: RunView) -> None:
    cases = tuple(
        found(
            run.cases[2],
            *rates(300_000, 400_000),
            cost("0.25", "0.24", "0.26"),
            service=f"s{n}",
            profile=size,
        )
        for n in range(15)
        for size in ("64b", "512b")
    )
    for width in (80, 100):
        lines = first_screen(headline(replace(run, cases=cases)), width)
        assert sum("25.0 %" in line and "24.0 to 26.0" in line for line in lines) == len(cases)
        assert max(map(len, lines)) <= width
    page = render([replace(run, cases=cases)], "html", Look())
    assert page.count(b"24.0 to 26.0") == len(cases)


def with_series(run: RunView, *series: Series) -> CaseView:
    """A case that each of its trials has these series in."""
    case = run.cases[2]
    trials = tuple(replace(one, result=replace(one.result, series=series)) for one in case.trials)
    return replace(case, trials=trials, notes=())


def test_kernel_works_the_soft_interrupts_of_the_devices_core(run: RunView) -> None:
    """Trials of 500 ms: 450 ms of soft interrupts are 90 % of it, whatever other cores do."""
    mine, other = (
        Series(
            "this machine", core, "softirq", "s", (-20_000_000, 700_000_000), (100, 145), 2, is_counter=True
        )
        for core in ("cpu1", "cpu0")
    )
    other = replace(other, values=(0, 7))
    case = replace(with_series(run, other, mine), notes=(DeviceOnOwnCore(1, (0,)),))
    share = core_share(case)
    assert share is not None
    assert share.share == Fraction(9, 10)
    assert core_share(replace(case, trials=case.trials[:0])) is None
    # Of a core with other work the kernel's ticks do not tell whose they are.
    for others, is_known in ((2, True), (3, False)):
        busy = replace(mine, name="busy", values=(100, 145 + others))
        beside = replace(with_series(run, mine, busy), notes=case.notes)
        assert (core_share(beside) is not None) == is_known


def test_gauge_of_the_data_plane_is_the_devices_core(run: RunView) -> None:
    """The busiest one, over the time of load; the control plane's does not count beside it."""
    every = [
        Series("cli", subject, name, "%", (-1_000_000, 100_000_000, 400_000_000), (0, *percent))
        for subject, name, percent in (
            ("core 0", "data-plane CPU", (10, 20)),
            ("core 1", "data-plane CPU", (60, 70)),
            ("RP", "control-plane CPU", (99, 99)),
        )
    ]
    share = core_share(with_series(run, *every))
    assert share is not None
    assert share.share == Fraction(65, 100)
    only = core_share(with_series(run, every[-1]))
    assert only is not None
    assert only.share == Fraction(99, 100)
    assert core_share(with_series(run)) is None


def test_files_have_the_cost_and_the_devices_core(run: RunView) -> None:
    (table,) = service_cost.tables(run)
    places = {column.name: place for place, column in enumerate(table.columns)}
    exact = [row[places["device CPU"]] for row in table.rows]
    full = json.loads(render([run], "json", Look(level="json")))
    (stored,) = [one for one in full["statistics"] if one["table"] == table.name]
    assert [Fraction(row[places["device CPU"]]) for row in stored["rows_exact"] if row[places["device CPU"]]]
    rows = list(csv.DictReader(io.StringIO(render([run], "csv", Look(level="csv")).decode())))
    of_case = {int(row["case"]): row["device_cpu_percent"] for row in rows}
    for number, share in enumerate(exact):
        assert isinstance(share, Fraction)
        assert abs(Fraction(of_case[number]) - 100 * share) < Fraction(1, 10**5)
    assert "device CPU" in render([run], "markdown", Look()).decode()
    assert "device CPU" in render([run], "tables", Look(level="tables")).decode()
