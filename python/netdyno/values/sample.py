"""A sample: one quantity as a device reported it, with the time it took to ask, or why there is no value."""

from __future__ import annotations

from dataclasses import dataclass

from netdyno.values.reason import Reason


@dataclass(frozen=True)
class Absent:
    """No value, and why."""

    reason: Reason


@dataclass(frozen=True)
class Printed:
    """What a device printed for a command; its begin, if it is long. No secret is in it."""

    command: str
    text: str


@dataclass(frozen=True)
class Sample:
    """One quantity at one time.

    asked_ns, answered_ns: when it was asked for and when the answer was whole, on one clock: the value is of
    some time between them. value: at the scale of its channel. window_ns: the time over which the device
    averaged it, such as 30 s of a "30 second rate"; None: it is of an instant. raw: the device's own text;
    None: it printed none.

    Raises ValueError if the answer came before the question.
    """

    asked_ns: int
    answered_ns: int
    value: int | Absent
    window_ns: int | None = None
    raw: Printed | None = None

    def __post_init__(self) -> None:
        if self.answered_ns < self.asked_ns:
            raise ValueError("a sample is answered before it is asked for")

    @property
    def at_ns(self) -> int:
        """The middle of asking and answering."""
        return (self.asked_ns + self.answered_ns) // 2
