"""The reasons of verdicts: limit, number and threshold; the state of the tester; the next step.

Each class is one answer of `verdict.limit`; `doubt_reasons` has those that name nobody. Rates are in pps, of
the scope they are said of; counts are frames.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from netdyno.errors import counted
from netdyno.methods.reasons.tester import SentLonger, Unsent
from netdyno.stats.intervals import loss_bound
from netdyno.values.number import count, duration, part, scientific, searched
from netdyno.values.reason import Codes, Reason, declared
from netdyno.verdict.saying import (
    DeadFlows,
    LossReason,
    Reached,
    RoundFigure,
    VerdictReason,
    as_found,
    begun,
    below,
    below_load,
    carrier_losses,
    explained,
    lost_of,
    name_ports,
    pps,
)


class NothingMeasured(VerdictReason, code="nothing-measured"):
    """No trial of a value was measured."""

    says = "No result{where}: nothing was measured. The trials in the report show why"


class NoValue(VerdictReason, code="no-value"):
    """The trials of a case gave no value."""

    says = "No result{where}: no value was found. The trials in the report show why"


class Incomplete(VerdictReason, code="incomplete"):
    """A value without a number, or a lower bound only; its note says why."""

    note: Reason
    says = "Inconclusive{where}: {note}"


class FramesMade(VerdictReason, code="frames-made"):
    """More frames arrived than were sent."""

    frames: int
    says = """Invalid{where}: {frames:frame} more arrived than were sent. Something generates or copies test
        frames: look for loops and mirrored ports"""


class SentNone(VerdictReason, code="sent-none"):
    """The tester sent none of the frames it was asked to send."""

    asked: int
    says = "Tester limit{where}: none of {asked:frame} left the tester. Check its ports with `netdyno ports`"


class NothingAsked(VerdictReason, code="nothing-asked"):
    """The trials of a result asked for no frame."""

    says = "Invalid{where}: no frame was sent in the trials of this result"


class NeighbourUnsettled(LossReason, code="neighbour-unsettled"):
    """Frames may have gone to another host. why: which one."""

    why: Reason
    says = "Invalid{where}: {loss}, and {why}"


class SplitFlows(VerdictReason, code="split-flows"):
    """Flows arrived on several workers, which cannot detect each other's duplicates."""

    flows: int
    says = """Loss unknown{where}: {flows:flow} arrived on several workers, which cannot detect each other's
        duplicates. Rerun with `workers: 1`"""


class LineFull(VerdictReason, code="line-full"):
    """The rate is line rate. is_declared: by the plan, and nothing enforces it. queue_ns: the mean latency at
    it where a queue of the device stood to the end of the trial; None: none did. is_searched: by a search."""

    rate_pps: Fraction
    line_pps: Fraction
    is_declared: bool
    queue_ns: int | None = None
    is_searched: bool = False

    def say(self, where: str = "") -> str:
        rate = as_found(self.rate_pps, is_searched=self.is_searched)
        share = f"{rate}, {part(self.rate_pps / self.line_pps)} of line rate"
        if self.queue_ns is not None:
            share += f", with a standing queue ({duration(self.queue_ns)})"
        if not self.is_declared:
            return f"Line rate{where}: {share}"
        return f"Line rate{where}: {share}, as the plan declares it. Nothing enforces it here"


class MemberFull(VerdictReason, code="member-full"):
    """A single flow fills the one member of a LAG that it may use. is_searched: a search found the rate."""

    rate_pps: Fraction
    member_pps: Fraction
    is_searched: bool = False

    def say(self, where: str = "") -> str:
        rate, share = (
            as_found(self.rate_pps, is_searched=self.is_searched),
            part(self.rate_pps / self.member_pps),
        )
        return (
            f"Line limit{where}: one flow fills one LAG member ({rate}, {share} of it); the"
            " others stay idle. Use several flows to load them"
        )


