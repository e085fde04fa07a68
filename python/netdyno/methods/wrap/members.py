"""Any method with flows that load members of a LAG in wanted shares: which carries which is learned first.

A device's hash is not known, and need not be: each of many candidate flows is sent, and seen at a member, by
the port of the tester where it arrives, or by the device's own counters.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count

from netdyno.methods.parts.procedure import numbered_from, through
from netdyno.methods.reasons.members import (
    FlowsChosen,
    FlowsWander,
    MembersUnread,
    SharesChanged,
    SharesNotReached,
)
from netdyno.values.load import Frames, Observe, Segment, Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from netdyno.values.unmeasured import NotMeasuredError

MOST_FPS = Fraction(10_000)
LINE_SHARE = Fraction(1, 20)
"""The load while flows are learned: low enough for any device that forwards at all."""
EACH = 3
"""Frames of a candidate flow: those of a device that spreads packets come to several members."""
NEAR = Fraction(1, 20)
"""Of all frames: members whose share differs by more than this carry other flows than those chosen."""
ENOUGH = 20
"""Frames a flow from which shares of frames are those of flows."""

FRAMES_ALONE = 1000
"""Of a flow that is learned by the device's counters, beside whatever else they count."""
MOSTLY = Fraction(3, 4)
"""Of these, those of the member that carries the flow."""
GIVE_UP = 16
"""Candidates for each member after which one that none of them reached is waited for no longer. A hash that
spreads flows evenly leaves one out so less than once in a million."""

NAME = "members of flows"


@dataclass(frozen=True)
class Wanted:
    """What a plan wants of members. every: candidates of all streams of a way together, as `Frames.flows`.
    candidates, flows: of each stream. shares: of each member, in order; none: even ones. inside: of streams
    to a LAG that ends at no port of the tester, how many members the device counts. count: frames that each
    of them sent in a trial, of the LAG opposite a tester port; None: unknown. shares_of: of the ports that
    carry frames of a LAG, where not all its members do."""

    every: int
    candidates: Mapping[str, int]
    flows: Mapping[str, int]
    shares: tuple[int, ...] = ()
    inside: Mapping[str, int] = field(default_factory=dict)
    count: Callable[[Trial, Outcome, int], Sequence[int] | None] = lambda trial, outcome, port: None
    shares_of: Mapping[tuple[int, ...], tuple[int, ...]] = field(default_factory=dict)

    def weights(self, members: int, ports: tuple[int, ...] = ()) -> tuple[int, ...]:
        """The shares of so many members, whole numbers of any sum. ports: the tester's, if they are."""
        return self.shares_of.get(ports) or self.shares or (1,) * members


@dataclass
class Learned:
    """The candidate flows of a stream that each member carries, in order; and how many come to several."""

    by_member: list[deque[int]]
    wander: int = 0
    tried: int = 0

    @classmethod
    def of(cls, members: int) -> Learned:
        """Nothing yet."""
        return cls([deque() for _ in range(members)])


