"""What `acceptance` is to find, and how tests ask for it."""

from __future__ import annotations

from fractions import Fraction

from bench import Bench, Plan
from proof import Proof, strange
from reckoning import clean, fps, pick


def acceptance(bench: Bench) -> None:
    """Loads of 10, 50 and 70 % of the line: loss-free up to half of it, or not. Nobody announces routes."""
    every = range(len(bench.trials))
    good = {fps(bench, place): clean(pick(bench, place, "sum")) for place in every}
    assert list(good) == [bench.line_fps * Fraction(n, 10) for n in (1, 5, 7)]
    (row,) = bench.table("Acceptance")
    passed = all(is_clean for load, is_clean in good.items() if load <= bench.line_fps / 2)
    assert (row["criterion"], row["result"]) == ("loss-free load", "pass" if passed else "fail")
    assert bench.value("criteria failed").number == (not passed)


PROOF = Proof(
    strange=strange("loads: [10%, 50%, 100%], hold: 10ms, loss_free: 50%", 3),
    plan=Plan("acceptance", "loads: [10%, 50%, 70%], hold: 10ms, loss_free: 50%"),
    row="ffffffffrffrfrrfrffffrfr",
    finding=acceptance,
    rates=("loss-free load",),
    of_nothing={"criteria failed": 1},
)
