"""What a method may know of its case: streams, lines, frame sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from netdyno.values.load import Segment
from netdyno.values.rates import l1, load_fps
from netdyno.values.trunk import Trunk
from netdyno.values.units import FrameRate, Rate

GROUP_AXIS = "group"
"""Of the matrix: which port groups a case loads."""


@dataclass(frozen=True)
class Place:
    """Where a stream runs: its ports, by number, what it is asked for of the load, and its class of traffic,
    if the profile has classes."""

    tx: int
    rx: int
    share: Fraction = Fraction(1)
    """Its part of the frames of its sending port's load, times `line`."""
    traffic: str = ""
    group: str = ""
    """Its port group, if the plan has groups."""
    line: Fraction = Fraction(1)
    """Its line (its group's slowest) over that of the slowest group: a load is the same part of each."""
    card: str = ""
    """What its sending port shares with others in the device, as far as the plan says."""
    vlan: str = ""
    """The VLAN of its link, `100` or `100.20`, where a link has several."""
    bundle: tuple[int, ...] = ()
    """Ports that its frames may arrive at, of one LAG or ECMP group, `rx` among them; empty: `rx` alone."""

    @property
    def arrives(self) -> tuple[int, ...]:
        """All ports that its frames may arrive at."""
        return self.bundle or (self.rx,)


@dataclass(frozen=True)
class Behind:
    """What is behind a tester port.

    port: its name. prefixes: those that test frames go to; 0: networks, which nobody counts. like: other
    ports with the same ones behind them. announced: routes that the tester announces there, by IP version,
    and withdrawn: how many of them it can withdraw at once.
    """

    port: str
    prefixes: int = 0
    like: tuple[str, ...] = ()
    announced: Mapping[int, int] = field(default_factory=dict)
    withdrawn: int = 0


