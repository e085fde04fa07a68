"""Reasons of searches over the length of a burst, and of the buffer it shows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from netdyno.errors import counted
from netdyno.values.number import count, duration, share
from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class SearchesEnded(Reason):
    """Searches over the length of a burst ended, as one showed nothing. done: how many were complete."""

    code: ClassVar[str] = "searches-ended"
    done: int
    searches: int
    cause: Reason

    def __str__(self) -> str:
        if not self.done:
            return str(self.cause)
        return f"{count(self.done)} of {count(self.searches)} searches done: then {self.cause}"


@dataclass(frozen=True)
class BurstsUnsent(Reason):
    """The tester could not send bursts of a length. short: why."""

    code: ClassVar[str] = "bursts-unsent"
    short: Reason

    def __str__(self) -> str:
        return f"the tester could not send longer bursts: {self.short}"


@dataclass(frozen=True)
class BurstCopied(Reason):
    """No frame of a burst was lost, and some came more than once, which no full buffer does."""

    code: ClassVar[str] = "burst-copied"
    sent: int
    copies: int

    def __str__(self) -> str:
        return (
            f"of a burst of {counted(self.sent, 'frame')} none was lost, and {count(self.copies)} came twice"
        )


@dataclass(frozen=True)
class NoBurstLimit(Reason):
    """The longest burst tried passed."""

    code: ClassVar[str] = "no-burst-limit"
    longest_ns: int

    def __str__(self) -> str:
        longest = duration(self.longest_ns)
        return f"the longest burst tried, {longest}, passed: the limit is above. Use a longer `longest`"


@dataclass(frozen=True)
class NoBurstPassed(Reason):
    """Not even the shortest burst passed: one step, of each sending port."""

    code: ClassVar[str] = "no-burst-passed"

    def __str__(self) -> str:
        return "not even the shortest burst passed"


@dataclass(frozen=True)
class BufferAtMost(Reason):
    """A corrected buffer time is an upper bound, as the throughput may be higher. bound: why."""

    code: ClassVar[str] = "buffer-at-most"
    bound: Reason

    def __str__(self) -> str:
        return f"at most this, corrected, RFC 9004 section 6.4: the throughput may be higher ({self.bound})"


@dataclass(frozen=True)
class BufferUnknown(Reason):
    """The corrected buffer time is only known to be at most this. bound: why."""

    code: ClassVar[str] = "buffer-unknown"
    most_ns: Fraction
    bound: Reason

    def __str__(self) -> str:
        return f"the corrected buffer time is at most {duration(self.most_ns, 'at most')}: {self.bound}"


@dataclass(frozen=True)
class Unsteady(Reason):
    """The frames that a port held differ between searches. deviation: standard deviation over the mean."""

    code: ClassVar[str] = "unsteady"
    port: str
    deviation: Fraction

    def __str__(self) -> str:
        spread = share(self.deviation)
        return f"at `{self.port}`, the frames held deviate by {spread}: unstable (RFC 8239 section 1.2: 10 %)"


REASONS: Codes = declared(globals())
