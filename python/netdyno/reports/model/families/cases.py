"""A row for each case with every value that stands for it: what a method of no family of its own shows."""

from __future__ import annotations

from fractions import Fraction

from netdyno.reports.model import grid, together
from netdyno.reports.model.answer import capital, extremes, format_beside, judged, text
from netdyno.reports.model.grid import is_bound
from netdyno.reports.model.shown import Number, Shown
from netdyno.reports.model.table import small_table
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import Value
from netdyno.values.load import CONNECTIONS
from netdyno.values.number import Claim

MOST_FAMILIES = 3
"""Numbers in large type of port groups."""

PLAIN = ("modifier", "none")
"""The axis of modifiers, and its value without one."""


def show(run: RunView) -> Shown:
    """A row for each case with every value that stands for it; `_values` has the other way round."""
    names = judged(run)
    rated = [name for name in names if _unit(run, name) == "fps"]
    compared = any(_plain(case, run) is not None for case in run.cases)
    headings = ["case"]
    for name in names:
        headings.append(_display_name(run, name))
        if name in rated[:1] and run.line_enforced:
            headings.append("of line")
        if name in rated[:1] and compared:
            headings.append("change")
    rows = []
    for cases in run.places.values():
        for case in cases if len(cases) < 2 else cases[:1]:
            row = [run.place_apart(case)]
            for name in names:
                value = case.value(name)
                if len(cases) > 1 and value is not None and name == names[0]:
                    row.append(grid.place(cases).number)
                else:
                    row.append(text(case, value))
                if name in rated[:1] and run.line_enforced:
                    share = None if value is None else grid.beside(case, value)[1]
                    row.append(share or "n/a")
                if name in rated[:1] and compared:
                    row.append(_as_text(_change(case, _plain(case, run), name)))
            rows.append((*row, grid.place(cases).limit))
    captions = ["bidir: both directions together"] if "bidir" in run.directions and rated else []
    if run.load_class is CONNECTIONS and any(len(case.streams) > 1 for case in run.cases):
        captions.append("several streams of a case: all streams together")
    changes = [row[headings.index("change")] for row in rows] if "change" in headings else []
    if any(changes):
        more = " (<=)" if any(one.startswith("<=") for one in changes) else ""
        captions.append(f"change: against the case without a modifier{more and f', which may do more{more}'}")
    caption = "; ".join(captions)
    numbers = _groups(run) or _costs(run, rated[0] if rated else "") or extremes(run)
    return Shown(numbers, small_table((*headings, "limit"), tuple(rows), caption))


def _display_name(run: RunView, name: str) -> str:
    kinds = (case.result.kinds[name] for case in run.cases if case.result and name in case.result.kinds)
    return next((kind.display_name for kind in kinds), name)


def _costs(run: RunView, name: str) -> tuple[Number, ...]:
    """The rate without a modifier, and what the dearest one costs; none where a cost is unknown."""
    cases = [(case, plain) for case in run.cases if (plain := _plain(case, run)) is not None]
    found = [(change, *case) for case in cases if (change := _change(*case, name)) is not None]
    # One that costs no more than so much may cost less than any other.
    if not found or len(found) < len(cases) or any(claim == "at least" for (_, claim), *_ in found):
        return ()
    change, case, plain = min(found, key=lambda one: one[0][0])
    value, before = case.value(name), plain.value(name)
    assert value is not None
    assert before is not None
    beside = ", ".join(filter(None, (text(case, value), format_beside(case, value))))
    return (
        Number(f"{capital(name)}, no modifier", text(plain, before), format_beside(plain, before)),
        Number(f"Most cost: {run.name_apart(case)}", _as_text(change), beside, case.limit()),
    )


def _groups(run: RunView) -> tuple[Number, ...]:
    """What port groups pass at once of what they pass alone, and which resource explains it."""
    return tuple(
        Number(
            f"Together{f', {family.label}' if family.label else ''}",
            "n/a" if family.ratio is None else printed.percent(family.ratio),
            f"of the {family.value} that the groups have alone; limit:"
            f" {family.resource[0].lower()}{family.resource[1:]}",
        )
        for family in together.families(run)[:MOST_FAMILIES]
    )


def _plain(case: CaseView, run: RunView) -> CaseView | None:
    """The case that differs from this one in having no modifier; None: there is none, or it is this one."""
    modifier, plain = PLAIN
    # Of repeats the table shows the mean, and one of them says nothing of the difference.
    if run.repeats > 1 or case.settings.get(modifier, plain) == plain:
        return None
    wanted = {**case.axes, modifier: plain}
    return next((one for one in run.cases if one.axes == wanted and one.repeat == case.repeat), None)


def _change(case: CaseView, plain: CaseView | None, name: str) -> tuple[Fraction, Claim] | None:
    """By what share a rate differs from that of the plain case, and what that says of the true change.

    None: there is no such case, or the bounds of the two rates leave the change open both ways.
    """
    before = None if plain is None else _known(plain, plain.value(name))
    after = _known(case, case.value(name))
    if before is None or after is None:
        return None
    # The more the plain case can do, the lower is what is left of it.
    lowered: dict[Claim, Claim] = {"at least": "at most", "at most": "at least", "about": "about"}
    claims = {lowered[before[1]], after[1]} - {"about"}
    if len(claims) > 1:
        return None
    return after[0] / before[0] - 1, claims.pop() if claims else "about"


def _known(case: CaseView, value: Value | None) -> tuple[Fraction, Claim] | None:
    """What is known of a rate; None: nothing. At least what lasts of it where the device did not end it."""
    if value is None or not value.number or (limit := case.limit_of(value)) == "invalid":
        return None
    if value.only_below is not None:
        return value.only_below, "at most"
    if is_bound(case, value) or limit == "inconclusive":
        return (value.lasting, "at least") if value.lasting else None
    return value.number, "about"


def _as_text(change: tuple[Fraction, Claim] | None) -> str:
    """`-19.4 %`, `<= -41.6 %`; empty where it is unknown."""
    if change is None:
        return ""
    share, claim = change
    sign = {"at most": "<= ", "at least": ">= ", "about": ""}[claim]
    number = printed.fixed(100 * share, 1, claim)
    return f"{sign}{'+' if not number.startswith('-') and float(number) else ''}{number} %"


def _unit(run: RunView, name: str) -> str:
    found = (case.value(name) for case in run.cases)
    return next((value.unit for value in found if value is not None), "")
