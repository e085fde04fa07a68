"""TCP through the device: what all connections together carry, as fast as congestion control lets them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from pydantic import Field

from netdyno.methods.parts.procedure import Parameters, Procedure
from netdyno.values.finding import Cell, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import CONNECTIONS, Connections, Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Carried
from netdyno.values.situation import Situation
from netdyno.values.units import PositiveDuration

GOODPUT = ValueKind(
    "goodput",
    "bps",
    "the payload that reached the program at the other end, bits per second (RFC 2647 section 3.7)",
    goal="goodput >= 90Mbps",
)
RETRANSMITTED = ValueKind(
    "retransmitted", "segments", "the segments that the senders sent again", good="less"
)
TABLE = columns(
    "stream | connections | payload sent: bytes | payload received: bytes",
    GOODPUT,
    RETRANSMITTED,
    "MSS: bytes | mean RTT: ns | congestion control",
)
CAPTION = "Payload alone: no header of TCP, IP or Ethernet counts. MSS: payload of a full segment."


class TcpParameters(Parameters):
    """Parameters of TCP."""

    duration: PositiveDuration = PositiveDuration(Fraction(10))
    """How long the connections send."""
    congestion: str = Field(default="cubic", pattern="^[a-z0-9_]{1,15}$", examples=["cubic"])
    """Congestion control of the senders, by the kernel's name: `cubic`, `bbr`, `reno`."""


def tcp(parameters: TcpParameters, situation: Situation) -> Method:
    """One trial; its profile says how many connections each stream has."""
    outcome = yield Trial("tcp", Connections(parameters.duration.ns, parameters.congestion))
    return as_result(outcome.carried, (0,))


def as_result(carried: Sequence[Carried], trials: tuple[int, ...]) -> Result:
    """The values of what the streams of a trial carried, of each and together, and their table."""
    values = [value for one in carried for value in _values(one.name, [one])]
    return Result(
        method=METHOD.name,
        values=(*values, *_values("sum", carried)),
        trials=trials,
        headlines=(GOODPUT.name,),
        tables=(Table("TCP", TABLE, tuple(map(_row, carried)), CAPTION),),
    )


def _values(scope: str, carried: Sequence[Carried]) -> tuple[Value, ...]:
    rates = [_goodput(one) for one in carried]
    again = [one.retransmitted_segments for one in carried if one.retransmitted_segments is not None]
    return (
        Value(GOODPUT, scope, None if None in rates else sum(filter(None, rates), Fraction(0))),
        Value(RETRANSMITTED, scope, Fraction(sum(again)) if len(again) == len(carried) else None),
    )


def _goodput(one: Carried) -> Fraction | None:
    return None if one.received_ns <= 0 else Fraction(8 * one.received_bytes * 10**9, one.received_ns)


def _row(one: Carried) -> tuple[Cell, ...]:
    counts = (one.retransmitted_segments, one.mss_bytes, one.mean_rtt_ns)
    return (
        one.name,
        Fraction(one.connections),
        Fraction(one.sent_bytes),
        Fraction(one.received_bytes),
        _goodput(one),
        *(None if count is None else Fraction(count) for count in counts),
        one.congestion,
    )


METHOD = Procedure(
    name="tcp",
    title="TCP",
    doc="What TCP connections carry through the device, all at once.",
    standard="",
    like="RFC 6349 has the terms; its steps (path MTU, RTT, window) are not run",
    parameters=TcpParameters,
    start=tcp,
    traffic_seconds=lambda parameters: parameters.duration.amount,
    trials=lambda parameters: 1,
    load_class=CONNECTIONS,
    values=(GOODPUT, RETRANSMITTED),
)
