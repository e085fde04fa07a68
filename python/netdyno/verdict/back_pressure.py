"""Frames that a memif peer did not take: who kept them waiting.

A device that polls drops nothing: it does not read, its ring stays full, and the tester's frames are
unsent. That is the device's limit only if nothing else can have held it or the tester back. The question is
asked before unsent frames make the tester the limit. A condition that is not met makes the answer
`inconclusive`, and the reason says which one. Rings of other ports are emptied by the kernel or by the
tester itself, and say nothing.

Not judged is how far the two cores are from each other at this moment: calibrations store no figure of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from netdyno.methods import sending_ns, shortfalls
from netdyno.methods.reasons.tester import SentLonger
from netdyno.values.finding import Value
from netdyno.values.health import PeerHealth
from netdyno.values.outcome import BackPressure, Outcome, StreamResult
from netdyno.values.reason import Reason
from netdyno.values.verdict import Verdict
from netdyno.verdict.evidence import Evidence, is_noticeable
from netdyno.verdict.pressure_reasons import (
    CoreInterrupted,
    CoreShared,
    DeviceRefused,
    HeldBack,
    LongPause,
    NoSecondTrial,
    PeerPreempted,
    PeerRingFull,
    PeerStopped,
    ReceiveRingFull,
    RefusedLoadUnproven,
    RingSizeUnproven,
    TakenLate,
    TesterBesidePeer,
)
from netdyno.verdict.saying import Reached
from netdyno.verdict.words import at_rate

OWN_CORE_PPM = 990_000
"""The least share of its core that the tester had."""

CLAIM = Fraction(11, 10)
"""The tester is calibrated for this many times the load that was refused. A peer that was seen to read could
do the load only if it were this much faster."""

CALIBRATED_RING = 4096
"""Frames in the rings of a calibration: the engine's default (crates/io/src/backend/memif/mod.rs)."""

LITTLE = Fraction(1, 100)
"""Stops of the peer explain less of the unsent frames than this; its core was taken for less of a trial."""

TICK_NS = 10_000_000
"""The step in which Linux counts the time taken from a core: one of them may be chance."""

AGREE = Fraction(1, 20)
"""Two trials agree if the peer took as many frames a second within this share."""

SECOND_NS = 10**9


@dataclass(frozen=True)
class _Pressed:
    """A tester port of a trial whose peer's ring was full, and the streams that it sent too little of."""

    pressure: BackPressure
    streams: tuple[StreamResult, ...]
    offered: int
    """Of all streams of the port."""
    load_fps: Fraction
    """The highest load it was asked for."""
    planned_ns: int

    @property
    def refused(self) -> int:
        return sum(one.refused for one in self.streams)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.streams)

    @property
    def taken_fps(self) -> Fraction:
        """Frames a second that the peer took: while it was seen to read, or of the whole trial. Those of a
        full ring were still in it at the end."""
        if self.pressure.busy_ns:
            return Fraction(self.pressure.taken * SECOND_NS, self.pressure.busy_ns)
        return Fraction(max(self.offered - self.pressure.ring, 0) * SECOND_NS, self.planned_ns)

    def is_slower(self, rings: int, least: Fraction, held_ns: int) -> bool:
        """Whether the peer was seen to read less than the load, however the tester ran.

        Seen was a peer that had frames to read at every moment, and moved on within 100 us each time. It may
        give the room of frames back all at once. rings: how many the time is summed over, at most. least: the
        share of the load that goes to any of them. held_ns: how long the peer was preempted.
        """
        ns = (self.pressure.busy_ns - held_ns) * least
        return CLAIM * (self.pressure.taken + self.pressure.ring * rings) < self.load_fps * ns / SECOND_NS


@dataclass(frozen=True)
class _Trial:
    outcome: Outcome
    ports: tuple[_Pressed, ...]

    @property
    def refused(self) -> int:
        return sum(port.refused for port in self.ports)


@dataclass(frozen=True)
class _Found:
    """What peers did not take in all trials. missing: the condition of naming the device that is not met."""

    refused: int
    intended: int
    lost: int
    missing: Reason | None


