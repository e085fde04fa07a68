"""Carrier losses of several trials that are parts of one load, joined over their borders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from netdyno.values.outcome import CarrierCause, CarrierLoss, StreamResult

SLACK_NS = 100_000_000
"""By how much a carrier loss may be dated too late in real time, beside what the kernel gathers: the tester's
own thread had to read the message."""

REPORTED_NS = 10**9
"""By how much the kernel may report it too late (`ports.carrier.LATE_NS`)."""


def ahead_ns(streams: Iterable[StreamResult], *, is_real: bool) -> int:
    """How long before a carrier was lost frames may be due that were lost to that: they were on their way."""
    on_their_way = (one.latency.max_ns for one in streams if one.latency is not None)
    return max(on_their_way, default=0) + (SLACK_NS if is_real else 0)


@dataclass(frozen=True)
class CarrierSpan:
    """A time in which a port had no carrier, ns of the load. until_ns: its end if there was none to the last.

    first, last: the parts, from 0, in which it began and ended.
    """

    port: str
    from_ns: int
    until_ns: int
    cause: CarrierCause
    times: int
    first: int
    last: int

    @property
    def duration_ns(self) -> int:
        """How long, ns."""
        return self.until_ns - self.from_ns

    def touches(self, first_ns: int, last_ns: int, ahead_ns: int, behind_ns: int) -> bool:
        """Whether frames that were lost from one time to another were, in part, lost to this."""
        return first_ns <= self.until_ns + behind_ns and self.from_ns - ahead_ns <= last_ns


def spans(parts: Iterable[tuple[int, Sequence[CarrierLoss]]]) -> list[CarrierSpan]:
    """The times without carrier, in order of time. parts: how long the load of each was, ns, and its losses.

    What was lost at the end of a part and still is at the begin of the next one is one. Pauses of the load
    between two parts take none of its time.
    """
    found: list[CarrierSpan] = []
    going_on: dict[str, int] = {}
    begin_ns = 0
    for number, (length_ns, losses) in enumerate(parts):
        still: dict[str, int] = {}
        for loss in sorted(losses, key=lambda one: one.from_ns):
            # Before and behind the traffic of a part there is no load.
            until_ns = begin_ns + (length_ns if loss.until_ns is None else min(loss.until_ns, length_ns))
            place = going_on.pop(loss.port, None) if loss.from_ns <= 0 else None
            if place is None:
                from_ns = begin_ns + min(max(loss.from_ns, 0), length_ns)
                place = len(found)
                found.append(
                    CarrierSpan(loss.port, from_ns, until_ns, loss.cause, loss.times, number, number)
                )
            else:
                before = found[place]
                times = before.times + loss.times - 1
                found[place] = replace(before, until_ns=until_ns, times=times, last=number)
            if loss.until_ns is None:
                still[loss.port] = place
        going_on = still
        begin_ns += length_ns
    return sorted(found, key=lambda one: (one.from_ns, one.port))
