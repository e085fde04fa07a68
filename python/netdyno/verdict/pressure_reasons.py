"""What verdicts say of frames that a memif peer did not take, and the conditions of naming the device.

Counts are frames, times ns.
"""

from __future__ import annotations

from fractions import Fraction

from netdyno.errors import counted
from netdyno.values.number import count, duration, part, percent
from netdyno.values.reason import Codes, Reason, declared
from netdyno.verdict.saying import Reached, VerdictReason, lost_of


class DeviceRefused(VerdictReason, code="device-refused"):
    """The device did not take frames: its ring stayed full, and nothing else held it or the tester back.

    lost: of those that it took.
    """

    reached: Reached
    refused: int
    intended: int
    lost: int

    def say(self, where: str = "") -> str:
        share = part(Fraction(self.refused, self.intended)) if self.intended else "0 %"
        frames = f"{count(self.refused)} of {counted(self.intended, 'frame')} ({share})"
        lost = lost_of(self.lost, self.intended - self.refused)
        head = f"its ring was full, and it did not take {frames}, as this machine let it run"
        if self.reached.rate_pps is not None:
            head = f"{self.reached}, as this machine let it run. Its ring was full: it did not take {frames}"
        return f"Device limit{where}: {head}. Of those it took {lost}. Tester healthy (calibrated)"


class PeerRingFull(VerdictReason, code="peer-ring-full"):
    """Frames that a memif peer did not take in time. missing: the condition of naming the device."""

    refused: int
    intended: int
    lost: int
    missing: Reason
    says = """Inconclusive{where}: the peer's ring was full ({refused:?{refused} of {intended:frame} were not
        taken|frames were taken late}{lost:?, {lost} lost}), but {missing}"""


class DevicePaused(VerdictReason, code="device-paused"):
    """The device sent pause frames (802.3x or PFC), and these account for all frames that were not sent.

    explained: that the pauses held back at most, of 65,535 x 512 bit times each. lost: of what was sent.
    """

    reached: Reached
    pauses: int
    unsent: int
    intended: int
    explained: int
    lost: int

    def say(self, where: str = "") -> str:
        head = "" if self.reached.rate_pps is None else f"{self.reached}. "
        lost = f" {counted(self.lost, 'frame')} of the others were lost." if self.lost else ""
        return (
            f"Device limit{where}: {head}It sent {counted(self.pauses, 'pause frame')} (flow control), which"
            f" hold back up to {counted(self.explained, 'frame')}. {count(self.unsent)} of"
            f" {counted(self.intended, 'frame')} were not sent.{lost} Tester healthy (calibrated)"
        )


class PausesReceived(VerdictReason, code="pauses-received"):
    """Pause frames of the device account for all frames that were not sent. missing: the condition of naming
    the device."""

    pauses: int
    unsent: int
    intended: int
    explained: int
    lost: int
    missing: Reason
    says = """Inconclusive{where}: the device sent {pauses:pause frame} (flow control), which hold back up to
        {explained:frame}. {unsent} of {intended:frame} were not sent, but {missing}"""


class TakenLate(Reason, code="taken-late"):
    """The peer took all frames in the end, or a time is of those that it took. is_time: the latter."""

    is_time: bool = False
    says = """{is_time:?times are of the load that the device took. Lower the load|the peer took all frames
        after the end of the trial. Use a longer `duration`}"""


class CoreShared(Reason, code="core-shared"):
    """The tester had less than 99 % of its core. ppm: its share, None if that is unknown."""

    ppm: int | None

    def __str__(self) -> str:
        if self.ppm is None:
            return "the tester's share of its core is unknown"
        had = percent(Fraction(self.ppm, 10**6), 1)
        return f"the tester had {had} of its core (99 % needed). Give it a core"


class OwnGap(Reason, code="own-gap"):
    """The tester did not run for a time in which a tenth of what is unsent, or more, was due."""

    gap_ns: int
    says = "the tester itself stood still for {gap_ns}. Give it a core"