def judge_back_pressure(value: Value, evidence: Evidence) -> Verdict | None:
    """The verdict on a value where a memif peer's full ring kept frames from being sent; None: not so.

    None also where the tester left frames unsent that no full ring explains.
    """
    if evidence.short(value.scope) is None and not evidence.refused:
        return None
    found = evidence.once(_find)
    if found is None:
        return None
    missing = found.missing
    if missing is None and value.unit == "ns":
        # A time of the load that the peer took, and not of the one that was asked for.
        missing = TakenLate(is_time=True)
    if missing is None and is_noticeable(evidence.dropped, evidence.everything.lost + found.refused):
        # In other trials that the value rests on.
        missing = ReceiveRingFull(evidence.full, evidence.dropped)
    if missing is not None:
        return Verdict("inconclusive", PeerRingFull(found.refused, found.intended, found.lost, missing))
    reached = at_rate(value) if value.unit == "fps" else Reached(None)
    return Verdict("device", DeviceRefused(reached, found.refused, found.intended, found.lost))


def judge_stops(value: Value, evidence: Evidence) -> Verdict | None:
    """The verdict on a value that nothing seems to limit, where a peer stopped reading for 1 % of a trial.

    The load was none meanwhile, and then more than was asked for. None: no memif's peer did.
    """
    for outcome, planned_ns in evidence.timed_trials:
        ns = planned_ns or sending_ns(outcome)
        # Each worker has a ring of its own, whose stops are summed.
        least_ns = LITTLE * ns * max(len(outcome.health.workers), 1)
        for number, port in enumerate(outcome.ports):
            pressure = port.back_pressure
            if pressure is None or not pressure.stops or pressure.stopped_ns < least_ns:
                continue
            of = [one for one in outcome.streams if evidence.situation.sender(one.name) == number]
            if value.is_common or value.scope == "sum" or value.scope in {one.name for one in of}:
                intended, lost = sum(one.intended for one in of), sum(max(one.missing, 0) for one in of)
                explained = math.ceil(Fraction(intended * pressure.stopped_ns, ns))
                stopped = PeerStopped(pressure.stops, pressure.stopped_ns, explained, 0)
                return Verdict("inconclusive", PeerRingFull(0, intended, lost, stopped))
    return None


def is_of_others(value: Value, evidence: Evidence) -> bool:
    """Whether only frames of other streams were not taken, or late: then a value is of its own losses.

    A time is not: the streams meet in the device.
    """
    if value.is_common or value.unit == "ns":
        return False
    own = {evidence.situation.streams[member] for member in evidence.situation.members(value.scope)}
    return own.isdisjoint(evidence.once(_names_behind))


def _find(evidence: Evidence) -> _Found | None:
    """What peers did not take; None: nothing, or the tester left frames unsent that no full ring explains."""
    trials = []
    for outcome, planned_ns in evidence.timed_trials:
        found = _find_pressed_ports(outcome, planned_ns, evidence)
        if found is None:
            return None
        if found.ports:
            trials.append(found)
    if not trials:
        return None
    of = [one for trial in trials for one in trial.outcome.streams]
    return _Found(
        refused=sum(trial.refused for trial in trials),
        intended=sum(one.intended for one in of),
        lost=sum(max(one.missing, 0) for one in of),
        missing=_find_missing_condition(trials, evidence),
    )


def _names_behind(evidence: Evidence) -> frozenset[str]:
    """The streams that the tester sent too little of in any trial, or of which any frame was refused."""
    return frozenset(
        name
        for outcome, planned_ns in evidence.timed_trials
        for name, _ in _find_streams_behind(outcome, planned_ns)
    )


