"""What `rfc2544` is to find, and how tests ask for it."""

from __future__ import annotations

from bench import Bench, Plan
from proof import HALVINGS, SEARCH, Proof, strange

from proofs import back_to_back, latency, loss, recovery, reset, throughput

STRANGE = {
    "latency": latency.SETTINGS,
    "frame-loss": loss.SETTINGS,
    "back-to-back": back_to_back.SETTINGS,
    "recovery": recovery.SETTINGS,
    "reset": reset.SETTINGS,
}


def rfc2544(bench: Bench) -> None:
    """All six; what rests on the throughput takes the one that was found."""
    known = throughput.throughput(bench, bench.named("throughput: "))
    if known:
        latency.latency(bench, bench.named("latency "))
    loss.frame_loss(bench, bench.named("frame loss: "))
    back_to_back.back_to_back(bench, known)
    recovery.recovery(bench, bench.named("recovery "), known)
    reset.reset(bench, bench.named("reset "), known)


PROOF = Proof(
    strange=strange(
        ", ".join((SEARCH, *(f"{name}: {{{given}}}" for name, given in STRANGE.items()))),
        HALVINGS + 2 + 10 + 2 * 22 + 1 + 2,
    ),
    plan=Plan(
        "rfc2544",
        "throughput: {duration: 5ms, width: 5%}, latency: {repeats: 2, duration: 10ms, after: 3ms},"
        f" frame-loss: {{duration: 5ms}}, back-to-back: {{{back_to_back.BACK}}},"
        " recovery: {repeats: 1, overload: 10ms, watch: 10ms},"
        " reset: {before: 10ms, watch: 10ms, repeats: 1}",
        change=reset.AWAY,
    ),
    row="ffffffffrffrfrrfrffffrfr",
    finding=rfc2544,
)
