"""What `errored-frames` is to find, and how tests ask for it."""

from __future__ import annotations

from fractions import Fraction

from bench import Bench, Plan
from proof import Proof, strange
from reckoning import pick, scopes


def errored_frames(bench: Bench) -> None:
    """RFC 2889 section 5.9: the share that came out of any port of frames that are too long."""
    for scope in scopes(bench):
        came = [one for place in range(len(bench.trials)) for one in pick(bench, place, scope)]
        share = Fraction(sum(len(one.intact) for one in came), sum(one.sent for one in came))
        assert bench.value("oversize frames forwarded", scope).number == share


PROOF = Proof(
    strange=strange("duration: 10ms", 3),
    plan=Plan("errored-frames", "duration: 10ms", size=1519),
    row="rrrrrrrrrrrrrrrrrrrrrrrr",
    finding=errored_frames,
    of_nothing={"legal frames forwarded": 0},
)
