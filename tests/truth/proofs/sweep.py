"""What `sweep` is to find, and how tests ask for it."""

from __future__ import annotations

from fractions import Fraction

from bench import Bench, Plan
from proof import Proof, strange
from reckoning import clean, fps, mean, pick, scopes


def sweep(bench: Bench) -> None:
    """Loads of 10, 50, 70 and 100 % of the line, and what came of each."""
    every = range(len(bench.trials))
    assert [fps(bench, place) / bench.line_fps for place in every] == [
        Fraction(n, 100) for n in (10, 50, 70, 100)
    ]
    rows = bench.table("Latency against load")
    for scope, (_, share) in scopes(bench).items():
        value = bench.value("loss-free load", scope)
        # Each stream by itself.
        bad = [fps(bench, place) for place in every if not clean(pick(bench, place, scope))]
        high = min(bad, default=None)
        good = [fps(bench, place) for place in every if fps(bench, place) not in bad]
        low = max((load for load in good if high is None or load < high), default=None)
        assert value.number == (low or 0) * share
        assert value.high == (None if high is None else high * share)
        for place in every:
            came = pick(bench, place, scope)
            times = [time for one in came for time in one.took_ns]
            found = [
                (row["sent"], row["loss"], row["min"], row["mean"], row["max"])
                for row in rows
                if row["asked"] == fps(bench, place) * share and row["stream"] == scope
            ]
            sent = sum(one.sent for one in came)
            gone = Fraction(sum(one.missing for one in came), sent)
            figures = (min(times), mean(times), max(times)) if times else (None, None, None)
            assert found == [(sent, gone, *figures)] or len(bench.known.streams) == 1


PROOF = Proof(
    strange=strange("loads: [10%, 50%, 100%], duration: 10ms", 3),
    plan=Plan("sweep", "loads: [10%, 50%, 70%, 100%], duration: 10ms"),
    row="ffffffffrffrfrrfrffffrfr",
    finding=sweep,
    rates=("loss-free load",),
)
