"""The runs of a comparison as one view: its tables and figures have all of them beside each other."""

from __future__ import annotations

from dataclasses import replace

from netdyno.reports.model.compared import Comparison
from netdyno.reports.model.view import CaseView, RunView

AXIS = "run"
"""The axis that tells the sides apart."""


def merge(found: Comparison) -> RunView:
    """All cases, each with its side as its first setting. Runs of one side are its repeats."""
    cases: list[CaseView] = []
    for name, side in zip(found.names, found.sides, strict=True):
        made: dict[str, int] = {}
        many = len(side) > 1
        for number in side:
            for case in found.runs.runs[number].cases:
                kept = {
                    f"{axis} of the plan" if axis == AXIS else axis: value
                    for axis, value in case.settings.items()
                    if axis not in found.runs.conditions
                }
                made[case.place] = made.get(case.place, 0) + 1
                cases.append(
                    replace(
                        case,
                        number=len(cases),
                        settings={AXIS: name, **kept},
                        repeat=made[case.place] if many else case.repeat,
                    )
                )
    return replace(found.runs.runs[0], cases=tuple(cases))