class HashFilledPort(LossReason, code="hash-filled-port"):
    """A hash of the device filled one port of a LAG or bundle while others had room.

    ports: how many it has. line_share: of its own line that the port carried. share: of all frames that came
    by the LAG or bundle.
    """

    port: str
    ports: int
    line_share: Fraction
    share: Fraction
    says = """Line limit{where}: the device's hash put {share:.1%} of the frames on `{port}`, 1 of {ports:d}
        ports of a LAG or bundle, and filled {line_share:.1%} of its line. {loss}. Send more flows, or hash
        more fields"""


class LineShared(VerdictReason, code="line-shared"):
    """Several streams fill the one line that they leave by. share: of that line, without frames still queued.
    is_queued: the load that passed is above that line, and the device queued the rest. has_classes: classes
    with a rate of their own fill it, too. is_searched: a search found both rates."""

    rate_pps: Fraction
    failed_pps: Fraction
    streams: int
    share: Fraction
    is_queued: bool = False
    has_classes: bool = False
    is_searched: bool = False
    says = """Line limit{where}: {streams:stream}{has_classes:? and classes with a rate of their own} share
        the receiving line and fill {share:.1%} of it, at {_at} of each stream{is_queued:?, frames still
        queued not counted}. {_above} each do not fit"""

    @property
    def _at(self) -> str:
        return searched(self.rate_pps) if self.is_searched else pps(self.rate_pps)

    @property
    def _above(self) -> str:
        return searched(self.failed_pps, "at most") if self.is_searched else below(self.failed_pps)


class LineOversubscribed(LossReason, code="line-oversubscribed"):
    """Loss on a line that was offered more than it carries. Shares are of the rate that it carries."""

    corrupted: int
    offered_share: Fraction
    came_share: Fraction

    def say(self, where: str = "") -> str:
        return (
            f"Line limit{where}: {part(self.offered_share)} of the receiving line was sent to it, and"
            f" {part(self.came_share)} came. {begun(lost_of(self.lost, self.sent, self.corrupted))}"
        )


class TesterShort(VerdictReason, code="tester-short"):
    """The tester did not send what it was asked to. cause: how much it sent."""

    reached: Reached
    cause: Reason
    says = """Tester limit{where}: {cause}. {reached.bound_of_device}. Lower the load or give the tester more
        cores"""


def find_part_unsent(stream: str, reason: Reason) -> tuple[Fraction, bool]:
    """The share of a load that the tester did not offer, if that is why a limit was named, and whether it
    is of that stream itself."""
    cause = reason.cause if isinstance(reason, TesterShort) else None
    if not isinstance(cause, Unsent | SentLonger):
        return Fraction(0), False
    return cause.part, cause.stream == stream


def names_a_stream(reason: Reason) -> bool:
    """Whether it is of one stream, also where the verdict is on another one."""
    return isinstance(reason, TesterShort) and isinstance(reason.cause, Unsent | SentLonger)


class OtherLoad(VerdictReason, code="other-load"):
    """A time or a share that was measured at another load than asked for."""

    cause: Reason
    says = "Tester limit{where}: measured at another load than asked for, as {cause}. Lower the load"


class DroppedReceiving(VerdictReason, code="dropped-receiving"):
    """What the tester itself dropped on receiving. besides: why it did not send all either."""

    dropped: int
    missing: int
    besides: Reason | None = None
    reached: Reached | None = None
    says = """Receiver limit{where}: the tester dropped {dropped} frames on receiving, {missing} are
        missing{besides:?; besides, {besides}{reached:?. {reached.bound_of_device}}}. Add `workers` or lower
        the load"""


class ReceivedUnseen(VerdictReason, code="received-unseen"):
    """Most of the missing frames came to the tester's interfaces, and not to its ports."""

    unseen: int
    missing: int
    says = """Receiver limit{where}: {missing} frames are missing, and the tester's interfaces received
        {unseen} more than reached netdyno. Add `workers` or lower the load"""


class MtuTooSmall(LossReason, code="mtu-too-small"):
    """The missing frames are longer than the interface takes that was to receive them. size: on average,
    bytes with FCS. needed: the least MTU for that."""

    interface: str
    mtu: int
    size: int
    needed: int
    says = """Receiver limit{where}: {loss}. The missing frames have {size:d} B, and `{interface}` with its
        MTU of {mtu:d} receives none so long. Raise the MTU: `ip link set {interface} mtu {needed:d}`"""


