"""Histograms encoded by HdrHistogram's Python package (0.10.8), and what that package says of them."""

from __future__ import annotations

import base64
import struct
import time
import zlib
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netdyno.stats.histogram import MOST_BYTES, check, decode, merge, percentiles, percentiles_together
from netdyno.values.outcome import Latency

# Lowest 10, highest 10^10, three digits; one each of the values below. The bucket ends are what the
# package's iterator over recorded values reports.
MIXED = "HISTFAAAADx4nJNpmSzMwMAgzQABzFCaC4iZQrifMNh/gAgwMgkz3Wdk+srIxMTJ9JuZiWl/GdPC+YxM342YAASaCok="
MIXED_ENDS = [15, 103, 1007, 1999, 2007, 2055, 4095, 4103, 1000447, 1000341503, 9000976383]

# Lowest 1: 990 times 1,000, 9 times 2,000, once 50,000.
THOUSAND = "HISTFAAAACt4nJNpmSzMwMDAxQABzFCaEYiZQrifMNh/gAic59/Df5ZfaKInEwCFNgc8"


def test_every_bucket_is_where_the_reference_puts_it() -> None:
    assert decode(MIXED).buckets == tuple((end, 1) for end in MIXED_ENDS)


def test_percentiles_are_those_of_the_reference() -> None:
    histogram = decode(THOUSAND)
    assert histogram.count == 1000
    assert histogram.percentile(Fraction(1, 2)) == 1000
    assert histogram.percentile(Fraction(99, 100)) == 1000


def test_too_few_samples_give_no_percentile() -> None:
    histogram = decode(THOUSAND)
    assert histogram.percentile(Fraction(99, 100)) is not None, "10 / (1 - 0.99) = 1,000 are enough"
    assert histogram.percentile(Fraction(999, 1000)) is None
    assert decode(MIXED).percentile(Fraction(1, 2)) is None, "eleven are fewer than 20"


def test_merging_adds_counts() -> None:
    ten = merge([decode(THOUSAND)] * 10)
    assert ten.count == 10_000
    # 9,900 of 1,000 ns, then 90 of 2,000 ns: the 9,990th is one of these.
    assert ten.percentile(Fraction(999, 1000)) == 2000


READERS = pytest.mark.parametrize("read", [decode, check])


@READERS
@pytest.mark.parametrize("text", ["", "!", "AAAA", THOUSAND[:40], "AAAAAAAAAAAAAAAAAAAAAAAAAAAA"])
def test_what_is_no_histogram_is_an_error(text: str, read: Callable[[str], object]) -> None:
    with pytest.raises(ValueError, match="HDR"):
        read(text)


def encoded(payload: bytes, digits: int = 3, lowest: int = 1, claims: int | None = None) -> str:
    """As a stranger may write it."""
    head = struct.pack(">iiiiqqd", 0x1C849303, claims or len(payload), 0, digits, lowest, 10**10, 1.0)
    packed = zlib.compress(head + payload)
    return base64.b64encode(struct.pack(">ii", 0x1C849304, len(packed)) + packed).decode()


NEARLY_FOR_EVER = b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
"""A skip of 2^62 and more empty counts."""