def _find_missing_condition(trials: Sequence[_Trial], evidence: Evidence) -> Reason | None:
    """The first condition that one of these trials does not meet; None: all meet all."""
    for trial in trials:
        missing = next(_find_unmet_conditions(trial, evidence), None)
        if missing is not None:
            return missing
    others = [
        found
        for one in evidence.case_trials
        if (found := _find_pressed_ports(one.trial, one.planned_ns, evidence)) is not None
        and found.refused
        and next(_find_unmet_conditions(found, evidence), None) is None
    ]
    for trial in trials:
        # One of them is the trial itself, though its counts may have been changed since.
        if sum(_agree(trial, other) for other in others) < 2:
            return NoSecondTrial(len(others))
    return None


def _find_pressed_ports(outcome: Outcome, planned_ns: int | None, evidence: Evidence) -> _Trial | None:
    """The ports of a trial that sent too little as their peers' rings were full; None: one did otherwise."""
    short: dict[int, list[StreamResult]] = {}
    streams = {stream.name: stream for stream in outcome.streams}
    for name, reason in _find_streams_behind(outcome, planned_ns):
        number = evidence.situation.sender(name)
        pressure = _pressure(outcome, number)
        if pressure is None or not pressure.full_ns:
            return None
        is_late = isinstance(reason, SentLonger) and pressure.full_ns >= reason.over_ns
        if not streams[name].refused and not is_late:
            return None
        of_port = short.setdefault(number, [])
        of_port += [] if streams[name] in of_port else [streams[name]]
    ports = []
    for number, found in short.items():
        ns = planned_ns or sending_ns(outcome)
        of_port = [one for one in outcome.streams if evidence.situation.sender(one.name) == number]
        pressure = _pressure(outcome, number)
        assert pressure is not None
        load = Fraction(sum(one.intended for one in of_port) * SECOND_NS, ns)
        if not evidence.is_constant:
            # The highest of loads that change is not known here: it is at most the line.
            load = max(load, evidence.situation.in_fps(found[0].name))
        ports.append(_Pressed(pressure, tuple(found), sum(one.offered for one in of_port), load, ns))
    return _Trial(outcome, tuple(ports))


def _find_streams_behind(outcome: Outcome, planned_ns: int | None) -> Iterator[tuple[str, Reason | None]]:
    """Each stream that the tester sent too little of, with the reason, and each with any frame refused."""
    yield from shortfalls(outcome, planned_ns)
    yield from ((one.name, None) for one in outcome.streams if one.refused)


def _pressure(outcome: Outcome, number: int) -> BackPressure | None:
    return outcome.ports[number].back_pressure if number < len(outcome.ports) else None


