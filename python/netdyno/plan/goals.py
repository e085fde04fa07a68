"""Goals: what a value has to be, read with the kinds of values that methods find."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from netdyno.errors import Problem, as_written, suggestion
from netdyno.values.breaks import WATCH_BREAKS
from netdyno.values.kind import TRIAL_LOSS, ValueKind, class_latency, class_loss, group_by_goal
from netdyno.values.load import CONNECTIONS
from netdyno.values.units import ConnectionRate, Duration, GoodputRate, Load, Percent, decimal

RATES: Mapping[str, type[GoodputRate | ConnectionRate]] = {"bps": GoodputRate, "conn/s": ConnectionRate}
"""Bounds of rates that are not of frames, by the unit of the value."""

BASELINE = re.compile(r"\s*no worse than (\S.*?) by ([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%\s*")

GOAL = re.compile(r"\s*(.*?)\s*(>=|<=|>|<)\s*(.*)")


@dataclass(frozen=True)
class Goal:
    """What a value has to be for the verdict to be `passed`: `throughput >= 95%`."""

    value: str
    operator: Literal[">=", "<=", ">", "<"]
    bound: Load | Duration | GoodputRate | ConnectionRate | int
    """A whole number of a count, a duration of a time, a rate of what is no frame, a load of all else."""
    of_class: str = ""
    """The class of traffic that it is about; it is for cases with that class alone."""

    def __str__(self) -> str:
        return f"{self.value} {self.operator} {self.bound}"

    def holds(self, number: Fraction, bound: Fraction) -> bool:
        """Whether a number satisfies the goal; both in the same unit."""
        compare = {">=": number >= bound, "<=": number <= bound, ">": number > bound, "<": number < bound}
        return compare[self.operator]


@dataclass(frozen=True)
class Baseline:
    """A goal for a whole run: `no worse than runs/7.14 by 2%`. limit: a share of that run's means."""

    run: str
    limit: Fraction

    def __str__(self) -> str:
        return f"no worse than {self.run} by {decimal(100 * self.limit)} %"


def find_baselines(goals: object) -> tuple[Baseline, ...]:
    """Those among the goals of a plan, as it is written."""
    texts = (one for one in goals if isinstance(one, str)) if isinstance(goals, list) else ()
    found = (BASELINE.fullmatch(text) for text in texts)
    return tuple(Baseline(one[1], Fraction(one[2]) / 100) for one in found if one is not None)


def goal_kinds(
    methods: Mapping[str, Any], classes: Iterable[str] = ()
) -> Mapping[str, tuple[ValueKind, ...]]:
    """The kinds of values that methods find and a goal can be set for, by the name that goals call them.

    classes: of traffic, of each of which goals can be set too.
    """
    of_classes = (kind(traffic) for traffic in classes for kind in (class_loss, class_latency))
    found = group_by_goal(
        itertools.chain(
            (kind for method in methods.values() for kind in method.values), of_classes, (WATCH_BREAKS,)
        )
    )
    if methods and all(method.load_class is CONNECTIONS for method in methods.values()):
        # Of connections nobody counts the frames.
        return {name: kinds for name, kinds in found.items() if TRIAL_LOSS not in kinds}
    return found


def parse_goal(text: str, known: Mapping[str, tuple[ValueKind, ...]]) -> Goal:
    """A goal as it is written. Raises Problem. known: the kinds that goals can be set for."""
    found = GOAL.fullmatch(text)
    assert found, text
    name, operator, bound = found[1], found[2], found[3]
    if name not in known:
        raise Problem(
            f"there is no value `{name[:40]}` to set a goal for", suggestion(name, known), code="unknown-name"
        )
    kind = known[name][0]
    if kind.is_count:
        if not re.fullmatch(r"[0-9]{1,9}", bound):
            raise Problem(
                f"{name} is a count, and `{as_written(bound)}` is no whole number",
                f"write it like `{kind.goal}`",
                code="wrong-unit",
            )
        return Goal(name, operator, int(bound))  # type: ignore[arg-type]
    if kind.is_time:
        return Goal(name, operator, Duration.parse(bound), kind.of_class)  # type: ignore[arg-type]
    if kind.unit in RATES:
        return Goal(name, operator, RATES[kind.unit].parse(bound))  # type: ignore[arg-type]
    if kind.is_share and re.fullmatch(r"0+(\.0+)?", bound):
        # Nothing is nothing in any unit.
        bound = "0%"
    if re.fullmatch(r"[0-9.]+", bound):
        raise Problem(
            f"the goal `{as_written(text)}` has a bound without a unit",
            f"write it like `{kind.goal}`",
            code="wrong-unit",
        )
    load = Load.parse(bound)
    if kind.is_share and not isinstance(load.amount, Percent):
        raise Problem(
            f"{name} is a share, and `{bound}` is a rate", f"write it like `{kind.goal}`", code="wrong-unit"
        )
    if isinstance(load.amount, Percent) and load.amount.amount > 1:
        of = "what was sent" if kind.is_share else "the line"
        raise Problem(
            f"the goal `{as_written(text)}` asks for more than 100 % of {of}",
            "give a percentage up to 100",
            code="out-of-range",
        )
    return Goal(name, operator, load, kind.of_class)  # type: ignore[arg-type]
