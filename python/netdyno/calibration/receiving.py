"""C4: how much a port receives when another thread does the sending."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from netdyno.calibration.document import Check
from netdyno.calibration.effort import Effort
from netdyno.calibration.looping import lead_back
from netdyno.ports.backends import BACKENDS
from netdyno.ports.threads import workers_of
from netdyno.testers.tester import Calibratable
from netdyno.values.load import Frames, Trial
from netdyno.values.number import rate
from netdyno.values.outcome import Outcome
from netdyno.values.units import FrameRate

if TYPE_CHECKING:
    from netdyno.devices.wiring import Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case

TITLE = "receiving alone"
RULE = "the receiver drops nothing, and counts what the sender sent"
LONGER_NS = 300_000_000
"""The receiver listens so much longer at both ends, whatever its thread is kept from."""


def check(
    tester: Calibratable,
    plan: Plan,
    case: Case,
    wiring: Wiring,
    effort: Effort,
    cores: Sequence[int],
    most: Fraction | None,
) -> Check:
    """Two sessions, a port each: one sends what passed before, the other counts what comes in.

    The ports are the first that frames run between, of as many pairs as there are.
    Each with the plan's workers where there are cores for both; else with one, and its share of the load.
    """
    workers = workers_of(wiring.session)
    each = workers if len(cores) >= 2 * workers else 1
    reason = _impossible(wiring, cores, most, each)
    if most is None or reason:
        return Check("C4", TITLE, "", "", RULE, "n/a", reason, workers=each)
    share = max(most * each / workers, Fraction(1))
    sent, heard = _together(tester, plan, case, wiring, effort, cores, share, each)
    return replace(judge(share, effort.trial_ns, sent, heard), workers=each)


def _impossible(wiring: Wiring, cores: Sequence[int], most: Fraction | None, each: int) -> str:
    """Why the check cannot be made here, a clause, or empty. each: workers of either side."""
    workers = workers_of(wiring.session)
    kinds = {port["backend"]["kind"] for port in wiring.session["ports"]}
    if len(wiring.ports) < 2:
        return "a port that leads back into itself is sender and receiver"
    if "loops" in wiring.session:
        return f"both ends of a {' or '.join(sorted(kinds))} belong to one thread"
    if len(cores) < 2:
        return "it takes two cores"
    queued = [kind for kind in sorted(kinds & BACKENDS.keys()) if BACKENDS[kind].has_queue_per_worker]
    if each < workers and queued:
        noun = BACKENDS[queued[0]].noun
        return f"it takes {2 * workers} cores: a port of {workers} {noun} queues has as many workers"
    return "nothing passed without loss, see C3" if most is None else ""


def judge(fps: Fraction, duration_ns: int, sent: Outcome, heard: Outcome) -> Check:
    """Pure: what the sending and the receiving session counted."""
    out, came = sent.ports[0].tx_frames, heard.ports[0].rx_frames
    dropped = heard.health.rx_dropped
    value = (
        f"{came} of {out} frames at {rate(fps, 'pps')} asked,"
        f" {rate(Fraction(out * 10**9, duration_ns), 'pps')} sent; {dropped} dropped by the port"
    )
    if sent.invalid:
        return Check("C4", TITLE, "", value, RULE, "n/a", "; ".join(map(str, sent.invalid)))
    # To the receiver the trial is invalid: more came than it sent itself. The counts of the ports stand.
    if not dropped and came == out:
        return Check("C4", TITLE, "", value, RULE, "pass")
    away = heard.health.longest_gap_ns
    reason = f"the receiver was away for up to {away / 1e6:.3f} ms"
    return Check("C4", TITLE, "", value, RULE, "warn" if came + dropped == out else "fail", reason)


def _together(
    tester: Calibratable,
    plan: Plan,
    case: Case,
    wiring: Wiring,
    effort: Effort,
    cores: Sequence[int],
    fps: Fraction,
    each: int,
) -> tuple[Outcome, Outcome]:
    load = Frames.steady(FrameRate(fps), effort.trial_ns)
    whole = lead_back(tester.trial_spec(plan, case, wiring.lab, Trial("receive", load)), wiring)
    session = tester.session_spec(wiring, case)
    sender, receiver = whole["streams"][0]["tx_port"], whole["streams"][0]["rx_port"]
    # Each knows one port: its own. The MAC it cannot look up is written.
    alone = []
    for stream in whole["streams"]:
        if (stream["tx_port"], stream["rx_port"]) == (sender, receiver):
            headers = [dict(header) for header in stream["headers"]]
            headers[0]["dst"] = wiring.ports[receiver].mac
            alone.append({**stream, "headers": headers, "destination": "written", "tx_port": 0, "rx_port": 0})
    quiet = {**alone[0], "name": "listening", "schedule": [{**alone[0]["schedule"][0]}]}
    quiet["schedule"][0].update(from_bps=1, to_bps=1, duration_ns=effort.trial_ns + 2 * LONGER_NS)
    ours, theirs = cores[:each], cores[each : 2 * each]
    jobs = [
        (receiver, ours, {**whole, "streams": [quiet], "settle_ns": 0, "drain_ns": LONGER_NS}),
        (sender, theirs, {**whole, "streams": alone, "settle_ns": LONGER_NS, "drain_ns": 0}),
    ]
    with ExitStack() as open_ones:
        sessions = []
        # Both at once: a memif's client waits for its server.
        for port, own, _ in jobs:
            one = {**session, "ports": [session["ports"][port]], "cores": list(own), "workers": each}
            sessions.append(open_ones.enter_context(tester.raw(one)))
        for opened, (port, _, spec) in zip(sessions, jobs, strict=True):
            opened.start({**spec, "ports": [whole["ports"][port]]})
        for opened in sessions:
            opened.wait()
        heard, sent = (tester.read_result(opened.result()) for opened in sessions)
    return sent, heard
