"""The limit on one case: the questions, and their order.

The order of the questions matters. What filled the line is limited by the line, whatever else
happened. After that the tester doubts itself, its receiver and its fixture before it names the device;
and that it names only as far as it is calibrated for more itself.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from netdyno.methods.reasons.services import StepsPassed
from netdyno.values.finding import Result, Value
from netdyno.values.rates import LONGEST_FRAME, WIRE_OVERHEAD
from netdyno.values.reason import Reason
from netdyno.values.verdict import Verdict
from netdyno.verdict.back_pressure import is_of_others, judge_back_pressure, judge_stops
from netdyno.verdict.counted import prove_by_drops
from netdyno.verdict.directions import with_sums
from netdyno.verdict.doubt_reasons import (
    BeyondWindow,
    DamagedOnLine,
    FramesJoined,
    LateBurst,
    LateFrames,
    LateTimes,
    LineOfOthers,
    LinkUpLate,
    LostBehindLink,
    LostWhileHeld,
    OwnDelays,
    PausesSent,
    QuestionsUnanswered,
    ReceivedLate,
    ReceiverPaused,
)
from netdyno.verdict.evidence import LINE_SHARE, OWN_DROPS, Counts, Evidence, noticeable
from netdyno.verdict.few_frames import judge_few_frames
from netdyno.verdict.licence import hint
from netdyno.verdict.neighbourhood import find_moved_host
from netdyno.verdict.pressure_reasons import DeviceRefused
from netdyno.verdict.proof import CLAIM, doubt, doubt_measured, near, own_ns
from netdyno.verdict.reasons import (
    CarrierLost,
    DeviceBeforeTester,
    DeviceCopied,
    DeviceLost,
    DeviceMeasured,
    DeviceTook,
    DroppedReceiving,
    DroppedSending,
    FarEndDropped,
    FramesMade,
    Incomplete,
    LineFull,
    LineOversubscribed,
    LineShared,
    LostCatchingUp,
    LostWhileFull,
    LostWhileLate,
    MemberFull,
    NeighbourUnsettled,
    NoMoreOffered,
    NoMoreOnLine,
    NothingAsked,
    NothingLost,
    NothingMeasured,
    NoValue,
    OtherLoad,
    ReceivedUnseen,
    RingFull,
    SentNone,
    SplitFlows,
    TesterShort,
)
from netdyno.verdict.words import at_rate, reached, share_of_line

LATE_NS = 1_000_000
"""A frame that left this much after its time means a burst behind it, which a device may well lose."""

KNEE_MARGIN = Fraction(11, 10)
"""A knee is the device's if the tester kept its schedule this many times further."""

MANY_DROPS = Fraction(1, 10)
"""A tester that dropped so much of what is missing is the limit, whatever the device lost besides: it may
have lost more than its interfaces count."""

LITTLE = Fraction(1, 100)
"""A load that is less than asked for by no more than this share."""

OWN_CORE_PPM = 900_000
"""A tester that had less of its core than this was not the one that decided when it sent."""


def judge(result: Result, evidence: Evidence, headline: str = "") -> dict[str, Verdict]:
    """A verdict for each scope of a headline: every stream, every port group, and their sum.

    headline: the first, if empty. The evidence is that of the trials which this headline rests on
    (`Result.resting`).
    """

    def of(scope: str) -> Value | None:
        return result.value(headline, scope) if headline else result.headline((scope,))

    own = _by_scope(result, evidence, headline)
    values = {scope: value for scope in evidence.situation.streams if (value := of(scope)) is not None}
    verdicts = {scope: _judge_value(value, result, own(scope)) for scope, value in values.items()}
    together = of("sum")
    if together is None:
        return verdicts
    if not verdicts:
        return {"sum": _judge_value(together, result, own("sum"))}
    # Groups that others kept from more have no limit of their own, and none that all have together.
    ended = {name for name, value in values.items() if not value.is_ended_by_others(together)}
    return with_sums(verdicts, evidence.situation, ended)


