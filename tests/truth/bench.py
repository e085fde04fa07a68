"""A method on an emulated device, and beside each of its trials what a perfect tester would have found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

from closed_forms import Stretch, l1_bps, mixed_departures, order_of_sizes, wire_bits
from kinds import assert_declared
from methodlab import follow, text
from model import DESTINATION, FLOWS, SOURCE, Model
from netdyno.devices import KINDS
from netdyno.methods import METHODS
from netdyno.methods.wrap.late import without_late_values
from netdyno.plan import Plan as Asked
from netdyno.plan import parse
from netdyno.plan.matrix import cases, situation
from netdyno.testers.netdyno.spec import session_spec
from netdyno.values.finding import Result, Value
from netdyno.values.load import Trial
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.situation import Situation
from reference import Reference, Sent, from_a_port
from servers import LINE, Packet

HEADERS = (
    "headers: [{type: ethernet}, {type: ipv4,"
    f" src: {{step: {{start: {SOURCE}, step: 1, count: {FLOWS}}}}}, dst: {DESTINATION}}},"
    " {type: udp, sport: 1025, dport: 12}]"
)
"""Of frames that a device spreads over members."""
NS = 1000
"""Picoseconds."""
DSCP = {"voice": 46, "rest": 0}
ROUND_PS = 32_000_000
"""From the end of a trial to the next: a round of virtual time, in which it is seen that it ended."""


Ways = Callable[[Packet, int], Sequence[int]]
"""By which ports a frame leaves that came in by one."""


def _straight(known: Situation, change: Mapping[str, Any]) -> Ways:
    """Each frame by the port of the tester's that it is for."""
    del change
    return lambda packet, port: (known.places[packet.stream].rx,)


@dataclass(frozen=True)
class Plan:
    """How a method is asked for."""

    method: str
    parameters: str
    links: int = 2
    matrix: str = "direction: [uni]"
    size: int = 64
    mix: Mapping[int, int] = field(default_factory=dict)
    """Sizes with their weights, instead."""
    settle: str = "20ms"
    drain: str = "300ms"
    change: Mapping[str, Any] = field(default_factory=dict)
    """What else differs of the device: its own settings, and those of its `forwarding`."""
    ways: Callable[[Situation, Mapping[str, Any]], Ways] = _straight
    """By which ports frames leave, anew for each trial; asked in order of time."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of the frames of a stream, over and over."""
        return tuple(order_of_sizes(list((self.mix or {self.size: 1}).items())))

    def text(self, kind: str, classes: bool, members: int) -> str:
        marked = ", classes: {voice: {dscp: 46, share: 25%}, rest: {dscp: 0}}" if classes else ""
        flows = f"flows: {FLOWS}, {HEADERS}" if members > 1 else "flows: 1"
        size = dict(self.mix) if self.mix else f"{self.size}B"
        return text(
            f"{self.method}: {{{self.parameters}}}",
            kind=kind,
            links=self.links,
            rate="100Mbps",
            profile=f"size: {size}, {flows}{marked}",
            matrix=self.matrix,
            trial=f"sample: 1ms, settle: {self.settle}, drain: {self.drain}",
        )


