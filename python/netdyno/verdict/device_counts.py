"""Both ends of each link of a trial in frames and bytes: the tester's counts, and the device's counters.

Device counters are taken from before traffic to after the drain; where that cannot be had, the reason stands
in place of the number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from netdyno.values.counter import Flow, find_resets, growth, is_updated_behind, staleness, unknown_age
from netdyno.values.counter_reasons import CounterNotRead
from netdyno.values.mixes import MIN_SIZE
from netdyno.values.outcome import InterfaceResult, Outcome, PortResult
from netdyno.values.rates import wire_bits
from netdyno.values.reason import Reason
from netdyno.values.series import Series

Count: TypeAlias = int | Reason
"""A count, or why it is unknown."""

IN, OUT = "rx_packets", "tx_packets"
IN_BYTES, OUT_BYTES = "rx_bytes", "tx_bytes"
IN_DROPS = ("in_drops", "in_queue_drops", "rx_miss_drops", "in_errors", "rx_dropped", "rx_errors")
OUT_DROPS = ("out_drops", "out_queue_drops", "out_errors", "tx_dropped", "tx_errors")
"""Totals of what a port dropped on the way in and out. Other names that end in `_drops` may be parts."""
NO_ROOM = ("in_queue_drops", "rx_miss_drops", "out_queue_drops", "queue_drops")
"""What found no room in a queue or ring. Drivers give a name of these to no counter of other drops."""
ANY_CAUSE = ("in_drops", "rx_dropped", "out_drops", "tx_dropped")
"""What was dropped for want of room, by an access list, without a route: systems count these as one."""
IN_WAY, _OUT_WAY = ("in_", "rx_"), ("out_", "tx_")
REFUSED = "rx_dropped"
"""What Linux's port counts of frames that it had no room for."""
IP_DROPS = ("InHdrErrors", "InAddrErrors", "InUnknownProtos", "InDiscards", "OutDiscards", "OutNoRoutes")
"""What a kernel's IP dropped (RFC 4293), of the subject `ip`."""
SLACK_NS = 100_000_000
"""A reading may be dated so much too early: when traffic began is known from looks at the tester."""
MEMBERS = "+"
"""Joins the device's ports of one link, where a LAG is counted by its members: `Te0/0/0/0+Te0/0/0/1`."""


@dataclass(frozen=True)
class Line:
    """The most that a link carries a second, one way."""

    frames: Fraction
    bytes: Fraction

    @classmethod
    def of(cls, bps: Fraction) -> Line:
        """That of L1 bits per second: frames of the smallest size, bytes with preamble and gap."""
        return cls(bps / wire_bits(MIN_SIZE), bps / 8)


@dataclass(frozen=True)
class Drop:
    """Frames that the device says it dropped, by one of its counters. is_total: no part of another one."""

    subject: str
    name: str
    frames: Count
    is_total: bool = True


@dataclass(frozen=True)
class PortCounts:
    """A link in one trial, from both its ends.

    port, device_port: names of its ends. own: frames that the tester sent for itself (ARP, ND, learning).
    foreign: received frames that are no test frames. stale: test frames of an earlier trial. not_received:
    what the tester's card dropped.
    """

    port: str
    device_port: str
    sent: int
    received: int
    sent_bytes: int
    received_bytes: int
    own: int
    foreign: int
    stale: int
    not_received: int
    taken: Count
    given: Count
    taken_bytes: Count
    given_bytes: Count
    in_drops: tuple[Drop, ...] = ()
    out_drops: tuple[Drop, ...] = ()
    other_drops: tuple[Drop, ...] = ()
    """Of neither way by their names."""


