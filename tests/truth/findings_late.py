"""What a method is to find of a device that answers after the drain (docs/verdicts-detail.md, too late)."""

from __future__ import annotations

from bench import Bench
from reckoning import MS, bounds, clean, scopes

NOT_MEASURED = ("kept up to", "throughput, given")
DRAIN = 300 * MS
LATE = "Use a longer `drain`"
UNTOLD = ("frames were still lost at the end", "passed: no limit was")
"""Why a value has no number that would have none anyway."""


def is_noticed(bench: Bench) -> bool:
    """Whether a tester can know: frames came in a later trial, or took longer than the drain."""
    took = [one.took_ns for expected in bench.expected for one in expected]
    return any(map(any, bench.stale)) or any(max(times, default=0) > DRAIN for times in took)


def withdrawn(bench: Bench) -> None:
    """What was lost is not known, and so no number is; a bound is a load or a length that came whole."""
    shares = {scope: share for scope, (_, share) in scopes(bench).items()}
    loads, lengths = set(), set()
    for trial, expected in zip(bench.trials, bench.expected, strict=True):
        if not clean(expected):
            continue
        *_, count, unit = trial.name.split() if " " in trial.name else ("", "")
        if count.isdigit() and unit == "frames":
            lengths.add(int(count))
        elif len(trial.segments) == 1:
            loads.add(bench.known.fps(trial.segments[0].from_rate))
    measured = [value for value in bench.result.values if value.name not in NOT_MEASURED]
    assert any(LATE in str(value.note) for value in measured)
    for value in measured:
        assert (value.number, value.high) == (None, None), value
        assert any(why in str(value.note) for why in (LATE, *UNTOLD)), value
        share = shares[value.scope]
        if value.name in ("throughput", "NDR"):
            low, _ = bounds(bench, bench.named("throughput: ") or bench.named("search "))
            # What was still queued when sending ended is no part of it.
            assert value.low is None if not low else value.low and value.low <= low * share, value
        else:
            came = {load * share for load in loads} | lengths
            # Of a loss-free load, too, what came after the sending is no part; the other is a mean of two.
            bounded = value.name in ("loss-free load", "rate with the service")
            is_less = bounded and value.low is not None and 0 < value.low <= max(came)
            assert value.low is None or value.low in came or is_less, value
    assert all(value.number is not None for value in bench.result.values if value.name in NOT_MEASURED)
