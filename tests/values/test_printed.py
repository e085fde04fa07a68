"""One rule for what is cut and what is rounded, and a loss of none as the bound it is (docs/units.md)."""

from __future__ import annotations

import html
import re
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from kinds import kind
from methodlab import measure_plan, run_here, text
from netdyno.campaign.reasons import REASONS
from netdyno.plan import parse
from netdyno.reports.model import grid, table
from netdyno.reports.model.from_store import view
from netdyno.reports.model.loss import none_lost
from netdyno.store import open_run
from netdyno.values import number as printed
from netdyno.values.finding import Cell, Column, Value
from netdyno.values.number import decimal
from netdyno.verdict.words import at_rate
from pages import report_text

LINE = Fraction(10**8, 672)
"""148,809.52 frames of 64 bytes a second on 100 Mbit/s: RFC 2544's tables have 148,809."""


def test_frames_a_second_are_cut_in_sentences_as_in_tables() -> None:
    assert printed.whole(LINE) == "148809"
    assert table.text(LINE, "fps") == "148,809"
    assert table.text(Fraction(99998, 100), "fps") == "999.9"


@pytest.mark.parametrize("name", ["loss", "FLR"])
def test_a_loss_of_none_in_a_table_is_a_bound(name: str) -> None:
    """The rule of three: none of 300,000 is no more than 1e-5 at 95 %."""
    columns = (Column("sent", "frames"), Column(name, "share"))
    rows: tuple[tuple[Cell, ...], ...] = (
        (Fraction(300_000), Fraction(0)),
        (Fraction(300_000), Fraction(1, 1000)),
        (Fraction(0), None),
    )
    found = table.Table("t", (), columns, rows, (0, 0, 0))
    assert [row[1] for row in found.texts] == ["0 (≤ 1.0e-5)", "0.1 %", "n/a"]


def test_a_headline_of_no_loss_is_a_bound_of_the_frames_it_is_of() -> None:
    result, _, (outcome, *_) = measure_plan(text("frame-loss: {duration: 100ms}"))
    sent = sum(one.offered for one in outcome.streams)
    found = next(value for value in result.values if value.name == "frame loss rate")
    assert found.number == 0
    assert found.high == Fraction(3, sent)
    bound = Decimal(3) / Decimal(sent)
    printed = bound.quantize(Decimal(1).scaleb(bound.adjusted() - 1), ROUND_CEILING)
    assert grid.number(found) == f"0 (≤ {printed:.1e})"


def test_a_search_in_which_no_load_passed_is_below_the_lowest() -> None:
    value = Value(kind("throughput"), "sum", Fraction(0), Fraction(0), Fraction(74_400), searched=True)
    assert grid.number(value) == "< 74.4 kpps"
    # One that found nothing to be lost at any load, or was not searched, is what it is.
    assert (
        grid.number(Value(kind("knee"), "sum", Fraction(0), Fraction(0), Fraction(74_400))) != "< 74.4 kpps"
    )


TEN_GIGABIT = Fraction(10**10, 672)
"""14,880,952.38 frames of 64 bytes a second: above 14.88 M, so no number that is below it is below that."""


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("99960", "100 kpps"),
        ("100000", "100 kpps"),
        ("99940", "99.9 kpps"),
        ("9996", "10.0 kpps"),
        ("10000", "10.0 kpps"),
        ("999700", "1.00 Mpps"),
        ("1000000", "1.00 Mpps"),
        ("999999999", "1.00 Gpps"),
        ("99.98", "100 pps"),
        ("100", "100 pps"),
        ("100.25", "100.2 pps"),
    ],
)
def test_what_rounds_to_one_number_is_printed_as_one(number: str, shown: str) -> None:
    """Not `100.0 kpps` beside `100 kpps`, nor `1000 kpps` beside `1.00 Mpps`."""
    assert printed.rate(Fraction(number), "pps") == shown


def test_an_upper_bound_is_rounded_up_and_a_lower_one_down() -> None:
    value = Value(kind("throughput"), "sum", Fraction(0), Fraction(0), TEN_GIGABIT, searched=True)
    assert grid.number(value) == "< 14.89 Mpps"
    assert str(at_rate(value)) == "below 14.89 Mpps, no load passed"
    assert printed.rate(TEN_GIGABIT, "pps", "at least") == "14.88 Mpps"
    assert printed.rate(TEN_GIGABIT * 672, "bps", "at most") == "10.00 Gbps"
    # Half to even, as any other number.
    assert printed.rate(TEN_GIGABIT, "pps") == "14.88 Mpps"


def test_a_bound_of_a_share_or_a_time_bounds_it() -> None:
    share = Fraction(99961, 100_000)
    assert printed.percent(share, claim="at most") == "100.0 %"
    assert printed.percent(share, claim="at least") == "99.9 %"
    assert decimal(share, 3, "at most") == "1"
    assert decimal(share, 3, "at least") == "0.999"
    assert printed.duration(1_234_500, "at most") == "1.24 ms"
    assert printed.duration(1_238_500, "at least") == "1.23 ms"
    assert printed.milliseconds(Fraction(1_000_001, 3), "at most") == "0.334 ms"


@pytest.mark.parametrize(
    ("ns", "about", "at_least"),
    [
        # A minute has 60 seconds, and a thousand of a unit are one of the next.
        (179_960_000_000, "3 min", "2 min 59.9 s"),
        (180_000_000_000, "3 min", "3 min"),
        (150_500_000_000, "2 min 30.5 s", "2 min 30.5 s"),
        (119_999_000_000, "2 min", "119.99 s"),
        (999_999_999, "1 s", "999.99 ms"),
        (999_999, "1 ms", "999.99 us"),
        (Fraction(99_999, 100), "1 us", "999.9 ns"),
        (-179_960_000_000, "-3 min", "-3 min"),
    ],
)
def test_a_time_that_is_rounded_to_the_next_unit_is_printed_in_it(
    ns: Fraction, about: str, at_least: str
) -> None:
    assert printed.duration(ns) == about
    assert printed.duration(ns, "at least") == at_least


def test_the_bound_of_a_loss_of_none_is_rounded_up() -> None:
    # 3/7 of a millionth is 4.2857e-7, and 3/3001 is 9.99667e-4: 1.0e-3 when rounded up.
    assert none_lost(7_000_000) == "0 (≤ 4.3e-7)"
    assert none_lost(3001) == "0 (≤ 1.0e-3)"
    assert none_lost(2_900_000) == "0 (≤ 1.1e-6)"  # 1.0345e-6
    assert none_lost(300_000) == "0 (≤ 1.0e-5)"


def test_what_stands_beside_a_bound_is_one_too(tmp_path: Path) -> None:
    """Every tenth frame is lost, so no load passes; the least tried is a 334th of the line, 2.994 Mbit/s in
    frames of 672 bits."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    lossy = "emulated/bridge, settings: {loses: 1/10}"
    outcome = run_here(parse(text("throughput: {duration: 1s, width: 0.3%}", kind=lossy)), tmp_path)
    with open_run(outcome.folder, REASONS) as stored:
        shown = view(stored)
    (value,) = (one for one in shown.cases[0].result.values if one.scope == "west-east")  # type: ignore[union-attr]
    assert value.only_below == Fraction(10**9, 672 * 334)
    *_, row = re.findall(r"<tr><th[^>]*>throughput</th>.*?</tr>", report_text("html", shown))
    cells = [html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<td.*?</td>", row)]
    assert cells[1:4] == ["< 4.46 kpps", "< 3.00 Mbit/s", "< 0.3 %"]
