"""C10: an emulated device makes a known number of faults in real time; exactly these must be found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from netdyno.calibration.document import CalibrationError, Check
from netdyno.ports.backends import RING
from netdyno.testers.tester import Calibratable
from netdyno.values.outcome import Outcome, StreamResult

FRAMES = 20_000
RATE_FPS = 100_000
EVERY = 37
"""One frame in so many is hit: a prime, so that nothing of the tester's own has the same period."""
HIT = list(range(EVERY // 2, FRAMES * 9 // 10, EVERY))
"""Frames that are hit. None near the end: one that is held back would have nobody left to overtake it."""
SIZE = 64
LINE_BPS = 10_000_000_000
QUEUE = 1 << 20
"""Of the device: longer than all the trial, so that a pause of its thread loses nothing."""

HELD_NS = 100_000_000
"""A frame held back to be overtaken is let go after this long (crates/dut/src/impair.rs): in order, if the
tester's pause was longer."""

DRAINS_NS = tuple(ms * 1_000_000 for ms in (50, 200, 500, 1000, 2000))
"""Of one trial after the other, until the device has served all of one."""


@dataclass(frozen=True)
class Injected:
    """A fault and where its count should be seen."""

    name: str
    fault: Any
    seen: Callable[[StreamResult], int]


FAULTS: Sequence[Injected] = (
    Injected("lose", "lose", lambda stream: stream.lost),
    Injected("duplicate", "duplicate", lambda stream: stream.duplicates),
    Injected("reorder", {"reorder": {"by": 3}}, lambda stream: stream.out_of_order),
    Injected("corrupt", "corrupt", lambda stream: stream.corrupted),
)


def check(tester: Calibratable, cores: Sequence[int]) -> Check:
    """A trial for each fault, through a cross connect that serves a ring from a thread of its own."""
    title, rule = "faults found", "every fault injected is found, and only those"
    found, wrong, injected = [], [], 0
    for one in FAULTS:
        served = _serve_faults(tester, cores, one)
        if served is None:
            reason = f"a thread was preempted in each of {len(DRAINS_NS)} trials"
            return Check("C10", title, "", "", rule, "n/a", reason, workers=1)
        made, stream = served
        injected += made
        found.append(f"{one.name} {one.seen(stream)} of {made}")
        others = {
            other.name: other.seen(stream) for other in FAULTS if other is not one and other.seen(stream)
        }
        if made == 0:
            wrong.append(f"no frame was hit by `{one.name}`")
        if one.seen(stream) != made:
            wrong.append(f"{one.seen(stream)} found of {made} injected by `{one.name}`")
        wrong += [f"{count} x `{name}` while none was injected" for name, count in others.items()]
    value = f"{', '.join(found)} (one frame in {EVERY}, in real time, on a ring)"
    return Check("C10", title, "", value, rule, "fail" if wrong else "pass", "; ".join(wrong), workers=1)


def _serve_faults(
    tester: Calibratable, cores: Sequence[int], injected: Injected
) -> tuple[int, StreamResult] | None:
    """The number of faults made and the counts of the tester; None: a thread was preempted each time.

    A thread that is away when the trial ends, the device's or the tester's, leaves frames on a ring: nobody
    lost those. One that is away for long lets the device give up on what it holds back.
    """
    for drain_ns in DRAINS_NS:
        result = _trial(tester, cores, injected, drain_ns)
        (device,), (stream,) = result.devices, result.streams
        entered, left = device["ports"][0]["rx_frames"], device["ports"][1]["tx_frames"]
        all_of_it = (entered, left) == (stream.offered, result.ports[1].rx_frames) and not device["held"]
        # The device's thread may have been away for as long again.
        if all_of_it and result.health.longest_gap_ns < HELD_NS // 2:
            return int(device["injected"].get(injected.name, 0)), stream
    return None


def _trial(tester: Calibratable, cores: Sequence[int], injected: Injected, drain_ns: int) -> Outcome:
    """Runs one trial with the fault; returns the counts of device and tester."""
    with tester.raw(session_spec(cores, injected)) as session:
        result = tester.read_result(session.trial(trial_spec(drain_ns)))
    if result.invalid:
        raise CalibrationError(
            f"a trial of injected faults is invalid: {'; '.join(map(str, result.invalid))}",
            code="trial-invalid",
        )
    return result


def session_spec(cores: Sequence[int], injected: Injected) -> dict[str, Any]:
    """A cross connect in a thread of its own, between two ports on rings."""
    ports = [
        {
            "name": name,
            "mac": f"02:00:00:00:02:0{index}",
            "rate_bps": LINE_BPS,
            "in_queue": QUEUE,
            "out_queue": QUEUE,
        }
        for index, name in enumerate(("in", "out"))
    ]
    device = {
        "name": "faults",
        "ports": ports,
        "forwarding": {"kind": "cross-connect", "pairs": [[0, 1]]},
        "impairments": [{"port": 1, "fault": injected.fault, "when": {"frames": HIT}}],
    }
    return {
        "clock": "real",
        "ports": [{"name": name, "backend": {"kind": RING}} for name in ("west", "east")],
        "devices": [device],
        "links": [{"port": side, "device": 0, "device_port": side, "rate_bps": LINE_BPS} for side in (0, 1)],
        "cores": list(cores[:2]),
    }


def trial_spec(drain_ns: int) -> dict[str, Any]:
    """One flow of small frames at a rate that any machine keeps up with."""
    bits = (SIZE + 20) * 8 * RATE_FPS
    stream = {
        "name": "west-east",
        "tx_port": 0,
        "rx_port": 1,
        "headers": [
            {"type": "ethernet", "src": "02:00:00:00:01:00", "dst": "00:00:00:00:00:00"},
            {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"},
            {"type": "udp", "sport": 1025, "dport": 12},
        ],
        "destination": "peer",
        "sizes": [{"size": SIZE, "weight": 1}],
        "flows": 1,
        "schedule": [
            {
                "name": "traffic",
                "duration_ns": FRAMES * 10**9 // RATE_FPS,
                "from_bps": bits,
                "to_bps": bits,
            }
        ],
    }
    return {
        "seed": 1,
        "streams": [stream],
        "ports": [{"mac": f"02:00:00:00:01:0{index}"} for index in (0, 1)],
        "settle_ns": 0,
        "drain_ns": drain_ns,
        "sample_ns": 10_000_000,
    }
