"""What a method found: values, tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias

from netdyno.values.kind import Role, ValueKind
from netdyno.values.reason import Reason

Conformity: TypeAlias = Literal["unconditional", "conditional", "deviating"]
"""How a result agrees with its standard, as RFC 2544 section 5 has it: every MUST and every SHOULD was
heeded, every MUST but not every SHOULD, or not every MUST."""


@dataclass(frozen=True)
class Value:
    """One number a method found.

    kind: what it is, with its name and unit. scope: a stream's name, or `sum`. number: exact, in that unit.
    low, high: bounds, where the method gives any. searched: it is the highest load that passed, of all
    streams at once, or what lasts of that (`as_searched`); `high` is then the lowest that the device did not
    pass, `low` what lasts without the frames that were still queued when sending ended.
    """

    kind: ValueKind
    scope: str
    number: Fraction | None
    low: Fraction | None = None
    high: Fraction | None = None
    note: Reason | None = None
    searched: bool = False
    contradicted: Reason | None = None
    """Of a throughput: which later trials of the case lost frames at it or below; None: none."""
    of_frames: int | None = None
    """Of a share of frames that were lost, of how many; None: it is no such share."""
    by_stream: bool = False
    """Of a searched value: whether each stream's loads are its own; else one load is that of all streams."""
    allowed: Fraction = field(default=Fraction(0), compare=False, metadata={"unstored": True})
    """Of a searched value: the share of frames that may be lost of a load that passes."""
    as_searched: Fraction | None = None
    """The load that passed, as the standard has it, where more of it was still queued than one step of the
    search: `number` is then what lasts of it. None: `number` is that load."""

    @property
    def name(self) -> str:
        """The field's term, `ramp max Rx`, `throughput`, `knee`."""
        return self.kind.name

    @property
    def unit(self) -> str:
        """`fps`, `ns`, `share`, ... (`ValueKind.unit`)."""
        return self.kind.unit

    @property
    def load(self) -> Fraction | None:
        """The load that passed, as the standard has it; the number itself where no queue hid any of it."""
        return self.number if self.as_searched is None else self.as_searched

    @property
    def is_refuted(self) -> bool:
        """Whether later trials lost frames at the number or below."""
        return (
            self.contradicted is not None
            and self.searched
            and bool(self.number)
            and self.high is not None
            and self.number is not None
            and self.high <= self.number
        )

    @property
    def is_only_searched_doubted(self) -> bool:
        """Whether later trials lost frames at the load as searched, which is no doubt of what lasts of it."""
        return self.contradicted is not None and self.as_searched is not None and not self.is_refuted

    @property
    def contradicted_name(self) -> str:
        """What later trials contradict: `throughput`, `throughput as searched`."""
        return f"{self.name} as searched" if self.is_only_searched_doubted else self.name

    @property
    def only_below(self) -> Fraction | None:
        """Of a search in which no load passed the lowest that was tried, of one that is refuted the lowest
        that lost frames later: all that is known is that it is below that."""
        return self.high if self.searched and (self.number == 0 or self.is_refuted) else None

    @property
    def is_count_at_least(self) -> bool:
        """Whether it is a lower bound without a limit beside it to say so: a count, or a knee."""
        has_no_limit = self.unit != "fps" or self.kind.role == "knee"
        return has_no_limit and self.low is not None and self.low == self.number and self.high is None

    @property
    def lasting(self) -> Fraction | None:
        """The rate that is known to last: of a search its lower bound, where frames were still queued when
        the trials that passed ended; of a knee its lower bound; else the number."""
        is_bounded = self.searched or self.kind.role == "knee"
        if not is_bounded or self.number is None or self.low is None:
            return self.number
        return min(self.low, self.number)

    @property
    def is_common(self) -> bool:
        """Whether it is the load of all streams at once, which any of them may have ended."""
        return self.searched and not self.by_stream

    def is_ended_by_others(self, together: Value | None) -> bool:
        """Whether another port group ended the common search: then it is a lower bound."""
        return self.is_common and self.high is None and together is not None and together.high is not None


