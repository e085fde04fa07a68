"""Reasons about routes that are proven before anything is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netdyno.errors import counted
from netdyno.values.number import count
from netdyno.values.reason import Codes, Reason, declared


@dataclass(frozen=True)
class RoutesUntried(Reason):
    """The tester did not send to every route. cause: why, if it fell behind its schedule."""

    code: ClassVar[str] = "routes-untried"
    sent: int
    wanted: int
    cause: Reason | None

    def __str__(self) -> str:
        sent = f"{count(self.sent)} of {counted(self.wanted, 'frame')} were sent"
        return f"not every route was tried: {self.cause or sent}"


@dataclass(frozen=True)
class RoutesSilent(Reason):
    """Routes that forward nothing of a stream. tries: frames to each of them."""

    code: ClassVar[str] = "routes-silent"
    stream: str
    silent: int
    routes: int
    tries: int

    def __str__(self) -> str:
        of = f"{count(self.silent)} of {counted(self.routes, 'route')} forward nothing of `{self.stream}`"
        tried = "no frame" if self.tries == 1 else f"none of {counted(self.tries, 'frame')} to each"
        return f"{of}: {tried} came back"


@dataclass(frozen=True)
class RoutesRetried(Reason):
    """Routes that forwarded only when they were tried again. tries: frames to each of them then."""

    code: ClassVar[str] = "routes-retried"
    retried: int
    routes: int
    tries: int

    def __str__(self) -> str:
        return (
            f"{count(self.retried)} of {counted(self.routes, 'route')} forwarded only at the second attempt,"
            f" with {counted(self.tries, 'frame')} each: the device loses frames at a low load"
        )


REASONS: Codes = declared(globals())
