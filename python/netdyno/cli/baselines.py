"""Goals for a whole run, `no worse than RUN by 2%`: the other run is read before, and compared at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from netdyno.cli.codes import MISSED, NOT_MEASURED, PASSED

if TYPE_CHECKING:
    from netdyno.plan import Plan
    from netdyno.plan.goals import Baseline
    from netdyno.reports.model.compared import Comparison
    from netdyno.reports.model.view import RunGoal, RunView

MOST = 3
"""Changes that are named."""
PASSES = {"worse": False, "within": True, "cannot tell": None}
CODES = {"worse": MISSED, "within": PASSED, "cannot tell": NOT_MEASURED}


def refuse_missing(plan: Plan) -> None:
    """Refuses runs that cannot be read before anything is measured. Raises StoreError."""
    from netdyno.plan.flat import baselines_of

    for one in baselines_of(plan.text, plan.overrides):
        from netdyno.store import open_run

        open_run(Path(one.run)).close()


def judge(run: RunView, folder: Path) -> tuple[int, tuple[RunGoal, ...]]:
    """The exit code of a run's goals of this kind, and each of them."""
    from netdyno.errors import NetdynoError
    from netdyno.plan.flat import baselines_of

    code = PASSED
    goals: list[RunGoal] = []
    for one in baselines_of(run.head.plan, run.head.overrides):
        try:
            found = _compare(one, run)
        except NetdynoError as error:
            goals.append((str(one), None, error.message))
            code = code or NOT_MEASURED
            continue
        verdict = found.verdict or "cannot tell"
        code = MISSED if MISSED in (code, CODES[verdict]) else code or CODES[verdict]
        goals.append((str(one), PASSES[verdict], "; ".join(_why(found, one, folder))))
    return code, tuple(goals)


def _compare(one: Baseline, run: RunView) -> Comparison:
    from netdyno.campaign.reasons import REASONS
    from netdyno.reports.model.compared import Comparison
    from netdyno.reports.model.from_store import view
    from netdyno.reports.model.run_set import RunSet
    from netdyno.store import open_run

    with open_run(Path(one.run), REASONS) as stored:
        before = view(stored)
    # Of what `--only` left out nothing was asked.
    chosen = run.head.only.items()
    kept = (case for case in before.cases if all(case.axes.get(axis) == value for axis, value in chosen))
    before = replace(before, cases=tuple(kept))
    return Comparison(RunSet((before, run)), (before.id, run.id), one.limit)


def _why(found: Comparison, one: Baseline, folder: Path) -> Iterator[str]:
    from netdyno.reports.model.comparison_screen import change_text, gate_text, name_row
    from netdyno.values.number import decimal

    yield gate_text(found).partition("? ")[2]
    worse: Sequence[str] = [
        f"{name_row(found, row)} {change_text(row, change)}"
        for row, change, gate in found.gates
        if gate == "worse"
    ]
    if worse:
        yield f"{', '.join(worse[:MOST])}{f' and {len(worse) - MOST} more' if len(worse) > MOST else ''}"
    yield f"`netdyno compare {one.run} {folder} --worse-than {decimal(100 * one.limit)}%`"
