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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, compress
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
        wanted = _count_lowest(self.count, share)
        return None if wanted is None else self.buckets[bisect_left(self._counted, wanted)][0]


def _count_lowest(total: int, share: Fraction) -> int | None:
    """How many values the lowest `share` of them are; None if too few were recorded to say."""
    if total == 0 or 0 < total * (share.denominator - share.numerator) < 10 * share.denominator:
        return None
    return max(1, -(-total * share.numerator // share.denominator))


def percentiles(latency: Latency, shares: Iterable[Fraction]) -> list[int | None]:
    """Percentiles of a stream's latency, ns, each None if too few were recorded to say.

    A bucket stands for its upper end, which may lie above the greatest value there was: never said is more.
    """
    numbers = _numbers(latency.histogram)
    counted = [*accumulate(numbers.counts)]
    found: list[int | None] = []
    for share in shares:
        wanted = _count_lowest(counted[-1] if counted else 0, share)
        if wanted is None:
            found.append(None)
        else:
            # Of the few that are asked for: the values of all buckets, thousands, take twice as long.
            place = sum(numbers.spans[: bisect_left(counted, wanted)])
            found.append(min(numbers.end(place), latency.max_ns))
    return found


@lru_cache(maxsize=16)
def decode(text: str) -> Histogram:
    """A histogram from its stored form, of the last ones read without reading it again.

    Raises ValueError if it is not one.
    """
    return _numbers(text).histogram()


def check(text: str) -> None:
    """Raises ValueError, as `decode` does, for what is no histogram, in a fourth of the time."""
    _numbers(text)


def _unpack(text: str) -> tuple[bytes, int, int]:
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


def percentiles_together(latencies: Sequence[Latency], shares: Iterable[Fraction]) -> list[int | None]:
    """As `percentiles`, of the latencies of several streams together."""
    if len(latencies) == 1:
        return percentiles(latencies[0], shares)
    every, most = merge(decode(one.histogram) for one in latencies), max(one.max_ns for one in latencies)
    found = map(every.percentile, shares)
    return [None if one is None else min(one, most) for one in found]


@dataclass(frozen=True)
class _Numbers:
    """The numbers of a histogram, in their order."""

    spans: list[int]
    """How many buckets each stands for."""
    counts: list[int]
    """What each counts: 0 for empty buckets, which may be several."""
    half: int
    """Buckets of an octave, all of one width; the first octave has twice as many."""
    unit_bits: int
    """Of the width of the first octave's buckets."""

    def filled(self) -> list[int]:
        """The places of the buckets that are not empty."""
        return [*compress(accumulate(self.spans, initial=0), self.counts)]

    def end(self, place: int) -> int:
        """The greatest value of the bucket at a place."""
        octave = self._octave(place)
        return ((place + 1 - octave * self.half) << (octave + self.unit_bits)) - 1

    def histogram(self) -> Histogram:
        filled, ends = self.filled(), list[int]()
        # As `end` does, an octave at once: there are thousands of buckets.
        while len(ends) < len(filled):
            octave = self._octave(filled[len(ends)])
            first, bits = 1 - octave * self.half, octave + self.unit_bits
            beyond = bisect_left(filled, (octave + 2) * self.half)
            ends += [((place + first) << bits) - 1 for place in filled[len(ends) : beyond]]
        return Histogram(tuple(zip(ends, filter(None, self.counts), strict=True)))

    def _octave(self, place: int) -> int:
        return max(place // self.half - 1, 0)


def _numbers(text: str) -> _Numbers:
    payload, digits, lowest = _unpack(text)
    numbers = _NUMBER.findall(payload)
    if numbers and numbers[-1][-1] & 0x80 and len(numbers[-1]) < _MOST_LONG:
        raise ValueError("an HDR histogram ends within a number")
    spans, counts = [*map(_SPANS.__getitem__, numbers)], [*map(_COUNTS.__getitem__, numbers)]
    found = _Numbers(spans, counts, 1 << (_sub_bits(digits) - 1), lowest.bit_length() - 1)
    most = _most(digits, lowest)
    # Most end long before the last bucket that there could be.
    if sum(spans) > most and found.filled()[-1:] >= [most]:
        raise ValueError(f"an HDR histogram with counts beyond {_LAST_VALUE}")
    return found


_MOST_LONG = 9
"""Bytes of a number. The ninth one carries eight bits."""
_NUMBER = re.compile(rb"[\x80-\xff]{0,8}.", re.DOTALL)


class _Read(dict[bytes, int]):
    """What numbers stand for; of those of one byte or two, nearly all of thousands, read once."""

    def __init__(self, read: Callable[[int], int]) -> None:
        self._read = read

    def __missing__(self, long: bytes) -> int:
        number: int = long[-1]
        for byte in reversed(long[:-1]):
            number = number << 7 | byte & 0x7F
        found = self._read(number)
        if len(long) <= 2:
            self[long] = found
        return found


_SPANS = _Read(lambda raw: (raw + 1) >> 1 if raw & 1 else 1)
_COUNTS = _Read(lambda raw: 0 if raw & 1 else raw >> 1)


def _most(digits: int, lowest: int) -> int:
    """How many buckets there are at most, as `_LAST_VALUE` has it."""
    sub_bits = _sub_bits(digits)
    return (66 - lowest.bit_length() - sub_bits) << (sub_bits - 1)


def _sub_bits(digits: int) -> int:
    """Of the smallest power of two that tells 2 * 10^digits values apart."""
    distinct: int = 2 * 10**digits
    return (distinct - 1).bit_length()
