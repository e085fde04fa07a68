"""As many VLANs as there are, each with a next hop of its own, over a memif to somebody else's program."""

from __future__ import annotations

import json
import struct
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import testpmd
from netdyno.testers.netdyno import raw

pytestmark = pytest.mark.paired

STREAMS, FLOWS = 4096, 16
VLANS = 4094
"""That there are (IEEE 802.1Q); of the streams behind them each has two tags."""
SECONDS = 2
RATE = 150_000
"""Frames a second, all streams together: each flow has four or five."""
PATIENCE_S = 60


def stream(number: int) -> dict[str, Any]:
    """One VLAN and next hop: `02:00:01:00:` and the number."""
    tag = {"type": "vlan", "vid": 1 + number % VLANS}
    addresses = {
        way: {"random": {"min": f"{net}.0.0.1", "max": f"{net}.255.255.254"}}
        for way, net in (("src", 16), ("dst", 48))
    }
    hop = f"02:00:01:00:{number >> 8:02x}:{number & 255:02x}"
    bits = RATE * (72 + 20) * 8 // STREAMS
    return {
        "name": f"hop {number}", "tx_port": 0, "rx_port": 0, "destination": "written", "flows": FLOWS,
        "sizes": [{"size": 72, "weight": 1}],
        "headers": [
            {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": hop},
            *[tag] * (1 if number < VLANS else 2),
            {"type": "ipv4", **addresses},
            {"type": "udp", "sport": 1025, "dport": 12},
        ],
        "schedule": [
            {"name": "traffic", "duration_ns": SECONDS * 10**9, "from_bps": bits, "to_bps": bits}
        ],
    }  # fmt: skip


def frames(capture: Path) -> Iterator[bytes]:
    """The frames of a pcap file, as its format has them: 24 bytes, then 16 before each frame."""
    content = capture.read_bytes()
    at = 24
    while at + 16 <= len(content):
        (length,) = struct.unpack_from("<I", content, at + 8)
        if at + 16 + length > len(content):
            return
        yield content[at + 16 : at + 16 + length]
        at += 16 + length


def what(frame: bytes) -> tuple[int, tuple[int, ...], bytes]:
    """The next hop's number, the VLANs, and the addresses of IPv4."""
    at, tags = 12, []
    while frame[at : at + 2] == b"\x81\x00":
        tags.append(struct.unpack_from(">H", frame, at + 2)[0] & 0xFFF)
        at += 4
    assert frame[:4] == b"\x02\x00\x01\x00"
    assert frame[at : at + 2] == b"\x08\x00"
    return struct.unpack_from(">H", frame, 4)[0], tuple(tags), frame[at + 14 : at + 22]


def test_every_vlan_next_hop_and_flow_is_seen_at_the_far_end(tmp_path: Path) -> None:
    testpmd.skip_without()
    socket, capture = tmp_path / "memif.sock", tmp_path / "far.pcap"
    command = [
        "dpdk-testpmd", "-l", "0,1", "--no-pci", "--no-huge", "-m", "256", "--no-telemetry",
        f"--vdev=net_memif0,role=server,id=0,socket={socket},socket-abstract=no,rsize=14",
        f"--vdev=net_pcap0,tx_pcap={capture},rx_iface=lo",
        "--", "--forward-mode=io", "--auto-start", "--total-num-mbufs=32768", "--no-mlockall",
    ]  # fmt: skip
    trial = {
        "seed": 1, "settle_ns": 500_000_000, "drain_ns": 500_000_000, "sample_ns": 100_000_000,
        "ports": [{"mac": "02:00:00:00:00:01"}], "streams": [stream(number) for number in range(STREAMS)],
    }  # fmt: skip
    backend = {"kind": "memif", "socket": str(socket), "role": "client", "id": 0, "ring_log2": 14}
    ends = time.monotonic() + PATIENCE_S
    with testpmd.run_testpmd(command, tmp_path):
        testpmd.wait_for(socket)
        with raw({"clock": "real", "ports": [{"name": "near", "backend": backend}]}) as engine:
            engine.start(trial)
            assert engine.wait(stop=lambda: time.monotonic() > ends), "it did not end"
            found = json.loads(engine.result())["trial"]
        size = -1
        while size != (size := capture.stat().st_size):
            time.sleep(0.5)
    offered = sum(one["offered"] for one in found["streams"])
    seen: Counter[tuple[int, tuple[int, ...], bytes]] = Counter(what(frame) for frame in frames(capture))
    assert offered > 2 * STREAMS * FLOWS
    # All but what the program, which was killed, had not written yet.
    held = tmp_path.stat().st_blksize // (68 + 16) + 1
    assert offered - held <= seen.total() <= offered
    hops = {(hop, tags) for hop, tags, _ in seen}
    assert len(seen) == STREAMS * FLOWS
    single = {(number, (1 + number,)) for number in range(VLANS)}
    assert hops == single | {(number, (1 + number % VLANS,) * 2) for number in range(VLANS, STREAMS)}
