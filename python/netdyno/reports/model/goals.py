"""What the plan asks of its cases, and which of them have it."""

from __future__ import annotations

from netdyno.reports.model.table import Table, table_of_cases
from netdyno.reports.model.view import RunView
from netdyno.values.finding import Column

TITLE, RUN_TITLE = "Goals", "Goals for the whole run"
COLUMNS = (Column("goal"), Column("outcome"), Column("why"))

OUTCOMES = {False: "missed", None: "not judged", True: "met"}
"""In the order in which a reader asks for them."""


def sentences(run: RunView) -> tuple[str, ...]:
    """`Goals: 1 missed, 2 not judged, 5 met.`; nothing of a plan without any."""
    outcomes = [passed for case in run.cases for _, passed, _ in case.goals]
    counts = {word: outcomes.count(passed) for passed, word in OUTCOMES.items()}
    each = [f"{count} {word}" for word, count in counts.items() if count]
    return (f"Goals: {', '.join(each)}.",) if each else ()


def tables(run: RunView) -> tuple[Table, ...]:
    """Each goal of each case and why it was met or not, those that were missed first."""
    rows = [
        (case, (goal, word, str(why)))
        for wanted, word in OUTCOMES.items()
        for case in run.cases
        for goal, passed, why in case.goals
        if passed is wanted
    ]
    caption = "What the plan asks for, of each direction; those that were missed first."
    of_cases = (table_of_cases(run, TITLE, caption, COLUMNS, rows),) if rows else ()
    of_run = tuple((goal, OUTCOMES[passed], why) for goal, passed, why in run.run_goals)
    if not of_run:
        return of_cases
    return (Table(RUN_TITLE, (), COLUMNS, of_run, (None,) * len(of_run), left=3), *of_cases)
