"""Four-point balance of a trial: tester sent, device took in, device gave out, tester received, in frames.

Where frames are missing follows from exact counts of one trial: on the link in, in the device, on the link
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.values.situation import Place
from netdyno.verdict.device_counts import Count, Drop, PortCounts, add_counts


@dataclass(frozen=True)
class Path:
    """Frames of the streams from some links to others, counted at four points.

    senders, receivers: the links. own: of the frames sent, the tester's own. foreign: of those received, the
    device's or somebody's. copies: of those received, test frames that came elsewhere, more than once, or in
    a later trial than they were sent in. drops: what the device says it dropped. not_received: what the
    tester's cards dropped.
    """

    senders: tuple[str, ...]
    receivers: tuple[str, ...]
    sent: int
    taken: Count
    given: Count
    received: int
    own: int = 0
    foreign: int = 0
    copies: int = 0
    not_received: int = 0
    drops: tuple[Drop, ...] = field(default=())

    @property
    def unknown(self) -> Reason | None:
        """Why it is not known where frames are missing; None: it is."""
        found = (self.taken, self.given, *(drop.frames for drop in self.drops if drop.is_total))
        return next((one for one in found if isinstance(one, Reason)), None)

    @property
    def link_in(self) -> int | None:
        """Frames that the tester sent and the device did not take in; negative: it took in more."""
        return None if isinstance(self.taken, Reason) else self.sent - self.taken - self._before

    @property
    def device(self) -> int | None:
        """Frames that the device took in and did not give out, those for itself and its own left out."""
        if isinstance(self.taken, Reason) or isinstance(self.given, Reason):
            return None
        return self.taken + self._before - self.own - self._given

    @property
    def link_out(self) -> int | None:
        """Frames that the device gave out and the tester did not get and did not drop itself."""
        if isinstance(self.given, Reason):
            return None
        return self.given - self.received - self.not_received

    @property
    def dropped(self) -> int | None:
        """Frames that the device's counters of drops explain. Parts of totals are not counted twice."""
        lost = self._lost
        if lost is None or any(drop.is_total and isinstance(drop.frames, Reason) for drop in self.drops):
            return None
        found = sum(drop.frames for drop in self.drops if drop.is_total and isinstance(drop.frames, int))
        for drop in self.drops:
            if not drop.is_total and isinstance(drop.frames, int) and 0 < drop.frames <= lost - found:
                found += drop.frames
        return found

    @property
    def rest(self) -> int | None:
        """Frames that the device lost and does not explain; negative: its counters of drops say more."""
        device, dropped = self.device, self.dropped
        return None if device is None or dropped is None else device - dropped

    @property
    def is_whole(self) -> bool:
        """Whether every frame is accounted for."""
        return self.unknown is None and (self.link_in, self.rest, self.link_out) == (0, 0, 0)

    @property
    def _lost(self) -> int | None:
        """Frames that went missing before the device gave them out."""
        if isinstance(self.given, Reason) or isinstance(self.taken, Reason):
            return None
        return self.sent - self.own - self._given

    @property
    def _given(self) -> int:
        """Frames sent that the device gave out, each once."""
        assert isinstance(self.given, int), "asked only where it is known"
        return self.given - self.foreign - self.copies

    @property
    def _before(self) -> int:
        """Frames that the device dropped before it counted them as taken in.

        Devices differ in that; one whose drops of totals are all that is missing, and no less than what it
        did not count, dropped them before.
        """
        if isinstance(self.taken, Reason) or self._lost is None:
            return 0
        named = sum(drop.frames for drop in self.drops if drop.is_total and isinstance(drop.frames, int))
        missing = self.sent - self.taken
        return missing if 0 < missing <= named == self._lost else 0


