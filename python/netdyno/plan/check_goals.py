"""Goals that no device can meet: above what the lines of the plan carry."""

from __future__ import annotations

from collections.abc import Sequence

from netdyno.plan import models as m
from netdyno.plan.source import Source
from netdyno.values.number import count
from netdyno.values.rates import load_fps
from netdyno.values.situation import Situation
from netdyno.values.units import L1Rate


def in_reach(source: Source, goals: Sequence[m.Goal], cases: Sequence[tuple[Situation, L1Rate]]) -> None:
    """Reports goals that ask for more than the line rate in every case.

    cases: what is known of each, and the L1 rate of its slowest line.
    """
    for index, goal in enumerate(goals):
        if goal.value in m.SHARES or goal.operator not in (">=", ">") or not cases:
            continue
        out_of_reach = True
        for case, line in cases:
            asked = load_fps(goal.bound, line=line, size=case.mean_size).amount
            out_of_reach &= asked > case.line_fps or (goal.operator == ">" and asked == case.line_fps)
        if out_of_reach:
            most = max(int(case.line_fps) for case, _ in cases)
            source.report(
                ("goals", index),
                f"`{goal}` is above the line rate in every case",
                f"the lines carry at most {count(most)} pps of these frames in each direction",
                code="goal-above-line",
            )
