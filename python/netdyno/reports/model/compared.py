"""Runs compared: each value of each case as every side found it, and which differences are shown.

A difference is shown where chance alone would make one as large in fewer than one of twenty comparisons
altogether (Holm, over all cases and sides). Where no chance is known, since each side has one search, it is
shown where the brackets of the searches do not meet; that says nothing of how the device scatters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias

from netdyno.errors import counted
from netdyno.plan.inventory import Box
from netdyno.reports.model import grid
from netdyno.reports.model.run_set import AlignedValue, RunSet
from netdyno.reports.model.standing import Difference, Repeats, differ
from netdyno.reports.model.table import CONTRADICTED
from netdyno.reports.model.view import CaseView
from netdyno.stats.comparison import holm
from netdyno.stats.intervals import CONFIDENCE
from netdyno.values import number as printed
from netdyno.values.kind import ValueKind

Outcome: TypeAlias = Literal["better", "worse", "more", "less", "none shown", "not compared"]
"""Of a side against the first. more, less: where neither is better."""

Gate: TypeAlias = Literal["worse", "within", "cannot tell"]
"""Whether a side is worse than the first by more than is allowed."""

ONE_EACH = "one trial each"
"""Why nothing is known of how losses scatter."""

_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)?(?: ?(?:%|[mun]?s\b))?")

ALLOWED = 1 - CONFIDENCE
"""The chance of one false difference, over all cases and sides."""


@dataclass(frozen=True)
class Change:
    """What one side found of a value against what the first did.

    side: its number. why: where there is no difference, or none that says anything, the reason. chance: of
    such a difference if there were none, adjusted over the comparison; None: not known. level: what that of
    this one alone has to be below.
    """

    side: int
    difference: Difference | None
    why: str = ""
    better: Literal["more", "less", ""] = ""
    chance: float | None = None
    level: float = ALLOWED

    @property
    def is_shown(self) -> bool:
        """Whether there is a difference."""
        found = self.difference
        if found is None or self.why:
            return False
        if self.chance is not None:
            return self.chance <= ALLOWED
        ends = found.ends
        return ends is not None and not ends.low <= 0 <= ends.high

    @property
    def outcome(self) -> Outcome:
        """What is to be said of it, in a word."""
        if self.difference is None or self.why:
            return "not compared"
        if not self.is_shown:
            return "none shown"
        more = self.difference.change > 0
        if not self.better:
            return "more" if more else "less"
        return "better" if more is (self.better == "more") else "worse"

    @property
    def share_or_change(self) -> Fraction:
        """By what changes are put in order: of the first mean, or as it is; 0 where there is none."""
        found = self.difference
        return Fraction(0) if found is None else found.change if found.share is None else found.share

    @property
    def would(self) -> Fraction | None:
        """How large a change would have been shown, in the unit of the value; None: not known."""
        interval = None if self.difference is None else self.difference.within(self.level)
        return None if interval is None else (interval.high - interval.low) / 2

    def gate(self, limit: Fraction, chance: float | None, *, is_share: bool) -> Gate:
        """Whether it is worse than the first by more than a limit: a share of the first mean. Of shares, such
        as losses, what is shown to be worse is; where nothing is, the limit is one of all frames.

        chance: of such a change if it were just the limit, adjusted; None: not known.
        """
        found = self.difference
        if found is None:
            return "cannot tell"
        if not self.better:
            return "cannot tell" if self.is_shown or found.change else "within"
        sign = -1 if self.better == "more" else 1
        off = allowed(found, self.better, limit, is_share=is_share)
        is_beyond = sign * (found.change - off) > 0
        if found.first.missing or found.second.missing:
            # What repeats that failed would have found is unknown.
            return "worse" if is_beyond and self.is_shown else "cannot tell"
        if self.why:
            # Equal in all, or no more than the line or the load could carry: nothing is seen to be worse.
            full = found.first.limits == found.second.limits and found.first.limits in (("line",), ("none",))
            return "within" if full and not is_beyond else "cannot tell"
        if found.rule == "single" and not found.change:
            return "within"
        bounds = found.within(ALLOWED)
        if bounds is None:
            return "cannot tell"
        near, far = sorted((bounds.low, bounds.high), key=lambda end: sign * end)
        if is_share and self.outcome == "worse":
            return "worse"
        if is_beyond and (chance <= ALLOWED if chance is not None else sign * (near - off) > 0):
            return "worse"
        if found.rule == "at least" and sign * found.change > 0:
            # The true change is larger still, how much is unknown.
            return "cannot tell"
        return "within" if sign * (far - off) <= 0 else "cannot tell"


def allowed(found: Difference, better: str, limit: Fraction, *, is_share: bool) -> Fraction:
    """The change that a limit allows, in the unit of the value."""
    size = limit if is_share else limit * abs(found.first.mean)
    return -size if better == "more" else size


@dataclass(frozen=True)
class Compared:
    """A value of a case, on each side."""

    value: AlignedValue
    cases: tuple[tuple[CaseView, ...], ...]
    """Of each side, its repeats and runs."""
    sides: tuple[Repeats, ...]
    changes: tuple[Change, ...]
    """Of each side but the first."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The number of each side, as reports print it."""
        return tuple(
            _as_reported(cases, self.value.kind, side)
            for cases, side in zip(self.cases, self.sides, strict=True)
        )


