"""What `soak` is to find, and how tests ask for it."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from bench import NS, Bench, Plan
from proof import Proof, strange
from reckoning import MS, pick, scopes


def soak(bench: Bench) -> None:
    """Frames that did not come over those sent; those due within a millisecond, of whichever stream, are one
    event, by the time of the load, and each is reported with its first frame and its last in each part."""
    expected: list[tuple[object, ...]] = []
    count, until = 0, -2 * MS
    for part, streams in enumerate(bench.expected):
        gone = sorted((came.due[number] // NS, came.name, number) for came in streams for number in came.gone)
        begins = [place for place, one in enumerate(gone) if not place or one[0] - gone[place - 1][0] > MS]
        for begin, end in pairwise([*begins, len(gone)]):
            count += part * 10 * MS + gone[begin][0] - until > MS
            until = part * 10 * MS + gone[end - 1][0]
            for name in bench.known.streams:
                mine = [one for one in gone[begin:end] if one[1] == name]
                if mine:
                    at = [part * 10 * MS + one[0] for one in (mine[0], mine[-1])]
                    expected.append((count, name, len(mine), *at, part + 1, mine[0][2], mine[-1][2]))
    columns = ("event", "stream", "lost", "first lost", "last lost", "part", "first frame", "last frame")
    assert [tuple(row[name] for name in columns) for row in bench.table("Loss events")] == expected
    for scope in scopes(bench):
        every = [one for place in range(4) for one in pick(bench, place, scope)]
        share = Fraction(sum(one.missing for one in every), sum(one.sent for one in every))
        assert bench.value("loss ratio", scope).number == share
        events = {row[0] for row in expected if scope in ("sum", row[1])}
        assert bench.value("loss events", scope).number == len(events)


PROOF = Proof(
    strange=strange("load: 50%, duration: 40ms, part: 10ms", 4),
    plan=Plan("soak", "load: 75%, duration: 40ms, part: 10ms, apart: 1ms"),
    row="ffffffffrffrfrrfrffffrfr",
    finding=soak,
    of_nothing={"loss ratio": 1},
)
