"""Modifiers: conditions under which a test is run again, one at a time (RFC 2544 section 11).

matrix: {modifier: [none, broadcast, filters-25]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netdyno.modifiers.modifier import Asked, Modifier, Scene, Words
from netdyno.values.table import load_table

AXIS = "modifier"

NONE = Modifier("none", "the test as it is")

MODULES = (
    "broadcast",
    "management",
    "routing",
    "filters",
)
"""Each has its modifier, or several, as `MODIFIER`. In the order help lists them."""

MODIFIERS: Mapping[str, Modifier] = {
    one.name: one for one in (NONE, *load_table(__name__, "MODIFIER", Modifier, MODULES))
}
"""Every modifier, by the name a plan uses."""


def choose_modifier(choices: Sequence[tuple[str, str]]) -> Modifier:
    """That of a case, by its axes and their values."""
    return MODIFIERS[dict(choices).get(AXIS, NONE.name)]


__all__ = ["AXIS", "MODIFIERS", "NONE", "Asked", "Modifier", "Scene", "Words", "choose_modifier"]
