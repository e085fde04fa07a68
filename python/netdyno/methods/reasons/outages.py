"""Reasons about losses over time: after a reset or an overload, and in a soak."""

from __future__ import annotations

from fractions import Fraction

from netdyno.values.number import count, duration
from netdyno.values.reason import Codes, Reason, declared

_LOSES_ANYWAY = "the device loses frames at this load without a reset, and it should be its throughput"


class NotReset(Reason, code="not-reset"):
    """Nothing was lost in a trial with a reset by hand."""

    says = "nothing was lost: the device was not reset, or it forwarded during the reset"


class ResetEarly(Reason, code="reset-early"):
    """Frames were lost before the reset by hand was due."""

    due_ns: int
    says = f"frames were lost before {{due_ns}} of traffic: reset too early, or {_LOSES_ANYWAY}"


class LostBefore(Reason, code="lost-before"):
    """Frames were lost before a reset, at a load that is to be the throughput. frames: None if of several."""

    frames: int | None = None
    says = f"{{frames:?{{frames:frame}} lost|frames were lost}} before it: {_LOSES_ANYWAY}"


class NoneCounts(Reason, code="none-counts"):
    """No repetition counts."""

    says = "nothing was measured"


class NoOverload(Reason, code="no-overload"):
    """Nothing was lost at a load that was to overload the device. share: of the throughput."""

    rate_pps: Fraction
    share: Fraction
    says = "nothing was lost at {rate_pps}, {share:%} of the throughput, so that was no overload"


class FailuresLeftOut(Reason, code="failures-left-out"):
    """Members that were to die in a soak, and carried no frames from the begin."""

    members: tuple[str, ...]
    says = "{members:names} carried no frames from the begin, so no failure of it was measured"


class SoakPaused(Reason, code="soak-paused"):
    """The load of a soak paused between its parts. unknown: pauses of unknown length."""

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


class EventsCut(Reason, code="events-cut"):
    """More loss events than are shown."""

    events: int
    shown: int
    says = "{events} loss events, of which the first {shown} are shown"


class Undated(Reason, code="undated"):
    """Lost frames beyond the gaps that are dated. most: dated gaps of a stream in a part."""

    frames: int
    most: int
    says = "{frames:lost frame} are in no event: only {most} gaps of a stream are dated in each part"


class CarrierUnknown(Reason, code="carrier-unknown", is_detail=True):
    """Ports that are no interface of this machine: nothing reports whether they have a carrier."""

    ports: tuple[str, ...]
    says = "carrier unknown: no interface of this machine is under {ports:names}"


class MorePartsShort(Reason, code="more-parts-short"):
    """Further parts in which the tester fell short."""

    parts: int
    says = "the tester fell short in {parts:more part}"


class PartsPreempted(Reason, code="parts-preempted"):
    """The tester paused in parts of a soak. least_ns: pauses that are shorter are not counted."""

    preempted: int
    parts: int
    least_ns: int
    longest_ns: int
    says = """tester preempted for more than {least_ns} in {preempted} of {parts:part} (longest
        {longest_ns}): loss right after a pause may come from the tester's catch-up burst. Give the tester
        cores of its own"""


class SoakClean(Reason, code="soak-clean", is_detail=True):
    """No frame of a soak was lost."""

    load_ns: int
    says = "no frame was lost in {load_ns} of load"


REASONS: Codes = declared(globals())
