"""The number printer at the edges of docs/units.md: cut, rounded, bounded, never all or none."""

from __future__ import annotations

from fractions import Fraction

import pytest
from netdyno.values import number

LINE = Fraction(10**10, 672)
"""14,880,952.38 frames of 64 bytes a second on 10 Gbit/s."""


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (number.rate(14_660_000, "pps"), "14.66 Mpps"),
        (number.rate(148_809, "pps"), "149 kpps"),
        (number.rate(9_940_000_000, "bps"), "9.94 Gbps"),
        (number.rate(0, "pps"), "0 pps"),
        (number.count(43_200), "43,200"),
        (number.count(0), "0"),
        (number.grouped(Fraction(29_761_904, 2)), "14,880,952"),
        (number.frames_a_second(LINE), "14,880,952"),
        (number.frames_a_second(Fraction(-3, 2)), "-1.5"),
        (number.whole(Fraction(10**8, 672)), "148809"),
        (number.duration(9_300_000), "9.3 ms"),
        (number.duration(12_140), "12.14 us"),
        (number.duration(0), "0 ns"),
        (number.milliseconds(9_324_000), "9.324 ms"),
        (number.percent(Fraction(985, 1000)), "98.5 %"),
        (number.percent(Fraction(9, 10), 2, trim=True), "90 %"),
        (number.bits(100 * 10**9), "100 Gbit/s"),
        (number.bits(Fraction(999)), "999 bit/s"),
        (number.clock(3723), "1:02:03"),
        (number.instant(-1_500_000_000), "-0:00:01.500000"),
        (number.size([(28, 64), (4, 64)][:1]), "28 B"),
    ],
)
def test_quantity_for_people_is_printed_in_its_one_form(shown: str, printed: str) -> None:
    assert shown == printed


@pytest.mark.parametrize("places", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("trim", [False, True])
def test_share_below_all_is_never_printed_as_all(places: int, trim: bool) -> None:
    for share in (Fraction(9997, 10_000), 1 - Fraction(1, 10**9), Fraction(99_999, 100_000)):
        assert Fraction(number.percent(share, places, trim=trim).removesuffix(" %")) < 100
        assert number.share(share) != "100 %"
    assert Fraction(number.percent(Fraction(1), places, trim=trim).removesuffix(" %")) == 100


@pytest.mark.parametrize("places", [1, 2, 3, 4])
def test_share_above_none_is_never_printed_as_none(places: int) -> None:
    assert (
        number.percent(Fraction(1, 10**9), places) == f"< {number.fixed(Fraction(1, 10**places), places)} %"
    )
    assert number.share(Fraction(1, 10**9)) == "0.0000001 %"
    assert Fraction(number.percent(Fraction(0), places).removesuffix(" %")) == 0


@pytest.mark.parametrize("exact", [LINE, Fraction(999_499, 1000), Fraction(1, 3), Fraction(10**12 - 1)])
def test_bound_is_rounded_to_where_it_stays_true(exact: Fraction) -> None:
    scales = {"pps": 1, "kpps": 10**3, "Mpps": 10**6, "Gpps": 10**9, "Tpps": 10**12}

    def read(text: str) -> Fraction:
        digits, unit = text.split(" ")
        return Fraction(digits) * scales[unit]

    assert read(number.rate(exact, "pps", "at most")) >= exact
    assert read(number.rate(exact, "pps", "at least")) <= exact
    assert Fraction(number.decimal(exact, 2, "at most")) >= exact
    assert Fraction(number.decimal(exact, 2, "at least")) <= exact
    assert Fraction(number.percent(exact, 2, "at most").removesuffix(" %")) >= exact * 100


def test_number_for_a_file_is_plain_and_empty_when_unknown() -> None:
    assert number.exact(LINE) == "14880952.380952"
    assert number.exact(Fraction(14_880_952)) == "14880952"
    assert number.exact(None) == ""
    assert number.decimal(Fraction(1, 8)) == "0.125"
    assert number.decimal(Fraction(1, 3)) == "0.333333"