@dataclass
class Came:
    """What came of a stream in one trial, by the reference."""

    name: str
    due: list[int] = field(default_factory=list)
    """Of each frame sent, ps from the start of traffic."""
    packets: list[Packet] = field(default_factory=list)
    """What came at the right port, in order of arrival."""
    left: list[int] = field(default_factory=list)
    """When each really departed: it may have had to wait for the line; ps since the device was made."""
    elsewhere: int = 0
    """What came intact at other ports."""
    broken_elsewhere: int = 0

    @property
    def sent(self) -> int:
        return len(self.due)

    @cached_property
    def intact(self) -> list[Packet]:
        """Those that came intact, the first of each."""
        first: dict[int, Packet] = {}
        for one in self.packets:
            if not one.corrupted:
                first.setdefault(one.number, one)
        return list(first.values())

    @cached_property
    def corrupted(self) -> int:
        return sum(one.corrupted for one in self.packets)

    @property
    def copies(self) -> int:
        return len(self.packets) - self.corrupted - len(self.intact)

    @property
    def lost(self) -> int:
        return self.missing - self.corrupted

    @property
    def missing(self) -> int:
        return self.sent - len(self.intact)

    @cached_property
    def took_ns(self) -> list[int]:
        """Of each intact frame, in order of arrival; whole ns, as they are counted."""
        return [(one.at - one.departure) // NS for one in self.intact]

    def timed_ns(self, from_ns: int, begin: int) -> list[int]:
        """The same of those that departed from a time on, from the begin of traffic."""
        if not from_ns:
            return self.took_ns
        pairs = zip(self.took_ns, self.intact, strict=True)
        return [took for took, one in pairs if one.departure >= begin + from_ns * NS]

    @cached_property
    def gone(self) -> list[int]:
        """Numbers of those that did not come intact."""
        there = {one.number for one in self.intact}
        return [number for number in range(self.sent) if number not in there]


@dataclass(frozen=True)
class Bench:
    """A method's whole course. expected: by the reference, of each trial, its streams in their order."""

    line_fps: Fraction
    """What a line carries: of a mix, as many of each size as come in whole rounds."""
    flows: int
    """Of each stream, in turns."""
    known: Situation
    trials: Sequence[Trial]
    outcomes: Sequence[Outcome]
    expected: Sequence[Sequence[Came]]
    begins: Sequence[int]
    """When the traffic of each trial began, ps since the device was made."""
    stale: Sequence[Sequence[int]]
    """How many frames of earlier ones came in each trial, by port."""
    result: Result

    def value(self, name: str, scope: str = "sum") -> Value:
        """The one of that name and scope; of one stream, of that or the sum."""
        found = [one for one in self.result.values if one.name == name]
        assert found, (name, [one.name for one in self.result.values])
        return next((one for one in found if one.scope == scope), found[0])

    def table(self, name: str) -> list[dict[str, Any]]:
        (found,) = (one for one in self.result.tables if one.name == name)
        return [dict(zip([column.name for column in found.columns], row, strict=True)) for row in found.rows]

    def named(self, prefix: str) -> list[int]:
        """The places of the trials whose names begin so."""
        return [place for place, trial in enumerate(self.trials) if trial.name.startswith(prefix)]


def run(plan: Plan, model: Model, *, classes: bool) -> Bench:
    """The method's whole course, in one process."""
    kind = "emulated/cross-connect" if plan.links == 2 else "emulated/bridge"
    asked = _parsed(plan.text(kind, classes, model.members))
    (case,) = cases(asked)
    wiring = KINDS[asked.lab.kind].wire(asked.lab.links, case.settings)
    spec = session_spec(wiring, case)
    model.spec(DSCP)(spec["devices"][0])
    spec["devices"][0].update({name: what for name, what in plan.change.items() if name != "forwarding"})
    spec["devices"][0]["forwarding"].update(plan.change.get("forwarding", {}))
    known = situation(case, wiring)
    reference = Reference(model, plan.links)
    trials: list[Trial] = []
    outcomes: list[Outcome] = []
    expected: list[list[Came]] = []
    begins: list[int] = []
    stale: list[list[int]] = []
    clock = 0

    def record_trial(trial: Trial, outcome: Outcome) -> Outcome:
        nonlocal clock
        assert outcome.invalid == ()
        trials.append(trial)
        outcomes.append(outcome)
        before = sum(one.duration_ns for one in outcome.phases if one.name in ("", "resolve", "settle"))
        begins.append(clock + before * NS)
        clock += sum(one.duration_ns for one in outcome.phases) * NS
        reference.others(_taught(model, outcome))
        came, late = _expected(plan, known, trial, reference, (begins[-1], clock))
        expected.append(came)
        stale.append(late)
        clock += ROUND_PS
        return outcome

    method = without_late_values(METHODS[asked.method].start(asked.parameters, known))
    result = follow(method, asked, case, wiring, spec, record_trial)
    assert_declared(result)
    flows = FLOWS if model.members > 1 else 1
    return Bench(LINE / _bits(plan.sizes), flows, known, trials, outcomes, expected, begins, stale, result)


@cache
def _parsed(text: str) -> Asked:
    """A plan, which is the same for many devices."""
    return parse(text)


def _taught(model: Model, outcome: Outcome) -> Sequence[int]:
    """How many frames that teach a bridge left it by each port."""
    if model.corrupt is None:
        return [port.foreign for port in outcome.ports]
    # Broken test frames may pass for strangers. The first time what teaches goes to all other ports.
    own = [port.own_frames for port in outcome.ports]
    return [sum(own) - mine for mine in own]


def _expected(
    plan: Plan, known: Situation, trial: Trial, reference: Reference, times: tuple[int, int]
) -> tuple[list[Came], list[int]]:
    """What came of each stream, and at each port of earlier trials. times: from the begin of traffic on."""
    begin, end = times
    stale = [0] * plan.links
    came = [Came(name) for name in known.streams]
    ports: list[list[Sent]] = [[] for _ in range(plan.links)]
    for number, place in enumerate(known.places):
        due = _due(trial, known.streams[number], place.share, plan.sizes)
        came[number].due = [time for time, _ in due]
        ports[place.tx].append((number, place.traffic, due))
    sent = [from_a_port(streams, begin) for streams in ports]
    for packet in (one for packets in sent for one in packets):
        came[packet.stream].left.append(packet.departure)
    resets = [begin + event.at_ns * NS for event in trial.events if event.kind == "reset"]
    reset = (resets[0], resets[0] + plan.change["reset_ns"] * NS) if resets else None
    ways = plan.ways(known, plan.change)
    for port, packets in enumerate(reference.forward(sent, ways, end, reset)):
        for packet in packets:
            if packet.departure < begin:
                stale[port] += 1
            elif known.places[packet.stream].rx == port:
                came[packet.stream].packets.append(packet)
            elif not packet.corrupted:
                came[packet.stream].elsewhere += 1
            else:
                came[packet.stream].broken_elsewhere += 1
    return came, stale


def _bits(sizes: Sequence[int]) -> Fraction:
    """Of a line that a frame takes, on the mean."""
    return Fraction(sum(map(wire_bits, sizes)), len(sizes))


def _due(trial: Trial, stream: str, share: Fraction, sizes: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """When its frames are due, and their sizes: loads are whole bits a second, no more than was asked for."""
    own = trial.frames.loads.get(stream)
    segments, part = (trial.segments, share) if own is None else (own, Fraction(1))

    def bps(rate: Any) -> int:
        return int(l1_bps(rate, LINE, _bits(sizes)) * part)

    return _departures(
        tuple((one.duration_ns * NS, bps(one.from_rate), bps(one.to_rate)) for one in segments), sizes
    )


@cache
def _departures(
    load: tuple[tuple[int, int, int], ...], sizes: tuple[int, ...]
) -> tuple[tuple[int, int], ...]:
    return tuple(mixed_departures([Stretch(*one) for one in load], sizes))


def agree(bench: Bench) -> None:
    """Every trial, stream by stream: how many came, when, how long each took, and which did not come."""
    for place, (trial, outcome) in enumerate(zip(bench.trials, bench.outcomes, strict=True)):
        assert [port.stale for port in outcome.ports] == bench.stale[place], trial.name
        for one, came in zip(outcome.streams, bench.expected[place], strict=True):
            _agree(trial, outcome, one, came, bench.begins[place])


def _agree(trial: Trial, outcome: Outcome, one: StreamResult, came: Came, begin: int) -> None:
    where = (trial.name, one.name)
    found = (one.offered, one.received, one.lost, one.corrupted, one.duplicates)
    assert found == (came.sent, len(came.intact), came.lost, came.corrupted, came.copies), where
    # Of what is broken and at the wrong port it is not always known whose it is.
    assert 0 <= one.elsewhere - came.elsewhere <= came.broken_elsewhere, where
    samples = Counter([(packet.at - begin) // (outcome.sample_ns * NS) for packet in came.intact])
    assert one.rx == tuple(samples[number] for number in range(len(one.rx))), where
    left = [(at - begin) // (outcome.sample_ns * NS) for at in came.left]
    sent, gone = Counter(left), Counter(left[number] for number in came.gone)
    assert one.tx == tuple(sent[number] for number in range(len(one.tx))), where
    assert one.arrived == tuple(sent[number] - gone[number] for number in range(len(one.arrived))), where
    if one.gaps is not None and not one.gaps.further and not trial.observe.bridge:
        there = [number for gap in one.gaps.gaps for number in range(gap.first, gap.last + 1)]
        assert there == came.gone, where
        assert all(gap.first_ns == came.due[gap.first] // NS for gap in one.gaps.gaps), where
    timed, latency = came.timed_ns(trial.observe.timed_from_ns or 0, begin), one.latency
    if not timed:
        assert latency is None or not latency.count, where
        return
    assert latency is not None
    figures = (latency.count, latency.min_ns, latency.max_ns, latency.sum_ns)
    assert figures == (len(timed), min(timed), max(timed), sum(timed)), where
