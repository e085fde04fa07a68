"""What iperf3 counted of UDP: its own numbers, which are never judged.

Its receiver reads from a socket whose buffer drops datagrams when the program is late, and the gaps in their
numbers count as lost all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from netdyno.values.finding import Cell, Result, Table, Value, columns
from netdyno.values.iperf3 import Direction, Span
from netdyno.values.kind import ValueKind

METHOD = "udp"
RECEIVED = ValueKind(
    "UDP payload received",
    "bps",
    "the payload of datagrams that reached the program at the other end, bits per second",
)
SENT = ValueKind(
    "UDP payload sent",
    "bps",
    "the payload of datagrams that the sender gave its kernel, bits per second",
)
LOST = ValueKind(
    "datagrams lost", "share", "the share of datagrams that the receiving program missed, by their numbers"
)
JITTER = ValueKind("UDP jitter", "ns", "how unevenly datagrams came, smoothed (RFC 3550 section 6.4.1)")
TABLE = columns(
    "stream | streams | payload sent: bytes | payload received: bytes",
    RECEIVED,
    "datagrams sent | datagrams lost | out of order | share lost: share",
    "jitter: ns",
)
CAPTION = (
    "Payload alone: no header of UDP, IP or Ethernet counts. Lost: missing at the receiving program; its own"
    " socket may have dropped them."
)


def as_result(directions: Sequence[tuple[str, Direction]]) -> Result:
    """The values of directions, by the names of their streams, and of all together."""
    every = [one for _, one in directions]
    values = [value for name, one in directions for value in _values(name, [one])]
    return Result(
        method=METHOD,
        values=(*values, *_values("sum", every)),
        trials=(0,),
        headlines=(RECEIVED.name,),
        tables=(Table("UDP", TABLE, tuple(_row(*one) for one in directions), CAPTION),),
    )


def _values(scope: str, directions: Sequence[Direction]) -> Iterator[Value]:
    received = [_bps(one.received) for one in directions]
    yield Value(RECEIVED, scope, sum(received, Fraction(0)))
    yield Value(SENT, scope, sum((_bps(one.sent) for one in directions), Fraction(0)))
    sent = sum(one.sent.packets or 0 for one in directions)
    lost = [_lost(one) for one in directions]
    yield Value(LOST, scope, None if None in lost or not sent else Fraction(sum(filter(None, lost)), sent))
    jitter = [one.received.jitter_ns for one in directions if one.received.jitter_ns is not None]
    if scope != "sum" or len(directions) == 1:
        yield Value(JITTER, scope, Fraction(jitter[0]) if jitter else None)


def _lost(one: Direction) -> int | None:
    """Datagrams lost. Some that came twice make a count below 0, which is none."""
    lost = one.received.lost_packets
    return None if lost is None else max(lost, 0)


def _bps(span: Span) -> Fraction:
    return Fraction(8 * span.payload_bytes * 10**9, span.ns)


def _row(name: str, one: Direction) -> tuple[Cell, ...]:
    sent, lost, jitter = one.sent.packets, _lost(one), one.received.jitter_ns
    order = [stream.out_of_order for stream in one.streams if stream.out_of_order is not None]
    return (
        name,
        Fraction(len(one.streams)),
        Fraction(one.sent.payload_bytes),
        Fraction(one.received.payload_bytes),
        _bps(one.received),
        None if sent is None else Fraction(sent),
        None if lost is None else Fraction(lost),
        Fraction(sum(order)) if order else None,
        Fraction(lost, sent) if lost is not None and sent else None,
        None if jitter is None else Fraction(jitter),
    )
