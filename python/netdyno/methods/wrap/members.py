"""Any method with flows that load members of a LAG in wanted shares: which carries which is learned first.

A device's hash is not known, and need not be: of many candidate flows each is sent, and seen at a member.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count

from netdyno.methods.parts.procedure import numbered_from, through
from netdyno.methods.reasons.members import FlowsChosen, FlowsWander, SharesChanged, SharesNotReached
from netdyno.values.load import Frames, Observe, Segment, Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import Reason
from netdyno.values.situation import Place, Situation
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

NAME = "members of flows"


@dataclass(frozen=True)
class Wanted:
    """What a plan wants of members. every: candidates of all streams of a way together, as `Frames.flows`.
    candidates, flows: of each stream. shares: of each member, in order; none: even ones."""

    every: int
    candidates: Mapping[str, int]
    flows: Mapping[str, int]
    shares: tuple[int, ...] = ()

    def weights(self, members: int) -> tuple[int, ...]:
        """The shares of so many members, whole numbers of any sum."""
        return self.shares or (1,) * members


@dataclass
class Lag:
    """A LAG that flows are chosen for. members: tester ports. at: its name in reports. found, chosen: flows
    of each member, of all streams that go there."""

    members: tuple[int, ...]
    at: str
    weights: tuple[int, ...]
    streams: list[str] = field(default_factory=list)
    candidates: int = 0
    found: list[int] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)
    flows: int = 0

    def __post_init__(self) -> None:
        self.found, self.chosen = [0] * len(self.weights), [0] * len(self.weights)

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
        """Whether each member has its share of the flows, to one flow."""
        pairs = zip(self.chosen, self.wanted, strict=True)
        return all(abs(chosen - wanted * self.flows) < 1 for chosen, wanted in pairs)


def with_members(method: Method, situation: Situation, wanted: Wanted) -> Method:
    """The method with flows that load members in the wanted shares, after a trial that learns which do.

    Streams whose frames arrive at a LAG or bundle of the tester have flows chosen; others are as they were.
    """
    places = dict(zip(situation.streams, situation.places, strict=True))
    outcome = yield _probe(situation, wanted)
    lags: dict[tuple[tuple[int, ...], str], Lag] = {}
    picks: dict[str, tuple[int, ...]] = {}
    notes: list[Reason] = []
    for stream in outcome.streams:
        if stream.name not in wanted.flows:
            continue
        place = places[stream.name]
        lag = lags.get((place.bundle, place.traffic)) or _lag(place, outcome, wanted)
        lags[place.bundle, place.traffic] = lag
        lag.streams.append(stream.name)
        by_member, wander = _learn(stream, lag)
        picks[stream.name] = lag.deal(by_member, wanted.flows[stream.name])
        lag.candidates += wanted.candidates[stream.name]
        if wander:
            notes.append(FlowsWander(stream.name, wander, wanted.candidates[stream.name]))
    took_ns = max(phase.start_ns + phase.duration_ns for phase in outcome.phases)
    for lag in lags.values():
        found, chosen = tuple(lag.found), tuple(lag.chosen)
        notes.append(FlowsChosen(lag.at, lag.flows, lag.candidates, found, chosen, took_ns))
        if not lag.is_reached:
            carrying = sum(one > 0 for one in chosen)
            notes.append(SharesNotReached(lag.at, lag.flows, carrying, chosen, lag.wanted))
    shifts = Shifts(situation, list(lags.values()))
    result, _ = yield from through(method, lambda trial: shifts.note(_picked(trial, picks)), shifts.look)
    return replace(numbered_from(1, result), notes=(*result.notes, *notes, *shifts.found))


def _probe(situation: Situation, wanted: Wanted) -> Trial:
    """A trial of all candidates of all streams."""
    fps = min(MOST_FPS, situation.line_fps * LINE_SHARE / len(situation.streams))
    loads: dict[str, tuple[Segment, ...]] = dict.fromkeys(situation.streams, ())
    for name, candidates in wanted.candidates.items():
        length_ns = -(-EACH * candidates * 10**9 // fps)
        loads[name] = Frames.steady(FrameRate(fps), int(length_ns), "flows").segments
    longest = max((load for load in loads.values() if load), key=lambda load: load[0].duration_ns)
    return Trial(NAME, Frames(longest, loads=loads, flows=wanted.every), observe=Observe(by_flow=True))


def _lag(place: Place, outcome: Outcome, wanted: Wanted) -> Lag:
    at = ", ".join(f"`{outcome.ports[port].name}`" for port in place.bundle)
    of = f" (class `{place.traffic}`)" if place.traffic else ""
    return Lag(place.bundle, at + of, wanted.weights(len(place.bundle)))


def _learn(stream: StreamResult, lag: Lag) -> tuple[list[deque[int]], int]:
    """The flows of a stream that came to each member, and how many came to several."""
    by_member: list[deque[int]] = [deque() for _ in lag.members]
    wander, flows = 0, stream.by_flow
    for flow, port in enumerate(() if flows is None else flows.port):
        assert flows is not None
        if flows.moved[flow]:
            wander += 1
        elif port in lag.members:
            member = lag.members.index(port)
            by_member[member].append(flow)
            lag.found[member] += 1
    return by_member, wander


def _picked(trial: Trial, picks: Mapping[str, tuple[int, ...]]) -> Trial:
    """The trial with flows that were chosen, unless it has flows of its own."""
    if not isinstance(trial.load, Frames) or trial.load.flows is not None:
        return trial
    return replace(trial, load=replace(trial.load, picked=picks))


class Shifts:
    """Looks whether members carry the shares that flows were chosen for, in each trial that shows it."""

    def __init__(self, situation: Situation, lags: Sequence[Lag]) -> None:
        # Of several classes on a LAG which frames are whose is unknown to a port.
        alone = len({lag.members for lag in lags}) == len(lags) and not situation.taken
        self._lags = [lag for lag in lags if alone and not situation.beside and sum(lag.chosen) == lag.flows]
        self._trials: list[Trial] = []
        self.found: list[SharesChanged] = []

    def note(self, trial: Trial) -> Trial:
        """Keeps a trial that is asked for."""
        self._trials.append(trial)
        return trial

    def look(self, number: int, outcome: Outcome | NotMeasuredError) -> None:
        """Looks at a trial's outcome, of the first that shows it."""
        trial = self._trials[number]
        if isinstance(outcome, NotMeasuredError) or self.found or trial.events or not trial.frames.picked:
            return
        for lag in self._lags:
            streams = [one for one in outcome.streams if one.name in lag.streams]
            carried = [outcome.ports[port].test_frames for port in lag.members]
            if any(one.missing for one in streams) or sum(carried) < ENOUGH * lag.flows:
                continue
            shares = tuple(Fraction(one, sum(carried)) for one in carried)
            if any(abs(one - chosen) > NEAR for one, chosen in zip(shares, lag.shares, strict=True)):
                self.found.append(SharesChanged(lag.at, trial.name, shares, lag.shares))