@dataclass(frozen=True)
class Situation:
    """What a method may know of its case.

    Loads are per port and direction: what a port sends, its streams together. Of port groups whose lines
    differ the load of the slowest; each port is asked for as large a part of its own line.
    """

    streams: tuple[str, ...]
    """Names of the sending streams: one for uni, two for bidir, n * (n - 1) of a full mesh of n ports."""
    line_fps: Fraction
    """The most frames per second one direction of a port can carry: the slowest link on the path. 0: unknown
    (of another tool's test), as the next one."""
    mean_size: Fraction
    """Average frame size, bytes, FCS counted."""
    flow_ceiling_fps: Fraction | None = None
    """With one flow over a group: what one member carries. None: no such ceiling."""
    mixed_receivers: tuple[int, ...] = ()
    """Of a mix of sizes: each stream's receiving port, which receives that stream alone.

    What comes back of a mix need not be the mix, so how full the line was takes the port's bytes.
    """
    burst: int = 1
    """Frames of a burst: a window of time may hold so many more or less than the rate says."""
    places: tuple[Place, ...] = ()
    """Where each of `streams` runs; empty: each has its ports to itself."""

    lines: tuple[Fraction, ...] = ()
    """The most frames per second that each port's link carries, by the port's number. Empty: a
    stream's ports have lines of one rate."""
    enforced: bool = True
    """Whether something holds the ports to these rates."""
    waits_ns: tuple[int, int] | None = None
    """How long the plan waits before and behind the traffic of a trial, settle and drain. None:
    as long as the trials did."""
    asked: bool = True
    """Whether the device does what a trial's events ask of it; netdyno cannot ask an external device."""
    by_hand: bool = True
    """Whether somebody can do something to the device while a trial runs; not in virtual time."""

    tags: int = 0
    """VLAN tags of each frame."""
    beside: Fraction = Fraction(0)
    """The part of each stream's place on the line that a modifier's frames take."""
    taken: tuple[Fraction, ...] = ()
    """The part of each port's line that classes with a rate of their own take where they arrive. Empty: there
    are none."""
    growth: tuple[Fraction, ...] = ()
    """Of each stream, how much longer its frames are on the line where they arrive, tags put on or taken off
    on the way. Empty: as they were sent."""
    classes: tuple[str, ...] = ()
    """Names of all classes of its traffic, those with a rate of their own too."""
    is_uneven: bool = False
    """Whether frames are not placed evenly in time: the load of a moment is another than that of a trial."""
    device_ports: tuple[str, ...] = ()
    """The device's port opposite each of the tester's, by number. Empty: not known."""
    trunk: Trunk | None = None
    """A line inside the device, as declared; None: none is."""
    given_macs: tuple[str, ...] = ()
    """Of each stream, the MAC address that the plan says its frames go to; "": it was asked for. Empty: all
    were."""
    kept_back: tuple[str, ...] = ()
    """Of each stream to a router, why none forwards its packets, `TTL 1`; "": nothing is known. Empty: of
    all."""

    is_unproven: bool = False
    """Whether nothing shows that the device takes the frames on, until one of them came back."""
    switched: tuple[str, ...] = ()
    """Settings of the device that a trial can have another value of."""
    distinct_flows: int = 0
    """How many flows its frames can be of at most, whatever a trial asks for; 0: unknown."""

    licence_bps: int | None = None
    """What the device is licensed to pass, bits a second, as declared; None: not known."""

    behind: tuple[Behind, ...] = ()
    """What is behind each tester port, by its number. Empty: unknown."""
    prefixes: tuple[int, ...] = ()
    """Of each stream, how many prefixes its flows go to, a flow each. Empty: they go to networks."""
    destinations: tuple[tuple[str, ...], ...] = field(
        default=(), repr=False, compare=False, metadata={"unstored": True}
    )
    """Of each stream the prefix of each flow, as text. Empty: they go to networks, or are not known."""
    watched: tuple[str, ...] = ()
    """What the plan watches beside the traffic, as sources of series (`values/breaks.py`)."""
    answer_ns: int | None = None
    """The longest that a command line which is watched may take to answer."""
    lags: tuple[tuple[int, ...], ...] = ()
    """LAGs of the tester: the numbers of the ports that are members of each. What goes to the first of them
    arrives at any; each member sends streams of its own."""
    sizes: tuple[Fraction, ...] = ()
    """Of each stream the average size of its frames, where those of classes differ; empty: `mean_size`."""
    own_fps: Fraction | None = None
    """Where all classes send at rates and times of their own, the most frames a second that a port sends at
    once; the load of a method has no effect. None: the streams have the load of the method."""

    def fps(self, rate: Rate) -> Fraction:
        """A load of one direction in frames per second, exact. Of a mix: frames of average size."""
        line = l1(FrameRate(self.line_fps), self.mean_size)
        return load_fps(rate, line=line, size=self.mean_size).amount

    def in_frames(self, segments: Iterable[Segment]) -> tuple[Segment, ...]:
        """The segments with their rates in frames per second."""

        def of(rate: Rate) -> FrameRate:
            return FrameRate(self.fps(rate))

        return tuple(replace(one, from_rate=of(one.from_rate), to_rate=of(one.to_rate)) for one in segments)

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        """Each stream's number. A full mesh of 64 ports has 4,032, and each is asked for again and again."""
        return {name: number for number, name in enumerate(self.streams)}

    @cached_property
    def has_bundles(self) -> bool:
        """Whether frames of a stream may arrive at one of several ports."""
        return any(place.bundle for place in self.places)

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

    def size(self, scope: str) -> Fraction:
        """Average size of a scope's frames, bytes, FCS counted."""
        if not self.sizes:
            return self.mean_size
        parts = [(self.places[member].share, self.sizes[member]) for member in self.members(scope)]
        whole = sum((share for share, _ in parts), Fraction(0))
        return sum((share * size for share, size in parts), Fraction(0)) / whole

    def line(self, scope: str) -> Fraction:
        """The most frames per second that can come of a scope.

        Of a stream what its port can send of it beside its others; of several what the receiving ports take.
        """
        share = self.share(scope)
        if scope not in self._numbers and self.places:
            taken = {self.places[member].rx: self.places[member].line for member in self.members(scope)}
            share = min(share, sum(taken.values(), Fraction(0)))
        return self.line_fps * share

    @property
    def load_part(self) -> Fraction:
        """The part of the line that a full load is: classes with a rate of their own have the rest."""
        found: dict[int, Fraction] = {}
        for place in self.places:
            tx = self.lag_of(place.tx)[0]
            found[tx] = found.get(tx, Fraction(0)) + place.share
        return max(found.values(), default=Fraction(1))

    def sender(self, stream: str) -> int:
        """The number of the tester port that sends a stream."""
        number = self._numbers[stream]
        return self.places[number].tx if self.places else number

    def in_fps(self, stream: str) -> Fraction:
        """The most frames per second that the link of a stream's sending port carries."""
        if not self.lines or not self.places:
            return self.port_fps(stream)
        return self.lines[self.places[self._numbers[stream]].tx]

    def out_fps(self, stream: str) -> Fraction:
        """The same of its receiving port, without what others take of that."""
        if not self.places:
            return self.port_fps(stream)
        number = self._numbers[stream]
        place = self.places[number]
        line = self.line_out_fps(stream)
        line *= 1 - self.taken[place.rx] if self.taken else 1
        return line / self.growth[number] if self.growth else line

    def arrives(self, stream: str) -> tuple[int, ...]:
        """The numbers of the ports that a stream's frames may arrive at."""
        number = self._numbers[stream]
        return self.places[number].arrives if self.places else (number,)

    def arrival_fps(self, stream: str) -> Fraction:
        """As `out_fps`, of all ports that a stream's frames may arrive at: those of a bundle are alike."""
        ports = self.arrives(stream)
        return self.out_fps(stream) * len(ports) / len(self.lag_of(ports[0]))

    def line_out_fps(self, stream: str) -> Fraction:
        """The most frames per second that the link of a stream's receiving port carries, of all senders."""
        if not self.lines or not self.places:
            return self.port_fps(stream)
        members = self.lag_of(self.places[self._numbers[stream]].rx)
        return sum((self.lines[port] for port in members), Fraction(0))

    def lag_of(self, port: int) -> tuple[int, ...]:
        """The numbers of all members of a port's LAG; of none, its own."""
        return next((one for one in self.lags if port in one), (port,))

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
        return count + self.is_beside_classes(stream), share / place.share

    def is_beside_classes(self, stream: str) -> bool:
        """Whether its receiving port gets streams of classes with a rate of their own, too."""
        known = bool(self.places) and stream in self._numbers and bool(self.taken)
        return known and self.taken[self.places[self._numbers[stream]].rx] > 0

    def port_fps(self, stream: str) -> Fraction:
        """What a load of the whole line is to a stream's sending port: its group's slowest line."""
        return self.line_fps * (self.places[self._numbers[stream]].line if self.places else Fraction(1))
