"""Profiles with several sizes: a profile of each is written out before the plan is read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netdyno.errors import Problem, Problems
from netdyno.plan.fields import NAME
from netdyno.plan.source import Path_, Source
from netdyno.plan.traffic import Profile
from netdyno.values.mixes import read_mix

NAMELESS = "traffic"
"""What the only profile is called where it has neither a name nor a size."""
MOST_SIZES = 64
"""Of a profile: far more than any standard asks for (RFC 2544 section 9: seven)."""


def write_out_sizes(source: Source, raw: dict[str, Any]) -> dict[str, Any]:
    """The plan with a profile for each size of a list, as if the plan said so; mistakes are noted."""
    traffic, places = _named(raw.get("traffic"))
    if traffic is None:
        return raw
    stand_for: dict[str, tuple[str, ...]] = {}
    profiles: dict[Any, Any] = {}
    for name, value in traffic.items():
        sizes = value.get("size") if isinstance(value, dict) else None
        place = places.get(name, ("traffic", name))
        if name == "" and sizes is not None and not isinstance(sizes, list):
            sizes = [sizes]
        if name == "" and not sizes:
            # A name that no text has: the only profile has no size, or a field that is spelled alike.
            source.stands_at(("traffic", NAMELESS), place)
            stand_for[NAMELESS] = (NAMELESS,)
            profiles[NAMELESS] = value
            continue
        if not isinstance(sizes, list) or not sizes:
            profiles[name] = value
            continue
        made = dict(_each(source, str(name), sizes, place))
        stand_for[str(name)] = tuple(made)
        for each, index in made.items():
            if each in traffic:
                message = f"`{each}` is the name that one size of `{name}` is given"
                source.report_key(("traffic", each), message, "rename one of them", code="conflict")
            source.stands_at(("traffic", each), place)
            source.stands_at(("traffic", each, "size"), (*place, "size", index))
        profiles |= {each: {**value, "size": sizes[index]} for each, index in made.items()}
    if not stand_for:
        return raw
    found = {**raw, "traffic": profiles}
    matrix = raw.get("matrix")
    if isinstance(matrix, dict) and isinstance(matrix.get("profile"), list):
        named = _spread(source, ("matrix", "profile"), matrix["profile"], stand_for)
        found["matrix"] = {**matrix, "profile": named}
    for field in ("only", "skip"):
        if isinstance(raw.get(field), list):
            found[field] = [_filter(source, (field, n), one, stand_for) for n, one in enumerate(raw[field])]
    return found


def is_nameless(traffic: object) -> bool:
    """Whether `traffic` is the only profile itself: one that is called `size` would be a mapping."""
    if not isinstance(traffic, dict):
        return False
    fields = list(Profile.model_fields)
    return isinstance(traffic.get("size"), list | str | int) or (
        not any(isinstance(value, dict) for value in traffic.values())
        and any(difflib.get_close_matches(str(name), fields, cutoff=0.8) for name in traffic)
    )


def _named(traffic: object) -> tuple[dict[Any, Any] | None, Mapping[str, Path_]]:
    """The profiles by name, and where those without one stand."""
    if not isinstance(traffic, dict):
        return None, {}
    return ({"": traffic}, {"": ("traffic",)}) if is_nameless(traffic) else (traffic, {})


def _each(source: Source, name: str, sizes: Sequence[Any], place: Path_) -> Iterator[tuple[str, int]]:
    """The name of the profile of each size, and the size's place in the list."""
    seen: dict[str, int] = {}
    for index, size in enumerate(sizes):
        at = (*place, "size", index)
        if index == MOST_SIZES:
            source.report(at, f"more than {MOST_SIZES} sizes", "another profile for these", code="too-many")
            return
        if isinstance(size, Mapping):
            hint = "give sizes with weights a profile of their own"
            source.report(at, "a list of sizes has no mix by weights in it", hint, code="wrong-type")
        own = _own(size, index)
        each = f"{name}-{own}" if name else own
        if each in seen:
            hint = "each size makes a profile: remove one"
            source.report(at, f"the size `{size}` is given twice", hint, code="given-twice")
            continue
        seen[each] = index
        yield each, index


def _own(size: object, index: int) -> str:
    """What names the profile of a size; a wrong one is reported where the profile is read."""
    try:
        text = read_mix(size).name
    except (Problem, Problems):
        text = str(size)
    text = text.replace("/", "-").lower()
    return text if isinstance(size, str) and re.fullmatch(NAME, text) else f"size-{index + 1}"


def _spread(
    source: Source, place: Path_, values: Sequence[Any], stand_for: Mapping[str, tuple[str, ...]]
) -> list[Any]:
    """Names of profiles, with those written out that stand for several."""
    found: list[Any] = []
    for index, value in enumerate(values):
        for each in stand_for.get(value, (value,)) if isinstance(value, str) else (value,):
            source.stands_at((*place, len(found)), (*place, index))
            found.append(each)
    return found


def _filter(source: Source, place: Path_, entry: Any, stand_for: Mapping[str, tuple[str, ...]]) -> Any:
    if not isinstance(entry, dict) or "profile" not in entry:
        return entry
    asked = entry["profile"]
    where = (*place, "profile")
    if isinstance(asked, str):
        return {**entry, "profile": list(stand_for[asked])} if asked in stand_for else entry
    if not isinstance(asked, list):
        return entry
    return {**entry, "profile": _spread(source, where, asked, stand_for)}
