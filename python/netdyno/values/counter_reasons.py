"""Why a counter's growth or rate is unknown. Each names the counter by its subject and its name."""

from __future__ import annotations

from fractions import Fraction

from netdyno.values import number as printed
from netdyno.values.reason import Codes, Reason, declared


class _OfCounter(Reason):
    """A reason about one counter."""

    subject: str
    name: str

    @property
    def _who(self) -> str:
        return f"`{self.name}` of `{self.subject}`"


class CounterNotRead(_OfCounter, code="counter-not-read"):
    """No driver read this counter in the trial. subject, name: of the counter."""

    says = "{_who} was not read."


class CounterReadLate(_OfCounter, code="counter-read-late"):
    """The first reading came after traffic had begun. first_ns: when, from the begin of traffic."""

    first_ns: int
    says = "{_who} was first read {first_ns} after traffic began."


class CounterReadEarly(_OfCounter, code="counter-read-early"):
    """The last reading came before all frames had arrived.

    last_ns: when, from the begin of traffic. until_ns: the end of the drain. stale_ns: how much later the
    reading had to be, as the device's counters stood still for a time while traffic flowed; 0: they did not.
    """

    last_ns: int
    until_ns: int
    stale_ns: int

    def __str__(self) -> str:
        early = printed.duration(max(self.until_ns + self.stale_ns - self.last_ns, 0))
        text = f"The last reading of {self._who} came {early} too early."
        if self.stale_ns:
            text += " The device updates it only now and then: use a longer `drain`."
        return text


class CounterAgeUnknown(_OfCounter, code="counter-age-unknown"):
    """A counter changed once or never while traffic flowed, so how old its last reading is stays unknown.

    changes: 0 or 1. flowed_ns: the time with traffic. more_ns: how much longer it had to be seen to stand
    still behind the traffic.
    """

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


class CounterReset(_OfCounter, code="counter-reset"):
    """A counter was reset between two readings, so what it counted between them is unknown.

    before, after: the counts around the reset. The later one may be the higher one where sysUpTime or
    ifCounterDiscontinuityTime shows the reset.
    """

    before: int
    after: int

    def __str__(self) -> str:
        shown = " by sysUpTime or ifCounterDiscontinuityTime" if self.after >= self.before else ""
        return (
            f"{self._who} was reset between two readings{shown} (from {printed.count(self.before)} to"
            f" {printed.count(self.after)})."
        )


class CounterStuck(_OfCounter, code="counter-stuck"):
    """A counter stood still while traffic flowed. for_ns: how long."""

    for_ns: int
    says = """{_who} stood still for {for_ns} while traffic flowed. It stopped, or the device updates it less
        often."""


class CounterImplausible(_OfCounter, code="counter-implausible"):
    """A counter grew faster than the line can carry. least_per_s: the least rate that it claims."""

    least_per_s: Fraction
    line_per_s: Fraction

    def __str__(self) -> str:
        claimed = printed.grouped(self.least_per_s, 1)
        line = printed.grouped(self.line_per_s, 1)
        return f"{self._who} grew by at least {claimed} a second, the line carries {line}."


class CounterMayWrap(_OfCounter, code="counter-may-wrap"):
    """A 32-bit counter may have wrapped more than once between two readings.

    apart_ns: the time between them. line_per_s: what the line carries; None: unknown.
    """

    apart_ns: int
    line_per_s: Fraction | None
    says = """{_who} has 32 bits and was read {apart_ns} apart{line_per_s:?| on a line of unknown rate}: it
        may have wrapped more than once."""


class CounterChangesTooFew(_OfCounter, code="counter-changes-too-few"):
    """A counter changed less than twice within a time, so it has no rate over it.

    changes: 0 or 1. begin_ns, end_ns: of the time, from the begin of traffic.
    """

    changes: int
    begin_ns: int
    end_ns: int

    def __str__(self) -> str:
        changed = "was seen to change once" if self.changes else "was not seen to change"
        within = printed.duration(self.end_ns - self.begin_ns)
        return f"{self._who} {changed} within {within}: a rate needs two changes. Use a longer hold."


REASONS: Codes = declared(globals())
