"""What `bisection` is to find, and how tests ask for it."""

from __future__ import annotations

from bench import Bench, Plan
from proof import HALVINGS, Proof, strange
from reckoning import bounds, searched


def bisection(bench: Bench) -> None:
    """ETSI GS NFV-TST 009 section 12.3.3, of which no trial is retried here."""
    low, high = bounds(bench, range(len(bench.trials)))
    assert low == bench.line_fps if high is None else high - low == bench.line_fps / 20
    searched(bench, "NDR", range(len(bench.trials)))


PROOF = Proof(
    strange=strange("duration: 10ms, width: 5%, repeats: 1", 2 * HALVINGS),
    plan=Plan("bisection", "duration: 10ms, width: 5%, repeats: 0"),
    row="ffffffffrffrfrrfrffffrfr",
    finding=bisection,
)
