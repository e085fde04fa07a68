"""What devices cost, draw and take up, from a file: `inventory.yaml`, a device each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from netdyno.errors import PlanErrors
from netdyno.plan.source import Path_, Source, read_file
from netdyno.values.quantities import Quantity, UnitError

FIELDS = ("device", "price", "date", "units", "idle", "loaded", "source")
_PRICE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,2})?) ?([A-Z]{3})")
_UNITS = re.compile(r"(?!0+(?:\.0)?$)[0-9]{1,3}(?:\.[0-9])?")
_DATE = re.compile(r"[0-9]{4}(?:-[0-9]{2}){0,2}")


@dataclass(frozen=True)
class Watts(Quantity):
    """Power, in watts."""

    what: ClassVar[str] = "power"
    units: ClassVar[dict[str, Fraction]] = {
        "W": Fraction(1),
        "kW": Fraction(1000),
        "mW": Fraction(1, 1000),
    }
    examples: ClassVar[tuple[str, ...]] = ("18W", "2.2kW")


@dataclass(frozen=True)
class Box:
    """A device as it is bought and plugged in.

    names: found in titles of its runs. idle: watts without traffic, by what is fitted (the base power of
    draft-ietf-bmwg-powerbench); a single one has no name. loaded: watts under full load. units: of a rack.
    """

    name: str
    names: tuple[str, ...]
    price: Fraction | None = None
    currency: str = ""
    date: str = ""
    units: Fraction | None = None
    idle: Mapping[str, Fraction] = field(default_factory=dict)
    loaded: Fraction | None = None
    source: str = ""

    @property
    def idle_watts(self) -> Fraction | None:
        """Of several states the highest: a device is tested with its cards fitted."""
        return max(self.idle.values(), default=None)


def load_inventory(path: Path) -> tuple[Box, ...]:
    """The devices of a file. Raises PlanErrors with every mistake and its place."""
    source = read_file(path)
    if not isinstance(source.value, Mapping):
        source.report((), "an inventory has a name for each device", _HINT, code="wrong-type")
        raise PlanErrors(source.file, source.errors)
    found = [_box(source, str(name), given) for name, given in source.value.items()]
    if source.errors:
        raise PlanErrors(source.file, source.errors)
    return tuple(found)


_HINT = "write `CCR1072: {price: 3000 USD, units: 1, idle: 60W, loaded: 125W}`"


def _box(source: Source, name: str, given: object) -> Box:
    if not isinstance(given, Mapping):
        source.report((name,), "a device has fields", _HINT, code="wrong-type")
        return Box(name, ())
    for key in given:
        if key not in FIELDS:
            place, message = (name, key), f"unknown field `{str(key)[:40]}`"
            source.report_unknown(place, message, str(key), FIELDS, "fields", key=True)
    read = _Read(source, name, given)
    price = read.matched("price", _PRICE, "is no price with its currency", "write `3000 USD`")
    units = read.matched("units", _UNITS, "is no number of rack units", "write `2`, or `0.5`")
    return Box(
        name=name,
        names=read.names(),
        price=None if price is None else Fraction(price[1]),
        currency="" if price is None else price[2],
        date=read.date(),
        units=None if units is None else Fraction(units[0]),
        idle=read.idle(),
        loaded=read.watts(("loaded",)),
        source=str(given.get("source", "")),
    )


class _Read:
    """Fields of one device; mistakes are noted."""

    def __init__(self, source: Source, name: str, given: Mapping[Any, Any]) -> None:
        self.source, self.name, self.given = source, name, given

    def names(self) -> tuple[str, ...]:
        given = self.given.get("device", self.name)
        return tuple(map(str, given)) if isinstance(given, list) else (str(given),)

    def matched(self, key: str, form: re.Pattern[str], why: str, hint: str) -> re.Match[str] | None:
        if key not in self.given:
            return None
        found = form.fullmatch(str(self.given[key]))
        if found is None:
            text = f"`{str(self.given[key])[:40]}` {why}"
            self.source.report((self.name, key), text, hint, code="wrong-format")
        return found

    def date(self) -> str:
        found = self.matched("date", _DATE, "is no date", "write `2022-02`")
        if found is None:
            return ""
        try:
            date.fromisoformat(f"{found[0]}-01-01"[:10] if len(found[0]) < 10 else found[0])
        except ValueError:
            text = f"`{found[0]}` is no date of the calendar"
            self.source.report((self.name, "date"), text, "write `2022-02`", code="wrong-format")
        return found[0]

    def idle(self) -> dict[str, Fraction]:
        given = self.given.get("idle")
        states = given if isinstance(given, Mapping) else {"": given} if given is not None else {}
        found = {}
        for state in states:
            watts = self.watts(("idle", state) if state or isinstance(given, Mapping) else ("idle",))
            if watts is not None:
                found[str(state)] = watts
        return found

    def watts(self, place: Path_) -> Fraction | None:
        given: Any = self.given
        for key in place:
            given = given.get(key)
        if given is None:
            return None
        try:
            found = Watts.parse(given).amount
        except UnitError as error:
            self.source.report((self.name, *place), error.message, error.hint, code=error.code)
            return None
        if not found:
            text = "a device that draws no power"
            self.source.report(
                (self.name, *place), text, "leave it out if it is unknown", code="out-of-range"
            )
            return None
        return found
