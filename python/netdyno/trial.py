"""The plain values between methods, runner, store and reports.

A method is a generator: it yields a `Trial`, is sent a `TrialResult`, and returns a `Result`. That a trial
could not be measured is thrown into it as a `NotMeasuredError`, which ends a method that does not catch it.
It does not measure, sleep, print or store, so a ten-line device can stand in for the engine in a test.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

Limit: TypeAlias = Literal[
    "device", "line", "tester", "receiver", "fixture", "licence", "none", "inconclusive", "invalid"
]
"""Who was the limit on a result; every headline number carries one."""

HEADLINES: Mapping[str, str] = {
    "throughput": "the highest load at which no frame was lost (RFC 1242, section 3.17)",
    "ramp max Rx": "the best rate received in the rise or the hold, over at least 1,000 frames at line rate"
    " and 1/120 of the rise; frames may be lost at it, so it is not a throughput",
}
"""What stands for a case whose method names nothing else (`Result.headlines`), as in records of before
methods could: a value's name, and what it is."""

Conformity: TypeAlias = Literal["unconditional", "conditional", "deviating"]
"""How a result agrees with its standard, as RFC 2544 section 5 has it: every MUST and every SHOULD was
heeded, every MUST but not every SHOULD, or not every MUST."""

LEAST_DRAIN_NS = 200_000_000
"""A rehearsal waits this long for what is on its way, unless the plan asks for less: 1024 frames at 10 kpps
take half of it."""


@dataclass(frozen=True)
class Segment:
    """A stretch of time in which the load of every sending stream is constant or changes linearly.

    from_fps, to_fps: frames per second of each sending stream (each direction). For a mix, of
    frames of average size: the engine holds the L1 load, not the frame gap.
    """

    name: str
    duration_ns: int
    from_fps: Fraction
    to_fps: Fraction


EventKind: TypeAlias = Literal["reset", "link-down", "link-up", "forget"]
"""What can be asked of a device while traffic runs: a reset (of all of it), a link down or up, and to forget
the addresses and neighbours it has learned."""


@dataclass(frozen=True)
class Event:
    """Something asked of the device while traffic runs. The tester has no part in it.

    at_ns: from the begin of traffic. port: the tester port whose link it is about; None: every one.
    """

    at_ns: int
    kind: EventKind
    port: str | None = None


@dataclass(frozen=True)
class Happened:
    """An event as it came about, ns from the begin of traffic: the device was asked at from_ns and had done
    it, or said so, by until_ns. In virtual time both are when it was to be."""

    event: Event
    from_ns: int
    until_ns: int

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Happened:
        """From a store's JSON; TypeError or KeyError if a field is too few or too many."""
        return cls(Event(**table["event"]), **{name: at for name, at in table.items() if name != "event"})


@dataclass(frozen=True)
class Observe:
    """What a trial observes of each stream beyond counts and latency; see crates/engine/src/spec.rs.

    timed_from_ns: only frames that departed so long after traffic began are timed. gaps: date so many gaps,
    the first ones and the last, and the longest silence (0: none). bridge: missing frames with no more than
    so many others between them are in one gap. order: how far frames came out of order (RFC 4737).
    variation: how latency varies from frame to frame (RFC 5481).
    """

    timed_from_ns: int = 0
    gaps: int = 0
    bridge: int = 0
    order: bool = False
    variation: bool = False


@dataclass(frozen=True)
class Trial:
    """What a method asks for: the load over time, and what else differs from the case and its plan."""

    name: str
    segments: tuple[Segment, ...]
    """The load of every sending port; its streams have their shares of it (`Situation.shares`)."""
    loads: Mapping[str, tuple[Segment, ...]] = field(default_factory=dict)
    """Streams whose own load is another, by name, in frames per second of that stream; none: it is silent."""
    burst: int | None = None
    """Frames of a burst; None: the profile's."""
    settle_ns: int | None = None
    """None: the plan's, as is the drain."""
    drain_ns: int | None = None
    events: tuple[Event, ...] = ()
    """What happens to the device meanwhile, in order of time."""
    observe: Observe = Observe()
    flows: int | None = None
    """Flows of each stream, from the first one on; None: the profile's."""
    stands: bool = False
    """Whether it counts whatever pauses its tester made, as one of hours does; its method tells of them."""

    @property
    def duration_ns(self) -> int:
        """Time with traffic, without resolving, settling and draining."""
        return max(sum(segment.duration_ns for segment in load) for load in self._loads)

    @property
    def constant(self) -> bool:
        """Whether each stream holds a load for a time, or several one after the other, and none rises."""
        return all(segment.from_fps == segment.to_fps for load in self._loads for segment in load)

    @property
    def _loads(self) -> tuple[tuple[Segment, ...], ...]:
        return (self.segments, *self.loads.values())


