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
from typing import Any, ClassVar, Self, TypeVar

from netdyno.errors import Problem, suggestion

DEFAULT_LAYER = "L1"
"""What a bit rate means when the layer is not said. This is the one place where it is decided: line
rates are L1 rates, and a load in per cent is a share of them."""

_NUMBER = r"(?:0|[1-9][0-9]{0,17}|0[0-9]{1,17})(?:\.[0-9]{1,18})?"
_SPLIT = re.compile(
    r"(?P<number>[-+]?[0-9][0-9_,.]*(?:[eE][-+]?[0-9]+(?![A-Za-z]))?)\s*(?P<unit>.*)", re.DOTALL
)
_PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class UnitError(Problem):
    """A value that is not what it should be: the value, why, and how to write it."""

    def __init__(self, value: object, why: str, hint: str | None = None) -> None:
        shown = value if isinstance(value, str) else f"{value}"
        shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
        super().__init__(f"`{shown}` {why}", hint)
        self.value = value
        self.why = why


class LayerMixError(TypeError):
    """Quantities of different layers (or of different kinds) met in one sum, ratio or comparison."""


_Q = TypeVar("_Q", bound="Quantity")


@dataclass(frozen=True)
class Quantity:
    """An exact amount of one thing. Sums, differences, ratios and order exist among equals only.

    what: what it is, for messages. units: spelling -> factor. hinted: the spellings a hint lists (none:
    all). printed: the spellings to print with (none: the first one of each factor). suffixes: what may
    follow the unit. examples: for hints and for the JSON Schema.
    """

    amount: Fraction
    """In the base unit: frames/s, bits/s, bytes, seconds; 1 for 100 %."""

    what: ClassVar[str] = "quantity"
    units: ClassVar[dict[str, Fraction]] = {}
    hinted: ClassVar[tuple[str, ...]] = ()
    printed: ClassVar[tuple[str, ...]] = ()
    suffixes: ClassVar[tuple[str, ...]] = ()
    examples: ClassVar[tuple[str, ...]] = ()
    description: ClassVar[str] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "amount", Fraction(self.amount))

    @classmethod
    def parse(cls, text: object) -> Self:
        """From text. Raises UnitError with the value, the reason and a hint."""
        number, unit = _split(text, cls.what, cls.examples)
        if unit not in cls.units:
            raise _unknown_unit(text, unit, cls)
        return cls._of(text, number * cls.units[unit])

    @classmethod
    def _of(cls, text: object, amount: Fraction) -> Self:
        """Checks the amount; `text` is for the message."""
        return cls(amount)

    def __str__(self) -> str:
        return f"{_scaled(self.amount, self._printed())}"

    def _printed(self) -> list[tuple[str, Fraction]]:
        """Spellings to print with, largest factor first."""
        seen: dict[Fraction, str] = {}
        for spelling in self.printed or self.units:
            factor = self.units[spelling]
            seen.setdefault(factor, spelling)
        return sorted(((spelling, factor) for factor, spelling in seen.items()), key=lambda pair: -pair[1])

    def _same(self, other: object, verb: str) -> Fraction:
        if type(other) is not type(self):
            raise LayerMixError(
                f"a {self.what} cannot be {verb} a {getattr(other, 'what', type(other).__name__)}"
            )
        return other.amount

    def __add__(self, other: Self) -> Self:
        return type(self)(self.amount + self._same(other, "added to"))

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.amount - self._same(other, "compared with"))

    def __mul__(self, factor: int | Fraction) -> Self:
        if isinstance(factor, Quantity) or not isinstance(factor, int | Fraction):
            raise LayerMixError(f"a {self.what} can be multiplied by an exact number only")
        return type(self)(self.amount * factor)

    __rmul__ = __mul__

    def __truediv__(self, other: Self) -> Fraction:
        return self.amount / self._same(other, "divided by")

    def __lt__(self, other: Self) -> bool:
        return self.amount < self._same(other, "compared with")

    def __le__(self, other: Self) -> bool:
        return self.amount <= self._same(other, "compared with")

    def __gt__(self, other: Self) -> bool:
        return self.amount > self._same(other, "compared with")

    def __ge__(self, other: Self) -> bool:
        return self.amount >= self._same(other, "compared with")

    @classmethod
    def pattern(cls) -> str:
        """A regular expression (ECMA 262, for JSON Schema) of what `parse` accepts."""
        spellings = "|".join(re.escape(unit) for unit in sorted(cls.units, key=lambda unit: -len(unit)))
        ends = "|".join(cls.suffixes)
        return f"^{_NUMBER} ?(?:{spellings})" + (f"(?: ?(?:{ends}))?" if ends else "") + "$"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        def read(value: object) -> Quantity:
            return value if isinstance(value, cls) else cls.parse(value)

        return core_schema.no_info_plain_validator_function(
            read, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        return {
            "type": "string",
            "pattern": cls.pattern(),
            "description": cls.description,
            "examples": list(cls.examples),
        }


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

    def __str__(self) -> str:
        return f"{super().__str__()} {self.layer}"


class L1Rate(_BitRate):
    """Bits per second on the wire: frames with FCS, preamble, start delimiter and minimum gap."""

    what = "L1 bit rate"
    layer = "L1"
    suffixes = ("L1",)
    examples = ("10Gbps", "9.5Gbit/s", "100Mbps L1")
    description = f"L1 bits per second (frame, preamble, gap); {DEFAULT_LAYER} unless said: `10Gbps`."

    @classmethod
    def parse(cls, text: object) -> L1Rate:
        rate = bit_rate(text)
        if not isinstance(rate, L1Rate):
            raise UnitError(
                text,
                "is an L2 rate where an L1 rate is needed",
                "a link's rate is what its line carries: `10Gbps`",
            )
        return rate


class L2Rate(_BitRate):
    """Bits per second of frames, first byte of the destination address through FCS."""

    what = "L2 bit rate"
    layer = "L2"
    suffixes = ("L2",)
    examples = ("9.28Gbps L2",)
    description = "L2 bits per second (frames with FCS): `9.28Gbps L2`."

    @classmethod
    def parse(cls, text: object) -> L2Rate:
        rate = bit_rate(text)
        if not isinstance(rate, L2Rate):
            raise UnitError(text, "is an L1 rate where an L2 rate is needed", "say the layer: `9.28Gbps L2`")
        return rate


class L3Rate(_BitRate):
    """Bits per second of IP packets, header included. Computed, never asked for."""

    what = "L3 bit rate"
    layer = "L3"


class GoodputRate(_BitRate):
    """Bits per second of transport payload."""

    what = "goodput"
    layer = "L4"


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
        if amount.denominator != 1 or amount == 0:
            raise UnitError(
                text, "is not a whole number of bytes", "a frame size is one or more bytes: `64B`"
            )
        return cls(amount)

    @property
    def octets(self) -> int:
        """The size as an integer."""
        return int(self.amount)


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
    def _of(cls, text: object, amount: Fraction) -> Self:
        if (amount * 10**9).denominator != 1:
            raise UnitError(text, "is not a whole number of nanoseconds", "a nanosecond is the finest step")
        if amount > 366 * 86400:
            raise UnitError(text, "is more than a year", "give a shorter time, such as `12h`")
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
            )
        return super()._of(text, amount)


