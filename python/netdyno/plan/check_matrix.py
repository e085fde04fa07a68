"""The matrix of a plan and its filters: every axis and every value must be known."""

from __future__ import annotations

from typing import Any

from netdyno.errors import suggestion
from netdyno.plan import Tables
from netdyno.plan.models import DIRECTIONS
from netdyno.plan.source import Source

MAX_CASES = 10_000


def axes(source: Source, raw: dict[str, Any], kind: Any) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    """The matrix in order; `profile` and `direction` are filled in where they are not given."""
    matrix = raw.get("matrix", {})
    if not isinstance(matrix, dict):
        return None
    profiles = [str(name) for name in raw.get("traffic", {})] if isinstance(raw.get("traffic"), dict) else []
    axes: dict[str, tuple[str, ...]] = {}
    count = 1
    for name, values in matrix.items():
        place = ("matrix", name)
        known: list[str] | None = None
        if name == "profile":
            known = profiles
        elif name == "direction":
            known = list(DIRECTIONS)
        elif kind is not None and name in kind.settings:
            known = list(kind.settings[name])
        elif kind is not None:
            hint = suggestion(str(name), ["profile", "direction", *kind.settings], "axes")
            source.report(place, f"unknown axis `{str(name)[:40]}` of the matrix", hint, key=True)
        if not isinstance(values, list):
            continue
        seen: list[str] = []
        for index, value in enumerate(values):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if not isinstance(value, str | int):
                continue
            if known is not None and text not in known:
                what = "profile" if name == "profile" else f"value `{text[:40]}` of axis"
                message = f"unknown {what} `{text[:40] if name == 'profile' else name}`"
                source.report(
                    (*place, index),
                    message,
                    suggestion(text, known, "profiles" if name == "profile" else "values"),
                )
            if text in seen:
                source.report(
                    (*place, index),
                    f"`{text[:40]}` stands twice on the axis `{name}`",
                    "remove one of the two",
                )
            seen.append(text)
        axes[str(name)] = tuple(seen)
        count *= max(1, len(seen))
    axes.setdefault("profile", tuple(profiles))
    axes.setdefault("direction", ("uni", "bidir"))
    if count > MAX_CASES:
        source.report(
            ("matrix",), f"the matrix has {count} cases", f"at most {MAX_CASES}: split the plan", key=True
        )
        return None
    return tuple(axes.items())


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
) -> None:
    """`only` and `skip` name axes and values that the matrix has."""
    known = dict(axes or ())
    for field in ("only", "skip"):
        entries = raw.get(field)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            for axis, values in entry.items() if isinstance(entry, dict) and known else ():
                place = (field, index, axis)
                if axis not in known:
                    source.report(
                        place,
                        f"`{str(axis)[:40]}` is not an axis of the matrix",
                        suggestion(str(axis), known, "axes"),
                        key=True,
                    )
                    continue
                several = isinstance(values, list)
                for number, value in enumerate(values if several else [values]):
                    text = str(value).lower() if isinstance(value, bool) else str(value)
                    if isinstance(value, str | int) and text not in known[axis]:
                        where = (*place, number) if several else place
                        source.report(
                            where,
                            f"`{text[:40]}` is not on the axis `{axis}`",
                            suggestion(text, known[axis], "values"),
                        )
