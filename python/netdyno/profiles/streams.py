"""Streams in the form of T-Rex's RPC `add_stream`, read from JSON that somebody's program printed."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from netdyno.errors import NetdynoError
from netdyno.values.printable import printable

MOST_STREAMS, MOST_INSTRUCTIONS, MOST_VALUES = 1024, 256, 65_535
LEAST_FRAME, MOST_FRAME, MOST_TEMPLATE = 14, 9212, 65_535
PADDED = 60
"""Bytes without FCS to which T-Rex's server pads a shorter frame, with zeros."""
MOST_CACHED = 10_000
"""The most packets that T-Rex's server makes once and sends again."""
LARGEST = 1 << 64

CONTINUOUS, BURST, BURSTS = "continuous", "single_burst", "multi_burst"


@dataclass(frozen=True)
class OwnRate:
    """The rate of a stream. unit: `pps`, `bps_L1`, `bps_L2` or `percentage`."""

    unit: str
    value: Fraction


@dataclass(frozen=True)
class Stream:
    """A stream of one port. frame: without FCS, at least 60 bytes. Times are in microseconds."""

    index: int
    line: int
    """Where the profile makes it; 0: unknown."""
    name: str
    next: str
    self_start: bool
    isg_us: Fraction
    action_count: int
    source_is_own: bool
    destination_is_own: bool
    mode: str
    rate: OwnRate
    frames: int
    gap_us: Fraction
    count: int
    frame: bytes
    padding: int
    """How many bytes the server appends."""
    instructions: tuple[Mapping[str, Any], ...]
    cache: int
    seed: int
    rule: str
    """`latency`, `stats` or none."""
    is_pinned: bool

    def refuse(self, what: str, hint: str | None = None) -> NoReturn:
        """Raises NetdynoError: a plan cannot say this of the stream."""
        name = f" `{printable(self.name)}`" if self.name else ""
        where = f"line {self.line}: " if self.line else ""
        raise NetdynoError(f"{where}stream {self.index}{name}: {what}", hint, code="unsupported")


def read_streams(port: Sequence[Mapping[str, Any]]) -> tuple[Stream, ...]:
    """The enabled streams of a port. Raises NetdynoError."""
    if len(port) > MOST_STREAMS:
        raise NetdynoError(f"{len(port)} streams of a port: {MOST_STREAMS} at most", None, code="too-many")
    return tuple(_read(index, one) for index, one in enumerate(port, 1) if one.get("enabled", True) is True)


def _read(index: int, raw: Mapping[str, Any]) -> Stream:
    try:
        return _stream(index, raw)
    except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError, binascii.Error) as error:
        why = f"stream {index} is not as T-Rex has streams: {type(error).__name__} {error}"
        raise NetdynoError(printable(why[:200]), None, code="wrong-format") from error


def _stream(index: int, raw: Mapping[str, Any]) -> Stream:
    mode, flags = raw["mode"], number(raw, "flags", 16)
    frame = base64.b64decode(raw["packet"]["binary"], validate=True)
    instructions = raw["vm"]["instructions"]
    rule = raw.get("flow_stats") or {}
    found = Stream(
        index=index,
        line=number(raw, "line", default=0),
        name=_name(raw.get("name")),
        next=_name(raw.get("next")),
        self_start=raw.get("self_start", True) is True,
        isg_us=_time(raw.get("isg", 0)),
        action_count=number(raw, "action_count", default=0),
        source_is_own=bool(flags & 1),
        destination_is_own=flags >> 1 & 3 == 1,
        mode=str(mode["type"]),
        rate=OwnRate(str(mode["rate"]["type"]), Fraction(str(float(mode["rate"]["value"])))),
        frames=number(mode, "total_pkts", default=0) or number(mode, "pkts_per_burst", default=0),
        gap_us=_time(mode.get("ibg", 0)),
        count=number(mode, "count", default=0 if mode["type"] == BURSTS else 1),
        frame=frame + bytes(max(0, PADDED - len(frame))),
        padding=max(0, PADDED - len(frame)),
        instructions=tuple(dict(one) for one in instructions),
        cache=number(raw["vm"], "cache", MOST_CACHED + 1, default=0),
        seed=number(raw, "random_seed", default=0),
        rule=str(rule.get("rule_type", "stats")) if rule.get("enabled") is True else "",
        is_pinned=raw.get("core_id", -1) not in (-1, None),
    )
    if not LEAST_FRAME <= len(frame) <= MOST_TEMPLATE:
        found.refuse(f"a frame of {len(frame)} bytes without FCS", f"{LEAST_FRAME} to {MOST_FRAME}")
    if len(instructions) > MOST_INSTRUCTIONS:
        found.refuse(f"a program of {len(instructions)} instructions", f"{MOST_INSTRUCTIONS} at most")
    if found.mode not in (CONTINUOUS, BURST, BURSTS):
        found.refuse(f"the mode `{printable(found.mode[:40])}`")
    if found.rate.unit not in ("pps", "bps_L1", "bps_L2", "percentage") or found.rate.value <= 0:
        found.refuse(f"the rate {found.rate.value} `{printable(found.rate.unit[:40])}`")
    if found.mode != CONTINUOUS and found.frames < 1:
        found.refuse("a burst of no frames")
    if flags & 8:
        found.refuse("`dummy_stream`: it sends nothing")
    if raw.get("start_paused", False) is not False:
        found.refuse("`start_paused`: it waits for somebody")
    return found


def number(raw: Mapping[str, Any], name: str, below: int = LARGEST, default: int | None = None) -> int:
    """A whole number of JSON from 0 on, below a limit. Raises ValueError, KeyError."""
    value = raw[name] if default is None else raw.get(name, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < below:
        raise ValueError(f"`{name}` is {str(value)[:40]}")
    return value


def _name(value: Any) -> str:
    return "" if value is None or value == -1 else str(value)[:200]


def _time(value: Any) -> Fraction:
    found = Fraction(str(float(value)))
    if not 0 <= found < 10**12:
        raise ValueError(f"a time of {str(value)[:40]} us")
    return found
