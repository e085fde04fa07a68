"""Questions of what is around the device: impossible counts, the tester, its receiver, links, the fixture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from netdyno.methods import HARDLY_LESS
from netdyno.values.outcome import InterfaceResult
from netdyno.values.verdict import Verdict
from netdyno.verdict.counted import prove_by_drops
from netdyno.verdict.doubt_reasons import (
    BeyondWindow,
    BlockUnclear,
    CameBackChanged,
    DamagedOnLine,
    DisplacedByOthers,
    FramesJoined,
    KeptBack,
    LateBurst,
    LateFrames,
    LineOfOthers,
    LostAsPlanned,
    LostBehindLink,
    LostWhileHeld,
    MacUnproven,
    NotCountedSent,
    PathUnproven,
    PausesSent,
    QuestionsUnanswered,
    ReceiverPaused,
)
from netdyno.verdict.evidence import CLEAN_LESS, OWN_DROPS, Evidence, is_noticeable
from netdyno.verdict.excuses import Block
from netdyno.verdict.lines import KNEE_MARGIN
from netdyno.verdict.neighbours import find_moved_host
from netdyno.verdict.pressure_reasons import DeviceRefused
from netdyno.verdict.reasons import (
    CarrierLost,
    DeviceBeforeTester,
    DroppedReceiving,
    DroppedSending,
    FarEndDropped,
    FramesMade,
    LostCatchingUp,
    LostWhileFull,
    LostWhileLate,
    MtuTooSmall,
    NeighbourUnsettled,
    NothingAsked,
    OtherLoad,
    ReceivedUnseen,
    RingFull,
    SentNone,
    SplitFlows,
    TesterShort,
)
from netdyno.verdict.subject import Subject
from netdyno.verdict.words import at_rate

ETHERNET, TAG = 18, 4
"""Bytes of a frame beside what an MTU counts: header and FCS; and a tag, which interfaces let in besides."""

LATE_NS = 1_000_000
"""A frame that left this much after its time means a burst behind it, which a device may well lose."""

MANY_DROPS = Fraction(1, 10)
"""A tester that dropped so much of what is missing is the limit, whatever the device lost besides: it may
have lost more than its interfaces count."""

OWN_CORE_PPM = 900_000
"""A tester that had less of its core than this was not the one that decided when it sent."""


# Counts that no device can cause.


def find_made_frames(subject: Subject) -> Verdict | None:
    """`invalid` where more frames arrived than were sent."""
    return Verdict("invalid", FramesMade(subject.counts.made)) if subject.counts.made else None


def find_unsent_load(subject: Subject) -> Verdict | None:
    """`tester` where no frame was sent; `invalid` where none was asked for."""
    counts = subject.counts
    if counts.streams and counts.sent:
        return None
    return Verdict("tester", SentNone(counts.asked)) if counts.asked else Verdict("invalid", NothingAsked())


def find_moved_neighbour(subject: Subject) -> Verdict | None:
    """`invalid` where lost frames may have gone to another host than the device."""
    moved = find_moved_host(subject.evidence.trials) if subject.is_excusable else None
    counts = subject.counts
    return None if moved is None else Verdict("invalid", NeighbourUnsettled(counts.lost, counts.sent, moved))


def find_split_flows(subject: Subject) -> Verdict | None:
    """Whether two workers saw a part each of a flow: what came to both counts twice, and hides as much that
    is missing."""
    split = sum(trial.health.split_flows for trial in subject.evidence.trials)
    return Verdict("inconclusive", SplitFlows(split)) if split else None


def find_unproven_mac(subject: Subject) -> Verdict | None:
    """Whether frames went to a MAC address of the plan from which nothing came back."""
    mac, counts = _find_silent(subject, subject.evidence.situation.given_macs), subject.counts
    return None if mac is None else Verdict("inconclusive", MacUnproven(counts.lost, counts.sent, mac))


def find_kept_back(subject: Subject) -> Verdict | None:
    """Whether nothing came back of packets that no router forwards."""
    why, counts = _find_silent(subject, subject.evidence.situation.kept_back), subject.counts
    return None if why is None else Verdict("inconclusive", KeptBack(counts.lost, counts.sent, why))


def find_unproven_path(subject: Subject) -> Verdict | None:
    """Whether nothing at all came back by way of a device that nobody has seen forward a frame."""
    situation, counts = subject.evidence.situation, subject.counts
    given = ("the device",) * len(situation.streams) if situation.is_unproven else ()
    if _find_silent(subject, given) is None:
        return None
    return prove_by_drops(
        Verdict("inconclusive", PathUnproven(counts.lost, counts.sent)), counts, subject.evidence
    )


def _find_silent(subject: Subject, given: tuple[str, ...]) -> str | None:
    """What the plan gives of a stream of this scope from which nothing came back."""
    if not given or not subject.counts.lost:
        return None
    names = subject.evidence.situation.streams
    of_scope = {names[number] for number in subject.evidence.situation.members(subject.value.scope)}
    silent = subject.evidence.find_silent(given)
    return next((one for name, one in silent.items() if name in of_scope), None)


# Links and the fixture.


def find_carrier_loss(subject: Subject) -> Verdict | None:
    """`link` where nothing is missing but what links without carrier lost.

    A value that is no share of lost frames may be what it is because of the link, whatever else was lost; but
    because of the device only if nothing else was.
    """
    evidence, counts, linked, lost = (
        subject.evidence,
        subject.counts,
        subject.evidence.linked,
        subject.of_links,
    )
    if linked is None or not lost:
        return None
    by_device, others = linked.cause == "device", counts.lost + counts.corrupted
    if others and (subject.is_of_frames or by_device):
        return None
    dropped, missing = evidence.dropped, evidence.everything.lost + linked.lost_of("sum")
    if is_noticeable(dropped, missing):
        return Verdict("receiver", DroppedReceiving(dropped, missing))
    if 2 * evidence.unseen >= missing:
        return Verdict("receiver", ReceivedUnseen(evidence.unseen, missing))
    if 2 * linked.behind > linked.lost_of("sum"):
        behind = (linked.behind, linked.times, linked.without_ns, linked.ports)
        return Verdict("inconclusive", LostBehindLink(lost, counts.sent, *behind))
    others += linked.planned_of(subject.value.scope)
    reason = CarrierLost(lost, counts.sent, linked.times, linked.without_ns, linked.ports, by_device, others)
    return Verdict("device" if by_device else "link", reason)


def find_planned_loss(subject: Subject) -> Verdict | None:
    """Inconclusive where nothing is missing but what was lost while members were dead as the plan asked."""
    counts, linked = subject.counts, subject.evidence.linked
    planned = 0 if linked is None else linked.planned_of(subject.value.scope)
    if not planned or counts.lost + counts.corrupted:
        return None
    return Verdict("inconclusive", LostAsPlanned(planned, counts.sent))


def find_far_end_drops(subject: Subject) -> Verdict | None:
    """`fixture` where a switch between tester and device lost the frames.

    Far end and device stand in a row: if the device drops too, it is the narrower of the two.
    """
    partner = subject.evidence.device("partner_drops")
    own = sum(subject.evidence.device(name) for name in OWN_DROPS)
    gone = subject.evidence.everything.lost
    if not subject.is_excusable or not is_noticeable(partner, gone) or is_noticeable(own, gone):
        return None
    return Verdict("fixture", FarEndDropped(partner, gone))


# The tester lost the frames, or may have.


def find_unclear_block(subject: Subject) -> Verdict | None:
    """Whether nothing came back for longer than pauses beside it explain: not the tester's, nor clearly the
    device's."""
    block = subject.evidence.block(subject.stream)
    return _inconclusive(block, subject) if may_explain_all(subject) else None


