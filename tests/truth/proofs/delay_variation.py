"""What `delay-variation` is to find, and how tests ask for it."""

from __future__ import annotations

from fractions import Fraction
from statistics import median

import pytest
from bench import NS, Bench, Plan
from proof import HALVINGS, SEARCH, Proof, strange


def delay_variation(bench: Bench) -> None:
    """RFC 8219 section 7.3: of 10,000 frames or more the 99.9th percentile of delay less the least; and the
    delay less that of the frame sent just before, where both came (RFC 5481 section 4.1)."""
    (expected,) = bench.expected
    for came in expected:
        took = {one.number: one.at - one.departure for one in came.intact}
        steps = [Fraction(took[n] - took[n - 1], NS) for n in took if n - 1 in took]
        least, middle, most = (
            bench.value(f"IPDV, {which}", came.name).number for which in ("least", "median", "most")
        )
        if len(steps) < 20:
            assert middle is None, "a percentile p takes 10 / (1 - p) differences"
            continue
        # Whole nanoseconds of either delay; and histograms have three digits.
        assert abs(least - min(steps)) < 1
        assert abs(most - max(steps)) < 1
        assert middle == pytest.approx(float(median(steps)), rel=1e-3, abs=1)
        times = sorted(came.took_ns)
        found = bench.value("PDV", came.name).number
        if len(times) < 10_000:
            assert found is None, "a percentile p takes 10 / (1 - p) frames"
        else:
            rank = -(-len(times) * 999 // 1000)
            assert found == pytest.approx(times[rank - 1] - times[0], rel=2e-3, abs=times[0] / 500)


PROOF = Proof(
    strange=strange(f"{SEARCH}, duration: 10ms, repeats: 2", HALVINGS + 2),
    plan=Plan("delay-variation", "throughput: 70%, duration: 110ms, repeats: 1"),
    row="~~~~~~~~~~~~~~~~~~~~~~~~",
    finding=delay_variation,
    within="percentiles are of histograms of three digits; counts, sums and extremes are exact",
)
