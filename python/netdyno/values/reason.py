"""Reasons: a code and fields, which programs read, and one sentence, which people read.

A verdict, a note, an invalid trial and a deviation from a standard are reasons. Code compares codes and
fields; the sentence is rendered by `str` alone. Each package keeps the classes of its own reasons and lists
them in its `REASONS`; a decoder is handed the tables of all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass
from dataclasses import fields as dataclass_fields
from fractions import Fraction
from operator import attrgetter
from string import Formatter
from typing import Any, ClassVar, TypeAlias, dataclass_transform

from netdyno.errors import counted
from netdyno.values import number

EXAMPLES = 3
"""Messages of one kind that are shown in a line."""

CODE = re.compile(r"[a-z][a-z0-9-]{0,63}", re.ASCII)
"""What a code looks like."""


@dataclass_transform(frozen_default=True)
class Reason:
    """One claim. Two are the same if code and fields are equal.

    `class LateFrames(Reason, code="late-frames")` is a frozen dataclass; one without a code is a base of
    others. Its fields are texts, whole numbers, exact fractions, truth values, other reasons, tuples of
    these, or None.
    """

    code: ClassVar[str]
    is_detail: ClassVar[bool] = False
    """Evidence behind a number: reports have it, first screens leave it out."""
    is_lasting: ClassVar[bool] = False
    """Of an invalid trial: a further attempt would end alike, so none is made."""
    says: ClassVar[str]
    """The sentence, in as many lines as it takes. `{sent}` is a field or a property as its name and type ask
    for, `{sent:frame}` a count of frames; `_fill` and `_printed` have the rest."""

    def __init_subclass__(cls, *, code: str = "", is_detail: bool = False, is_lasting: bool = False) -> None:
        if "says" in vars(cls):
            cls.says = " ".join(cls.says.split())
        if code:
            cls.code = code
            cls.is_detail = is_detail
            cls.is_lasting = is_lasting
        # The methods below stand for those that it would write for each class: of some hundred classes these
        # would take a tenth of a second of each command.
        dataclass(init=False, repr=False, eq=False)(cls)

    def __init__(self, *values: Any, **named: Any) -> None:
        own = _fields_of(self)
        if len(values) > len(own):
            raise TypeError(f"{type(self).__name__} has {len(own)} fields, not {len(values)}")
        given = {field.name: value for field, value in zip(own, values, strict=False)}
        if twice := given.keys() & named.keys():
            raise TypeError(f"{type(self).__name__}: `{min(twice)}` is given twice")
        given |= named
        for field in own:
            default = given.pop(field.name, field.default)
            if default is MISSING:
                raise TypeError(f"{type(self).__name__}: `{field.name}` is missing")
            self.__dict__[field.name] = default
        if given:
            raise TypeError(f"{type(self).__name__} has no field `{min(given)}`")

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, one.name) for one in _fields_of(self))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Reason)
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        inside = (f"{one.name}={getattr(self, one.name)!r}" for one in _fields_of(self))
        return f"{type(self).__name__}({', '.join(inside)})"

    @property
    def full_code(self) -> str:
        """Its code; of a reason that carries another program's code, that one beside it."""
        return self.code

    @property
    def all_codes(self) -> str:
        """Its code and those of the reasons it holds; if equal, the same is said of other things."""
        held: list[Reason] = []
        for one in _fields_of(self):
            value = getattr(self, one.name)
            held += [
                each for each in (value if isinstance(value, tuple) else (value,)) if isinstance(each, Reason)
            ]
        return " ".join(dict.fromkeys((self.full_code, *(one.all_codes for one in held))))

    @property
    def in_lines(self) -> str:
        """Its sentence, in several lines where it holds what somebody is to enter line by line."""
        return str(self)

    def fields(self) -> dict[str, Any]:
        """Its fields as JSON has them: fractions as text, reasons as `{"code": ..., "fields": ...}`."""
        return {one.name: _plain(getattr(self, one.name)) for one in _fields_of(self)}

    def render(self, **texts: str) -> str:
        """Its sentence. texts: what else its template may name."""
        return _fill(self.says, self, texts)

    def __str__(self) -> str:
        return self.render()


dataclass(init=False, repr=False, eq=False)(Reason)  # As its subclasses: to a type checker they are frozen.


def _fields_of(reason: Any) -> Sequence[Field[Any]]:
    return dataclass_fields(reason)


def _fill(template: str, reason: Reason, texts: Mapping[str, str]) -> str:
    """A template filled in.

    `{reached.bound}` is a property of a reason that it holds. After `?` stands a text that is printed if the
    field is neither None, empty, false nor a count of 0, and after `|` one if it is:
    `{copies:?, {copies} came twice}`. After `=1?` stands a text for one, and after `|` one for several.
    """
    said = ""
    for before, name, how, _ in Formatter().parse(template):
        said += before
        if name is None:
            continue
        value = texts[name] if name in texts else attrgetter(name)(reason)
        when, asks, choice = (how or "").partition("?")
        if asks:
            yes, _, no = choice.partition("|")
            holds = value == 1 if when else bool(value) or isinstance(value, Fraction)
            said += _fill(yes if holds else no, reason, texts)
        else:
            said += _printed(name, value, when)
    return said


