"""Reasons about routes that are proven before anything is measured."""

from __future__ import annotations

from netdyno.errors import counted
from netdyno.values.number import count
from netdyno.values.reason import Codes, Reason, declared


class RoutesUntried(Reason, code="routes-untried"):
    """The tester did not send to every route. cause: why, if it fell behind its schedule."""

    sent: int
    wanted: int
    cause: Reason | None

    def __str__(self) -> str:
        sent = f"{count(self.sent)} of {counted(self.wanted, 'frame')} were sent"
        return f"not every route was tried: {self.cause or sent}"


class RoutesSilent(Reason, code="routes-silent"):
    """Routes that forward nothing of a stream. tries: frames to each of them."""

    stream: str
    silent: int
    routes: int
    tries: int
    says = """{silent} of {routes:route} forward nothing of `{stream}`: {tries:=1?no frame|none of
        {tries:frame} to each} came back"""


class RoutesRetried(Reason, code="routes-retried"):
    """Routes that forwarded only when they were tried again. tries: frames to each of them then."""

    retried: int
    routes: int
    tries: int
    says = """{retried} of {routes:route} forwarded only at the second attempt, with {tries:frame} each: the
        device loses frames at a low load"""


REASONS: Codes = declared(globals())
