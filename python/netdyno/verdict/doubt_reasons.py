"""What verdicts say where a loss or a time may be somebody else's than the device's, and nobody can tell."""

from __future__ import annotations

from fractions import Fraction

from netdyno.errors import counted
from netdyno.values.number import count, duration
from netdyno.values.reason import Codes, declared
from netdyno.verdict.saying import LossReason, VerdictReason, carrier_losses, lost_of, name_ports


class DamagedOnLine(VerdictReason, code="damaged-on-line"):
    """Half of the missing frames or more came to the tester damaged: by a cable, an optic or a port."""

    damaged: int
    missing: int
    says = """Inconclusive{where}: {missing} frames are missing. The tester's interfaces counted {damaged}
        damaged on the line. Change the cable or the optic"""


class PausesSent(LossReason, code="pauses-sent"):
    """The tester's cards sent pause frames: the device waited, and may have lost frames for that."""

    pauses: int
    says = """Inconclusive{where}: {loss}. The tester's cards sent {pauses:pause frame}, which make the
        device wait. Switch flow control off: `ethtool -A INTERFACE autoneg off rx off tx off`"""


class FramesJoined(LossReason, code="frames-joined"):
    """Frames longer than any that was sent arrived: several were joined on the way."""

    too_long: int
    says = """Inconclusive{where}: {loss}, and {too_long:frame} longer than any sent came. Frames were joined
        (kernel GRO, or DPDK's memif when sizes change): measure one size a run, or restart the device before
        each"""


class LateBurst(LossReason, code="late-burst"):
    """No more was lost than frames that came in bunches after a pause explain."""

    late_ns: int
    says = """Inconclusive{where}: {loss}. The tester paused for up to {late_ns}, and the bursts after that
        may have lost all of them. Give the tester a core of its own"""


class LateFrames(LossReason, code="late-frames"):
    """No more was lost than frames that the tester sent a little late, and so in bunches, explain."""

    late: int
    says = """Inconclusive{where}: {loss}. Small bunches of the tester may have lost all of them{late:?
        ({late} frames were sent late)}. Rerun on a quiet machine"""


class LateTimes(VerdictReason, code="late-times"):
    """Times of frames that the tester sent late, so of another load."""

    late: int
    sent: int
    says = """Inconclusive{where}: {late} of {sent:frame} were sent late, so the times are those of another
        load. Lower the load or give the tester a core of its own"""


class LateFramesDecide(VerdictReason, code="late-frames-decide"):
    """As few frames came out of order, or to other ports, as were sent late."""

    touched: int
    late: int
    says = """Inconclusive{where}: {touched:frame} came out of order or to other ports, and {late} were sent
        late, in bunches. Rerun on a quiet machine"""


class LastLossUnsure(VerdictReason, code="last-loss-unsure"):
    """The last lost frame may be one that the tester dropped, or sent in a bunch. late_ns: by how much frames
    were late when it was lost; 0: they were on time."""

    dropped: int
    late_ns: int

    def say(self, where: str = "") -> str:
        what = f"sent frames in bunches then, {duration(self.late_ns)} late"
        what = f"dropped {counted(self.dropped, 'frame')} itself" if self.dropped else what
        return (
            f"Inconclusive{where}: the time ends with the last lost frame, and that may be the tester's. It"
            f" {what}. Rerun on a quiet machine"
        )


class LostWhileHeld(LossReason, code="lost-while-held"):
    """No more frames were lost than were due while the device's process was preempted, or the kernel's work
    on frames. explained: these. by_kernel: mostly the latter."""

    held_ns: int
    explained: int
    by_kernel: bool = False
    says = """Inconclusive{where}: {loss}. {by_kernel:?This machine's kernel (`ksoftirqd`)|The device's
        process} was preempted for {held_ns}, enough for {explained:frame}. Rerun on a quiet machine"""


class ReceiverPaused(LossReason, code="receiver-paused"):
    """No more was lost than came while a worker did not read. came: so many at most."""

    came: int
    says = """Inconclusive{where}: {loss}, and up to {came:frame} came while a worker did not read. Give each
        worker a core of its own (`cores`)"""


class ReceivedLate(VerdictReason, code="received-late"):
    """A time no longer than a pause of a worker that only receives: frames may have waited for it."""

    time_ns: Fraction
    gap_ns: int
    says = """Inconclusive{where}: {time_ns} may be the tester's own time. A worker that only receives paused
        for {gap_ns}. Rerun with `workers: 1` or a core for each"""


class OwnDelays(VerdictReason, code="own-delays"):
    """Steps failed by delays that a tenth or more may be the tester's own. noise_ns: how far these vary."""

    own_ns: int
    noise_ns: int
    says = """Inconclusive{where}: steps failed by their delays. The tester's own are {own_ns} and vary by
        {noise_ns}. Allow ten times as much or use a faster tester"""


