"""Reasons about calibrations: how old they are, how their ports are joined, unreadable files."""

from __future__ import annotations

from netdyno.values.reason import Codes, Reason, declared


class CalibrationOld(Reason, code="calibration-old"):
    """A calibration still holds but is old. days: its age."""

    id: str
    days: int
    says = "The calibration {id} is {days:d} days old. Run `netdyno calibrate` again."


class CalibrationUnreadable(Reason, code="calibration-unreadable"):
    """A stored calibration cannot be read and is left out. cause: the error's code; error: its message."""

    file: str
    cause: str
    error: str
    says = "{error}"


class RingLoop(Reason, code="ring-loop"):
    """A calibration joins the two ends of a ring in each of the tester's threads."""

    threads: int
    says = """{threads:=1?One ring, its two ends in the tester's thread.|A ring for each of the tester's
        threads, its two ends in that thread.}"""


REASONS: Codes = declared(globals())
