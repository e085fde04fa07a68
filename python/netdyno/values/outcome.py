"""What one trial found: counts per stream and port, never ratios."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest
from typing import Any, ClassVar, Literal, TypeAlias

from netdyno.values.health import Health, HostHealth
from netdyno.values.load import CONNECTIONS, FRAMES, OF_SPEAKERS, Happened, LoadClass
from netdyno.values.rates import FCS
from netdyno.values.reason import Reason
from netdyno.values.series import MOST_SERIES, Series

LONGEST = 9216
"""The longest frame that a tester may send, bytes, FCS counted."""


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
class Interval:
    """Latency of what arrived of one stream in an interval, ns; 0 of nothing."""

    count: int
    p50_ns: int
    p99_ns: int
    max_ns: int


@dataclass(frozen=True)
class LatePeriod:
    """A time in which a worker sent frames of a stream late, until one was on time; ns from start of traffic.

    from_ns: when the first of them was due. until_ns: when the last one left. longest_ns: the most one was
    late. sum_ns: by how much frames were sent later than the one before them, in sum, and times: how often;
    of a single pause longest_ns, and once. frames: sent late. For want of memory neighbours may be joined.
    """

    from_ns: int
    until_ns: int
    longest_ns: int
    sum_ns: int
    times: int
    frames: int


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
    periods: tuple[LatePeriod, ...] = ()
    """When those left, in order of time; of several workers beside each other."""
    by_sample: tuple[tuple[int, int, int], ...] = ()
    """By sample of departure as `StreamResult.tx`: the most that a frame was late, ns; the most that one left
    closer to those before it than they were due, ns; the most frames that one worker sent at once. Empty if
    none was late."""


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
class FlowCounts:
    """What became of the frames of each flow of a stream, in the order of its flows.

    sent: frames sent. received: of those, distinct ones that arrived intact at the intended port. elsewhere:
    frames that arrived at another port, copies with them. last_ns: when the last frame that arrived at any
    port departed, ns from the start of traffic; -1: none arrived. port: the number of the tester port at
    which that one arrived; -1: none arrived. moved: frames that arrived at another port than the one of their
    flow that departed last before. Both empty: unknown, of older records.
    """

    sent: tuple[int, ...]
    received: tuple[int, ...]
    elsewhere: tuple[int, ...]
    last_ns: tuple[int, ...]
    port: tuple[int, ...] = ()
    moved: tuple[int, ...] = ()


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
    """Actual less intended departure; None if nothing was sent."""
    gaps: Gaps | None = None
    """None if that was not asked, as the next three."""
    silence: Silence | None = None
    """The longest; None also if fewer than two frames arrived, or what several workers kept does not tell."""
    order: Reordering | None = None
    variation: Variation | None = None
    """None also if no two neighbours arrived."""
    refused: int = 0
    """Frames unsent because the memif peer's ring was full: all that were unsent, or none."""
    spacing: Latency | None = None
    """Times between its arrivals; None if that was not asked, or several workers received it."""
    is_bare: bool = False
    """Whether its frames have no probe: they were counted by their headers, copies with them, and latency,
    order, flows and departures of what arrived are not known."""
    altered: int = 0
    """Of a stream without a probe, frames that came to its port with its lengths and protocol and look
    otherwise: the device may have changed them."""
    translated: int | None = None
    """How many of its flows came through with other addresses or ports than they were sent with; None where
    no stream answers it."""
    retranslated: int = 0
    """How often a frame came with other addresses or ports than the one of its flow before."""
    intervals: tuple[Interval, ...] = ()
    """Its latency by interval of arrival (`Observe.interval_ns`); empty if that was not asked, or several
    workers received it. Those without an arrival behind the last one may be missing."""
    by_flow: FlowCounts | None = None
    """None if that was not asked, or its frames have no probe."""

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
class BackPressure:
    """How a memif peer's full ring kept a port from sending; see crates/io/src/pressure.rs.

    ring: frames it has room for. full_ns: how long it was full, at least. stops: how often its reader's index
    stood still for 100 us or longer meanwhile, and stopped_ns how long together, at most. busy_ns: how long
    it was seen to read a ring that had been full and never empty since; taken: how many slots it read then.
    """

    ring: int
    full_ns: int
    stops: int
    stopped_ns: int
    busy_ns: int = 0
    taken: int = 0


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
    rx_full_spans: tuple[tuple[int, int], ...] = ()
    """When a ring that it receives into may have been full: from and until, ns of the traffic."""
    back_pressure: BackPressure | None = None
    """None where the port has no ring that another process empties."""
    others: int = 0
    """Of `foreign`, the load of others: no control of a network (ARP, LLDP, routing) and no ICMP error, which
    test frames may have caused."""
    others_bytes: int = 0
    """Its bytes, FCS counted."""

    @property
    def test_frames(self) -> int:
        """Test frames of the trial that arrived here, whichever port they were for."""
        return self.rx_frames - self.foreign - self.stale