def _find_unmet_conditions(trial: _Trial, evidence: Evidence) -> Iterator[Reason]:
    """The conditions that a trial does not meet."""
    health = trial.outcome.health
    if not all(port.refused for port in trial.ports):
        # In the end the peer took all, too late: what kept it was no limit of its own.
        yield from _find_stops(trial)
        yield TakenLate()
    # Each worker has a ring of its own.
    rings, held_ns = max(len(health.workers), 1), sum(peer.held_ns for peer in health.peers)
    # Flows are dealt to the workers one by one.
    flows = evidence.flows
    least = Fraction(flows // rings, flows) if flows >= rings else Fraction(1, rings)
    is_slower = evidence.is_constant and all(port.is_slower(rings, least, held_ns) for port in trial.ports)
    if not is_slower:
        yield from _find_disturbances(trial, evidence.situation.burst)
    # A card without room sends pause frames.
    full = health.rx_full + sum(one.pauses_sent for one in trial.outcome.interfaces)
    if full or trial.outcome.dropped:
        # A device that waits for room to send reads no more, either.
        yield ReceiveRingFull(full, trial.outcome.dropped)
    yield from _find_unproven(trial, evidence)


def _find_disturbances(trial: _Trial, burst: int) -> Iterator[Reason]:
    """What may have kept the tester from sending or the peer from reading, where it is more than a little."""
    health = trial.outcome.health
    if health.core_share_ppm is None or health.core_share_ppm < OWN_CORE_PPM:
        yield CoreShared(health.core_share_ppm)
    for port in trial.ports:
        ring_ns = int(port.pressure.ring * SECOND_NS / port.load_fps) if port.load_fps else 0
        if 2 * health.longest_gap_ns >= ring_ns:
            yield LongPause(health.longest_gap_ns, ring_ns)
    yield from _find_stops(trial)
    sent_ns = max((port.planned_ns for port in trial.ports), default=0)
    for peer in health.peers:
        yield from _find_preemption(peer, sent_ns)
    yield from _find_lost_core_time(trial, burst)


def _find_stops(trial: _Trial) -> Iterator[Reason]:
    """Stops of the peer that explain 1 % of the unsent frames or more; any where all was sent at last."""
    stops = sum(port.pressure.stops for port in trial.ports)
    each = (Fraction(port.pressure.stopped_ns, SECOND_NS) * port.load_fps for port in trial.ports)
    explained = sum(each, Fraction(0))
    if stops and explained >= LITTLE * trial.refused:
        stopped_ns = sum(port.pressure.stopped_ns for port in trial.ports)
        yield PeerStopped(stops, stopped_ns, math.ceil(explained), trial.refused)


def _find_unproven(trial: _Trial, evidence: Evidence) -> Iterator[Reason]:
    """What the calibration does not cover. In virtual time the tester has no limits of its own."""
    if evidence.clock == "virtual":
        return
    proven = evidence.proven
    most = proven.max_fps if proven is not None and proven.holds else None
    for port in trial.ports:
        if most is None or most < CLAIM * port.load_fps:
            yield RefusedLoadUnproven(port.load_fps, most)
        if port.pressure.ring != CALIBRATED_RING:
            yield RingSizeUnproven(port.pressure.ring, CALIBRATED_RING)


def _find_preemption(peer: PeerHealth, sent_ns: int) -> Iterator[Reason]:
    """What kept the peer from its core for 1 % of the time frames were sent in, or more."""
    if peer.waited_ns is not None and peer.waited_ns >= LITTLE * sent_ns:
        yield PeerPreempted(peer.pid, peer.waited_ns, sent_ns)
    # Without `schedstat` times are counted in ticks; those of cores always are.
    least, by_ticks = LITTLE * sent_ns, max(LITTLE * sent_ns, Fraction(TICK_NS + 1))
    if peer.ours_ns >= (by_ticks if peer.waited_ns is None else least):
        yield TesterBesidePeer(peer.pid, peer.ours_ns, sent_ns)
    taken_ns = (peer.stolen_ns or 0) + (peer.interrupts_ns or 0)
    if taken_ns >= by_ticks:
        yield CoreInterrupted(peer.pid, taken_ns, sent_ns)


def _find_lost_core_time(trial: _Trial, burst: int) -> Iterator[Reason]:
    """Time that the tester and its peers were kept from their cores, if it explains what a port was refused.

    A device that takes the load falls behind only then: by the frames that are due meanwhile, and at
    most a burst beside them.
    """
    health = trial.outcome.health
    elapsed_ns = sum(phase.duration_ns for phase in trial.outcome.phases)
    own_ns = Fraction(1_000_000 - (health.core_share_ppm or 0), 1_000_000) * elapsed_ns
    peer_ns = sum(peer.held_ns for peer in health.peers)
    for port in trial.ports:
        held_ns = peer_ns + port.pressure.stopped_ns
        explained = (own_ns + held_ns) * port.load_fps / SECOND_NS + burst - 1
        if explained >= port.refused > 0:
            yield HeldBack(math.ceil(own_ns), held_ns, math.ceil(explained), port.refused)


def _agree(one: _Trial, other: _Trial) -> bool:
    """Whether the same streams were refused in both, and the peer took as many frames a second.

    If it took all of one's load in the other, the load is not too much for it.
    """
    rates: Mapping[tuple[str, ...], Fraction] = {port.names: port.taken_fps for port in other.ports}
    if {port.names for port in one.ports} != set(rates):
        return False
    return all(
        abs(port.taken_fps - rates[port.names]) <= AGREE * max(port.taken_fps, rates[port.names])
        and rates[port.names] < port.load_fps
        for port in one.ports
    )
