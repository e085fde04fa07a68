"""A reader of the load test JSON of IPng by the rules of trex-loadtest-viz, which was watched, not copied.

Whole numbers divide as whole numbers there, and a division by nothing ends it; so here they are errors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KNOWN = {"imix.py": "imix", "udp_1pkt_simple_bdir.py": "64B"}
EQUAL = ("warmup_mult", "warmup_duration", "rampup_target", "rampup_duration", "hold_duration")
FAILS_FROM = 0.001


@dataclass(frozen=True)
class Channel:
    """One direction as it is drawn: the samples in their order, and the row of the table."""

    sent: tuple[float, ...]
    received: tuple[float, ...]
    loss: tuple[float, ...]
    most_pps: float
    line_percent: float


@dataclass(frozen=True)
class Drawn:
    """A file as it is drawn. asked: what is equal in all files of a page."""

    row: str
    profile: str
    asked: tuple[object, ...]
    channels: Mapping[str, Channel]


def read(path: Path) -> Drawn:
    """Raises KeyError for what is missing, AssertionError for what the reader would garble."""
    data = json.loads(path.read_text())
    asked, stats = data["vars"], data["stats"]
    assert stats, "the reader stops where there is no sample"
    ways = {"0->1": ("0", "1")}
    if not asked.get("unidirectional"):
        ways["1->0"] = ("1", "0")
    return Drawn(
        path.stem,
        KNOWN.get(asked["profile_file"], Path(asked["profile_file"]).stem),
        tuple(asked[key] for key in EQUAL),
        {name: _channel(stats, *ends) for name, ends in ways.items()},
    )


def _channel(stats: Mapping[str, Mapping[str, Mapping[str, Any]]], sender: str, receiver: str) -> Channel:
    for sample in stats.values():
        assert set(sample) - {"global"} == {"0", "1"}, "there are two ports"
        assert all(type(number) is float for port in sample.values() for number in port.values())
    sent = tuple(sample[sender]["tx_pps"] for sample in stats.values())
    received = tuple(sample[receiver]["rx_pps"] for sample in stats.values())
    used = [sample[receiver]["rx_util"] for sample in stats.values()]
    assert all(sample[sender]["tx_util"] >= 0 for sample in stats.values())
    assert all(sent), "0.0 / 0.0 is no number, and no JSON"
    loss = tuple(max(0.0, (tx - rx) / tx) for tx, rx in zip(sent, received, strict=True))
    return Channel(sent, received, loss, max(received), min(100.0, max(used)))
