"""What the engine says of the adjacencies of an emulated router, as series and reasons.

In virtual time a change is known to the picosecond: a series has the state a nanosecond before each change,
at it, and at both ends of the traffic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from netdyno.devices.watches.adjacency import Adjacency
from netdyno.devices.watches.reasons import LostAt, NeighbourLeftOut, NeighbourSilent
from netdyno.devices.wiring import Subinterface, WiredPort, Wiring
from netdyno.values.breaks import ADJACENCY
from netdyno.values.outcome import AdjacencyLost
from netdyno.values.reason import Reason
from netdyno.values.series import Series

PS = 1000
_OF_BOX = ("box", "card")


@dataclass(frozen=True)
class _One:
    """An adjacency: what changed at each end (ps from the begin of traffic, whether it came up), the tester's
    first, and the hellos that the device lost."""

    subject: str
    changes: tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]
    lost: Sequence[Mapping[str, Any]]
    dead_ns: int
    port: str
    vlan: str
    classes: Sequence[Mapping[str, Any]]

    def states(self) -> list[tuple[int, bool]]:
        """When it went down and came up, ps: it is up while both ends say so."""
        every = sorted(
            (one["at_ps"], end, one["is_up"]) for end, changes in enumerate(self.changes) for one in changes
        )
        ends, found, was_up = [True, True], [], True
        for at_ps, end, is_up in every:
            ends[end] = is_up
            if all(ends) != was_up:
                was_up = all(ends)
                found.append((at_ps, was_up))
        return found

    def why(self, at_ps: int) -> Reason:
        """Why it went down then."""
        end = next(
            end
            for end, changes in enumerate(self.changes)
            if any(one["at_ps"] == at_ps and not one["is_up"] for one in changes)
        )
        # Each end misses what the other one said.
        is_own = end == 0
        since_ps = at_ps - self.dead_ns * PS
        lost = [one for one in self.lost if one["is_own"] is is_own and since_ps <= one["at_ps"] <= at_ps]
        who: Literal["tester", "device"] = "tester" if is_own else "device"
        if not lost:
            return NeighbourLeftOut(who)
        return NeighbourSilent(who, self.dead_ns, len(lost), *self._place(lost[-1]["place"]))

    def _place(self, place: str | Mapping[str, int]) -> tuple[LostAt, str]:
        if isinstance(place, Mapping):
            return "class", f"{self.classes[place['class']]['name']} of {self.port}"
        if place in ("shaper", "priority"):
            return place, f"{self.vlan} on {self.port}"  # type: ignore[return-value]
        return place, "" if place in _OF_BOX else self.port  # type: ignore[return-value]

    def series(self, end_ns: int) -> Series:
        """Its state."""
        values = {0: 1, end_ns: 1}
        for at_ps, is_up in self.states():
            at_ns = at_ps // PS
            values.setdefault(max(at_ns - 1, 0), int(not is_up))
            values[at_ns] = values[max(end_ns, at_ns)] = int(is_up)
        times = tuple(sorted(values))
        return Series(ADJACENCY, self.subject, "adjacency", "up", times, tuple(values[at] for at in times))


def read_adjacencies(
    answer: Mapping[str, Any], wiring: Wiring, end_ns: int
) -> tuple[tuple[Series, ...], tuple[AdjacencyLost, ...]]:
    """The state of each adjacency, and why each went down. end_ns: of the traffic, from its begin."""
    every = list(_adjacencies(answer, wiring))
    lost = [
        AdjacencyLost(one.subject, at_ps // PS, one.why(at_ps))
        for one in every
        for at_ps, is_up in one.states()
        if not is_up
    ]
    lost.sort(key=lambda one: one.at_ns)
    return tuple(one.series(end_ns) for one in every), tuple(lost)


def _adjacencies(answer: Mapping[str, Any], wiring: Wiring) -> Iterator[_One]:
    ends = {(one["port"], tuple(one["vlans"])): one for one in answer["trial"].get("adjacencies", ())}
    for link in wiring.session.get("links", ()) if ends else ():
        number, device, device_port = (link[name] for name in ("port", "device", "device_port"))
        spec = wiring.session["devices"][device]["ports"][device_port]
        port = wiring.ports[number]
        for one in answer["adjacencies"][device]:
            vids = tuple(tag["vid"] for tag in one["tags"])
            if one["port"] != device_port or (number, vids) not in ends:
                continue
            speaker = port.speaker
            assert speaker is not None
            assert speaker.ospf is not None
            vlan = _vlan(port, vids)
            yield _One(
                _name(port, vlan),
                (ends[number, vids]["changes"], one["changes"]),
                one["lost"],
                speaker.ospf.dead_ns,
                spec["name"],
                "" if vlan is None else f"VLAN {vlan.name}",
                spec.get("classes", ()),
            )


def _vlan(port: WiredPort, vids: tuple[int, ...]) -> Subinterface | None:
    return next((vlan for vlan in port.vlans if tuple(vid for vid, _ in vlan.tags) == vids), None)


def _name(port: WiredPort, vlan: Subinterface | None) -> str:
    if vlan is None:
        return Adjacency("OSPF", port.destination, "", is_up=True).subject
    return Adjacency("OSPF", f"{vlan.gateway} (VLAN {vlan.name})", "", is_up=True).subject