def _by_scope(result: Result, evidence: Evidence, headline: str) -> Callable[[str], Evidence]:
    """Gives the evidence for one scope of a headline: the trials that its value there rests on."""
    name = headline or next(iter(result.headlines), "")
    if name not in result.rests_by_scope:
        return lambda scope: evidence
    every = result.resting(name)
    found: dict[tuple[int, ...], Evidence] = {}

    def own(scope: str) -> Evidence:
        numbers = result.resting(name, scope)
        if numbers not in found:
            places = [place for place, number in enumerate(every) if number in numbers]
            found[numbers] = evidence.of_trials(places)
        return found[numbers]

    return own


def _judge_value(value: Value, result: Result, evidence: Evidence) -> Verdict:
    if value.number is None and not evidence.trials:
        return Verdict("inconclusive", Incomplete(value.note) if value.note else NothingMeasured())
    judged = _judge_stream if value.unit == "fps" else _judge_measured
    verdict = judged(value, result, evidence)
    return (judge_stops(value, evidence) or verdict) if verdict.limit == "none" else verdict


def _counts(value: Value, evidence: Evidence) -> Counts:
    # A common search ends where any direction fails, so what limited one of them limited the load of all.
    return evidence.everything if value.is_common else evidence.of(value.scope)


def _judge_measured(value: Value, result: Result, evidence: Evidence) -> Verdict:
    """The verdict on one direction's time or share, which was measured at a given load."""
    counts = _counts(value, evidence)
    wrong = _invalid(counts, evidence) or _apart(evidence)
    if wrong is not None:
        return wrong
    short = evidence.short(value.scope)
    pressed = judge_back_pressure(value, evidence)
    if pressed is None and short is not None:
        other = _link(value, counts, evidence)
        if other is None and not _is_lossy_below(value, evidence):
            other = Verdict("tester", OtherLoad(short))
        if other is not None:
            return other
    if pressed is not None and not _is_taken_whole(pressed, value, evidence):
        return _of_refused(pressed, value, counts, evidence)
    if value.number is None or _is_bound(value):
        return Verdict("inconclusive", Incomplete(value.note) if value.note else NoValue())
    own = _not_of_the_device(value, counts, evidence)
    by_loss = value.kind.hinges_on == "loss" and _is_little_explained(value, evidence)
    if own is None and counts.late and evidence.clock == "real" and value.unit == "ns" and not by_loss:
        own = Verdict("inconclusive", LateTimes(counts.late, counts.sent))
    own = own or judge_few_frames(value, evidence, _judged_of(value))
    if own is None and evidence.pauses_sent and value.unit == "ns":
        own = Verdict("inconclusive", PausesSent(counts.lost, counts.sent, evidence.pauses_sent))
    if own is None and evidence.clock == "real" and value.unit == "ns":
        received = None if by_loss else _received_late(value, evidence)
        own = received or _link_up_late(value, evidence)
    if own is None and isinstance(value.note, StepsPassed) and value.note.is_by_delays:
        own = _own_delays(value, evidence)
    if own is None and value.of_frames is not None:
        own = _no_loss(value, counts.duplicates, evidence) or _loss_of_the_line(counts, value, evidence)
    unproven = None if own else doubt_measured(value, evidence)
    if value.of_frames is not None and value.unit != "ns":
        unproven = prove_by_drops(unproven, counts, evidence)
    return own or unproven or Verdict("device", _measured(value, counts, evidence))


def _is_lossy_below(value: Value, evidence: Evidence) -> bool:
    """Whether a device lost frames at hardly less load than it was to get: what it loses there, less what
    the tester explains, it loses at the full load, too."""
    is_loss = value.of_frames is not None and value.unit != "ns"
    return is_loss and evidence.behind <= LITTLE and evidence.has_own_loss(_judged_of(value))


