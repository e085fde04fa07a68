"""The reasons of verdicts: limit, number and threshold; the state of the tester; the next step.

Each class is one answer of `verdict.limit`; `doubt_reasons` has those that name nobody. Rates are in pps, of
the scope they are said of; counts are frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from netdyno.errors import counted
from netdyno.stats.intervals import loss_bound
from netdyno.values.number import count, duration, scientific
from netdyno.values.reason import Codes, Reason, declared
from netdyno.verdict.saying import (
    DeadFlows,
    Reached,
    RoundFigure,
    VerdictReason,
    begun,
    below,
    besides_words,
    carrier_losses,
    explained,
    lost_of,
    name_ports,
    part,
    pps,
)


@dataclass(frozen=True)
class NothingMeasured(VerdictReason):
    """No trial of a value was measured."""

    code: ClassVar[str] = "nothing-measured"

    def say(self, where: str = "") -> str:
        return f"No result{where}: nothing was measured. The trials in the report show why"


@dataclass(frozen=True)
class NoValue(VerdictReason):
    """The trials of a case gave no value."""

    code: ClassVar[str] = "no-value"

    def say(self, where: str = "") -> str:
        return f"No result{where}: no value was found. The trials in the report show why"


@dataclass(frozen=True)
class Incomplete(VerdictReason):
    """A value without a number, or a lower bound only; its note says why."""

    code: ClassVar[str] = "incomplete"
    note: Reason

    def say(self, where: str = "") -> str:
        return f"Inconclusive{where}: {self.note}"


@dataclass(frozen=True)
class FramesMade(VerdictReason):
    """More frames arrived than were sent."""

    code: ClassVar[str] = "frames-made"
    frames: int

    def say(self, where: str = "") -> str:
        return (
            f"Invalid{where}: {counted(self.frames, 'frame')} more arrived than were sent. Something"
            " generates or copies test frames: look for loops and mirrored ports"
        )


@dataclass(frozen=True)
class SentNone(VerdictReason):
    """The tester sent none of the frames it was asked to send."""

    code: ClassVar[str] = "sent-none"
    asked: int

    def say(self, where: str = "") -> str:
        return (
            f"Tester limit{where}: none of {counted(self.asked, 'frame')} left the tester. Check its ports"
            " with `netdyno ports`"
        )


@dataclass(frozen=True)
class NothingAsked(VerdictReason):
    """The trials of a result asked for no frame."""

    code: ClassVar[str] = "nothing-asked"

    def say(self, where: str = "") -> str:
        return f"Invalid{where}: no frame was sent in the trials of this result"


@dataclass(frozen=True)
class NeighbourUnsettled(VerdictReason):
    """Frames may have gone to another host. why: which one."""

    code: ClassVar[str] = "neighbour-unsettled"
    lost: int
    sent: int
    why: Reason

    def say(self, where: str = "") -> str:
        return f"Invalid{where}: {lost_of(self.lost, self.sent)}, and {self.why}"


@dataclass(frozen=True)
class SplitFlows(VerdictReason):
    """Flows arrived on several workers, which cannot detect each other's duplicates."""

    code: ClassVar[str] = "split-flows"
    flows: int

    def say(self, where: str = "") -> str:
        return (
            f"Loss unknown{where}: {counted(self.flows, 'flow')} arrived on several workers, which cannot"
            " detect each other's duplicates. Rerun with `workers: 1`"
        )


@dataclass(frozen=True)
class LineFull(VerdictReason):
    """The rate is line rate. is_declared: by the plan, and nothing enforces it."""

    code: ClassVar[str] = "line-full"
    rate_pps: Fraction
    line_pps: Fraction
    is_declared: bool

    def say(self, where: str = "") -> str:
        share = f"{pps(self.rate_pps)}, {part(self.rate_pps / self.line_pps)} of line rate"
        if not self.is_declared:
            return f"Line rate{where}: {share}"
        return f"Line rate{where}: {share}, as the plan declares it. Nothing enforces it here"


@dataclass(frozen=True)
class MemberFull(VerdictReason):
    """A single flow fills the one member of a LAG that it may use."""

    code: ClassVar[str] = "member-full"
    rate_pps: Fraction
    member_pps: Fraction

    def say(self, where: str = "") -> str:
        share = part(self.rate_pps / self.member_pps)
        return (
            f"Line limit{where}: one flow fills one LAG member ({pps(self.rate_pps)}, {share} of it); the"
            " others stay idle. Use several flows to load them"
        )


