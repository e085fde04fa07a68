"""Repeats in the reports: means with their intervals, a table of statistics, and two settings compared."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from kinds import kind
from netdyno.methods.loss import LOSS_RATE
from netdyno.plan import PlanErrors, parse
from netdyno.reports.formats.terminal import text as render_terminal
from netdyno.reports.model import grid, reasons, repeats
from netdyno.reports.model.from_store import view
from netdyno.reports.model.joined import join_tables
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values.finding import Value
from netdyno.values.verdict import Verdict
from pages import report_text
from report_sample import SMALL, write
from table_sample import SUITE
from test_matrix import ARTICLE
from words import said

RATES = {
    # Two settings of one device, five repeats each, Mpps: with a mean of 5.00 and 5.20.
    "l2-xconnect": (4_990_000, 5_000_000, 5_010_000, 5_005_000, 4_995_000),
    "ipv4": (5_190_000, 5_200_000, 5_210_000, 5_205_000, 5_195_000),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunView]:
    with write(tmp_path_factory.mktemp("small"), SMALL) as run:
        yield view(run)


def found(case: CaseView, number: int, repeat: int, rate: int | None, limit: str = "device") -> CaseView:
    """A case that found this rate."""
    assert case.result is not None
    value = Value(kind("ramp max Rx"), "sum", None if rate is None else Fraction(rate))
    return replace(
        case,
        number=number,
        repeat=repeat,
        result=replace(case.result, values=(value,)),
        verdicts={"sum": Verdict(limit, said("why"))},  # type: ignore[arg-type]
    )


def repeated(small: RunView, rates: dict[str, Sequence[int | None]]) -> RunView:
    """64 B frames one way, each setting with its rates, in turns."""
    ones = {
        case.settings["forwarding"]: case for case in small.cases if case.name.endswith("64b-multi / uni")
    }
    count = max(map(len, rates.values()))
    cases = [
        found(ones[setting], len(rates) * turn + place, turn + 1, rates[setting][turn])
        for turn in range(count)
        for place, setting in enumerate(rates)
    ]
    return replace(small, cases=tuple(cases))


def test_a_table_has_the_mean_its_interval_and_how_many_it_is_of(small: RunView) -> None:
    run = repeated(small, RATES)
    tables = grid.tables(run)
    assert [len(table.rows) for table in tables] == [1, 1]
    (cell,) = tables[0].rows[0].cells
    assert cell is not None
    # Standard deviation 7906, over the root of 5, times 2.776: 9816 of 5,000,000 are 0.20 %.
    assert (cell.number, cell.limit) == ("5.00 Mpps ± 0.20 % (5)", "device")
    assert cell.share == "33.6 %"
    told = " ".join(grid.summary(run))
    assert "10 load tests" in told
    assert "Each of 2 was made 5 times, all once and then all again" in told
    for name in ("terminal", "markdown", "html"):
        assert "5.00 Mpps ± 0.20 % (5)" in report_text(name, run)
    (reason,) = reasons.of_run(run)
    assert reason.names == "l2-xconnect / plain / 64b-multi / uni, ipv4 / plain / 64b-multi / uni"
    last = replace(run.cases[9], verdicts={"sum": Verdict("tester", said("late"))})
    four, one = reasons.of_run(replace(run, cases=(*run.cases[:9], last)))
    assert [name.removeprefix("ipv4 / plain / ") for name, _ in four.named] == [
        "l2-xconnect / plain / 64b-multi / uni",
        *(f"64b-multi / uni / repeat {repeat}" for repeat in range(1, 5)),
    ]
    assert one.names == "ipv4 / plain / 64b-multi / uni / repeat 5"


def test_repeats_without_a_value_and_with_other_limits_are_noted(small: RunView) -> None:
    run = repeated(small, {"ipv4": (5_000_000, None, 5_000_000)})
    first, second, third = run.cases
    run = replace(
        run, cases=(first, second, replace(third, verdicts={"sum": Verdict("tester", said("late"))}))
    )
    (cell,) = grid.tables(run)[0].rows[0].cells
    assert cell is not None
    assert (cell.number, cell.limit) == (">= 5.00 Mpps (2 of 3)", "device 2, tester 1")
    none = repeated(small, {"ipv4": (None, None)})
    (cell,) = grid.tables(none)[0].rows[0].cells
    assert cell is not None
    assert cell.number == "n/a"
    assert repeats.tables(none) == ()


def test_statistics_are_a_table_of_every_report(small: RunView) -> None:
    run = repeated(small, RATES)
    statistics, comparison = repeats.tables(run)
    assert statistics.name == "Statistics of the repeats: ramp max Rx"
    row = dict(zip(statistics.headings, statistics.texts[0], strict=True))
    assert row == {
        "forwarding": "l2-xconnect",
        "n": "5",
        "of": "5",
        "Mean (pps)": "5,000,000",
        "from (pps)": "4,990,183",
        "to (pps)": "5,009,816",
        "Stdev (pps)": "7,905",
        "CoV": "0.158 %",
        "Least (pps)": "4,990,000",
        "Median (pps)": "5,000,000",
        "Median from (pps)": "4,990,000",
        "Median to (pps)": "5,010,000",
        "Most (pps)": "5,010,000",
        "Steady": "steady",
    }
    row = dict(zip(comparison.headings, comparison.texts[0], strict=True))
    assert comparison.name == "forwarding, l2-xconnect and ipv4 compared: ramp max Rx"
    assert (row["Difference"], row["Found"]) == ("4 %", "ipv4 is higher")
    # All of five above all of five: 2 of 252 ways, 0.00794.
    assert (row["p of ranks"], row["Cliff's delta"]) == ("0.0079", "1")
    for name in ("terminal", "markdown", "tables", "html"):
        text = report_text(name, run)
        assert statistics.name in text
        assert comparison.name in text.replace("\\", "")
    document = json.loads(report_text("json", run))
    assert document["repeats"] == 5
    assert [table["table"] for table in document["statistics"]] == [statistics.name, comparison.name]
    rows = list(csv.DictReader(io.StringIO(report_text("csv", run))))
    assert [row["repeat"] for row in rows] == ["1", "1", "2", "2", "3", "3", "4", "4", "5", "5"]
    assert all(len(line) <= 80 for line in render_terminal(run, width=80).splitlines())


def limited(run: RunView, setting: str, *limits: str, **others: object) -> RunView:
    """The cases of one setting, repeat by repeat, with other limits on their values, or changed otherwise."""
    cases, left = [], list(limits)
    for case in run.cases:
        if case.settings["forwarding"] == setting and left:
            case = replace(case, verdicts={"sum": Verdict(left.pop(0), said("why"))}, **others)  # type: ignore[arg-type]
        cases.append(case)
    return replace(run, cases=tuple(cases))


def row(run: RunView, table: int, place: int = 0) -> dict[str, str]:
    shown = repeats.tables(run)[table]
    return dict(zip(shown.headings, shown.texts[place], strict=True))


SAME = {"l2-xconnect": (5_000_000,) * 3, "ipv4": (5_000_000,) * 3}


def test_two_devices_that_filled_the_line_were_not_compared(small: RunView) -> None:
    """They may differ as they like: the line ended first. Least sure is their spread, which is the line's."""
    run = limited(limited(repeated(small, SAME), "l2-xconnect", *["line"] * 3), "ipv4", *["line"] * 3)
    told = row(run, 0)
    assert (told["n"], told["Bounds"], told["Mean (pps)"]) == ("3", ">= in 3 of 3", "5,000,000")
    assert {told[name] for name in ("from (pps)", "to (pps)", "Stdev (pps)", "CoV", "Median to (pps)")} == {
        "n/a"
    }
    assert told["Steady"] == "unknown"
    told = row(run, 1)
    assert told["Found"] == "unknown: 6 lower bounds"
    assert {told[name] for name in ("Difference", "p of means", "p of ranks", "Cliff's delta")} == {"n/a"}
    for table in grid.tables(run):
        (cell,) = table.rows[0].cells
        assert cell is not None
        assert cell.number == ">= 5.00 Mpps (3)"