@dataclass(frozen=True)
class Latency:
    """One-way latency of one stream, first bit out to last bit in (FILO), ns."""

    count: int
    min_ns: int
    sum_ns: int
    max_ns: int
    over: int
    negative: int
    histogram: str
    """HDR histogram, ns, V2 deflate, base64."""


@dataclass(frozen=True)
class Lag:
    """How much later than intended the frames of one stream left, ns."""

    count: int
    min_ns: int
    sum_ns: int
    max_ns: int
    over: int
    histogram: str
    """As that of the latency."""
    late: int
    """Frames later than `limit_ns`: with any of them the latency is that of another load than intended."""
    limit_ns: int


@dataclass(frozen=True)
class Gap:
    """Frames of a stream, numbered from 0 in order of departure, that did not arrive intact.

    Frame k is number `k // flows` of flow `k % flows`. frames: how many of `first` to `last` are missing, all
    of them unless `Observe.bridge` was set. first_ns, last_ns: when these were due to depart, from the start
    of traffic.
    """

    first: int
    last: int
    frames: int
    first_ns: int
    last_ns: int


@dataclass(frozen=True)
class Gaps:
    """When frames of a stream were lost or corrupted: the first gaps and, at the end, the last.

    further: gaps between those and the last, and the frames missing in them.
    """

    gaps: tuple[Gap, ...]
    further: int
    further_frames: int

    @property
    def frames(self) -> int:
        """Missing in all gaps, kept or not."""
        return self.further_frames + sum(gap.frames for gap in self.gaps)


@dataclass(frozen=True)
class Silence:
    """A time in which no frame of a stream arrived: the arrivals before and after it, ns of the traffic."""

    from_ns: int
    until_ns: int


@dataclass(frozen=True)
class Reordering:
    """How far frames came out of order, in the sequence of their flow (RFC 4737).

    The ratio is `out_of_order / received`. placed: frames whose extent is known (section 4.2); unplaced: the
    others. extents: HDR histogram. n_reordered: for n = 1, 2, ... how many frames are n-reordered (section
    5.2).
    """

    placed: int
    extent_sum: int
    extent_max: int
    extents: str | None
    unplaced: int
    n_reordered: tuple[int, ...]


@dataclass(frozen=True)
class Variation:
    """Latency of a frame less that of the one its stream sent before it, where both arrived (RFC 5481), ns.

    above, below: HDR histograms of the differences that are not negative, and of the others without their
    sign; None without any. over: beyond their range.
    """

    pairs: int
    min_ns: int
    max_ns: int
    sum_ns: int
    over: int
    above: str | None
    below: str | None


@dataclass(frozen=True)
class StreamResult:
    """Counts of one stream; see crates/engine/src/result.rs for what each one counts."""

    name: str
    intended: int
    offered: int
    offered_bytes: int
    received: int
    received_bytes: int
    duplicates: int
    elsewhere: int
    out_of_order: int
    corrupted: int
    lost: int
    beyond_window: int
    flows_received: int
    latency: Latency | None
    tx: tuple[int, ...]
    rx: tuple[int, ...]
    arrived: tuple[int, ...]
    first_loss_ns: int | None
    lag: Lag | None = None
    """Actual less intended departure; None if nothing was sent, or in a record of an older version."""
    gaps: Gaps | None = None
    """None if that was not asked, as the next three."""
    silence: Silence | None = None
    """The longest; None also if fewer than two frames arrived, or what several workers kept does not tell."""
    order: Reordering | None = None
    variation: Variation | None = None
    """None also if no two neighbours arrived."""

    @property
    def missing(self) -> int:
        """Frames sent that did not come back intact: lost (signed) or corrupted. What loss is, everywhere."""
        return self.lost + self.corrupted

    @property
    def last_loss_ns(self) -> int | None:
        """When the last frame that did not arrive intact was due (RFC 2544 section 26.5, timestamp B).

        None if all did, or gaps were not asked for.
        """
        return self.gaps.gaps[-1].last_ns if self.gaps and self.gaps.gaps else None


