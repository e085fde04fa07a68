"""A series: what an instrument read while a trial ran, such as a counter or a temperature of the device."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from netdyno.values.reason import Reason

MOST_SAMPLES = 1_000_000
"""Samples of one series: a reading a second for eleven days."""
MOST_SERIES = 256
"""Series of one trial."""
MOST_MISSED = 1_000
"""Readings of one series that are listed as missed: the first ones."""
LONGEST_NAME = 100
"""Characters of a source, subject, name or unit."""
LONGEST_COMMAND = 200
"""Characters of a command."""
MOST_DIGITS = 18
"""Digits behind the decimal point of a value."""
LIMIT = 2**63
"""Values and times are signed 64-bit numbers, as a store keeps them."""


@dataclass(frozen=True)
class Steps:
    """Times at equal distances, ns from the begin of traffic."""

    first_ns: int
    every_ns: int

    def __post_init__(self) -> None:
        if self.every_ns <= 0:
            raise ValueError(f"steps of {self.every_ns} ns")


@dataclass(frozen=True)
class Missed:
    """A reading without a value. at_ns: when, from the begin of traffic. reason: why there is none."""

    at_ns: int
    reason: Reason


@dataclass(frozen=True)
class Series:
    """What one instrument read. A reading that failed has no sample: no value stands for it.

    source: who read it, `device` or the name of a driver. subject: of what, such as an interface. name: the
    quantity, by its source's own name. at_ns: when, from the begin of traffic; negative before it: the middle
    of question and answer. values: one a time. scale: digits behind the decimal point, so 234 at scale 1 is
    23.4.

    took_ns: time from question to answer, one a value; empty: unknown. window_ns: the time over which the
    device averaged each value; None: each is of an instant. is_counter: only grows, until it wraps or is
    reset. bits: the width of a counter; None: unknown. missed: readings without a value, the first ones.
    command: what the device was asked; empty: it was not asked by a command.

    Raises ValueError for what no store takes: too many samples, names that are empty, too long or not
    printable, times that do not increase, values of more than 64 bits.
    """

    source: str
    subject: str
    name: str
    unit: str
    at_ns: Steps | tuple[int, ...]
    values: tuple[int, ...]
    scale: int = 0
    took_ns: tuple[int, ...] = ()
    window_ns: int | None = None
    is_counter: bool = False
    bits: int | None = None
    missed: tuple[Missed, ...] = ()
    command: str = ""

    def __post_init__(self) -> None:
        self._check_details()
        for text in (self.source, self.subject, self.name, self.unit):
            if not 0 < len(text) <= LONGEST_NAME or not text.isprintable():
                raise ValueError(f"`{text[:40]!r}` is not a name of 1 to {LONGEST_NAME} printable characters")
        if len(self.values) > MOST_SAMPLES:
            raise ValueError(f"{len(self.values)} samples, more than {MOST_SAMPLES}")
        if not 0 <= self.scale <= MOST_DIGITS:
            raise ValueError(f"a scale of {self.scale}, not 0 to {MOST_DIGITS}")
        if not isinstance(self.at_ns, Steps):
            if len(self.at_ns) != len(self.values):
                raise ValueError(f"{len(self.values)} values at {len(self.at_ns)} times")
            if any(later <= earlier for earlier, later in pairwise(self.at_ns)):
                raise ValueError("times that do not increase")
        for number in (*self.values, *self.times_ns[:1], *self.times_ns[-1:]):
            if not -LIMIT <= number < LIMIT:
                raise ValueError(f"{number} has more than 64 bits")

    def _check_details(self) -> None:
        """Raises ValueError if what is known beside the values cannot be of them."""
        if len(self.took_ns) not in (0, len(self.values)):
            raise ValueError(f"{len(self.values)} values, {len(self.took_ns)} times that they took")
        if not all(0 <= took < LIMIT for took in self.took_ns):
            raise ValueError("a reading took a negative time, or one of more than 64 bits")
        if self.window_ns is not None and not 0 < self.window_ns < LIMIT:
            raise ValueError(f"values averaged over {self.window_ns} ns")
        if self.bits not in (None, 32, 64):
            raise ValueError(f"a counter of {self.bits} bits, not of 32 or 64")
        if len(self.command) > LONGEST_COMMAND or not self.command.isprintable():
            raise ValueError(
                f"`{self.command[:40]!r}` is not a printable command of {LONGEST_COMMAND} characters"
            )
        if len(self.missed) > MOST_MISSED:
            raise ValueError(f"{len(self.missed)} missed readings, more than {MOST_MISSED}")

    @property
    def has_details(self) -> bool:
        """Whether anything is known beside times and values."""
        return bool(
            self.took_ns
            or self.window_ns is not None
            or self.is_counter
            or self.bits
            or self.missed
            or self.command
        )

    @property
    def times_ns(self) -> tuple[int, ...]:
        """When each value was read, ns from the begin of traffic."""
        if not isinstance(self.at_ns, Steps):
            return self.at_ns
        return tuple(self.at_ns.first_ns + self.at_ns.every_ns * number for number in range(len(self.values)))

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """The values in their unit, exact."""
        return tuple(Fraction(value, 10**self.scale) for value in self.values)
