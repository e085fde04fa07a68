"""Reasons about losses over time: after a reset or an overload, and in a soak."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from netdyno.errors import counted
from netdyno.values.number import count, duration, rate
from netdyno.values.number import share as printed_share
from netdyno.values.reason import Codes, Reason, declared

_LOSES_ANYWAY = "the device loses frames at this load without a reset, and it should be its throughput"


@dataclass(frozen=True)
class NotReset(Reason):
    """Nothing was lost in a trial with a reset by hand."""

    code: ClassVar[str] = "not-reset"

    def __str__(self) -> str:
        return "nothing was lost: the device was not reset, or it forwarded during the reset"


@dataclass(frozen=True)
class ResetEarly(Reason):
    """Frames were lost before the reset by hand was due."""

    code: ClassVar[str] = "reset-early"
    due_ns: int

    def __str__(self) -> str:
        return (
            f"frames were lost before {duration(self.due_ns)} of traffic: reset too early, or {_LOSES_ANYWAY}"
        )


@dataclass(frozen=True)
class LostBefore(Reason):
    """Frames were lost before a reset, at a load that is to be the throughput. frames: None if of several."""

    code: ClassVar[str] = "lost-before"
    frames: int | None = None

    def __str__(self) -> str:
        lost = "frames were lost" if self.frames is None else f"{counted(self.frames, 'frame')} lost"
        return f"{lost} before it: {_LOSES_ANYWAY}"


@dataclass(frozen=True)
class NoneCounts(Reason):
    """No repetition counts."""

    code: ClassVar[str] = "none-counts"

    def __str__(self) -> str:
        return "nothing was measured"


@dataclass(frozen=True)
class NoOverload(Reason):
    """Nothing was lost at a load that was to overload the device. share: of the throughput."""

    code: ClassVar[str] = "no-overload"
    rate_pps: Fraction
    share: Fraction

    def __str__(self) -> str:
        at = f"{rate(self.rate_pps, 'pps')}, {printed_share(self.share)} of the throughput"
        return f"nothing was lost at {at}, so that was no overload"


@dataclass(frozen=True)
class SoakPaused(Reason):
    """The load of a soak paused between its parts. unknown: pauses of unknown length."""

    code: ClassVar[str] = "soak-paused"
    parts: int
    longest_ns: int
    total_ns: int
    unknown: int

    def __str__(self) -> str:
        known = f"up to {duration(self.longest_ns)}, {duration(self.total_ns)} in all"
        unknown = f"{count(self.unknown)} of them for an unknown time"
        paused = [known] if self.parts - 1 > self.unknown else []
        paused += [unknown] if self.unknown else []
        between = f"the soak has {count(self.parts)} parts, and the load paused between them"
        return f"{between}: {', and '.join(paused)}; no frame was sent meanwhile, so none is missing"


@dataclass(frozen=True)
class EventsCut(Reason):
    """More loss events than are shown."""

    code: ClassVar[str] = "events-cut"
    events: int
    shown: int

    def __str__(self) -> str:
        return f"{count(self.events)} loss events, of which the first {count(self.shown)} are shown"


@dataclass(frozen=True)
class Undated(Reason):
    """Lost frames beyond the gaps that are dated. most: dated gaps of a stream in a part."""

    code: ClassVar[str] = "undated"
    frames: int
    most: int

    def __str__(self) -> str:
        gaps = f"only {count(self.most)} gaps of a stream are dated in each part"
        return f"{counted(self.frames, 'lost frame')} are in no event: {gaps}"


@dataclass(frozen=True)
class CarrierUnknown(Reason):
    """Ports that are no interface of this machine: nothing reports whether they have a carrier."""

    code: ClassVar[str] = "carrier-unknown"
    is_detail: ClassVar[bool] = True
    ports: tuple[str, ...]

    def __str__(self) -> str:
        ports = ", ".join(f"`{port}`" for port in self.ports)
        return f"carrier unknown: no interface of this machine is under {ports}"


@dataclass(frozen=True)
class MorePartsShort(Reason):
    """Further parts in which the tester fell short."""

    code: ClassVar[str] = "more-parts-short"
    parts: int

    def __str__(self) -> str:
        return f"the tester fell short in {counted(self.parts, 'more part')}"


@dataclass(frozen=True)
class PartsPreempted(Reason):
    """The tester paused in parts of a soak. least_ns: pauses that are shorter are not counted."""

    code: ClassVar[str] = "parts-preempted"
    preempted: int
    parts: int
    least_ns: int
    longest_ns: int

    def __str__(self) -> str:
        parts = f"in {count(self.preempted)} of {counted(self.parts, 'part')}"
        paused = f"tester preempted for more than {duration(self.least_ns)} {parts}"
        lost = "loss right after a pause may come from the tester's catch-up burst"
        return f"{paused} (longest {duration(self.longest_ns)}): {lost}. Give the tester cores of its own"


@dataclass(frozen=True)
class SoakClean(Reason):
    """No frame of a soak was lost."""

    code: ClassVar[str] = "soak-clean"
    is_detail: ClassVar[bool] = True
    load_ns: int

    def __str__(self) -> str:
        return f"no frame was lost in {duration(self.load_ns)} of load"


REASONS: Codes = declared(globals())