@dataclass(frozen=True)
class PortResult:
    """Counts of one tester port."""

    name: str
    tx_frames: int
    tx_bytes: int
    rx_frames: int
    rx_bytes: int
    foreign: int
    tx: tuple[int, ...]
    tx_bytes_series: tuple[int, ...]
    rx: tuple[int, ...]
    rx_bytes_series: tuple[int, ...]
    stale: int = 0
    """Test frames of an earlier trial, which counted them as lost: a device still held them when it ended."""
    own_frames: int = 0
    """Of the frames sent, the tester's own: ARP, ND, echo replies, what bridges learn from."""


@dataclass(frozen=True)
class HopChange:
    """A next hop's MAC address became another one; ns from the start of traffic."""

    at_ns: int
    before: str
    after: str


@dataclass(frozen=True)
class HopSilence:
    """A next hop did not answer; ns from the start of traffic. until_ns: None, to the end."""

    from_ns: int
    until_ns: int | None


@dataclass(frozen=True)
class NextHop:
    """A next hop of a tester port during a trial; see crates/engine/src/result.rs."""

    port: str
    vlans: tuple[int, ...]
    address: str
    mac: str | None
    polls: int
    heard: int
    changes: tuple[HopChange, ...]
    further_changes: int
    silences: tuple[HopSilence, ...]


@dataclass(frozen=True)
class Conflict:
    """Another box claimed an address of the tester's."""

    port: str
    address: str
    mac: str


@dataclass(frozen=True)
class WorkerHealth:
    """How one thread of the tester did while there was traffic (real time)."""

    core: int | None
    """The core it was kept on, if it was."""
    core_share_ppm: int | None
    rounds: int
    longest_gap_ns: int
    frames: int
    """Sent and received."""
    busy_ns: int
    """Time of the rounds in which it moved frames: over `frames`, what one cost."""
    tx_frames: tuple[int, ...] = ()
    """Sent from its queue of each port since traffic began, in the order of the ports; empty: not noted."""
    rx_frames: tuple[int, ...] = ()
    """Received there: who spreads frames over queues is the card, the kernel or the peer."""

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> WorkerHealth:
        """From the engine's JSON, or a store's."""
        counts = {name: tuple(table.get(name, ())) for name in ("tx_frames", "rx_frames")}
        return cls(**{**table, **counts})


@dataclass(frozen=True)
class CatchUp:
    """How the tester made up for pauses (real time); see crates/engine/src/result.rs."""

    percent: int
    """The highest rate at which it may, per cent of the intended one."""
    pauses: int
    longest_ns: int
    """The longest a frame had been due when the tester came back to it."""
    frames: int
    """Sent faster than intended between a pause and being on time again: at another load."""
    longest_run: int
    """The most of them after one pause."""
    most_in_round: int
    """The most frames that one worker handed to one port in one round of its loop; the next may follow at
    once."""


@dataclass(frozen=True)
class Health:
    """How well the tester itself did."""

    unsent: int
    latest_departure_ns: int
    longest_gap_ns: int
    rx_dropped: int
    tx_full: int
    core_share_ppm: int | None
    split_flows: int = 0
    """Flows whose frames came to several workers: order and copies are not known from one to the other."""
    workers: tuple[WorkerHealth, ...] = ()
    threads: int = 0
    """Threads that never slept, workers and emulated devices; `cores` is what they had between them."""
    cores: int = 0
    tx_dropped: int = 0
    """Frames offered that the tester's kernel or driver dropped before the wire, as far as these say so."""
    rx_full: int = 0
    """Looks that found a port's ring full: what came before them and found no room, nobody counted."""
    rx_full_ns: int | None = None
    """The time before those looks, of all rings together; None in an older record."""
    tx_ahead: int = 0
    """The most frames that were still to leave the machine when a port was handed further ones."""
    tx_ahead_ns: int | None = None
    """What these take on their line at most: so much of a latency may be the tester's own queue."""
    unheard: int = 0
    """Frames that are no test frames and came so many at once that they were not listened to or answered."""
    rx_too_long: int = 0
    """Frames longer than any that was sent, which nobody looked into: test frames that are missing may be
    joined in them."""
    catch_up: CatchUp | None = None
    """None in virtual time, and in a record of an older version."""

    @property
    def made_up(self) -> int:
        """Frames that left at another load than the intended one, to make up for pauses."""
        return 0 if self.catch_up is None else self.catch_up.frames