def _is_little_explained(value: Value, evidence: Evidence) -> bool:
    """Whether the tester explains less than a tenth of the loss."""
    judged = evidence.judged(_judged_of(value))
    return 10 * sum(one.explained for one in judged) <= sum(one.lost for one in judged)


def _received_late(value: Value, evidence: Evidence) -> Verdict | None:
    """The verdict on a time no longer than a pause of a worker that only receives, which late frames do not
    show; None: it is longer."""
    assert value.number is not None
    gap_ns = evidence.unwitnessed_gap_ns
    if not gap_ns or value.number > gap_ns + (own_ns(evidence) or 0):
        return None
    return Verdict("inconclusive", ReceivedLate(value.number, gap_ns))


def _own_delays(value: Value, evidence: Evidence) -> Verdict | None:
    """The verdict on steps that failed by their delays, of which the tester's own are a tenth or more; None:
    these are less, or unknown."""
    proven = evidence.proven
    if evidence.clock == "virtual" or proven is None or proven.latency_floor_ns is None:
        return None
    streams = evidence.stream(value.scope) if value.scope != "sum" else ()
    times = [one.latency for one in streams if one.latency is not None and one.latency.count]
    own, noise = proven.latency_floor_ns, proven.latency_noise_ns or 0
    least = min((Fraction(one.sum_ns, one.count) for one in times), default=Fraction(0))
    spread = min((one.max_ns - one.min_ns for one in times), default=0)
    if CLAIM * (least - own) > least and CLAIM * (spread - noise) > spread:
        return None
    return Verdict("inconclusive", OwnDelays(own, noise))


def _link_up_late(value: Value, evidence: Evidence) -> Verdict | None:
    """The verdict on a time while the tester had a link down for longer than planned; None: without that the
    time would be shorter by less than a tenth."""
    assert value.number is not None
    over_ns = evidence.link_down_over_ns
    if value.number >= CLAIM * (value.number - over_ns):
        return Verdict("inconclusive", LinkUpLate(value.number, over_ns)) if over_ns else None
    return None


def _measured(value: Value, counts: Counts, evidence: Evidence) -> DeviceTook | DeviceMeasured:
    """The reason of `device` for a time, or for a share or a count."""
    if value.unit == "ns":
        assert value.number is not None
        excused = _excused(value, evidence) if counts.late else None
        return DeviceTook(value.number, own_ns(evidence), counts.lost, counts.sent, excused)
    # What ended a search by counts is what tells, where loss is not what it is about.
    is_clean = counts.sent and not (counts.lost or counts.corrupted)
    is_count = is_clean and value.scope == "sum" and value.low is not None
    return DeviceMeasured(
        lost=counts.lost,
        sent=counts.sent,
        corrupted=counts.corrupted,
        copies=counts.duplicates,
        is_of_all_streams=value.scope == "sum" and len(evidence.situation.streams) > 1,
        note=value.note if is_count else None,
        dead=counts.dead,
        of_links=_of_links(value, evidence),
        excused=_excused(value, evidence) if value.of_frames is not None else None,
        short=evidence.short(value.scope),
    )


def _link(value: Value, counts: Counts, evidence: Evidence) -> Verdict | None:
    """The verdict `link` where nothing is missing but what links without carrier lost; None: not so.

    A value that is no share of lost frames may be what it is because of the link, whatever else was lost; but
    because of the device only if nothing else was.
    """
    lost, others = _of_links(value, evidence), counts.lost + counts.corrupted
    if evidence.linked is None or not lost:
        return None
    linked = evidence.linked
    by_device = linked.cause == "device"
    if others and (value.of_frames is not None or by_device):
        return None
    dropped, missing = evidence.dropped, evidence.everything.lost + linked.lost_of("sum")
    if noticeable(dropped, missing):
        return Verdict("receiver", DroppedReceiving(dropped, missing))
    if 2 * evidence.unseen >= missing:
        return Verdict("receiver", ReceivedUnseen(evidence.unseen, missing))
    if 2 * linked.behind > linked.lost_of("sum"):
        behind = (linked.behind, linked.times, linked.without_ns, linked.ports)
        return Verdict("inconclusive", LostBehindLink(lost, counts.sent, *behind))
    reason = CarrierLost(lost, counts.sent, linked.times, linked.without_ns, linked.ports, by_device, others)
    return Verdict("device" if by_device else "link", reason)


