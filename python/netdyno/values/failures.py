"""Members of LAGs that die during a load: their events, and the name and columns of their table that first
screens read."""

from __future__ import annotations

from collections.abc import Iterable

from netdyno.values.load import Event, EventKind, Happened

TABLE = "Failures of members"
MEMBER, BY, LEFT = "member", "died by", "left after"
CAME, UNTIL = "came before", "frames until then"
LOST, LASTED = "lost", "for"
LOST_BACK, LASTED_BACK = "lost on return", "on return for"

DIES: dict[EventKind, str] = {"lacp-silent": "silence", "link-down": "carrier"}
RETURNS: dict[EventKind, EventKind] = {"lacp-silent": "lacp-speaks", "link-down": "link-up"}


def find_return(died: Event, later: Iterable[Happened]) -> Happened | None:
    """The first of later events with which a member that died is back; None: none is."""
    return next(
        (one for one in later if one.event.kind == RETURNS[died.kind] and one.event.port == died.port), None
    )