@dataclass(frozen=True)
class HopChange:
    """A next hop's MAC address changed; ns from the start of traffic."""

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


CarrierCause: TypeAlias = Literal["link", "device"]
"""Who took the carrier away. device: the device or the lab says that the device did."""


@dataclass(frozen=True)
class CarrierLoss:
    """A time in which a tester port had no carrier; ns from the start of traffic, negative before it.

    until_ns: None if there was still none at the end of the trial. times: how often it was lost meanwhile;
    the kernel may report several losses at once.
    """

    port: str
    from_ns: int
    until_ns: int | None
    cause: CarrierCause = "link"
    times: int = 1


@dataclass(frozen=True)
class Conflict:
    """Another host claimed an address of the tester's."""

    port: str
    address: str
    mac: str


@dataclass(frozen=True)
class Said:
    """A frame of a message of the tester's own, and its departure, ns from the start of traffic."""

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
    """Messages the tester sent, datagrams it received. beyond: not kept; damaged: with a wrong checksum."""

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


QUANTA, QUANTUM_BITS = 65_535, 512
"""The longest pause that a frame can ask for, in quanta of so many bit times (IEEE 802.3, annex 31B)."""

_XON = re.compile(r"xon(?!.*xoff)", re.IGNORECASE)
_PRIORITY = re.compile(r"prio|pfc|_p[0-7]_", re.IGNORECASE)
_PAUSED_US = re.compile(r"^rx_\w+_pause_duration$")


@dataclass(frozen=True)
class InterfaceResult:
    """What the interface under a tester port counted while a trial ran, frames unless a name says otherwise.

    counters: the kernel's, that moved. driver: those the driver adds, under its own names. kinds: those of
    both that speak of something amiss, by what in words (`no room to receive`, `pause received`, `damaged on
    the line`). Several may tell of one frame. downs: how often the link went down. waited_ns: how long its
    line was waited for before the trial began. mtu: 0: unknown.
    """

    port: str
    interface: str
    counters: Mapping[str, int] = field(default_factory=dict)
    driver: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    downs: int = 0
    waited_ns: int = 0
    mtu: int = 0

    @property
    def not_received(self) -> int:
        """Frames the line brought and the card or its driver dropped for want of room: at least so many."""
        return self.most("no room to receive")

    @property
    def not_sent(self) -> int:
        """Frames the card or its driver was given and did not put on the line: at least so many."""
        return self.most("not sent")

    @property
    def pauses_sent(self) -> int:
        """Pause frames that the card sent: a device that obeys them sends nothing meanwhile."""
        return self.most("pause sent")

    @property
    def damaged(self) -> int:
        """Frames that the line spoiled, and that the card did not hand on: at least so many."""
        return self.most("damaged on the line")

    @property
    def not_taken_in(self) -> int:
        """Frames that came to a veth and that this machine had no room for."""
        return self.most("not taken in")

    @property
    def refused(self) -> int:
        """Attempts to send that the far end of a veth had no room for; a frame may be sent again."""
        return self.most("refused by the far end")

    @property
    def paused(self) -> int:
        """Pause frames that came: the device held the tester back, if the card obeys them. Not those that end
        a pause (XON)."""
        received = self.kinds.get("pause received", {})
        return max((count for name, count in received.items() if not _XON.search(name)), default=0)

    @property
    def is_paused_by_class(self) -> bool:
        """Whether pauses of classes (PFC) are among them: frames of others were not held back by those."""
        received = self.kinds.get("pause received", {})
        return any(count and _PRIORITY.search(name) for name, count in received.items())

    def longest_paused_ns(self, line_bps: Fraction) -> Fraction:
        """How long these kept the card from sending at most.

        Cards count the frames and not their quanta: each may ask for 65,535 of 512 bit times. mlx5 counts how
        long it was paused as well, us.
        """
        counted = [us for name, us in self.driver.items() if _PAUSED_US.search(name)]
        at_most_ns = Fraction(self.paused * QUANTA * QUANTUM_BITS * 10**9) / line_bps
        return min(at_most_ns, Fraction(max(counted) * 1000)) if counted else at_most_ns

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
class FrameCounts:
    """What a trial of frames counted: counts, never ratios."""

    load_class: ClassVar[LoadClass] = FRAMES

    streams: tuple[StreamResult, ...]
    ports: tuple[PortResult, ...]
    sample_ns: int
    """Length of a sample of every series of counts."""
    beside: tuple[StreamResult, ...] = ()
    """Counts of what was sent in place of some of their frames (a modifier), by which nothing is judged."""


