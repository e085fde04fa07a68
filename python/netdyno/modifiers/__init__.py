"""RFC 2544 section 11: modifiers, conditions under which a test is run again, one at a time.

matrix: {modifier: [none, broadcast, filters-25]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netdyno.modifiers import filters
from netdyno.modifiers.broadcast import BROADCAST
from netdyno.modifiers.management import MANAGEMENT
from netdyno.modifiers.modifier import Asked, Modifier, Scene, Words
from netdyno.modifiers.routing import ROUTING

AXIS = "modifier"

NONE = Modifier("none", "", "the test as it is", "")

MODIFIERS: Mapping[str, Modifier] = {
    one.name: one for one in (NONE, BROADCAST, MANAGEMENT, ROUTING, filters.ONE, filters.LAST, filters.MIDDLE)
}
"""Every modifier, in the order help lists them."""


def chosen(choices: Sequence[tuple[str, str]]) -> Modifier:
    """That of a case, by its axes and their values."""
    return MODIFIERS[dict(choices).get(AXIS, NONE.name)]


__all__ = ["AXIS", "MODIFIERS", "NONE", "Asked", "Modifier", "Scene", "Words", "chosen"]