def test_a_busy_tester_makes_no_device_unstable_nor_slower(small: RunView) -> None:
    found = {"l2-xconnect": (5_000_000, 5_010_000, 4_990_000), "ipv4": (2_000_000, 2_500_000, 3_000_000)}
    run = limited(repeated(small, found), "ipv4", "tester", "tester", "tester")
    assert row(run, 0, 1)["Steady"] == "unknown", "its CoV is 20 %, the tester's"
    assert row(run, 1)["Found"] == "unknown: 3 lower bounds"
    # The same numbers of the device's own:
    assert row(repeated(small, found), 0, 1)["Steady"] == "unstable"
    assert row(repeated(small, found), 1)["Found"] == "ipv4 is lower"
    one = limited(repeated(small, found), "ipv4", "tester")
    assert row(one, 1)["Found"] == "unknown: 1 lower bound"


def test_bounds_above_all_that_the_other_reached_are_higher(small: RunView) -> None:
    """The line ended the faster one: it is faster, by how much is unknown."""
    found = {"l2-xconnect": (5_000_000, 5_010_000, 4_990_000), "ipv4": (10_000_000,) * 3}
    run = limited(repeated(small, found), "ipv4", "line", "line", "line")
    told = row(run, 1)
    assert (told["Found"], told["Difference"]) == ("ipv4 is higher, by this at the least", "100 %")
    assert (told["from"], told["to"], told["p of means"], told["Hedges' g"]) == ("n/a",) * 4
    # Not so if the slower one is the one that was ended early.
    run = limited(repeated(small, found), "l2-xconnect", "line")
    assert row(run, 1)["Found"] == "unknown: 1 lower bound"


