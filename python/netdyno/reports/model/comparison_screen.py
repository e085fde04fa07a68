"""What every format shows of a comparison: the answer in a line, and a table of the cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from netdyno.errors import counted
from netdyno.reports.model.compared import ONE_EACH, Change, Compared, Comparison, Gate
from netdyno.reports.model.grid import quantity, span
from netdyno.reports.model.sides import common_title, conditions
from netdyno.reports.model.standing import Rule
from netdyno.reports.model.table import Table, small_table
from netdyno.stats.intervals import Interval
from netdyno.values import number as printed

MOST_CONDITIONS = 6
"""Of what else differs, that a first screen names."""

SINGLE: dict[Rule, str] = {"brackets": "one search each", "single": "one number each"}
"""Behind what is said where each side has one number."""
SHOWN = "difference?"
WOULD = "no ({0}): a change of {0} or more would have been shown"

REPEAT = "Use repeats (`repeat: 5` in the plan)"
REPEAT_OTHERS = "Use repeats of other frames (`repeat: {count: 5, seeds: each}` in the plan)"

RULES: dict[Rule, str] = {
    "welch": "95 %: interval of the change by Welch's t, no narrower than the last steps of the searches",
    "one against several": "95 %: interval of the change by Student's t of one measurement more (Crawford,"
    " Howell)",
    "brackets": "searches made once, or that all found the same: the interval is as wide as their last steps,"
    f" and does not say how the device varies. {REPEAT_OTHERS}, or several runs on each side",
    "equal": f"equal repeats: the device did not vary, so any change counts. {REPEAT_OTHERS} to see more",
    "single": "one number each: a difference is shown from a tenth on, since a device that varies more is not"
    f" steady (RFC 8239). {REPEAT}, or several runs on each side",
    "at least": ">= and <=: one side is a lower bound, and above what the other reached",
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
    """`12 cases in both, 1 only in 7.16; 3 and 5 runs a side`."""
    where = "in both" if len(found.sides) == 2 else "in two sides or more"
    only = "".join(f", {count} only in {name}" for name, count in found.only.items())
    runs = " and ".join(dict.fromkeys(str(len(side)) for side in found.sides))
    sides = f"; {runs} {'run' if runs == '1' else 'runs'} a side"
    without = f" ({found.unmeasured} without a number)" if found.unmeasured else ""
    unfinished = "".join(
        f"; {run.id} is {run.state}, {run.done} of {counted(len(run.cases), 'case')}"
        for run in found.runs.runs
        if run.state != "done"
    )
    return f"{counted(found.common, 'case')} {where}{without}{only}{sides}{unfinished}"


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
    of = "" if named or not found.rows else found.rows[0].value.kind.display_name
    names = (of, *(("value",) if named else ()), *(() if two else ("side",)))
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
    kept = ("change", numbers[-1], SHOWN, *numbers[:-1])
    headings = (*names, *numbers, "change", "95 %", SHOWN)
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
    # By how much bounds differ is unknown, and a refuted number is none.
    if any((change.why and side.bounds) or "contradicted" in side.limits for side in sides):
        return ""
    sign = ">= " if difference.rule == "at least" and difference.change > 0 else ""
    # Nothing can fall by more than all of it.
    if difference.rule == "at least" and difference.change < 0 and difference.second.mean:
        sign = "<= "
    return sign + _signed(row, difference.change, difference.share)


def interval_text(row: Compared, change: Change) -> str:
    """`-6.9 to -5.2 %`."""
    interval = interval_of(row, change)
    if change.difference is None or interval is None:
        return ""
    return span(
        *(_signed(row, end, change.difference.as_share(end)) for end in (interval.low, interval.high))
    )


def interval_of(row: Compared, change: Change) -> Interval | None:
    """What the true change lies in, in the unit of the value; None: not known."""
    found = change.difference
    interval = None if found is None else found.interval
    if found is None or interval is None or row.value.kind.is_share:
        return interval
    # What cannot be below 0 is no more than lost altogether; a cost can.
    return Interval(max(interval.low, -found.first.mean), interval.high)


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
    if abs(share) < 1 and text.endswith("100.0"):
        # What is left is not nothing.
        text = printed.fixed(100 * share, places, "at most" if share < 0 else "at least")
    return f"{plus if text.strip('-0.') else ''}{text} %"


def shown_text(row: Compared, change: Change) -> str:
    """What is to be said of a change, in a few words; `no (2.1 %)`: so much would have been shown."""
    if change.outcome != "none shown":
        return change.why or f"{change.outcome}{_single(change)}"
    would = _would_text(row, change)
    return f"no ({would})" if would else "no"


def _would_text(row: Compared, change: Change) -> str:
    """How large a change would have been shown; empty: not known, any, or one of more than all."""
    would, found = change.would, change.difference
    if not would or found is None:
        return ""
    share = would if row.value.kind.is_share else found.as_share(would)
    if share is not None and share > 1:
        return ""
    return _signed(row, would, found.as_share(would)).removeprefix("+")


def _single(change: Change) -> str:
    """`, one search each`, where nothing is known of scatter."""
    found = change.difference
    if found is None or found.rule not in (*SINGLE, "equal"):
        return ""
    least = min(len(found.first.numbers), len(found.second.numbers))
    return f", {least} equal repeats each" if least > 1 else f", {SINGLE[found.rule]}"


def _notes(found: Comparison) -> Iterator[str]:
    changes = [change for row in found.rows for change in row.changes]
    if any(change.why == ONE_EACH for change in changes):
        yield f"{ONE_EACH}: a single loss has no interval. {REPEAT}, or several runs on each side"
    would = (
        _would_text(row, change)
        for row in found.rows
        for change in row.changes
        if change.outcome == "none shown"
    )
    if first := next(filter(None, would), ""):
        yield WOULD.format(first)
    tested = sum(change.chance is not None for change in changes)
    rules = dict.fromkeys(
        change.difference.rule for change in changes if change.difference is not None and not change.why
    )
    for rule in rules:
        if rule in RULES:
            yield RULES[rule]
    if tested > 1:
        yield (
            f"corrected for {tested} tests (Holm): one comparison in twenty has a false difference, so an"
            " interval without 0 may not be enough"
        )
    if tested and max(len(side) for side in found.sides) == 1:
        yield "one run on each side: repeats show how the device varies within a run, not between runs"


def gate_text(found: Comparison) -> str:
    """The answer to a limit, `more than 2 % worse (PDR)? yes: in 1; no: in 3`; empty if none was asked."""
    if found.limit is None:
        return ""
    limit = printed.percent(found.limit, 2, trim=True)
    counts = Counter[str](gate for _, _, gate in found.gates)
    full = sum(gate == "within" and bool(change.why) for _, change, gate in found.gates)
    counts["within"] -= full
    parts = [f"{word}: in {counts[gate]}" for gate, word in ANSWERS.items() if counts[gate]]
    parts += [f"not seen, as both filled the line or took the load: in {full}"] if full else []
    parts += [f"{count} only in {name}" for name, count in found.only.items()]
    parts += [f"{counted(found.unmeasured, 'case')} without a number"] if found.unmeasured else []
    names = ", ".join(dict.fromkeys(row.value.kind.display_name for row in found.rows))
    return f"more than {limit} worse ({names})? {'; '.join(parts) or 'nothing to compare'}"


ANSWERS: dict[Gate, str] = {"worse": "yes", "cannot tell": "cannot tell", "within": "no"}


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
