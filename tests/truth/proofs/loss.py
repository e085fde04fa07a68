"""What `frame-loss` is to find, and how tests ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from bench import Bench, Plan
from proof import Proof, strange
from reckoning import clean, fps, pick, scopes

SETTINGS = "duration: 10ms"
"""Of a strange device."""


def frame_loss(bench: Bench, places: Sequence[int] | None = None) -> None:
    """RFC 2544 section 26.3: from the line down by tenths, until nothing is lost twice in a row."""
    places = list(range(len(bench.trials)) if places is None else places)
    assert [fps(bench, place) for place in places] == [
        bench.line_fps * (10 - n) / 10 for n in range(len(places))
    ]
    free = [clean(bench.expected[place]) for place in places]
    ended = next((n + 2 for n, two in enumerate(pairwise(free)) if two == (True, True)), 10)
    assert len(places) == ended
    rows = bench.table("Frame loss rate")
    for place in places:
        for scope in scopes(bench):
            came = pick(bench, place, scope)
            share = Fraction(sum(one.missing for one in came), sum(one.sent for one in came))
            found = [
                row["loss"]
                for row in rows
                if row["load"] == fps(bench, place) / bench.line_fps and row["stream"] == scope
            ]
            assert found == [share] or (scope == "sum" and not found and len(bench.known.streams) == 1)
            if place == places[0] and found:
                assert bench.value("frame loss rate", scope).number == share


PROOF = Proof(
    strange=strange(SETTINGS, 10),
    plan=Plan("frame-loss", "duration: 10ms"),
    row="ffffffffrffrfrrfrffffrfr",
    finding=frame_loss,
    of_nothing={"frame loss rate": 1},
)
