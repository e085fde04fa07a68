"""RFC 2544 section 11: modifiers, conditions under which a test is run again, one at a time.

matrix: {modifier: [none, broadcast, filters-25]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from netdyno.modifiers import filters
from netdyno.modifiers.broadcast import BROADCAST
from netdyno.modifiers.management import MANAGEMENT
from netdyno.modifiers.modifier import Asked, Modifier, Scene, Words
from netdyno.modifiers.routing import ROUTING

if TYPE_CHECKING:
    from netdyno.plan import Plan

AXIS = "modifier"

NONE = Modifier("none", "", "the test as it is", "")

MODIFIERS: Mapping[str, Modifier] = {
    one.name: one for one in (NONE, BROADCAST, MANAGEMENT, ROUTING, filters.ONE, filters.LAST, filters.MIDDLE)
}
"""Every modifier, in the order help lists them."""

STANDARD = {
    "11.1": "broadcast frames",
    "11.2": "management frames",
    "11.3": "routing update frames",
    "11.4": "filters",
}
"""What RFC 2544 has in section 11, whether netdyno makes it or not."""

NETWORKS = 256
"""RFC 2544 section 12."""


def not_run(plan: Plan) -> tuple[str, ...]:
    """What RFC 2544 recommends to run besides, and the plan does not, a sentence each."""
    axes = dict(plan.axes)
    run = {MODIFIERS[name].section for name in axes.get(AXIS, (NONE.name,))}
    left = [f"{title} ({section})" for section, title in STANDARD.items() if section not in run]
    found = []
    if left:
        found.append(f"modifiers of RFC 2544 section 11 that were not run: {', '.join(left)}")
    if AXIS in axes and NONE.name not in axes[AXIS]:
        found.append("no case is without a modifier, RFC 2544 section 11 asks for that first")
    profiles = [plan.profiles[name] for name in axes["profile"]]
    if not any(profile.flows >= NETWORKS for profile in profiles):
        found.append(f"no traffic to {NETWORKS} networks, RFC 2544 section 12 asks for that besides one pair")
    if not any(profile.flows == 1 for profile in profiles):
        found.append("no traffic between one pair of addresses, RFC 2544 section 12 asks for that first")
    if set(axes.get("pattern", ("pairs",))) == {"pairs"} and "bidir" not in axes.get("direction", ("bidir",)):
        found.append("no case with the same load from both sides, RFC 2544 section 14 asks for that")
    return tuple(found)


def chosen(choices: Sequence[tuple[str, str]]) -> Modifier:
    """That of a case, by its axes and their values."""
    return MODIFIERS[dict(choices).get(AXIS, NONE.name)]


__all__ = ["AXIS", "MODIFIERS", "NONE", "Asked", "Modifier", "Scene", "Words", "chosen", "not_run"]
