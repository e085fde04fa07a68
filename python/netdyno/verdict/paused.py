"""Frames that the tester could not send while the device sent pause frames: by IEEE 802.3x, or of a class.

That is the device's limit only as far as these account for all that was not sent. Cards do not count how long
each asked for, so the longest is taken that it can ask for. That is no proof, and so nothing else may have
held the tester back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from netdyno.methods import sending_ns, shortfalls
from netdyno.methods.reasons.tester import SentLonger
from netdyno.values.outcome import Outcome
from netdyno.values.rates import WIRE_OVERHEAD
from netdyno.values.reason import Reason
from netdyno.values.verdict import Verdict
from netdyno.verdict.back_pressure import CLAIM, OWN_CORE_PPM, SECOND_NS
from netdyno.verdict.evidence import Evidence
from netdyno.verdict.pressure_reasons import (
    CoreShared,
    DevicePaused,
    LineNotEnforced,
    OwnGap,
    PausedByClass,
    PausesReceived,
    ReceiveRingFull,
    RefusedLoadUnproven,
    TakenLate,
)
from netdyno.verdict.saying import Reached
from netdyno.verdict.subject import Subject
from netdyno.verdict.words import at_rate

OWN_PART = 10
"""A gap of the tester's own that is due to hold back one in so many of the unsent frames is too much."""


@dataclass(frozen=True)
class _Paused:
    """A port that sent too little in a trial. explained: frames that pauses held back at most."""

    trial: Outcome
    pauses: int
    unsent: int
    explained: int
    intended: int
    load_fps: Fraction
    is_by_class: bool


def find_pausing_device(subject: Subject) -> Verdict | None:
    """`device` where its pause frames account for all that the tester could not send; inconclusive where the
    tester, or its card, may have had a part in it."""
    evidence, value = subject.evidence, subject.value
    ports = list(_find_short_ports(evidence))
    if not ports or None in ports:
        return None
    found = [port for port in ports if port is not None]
    unsent = sum(port.unsent for port in found)
    counts = (
        sum(port.pauses for port in found),
        unsent,
        sum(port.intended for port in found),
        sum(port.explained for port in found),
        subject.counts.lost,
    )
    missing = next((reason for port in found for reason in _find_unmet(port, evidence)), None)
    if missing is None and (subject.is_time or not unsent):
        missing = TakenLate(is_time=subject.is_time)
    if missing is not None:
        return Verdict("inconclusive", PausesReceived(*counts, missing))
    reached = at_rate(value) if value.unit == "fps" else Reached(None)
    return Verdict("device", DevicePaused(reached, *counts))


def _find_short_ports(evidence: Evidence) -> Iterator[_Paused | None]:
    """The ports that sent too little, of each trial; None: pause frames do not account for all of it."""
    situation = evidence.situation
    for trial, planned_ns in evidence.timed_trials:
        ns = planned_ns or sending_ns(trial)
        short: dict[int, int] = {}
        for name, reason in shortfalls(trial, planned_ns):
            over_ns = reason.over_ns if isinstance(reason, SentLonger) else 0
            number = situation.sender(name)
            short[number] = max(short.get(number, 0), over_ns)
        for number, over_ns in short.items():
            of_port = [one for one in trial.streams if situation.sender(one.name) == number]
            port = trial.ports[number].name if number < len(trial.ports) else ""
            card = next((one for one in trial.interfaces if one.port == port), None)
            if card is None:
                yield None
                continue
            line_bps = situation.in_fps(of_port[0].name) * 8 * (situation.mean_size + WIRE_OVERHEAD)
            paused_ns = min(card.longest_paused_ns(line_bps), Fraction(ns))
            intended = sum(one.intended for one in of_port)
            unsent = sum(one.intended - one.offered for one in of_port)
            explained = math.ceil(intended * paused_ns / ns)
            load_fps = Fraction(intended * SECOND_NS, ns)
            if not evidence.is_constant:
                load_fps = max(load_fps, situation.in_fps(of_port[0].name))
            if unsent <= explained and over_ns <= paused_ns:
                of = (card.paused, unsent, explained, intended, load_fps, card.is_paused_by_class)
                yield _Paused(trial, *of)
            else:
                yield None


def _find_unmet(port: _Paused, evidence: Evidence) -> Iterator[Reason]:
    """What else may have held the tester, or the device, back."""
    trial, proven = port.trial, evidence.proven
    health = trial.health
    if health.core_share_ppm is None or health.core_share_ppm < OWN_CORE_PPM:
        yield CoreShared(health.core_share_ppm)
    gap_ns = health.longest_gap_ns
    if OWN_PART * port.load_fps * gap_ns > port.unsent * SECOND_NS:
        yield OwnGap(gap_ns)
    if port.is_by_class:
        yield PausedByClass()
    if not evidence.enforced_rate:
        # How long a pause lasts follows from the speed of the card, and what the plan says may be lower.
        yield LineNotEnforced()
    full = health.rx_full + sum(one.pauses_sent for one in trial.interfaces)
    if full or trial.dropped:
        # A device that waits for room to send takes no more.
        yield ReceiveRingFull(full, trial.dropped)
    most = proven.max_fps if proven is not None and proven.holds else None
    if most is None or most < CLAIM * port.load_fps:
        yield RefusedLoadUnproven(port.load_fps, most)
