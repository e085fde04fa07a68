"""The matrix of a plan and its filters: every axis and every value must be known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

from netdyno import modifiers
from netdyno.errors import names
from netdyno.plan import Tables, check_groups
from netdyno.plan.groups import default_groups
from netdyno.plan.models import DIRECTIONS
from netdyno.plan.parameters import find_method, list_known
from netdyno.plan.patterns import PAIRS, PATTERNS, list_directions
from netdyno.plan.source import Source
from netdyno.values.situation import GROUP_AXIS

MAX_CASES = 10_000


def axes(
    source: Source,
    raw: dict[str, Any],
    kind: Any,
    tables: Tables,
    sizes: Sequence[int],
    groups: Sequence[str],
    is_any: bool,
) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    """The matrix in order; `profile` and `direction` are filled in where they are not given, and `pattern`
    where the method has one, and `group` where the plan has port groups.

    sizes: how many ports send to each other, the lab's or those of each group, which decides what directions
    there are. is_any: an axis may have any name, for the driver, whose templates may use it, is unknown.
    """
    matrix = raw.get("matrix", {})
    if not isinstance(matrix, dict):
        return None
    traffic = raw.get("traffic")
    profiles = tuple(str(name) for name in traffic) if isinstance(traffic, dict) else ()
    known = {
        **dict.fromkeys(list_known(raw, tables)),
        **not_parameters(kind, tables),
        "profile": profiles or None,
    }
    found: dict[str, tuple[str, ...]] = {}
    for name, values in matrix.items():
        if name not in known and not is_any:
            message = f"unknown axis `{str(name)[:40]}` of the matrix"
            source.report_unknown(("matrix", name), message, str(name), known, "axes", key=True)
        if isinstance(values, list):
            found[str(name)] = _values(source, name, values, known.get(name))
    found.setdefault("profile", profiles)
    _method_pattern(source, raw, tables, found)
    patterns = [name for name in found.get("pattern", (PAIRS,)) if name in PATTERNS]
    ways = _directions(source, found.get("direction", ()), patterns, sizes, groups)
    found.setdefault("direction", ways)
    if GROUP_AXIS in found:
        check_groups.axis(source, found[GROUP_AXIS], groups)
    elif groups:
        found[GROUP_AXIS] = default_groups(groups)
    count = math.prod(len(values) for values in found.values())
    if count > MAX_CASES:
        message = f"the matrix has {count} cases"
        source.report_key(("matrix",), message, f"at most {MAX_CASES}: split the plan", code="too-many")
        return None
    return tuple(found.items())


def not_parameters(kind: Any, tables: Tables) -> dict[str, tuple[str, ...] | None]:
    """The axes that a plan may have whatever its method, with their values. None: any value."""
    # With the kind unknown, an axis may be a setting of any kind. No values listed: any value.
    of_device: dict[str, tuple[str, ...] | None] = (
        {setting: values or None for setting, values in kind.settings.items()}
        if kind is not None
        else {setting: None for any_kind in tables.kinds.values() for setting in any_kind.settings}
    )
    return {
        "profile": None,
        "direction": DIRECTIONS,
        "pattern": tuple(PATTERNS),
        modifiers.AXIS: tuple(modifiers.MODIFIERS),
        GROUP_AXIS: None,
        **of_device,
    }


def _method_pattern(
    source: Source, raw: dict[str, Any], tables: Tables, found: dict[str, tuple[str, ...]]
) -> None:
    """A method that is for one pattern has it, and no other."""
    method = find_method(raw, tables)
    if method is None or method.pattern is None:
        return
    wanted = method.pattern
    for index, pattern in enumerate(found.setdefault("pattern", (wanted,))):
        if pattern in PATTERNS and pattern != wanted:
            source.report(
                ("matrix", "pattern", index),
                f"`{method.name}` is not for the pattern `{pattern}`",
                f"`{wanted}`, or leave the axis out",
                code="unsupported",
            )


def possible_in_all(
    pattern: str, sizes: Sequence[int], groups: Sequence[str] = ()
) -> tuple[tuple[str, ...], str]:
    """As `possible`, in a lab or in groups of all these sizes. groups: their names, if they are."""
    of = [f"the group `{name}`" for name in groups] if len(groups) == len(sizes) else ["the lab"] * len(sizes)
    found = [list_directions(pattern, size, one) for size, one in zip(sizes, of, strict=True)]
    ways = tuple(way for way in found[0][0] if all(way in others for others, _ in found))
    # Of one that has none the reason is its own; else of the one that has no more than all.
    reasons = [why for others, why in sorted(found, key=lambda one: len(one[0])) if why]
    return ways, next(iter(reasons), "") if not ways else next(
        (why for others, why in found if why and others == ways), ""
    )


def _directions(
    source: Source, values: tuple[str, ...], patterns: list[str], sizes: Sequence[int], groups: Sequence[str]
) -> tuple[str, ...]:
    """Tells of directions that no pattern has with so many ports; what is taken if none is given."""
    links = sizes[0]
    known, reasons = [], []
    for number, pattern in enumerate(patterns):
        found, why = possible_in_all(pattern, sizes, groups)
        known.append(found)
        if not found:
            source.report(("matrix", "pattern", number), why, None, code="unsupported")
        reasons.append(why)
    for index, value in enumerate(values):
        if value in DIRECTIONS and all(known) and not any(value in found for found in known):
            source.report(
                ("matrix", "direction", index),
                f"a lab with {'one link' if links == 1 else f'{links} links'} has no direction `{value}`"
                if patterns == [PAIRS]
                else f"{names(patterns)}: there is no direction `{value}`",
                f"{'; '.join(filter(None, reasons)) or 'there are'}: {names(dict.fromkeys(chain(*known)))}",
                code="unsupported",
            )
    # Both ways where that is what pairs are for; of a pattern what it is named for.
    first_of = {PAIRS: ("uni", "bidir") if set(sizes) == {2} else ("uni",)}
    first = dict.fromkeys(
        way for name, ways in zip(patterns, known, strict=True) for way in first_of.get(name, ways[:1])
    )
    return tuple(way for way in first if all(way in ways for ways in known)) or tuple(first) or ("uni",)


def _values(source: Source, axis: Any, values: list[Any], known: tuple[str, ...] | None) -> tuple[str, ...]:
    """The values of an axis as text; each one known, and none twice."""
    found: list[str] = []
    for index, value in enumerate(values):
        if not isinstance(value, str | int):
            continue
        place = ("matrix", axis, index)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if known is not None and text not in known:
            if axis == "profile":
                source.report_unknown(place, f"unknown profile `{text[:40]}`", text, known, "profiles")
            else:
                source.report_unknown(place, f"`{axis}` cannot be `{text[:40]}`", text, known, "values")
        if text in found:
            message = f"`{text[:40]}` stands twice on the axis `{axis}`"
            source.report(place, message, "remove one of the two", code="given-twice")
        found.append(text)
    return tuple(found)


def only_kind(raw: dict[str, Any], tables: Tables) -> Any:
    """The device's kind, if the plan names one, whatever else is wrong with the lab."""
    lab = raw.get("lab")
    nodes = lab.get("nodes") if isinstance(lab, dict) else None
    kinds = (
        [node.get("kind") for node in nodes.values() if isinstance(node, dict)]
        if isinstance(nodes, dict)
        else []
    )
    found = [tables.kinds[kind] for kind in kinds if isinstance(kind, str) and kind in tables.kinds]
    return found[0] if len(found) == 1 else None


def filters(
    source: Source, raw: dict[str, Any], axes: tuple[tuple[str, tuple[str, ...]], ...] | None
) -> bool:
    """`only` and `skip` name axes and values that the matrix has. Whether they do."""
    known = dict(axes or ())
    before = len(source.errors)
    for field in ("only", "skip"):
        entries = raw.get(field)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            for axis, values in entry.items() if isinstance(entry, dict) and known else ():
                place = (field, index, axis)
                if axis not in known:
                    message = f"`{str(axis)[:40]}` is not an axis of the matrix"
                    source.report_unknown(place, message, str(axis), known, "axes", key=True)
                    continue
                several = isinstance(values, list)
                for number, value in enumerate(values if several else [values]):
                    text = str(value).lower() if isinstance(value, bool) else str(value)
                    if isinstance(value, str | int) and text not in known[axis]:
                        where = (*place, number) if several else place
                        message = f"`{text[:40]}` is not on the axis `{axis}`"
                        source.report_unknown(where, message, text, known[axis], "values")
    return len(source.errors) == before
