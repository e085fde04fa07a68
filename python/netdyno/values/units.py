"""Units as network engineers write them: exact, in text and back.

`10Gbps`, `9.5 Gbit/s L2`, `14.88Mpps`, `80%`, `64B`, `120s`. Prefixes are decimal. Numbers are exact
fractions; nothing here is a float. Every value prints back what was understood, layer included.

Rates of different layers are different types: dividing, adding or comparing L1 with L2 raises
`LayerMixError` instead of giving the plausible wrong number (30.28 Gbit/s of L2 is not 38 % of
80 Gbit/s of L1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self, TypeAlias

from netdyno.values.number import decimal as decimal
from netdyno.values.quantities import NUMBER, PlanValue, split, unknown_unit
from netdyno.values.quantities import LayerMixError as LayerMixError
from netdyno.values.quantities import Quantity as Quantity
from netdyno.values.quantities import UnitError as UnitError

DEFAULT_LAYER = "L1"
"""What a bit rate means when the layer is not said. This is the one place where it is decided: line
rates are L1 rates, and a load in per cent is a share of them."""

_PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def _prefixed(*names: str) -> dict[str, Fraction]:
    return {prefix + name: Fraction(factor) for name in names for prefix, factor in _PREFIXES.items()}


class FrameRate(Quantity):
    """Frames per second, of each direction."""

    what = "frame rate"
    units = _prefixed("pps", "fps", "frames/s", "packets/s")
    hinted = ("pps", "kpps", "Mpps", "Gpps")
    examples = ("14.88Mpps", "1kpps", "100000fps")
    description = "Frames per second of each direction: `14.88Mpps`, `1kpps`."


class _BitRate(Quantity):
    units = _prefixed("bps", "bit/s", "b/s")
    hinted = ("bps", "kbps", "Mbps", "Gbps", "Tbps")
    layer: ClassVar[str]

    @classmethod
    def slip(cls, number: str, unit: str) -> tuple[str, str] | None:
        if re.fullmatch(r"[kMGT]i(bps|bit/s|b/s|pps|fps)", unit):
            return "has a binary prefix", f"prefixes are decimal: `{number}{unit[0]}{unit[2:]}`"
        if re.fullmatch(r"[kKmMgGtT]?B(ps|/s)", unit):
            bits = unit.replace("B", "b", 1)
            return "counts bytes (`B`), and rates count bits", f"eight times the number, in `{bits}`"
        return None

    def __str__(self) -> str:
        return f"{super().__str__()} {self.layer}"


class _LayerRate(_BitRate):
    """A bit rate that plans may write. instead: of a rate of another layer, what to write."""

    instead: ClassVar[str]

    @classmethod
    def parse(cls, text: object) -> Self:
        rate = bit_rate(text)
        if not isinstance(rate, cls):
            why = f"is an {rate.layer} rate where an {cls.layer} rate is needed"
            raise UnitError(text, why, cls.instead, code="wrong-unit")
        return rate


class L1Rate(_LayerRate):
    """Bits per second on the wire: frames with FCS, preamble, start delimiter and minimum gap."""

    what = "L1 bit rate"
    layer = "L1"
    suffixes = ("L1",)
    examples = ("10Gbps", "9.5Gbit/s", "100Mbps L1")
    description = f"L1 bits per second (frame, preamble, gap); {DEFAULT_LAYER} unless said: `10Gbps`."
    instead = "a link's rate is what its line carries: `10Gbps`"


class L2Rate(_LayerRate):
    """Bits per second of frames, first byte of the destination address through FCS."""

    what = "L2 bit rate"
    layer = "L2"
    suffixes = ("L2",)
    examples = ("9.28Gbps L2",)
    description = "L2 bits per second (frames with FCS): `9.28Gbps L2`."
    instead = "write it as an L2 rate, as in `9.28Gbps L2`"


class L3Rate(_BitRate):
    """Bits per second of IP packets, header included. Computed, never asked for."""

    what = "L3 bit rate"
    layer = "L3"


class GoodputRate(_BitRate):
    """Bits per second of transport payload."""

    what = "goodput"
    examples = ("90Mbps", "9.4Gbit/s")
    description = "Bits of payload per second, without any header: `90Mbps`."

    def __str__(self) -> str:
        return Quantity.__str__(self)


class ConnectionRate(Quantity):
    """Connections opened per second."""

    what = "connection rate"
    units = _prefixed("conn/s")
    examples = ("10kconn/s", "500conn/s")
    description = "Connections per second: `10kconn/s`."


class Percent(Quantity):
    """A share: of the line rate where a load is meant. `amount` is 1 for 100 %."""

    what = "percentage"
    units = {"%": Fraction(1, 100)}  # noqa: RUF012
    examples = ("80%", "99.5%")
    description = "A share, `80%`; for a load: of the L1 line rate of the slowest link."


class FrameSize(Quantity):
    """Bytes of a frame, destination address through FCS (RFC 1242 section 3.5), tags included."""

    what = "frame size"
    units = {name: Fraction(1) for name in ("B", "bytes", "byte")}  # noqa: RUF012
    examples = ("64B", "1518B")
    description = "Bytes of a frame with its FCS and tags: `64B`."

    @classmethod
    def _of(cls, text: object, amount: Fraction) -> Self:
        if amount == 0:
            raise UnitError(
                text,
                "is no frame at all",
                "Ethernet frames have at least 64 bytes: `64B`",
                code="out-of-range",
            )
        if amount.denominator != 1:
            raise UnitError(
                text, "is not a whole number of bytes", "a frame has whole bytes: `64B`", code="out-of-range"
            )
        return cls(amount)

    @classmethod
    def slip(cls, number: str, unit: str) -> tuple[str, str] | None:
        if unit == "b":
            return "is in bits (`b`), and a frame size is in bytes", f"write `{number}B`"
        if unit.lower() in ("kb", "k", "kib"):
            return "is not a frame size in plain bytes", "write all its bytes, as in `9000B`"
        return None

    @property
    def octets(self) -> int:
        """The size as an integer."""
        return int(self.amount)


class DataSize(Quantity):
    """Bytes of memory or of a stream, not of a frame: a socket buffer, a file."""

    what = "size of data"
    units = {  # noqa: RUF012
        "B": Fraction(1),
        "kB": Fraction(10**3),
        "MB": Fraction(10**6),
        "GB": Fraction(10**9),
        "KiB": Fraction(2**10),
        "MiB": Fraction(2**20),
        "GiB": Fraction(2**30),
    }
    examples = ("64kB", "256KiB")
    description = "Bytes, `64kB` (1 kB is 1000), or `256KiB` (1 KiB is 1024)."

    @classmethod
    def _of(cls, text: object, amount: Fraction) -> Self:
        if amount == 0:
            raise UnitError(text, "is no size at all", "give a size above zero: `64kB`", code="out-of-range")
        if amount.denominator != 1:
            raise UnitError(
                text, "is not a whole number of bytes", "take a smaller unit: `1500B`", code="out-of-range"
            )
        return cls(amount)

    @classmethod
    def slip(cls, number: str, unit: str) -> tuple[str, str] | None:
        if unit.upper() in ("K", "M", "G"):
            binary, decimal = f"{unit.upper()}iB", f"{'k' if unit in 'kK' else unit.upper()}B"
            return (
                f"may be in units of 1000 or of 1024: `{unit}`",
                f"`{number}{binary}`, as iperf3 has it, or `{number}{decimal}`",
            )
        bits = re.fullmatch("([kKMG]?)b", unit)
        if bits:
            meant = f"{bits[1].replace('K', 'k')}B"
            return "counts bits (`b`), and a size of data bytes", f"write `{number}{meant}`, if it is bytes"
        return None

    def __str__(self) -> str:
        exact = [
            f"{decimal(self.amount / factor)}{unit}"
            for unit, factor in self._printed()
            if Fraction(decimal(self.amount / factor)) * factor == self.amount
        ]
        return min(exact, key=lambda text: ("." in text, len(text)))

    @property
    def octets(self) -> int:
        """The size as an integer."""
        return int(self.amount)


_TIMES_WRITTEN = {
    "m|mins|minutes?": "min",
    "secs|seconds?": "s",
    "hr|hrs|hours?": "h",
    "msecs?|milliseconds?": "ms",
    "usecs?|microseconds?": "us",
    "nsecs?|nanoseconds?": "ns",
}
"""Units of time as they are written elsewhere, regular expressions, and the one that is meant."""


class Duration(Quantity):
    """A time, in whole nanoseconds. `amount` is in seconds."""

    what = "duration"
    units = {  # noqa: RUF012
        "s": Fraction(1),
        "sec": Fraction(1),
        "ns": Fraction(1, 10**9),
        "us": Fraction(1, 10**6),
        "\N{MICRO SIGN}s": Fraction(1, 10**6),
        "ms": Fraction(1, 1000),
        "min": Fraction(60),
        "h": Fraction(3600),
    }
    printed = ("s", "ms", "us", "ns")
    examples = ("120s", "500ms", "2min")
    description = "A time: `120s`, `500ms`, `30us`, `2min`, `1h`."

    @classmethod
    def slip(cls, number: str, unit: str) -> tuple[str, str] | None:
        """A minute as `m` or `mins`, and other units written out."""
        meant = next((one for word, one in _TIMES_WRITTEN.items() if re.fullmatch(word, unit.lower())), None)
        if meant is None:
            return None
        return f"is not a duration: `{unit[:20]}` is no unit of one", f"write `{number}{meant}`"

    @classmethod
    def _of(cls, text: object, amount: Fraction) -> Self:
        if (amount * 10**9).denominator != 1:
            raise UnitError(
                text,
                "is not a whole number of nanoseconds",
                "a nanosecond is the finest step",
                code="out-of-range",
            )
        if amount > 366 * 86400:
            raise UnitError(
                text, "is more than a year", "give a shorter time, such as `12h`", code="out-of-range"
            )
        return cls(amount)

    @classmethod
    def of_ns(cls, ns: int) -> Self:
        """From nanoseconds."""
        return cls(Fraction(ns, 10**9))

    @property
    def ns(self) -> int:
        """The time in nanoseconds; exact for whatever was parsed."""
        return round(self.amount * 10**9)


class PositiveDuration(Duration):
    """A time that is not zero: a phase with traffic."""

    description = "A time longer than zero: `120s`, `500ms`, `2min`."

    @classmethod
    def _of(cls, text: object, amount: Fraction) -> Self:
        if amount == 0:
            raise UnitError(
                text,
                "is no time at all",
                "give a duration longer than zero, such as `30s`, or leave the phase out",
                code="out-of-range",
            )
        return super()._of(text, amount)


Rate: TypeAlias = FrameRate | L1Rate | L2Rate | Percent
"""A load as it may be asked for, of each direction; a percentage is of the line rate."""


@dataclass(frozen=True)
class Load(PlanValue):
    """How much to send in each direction: frames or bits per second, or a share of the line rate."""

    examples: ClassVar[tuple[str, ...]] = ("80%", "14.88Mpps", "9.5Gbps", "9Gbps L2")
    description: ClassVar[str] = (
        "Load of each direction: frames/s, bits/s (L1 unless said), share of the line."
    )

    amount: Rate

    @classmethod
    def parse(cls, text: object) -> Self:
        """From `14.88Mpps`, `9.5Gbps`, `9Gbps L2` or `80%`."""
        number, unit = split(text, "load", cls.examples)
        if unit in Percent.units:
            return cls(Percent(number / 100))
        if unit in FrameRate.units:
            return cls(FrameRate(number * FrameRate.units[unit]))
        if _layered(unit)[0] in L1Rate.units:
            return cls(bit_rate(text))
        raise unknown_unit(text, unit, FrameRate, L1Rate, Percent, what="load")

    def __str__(self) -> str:
        return str(self.amount)

    @classmethod
    def pattern(cls) -> str:
        units = [*Percent.units, *FrameRate.units]
        rates = "|".join(re.escape(unit) for unit in L1Rate.units)
        return f"^{NUMBER} ?(?:{'|'.join(re.escape(unit) for unit in units)}|(?:{rates})(?: ?(?:L1|L2))?)$"


class PositiveLoad(Load):
    """A load that is not zero: one that something is sent at."""

    @classmethod
    def parse(cls, text: object) -> Self:
        load = super().parse(text)
        if load.amount.amount == 0:
            raise UnitError(
                text,
                "is no load at all",
                "give a load above zero, such as `50%` or `1kpps`",
                code="out-of-range",
            )
        return load


def bit_rate(text: object) -> L1Rate | L2Rate:
    """A bit rate with its layer: `10Gbps`, `10GbpsL1`, `9.28 Gbit/s L2`."""
    number, rest = split(text, "bit rate", L1Rate.examples)
    unit, layer = _layered(rest)
    if unit not in L1Rate.units:
        raise unknown_unit(text, unit, L1Rate)
    amount = number * L1Rate.units[unit]
    match layer or DEFAULT_LAYER:
        case "L1":
            return L1Rate(amount)
        case "L2":
            return L2Rate(amount)
        case other:
            raise UnitError(
                text,
                f"names the layer {other}, which a load cannot be given in",
                "say L1 or L2, or give frames: `1Mpps`",
                code="wrong-unit",
            )


def _layered(unit: str) -> tuple[str, str | None]:
    found = re.fullmatch(r"(.*?)\s*([Ll][0-9])", unit, re.DOTALL)
    return (found[1], found[2].upper()) if found else (unit, None)
