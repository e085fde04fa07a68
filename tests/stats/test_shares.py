"""The bound on the chance of uneven shares, against the exact multinomial."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import factorial, log, prod

import pytest
from netdyno.stats.shares import chance_of_shares


def spreads(flows: int, ports: int) -> Iterator[tuple[int, ...]]:
    """All ways in which so many flows may be on so many ports."""
    if ports == 1:
        yield (flows,)
        return
    for first in range(flows + 1):
        for rest in spreads(flows - first, ports - 1):
            yield (first, *rest)


def exact(counts: tuple[int, ...]) -> Fraction:
    """The chance of just this: multinomial coefficient over ports ** flows."""
    flows, ports = sum(counts), len(counts)
    return Fraction(factorial(flows), prod(map(factorial, counts)) * ports**flows)


def divergence(counts: tuple[int, ...]) -> float:
    flows = sum(counts)
    return sum(one / flows * log(one * len(counts) / flows) for one in counts if one)


@pytest.mark.parametrize(("flows", "ports"), [(2, 2), (12, 2), (30, 2), (9, 3), (12, 4)])
def test_chance_is_never_below_the_exact_one(flows: int, ports: int) -> None:
    every = list(spreads(flows, ports))
    for counts in every:
        as_uneven = [other for other in every if divergence(other) >= divergence(counts) - 1e-12]
        assert chance_of_shares(counts, flows) >= float(sum(map(exact, as_uneven))) * (1 - 1e-9)


def test_chance_of_all_on_one_falls_with_the_number_of_flows() -> None:
    """2 ports: 2 ** -F for one of them, of F + 1 ways to share."""
    for flows in (10, 30, 100):
        assert chance_of_shares((flows, 0), flows) == pytest.approx(min(1.0, (flows + 1) * 2.0**-flows))
    assert chance_of_shares((1, 0), 1) == pytest.approx(1.0)
    assert chance_of_shares((0, 0), 10) == 1.0
