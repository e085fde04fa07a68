"""Reasons about stations that a device learns, and about broadcasts and floods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netdyno.errors import counted
from netdyno.values.number import count
from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class AllKnown(Reason):
    """All stations were known at the most that was tried."""

    code: ClassVar[str] = "all-known"

    def __str__(self) -> str:
        return "all addresses were known at the most that was tried. Raise `maximum`"


@dataclass(frozen=True)
class StationsUnsent(Reason):
    """The tester did not send a frame for each station."""

    code: ClassVar[str] = "stations-unsent"
    learning: int
    test: int
    stations: int

    def __str__(self) -> str:
        of = f"{count(self.learning)} learning and {count(self.test)} test frames"
        return f"the tester sent {of} for {count(self.stations)} addresses"


@dataclass(frozen=True)
class TestFramesLost(Reason):
    """Test frames that were lost and not flooded: whether their stations were known is unknown."""

    __test__: ClassVar[bool] = False
    code: ClassVar[str] = "test-frames-lost"
    missing: int
    sent: int

    def __str__(self) -> str:
        lost = f"{count(self.missing)} of {counted(self.sent, 'test frame')} were lost and none was flooded"
        return f"{lost}: whether their addresses were known is unknown"


@dataclass(frozen=True)
class Flooded(Reason):
    """The test frames at the lowest step at which the device did not know every station."""

    code: ClassVar[str] = "flooded"
    flooded: int
    missing: int
    sent: int

    def __str__(self) -> str:
        flooded = f"{count(self.flooded)} of {counted(self.sent, 'test frame')} were flooded to other ports"
        return f"above it {flooded} and {count(self.missing)} did not come back"


REASONS: Codes = declared(globals())