Cell: TypeAlias = Fraction | str | None
"""Of a table: an exact number in its column's unit, a text, or nothing, which was not measured."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    unit: `fps`; `ns`, a time; `at`, an instant, ns from the start of the traffic; `B`, a frame size;
    `frames`; `bps`, of the layer its name says; `share` (of 1; shown per cent); or empty: text or a plain
    number. at_throughput: whether its numbers are the throughput of the case, a load that is it, or follow
    from it: what contradicts that is marked at them. lasts: whether they are what lasts of that load.
    """

    name: str
    unit: str = ""
    at_throughput: bool = False
    lasts: bool = False


def columns(*parts: str | Column | ValueKind) -> tuple[Column, ...]:
    """The columns of a heading: `port | load: fps * | lost: frames`, in one text or in several.

    A unit stands behind a colon, ` *` behind what is at the throughput. A part may be a column, or a kind of
    values whose name and unit it has.
    """
    found = []
    for part in parts:
        if not isinstance(part, str):
            found.append(part if isinstance(part, Column) else Column(part.display_name, part.unit))
            continue
        for text in part.split(" | "):
            name, _, unit = text.removesuffix(" *").partition(": ")
            found.append(Column(name, unit, at_throughput=text.endswith(" *")))
    return tuple(found)


@dataclass(frozen=True)
class Figure:
    """How a table is drawn: one line for each column of `ys`, over the column `x`.

    reference: those of the lines that were not measured (a line rate, what was asked for). x_range, y_range:
    the ends of the axes where the standard forces them (RFC 2544 section 26.3: 0 to 100 %), in the columns'
    units. log_x: for percentiles, 1/(1-p) grows tenfold from tick to tick. by: a column that tells lines
    apart, one for each of its values.
    """

    x: str
    ys: tuple[str, ...]
    reference: tuple[str, ...] = ()
    x_range: tuple[Fraction, Fraction] | None = None
    y_range: tuple[Fraction, Fraction] | None = None
    log_x: bool = False
    by: str | None = None


NOT_RUN = "not run"
"""How the last cell of a row begins that is of nothing measured, the same for all cases."""

PASS, FAIL, NOT_KNOWN = "pass", "fail", "not known"
"""Cells of a column that says whether a step or a test was passed."""


@dataclass(frozen=True)
class Table:
    """A table of a result, as its standard asks for it.

    name: what it shows, `Frame loss rate`. caption: one sentence with the standard and what must be known to
    read it. Tables of one name and the same columns, of several cases, are shown as one, with a column for
    each axis in which the cases differ; figures likewise, with a line for each case. An axis that follows
    from a column (the profile, where a column has the frame size) is left to it.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    figure: Figure | None = None

    def __post_init__(self) -> None:
        """Raises ValueError if rows or figure do not fit the columns: of a method's bug, or of a stranger."""
        units = {column.name: column.unit for column in self.columns}
        if len(units) != len(self.columns):
            raise ValueError(f"the table `{self.name}` has two columns of one name")
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"the table `{self.name}` has a row of other than {len(self.columns)} cells")
        if self.figure is not None:
            self._check_figure(self.figure, units)

    def _check_figure(self, figure: Figure, units: Mapping[str, str]) -> None:
        what = f"the figure of the table `{self.name}`"
        named = (figure.x, *figure.ys, *(() if figure.by is None else (figure.by,)))
        for name in named:
            if name not in units:
                raise ValueError(f"{what} has no column `{name}`")
        if len({units[name] for name in figure.ys}) != 1:
            raise ValueError(f"{what} draws no column, or columns of several units")
        if not set(figure.reference) <= set(figure.ys):
            raise ValueError(f"{what} has a reference line that it does not draw")
        if figure.log_x and units[figure.x] != "share":
            raise ValueError(f"{what} has percentiles that are no shares")
        if any(ends is not None and not ends[0] < ends[1] for ends in (figure.x_range, figure.y_range)):
            raise ValueError(f"{what} has an axis that ends before it begins")