def _of_links(value: Value, evidence: Evidence) -> int:
    """Frames of a value's scope that links without carrier lost."""
    return 0 if evidence.linked is None else evidence.linked.lost_of(value.scope)


def _no_loss(value: Value, copies: int, evidence: Evidence) -> Verdict | None:
    """The verdict on a value without loss: nothing limited it; None: frames were lost."""
    if value.number != 0:
        return None
    bare = any(stream.is_bare for trial in evidence.trials for stream in trial.streams)
    return Verdict("none", NothingLost(value.of_frames or 0, copies, may_hide=bare))


def _loss_of_the_line(counts: Counts, value: Value, evidence: Evidence) -> Verdict | None:
    """The verdict `line` on a loss of lines that were offered more than they carry; None: not so.

    What a queue holds comes after the traffic, and makes the line look the fuller; it is never the reason of
    a loss. By a ring or a cable that nothing holds to its rate frames may come faster than by the line.
    """
    if not evidence.enforced_rate:
        return None
    lossy = [(sent, came) for sent, came in evidence.fullness(value.scope) if came < sent]
    # Of what is sent to a line that has room for it, and of what a full line had room for, none is lost.
    if not lossy or any(sent * LINE_SHARE <= 1 or came < LINE_SHARE for sent, came in lossy):
        return None
    sent, came = max(lossy)
    return Verdict("line", LineOversubscribed(counts.lost, counts.sent, counts.corrupted, sent, came))


def _is_bound(value: Value) -> bool:
    """Whether the value is a lower bound only, because the trials ended before the limit of the device."""
    return value.low is not None and value.high is None


def _invalid(counts: Counts, evidence: Evidence) -> Verdict | None:
    """The verdict `invalid` on counts that no device can cause; None: they are possible."""
    if counts.made:
        return Verdict("invalid", FramesMade(counts.made))
    if not counts.streams or not counts.sent:
        if counts.asked:
            return Verdict("tester", SentNone(counts.asked))
        return Verdict("invalid", NothingAsked())
    strangers = find_moved_host(evidence.trials) if counts.excusable else None
    if strangers is not None:
        return Verdict("invalid", NeighbourUnsettled(counts.lost, counts.sent, strangers))
    return None


def _apart(evidence: Evidence) -> Verdict | None:
    """Whether two workers saw a part each of a flow: what came to both counts twice, and hides as much that
    is missing."""
    apart = sum(trial.health.split_flows for trial in evidence.trials)
    return Verdict("inconclusive", SplitFlows(apart)) if apart else None


def _judge_stream(value: Value, result: Result, evidence: Evidence) -> Verdict:
    """The verdict on one direction's rate."""
    counts = _counts(value, evidence)
    wrong = _invalid(counts, evidence) or _apart(evidence)
    if wrong is not None:
        return wrong
    full = _line(value, result, evidence)
    short = evidence.short(value.scope)
    # Where nothing enforces the line, a burst that makes up for a pause can look like a full one.
    if full is not None and (evidence.enforced_rate or short is None):
        return full
    pressed = judge_back_pressure(value, evidence)
    if full is not None and pressed is not None and pressed.limit == "device":
        # A device that waits for its line to send on takes no more than that.
        return full
    if pressed is not None and _is_taken_whole(pressed, value, evidence):
        pressed, short = None, None
    if pressed is not None:
        if pressed.limit == "device" and value.searched and _is_bound(value):
            # The goal allows what was refused at the highest load there is.
            return _open_above(value, result, counts, evidence)
        return _of_refused(pressed, value, counts, evidence)
    if short is not None:
        early = _knee_before_tester(value, result, evidence, short)
        if early is None:
            return _fell_short(short, value, counts, evidence)
        return doubt(value, evidence) or _fixture(counts, evidence) or Verdict("device", early)
    if value.number is None:
        return Verdict("inconclusive", Incomplete(value.note) if value.note else NoValue())
    return _not_of_the_device(value, counts, evidence) or _device(value, result, counts, evidence)


