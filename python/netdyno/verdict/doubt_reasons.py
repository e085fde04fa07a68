"""What verdicts say where a loss or a time may be somebody else's than the device's, and nobody can tell."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from netdyno.errors import counted
from netdyno.values.number import count, duration
from netdyno.values.reason import Codes, declared
from netdyno.verdict.saying import VerdictReason, carrier_losses, lost_of, name_ports, part


@dataclass(frozen=True)
class DamagedOnLine(VerdictReason):
    """Half of the missing frames or more came to the tester damaged: by a cable, an optic or a port."""

    code: ClassVar[str] = "damaged-on-line"
    damaged: int
    missing: int

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {count(self.missing)} frames are missing. The tester's interfaces counted"
            f" {count(self.damaged)} damaged on the line. Change the cable or the optic"
        )


@dataclass(frozen=True)
class PausesSent(VerdictReason):
    """The tester's cards sent pause frames: the device waited, and may have lost frames for that."""

    code: ClassVar[str] = "pauses-sent"
    lost: int
    sent: int
    pauses: int

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {lost_of(self.lost, self.sent)}. The tester's cards sent"
            f" {counted(self.pauses, 'pause frame')}, which make the device wait. Switch flow control off:"
            " `ethtool -A INTERFACE autoneg off rx off tx off`"
        )


@dataclass(frozen=True)
class FramesJoined(VerdictReason):
    """Frames longer than any that was sent arrived: several were joined on the way."""

    code: ClassVar[str] = "frames-joined"
    lost: int
    sent: int
    too_long: int

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {lost_of(self.lost, self.sent)}, and {counted(self.too_long, 'frame')}"
            " longer than any sent came. Frames were joined (kernel GRO, or DPDK's memif when sizes change):"
            " measure one size a run, or restart the device before each"
        )


@dataclass(frozen=True)
class LateBurst(VerdictReason):
    """No more was lost than frames that came in bunches after a pause explain."""

    code: ClassVar[str] = "late-burst"
    lost: int
    sent: int
    late_ns: int

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {lost_of(self.lost, self.sent)}. The tester paused for up to"
            f" {duration(self.late_ns)}, and the bursts after that may have lost all of them. Give the"
            " tester a core of its own"
        )


@dataclass(frozen=True)
class LateFrames(VerdictReason):
    """No more was lost than frames that the tester sent a little late, and so in bunches, explain."""

    code: ClassVar[str] = "late-frames"
    lost: int
    sent: int
    late: int

    def say(self, where: str = "") -> str:
        late = f" ({count(self.late)} frames were sent late)" if self.late else ""
        return (
            f"Inconclusive{where}: {lost_of(self.lost, self.sent)}. Small bunches of the tester may have lost"
            f" all of them{late}. Rerun on a quiet machine"
        )


@dataclass(frozen=True)
class LateTimes(VerdictReason):
    """Times of frames that the tester sent late, so of another load."""

    code: ClassVar[str] = "late-times"
    late: int
    sent: int

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {count(self.late)} of {counted(self.sent, 'frame')} were sent late, so the"
            " times are those of another load. Lower the load or give the tester a core of its own"
        )


@dataclass(frozen=True)
class LateFramesDecide(VerdictReason):
    """As few frames came out of order, or to other ports, as were sent late."""

    code: ClassVar[str] = "late-frames-decide"
    touched: int
    late: int

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {counted(self.touched, 'frame')} came out of order or to other ports, and"
            f" {count(self.late)} were sent late, in bunches. Rerun on a quiet machine"
        )


@dataclass(frozen=True)
class LastLossUnsure(VerdictReason):
    """The last lost frame may be one that the tester dropped, or sent in a bunch. late_ns: by how much frames
    were late when it was lost; 0: they were on time."""

    code: ClassVar[str] = "last-loss-unsure"
    dropped: int
    late_ns: int

    def say(self, where: str = "") -> str:
        what = f"sent frames in bunches then, {duration(self.late_ns)} late"
        what = f"dropped {counted(self.dropped, 'frame')} itself" if self.dropped else what
        return (
            f"Inconclusive{where}: the time ends with the last lost frame, and that may be the tester's. It"
            f" {what}. Rerun on a quiet machine"
        )


