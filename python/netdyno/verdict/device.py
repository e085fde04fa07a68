"""The last questions: `device` as far as the tester is calibrated for more, else a bound or `none`."""

from __future__ import annotations

from netdyno.values.verdict import Verdict
from netdyno.verdict.causes import LostSizes, limits_by_errors
from netdyno.verdict.counted import prove_by_drops
from netdyno.verdict.evidence import LINE_SHARE
from netdyno.verdict.licence import hint
from netdyno.verdict.proof import doubt, doubt_measured, near, own_ns
from netdyno.verdict.reasons import (
    DeviceCopied,
    DeviceLost,
    DeviceMeasured,
    DeviceTook,
    Incomplete,
    NoMoreOffered,
    NoMoreOnLine,
    NoneFailed,
    NothingLost,
    NoValue,
)
from netdyno.verdict.subject import Subject
from netdyno.verdict.words import reached, share_of_line


def find_no_value(subject: Subject) -> Verdict:
    """Inconclusive: the method found no value; its note says why."""
    note = subject.value.note
    return Verdict("inconclusive", Incomplete(note) if note else NoValue())


def _is_open(subject: Subject) -> bool:
    """Whether a search reached its highest load: a loss that its goal allows is no limit."""
    return subject.value.searched and subject.value.high is None


def find_doubt(subject: Subject) -> Verdict | None:
    """The verdict in place of `device` where the tester was not calibrated for more."""
    return doubt(subject.value, subject.evidence)


def find_lossy_device(subject: Subject) -> Verdict | None:
    """`device` where frames are missing and the tester is calibrated for more, or the device counted them."""
    value, evidence, counts = subject.value, subject.evidence, subject.counts
    if _is_open(subject) or not (counts.lost or counts.corrupted):
        return None
    what = reached(value, subject.result, evidence)
    # Of a search where it did not pass; of a common one of all its streams together.
    gone = evidence.failed(value.scope if value.by_stream else "sum") if value.searched else counts
    high = None if value.high is None else value.high / evidence.situation.share(value.scope)
    cause = next((one for one in evidence.causes if limits_by_errors(one, high)), None)
    lost = DeviceLost(
        reached=what,
        lost=gone.lost,
        sent=gone.sent,
        corrupted=gone.corrupted,
        is_of_all_streams=value.is_common and len(evidence.situation.streams) > 1,
        missing=evidence.everything.lost,
        dropped=evidence.dropped,
        far_end=evidence.device("partner_drops"),
        is_calibrated=subject.is_real,
        figure=hint(value, subject.result, evidence),
        excused=subject.excused,
        at_pps=value.high if value.searched and what.failed_share is None else None,
        dead=None if isinstance(cause, LostSizes) else gone.dead,
        cause=cause,
    )
    unproven = prove_by_drops(find_doubt(subject), gone, evidence, what)
    return unproven or Verdict("device", lost)


def find_copying_device(subject: Subject) -> Verdict | None:
    """`device` where copies ended a search. A ramp rises on whatever they are: its knee is of lost frames."""
    value, counts = subject.value, subject.counts
    if _is_open(subject) or not value.searched or not counts.duplicates:
        return None
    what = reached(value, subject.result, subject.evidence)
    return find_doubt(subject) or Verdict("device", DeviceCopied(what, counts.duplicates, counts.sent))


def find_other_group(subject: Subject) -> Verdict | None:
    """Inconclusive: another group ended the search. Near the calibrated rate it is a lower bound."""
    value = subject.value
    if not value.is_ended_by_others(subject.result.value(value.name, "sum")):
        return None
    return near(value, subject.evidence) or find_no_value(subject)


def find_open_end(subject: Subject) -> Verdict:
    """`none`: nothing limited the rate; near the calibrated rate it is a lower bound."""
    value, evidence, counts = subject.value, subject.evidence, subject.counts
    refused = sum(
        one.refused
        for trial in evidence.trials
        for one in trial.streams
        if value.is_common or value.scope in ("sum", one.name)
    )
    schedule = subject.result.of_role("schedule", value.scope)
    # The highest load: of a schedule, or of a search that it passed.
    loads = [one for one in (schedule and schedule.number, value.load) if one]
    is_full = (
        evidence.enforced_rate
        and bool(loads)
        and share_of_line(value, max(loads), evidence.situation) >= LINE_SHARE
    )
    what = reached(value, subject.result, evidence)
    found = (what, counts.lost + refused, counts.sent + refused, counts.duplicates)
    reason = NoMoreOnLine if is_full else NoMoreOffered
    return near(value, evidence) or Verdict("none", reason(*found))


def find_no_loss(subject: Subject) -> Verdict | None:
    """`none` on a share of lost frames that is none."""
    if subject.value.number != 0:
        return None
    bare = any(stream.is_bare for trial in subject.evidence.trials for stream in trial.streams)
    frames = subject.value.of_frames or 0
    return Verdict("none", NothingLost(frames, subject.counts.duplicates, bare, subject.short))


def find_none_failed(subject: Subject) -> Verdict | None:
    """`none` on a number of failures that is none: nothing that was asked is beyond the device."""
    value = subject.value
    if value.kind.is_count and value.kind.better == "less" and value.number == 0:
        return Verdict("none", NoneFailed(value.name))
    return None


def find_unproven_measure(subject: Subject) -> Verdict | None:
    """The verdict in place of `device` on a measure at a load that the tester may have caused."""
    unproven = doubt_measured(subject.value, subject.evidence)
    if subject.is_of_frames and not subject.is_time:
        return prove_by_drops(unproven, subject.counts, subject.evidence)
    return unproven


def find_device_time(subject: Subject) -> Verdict | None:
    """`device` on a time."""
    value, counts = subject.value, subject.counts
    if not subject.is_time:
        return None
    assert value.number is not None
    excused = subject.excused if counts.late else None
    own = own_ns(subject.evidence)
    return Verdict("device", DeviceTook(value.number, own, counts.lost, counts.sent, excused))


def find_device_measure(subject: Subject) -> Verdict:
    """`device` on a share or a count."""
    value, evidence, counts = subject.value, subject.evidence, subject.counts
    # What ended a search by counts is what tells, where loss is not what it is about.
    is_clean = counts.sent and not (counts.lost or counts.corrupted)
    is_count = is_clean and value.scope == "sum" and value.low is not None
    cause = next((one for one in evidence.causes if counts.lost), None)
    measured = DeviceMeasured(
        lost=counts.lost,
        sent=counts.sent,
        corrupted=counts.corrupted,
        copies=counts.duplicates,
        is_of_all_streams=value.scope == "sum" and len(evidence.situation.streams) > 1,
        note=value.note if is_count else None,
        dead=None if isinstance(cause, LostSizes) else counts.dead,
        cause=cause,
        of_links=subject.of_links,
        excused=subject.excused if subject.is_of_frames else None,
        short=evidence.short(value.scope),
    )
    return Verdict("device", measured)
