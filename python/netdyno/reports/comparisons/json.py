"""For a program: every number, interval and chance, and the notes that a reader has."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from netdyno.reports import Look
from netdyno.reports.model import efficiency
from netdyno.reports.model.compared import Change, Compared, Comparison
from netdyno.reports.model.comparison_screen import screen
from netdyno.reports.model.sides import conditions
from netdyno.reports.model.standing import Repeats
from netdyno.stats.intervals import Interval

FORMAT = "netdyno/compare/1"


def render(found: Comparison, look: Look) -> bytes:
    """The comparison as JSON, keys in a stable order."""
    # In the order of the rows and their changes; none where no limit was asked.
    gates = iter([gate for _, _, gate in found.gates])
    document = {
        "format": FORMAT,
        "sides": [
            {"name": name, "runs": [found.runs.runs[number].id for number in side]}
            for name, side in zip(found.names, found.sides, strict=True)
        ],
        "differs_in": conditions(found.runs),
        "emulated": any(run.emulated for run in found.runs.runs),
        "notes": list(screen(found).notes),
        "only_in": found.only,
        "verdict": found.verdict,
        "worse_than": _number(found.limit),
        "efficiency": [
            {
                "case": one.row.value.place,
                "side": one.side,
                "device": None if one.box is None else one.box.name,
                "rate_pps": _number(one.fps),
                "l1_bps": _number(one.l1_bps),
                "watts": _number(one.watts),
                "power_is": None if one.watts is None else one.drawn,
                "kpps_each_watt": _number(one.each_watt[0]),
                "price": None if one.box is None else _number(one.box.price),
                "currency": (one.box and one.box.currency) or None,
                "mpps_each_1000": _number(one.each(one.thousands)[0]),
                "rack_units": None if one.box is None else _number(one.box.units),
            }
            for one in efficiency.efficiencies(found, efficiency.boxes_of(found))
        ],
        "values": [
            {
                "case": row.value.place,
                "axes": _axes(row),
                "value": row.value.kind.name,
                "unit": row.value.kind.unit,
                "better": row.value.kind.better or None,
                "sides": [_side(side) for side in row.sides],
                "changes": [_change(change, next(gates, None)) for change in row.changes],
            }
            for row in found.rows
        ],
    }
    return (json.dumps(_without_none(document), ensure_ascii=False, indent=1) + "\n").encode()


def _axes(row: Compared) -> dict[str, str]:
    first = next(case for side in row.value.cases for case in side)
    return {axis: text for axis, text in first.axes.items() if text}


def _side(side: Repeats) -> dict[str, Any]:
    if not side.numbers:
        return {"numbers": [], "made": side.made}
    return {
        "mean": _number(side.mean),
        "numbers": [_number(one) for one in side.numbers],
        "bracket": _ends(side.bracket),
        "made": side.made,
        "lower_bounds": side.bounds,
        "in_doubt": side.doubtful,
        "missing": side.missing,
        "limits": side.limits,
    }


def _change(change: Change, gate: str | None) -> dict[str, Any]:
    found = change.difference
    return {
        "side": change.side,
        "outcome": change.outcome,
        "why": change.why or None,
        "change": None if found is None else _number(found.change),
        "share": None if found is None else _number(found.share),
        "rule": None if found is None else found.rule.replace(" ", "-"),
        "interval": None if found is None else _ends(found.interval),
        "p_adjusted": change.chance,
        "would_be_shown": _number(change.would),
        "against_limit": None if gate is None else gate.replace(" ", "-"),
    }


def _ends(interval: Interval | None) -> list[int | float | None] | None:
    return None if interval is None else [_number(interval.low), _number(interval.high)]


def _number(number: Fraction | None) -> int | float | None:
    if number is None:
        return None
    return number.numerator if number.denominator == 1 else float(number)


def _without_none(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _without_none(value) for key, value in part.items() if value is not None}
    if isinstance(part, Iterable) and not isinstance(part, str):
        return [_without_none(one) for one in part]
    return part