@dataclass(frozen=True)
class Comparison:
    """Runs by sides, the first of which the others are compared with.

    names: of each side, short. limit: by how much a side may be worse; None: that is not asked. inventory:
    what devices cost and draw.
    """

    runs: RunSet
    names: tuple[str, ...]
    limit: Fraction | None = None
    inventory: tuple[Box, ...] = ()

    @property
    def sides(self) -> tuple[tuple[int, ...], ...]:
        """Of each side the numbers of its runs."""
        return self.runs.sides

    @cached_property
    def rows(self) -> tuple[Compared, ...]:
        """Every value that more than one side has a case for."""
        by_runs = any(len(side) > 1 for side in self.sides)
        found = [
            (value, tuple(value.side(side, by_runs=by_runs) for side in self.sides))
            for value in self.runs.values
            if sum(bool(value.having(side)) for side in self.sides) > 1
            and any(repeats.numbers for repeats in value.runs)
        ]
        plain = [
            [self._change(value, sides, number) for number in range(1, len(sides))] for value, sides in found
        ]
        flat = _adjusted([change for changes in plain for change in changes])
        return tuple(
            Compared(
                value,
                tuple(value.having(side) for side in self.sides),
                sides,
                tuple(next(flat) for _ in changes),
            )
            for (value, sides), changes in zip(found, plain, strict=True)
        )

    def _change(self, value: AlignedValue, sides: Sequence[Repeats], number: int) -> Change:
        first, second = sides[0], sides[number]
        cases = [value.having(self.sides[side]) for side in (0, number)]
        better = value.kind.better
        for side, of in ((0, cases[0]), (number, cases[1])):
            if not of:
                return Change(number, None, f"not in {self.names[side]}", better)
            if not sides[side].numbers:
                return Change(number, None, f"no number in {self.names[side]}", better)
        why = _unlike(cases[0], cases[1], value.kind.name)
        if why:
            return Change(number, None, why, better)
        found = differ(first, second)
        return Change(number, found, self._unknown(found, number), better)

    def _unknown(self, found: Difference, number: int) -> str:
        """Why a difference says nothing; empty: it does."""
        if found.rule != "unknown":
            return ""
        sides = ((self.names[0], found.first), (self.names[number], found.second))
        bounded = [(name, side) for name, side in sides if not side.known]
        if not bounded:
            return ONE_EACH
        if len(bounded) == 2 and found.first.limits == found.second.limits:
            return f"{_limits(found.first)} in both"
        return ", ".join(f"{_limits(side)} in {name}" for name, side in bounded)

    @property
    def only(self) -> Mapping[str, int]:
        """Of each side how many cases no other has, by its name; those without any are left out."""
        counts = dict.fromkeys(self.names, 0)
        for sides in self.runs.cases.values():
            having = [
                name for name, of in zip(self.names, self.sides, strict=True) if any(sides[n] for n in of)
            ]
            if len(having) == 1:
                counts[having[0]] += 1
        return {name: count for name, count in counts.items() if count}

    @cached_property
    def common(self) -> int:
        """How many cases more than one side has."""
        return sum(
            sum(any(sides[number] for number in side) for side in self.sides) > 1
            for sides in self.runs.cases.values()
        )

    @property
    def unmeasured(self) -> int:
        """In how many of these no side has a number."""
        return self.common - len({row.value.key for row in self.rows})

    @cached_property
    def gates(self) -> tuple[tuple[Compared, Change, Gate], ...]:
        """Of each change whether it is worse than the limit; none where no limit was asked."""
        if self.limit is None:
            return ()
        every = [(row, change) for row in self.rows for change in row.changes]
        chances = holm([self._chance_at_limit(row, change) for row, change in every])
        return tuple(
            (row, change, change.gate(self.limit, chance, is_share=row.value.kind.is_share))
            for (row, change), chance in zip(every, chances, strict=True)
        )

    def _chance_at_limit(self, row: Compared, change: Change) -> float | None:
        assert self.limit is not None
        found = change.difference
        if found is None or change.why or not change.better:
            return None
        return found.chance(allowed(found, change.better, self.limit, is_share=row.value.kind.is_share))

    @property
    def verdict(self) -> Gate | None:
        """Whether any side is worse than the limit in any case; None: that was not asked. A case that a side
        lacks leaves it open."""
        if self.limit is None:
            return None
        found = {gate for _, _, gate in self.gates}
        if "worse" in found:
            return "worse"
        is_open = "cannot tell" in found or not found or self.only or self.unmeasured
        return "cannot tell" if is_open else "within"