@dataclass(frozen=True)
class LineShared(VerdictReason):
    """Several streams fill the one line that they leave by. share: of that line, without frames still queued.
    is_queued: the load that passed is above that line, and the device queued the rest."""

    code: ClassVar[str] = "line-shared"
    rate_pps: Fraction
    failed_pps: Fraction
    streams: int
    share: Fraction
    is_queued: bool = False

    def say(self, where: str = "") -> str:
        queued = ", of which frames were still queued when sending ended" if self.is_queued else ""
        return (
            f"Line limit{where}: {self.streams} streams share the receiving line and fill {part(self.share)}"
            f" of it with {pps(self.rate_pps)} each{queued}. {below(self.failed_pps)} each do not fit"
        )


@dataclass(frozen=True)
class LineOversubscribed(VerdictReason):
    """Loss on a line that was offered more than it carries. Shares are of the rate that it carries."""

    code: ClassVar[str] = "line-oversubscribed"
    lost: int
    sent: int
    corrupted: int
    offered_share: Fraction
    came_share: Fraction

    def say(self, where: str = "") -> str:
        return (
            f"Line limit{where}: {part(self.offered_share)} of the receiving line was sent to it, and"
            f" {part(self.came_share)} came. {begun(lost_of(self.lost, self.sent, self.corrupted))}"
        )


@dataclass(frozen=True)
class TesterShort(VerdictReason):
    """The tester did not send what it was asked to. cause: how much it sent."""

    code: ClassVar[str] = "tester-short"
    reached: Reached
    cause: Reason

    def say(self, where: str = "") -> str:
        return (
            f"Tester limit{where}: {self.cause}. {self.reached.bound_of_device}. Lower the load or give the"
            " tester more cores"
        )


@dataclass(frozen=True)
class OtherLoad(VerdictReason):
    """A time or a share that was measured at another load than asked for."""

    code: ClassVar[str] = "other-load"
    cause: Reason

    def say(self, where: str = "") -> str:
        return (
            f"Tester limit{where}: measured at another load than asked for, as {self.cause}. Lower the load"
        )


@dataclass(frozen=True)
class DroppedReceiving(VerdictReason):
    """What the tester itself dropped on receiving. besides: why it did not send all either."""

    code: ClassVar[str] = "dropped-receiving"
    dropped: int
    missing: int
    besides: Reason | None = None
    reached: Reached | None = None

    def say(self, where: str = "") -> str:
        return (
            f"Receiver limit{where}: the tester dropped {count(self.dropped)} frames on receiving,"
            f" {count(self.missing)} are missing{besides_words(self.besides, self.reached)}. Add `workers` or"
            " lower the load"
        )


@dataclass(frozen=True)
class ReceivedUnseen(VerdictReason):
    """Most of the missing frames came to the tester's interfaces, and not to its ports."""

    code: ClassVar[str] = "received-unseen"
    unseen: int
    missing: int

    def say(self, where: str = "") -> str:
        return (
            f"Receiver limit{where}: {count(self.missing)} frames are missing, and the tester's interfaces"
            f" received {count(self.unseen)} more than reached netdyno. Add `workers` or lower the load"
        )


@dataclass(frozen=True)
class DroppedSending(VerdictReason):
    """The tester's card, driver or kernel dropped frames before the wire."""

    code: ClassVar[str] = "dropped-sending"
    dropped: int
    missing: int

    def say(self, where: str = "") -> str:
        return (
            f"Tester limit{where}: its card, driver or kernel dropped {counted(self.dropped, 'frame')} before"
            f" the wire, {count(self.missing)} are missing. Lower the load"
        )


@dataclass(frozen=True)
class RingFull(VerdictReason):
    """The tester found its receive ring full. besides: why it did not send all either."""

    code: ClassVar[str] = "ring-full"
    lost: int
    sent: int
    times: int
    besides: Reason | None = None
    reached: Reached | None = None

    def say(self, where: str = "") -> str:
        whose = "Inconclusive" if self.besides is None else "Tester limit"
        times = "once" if self.times == 1 else f"{count(self.times)} times"
        return (
            f"{whose}{where}: {lost_of(self.lost, self.sent)}, and the tester's receive ring was full"
            f" {times}: it may have lost them{besides_words(self.besides, self.reached)}."
            " Add `workers` or lower the load"
        )


@dataclass(frozen=True)
class LostWhileFull(VerdictReason):
    """Frames were lost when the tester's receive ring was full, and at no other time."""

    code: ClassVar[str] = "lost-while-full"
    lost: int
    sent: int
    times: int

    def say(self, where: str = "") -> str:
        return (
            f"Receiver limit{where}: {lost_of(self.lost, self.sent)}, all of them while the tester's receive"
            f" ring was full (found so {counted(self.times, 'time')}). Add `workers` or lower the load"
        )


