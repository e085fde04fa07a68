"""What `back-to-back` is to find, and how tests ask for it."""

from __future__ import annotations

from fractions import Fraction

from bench import Bench, Plan
from proof import HALVINGS, SEARCH, Proof, strange
from reckoning import LINE_FPS, copied, lengths, mean, scopes

SETTINGS = "repeats: 2, longest: 10ms, quiet: 50ms"
"""Of a strange device."""
BACK = "repeats: 2, longest: 5ms, quiet: 300ms"


def back_to_back(bench: Bench, known: Fraction = LINE_FPS * 3 / 5) -> None:
    """RFC 9004 section 6: the mean length, and the buffer time corrected by what was forwarded meanwhile."""
    value = bench.value("back-to-back frames", bench.known.streams[0])
    if not bench.named("search 1: ") or not any(one.name.endswith(" frames") for one in bench.trials):
        assert known in (0, bench.line_fps)
        assert (value.number, value.low, value.high) == (None, None, None)
        return
    if copied(bench):
        assert value.number is None
        return
    found, limited = lengths(bench)
    if not limited:
        assert found[-1] == 744, "5 ms of line"
        assert (value.number, value.low, value.high) == (None, mean(found), None)
        return
    for scope, (_, share) in scopes(bench).items():
        assert bench.value("back-to-back frames", scope).number == mean(found) * share
    time = mean(found) / bench.line_fps * 10**9 * (1 - known / bench.line_fps)
    assert bench.value("buffer time", bench.known.streams[0]).number == time


PROOF = Proof(
    strange=strange(f"{SEARCH}, {SETTINGS}", HALVINGS + 2 * 22),
    plan=Plan("back-to-back", f"throughput: 60%, {BACK}"),
    row="ffffffffrffrfrrfrffffrfr",
    finding=back_to_back,
)