@dataclass(frozen=True)
class Said:
    """A frame of a message of the tester's own, and when it left, ns from the start of traffic."""

    message: int
    number: int
    at_ns: int


@dataclass(frozen=True)
class Heard:
    """A UDP datagram that came to a tester port for the tester, and when, ns from the start of traffic."""

    port: int
    at_ns: int
    source: str
    source_port: int
    to_port: int
    payload: bytes


@dataclass(frozen=True)
class Post:
    """What the tester said of its own and heard. beyond: not kept; damaged: of a wrong checksum."""

    said: tuple[Said, ...] = ()
    heard: tuple[Heard, ...] = ()
    beyond: int = 0
    damaged: int = 0


@dataclass(frozen=True)
class Exchange:
    """What came of queries to the device in a trial (a modifier).

    wrong: answers that were none, or had numbers that cannot be; findings: some of them in words. longest_ns:
    from a query to its answer. taken: unicast frames the device says it took in from its first answer to its
    last, and offered: those it was sent, the queries among both; None: not known.
    """

    port: str
    sent: int
    answered: int
    wrong: int
    findings: tuple[str, ...] = ()
    longest_ns: int | None = None
    taken: int | None = None
    offered: int | None = None

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Exchange:
        """From a store's JSON; TypeError or KeyError if a field is too few or too many."""
        return cls(**{**table, "findings": tuple(table["findings"])})


@dataclass(frozen=True)
class InterfaceResult:
    """What the interface under a tester port counted while a trial ran, frames unless a name says otherwise.

    counters: the kernel's, that moved. driver: those the driver adds, under its own names. kinds: those of
    both that speak of something amiss, by what in words (`no room to receive`, `pause received`, `damaged on
    the line`). Several may tell of one frame. downs: how often the link went down. waited_ns: how long its
    line was waited for before the trial began.
    """

    port: str
    interface: str
    counters: Mapping[str, int] = field(default_factory=dict)
    driver: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    downs: int = 0
    waited_ns: int = 0

    @property
    def not_received(self) -> int:
        """Frames the line brought and the card or its driver dropped for want of room: at least so many."""
        return self.most("no room to receive")

    @property
    def not_sent(self) -> int:
        """Frames the card or its driver was given and did not put on the line: at least so many."""
        return self.most("not sent")

    @property
    def paused(self) -> int:
        """Pause frames that came: the device held the tester back, if the card obeys them."""
        return self.most("pause received")

    def most(self, kind: str) -> int:
        """The highest of the counters of a kind; 0 if none moved."""
        return max(self.kinds.get(kind, {}).values(), default=0)


@dataclass(frozen=True)
class Phase:
    """A phase as executed, ns from the start of the trial."""

    name: str
    start_ns: int
    duration_ns: int


