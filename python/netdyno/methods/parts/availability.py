"""Availability of a service over time, by severely errored seconds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

from netdyno.values.outcome import StreamResult

SEVERE = Fraction(1, 2)
"""A second with a greater loss ratio is severely errored."""
IN_A_ROW = 10
"""So many in a row begin a time that is unavailable, and so many others end it."""
SECOND_NS = 10**9


def available(stream: StreamResult, sample_ns: int) -> Fraction | None:
    """The share of whole seconds of a stream's traffic that it was available; None without any.

    Seconds are made of samples; of samples that do not divide a second, of as many as make one or more.
    """
    samples = -(-SECOND_NS // sample_ns)
    sent = [sum(stream.tx[at : at + samples]) for at in range(0, len(stream.tx), samples)]
    came = [sum(stream.arrived[at : at + samples]) for at in range(0, len(stream.tx), samples)]
    # Behind the traffic samples go on while the device is drained.
    severe = [tx - arrived > SEVERE * tx for tx, arrived in zip(sent, came, strict=True) if tx]
    if not severe or len(stream.tx) < samples:
        return None
    return Fraction(len(severe) - unavailable(severe), len(severe))


def unavailable(severe: Sequence[bool]) -> int:
    """Seconds that are unavailable, of seconds that are severely errored or not.

    Unavailable time begins with the first of ten severely errored seconds in a row, and ends before the first
    of ten others in a row.
    """
    down, count = False, 0
    for errored, group in groupby(severe):
        length = len(list(group))
        if length >= IN_A_ROW:
            down = errored
        count += length * down
    return count