class Counters:
    """The device's counters in a trial, by subject and name."""

    def __init__(
        self,
        outcome: Outcome,
        traffic_ns: int,
        sent: Mapping[str, Sequence[int]] | None = None,
        received: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        """traffic_ns: how long frames were sent. sent, received: to and from each of the device's ports, in
        each sample."""
        drain_ns = sum(phase.duration_ns for phase in outcome.phases if phase.name == "drain")
        self.until_ns = traffic_ns + drain_ns - min(drain_ns // 2, SLACK_NS)
        self.last_ns = max([traffic_ns, *(_last_ns(one.rx, outcome.sample_ns) for one in outcome.streams)])
        self.series: dict[tuple[str, str], Series] = {}
        for one in outcome.series:
            # A record may come from a stranger: what cannot be counted is no counter.
            if one.is_counter and not one.scale and one.window_ns is None:
                self.series.setdefault((one.subject, one.name), one)
        self.subjects = {subject for subject, _ in self.series}
        self.resets = find_resets(outcome.series)
        step = outcome.sample_ns
        into = {port: Flow(frames, step) for port, frames in (sent or {}).items()}
        # The tester received frames somewhat later than the device gave them out.
        out_of = {port: Flow(frames, step, behind=1) for port, frames in (received or {}).items()}
        self.flows = {(port, name): flow for port, flow in into.items() for name in (IN, IN_BYTES)}
        self.flows |= {(port, name): flow for port, flow in out_of.items() for name in (OUT, OUT_BYTES)}
        # One that updates the counters of a port now and then does so with all of its counters.
        known = ((self.series[key], flow) for key, flow in self.flows.items() if key in self.series)
        ages = [(0, 0), *(staleness(series, flow) for series, flow in known)]
        self.stale_ns, self.oldest_ns = (max(age) for age in zip(*ages, strict=True))

    @property
    def has_frames(self) -> bool:
        """Whether a driver counted frames of any port."""
        return any(name in (IN, OUT) for _, name in self.series)

    def growth(self, subject: str, name: str, line_per_s: Fraction | None = None) -> Count:
        """By how much one counter grew."""
        series = self.series.get((subject, name))
        if series is None:
            return CounterNotRead(subject, name)
        # Old counters must be read so much later than the last frame came, which is as a rule in the drain.
        old_ns = self.stale_ns if is_updated_behind(series, self.last_ns) else self.oldest_ns
        late_ns = max(self.last_ns + old_ns - self.until_ns, 0) if old_ns else 0
        found = growth(series, self.until_ns, line_per_s, late_ns, self.resets.of(subject))
        flow = self.flows.get((subject, name))
        if isinstance(found, Reason) or flow is None:
            return found
        return unknown_age(series, flow, self.last_ns) or found

    def sum_of(self, subjects: Sequence[str], name: str, line_per_s: Fraction | None) -> Count:
        """The same over the members of a LAG."""
        return add_counts(*(self.growth(subject, name, line_per_s) for subject in subjects))

    def drops(self, subjects: Sequence[str], names: Sequence[str]) -> Iterator[Drop]:
        """Counters of drops that moved or are unknown; one that is not there did not move."""
        for key in ((subject, name) for subject in subjects for name in names):
            if key in self.series:
                frames = self.growth(*key)
                if frames != 0:
                    yield Drop(*key, frames)

    def others(self, subjects: Sequence[str], way: tuple[str, ...] | None) -> Iterator[Drop]:
        """Further counters of drops of a way, or of none by their names; they may be parts of the totals."""
        for subject, name in self.series:
            if name in (*IN_DROPS, *OUT_DROPS) or subject not in subjects or not name.endswith("_drops"):
                continue
            if name.startswith(way) if way else not name.startswith((*IN_WAY, *_OUT_WAY)):
                frames = self.growth(subject, name)
                if frames != 0:
                    yield Drop(subject, name, frames, is_total=False)

    def shared(self, device_ports: Sequence[str]) -> Iterator[Drop]:
        """Drops of no port: of the whole device, a card, its IP."""
        own = {part for port in device_ports for part in (port, *port.split(MEMBERS))}
        for subject, name in self.series:
            is_drop = name.endswith("_drops") or (subject == "ip" and name in IP_DROPS)
            if subject not in own and is_drop:
                frames = self.growth(subject, name)
                if frames != 0:
                    yield Drop(subject, name, frames, is_total=False)


def _last_ns(rx: Sequence[int], sample_ns: int) -> int:
    """The end of the last sample in which frames came, ns."""
    return next((place + 1 for place in reversed(range(len(rx))) if rx[place]), 0) * sample_ns


def count_ports(
    outcome: Outcome, device_ports: Sequence[str], counters: Counters, lines: Sequence[Line]
) -> Mapping[int, PortCounts]:
    """The links of a trial by number of their tester ports. device_ports: opposite each.

    lines: of each, without which counters of 32 bits tell nothing; empty: unknown.
    """
    known = (*lines, *(None for _ in device_ports))
    return {
        number: _count(outcome, number, device_port, counters, known[number])
        for number, device_port in enumerate(device_ports[: len(outcome.ports)])
    }


def _count(
    outcome: Outcome, number: int, device_port: str, counters: Counters, line: Line | None
) -> PortCounts:
    """A link in a trial. device_port: one, or the members of a LAG."""
    port = outcome.ports[number]
    subjects = (device_port,) if device_port in counters.subjects else tuple(device_port.split(MEMBERS))
    frames_per_s, bytes_per_s = (None, None) if line is None else (line.frames, line.bytes)
    repeated = sum(_count_resent_frames(one, port) for one in outcome.interfaces if one.port == port.name)
    return PortCounts(
        port=port.name,
        device_port=device_port,
        sent=port.tx_frames,
        received=port.rx_frames,
        sent_bytes=port.tx_bytes,
        received_bytes=port.rx_bytes,
        own=port.own_frames,
        foreign=port.foreign,
        stale=port.stale,
        not_received=sum(one.not_received for one in outcome.interfaces if one.port == port.name),
        taken=counters.sum_of(subjects, IN, frames_per_s),
        given=counters.sum_of(subjects, OUT, frames_per_s),
        taken_bytes=counters.sum_of(subjects, IN_BYTES, bytes_per_s),
        given_bytes=counters.sum_of(subjects, OUT_BYTES, bytes_per_s),
        in_drops=(
            *_once(counters.drops(subjects, IN_DROPS), repeated),
            *counters.others(subjects, IN_WAY),
        ),
        out_drops=(*counters.drops(subjects, OUT_DROPS), *counters.others(subjects, _OUT_WAY)),
        other_drops=tuple(counters.others(subjects, None)),
    )


def _count_resent_frames(interface: InterfaceResult, port: PortResult) -> int:
    """Frames that the far end of a veth refused and that this machine sent again: attempts beyond frames."""
    attempts = interface.counters.get("tx_packets", 0) + interface.refused
    return max(attempts - port.tx_frames, 0) if interface.refused else 0


def _once(drops: Iterable[Drop], repeated: int) -> Iterator[Drop]:
    """Drops of frames: the far end of a veth counts each attempt that it refused."""
    for drop in drops:
        if drop.name == REFUSED and isinstance(drop.frames, int):
            again = min(repeated, drop.frames)
            drop, repeated = replace(drop, frames=drop.frames - again), repeated - again
        if drop.frames != 0:
            yield drop


def add_counts(*counts: Count) -> Count:
    """The sum, or the first reason why there is none."""
    unknown = next((one for one in counts if isinstance(one, Reason)), None)
    return sum(one for one in counts if isinstance(one, int)) if unknown is None else unknown
