"""Texts that a device may send and no person would: long, coloured, damaged in one place."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from netdyno.devices.outputs import INDEX, Output, OutputError, Rows, parse
from netdyno.devices.outputs.text import LONGEST_LINE, LONGEST_TEXT, MOST_LINES
from printed import BY_NAME, PRINTED, XR, Printed
from sampling import examples

BOUNDED = {"iosxe_top", "fsos_route_ipv6"}
"""Their printed total bounds the number of rows, and does not equal it."""


def damaged_in_one_row(before: Sequence[Mapping[str, str]], after: Sequence[Mapping[str, str]]) -> bool:
    """Whether rows are the same but for one, which differs or is gone."""
    alike = next((n for n, (one, other) in enumerate(zip(before, after)) if one != other), len(after))  # noqa: B905
    rest = len(after) - alike
    if len(after) == len(before):
        return list(before[alike + 1 :]) == list(after[alike + 1 :])
    return len(after) == len(before) - 1 and list(before[len(before) - rest :]) == list(after[alike:])


def own(printed: Printed, parsed: Rows) -> list[dict[str, str]]:
    """The rows without what one line gives to all of them."""
    names = [name for name in parsed.fields if name not in printed.shared]
    return [{name: row[name] for name in names} for row in parsed.rows]


def adds_nothing(whole: Rows, parsed: Rows) -> bool:
    """Whether the rows that are missing have only zeros: no total can show that they are gone."""
    missing = [row for row in whole.rows if row not in parsed.rows]
    return all({one for one in row.values() if one.isdecimal()} <= {"0"} for row in missing)


def parse_or_code(printed: Printed, text: str) -> Rows | str:
    """The rows of a text, or the code of its error."""
    try:
        return printed.parse(text)
    except OutputError as error:
        return error.code


def check_damage(printed: Printed, text: str, damaged: str) -> None:
    """A damaged text is refused, or has rows that differ in one, and as many as its total says."""
    whole = printed.parse(text)
    parsed = parse_or_code(printed, damaged)
    if isinstance(parsed, str):
        assert parsed in ("not-understood", "total-differs", "command-refused")
        return
    assert damaged_in_one_row(own(printed, whole), own(printed, parsed)), damaged
    if parsed.total is not None and printed.name not in BOUNDED:
        assert len(parsed.rows) == printed.rows or adds_nothing(whole, parsed)


@pytest.mark.parametrize("printed", PRINTED, ids=lambda one: one.name)
def test_output_without_any_one_line_is_refused_or_lacks_one_row(printed: Printed) -> None:
    for text in printed.texts():
        lines = text.split("\n")
        for place in range(len(lines)):
            check_damage(printed, text, "\n".join(lines[:place] + lines[place + 1 :]))


@given(st.data())
@settings(max_examples=examples(600), deadline=None)
def test_output_with_one_garbled_line_is_refused_or_differs_in_one_row(data: st.DataObject) -> None:
    printed = data.draw(st.sampled_from(PRINTED))
    text = data.draw(st.sampled_from(printed.texts()))
    lines = text.split("\n")
    place = data.draw(st.integers(0, len(lines) - 1))
    line = lines[place]
    at = data.draw(st.integers(0, len(line)))
    gone = data.draw(st.integers(0, 4))
    put = data.draw(st.text(st.sampled_from("0123456789aB./:,-%() \t\r\x1b\x00é"), max_size=4))
    lines[place] = line[:at] + put + line[at + gone :]
    check_damage(printed, text, "\n".join(lines))


@given(st.sampled_from(INDEX), st.text(max_size=400))
@settings(max_examples=examples(300), deadline=None)
def test_any_text_is_refused_by_a_code(output: Output, text: str) -> None:
    command = output.command.replace("{interface}", "Te0/1").replace("{number}", "3")
    with pytest.raises(OutputError) as caught:
        parse(output.system, command, text)
    assert caught.value.code in ("not-understood", "command-refused")


def test_colours_and_carriage_returns_are_dropped() -> None:
    printed = BY_NAME["iosxr_lldp"]
    plain = printed.texts()[0]
    coloured = plain.replace("fsw0", "\x1b[32mfsw0\x1b[0m").replace("\n", "\x1b[K\r\r\n")
    assert printed.parse(coloured) == printed.parse(plain)


def test_text_above_the_limit_is_too_long() -> None:
    for text in ("x" * (LONGEST_TEXT + 1), "é" * (LONGEST_TEXT // 2 + 1), "x\n" * (MOST_LINES + 1)):
        with pytest.raises(OutputError) as caught:
            parse(XR, "show lldp neighbors", text)
        assert caught.value.code == "too-long"


@pytest.mark.parametrize(
    "unit", [" ", "1", "1 ", "1.1.1.1 ", "a, ", "- ", "\x1b[", "\x1b[1;", "\t", "-- ", "Te0/1, "]
)
def test_line_of_a_megabyte_is_refused_within_a_second(unit: str) -> None:
    begun = time.process_time()
    with pytest.raises(OutputError) as caught:
        parse(XR, "show lldp neighbors", unit * (2**20 // len(unit)) + "x")
    assert caught.value.code == "not-understood"
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("printed", PRINTED, ids=lambda one: one.name)
def test_longest_lines_cost_a_template_less_than_a_second(printed: Printed) -> None:
    lines = [line for line in printed.texts()[1].split("\n") if line]
    units = (" ", "1", "1 ", "a ", "1.1 ", "x, ", "a" * 7 + " ", ": ")
    for place in range(0, len(lines), max(1, len(lines) // 6)):
        begun = time.process_time()
        for unit in units:
            # It begins as a line that is known there, and goes on for as long as a line may.
            half = lines[place][: len(lines[place]) // 2]
            long = (half + unit * LONGEST_LINE)[: LONGEST_LINE - 1].rstrip() + "~"
            parsed = parse_or_code(printed, "\n".join([*lines[:place], long, *lines[place + 1 :]]))
            assert isinstance(parsed, Rows) or parsed in ("not-understood", "total-differs")
        assert time.process_time() - begun < 5, (place, lines[place])
