"""What ramps say of their samples and of the knee."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from netdyno.errors import counted
from netdyno.values.number import count, duration, rate
from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class Survey(Reason):
    """A ramp holds no load long enough for a throughput."""

    code: ClassVar[str] = "survey"
    held_ns: int

    def __str__(self) -> str:
        return (
            f"survey only: each load was held for {duration(self.held_ns)}. Use `method: throughput` for an"
            " RFC 2544 result"
        )


@dataclass(frozen=True)
class CorruptedAsLost(Reason):
    """Corrupted frames of streams, by name, which count as lost."""

    code: ClassVar[str] = "corrupted-as-lost"
    streams: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        which = ", ".join(f"{count(frames)} of `{name}`" for name, frames in self.streams)
        return f"corrupted frames count as lost: {which}"


@dataclass(frozen=True)
class ShortRamp(Reason):
    """A ramp-up so short that a queue hides loss past the knee's bounds. error_pps: how far."""

    code: ClassVar[str] = "short-ramp"
    queue_frames: int
    error_pps: Fraction

    def __str__(self) -> str:
        return (
            f"short ramp-up: a queue of {counted(self.queue_frames, 'frame')} in the device hides loss, so"
            f" the knee may show {rate(self.error_pps, 'pps', 'at most')} too high. Use a longer `ramp`"
        )


@dataclass(frozen=True)
class RampPreempted(Reason):
    """A pause of the tester in a ramp, whose samples are left out."""

    code: ClassVar[str] = "ramp-preempted"
    pause_ns: int

    def __str__(self) -> str:
        return (
            f"tester preempted for up to {duration(self.pause_ns)}: samples behind schedule count neither for"
            " the knee nor for the loss"
        )


@dataclass(frozen=True)
class RampShort(Reason):
    """The tester did not send all of a ramp. cause: how much it sent."""

    code: ClassVar[str] = "ramp-short"
    cause: Reason

    def __str__(self) -> str:
        return f"{self.cause}: what the device does beyond that is unknown"


REASONS: Codes = declared(globals())
