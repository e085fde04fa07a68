"""A stand-in for the engine: a wall, in plain Python, behind the door of docs/interfaces.md.

It reads the trial spec as the engine does and answers at once, or takes its time (FAKE_TRIAL_S). Its
capacity and faults come through the environment, so that worker processes see them too.
"""

from __future__ import annotations

import json
import os
import sys
import time
from fractions import Fraction
from typing import Any, ClassVar

from netdyno.testers import TesterEntry
from netdyno.testers.netdyno import Netdyno
from netdyno.values.offer import EVERY_OFFER

CAPACITY_FPS = 5_000_000

TESTER = Netdyno("fake_engine")
ENTRY = TesterEntry("netdyno", EVERY_OFFER, "fake_engine")
"""As a run is handed it in place of the engine."""


def entry(module: Any) -> TesterEntry:
    """A module that stands in for the engine, as a tester."""
    module.TESTER = Netdyno(module.__name__)
    return TesterEntry("netdyno", EVERY_OFFER, module.__name__)


def version() -> str:
    return os.environ.get("FAKE_VERSION", "fake")


def level() -> str:
    return "fake"


class EngineError(Exception):
    """What the engine itself says."""

    code = "port-gone"
    fields: ClassVar[dict[str, bool | int | str]] = {}
    hint = "do otherwise"


class Session:
    def __init__(self, session_json: str) -> None:
        self.session = json.loads(session_json)
        self.spec: dict[str, Any] = {}
        self.began = 0.0
        self.takes = float(os.environ.get("FAKE_TRIAL_S", "0"))
        self.cancelled = False

    def ports(self) -> str:
        return json.dumps([{"name": port["name"], "detail": ""} for port in self.session["ports"]])

    def start(self, trial_json: str) -> None:
        self.spec = json.loads(trial_json)
        self.began = time.monotonic()
        self.cancelled = False
        if os.environ.get("FAKE_REFUSES"):
            raise EngineError("the port went away")
        if os.environ.get("FAKE_LAST_WORDS"):
            print(os.environ["FAKE_LAST_WORDS"], file=sys.stderr, flush=True)
        if os.environ.get("FAKE_KILLED_BY"):
            os.kill(os.getpid(), int(os.environ["FAKE_KILLED_BY"]))
        if os.environ.get("FAKE_CRASH"):
            os._exit(7)

    def snapshot(self) -> str:
        ports = [
            {"name": port["name"], "tx_frames": 0, "tx_bytes": 0, "rx_frames": 0, "rx_bytes": 0}
            for port in self.session["ports"]
        ]
        elapsed = int((time.monotonic() - self.began) * 1e9)
        return json.dumps(
            {"phase": "ramp", "elapsed_ns": elapsed, "total_ns": int(self.takes * 1e9), "ports": ports}
        )

    def wait(self, timeout_s: float) -> bool:
        left = self.takes - (time.monotonic() - self.began)
        if self.cancelled or left <= 0:
            return True
        time.sleep(min(left, timeout_s))
        return left <= timeout_s

    def cancel(self) -> None:
        self.cancelled = True

    def close(self) -> None:
        pass

    def result(self) -> str:
        sample = self.spec["sample_ns"]
        streams = [self._stream(stream, sample) for stream in self.spec["streams"]]
        broken = os.environ.get("FAKE_INVALID_STREAMS") == str(len(streams))
        down = {"code": "link-down", "fields": {}, "text": "the link went down"}
        invalid = [down] if broken or _count_down("FAKE_INVALID") else []
        stale = 7 if _count_down("FAKE_STALE") else 0
        ports = [
            {
                "name": port["name"],
                "stale": stale,
                "tx_frames": 1,
                "tx_bytes": 64,
                "rx_frames": 1,
                "rx_bytes": 64,
                "foreign": 0,
                "tx": [1],
                "tx_bytes_series": [64],
                "rx": [1],
                "rx_bytes_series": [64],
            }
            for port in self.session["ports"]
        ]
        trial = {
            "streams": streams,
            "ports": ports,
            "health": {
                "unsent": 0,
                "latest_departure_ns": 0,
                "longest_gap_ns": _pause_ns(),
                "rx_dropped": 0,
                "tx_full": 0,
                "core_share_ppm": None,
            },
            "phases": self._phases(),
            "sample_ns": sample,
            "resolved": [["100.64.0.1", "02:00:00:00:00:01"]],
            "invalid": invalid,
        }
        return json.dumps({"trial": trial, "devices": []})

    def _phases(self) -> list[dict[str, Any]]:
        settle = self.spec["settle_ns"]
        parts = self.spec["streams"][0]["schedule"]
        sending = sum(part["duration_ns"] for part in parts)
        return [
            {"name": "settle", "start_ns": 0, "duration_ns": settle},
            {"name": "traffic", "start_ns": settle, "duration_ns": sending},
        ]

    def _stream(self, stream: dict[str, Any], sample: int) -> dict[str, Any]:
        weights = stream["sizes"]
        mean = Fraction(sum(w["size"] * w["weight"] for w in weights), sum(w["weight"] for w in weights))
        wire = (mean + 20) * 8
        tx, rx, begin, carry = [], [], 0, Fraction(0)
        capacity_fps = int(os.environ.get("FAKE_CAPACITY", CAPACITY_FPS))
        for segment in stream["schedule"]:
            for at in range(0, segment["duration_ns"], sample):
                end = min(at + sample, segment["duration_ns"])
                middle = Fraction(at + end, 2 * segment["duration_ns"])
                fps = (segment["from_bps"] + (segment["to_bps"] - segment["from_bps"]) * middle) / wire
                carry += fps * (end - at) / 10**9
                sent = int(carry)
                carry -= sent
                tx.append(sent)
                rx.append(min(sent, capacity_fps * (end - at) // 10**9))
            begin += segment["duration_ns"]
        size = int(mean)
        return {
            "name": stream["name"],
            "intended": sum(tx) * (2 if os.environ.get("FAKE_STARVED") else 1),
            "offered": sum(tx),
            "offered_bytes": sum(tx) * size,
            "received": sum(rx),
            "received_bytes": sum(rx) * size,
            "duplicates": 0,
            "elsewhere": 0,
            "out_of_order": 0,
            "corrupted": 0,
            "lost": sum(tx) - sum(rx),
            "beyond_window": 0,
            "flows_received": stream["flows"],
            "latency": None,
            "tx": tx,
            "rx": rx,
            "arrived": rx,
            "first_loss_ns": None,
        }


def _pause_ns() -> int:
    """A pause in which no load is constant, one that spoils it, or none."""
    if _count_down("FAKE_AWAY"):
        return 250_000_000
    return 25_000_000 if _count_down("FAKE_PAUSE") else 0


def _count_down(name: str) -> bool:
    """True for as many calls as the file named by the variable holds lines; takes one away."""
    path = os.environ.get(name)
    if not path or not os.path.exists(path):
        return False
    with open(path) as file:
        lines = file.readlines()
    if not lines:
        return False
    with open(path, "w") as file:
        file.writelines(lines[1:])
    return True
