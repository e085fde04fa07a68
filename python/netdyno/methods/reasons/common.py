"""Reasons that many methods share: which statistic a number is, at what load, and that nothing came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from netdyno.errors import counted
from netdyno.values.number import count
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


@dataclass(frozen=True)
class Taken(Reason):
    """Which statistic a number is, or where it is from."""

    code: ClassVar[str] = "taken"
    what: Statistic

    def __str__(self) -> str:
        return _STATISTICS[self.what]


@dataclass(frozen=True)
class AtLoad(Reason):
    """The load at which a value was measured, as the plan writes it. is_of_line: a share of the line."""

    code: ClassVar[str] = "at-load"
    load: str
    is_of_line: bool = False

    def __str__(self) -> str:
        return f"at {self.load} of the line" if self.is_of_line else f"at {self.load}"


@dataclass(frozen=True)
class LostAndRefused(Reason):
    """Frames of a loss ratio apart: lost by the device, and refused by its full memif ring. at: the load."""

    code: ClassVar[str] = "lost-and-refused"
    at: Reason
    lost: int
    refused: int
    intended: int

    def __str__(self) -> str:
        frames = counted(self.intended, "frame")
        return f"{self.at}: {count(self.lost)} lost and {count(self.refused)} not taken, of {frames}"


@dataclass(frozen=True)
class AtPort(Reason):
    """The port of which a value is."""

    code: ClassVar[str] = "at-port"
    port: str

    def __str__(self) -> str:
        return f"measured at port `{self.port}`"


@dataclass(frozen=True)
class Several(Reason):
    """Several reasons of one value."""

    code: ClassVar[str] = "several"
    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        return "; ".join(map(str, self.reasons))


@dataclass(frozen=True)
class NothingSent(Reason):
    """No frame was sent."""

    code: ClassVar[str] = "nothing-sent"

    def __str__(self) -> str:
        return "no frame was sent"


@dataclass(frozen=True)
class NothingCame(Reason):
    """No frame came back."""

    code: ClassVar[str] = "nothing-came"

    def __str__(self) -> str:
        return "no frame came back"


@dataclass(frozen=True)
class TooFewCame(Reason):
    """Too few frames came back for a percentile, or they took longer than is measured."""

    code: ClassVar[str] = "too-few-came"

    def __str__(self) -> str:
        return "too few frames came back, or their times exceed what is measured"


@dataclass(frozen=True)
class NotApplicable(Reason):
    """A test does not apply to this device at this load."""

    code: ClassVar[str] = "not-applicable"
    cause: Reason

    def __str__(self) -> str:
        return f"not applicable: {self.cause}"


@dataclass(frozen=True)
class LineRateForwarded(Reason):
    """The throughput is line rate: nothing fills a buffer or overloads the device."""

    code: ClassVar[str] = "line-rate-forwarded"
    of: Literal["buffer", "overload"]

    def __str__(self) -> str:
        if self.of == "buffer":
            return "the device forwards at line rate, so its buffer never fills (RFC 9004 section 6.1)"
        return "the throughput is line rate, and no higher load can be offered"


@dataclass(frozen=True)
class NotCounted(Reason):
    """A repetition that does not count."""

    code: ClassVar[str] = "not-counted"
    cause: Reason

    def __str__(self) -> str:
        return f"{self.cause}, so it does not count"


@dataclass(frozen=True)
class LostOf(Reason):
    """Frames lost, of those sent. is_corrupted: corrupted ones among them."""

    code: ClassVar[str] = "lost-of"
    lost: int
    sent: int
    is_corrupted: bool = False

    def __str__(self) -> str:
        corrupted = " lost or corrupted" if self.is_corrupted else ""
        return f"{count(self.lost)} of {counted(self.sent, 'frame')}{corrupted}"


@dataclass(frozen=True)
class OfReceived(Reason):
    """Frames of a kind, of those received."""

    code: ClassVar[str] = "of-received"
    frames: int
    received: int

    def __str__(self) -> str:
        return f"{count(self.frames)} of {counted(self.received, 'received frame')}"


REASONS: Codes = declared(globals())
