"""What `recovery` is to find, and how tests ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bench import NS, Bench, Plan
from proof import HALVINGS, SEARCH, Proof, strange
from reckoning import LINE_FPS, MS, mean

SETTINGS = "repeats: 1, overload: 10ms, watch: 10ms"
"""Of a strange device."""


def recovery(
    bench: Bench, places: Sequence[int] | None = None, known: Fraction = LINE_FPS * 68 / 100
) -> None:
    """RFC 2544 section 26.5: from the fall of the load to when the last frame that did not come was due."""
    places = range(len(bench.trials)) if places is None else places
    high = min(known * 11 / 10, bench.line_fps)
    if not places:
        assert known in (0, bench.line_fps)
    for number, name in enumerate(bench.known.streams):
        value = bench.value("recovery time", name)
        times = []
        for place in places:
            assert [one.from_rate.amount for one in bench.trials[place].segments] == [high, high / 2]
            came = bench.expected[place][number]
            times.append(max(came.due[came.gone[-1]] // NS - 10 * MS, 0) if came.gone else 0)
        if not places or not all(any(one.missing for one in bench.expected[place]) for place in places):
            assert (value.number, value.low, value.high) == (None, None, None)
        elif max(times) >= 9 * MS:
            # In the last sample: when it would have ended was not seen.
            assert (value.number, value.low, value.high) == (None, mean(times), None)
        else:
            assert (value.number, value.low, value.high) == (mean(times), min(times), max(times))


PROOF = Proof(
    strange=strange(f"{SEARCH}, {SETTINGS}", HALVINGS + 1),
    plan=Plan("recovery", "throughput: 68%, repeats: 2, overload: 10ms, watch: 10ms"),
    row="rrrrrrrrrrrrrrrrrrrrrrrr",
    finding=recovery,
)
