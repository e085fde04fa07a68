"""What `reset` is to find, and how tests ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby, pairwise

from bench import NS, Bench, Plan
from proof import HALVINGS, SEARCH, Proof, strange
from reckoning import LINE_FPS, MS, mean

SETTINGS = "before: 10ms, watch: 20ms, repeats: 2"
"""Of a strange device."""
RESET_NS = 3_001_000
"""How long a device is away that is reset."""
AWAY = {"reset_ns": RESET_NS}


def reset(bench: Bench, places: Sequence[int] | None = None, known: Fraction = LINE_FPS * 7 / 10) -> None:
    """RFC 6201: frames lost from the reset on over the load, and the longest time without an arrival."""
    places = range(len(bench.trials)) if places is None else places
    if not places:
        assert known == 0
    for number, name in enumerate(bench.known.streams):
        value, load = bench.value("reset time", name), known * bench.known.places[number].share
        by_loss, by_time, before, unended = [], [], 0, False
        for place in places:
            came = bench.expected[place][number]
            crossing = max(came.took_ns)
            runs = [
                [one for _, one in run]
                for _, run in groupby(enumerate(came.gone), lambda one: one[1] - one[0])
            ]
            early = sum(len(run) for run in runs if came.due[run[-1]] // NS < 10 * MS - crossing)
            before += early
            goes_on = came.due[came.gone[-1]] // NS >= 19 * MS
            unended |= goes_on
            by_loss.append((came.missing - early) * 10**9 / load)
            if goes_on:
                # The last silence has no end.
                continue
            arrivals = [(one.at - bench.begins[place]) // NS for one in came.intact]
            by_time.append(max(after - at for at, after in pairwise(arrivals)))
        if not places:
            assert (value.number, value.low, value.high) == (None, None, None)
            continue
        if unended and before:
            # Neither which losses are the reset's is known, nor when they end.
            assert (value.number, value.low, value.high) == (None, None, None)
        elif unended:
            assert (value.number, value.low, value.high) == (None, mean(by_loss), None)
        elif before:
            assert (value.number, value.low, value.high) == (None, None, mean(by_loss))
        else:
            assert (value.number, value.low, value.high) == (mean(by_loss), min(by_loss), max(by_loss))
        (row,) = (one for one in bench.table("Reset") if one["stream"] == name)
        assert row["by time stamps"] == (mean(by_time) if by_time else None)


PROOF = Proof(
    strange=strange(f"{SEARCH}, {SETTINGS}", HALVINGS + 2),
    plan=Plan("reset", "throughput: 70%, before: 10ms, watch: 10ms, repeats: 2", change=AWAY),
    row="rrrrrrrrrrrrrrrrrrrrrrrr",
    finding=reset,
    loses_nothing=True,
)