SENDERS_KERNEL = "the sender's kernel"
"""Source of the series of connections."""


@dataclass(frozen=True)
class Connection:
    """A TCP connection as its sender's kernel had it when it was last looked at (`tcp_info`, linux/tcp.h).

    busy_ns: time with data under way or to send; of that window_ns for want of the receiver's window, and
    buffer_ns for want of room in the send buffer. rtt_ns: smoothed.
    """

    port: int
    """Its own port, at the sender."""
    to: int
    """The port of the other end."""
    mss_bytes: int
    path_mtu_bytes: int
    cwnd_segments: int
    rtt_ns: int
    min_rtt_ns: int
    window_bytes: int
    """The receive window that the other end last advertised."""
    sent_segments: int
    retransmitted_segments: int
    sent_bytes: int
    retransmitted_bytes: int
    delivery_bps: int
    busy_ns: int
    window_ns: int
    buffer_ns: int


@dataclass(frozen=True)
class ProgramTime:
    """What the kernel gave a program of a tester, of the thread that wanted most of it
    (/proc/PID/task/TID/schedstat): how long it ran, and how long it was ready and waited for a core."""

    elapsed_ns: int
    ran_ns: int
    waited_ns: int
    host: str = ""
    """The generator host that it ran on; empty: the one that ran the load test, or there is one."""

    @property
    def wanted(self) -> Fraction:
        """The share of the time in which it wanted a core, whether it had one or not."""
        return Fraction(self.ran_ns + self.waited_ns, max(self.elapsed_ns, 1))

    @property
    def waited(self) -> Fraction:
        """The share of the time in which it wanted a core and had none."""
        return Fraction(self.waited_ns, max(self.elapsed_ns, 1))


@dataclass(frozen=True)
class Carried:
    """What the connections of one stream carried: bytes of payload, without any header.

    connections: open at once, as many as were asked for. sent_bytes: what the sender handed to its kernel,
    over sent_ns. received_bytes: what reached the program at the other end, over received_ns.
    """

    name: str
    connections: int
    sent_bytes: int
    sent_ns: int
    received_bytes: int
    received_ns: int
    retransmitted_segments: int | None
    """Segments that its sender sent again; None: its kernel does not count them."""
    mss_bytes: int | None
    """Bytes of payload of a full segment, as the kernel had it when the first connection was open."""
    mean_rtt_ns: int | None
    """Mean of the connections' round-trip times, each the mean of its samples."""
    congestion: str
    """The congestion control of its senders, as their kernel reported it; empty: not reported."""
    samples: tuple[tuple[int, int], ...] = ()
    """Payload sent in each sample, and how long that took, ns: a program's samples are not exactly even."""
    each: tuple[Connection, ...] = ()
    """Its connections; empty: their sender's kernel was not asked."""
    sender: ProgramTime | None = None
    """Of its programs that send, the one that wanted most of a core; None: not known, as of another host."""
    receiver: ProgramTime | None = None


@dataclass(frozen=True)
class ConnectionCounts:
    """What a trial of connections counted: counts, never ratios."""

    load_class: ClassVar[LoadClass] = CONNECTIONS

    streams: tuple[Carried, ...]
    sample_ns: int


@dataclass(frozen=True)
class Samples:
    """Frames per sample, from the start of traffic: sent, received, and received of those sent in it."""

    tx: Sequence[int]
    rx: Sequence[int]
    arrived: Sequence[int]


@dataclass(frozen=True)
class KernelWaits:
    """Waits of the kernel's threads for frames that ended between two readings, ns from the begin of traffic.

    waited_ns: all together; the first may have begun as long before `from_ns`.
    """

    from_ns: int
    until_ns: int
    waited_ns: int


