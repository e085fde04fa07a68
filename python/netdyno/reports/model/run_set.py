"""One run or several, which is what every format is given: their cases side by side, and how they differ.

Cases of two runs are the same test if the typed values of their axes are equal, whatever the cases are called
and in whatever order their plans name the axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from netdyno.reports.model.standing import Difference, Repeats, average_runs, differ, gather
from netdyno.reports.model.view import CaseView, RunView
from netdyno.store.codec import exact
from netdyno.values.finding import Value
from netdyno.values.quantities import Quantity, UnitError
from netdyno.values.units import Duration, FrameRate, FrameSize, Percent, bit_rate

AxisValue: TypeAlias = Fraction | Quantity | str
CaseKey: TypeAlias = frozenset[tuple[str, AxisValue]]
"""The axes of a case and their typed values: `capacity` as `1Mpps` or `1000kpps` is one."""


def case_key(case: CaseView) -> CaseKey:
    """What a case is compared by: all its axes, without which repeat it is."""
    # The name of a profile or a direction is a word, also where it looks like a quantity.
    words = ("profile", "direction")
    return frozenset(
        (axis, text if axis in words else _typed(text)) for axis, text in case.axes.items() if text
    )


def _typed(text: str) -> AxisValue:
    """The number or quantity that a value of an axis is; else its text."""
    for parse in (exact, FrameRate.parse, bit_rate, Duration.parse, Percent.parse, FrameSize.parse):
        with suppress(UnitError, ValueError):
            return parse(text)
    return text


@dataclass(frozen=True)
class AlignedValue:
    """A value that stands for a case, as each run found it.

    place: settings, profile and direction of the case. runs: of each run the repeats; none made where it has
    no such case. frames: of each run the sizes that it sent, with their weights.
    """

    key: CaseKey
    place: str
    name: str
    unit: str
    runs: tuple[Repeats, ...]
    frames: tuple[tuple[tuple[int, int], ...], ...]

    def difference(self, first: Sequence[int], second: Sequence[int]) -> Difference | None:
        """By how much some runs differ from others. first, second: their numbers. None where a side has no
        number, or the frames differ: rates of two sizes or mixes are no measure of two devices.

        Of several runs a side each counts once, with the mean of its repeats, since the scatter within a run
        is not that between runs. Of one run a side its repeats count, and show the scatter within it alone.
        """
        sides = [average_runs([self.runs[number] for number in side]) for side in (first, second)]
        frames = {self.frames[number] for number in (*first, *second) if self.runs[number].numbers}
        return differ(*sides) if all(side.numbers for side in sides) and len(frames) == 1 else None


@dataclass(frozen=True)
class RunSet:
    """One run or several, in the order given."""

    runs: tuple[RunView, ...]

    @property
    def only(self) -> RunView:
        """The run of a set of one. ValueError if there are others."""
        (run,) = self.runs
        return run

    @cached_property
    def cases(self) -> Mapping[CaseKey, tuple[tuple[CaseView, ...], ...]]:
        """The cases by key, in the order in which they first appear: of each run its repeats."""
        found: dict[CaseKey, list[list[CaseView]]] = {}
        for number, run in enumerate(self.runs):
            for case in run.cases:
                found.setdefault(case_key(case), [[] for _ in self.runs])[number].append(case)
        return {key: tuple(map(tuple, sides)) for key, sides in found.items()}

    @cached_property
    def values(self) -> tuple[AlignedValue, ...]:
        """The values that stand for the cases, each as every run found it."""
        return tuple(value for key, sides in self.cases.items() for value in _align(key, sides))


def _align(key: CaseKey, sides: Sequence[Sequence[CaseView]]) -> Iterator[AlignedValue]:
    cases = [case for side in sides for case in side]
    names = dict.fromkeys(name for case in cases if case.result for name in case.result.headlines)
    frames = tuple(next((case.sizes for case in side if case.sizes), ()) for side in sides)
    for name in names:
        units = dict.fromkeys(value.unit for case in cases if (value := case.value(name)) is not None)
        for unit in units:
            runs = tuple(gather(side, [_value(case, name, unit) for case in side]) for side in sides)
            yield AlignedValue(key, cases[0].place, name, unit, runs, frames)


def _value(case: CaseView, name: str, unit: str) -> Value | None:
    value = case.value(name)
    return value if value is not None and value.unit == unit else None