def _adjusted(changes: Sequence[Change]) -> Iterator[Change]:
    """Changes with their chances adjusted over all of them, and the level that decided."""
    chances = holm(
        [None if one.difference is None or one.why else one.difference.chance() for one in changes]
    )
    level = ALLOWED / max(1, sum(one is not None and one > ALLOWED for one in chances))
    return (replace(one, chance=chance, level=level) for one, chance in zip(changes, chances, strict=True))


def _unlike(first: Sequence[CaseView], second: Sequence[CaseView], name: str) -> str:
    """Why two sides measured things that cannot be compared; empty: they can. Cases without a result, of
    whose traffic nothing is stored, are left out."""
    measured = [[case for case in side if case.result is not None] for side in (first, second)]
    for what in (_frames, _mean, _headers, _flows, lambda case: _goal(case, name)):
        both = [" and ".join(dict.fromkeys(map(what, side))) for side in measured]
        # What another tool does not say of its frames is no difference.
        is_unknown = what in (_frames, _mean, _headers, _flows) and not all(both)
        if both[0] != both[1] and not is_unknown:
            return f"{both[0]} against {both[1]}"
    return ""


def _frames(case: CaseView) -> str:
    return case.frames if case.sizes else ""


def _mean(case: CaseView) -> str:
    """Of all classes of a profile together."""
    return "" if case.mean_size is None else f"frames of {printed.decimal(case.mean_size, 1)} B on average"


def _headers(case: CaseView) -> str:
    """Also with how many tags: `ethernet/ipv4/udp`."""
    return "/".join(case.headers)


def _flows(case: CaseView) -> str:
    return "" if case.flows is None else counted(case.flows, "flow")


def _goal(case: CaseView, name: str) -> str:
    """The numbers in what a value is, such as the loss that a goal of a search allows."""
    kind = None if case.result is None else case.result.kinds.get(name)
    found = [] if kind is None else _NUMBERS.findall(kind.meaning)
    return f"{name} of {', '.join(found)}" if found else ""


def _limits(side: Repeats) -> str:
    """`full line`; `no limit` where nothing was lost up to the highest load."""
    return " and ".join({"none": "no limit", "line": "full line"}.get(one, one) for one in side.limits)


def _as_reported(cases: Sequence[CaseView], kind: ValueKind, side: Repeats) -> str:
    """`4.120 Mpps`, `>= 1.488 Mpps`, `< 149 kpps *`, `4.12 Mpps (4 of 5)`; empty: no number."""
    value = cases[0].value(kind.name) if len(cases) == 1 else None
    if value is not None and value.only_below is not None:
        return grid.number(value) + (CONTRADICTED if cases[0].doubt(value) else "")
    text = number_text(side, kind.unit)
    doubted = any(case.doubt(one) for case in cases if (one := case.value(kind.name)) is not None)
    few = f" ({len(side.numbers)} of {side.made})" if text and side.missing else ""
    return f"{text}{CONTRADICTED if text and doubted else ''}{few}"


def number_text(side: Repeats, unit: str) -> str:
    """`4.120 Mpps`, `>= 1.488 Mpps`; empty: it has no number."""
    if not side.numbers:
        return ""
    is_least = side.bounds > 0 and not side.doubtful
    if side.span is not None and unit == "fps":
        # What was searched for is cut, as reports have it.
        return f"{'>= ' if is_least else ''}{printed.searched(side.mean)}"
    claim: Literal["at least", "about"] = "at least" if is_least else "about"
    sign = ">= " if is_least else ""
    if unit in printed.RATES:
        return f"{sign}{printed.rate(side.mean, printed.RATES[unit], claim, 1)}"
    return f"{sign}{grid.quantity(side.mean, unit, claim)}"
