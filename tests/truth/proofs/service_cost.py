"""What `service-cost` is to find of a device without a service, and how tests ask for it: a rate, twice."""

from __future__ import annotations

from fractions import Fraction

from bench import Bench, Plan
from proof import Proof, strange
from reckoning import bounds, scopes

PAIRS = 2
ASKED = f"pairs: {PAIRS}, duration: 10ms, width: 5%"


def rate(bench: Bench) -> None:
    """The mean of searches on a grid of loads a twentieth apart, and of what did not pass."""
    found = []
    for pair in range(1, PAIRS + 1):
        own = [place for place, one in enumerate(bench.trials) if one.name.startswith(f"pair {pair},")]
        found.append(bounds(bench, own))
    low = sum((low for low, _ in found), Fraction(0)) / PAIRS
    highs = [high for _, high in found if high is not None]
    high = sum(highs, Fraction(0)) / PAIRS if len(highs) == PAIRS else None
    for scope, (_, share) in scopes(bench).items():
        value = bench.value("rate with the service", scope)
        assert (value.number, value.low) == (low * share, low * share), scope
        assert value.high == (None if high is None else high * share), scope


PROOF = Proof(
    strange=strange(ASKED, 60),
    plan=Plan("service-cost", ASKED),
    row="ffffffffrffrfrrfrffffrfr",
    finding=rate,
    rates=("rate with the service",),
)