class LinkUpLate(VerdictReason, code="link-up-late"):
    """A time of which a tenth or more may be that the tester switched a link on late."""

    time_ns: Fraction
    over_ns: int
    says = """Inconclusive{where}: {over_ns} of {time_ns} may be the tester's: it switched the link on late.
        Rerun on a quiet machine"""


class LineOfOthers(LossReason, code="line-of-others"):
    """A receiving line was full with foreign frames and those of the test. share: what the former took."""

    share: Fraction
    says = """Inconclusive{where}: {loss}. A receiving line was full, and foreign frames took {share:.1%} of
        it. Disconnect other hosts from the device"""


class MacUnproven(LossReason, code="mac-unproven"):
    """No frame to a MAC address that the plan gives came back, in any trial of the case."""

    mac: str
    says = """Inconclusive{where}: {loss}, in any trial, of those to {mac}, the MAC address in the plan: it
        may be of another host or of none. Give the link's `gateway` in its place, and netdyno asks for it"""


class KeptBack(LossReason, code="kept-back"):
    """No packet of a stream came back, in any trial of the case, and a router forwards none like it. why: the
    TTL or the address."""

    why: str
    says = """Inconclusive{where}: {loss}, in any trial, and a router drops packets with {why} as it must.
        Give them another"""


class PathUnproven(LossReason, code="path-unproven"):
    """No frame of any stream came back, in any trial of the case, and nothing shows that the device takes
    them on."""

    says = """Inconclusive{where}: {loss}, in any trial: cabling or configuration may be why. Look at a
        router's routes both ways and its filters, at a switch's VLANs and spanning tree"""


class DisplacedByOthers(LossReason, code="displaced-by-others"):
    """No more is missing than others' frames may have displaced at the tester's interfaces."""

    displaced: int
    says = """Inconclusive{where}: {loss}. Frames of other programs or hosts went through the tester's
        interfaces: they may have taken the place of {displaced:frame}. Stop what sends there"""


class NotCountedSent(LossReason, code="not-counted-sent"):
    """No more is missing than the tester's interfaces were given and never counted as sent."""

    uncounted: int
    says = """Inconclusive{where}: {loss}. The tester's interfaces were given {uncounted:frame} more than they
        sent: a firewall or queue of this machine may drop them. Look at `nft list ruleset`, `tc -s qdisc`"""


class BlockUnclear(LossReason, code="block-unclear"):
    """Nothing came back for a time beside pauses, which make frames come closer and keep none from coming.

    moved: frames of it, at most, that pauses in it and in the second before made up for. from_ns: of the
    traffic.
    """

    in_block: int
    moved: int
    from_ns: int
    lasts_ns: int
    says = """Inconclusive{where}: {loss}. None of {in_block:frame} came back for {lasts_ns}, from
        {from_ns} on. The tester's pauses may have cost {moved} of them, but keep no device silent.
        Repeat the trial"""


class CameBackChanged(LossReason, code="came-back-changed"):
    """No more is missing of a stream without a probe than came with its lengths and looked otherwise."""

    changed: int
    says = """Inconclusive{where}: {loss}. {changed:frame} of the same length and protocol came to its port
        with other headers: the device may rewrite them. Send them with a probe"""


class QuestionsUnanswered(LossReason, code="questions-unanswered"):
    """Frames are missing, and the tester did not answer all questions for its addresses (ARP, ND)."""

    unanswered: int
    says = """Inconclusive{where}: {loss}. The tester did not answer {unanswered} ARP or ND frames, so the
        device may not know where to send. Look for a storm or a loop"""


class BeyondWindow(LossReason, code="beyond-window"):
    """No more was lost than arrived too late to tell from copies."""

    unknown: int
    says = """Inconclusive{where}: {loss}, and {unknown} came too late to tell copies from them. Rerun with
        fewer flows"""


class LostAsPlanned(LossReason, code="lost-as-planned"):
    """No frame was lost but from when a member died as the plan asked (`failures` of a soak), until losses
    ended."""

    says = """Inconclusive{where}: {loss} while members were dead as the plan asked, or until losses ended;
        no other frame was lost. The table of failures has each failure"""


class LostBehindLink(LossReason, code="lost-behind-link"):
    """Most frames were lost behind a link without carrier while others came back: to the link or otherwise.

    behind: these frames. without_ns: how long there was no carrier, all ports together.
    """

    behind: int
    losses: int
    without_ns: int
    ports: tuple[str, ...]

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {lost_of(self.lost, self.sent)} since {name_ports(self.ports)} had no"
            f" carrier ({carrier_losses(self.losses)}, {duration(self.without_ns)}). When it was back,"
            f" {count(self.behind)} were lost and others not: these may be the device's. Rerun the case"
        )


REASONS: Codes = declared(globals())
