"""What `address-learning-rate` is to find, and how tests ask for it."""

from __future__ import annotations

from fractions import Fraction

from bench import Bench, Plan
from proof import BRIDGE, MIXED_UP, TRY, Proof, strange

from proofs.address_caching import known_stations, stations

LEARNED = 25_000
"""Addresses a second that the bridge learns: one in 40 us."""


def address_learning_rate(bench: Bench) -> None:
    """RFC 2889 section 5.8."""

    def rate(place: int) -> Fraction:
        return next(one.from_rate.amount for one in bench.trials[place].segments if one.name == "learn")

    known_stations(bench, "address learning rate", rate)


PROOF = Proof(
    strange=strange(
        "addresses: 50, maximum: 100kpps, width: 10kpps, test: 10kpps, pause: 10ms, forget: true",
        5,
        links=3,
        matrix="",
    ),
    plan=Plan(
        "address-learning-rate",
        f"addresses: 50, maximum: 100kpps, width: 10kpps, {TRY}",
        change={"forwarding": {"learn_fps": [LEARNED, 1]}},
        ways=stations,
        **BRIDGE,
    ),
    row="rrrrrrrrrrrrrrrrr~rrrrrr",
    finding=address_learning_rate,
    within=MIXED_UP,
    has_classes=False,
    loses_nothing=True,
)