def _printed(name: str, value: Any, how: str) -> str:
    """A field in a sentence, printed as its name and type ask for, or as the template says after a colon.

    `{over_ns}` is a time, `{peak_pps}` a rate, `{limit_bps}` bits a second, `{lost}` a count with commas, a
    tuple its items with semicolons. `at least` and `at most` round to where that stays true; `%` is a share
    with the digits it has, `.1%` one with one decimal; `d` is plain digits; `in full` a rate as in tables;
    `names` are in backticks. Any other word is a noun that is counted: `{sent:frame}`.
    """
    if how == "names":
        return ", ".join(f"`{one}`" for one in value)
    if isinstance(value, tuple):
        return "; ".join(map(str, value))
    if isinstance(value, str | Reason) or how == "d":
        return str(value)
    if how in ("%", ".1%"):
        return number.share(value) if how == "%" else number.part(value)
    if how == "in full":
        return number.frames_a_second(value)
    claim = _CLAIMS.get(how, "about")
    unit = name.rpartition("_")[2]
    if unit == "ns":
        return number.duration(value, claim)
    if unit == "pps":
        return number.rate(value, "pps", claim)
    if unit == "bps":
        return number.bits(value)
    assert type(value) is int, f"`{name}` is printed in no way that its template says"
    return counted(value, how) if how else number.count(value)


_CLAIMS: Mapping[str, number.Claim] = {"at least": "at least", "at most": "at most"}


class About(Reason, code="about"):
    """A reason that holds of one thing only: a part of a suite, a direction, a value."""

    subject: str
    reason: Reason
    says = "{subject}: {reason}"

    @property
    def all_codes(self) -> str:
        """That of its reason."""
        return self.reason.all_codes


class PortNote(Reason):
    """A reason that says of a port that it is no Ethernet port. medium: what joins it and the device."""

    medium: ClassVar[str]


class UnknownReason(Reason):
    """A reason whose code this version does not know: shown as code and fields."""

    def __init__(self, code: str, fields: Mapping[str, Any]) -> None:
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "_fields", json.dumps(fields, sort_keys=True, ensure_ascii=False))

    def fields(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.__dict__["_fields"])
        return found

    @property
    def all_codes(self) -> str:
        """Its code: what it holds is not known."""
        return self.code

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnknownReason) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))

    def __repr__(self) -> str:
        return f"UnknownReason({self.code!r}, {self.fields()!r})"

    def __str__(self) -> str:
        fields_as_text = ", ".join(
            f"{name} {json.dumps(one, ensure_ascii=False)}" for name, one in self.fields().items()
        )
        return f"{self.code} ({fields_as_text})" if fields_as_text else self.code


Codes: TypeAlias = Mapping[str, type[Reason]]
"""Classes of reasons by their codes."""


def by_code(*classes: type[Reason]) -> dict[str, type[Reason]]:
    """A table of these classes. AssertionError if two have one code, or one has none that fits."""
    found: dict[str, type[Reason]] = {}
    for one in classes:
        assert CODE.fullmatch(one.code), one
        assert found.setdefault(one.code, one) is one, f"`{one.code}` is the code of two reasons"
    return found


def declared(names: Mapping[str, object]) -> dict[str, type[Reason]]:
    """The table of all reasons that a module declares. names: its `globals()`."""
    own = names["__name__"]
    return by_code(
        *(
            one
            for one in names.values()
            if isinstance(one, type)
            and issubclass(one, Reason)
            and one.__module__ == own
            and "code" in vars(one)
        )
    )


def join(*tables: Codes) -> dict[str, type[Reason]]:
    """Several tables as one. AssertionError if a code is in two of them with different classes."""
    return by_code(*(one for table in tables for one in table.values()))


REASONS: Codes = by_code(About)


def in_short(reasons: Iterable[Reason]) -> str:
    """Reasons in one line: equal ones once, at most `EXAMPLES` of a kind, then their count."""
    kinds: dict[str, list[Reason]] = {}
    for reason in reasons:
        kinds.setdefault(reason.all_codes, []).append(reason)
    return "; ".join(_kind_in_short(found) for found in kinds.values())


def _kind_in_short(found: list[Reason]) -> str:
    different = list(dict.fromkeys(found))
    shown = "; ".join(map(str, different[:EXAMPLES]))
    if len(different) > EXAMPLES:
        return f"{shown}; {len(found)} such messages in all"
    return f"{shown} ({len(found)} times)" if len(found) > len(different) else shown


def encode(reason: Reason) -> dict[str, Any]:
    """`{"code": ..., "fields": {...}}`, for `json.dumps`."""
    return {"code": reason.code, "fields": reason.fields()}


def _plain(value: object) -> Any:
    if isinstance(value, Reason):
        return encode(value)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    assert value is None or isinstance(value, str | int), f"{value!r} is nothing that a reason holds"
    return value
