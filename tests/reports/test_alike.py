"""Streams that are alike: one row in reports for those of one direction and class, each on demand."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from many_streams import LOADS, VLANS, many_streams
from netdyno.reports.model import alike
from netdyno.reports.model.families import soak
from netdyno.reports.model.joined import join_tables
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values.finding import Table, columns
from netdyno.values.situation import Place
from pages import report_text


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunView:
    return many_streams(tmp_path_factory.mktemp("vlans"))


def packed(page: str) -> dict[str, str]:
    (text,) = re.findall(r'<script type="application/json" id="packed">(.*?)</script>', page)
    found: dict[str, str] = json.loads(gzip.decompress(base64.b64decode(json.loads(text))))
    return found


def test_few_streams_each_stand_by_themselves(run: RunView) -> None:
    (case,) = run.cases
    few = replace(case, streams=case.streams[: alike.MOST_STREAMS], places=case.places[: alike.MOST_STREAMS])
    assert alike.kinds(few) == {}
    assert set(alike.kinds(case).values()) == {"west-east", "east-west"}


def test_streams_of_a_class_are_a_kind_of_their_own(run: RunView) -> None:
    (case,) = run.cases
    names = tuple(f"{name}/voice" for name in case.streams)
    voice = replace(case, streams=names, places=tuple(replace(one, traffic="voice") for one in case.places))
    assert set(alike.kinds(voice).values()) == {"west-east, voice", "east-west, voice"}


def mesh(case: CaseView) -> CaseView:
    ways = [(tx, rx) for tx in range(64) for rx in range(64) if tx != rx]
    return replace(
        case,
        streams=tuple(f"p{tx}-p{rx}" for tx, rx in ways),
        places=tuple(Place(tx, rx, Fraction(1, 63)) for tx, rx in ways),
    )


def test_streams_of_a_mesh_are_of_one_kind(run: RunView) -> None:
    assert len(set(alike.kinds(mesh(run.cases[0])).values())) == 1


def test_rows_of_a_table_are_summed_and_a_remark_keeps_its_row(run: RunView) -> None:
    (table,) = join_tables(run)
    assert table.whole is not None
    assert len(table.whole.rows) == 2 * VLANS * len(LOADS)
    assert len(table.rows) == 2 * 2 * len(LOADS), "both ways, with the remark and without, at each load"
    full = [row for row in table.rows if row[1] == 1 and not row[-1]]
    assert [row[2:6] for row in full] == [(Fraction(1000), Fraction(204_000), Fraction(1), "0 to 0.1 %")] * 2
    assert {row[0] for row in table.rows if row[-1]} == {"west-east", "east-west"}, "one stream of each"


def test_a_figure_has_a_line_for_each_kind(run: RunView) -> None:
    (table,) = join_tables(run)
    assert sorted(line.label for line in table.lines) == ["east-west", "west-east"]
    ends = {(point.least, point.most) for line in table.lines for point in line.points if point.x == 1}
    assert ends == {(Fraction(0), Fraction(1, 1000))}


def test_tables_as_csv_have_each_stream(run: RunView) -> None:
    text = report_text("tables", run)
    assert sum(line.startswith("west-east/") for line in text.splitlines()) == VLANS * len(LOADS)


def test_a_page_has_each_stream_packed(run: RunView) -> None:
    page = report_text("html", run)
    case, table = packed(page)["case-0-each"], packed(page)["table-1-each"]
    # Its value, its counts, its latency; its row at each load.
    assert (case.count("west-east/207<"), table.count("west-east/207<")) == (3, len(LOADS))
    assert "west-east/207<" not in page
    assert page.count("west-east, 205 streams<") == 3


def test_counts_of_a_page_are_sums(run: RunView) -> None:
    page = report_text("html", run)
    row = re.search(r"<td>west-east, 205 streams</td>(<td>[\d,]+</td>){3}<td>([\d,]+)</td>", page)
    assert row is not None
    assert row[2] == f"{sum(range(VLANS)):,}"


def test_json_small_has_the_least_and_the_most_of_each_kind(run: RunView) -> None:
    (case,) = json.loads(report_text("json-small", run))["cases"]
    first, second, total = case["values"]
    assert (first["scope"], first["streams"], second["scope"]) == ("west-east", VLANS, "east-west")
    ends = [(end["scope"], end["number_pps"]) for end in (first["least"], first["most"])]
    assert ends == [("west-east/100", 1000), ("west-east/304", 1204)]
    assert (total["scope"], total["number_pps"]) == ("sum", 400_000)
    (whole,) = json.loads(report_text("json", run))["cases"]
    assert len(whole["values"]) == 2 * VLANS + 1


def test_first_screen_of_a_soak_has_a_row_for_each_kind(run: RunView) -> None:
    (case,) = run.cases
    assert case.result is not None
    found = [
        (
            name,
            Fraction(1000),
            Fraction(name.endswith("/100")),
            Fraction(name.endswith("/100")),
            Fraction(place),
        )
        for place, name in enumerate(case.streams)
    ]
    table = Table("Soak", columns("stream | sent: frames | lost: frames | events | max: ns"), tuple(found))
    soaked = replace(case, result=replace(case.result, tables=(table,)))
    shown = soak.show(replace(run, cases=(soaked,))).grid
    first, second = shown.rows
    assert first == ("west-east, 205 streams", "205,000", "1", "< 0.001 %", "0 to 1", "204 ns")
    assert second[0] == "east-west, 205 streams"


@pytest.mark.parametrize(
    ("name", "most"), [("html", 1_250_000), ("json-small", 5_000), ("markdown", 6_000), ("terminal", 6_000)]
)
def test_reports_of_410_streams_are_small(run: RunView, name: str, most: int) -> None:
    assert len(report_text(name, run).encode()) < most
