"""What `throughput` is to find, and how tests ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bench import Bench, Plan
from proof import HALVINGS, Proof, strange
from reckoning import bounds, searched


def throughput(bench: Bench, places: Sequence[int] | None = None) -> Fraction:
    """RFC 2544 section 26.1, on a grid of twenty steps."""
    places = range(len(bench.trials)) if places is None else places
    low, high = bounds(bench, places)
    assert low == bench.line_fps if high is None else high - low == bench.line_fps / 20
    return searched(bench, "throughput", places)


PROOF = Proof(
    strange=strange("duration: 10ms, width: 5%", HALVINGS),
    plan=Plan("throughput", "duration: 10ms, width: 5%"),
    row="ffffffffrffrfrrfrffffrfr",
    finding=throughput,
    rates=("throughput",),
)