def _not_of_the_device(value: Value, counts: Counts, evidence: Evidence) -> Verdict | None:
    """The verdict where what is around the device lost the frames; None: it did not."""
    return _link(value, counts, evidence) or _tester(value, counts, evidence) or _fixture(counts, evidence)


def _is_taken_whole(pressed: Verdict, value: Value, evidence: Evidence) -> bool:
    """Whether the device took all of a value's streams, and is the limit of others."""
    return pressed.limit == "device" and is_of_others(value, evidence)


def _of_refused(pressed: Verdict, value: Value, counts: Counts, evidence: Evidence) -> Verdict:
    """The verdict on frames that a device did not take, unless more were lost, and not by the device."""
    if not isinstance(pressed.reason, DeviceRefused):
        return pressed
    refused, lines = pressed.reason.refused, evidence.fullness(value.scope)
    if counts.sent and lines and all(came >= LINE_SHARE for _, came in lines):
        # The device waits for its line to send on.
        sent, came = min(lines, key=lambda line: line[1])
        asked = counts.sent + refused
        of_line = (counts.lost + refused, asked, counts.corrupted, sent * asked / counts.sent, came)
        return Verdict("line", LineOversubscribed(*of_line))
    if counts.lost <= refused:
        return pressed
    return _not_of_the_device(value, counts, evidence) or pressed


def _fell_short(short: Reason, value: Value, counts: Counts, evidence: Evidence) -> Verdict:
    """The verdict on a value where the tester sent too little. Its own drops come first if they are more.

    short: why it did not.
    """
    bound = at_rate(value)
    unsent, dropped = evidence.unsent, evidence.dropped
    missing = evidence.everything.lost
    if counts.excusable and dropped > unsent and noticeable(dropped, missing):
        return Verdict("receiver", DroppedReceiving(dropped, missing, short, bound))
    if counts.excusable and counts.lost > unsent and _explained_by_full_rings(counts, evidence):
        return Verdict("tester", RingFull(counts.lost, counts.sent, evidence.full, short, bound))
    return Verdict("tester", TesterShort(bound, short))


def _explained_by_full_rings(counts: Counts, evidence: Evidence) -> bool:
    return evidence.full > 0 and (evidence.while_full is None or counts.lost <= evidence.while_full)


