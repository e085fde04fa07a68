"""One run or several, which is what every format is given: their cases side by side, and how they differ.

Cases of two runs are the same test if the typed values of their axes are equal, whatever the cases are called
and in whatever order their plans name the axes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from netdyno.reports.model.grid import is_bound
from netdyno.reports.model.standing import Repeats, average_runs, gather
from netdyno.reports.model.view import CaseView, RunView
from netdyno.store.codec import exact
from netdyno.values.finding import Value
from netdyno.values.kind import ValueKind
from netdyno.values.quantities import Quantity, UnitError
from netdyno.values.records import name_choice
from netdyno.values.units import DataSize, Duration, FrameRate, Percent, bit_rate

BESIDE = ("cost", "frame time", "new frame time")
"""Roles of values that are compared beside those that stand for a case: what a service costs."""

COUNTED = ("best rate", "held rate")
"""Roles of rates that were counted, and not searched for."""

AxisValue: TypeAlias = Fraction | Quantity | str
CaseKey: TypeAlias = frozenset[tuple[str, AxisValue]]
"""The axes of a case and their typed values: `capacity` as `1Mpps` or `1000kpps` is one."""


def case_key(case: CaseView, without: Collection[str] = ()) -> CaseKey:
    """What a case is compared by: all its axes but these, without which repeat it is."""
    # The name of a profile or a direction is a word, also where it looks like a quantity.
    words = ("profile", "direction")
    return frozenset(
        (axis, text if axis in words else _typed(text))
        for axis, text in case.axes.items()
        if text and axis not in without
    )


def _typed(text: str) -> AxisValue:
    """The number or quantity that a value of an axis is; else its text."""
    for parse in (exact, FrameRate.parse, bit_rate, Duration.parse, Percent.parse, DataSize.parse):
        with suppress(UnitError, ValueError):
            return parse(text)
    return text


@dataclass(frozen=True)
class AlignedValue:
    """A value that stands for a case, as each run found it.

    place: settings, profile and direction of the case. cases: of each run the repeats; none where it has no
    such case. runs: what they found.
    """

    key: CaseKey
    place: str
    kind: ValueKind
    cases: tuple[tuple[CaseView, ...], ...]
    runs: tuple[Repeats, ...]

    def side(self, numbers: Sequence[int], *, by_runs: bool = False) -> Repeats:
        """What some runs found. Of several each counts once, with the mean of its repeats, since the scatter
        within a run is not that between runs. Of one its repeats count, and show the scatter within it alone.

        by_runs: as of `average_runs`.
        """
        return average_runs([self.runs[number] for number in numbers], by_runs=by_runs)

    def having(self, numbers: Sequence[int]) -> tuple[CaseView, ...]:
        """The cases of some runs."""
        return tuple(case for number in numbers for case in self.cases[number])


@dataclass(frozen=True)
class RunSet:
    """One run or several, in the order given.

    sides: of a comparison the numbers of the runs of each side; empty: each run is one. names: of the
    values to compare; empty: those that stand for the cases.
    """

    runs: tuple[RunView, ...]
    sides: tuple[tuple[int, ...], ...] = ()
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Without sides each run is one."""
        alone = tuple((number,) for number in range(len(self.runs)))
        object.__setattr__(self, "sides", self.sides or alone)

    @property
    def only(self) -> RunView:
        """The run of a set of one. ValueError if there are others."""
        (run,) = self.runs
        return run

    @cached_property
    def conditions(self) -> Mapping[str, tuple[str, ...]]:
        """Axes in which no side has two values, and the sides differ: not what tells cases apart, but what
        the runs were made with. Of each run its value, empty where it has no such axis. Profile and direction
        are never one: other frames are another test."""
        axes = dict.fromkeys(axis for run in self.runs for axis in run.setting_names)
        found = {}
        for axis in axes:
            values = [{case.settings.get(axis, "") for case in run.cases} for run in self.runs]
            of_sides = [{_typed(one) for number in side for one in values[number]} for side in self.sides]
            if len(set().union(*of_sides)) > 1 and all(len(of) <= 1 for of in of_sides):
                found[axis] = tuple(next(iter(of), "") for of in values)
        return found

    @cached_property
    def cases(self) -> Mapping[CaseKey, tuple[tuple[CaseView, ...], ...]]:
        """The cases by key, in the order in which they first appear: of each run its repeats."""
        found: dict[CaseKey, list[list[CaseView]]] = {}
        for number, run in enumerate(self.runs):
            for case in run.cases:
                key = case_key(case, self.conditions)
                found.setdefault(key, [[] for _ in self.runs])[number].append(case)
        return {key: tuple(map(tuple, sides)) for key, sides in found.items()}

    @cached_property
    def values(self) -> tuple[AlignedValue, ...]:
        """The values that stand for the cases, and costs of services, each as every run found it."""
        return tuple(value for key, sides in self.cases.items() for value in self._align(key, sides))

    def _align(self, key: CaseKey, sides: tuple[tuple[CaseView, ...], ...]) -> Iterator[AlignedValue]:
        cases = [case for side in sides for case in side]
        results = [case.result for case in cases if case.result is not None]
        heads = (result.kinds[name] for result in results for name in result.headlines)
        every = [kind for result in results for kind in result.kinds.values()]
        costs = (kind for kind in every if kind.role in BESIDE)
        chosen = (kind for kind in every if kind.name in self.names) if self.names else (*heads, *costs)
        # A release may say it in other words.
        kinds = {(kind.name, kind.unit): kind for kind in reversed(list(chosen))}
        place = self._name(cases[0])
        for kind in reversed(kinds.values()):
            runs = tuple(gather(side, [value_of(case, kind) for case in side]) for side in sides)
            yield AlignedValue(key, place, kind, sides, runs)

    def _name(self, case: CaseView) -> str:
        """What tells it from the others; of a single case all its axes."""
        own = {axis: text for axis, text in case.axes.items() if text and axis not in self.conditions}
        told = {axis: text for axis, text in own.items() if axis in self._varied}
        return " / ".join(name_choice(axis, text) for axis, text in (told or own).items())

    @cached_property
    def _varied(self) -> frozenset[str]:
        """The axes in which the cases differ."""
        values: dict[str, set[AxisValue]] = {}
        for key in self.cases:
            for axis, value in key:
                values.setdefault(axis, set()).add(value)
        return frozenset(
            axis
            for axis, of in values.items()
            if len(of) > 1 or any(axis not in dict(key) for key in self.cases)
        )


def value_of(case: CaseView, kind: ValueKind) -> Value | None:
    """As the case has it. The bounds of a rate that was counted are a frame of its window apart, and no
    bracket of a search: they say nothing of what another run would count."""
    value = case.value(kind.name)
    if value is None or value.unit != kind.unit:
        return None
    if kind.role in COUNTED and value.low is not None and value.high is not None:
        value = replace(value, low=None, high=None)
    # Of a lower bound reports print what lasts.
    return replace(value, number=value.lasting) if is_bound(case, value) else value