@READERS
@pytest.mark.parametrize(
    "text",
    [
        encoded(b"\x02", digits=-1),
        encoded(b"\x02", digits=0),
        encoded(b"\x02", digits=6),
        encoded(b"\x02", digits=40_000_000),
        encoded(b"\x02", lowest=-1),
        encoded(b"\x02", lowest=1 << 62),
        encoded(NEARLY_FOR_EVER + b"\x02"),
        encoded(NEARLY_FOR_EVER * 1000 + b"\x02"),
        encoded(bytes(64 << 20)),
        encoded(bytes(MOST_BYTES)),
        encoded(b"\x02", claims=99),
        encoded(b"\x02", claims=-1),
        encoded(b"\x80"),
        "A" * (8 << 20),
    ],
    ids=range(14),
)
def test_a_hostile_histogram_is_an_error_at_once(text: str, read: Callable[[str], object]) -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match="HDR"):
        read(text)
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(("digits", "lowest"), [(1, 1), (3, 1), (5, 1), (3, 1000)])
def test_the_last_bucket_ends_where_64_bits_do(digits: int, lowest: int) -> None:
    # A count stands for values 0 to 2 * 2^b - 1 first, then for b upper halves, up to 2^63 - 1 in all.
    half = 1 << ((2 * 10**digits - 1).bit_length() - 1)
    counts = (63 - half.bit_length() - lowest.bit_length() + 3) * half

    def skip(n: int) -> bytes:
        number, out = 2 * n - 1, b""
        while number >= 0x80:
            out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
        return out + bytes([number])

    last = encoded(skip(counts - 1) + b"\x02", digits, lowest)
    assert decode(last).buckets == (((1 << 63) - 1, 1),)
    check(last)
    for read in (decode, check):
        with pytest.raises(ValueError, match="HDR"):
            read(encoded(skip(counts) + b"\x02", digits, lowest))


@given(st.binary(max_size=60), st.sampled_from([1, 3, 5]))
def test_check_of_any_payload_agrees_with_decode(payload: bytes, digits: int) -> None:
    text = encoded(payload, digits, claims=len(payload))
    assert refuses(check, text) == refuses(decode, text)


NUMBERS = [b"\x00", b"\x01", b"\x02", b"\x7e", b"\x81\x04", b"\xff\x01", b"\x80\x00"]
"""Nothing, nothing in one bucket, 1, 63, nothing in 257, nothing in 128, nothing."""


@given(st.lists(st.sampled_from(NUMBERS), max_size=60), st.sampled_from([1, 8, 1000]))
def test_percentiles_are_those_of_the_buckets(numbers: list[bytes], lowest: int) -> None:
    payload = b"".join(numbers)
    text = encoded(payload, lowest=lowest, claims=len(payload))
    shares = [Fraction(0), Fraction(1, 2), Fraction(9, 10), Fraction(99, 100), Fraction(1)]
    found = percentiles(Latency(1, 0, 0, 1 << 63, 0, 0, text), shares)
    assert found == [decode(text).percentile(share) for share in shares]


def refuses(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return True
    return False


def test_no_percentile_is_above_the_greatest_value() -> None:
    """A bucket of 3 digits around 50,000 is 32 wide: 50,015 is its end, and 50,000 was recorded."""
    timed = Latency(1000, 1000, 1_058_000, 50_000, 0, 0, THOUSAND)
    assert decode(THOUSAND).buckets[-1][0] > 50_000
    assert percentiles(timed, [Fraction(99, 100), Fraction(999, 1000), Fraction(1)]) == [1000, None, 50_000]


def test_the_reference_agrees_on_a_random_histogram() -> None:
    reference = pytest.importorskip("hdrh.histogram", reason="the package hdrhistogram is not installed")
    import random

    source = random.Random(11)
    theirs = reference.HdrHistogram(1, 10**10, 3)
    for _ in range(200_000):
        theirs.record_value(int(source.lognormvariate(9, 1.5)) + 1)
    ours = decode(theirs.encode().decode())
    assert ours.count == theirs.total_count
    for percent in (50, 90, 99, 99.9, 99.99):
        assert ours.percentile(Fraction(str(percent)) / 100) == theirs.get_value_at_percentile(percent)


def test_percentiles_of_several_streams_are_those_of_all_their_values() -> None:
    """Of a thousand too few are above the 99.9th percentile; of ten thousand alike that is known."""
    one = Latency(1000, 1000, 1_058_000, 50_000, 0, 0, THOUSAND)
    shares = [Fraction(1, 2), Fraction(99, 100), Fraction(999, 1000)]
    assert percentiles_together([one], shares) == percentiles(one, shares) == [1000, 1000, None]
    assert percentiles_together([one] * 10, shares) == [1000, 1000, 2000]
