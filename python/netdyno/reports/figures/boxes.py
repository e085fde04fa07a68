"""The bars of a comparison: each value of each case, a bar for each side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from netdyno.reports.figures import vega
from netdyno.reports.figures.table_figures import PREFIXES, TIMES
from netdyno.reports.figures.vega import Figure, Spec, marks, of, short
from netdyno.reports.model.compared import Compared, Comparison
from netdyno.reports.model.table import WORDS
from netdyno.reports.model.view import CaseView
from netdyno.values import number as printed

MOST = 60
"""Bars of a figure."""
STEP = 20
"""Pixels of a bar, with the gap to the next."""
NAMED = 4
"""Sides from which each bar has its name, beside the legend."""
NOTE = "Thin line: the last step of a search, within which the number lies."


def figures(found: Comparison, width: int = 620) -> Iterator[Figure]:
    """A figure for each unit of values."""
    rows: dict[str, list[Compared]] = {}
    for row in found.rows:
        if any(side.numbers for side in row.sides):
            rows.setdefault(row.value.kind.unit, []).append(row)
    for number, (unit, own) in enumerate(rows.items()):
        names = dict.fromkeys(row.value.kind.display_name for row in own)
        title = ", ".join(f"{name[0].upper()}{name[1:]}" for name in names)
        most = own[: max(1, MOST // len(found.sides))]
        note = NOTE + (
            f" The first {len(most)} of {len(own)}: the table has all." if len(most) < len(own) else ""
        )
        yield Figure(f"boxes-{number}", title, note, _spec(found, most, unit, width))


def _spec(found: Comparison, rows: list[Compared], unit: str, width: int) -> Spec:
    top = max(side.mean for row in rows for side in row.sides if side.numbers)
    factor, word = _scale(unit, top)
    kinds = {row.value.kind for row in rows}
    many = len(found.sides) > NAMED
    bars: list[dict[str, Any]] = []
    for row in rows:
        for place, (name, side, text) in enumerate(zip(found.names, row.sides, row.texts, strict=True)):
            if not side.numbers:
                continue
            cases = row.cases[place]
            bracket = side.bracket
            bars.append(
                {
                    "case": _label(row, cases[0], named=len(kinds) > 1 or not _is_alike(row)),
                    "side": name,
                    "value": short(side.mean / factor),
                    "low": short(bracket.low / factor),
                    "high": short(bracket.high / factor),
                    "label": f"{name}: {text}" if many else f"{text}{_beside(row, cases[0])}",
                }
            )
    most = max(bar["high"] for bar in bars)
    least = min(0, *(bar["low"] for bar in bars))
    x = of("value:Q", title=word or None, scale={"domain": [1.1 * least, 1.5 * most or 1], "nice": False})
    names = list(dict.fromkeys(bar["case"] for bar in bars))
    y = of("case:N", scale={"domain": names, "paddingInner": 0.25}, axis={"title": None, "labelLimit": 300})
    offset = of("side:N", scale={"domain": list(found.names)})
    colour = of("side:N", scale=vega.scale(found.names, vega.PALETTE), legend=vega.legend())
    look = {"align": "left", "dx": 5, "font": vega.FONT, "color": vega.INK}
    each = {"y": y, "yOffset": offset}
    return {
        "$schema": vega.SCHEMA,
        "config": vega.CONFIG,
        "data": {"values": bars},
        "width": width,
        "height": STEP * len(names) * len(found.names) + 10 * len(names),
        "layer": [
            marks("bar", {"tooltip": True}, x=x, color=colour, **each),
            marks("rule", {"color": vega.INK, "strokeWidth": 1.5}, x=of("low:Q"), x2=of("high"), **each),
            marks("text", look, x=of("high:Q"), text=of("label"), **each),
        ],
    }


def _scale(unit: str, top: Fraction) -> tuple[Fraction, str]:
    """The size of what the axis counts, and its name."""
    if unit in ("share", "ratio"):
        return Fraction(1, 100), "%"
    if unit == "ns":
        steps: Sequence[tuple[int, str]] = TIMES
    elif unit in printed.RATES:
        steps = [(size, word.replace("pps", printed.RATES[unit])) for size, word in PREFIXES]
    else:
        return Fraction(1), WORDS.get(unit, unit)
    factor, word = next((step for step in steps if top >= step[0]), steps[-1])
    return Fraction(factor), word


def _is_alike(row: Compared) -> bool:
    """Whether all sides sent the same frames."""
    return len({case.frames for side in row.cases for case in side if case.result}) == 1


def _label(row: Compared, case: CaseView, *, named: bool) -> str:
    """`64b / uni`; named: with the value and the frames, since a bar of another method or layer is no other
    box."""
    place, name = row.value.place, row.value.kind.display_name
    return f"{place or name}: {name}, {case.frames}" if named or not place else place


def _beside(row: Compared, case: CaseView) -> str:
    if row.value.kind.unit != "fps":
        return ""
    value = case.value(row.value.kind.name)
    l1 = None if value is None else case.l1_of(value)
    return "" if l1 is None else f" ({printed.rate(l1, 'bit/s')} L1)"