def balance_trial(
    outcome: Outcome,
    places: Mapping[str, Place],
    ports: Mapping[int, PortCounts],
    shared: tuple[Drop, ...],
) -> tuple[Path, ...]:
    """The balance of each part of a trial whose links have no streams in common with others.

    places: of its streams, by name. ports: its links by number. shared: what the device dropped of no port.
    Empty if the ends of a stream are unknown.
    """
    if not places or not all({place.tx, *place.arrives} <= ports.keys() for place in places.values()):
        return ()
    streams = (*outcome.streams, *outcome.beside)
    parts = list(_parts(places.values()))
    if any(one.elsewhere for one in streams):
        # They came by links of other parts, or of none.
        parts = [_join_parts(parts, ports)]
    paths = tuple(_path(outcome, places, ports, part, ()) for part in parts)
    shared = (*(drop for port in ports.values() for drop in port.other_drops), *shared)
    if not shared or not any(path.unknown is None and path.rest for path in paths):
        return paths
    # Whose frames these dropped is unknown where there are several parts: they are one then.
    whole = parts[0] if len(parts) == 1 else _join_parts(parts, {})
    return (_path(outcome, places, ports, whole, shared),)


def sum_paths(found: Iterable[tuple[Path, ...]]) -> tuple[Path, ...]:
    """The balances of several trials as one; a count that is unknown of one is unknown of all."""
    paths: dict[tuple[tuple[str, ...], tuple[str, ...]], Path] = {}
    for path in (one for trial in found for one in trial):
        key = (path.senders, path.receivers)
        paths[key] = _add(paths[key], path) if key in paths else path
    return tuple(paths.values())


_Part: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""Numbers of sending and of receiving ports."""


def _parts(places: Iterable[Place]) -> Iterator[_Part]:
    """Sending and receiving ports of streams, joined where streams share an end."""
    left: list[tuple[set[int], set[int]]] = []
    for place in places:
        tx, rx = {place.tx}, set(place.arrives)
        others = []
        for senders, receivers in left:
            if senders & tx or receivers & rx:
                tx, rx = tx | senders, rx | receivers
            else:
                others.append((senders, receivers))
        left = [*others, (tx, rx)]
    yield from sorted((tuple(sorted(tx)), tuple(sorted(rx))) for tx, rx in left)


def _join_parts(parts: Iterable[_Part], ports: Iterable[int]) -> _Part:
    """Parts as one, with these ports as receivers too."""
    found = list(parts)
    senders = {number for tx, _ in found for number in tx}
    receivers = {number for _, rx in found for number in rx} | set(ports)
    return tuple(sorted(senders)), tuple(sorted(receivers))


def _path(
    outcome: Outcome,
    places: Mapping[str, Place],
    ports: Mapping[int, PortCounts],
    part: _Part,
    shared: tuple[Drop, ...],
) -> Path:
    senders, receivers = ([ports[number] for number in numbers] for numbers in part)
    copies = sum(
        one.duplicates + one.elsewhere
        for one in (*outcome.streams, *outcome.beside)
        if one.name in places and places[one.name].tx in part[0]
    )
    return Path(
        senders=tuple(port.port for port in senders),
        receivers=tuple(port.port for port in receivers),
        sent=sum(port.sent for port in senders),
        taken=add_counts(*(port.taken for port in senders)),
        given=add_counts(*(port.given for port in receivers)),
        received=sum(port.received for port in receivers),
        own=sum(port.own for port in senders),
        foreign=sum(port.foreign for port in receivers),
        copies=copies + sum(port.stale for port in receivers),
        not_received=sum(port.not_received for port in receivers),
        drops=(
            *(drop for port in senders for drop in port.in_drops),
            *(drop for port in receivers for drop in port.out_drops),
            *shared,
        ),
    )


def _add(one: Path, other: Path) -> Path:
    drops: dict[tuple[str, str], Drop] = {}
    for drop in (*one.drops, *other.drops):
        key = (drop.subject, drop.name)
        before = drops[key].frames if key in drops else 0
        drops[key] = Drop(*key, add_counts(before, drop.frames), drop.is_total)
    return Path(
        senders=one.senders,
        receivers=one.receivers,
        sent=one.sent + other.sent,
        taken=add_counts(one.taken, other.taken),
        given=add_counts(one.given, other.given),
        received=one.received + other.received,
        own=one.own + other.own,
        foreign=one.foreign + other.foreign,
        copies=one.copies + other.copies,
        not_received=one.not_received + other.not_received,
        drops=tuple(drops.values()),
    )