class DroppedSending(VerdictReason, code="dropped-sending"):
    """The tester's card, driver or kernel dropped frames before the wire."""

    dropped: int
    missing: int
    says = """Tester limit{where}: its card, driver or kernel dropped {dropped:frame} before the wire,
        {missing} are missing. Lower the load"""


class RingFull(LossReason, code="ring-full"):
    """The tester found its receive ring full. besides: why it did not send all either."""

    times: int
    besides: Reason | None = None
    reached: Reached | None = None
    says = """{besides:?Tester limit|Inconclusive}{where}: {loss}, and the tester's receive ring was full
        {times:=1?once|{times} times}: it may have lost them{besides:?; besides, {besides}{reached:?.
        {reached.bound_of_device}}}. Add `workers` or lower the load"""


class LostWhileFull(LossReason, code="lost-while-full"):
    """Frames were lost when the tester's receive ring was full, and at no other time."""

    times: int
    says = """Receiver limit{where}: {loss}, all of them while the tester's receive ring was full (found so
        {times:time}). Add `workers` or lower the load"""


class LostWhileLate(LossReason, code="lost-while-late"):
    """Frames were lost when the tester sent late, and at no other time."""

    late_ns: int
    says = """Tester limit{where}: {loss}, all of them in bursts after pauses of the tester (up to
        {late_ns}). Rerun on a quiet machine"""


class LostCatchingUp(LossReason, code="lost-catching-up"):
    """No more was lost than the tester sent faster than intended, to make up for pauses."""

    caught_up: int
    percent: int
    longest_ns: int
    says = """Tester limit{where}: {loss}. The tester paused for up to {longest_ns} and then sent
        {caught_up:frame} at up to {percent:d} % of the load, which may have lost all of them. Give the
        tester a core of its own"""


class CarrierLost(LossReason, code="carrier-lost"):
    """Frames were lost while a link had no carrier. without_ns: how long, all ports together. by_device: the
    device took the carrier away, as it or the lab says. others: frames lost otherwise."""

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


class FarEndDropped(VerdictReason, code="far-end-dropped"):
    """The far-end switch of a LAG dropped frames before the device."""

    dropped: int
    missing: int
    says = """Fixture limit{where}: the far-end switch of the LAG dropped {dropped} of the {missing:lost
        frame} before the device"""


class DeviceLost(VerdictReason, code="device-lost"):
    """The device lost frames, and the tester was healthy.

    at_pps: the load that lost them, of a search without a line rate. dropped, far_end: missing frames that
    the tester and the far-end switch of the LAG dropped. excused: those that pauses and bunches of the tester
    may explain; None: it made none. dead: flows that lost every frame.
    """

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
    cause: Reason | None = None
    """What the lost frames have in common, if it is not the load."""

    def say(self, where: str = "") -> str:
        gone = lost_of(self.lost, self.sent, self.corrupted, self.dead)
        gone = begun(gone) if self.at_pps is None else f"At {searched(self.at_pps, 'at most')} {gone}"
        of_all = " over all streams" if self.is_of_all_streams else ""
        known = "calibrated" if self.is_calibrated else "virtual time"
        own = f"{count(self.dropped)} of {count(self.missing)} its own" if self.dropped else "nothing dropped"
        healthy = "Tester healthy"
        if self.excused is not None:
            healthy = explained(self.excused)
        cause = "" if self.cause is None else f"{begun(str(self.cause))}. "
        text = f"Device limit{where}: {self.reached}. {cause}{gone}{of_all}. {healthy} ({known}, {own})"
        if self.far_end:
            text += (
                f"; the far-end switch dropped {part(Fraction(self.far_end, max(self.missing, 1)))} of the"
                " loss"
            )
        return text if self.figure is None else f"{text}. {self.figure}"


class DeviceCopied(VerdictReason, code="device-copied"):
    """The device lost no frame, and sent some more than once."""

    reached: Reached
    copies: int
    sent: int
    says = """Device limit{where}: {reached}. None of {sent:frame} lost, but {copies} came more than once.
        Look for a loop or a mirrored port"""


