"""What methods of connections say of their results."""

from __future__ import annotations

from fractions import Fraction

from netdyno.errors import names
from netdyno.values.number import count
from netdyno.values.reason import Codes, Reason, declared


class PathNotMeasured(Reason, code="path-not-measured"):
    """Neither own frames nor a first connection showed what the path is like."""

    says = "test frames, or the first connection, did not come through: no product to take windows of"


class NoConnection(Reason, code="no-connection"):
    """No connection opened between the ports. said: the system's reason. passed, lost: own frames of full
    size of the first of these streams."""

    streams: tuple[str, ...]
    said: str
    passed: int
    lost: int

    def __str__(self) -> str:
        where = names(self.streams)
        if self.passed:
            return (
                f"no TCP connection opened on {where} ({self.said}), and {count(self.passed)} test frames"
                " passed: a filter or firewall drops TCP"
            )
        return (
            f"nothing passes on {where}: no TCP connection opened ({self.said}), and all"
            f" {count(self.lost)} test frames were lost"
        )


class NoFullFrames(Reason, code="no-full-frames"):
    """Connections opened and never ended, and no own frame of full size came."""

    streams: tuple[str, ...]
    size: int
    lost: int
    says = """connections of {streams:names} opened and did not end: all {lost:test frame} of {size:d} B were
        lost, and nothing reports a smaller MTU"""


class SmallProduct(Reason, code="small-product"):
    """The bandwidth-delay product is less than a few segments: windows below it cannot be had."""

    product: int
    least: int
    says = """the bandwidth-delay product is {product} bytes and the least window {least}: the path has too
        little delay to show what windows do"""


class LossyPath(Reason, code="path-too-lossy"):
    """The path loses more than the standard takes."""

    stream: str
    lost: Fraction
    says = """{stream} loses {lost:.1%} at half of what it passes; RFC 6349 section 1.2 is for 5 % at most"""


REASONS: Codes = declared(globals())
