"""Questions of the limit `line`: whether a line, or one member of a LAG, was full."""

from __future__ import annotations

from fractions import Fraction

from netdyno.methods.parts.queued import find_queued
from netdyno.values.rates import LONGEST_FRAME, WIRE_OVERHEAD
from netdyno.values.verdict import Verdict
from netdyno.verdict.evidence import LINE_SHARE, Arrival
from netdyno.verdict.pressure_reasons import DeviceRefused
from netdyno.verdict.reasons import HashFilledPort, LineFull, LineOversubscribed, LineShared, MemberFull
from netdyno.verdict.subject import Subject

STANDING = 10
"""A queue stands where frames took this many times as long as the quickest, to the end."""

KNEE_MARGIN = Fraction(11, 10)
"""A knee is the device's if the line, or the tester's schedule, goes this many times further."""


def can_be_line(subject: Subject) -> bool:
    """Whether a full line may be told from a burst that makes up for a pause: where the line is enforced, or
    the tester sent all, or the device waited for its line to send on."""
    if subject.value.number is None:
        return False
    return subject.evidence.enforced_rate or subject.short is None or subject.is_refused_by_device


def find_full_line(subject: Subject) -> Verdict | None:
    """`line` where a rate is that of its line, and no loss set in well before."""
    value, evidence = subject.value, subject.evidence
    line = evidence.situation.line(value.scope)
    # A search that gives an upper bound has lost frames below the line: it knows closer than this share.
    if _is_bracketed(subject) or _has_knee_before(subject, line) or _has_lossy_end(subject):
        return None
    assert value.number is not None
    if _find_lasting_rate(subject) < LINE_SHARE * line:
        return None
    queue_ns = _find_standing_queue_ns(subject)
    return Verdict("line", LineFull(value.number, line, not evidence.enforced_rate, queue_ns, value.searched))


def find_shared_line(subject: Subject) -> Verdict | None:
    """`line` where several streams filled the line that they leave by, and the load could not go on there."""
    if not subject.evidence.enforced_rate or subject.evidence.situation.crowd(subject.value.scope)[0] < 2:
        return None
    return _judge_shared_search(subject) if _is_bracketed(subject) else _judge_shared_knee(subject)


def find_full_member(subject: Subject) -> Verdict | None:
    """`line` where a single flow filled the one LAG member that it may use."""
    ceiling = subject.evidence.situation.flow_ceiling_fps
    # That a single flow loses what its member cannot carry is no sign of anything else.
    if (
        ceiling is None
        or _has_knee_before(subject, ceiling)
        or _find_lasting_rate(subject) < LINE_SHARE * ceiling
    ):
        return None
    assert subject.value.number is not None
    return Verdict("line", MemberFull(subject.value.number, ceiling, subject.value.searched))


def find_full_arrival(subject: Subject) -> Verdict | None:
    """`line` on a loss where a hash filled one port of a LAG or bundle, while others had room. Each stream
    that lost frames went to such a port."""
    evidence, counts, found = subject.evidence, subject.counts, list[Arrival]()
    if not evidence.enforced_rate or not evidence.situation.has_bundles:
        return None
    scope = "sum" if subject.stream is None else subject.stream
    names = {evidence.situation.streams[one] for one in evidence.situation.members(scope)}
    for trial, planned_ns in evidence.timed_trials:
        for stream in (one for one in trial.streams if one.name in names and one.lost > 0):
            arrival = evidence.fullest_arrival(trial, planned_ns, stream.name)
            if arrival is None or arrival.part < LINE_SHARE:
                return None
            found.append(arrival)
    if not found:
        return None
    # Where the least was lost, the port had most of what the hash gives it.
    full = max(found, key=lambda arrival: arrival.share)
    shares = min(full.part, Fraction(1)), full.share
    return Verdict("line", HashFilledPort(counts.lost, counts.sent, full.port, full.ports, *shares))


def has_no_early_knee(subject: Subject) -> bool:
    """Whether no loss set in well before the rate of the value."""
    return not _has_knee_before(subject, _find_lasting_rate(subject))


def find_oversubscribed_line(subject: Subject) -> Verdict | None:
    """`line` on a loss of lines that were offered more than they carry.

    What a queue holds comes after the traffic, and makes the line look the fuller; it is never the reason of
    a loss. By a ring or a cable that nothing holds to its rate frames may come faster than by the line.
    """
    evidence, counts = subject.evidence, subject.counts
    if not evidence.enforced_rate:
        return None
    lossy = [(sent, came) for sent, came in evidence.fullness(subject.value.scope) if came < sent]
    # Of what is sent to a line that has room for it, and of what a full line had room for, none is lost.
    if not lossy or any(sent * LINE_SHARE <= 1 or came < LINE_SHARE for sent, came in lossy):
        return None
    sent, came = max(one for one in evidence.whole_fullness(subject.value.scope) if one[1] < one[0])
    # Frames still queued come after the traffic.
    shares = sent, min(came, Fraction(1))
    return Verdict("line", LineOversubscribed(counts.lost, counts.sent, counts.corrupted, *shares))