class DeviceBeforeTester(VerdictReason, code="device-before-tester"):
    """Loss stayed from a load on that the tester still sent on time; later it fell behind."""

    knee_pps: Fraction
    kept_pps: Fraction
    later: Reason
    says = """Device limit{where}: loss stays from {knee_pps:at most} on. Tester on time up to {kept_pps:at
        least}; later {later}"""


class DeviceMeasured(LossReason, code="device-measured"):
    """A share or a count at a load that the tester sent.

    note: what ended a search by counts. dead: flows that lost every frame. excused: frames that pauses of the
    tester may explain; None: it made none. short: why the load was a little less.
    """

    corrupted: int
    copies: int
    is_of_all_streams: bool
    note: Reason | None = None
    dead: DeadFlows | None = None
    of_links: int = 0
    """Frames lost in addition while a link had no carrier."""
    excused: int | None = None
    short: Reason | None = None
    cause: Reason | None = None
    """What the lost frames have in common, if it is not the load."""

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
            healthy = below_load(self.short)
        cause = "" if self.cause is None else f"{begun(str(self.cause))}. "
        return f"Device{where}: {ended}{cause}{begun(gone)}{of_all}{links}{again}. {healthy}"


class DeviceTook(VerdictReason, code="device-took"):
    """A time of frames that the tester sent on time. own_ns: the tester's own latency, of which the time is
    longer; None: it has none in virtual time. excused: lost frames that pauses of the tester may explain;
    None: it made none."""

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


class NothingLost(VerdictReason, code="nothing-lost"):
    """No frame was lost. may_hide: frames have no probe, so that copies stand for lost ones. short: why the
    load was a little less than asked for."""

    frames: int
    copies: int
    may_hide: bool = False
    short: Reason | None = None

    def say(self, where: str = "") -> str:
        less = "" if self.short is None else f". {below_load(self.short)}"
        if self.may_hide:
            more = f", and {count(self.copies)} more" if self.copies else ""
            return (
                f"As many frames{where} came back as were sent, {count(self.frames)}{more}; without a probe"
                f" copies hide losses{less}"
            )
        again = f", {count(self.copies)} came more than once" if self.copies else ""
        bound = scientific(loss_bound(self.frames), "at most") if self.frames else ""
        below_that = f" (loss below {bound} at 95 %)" if bound else ""
        return f"Clean{where}: 0 of {counted(self.frames, 'frame')} lost{again}{below_that}{less}"


class NoneFailed(VerdictReason, code="none-failed"):
    """A number of failures is 0. name: what was counted."""

    name: str

    def say(self, where: str = "") -> str:
        return f"No limit met{where}: {self.name} 0"


class NoMoreOffered(VerdictReason, code="no-more-offered"):
    """Everything offered passed, or no more was lost than the goal allows: a lower bound."""

    advice: ClassVar[str] = "Offer more"
    reached: Reached
    lost: int
    sent: int
    copies: int

    def say(self, where: str = "") -> str:
        passed = "everything passed" if not self.lost else f"only {lost_of(self.lost, self.sent)}"
        again = f", {count(self.copies)} came more than once" if self.copies else ""
        return f"No limit found{where}: {self.reached.bound}, {passed}{again}. {self.advice}"


class NoMoreOnLine(NoMoreOffered, code="no-more-on-line"):
    """As no-more-offered, but all that the line carries was offered: what came back slower lay in a queue."""

    advice: ClassVar[str] = (
        "The line was full. Hold that load longer: until a queue is full, it hides a limit"
    )


class ServedDeviceLate(VerdictReason, code="served-device-late"):
    """The program that serves an emulated device had no core in time, or frames found no room around it.

    lost: those frames.
    """

    longest_gap_ns: int
    late_ns: int
    lost: int

    def say(self, where: str = "") -> str:
        lost = f", and {counted(self.lost, 'frame')} found no room around it" if self.lost else ""
        gaps = f"{duration(self.longest_gap_ns)} at most, {duration(self.late_ns)} in all"
        return (
            f"Tester limit{where}: the program that serves the emulated device was preempted, {gaps}{lost}."
            " Free a core for it"
        )


REASONS: Codes = declared(globals())