def test_a_number_in_doubt_is_neither_compared_nor_a_bound(small: RunView) -> None:
    found = {"l2-xconnect": (5_000_000, 5_010_000, 4_990_000), "ipv4": (10_000_000,) * 3}
    run = limited(repeated(small, found), "ipv4", "inconclusive")
    (statistics, _) = repeats.tables(run)
    assert row(run, 0, 1)["In doubt"] == "1"
    assert repeats.IN_DOUBT in statistics.captions
    assert row(run, 1)["Found"] == "unknown: 1 in doubt"


def test_repeats_without_a_number_and_invalid_ones_are_counted_and_named(small: RunView) -> None:
    """A device that fails now and then has not just the mean of its good days: the table says of how many."""
    found = {"l2-xconnect": (5_000_000,) * 5, "ipv4": (None, 6_000_000, None, 6_000_000, 9_000_000)}
    run = limited(repeated(small, found), "ipv4", "device", "device", "device", "device", "invalid")
    first, second = row(run, 0), row(run, 0, 1)
    assert [first[name] for name in ("n", "of", "Without a number", "Invalid")] == ["5", "5", "0", "0"]
    assert [second[name] for name in ("n", "of", "Without a number", "Invalid")] == ["2", "5", "2", "1"]
    assert second["Mean (pps)"] == "6,000,000"
    assert "ipv4 / plain / 64b-multi / uni / repeat 5" in repeats.tables(run)[0].captions[-1]
    assert row(run, 1)["Found"] == "ipv4 is higher; 2 repeats found no number"
    # One that found nothing but once is in the table all the same.
    run = repeated(small, {"l2-xconnect": (5_000_000,) * 3, "ipv4": (None, None, 6_000_000)})
    (statistics,) = repeats.tables(run)
    assert len(statistics.rows) == 2
    assert (row(run, 0, 1)["n"], row(run, 0, 1)["Steady"]) == ("1", "unknown")
    # Repeats that are still to come found nothing yet.
    run = repeated(small, {"ipv4": (5_000_000, 5_000_000, None)})
    cases = (*run.cases[:2], replace(run.cases[2], state="pending", result=None, verdicts={}))
    assert row(replace(run, cases=cases), 0)["of"] == "2"


