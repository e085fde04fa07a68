"""What `latency` is to find, and how tests ask for it."""

from __future__ import annotations

from collections.abc import Sequence

from bench import Bench, Plan
from proof import HALVINGS, SEARCH, Proof, strange
from reckoning import mean, pick, scopes

SETTINGS = "repeats: 2, duration: 10ms, after: 0s"
"""Of a strange device."""


def latency(bench: Bench, places: Sequence[int] | None = None) -> None:
    """RFC 2544 section 26.2: the mean of the means of the streams, of frames that leave late enough."""
    places = range(len(bench.trials)) if places is None else places
    for scope in scopes(bench) if len(bench.known.streams) > 1 else bench.known.streams:
        means = []
        for place in places:
            times = [
                time
                for one in pick(bench, place, scope)
                for time in one.timed_ns(bench.trials[place].observe.timed_from_ns or 0, bench.begins[place])
            ]
            means += [mean(times)] if times else []
        assert bench.value("latency", scope).number == (mean(means) if means else None), scope


PROOF = Proof(
    strange=strange(f"{SEARCH}, {SETTINGS}", HALVINGS + 2),
    plan=Plan("latency", "throughput: 75%, repeats: 2, duration: 10ms, after: 3ms"),
    row="ffffffffrffrfrrfrffffrfr",
    finding=latency,
)
