"""A row for each case with every value that stands for it: what a method of no family of its own shows."""

from __future__ import annotations

from netdyno.reports.model import grid, together
from netdyno.reports.model.answer import capital, extremes, format_beside, judged, text
from netdyno.reports.model.grid import is_bound
from netdyno.reports.model.shown import Number, Shown
from netdyno.reports.model.table import small_table
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed

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
        headings.append(name)
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
                    row.append(_change(case, _plain(case, run), name))
            rows.append((*row, grid.place(cases).limit))
    captions = ["bidir: both directions together"] if "bidir" in run.directions and rated else []
    changes = "change" in headings and any(row[headings.index("change")] for row in rows)
    captions += ["change: against the case without a modifier"] if changes else []
    caption = "; ".join(captions)
    numbers = _groups(run) or _costs(run, rated[0] if rated else "") or extremes(run)
    return Shown(numbers, small_table((*headings, "limit"), tuple(rows), caption))


def _costs(run: RunView, name: str) -> tuple[Number, ...]:
    """The rate without a modifier, and what the dearest one costs; none where no case has one."""
    found = [
        (change, case, plain)
        for case in run.cases
        if (plain := _plain(case, run)) is not None and (change := _change(case, plain, name))
    ]
    if not found:
        return ()
    change, case, plain = min(found, key=lambda one: float(one[0].removesuffix(" %")))
    value, before = case.value(name), plain.value(name)
    assert value is not None
    assert before is not None
    beside = f"{text(case, value)}, {format_beside(case, value)}"
    return (
        Number(f"{capital(name)}, no modifier", text(plain, before), format_beside(plain, before)),
        Number(f"Most cost: {run.name_apart(case)}", change, beside, case.limit()),
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


def _change(case: CaseView, plain: CaseView | None, name: str) -> str:
    """By how much a rate differs from that of the plain case: `-19.4 %`; empty where one is a bound."""
    values = [] if plain is None else [(one, one.value(name)) for one in (plain, case)]
    if plain is None or any(
        value is None or not value.number or is_bound(one, value) for one, value in values
    ):
        return ""
    before, after = (value.number for _, value in values if value is not None and value.number)
    return f"{float(round(100 * after / before - 100, 1)):+.1f} %".replace("+0.0", "0.0")


def _unit(run: RunView, name: str) -> str:
    found = (case.value(name) for case in run.cases)
    return next((value.unit for value in found if value is not None), "")