def test_lower_bound_of_addresses_says_so_and_a_mean_has_no_bounds(
    small: RunView,
) -> None:
    """A device with 4096 addresses and one with more are distinguished by the sign."""
    capacity = Value(kind("address caching capacity", "addresses"), "sum", Fraction(4096), low=Fraction(4096))
    exact = replace(capacity, high=Fraction(4097))
    assert grid.number(capacity) == ">= 4,096 addresses"
    assert grid.number(exact) == "4,096 addresses (4,096 to 4,097)"
    ones = [case for case in small.cases if case.result is not None][:2]
    for value, limit, shown, spread in (
        (capacity, "tester", ">= 4,096", "(2)"),
        # Half an address to either side: each is between 4096 and 4097.
        (exact, "device", "4,096", "± 0.02 % (2)"),
    ):
        cases = [
            replace(
                one,
                result=replace(one.result, values=(value,), headlines=(value.name,)),
                verdicts={"sum": Verdict(limit, said("why"))},  # type: ignore[arg-type]
            )
            for one in ones
            if one.result is not None
        ]
        assert grid.place(cases).number == f"{shown} addresses {spread}"


def test_a_device_that_scatters_is_called_unstable(small: RunView) -> None:
    """RFC 8239: a coefficient of variation above 10 %."""
    (statistics,) = repeats.tables(repeated(small, {"ipv4": (4_000_000, 5_000_000, 6_000_000)}))
    assert statistics.texts[0][-1] == "unstable"


def test_percentiles_are_given_from_20_repeats_on(small: RunView) -> None:
    rates = tuple(range(5_000_000, 5_000_020))
    (more,) = repeats.tables(repeated(small, {"ipv4": rates}))
    assert "99th pct (pps)" in more.headings
    (fewer,) = repeats.tables(repeated(small, {"ipv4": rates[1:]}))
    assert "99th pct (pps)" not in fewer.headings


def test_a_run_without_repeats_says_nothing_of_them(small: RunView) -> None:
    assert repeats.tables(small) == ()
    assert not any("made" in sentence for sentence in grid.summary(small))
    assert "repeat" not in report_text("csv", small)
    assert "repeat" not in report_text("json", small)


def test_repeats_are_one_line_of_a_figure(tmp_path_factory: pytest.TempPathFactory) -> None:
    with write(tmp_path_factory.mktemp("suite"), SUITE) as run:
        suite = view(run)
    once = suite.cases[:1]
    again = tuple(replace(case, number=7, repeat=2) for case in once)
    run_ = replace(suite, cases=(*(replace(case, repeat=1) for case in once), *again))
    table = next(table for table in join_tables(run_) if table.name == "Frame loss rate")
    assert table.headings[0] == "repeat"
    assert len(table.rows) == 20
    (line,) = table.lines
    assert (line.label, len(line.points)) == ("", 10)


def test_an_axis_may_be_called_as_a_column_is(small: RunView) -> None:
    run = repeated(small, RATES)
    cases = [replace(case, settings={"n": case.settings["forwarding"]}) for case in run.cases]
    statistics = repeats.tables(replace(run, cases=tuple(cases)))[0]
    assert statistics.headings[0] == "n of the case"
    assert report_text("json", replace(run, cases=tuple(cases)))


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("0", "repeat"),
        ("201", "repeat"),
        ("{count: 2, seeds: other}", "seeds"),
        ("{times: 2}", "unknown field `times`"),
        ("often", "repeat"),
        ("true", "repeat"),
    ],
)
def test_repeat_of_an_impossible_number_is_refused(written: str, why: str) -> None:
    with pytest.raises(PlanErrors) as told:
        parse(ARTICLE.read_text() + f"\nrepeat: {written}\n")
    assert why in str([(error.path, error.message) for error in told.value.errors])


