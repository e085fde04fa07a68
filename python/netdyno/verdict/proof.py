"""Compares a result with the calibration of the tester: rate, loss, latency.

A tester that drops frames without counting them, or loses them before the wire, has the same counts as with
a slow device. Only a calibration shows the difference: the same ports and frames, without a device.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import zip_longest

from netdyno.methods import sending_ns
from netdyno.values.finding import Value
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import Reason
from netdyno.values.verdict import Verdict
from netdyno.verdict.evidence import LINE_SHARE, Evidence
from netdyno.verdict.proof_reasons import (
    CalibrationEmpty,
    CalibrationExpired,
    LoadUnproven,
    LossUnproven,
    NearProof,
    NoOwnLatency,
    NotCalibrated,
    OwnLatency,
    OwnPartUnproven,
    ProofTooLow,
)
from netdyno.verdict.words import at_rate

CLAIM = Fraction(11, 10)
"""A device is named only if the tester is calibrated for this many times the result."""

NEAR = Fraction(95, 100)
"""From this share of what was proven on, the result may be the tester's own."""

SECOND_NS = 10**9


def doubt(value: Value, evidence: Evidence) -> Verdict | None:
    """The verdict in place of `device`, where the tester was not calibrated for more; None: it was.

    In virtual time the tester has no limits of its own, and nothing is to be proven.
    """
    if evidence.clock == "virtual":
        return None
    unproven = _find_missing_proof(evidence)
    if unproven is not None:
        return Verdict("inconclusive", LossUnproven(unproven, at_rate(value)))
    most = _most(evidence)
    assert most is not None
    # A tester that passes all of an enforced line passes whatever it brings: more cannot come.
    if evidence.enforced_rate and most >= LINE_SHARE * evidence.situation.line_fps:
        return None
    close = near(value, evidence)
    if close is not None:
        return close
    most *= evidence.situation.share(value.scope)
    needed = value.high if value.searched and value.high is not None else Fraction(0)
    needed = max(needed, CLAIM * (value.load or value.low or Fraction(0)))
    if most >= needed:
        return None
    return Verdict("inconclusive", ProofTooLow(at_rate(value), most, needed))


def doubt_measured(value: Value, evidence: Evidence) -> Verdict | None:
    """The verdict in place of `device` on a time or a share that the tester may have caused; else None.

    What was measured at a load is the device's as far as the tester passes that load itself; a time, as far
    as it is longer than the tester's own.
    """
    if evidence.clock == "virtual":
        return None
    unproven = _find_missing_proof(evidence)
    if unproven is not None:
        return Verdict("inconclusive", OwnPartUnproven(unproven))
    proven, most = evidence.proven, _most(evidence)
    assert proven is not None
    assert most is not None
    own = own_ns(evidence)
    sent = _find_highest_load(evidence)
    if sent > most:
        return Verdict("inconclusive", LoadUnproven(sent, most))
    if value.unit != "ns" or value.number is None or value.kind.hinges_on == "loss":
        return None
    if own is None:
        return Verdict("inconclusive", NoOwnLatency(proven.id))
    return None if value.number > own else Verdict("tester", OwnLatency(own))


def own_ns(evidence: Evidence) -> int | None:
    """The tester's own latency with its noise, at a low load or at those of the trials, and the longest that
    frames waited in its queues, ns; None: in virtual time, or where none was measured."""
    proven = evidence.proven
    if evidence.clock == "virtual" or proven is None or proven.latency_floor_ns is None:
        return None
    queued = max((trial.health.tx_ahead_ns or 0 for trial in evidence.trials), default=0)
    least_ns = proven.latency_floor_ns + (proven.latency_noise_ns or 0)
    return max(least_ns, proven.own_ns(_find_highest_load(evidence))) + queued


def _find_highest_load(evidence: Evidence) -> Fraction:
    """The highest load that a port sent in the trials, frames a second: the average, or of a load that
    changes that of the fullest sample."""
    return max(
        (load for trial, planned_ns in evidence.timed_trials for load in _loads(trial, planned_ns, evidence)),
        default=Fraction(0),
    )


def _loads(trial: Outcome, planned_ns: int | None, evidence: Evidence) -> Iterator[Fraction]:
    """The load of each sending port, on average, and of each of its samples if the load changes."""
    ports: dict[int, list[StreamResult]] = {}
    for stream in trial.streams:
        ports.setdefault(evidence.situation.sender(stream.name), []).append(stream)
    ns = max(planned_ns or sending_ns(trial), 1)
    # A modifier's frames have their place on the line, too.
    whole = SECOND_NS / (1 - evidence.situation.beside)
    for streams in ports.values():
        yield sum(one.offered for one in streams) * whole / ns
        if not evidence.is_constant:
            samples = zip_longest(*(one.tx for one in streams), fillvalue=0)
            yield from (sum(frames) * whole / trial.sample_ns for frames in samples)


def near(value: Value, evidence: Evidence) -> Verdict | None:
    """The verdict on a rate that is near or above the calibrated one: a lower bound; None: it is below.

    None also if the calibration was stricter than the case: its rate is no limit of the tester's then.
    """
    if evidence.proven is None or evidence.proven.is_stricter:
        return None
    # What was proven is of a port, and a stream may be a part of what its port sends.
    most, number = _most(evidence), value.load
    if most is not None:
        most *= evidence.situation.share(value.scope)
    if evidence.clock == "virtual" or most is None or number is None or number < NEAR * most:
        return None
    return Verdict("tester", NearProof(number, most, value.searched, evidence.proven.host))


def _most(evidence: Evidence) -> Fraction | None:
    """The highest load that the tester is calibrated for, if the proof holds."""
    proven = evidence.proven
    return proven.max_fps if proven is not None and proven.holds and proven.max_fps else None


def _find_missing_proof(evidence: Evidence) -> Reason | None:
    """The reason why no calibration applies; None: one does."""
    proven = evidence.proven
    if proven is None:
        return NotCalibrated()
    if proven.expired is not None:
        return CalibrationExpired(proven.id, proven.expired)
    return None if proven.max_fps else CalibrationEmpty(proven.id)