def _tester(value: Value, counts: Counts, evidence: Evidence) -> Verdict | None:
    """The verdict where the drops and the lag of the tester explain the loss; None: they do not."""
    if not counts.excusable:
        return None
    gone, sent, late = counts.lost, counts.sent, evidence.late_ns
    missing = evidence.everything.lost
    # Few drops of its own are subtracted, and say little of the others.
    few = MANY_DROPS * missing if evidence.clock == "real" and evidence.has_own_loss(_judged_of(value)) else 0
    # Of the two the greater; a frame may be in both.
    not_sent, dropped = evidence.not_sent, evidence.dropped
    if not_sent >= dropped and noticeable(not_sent, missing) and not_sent >= few:
        return Verdict("tester", DroppedSending(evidence.not_sent, missing))
    if noticeable(dropped, missing) and dropped >= few:
        return Verdict("receiver", DroppedReceiving(evidence.dropped, missing))
    # Some frames come to an interface before or after a trial, so a few tell nothing.
    if 2 * evidence.unseen >= missing:
        return Verdict("receiver", ReceivedUnseen(evidence.unseen, missing))
    if 2 * evidence.damaged >= missing:
        return Verdict("inconclusive", DamagedOnLine(evidence.damaged, missing))
    if noticeable(evidence.too_long, missing):
        return Verdict("inconclusive", FramesJoined(gone, sent, evidence.too_long))
    if evidence.pauses_sent:
        return Verdict("inconclusive", PausesSent(gone, sent, evidence.pauses_sent))
    others = evidence.foreign_share(value.scope) if evidence.clock == "real" else None
    if others is not None:
        return Verdict("inconclusive", LineOfOthers(gone, sent, others))
    if evidence.unheard:
        return Verdict("inconclusive", QuestionsUnanswered(gone, sent, evidence.unheard))
    if _explained_by_full_rings(counts, evidence):
        if evidence.is_lost_while_late():
            return Verdict("tester", LostWhileLate(gone, sent, late))
        if evidence.is_lost_while_full():
            return Verdict("receiver", LostWhileFull(gone, sent, evidence.full))
        return Verdict("inconclusive", RingFull(gone, sent, evidence.full))
    beyond = BeyondWindow(counts.lost, counts.sent, counts.beyond_window)
    if evidence.clock == "virtual":
        return Verdict("inconclusive", beyond) if gone <= counts.beyond_window else None
    if evidence.has_own_loss(_judged_of(value), value.allowed):
        return None
    made_up = sum(trial.health.made_up for trial in evidence.trials)
    if gone <= made_up:
        caught = [trial.health.catch_up for trial in evidence.trials if trial.health.catch_up is not None]
        most, longest = max(one.percent for one in caught), max(one.longest_ns for one in caught)
        return Verdict("tester", LostCatchingUp(gone, sent, made_up, most, longest))
    if gone <= counts.beyond_window:
        return Verdict("inconclusive", beyond)
    if gone <= evidence.unread:
        return Verdict("inconclusive", ReceiverPaused(gone, sent, evidence.unread))
    if evidence.is_lost_while_late():
        return Verdict("tester", LostWhileLate(gone, sent, late))
    if 0 < missing <= evidence.while_held:
        by_kernel = 2 * evidence.kernel_held_ns > evidence.held_ns
        held = (evidence.held_ns, evidence.while_held)
        return Verdict("inconclusive", LostWhileHeld(gone, sent, *held, by_kernel))
    if late > LATE_NS:
        return Verdict("inconclusive", LateBurst(gone, sent, late))
    return Verdict("inconclusive", LateFrames(gone, sent, counts.late))


def _fixture(counts: Counts, evidence: Evidence) -> Verdict | None:
    """The verdict `fixture` where a switch between tester and device lost the frames; None: not so.

    Far end and device stand in a row: if the device drops too, it is the narrower of the two.
    """
    partner = evidence.device("partner_drops")
    own = sum(evidence.device(name) for name in OWN_DROPS)
    gone = evidence.everything.lost
    if not counts.excusable or not noticeable(partner, gone) or noticeable(own, gone):
        return None
    return Verdict("fixture", FarEndDropped(partner, gone))