@dataclass(frozen=True)
class LostWhileLate(VerdictReason):
    """Frames were lost when the tester sent late, and at no other time."""

    code: ClassVar[str] = "lost-while-late"
    lost: int
    sent: int
    late_ns: int

    def say(self, where: str = "") -> str:
        return (
            f"Tester limit{where}: {lost_of(self.lost, self.sent)}, all of them in bursts after pauses of the"
            f" tester (up to {duration(self.late_ns)}). Rerun on a quiet machine"
        )


@dataclass(frozen=True)
class LostCatchingUp(VerdictReason):
    """No more was lost than the tester sent faster than intended, to make up for pauses."""

    code: ClassVar[str] = "lost-catching-up"
    lost: int
    sent: int
    caught_up: int
    percent: int
    longest_ns: int

    def say(self, where: str = "") -> str:
        return (
            f"Tester limit{where}: {lost_of(self.lost, self.sent)}. The tester paused for up to"
            f" {duration(self.longest_ns)} and then sent {counted(self.caught_up, 'frame')} at up to"
            f" {self.percent} % of the load, which may have lost all of them. Give the tester a core of its"
            " own"
        )


@dataclass(frozen=True)
class CarrierLost(VerdictReason):
    """Frames were lost while a link had no carrier. without_ns: how long, all ports together. by_device: the
    device took the carrier away, as it or the lab says. others: frames lost otherwise."""

    code: ClassVar[str] = "carrier-lost"
    lost: int
    sent: int
    losses: int
    without_ns: int
    ports: tuple[str, ...]
    by_device: bool = False
    others: int = 0

    def say(self, where: str = "") -> str:
        limit = "Device limit" if self.by_device else "Link limit"
        ports = name_ports(self.ports)
        who = "the device took the carrier away; " if self.by_device else ""
        others = (
            f"{count(self.others)} more were lost otherwise" if self.others else "no other frame was lost"
        )
        return (
            f"{limit}{where}: {lost_of(self.lost, self.sent)} while {ports} had no carrier"
            f" ({carrier_losses(self.losses)}, {duration(self.without_ns)});"
            f" {who}{others}"
        )


@dataclass(frozen=True)
class FarEndDropped(VerdictReason):
    """The far-end switch of a LAG dropped frames before the device."""

    code: ClassVar[str] = "far-end-dropped"
    dropped: int
    missing: int

    def say(self, where: str = "") -> str:
        return (
            f"Fixture limit{where}: the far-end switch of the LAG dropped {count(self.dropped)} of the"
            f" {counted(self.missing, 'lost frame')} before the device"
        )


@dataclass(frozen=True)
class DeviceLost(VerdictReason):
    """The device lost frames, and the tester was healthy.

    at_pps: the load that lost them, of a search without a line rate. dropped, far_end: missing frames that
    the tester and the far-end switch of the LAG dropped. excused: those that pauses and bunches of the tester
    may explain; None: it made none. dead: flows that lost every frame.
    """

    code: ClassVar[str] = "device-lost"
    reached: Reached
    lost: int
    sent: int
    corrupted: int
    is_of_all_streams: bool
    missing: int
    dropped: int
    far_end: int
    is_calibrated: bool
    figure: RoundFigure | None = None
    excused: int | None = None
    at_pps: Fraction | None = None
    dead: DeadFlows | None = None

    def say(self, where: str = "") -> str:
        gone = lost_of(self.lost, self.sent, self.corrupted, self.dead)
        gone = begun(gone) if self.at_pps is None else f"At {below(self.at_pps)} {gone}"
        of_all = " over all streams" if self.is_of_all_streams else ""
        known = "calibrated" if self.is_calibrated else "virtual time"
        own = f"{count(self.dropped)} of {count(self.missing)} its own" if self.dropped else "nothing dropped"
        healthy = "Tester healthy"
        if self.excused is not None:
            healthy = explained(self.excused)
        text = f"Device limit{where}: {self.reached}. {gone}{of_all}. {healthy} ({known}, {own})"
        if self.far_end:
            text += (
                f"; the far-end switch dropped {part(Fraction(self.far_end, max(self.missing, 1)))} of the"
                " loss"
            )
        return text if self.figure is None else f"{text}. {self.figure}"


@dataclass(frozen=True)
class DeviceCopied(VerdictReason):
    """The device lost no frame, and sent some more than once."""

    code: ClassVar[str] = "device-copied"
    reached: Reached
    copies: int
    sent: int

    def say(self, where: str = "") -> str:
        return (
            f"Device limit{where}: {self.reached}. None of {counted(self.sent, 'frame')} lost, but"
            f" {count(self.copies)} came more than once. Look for a loop or a mirrored port"
        )


