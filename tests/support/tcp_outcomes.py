"""Trials of connections and of the frames that explore their path, made by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from lateness import encode
from netdyno.stats.path import SEGMENT
from netdyno.values.health import Health
from netdyno.values.outcome import Connection, FrameCounts, Latency, Outcome, Phase, StreamResult

S, MS = 10**9, 10**6
NAME = "west-east"


def _latency(frames: int, latency_ns: int) -> Latency | None:
    if not frames:
        return None
    every = encode([latency_ns] * 1000)
    return Latency(frames, latency_ns, frames * latency_ns, latency_ns, 0, 0, every)


def own_frames(sent: Fraction, passed: Fraction, latency_ns: int, lost: int = 0) -> Outcome:
    """A trial of two seconds, in samples of 100 ms."""
    tx, rx = ([int(fps / 10 * (n + 1)) - int(fps / 10 * n) for n in range(20)] for fps in (sent, passed))
    stream = StreamResult(
        name=NAME,
        intended=sum(tx),
        offered=sum(tx),
        offered_bytes=0,
        received=sum(rx),
        received_bytes=0,
        duplicates=0,
        elsewhere=0,
        out_of_order=0,
        corrupted=0,
        lost=lost or sum(tx) - sum(rx),
        beyond_window=0,
        flows_received=1,
        latency=_latency(sum(rx), latency_ns),
        tx=tuple(tx),
        rx=tuple(rx),
        arrived=tuple(rx),
        first_loss_ns=None,
    )
    phases = (Phase(SEGMENT, 0, 2 * S),)
    return Outcome(FrameCounts((stream,), (), S // 10), Health(0, 0, 0, 0, 0, None), phases)


def connection(**more: int) -> Connection:
    """One that sent for ten seconds at a round-trip time of 20 ms, and lost nothing."""
    usual = dict.fromkeys(("cwnd_segments", "window_bytes", "sent_bytes", "retransmitted_bytes"), 0)
    times = {"rtt_ns": 20 * MS, "min_rtt_ns": 20 * MS, "busy_ns": 10 * S, "window_ns": 0, "buffer_ns": 0}
    sent = {"sent_segments": 10**5, "retransmitted_segments": 0, "delivery_bps": 0}
    made: dict[str, Any] = {"port": 40000, "to": 5201, "mss_bytes": 1448, "path_mtu_bytes": 1500}
    return Connection(**(made | usual | times | sent | more))
