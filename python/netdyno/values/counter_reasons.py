"""Why a counter's growth or rate is unknown. Each names the counter by its subject and its name."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from netdyno.values import number as printed
from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class _OfCounter(Reason):
    """A reason about one counter."""

    subject: str
    name: str

    @property
    def _who(self) -> str:
        return f"`{self.name}` of `{self.subject}`"


@dataclass(frozen=True)
class CounterNotRead(_OfCounter):
    """No driver read this counter in the trial. subject, name: of the counter."""

    code: ClassVar[str] = "counter-not-read"

    def __str__(self) -> str:
        return f"{self._who} was not read."


@dataclass(frozen=True)
class CounterReadLate(_OfCounter):
    """The first reading came after traffic had begun. first_ns: when, from the begin of traffic."""

    code: ClassVar[str] = "counter-read-late"
    first_ns: int

    def __str__(self) -> str:
        return f"{self._who} was first read {printed.duration(self.first_ns)} after traffic began."


@dataclass(frozen=True)
class CounterReadEarly(_OfCounter):
    """The last reading came before all frames had arrived.

    last_ns: when, from the begin of traffic. until_ns: the end of the drain. stale_ns: how much later the
    reading had to be, as the device's counters stood still for a time while traffic flowed; 0: they did not.
    """

    code: ClassVar[str] = "counter-read-early"
    last_ns: int
    until_ns: int
    stale_ns: int

    def __str__(self) -> str:
        early = printed.duration(max(self.until_ns + self.stale_ns - self.last_ns, 0))
        text = f"The last reading of {self._who} came {early} too early."
        if self.stale_ns:
            text += " The device updates it only now and then: use a longer `drain`."
        return text


@dataclass(frozen=True)
class CounterAgeUnknown(_OfCounter):
    """A counter changed once or never while traffic flowed, so how old its last reading is stays unknown.

    changes: 0 or 1. flowed_ns: the time with traffic. more_ns: how much longer it had to be seen to stand
    still behind the traffic.
    """

    code: ClassVar[str] = "counter-age-unknown"
    changes: int
    flowed_ns: int
    more_ns: int

    def __str__(self) -> str:
        changed = "changed once" if self.changes else "did not change"
        return (
            f"{self._who} {changed} in {printed.duration(self.flowed_ns)} of traffic: how old its last"
            f" reading is stays unknown. Use a longer trial, or a `drain` that is"
            f" {printed.duration(max(self.more_ns, 0))} longer."
        )


@dataclass(frozen=True)
class CounterReset(_OfCounter):
    """A counter was reset between two readings, so what it counted between them is unknown.

    before, after: the counts around the reset. The later one may be the higher one where sysUpTime or
    ifCounterDiscontinuityTime shows the reset.
    """

    code: ClassVar[str] = "counter-reset"
    before: int
    after: int

    def __str__(self) -> str:
        shown = " by sysUpTime or ifCounterDiscontinuityTime" if self.after >= self.before else ""
        return (
            f"{self._who} was reset between two readings{shown} (from {printed.count(self.before)} to"
            f" {printed.count(self.after)})."
        )


@dataclass(frozen=True)
class CounterStuck(_OfCounter):
    """A counter stood still while traffic flowed. for_ns: how long."""

    code: ClassVar[str] = "counter-stuck"
    for_ns: int

    def __str__(self) -> str:
        return (
            f"{self._who} stood still for {printed.duration(self.for_ns)} while traffic flowed."
            " It stopped, or the device updates it less often."
        )


@dataclass(frozen=True)
class CounterImplausible(_OfCounter):
    """A counter grew faster than the line can carry. least_per_s: the least rate that it claims."""

    code: ClassVar[str] = "counter-implausible"
    least_per_s: Fraction
    line_per_s: Fraction

    def __str__(self) -> str:
        claimed = printed.grouped(self.least_per_s, 1)
        line = printed.grouped(self.line_per_s, 1)
        return f"{self._who} grew by at least {claimed} a second, the line carries {line}."


@dataclass(frozen=True)
class CounterMayWrap(_OfCounter):
    """A 32-bit counter may have wrapped more than once between two readings.

    apart_ns: the time between them. line_per_s: what the line carries; None: unknown.
    """

    code: ClassVar[str] = "counter-may-wrap"
    apart_ns: int
    line_per_s: Fraction | None

    def __str__(self) -> str:
        line = " on a line of unknown rate" if self.line_per_s is None else ""
        return (
            f"{self._who} has 32 bits and was read {printed.duration(self.apart_ns)} apart{line}: it may have"
            " wrapped more than once."
        )


@dataclass(frozen=True)
class CounterChangesTooFew(_OfCounter):
    """A counter changed less than twice within a time, so it has no rate over it.

    changes: 0 or 1. begin_ns, end_ns: of the time, from the begin of traffic.
    """

    code: ClassVar[str] = "counter-changes-too-few"
    changes: int
    begin_ns: int
    end_ns: int

    def __str__(self) -> str:
        changed = "was seen to change once" if self.changes else "was not seen to change"
        within = printed.duration(self.end_ns - self.begin_ns)
        return f"{self._who} {changed} within {within}: a rate needs two changes. Use a longer hold."


REASONS: Codes = declared(globals())
