"""What `max-forwarding-rate` is to find, and how tests ask for it."""

from __future__ import annotations

from fractions import Fraction

from bench import NS, Bench, Plan
from proof import HALVINGS, SEARCH, Proof, strange
from reckoning import MS, fps


def max_forwarding_rate(bench: Bench) -> None:
    """RFC 2889 section 5.6: frames a second that come in whole samples while traffic lasts, from when the
    first can have come; the load itself where all come, and as often."""
    every = range(len(bench.trials))
    assert [fps(bench, place) / bench.line_fps for place in every] == [Fraction(n, 5) for n in range(1, 6)]
    rates: dict[str, list[Fraction]] = {name: [] for name in bench.known.streams}
    for place in every:
        for came, where in zip(bench.expected[place], bench.known.places, strict=True):
            first = -(-min(came.took_ns, default=0) // MS)
            inside = (bench.begins[place] + first * MS * NS, bench.begins[place] + 10 * MS * NS)
            count = sum(inside[0] <= one.at < inside[1] for one in came.intact)
            load = fps(bench, place) * where.share
            steady = not came.missing and abs(count - load * (10 - first) / 1000) <= 2
            sent = Fraction(came.sent * 10**9, 10 * MS)
            rates[came.name].append(min(load, sent) if steady else Fraction(count * 1000, 10 - first))
    rates["sum"] = [sum(one, Fraction(0)) for one in zip(*rates.values(), strict=True)]
    best = rates["sum"].index(max(rates["sum"]))
    for scope, found in rates.items():
        assert bench.value("maximum forwarding rate", scope).number == found[best]
        assert bench.value("forwarding rate at maximum load", scope).number == found[-1]


PROOF = Proof(
    strange=strange(f"{SEARCH}, duration: 10ms, step: 20%", HALVINGS + 5),
    plan=Plan("max-forwarding-rate", "throughput: 20%, duration: 10ms, step: 20%"),
    row="ffffffffrffrfrrfrffffrfr",
    finding=max_forwarding_rate,
    rates=("maximum forwarding rate",),
)
