"""`--set traffic.64b.size=128B`: values put into a plan before it is checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from netdyno.errors import PlanErrors, suggestion
from netdyno.plan import models as m
from netdyno.plan.problems import fields_at, format_value
from netdyno.plan.sizes import is_nameless
from netdyno.plan.source import Path_, Source, dotted, read_text
from netdyno.plan.traffic import Profile

if TYPE_CHECKING:
    from netdyno.plan import Plan

OPTION = "--set"
LAB = "lab"


class NoPlaceError(Exception):
    """A plan has no place of this name. path: how far the plan goes."""

    def __init__(self, path: Path_, message: str, hint: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.hint = hint


def split(text: str) -> tuple[str, str]:
    """Path and value of `traffic.64b.size=128B`."""
    path, _, value = text.partition("=")
    return path.strip(), value


def names_lab(text: str) -> bool:
    """Whether it names another file of the lab, which is read before what is set in it."""
    return split(text)[0] == LAB


def override(source: Source, given: Iterable[str]) -> list[str]:
    """Puts values into the plan as it is written; mistakes are noted.

    Returns those for profiles that are not written, which its lists of sizes may make.
    """
    later = []
    for text in given:
        path, value = split(text)
        found = _read(source, path, value)
        if found is None:
            continue
        source.value = _unshared(source.value)
        try:
            source.override(put(source.value, path, found.value), f"{OPTION} {path}", found)
        except NoPlaceError as error:
            if error.path == ("traffic",):
                later.append(text)
            else:
                _report(source, path, error)
    return later


def override_sizes(source: Source, raw: dict[str, Any], given: Sequence[str]) -> dict[str, Any]:
    """The plan with values put into profiles that its lists of sizes have made; mistakes are noted."""
    if not given:
        return raw
    if isinstance(raw.get("traffic"), dict):
        # Profiles of one list have the same parts until one is set.
        raw = {**raw, "traffic": _unshared(raw["traffic"])}
    for text in given:
        path, value = split(text)
        found = _read(source, path, value)
        assert found is not None, "it was read before"
        try:
            source.override(put(raw, path, found.value), f"{OPTION} {path}", found)
        except NoPlaceError as error:
            _report(source, path, error)
    return raw


def _unshared(value: Any) -> Any:
    """The value with an own copy wherever an alias, `*name`, has what its anchor has: one is set alone."""
    if isinstance(value, dict):
        return {name: _unshared(one) for name, one in value.items()}
    return [_unshared(one) for one in value] if isinstance(value, list) else value


def _read(source: Source, path: str, value: str) -> Source | None:
    """A value as YAML has it; None: it is not YAML, which is noted."""
    try:
        found = read_text(value, path)
    except PlanErrors as errors:
        for error in errors.errors:
            source.report_override(f"{OPTION} {path}", path, error.message, error.hint, code=error.code)
        return None
    for error in found.errors:
        source.report_override(f"{OPTION} {path}", path, error.message, error.hint, code=error.code)
    return found


def _report(source: Source, path: str, error: NoPlaceError) -> None:
    source.report_override(f"{OPTION} {path}", path, error.message, error.hint, code="unknown-name")


_WORD = re.compile(r"[^.\[\]]+")
_INDEX = re.compile(r"\[([0-9]{1,6})\]")


def put(plan: Any, path: str, value: Any) -> Path_:
    """Puts a value into a plan at `lab.links[0].rate`; its path.

    Fields on the way that are left out are made. Raises NoPlaceError; then nothing was changed.
    """
    here, left = plan, path
    place: Path_ = ()
    # The last part that is there, and the steps from it to the value.
    inside, made = plan, list[str | int]()
    while True:
        step, left = _step(here, place, left)
        place = (*place, step)
        there = here.get(step) if isinstance(here, dict) else here[step]
        if not left or made or there is None:
            made.append(step)
        if not left:
            break
        if isinstance(here, dict) and step not in here:
            known = _fields(plan, place[:-1])
            if step not in known:
                every = dict.fromkeys([*map(str, here), *known])
                what = f"`{dotted(place[:-1])}` has no" if place[1:] else "no field"
                raise NoPlaceError(place[:-1], f"{what} `{str(step)[:40]}`", suggestion(str(step), every))
        if there is not None:
            inside = there
        # What has nothing behind its name, as in `throughput:`, is a mapping without fields.
        here = {} if there is None else there
    for one in reversed(made[1:]):
        value = {one: value}
    inside[made[0]] = value
    return place


def _step(here: Any, place: Path_, left: str) -> tuple[str | int, str]:
    """The next key or index of a path, and what is left of it behind that."""
    at = dotted(place)
    if isinstance(here, list):
        found = _INDEX.match(left)
        if found is None or int(found[1]) >= len(here):
            last = f"`{at}[{len(here) - 1}]` is the last" if here else f"`{at}` is empty"
            raise NoPlaceError(place, f"`{at}` has no entry `{left[:40]}`", f"write `{at}[0]`; {last}")
        return int(found[1]), left[found.end() :].removeprefix(".")
    if not isinstance(here, dict):
        hint = f"set all of it: `{OPTION} {at}=...`"
        raise NoPlaceError(place, f"`{at}` is {format_value(here)}, without parts", hint)
    # Names may have dots: the longest that there is.
    keys = [key for key in here if left == str(key) or left.startswith((f"{key}.", f"{key}["))]
    if keys:
        step = max(keys, key=lambda key: len(str(key)))
        return step, left[len(str(step)) :].removeprefix(".")
    word = _WORD.match(left)
    if word is None:
        raise NoPlaceError(place, f"`{left[:40]}` is no name", "write a path such as `traffic.64b.size`")
    return word[0], left[word.end() :].removeprefix(".")


def _fields(plan: Any, place: Path_) -> list[str]:
    """The fields that a plan may have at a place."""
    if place[:1] == ("traffic",) and is_nameless(plan.get("traffic")):
        return fields_at(Profile, place[1:])
    return fields_at(m.PlanFile, place)


def locate(plan: Plan, path: Path_, *, key: bool = False) -> tuple[str, int, int]:
    """File, line and column of a value of a plan, or of its key; of one that was set the option, 0 and 0."""
    for text in reversed(plan.overrides):
        own = split(text)[0]
        if dotted(path) == own or dotted(path).startswith((f"{own}.", f"{own}[")):
            return f"{OPTION} {own}", 0, 0
    file, text = plan.file, plan.text
    if plan.included and path[:1] == (LAB,):
        # Of a lab in a file of its own, the place there.
        ((file, text),) = plan.included.items()
        path = path[1:]
    return file, *read_text(text, file).position(path, key=key)
