"""What `y1564` is to find, and how tests ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from bench import Bench, Plan
from proof import Proof, strange


def y1564(bench: Bench) -> None:
    """ITU-T Y.1564: steps of the CIR lose nothing; more than the CIR brings the CIR at least; more than CIR
    and EIR no more than both, 1 % and what the buckets held; bursts come whole. Rates within a frame."""
    services: Mapping[str, tuple[Fraction, Fraction, int]] = {
        "all": (Fraction(45, 100), Fraction(22, 100), 3_000),
        "voice": (Fraction(10, 100), Fraction(10, 100), 2_000),
        "rest": (Fraction(30, 100), Fraction(20, 100), 1_024),
    }
    passed, steps = 0, 0
    for trial, expected in zip(bench.trials, bench.expected, strict=True):
        service, _, step = trial.name.partition(": ")
        for came, place in zip(expected, bench.known.places, strict=True):
            if service not in ("performance", place.traffic or "all"):
                continue
            cir, eir, cbs = services[place.traffic or "all"]
            committed, both = (rate * bench.line_fps / 100 for rate in (cir, cir + eir))  # in 10 ms
            steps += 1
            if step == "CIR + EIR":
                passed += committed - 1 <= len(came.intact) <= both + 1
            elif step == "policing":
                passed += committed - 1 <= len(came.intact) <= both * 101 / 100 + Fraction(cbs, 64) + 1
            else:
                passed += not came.missing
    assert bench.value("steps passed").number == Fraction(passed, steps)


PROOF = Proof(
    strange=strange(
        "step: 10ms, performance: 20ms, services: {all: {cir: 40%, eir: 20%, cbs: 3000B}}", 4 + 1 + 1 + 1 + 1
    ),
    plan=Plan("y1564", "step: 10ms, performance: 20ms, services: {all: {cir: 45%, eir: 22%, cbs: 3000B}}"),
    row="ffffffffrffrfrrfrffffrfr",
    finding=y1564,
    of_nothing={"steps passed": 0},
)
