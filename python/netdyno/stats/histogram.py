"""Reads HDR histograms (V2, deflate, base64) as the engine stores them.

The format is HdrHistogram's: an outer header (cookie 0x1c849304, length, zlib stream); inside, big endian:
cookie 0x1c849303, payload length, normalizing offset, significant digits, lowest and highest trackable
value, conversion ratio (40 bytes); then counts in order of value as ZigZag LEB128 numbers of at most nine
bytes, a negative one standing for that many empty counts.

A record may come from a stranger: what is decoded is bounded in size and in time.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from operator import itemgetter

from netdyno.values.outcome import Latency

_COMPRESSED_V2 = 0x1C849304
_ENCODED_V2 = 0x1C849303
_HEADER_BYTES = 40
_COOKIE_MASK = 0xFFFFFF0F
"""The second lowest hex digit of a cookie tells the word size, which V2 does not use."""

MOST_DIGITS = 5
"""Of significance: what HdrHistogram allows at most. netdyno's own have 3."""
MOST_BYTES = 1 << 19
"""Of a histogram unpacked, twice what the counts of 3 digits up to 10 seconds can take."""
_LONG = re.compile(rb"[\x80-\xff]{8}.|[\x80-\xff]{1,7}[\x00-\x7f]", re.DOTALL)
"""A number of several bytes; the ninth carries eight bits."""
_LAST_VALUE = (1 << 63) - 1
"""No bucket of a histogram of 64-bit values ends above it."""