def _device(value: Value, result: Result, counts: Counts, evidence: Evidence) -> Verdict:
    """The verdict `device` if frames are missing and the tester is calibrated for more; else a bound."""
    what = reached(value, result, evidence)
    # A goal that allows some loss was reached at the highest load there is: that loss is no limit.
    bound = value.searched and value.high is None
    if (counts.lost or counts.corrupted) and not bound:
        # Of a search where it did not pass; of a common one of all its streams together.
        gone = evidence.failed(value.scope if value.by_stream else "sum") if value.searched else counts
        lost = DeviceLost(
            reached=what,
            lost=gone.lost,
            sent=gone.sent,
            corrupted=gone.corrupted,
            is_of_all_streams=value.is_common and len(evidence.situation.streams) > 1,
            missing=evidence.everything.lost,
            dropped=evidence.dropped,
            far_end=evidence.device("partner_drops"),
            is_calibrated=evidence.clock == "real",
            figure=hint(value, result, evidence),
            excused=_excused(value, evidence),
            at_pps=value.high if value.searched and what.failed_share is None else None,
            dead=gone.dead,
        )
        unproven = prove_by_drops(doubt(value, evidence), gone, evidence, what)
        return unproven or Verdict("device", lost)
    # Copies end a search. A ramp rises on whatever they are, and its knee is of what is missing.
    copies = counts.duplicates
    if value.searched and copies and value.high is not None:
        return doubt(value, evidence) or Verdict("device", DeviceCopied(what, copies, counts.sent))
    if value.is_ended_by_others(result.value(value.name, "sum")):
        ended = Incomplete(value.note) if value.note else NoValue()
        return near(value, evidence) or Verdict("inconclusive", ended)
    return _open_above(value, result, counts, evidence)


def _open_above(value: Value, result: Result, counts: Counts, evidence: Evidence) -> Verdict:
    """The verdict on a rate that nothing limited."""
    refused = sum(
        one.refused
        for trial in evidence.trials
        for one in trial.streams
        if value.is_common or value.scope in ("sum", one.name)
    )
    what, lost = reached(value, result, evidence), counts.lost + refused
    kept = result.of_role("schedule", value.scope)
    is_full = (
        evidence.enforced_rate
        and kept is not None
        and kept.number is not None
        and share_of_line(value, kept.number, evidence.situation) >= LINE_SHARE
    )
    reason = NoMoreOnLine if is_full else NoMoreOffered
    open_above = reason(what, lost, counts.sent + refused, counts.duplicates)
    return near(value, evidence) or Verdict("none", open_above)


def _excused(value: Value, evidence: Evidence) -> int | None:
    """Frames of the loss that pauses and bunches of the tester may explain; None: it made none."""
    judged = () if evidence.clock == "virtual" else evidence.judged(_judged_of(value))
    if not any(one.excused for one in judged):
        return None
    return sum(one.explained for one in judged)


def _judged_of(value: Value) -> str | None:
    """The stream that a value is judged by; None: all."""
    return None if value.is_common or value.scope == "sum" else value.scope


def _line(value: Value, result: Result, evidence: Evidence) -> Verdict | None:
    """The verdict `line` where the line, or the one member a single flow may use, was full; None: not so."""
    if value.number is None:
        return None
    # Loss that set in well before, and stayed, has another cause, however small a share of it is.
    knee = result.of_role("knee", value.scope)
    before = None if knee is None or knee.high is None else knee.high * KNEE_MARGIN
    situation = evidence.situation
    line = situation.line(value.scope)
    # A search that gives an upper bound has lost frames below the line: it knows closer than this share.
    searched = value.searched and value.high is not None
    early = (before is not None and before < line) or _lossy_end(value, result)
    # Frames that were still queued had not come by that line.
    lasting = _lasting(value, evidence)
    if lasting >= LINE_SHARE * line and not searched and not early:
        return Verdict("line", LineFull(value.number, line, not evidence.enforced_rate))
    crowded = _crowded(value, evidence) if searched else _crowded_from(value, result, evidence)
    if crowded is not None:
        return crowded
    ceiling = situation.flow_ceiling_fps
    # That a single flow loses what its member cannot carry is no sign of anything else.
    early = before is not None and ceiling is not None and before < ceiling
    if ceiling is not None and lasting >= LINE_SHARE * ceiling and not early:
        return Verdict("line", MemberFull(value.number, ceiling))
    return None