@dataclass(frozen=True)
class Result:
    """What a method found, with the numbers (from 0) of the trials in this case it rests on."""

    method: str
    values: tuple[Value, ...]
    trials: tuple[int, ...]
    compliance: tuple[Reason, ...] = ()
    """Deviations from what the standard requires (MUST, or the procedure itself)."""
    notes: tuple[Reason, ...] = ()
    tables: tuple[Table, ...] = ()
    recommended: tuple[Reason, ...] = ()
    """What it recommends (SHOULD) and was not done."""
    standard: str = ""
    """Which one, `RFC 2544 section 26.1`; the method's own unless it says another. Empty: there is none."""
    headlines: tuple[str, ...] = ()
    """Names of the values that stand for the case, judged and shown, each of which it has. The first one
    stands in tables of all cases."""
    rests: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Of values that rest on other trials than `trials`, those, by name. Each has a verdict of its own, be it
    a headline or not."""
    rests_by_scope: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    """Of values whose streams rest on different trials, those of each scope, by name."""

    def __post_init__(self) -> None:
        """Raises ValueError if two kinds have one name, or a headline has no value."""
        kinds = self.kinds
        for name in self.headlines:
            if name not in kinds:
                raise ValueError(f"the headline `{name[:40]}` has no value")

    @cached_property
    def contradictions(self) -> Mapping[str, Reason]:
        """What contradicts the throughput of a scope, by scope: later trials at it or below lost frames."""
        return {value.scope: value.contradicted for value in self.values if value.contradicted}

    def doubt(self, value: Value) -> Reason | None:
        """What contradicts a number, or the throughput that it stands on; None: nothing. That a load lost
        frames later of which a queue had held a part is no doubt of what lasts of it."""
        if value.kind.on_throughput:
            return self.contradictions.get(value.scope)
        return None if value.is_only_searched_doubted else value.contradicted

    @property
    def judged(self) -> tuple[str, ...]:
        """Names of the values with a verdict of their own, the headlines first."""
        others = (name for name in self.rests if name in self.kinds)
        return tuple(dict.fromkeys((*self.headlines, *others)))

    @cached_property
    def kinds(self) -> Mapping[str, ValueKind]:
        """The kind of every value, by its name. Raises ValueError if two have the same name."""
        found: dict[str, ValueKind] = {}
        for value in self.values:
            if found.setdefault(value.name, value.kind) != value.kind:
                raise ValueError(f"two kinds of values are called `{value.name[:40]}`")
        return found

    def resting(self, name: str, scope: str = "") -> tuple[int, ...]:
        """The numbers of the trials that a value rests on. scope: in that scope; empty: in any."""
        every = self.rests.get(name, self.trials)
        return self.rests_by_scope.get(name, {}).get(scope, every)

    def with_resting(
        self, name: str, scope: str, numbers: tuple[int, ...], values: tuple[Value, ...]
    ) -> Result:
        """The result with these values, of which one rests on these trials in that scope (empty: in all)."""
        rests = {headline: self.resting(headline) for headline in self.judged}
        by_scope = {key: dict(each) for key, each in self.rests_by_scope.items()}
        if scope:
            each = by_scope.setdefault(name, {})
            each[scope] = numbers
            rests[name] = tuple(dict.fromkeys(number for own in each.values() for number in own))
        else:
            rests[name] = numbers
        return replace(self, values=values, rests=rests, rests_by_scope=by_scope)

    def value(self, name: str, scope: str) -> Value | None:
        """The value of that name and scope, if there is one."""
        return self._by_name.get((name, scope))

    def of_role(self, role: Role, scope: str) -> Value | None:
        """The value of that scope that is read as such a one, if there is one."""
        return self._by_role.get((role, scope))

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str], Value]:
        """Of several values of one name and scope the first one."""
        return {(one.name, one.scope): one for one in reversed(self.values)}

    @cached_property
    def _by_role(self) -> Mapping[tuple[Role, str], Value]:
        """Of several values of one role and scope the first one."""
        return {(one.kind.role, one.scope): one for one in reversed(self.values) if one.kind.role}

    @cached_property
    def roles(self) -> frozenset[Role]:
        """Those that any of its values has."""
        return frozenset(one.kind.role for one in self.values if one.kind.role)

    @property
    def conformity(self) -> Conformity | None:
        """How it agrees with its standard; None: there is none."""
        if not self.standard:
            return None
        return "deviating" if self.compliance else "conditional" if self.recommended else "unconditional"

    def headline(self, scopes: Sequence[str]) -> Value | None:
        """The value that stands for the first of these scopes that has one; its number may be missing."""
        for name in self.headlines:
            for scope in scopes:
                value = self.value(name, scope)
                if value is not None:
                    return value
        return None
