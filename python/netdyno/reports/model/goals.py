"""What the plan asks of its cases, and which of them have it."""

from __future__ import annotations

from netdyno.reports.model.joined import Joined
from netdyno.reports.model.view import RunView
from netdyno.values.finding import Cell, Column

TITLE = "Goals"
CASE = Column("case")
COLUMNS = (Column("goal"), Column("outcome"), Column("why"))

OUTCOMES = {False: "missed", None: "not judged", True: "met"}
"""In the order in which a reader asks for them."""


def sentences(run: RunView) -> tuple[str, ...]:
    """`Goals: 1 missed, 2 not judged, 5 met.`; nothing of a plan without any."""
    outcomes = [passed for case in run.cases for _, passed, _ in case.goals]
    counts = {word: outcomes.count(passed) for passed, word in OUTCOMES.items()}
    each = [f"{count} {word}" for word, count in counts.items() if count]
    return (f"Goals: {', '.join(each)}.",) if each else ()


def tables(run: RunView) -> tuple[Joined, ...]:
    """Each goal of each case and why it was met or not, those that were missed first."""
    several = len(run.cases) > 1
    found: list[tuple[int, tuple[Cell, ...]]] = []
    for wanted, word in OUTCOMES.items():
        for case in run.cases:
            name: tuple[Cell, ...] = (case.name,) if several else ()
            found += [
                (case.number, (*name, goal, word, str(why)))
                for goal, passed, why in case.goals
                if passed is wanted
            ]
    if not found:
        return ()
    return (
        Joined(
            name=TITLE,
            captions=("What the plan asks for, of each direction; those that were missed first.",),
            columns=(*((CASE,) if several else ()), *COLUMNS),
            rows=tuple(row for _, row in found),
            cases=tuple(number for number, _ in found),
        ),
    )
