"""The search on a grid of steps: which steps it asks for, and between which two it ends."""

from __future__ import annotations

import pytest
from netdyno.methods.parts.search import Answer, Bracket, find_bracket


def searched(
    limit: int, top: int, start: int | None = None, apart: int = 1, useless: int | None = None
) -> tuple[Bracket, list[int]]:
    """What a search finds where every step up to the limit passes, and the steps it asked for."""
    asked: list[int] = []

    def passes(step: int) -> Answer[None, None]:
        asked.append(step)
        yield
        return None if step == useless else step <= limit

    search = find_bracket(passes, top, start=start, apart=apart)
    try:
        while True:
            next(search)
    except StopIteration as done:
        return done.value, asked


@pytest.mark.parametrize("start", [None, 1, 5, 13, 40])
def test_search_for_any_limit_ends_between_its_neighbours(start: int | None) -> None:
    for limit in range(41):
        found, asked = searched(limit, 40, start)
        assert found == Bracket(limit, limit + 1)
        assert asked[0] == (40 if start is None else start)
        assert len(asked) == len(set(asked))
        assert all(1 <= step <= 40 for step in asked)


def test_search_without_start_halves_from_the_top() -> None:
    assert searched(21, 40)[1] == [40, 20, 30, 25, 22, 21]


@pytest.mark.parametrize(
    ("limit", "asked"), [(30, [10, 11, 13, 17, 25, 40, 32, 28, 30, 31]), (1, [10, 9, 7, 3, 1, 2])]
)
def test_search_with_start_doubles_its_strides_then_halves(limit: int, asked: list[int]) -> None:
    assert searched(limit, 40, 10)[1] == asked


def test_search_with_steps_apart_ends_early() -> None:
    found, asked = searched(21, 40, apart=8)
    assert (found, asked) == (Bracket(20, 25), [40, 20, 30, 25])


def test_search_with_a_wide_end_asks_for_the_top_once() -> None:
    assert searched(3, 4, apart=100) == (Bracket(0, 4), [4])


def test_search_ends_where_a_step_shows_nothing() -> None:
    assert searched(19, 40, useless=20) == (Bracket(0, 40, ended_at=20), [40, 20])
