"""What `ndr` is to find, and how tests ask for it."""

from __future__ import annotations

from fractions import Fraction

from bench import Bench, Plan
from proof import GOAL, Proof, strange
from reckoning import bounds, searched

REST = "minimum: 5%, warmup: 0s, trials: 60"


def ndr(bench: Bench) -> None:
    """RFC 9971: the relevant bounds, each load tried once."""
    every = range(len(bench.trials))
    for name, allowed in (("NDR", Fraction(0)), ("PDR", Fraction(3, 100))):
        low = searched(bench, name, every, allowed)
        _, high = bounds(bench, every, allowed)
        assert high is None or not low or high - low <= high / 20


PROOF = Proof(
    strange=strange(f"goals: {{NDR: {{loss: 0%, {GOAL}}}, PDR: {{loss: 1%, {GOAL}}}}}, {REST}", 60),
    plan=Plan("ndr", f"goals: {{NDR: {{loss: 0%, {GOAL}}}, PDR: {{loss: 3%, {GOAL}}}}}, {REST}"),
    row="ffffffffrffrfrrfrffffrfr",
    finding=ndr,
    rates=("NDR", "PDR"),
)
