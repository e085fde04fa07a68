"""Tables of methods on a terminal: whatever its width, every number whole and beside what it belongs to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from netdyno.reports.formats.terminal_tables import lines

HEADINGS = ("frame size (B)", "stream", "received (frames)", "mean", "remark")
NUMERIC = (True, False, True, True, False)
ROWS = [
    ("256", "a-b", "244,559", "110.14 us", "the load was missed by 0.03 %"),
    ("256", "b-a", "9", "2 ms", ""),
    ("1,514", "a-b", "88,006", "4.1 us", ""),
]


def table(width: int, rows: list[tuple[str, ...]] = ROWS) -> str:
    return "\n".join(lines(HEADINGS, rows, NUMERIC, width))


def test_table_with_room_has_one_line_a_row_and_numbers_to_the_right() -> None:
    assert table(100).splitlines() == [
        "frame size (B)  stream  received (frames)       mean  remark",
        "           256  a-b               244,559  110.14 us  the load was missed by 0.03 %",
        "           256  b-a                     9       2 ms",
        "         1,514  a-b                88,006     4.1 us",
    ]


def test_headings_and_texts_are_wrapped_before_anything_else() -> None:
    assert table(56).splitlines() == [
        " frame size  stream     received       mean  remark",
        "        (B)             (frames)",
        "        256  a-b         244,559  110.14 us  the load",
        "                                             was missed",
        "                                             by 0.03 %",
        "        256  b-a               9       2 ms",
        "      1,514  a-b          88,006     4.1 us",
    ]


def test_what_does_not_fit_stands_below_with_what_names_the_row() -> None:
    parts = table(30).split("\n\n")
    assert len(parts) == 3
    assert all(part.split()[0] == "frame" and "1,514  a-b" in part for part in parts)


def test_a_column_without_a_word_is_left_out() -> None:
    assert "remark" not in table(100, ROWS[1:])


@given(st.integers(10, 120))
def test_no_number_is_broken_and_no_line_is_too_long(width: int) -> None:
    text = table(width)
    assert all(len(line) <= width or " " not in line.strip() for line in text.splitlines())
    if width >= 24:
        assert all(cell in text for row in ROWS for cell in (row[2], row[3]))
