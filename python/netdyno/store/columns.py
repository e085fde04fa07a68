"""How values stand in the columns: exact numbers, times, lists and series. Both ways."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from netdyno.trial import Segment


def from_fraction(number: Fraction | None) -> str | None:
    """`14880952` or `7/3`."""
    return None if number is None else str(number)


def to_fraction(text: str | None) -> Fraction | None:
    """What `from_fraction` wrote."""
    return None if text is None else Fraction(text)


def from_time(time: datetime) -> str:
    """UTC, ISO 8601, microseconds: `2026-11-21T19:12:03.123456Z`."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def to_time(text: str) -> datetime:
    """What `from_time` wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


def from_sentences(sentences: Iterable[str]) -> str:
    """A list of sentences as JSON."""
    return json.dumps(list(sentences), ensure_ascii=False)


def to_sentences(text: str) -> tuple[str, ...]:
    """What `from_sentences` wrote."""
    return tuple(json.loads(text))


def from_series(counts: Sequence[int]) -> bytes:
    """Unsigned 64 bit, little endian, packed, then zlib: about a byte and a half a sample."""
    return zlib.compress(struct.pack(f"<{len(counts)}Q", *counts), 6)


def to_series(samples: int, data: bytes) -> tuple[int, ...]:
    """What `from_series` wrote. A record from elsewhere cannot make it unpack more than it says."""
    unpacked = zlib.decompressobj().decompress(data, 8 * samples + 1)
    return struct.unpack(f"<{samples}Q", unpacked)


def from_segments(segments: Iterable[Segment]) -> str:
    """Segments as JSON, rates exact."""
    rows: list[dict[str, Any]] = [
        {
            "name": segment.name,
            "duration_ns": segment.duration_ns,
            "from_fps": str(segment.from_fps),
            "to_fps": str(segment.to_fps),
        }
        for segment in segments
    ]
    return json.dumps(rows)


def to_segments(text: str) -> tuple[Segment, ...]:
    """What `from_segments` wrote."""
    return tuple(
        Segment(row["name"], row["duration_ns"], Fraction(row["from_fps"]), Fraction(row["to_fps"]))
        for row in json.loads(text)
    )
