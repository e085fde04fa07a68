"""A case over the runs of a folder, oldest first: its numbers, and where their level changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from netdyno.reports.model.run_set import value_of
from netdyno.reports.model.standing import Difference, Repeats, average_runs, differ, gather
from netdyno.reports.model.view import RunView
from netdyno.stats.change_points import change_points
from netdyno.values.kind import ValueKind

ENOUGH = 8
"""Runs from which a change in the middle can be told: of four a side."""


@dataclass(frozen=True)
class Dated:
    """What a run found."""

    run: RunView
    found: Repeats

    @property
    def limits(self) -> str:
        """What limited it."""
        return ", ".join(self.found.limits)


@dataclass(frozen=True)
class Level:
    """Runs of one level. first: the place of the first. before: how it differs from the level before it."""

    first: int
    found: Repeats
    before: Difference | None

    @property
    def share(self) -> Fraction | None:
        """By how much it differs from the one before; None of the first, and of bounds."""
        known = self.before is not None and self.before.rule != "unknown"
        return self.before.share if self.before is not None and known else None


@dataclass(frozen=True)
class Trend:
    """The numbers of one value of a case, of one device. place: the case. left_out: runs that sent other
    frames."""

    place: str
    device: str
    kind: ValueKind
    points: tuple[Dated, ...]
    left_out: tuple[str, ...] = ()

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The levels, in order; one where nothing changed."""
        starts = (0, *change_points([point.found.mean for point in self.points]))
        found: list[Level] = []
        for first, end in zip(starts, (*starts[1:], len(self.points)), strict=True):
            own = average_runs([point.found for point in self.points[first:end]])
            found.append(Level(first, own, differ(found[-1].found, own) if found else None))
        return tuple(found)

    @property
    def is_enough(self) -> bool:
        """Whether there are runs enough to tell a change."""
        return len(self.points) >= ENOUGH


def names(runs: Sequence[RunView]) -> tuple[str, ...]:
    """The cases that the runs have, most frequent first."""
    counts: dict[str, int] = {}
    for run in runs:
        for place in dict.fromkeys(case.place for case in run.cases):
            counts[place] = counts.get(place, 0) + 1
    return tuple(sorted(counts, key=lambda place: -counts[place]))


def find(runs: Sequence[RunView], wanted: str) -> tuple[str, ...]:
    """The cases that a name means: that one, or those that have all its parts: `64b / uni`."""
    every = names(runs)
    if wanted in every:
        return (wanted,)
    parts = {part.strip() for part in wanted.split("/")}
    return tuple(place for place in every if parts <= set(place.split(" / ")))


def trends(runs: Sequence[RunView], place: str) -> Iterator[Trend]:
    """Of each device, and each value that stands for a case, over the runs that finished it."""
    devices: dict[str, list[RunView]] = {}
    for run in runs:
        devices.setdefault(", ".join(run.device_titles), []).append(run)
    for device, own in devices.items():
        yield from _of_device(device, own, place)


def _of_device(device: str, runs: Sequence[RunView], place: str) -> Iterator[Trend]:
    cases = [(run, [case for case in run.cases if case.place == place and case.result]) for run in runs]
    kinds = {
        (kind.name, kind.unit): kind
        for _, own in cases
        for case in own
        if case.result
        for kind in (case.result.kinds[name] for name in case.result.headlines)
    }
    for kind in kinds.values():
        points: list[Dated] = []
        left_out = []
        size: Fraction | None = None
        for run, own in cases:
            found = gather(own, [value_of(case, kind) for case in own])
            if not found.numbers:
                continue
            size = size or own[0].mean_size
            if own[0].mean_size != size:
                left_out.append(run.id)
            else:
                points.append(Dated(run, found))
        if points:
            yield Trend(place, device, kind, tuple(points), tuple(left_out))
