"""What `broadcast` is to find, and how tests ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from bench import Bench, Plan, Ways
from netdyno.values.situation import Situation
from proof import BRIDGE, HALVINGS, MIXED_UP, Proof, strange
from reckoning import fps


def to_all_others(known: Situation, change: Mapping[str, Any]) -> Ways:
    """Broadcasts."""
    del change
    ports = range(1 + max(place.rx for place in known.places))
    return lambda packet, port: [other for other in ports if other != port]


def broadcast(bench: Bench) -> None:
    """RFC 2889 section 5.10: a load passes if each port received every frame; single ones are timed."""
    *tries, alone = bench.expected
    good, bad = [Fraction(0)], []
    for place, expected in enumerate(tries):
        sent = sum(one.sent for one in expected)
        # Each port also gets the frames that others time.
        whole = all(
            not one.missing + one.copies and one.elsewhere + one.broken_elsewhere == one.sent
            for one in expected
        )
        assert sent
        (good if whole else bad).append(fps(bench, place))
    value = bench.value("broadcast throughput")
    assert (value.number, value.high) == (max(good), min(bad, default=None))
    for one in alone:
        expected_ns = one.took_ns[0] if one.intact else None
        assert bench.value("broadcast latency", one.name).number == expected_ns


PROOF = Proof(
    strange=strange("duration: 10ms, width: 5%", HALVINGS + 1, links=3, matrix=""),
    # Frames of the loads that are tried are whole nanoseconds apart, in which a trial's end is given.
    plan=Plan("broadcast", "duration: 10ms, width: 10%", ways=to_all_others, **BRIDGE),
    row="rrrrrrrrrrrrrrrrr~rrrrrr",
    finding=broadcast,
    within=MIXED_UP,
    has_classes=False,
    rates=("broadcast throughput",),
)