@dataclass(frozen=True)
class TrialResult:
    """What one trial found: counts, never ratios."""

    streams: tuple[StreamResult, ...]
    ports: tuple[PortResult, ...]
    health: Health
    phases: tuple[Phase, ...]
    sample_ns: int
    resolved: tuple[tuple[str, str], ...]
    invalid: tuple[str, ...]
    devices: tuple[Mapping[str, Any], ...] = ()
    """Counters of emulated devices (crates/dut/src/spec.rs, DeviceCounters)."""
    interfaces: tuple[InterfaceResult, ...] = ()
    """What the interfaces under the ports counted; of those ports that have one."""
    next_hops: tuple[NextHop, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    happened: tuple[Happened, ...] = ()
    """What happened to the device, and when it really did."""
    started: datetime | None = None
    """By the clock on the wall, when its first phase began; None in virtual time."""
    beside: tuple[StreamResult, ...] = ()
    """Counts of what was sent in place of some of their frames (a modifier), by which nothing is judged."""
    exchange: Exchange | None = None
    """What came of queries to the device beside them (a modifier)."""
    post: Post | None = field(default=None, repr=False)
    """What the tester said of its own and heard: for `exchange` to be made of, and not stored."""

    def dated(self, started: datetime) -> TrialResult:
        """The same, begun then; unless it was in virtual time, which has no such clock."""
        return self if self.health.catch_up is None else replace(self, started=started)

    @property
    def began(self) -> bool:
        """Whether any of its phases came: False where a port had no peer for as long as it waits for one."""
        return any(phase.duration_ns for phase in self.phases)

    @property
    def dropped(self) -> int:
        """Frames the tester had no room for: its ports, and before them its cards."""
        return self.health.rx_dropped + sum(one.not_received for one in self.interfaces)

    @property
    def not_sent(self) -> int:
        """Frames offered that the tester's kernel, driver or card dropped; a frame may be in both counts."""
        return max(self.health.tx_dropped, sum(one.not_sent for one in self.interfaces))

    @property
    def lost(self) -> int:
        """Frames lost over all streams, signed."""
        return sum(stream.lost for stream in self.streams)


@dataclass(frozen=True)
class Place:
    """Where a stream runs: its ports, by number, what it is asked for of the load, and its class of traffic,
    if the profile has classes."""

    tx: int
    rx: int
    share: Fraction = Fraction(1)
    """Its share of its sending port's load, times `line`."""
    traffic: str = ""
    group: str = ""
    """Its port group, if the plan has groups."""
    line: Fraction = Fraction(1)
    """Its line (its group's slowest) over that of the slowest group: a load is the same part of each."""
    card: str = ""
    """What its sending port shares with others in the device, as far as the plan says."""


@dataclass(frozen=True)
class Situation:
    """What a method may know of its case.

    Loads are per port and direction: what a port sends, its streams together. Of port groups whose lines
    differ the load of the slowest; each port is asked for as large a part of its own line.
    """

    streams: tuple[str, ...]
    """Names of the sending streams: one for uni, two for bidir, n * (n - 1) of a full mesh of n ports."""
    line_fps: Fraction
    """The most frames per second one direction of a port can carry: the slowest link on the path."""
    mean_size: Fraction
    """Average frame size, bytes, FCS counted."""
    flow_ceiling_fps: Fraction | None = None
    """With one flow over a group: what one member carries. None: no such ceiling."""
    mixed_receivers: tuple[int, ...] = ()
    """Of a mix of sizes: each stream's receiving port, which receives that stream alone. Not stored.

    What comes back of a mix need not be the mix, so how full the line was takes the port's bytes.
    """
    burst: int = 1
    """Frames of a burst: a window of time may hold so many more or less than the rate says. Not stored."""
    places: tuple[Place, ...] = ()
    """Where each of `streams` runs; empty in a record of an older version: each has its ports to itself."""

    lines: tuple[Fraction, ...] = ()
    """The most frames per second that each port's link carries, by the port's number. Not stored; empty: a
    stream's ports have lines of one rate."""
    enforced: bool = True
    """Whether something holds the ports to these rates. Not stored."""
    waits_ns: tuple[int, int] | None = None
    """How long the plan waits before and behind the traffic of a trial, settle and drain. Not stored; None:
    as long as the trials did."""
    asked: bool = True
    """Whether the device does what a trial's events ask of it; of one that is simply there nobody knows how.
    Not stored."""
    by_hand: bool = True
    """Whether somebody can do something to the device while a trial runs; not in virtual time. Not stored."""

    tags: int = 0
    """VLAN tags of each frame. Not stored."""
    beside: Fraction = Fraction(0)
    """The part of each stream's place on the line that a modifier's frames take. Not stored."""

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        """Each stream's number. A full mesh of 64 ports has 4,032, and each is asked for again and again."""
        return {name: number for number, name in enumerate(self.streams)}

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Names of its port groups, if it has several."""
        found = tuple(dict.fromkeys(place.group for place in self.places))
        return found if len(found) > 1 else ()

    @property
    def scopes(self) -> tuple[str, ...]:
        """What values are of: each stream, each of several groups, and `sum`."""
        return (*self.streams, *self.groups, "sum")

    def members(self, scope: str) -> tuple[int, ...]:
        """The numbers of a scope's streams."""
        if scope == "sum":
            return tuple(range(len(self.streams)))
        if scope in self.groups:
            return tuple(number for number, place in enumerate(self.places) if place.group == scope)
        return (self._numbers[scope],)

    def share(self, scope: str) -> Fraction:
        """A scope's part of what a port is asked for: of a stream its share, of several their sum."""
        members = self.members(scope)
        if not self.places:
            return Fraction(len(members))
        return sum((self.places[member].share for member in members), Fraction(0))

    def line(self, scope: str) -> Fraction:
        """The most frames per second that can come of a scope.

        Of a stream what its port can send of it beside its others; of several what the receiving ports take.
        """
        share = self.share(scope)
        if scope not in self._numbers and self.places:
            taken = {self.places[member].rx: self.places[member].line for member in self.members(scope)}
            share = min(share, sum(taken.values(), Fraction(0)))
        return self.line_fps * share

    def in_fps(self, stream: str) -> Fraction:
        """The most frames per second that the link of a stream's sending port carries."""
        if not self.lines or not self.places:
            return self.port_fps(stream)
        return self.lines[self.places[self._numbers[stream]].tx]

    def out_fps(self, stream: str) -> Fraction:
        """The same of its receiving port."""
        if not self.lines or not self.places:
            return self.port_fps(stream)
        return self.lines[self.places[self._numbers[stream]].rx]

    @cached_property
    def _received(self) -> Mapping[int, tuple[int, Fraction]]:
        """Of each receiving port, how many streams come to it, and their shares together."""
        found: dict[int, tuple[int, Fraction]] = {}
        for place in self.places:
            count, share = found.get(place.rx, (0, Fraction(0)))
            found[place.rx] = (count + 1, share + place.share)
        return found

    def crowd(self, stream: str) -> tuple[int, Fraction]:
        """How many streams a stream's receiving port gets, and their load together in terms of its own."""
        if not self.places or stream not in self._numbers:
            return 1, Fraction(1)
        place = self.places[self._numbers[stream]]
        count, share = self._received[place.rx]
        return count, share / place.share

    def port_fps(self, stream: str) -> Fraction:
        """What a load of the whole line is to a stream's sending port: its group's slowest line."""
        return self.line_fps * (self.places[self._numbers[stream]].line if self.places else Fraction(1))


@dataclass(frozen=True)
class Value:
    """One number a method found.

    name: the field's term, `ramp max Rx`, `throughput`, `knee`. scope: a stream's name, or `sum`.
    number: exact, in `unit` (`fps`, `ns`). low, high: bounds, where the method gives any. searched: it is the
    highest load that passed, of all streams at once; `high` is then the lowest that the device did not pass.
    """

    name: str
    scope: str
    number: Fraction | None
    unit: str
    low: Fraction | None = None
    high: Fraction | None = None
    note: str = ""
    searched: bool = False
    contradicted: str = ""
    """Of a throughput: which later trials of the case lost frames at it or below, a clause; empty: none."""
    of_frames: int | None = field(default=None, compare=False)
    """Of a share of frames that were lost, of how many; None: it is no such share. Not stored."""

    @property
    def only_below(self) -> Fraction | None:
        """Of a search in which no load passed: the lowest that was tried, for all that is known is that it is
        below that."""
        return self.high if self.searched and self.number == 0 else None

    @property
    def is_count_at_least(self) -> bool:
        """Whether it is a lower bound that is no rate: nothing beside it says so, as a rate's limit does."""
        return self.unit != "fps" and self.low is not None and self.low == self.number and self.high is None

    def is_ended_by_others(self, together: Value | None) -> bool:
        """Whether others ended the search of all: a lower bound, where what all have together is none."""
        return self.searched and self.high is None and together is not None and together.high is not None


Cell: TypeAlias = Fraction | str | None
"""Of a table: an exact number in its column's unit, a text, or nothing, which was not measured."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    unit: `fps`; `ns`, a time; `at`, an instant, ns from the start of the traffic; `B`, a frame size;
    `frames`; `bps`, of the layer its name says; `share` (of 1; shown per cent); or empty: text or a plain
    number. at_throughput: whether its numbers are the throughput of the case, a load that is it, or follow
    from it: what contradicts that is marked at them.
    """

    name: str
    unit: str = ""
    at_throughput: bool = False


@dataclass(frozen=True)
class Figure:
    """How a table is drawn: one line for each column of `ys`, over the column `x`.

    reference: those of the lines that were not measured (a line rate, what was asked for). x_range, y_range:
    the ends of the axes where the standard forces them (RFC 2544 section 26.3: 0 to 100 %), in the columns'
    units. log_x: for percentiles, 1/(1-p) grows tenfold from tick to tick. by: a column that tells lines
    apart, one for each of its values.
    """

    x: str
    ys: tuple[str, ...]
    reference: tuple[str, ...] = ()
    x_range: tuple[Fraction, Fraction] | None = None
    y_range: tuple[Fraction, Fraction] | None = None
    log_x: bool = False
    by: str | None = None


NOT_RUN = "not run"
"""How the last cell of a row begins that is of nothing measured, the same for all cases."""


@dataclass(frozen=True)
class Table:
    """A table of a result, as its standard asks for it.

    name: what it shows, `Frame loss rate`. caption: one sentence with the standard and what must be known to
    read it. Tables of one name and the same columns, of several cases, are shown as one, with a column for
    each axis in which the cases differ; figures likewise, with a line for each case. An axis that follows
    from a column (the profile, where a column has the frame size) is left to it.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    figure: Figure | None = None

    def __post_init__(self) -> None:
        """Raises ValueError if rows or figure do not fit the columns: of a method's bug, or of a stranger."""
        units = {column.name: column.unit for column in self.columns}
        if len(units) != len(self.columns):
            raise ValueError(f"the table `{self.name}` has two columns of one name")
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"the table `{self.name}` has a row of other than {len(self.columns)} cells")
        if self.figure is not None:
            self._check_figure(self.figure, units)

    def _check_figure(self, figure: Figure, units: Mapping[str, str]) -> None:
        what = f"the figure of the table `{self.name}`"
        named = (figure.x, *figure.ys, *(() if figure.by is None else (figure.by,)))
        for name in named:
            if name not in units:
                raise ValueError(f"{what} has no column `{name}`")
        if len({units[name] for name in figure.ys}) != 1:
            raise ValueError(f"{what} draws no column, or columns of several units")
        if not set(figure.reference) <= set(figure.ys):
            raise ValueError(f"{what} has a reference line that it does not draw")
        if figure.log_x and units[figure.x] != "share":
            raise ValueError(f"{what} has percentiles that are no shares")
        if any(ends is not None and not ends[0] < ends[1] for ends in (figure.x_range, figure.y_range)):
            raise ValueError(f"{what} has an axis that ends before it begins")