def find_line_behind_device(subject: Subject) -> Verdict | None:
    """`line` where a memif device did not take frames because it waited for its line to send on."""
    counts, lines = subject.counts, subject.evidence.fullness(subject.value.scope)
    reason = None if subject.refused is None else subject.refused.reason
    if not isinstance(reason, DeviceRefused) or not counts.sent or not lines:
        return None
    if any(came < LINE_SHARE for _, came in lines):
        return None
    sent, came = min(lines, key=lambda line: line[1])
    asked = counts.sent + reason.refused
    of_line = (counts.lost + reason.refused, asked, counts.corrupted, sent * asked / counts.sent, came)
    return Verdict("line", LineOversubscribed(*of_line))


def _is_bracketed(subject: Subject) -> bool:
    """Whether a search knows a load that did not pass."""
    return subject.value.searched and subject.value.high is not None


def _has_knee_before(subject: Subject, rate: Fraction) -> bool:
    """Whether loss set in well before a rate, and stayed: it has another cause, however small its share."""
    knee = subject.result.of_role("knee", subject.value.scope)
    return knee is not None and knee.high is not None and knee.high * KNEE_MARGIN < rate


def _find_standing_queue_ns(subject: Subject) -> int | None:
    """The highest mean latency of a stream of which frames were still queued when sending ended, if frames
    took many times as long as the quickest; None: no queue stood."""
    situation = subject.evidence.situation
    names = {situation.streams[member] for member in situation.members(subject.value.scope)}
    found: list[int] = []
    for trial in subject.evidence.trials:
        queued = {one.stream: one for one in find_queued(situation, trial) if one.stream in names}
        for stream in trial.streams:
            times, held = stream.latency, queued.get(stream.name)
            if held is None or times is None:
                continue
            waits_ns = held.frames * held.took_ns / held.offered
            mean_ns = times.sum_ns // times.count
            least_ns = STANDING * max(times.min_ns, 1)
            if waits_ns >= least_ns and mean_ns >= least_ns:
                found.append(mean_ns)
    return max(found, default=None)


def _has_lossy_end(subject: Subject) -> bool:
    """Whether a ramp that filled the line for a moment lost more at its end than a full line explains."""
    end = subject.result.of_role("loss at the end", subject.value.scope)
    return end is not None and end.number is not None and end.number > 1 - LINE_SHARE


def _find_lasting_rate(subject: Subject) -> Fraction:
    """The rate of a value that lasts: frames still queued had not come by the line. What the longest frame of
    a mix may shift at the ends of a trial counts as not queued: it takes longer than short ones."""
    value, evidence = subject.value, subject.evidence
    assert value.number is not None
    situation, lasting = evidence.situation, value.lasting or Fraction(0)
    if not situation.mixed_receivers or evidence.clean_ns is None:
        return lasting
    edge = len(situation.members(value.scope)) * LONGEST_FRAME / (situation.mean_size + WIRE_OVERHEAD)
    assert value.load is not None
    return min(lasting + edge * 10**9 / evidence.clean_ns, value.load)


def _judge_shared_search(subject: Subject) -> Verdict | None:
    """The verdict on a search that ended where several streams filled their line; None: it did not."""
    value, situation = subject.value, subject.evidence.situation
    assert value.number is not None
    assert value.load is not None
    assert value.lasting is not None
    assert value.high is not None
    count, times = situation.crowd(value.scope)
    line = situation.out_fps(value.scope)
    if value.high * times <= line:
        return None
    if value.lasting * times < LINE_SHARE * line:
        # The line lies between the bounds of the search: whether it was full decides.
        return find_oversubscribed_line(subject)
    is_queued, has_classes = value.load * times > line, situation.is_beside_classes(value.scope)
    # Where a class beside them is lost, they have some of its part of the line.
    share = min(value.lasting * times / line, Fraction(1))
    found = (count - has_classes, share, is_queued, has_classes)
    return Verdict("line", LineShared(value.number, value.high, *found, is_searched=True))


def _judge_shared_knee(subject: Subject) -> Verdict | None:
    """The verdict where loss set in as several streams filled their line; None: it did not."""
    situation, scope = subject.evidence.situation, subject.value.scope
    knee = subject.result.of_role("knee", scope)
    count, times = situation.crowd(scope)
    line = situation.out_fps(scope)
    if knee is None or knee.number is None or knee.number * times < LINE_SHARE * line:
        return None
    # A queue of the device may hide the first of the loss, and makes the line look the fuller.
    share = min(knee.number * times / line, Fraction(1))
    has_classes = situation.is_beside_classes(scope)
    found = (count - has_classes, share, False, has_classes)
    return Verdict("line", LineShared(knee.number, knee.high or knee.number, *found))
