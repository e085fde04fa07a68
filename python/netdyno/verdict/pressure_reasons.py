"""What verdicts say of frames that a memif peer did not take, and the conditions of naming the device.

Counts are frames, times ns.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from netdyno.errors import counted
from netdyno.values.number import count, duration, percent
from netdyno.values.reason import Codes, Reason, declared
from netdyno.verdict.saying import Reached, VerdictReason, below, lost_of, part, pps


@dataclass(frozen=True)
class DeviceRefused(VerdictReason):
    """The device did not take frames: its ring stayed full, and nothing else held it or the tester back.

    lost: of those that it took.
    """

    code: ClassVar[str] = "device-refused"
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


@dataclass(frozen=True)
class PeerRingFull(VerdictReason):
    """Frames that a memif peer did not take in time. missing: the condition of naming the device."""

    code: ClassVar[str] = "peer-ring-full"
    refused: int
    intended: int
    lost: int
    missing: Reason

    def say(self, where: str = "") -> str:
        gone = f"{count(self.refused)} of {counted(self.intended, 'frame')} were not taken"
        if not self.refused:
            gone = "frames were taken late"
        lost = f", {count(self.lost)} lost" if self.lost else ""
        return f"Inconclusive{where}: the peer's ring was full ({gone}{lost}), but {self.missing}"


@dataclass(frozen=True)
class TakenLate(Reason):
    """The peer took all frames in the end, or a time is of those that it took. is_time: the latter."""

    code: ClassVar[str] = "taken-late"
    is_time: bool = False

    def __str__(self) -> str:
        if self.is_time:
            return "times are of the load that the device took. Lower the load"
        return "the peer took all frames after the end of the trial. Use a longer `duration`"


@dataclass(frozen=True)
class CoreShared(Reason):
    """The tester had less than 99 % of its core. ppm: its share, None if that is unknown."""

    code: ClassVar[str] = "core-shared"
    ppm: int | None

    def __str__(self) -> str:
        if self.ppm is None:
            return "the tester's share of its core is unknown"
        had = percent(Fraction(self.ppm, 10**6), 1)
        return f"the tester had {had} of its core (99 % needed). Give it a core"


@dataclass(frozen=True)
class LongPause(Reason):
    """The tester paused for half the time in which its ring empties, or longer."""

    code: ClassVar[str] = "long-pause"
    gap_ns: int
    ring_ns: int

    def __str__(self) -> str:
        return (
            f"the tester paused for {duration(self.gap_ns)}, and the ring holds {duration(self.ring_ns)} of"
            " frames (half of that allowed). Give the tester a core"
        )


@dataclass(frozen=True)
class ReceiveRingFull(Reason):
    """The tester's own receive ring was full: a device that waits for room in it stops reading."""

    code: ClassVar[str] = "receive-ring-full"
    times: int
    dropped: int

    def __str__(self) -> str:
        return "the tester's own receive ring was full, too. Lower the load or add `workers`"


@dataclass(frozen=True)
class RefusedLoadUnproven(Reason):
    """The tester is not calibrated for 110 % of the load that was refused. proven_pps: for how much it is."""

    code: ClassVar[str] = "refused-load-unproven"
    load_pps: Fraction
    proven_pps: Fraction | None

    def __str__(self) -> str:
        known = "not calibrated" if self.proven_pps is None else f"calibrated for {pps(self.proven_pps)}"
        return f"the tester is {known} (110 % of {below(self.load_pps)} needed). Run `netdyno calibrate PLAN`"


@dataclass(frozen=True)
class RingSizeUnproven(Reason):
    """The peer's ring has another size than those of the calibration."""

    code: ClassVar[str] = "ring-size-unproven"
    ring: int
    calibrated: int

    def __str__(self) -> str:
        return (
            f"its ring holds {counted(self.ring, 'frame')}, those of the calibration"
            f" {count(self.calibrated)}. Use `role: client`"
        )


@dataclass(frozen=True)
class PeerStopped(Reason):
    """The peer's index stood still for 100 us or longer. explained: frames that may be unsent for that."""

    code: ClassVar[str] = "peer-stopped"
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


@dataclass(frozen=True)
class PeerPreempted(Reason):
    """The peer's process waited for its core for 1 % of the time or longer (`schedstat`)."""

    code: ClassVar[str] = "peer-preempted"
    pid: int
    waited_ns: int
    sent_ns: int

    def __str__(self) -> str:
        return (
            f"the peer (process {self.pid}) waited {duration(self.waited_ns)} of {duration(self.sent_ns)} for"
            " its core (below 1 % needed). Give it a core"
        )


@dataclass(frozen=True)
class TesterBesidePeer(Reason):
    """Threads of the tester ran on the peer's core for 1 % of the time or longer."""

    code: ClassVar[str] = "tester-beside-peer"
    pid: int
    ours_ns: int
    sent_ns: int

    def __str__(self) -> str:
        return (
            f"the tester ran {duration(self.ours_ns)} of {duration(self.sent_ns)} on the core of the peer"
            f" (process {self.pid}; below 1 % needed). Set `cores`"
        )


@dataclass(frozen=True)
class CoreInterrupted(Reason):
    """Interrupts and the hypervisor took 1 % or more of the peer's core."""

    code: ClassVar[str] = "core-interrupted"
    pid: int
    taken_ns: int
    sent_ns: int

    def __str__(self) -> str:
        return (
            f"interrupts and the hypervisor took {duration(self.taken_ns)} of {duration(self.sent_ns)} from"
            f" the core of the peer (process {self.pid}; below 1 % needed). Rerun on a quiet machine"
        )


@dataclass(frozen=True)
class HeldBack(Reason):
    """What the two cores were kept from, together, explains all frames that a port was refused.

    own_ns: without its core, the tester; peer_ns: the peer, its stops counted. explained: frames due then.
    """

    code: ClassVar[str] = "held-back"
    own_ns: int
    peer_ns: int
    explained: int
    refused: int

    def __str__(self) -> str:
        return (
            f"the tester was held back for {duration(self.own_ns)} and the peer for {duration(self.peer_ns)},"
            f" which explains {count(self.explained)} frames ({count(self.refused)} were not taken). Rerun on"
            " a quiet machine"
        )


@dataclass(frozen=True)
class NoSecondTrial(Reason):
    """No second trial of the case in which the peer took as many frames a second, within 5 %.

    trials: those that meet all other conditions.
    """

    code: ClassVar[str] = "no-second-trial"
    trials: int

    def __str__(self) -> str:
        return "no second trial agrees within 5 %. Rerun with `throughput` or a longer `duration`"


REASONS: Codes = declared(globals())