def find_explained_block(subject: Subject) -> Verdict | None:
    """Whether nothing came back for a time, though pauses may explain as many frames: what serves at the load
    is silent for none of them."""
    return _inconclusive(subject.evidence.explained_block(subject.stream), subject)


def _inconclusive(block: Block | None, subject: Subject) -> Verdict | None:
    if block is None:
        return None
    counts, lasts_ns = subject.counts, block.until_ns - block.from_ns
    found = (block.lost, min(block.moved, block.lost), block.from_ns, lasts_ns)
    return Verdict("inconclusive", BlockUnclear(counts.lost, counts.sent, *found))


def find_own_drops(subject: Subject) -> Verdict | None:
    """`tester` or `receiver` where the tester dropped the missing frames: of the two the one with more, as a
    frame may be in both."""
    evidence = subject.evidence
    missing, not_sent, dropped = evidence.everything.lost, evidence.not_sent, evidence.dropped
    # Few drops of its own are subtracted, and say little of the others.
    few = MANY_DROPS * missing if subject.is_real and subject.has_own_loss else 0
    if not_sent >= dropped and is_noticeable(not_sent, missing) and not_sent >= few:
        return Verdict("tester", DroppedSending(not_sent, missing))
    if is_noticeable(dropped, missing) and dropped >= few:
        return Verdict("receiver", DroppedReceiving(dropped, missing))
    return None


