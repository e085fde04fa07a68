"""Goals of a plan: those that cannot be understood, and those above what its lines carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from netdyno.errors import Problem, names
from netdyno.plan.goals import GOAL, Goal, parse_goal
from netdyno.plan.source import Source
from netdyno.plan.traffic import Profile
from netdyno.values.kind import ValueKind
from netdyno.values.number import count
from netdyno.values.situation import Situation
from netdyno.values.units import Load


def read_goals(source: Source, raw: object, known: Mapping[str, tuple[ValueKind, ...]]) -> Iterator[Goal]:
    """The goals of a plan that can be understood; mistakes in the others are noted in the source."""
    for index, text in enumerate(raw if isinstance(raw, list) else ()):
        # What is not even like a goal has been reported with the plan's fields.
        if not isinstance(text, str) or not GOAL.fullmatch(text):
            continue
        try:
            yield parse_goal(text, known)
        except Problem as problem:
            source.report(("goals", index), problem.message, problem.hint, code=problem.code)


def found_by_method(
    source: Source,
    goals: Sequence[Goal],
    method: str,
    own: Mapping[str, tuple[ValueKind, ...]],
) -> None:
    """Reports goals for values that the plan's method does not find. own: the kinds of its own values."""
    for index, goal in enumerate(goals):
        if goal.value not in own:
            source.report(
                ("goals", index),
                f"the method `{method}` gives no {goal.value}",
                f"its values: {names(own)}",
                code="goal-not-of-method",
            )


def in_reach(
    source: Source,
    goals: Sequence[Goal],
    known: Mapping[str, tuple[ValueKind, ...]],
    cases: Sequence[Situation],
) -> None:
    """Reports goals that ask for more than the line rate in every case.

    known: the kinds that goals can be set for.
    """
    for index, goal in enumerate(goals):
        if not isinstance(goal.bound, Load) or known[goal.value][0].is_share:
            continue
        if goal.operator not in (">=", ">") or not cases:
            continue
        out_of_reach = True
        for case in cases:
            asked = case.fps(goal.bound.amount)
            out_of_reach &= asked > case.line_fps or (goal.operator == ">" and asked == case.line_fps)
        if out_of_reach:
            most = max(int(case.line_fps) for case in cases)
            source.report(
                ("goals", index),
                f"`{goal}` is above the line rate in every case",
                f"the lines carry at most {count(most)} pps of these frames in each direction",
                code="goal-above-line",
            )


def timed(
    source: Source,
    goals: Sequence[Goal],
    known: Mapping[str, tuple[ValueKind, ...]],
    profiles: Mapping[str, Profile],
) -> None:
    """Reports goals for the latency of a class whose frames have no probe."""
    for index, goal in enumerate(goals):
        kind = known[goal.value][0]
        bare = [
            name
            for name, one in profiles.items()
            if kind.of_class in one.classes and not one.of_class(kind.of_class).probe
        ]
        if kind.is_time and kind.of_class and bare:
            source.report(
                ("goals", index),
                f"`{goal}` needs latency, and frames of `{bare[0]}` have no probe",
                f"remove `probe: false`, or set a goal for `loss of {kind.of_class}`",
                code="unsupported",
            )
