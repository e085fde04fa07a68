"""Deviations of a whole plan, beside those of its method, from the standard of a result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from netdyno import modifiers
from netdyno.methods import METHODS
from netdyno.methods.parts.rules import Conditions, deviations
from netdyno.methods.reasons.deviations import Rehearsal
from netdyno.methods.reasons.tester import NoProbe, RawUnchecked
from netdyno.plan.headers import Raw
from netdyno.plan.patterns import PATTERNS
from netdyno.values.finding import Result
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netdyno.plan import Plan, Profile
    from netdyno.plan.matrix import Case

STANDARD = {
    "11.1": "broadcast frames",
    "11.2": "management frames",
    "11.3": "routing update frames",
    "11.4": "filters",
}
"""What RFC 2544 has in section 11, whether netdyno makes it or not."""


def with_plan(result: Result, plan: Plan, case: Case) -> Result:
    """The result with its method's standard and the deviations of the whole plan from it."""
    method = METHODS[plan.method]
    standard = result.standard or method.standard
    section = PATTERNS[case.pattern].section
    if section is not None and method.is_meshed:
        standard = f"{standard}, RFC 2889 section {section}"
    if standard and case.modifier != modifiers.NONE and not case.modifier.section:
        standard = f"{standard} (under `{case.modifier.name}`, a condition that it does not name)"
    required, recommended = result.compliance, result.recommended
    if method.conditions is not None:
        of_plan = deviations(method.conditions, conditions(plan))
        required, recommended = (*required, *of_plan["compliance"]), (*recommended, *of_plan["recommended"])
    return replace(
        result,
        standard=standard,
        notes=(*result.notes, *_frame_notes(case.profile)),
        compliance=(*required, *rehearsal(plan)),
        recommended=recommended,
    )


def _frame_notes(profile: Profile) -> Iterator[Reason]:
    """What is not known of frames that are made so."""
    if not all(part.probe for part in profile.parts):
        yield NoProbe()
    if any(isinstance(header, Raw) for part in profile.parts for header in part.headers or ()):
        yield RawUnchecked()


def rehearsal(plan: Plan) -> tuple[Reason, ...]:
    """The reason that the plan shortens all times; empty if it does not."""
    if plan.scale == 1:
        return ()
    is_longer = plan.trial.drain.ns > plan.written.drain.ns * plan.scale + 1
    return (Rehearsal(plan.scale, plan.trial.drain.ns if is_longer else None),)


def conditions(plan: Plan) -> Conditions:
    """The conditions of RFC 2544 sections 9 to 14 that the plan tests."""
    axes = dict(plan.axes)
    profiles = [plan.profiles[name] for name in axes["profile"]]
    mixes = [part.mix.weights for profile in profiles for part in profile.parts]
    names = axes.get(modifiers.AXIS, (modifiers.NONE.name,))
    run = {modifiers.MODIFIERS[name].section for name in names}
    flows = {profile.flows for profile in profiles}
    has_pairs_only = set(axes.get("pattern", ("pairs",))) == {"pairs"}
    left = [f"{title} ({section})" for section, title in STANDARD.items() if section not in run]
    return Conditions(
        sizes=len({weights[0][0] for weights in mixes if len(weights) == 1}),
        modifiers_left=tuple(left),
        has_plain=modifiers.NONE.name in names,
        networks=max(flows),
        has_pair=1 in flows,
        has_both_ways=not has_pairs_only or "bidir" in axes.get("direction", ("bidir",)),
    )
