"""Reasons about what a device learns: stations, with broadcasts and floods, and routes."""

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


class RoutesUntried(Reason, code="routes-untried"):
    """The tester did not send to every route. cause: why, if it fell behind its schedule."""

    sent: int
    wanted: int
    cause: Reason | None
    says = "not every route was tried: {cause:?{cause}|{sent} of {wanted:frame} were sent}"


class RoutesSilent(Reason, code="routes-silent"):
    """Routes that forward nothing of a stream. tries: frames to each of them. named: the first ones."""

    stream: str
    silent: int
    routes: int
    tries: int
    named: tuple[str, ...] = ()
    says = """{silent} of {routes:route} forward nothing of `{stream}`{named:? (first {named})}: {tries:=1?no
        frame|none of {tries:frame} to each} came back"""


class RoutesRetried(Reason, code="routes-retried"):
    """Routes that forwarded only when they were tried again. tries: frames to each of them then."""

    retried: int
    routes: int
    tries: int
    says = """{retried} of {routes:route} forwarded only at the second attempt, with {tries:frame} each: the
        device loses frames at a low load"""


REASONS: Codes = declared(globals())