@dataclass(frozen=True)
class LostWhileHeld(VerdictReason):
    """No more frames were lost than were due while the device's process was preempted, or the kernel's work
    on frames. explained: these. by_kernel: mostly the latter."""

    code: ClassVar[str] = "lost-while-held"
    lost: int
    sent: int
    held_ns: int
    explained: int
    by_kernel: bool = False

    def say(self, where: str = "") -> str:
        who = "This machine's kernel (`ksoftirqd`)" if self.by_kernel else "The device's process"
        return (
            f"Inconclusive{where}: {lost_of(self.lost, self.sent)}. {who} was preempted for"
            f" {duration(self.held_ns)}, enough for {counted(self.explained, 'frame')}. Rerun on a quiet"
            " machine"
        )


@dataclass(frozen=True)
class ReceiverPaused(VerdictReason):
    """No more was lost than came while a worker did not read. came: so many at most."""

    code: ClassVar[str] = "receiver-paused"
    lost: int
    sent: int
    came: int

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {lost_of(self.lost, self.sent)}, and up to {counted(self.came, 'frame')}"
            " came while a worker did not read. Give each worker a core of its own (`cores`)"
        )


@dataclass(frozen=True)
class ReceivedLate(VerdictReason):
    """A time no longer than a pause of a worker that only receives: frames may have waited for it."""

    code: ClassVar[str] = "received-late"
    time_ns: Fraction
    gap_ns: int

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {duration(self.time_ns)} may be the tester's own time. A worker that only"
            f" receives paused for {duration(self.gap_ns)}. Rerun with `workers: 1` or a core for each"
        )


@dataclass(frozen=True)
class OwnDelays(VerdictReason):
    """Steps failed by delays that a tenth or more may be the tester's own. noise_ns: how far these vary."""

    code: ClassVar[str] = "own-delays"
    own_ns: int
    noise_ns: int

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: steps failed by their delays. The tester's own are {duration(self.own_ns)}"
            f" and vary by {duration(self.noise_ns)}. Allow ten times as much or use a faster tester"
        )


@dataclass(frozen=True)
class LinkUpLate(VerdictReason):
    """A time of which a tenth or more may be that the tester switched a link on late."""

    code: ClassVar[str] = "link-up-late"
    time_ns: Fraction
    over_ns: int

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {duration(self.over_ns)} of {duration(self.time_ns)} may be the tester's:"
            " it switched the link on late. Rerun on a quiet machine"
        )


@dataclass(frozen=True)
class LineOfOthers(VerdictReason):
    """A receiving line was full with foreign frames and those of the test. share: what the former took."""

    code: ClassVar[str] = "line-of-others"
    lost: int
    sent: int
    share: Fraction

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {lost_of(self.lost, self.sent)}. A receiving line was full, and foreign"
            f" frames took {part(self.share)} of it. Disconnect other hosts from the device"
        )


@dataclass(frozen=True)
class QuestionsUnanswered(VerdictReason):
    """Frames are missing, and the tester did not answer all questions for its addresses (ARP, ND)."""

    code: ClassVar[str] = "questions-unanswered"
    lost: int
    sent: int
    unanswered: int

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {lost_of(self.lost, self.sent)}. The tester did not answer"
            f" {count(self.unanswered)} ARP or ND frames, so the device may not know where to send. Look for"
            " a storm or a loop"
        )


@dataclass(frozen=True)
class BeyondWindow(VerdictReason):
    """No more was lost than arrived too late to tell from copies."""

    code: ClassVar[str] = "beyond-window"
    lost: int
    sent: int
    unknown: int

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {lost_of(self.lost, self.sent)}, and {count(self.unknown)} came too late"
            " to tell copies from them. Rerun with fewer flows"
        )


@dataclass(frozen=True)
class LostBehindLink(VerdictReason):
    """Most frames were lost behind a link without carrier while others came back: to the link or otherwise.

    behind: these frames. without_ns: how long there was no carrier, all ports together.
    """

    code: ClassVar[str] = "lost-behind-link"
    lost: int
    sent: int
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
