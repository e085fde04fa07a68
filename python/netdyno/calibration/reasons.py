"""Reasons about calibrations: how old they are, how their ports are joined, unreadable files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class CalibrationOld(Reason):
    """A calibration still holds but is old. days: its age."""

    code: ClassVar[str] = "calibration-old"
    id: str
    days: int

    def __str__(self) -> str:
        return f"The calibration {self.id} is {self.days} days old. Run `netdyno calibrate` again."


@dataclass(frozen=True)
class CalibrationUnreadable(Reason):
    """A stored calibration cannot be read and is left out. cause: the error's code; error: its message."""

    code: ClassVar[str] = "calibration-unreadable"
    file: str
    cause: str
    error: str

    def __str__(self) -> str:
        return self.error


@dataclass(frozen=True)
class RingLoop(Reason):
    """A calibration joins the two ends of a ring in each of the tester's threads."""

    code: ClassVar[str] = "ring-loop"
    threads: int

    def __str__(self) -> str:
        if self.threads == 1:
            return "One ring, its two ends in the tester's thread."
        return "A ring for each of the tester's threads, its two ends in that thread."


REASONS: Codes = declared(globals())
