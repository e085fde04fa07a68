"""Numbers that a profile writes into its frames, at any offset of headers and payload."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field

from netdyno.errors import Problem
from netdyno.plan.fields import Element, Number64Field
from netdyno.plan.headers import PROBE, length

MOST_WRITES = 64
"""The most writes of a profile: each costs every frame a few nanoseconds."""
LAST = 9216
"""No frame is longer, bytes."""
SUMS = {"ipv4": 10, "udp": 6, "tcp": 16, "echo": 2}
"""Offsets of the checksums of headers, which are computed: crates/frame/src/headers/."""
ADDRESSES = {"ipv4": (12, 4), "ipv6": (8, 16)}
"""Offset of a header's source address, and the length of it and of the destination behind."""


class Write(Element):
    """A number in the frame: `(value + add) << shift`, of which the bits in `mask` are written."""

    at: int = Field(ge=0, lt=LAST)
    """Offset of its first byte; that of the destination MAC address is 0. Tags of a link move it."""
    bytes: int = Field(ge=1, le=8)
    """Its length, big endian."""
    value: Number64Field
    """The value in each flow: a number, `list`, `step`, `range` or `random`."""
    mask: int | None = Field(default=None, ge=0, lt=2**64)
    """The bits that are written; the others stay. Without one all are."""
    shift: int = Field(default=0, ge=-63, le=63)
    """Bits to the left; negative: to the right."""
    add: int = Field(default=0, ge=-(2**63), lt=2**63)
    """What is added to the value."""

    @property
    def end(self) -> int:
        """The offset behind its last byte."""
        return self.at + self.bytes


def find_overlaps(writes: Sequence[Write], headers: Sequence[Any], *, probe: bool) -> Iterator[Problem]:
    """Writes that would change the probe or a checksum, which are the tester's to fill in."""
    taken = []
    for index, header in enumerate(headers):
        if header.type in SUMS and getattr(header, "checksum", True):
            start = length(headers[:index]) + SUMS[header.type]
            taken.append((f"the checksum of `{header.type}`", start, start + 2))
    if probe:
        start = length(headers)
        taken.append(("the probe", start, start + PROBE))
    for index, write in enumerate(writes):
        for what, start, end in taken:
            if write.at < end and start < write.end:
                hint = f"bytes {start} to {end - 1} are filled in by the tester"
                if what == "the probe":
                    hint += ": write before or behind them, or `probe: false`"
                yield Problem(
                    f"bytes {write.at} to {write.end - 1} overlap {what}",
                    hint,
                    (index, "at"),
                    code="conflict",
                )


def write_out(
    writes: Sequence[Write], headers: Sequence[Any], *, reverse: bool, macs: bool, tags: int
) -> list[dict[str, Any]]:
    """The writes of a stream as the engine takes them: crates/frame/src/write.rs.

    headers: of the profile, without tags of the link. reverse: source and destination are swapped, so that
    what is written into an address goes with it; macs: those of Ethernet too. tags: bytes of tags that the
    link adds behind the first 12.
    """
    moved = []
    for write in writes:
        at = write.at
        for index, header in enumerate(headers if reverse else ()):
            start = length(headers[:index])
            if header.type in ADDRESSES:
                at = _swapped(write, start + ADDRESSES[header.type][0], ADDRESSES[header.type][1], at)
            elif index == 0 and macs:
                at = _swapped(write, 0, 6, at)
        found = {"at": at + (tags if at >= 12 else 0), **write.model_dump(exclude={"at"}, exclude_none=True)}
        moved.append(found)
    return moved


def _swapped(write: Write, first: int, size: int, at: int) -> int:
    """Where a write is when two fields of `size` bytes are swapped, the first at `first`, if it is in one."""
    if first <= write.at and write.end <= first + size:
        return at + size
    if first + size <= write.at and write.end <= first + 2 * size:
        return at - size
    return at