def find_small_mtu(subject: Subject) -> Verdict | None:
    """`receiver` where half of the missing frames are longer than their port's MTU lets in.

    By their length on average; and those that came are no longer, so the card keeps to its MTU.
    """
    counts, of = subject.counts, subject.stream
    too_long = [one for one in subject.evidence.once(_list_too_long) if of in (None, one[0])]
    if not too_long or 2 * sum(missing for _, missing, _, _ in too_long) < counts.lost:
        return None
    _, _, card, size = max(too_long, key=lambda one: one[1])
    found = (card.interface, card.mtu, size, size - ETHERNET)
    return Verdict("receiver", MtuTooSmall(counts.lost, counts.sent, *found))


def _list_too_long(evidence: Evidence) -> Sequence[tuple[str, int, InterfaceResult, int]]:
    """Streams whose missing frames are longer than their port's MTU lets in: how many these are, of which
    interface, and how long on average."""
    too_long = []
    for trial in evidence.trials:
        cards = {one.port: one for one in trial.interfaces if one.mtu}
        for stream in trial.streams if cards else ():
            ports = evidence.receiving_ports(trial, stream.name)
            known = [cards[port.name] for port in ports if port.name in cards]
            if not known or stream.missing <= 0:
                continue
            card = min(known, key=lambda one: one.mtu)
            longest = card.mtu + ETHERNET + TAG
            size = math.ceil(Fraction(stream.offered_bytes - stream.received_bytes, stream.missing))
            if size > longest and stream.received_bytes <= longest * stream.received:
                too_long.append((stream.name, stream.missing, card, size))
    return too_long


def find_unseen_frames(subject: Subject) -> Verdict | None:
    """`receiver` where half of the missing frames came to its interfaces only. A few tell nothing:
    some come there before or after a trial."""
    unseen, missing = subject.evidence.unseen, subject.evidence.everything.lost
    return Verdict("receiver", ReceivedUnseen(unseen, missing)) if 2 * unseen >= missing else None


def find_damaged_frames(subject: Subject) -> Verdict | None:
    """Whether half of the missing frames came to the tester damaged."""
    damaged, missing = subject.evidence.damaged, subject.evidence.everything.lost
    return Verdict("inconclusive", DamagedOnLine(damaged, missing)) if 2 * damaged >= missing else None


def find_joined_frames(subject: Subject) -> Verdict | None:
    """Whether frames were joined on their way to longer ones."""
    too_long, counts = subject.evidence.too_long, subject.counts
    if not is_noticeable(too_long, subject.evidence.everything.lost):
        return None
    return Verdict("inconclusive", FramesJoined(counts.lost, counts.sent, too_long))


def find_pause_frames(subject: Subject) -> Verdict | None:
    """Whether the tester's cards made the device wait."""
    pauses, counts = subject.evidence.pauses_sent, subject.counts
    return Verdict("inconclusive", PausesSent(counts.lost, counts.sent, pauses)) if pauses else None


def find_foreign_frames(subject: Subject) -> Verdict | None:
    """Whether others' frames filled a receiving line, or may have displaced all that are missing."""
    others = subject.evidence.foreign_share(subject.value.scope) if subject.is_real else None
    counts = subject.counts
    if others is not None:
        return Verdict("inconclusive", LineOfOthers(counts.lost, counts.sent, others))
    displaced = subject.evidence.displaced
    if not is_noticeable(displaced, counts.lost) or not may_explain_all(subject):
        return None
    return Verdict("inconclusive", DisplacedByOthers(counts.lost, counts.sent, displaced))


def find_uncounted_frames(subject: Subject) -> Verdict | None:
    """Whether as much is missing as the tester's interfaces never counted as sent."""
    uncounted, counts = subject.evidence.uncounted, subject.counts
    if not is_noticeable(uncounted, counts.lost) or not may_explain_all(subject):
        return None
    return Verdict("inconclusive", NotCountedSent(counts.lost, counts.sent, uncounted))