@dataclass(frozen=True)
class AdjacencyLost:
    """An adjacency that went down.

    subject: of its series. at_ns: when, from the begin of traffic. why: who heard no hello, and where hellos
    were lost.
    """

    subject: str
    at_ns: int
    why: Reason


@dataclass(frozen=True)
class Outcome:
    """What one trial found: counts of the tester, its health, and counts of interfaces and devices."""

    counts: FrameCounts | ConnectionCounts
    health: Health
    phases: tuple[Phase, ...]
    resolved: tuple[tuple[str, str], ...] = ()
    invalid: tuple[Reason, ...] = ()
    """Why the trial does not count; empty: it does."""
    devices: tuple[Mapping[str, Any], ...] = ()
    """Counters of emulated devices (crates/dut/src/spec.rs, DeviceCounters)."""
    interfaces: tuple[InterfaceResult, ...] = ()
    """What the interfaces under the ports counted; of those ports that have one."""
    next_hops: tuple[NextHop, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    happened: tuple[Happened, ...] = ()
    """What happened to the device, and when it really did."""
    started: datetime | None = None
    """When its first phase began, UTC; None in virtual time."""
    exchange: Exchange | None = None
    """What came of queries to the device beside them (a modifier)."""
    series: tuple[Series, ...] = ()
    """What instruments read meanwhile, of the device as a rule."""
    adjacencies_lost: tuple[AdjacencyLost, ...] = ()
    """Why adjacencies went down, in order of time, where that is known: of an emulated router."""
    carrier_losses: tuple[CarrierLoss, ...] = ()
    """In order of time, of trials that count them (`Trial.counts_carrier_losses`)."""
    hosts: tuple[HostHealth, ...] = ()
    """Each host, of a trial whose ports are on several; `health` is of all together."""
    softirq_waited_ns: int = 0
    """How long the kernel's threads for frames (`ksoftirqd`) waited for their cores, all together, as far as
    it says so. What they left lying came late, and in bunches."""
    softirq_waits: tuple[KernelWaits, ...] = ()
    """These waits, as far as they are dated."""
    is_health_unknown: bool = False
    """Whether another tool measured, which does not say how it did: no number of `health` means anything."""
    post: Post | None = field(default=None, repr=False, metadata={"unstored": True})
    """What the tester said of its own and heard: for `exchange` to be made of."""
    readings: tuple[tuple[int, tuple[Mapping[str, Any], ...]], ...] = field(
        default=(), repr=False, metadata={"unstored": True}
    )
    """Counters of emulated devices at times of the trial, ns from the begin of traffic: what instruments
    would have read then."""
    readings_left_out: int = field(default=0, repr=False, metadata={"unstored": True})
    """Readings of those that the engine had no room for, before the last one."""
    transcript: bytes = field(default=b"", repr=False, metadata={"unstored": True})
    """What devices printed meanwhile (`values/transcript.py`), stored beside the trial; empty: nothing."""

    def __post_init__(self) -> None:
        if len(self.series) > MOST_SERIES:
            raise ValueError(f"{len(self.series)} series, more than {MOST_SERIES}")

    def sender_of(self, stream: str) -> HostHealth | None:
        """The generator host that sends a stream; None: there is one host."""
        return next((one for one in self.hosts if stream in one.streams), None)

    @property
    def paused_host(self) -> str:
        """The generator host that had the longest pause; empty: this one, or there is one host."""
        return max(self.hosts, key=lambda one: one.longest_gap_ns or 0).name if self.hosts else ""

    def dated(self, started: datetime) -> Outcome:
        """The same, begun then; unless it was in virtual time, which has no such clock."""
        return self if self.health.catch_up is None else replace(self, started=started)

    def with_stale(self, more: Sequence[int]) -> Outcome:
        """The same, with so many more frames of earlier trials that came to each port."""
        if not any(more):
            return self
        each = zip(self.ports, more, strict=False)
        ports = tuple(replace(port, stale=port.stale + stale) for port, stale in each)
        return self.with_counts(ports=(*ports, *self.ports[len(ports) :]))

    def with_counts(self, **changes: Any) -> Outcome:
        """The same with other counts of frames: fields of `FrameCounts`."""
        return replace(self, counts=replace(self.frames, **changes))

    @property
    def has_missing_routes(self) -> bool:
        """Whether the device was to have no way for some frames at times: routes withdrawn, a link down. What
        it lost then no counter need have."""
        return any(one.event.kind in (*OF_SPEAKERS, "link-down") for one in self.happened)

    @property
    def frames(self) -> FrameCounts:
        """The counts of a trial of frames. TypeError if the trial was of another class."""
        if not isinstance(self.counts, FrameCounts):
            raise TypeError(f"the counts are of {self.counts.load_class.name}, not of frames")
        return self.counts

    @property
    def streams(self) -> tuple[StreamResult, ...]:
        """Frames counted of each stream; none of a trial of another class, as the next two."""
        return self.counts.streams if isinstance(self.counts, FrameCounts) else ()

    @property
    def beside(self) -> tuple[StreamResult, ...]:
        """Counts of what a modifier sent in place of some frames."""
        return self.counts.beside if isinstance(self.counts, FrameCounts) else ()

    @property
    def ports(self) -> tuple[PortResult, ...]:
        """Counts of each tester port."""
        return self.counts.ports if isinstance(self.counts, FrameCounts) else ()

    @property
    def carried(self) -> tuple[Carried, ...]:
        """What connections carried of each stream; nothing in a trial of another class."""
        return self.counts.streams if isinstance(self.counts, ConnectionCounts) else ()

    @cached_property
    def samples(self) -> Samples:
        """The series over all streams together."""
        longest = max((len(stream.tx) for stream in self.streams), default=0)

        def total(name: str) -> Sequence[int]:
            rows: list[tuple[int, ...]] = [getattr(stream, name) for stream in self.streams]
            # Those of a lone stream are no copy: a run has thousands of them.
            found: Sequence[int] = rows[0] if len(rows) == 1 else [*map(sum, zip_longest(*rows, fillvalue=0))]
            return found[:longest]

        return Samples(total("tx"), total("rx"), total("arrived"))

    @property
    def sample_ns(self) -> int:
        """Length of a sample of the series, ns."""
        return self.counts.sample_ns

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
    def damaged(self) -> int:
        """Frames that came to the tester's cards damaged."""
        return sum(one.damaged for one in self.interfaces)

    @property
    def unseen(self) -> int:
        """Frames that came to interfaces and that never reached the ports above them, beyond those dropped.

        Some came before or after the trial, when the port did not listen.
        """
        ports = {port.name: port for port in self.ports}
        here = [one for one in self.interfaces if one.port in ports]
        more = sum(max(one.counters.get("rx_packets", 0) - ports[one.port].rx_frames, 0) for one in here)
        more += max(sum(one.not_taken_in for one in here) - self._left_by_device, 0)
        return max(more - self.dropped - self.health.rx_too_long, 0)

    @property
    def others(self) -> tuple[int, int]:
        """Frames of other programs and hosts beside the test, and their bytes, FCS counted: what the
        interfaces sent beyond what their ports did, and what came to the ports."""
        ports = {port.name: port for port in self.ports}
        frames, size = sum(port.others for port in self.ports), sum(port.others_bytes for port in self.ports)
        for one in self.interfaces:
            if (port := ports.get(one.port)) is None:
                continue
            more = one.counters.get("tx_packets", 0) - port.tx_frames
            if more > 0:
                frames += more
                more_bytes = one.counters.get("tx_bytes", 0) - port.tx_bytes
                # Most drivers count no FCS; of one that does, those of the test's frames are in it.
                without = more_bytes + FCS * (port.tx_frames + more)
                more_bytes = without if without <= more * LONGEST else more_bytes
                size += min(max(more_bytes, 0), more * LONGEST)
        return frames, size

    @property
    def uncounted(self) -> int:
        """Frames that the tester's interfaces were given and counted neither as sent nor as refused by the
        far end of a veth, which is the device.

        This machine's firewall or queues may have dropped them. An interface that counts less than half of
        its port's frames counts others.
        """
        ports = {port.name: port.tx_frames for port in self.ports}
        pairs = [
            (ports[one.port], one.counters["tx_packets"] + one.refused)
            for one in self.interfaces
            if one.port in ports and "tx_packets" in one.counters
        ]
        return sum(given - sent for given, sent in pairs if given > sent >= given // 2)

    @property
    def _left_by_device(self) -> int:
        """Frames for which a device that netdyno built had no room on a core of its own when it sent them to
        the other end of a veth: the queue of a core is that of who sends."""
        apart = [device for device in self.devices if device.get("has_own_core")]
        return sum(port.get("tx_dropped", 0) for device in apart for port in device.get("ports", ()))

    @property
    def lost(self) -> int:
        """Frames lost over all streams, signed."""
        return sum(stream.lost for stream in self.streams)
