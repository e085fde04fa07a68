"""Why no rate can be known from a counter."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from netdyno.values import number as printed
from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class CounterReset(Reason):
    """A counter was reset between two readings, so what it counted between them is unknown.

    before, after: the counts around the reset; after a restart the later one may be the higher one.
    """

    code: ClassVar[str] = "counter-reset"
    before: int
    after: int

    def __str__(self) -> str:
        return f"The counter was reset between two readings ({self.before}, then {self.after}): rate unknown."


@dataclass(frozen=True)
class CounterStuck(Reason):
    """A counter stood still while traffic flowed. for_ns: how long."""

    code: ClassVar[str] = "counter-stuck"
    for_ns: int

    def __str__(self) -> str:
        return (
            f"The counter stood still for {printed.duration(self.for_ns)} while traffic flowed: rate unknown."
            " The counter stopped, or the device updates it less often."
        )


@dataclass(frozen=True)
class CounterImplausible(Reason):
    """A counter grew faster than the line can carry. least_per_s: the least rate that it claims."""

    code: ClassVar[str] = "counter-implausible"
    least_per_s: Fraction
    line_per_s: Fraction

    def __str__(self) -> str:
        claimed = printed.grouped(self.least_per_s, 1)
        line = printed.grouped(self.line_per_s, 1)
        return f"The counter grew by at least {claimed} a second, the line carries {line}: rate unknown."


@dataclass(frozen=True)
class WrappedTooOften(Reason):
    """A 32-bit counter may have wrapped more than once between two readings.

    for_ns: the time between them. line_per_s: what the line carries; None: unknown.
    """

    code: ClassVar[str] = "wrapped-too-often"
    for_ns: int
    line_per_s: Fraction | None

    def __str__(self) -> str:
        apart = printed.duration(self.for_ns)
        if self.line_per_s is None:
            return f"A 32-bit counter, read {apart} apart, on a line of unknown rate: rate unknown."
        return f"A 32-bit counter may wrap more than once in {apart} at line rate: rate unknown."


REASONS: Codes = declared(globals())