@dataclass
class Lag:
    """A LAG that flows are chosen for. ports: of the tester, or the one opposite it. at: its name in reports.
    found, chosen: flows of each member, of all streams that go there."""

    ports: tuple[int, ...]
    at: str
    weights: tuple[int, ...]
    streams: list[str] = field(default_factory=list)
    candidates: int = 0
    found: list[int] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)
    flows: int = 0

    def __post_init__(self) -> None:
        self.found, self.chosen = [0] * len(self.weights), [0] * len(self.weights)

    def take(self, stream: str, learned: Learned, flows: int) -> tuple[int, ...]:
        """So many flows of a stream, of which it was learned who carries them."""
        self.streams.append(stream)
        self.candidates += learned.tried
        self.found = [sum(pair) for pair in zip(self.found, map(len, learned.by_member), strict=True)]
        return self.deal(learned.by_member, flows)

    def deal(self, by_member: Sequence[deque[int]], flows: int) -> tuple[int, ...]:
        """So many flows of a stream, each of the member that is furthest behind its share; others when no
        candidate is left. by_member: candidates of each, which are used up."""
        picks: list[int] = []
        while len(picks) < flows:
            able = [number for number, left in enumerate(by_member) if left and self.weights[number]]
            if not able:
                break
            dealt = sum(self.chosen) + 1

            def behind(member: int, dealt: int = dealt) -> tuple[int, int]:
                return self.weights[member] * dealt - sum(self.weights) * self.chosen[member], -member

            member = max(able, key=behind)
            picks.append(by_member[member].popleft())
            self.chosen[member] += 1
        taken = set(picks)
        others = (flow for flow in count() if flow not in taken)
        picks += [next(others) for _ in range(flows - len(picks))]
        self.flows += flows
        return tuple(picks)

    @property
    def wanted(self) -> tuple[Fraction, ...]:
        """The shares asked for."""
        return tuple(Fraction(weight, sum(self.weights)) for weight in self.weights)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The shares of the flows chosen."""
        return tuple(Fraction(one, self.flows) for one in self.chosen)

    @property
    def is_reached(self) -> bool:
        """Whether each member has its share of the flows, to one flow, and some if it is to carry any."""
        pairs = list(zip(self.chosen, self.wanted, strict=True))
        carry = all(chosen > 0 for chosen, wanted in pairs if wanted)
        return carry and all(abs(chosen - wanted * self.flows) < 1 for chosen, wanted in pairs)


def with_members(method: Method, situation: Situation, wanted: Wanted) -> Method:
    """The method with flows that load members in the wanted shares, after trials that learn which do.

    Of streams whose frames arrive at a LAG or bundle of the tester one trial learns all. Where the device's
    own counters show its members, each flow has a trial. Other streams have the flows that they had.
    """
    places = dict(zip(situation.streams, situation.places, strict=True))
    learned: dict[str, Learned] = {}
    names: dict[int, str] = dict(enumerate(situation.device_ports))
    notes: list[Reason] = []
    made = took_ns = 0
    arriving = [name for name in wanted.flows if name not in wanted.inside]
    if arriving:
        outcome = yield _probe(situation, wanted, arriving)
        made, took_ns = 1, _length_ns(outcome)
        names |= {port: outcome.ports[port].name for name in arriving for port in places[name].arrives}
        of_streams = {stream.name: stream for stream in outcome.streams}
        learned |= {name: _learn(of_streams[name], places[name].bundle) for name in arriving}
    if wanted.inside:
        alone = yield from _learn_alone(situation, wanted)
        learned |= alone.learned
        notes += [MembersUnread(names[places[name].rx]) for name in alone.unread]
        made, took_ns = made + alone.trials, took_ns + alone.took_ns
    lags: dict[tuple[int, str], Lag] = {}
    picks: dict[str, tuple[int, ...]] = {}
    for name in (name for name in situation.streams if name in learned):
        place, found = places[name], learned[name]
        ports = place.arrives
        if (ports[0], place.traffic) not in lags:
            at = ", ".join(f"`{names[port]}`" for port in ports)
            at += f" (class `{place.traffic}`)" if place.traffic else ""
            lags[ports[0], place.traffic] = Lag(ports, at, wanted.weights(len(found.by_member), ports))
        picks[name] = lags[ports[0], place.traffic].take(name, found, wanted.flows[name])
        if found.wander:
            notes.append(FlowsWander(name, found.wander, found.tried))
    for lag in lags.values():
        members, chosen = tuple(lag.found), tuple(lag.chosen)
        notes.append(FlowsChosen(lag.at, lag.flows, lag.candidates, members, chosen, took_ns))
        if not lag.is_reached:
            carrying = sum(one > 0 for one in chosen)
            notes.append(SharesNotReached(lag.at, lag.flows, carrying, chosen, lag.wanted))
    shifts = Shifts(situation, list(lags.values()))
    result, _ = yield from through(method, lambda trial: shifts.note(_picked(trial, picks)), shifts.look)
    return replace(numbered_from(made, result), notes=(*result.notes, *notes, *shifts.found))


def _length_ns(outcome: Outcome) -> int:
    return max(phase.start_ns + phase.duration_ns for phase in outcome.phases)


def _fps(situation: Situation) -> Fraction:
    return min(MOST_FPS, situation.line_fps * LINE_SHARE / len(situation.streams))


def learning_s(situation: Situation) -> Fraction:
    """How long the traffic of a flow that is learned alone lasts, s."""
    return FRAMES_ALONE / _fps(situation)


def _load(situation: Situation, frames: int) -> tuple[Segment, ...]:
    fps = _fps(situation)
    return Frames.steady(FrameRate(fps), int(-(-frames * 10**9 // fps)), "flows").segments


def _probe(situation: Situation, wanted: Wanted, streams: Sequence[str]) -> Trial:
    """A trial of all candidates of streams; others are silent."""
    loads: dict[str, tuple[Segment, ...]] = dict.fromkeys(situation.streams, ())
    loads |= {name: _load(situation, EACH * wanted.candidates[name]) for name in streams}
    longest = max((load for load in loads.values() if load), key=lambda load: load[0].duration_ns)
    return Trial(NAME, Frames(longest, loads=loads, flows=wanted.every), observe=Observe(by_flow=True))


def _learn(stream: StreamResult, ports: tuple[int, ...]) -> Learned:
    """Where the candidates of a stream came to."""
    flows = stream.by_flow
    assert flows is not None, "it was asked for"
    found = Learned.of(len(ports))
    found.tried = len(flows.port)
    for flow, (port, moved) in enumerate(zip(flows.port, flows.moved, strict=True)):
        if moved:
            found.wander += 1
        elif port in ports:
            found.by_member[ports.index(port)].append(flow)
    return found


@dataclass
class Alone:
    """What trials of a flow each have shown. unread: streams whose members' counters are unknown."""

    learned: dict[str, Learned]
    unread: list[str] = field(default_factory=list)
    trials: int = 0
    took_ns: int = 0


