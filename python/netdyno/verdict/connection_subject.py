"""What is known of the connections of one stream: of them, of their path, and of what the device counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import median

from netdyno.stats.path import TCP_HEADERS, Path
from netdyno.values.outcome import Carried, Outcome
from netdyno.values.rates import ip_length, wire_bits
from netdyno.values.situation import Situation
from netdyno.verdict.device_counts import IN, MEMBERS

BEYOND = Fraction(103, 100)
"""More than what own frames passed shows that these, and not the path, were held up."""
FULL_LINE = Fraction(995, 1000)
ACK = 70
"""Bytes of a frame that only acknowledges: Ethernet with FCS, IPv4, TCP with timestamps."""


@dataclass(frozen=True)
class Subject:
    """What is known of one stream's connections. paths: of the streams whose path own frames showed."""

    carried: Carried
    paths: Mapping[str, Path]
    outcome: Outcome
    situation: Situation
    is_line_enforced: bool
    unheard: int = 0
    """Own frames of full size of which none came."""
    servers: tuple[str, ...] = ()
    """On other hosts, which receive no own frames."""

    @property
    def path(self) -> Path | None:
        """By own frames; None: they showed nothing."""
        return self.paths.get(self.carried.name)

    @property
    def passed_fps(self) -> Fraction | None:
        """Own frames a second that passed of all streams at once; None: of one it is unknown."""
        each = [self.paths.get(one) for one in self.situation.streams]
        return None if None in each else sum((one.fps for one in each if one is not None), Fraction(0))

    @property
    def bps(self) -> Fraction:
        """Payload that arrived, bits a second."""
        return Fraction(8 * self.carried.received_bytes * 10**9, max(self.carried.received_ns, 1))

    @property
    def most_payload(self) -> Fraction:
        """Bytes of payload in a frame of full size."""
        return Fraction(ip_length(self.situation.mean_size) - TCP_HEADERS)

    @property
    def payload(self) -> Fraction:
        """Bytes of payload in its frames."""
        return min((Fraction(one.mss_bytes) for one in self.carried.each), default=self.most_payload)

    @property
    def frame(self) -> Fraction:
        """Bytes of its frames, FCS counted."""
        return self.situation.mean_size - self.most_payload + min(self.payload, self.most_payload)

    @property
    def data_fps(self) -> Fraction:
        """Its frames with payload a second."""
        return self.bps / 8 / min(self.payload, self.most_payload)

    @property
    def of_path(self) -> Fraction | None:
        """The share of what the path passes, in bits of frames; None: not known."""
        if self.path is None:
            return None
        return self.data_fps * self.frame / (self.path.fps * self.situation.mean_size)

    @property
    def of_line(self) -> Fraction:
        """The share of its line, in bits of frames with preamble and gap: its own, and acknowledgements that
        its port sends of what it receives."""
        line = self.situation.line(self.carried.name) * wire_bits(self.situation.mean_size)
        bps = self.data_fps * wire_bits(self.frame) + self.acks_fps(self._against) * wire_bits(ACK)
        return bps / line if line else Fraction(0)

    @property
    def _against(self) -> int:
        """Bytes that came to the port that sends it."""
        at = dict(zip(self.situation.streams, self.situation.places, strict=False))
        port = at.get(self.carried.name)
        others = (one for one in self.outcome.carried if one.name in at)
        return sum(one.received_bytes for one in others if port and at[one.name].rx == port.tx)

    @property
    def both_fps(self) -> Fraction | None:
        """Frames a second that the device took in on all ports, by its counters; None: it has none."""
        return _count_fps(self.outcome, self.situation.device_ports)

    @property
    def all_data_fps(self) -> Fraction:
        """Frames with payload of all streams a second."""
        return self.data_fps * Fraction(self._all_bytes, max(self.carried.received_bytes, 1))

    @property
    def _all_bytes(self) -> int:
        return sum(one.received_bytes for one in self.outcome.carried)

    def acks_fps(self, received_bytes: int) -> Fraction:
        """Frames a second that acknowledge so many bytes of payload, by the device's counters; 0: it has
        none."""
        acks = max((self.both_fps or Fraction(0)) - self.all_data_fps, Fraction(0))
        return acks * Fraction(received_bytes, max(self._all_bytes, 1))

    @property
    def both_bps(self) -> Fraction:
        """Bits of frames of all streams a second, with as many acknowledgements as are known."""
        return 8 * (self.all_data_fps * self.frame + self.acks_fps(self._all_bytes) * ACK)

    @property
    def is_capped(self) -> bool:
        """Whether own frames found the most that the path passes."""
        if self.of_path is None or self.of_path > BEYOND:
            return False
        return self.path is not None and (self.is_line or not self.path.is_least)

    @property
    def is_line(self) -> bool:
        """Whether the path passes as many as its line carries, and something holds the line to its rate."""
        line = self.situation.line(self.carried.name)
        return self.path is not None and self.is_line_enforced and self.path.fps >= FULL_LINE * line

    @property
    def retransmitted(self) -> int:
        """Segments that were sent again."""
        return self.carried.retransmitted_segments or 0

    @property
    def queue_ns(self) -> int | None:
        """How much longer own frames take where more come than pass."""
        return None if self.path is None else self.path.queue_ns

    @property
    def busy_ns(self) -> int:
        """Time with something to send, over all connections."""
        return sum(one.busy_ns for one in self.carried.each)

    @property
    def rtt_ns(self) -> int:
        """The mean round-trip time."""
        each = self.carried.each
        if self.carried.mean_rtt_ns is not None:
            return self.carried.mean_rtt_ns
        return sum(one.rtt_ns for one in each) // len(each) if each else 0


def _count_fps(outcome: Outcome, ports: Sequence[str]) -> Fraction | None:
    """Frames a second that came to the device's ports, in the middle one of its readings."""
    found = []
    for one in outcome.series:
        if one.name != IN or not one.is_counter or (ports and one.subject not in ports):
            continue
        steps = pairwise(zip(one.times_ns, one.values, strict=True))
        rates = [
            Fraction((count - before) * 10**9, at_ns - from_ns) for (from_ns, before), (at_ns, count) in steps
        ]
        if rates:
            found.append(median(rates))
    return sum(found, Fraction(0)) or None


def count_drops(outcome: Outcome, ports: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """How many frames the device says it dropped while connections were open, and by which counters.

    Of a subject the counter that grew most: others may be parts of it. Errors of a port are its cable's.
    The name of the largest comes first.
    """
    own = {name for port in ports for name in (port, *port.split(MEMBERS))}
    others = {one.subject for one in outcome.series if one.name == IN and ports} - own
    most: dict[str, int] = {}
    names: dict[str, int] = {}
    for one in outcome.series:
        is_drop = one.is_counter and one.name.endswith(("_drops", "_dropped"))
        if not is_drop or one.subject in others or not one.values or one.values[-1] <= one.values[0]:
            continue
        grown = one.values[-1] - one.values[0]
        most[one.subject] = max(most.get(one.subject, 0), grown)
        names[one.name] = names.get(one.name, 0) + grown
    return sum(most.values()), tuple(sorted(names, key=lambda name: -names[name]))