def _lasting(value: Value, evidence: Evidence) -> Fraction:
    """The rate of a value that lasts. What the longest frame of a mix may shift at the ends of a trial counts
    as not queued: it takes longer than short ones."""
    assert value.number is not None
    situation = evidence.situation
    lasting = value.lasting or Fraction(0)
    if not situation.mixed_receivers or evidence.clean_ns is None:
        return lasting
    edge = len(situation.members(value.scope)) * LONGEST_FRAME / (situation.mean_size + WIRE_OVERHEAD)
    return min(lasting + edge * 10**9 / evidence.clean_ns, value.number)


def _crowded(value: Value, evidence: Evidence) -> Verdict | None:
    """The verdict `line` if several streams filled the line out and the search ended there; else None."""
    situation = evidence.situation
    if not evidence.enforced_rate:
        return None
    lasting = value.lasting
    assert value.number is not None
    assert lasting is not None
    assert value.high is not None
    count, times = situation.crowd(value.scope)
    if count < 2:
        return None
    line = situation.out_fps(value.scope)
    if value.high * times <= line:
        return None
    if lasting * times < LINE_SHARE * line:
        # The line lies between the bounds of the search: whether it was full decides.
        return _loss_of_the_line(_counts(value, evidence), value, evidence)
    is_queued = value.number * times > line
    return Verdict("line", LineShared(value.number, value.high, count, lasting * times / line, is_queued))


def _crowded_from(value: Value, result: Result, evidence: Evidence) -> Verdict | None:
    """The verdict `line` if loss set in just where several streams filled the one line that they leave by."""
    situation = evidence.situation
    knee = result.of_role("knee", value.scope)
    count, times = situation.crowd(value.scope)
    if count < 2 or not evidence.enforced_rate or knee is None or knee.number is None:
        return None
    line = situation.out_fps(value.scope)
    if knee.number * times < LINE_SHARE * line:
        return None
    # A queue of the device may hide the first of the loss, and makes the line look the fuller.
    share = min(knee.number * times / line, Fraction(1))
    return Verdict("line", LineShared(knee.number, knee.high or knee.number, count, share))


def _lossy_end(value: Value, result: Result) -> bool:
    """Whether a ramp that filled the line for a moment lost more at its end than a full line explains."""
    end = result.of_role("loss at the end", value.scope)
    return end is not None and end.number is not None and end.number > 1 - LINE_SHARE


def _knee_before_tester(
    value: Value, result: Result, evidence: Evidence, short: Reason
) -> DeviceBeforeTester | None:
    """Whether loss had set in for good, by a margin, before the tester fell behind its schedule.

    The knee of a ramp is read only where the tester kept up. With a tenth of that load to spare the
    loss is not that of the bursts by which a tester makes up for its pauses: if it had its core, and if
    the best rate was not itself received from such a burst.
    """
    if value.searched:
        # The knee of a ramp before a search: the tester fell behind in other trials.
        return None
    knee, kept = result.of_role("knee", value.scope), result.of_role("schedule", value.scope)
    if knee is None or kept is None or knee.high is None or kept.number is None or value.number is None:
        return None
    if knee.high * KNEE_MARGIN > kept.number or value.number > kept.number:
        return None
    health = [trial.health for trial in evidence.trials]
    # Where in the ramp a ring was full is not known: even once is once too many.
    own, gone = (evidence.dropped, evidence.not_sent, evidence.too_long), evidence.everything.lost
    if any(noticeable(count, gone) for count in own) or evidence.full:
        return None
    mostly = (evidence.unseen, evidence.damaged, evidence.while_held)
    if any(2 * count >= gone for count in mostly) or evidence.unheard or evidence.pauses_sent:
        return None
    if any((one.core_share_ppm or 1_000_000) < OWN_CORE_PPM for one in health):
        return None
    # Bunches of a tester that is on schedule lose frames for good, too.
    if evidence.clock == "real" and not evidence.has_own_loss(_judged_of(value)):
        return None
    return DeviceBeforeTester(knee.high, kept.number, short)