def _learn_alone(situation: Situation, wanted: Wanted) -> Generator[Trial, Outcome, Alone]:
    """One flow after another, by the device's counters, until each member has as many as it is to carry.

    Streams to different ports share a trial.
    """
    found = Alone({name: Learned.of(members) for name, members in wanted.inside.items()})
    ports = {name: place.rx for name, place in zip(situation.streams, situation.places, strict=True)}
    needed = _needed(situation, wanted)
    load = _load(situation, FRAMES_ALONE)
    while True:
        chosen: dict[int, str] = {}
        for name, one in found.learned.items():
            is_early = one.tried < GIVE_UP * len(one.by_member)
            lacks = any(
                len(have) < need and (have or is_early)
                for have, need in zip(one.by_member, needed[name], strict=True)
            )
            if lacks and one.tried < wanted.candidates[name] and name not in found.unread:
                chosen.setdefault(ports[name], name)
        if not chosen:
            found.learned = {name: one for name, one in found.learned.items() if name not in found.unread}
            return found
        loads = {name: load if name in chosen.values() else () for name in situation.streams}
        picks = {name: (found.learned[name].tried,) for name in chosen.values()}
        trial = Trial(f"{NAME} {found.trials + 1}", Frames(load, loads=loads, flows=1, picked=picks))
        outcome = yield trial
        found.trials += 1
        found.took_ns += _length_ns(outcome)
        for port, name in chosen.items():
            one, counted = found.learned[name], wanted.count(trial, outcome, port)
            if counted is None or len(counted) != len(one.by_member):
                found.unread.append(name)
                continue
            most, all_frames = max(counted), sum(counted)
            if most > all_frames * MOSTLY:
                one.by_member[counted.index(most)].append(one.tried)
            else:
                one.wander += all_frames > 0
            one.tried += 1


def _needed(situation: Situation, wanted: Wanted) -> Mapping[str, Sequence[int]]:
    """Of each stream, how many flows of each member it has where there are enough of all."""
    lags: dict[tuple[int, str], Lag] = {}
    found = {}
    for name, place in zip(situation.streams, situation.places, strict=True):
        if name in wanted.inside:
            members, flows = wanted.inside[name], wanted.flows[name]
            new = Lag((place.rx,), "", wanted.weights(members))
            lag = lags.setdefault((place.rx, place.traffic), new)
            before = list(lag.chosen)
            lag.deal([deque(range(flows)) for _ in range(members)], flows)
            found[name] = [after - one for after, one in zip(lag.chosen, before, strict=True)]
    return found


def _picked(trial: Trial, picks: Mapping[str, tuple[int, ...]]) -> Trial:
    """The trial with flows that were chosen, unless it has flows of its own."""
    if not isinstance(trial.load, Frames) or trial.load.flows is not None:
        return trial
    return replace(trial, load=replace(trial.load, picked=picks))


class Shifts:
    """Looks whether members carry the shares that flows were chosen for, in each trial that shows it."""

    def __init__(self, situation: Situation, lags: Sequence[Lag]) -> None:
        # Of several classes on a LAG which frames are whose is unknown to a port.
        alone = len({lag.ports for lag in lags}) == len(lags) and not situation.taken and not situation.beside
        self._lags = [lag for lag in lags if alone and len(lag.ports) > 1 and sum(lag.chosen) == lag.flows]
        self._trial: Trial | None = None
        # After a member died a device may leave flows where they went.
        self._has_died = False
        self.found: list[SharesChanged] = []

    def note(self, trial: Trial) -> Trial:
        """Keeps a trial that is asked for until its outcome comes."""
        self._trial = trial
        return trial

    def look(self, number: int, outcome: Outcome | NotMeasuredError) -> None:
        """Looks at a trial's outcome, of the first that shows it."""
        trial = self._trial
        if trial is None:
            return
        self._has_died |= trial.has_failure
        if self._has_died or trial.events or not trial.frames.picked:
            return
        if isinstance(outcome, NotMeasuredError) or self.found:
            return
        for lag in self._lags:
            streams = [one for one in outcome.streams if one.name in lag.streams]
            carried = [outcome.ports[port].test_frames for port in lag.ports]
            if any(one.missing for one in streams) or sum(carried) < ENOUGH * lag.flows:
                continue
            shares = tuple(Fraction(one, sum(carried)) for one in carried)
            if any(abs(one - chosen) > NEAR for one, chosen in zip(shares, lag.shares, strict=True)):
                self.found.append(SharesChanged(lag.at, trial.name, shares, lag.shares))
