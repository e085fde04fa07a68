"""Every number that people read is printed here: terminal, HTML, Markdown and sentences print the same text.

Rates have a decimal prefix and three or four digits (`14.66 Mpps`), counts have commas (`43,200`), times the
unit that fits (`9.3 ms`), shares a per cent sign (`98.5 %`). Rounding follows docs/units.md: a bound is
rounded to where it stays true, 99.97 % is never printed as 100 %, and what is more than nothing never as
nothing. CSV and JSON have `exact` numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

Claim = Literal["about", "at most", "at least"]
"""What a printed number says of the exact one: that it is about that, no more than that, or no less."""

_PREFIXES = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_TIMES = ((1, "ns", 1, 1000), (10**3, "us", 2, 1000), (10**6, "ms", 2, 1000), (10**9, "s", 2, 120))
"""Nanoseconds of each unit of time, its decimals, and from when on the next one is printed."""


def to_whole(number: Fraction | int, claim: Claim = "about") -> int:
    """The whole number that is printed. A bound is rounded away from what it bounds, so that what is claimed
    of it stays true; any other number to the nearest, half to even."""
    return _quotient(number.numerator, number.denominator, claim)


def fixed(number: Fraction | int, places: int, claim: Claim = "about") -> str:
    """`number` with that many decimals, exact whatever its size; rounded to where the claim stays true."""
    return _written(_quotient(number.numerator * 10**places, number.denominator, claim), places)


def _quotient(number: int, by: int, claim: Claim) -> int:
    """`number / by`, rounded as `to_whole` says. No Fraction is made: reports print thousands."""
    if claim == "at most":
        return -(-number // by)
    whole, rest = divmod(number, by)
    return whole + (claim == "about" and (2 * rest > by or (2 * rest == by and whole & 1 == 1)))


def _written(scaled: int, places: int) -> str:
    """The decimal digits of a number that was multiplied by 10^places."""
    sign, digits = ("-" if scaled < 0 else ""), str(abs(scaled)).rjust(places + 1, "0")
    return sign + (digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}")


def decimal(value: Fraction | int, places: int | None = None, claim: Claim = "about") -> str:
    """`value` with at most that many decimals; None: all of them if they end, else six."""
    number = Fraction(value)
    if places is None:
        twos = (number.denominator & -number.denominator).bit_length() - 1
        rest, fives = number.denominator >> twos, 0
        while rest % 5 == 0:
            rest, fives = rest // 5, fives + 1
        places = max(twos, fives) if rest == 1 else 6
    return _trim(fixed(number, places, claim))


def exact(number: Fraction | None, places: int = 6) -> str:
    """Digits for files: plain, at most so many decimals, empty if not measured."""
    return "" if number is None else decimal(number, places)


def whole(number: Fraction | int, claim: Claim = "at least") -> str:
    """Whole frames a second, cut as in the tables of RFC 2544; plain digits: `148809`."""
    return str(to_whole(number, claim))


def grouped(number: Fraction | int, places: int = 0) -> str:
    """`14,880,952.4`: thousands have commas; at most so many decimals."""
    digits, point, part = exact(Fraction(number), places).partition(".")
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    return f"{sign}{int(digits):,}{point}{part}"


PLURALS = ("bytes", "segments", "frames")
"""Units that are words, as they are printed of several."""


def with_unit(number: Fraction, unit: str) -> str:
    """`7 segments`, `1 segment`, `20.5 ms`; a unit that is empty is left out."""
    is_one = number == 1 and unit in PLURALS
    return f"{grouped(number, 6)} {unit.removesuffix('s') if is_one else unit}".strip()


def count(number: int) -> str:
    """A count for people: `43,200`."""
    return f"{number:,}"


def frames_a_second(number: Fraction) -> str:
    """A rate for detail tables, cut and not rounded as in the tables of RFC 2544: `148,809`, `999.9`."""
    step = 1 if abs(number) >= 1000 else 10
    return grouped(Fraction(int(number * step), step), 1)


RATES = {"fps": "pps", "bps": "bit/s", "conn/s": "conn/s"}
"""Units of values that are rates, and how they are printed."""


def rate(number: Fraction | float, unit: str, claim: Claim = "about", more: int = 0) -> str:
    """A rate with a decimal prefix: `810 kpps`, `14.66 Mpps`, `9.94 Gbps`. more: digits than usual."""
    over, under = number.as_integer_ratio()
    larger: tuple[int, str] | None = None
    for scale, prefix in _PREFIXES:
        if abs(over) >= scale * under:
            scaled, places = _mantissa(over, under * scale, scale, claim, more)
            if larger is not None and abs(scaled) >= 1000 * 10**places:
                # Rounded to the next prefix: 999.7 k is 1.00 M, as the number beside it may be.
                scale, prefix = larger
                scaled, places = _mantissa(over, under * scale, scale, claim, more)
            return f"{_written(scaled, places)} {prefix}{unit}"
        larger = (scale, prefix)
    return f"{_trim(_written(_quotient(over * 10 ** (1 + more), under, claim), 1 + more))} {unit}"


def searched(number: Fraction, claim: Claim = "at least") -> str:
    """A rate of frames that a search found, cut, with a fourth digit: it tells loads apart that differ in
    that. One that did not pass is `at most`."""
    return rate(number, "pps", claim, 1)


def _mantissa(over: int, under: int, scale: int, claim: Claim, more: int) -> tuple[int, int]:
    """`over / under` times 10^places, and these: three digits as they are printed, not before they were
    rounded: 99.96 k is `100`; of M and more two decimals."""
    tried = ((2, 10**6),) if scale >= 10**6 else ((2, 10), (1, 100), (0, 10**6))
    for fewest, end in tried:
        places = fewest + more
        scaled = _quotient(over * 10**places, under, claim)
        if abs(scaled) < end * 10**places:
            break
    return scaled, places


def memory(number: int) -> str:
    """Bytes of memory: `512 MiB`, `4.25 GiB`."""
    gib = Fraction(number, 2**30)
    return f"{decimal(gib, 2)} GiB" if gib >= 1 else f"{fixed(Fraction(number, 2**20), 0)} MiB"


def bits(number: Fraction | int, places: Sequence[int] = (9, 6, 3)) -> str:
    """Bits per second without loss of digits: `100 Gbit/s`, `9.523809523 Gbit/s`. places: decimals of G, M
    and k."""
    value = Fraction(number)
    for (factor, prefix), digits in zip(_PREFIXES[1:], places, strict=True):
        if value >= factor:
            return f"{decimal(value / factor, digits)} {prefix}bit/s"
    return f"{decimal(value, 3)} bit/s"


def percent(share: Fraction, places: int = 1, claim: Claim = "about", *, trim: bool = False) -> str:
    """A share as a percentage. 100 is printed for the whole only, and 0 for nothing only; a bound may be.

    trim: without zeros at its end, `90 %`.
    """
    shown = _trim if trim else str
    scaled = _quotient(share.numerator * 10 ** (places + 2), share.denominator, claim)
    if claim == "about":
        whole = 100 * 10**places
        if share < 1 and scaled >= whole:
            scaled = whole - 1
        if share > 0 and scaled == 0:
            return f"< {_written(1, places)} %"
    return f"{shown(_written(scaled, places))} %"


def share(number: Fraction) -> str:
    """A share per cent with the digits it has: `90 %`, `99.99 %`, `0.0123 %`; never rounded to all."""
    text = fixed(number * 100, 6)
    if Fraction(text) == number * 100:
        return f"{_trim(text)} %"
    if abs(number) >= Fraction(1, 1000):
        return percent(number, 3, trim=True)
    # Three digits, wherever they begin.
    places = 2
    while abs(number) * 10**places < 1:
        places += 1
    return f"{decimal(number * 100, places)} %"


def part(number: Fraction) -> str:
    """A share with one decimal, with three where it is small: `98.5 %`, `0.012 %`."""
    return percent(number, 1 if number >= Fraction(1, 100) else 3, trim=True)


def ratio(number: Fraction) -> str:
    """A share as tables of results have it, with three decimals; a smaller one than these show with its own
    digits: `93.257 %`, `0.00034 %`."""
    return share(number) if 0 < number < Fraction(1, 10**5) else percent(number, 3, trim=number in (0, 1))


def loss(number: Fraction) -> str:
    """A share of frames as first screens have it: `88.4 %`, `0.012 %`, `0.00034 %`."""
    return share(number) if 0 < number < Fraction(1, 10**5) else part(number)


def at_most(bound: Fraction) -> str:
    """A share of nothing that was counted, `0 (≤ 3.4e-9)`."""
    return f"0 (≤ {scientific(bound, 'at most')})"


def scientific(number: Fraction, claim: Claim = "about") -> str:
    """Two digits and an exponent, `3.4e-9`."""
    exponent = int(f"{float(number):e}".partition("e")[2])
    digits = to_whole(number * Fraction(10) ** (1 - exponent), claim)
    if digits >= 100:
        digits, exponent = digits // 10, exponent + 1
    return f"{digits // 10}.{digits % 10}e{exponent}"


def duration(ns: int | Fraction, claim: Claim = "about") -> str:
    """A time: `51 ns`, `12.14 us`, `30 s`, `12 min 30 s`."""
    over, under = ns.numerator, ns.denominator
    # What is rounded to the next unit is printed in it: 999,999 ns are 1 ms, as the number beside it may be.
    for scale, unit, places, end in _TIMES:
        scaled = _quotient(over * 10**places, under * scale, claim)
        if abs(scaled) < end * 10**places:
            return f"{_trim(_written(scaled, places))} {unit}"
    tenths = _quotient(over, under * 10**8, claim)
    minutes, rest = divmod(abs(tenths), 600)
    seconds = f" {_trim(fixed(Fraction(rest, 10), 1))} s" if rest else ""
    return f"{'-' if tenths < 0 else ''}{minutes} min{seconds}"


def milliseconds(ns: Fraction | int, claim: Claim = "about") -> str:
    """A time in milliseconds whatever its length, to the microsecond: `12.5 ms`."""
    return f"{decimal(Fraction(ns) / 10**6, 3, claim)} ms"


def latency(ns: int | Fraction) -> str:
    """A time that a frame took. None takes no time: a 0 is less than the clock can tell."""
    return "below the clock's resolution" if ns == 0 else duration(ns)


def instant(ns: int | Fraction) -> str:
    """A time of a clock that began at 0, to the microsecond: `0:00:01.500000`, `12:02:05.000317`."""
    microseconds = round(Fraction(ns) / 1000)
    seconds, rest = divmod(abs(microseconds), 10**6)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    return f"{'-' if microseconds < 0 else ''}{hours}:{minute:02}:{second:02}.{rest:06}"


def clock(seconds: float) -> str:
    """Hours, minutes and seconds of a wait: `1:02:03` or `2:03`."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def size(sizes: Sequence[tuple[int, int]]) -> str:
    """Frame sizes with FCS: `64 B`, `28 x 64 B + 16 x 590 B + 4 x 1514 B (mean 362.5 B)`."""
    if len(sizes) == 1:
        return f"{sizes[0][0]} B"
    mean = Fraction(sum(octets * weight for octets, weight in sizes), sum(weight for _, weight in sizes))
    return " + ".join(f"{w} x {s} B" for s, w in sizes) + f" (mean {decimal(mean, 2)} B)"


def _trim(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