@dataclass(frozen=True)
class DeviceBeforeTester(VerdictReason):
    """Loss stayed from a load on that the tester still sent on time; later it fell behind."""

    code: ClassVar[str] = "device-before-tester"
    knee_pps: Fraction
    kept_pps: Fraction
    later: Reason

    def say(self, where: str = "") -> str:
        return (
            f"Device limit{where}: loss stays from {below(self.knee_pps)} on. Tester on time up to"
            f" {pps(self.kept_pps)}; later {self.later}"
        )


@dataclass(frozen=True)
class DeviceMeasured(VerdictReason):
    """A share or a count at a load that the tester sent.

    note: what ended a search by counts. dead: flows that lost every frame. excused: frames that pauses of the
    tester may explain; None: it made none. short: why the load was a little less.
    """

    code: ClassVar[str] = "device-measured"
    lost: int
    sent: int
    corrupted: int
    copies: int
    is_of_all_streams: bool
    note: Reason | None = None
    dead: DeadFlows | None = None
    of_links: int = 0
    """Frames lost in addition while a link had no carrier."""
    excused: int | None = None
    short: Reason | None = None

    def say(self, where: str = "") -> str:
        ended = "" if self.note is None else f"{self.note}. "
        of_all = " over all streams" if self.is_of_all_streams else ""
        again = f", {count(self.copies)} came more than once" if self.copies else ""
        gone = lost_of(self.lost, self.sent, self.corrupted, self.dead) if self.sent else "nothing sent"
        links = f", {count(self.of_links)} more without carrier" if self.of_links else ""
        healthy = "Tester healthy (sent all, on time)"
        if self.excused is not None:
            healthy = explained(self.excused)
        elif self.short is not None:
            healthy = f"A little below that load, as {self.short}"
        return f"Device{where}: {ended}{begun(gone)}{of_all}{links}{again}. {healthy}"


@dataclass(frozen=True)
class DeviceTook(VerdictReason):
    """A time of frames that the tester sent on time. own_ns: the tester's own latency, of which the time is
    longer; None: it has none in virtual time. excused: lost frames that pauses of the tester may explain;
    None: it made none."""

    code: ClassVar[str] = "device-took"
    took_ns: Fraction
    own_ns: int | None
    lost: int
    sent: int
    excused: int | None = None

    def say(self, where: str = "") -> str:
        own = (
            "" if self.own_ns is None else f", the tester's own latency is {duration(self.own_ns, 'at most')}"
        )
        gone = f". {begun(lost_of(self.lost, self.sent))}" if self.lost else ""
        healthy = "Tester healthy (sent all, on time)" if self.excused is None else explained(self.excused)
        return f"Device{where}: {duration(self.took_ns)}{own}{gone}. {healthy}"


@dataclass(frozen=True)
class NothingLost(VerdictReason):
    """No frame was lost. may_hide: frames have no probe, so that copies stand for lost ones."""

    code: ClassVar[str] = "nothing-lost"
    frames: int
    copies: int
    may_hide: bool = False

    def say(self, where: str = "") -> str:
        if self.may_hide:
            more = f", and {count(self.copies)} more" if self.copies else ""
            return (
                f"As many frames{where} came back as were sent, {count(self.frames)}{more}; without a probe"
                " copies hide losses"
            )
        again = f", {count(self.copies)} came more than once" if self.copies else ""
        bound = scientific(loss_bound(self.frames), "at most") if self.frames else ""
        below_that = f" (loss below {bound} at 95 %)" if bound else ""
        return f"Clean{where}: 0 of {counted(self.frames, 'frame')} lost{again}{below_that}"


@dataclass(frozen=True)
class NoMoreOffered(VerdictReason):
    """Everything offered passed, or no more was lost than the goal allows: a lower bound."""

    code: ClassVar[str] = "no-more-offered"
    advice: ClassVar[str] = "Offer more"
    reached: Reached
    lost: int
    sent: int
    copies: int

    def say(self, where: str = "") -> str:
        passed = "everything passed" if not self.lost else f"only {lost_of(self.lost, self.sent)}"
        again = f", {count(self.copies)} came more than once" if self.copies else ""
        return f"No limit found{where}: {self.reached.bound}, {passed}{again}. {self.advice}"


@dataclass(frozen=True)
class NoMoreOnLine(NoMoreOffered):
    """As no-more-offered, but all that the line carries was offered: what came back slower lay in a queue."""

    code: ClassVar[str] = "no-more-on-line"
    advice: ClassVar[str] = (
        "The line was full. Hold that load longer: until a queue is full, it hides a limit"
    )


REASONS: Codes = declared(globals())