def test_too_many_cases_are_reported_at_the_repeat_key() -> None:
    text = ARTICLE.read_text() + "\nrepeat: 200\n"
    assert parse(text).repeat.count == 200, "9,600 cases"
    many = text.replace("profile: [1514b,", "profile: [1514b, 1513b,").replace(
        "  1514b:", "  1513b: {size: 1513B}\n  1514b:", 1
    )
    with pytest.raises(PlanErrors) as told:
        parse(many)
    (error,) = told.value.errors
    assert (error.path, error.message) == ("repeat", "60 cases 200 times are 12000")


def test_the_grid_of_a_search_is_no_difference_and_no_narrow_interval(small: RunView) -> None:
    """A device of 100 kpps, between the bounds of both settings."""
    run = repeated(small, {"l2-xconnect": (96_700,) * 5, "ipv4": (94_500,) * 5})
    bounds = {96_700: 104_000, 94_500: 102_000}
    cases = []
    for case in run.cases:
        assert case.result is not None
        (value,) = case.result.values
        assert value.number is not None
        wide = replace(value, low=value.number, high=Fraction(bounds[int(value.number)]))
        cases.append(replace(case, result=replace(case.result, values=(wide,))))
    statistics, comparison = repeats.tables(replace(run, cases=tuple(cases)))
    row = dict(zip(statistics.headings, statistics.texts[0], strict=True))
    assert (row["from (pps)"], row["to (pps)"]) == ("96,700", "104,000")
    assert comparison.texts[0][-1] == "no difference found: the bounds overlap; a smaller `width` tells"


def lossy(small: RunView, lost: Sequence[int], sent: int, setting: str = "ipv4") -> RunView:
    """Repeats of a loss ratio, each of so many lost frames."""
    run = repeated(small, {setting: (5_000_000,) * len(lost)})
    cases = []
    for case, frames in zip(run.cases, lost, strict=True):
        assert case.result is not None
        bounds = (Fraction(0), Fraction(3, sent)) if not frames else ()
        value = Value(LOSS_RATE, "sum", Fraction(frames, sent), *bounds, of_frames=sent)
        result = replace(case.result, values=(value,), headlines=(value.name,))
        verdicts = {"sum": Verdict("device" if frames else "none", said("why"))}
        cases.append(replace(case, result=result, verdicts=verdicts))  # type: ignore[arg-type]
    return replace(run, cases=tuple(cases))


@pytest.mark.parametrize(
    ("lost", "low", "high"),
    [
        # One of 5 million, (5.06e-9, 1.114e-6) by Clopper and Pearson; Student's has the lower end.
        ((0, 0, 0, 1, 0), -0.3553e-6, 1.114e-6),
        # 15 of 5 million, (1.679e-6, 4.948e-6): equal repeats scatter by nothing.
        ((3, 3, 3, 3, 3), 1.679e-6, 4.948e-6),
    ],
)
def test_mean_of_shares_is_no_surer_than_all_their_frames(
    small: RunView, lost: Sequence[int], low: float, high: float
) -> None:
    (statistics,) = repeats.tables(lossy(small, lost, 10**6))
    cells = dict(zip((one.name for one in statistics.columns), statistics.rows[0], strict=True))
    assert isinstance(cells["from"], Fraction)
    assert isinstance(cells["to"], Fraction)
    assert (float(cells["from"]), float(cells["to"])) == pytest.approx((low, high), rel=1e-3)


def test_mean_of_a_few_lost_frames_is_said_where_the_median_is_none(small: RunView) -> None:
    """One frame of ten million in ten repeats: the mean is 1e-8, and 5.57e-8 at most."""
    run = lossy(small, (0, 0, 0, 0, 0, 0, 1, 0, 0, 0), 10**7)
    told = row(run, 0)
    assert (told["Median"], told["Mean"], told["to"]) == ("0 %", "0.000001 %", "0.00000557 %")
    (cell,) = grid.tables(run)[0].rows[0].cells
    assert cell is not None
    assert cell.number == "0.000001 % ± 457.16 % (10)"
    # Of none lost at all the bound of one repeat is said.
    (cell,) = grid.tables(lossy(small, (0, 0), 10**7))[0].rows[0].cells
    assert cell is not None
    assert cell.number == "0 (≤ 3.0e-7) (2)"
