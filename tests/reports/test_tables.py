"""The methods' tables and figures in the reports: joined over cases, drawn as their method says."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import altair
import pytest
from kinds import kind
from netdyno.reports.figures import vega
from netdyno.reports.figures.table_figures import MOST_LINES, drawn
from netdyno.reports.formats.terminal import text as render_terminal
from netdyno.reports.model import compliance, grid
from netdyno.reports.model import table as shown
from netdyno.reports.model.from_store import view
from netdyno.reports.model.joined import join_tables
from netdyno.reports.model.table import Line, Point, text
from netdyno.reports.model.view import RunView
from netdyno.values import number as printed
from netdyno.values.finding import Column, Figure, Result, Table, Value
from pages import report_text
from report_sample import Asked, Sample, write
from table_sample import BYTES, SUITE, asked, line_fps
from words import said_each


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunView]:
    with write(tmp_path_factory.mktemp("suite"), SUITE) as run:
        yield view(run)


def of(run: RunView, name: str) -> shown.Table:
    (found,) = [table for table in join_tables(run) if table.name == name]
    return found


def with_results(run: RunView, *results: Result | None) -> RunView:
    """The first cases of a run, with other results."""
    cases = [replace(case, result=result) for case, result in zip(run.cases, results, strict=False)]
    return replace(run, cases=tuple(cases))


def result(run: RunView, *tables: Table, **other: object) -> Result:
    found = run.cases[0].result
    assert found is not None
    return replace(found, tables=tables, **other)  # type: ignore[arg-type]


def test_the_throughput_of_all_sizes_is_one_table_and_one_line(suite: RunView) -> None:
    """RFC 2544 section 26.1: x is the frame size, y frames a second, and one line is the theoretical."""
    table = of(suite, "Throughput")
    assert table.headings == ("forwarding", "Frame size (B)", "Theoretical (pps)", "Measured (pps)")
    assert len(table.rows) == 2 * len(BYTES)
    # What RFC 2544 section 26.1 would print, truncated: RFC 5180, appendix A.1.1 for 10 Gbit/s.
    assert [row[2] for row in table.texts[: len(BYTES)]] == [
        "14,880,952",
        "8,445,945",
        "4,528,985",
        "2,349,624",
        "1,197,318",
        "961,538",
        "812,743",
    ]
    lines = {(line.label, line.y, line.reference) for line in table.lines}
    assert lines == {
        ("ipv4", "Measured", False),
        ("l2-xconnect", "Measured", False),
        ("", "Theoretical", True),
    }
    for line in table.lines:
        assert [point.x for point in line.points] == list(BYTES)


def test_profile_not_implied_by_the_frame_size_stays_a_column(suite: RunView) -> None:
    cases = [
        replace(suite.cases[0], profile="64b-multi"),
        replace(suite.cases[1], profile="64b-single", result=suite.cases[0].result),
    ]
    table = of(replace(suite, cases=tuple(cases)), "Throughput")
    assert table.headings[:2] == ("profile", "Frame size (B)")
    assert {line.label for line in table.lines} == {"64b-multi", "64b-single", ""}


def test_what_all_cases_share_is_no_column(suite: RunView) -> None:
    table = of(replace(suite, cases=suite.cases[:1]), "Throughput")
    assert table.headings == ("Frame size (B)", "Theoretical (pps)", "Measured (pps)")
    assert table.cases == (0,)


def test_tables_of_other_columns_are_other_tables(suite: RunView) -> None:
    one = Table("Loss", (Column("Load", "share"),), ((Fraction(1),),))
    other = Table("Loss", (Column("Load", "fps"),), ((Fraction(1),),))
    run = with_results(suite, result(suite, one), result(suite, other), None)
    assert [len(table.rows) for table in join_tables(run)] == [1, 1]


def test_several_findings_at_one_place_are_one_point_from_least_to_most(suite: RunView) -> None:
    figure = Figure("Load", ("Loss",))
    rows = tuple((Fraction(1, 2), Fraction(loss, 10)) for loss in (1, 2, 6))
    table = Table("Trials", (Column("Load", "share"), Column("Loss", "share")), rows, figure=figure)
    (line,) = of(with_results(suite, result(suite, table)), "Trials").lines
    (point,) = line.points
    assert (point.y, point.least, point.most) == (Fraction(3, 10), Fraction(1, 10), Fraction(6, 10))


def specs(run: RunView, name: str) -> list[dict[str, object]]:
    return [figure.live for figure in drawn(of(run, name), "key")]


def test_figures_are_vega_lite_and_none_has_too_many_lines(suite: RunView) -> None:
    for table in join_tables(suite):
        for figure in drawn(table, "key"):
            for spec in (figure.live, vega.still(figure.live)):
                altair.LayerChart.validate(spec)
            rows = figure.live["datasets"]["measured"]
            assert rows
            assert len({row["line"] for row in rows}) <= MOST_LINES
    titles = [figure.title for figure in drawn(of(suite, "Latency percentiles"), "key")]
    assert sorted(titles) == [
        f"{forwarding} / {stream}"
        for forwarding in ("ipv4", "l2-xconnect")
        for stream in ("east-west", "west-east")
    ], "28 lines in the fewest figures of at most eight"
    assert not specs(suite, "Loss events"), "its method says nothing of a figure"


def encoding(spec: object, channel: str, layer: int = 0) -> dict[str, object]:
    found: dict[str, object] = spec["layer"][layer]["encoding"][channel]  # type: ignore[index]
    return found


def test_axes_end_where_the_standard_has_them_end(suite: RunView) -> None:
    """RFC 2544 section 26.3: both axes from 0 to 100 %."""
    for spec in specs(suite, "Frame loss rate"):
        for channel in ("x", "y"):
            assert encoding(spec, channel)["scale"]["domain"] == [0, 100]  # type: ignore[index]


def test_percentiles_stand_where_each_nine_is_a_step(suite: RunView) -> None:
    spec = specs(suite, "Latency percentiles")[0]
    rows = spec["datasets"]["measured"]  # type: ignore[index]
    places = {row["at"]: row["x"] for row in rows}
    assert places["90 %"] == pytest.approx(1)
    assert places["99 %"] == pytest.approx(2)
    assert places["99.999 %"] == pytest.approx(5)
    assert places["0 %"] == 0
    assert "100 %" not in places, "the most there was is at no place of such an axis"
    assert encoding(spec, "x")["axis"]["values"][2:] == [1, 2, 3, 4, 5]  # type: ignore[index]


def test_what_was_not_measured_is_dashed(suite: RunView) -> None:
    (spec,) = specs(suite, "Throughput")
    dashed = [layer for layer in spec["layer"] if layer["mark"].get("strokeDash")]  # type: ignore[attr-defined]
    assert [layer["data"]["name"] for layer in dashed] == ["references"]
    assert {row["column"] for row in spec["datasets"]["references"]} == {"Theoretical"}  # type: ignore[index]


def test_reference_of_one_point_is_drawn_as_a_mark(suite: RunView) -> None:
    table = of(suite, "Throughput")
    short = tuple(replace(line, points=line.points[:1]) if line.reference else line for line in table.lines)
    (figure,) = drawn(replace(table, lines=short), "one")
    marks = [layer["mark"]["type"] for layer in figure.live["layer"] if layer["data"]["name"] == "references"]
    assert marks == ["line", "point"]
    (figure,) = drawn(of(suite, "Throughput"), "all")
    marks = [layer["mark"]["type"] for layer in figure.live["layer"] if layer["data"]["name"] == "references"]
    assert marks == ["line"]


def test_one_frame_size_is_no_figure(suite: RunView) -> None:
    assert drawn(of(replace(suite, cases=suite.cases[:1]), "Throughput"), "one") == []


def test_an_axis_has_the_unit_that_suits_its_numbers(suite: RunView) -> None:
    (spec,) = specs(suite, "Throughput")
    assert encoding(spec, "y")["axis"]["title"] == "Measured, Mpps"  # type: ignore[index]
    assert encoding(spec, "x")["axis"]["title"] == "Frame size, bytes"  # type: ignore[index]
    spec = specs(suite, "Latency against load")[0]
    assert encoding(spec, "y")["axis"]["title"] == "ms", "of three columns what they share"  # type: ignore[index]


@pytest.mark.parametrize(
    ("cell", "unit", "shown"),
    [
        (Fraction(14_880_952), "fps", "14,880,952"),
        (Fraction(312_500_000, 21), "fps", "14,880,952"),
        (Fraction(1, 3), "fps", "0.3"),
        (Fraction(12_144), "ns", "12.14 us"),
        (Fraction(7_985_123_456_789), "at", "2:13:05.123457"),
        (Fraction(0), "at", "0:00:00.000000"),
        (Fraction(-1_500_000_000), "at", "-0:00:01.500000"),
        (Fraction(9, 10), "share", "90 %"),
        (Fraction(99_999, 100_000), "share", "99.999 %"),
        (Fraction(10**9 - 1, 10**9), "share", "99.999 %"),
        (Fraction(1, 3), "share", "33.333 %"),
        (Fraction(1, 3 * 10**6), "share", "0.0000333 %"),
        (Fraction(0), "share", "0 %"),
        (Fraction(1), "share", "100 %"),
        (Fraction(1522), "B", "1,522"),
        (Fraction(1441, 4), "B", "360.25"),
        (Fraction(1_000_000), "frames", "1,000,000"),
        (Fraction(-7), "frames", "-7"),
        (Fraction(5, 2), "", "2.5"),
        (Fraction(3), "routes", "3 routes"),
        ("IMIX", "B", "IMIX"),
        (None, "fps", "n/a"),
    ],
)
def test_cells_are_printed_by_their_unit(cell: Fraction | str | None, unit: str, shown: str) -> None:
    assert text(cell, unit) == shown


def test_every_report_has_every_table(suite: RunView) -> None:
    names = [table.name for table in join_tables(suite)]
    assert names[:2] == ["Throughput", "Frame loss rate"]
    for report in ("terminal", "markdown", "tables", "html"):
        found = report_text(report, suite)
        for name in names:
            assert name in found, f"{report}: {name}"
    document = json.loads(report_text("json", suite))
    assert [table["table"] for table in document["cases"][0]["tables"]] == names


def test_csv_and_json_have_the_numbers_exact(suite: RunView) -> None:
    blocks = report_text("tables", suite).split("\n\n")
    assert len(blocks) == len(join_tables(suite))
    title, *rows = csv.reader(io.StringIO(blocks[0]))
    assert title == ["Throughput"]
    assert rows[0] == ["forwarding", "Frame size (B)", "Theoretical (pps)", "Measured (pps)"]
    assert rows[1] == ["ipv4", "64", "14880952.380952380952", "5000000"]
    assert len(rows) == 1 + 2 * len(BYTES)
    table = json.loads(report_text("json", suite))["cases"][0]["tables"][0]
    assert table["columns"][1] == {"name": "Theoretical", "unit": "pps"}
    assert Fraction(table["rows_exact"][0][1]) == line_fps(64)
    assert table["rows"][0][2] == 5_000_000
    assert table["figure"]["reference"] == ["Theoretical"]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_long_table_is_begun_in_a_terminal_and_fits_it(suite: RunView, width: int) -> None:
    found = render_terminal(suite, width=width)
    assert all(len(line) <= width for line in found.splitlines())
    assert "and 100 rows more" in found, "140 rows of loss"
    assert "62.667 %" in found


def test_text_of_strangers_in_tables_is_shown_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    evil = "<script>alert(1)</script>|\x1b[2J\n</title>"
    table = Table(
        evil,
        (Column(evil, "share"), Column("y", evil), Column("by" + evil)),
        ((Fraction(1, 2), Fraction(1), evil), (Fraction(3, 4), Fraction(2), evil)),
        evil,
        Figure(evil, ("y",), by="by" + evil),
    )

    def found(asked: Asked, ramp: Result) -> Result:
        values = (
            replace(one, kind=replace(one.kind, meaning=evil)) if one.name in ramp.headlines else one
            for one in ramp.values
        )
        return replace(ramp, values=tuple(values), tables=(table,), standard=evil)

    sample = Sample(cases=(asked("ipv4", 64),), found=found)
    with write(tmp_path_factory.mktemp("evil"), sample) as run:
        shown = view(run)
    for name in ("terminal", "markdown", "tables", "csv"):
        assert "\x1b" not in report_text(name, shown), name
    page = report_text("html", shown)
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize(
    ("rows", "figure", "why"),
    [
        (((Fraction(1),),), None, "a row of other than 2 cells"),
        ((), Figure("z", ("y",)), "no column `z`"),
        ((), Figure("x", ()), "draws no column"),
        ((), Figure("x", ("x", "y")), "columns of several units"),
        ((), Figure("x", ("y",), reference=("x",)), "a reference line that it does not draw"),
        ((), Figure("x", ("y",), log_x=True), "percentiles that are no shares"),
        ((), Figure("x", ("y",), x_range=(Fraction(1), Fraction(1))), "ends before it begins"),
        ((), Figure("x", ("y",), by="z"), "no column `z`"),
    ],
)
def test_a_table_that_cannot_be_shown_cannot_be_made(
    rows: tuple[tuple[Fraction, ...], ...], figure: Figure | None, why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        Table("t", (Column("x", "fps"), Column("y", "ns")), rows, figure=figure)


# What stands for a case, and compliance


def test_a_time_stands_for_a_case_where_its_method_says_so(suite: RunView) -> None:
    values = (
        Value(kind("other"), "sum", Fraction(1)),
        Value(kind("recovery time", "ns"), "sum", Fraction(12_144_000)),
    )
    timed = result(suite, values=values, headlines=("recovery time",))
    slower = replace(timed, values=(replace(values[1], number=Fraction(2 * 10**9)),))
    run = with_results(suite, timed, slower)
    assert [grid.cell(case).number for case in run.cases] == ["12.14 ms", "2 s"]
    assert "Least: 12.14 ms with ipv4 / 64b / uni; limit: device." in grid.summary(run)
    assert "Nothing enforces" not in " ".join(grid.summary(run))
    markdown = report_text("markdown", run)
    assert "| Loadtest | Unidirectional (recovery time) | Limit  |" in markdown
    assert "Recovery time: from the fall of the load" in markdown
    for name in ("terminal", "markdown", "html"):
        found = report_text(name, run)
        assert "12.14 ms" in found
        assert "L1 bps" not in found


def test_compliance_is_stated_once_for_each_standard_with_every_deviation(suite: RunView) -> None:
    (statement,) = compliance.statements(suite)
    assert (statement.standard, statement.conformity) == ("RFC 2544", "deviating")
    assert statement.deviations == (
        "required: the settle phase lasted 0.02 s, RFC 2544 section 23 phase b asks for 2 s",
        "recommended: the final trial lasted 3s, RFC 2544 section 24 asks for at least 60 s",
    )
    for name in ("terminal", "markdown", "html"):
        found = " ".join(report_text(name, suite).split())
        assert "Compliance with RFC 2544: deviating" in found.replace("\\", "")
        for deviation in statement.deviations:
            assert deviation in found.replace("\\", "")
    (row, *_) = csv.DictReader(io.StringIO(report_text("csv", suite)))
    assert (row["standard"], row["compliance"]) == ("RFC 2544", "deviating")


def test_a_run_agrees_with_a_standard_as_well_as_its_worst_case(suite: RunView) -> None:
    clean = result(suite, compliance=(), recommended=(), standard="RFC 2544")
    short = replace(clean, recommended=said_each(("short",)))
    assert [clean.conformity, short.conformity] == ["unconditional", "conditional"]
    (whole,) = compliance.statements(with_results(suite, clean, clean))
    assert whole.sentence == "Compliance with RFC 2544: unconditional, no deviation is known."
    (mixed,) = compliance.statements(with_results(suite, clean, short))
    assert mixed.conformity == "conditional"
    assert mixed.deviations == ("recommended: short (ipv4 / 128b / uni)",)
    none = replace(clean, standard="")
    assert none.conformity is None
    assert compliance.statements(with_results(suite, none)) == ()
    # A record of before results named their standard.
    (old,) = compliance.statements(with_results(suite, replace(none, compliance=said_each(("short",)))))
    assert (old.sentence, old.deviations) == ("Restrictions of the result:", ("short",))


def test_shares_keep_the_digits_they_have() -> None:
    assert printed.share(Fraction(99_995, 100_000)) == "99.995 %"
    assert printed.share(Fraction(999_999_999, 1_000_000_000)) == "99.999 %"
    assert printed.share(Fraction(-1, 3)) == "-33.333 %"


def test_a_case_without_a_number_has_no_figure_of_what_its_line_carries(suite: RunView) -> None:
    """Of many cases in several figures, one that has the reference line alone is left out."""
    points = tuple(Point(Fraction(size), *[Fraction(1)] * 3) for size in (64, 128))
    lines = [Line((f"case {number}",), "Measured", False, points) for number in range(2 * MOST_LINES)]
    reference = replace(lines[0], who=("without a number",), y="Theoretical", reference=True)
    table = replace(of(suite, "Throughput"), lines=(*lines, reference))
    assert drawn(table, "key")
    assert not [one for one in drawn(table, "key") if one.title == "without a number"]
    assert drawn(replace(table, lines=(reference,)), "key") == []
