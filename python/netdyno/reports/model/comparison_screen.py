"""What every format shows of a comparison: the answer in a line, and a table of the cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from netdyno.errors import counted
from netdyno.reports.model.compared import ONE_EACH, Change, Compared, Comparison
from netdyno.reports.model.grid import quantity, span
from netdyno.reports.model.sides import common_title, conditions
from netdyno.reports.model.standing import Rule
from netdyno.reports.model.table import Table, small_table
from netdyno.values import number as printed

MOST_CONDITIONS = 6
"""Of what else differs, that a first screen names."""

REPEATS = "equal repeats"
SINGLE: dict[Rule, str] = {"brackets": "one search each", "single": "one number each", "equal": REPEATS}
"""Behind what is said where nothing is known of scatter, and there are no repeats."""
WOULD = "no (2 % would): a change of 2 % would have been shown"

RULES: dict[Rule, str] = {
    "welch": "95 %: of the change, by Welch's t, no narrower than the brackets of the searches leave open",
    "one against several": "95 %: of the change, by Student's t of one measurement more (Crawford, Howell)",
    "brackets": "95 % of single or equal searches: what their brackets leave open; how the device scatters,"
    " repeats (`repeat: 5` in the plan) or more runs a side tell",
    "equal": "equal repeats do not scatter, so any change is one; in virtual time those of other frames"
    " tell more (`repeat: {count: 5, seeds: each}`)",
    "single": "one number each: within a tenth nothing is shown, as a device whose repeats spread more is not"
    " steady (RFC 8239); repeats (`repeat: 5` in the plan) or more runs a side tell less",
    "at least": ">=: one side is a lower bound, and above what the other reached",
}
"""How an interval follows, for those that occur."""


@dataclass(frozen=True)
class Screen:
    """What is shown of a comparison. answer: how many cases are worse and better. conditions: what else
    differs, and of each side how."""

    title: str
    dates: str
    answer: str
    grid: Table
    notes: tuple[str, ...]
    conditions: tuple[tuple[str, tuple[str, ...]], ...]
    gate: str = ""
    """The answer to `--worse-than`, empty if it was not asked."""


def screen(found: Comparison) -> Screen:
    """The first screen."""
    else_ = tuple(conditions(found.runs).items())
    dates = tuple(dict.fromkeys(found.runs.runs[side[0]].started[:10] for side in found.sides))
    return Screen(
        title=title(found),
        dates=" / ".join(dates),
        answer=answer(found),
        grid=grid(found),
        notes=tuple(_notes(found)),
        conditions=else_,
        gate=gate_text(found),
    )


def title(found: Comparison) -> str:
    """`RouterOS on CCR1072: 7.14 -> 7.16`."""
    common = common_title(found.runs)
    emulated = " (emulated)" if any(run.emulated for run in found.runs.runs) else ""
    names = f"{found.names[0]} -> {found.names[1]}" if len(found.names) == 2 else ", ".join(found.names)
    return (f"{common}: {names}" if common and common not in found.names else names) + emulated


def coverage(found: Comparison) -> str:
    """`12 cases in both, 1 only in 7.16`."""
    where = "in both" if len(found.sides) == 2 else "in two sides or more"
    only = "".join(f", {count} only in {name}" for name, count in found.only.items())
    without = f" ({found.unmeasured} without a number)" if found.unmeasured else ""
    unfinished = "".join(
        f"; {run.id} is {run.state}, {run.done} of {counted(len(run.cases), 'case')}"
        for run in found.runs.runs
        if run.state != "done"
    )
    return f"{counted(found.common, 'case')} {where}{without}{only}{unfinished}"


def answer(found: Comparison) -> str:
    """How many are worse and better, and in how many no difference is shown."""
    if not found.rows:
        return "no case in common"
    changes = [change for row in found.rows for change in row.changes]
    outcomes = Counter[str](change.outcome for change in changes)
    parts = [f"{outcome} in {outcomes[outcome]}" for outcome in ("worse", "better")]
    parts += [f"{outcome} in {outcomes[outcome]}" for outcome in ("more", "less") if outcomes[outcome]]
    parts += [
        f"{word} in {outcomes[outcome]}"
        for outcome, word in (("none shown", "no difference shown"), ("not compared", "not compared"))
        if outcomes[outcome]
    ]
    return f"{', '.join(parts)} of {len(changes)}"


def grid(found: Comparison) -> Table:
    """Two sides beside each other, in a row for each value of each case: their numbers, and by how much the
    second differs. Of more a row for each side."""
    named = len({row.value.kind for row in found.rows}) > 1
    two = len(found.sides) == 2
    names = ("", *(("value",) if named else ()), *(() if two else ("side",)))
    numbers = found.names if two else ("number",)
    rows: list[tuple[str, ...]] = []
    for row in found.rows:
        own = (row.value.place or "the case", *((row.value.kind.display_name,) if named else ()))
        if two:
            rows.append((*own, *row.texts, *_said(row, row.changes[0])))
            continue
        rows.append((*own, found.names[0], row.texts[0], "", "", ""))
        rows += [
            (*own, found.names[change.side], row.texts[change.side], *_said(row, change))
            for change in row.changes
        ]
    kept = ("change", numbers[-1], "shown?", *numbers[:-1])
    headings = (*names, *numbers, "change", "95 %", "shown?")
    return replace(small_table(headings, rows, left=len(names), answer=kept), is_whole=True)


def _said(row: Compared, change: Change) -> tuple[str, str, str]:
    return change_text(row, change), interval_text(row, change), shown_text(row, change)


def name_row(found: Comparison, row: Compared) -> str:
    """The case, and the value where others are compared as well."""
    several = len({one.value.kind for one in found.rows}) > 1
    place = row.value.place or "the case"
    return f"{place}: {row.value.kind.display_name}" if several else place


def change_text(row: Compared, change: Change) -> str:
    """`-6.1 %`; of a share in points; empty where it says nothing."""
    difference = change.difference
    if difference is None:
        return ""
    sides = (difference.first, difference.second)
    # Bounds differ by what nothing is known of, and a refuted number by nothing; equal ones are seen to be.
    unknown = change.why and any(side.bounds for side in sides) and difference.change
    if unknown or any("contradicted" in side.limits for side in sides):
        return ""
    sign = ">= " if difference.rule == "at least" and difference.change > 0 else ""
    if difference.rule == "at least" and difference.change < 0:
        sign = "<= "
    return sign + _signed(row, difference.change, difference.share)


def interval_text(row: Compared, change: Change) -> str:
    """`-6.9 to -5.2 %`."""
    interval = None if change.difference is None else change.difference.interval
    if change.difference is None or interval is None:
        return ""
    # What cannot be below 0 is no more than lost altogether; a cost can.
    low = interval.low if row.value.kind.is_share else max(interval.low, -change.difference.first.mean)
    ends = [_signed(row, end, change.difference.as_share(end)) for end in (low, interval.high)]
    return span(*ends)


def _signed(row: Compared, change: Fraction, share: Fraction | None) -> str:
    """A change with its sign: of a share in percentage points, else per cent of the first mean."""
    plus = "+" if change > 0 else ""
    if row.value.kind.is_share:
        places = 2 if abs(change) >= Fraction(1, 1000) else 4
        return f"{plus}{printed.decimal(100 * change, places)} points"
    if share is None:
        return f"{plus}{quantity(change, row.value.kind.unit)}"
    # Of less than a thousandth of a per cent nothing is printed.
    places = 3 if Fraction(1, 10**5) <= abs(share) < Fraction(1, 1000) else 1
    text = printed.fixed(100 * share, places)
    return f"{plus if text.strip('-0.') else ''}{text} %"


def shown_text(row: Compared, change: Change) -> str:
    """What is to be said of a change, in a few words; `no (2.1 % would)`: that would have been shown."""
    if change.outcome != "none shown":
        return change.why or f"{change.outcome}{_single(change)}"
    would, found = change.would, change.difference
    if would is None or found is None:
        return "no"
    return f"no ({_signed(row, would, found.as_share(would)).removeprefix('+')} would)"


def _single(change: Change) -> str:
    """`, one search each`, where nothing is known of scatter."""
    found = change.difference
    if found is None or found.rule not in SINGLE:
        return ""
    several = min(len(found.first.numbers), len(found.second.numbers)) > 1
    return f", {REPEATS if several else SINGLE[found.rule]}"


def _notes(found: Comparison) -> Iterator[str]:
    changes = [change for row in found.rows for change in row.changes]
    if any(change.why == ONE_EACH for change in changes):
        yield f"{ONE_EACH}: of a loss only repeats (`repeat: 5` in the plan) or more runs a side tell"
    if any(change.outcome == "none shown" for change in changes):
        yield WOULD
    tested = sum(change.chance is not None for change in changes)
    rules = dict.fromkeys(
        change.difference.rule for change in changes if change.difference is not None and not change.why
    )
    for rule in rules:
        if rule in RULES:
            yield RULES[rule]
    if tested > 1:
        yield (
            f"shown: of {tested} tests together one in twenty comparisons has a false one (Holm), so an"
            " interval without 0 may be not enough"
        )
    if tested and max(len(side) for side in found.sides) == 1:
        yield "one run a side: its repeats show the scatter within a run, and nothing of that between runs"


def gate_text(found: Comparison) -> str:
    """The answer to a limit, `worse than 2 %: 1 beyond it, 3 not`; empty if none was asked."""
    if found.limit is None:
        return ""
    limit = printed.percent(found.limit, 2, trim=True)
    counts = Counter[str](gate for _, _, gate in found.gates)
    parts = [f"{counts[gate]} {word}" for gate, word in WORDS.items() if counts[gate]]
    parts += [f"{count} only in {name}" for name, count in found.only.items()]
    parts += [f"{counted(found.unmeasured, 'case')} without a number"] if found.unmeasured else []
    names = ", ".join(dict.fromkeys(row.value.kind.display_name for row in found.rows))
    return f"worse than {limit} ({names}): {', '.join(parts) or 'nothing to compare'}"


WORDS = {"worse": "beyond it", "cannot tell": "cannot tell", "within": "within it"}


def condition_lines(shown: Screen, names: Sequence[str], most: int = MOST_CONDITIONS) -> Iterator[str]:
    """`device software: 7.14 / 7.16`, those that fit; then how many more. Of several sides what alone."""
    if len(names) > 2:
        if shown.conditions:
            yield f"{', '.join(what for what, _ in shown.conditions)}; how: --as html or json"
        return
    for what, each in shown.conditions[:most]:
        yield f"{what}: {' / '.join(each)}"
    if len(shown.conditions) > most:
        yield f"and {len(shown.conditions) - most} more: --as html or json"
