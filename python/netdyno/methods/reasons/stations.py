"""Reasons about stations that a device learns, and about broadcasts and floods."""

from __future__ import annotations

from typing import ClassVar

from netdyno.values.reason import Codes, Reason, declared


class AllKnown(Reason, code="all-known"):
    """All stations were known at the most that was tried."""

    says = "all addresses were known at the most that was tried. Raise `maximum`"


class StationsUnsent(Reason, code="stations-unsent"):
    """The tester did not send a frame for each station."""

    learning: int
    test: int
    stations: int
    says = "the tester sent {learning} learning and {test} test frames for {stations} addresses"


class TestFramesLost(Reason, code="test-frames-lost"):
    """Test frames that were lost and not flooded: whether their stations were known is unknown."""

    __test__: ClassVar[bool] = False
    missing: int
    sent: int
    says = """{missing} of {sent:test frame} were lost and none was flooded: whether their addresses were
        known is unknown"""


class Flooded(Reason, code="flooded"):
    """The test frames at the lowest step at which the device did not know every station."""

    flooded: int
    missing: int
    sent: int
    says = """above it {flooded} of {sent:test frame} were flooded to other ports and {missing} did not come
        back"""


REASONS: Codes = declared(globals())
