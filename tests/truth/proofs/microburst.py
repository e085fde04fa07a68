"""What `microburst` is to find, and how tests ask for it."""

from __future__ import annotations

from bench import Bench, Plan
from proof import BRIDGE, Proof, strange
from reckoning import clean, copied, lengths, mean


def microburst(bench: Bench) -> None:
    """RFC 8239: of bursts that came whole the frames in the device when the last came in: the line out has
    taken one for each that the line of the first sender brought before."""
    value = bench.value("burst held")
    if copied(bench):
        assert value.number is None
        return
    found, limited = lengths(bench)
    if not limited:
        assert (value.number, value.high) == (None, None)
        return
    held = []
    for search, length in enumerate(found, 1):
        if length:
            (place,) = [
                place
                for place in bench.named(f"search {search}: {length} frames")
                if clean(bench.expected[place])
            ]
            held.append(sum(one.sent for one in bench.expected[place]) - (length - 1))
    assert value.number == (mean(held) if held else None)


PROOF = Proof(
    strange=strange(
        "repeats: 2, quiet: 50ms, longest: 10ms",
        2 * 22,
        links=3,
        matrix="pattern: [many-to-one], direction: [uni]",
    ),
    plan=Plan(
        "microburst",
        "repeats: 2, quiet: 300ms, longest: 3ms",
        **{**BRIDGE, "matrix": "pattern: [many-to-one], direction: [uni]"},
    ),
    row="rrrrrrrrrrrrrrrrrrrrrrrr",
    finding=microburst,
    has_classes=False,
)
