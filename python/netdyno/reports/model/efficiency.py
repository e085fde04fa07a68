"""What a comparison's devices do for a watt, for money, and for a unit of a rack.

Of power what the device said under that load, else what the inventory has: loaded, or idle, which is the base
power of draft-ietf-bmwg-powerbench and makes a device look better than it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from netdyno.plan.inventory import Box
from netdyno.reports.model import device
from netdyno.reports.model.compared import Compared, Comparison
from netdyno.reports.model.table import Table
from netdyno.reports.model.view import CaseView
from netdyno.values.finding import Cell, Column
from netdyno.values.number import decimal

KILO, MEGA, GIGA = 10**3, 10**6, 10**9

Drawn: TypeAlias = Literal["read under the load", "loaded", "idle"]

CAPTION = (
    "Power: what the device said under that load, else `loaded` or `idle` of the inventory. That of an idle"
    " device is its base power (draft-ietf-bmwg-powerbench): with traffic it draws more."
)
STEPS = "Power of each load that was held, as the device said it; base power: before traffic."


def boxes_of(found: Comparison) -> tuple[Box | None, ...]:
    """The device of each side: the one whose name stands in that of the side, else in those of the devices it
    tested, else in the titles of its runs, as whole words; the longest. Several are none."""
    return tuple(_box(found, place) for place in range(len(found.sides)))


def _box(found: Comparison, place: int) -> Box | None:
    runs = [found.runs.runs[number] for number in found.sides[place]]
    tested = [title for run in runs for title in run.device_titles]
    for texts in ([found.names[place]], tested, [run.head.title for run in runs]):
        fitting = {
            (len(name), box.name): box
            for box in found.inventory
            for name in box.names
            if any(_has_words(text, name) for text in texts)
        }
        longest = [box for (size, _), box in fitting.items() if size == max(size for size, _ in fitting)]
        if len(longest) == 1:
            return longest[0]
    return None


def _has_words(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


@dataclass(frozen=True)
class Efficiency:
    """A rate of one side in one case, and what it takes. watts: None: not known. powered_fps: what came back
    meanwhile."""

    side: int
    row: Compared
    fps: Fraction
    l1_bps: Fraction | None
    watts: Fraction | None
    powered_fps: Fraction
    drawn: Drawn
    box: Box | None

    def each(
        self, of: Fraction | None, unit: tuple[int, int] = (MEGA, GIGA)
    ) -> tuple[Fraction | None, Fraction | None]:
        """Frames and bits a second for each of something. unit: how many of them are counted as one."""
        if not of:
            return None, None
        return self.fps / unit[0] / of, None if self.l1_bps is None else self.l1_bps / unit[1] / of

    @property
    def each_watt(self) -> tuple[Fraction | None, Fraction | None]:
        """kpps and Mbit/s, of what came back while that power was drawn."""
        part = self.powered_fps / self.fps if self.fps else Fraction(1)
        kpps, mbps = self.each(self.watts, (KILO, MEGA))
        return (None if kpps is None else kpps * part), (None if mbps is None else mbps * part)

    @property
    def thousands(self) -> Fraction | None:
        """The price in thousands."""
        return None if self.box is None or self.box.price is None else self.box.price / KILO


def efficiencies(found: Comparison, boxes: Sequence[Box | None]) -> Iterator[Efficiency]:
    """Of each rate that a side found, where anything is known of its device."""
    for row in found.rows:
        if row.value.kind.unit != "fps" or row.value.kind.about != "device":
            continue
        for place, side in enumerate(row.sides):
            box, cases = boxes[place], row.cases[place]
            if not side.numbers:
                continue
            watts, powered_fps, drawn = _watts(cases, box)
            if watts is None and box is None:
                continue
            l1 = cases[0].l1_bps(side.mean)
            fps = side.mean if powered_fps is None else powered_fps
            yield Efficiency(place, row, side.mean, l1, watts, fps, drawn, box)


def _watts(cases: Sequence[CaseView], box: Box | None) -> tuple[Fraction | None, Fraction | None, Drawn]:
    """Watts, what came back meanwhile if that was not the rate itself, and whose power it is."""
    found = [power for case in cases if (power := device.power(case)) is not None]
    read = [(power.hold_watts, power.rx_fps) for power in found]
    if read:
        watts, fps = (sum(each, Fraction(0)) / len(read) for each in zip(*read, strict=True))
        return watts, fps, "read under the load"
    if box is not None and box.loaded is not None:
        return box.loaded, None, "loaded"
    return (None if box is None else box.idle_watts), None, "idle"


def tables(found: Comparison, *, shortly: bool = False) -> tuple[Table, ...]:
    """The devices, what their rates take, and the power of each load; those that have rows. shortly: of each
    side the highest rate alone."""
    boxes = boxes_of(found)
    rates = list(efficiencies(found, boxes))
    every: tuple[Table, ...]
    if shortly:
        best = {one.side: one for one in sorted(rates, key=lambda one: one.fps)}
        every = (_efficiency(found, boxes, [best[side] for side in sorted(best)]),)
    else:
        every = (_devices(found, boxes), _efficiency(found, boxes, rates), _steps(found))
    return tuple(
        replace(table.without_empty_columns(), cases=(None,) * len(table.rows))
        for table in every
        if table.rows
    )


def _devices(found: Comparison, boxes: Sequence[Box | None]) -> Table:
    """All of the inventory, also what no side is: prices and watts are compared without a run."""
    rows: list[tuple[Cell, ...]] = []
    for box in found.inventory:
        sides = ", ".join(name for name, one in zip(found.names, boxes, strict=True) if one is box)
        price = "" if box.price is None else f"{decimal(box.price, 2)} {box.currency}"
        states: Sequence[tuple[str, Fraction | None]] = list(box.idle.items()) or [("", None)]
        for state, watts in states:
            rows.append((box.name, sides, price, box.date, box.units, state, watts, box.loaded, box.source))
    columns = (
        *(Column(one) for one in ("device", "side", "price", "of", "rack units", "state")),
        *(Column(one) for one in ("idle (W)", "loaded (W)", "source")),
    )
    return Table("Devices of the inventory", (), columns, tuple(rows), left=2)


def _efficiency(found: Comparison, boxes: Sequence[Box | None], rates: Sequence[Efficiency]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    currencies = dict.fromkeys(box.currency for box in boxes if box is not None and box.currency)
    for one in rates:
        units = None if one.box is None else one.box.units
        money: list[Cell] = []
        for currency in currencies:
            is_own = one.box is not None and one.box.currency == currency
            money += map(_four, one.each(one.thousands if is_own else None))
        rows.append(
            (
                one.row.value.place or one.row.value.kind.display_name,
                found.names[one.side],
                ">=" if one.row.sides[one.side].bounds else "",
                one.fps,
                _four(one.watts),
                "" if one.watts is None else one.drawn,
                *map(_four, one.each_watt),
                *money,
                *map(_four, one.each(units)),
            )
        )
    each = [f"1000 {currency}" for currency in currencies]
    columns = (
        Column("case"),
        Column("side"),
        Column("at least"),
        Column("rate", "fps"),
        Column("power (W)"),
        Column("power is"),
        *(Column(f"{unit} each W") for unit in ("kpps", "Mbit/s L1")),
        *(Column(f"{unit} each {of}") for of in (*each, "rack unit") for unit in ("Mpps", "Gbit/s L1")),
    )
    return Table("Efficiency", (CAPTION,), columns, tuple(rows), left=2)


def _steps(found: Comparison) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for row in found.rows:
        for name, cases in zip(found.names, row.cases, strict=True):
            for case in cases:
                for power in sorted(device.powers(case), key=lambda one: one.rx_fps):
                    each = None if power.mpps_per_watt is None else KILO * power.mpps_per_watt
                    own = map(_four, (power.hold_watts, power.idle_watts, each))
                    rows.append((row.value.place, name, power.rx_fps, *own))
    columns = (
        Column("case"),
        Column("side"),
        Column("received", "fps"),
        *(Column(one) for one in ("power (W)", "base power (W)", "kpps each W")),
    )
    return Table("Power by load", (STEPS,), columns, tuple(dict.fromkeys(rows)), left=2)


def _four(number: Fraction | None) -> Fraction | None:
    """With four digits, which is more than power is known to."""
    return None if number is None else Fraction(f"{float(number):.4g}")