@dataclass(frozen=True)
class Histogram:
    """Counts by the greatest value each bucket holds, ascending; empty buckets left out."""

    buckets: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        """Values recorded."""
        return self._counted[-1] if self.buckets else 0

    @cached_property
    def _counted(self) -> tuple[int, ...]:
        """Values recorded in each bucket and those before it."""
        return tuple(accumulate(map(itemgetter(1), self.buckets)))

    def percentile(self, share: Fraction) -> int | None:
        """The value that `share` of the recorded ones do not exceed; None if too few were recorded to say.

        Needs 10 / (1 - share) samples: 1,000 for the 99th percentile.
        """
        total = self.count
        if total == 0 or (share < 1 and total * (1 - share) < 10):
            return None
        wanted = -(-total * share.numerator // share.denominator)
        return self.buckets[bisect_left(self._counted, wanted)][0]


def percentiles(latency: Latency, shares: Iterable[Fraction]) -> list[int | None]:
    """Percentiles of a stream's latency, ns, each None if too few were recorded to say.

    A bucket stands for its upper end, which may lie above the greatest value there was: never said is more.
    """
    histogram = decode(latency.histogram)
    found = [histogram.percentile(share) for share in shares]
    return [None if value is None else min(value, latency.max_ns) for value in found]


@lru_cache(maxsize=16)
def decode(text: str) -> Histogram:
    """A histogram from its stored form, of the last ones read without reading it again.

    Raises ValueError if it is not one.
    """
    return _counts(*_unpacked(text))


def check(text: str) -> None:
    """Raises ValueError, as `decode` does, for what is no histogram, in a third of the time."""
    payload, digits, lowest = _unpacked(text)
    # Most end long before the last count that there could be, and whole.
    if payload[-1:] >= b"\x80" or _spans(payload) > _end(digits, lowest):
        _counts(payload, digits, lowest)


def _unpacked(text: str) -> tuple[bytes, int, int]:
    """The payload, the digits of significance, and the lowest value."""
    try:
        blob = base64.b64decode(text[: 2 * MOST_BYTES], validate=True)
        cookie, length = struct.unpack_from(">ii", blob)
        if cookie & _COOKIE_MASK != _COMPRESSED_V2 & _COOKIE_MASK:
            raise ValueError(f"not a compressed V2 HDR histogram: cookie {cookie:#x}")
        unpacking = zlib.decompressobj()
        inner = unpacking.decompress(blob[8 : 8 + length], MOST_BYTES)
        cookie, payload, _, digits, lowest, _, _ = struct.unpack_from(">iiiiqqd", inner)
    except (binascii.Error, struct.error, zlib.error) as error:
        raise ValueError(f"not an HDR histogram: {error}") from error
    if cookie & _COOKIE_MASK != _ENCODED_V2 & _COOKIE_MASK:
        raise ValueError(f"not a V2 HDR histogram: cookie {cookie:#x}")
    if unpacking.unconsumed_tail or not unpacking.eof:
        raise ValueError(f"an HDR histogram that ends early or is longer than {MOST_BYTES} bytes")
    if not (1 <= digits <= MOST_DIGITS and 1 <= lowest <= _LAST_VALUE >> 32):
        raise ValueError(f"an HDR histogram of {digits} digits from {lowest} on")
    if payload != len(inner) - _HEADER_BYTES:
        raise ValueError(f"an HDR histogram of {payload} bytes in {len(inner) - _HEADER_BYTES}")
    return inner[_HEADER_BYTES:], digits, lowest


def merge(histograms: Iterable[Histogram]) -> Histogram:
    """The histogram of all values together. Percentiles are never averaged."""
    total: dict[int, int] = {}
    for histogram in histograms:
        for value, n in histogram.buckets:
            total[value] = total.get(value, 0) + n
    return Histogram(tuple(sorted(total.items())))


def _spans(payload: bytes) -> int:
    """How many counts the numbers of a payload stand for, the empty ones too."""
    # Nearly all numbers are of one byte.
    raws = map(_number, _LONG.findall(payload))
    return sum(_LONG.sub(b"", payload).translate(_SPANS)) + sum(map(_span, raws))


def _number(long: bytes) -> int:
    number: int = long[-1]
    for byte in reversed(long[:-1]):
        number = number << 7 | byte & 0x7F
    return number


def _span(raw: int) -> int:
    return (raw + 1) >> 1 if raw & 1 else 1


_SPANS = bytes(map(_span, range(256)))
"""Of each number of one byte."""


def _end(digits: int, lowest: int) -> int:
    """How many counts there are at most, as `_LAST_VALUE` has it."""
    sub_bits = _sub_bits(digits)
    return (66 - lowest.bit_length() - sub_bits) << (sub_bits - 1)


def _sub_bits(digits: int) -> int:
    """Of the smallest power of two that tells 2 * 10^digits values apart."""
    distinct: int = 2 * 10**digits
    return (distinct - 1).bit_length()


def _counts(payload: bytes, digits: int, lowest: int) -> Histogram:
    unit = lowest.bit_length() - 1
    # The upper half of each bucket is used.
    half, end = 1 << (_sub_bits(digits) - 1), _end(digits, lowest)
    # One loop with hardly a call: a report reads thousands of these, of some thousand counts each. What a
    # count stands for changes at edges alone, of which the end is one.
    buckets: list[tuple[int, int]] = []
    append = buckets.append
    index = raw = shift = 0
    first, scale, edge = 1, unit, min(2 * half, end)
    for byte in payload:
        if shift == 0 and byte < 0x80:
            raw = byte
        elif shift == 56:  # the ninth byte carries eight bits
            raw |= byte << 56
            shift = 0
        else:
            raw |= (byte & 0x7F) << shift
            if byte >= 0x80:
                shift += 7
                continue
            shift = 0
        if raw & 1:
            index += (raw + 1) >> 1
        else:
            if raw:
                if index >= edge:
                    if index >= end:
                        raise ValueError(f"an HDR histogram with counts beyond {_LAST_VALUE}")
                    octave = index // half - 1
                    first, scale, edge = 1 - octave * half, octave + unit, min((octave + 2) * half, end)
                append((((index + first) << scale) - 1, raw >> 1))
            index += 1
        raw = 0
    if shift:
        raise ValueError("an HDR histogram ends within a number")
    return Histogram(tuple(buckets))
