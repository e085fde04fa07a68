"""Streams in the JSON of T-Rex's `add_stream`."""

from __future__ import annotations

import base64
from typing import Any

BENCH = bytes.fromhex(
    "00000001000000000002000008004500002e0001000040113ab710000004300000040401000c001a0000" + "78" * 18
)
"""The template of stl/bench.py: 64 B with FCS, 16.0.0.4 to 48.0.0.4, UDP 1025 to 12 without a checksum."""
SIMPLE = bytes.fromhex(
    "00000001000000000002000008004500002e0001000040113abd10000001300000010401000c001a7f6f" + "78" * 18
)
"""16.0.0.1 to 48.0.0.1 with a checksum, as in most of its examples."""


def stream(*instructions: dict[str, Any], frame: bytes = BENCH, **more: Any) -> dict[str, Any]:
    """A stream of 1 frame a second with a program; more: its other fields."""
    return {
        "flags": 0,
        "isg": 0,
        "mode": mode(),
        "packet": {"binary": base64.b64encode(frame).decode()},
        "vm": {"instructions": list(instructions)},
        **more,
    }


def mode(kind: str = "continuous", pps: float = 1, **more: Any) -> dict[str, Any]:
    """The mode of a stream."""
    return {"type": kind, "rate": {"type": "pps", "value": pps}, **more}


def variable(name: str, low: int, high: int, op: str = "inc", size: int = 4, **more: Any) -> dict[str, Any]:
    """A variable that counts, or walks a `value_list`."""
    first = high if op == "dec" else low
    found = {"type": "flow_var", "name": name, "op": op, "size": size, "step": 1, "init_value": first}
    return {**found, "min_value": low, "max_value": high, **more}


def write(name: str, at: int, **more: Any) -> dict[str, Any]:
    """Writes a variable; with `mask` some of its bits."""
    kind = "write_mask_flow_var" if "mask" in more else "write_flow_var"
    return {"type": kind, "name": name, "pkt_offset": at, "add_value": 0, "is_big_endian": True, **more}


FIX = {"type": "fix_checksum_ipv4", "pkt_offset": 14}
"""The checksum of the outermost IPv4 header behind Ethernet."""
