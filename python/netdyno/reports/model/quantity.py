"""Numbers as engineers print them: decimal prefixes, a point in any locale, no rounding into a claim."""

from __future__ import annotations

from fractions import Fraction

from netdyno.stats.intervals import loss_bound
from netdyno.values.mixes import mean_size
from netdyno.values.quantities import Claim, to_whole

_PREFIXES = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_TIMES = ((1, "ns", 1, 1000), (10**3, "us", 2, 1000), (10**6, "ms", 2, 1000), (10**9, "s", 2, 120))
"""Nanoseconds of each unit of time, its decimals, and from when on the next one is printed."""


def fixed(number: Fraction | int, places: int, claim: Claim = "about") -> str:
    """`number` with that many decimals, exact whatever its size; rounded to where the claim stays true."""
    scaled = to_whole(Fraction(number) * 10**places, claim)
    sign, digits = ("-" if scaled < 0 else ""), str(abs(scaled)).rjust(places + 1, "0")
    return sign + (digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}")


def rate(number: Fraction | int, unit: str, claim: Claim = "about") -> str:
    """A rate with a decimal prefix: `810 kpps`, `14.66 Mpps`, `9.94 Gbps`."""
    value = Fraction(number)
    larger: tuple[int, str] | None = None
    for scale, prefix in _PREFIXES:
        if abs(value) >= scale:
            text = _mantissa(value / scale, scale, claim)
            if larger is not None and abs(Fraction(text)) >= 1000:
                # Rounded to the next prefix: 999.7 k is 1.00 M, as the number beside it may be.
                return f"{_mantissa(value / larger[0], larger[0], claim)} {larger[1]}{unit}"
            return f"{text} {prefix}{unit}"
        larger = (scale, prefix)
    return f"{_trim(fixed(value, 1, claim))} {unit}"


def _mantissa(number: Fraction, scale: int, claim: Claim) -> str:
    """Three digits as they are printed, not before they were rounded: 99.96 k is `100`; of M and more two
    decimals."""
    if scale >= 10**6:
        return fixed(number, 2, claim)
    tried = (fixed(number, places, claim) for places in (2, 1, 0))
    return next(text for text, end in zip(tried, (10, 100, 10**6), strict=True) if abs(Fraction(text)) < end)


def percent(share: Fraction, places: int = 1, claim: Claim = "about") -> str:
    """A share as a percentage. 100 is printed for the whole only, and 0 for nothing only; a bound may be."""
    text = fixed(share * 100, places, claim)
    if claim != "about":
        return f"{text} %"
    least = Fraction(1, 10**places)
    if share < 1 and Fraction(text) >= 100:
        text = fixed(100 - least, places)
    if share > 0 and Fraction(text) == 0:
        return f"< {fixed(least, places)} %"
    return f"{text} %"


def loss(lost: int, offered: int) -> str:
    """A loss ratio. No loss is the bound it is: at most 3/N with 95 % confidence (rule of three)."""
    if offered == 0:
        return "n/a"
    if lost == 0:
        return f"0 (≤ {scientific(loss_bound(offered), 'at most')} at 95 %)"
    return percent(Fraction(lost, offered), 3) if lost > 0 else f"{lost} frames (more received than sent)"


def none_lost(frames: int) -> str:
    """The loss ratio of so many frames of which none was lost, `0 (≤ 3.4e-9)`."""
    return at_most(loss_bound(frames))


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
    value = Fraction(ns)
    # What is rounded to the next unit is printed in it: 999,999 ns are 1 ms, as the number beside it may be.
    for scale, unit, places, end in _TIMES:
        text = fixed(value / scale, places, claim)
        if abs(Fraction(text)) < end:
            return f"{_trim(text)} {unit}"
    tenths = to_whole(value / 10**8, claim)
    minutes, rest = divmod(abs(tenths), 600)
    seconds = f" {_trim(fixed(Fraction(rest, 10), 1))} s" if rest else ""
    return f"{'-' if tenths < 0 else ''}{minutes} min{seconds}"


def share(number: Fraction) -> str:
    """A share per cent with the digits it has: `90 %`, `99.99 %`, `0.0123 %`; never rounded to all."""
    text = fixed(number * 100, 6)
    if Fraction(text) == number * 100:
        return f"{_trim(text)} %"
    if abs(number) >= Fraction(1, 1000):
        text = percent(number, 3).removesuffix(" %")
        return f"{_trim(text)} %"
    # Three digits, wherever they begin.
    places = 2
    while abs(number) * 10**places < 1:
        places += 1
    return f"{_trim(fixed(number * 100, places))} %"


def instant(ns: int | Fraction) -> str:
    """A time of a clock that began at 0, to the microsecond: `0:00:01.500000`, `12:02:05.000317`."""
    seconds, rest = divmod(round(Fraction(ns) / 1000), 10**6)
    sign, seconds, rest = (
        ("-", *divmod(-round(Fraction(ns) / 1000), 10**6)) if seconds < 0 else ("", seconds, rest)
    )
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    return f"{sign}{hours}:{minute:02}:{second:02}.{rest:06}"


def latency(ns: int | Fraction) -> str:
    """A time that a frame took. None takes no time: a 0 is less than the clock can tell."""
    return "below the clock's resolution" if ns == 0 else duration(ns)


def count(number: int) -> str:
    """A count for people, grouped by thin spaces; files carry plain digits."""
    return f"{number:,}".replace(",", "\u202f")


def exact(number: Fraction | None, places: int = 6) -> str:
    """For files: plain digits, at most so many decimals, empty if not measured."""
    return "" if number is None else _trim(fixed(number, places))


def size(sizes: tuple[tuple[int, int], ...]) -> str:
    """Frame sizes with FCS: `64 B`, `28 x 64 B + 16 x 590 B + 4 x 1514 B (mean 362.5 B)`."""
    if len(sizes) == 1:
        return f"{sizes[0][0]} B"
    mean = _trim(fixed(mean_size(sizes), 2))
    return " + ".join(f"{w} x {s} B" for s, w in sizes) + f" (mean {mean} B)"


def _trim(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