@dataclass(frozen=True)
class Result:
    """What a method found, with the numbers (from 0) of the trials in this case it rests on."""

    method: str
    values: tuple[Value, ...]
    trials: tuple[int, ...]
    compliance: tuple[str, ...] = ()
    """Deviations from what the standard requires (MUST, or the procedure itself), each one a sentence."""
    notes: tuple[str, ...] = field(default=())
    tables: tuple[Table, ...] = ()
    recommended: tuple[str, ...] = ()
    """What it recommends (SHOULD) and was not done, each one a sentence."""
    standard: str = ""
    """Which one, `RFC 2544 section 26.1`; the method's own unless it says another. Empty: there is none."""
    headlines: Mapping[str, str] = field(default_factory=lambda: dict(HEADLINES))
    """Names of the values that stand for the case, judged and shown, each with what it is, a clause. Of
    several that a case has the first one stands in tables of all cases."""
    rests: Mapping[str, tuple[int, ...]] = field(default_factory=dict, compare=False)
    """Of headlines that rest on other trials than `trials`, those. Not stored: only verdicts ask."""

    def resting(self, headline: str) -> tuple[int, ...]:
        """The numbers of the trials that a headline rests on."""
        return self.rests.get(headline, self.trials)

    @property
    def judged(self) -> tuple[str, ...]:
        """Names of the headlines that the case has, each of which gets a verdict; the first one first."""
        names = {value.name for value in self.values}
        return tuple(name for name in self.headlines if name in names)

    def value(self, name: str, scope: str) -> Value | None:
        """The value of that name and scope, if there is one."""
        return self._by_name.get((name, scope))

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str], Value]:
        """Of several values of one name and scope the first one."""
        return {(one.name, one.scope): one for one in reversed(self.values)}

    @property
    def conformity(self) -> Conformity | None:
        """How it agrees with its standard; None: there is none."""
        if not self.standard:
            return None
        return "deviating" if self.compliance else "conditional" if self.recommended else "unconditional"

    def headline(self, scopes: Sequence[str]) -> Value | None:
        """The value that stands for the first of these scopes that has one; its number may be missing."""
        for name in self.headlines:
            for scope in scopes:
                value = self.value(name, scope)
                if value is not None:
                    return value
        return None


@dataclass(frozen=True)
class Verdict:
    """Who was the limit, and what says so."""

    limit: Limit
    reason: str


Method: TypeAlias = Generator[Trial, TrialResult, Result]
