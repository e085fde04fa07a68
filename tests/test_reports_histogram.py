"""Histograms encoded by HdrHistogram's Python package (0.10.8), and what that package says of them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from netdyno.reports.histogram import decode, merge

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


@pytest.mark.parametrize("text", ["", "!", "AAAA", THOUSAND[:40], "AAAAAAAAAAAAAAAAAAAAAAAAAAAA"])
def test_what_is_no_histogram_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="HDR"):
        decode(text)


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
