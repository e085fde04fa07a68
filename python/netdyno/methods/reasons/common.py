"""Reasons that many methods share: which statistic a number is, at what load, and that nothing came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from netdyno.values.reason import Codes, Reason, declared

Statistic: TypeAlias = Literal[
    "mean-of-streams",
    "longest-of-streams",
    "greatest-of-streams",
    "pdv-median",
    "ipdv-median",
    "performance",
    "performance-mean",
    "performance-percentile",
    "single-frame",
    "extent",
    "loss-free-load",
    "given",
    "corrected",
    "frames-by-size",
]

_STATISTICS: Mapping[Statistic, str] = {
    "mean-of-streams": "mean of all streams, first bit out to last bit in",
    "longest-of-streams": "the longest of all streams",
    "greatest-of-streams": "the greatest of all streams",
    "pdv-median": "99.9th percentile less the least delay, RFC 8219 section 7.3.1; the median",
    "ipdv-median": "RFC 8219 section 7.3.2; the median",
    "performance": "in the performance test",
    "performance-mean": "mean, in the performance test",
    "performance-percentile": "99.9 %, in the performance test",
    "single-frame": "of a single frame",
    "extent": "RFC 4737 section 4.2",
    "loss-free-load": "at the loss-free load",
    "given": "by the plan, not measured",
    "corrected": "corrected, RFC 9004 section 6.4",
    "frames-by-size": "frames held, of this size with FCS; a device may count in cells",
}


class Taken(Reason, code="taken"):
    """Which statistic a number is, or where it is from."""

    what: Statistic

    def __str__(self) -> str:
        return _STATISTICS[self.what]


class AtLoad(Reason, code="at-load"):
    """The load at which a value was measured, as the plan writes it. is_of_line: a share of the line."""

    load: str
    is_of_line: bool = False
    says = "{is_of_line:?at {load} of the line|at {load}}"


class LostAndRefused(Reason, code="lost-and-refused"):
    """Frames of a loss ratio apart: lost by the device, and refused by its full memif ring. at: the load."""

    at: Reason
    lost: int
    refused: int
    intended: int
    says = "{at}: {lost} lost and {refused} not taken, of {intended:frame}"


class AtPort(Reason, code="at-port"):
    """The port of which a value is."""

    port: str
    says = "measured at port `{port}`"


class Several(Reason, code="several"):
    """Several reasons of one value."""

    reasons: tuple[Reason, ...]
    says = "{reasons}"


class NothingSent(Reason, code="nothing-sent"):
    """No frame was sent."""

    says = "no frame was sent"


class NothingCame(Reason, code="nothing-came"):
    """No frame came back."""

    says = "no frame came back"


class TooFewCame(Reason, code="too-few-came"):
    """Too few frames came back for a percentile, or they took longer than is measured."""

    says = "too few frames came back, or their times exceed what is measured"


class NotApplicable(Reason, code="not-applicable"):
    """A test does not apply to this device at this load."""

    cause: Reason
    says = "not applicable: {cause}"


class LineRateForwarded(Reason, code="line-rate-forwarded"):
    """The throughput is line rate: nothing fills a buffer or overloads the device."""

    of: Literal["buffer", "overload"]

    def __str__(self) -> str:
        if self.of == "buffer":
            return "the device forwards at line rate, so its buffer never fills (RFC 9004 section 6.1)"
        return "the throughput is line rate, and no higher load can be offered"


class NotCounted(Reason, code="not-counted"):
    """A repetition that does not count."""

    cause: Reason
    says = "{cause}, so it does not count"


class LostOf(Reason, code="lost-of"):
    """Frames lost, of those sent. is_corrupted: corrupted ones among them."""

    lost: int
    sent: int
    is_corrupted: bool = False
    says = "{lost} of {sent:frame}{is_corrupted:? lost or corrupted}"


class OfReceived(Reason, code="of-received"):
    """Frames of a kind, of those received."""

    frames: int
    received: int
    says = "{frames} of {received:received frame}"


REASONS: Codes = declared(globals())
