"""A million flows counted one by one take at most 64 MB. Truth: the kernel's count of pages (proc(5))."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.paired

FLOWS = 1_000_000
MOST_BYTES = 64 * 10**6
RATE_FPS = 400_000
LINE_BPS = 10**10
ROUNDS = 3
MANY = FLOWS // 2
"""A page of 4 KiB is of more than a hundred flows: with half of them, every page was touched."""

ALONE = """
import json, sys
from pathlib import Path
from netdyno import _engine

def kept(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))

session, one, many = (json.loads(text) for text in sys.argv[1:])
opened = _engine.Session(json.dumps(session))

def run(trial):
    opened.start(json.dumps(trial))
    while not opened.wait(1.0):
        pass
    return json.loads(opened.result())["trial"]

run(one)
before = kept("VmRSS")
found = run(many)
stream = found["streams"][0]
print(json.dumps({
    "grown": kept("VmHWM") - before,
    "invalid": found["invalid"],
    **{name: stream[name] for name in ("offered", "received", "duplicates", "lost", "flows_received")},
}))
opened.close()
"""
"""Runs a trial of one flow, then the other; says by how much the peak of that one exceeds what was kept."""


def session(clock: str, backend: str, workers: int) -> dict[str, Any]:
    """Two ports joined with each other: no device, whose thread would want a core of its own."""
    return {
        "clock": clock,
        "workers": workers,
        "ports": [{"name": name, "backend": {"kind": backend}} for name in ("west", "east")],
        "loops": [{"ports": [0, 1], "rate_bps": LINE_BPS, "delay_ps": 0}],
    }


def trial(flows: int, frames: int) -> dict[str, Any]:
    """So many flows from 16/8 to 48/8, and so many frames of them in turn."""
    bits = (64 + 20) * 8 * RATE_FPS

    def net(first: int) -> Any:
        ends = {"min": f"{first}.0.0.1", "max": f"{first}.255.255.254"}
        return {"random": ends} if flows > 1 else ends["min"]

    stream = {
        "name": "west-east",
        "tx_port": 0,
        "rx_port": 1,
        "headers": [
            {"type": "ethernet", "src": "02:00:00:00:01:00", "dst": "00:00:00:00:00:00"},
            {"type": "ipv4", "src": net(16), "dst": net(48)},
            {"type": "udp", "sport": 1025, "dport": 12},
        ],
        "destination": "peer",
        "sizes": [{"size": 64, "weight": 1}],
        "flows": flows,
        "schedule": [
            {"name": "all", "duration_ns": frames * 10**9 // RATE_FPS, "from_bps": bits, "to_bps": bits}
        ],
    }
    return {
        "seed": 1,
        "streams": [stream],
        "ports": [{"mac": f"02:00:00:00:01:0{index}"} for index in (0, 1)],
        "settle_ns": 0,
        "drain_ns": 100_000_000,
        "sample_ns": 10_000_000,
    }


def counted(spec: dict[str, Any]) -> dict[str, Any]:
    arguments = [json.dumps(one) for one in (spec, trial(1, 10_000), trial(FLOWS, FLOWS))]
    run = subprocess.run(
        [sys.executable, "-c", ALONE, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    assert found["invalid"] == []
    # One frame a flow: as many flows as frames, whatever was lost on the way.
    assert (found["flows_received"], found["duplicates"]) == (found["received"], 0)
    return found


def grown(rounds: list[dict[str, Any]]) -> int:
    """The most that one of them took, bytes; less than a bit a flow and nothing was measured."""
    most: int = max(found["grown"] for found in rounds)
    assert most > FLOWS // 8
    return most


def test_a_million_flows_are_counted_one_by_one_in_64_mb() -> None:
    found = counted(session("virtual", "wire", 1))
    assert (found["received"], found["flows_received"], found["lost"]) == (FLOWS, FLOWS, 0)
    assert grown([found]) <= MOST_BYTES


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two workers need two cores; there is one here")
def test_two_workers_count_them_in_no_more() -> None:
    """A page that was never touched takes no memory, so a trial counts if many of the flows came."""
    rounds = [counted(session("real", "ring", 2))]
    while rounds[-1]["received"] < MANY and len(rounds) < ROUNDS:
        rounds.append(counted(session("real", "ring", 2)))
    assert grown(rounds) <= MOST_BYTES
    if rounds[-1]["received"] < MANY:
        pytest.skip(f"in each of {ROUNDS} trials most of the flows were not even sent: the machine is busy")
