"""What the repeats of a run say, as tables like those of the methods: statistics, and settings compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from netdyno.reports.joined import Joined, free
from netdyno.reports.view import CaseView, RunView
from netdyno.statistics import FOR_DIFFERENCE, FOR_TAILS, Interval, Summary, compare, summarize
from netdyno.trial import Cell, Column

STATISTICS = (
    "Over the repeats of each case. Intervals are of 95 %: of the mean by Student's t, of the median by"
    " bootstrap. CoV is the standard deviation as a share of the mean; above 10 % a value is called unstable"
    " (RFC 8239)."
)
COMPARISON = (
    "The second of two settings against the first, in shares of the first's mean: the difference of the means"
    " with its 95 % interval and p by Welch's t, p of the ranks by Mann and Whitney (both two-sided), Hedges'"
    " g and Cliff's delta. Of rows without a difference one in twenty has one by chance."
)


NAMES = ("n", "Mean", "from", "to", "Stdev", "CoV", "Least", "Median", "Most", "Steady", "Found")
"""Of columns, which an axis may not have as well."""


@dataclass(frozen=True)
class _Row:
    """What repeats of one case found of one value. axes: of the case, where cases of the run differ."""

    axes: Mapping[str, str]
    name: str
    unit: str
    case: int
    numbers: tuple[Fraction, ...]


def tables(run: RunView) -> tuple[Joined, ...]:
    """The tables; none of a run without repeats, or none of which has two with a number."""
    rows = [row for row in _rows(run) if len(row.numbers) >= FOR_DIFFERENCE]
    if run.repeats < FOR_DIFFERENCE or not rows:
        return ()
    values: dict[tuple[str, str], list[_Row]] = {}
    for row in rows:
        values.setdefault((row.name, row.unit), []).append(row)
    found = [_statistics(own) for own in values.values()]
    for own in values.values():
        found += _comparisons(run, own)
    return tuple(found)


def _rows(run: RunView) -> Iterator[_Row]:
    """A row for each place of the matrix and each value that stands for it."""
    axes = _axes(run)
    for cases in run.places.values():
        results = [case.result for case in cases if case.result is not None]
        for name in dict.fromkeys(name for result in results for name in result.headlines):
            values = [value for case in cases if (value := case.value(name)) is not None]
            numbers = tuple(value.number for value in values if value.number is not None)
            for unit in dict.fromkeys(value.unit for value in values):
                own = {axis: _of(cases[0], axis) for axis in axes}
                yield _Row(own, name, unit, cases[0].number, numbers)


def _axes(run: RunView) -> list[str]:
    names = [*run.setting_names, "profile", "direction"]
    return [name for name in names if len({_of(case, name) for case in run.cases}) > 1]


def _of(case: CaseView, axis: str) -> str:
    if axis == "profile":
        return case.profile
    return case.direction if axis == "direction" else case.settings.get(axis, "")


def _statistics(rows: Sequence[_Row]) -> Joined:
    axes, unit = list(rows[0].axes), rows[0].unit
    tails = any(len(row.numbers) >= FOR_TAILS for row in rows)
    columns = [
        *(Column(free(axis, NAMES)) for axis in axes),
        Column("n"),
        *(Column(name, unit) for name in ("Mean", "from", "to", "Stdev")),
        Column("CoV", "share"),
        *(Column(name, unit) for name in ("Least", "Median", "Median from", "Median to", "Most")),
        *(Column(name, unit) for name in ("1st pct", "99th pct") if tails),
        Column("Steady"),
    ]
    return Joined(
        name=f"Statistics of the repeats: {rows[0].name}",
        captions=(STATISTICS,),
        columns=tuple(columns),
        rows=tuple((*row.axes.values(), *_cells(summarize(row.numbers), tails)) for row in rows),
        cases=tuple(row.case for row in rows),
    )


def _cells(found: Summary, tails: bool) -> Iterator[Cell]:
    yield Fraction(found.n)
    yield found.mean
    yield from _ends(found.mean_interval)
    yield found.stdev
    yield found.cov
    yield found.least
    yield found.median
    yield from _ends(found.median_interval)
    yield found.most
    if tails:
        yield from (found.p1, found.p99)
    yield "unstable" if found.unstable else "steady"


def _p(chance: float) -> str:
    """`0.0079`; below a thousandth nothing closer is meant."""
    return "< 0.001" if chance < 0.001 else f"{chance:.2g}"


def _ends(interval: Interval | None) -> tuple[Cell, Cell]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _comparisons(run: RunView, rows: Sequence[_Row]) -> Iterator[Joined]:
    """For each axis of two values: cases that differ in nothing else."""
    unit = rows[0].unit
    for axis in _axes(run):
        values = list(dict.fromkeys(_of(case, axis) for case in run.cases))
        pairs = _pairs(rows, axis, values) if len(values) == 2 else []
        if not pairs:
            continue
        others = [name for name in rows[0].axes if name != axis]
        columns = [
            *(Column(free(name, NAMES)) for name in others),
            *(Column(f"Mean, {value}", unit) for value in values),
            *(Column(name, "share") for name in ("Difference", "from", "to")),
            *(Column(name) for name in ("p of means", "p of ranks", "Hedges' g", "Cliff's delta", "Found")),
        ]
        yield Joined(
            name=f"{axis}, {values[0]} and {values[1]} compared: {rows[0].name}",
            captions=(COMPARISON,),
            columns=tuple(columns),
            rows=tuple(
                (*(one.axes[name] for name in others), *_compared(one, other, values[1]))
                for one, other in pairs
            ),
            cases=(None,) * len(pairs),
        )


def _pairs(rows: Sequence[_Row], axis: str, values: Sequence[str]) -> list[tuple[_Row, _Row]]:
    def rest(row: _Row) -> tuple[object, ...]:
        return tuple(value for name, value in row.axes.items() if name != axis)

    second = {rest(row): row for row in rows if row.axes[axis] == values[1]}
    return [(row, second[rest(row)]) for row in rows if row.axes[axis] == values[0] and rest(row) in second]


def _compared(one: _Row, other: _Row, second: str) -> Iterator[Cell]:
    found, first = compare(one.numbers, other.numbers), summarize(one.numbers).mean
    yield first
    yield summarize(other.numbers).mean
    yield found.difference / abs(first) if first else None
    for end in _ends(found.interval):
        yield end / abs(first) if isinstance(end, Fraction) and first else None
    yield None if found.p_means is None else _p(found.p_means)
    yield _p(found.p_ranks)
    yield None if found.effect is None else Fraction(f"{float(found.effect):.3g}")
    yield Fraction(f"{float(found.dominance):.3g}")
    if not found.differs:
        yield "no difference found"
    else:
        yield f"{second} is {'higher' if found.difference > 0 else 'lower'}"