@dataclass(frozen=True)
class Load:
    """How much to send in each direction: frames or bits per second, or a share of the line rate."""

    amount: FrameRate | L1Rate | L2Rate | Percent

    @classmethod
    def parse(cls, text: object) -> Load:
        """From `14.88Mpps`, `9.5Gbps`, `9Gbps L2` or `80%`."""
        number, unit = _split(text, "load", LOAD_EXAMPLES)
        if unit in Percent.units:
            return cls(Percent(number / 100))
        if unit in FrameRate.units:
            return cls(FrameRate(number * FrameRate.units[unit]))
        if _layered(unit)[0] in L1Rate.units:
            return cls(bit_rate(text))
        raise _unknown_unit(text, unit, FrameRate, L1Rate, Percent, what="load")

    def __str__(self) -> str:
        return str(self.amount)

    @classmethod
    def pattern(cls) -> str:
        """A regular expression of what `parse` accepts."""
        units = [*Percent.units, *FrameRate.units]
        rates = "|".join(re.escape(unit) for unit in L1Rate.units)
        return f"^{_NUMBER} ?(?:{'|'.join(re.escape(unit) for unit in units)}|(?:{rates})(?: ?(?:L1|L2))?)$"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        def read(value: object) -> Load:
            return value if isinstance(value, cls) else cls.parse(value)

        return core_schema.no_info_plain_validator_function(
            read, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        return {
            "type": "string",
            "pattern": cls.pattern(),
            "description": "Load of each direction: frames/s, bits/s (L1 unless said), share of the line.",
            "examples": list(LOAD_EXAMPLES),
        }


LOAD_EXAMPLES = ("80%", "14.88Mpps", "9.5Gbps", "9Gbps L2")


def bit_rate(text: object) -> L1Rate | L2Rate:
    """A bit rate with its layer: `10Gbps`, `10GbpsL1`, `9.28 Gbit/s L2`."""
    number, rest = _split(text, "bit rate", L1Rate.examples)
    unit, layer = _layered(rest)
    if unit not in L1Rate.units:
        raise _unknown_unit(text, unit, L1Rate)
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
            )


def _layered(unit: str) -> tuple[str, str | None]:
    found = re.fullmatch(r"(.*?)\s*([Ll][0-9])", unit, re.DOTALL)
    return (found[1], found[2].upper()) if found else (unit, None)


