"""What a plan as a whole, beside its method, does against the standard that a result names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from netdyno import modifiers
from netdyno.methods import METHODS
from netdyno.plan.patterns import PATTERNS
from netdyno.values.finding import Result
from netdyno.values.reason import texts

if TYPE_CHECKING:
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case

NO_STANDARD = "none"
"""What the `standard` of a method begins with that follows none."""

MESHED = ("RFC 2544 section 26.1", "RFC 2544 section 26.3")
"""What RFC 2889 sections 5.1 to 5.4 measure with the traffic of a pattern."""

RFC_SIZES = 5
"""RFC 2544 section 9: at least five frame sizes."""


STANDARD = {
    "11.1": "broadcast frames",
    "11.2": "management frames",
    "11.3": "routing update frames",
    "11.4": "filters",
}
"""What RFC 2544 has in section 11, whether netdyno makes it or not."""

NETWORKS = 256
"""RFC 2544 section 12."""


def with_plan(result: Result, plan: Plan, case: Case) -> Result:
    """A result with its method's standard, and with what the plan as a whole does against it."""
    standard = result.standard or METHODS[plan.method].standard
    if standard.startswith(NO_STANDARD):
        standard = ""
    section = PATTERNS[case.pattern].section
    if section is not None and standard in MESHED:
        standard = f"{standard}, RFC 2889 section {section}"
    return replace(
        result,
        standard=standard,
        compliance=(*result.compliance, *texts(plan.deviations)),
        recommended=(
            *result.recommended,
            *texts((*_few_sizes(plan, standard), *_not_run(plan, standard))),
        ),
    )


def _not_run(plan: Plan, standard: str) -> tuple[str, ...]:
    """Conditions that RFC 2544 has, and the plan has not."""
    return conditions_not_run(plan) if standard.startswith("RFC 2544") else ()


def _few_sizes(plan: Plan, standard: str) -> tuple[str, ...]:
    """What RFC 2544 section 9 says of frame sizes ("at least five frame sizes SHOULD be tested")."""
    if not standard.startswith("RFC 2544"):
        return ()
    used = dict(plan.axes)["profile"]
    mixes = [plan.profiles[name].mix.weights for name in used]
    sizes = {weights[0][0] for weights in mixes if len(weights) == 1}
    if len(sizes) >= RFC_SIZES:
        return ()
    tested = "1 frame size is tested" if len(sizes) == 1 else f"{len(sizes)} frame sizes are tested"
    return (f"{tested}, RFC 2544 section 9 asks for at least five",)


def conditions_not_run(plan: Plan) -> tuple[str, ...]:
    """What RFC 2544 recommends to run besides, and the plan does not, a sentence each."""
    axes = dict(plan.axes)
    run = {modifiers.MODIFIERS[name].section for name in axes.get(modifiers.AXIS, (modifiers.NONE.name,))}
    left = [f"{title} ({section})" for section, title in STANDARD.items() if section not in run]
    found = []
    if left:
        found.append(f"modifiers of RFC 2544 section 11 that were not run: {', '.join(left)}")
    if modifiers.AXIS in axes and modifiers.NONE.name not in axes[modifiers.AXIS]:
        found.append("no case is without a modifier, RFC 2544 section 11 asks for that first")
    profiles = [plan.profiles[name] for name in axes["profile"]]
    if not any(profile.flows >= NETWORKS for profile in profiles):
        found.append(f"no traffic to {NETWORKS} networks, RFC 2544 section 12 asks for that besides one pair")
    if not any(profile.flows == 1 for profile in profiles):
        found.append("no traffic between one pair of addresses, RFC 2544 section 12 asks for that first")
    if set(axes.get("pattern", ("pairs",))) == {"pairs"} and "bidir" not in axes.get("direction", ("bidir",)):
        found.append("no case with the same load from both sides, RFC 2544 section 14 asks for that")
    return tuple(found)
