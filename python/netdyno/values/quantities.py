"""What every quantity of netdyno is: an exact amount with a unit, read from text and printed back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering
from typing import Any, ClassVar, Self

from netdyno.errors import Problem, as_written, names, suggestion
from netdyno.values.number import decimal

NUMBER = r"(?:0|[1-9][0-9]{0,17}|0[0-9]{1,17})(?:\.[0-9]{1,18})?"
_SPLIT = re.compile(
    r"(?P<number>[-+]?[0-9][0-9_,.]*(?:[eE][-+]?[0-9]+(?![A-Za-z]))?)\s*(?P<unit>.*)", re.DOTALL
)


class UnitError(Problem):
    """A value that is not what it should be: the value, why, and how to write it."""

    def __init__(self, value: object, why: str, hint: str | None = None, *, code: str) -> None:
        super().__init__(f"`{as_written(value)}` {why}", hint, code=code)
        self.value = value
        self.why = why


class LayerMixError(TypeError):
    """Quantities of different layers (or of different kinds) met in one sum, ratio or comparison."""


class PlanValue:
    """What a plan writes as text: read by `parse`, printed by `str`, described to editors by `pattern`."""

    examples: ClassVar[tuple[str, ...]] = ()
    description: ClassVar[str] = ""

    @classmethod
    def parse(cls, text: object) -> Self:
        """From text. Raises UnitError with the value, the reason and a hint."""
        raise NotImplementedError

    @classmethod
    def pattern(cls) -> str:
        """A regular expression (ECMA 262, for JSON Schema) of what `parse` accepts."""
        raise NotImplementedError

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        def read(value: object) -> PlanValue:
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


@total_ordering
@dataclass(frozen=True)
class Quantity(PlanValue):
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "amount", Fraction(self.amount))

    @classmethod
    def parse(cls, text: object) -> Self:
        number, unit = split(text, cls.what, cls.examples)
        if unit not in cls.units:
            raise unknown_unit(text, unit, cls)
        return cls._of(text, number * cls.units[unit])

    @classmethod
    def _of(cls, text: object, amount: Fraction) -> Self:
        """Checks the amount; `text` is for the message."""
        return cls(amount)

    @classmethod
    def slip(cls, number: str, unit: str) -> tuple[str, str] | None:
        """Why a unit that is not one was probably written, and what to write instead."""
        return None

    def __str__(self) -> str:
        return f"{_scale(self.amount, self._printed())}"

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

    @classmethod
    def pattern(cls) -> str:
        spellings = "|".join(re.escape(unit) for unit in sorted(cls.units, key=lambda unit: -len(unit)))
        ends = "|".join(cls.suffixes)
        return f"^{NUMBER} ?(?:{spellings})" + (f"(?: ?(?:{ends}))?" if ends else "") + "$"


def split(text: object, what: str, examples: tuple[str, ...]) -> tuple[Fraction, str]:
    """Number and unit of a text, or a UnitError that says what is wrong with it."""
    example = examples[0] if examples else ""
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise UnitError(text, f"is not a {what}", f"write it like `{example}`", code="wrong-type")
    if not isinstance(text, str):
        raise _without_unit(text, what, str(text), example)
    found = _SPLIT.fullmatch(text.strip())
    if not found:
        raise UnitError(
            text, f"is not a {what}", f"a number and a unit, as in `{example}`", code="wrong-format"
        )
    digits, unit = found["number"], found["unit"].strip()
    if digits.startswith("-"):
        least = "is more than zero" if what == "frame size" else "counts from zero up"
        raise UnitError(text, "is negative", f"a {what} {least}, as in `{example}`", code="out-of-range")
    if re.fullmatch("[0-9]+,[0-9]*", digits) and not re.fullmatch("[1-9][0-9]{0,2},[0-9]{3}", digits):
        whole, _, part = digits.partition(",")
        raise UnitError(
            text,
            "has a decimal comma",
            f"the decimal sign is a point: `{whole}{'.' if part else ''}{part}{unit}`",
            code="wrong-format",
        )
    if re.fullmatch("[1-9][0-9]{0,2},[0-9]{3}", digits):
        # A grouped thousand to one reader, three decimals to the other: a thousand times apart.
        grouped, pointed = digits.replace(",", ""), digits.replace(",", ".")
        raise UnitError(
            text,
            "has a comma, which may be a decimal sign or a separator",
            f"write `{pointed}{unit}` or `{grouped}{unit}`",
            code="wrong-format",
        )
    if "," in digits or "_" in digits:
        raise UnitError(
            text,
            "has a separator between its digits",
            f"write `{re.sub('[,_]', '', digits)}{unit}` or use a prefix",
            code="wrong-format",
        )
    if not re.fullmatch(NUMBER, digits):
        why = (
            "is written with an exponent"
            if re.search("[eE]", digits)
            else "does not begin with a decimal number"
        )
        raise UnitError(
            text,
            why,
            f"write it like `{example}`, with up to 18 digits on each side of the point",
            code="wrong-format",
        )
    if not unit:
        raise _without_unit(text, what, digits, example)
    return Fraction(digits), unit


def _without_unit(text: object, what: str, digits: str, example: str) -> UnitError:
    """The hint has the number that was given where one unit is likely; not that of a rate."""
    unit = re.fullmatch("[0-9]+(s|B)", example)
    shown = f"{digits}{unit[1]}" if unit else example
    return UnitError(text, f"is a {what} without a unit", f"say the unit, as in `{shown}`", code="wrong-unit")


def unknown_unit(text: object, unit: str, *kinds: type[Quantity], what: str = "") -> UnitError:
    """Why a unit is not one: the usual slips by name, else the nearest spelling."""
    known = [spelling for kind in kinds for spelling in kind.units]
    what = what or kinds[0].what
    number = str(text).strip()[: -len(unit)].rstrip()
    if re.match("[eE][-+]?[0-9]", unit):
        return UnitError(
            text,
            "is written with an exponent",
            "write the digits, or a prefix: `k`, `M`, `G`",
            code="wrong-format",
        )
    for kind in kinds:
        if slip := kind.slip(number, unit):
            return UnitError(text, *slip, code="wrong-unit")
    lower = {spelling.lower(): spelling for spelling in reversed(known)}
    if unit.lower() in lower:
        why = f"has no unit netdyno knows: `{unit}`"
        return UnitError(text, why, f"case matters: `{number}{lower[unit.lower()]}`", code="wrong-unit")
    article = "an" if what[0] in "aeiouL" else "a"
    shown = [spelling for kind in kinds for spelling in kind.hinted or tuple(kind.units)]
    why = f"is not {article} {what}: `{unit[:20]}` is no unit of one"
    if f"{unit}bps" in known:
        # `10G`, as people say it.
        return UnitError(
            text, why, f"did you mean `{number}{unit}bps`? units: {names(shown)}", code="wrong-unit"
        )
    return UnitError(text, why, suggestion(unit, shown, "units"), code="wrong-unit")


def _scale(amount: Fraction, spellings: list[tuple[str, Fraction]]) -> str:
    """The amount in the largest fitting unit that says it exactly; rounded if none does."""
    fitting = [pair for pair in spellings if abs(amount) >= pair[1]] or spellings[-1:]
    texts = [(decimal(amount / factor), spelling, factor) for spelling, factor in fitting]
    exact = [text for text in texts if Fraction(text[0]) * text[2] == amount]
    number, spelling, _ = min(exact, key=lambda text: len(text[0]) > 9) if exact else texts[0]
    return number + spelling
