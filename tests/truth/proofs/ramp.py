"""What `ramp` is to find, and how tests ask for it."""

from __future__ import annotations

from fractions import Fraction

from bench import NS, Bench, Plan
from proof import Proof, strange
from reckoning import MS, pick, scopes


def ramp(bench: Bench) -> None:
    """The knee is between the mean load of the last millisecond below which no two losses follow one another
    for good, and the load at the end of the next one; the hold is counted whole."""
    (begin,) = bench.begins
    for scope, (_, share) in scopes(bench).items():
        came = pick(bench, 0, scope)
        sent, gone = [0] * 40, [0] * 40
        for one in came:
            missing = set(one.gone)
            for number in range(one.sent):
                sample = (one.left[number] - begin) // (MS * NS)
                if sample < 40:
                    sent[sample] += 1
                    gone[sample] += number in missing
        bad = [lost * 1000 > frames for lost, frames in zip(gone, sent, strict=True) if frames]
        good = max((place for place, is_bad in enumerate(bad) if not is_bad), default=-1)
        value = bench.value("knee", scope)
        step = bench.line_fps * share / 40
        if good == len(bad) - 1:
            assert (value.number, value.high) == (None, None)
        elif good < 0:
            assert value.number == 0
        else:
            good += 40 - len(bad)
            shown, best = step * (good + Fraction(1, 2)), bench.value("ramp max Rx", scope)
            # A queue may hide loss, and a sample be too short for any: no knee is above the best rate.
            assert value.number in (shown, best.number)
            assert best.number is None or value.number <= max(best.number, Fraction(0))
            assert value.low is not None
            assert value.high is not None
            assert value.low <= value.number <= value.high <= step * (good + 2)
        held = [
            sum(40 * MS * NS <= one.at - begin < 50 * MS * NS for one in stream.intact) for stream in came
        ]
        rate = Fraction(sum(held) * 100)
        assert bench.value("hold rate", scope).number in (rate, min(rate, bench.line_fps * share))


PROOF = Proof(
    strange=strange("warmup: null, ramp: 40ms to 100%, hold: 10ms", 1),
    plan=Plan("ramp", "warmup: null, ramp: 40ms to 100%, hold: 10ms"),
    row="rrrrrrrrrrrrrrrrrrrrrrrr",
    finding=ramp,
    rates=("ramp max Rx",),
)
