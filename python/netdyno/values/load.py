"""The load a method asks for: segments, trials, and what else happens while traffic runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from netdyno.values.offer import Offer
from netdyno.values.units import Rate

LEAST_DRAIN_NS = 200_000_000
"""A rehearsal waits this long for what is on its way, unless the plan asks for less: 1024 frames at 10 kpps
take half of it."""


@dataclass(frozen=True)
class LoadClass:
    """A class of loads, by which tables choose: what goes around a method (`methods/wrap`), how a case is
    judged (`campaign/judging`), what a report says of calibration (`reports/model/headline`).

    needs: what a tester must offer to any method of this class.
    """

    name: str
    needs: frozenset[Offer]


FRAMES = LoadClass("frames", frozenset((Offer.FRAMES, Offer.FLOW_LOSS)))
MOST_CONNECTIONS = 128
"""Of a stream: those of an iperf3."""
CONNECTIONS = LoadClass("connections", frozenset((Offer.CONNECTIONS,)))

STEADY = "traffic"
"""The name of a segment in which one load lasts and the device is left in peace."""


@dataclass(frozen=True)
class Segment:
    """A stretch of time in which the load of every sending stream is constant or changes linearly.

    from_rate, to_rate: of each sending stream (each direction), as asked; `Situation.fps` converts. Of a mix
    frames are of average size: the engine holds the L1 load, not the frame gap.
    """

    name: str
    duration_ns: int
    from_rate: Rate = field(metadata={"was": "from_fps"})
    to_rate: Rate = field(metadata={"was": "to_fps"})

    @property
    def is_constant(self) -> bool:
        """Whether the load stays the same."""
        return self.from_rate == self.to_rate


EventKind: TypeAlias = Literal[
    "reset",
    "link-down",
    "link-up",
    "forget",
    "mute",
    "unmute",
    "withdraw",
    "announce",
    "lacp-silent",
    "lacp-speaks",
]
"""What can be asked of a device while traffic runs: a reset (of all of it), a link down or up, and to forget
the addresses and neighbours it has learned. Of an emulated one also that nothing leaves by a port. Of the
tester's speaker at a port: to withdraw routes, and to announce them again. Of its LACP at a member of a LAG:
to fall silent, and to speak again."""
OF_SPEAKERS: frozenset[EventKind] = frozenset(("withdraw", "announce"))
"""Events that the tester's speakers carry out, with any device."""
OF_LACP: frozenset[EventKind] = frozenset(("lacp-silent", "lacp-speaks"))
"""Those that its LACP carries out."""
OF_LINKS: frozenset[EventKind] = frozenset(("link-down", "link-up"))
"""Those of a link, which the device carries out, or the tester itself at a member of its LAG."""


