"""What verdicts say of calibration, of several directions and cases, and of neighbours."""

from __future__ import annotations

from fractions import Fraction

from netdyno.values.number import bits, part, searched
from netdyno.values.reason import Codes, Reason, declared
from netdyno.verdict.saying import Reached, VerdictReason, as_found, first_ones, printed_size


class NotCalibrated(Reason, code="not-calibrated"):
    """No calibration of these ports and this traffic exists."""

    says = "not calibrated"


class CalibrationExpired(Reason, code="calibration-expired"):
    """A calibration holds no longer. why: what changed."""

    calibration: str
    why: str
    says = "calibration {calibration} holds no longer ({why})"


class CalibrationEmpty(Reason, code="calibration-empty"):
    """A calibration found no load that the tester passes without loss."""

    calibration: str
    says = "calibration {calibration} found no load that the tester passes without loss"


class LossUnproven(VerdictReason, code="loss-unproven"):
    """Loss that may be the tester's own, as nothing proves what it passes. cause: why nothing does."""

    cause: Reason
    reached: Reached
    says = """Inconclusive{where}: {cause}, so the tester itself may have lost the frames.
        {reached.bound_of_device}. Run `netdyno calibrate PLAN`"""


class ProofTooLow(VerdictReason, code="proof-too-low"):
    """The tester is calibrated for less than a limit of the device needs."""

    reached: Reached
    proven_pps: Fraction
    needed_pps: Fraction
    says = """Inconclusive{where}: frames are missing at {reached}. The tester is calibrated for
        {_proven}; naming the device takes {_needed}"""

    @property
    def _proven(self) -> str:
        return searched(self.proven_pps)

    @property
    def _needed(self) -> str:
        return searched(self.needed_pps, "at most")


class NearProof(VerdictReason, code="near-proof"):
    """The rate is near the most that the tester is calibrated for: a lower bound. is_searched: a search found
    it. host: of several the one that is calibrated for the least."""

    rate_pps: Fraction
    proven_pps: Fraction
    is_searched: bool = False
    host: str = ""

    def say(self, where: str = "") -> str:
        share = part(self.rate_pps / self.proven_pps)
        rate = as_found(self.rate_pps, is_searched=self.is_searched)
        who = f"host `{self.host}`" if self.host else "the tester"
        return (
            f"Tester limit{where}: {rate} is {share} of the {searched(self.proven_pps)} that {who} is"
            f" calibrated for. The device does at least {rate}"
        )


class OwnPartUnproven(VerdictReason, code="own-part-unproven"):
    """A time or a share that may be the tester's own. cause: why nothing is proven."""

    cause: Reason
    says = "Inconclusive{where}: {cause}, so part of it may be the tester's. Run `netdyno calibrate PLAN`"


class LoadUnproven(VerdictReason, code="load-unproven"):
    """The load is above the most that the tester is calibrated for."""

    sent_pps: Fraction
    proven_pps: Fraction
    says = """Inconclusive{where}: measured at {_sent}, and the tester is calibrated for {_proven} only. Lower
        the load"""

    @property
    def _sent(self) -> str:
        return searched(self.sent_pps)

    @property
    def _proven(self) -> str:
        return searched(self.proven_pps)


class NoOwnLatency(VerdictReason, code="no-own-latency"):
    """A calibration has no latency of the tester's own."""

    calibration: str
    says = """Inconclusive{where}: calibration {calibration} has no latency of the tester's own. Run `netdyno
        calibrate PLAN` again"""


class OwnLatency(VerdictReason, code="own-latency"):
    """The time is no longer than the tester's own latency."""

    own_ns: int
    says = """Tester limit{where}: no longer than the tester's own latency, {own_ns:at most} without a
        device. The device takes no more than that"""


class SameBits(VerdictReason, code="same-bits"):
    """The same rate in bits at frames of several sizes, a round one below the line. of_line: the part of the
    line that it is, if a LAG with idle members carries as much; None: it is no such part."""

    bps: Fraction
    layer: str
    sizes: tuple[Fraction, ...]
    of_line: Fraction | None = None

    def say(self, where: str = "") -> str:
        sizes = ", ".join(printed_size(size) for size in self.sizes)
        members = (
            f". {self.of_line} of the line: look for idle members if it is a LAG" if self.of_line else ""
        )
        return (
            f"Licence limit{where}: {bits(self.bps)} {self.layer} at frames of {sizes} B, a round number"
            f" below the line. A licence, policer or slower link limits bits, not frames{members}"
        )


class NoDirection(VerdictReason, code="no-direction"):
    """No direction of a case was measured."""

    says = "Invalid{where}: no direction was measured"


class EachDirection(VerdictReason, code="each-direction"):
    """The same reason for each of several streams."""

    reason: Reason

    def say(self, where: str = "") -> str:
        if isinstance(self.reason, VerdictReason):
            return self.reason.say(", each direction")
        return f"each direction: {self.reason}"


class ByDirection(VerdictReason, code="by-direction"):
    """Reasons of several streams, those that decided it first. further: how many more there are."""

    reasons: tuple[tuple[str, Reason], ...]
    further: int

    def say(self, where: str = "") -> str:
        return first_ones(self.reasons, self.further)


class GoalCount(Reason, code="goal-count"):
    """What was counted of something that a goal is for. number: None if unknown, and why."""

    what: str
    number: int | None
    why: Reason | None = None

    def __str__(self) -> str:
        return f"{self.what}: {self.why or 'not counted' if self.number is None else f'{self.number:,}'}"


class GoalClass(Reason, code="goal-class"):
    """What a class of traffic lost or took, that a goal is for. found: the number, with its unit."""

    what: str
    found: str
    says = "{what}: {found}"


class GoalStreams(Reason, code="goal-streams"):
    """What each stream says of a goal, the first ones. further: how many more streams say the same."""

    streams: tuple[tuple[str, str], ...]
    further: int

    def __str__(self) -> str:
        return first_ones(self.streams, self.further)


class AddressClaimed(Reason, code="address-claimed"):
    """Another host claims an address of the tester."""

    mac: str
    address: str
    port: str
    says = """{mac} claims {address}, the tester's own address on `{port}`: replies may have gone there. Give
        the tester a free address"""


class NextHopMoved(Reason, code="next-hop-moved"):
    """The MAC address of a next hop changed during the traffic. further: how often again."""

    hop: str
    at_ns: int
    before: str
    after: str
    further: int
    says = """the MAC address of {hop} changed from {before} to {after}, {at_ns} into the traffic{further:?
        and changed {further:more time}}: frames in flight then do not count against the device"""


REASONS: Codes = declared(globals())