def find_changed_frames(subject: Subject) -> Verdict | None:
    """Whether all missing frames may have come back with other headers: those without a probe are known by
    them."""
    changed, counts = subject.evidence.altered(subject.stream), subject.counts
    if not changed or subject.evidence.has_own_loss(subject.stream, subject.value.allowed):
        return None
    return Verdict("inconclusive", CameBackChanged(counts.lost, counts.sent, changed))


def find_unanswered_questions(subject: Subject) -> Verdict | None:
    """Whether the tester left questions for its addresses unanswered."""
    unheard, counts = subject.evidence.unheard, subject.counts
    return (
        Verdict("inconclusive", QuestionsUnanswered(counts.lost, counts.sent, unheard)) if unheard else None
    )


def has_full_rings(subject: Subject) -> bool:
    """Whether full rings of the tester may explain the loss."""
    most = subject.evidence.while_full
    return subject.evidence.full > 0 and (most is None or subject.counts.lost <= most)


def find_loss_while_late(subject: Subject) -> Verdict | None:
    """`tester` where frames were lost only while it sent late."""
    evidence, counts = subject.evidence, subject.counts
    if not evidence.is_lost_while_late():
        return None
    return Verdict("tester", LostWhileLate(counts.lost, counts.sent, evidence.late_ns))


def find_loss_while_full(subject: Subject) -> Verdict:
    """`receiver` where frames were lost only while its rings were full; else inconclusive."""
    evidence, counts = subject.evidence, subject.counts
    if evidence.is_lost_while_full():
        return Verdict("receiver", LostWhileFull(counts.lost, counts.sent, evidence.full))
    return Verdict("inconclusive", RingFull(counts.lost, counts.sent, evidence.full))


def may_explain_all(subject: Subject) -> bool:
    """Whether the tester's own timing may explain every lost frame, but for those that the goal allows."""
    return subject.is_real and not subject.evidence.has_own_loss(subject.stream, subject.value.allowed)


def find_catching_up(subject: Subject) -> Verdict | None:
    """`tester` where no more was lost than it sent faster than intended, to make up for pauses.

    Not where other loads lost the same share: of that pauses may be innocent, too.
    """
    counts, health = subject.counts, [trial.health for trial in subject.evidence.trials]
    made_up = sum(one.made_up for one in health)
    if counts.lost > made_up or subject.evidence.is_lost_alike(subject.stream):
        return None
    caught = [one.catch_up for one in health if one.catch_up is not None]
    most, longest = max(one.percent for one in caught), max(one.longest_ns for one in caught)
    return Verdict("tester", LostCatchingUp(counts.lost, counts.sent, made_up, most, longest))


def find_loss_beyond_window(subject: Subject) -> Verdict | None:
    """Whether no more is missing than came too late to tell from copies."""
    counts = subject.counts
    if counts.lost > counts.beyond_window:
        return None
    return Verdict("inconclusive", BeyondWindow(counts.lost, counts.sent, counts.beyond_window))


def find_unread_frames(subject: Subject) -> Verdict | None:
    """Whether no more is missing than came while one of several workers did not read."""
    unread, counts = subject.evidence.unread, subject.counts
    if counts.lost > unread:
        return None
    return Verdict("inconclusive", ReceiverPaused(counts.lost, counts.sent, unread))


def find_loss_while_held(subject: Subject) -> Verdict | None:
    """Whether no more is missing than was due while the peer, or the kernel's work, was preempted."""
    evidence, counts = subject.evidence, subject.counts
    while_held = evidence.while_held(subject.stream)
    if not 0 < evidence.everything.lost <= while_held:
        return None
    by_kernel = 2 * evidence.kernel_held_ns > evidence.held_ns
    held = (evidence.held_ns, while_held)
    return Verdict("inconclusive", LostWhileHeld(counts.lost, counts.sent, *held, by_kernel))


def find_late_frames(subject: Subject) -> Verdict:
    """Inconclusive: bunches after long pauses, or small ones, may have lost all."""
    counts, late_ns = subject.counts, subject.evidence.late_ns
    if late_ns > LATE_NS:
        return Verdict("inconclusive", LateBurst(counts.lost, counts.sent, late_ns))
    return Verdict("inconclusive", LateFrames(counts.lost, counts.sent, counts.late))


