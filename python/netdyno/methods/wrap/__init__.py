"""What goes around any method of a class of loads: one entry a class in WRAPPERS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from netdyno.methods.wrap import agreement, contradicted, members, routes, witness
from netdyno.methods.wrap.classes import by_class
from netdyno.methods.wrap.late import without_late_values
from netdyno.methods.wrap.spacing import with_spacing
from netdyno.methods.wrap.vlans import by_vlan
from netdyno.values.load import CONNECTIONS, FRAMES, LoadClass
from netdyno.values.method import Method
from netdyno.values.situation import Situation


@dataclass(frozen=True)
class Around:
    """What wrappers know of a case beside its situation.

    waits: whether the plan waits for frames that are on their way when a trial ends. counts_itself: whether
    its method counts each stream anew. uneven: the kind of arrivals of each stream that has some. routes:
    behind each port, and routes_of: of each stream; none: they are not proven. members: shares of flows that
    members of LAGs are to carry; None: flows are as they come.
    """

    situation: Situation
    is_real: bool
    waits: bool
    counts_itself: bool
    uneven: Mapping[str, str]
    routes: int
    routes_of: Mapping[str, int]
    members: members.Wanted | None = None


def around_frames(method: Method, case: Around) -> Method:
    """The method with what every load of frames has."""
    known = case.situation
    # A plan that waits for nothing asks to have what is still on its way counted as lost.
    if case.waits and not case.is_real:
        method = without_late_values(method)
    method = contradicted.checked(method, known)
    if case.is_real and not case.counts_itself:
        method = witness.witnessed(agreement.with_agreement(method), known)
    if case.waits and case.is_real:
        # What a trial lost may come in the one that is made to judge it.
        method = without_late_values(method)
    if case.uneven:
        method = with_spacing(method, known, case.uneven, is_real=case.is_real)
    if any(place.vlan for place in known.places):
        method = by_vlan(method, known)
    if known.classes:
        method = by_class(method, known)
    if case.members is not None:
        method = members.with_members(method, known, case.members)
    if case.routes:
        method = routes.proven(method, known, case.routes, case.routes_of)
    return method


WRAPPERS: Mapping[LoadClass, Callable[[Method, Around], Method]] = {
    FRAMES: around_frames,
    CONNECTIONS: lambda method, case: method,
}
