"""What the repeats of a run say, as tables like those of the methods: statistics, and settings compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from netdyno.errors import counted
from netdyno.reports.model.joined import free
from netdyno.reports.model.standing import Repeats, gather, is_at_least
from netdyno.reports.model.table import Table
from netdyno.reports.model.view import RunView
from netdyno.stats.comparison import FOR_DIFFERENCE, compare
from netdyno.stats.intervals import FOR_TAILS, Interval, summarize
from netdyno.values.finding import Cell, Column

STATISTICS = (
    "Over the repeats of each case. Intervals are of 95 %: of the mean by Student's t, of the median by"
    " bootstrap; that of the mean is no narrower than the bounds of a search, and of a share than that of all"
    " frames together (Clopper and Pearson)."
    " CoV is the standard deviation as a share of the mean; above 10 % a value is called unstable"
    " (RFC 8239). n of so many that were made have a number."
)
BOUNDS = (
    ">= marks lower bounds: the line, the tester or the fixture ended before the device did. Their mean,"
    " least, median and most are lower bounds as well, and of how the device scatters they say nothing."
)
IN_DOUBT = "In doubt are numbers that may not be the device's."
INVALID = "Left out, for what was counted can be of no device: {}."
COMPARISON = (
    "The second of two settings against the first, in shares of the first's mean: the difference of the means"
    " with its 95 % interval and p by Welch's t, p of the ranks by Mann and Whitney (both two-sided), Hedges'"
    " g and Cliff's delta. Of rows without a difference one in twenty has one by chance. Nothing can be said"
    " of numbers that are not the device's own, but this: lower bounds all above what the other reached"
    " are higher, by so much at least."
)
UNTOLD = "unknown"


NAMES = (
    *("n", "of", "Without a number", "Invalid", "Bounds", "In doubt", "Mean", "from", "to", "Stdev", "CoV"),
    *("Least", "Median", "Most", "Steady", "Found"),
)
"""Of columns, which an axis may not have as well."""


@dataclass(frozen=True)
class _Row:
    """What repeats of one case found of one value. axes: of the case, where cases of the run differ."""

    axes: Mapping[str, str]
    name: str
    unit: str
    case: int
    found: Repeats
    contradicted: bool = False
    """Whether a repeat of it is, or stands on, a throughput which later trials contradict."""


def tables(run: RunView) -> tuple[Table, ...]:
    """The tables; none of a run without repeats, and of a value none where no case has two with a number."""
    if run.repeats < FOR_DIFFERENCE:
        return ()
    values: dict[tuple[str, str], list[_Row]] = {}
    for row in _rows(run):
        values.setdefault((row.name, row.unit), []).append(row)
    told = [own for own in values.values() if any(map(_several, own))]
    found = [_statistics(own) for own in told]
    for own in told:
        found += _comparisons(run, [row for row in own if _several(row)])
    return tuple(found)


def _several(row: _Row) -> bool:
    return len(row.found.numbers) >= FOR_DIFFERENCE


def _rows(run: RunView) -> Iterator[_Row]:
    """A row for each place of the matrix and each value that stands for it."""
    axes = _axes(run)
    for cases in run.places.values():
        results = [case.result for case in cases if case.result is not None]
        for name in dict.fromkeys(name for result in results for name in result.headlines):
            values = [case.value(name) for case in cases]
            for unit in dict.fromkeys(value.unit for value in values if value is not None):
                own = {axis: cases[0].axes.get(axis, "") for axis in axes}
                doubt = any(case.doubt(value) for case, value in zip(cases, values, strict=True) if value)
                # A share has three digits however small it is: one frame of millions is not none.
                shown = "share" if unit == "ratio" else unit
                yield _Row(own, name, shown, cases[0].number, gather(cases, values), doubt)


def _axes(run: RunView) -> list[str]:
    return [name for name in run.axis_names if len({case.axes.get(name, "") for case in run.cases}) > 1]


def _statistics(rows: Sequence[_Row]) -> Table:
    axes, unit, every = list(rows[0].axes), rows[0].unit, [row.found for row in rows]
    tails = any(len(found.numbers) >= FOR_TAILS for found in every)
    doubts = tuple(name for name, of in DOUBTS.items() if any(of(found) for found in every))
    columns = [
        *(Column(free(axis, NAMES)) for axis in axes),
        *(Column(name) for name in ("n", "of", *doubts)),
        *(Column(name, unit) for name in ("Mean", "from", "to", "Stdev")),
        Column("CoV", "share"),
        *(Column(name, unit) for name in ("Least", "Median", "Median from", "Median to", "Most")),
        *(Column(name, unit) for name in ("1st pct", "99th pct") if tails),
        Column("Steady"),
    ]
    left_out = [name for found in every for name in found.invalid]
    return Table(
        name=f"Statistics of the repeats: {rows[0].name}",
        captions=(
            STATISTICS,
            *((BOUNDS,) if "Bounds" in doubts else ()),
            *((IN_DOUBT,) if "In doubt" in doubts else ()),
            *((INVALID.format(", ".join(left_out)),) if left_out else ()),
        ),
        columns=tuple(columns),
        rows=tuple((*row.axes.values(), *_cells(row.found, doubts, tails)) for row in rows),
        cases=tuple(row.case for row in rows),
        marks=_marked(columns, rows, ("Mean", "Median", "Least", "Most")),
    )


def _marked(
    columns: Sequence[Column], rows: Sequence[_Row], names: Sequence[str]
) -> frozenset[tuple[int, int]]:
    places = [place for place, column in enumerate(columns) if column.name in names]
    return frozenset(
        (number, place)
        for number, row in enumerate(rows)
        if row.contradicted and row.found.numbers
        for place in places
    )


DOUBTS: Mapping[str, Callable[[Repeats], int]] = {
    "Without a number": lambda found: found.without,
    "Invalid": lambda found: len(found.invalid),
    "Bounds": lambda found: found.bounds,
    "In doubt": lambda found: found.doubtful,
}
"""Columns of a table in which any repeat is such a one."""


def _cells(repeats: Repeats, doubts: Sequence[str], tails: bool) -> Iterator[Cell]:
    yield Fraction(len(repeats.numbers))
    yield Fraction(repeats.made)
    for name in doubts:
        count = DOUBTS[name](repeats)
        yield f">= in {count} of {len(repeats.numbers)}" if name == "Bounds" and count else Fraction(count)
    if not repeats.numbers:
        yield from [None] * (12 if tails else 10)
        yield UNTOLD
        return
    found, known = summarize(repeats.numbers), repeats.known
    yield found.mean
    yield from _ends(repeats.widened(found.mean_interval) if known else None)
    yield found.stdev if known else None
    yield found.cov if known else None
    yield found.least
    yield found.median
    yield from _ends(found.median_interval if known else None)
    yield found.most
    if tails:
        yield from (found.p1, found.p99) if known else (None, None)
    if not known or found.n < FOR_DIFFERENCE:
        yield UNTOLD
    else:
        yield "unstable" if found.unstable else "steady"


def _p(chance: float) -> str:
    """`0.0079`; below a thousandth nothing closer is meant."""
    return "< 0.001" if chance < 0.001 else f"{chance:.2g}"


def _ends(interval: Interval | None) -> tuple[Cell, Cell]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _comparisons(run: RunView, rows: Sequence[_Row]) -> Iterator[Table]:
    """For each axis of two values: cases that differ in nothing else."""
    unit = rows[0].unit
    for axis in _axes(run):
        values = list(dict.fromkeys(case.axes.get(axis, "") for case in run.cases))
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
        yield Table(
            name=f"{axis}, {values[0]} and {values[1]} compared: {rows[0].name}",
            captions=(COMPARISON,),
            columns=tuple(columns),
            rows=tuple(
                (*(one.axes[name] for name in others), *_compared(one, other, values[1]))
                for one, other in pairs
            ),
            cases=(None,) * len(pairs),
            marks=frozenset(
                mark
                for side, value in enumerate(values)
                for mark in _marked(columns, [pair[side] for pair in pairs], (f"Mean, {value}",))
            ),
        )


def _pairs(rows: Sequence[_Row], axis: str, values: Sequence[str]) -> list[tuple[_Row, _Row]]:
    def rest(row: _Row) -> tuple[object, ...]:
        return tuple(value for name, value in row.axes.items() if name != axis)

    second = {rest(row): row for row in rows if row.axes[axis] == values[1]}
    return [(row, second[rest(row)]) for row in rows if row.axes[axis] == values[0] and rest(row) in second]


def _compared(one: _Row, other: _Row, second: str) -> Iterator[Cell]:
    found, first = compare(one.found.numbers, other.found.numbers), summarize(one.found.numbers).mean
    yield first
    yield summarize(other.found.numbers).mean
    least = found.differs and is_at_least(one.found, other.found)
    if not least and not (one.found.known and other.found.known):
        yield from [None] * 7
        yield f"{UNTOLD}: {_why(one.found, other.found)}"
        return
    yield found.difference / abs(first) if first else None
    # Of how bounds scatter nothing is known.
    for end in _ends(None if least else found.interval):
        yield end / abs(first) if isinstance(end, Fraction) and first else None
    yield None if found.p_means is None or least else _p(found.p_means)
    yield _p(found.p_ranks)
    yield None if found.effect is None or least else Fraction(f"{float(found.effect):.3g}")
    yield Fraction(f"{float(found.dominance):.3g}")
    without = one.found.without + other.found.without
    but = f"; {counted(without, 'repeat')} found no number" if without else ""
    if found.differs and one.found.overlaps(other.found):
        yield f"no difference found: the bounds overlap; a smaller `width` tells{but}"
    elif not found.differs:
        yield f"no difference found{but}"
    else:
        word = "higher" if found.difference > 0 else "lower"
        yield f"{second} is {word}{', by this at the least' if least else ''}{but}"


def _why(*sides: Repeats) -> str:
    """What stands against a comparison."""
    bounds, doubtful = (sum(getattr(side, name) for side in sides) for name in ("bounds", "doubtful"))
    words = [f"{counted(bounds, 'lower bound')}"] if bounds else []
    return " and ".join([*words, *([f"{doubtful} in doubt"] if doubtful else [])])