# The tester sent too little.


def has_lost_more_than_refused(subject: Subject) -> bool:
    """Whether more was lost than a memif device did not take."""
    reason = None if subject.refused is None else subject.refused.reason
    return isinstance(reason, DeviceRefused) and subject.counts.lost > reason.refused


def find_short_receiver(subject: Subject) -> Verdict | None:
    """`receiver` or `tester` where more was dropped, or lost in full rings, than the tester left unsent."""
    evidence, counts = subject.evidence, subject.counts
    if not subject.is_excusable:
        return None
    dropped, missing = evidence.dropped, evidence.everything.lost
    also = (subject.short, at_rate(subject.value))
    if dropped > evidence.unsent and is_noticeable(dropped, missing):
        return Verdict("receiver", DroppedReceiving(dropped, missing, *also))
    if counts.lost > evidence.unsent and has_full_rings(subject):
        return Verdict("tester", RingFull(counts.lost, counts.sent, evidence.full, *also))
    return None


def find_short_tester(subject: Subject) -> Verdict:
    """`tester`: it sent too little."""
    assert subject.short is not None
    return Verdict("tester", TesterShort(at_rate(subject.value), subject.short))


def is_short_alone(subject: Subject) -> bool:
    """Whether the tester sent too little, and no full ring of a memif peer is why."""
    return subject.refused is None and subject.short is not None


def find_other_load(subject: Subject) -> Verdict | None:
    """`tester` on what was measured at less load than it was to be.

    Not a loss at hardly less load, which is judged as that at the load that was sent: what is lost there is
    lost at the full load, too. A trial without loss may be less behind, and has to be of one constant load:
    of a ramp all that is missing may be missing at its end.
    """
    evidence = subject.evidence
    is_loss = subject.is_of_frames and not subject.is_time and subject.value.number is not None
    clean = CLEAN_LESS if evidence.is_constant else 0
    if is_loss and evidence.behind <= (HARDLY_LESS if subject.counts.lost else clean):
        return None
    assert subject.short is not None
    return Verdict("tester", OtherLoad(subject.short))


def has_knee_before_tester(subject: Subject) -> bool:
    """Whether loss had set in for good, by a margin, before the tester fell behind its schedule.

    The knee of a ramp is read only where the tester kept up. With a tenth of that load to spare the
    loss is not that of the bursts by which a tester makes up for its pauses: if it had its core, and if
    the best rate was not itself received from such a burst.
    """
    value, evidence = subject.value, subject.evidence
    knee, schedule = _knee_and_schedule(subject)
    # The knee of a ramp before a search: the tester fell behind in other trials.
    if value.searched or knee is None or schedule is None or value.number is None:
        return False
    if knee * KNEE_MARGIN > schedule or value.number > schedule or _has_faults(evidence):
        return False
    # Bunches of a tester that is on schedule lose frames for good, too.
    return not subject.is_real or subject.has_own_loss


def find_early_knee(subject: Subject) -> Verdict:
    """`device`: loss stayed from a load on that the tester still sent on time."""
    knee, schedule = _knee_and_schedule(subject)
    assert knee is not None
    assert schedule is not None
    assert subject.short is not None
    return Verdict("device", DeviceBeforeTester(knee, schedule, subject.short))


def _knee_and_schedule(subject: Subject) -> tuple[Fraction | None, Fraction | None]:
    """The load from which on loss stays, and up to which the tester was on schedule."""
    knee, schedule = (subject.result.of_role(role, subject.value.scope) for role in ("knee", "schedule"))
    return None if knee is None else knee.high, None if schedule is None else schedule.number


def _has_faults(evidence: Evidence) -> bool:
    """Whether the tester lost frames of note. Where in a ramp a ring was full is not known: even once is once
    too many."""
    own, gone = (evidence.dropped, evidence.not_sent, evidence.too_long), evidence.everything.lost
    mostly = (evidence.unseen, evidence.damaged, evidence.while_held())
    return bool(
        any(is_noticeable(count, gone) for count in own)
        or any(2 * count >= gone for count in mostly)
        or evidence.full
        or evidence.unheard
        or evidence.pauses_sent
        or any((trial.health.core_share_ppm or 1_000_000) < OWN_CORE_PPM for trial in evidence.trials)
    )
