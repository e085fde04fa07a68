"""What `congestion` is to find, and how tests ask for it."""

from __future__ import annotations

from fractions import Fraction

from bench import Bench, Plan
from proof import BRIDGE, Proof, strange


def congestion(bench: Bench) -> None:
    """RFC 2889 section 5.5: half of the first port's frames go to the third port, all others to a fourth."""
    (expected,) = bench.expected
    for name, port in (("loss at the uncongested port", 2), ("loss at the congested port", 3)):
        to = [one for one, place in zip(expected, bench.known.places, strict=True) if place.rx == port]
        share = Fraction(sum(one.missing for one in to), sum(one.sent for one in to))
        (value,) = (one for one in bench.result.values if one.name == name)
        assert value.number == share


PROOF = Proof(
    strange=strange("duration: 10ms", 1, links=4, matrix=""),
    plan=Plan("congestion", "duration: 10ms", **{**BRIDGE, "links": 4}),
    row="rrrrrrrrrrrrrrrrrrrrrrrr",
    finding=congestion,
    of_nothing={"loss at the uncongested port": 1, "loss at the congested port": 1},
)
