"""What verdicts say of calibration, of several directions and cases, and of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from netdyno.errors import counted
from netdyno.values.number import bits, duration
from netdyno.values.reason import Codes, Reason, declared
from netdyno.verdict.saying import Reached, VerdictReason, below, first_ones, part, pps, printed_size


@dataclass(frozen=True)
class NotCalibrated(Reason):
    """No calibration of these ports and this traffic exists."""

    code: ClassVar[str] = "not-calibrated"

    def __str__(self) -> str:
        return "not calibrated"


@dataclass(frozen=True)
class CalibrationExpired(Reason):
    """A calibration holds no longer. why: what changed."""

    code: ClassVar[str] = "calibration-expired"
    calibration: str
    why: str

    def __str__(self) -> str:
        return f"calibration {self.calibration} holds no longer ({self.why})"


@dataclass(frozen=True)
class CalibrationEmpty(Reason):
    """A calibration found no load that the tester passes without loss."""

    code: ClassVar[str] = "calibration-empty"
    calibration: str

    def __str__(self) -> str:
        return f"calibration {self.calibration} found no load that the tester passes without loss"


@dataclass(frozen=True)
class LossUnproven(VerdictReason):
    """Loss that may be the tester's own, as nothing proves what it passes. cause: why nothing does."""

    code: ClassVar[str] = "loss-unproven"
    cause: Reason
    reached: Reached

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {self.cause}, so the tester itself may have lost the frames."
            f" {self.reached.bound_of_device}. Run `netdyno calibrate PLAN`"
        )


@dataclass(frozen=True)
class ProofTooLow(VerdictReason):
    """The tester is calibrated for less than a limit of the device needs."""

    code: ClassVar[str] = "proof-too-low"
    reached: Reached
    proven_pps: Fraction
    needed_pps: Fraction

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: frames are missing at {self.reached}. The tester is calibrated for"
            f" {pps(self.proven_pps)}; naming the device takes {below(self.needed_pps)}"
        )


@dataclass(frozen=True)
class NearProof(VerdictReason):
    """The rate is near the most that the tester is calibrated for: a lower bound."""

    code: ClassVar[str] = "near-proof"
    rate_pps: Fraction
    proven_pps: Fraction

    def say(self, where: str = "") -> str:
        share = part(self.rate_pps / self.proven_pps)
        return (
            f"Tester limit{where}: {pps(self.rate_pps)} is {share} of the {pps(self.proven_pps)} that the"
            f" tester is calibrated for. The device does at least {pps(self.rate_pps)}"
        )


@dataclass(frozen=True)
class OwnPartUnproven(VerdictReason):
    """A time or a share that may be the tester's own. cause: why nothing is proven."""

    code: ClassVar[str] = "own-part-unproven"
    cause: Reason

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: {self.cause}, so part of it may be the tester's. Run `netdyno calibrate"
            " PLAN`"
        )


@dataclass(frozen=True)
class LoadUnproven(VerdictReason):
    """The load is above the most that the tester is calibrated for."""

    code: ClassVar[str] = "load-unproven"
    sent_pps: Fraction
    proven_pps: Fraction

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: measured at {pps(self.sent_pps)}, and the tester is calibrated for"
            f" {pps(self.proven_pps)} only. Lower the load"
        )


@dataclass(frozen=True)
class NoOwnLatency(VerdictReason):
    """A calibration has no latency of the tester's own."""

    code: ClassVar[str] = "no-own-latency"
    calibration: str

    def say(self, where: str = "") -> str:
        return (
            f"Inconclusive{where}: calibration {self.calibration} has no latency of the tester's own. Run"
            " `netdyno calibrate PLAN` again"
        )


@dataclass(frozen=True)
class OwnLatency(VerdictReason):
    """The time is no longer than the tester's own latency."""

    code: ClassVar[str] = "own-latency"
    own_ns: int

    def say(self, where: str = "") -> str:
        return (
            f"Tester limit{where}: no longer than the tester's own latency,"
            f" {duration(self.own_ns, 'at most')} without a device. The device takes no more than that"
        )


@dataclass(frozen=True)
class SameBits(VerdictReason):
    """The same rate in bits at frames of several sizes, a round one below the line."""

    code: ClassVar[str] = "same-bits"
    bps: Fraction
    layer: str
    sizes: tuple[Fraction, ...]

    def say(self, where: str = "") -> str:
        sizes = ", ".join(printed_size(size) for size in self.sizes)
        return (
            f"Licence limit{where}: {bits(self.bps)} {self.layer} at frames of {sizes} B, a round number"
            " below the line. A licence, policer or slower link limits bits, not frames"
        )


@dataclass(frozen=True)
class NoDirection(VerdictReason):
    """No direction of a case was measured."""

    code: ClassVar[str] = "no-direction"

    def say(self, where: str = "") -> str:
        return f"Invalid{where}: no direction was measured"


@dataclass(frozen=True)
class EachDirection(VerdictReason):
    """The same reason for each of several streams."""

    code: ClassVar[str] = "each-direction"
    reason: Reason

    def say(self, where: str = "") -> str:
        if isinstance(self.reason, VerdictReason):
            return self.reason.say(", each direction")
        return f"each direction: {self.reason}"


@dataclass(frozen=True)
class ByDirection(VerdictReason):
    """Reasons of several streams, those that decided it first. further: how many more there are."""

    code: ClassVar[str] = "by-direction"
    reasons: tuple[tuple[str, Reason], ...]
    further: int

    def say(self, where: str = "") -> str:
        return first_ones(self.reasons, self.further)


@dataclass(frozen=True)
class GoalCount(Reason):
    """What was counted of something that a goal is for. number: None if unknown, and why."""

    code: ClassVar[str] = "goal-count"
    what: str
    number: int | None
    why: Reason | None = None

    def __str__(self) -> str:
        return f"{self.what}: {self.why or 'not counted' if self.number is None else f'{self.number:,}'}"


@dataclass(frozen=True)
class GoalClass(Reason):
    """What a class of traffic lost or took, that a goal is for. found: the number, with its unit."""

    code: ClassVar[str] = "goal-class"
    what: str
    found: str

    def __str__(self) -> str:
        return f"{self.what}: {self.found}"


@dataclass(frozen=True)
class GoalStreams(Reason):
    """What each stream says of a goal, the first ones. further: how many more streams say the same."""

    code: ClassVar[str] = "goal-streams"
    streams: tuple[tuple[str, str], ...]
    further: int

    def __str__(self) -> str:
        return first_ones(self.streams, self.further)


@dataclass(frozen=True)
class AddressClaimed(Reason):
    """Another host claims an address of the tester."""

    code: ClassVar[str] = "address-claimed"
    mac: str
    address: str
    port: str

    def __str__(self) -> str:
        return (
            f"{self.mac} claims {self.address}, the tester's own address on `{self.port}`: replies may have"
            " gone there. Give the tester a free address"
        )


@dataclass(frozen=True)
class NextHopMoved(Reason):
    """The MAC address of a next hop changed during the traffic. further: how often again."""

    code: ClassVar[str] = "next-hop-moved"
    hop: str
    at_ns: int
    before: str
    after: str
    further: int

    def __str__(self) -> str:
        again = f" and changed {counted(self.further, 'more time')}" if self.further else ""
        return (
            f"the MAC address of {self.hop} changed from {self.before} to {self.after},"
            f" {duration(self.at_ns)} into the traffic{again}: frames in flight then do"
            " not count against the device"
        )


REASONS: Codes = declared(globals())
