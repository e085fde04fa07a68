"""Questions of times, and of values that a few frames decide: whether those are the tester's."""

from __future__ import annotations

from fractions import Fraction

from netdyno.methods.reasons.services import StepsPassed
from netdyno.values.verdict import Verdict
from netdyno.verdict.doubt_reasons import (
    LastLossUnsure,
    LateFramesDecide,
    LateTimes,
    LinkUpLate,
    OwnDelays,
    ReceivedLate,
)
from netdyno.verdict.proof import CLAIM, own_ns
from netdyno.verdict.subject import Subject


def is_real_time(subject: Subject) -> bool:
    """Whether a time was measured in real time."""
    return subject.is_real and subject.is_time


def counts_sending_time(subject: Subject) -> bool:
    """Whether a time depends on when frames were sent: not one that is a number of lost frames over the load,
    of which the tester explains less than a tenth."""
    if subject.value.kind.hinges_on != "loss":
        return True
    judged = subject.evidence.judged(subject.stream)
    return 10 * sum(one.explained for one in judged) > sum(one.lost for one in judged)


def find_late_times(subject: Subject) -> Verdict | None:
    """Whether frames were sent so late that a time may be of another load by a tenth."""
    every = subject.evidence.everything
    if not every.late or not _may_late_frames_decide(subject):
        return None
    return Verdict("inconclusive", LateTimes(every.late, every.sent))


def _may_late_frames_decide(subject: Subject) -> bool:
    """Whether late frames of any stream may make a tenth of a time, or are as many as decide it.

    In one queue no frame waits longer for late ones than these were late: it serves at least at the load. But
    for a frame that is lost then, and comes to no time at all; and where classes have queues of their own,
    the lower one waits until all of the higher is made up for.
    """
    value, counts = subject.value, subject.counts
    assert value.number is not None
    if counts.lost or counts.corrupted or subject.evidence.situation.classes:
        return True
    streams = [stream for trial in subject.evidence.trials for stream in trial.streams]
    lags = [stream.lag for stream in streams if stream.lag is not None]
    if 10 * max((lag.max_ns for lag in lags), default=0) > value.number:
        return True
    tail = value.kind.tail
    own = [stream for stream in streams if subject.stream in (None, stream.name)]
    return tail is not None and any(
        tail * stream.received <= subject.evidence.everything.late for stream in own
    )


def find_late_reading(subject: Subject) -> Verdict | None:
    """Whether a time is no longer than a pause of a worker that only receives."""
    number, gap_ns = subject.value.number, subject.evidence.unwitnessed_gap_ns
    assert number is not None
    if not gap_ns or number > gap_ns + (own_ns(subject.evidence) or 0):
        return None
    return Verdict("inconclusive", ReceivedLate(number, gap_ns))


def find_late_link_up(subject: Subject) -> Verdict | None:
    """Whether a tenth of a time is that the tester had a link down for longer than planned."""
    number, over_ns = subject.value.number, subject.evidence.link_down_over_ns
    assert number is not None
    if not over_ns or number < CLAIM * (number - over_ns):
        return None
    return Verdict("inconclusive", LinkUpLate(number, over_ns))


def find_own_delays(subject: Subject) -> Verdict | None:
    """Whether of the delays by which steps failed the tester's own are a tenth or more."""
    value, proven = subject.value, subject.evidence.proven
    if not isinstance(value.note, StepsPassed) or not value.note.is_by_delays:
        return None
    if not subject.is_real or proven is None or proven.latency_floor_ns is None:
        return None
    streams = subject.evidence.stream(value.scope) if value.scope != "sum" else ()
    times = [one.latency for one in streams if one.latency is not None and one.latency.count]
    own, noise = proven.latency_floor_ns, proven.latency_noise_ns or 0
    least = min((Fraction(one.sum_ns, one.count) for one in times), default=Fraction(0))
    spread = min((one.max_ns - one.min_ns for one in times), default=0)
    if CLAIM * (least - own) > least and CLAIM * (spread - noise) > spread:
        return None
    return Verdict("inconclusive", OwnDelays(own, noise))


def find_unsure_last_loss(subject: Subject) -> Verdict | None:
    """Whether the last lost frame, which a value ends with, may be one that the tester dropped or bunched."""
    evidence = subject.evidence
    if subject.value.kind.hinges_on != "last loss" or subject.value.number == 0:
        return None
    own = evidence.dropped + evidence.not_sent + evidence.too_long
    late_ns = evidence.last_loss_late_ns if subject.is_real else 0
    return Verdict("inconclusive", LastLossUnsure(own, late_ns)) if own or late_ns else None


def find_late_delays(subject: Subject) -> Verdict | None:
    """Whether frames that were sent late may have failed a share that delays decide."""
    every = subject.evidence.everything
    if not subject.is_real or not every.late or subject.value.kind.hinges_on != "delay":
        return None
    if subject.value.number == 1 or subject.has_own_loss:
        return None
    return Verdict("inconclusive", LateTimes(every.late, every.sent))


def find_late_deciders(subject: Subject) -> Verdict | None:
    """Whether no more frames came out of order, or to other ports, than were sent late."""
    late, hinge = subject.evidence.everything.late, subject.value.kind.hinges_on
    streams = [one for trial in subject.evidence.trials for one in trial.streams]
    touched = 0
    if hinge == "order":
        touched = sum(one.out_of_order for one in streams if subject.stream in (None, one.name))
    elif hinge == "flooding":
        touched = sum(one.elsewhere for one in streams)
    is_theirs = subject.is_real and 0 < touched <= late
    return Verdict("inconclusive", LateFramesDecide(touched, late)) if is_theirs else None
