"""Reasons why a trial offered another load than asked: clauses about the tester."""

from __future__ import annotations

from fractions import Fraction

from netdyno.values.reason import Codes, Reason, declared


class Unsent(Reason, code="unsent"):
    """The tester did not send all frames of a stream."""

    stream: str
    unsent: int
    intended: int
    host: str = ""
    """The generator host that sends it, of several."""

    @property
    def part(self) -> Fraction:
        """The share of the load that was not offered."""
        return Fraction(self.unsent, max(self.intended, 1))

    says = (
        "{host:?host `{host}`: }the tester left {unsent} of {intended:frame} of `{stream}` unsent ({part:%})"
    )


class SentLonger(Reason, code="sent-longer"):
    """The tester took longer than planned to send a stream, which is a lower rate. unsent: not even then."""

    stream: str
    planned_ns: int
    over_ns: int
    unsent: int
    intended: int
    host: str = ""

    @property
    def part(self) -> Fraction:
        """The share of the load that was not offered in the planned time."""
        return Fraction(self.over_ns, max(self.planned_ns, 1)) + Fraction(self.unsent, max(self.intended, 1))

    says = """{host:?host `{host}`: }the tester could not send `{stream}` faster ({over_ns} behind schedule
        after {planned_ns}{unsent:?, {unsent} of {intended:frame} unsent})"""


class Preempted(Reason, code="preempted"):
    """The tester was preempted while it sent."""

    pause_ns: int
    host: str = ""
    """The generator host that was, of several."""
    says = "{host:?host `{host}`: }tester preempted for {pause_ns}"


class ShortAfterPause(Reason, code="short-after-pause"):
    """A pause made the tester send less than it was to."""

    short: Reason
    pause_ns: int
    says = "{short}, after a pause of {pause_ns}"


class OfOffered(Reason, code="of-offered"):
    """A number is of the load that was offered, not of the one asked for. cause: why."""

    cause: Reason
    says = "{cause}; the numbers are of the load that was offered"


class SamplesTooLong(Reason, code="samples-too-long"):
    """No whole sample lies in a trial."""

    says = "the trial is too short for its samples. Use a longer trial or a shorter `sample`"


class OrderUnknown(Reason, code="order-unknown"):
    """Flows that arrived on several workers, which cannot see each other's order."""

    flows: int
    says = """{flows:flow} arrived on several workers: their order across workers is unknown. Rerun with
        `workers: 1`"""


class Unpaired(Reason, code="unpaired"):
    """Differences of neighbouring frames that are missing in the IPDV."""

    pairs: int
    says = """{pairs} differences of neighbouring frames are not in the IPDV: the two arrived on several
        workers, or too far apart. RFC 8219 section 7.3.2 has all: rerun with `workers: 1`"""


class NoProbe(Reason, code="no-probe"):
    """Frames hold no probe, so what came back was counted by its headers."""

    says = """frames have no probe: they are counted by their headers where they arrive, so copies hide
        losses; latency, order and flows are not known"""


class RawUnchecked(Reason, code="raw-unchecked"):
    """Checksums within raw bytes are the plan's own, and no receiver can check them."""

    says = """checksums within `raw` bytes are the plan's and not checked: a damaged frame shows in the
        headers before them and in its probe alone"""


REASONS: Codes = declared(globals())
