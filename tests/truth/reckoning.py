"""What findings of several methods rest on: the reference's frames of a whole course, by trial and stream."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bench import Bench, Came
from servers import LINE

MS = 10**6
"""In nanoseconds."""
LINE_FPS = Fraction(LINE, 672)


def clean(expected: Sequence[Came], allowed: Fraction = Fraction(0)) -> bool:
    """Whether no more than that share of all frames is missing, or came twice."""
    bad = sum(one.missing + one.copies for one in expected)
    return bad <= allowed * sum(one.sent for one in expected)


def fps(bench: Bench, place: int) -> Fraction:
    """The load of a port, of a trial of one load."""
    (segment,) = bench.trials[place].segments
    assert segment.is_constant
    return bench.known.fps(segment.from_rate)


def scopes(bench: Bench) -> dict[str, tuple[list[int], Fraction]]:
    """Each stream and their sum: which they are, and their share of a port's load."""
    each = {
        name: ([number], bench.known.places[number].share) for number, name in enumerate(bench.known.streams)
    }
    return {**each, "sum": (list(range(len(each))), sum((share for _, share in each.values()), Fraction(0)))}


def pick(bench: Bench, place: int, scope: str) -> list[Came]:
    return [bench.expected[place][number] for number in scopes(bench)[scope][0]]


def mean(counts: Sequence[int] | Sequence[Fraction]) -> Fraction:
    return sum((Fraction(count) for count in counts), Fraction(0)) / len(counts)


def bounds(
    bench: Bench, places: Sequence[int], allowed: Fraction = Fraction(0)
) -> tuple[Fraction, Fraction | None]:
    """The highest load that passed below the lowest that did not, and this (RFC 2544 section 26.1)."""
    bad = [fps(bench, place) for place in places if not clean(bench.expected[place], allowed)]
    high = min(bad, default=None)
    good = {fps(bench, place) for place in places} - set(bad)
    return max((load for load in good if high is None or load < high), default=Fraction(0)), high


def searched(bench: Bench, name: str, places: Sequence[int], allowed: Fraction = Fraction(0)) -> Fraction:
    """A search of loads found what passed, and what did not; what passed."""
    low, high = bounds(bench, places, allowed)
    for scope, (_, share) in scopes(bench).items():
        value = bench.value(name, scope)
        assert value.load == low * share, scope
        assert value.low is not None
        assert 0 <= value.low <= value.load, scope
        # Where a queue held more than a step of the load, the number is what lasts.
        assert value.number in (value.low, value.load), scope
        assert value.high == (None if high is None else high * share), scope
    return low


def copied(bench: Bench) -> bool:
    """Whether a burst came whole and some of it twice, which shows nothing of a buffer."""
    bursts = [
        expected
        for trial, expected in zip(bench.trials, bench.expected, strict=True)
        if trial.name.endswith(" frames")
    ]
    return any(
        any(one.copies for one in expected) and not any(one.missing for one in expected)
        for expected in bursts
    )


def longest(bench: Bench, search: int) -> tuple[list[int], int | None]:
    """What lengths of burst passed in a search, and the shortest that did not."""
    passed, failed = [0], []
    for place in bench.named(f"search {search}: "):
        if bench.trials[place].name.endswith(" frames"):
            length = int(bench.trials[place].name.split()[-2])
            (passed if clean(bench.expected[place]) else failed).append(length)
    return passed, min(failed, default=None)


def lengths(bench: Bench, repeats: int = 2) -> tuple[list[int], bool]:
    """The longest burst that passed of each search, and whether the last of them has a limit."""
    found: list[int] = []
    for search in range(1, repeats + 1):
        passed, failed = longest(bench, search)
        found.append(max(passed))
        if failed is None:
            return found, False
        assert max(passed) == failed - 1, "bursts of one frame more or less"
    return found, True