@dataclass(frozen=True)
class Event:
    """Something asked of the device while traffic runs. The device does it, or a speaker (`OF_SPEAKERS`).

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


@dataclass(frozen=True)
class Observe:
    """What a trial observes of each stream beyond counts and latency; see crates/engine/src/spec.rs.

    timed_from_ns: only frames that departed so long after traffic began are timed. gaps: date so many gaps,
    the first ones and the last, and the longest silence (0: none). bridge: missing frames with no more than
    so many others between them are in one gap. order: how far frames came out of order (RFC 4737).
    variation: how latency varies from frame to frame (RFC 5481). interval_ns: length of the intervals, each a
    whole number of samples, that are reported one by one (0: none). by_flow: what became of each flow,
    of 2^20 flows at most, all streams together.
    """

    timed_from_ns: int = 0
    gaps: int = 0
    bridge: int = 0
    order: bool = False
    variation: bool = False
    interval_ns: int = 0
    by_flow: bool = False


@dataclass(frozen=True)
class Frames:
    """A load of frames: what each sending port sends over time, and what differs of single streams."""

    load_class: ClassVar[LoadClass] = FRAMES

    segments: tuple[Segment, ...]
    """The load of every sending port; its streams have their shares of it (`Situation.shares`)."""
    loads: Mapping[str, tuple[Segment, ...]] = field(default_factory=dict)
    """Streams whose own load is another, by name, at rates of that stream; none: it is silent."""
    burst: int | None = None
    """Frames of a burst; None: the profile's."""
    flows: int | None = None
    """Flows of each stream, from the first one on; None: the profile's."""
    picked: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Streams whose flows are others than the first ones, by name: which those are, by their numbers."""

    @classmethod
    def steady(cls, rate: Rate, duration_ns: int, name: str = STEADY) -> Frames:
        """One rate for a time. name: of its segment, of a load that does not last."""
        return cls((Segment(name, duration_ns, rate, rate),))

    @property
    def duration_ns(self) -> int:
        """Time with traffic, ns."""
        return max(sum(segment.duration_ns for segment in load) for load in self._loads)

    @property
    def constant(self) -> bool:
        """Whether each stream holds a load for a time, or several one after the other, and none rises."""
        return all(segment.is_constant for load in self._loads for segment in load)

    @property
    def _loads(self) -> tuple[tuple[Segment, ...], ...]:
        return (self.segments, *self.loads.values())


@dataclass(frozen=True)
class Connections:
    """A load of TCP connections: each stream sends on all of its connections for the whole time, as fast as
    congestion control lets it.

    counted_ns: how long it is counted. congestion: the algorithm of the senders, by the kernel's name:
    `cubic`. streams: connections of each stream; None: as many as its profile has flows. window_bytes: of the
    socket buffers at both ends. mss_bytes: payload of a segment, at most. Of both None: the kernel's choice.
    omit_ns: time before what is counted, in which it sends as well.
    """

    load_class: ClassVar[LoadClass] = CONNECTIONS

    counted_ns: int
    congestion: str
    streams: int | None = None
    window_bytes: int | None = None
    mss_bytes: int | None = None
    omit_ns: int = 0
    segments_under_way: int | None = None
    """The most of a connection at once, in place of its sender's own choice."""
    receive_bytes: int | None = None
    """The most memory that its receiver has; None, as of its sender: as the kernel has it."""
    send_bytes: int | None = None
    segments: ClassVar[tuple[Segment, ...]] = ()
    """It asks for no rate."""
    constant: ClassVar[bool] = True

    @property
    def duration_ns(self) -> int:
        """Time with traffic, ns."""
        return self.omit_ns + self.counted_ns


SERVICE_SETTING, NO_SERVICE = "service", "none"
"""The setting that says what a device does to each packet beside forwarding it, and its value without any."""

OFFLOADS_SETTING, OFFLOADS_ON = "offloads", "on"
"""Of a device that netdyno builds: whether segments of TCP cross its cables joined, as by cards."""
CORE_SETTING, TESTERS_CORE = "core", "tester"
"""The core that a device in software forwards on, and its value where that is the one that sends."""


@dataclass(frozen=True)
class Trial:
    """What a method asks for: the load over time, and what else differs from the case and its plan."""

    name: str
    load: Frames | Connections
    settle_ns: int | None = None
    """None: the plan's, as is the drain."""
    drain_ns: int | None = None
    events: tuple[Event, ...] = ()
    """What happens to the device meanwhile, in order of time."""
    observe: Observe = Observe()
    stands: bool = False
    """Whether the trial counts despite pauses of the tester (a soak); its method reports them."""
    counts_carrier_losses: bool = False
    """Whether a carrier loss is an event of the trial, dated in its outcome. Else the trial is invalid."""
    begin_ns: int = 0
    """Load of the method before this trial, ns, where the trial is a part of a longer load (a soak's)."""
    sample_ns: int | None = None
    """Length of a sample; None: the plan's. Of a part of a longer load a plan may say another."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Those of the device that are other than the case's in this trial, of `Situation.switched`."""

    @property
    def frames(self) -> Frames:
        """The load of a trial of frames. TypeError if the trial is of another class."""
        if not isinstance(self.load, Frames):
            raise TypeError(f"trial `{self.name}` is a load of {self.load.load_class.name}, not of frames")
        return self.load

    @property
    def connections(self) -> Connections:
        """The load of a trial of connections. TypeError if the trial is of another class."""
        if not isinstance(self.load, Connections):
            raise TypeError(
                f"trial `{self.name}` is a load of {self.load.load_class.name}, not of connections"
            )
        return self.load

    @property
    def has_failure(self) -> bool:
        """Whether a link goes down in it, or LACP falls silent on a member."""
        return any(one.kind in OF_LINKS | OF_LACP for one in self.events)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The load of every sending port over time; none of a load that asks for no rate."""
        return self.load.segments

    @property
    def rates(self) -> tuple[Rate, ...]:
        """The rates that its segments begin and end with."""
        return tuple(rate for one in self.segments for rate in (one.from_rate, one.to_rate))

    @property
    def duration_ns(self) -> int:
        """Time with traffic, ns, without resolving, settling and draining."""
        return self.load.duration_ns

    @property
    def constant(self) -> bool:
        """Whether no part of the load rises or falls."""
        return self.load.constant
