"""One rule for what is cut and what is rounded, and a loss of none as the bound it is (docs/units.md)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from methodlab import measured, text
from netdyno.methods import rounded
from netdyno.reports import grid, joined
from netdyno.trial import Cell, Column, Value

LINE = Fraction(10**8, 672)
"""148,809.52 frames of 64 bytes a second on 100 Mbit/s: RFC 2544's tables have 148,809."""


def test_frames_a_second_are_cut_in_sentences_as_in_tables() -> None:
    assert rounded(LINE) == "148809"
    assert joined.text(LINE, "fps") == "148,809"
    assert joined.text(Fraction(99998, 100), "fps") == "999.9"


@pytest.mark.parametrize("name", ["loss", "FLR"])
def test_a_loss_of_none_in_a_table_is_a_bound(name: str) -> None:
    """The rule of three: none of 300,000 is no more than 1e-5 at 95 %."""
    columns = (Column("sent", "frames"), Column(name, "share"))
    rows: tuple[tuple[Cell, ...], ...] = (
        (Fraction(300_000), Fraction(0)),
        (Fraction(300_000), Fraction(1, 1000)),
        (Fraction(0), None),
    )
    table = joined.Joined("t", (), columns, rows, (0, 0, 0))
    assert [row[1] for row in table.texts] == ["0 (≤ 1.0e-5)", "0.1 %", "n/a"]


def test_a_headline_of_no_loss_is_a_bound_of_the_frames_it_is_of() -> None:
    result, _, (outcome, *_) = measured(text("frame-loss: {duration: 100ms}"))
    sent = sum(one.offered for one in outcome.streams)
    found = next(value for value in result.values if value.name == "frame loss rate")
    assert found.number == 0
    assert found.high == Fraction(3, sent)
    assert grid.number(found) == f"0 (≤ {3 / sent:.1e})".replace("e-0", "e-")


def test_a_search_in_which_no_load_passed_is_below_the_lowest() -> None:
    value = Value("throughput", "sum", Fraction(0), "fps", Fraction(0), Fraction(74_400), searched=True)
    assert grid.number(value) == "< 74.4 kpps"
    # One that found nothing to be lost at any load, or was not searched, is what it is.
    assert (
        grid.number(Value("knee", "sum", Fraction(0), "fps", Fraction(0), Fraction(74_400))) != "< 74.4 kpps"
    )