class PausedByClass(Reason, code="paused-by-class"):
    """The pause frames are of a class (PFC), and which class the frames of the test are of is unknown."""

    says = "the pauses are of one class (PFC), and the test may be of another"


class LineNotEnforced(Reason, code="line-not-enforced"):
    """How long a pause lasts is unknown: the rate is the plan's, and the card may be faster."""

    says = "the speed of the card, from which the length of a pause follows, is unknown"


class LongPause(Reason, code="long-pause"):
    """The tester paused for half the time in which its ring empties, or longer."""

    gap_ns: int
    ring_ns: int
    says = """the tester paused for {gap_ns}, and the ring holds {ring_ns} of frames (half of that allowed).
        Give the tester a core"""


class ReceiveRingFull(Reason, code="receive-ring-full"):
    """The tester's own receive ring was full: a device that waits for room in it stops reading."""

    times: int
    dropped: int
    says = "the tester's own receive ring was full, too. Lower the load or add `workers`"


class RefusedLoadUnproven(Reason, code="refused-load-unproven"):
    """The tester is not calibrated for 110 % of the load that was refused. proven_pps: for how much it is."""

    load_pps: Fraction
    proven_pps: Fraction | None
    says = """the tester is {proven_pps:?calibrated for {proven_pps:at least}|not calibrated} (110 % of
        {load_pps:at most} needed). Run `netdyno calibrate PLAN`"""


class RingSizeUnproven(Reason, code="ring-size-unproven"):
    """The peer's ring has another size than those of the calibration."""

    ring: int
    calibrated: int
    says = "its ring holds {ring:frame}, those of the calibration {calibrated}. Use `role: client`"


class PeerStopped(Reason, code="peer-stopped"):
    """The peer's index stood still for 100 us or longer. explained: frames that may be unsent for that."""

    stops: int
    stopped_ns: int
    explained: int
    refused: int

    def __str__(self) -> str:
        share = min(Fraction(self.explained, max(self.refused, 1)), Fraction(1))
        explained = f". That explains {part(share)} of them (below 1 % needed)" if self.refused else ""
        return (
            f"the peer stopped reading {counted(self.stops, 'time')}, for {duration(self.stopped_ns)} in all"
            f"{explained}. Another program may have held it back: rerun on a quiet machine"
        )


class PeerPreempted(Reason, code="peer-preempted"):
    """The peer's process waited for its core for 1 % of the time or longer (`schedstat`)."""

    pid: int
    waited_ns: int
    sent_ns: int
    says = """the peer (process {pid:d}) waited {waited_ns} of {sent_ns} for its core (below 1 % needed).
        Give it a core"""


class TesterBesidePeer(Reason, code="tester-beside-peer"):
    """Threads of the tester ran on the peer's core for 1 % of the time or longer."""

    pid: int
    ours_ns: int
    sent_ns: int
    says = """the tester ran {ours_ns} of {sent_ns} on the core of the peer (process {pid:d}; below 1 %
        needed). Set `cores`"""


class CoreInterrupted(Reason, code="core-interrupted"):
    """Interrupts and the hypervisor took 1 % or more of the peer's core."""

    pid: int
    taken_ns: int
    sent_ns: int
    says = """interrupts and the hypervisor took {taken_ns} of {sent_ns} from the core of the peer (process
        {pid:d}; below 1 % needed). Rerun on a quiet machine"""


class HeldBack(Reason, code="held-back"):
    """What the two cores were kept from, together, explains all frames that a port was refused.

    own_ns: without its core, the tester; peer_ns: the peer, its stops counted. explained: frames due then.
    """

    own_ns: int
    peer_ns: int
    explained: int
    refused: int
    says = """the tester was held back for {own_ns} and the peer for {peer_ns}, which explains {explained}
        frames ({refused} were not taken). Rerun on a quiet machine"""


class NoSecondTrial(Reason, code="no-second-trial"):
    """No second trial of the case in which the peer took as many frames a second, within 5 %.

    trials: those that meet all other conditions.
    """

    trials: int
    says = "no second trial agrees within 5 %. Rerun with `throughput` or a longer `duration`"


REASONS: Codes = declared(globals())