def _split(text: object, what: str, examples: tuple[str, ...]) -> tuple[Fraction, str]:
    """Number and unit of a text, or a UnitError that says what is wrong with it."""
    example = examples[0] if examples else ""
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise UnitError(text, f"is not a {what}", f"write it like `{example}`")
    if not isinstance(text, str):
        raise UnitError(text, f"is a {what} without a unit", f"say the unit, as in `{example}`")
    found = _SPLIT.fullmatch(text.strip())
    if not found:
        raise UnitError(text, f"is not a {what}", f"a number and a unit, as in `{example}`")
    digits, unit = found["number"], found["unit"].strip()
    if digits.startswith("-"):
        raise UnitError(text, "is negative", f"a {what} counts from zero up")
    if "," in digits or "_" in digits:
        raise UnitError(
            text,
            "has a separator between its digits",
            f"write `{re.sub('[,_]', '', digits)}{unit}` or use a prefix",
        )
    if not re.fullmatch(_NUMBER, digits):
        why = (
            "is written with an exponent"
            if re.search("[eE]", digits)
            else "does not begin with a decimal number"
        )
        raise UnitError(
            text, why, f"write it like `{example}`, with up to 18 digits on each side of the point"
        )
    if not unit:
        raise UnitError(text, f"is a {what} without a unit", f"say the unit, as in `{example}`")
    return Fraction(digits), unit


def _unknown_unit(text: object, unit: str, *kinds: type[Quantity], what: str = "") -> UnitError:
    """Why a unit is not one: the usual slips by name, else the nearest spelling."""
    known = [spelling for kind in kinds for spelling in kind.units]
    what = what or kinds[0].what
    number = str(text).strip()[: -len(unit)].rstrip()
    lower = {spelling.lower(): spelling for spelling in reversed(known)}
    sizes, rates = FrameSize in kinds, L1Rate in kinds
    if sizes and unit == "b":
        return UnitError(text, "is in bits (`b`), and a frame size is in bytes", f"write `{number}B`")
    if sizes and unit.lower() in ("kb", "k", "kib"):
        return UnitError(text, "is not a frame size in plain bytes", "write all its bytes, as in `9000B`")
    if re.match("[eE][-+]?[0-9]", unit):
        return UnitError(
            text, "is written with an exponent", "write the digits, or use a prefix: `k`, `M`, `G`"
        )
    if rates and re.fullmatch(r"[kMGT]i(bps|bit/s|b/s|pps|fps)", unit):
        return UnitError(text, "has a binary prefix", f"prefixes are decimal: `{number}{unit[0]}{unit[2:]}`")
    if rates and re.fullmatch(r"[kKmMgGtT]?B(ps|/s)", unit):
        return UnitError(
            text,
            "counts bytes (`B`), and rates count bits",
            f"eight times the number, in `{unit.replace('B', 'b', 1)}`",
        )
    if unit.lower() in lower:
        return UnitError(
            text, f"has no unit netdyno knows: `{unit}`", f"case matters: `{number}{lower[unit.lower()]}`"
        )
    article = "an" if what[0] in "aeiouL" else "a"
    shown = [spelling for kind in kinds for spelling in kind.hinted or tuple(kind.units)]
    return UnitError(
        text, f"is not {article} {what}: `{unit[:20]}` is no unit of one", suggestion(unit, shown, "units")
    )


def decimal(value: Fraction, places: int | None = None) -> str:
    """A fraction as a decimal number: exact if it ends, else rounded half up to 6 places (or `places`)."""
    if places is None:
        twos = (value.denominator & -value.denominator).bit_length() - 1
        rest, fives = value.denominator >> twos, 0
        while rest % 5 == 0:
            rest, fives = rest // 5, fives + 1
        places = max(twos, fives) if rest == 1 else 6
    scaled = (abs(value) * 10**places + Fraction(1, 2)).__floor__()
    whole, part = divmod(scaled, 10**places)
    sign = "-" if value < 0 and scaled else ""
    digits = f"{part:0{places}d}".rstrip("0") if places else ""
    return f"{sign}{whole}.{digits}" if digits else f"{sign}{whole}"


def _scaled(amount: Fraction, spellings: list[tuple[str, Fraction]]) -> str:
    """The amount in the largest fitting unit that says it exactly; rounded if none does."""
    fitting = [pair for pair in spellings if abs(amount) >= pair[1]] or spellings[-1:]
    texts = [(decimal(amount / factor), spelling, factor) for spelling, factor in fitting]
    exact = [text for text in texts if Fraction(text[0]) * text[2] == amount]
    number, spelling, _ = min(exact, key=lambda text: len(text[0]) > 9) if exact else texts[0]
    return number + spelling
