"""The sides of a comparison: their short names, and what differs between them beside the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from netdyno.plan.flat import flat_settings
from netdyno.reports.model.run_set import RunSet
from netdyno.reports.model.view import RunView
from netdyno.values import number as printed

NONE, DEFAULT = "none", "default"
"""What stands where a side has no such thing, or its plan does not say."""
VERSIONS = ("netdyno", "engine", "kernel", "cpu")
"""Of what measured, which decide what it measures."""


def short_names(runs: RunSet) -> tuple[str, ...]:
    """A short name for each side: what differs between their titles, devices, conditions or dates."""
    firsts = [runs.runs[side[0]] for side in runs.sides]
    settings = conditions(runs).items()
    of_plans = [each for what, each in settings if "." in what and not any("/" in one for one in each)]
    ways: tuple[Callable[[int], str], ...] = (
        lambda place: firsts[place].head.title,
        lambda place: ", ".join(firsts[place].device_titles),
        lambda place: " ".join(of[runs.sides[place][0]] for of in runs.conditions.values()),
        lambda place: next((each[place] for each in of_plans if len(set(each)) == len(each)), ""),
        lambda place: firsts[place].started[:10],
        lambda place: firsts[place].started[:16].replace("T", " "),
        lambda place: firsts[place].id,
    )
    for way in ways:
        names = [way(place) for place in range(len(runs.sides))]
        if all(names) and len(set(names)) == len(names):
            return tuple(_without_common(names))
    return tuple(f"{firsts[place].id} ({place + 1})" for place in range(len(runs.sides)))


def common_title(runs: RunSet) -> str:
    """What the titles of all sides have in common: `RouterOS on CCR1072`; the first title if nothing."""
    titles = [
        runs.runs[side[0]].head.title or ", ".join(runs.runs[side[0]].device_titles) for side in runs.sides
    ]
    if len(set(titles)) == 1:
        return titles[0]
    before, after = _ends([title.split() for title in titles])
    words = titles[0].split()
    return " ".join((*words[:before], *words[len(words) - after :]))


def _ends(names: Sequence[Sequence[str]]) -> tuple[int, int]:
    """How many words all have in common at their begin and at their end, of which each keeps one at least."""
    shortest = min(map(len, names))
    before = 0
    while before < shortest - 1 and len({name[before] for name in names}) == 1:
        before += 1
    after = 0
    while after < shortest - before - 1 and len({name[-1 - after] for name in names}) == 1:
        after += 1
    return before, after


def _without_common(names: Sequence[str]) -> Iterator[str]:
    words = [name.split() for name in names]
    before, after = _ends(words)
    for name in words:
        yield " ".join(name[before : len(name) - after])


def conditions(runs: RunSet) -> dict[str, tuple[str, ...]]:
    """What differs between sides beside the numbers: what, and of each side how. The device first, then the
    plan, then what measured."""
    found: dict[str, tuple[str, ...]] = {}

    def add(what: str, of: Callable[[RunView], str], missing: str = NONE) -> None:
        each = tuple(
            ", ".join(dict.fromkeys(filter(None, (of(runs.runs[number]) for number in side))))
            for side in runs.sides
        )
        if len(set(each)) > 1:
            found[what] = tuple(one or missing for one in each)

    add("device", lambda run: ", ".join(run.device_titles))
    add("device software", _software)
    for axis, values in runs.conditions.items():
        found[axis] = tuple(
            ", ".join(dict.fromkeys(values[number] for number in side)) or NONE for side in runs.sides
        )
    add("clock", lambda run: next((f"{case.clock} time" for case in run.cases if case.clock), ""))
    plans = {id(run): _settings(run) for run in runs.runs}
    # A run that was imported has none: that is not a difference in each of its settings.
    known = plans.values() if all(run.head.plan for run in runs.runs) else ()
    for key in dict.fromkeys(key for settings in known for key in settings):
        add(key, lambda run, key=key: plans[id(run)].get(key, ""), DEFAULT)  # type: ignore[misc]
    for axis in ("profile", "direction"):
        add(axis, lambda run, axis=axis: ", ".join(sorted({one.axes[axis] for one in run.cases})))  # type: ignore[misc]
    add("seed", lambda run: str(run.head.seed))
    add("scale", lambda run: printed.exact(run.head.scale))
    for name in VERSIONS:
        add(name, lambda run, name=name: run.head.versions.get(name, ""))  # type: ignore[misc]
    return found


def _software(run: RunView) -> str:
    return ", ".join(
        dict.fromkeys(case.configuration.version for case in run.cases if case.configuration is not None)
    )


def _settings(run: RunView) -> dict[str, str]:
    return flat_settings(run.head.plan, run.head.overrides) | flat_settings(run.head.lab)
