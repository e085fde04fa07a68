"""Plans: what the user means, read from YAML, checked completely before anything starts.

plan = load(Path("plan.yaml"))      # raises PlanErrors with every mistake and its place
for case in matrix.cases(plan): ...
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from netdyno.devices.watches import Watch
from netdyno.errors import PlanErrors as PlanErrors
from netdyno.plan.goals import Goal as Goal
from netdyno.plan.groups import Group
from netdyno.plan.lab import Lab
from netdyno.plan.models import Repeat as Repeat
from netdyno.plan.models import TrialSettings as TrialSettings
from netdyno.plan.traffic import Profile as Profile
from netdyno.values.offer import ENGINE_OFFERS, Offer

if TYPE_CHECKING:
    from netdyno.devices.drivers import Driver
    from netdyno.devices.kind import Kind
    from netdyno.plan.matrix import Case
    from netdyno.plan.source import Source


Chosen: TypeAlias = tuple[tuple[str, str], ...]
"""Axes that are parameters of the method, each with the text of a value, in the matrix's order."""

STDIN = "<stdin>"
"""The file of a plan that was read from standard input; what it includes is in the current folder."""


@dataclass(frozen=True)
class Tables:
    """What there is to name in a plan: kinds of devices, methods, and testers with what they offer."""

    kinds: Mapping[str, Kind]
    methods: Mapping[str, Any]
    testers: Mapping[str, frozenset[Offer]] = field(default_factory=lambda: {"netdyno": ENGINE_OFFERS})
    """The engine alone, unless whoever runs plans hands in all (`testers.tables`)."""
    drivers: Mapping[str, Driver] = field(default_factory=dict)

    @classmethod
    def real(cls) -> Tables:
        """netdyno's own tables of what lies below plans."""
        from netdyno.devices import KINDS
        from netdyno.devices.drivers import DRIVERS
        from netdyno.methods import METHODS

        return cls(KINDS, METHODS, drivers=DRIVERS)


@dataclass(frozen=True)
class Plan:
    """A checked plan. Durations are those that will run: `scale` is already applied to them.

    axes: the matrix, in order, with `profile` and `direction` always among them. variants: the parameters
    of the method, instances of its `parameters` model, by the values of the axes that are parameters; without
    such axes one, by `()`. written: `trial` before scaling. text: the plan as it was read; included: the text
    of the files it includes, by name.
    """

    title: str
    lab: Lab
    profiles: Mapping[str, Profile]
    axes: tuple[tuple[str, tuple[str, ...]], ...]
    only: tuple[Mapping[str, tuple[str, ...]], ...]
    skip: tuple[Mapping[str, tuple[str, ...]], ...]
    method: str
    variants: Mapping[Chosen, Any]
    trial: TrialSettings
    written: TrialSettings
    goals: tuple[Goal, ...]
    scale: Fraction
    seed: int
    repeat: Repeat
    file: str
    text: str
    included: Mapping[str, str]
    kind: Kind
    tester: str
    groups: tuple[Group, ...] = ()
    watch: Watch | None = None
    """What is watched beside the traffic; None: nothing."""
    overrides: tuple[str, ...] = ()
    """Values that `--set` put into it, `traffic.64b.size=128B`."""

    @property
    def parameters(self) -> Any:
        """The method's parameters; where some are axes, with the first value of each."""
        return next(iter(self.variants.values()))

    @property
    def parameter_axes(self) -> tuple[str, ...]:
        """The axes of the matrix that are parameters of the method."""
        return tuple(axis for axis, _ in next(iter(self.variants)))

    def chosen_of(self, case: Case) -> Chosen:
        """The values that a case has on the axes that are parameters: what its variant is found by."""
        own = self.parameter_axes
        return tuple(choice for choice in case.choices if choice[0] in own)

    def parameters_of(self, case: Case) -> Any:
        """The method's parameters in a case."""
        return self.variants[self.chosen_of(case)]

    @property
    def words(self) -> str:
        """What names it on a command line: its file, and what was set in it."""
        file = "-" if self.file == STDIN else self.file
        return shlex.join([file, *(word for one in self.overrides for word in ("--set", one))])


def load(
    path: Path | str, *, shown: str | None = None, tables: Tables | None = None, overrides: Sequence[str] = ()
) -> Plan:
    """Reads and checks a plan, for `-` from standard input. Raises PlanErrors with every mistake.

    shown: the file's name in messages; as given, unless said. overrides: values to put into it,
    `traffic.64b.size=128B`.
    """
    from netdyno.plan.source import read_file, read_stdin

    file = Path(path)
    source = read_stdin(STDIN) if str(path) == "-" else read_file(file, shown or str(path))
    return _checked(source, file.parent, tables, overrides)


def parse(
    text: str,
    *,
    name: str = "plan.yaml",
    base: Path | None = None,
    tables: Tables | None = None,
    overrides: Sequence[str] = (),
) -> Plan:
    """Checks a plan's text. base: the directory that included files are relative to; none: no includes.

    overrides: as of `load`.
    """
    from netdyno.plan.source import read_text

    return _checked(read_text(text, name), base, tables, overrides)


def _checked(source: Source, base: Path | None, tables: Tables | None, overrides: Sequence[str]) -> Plan:
    from netdyno.plan.check import check

    plan = check(source, base, tables or Tables.real(), overrides)
    if source.errors or plan is None:
        raise PlanErrors(source.file, source.errors)
    return plan


def json_schema(tables: Tables | None = None) -> dict[str, Any]:
    """JSON Schema (2020-12) of a plan, for editors: units, kinds, methods and mixes spelled out."""
    from netdyno.plan.schema import schema

    return schema(tables or Tables.real())
