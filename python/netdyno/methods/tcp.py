"""TCP through the device: what all connections together carry, as fast as congestion control lets them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field, WithJsonSchema

from netdyno.errors import Problem, as_written
from netdyno.methods.parts.path import SECONDS, connect, explore_path
from netdyno.methods.parts.procedure import Parameters, Procedure
from netdyno.values.finding import Cell, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import CONNECTIONS, MOST_CONNECTIONS, Connections, Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Carried
from netdyno.values.rates import ip_length
from netdyno.values.situation import Situation
from netdyno.values.units import DataSize, Duration, PositiveDuration

PAYLOAD = ValueKind(
    "tcp",
    "bps",
    "the payload that reached the program at the other end, bits per second: goodput, RFC 2647 section 3.7",
    goal="tcp >= 90Mbps",
    label="TCP payload",
)
RETRANSMITTED = ValueKind(
    "retransmitted", "segments", "the segments that the senders sent again", good="less"
)
TABLE = columns(
    "stream | connections | payload sent: bytes | payload received: bytes",
    PAYLOAD,
    RETRANSMITTED,
    "MSS: bytes | mean RTT: ns | congestion control",
)
CAPTION = (
    "Payload alone: no header of TCP, IP or Ethernet counts. With `omit`, more may be received than sent:"
    " bytes sent before the count began arrive in it. MSS: payload of a full segment."
)

MOST_WINDOW = DataSize(Fraction(512 * 2**20))
"""What iperf3 takes (MAX_TCP_BUFFER)."""


def _window(value: DataSize | None) -> DataSize | None:
    if value is not None and value > MOST_WINDOW:
        raise Problem(
            f"`{value}` is too large for a socket buffer", f"at most `{MOST_WINDOW}`", code="out-of-range"
        )
    return value


MOST_OMITTED = Duration(Fraction(60))
"""What iperf3 takes (MAX_OMIT_TIME)."""
SEGMENT_HEADERS = 40
"""Bytes of IPv4 and TCP without options, which an MSS leaves out of account (RFC 6691 section 2)."""


MOST_COUNTED = PositiveDuration(Fraction(86400))
"""What iperf3 takes (MAX_TIME)."""


def _omit(value: Duration) -> Duration:
    if value > MOST_OMITTED:
        raise Problem(
            f"`{value}` is longer than iperf3 can omit", f"at most `{MOST_OMITTED}`", code="out-of-range"
        )
    return value


def _counted(value: PositiveDuration) -> PositiveDuration:
    if value > MOST_COUNTED:
        raise Problem(
            f"`{value}` is longer than iperf3 can send", f"at most `{MOST_COUNTED}`", code="out-of-range"
        )
    return value


Counted: TypeAlias = Annotated[PositiveDuration, AfterValidator(_counted)]
"""How long connections are counted."""


_CONGESTION = "[a-z0-9_]{1,15}"


def _congestion(value: str) -> str:
    if re.fullmatch(_CONGESTION, value):
        return value
    lower = value.lower()
    known = re.fullmatch(_CONGESTION, lower)
    hint = f"the kernel's name: `{lower}`" if known else "the kernel's name, such as `cubic`"
    raise Problem(f"`{as_written(value)}` cannot be a congestion control", hint, code="wrong-format")


Congestion: TypeAlias = Annotated[
    str, AfterValidator(_congestion), WithJsonSchema({"type": "string", "pattern": f"^{_CONGESTION}$"})
]
"""A congestion control by the kernel's name. Which a kernel has is not known before the run."""


class TcpParameters(Parameters):
    """Parameters of TCP."""

    duration: Counted = PositiveDuration(Fraction(10))
    """How long the connections are counted."""
    omit: Annotated[Duration, AfterValidator(_omit)] = Duration(Fraction(0))
    """How long they send before that, uncounted: slow start; at most 60 s."""
    streams: int | None = Field(default=None, ge=1, le=MOST_CONNECTIONS)
    """Connections of each direction; `null`: as many as the profile has `flows`."""
    window: Annotated[DataSize | None, AfterValidator(_window)] = None
    """Socket buffers at both ends, `256KiB`; `null`: as the kernel chooses."""
    receive_buffer: Annotated[DataSize | None, AfterValidator(_window)] = None
    """The most memory that a receiver has for a connection; `null`: as the kernel has it."""
    send_buffer: Annotated[DataSize | None, AfterValidator(_window)] = None
    """The most memory that a sender has for a connection; `null`: as the kernel has it."""
    mss: int | None = Field(default=None, ge=88, le=9216)
    """Bytes of payload of a segment, at most: what fits in a frame; `null`: as the kernel chooses."""
    congestion: Congestion = Field(default="cubic", examples=["cubic"])
    """Congestion control of the senders, by the kernel's name: `cubic`, `bbr`, `reno`."""

    @property
    def needs_flows(self) -> bool:
        """Unless it says the number of connections itself."""
        return self.streams is None


def tcp(parameters: TcpParameters, situation: Situation) -> Method:
    """The path by own frames, then one trial of all connections."""
    explored = yield from explore_path(situation, parameters.streams)
    load = Connections(
        parameters.duration.ns,
        parameters.congestion,
        streams=parameters.streams,
        window_bytes=_octets(parameters.window),
        mss_bytes=parameters.mss,
        omit_ns=parameters.omit.ns,
        receive_bytes=_octets(parameters.receive_buffer),
        send_bytes=_octets(parameters.send_buffer),
    )
    outcome = yield from connect(Trial("tcp", load), explored, situation)
    result = as_result(outcome.carried, (explored.made,))
    return result if explored.why is None else replace(result, notes=(explored.why,))


def _octets(size: DataSize | None) -> int | None:
    return None if size is None else size.octets


def as_result(carried: Sequence[Carried], trials: tuple[int, ...]) -> Result:
    """The values of what the streams of a trial carried, of each and together, and their table."""
    return Result(
        method=METHOD.name,
        values=carried_values(carried),
        trials=trials,
        headlines=(PAYLOAD.name,),
        tables=(Table("TCP", TABLE, tuple(map(_row, carried)), CAPTION),),
    )


def carried_values(carried: Sequence[Carried]) -> tuple[Value, ...]:
    """Payload and what was sent again, of each stream and together."""
    each = [value for one in carried for value in _values(one.name, [one])]
    return (*each, *_values("sum", carried))


def _values(scope: str, carried: Sequence[Carried]) -> tuple[Value, ...]:
    rates = [payload_bps(one) for one in carried]
    again = [one.retransmitted_segments for one in carried if one.retransmitted_segments is not None]
    return (
        Value(PAYLOAD, scope, None if None in rates else sum(filter(None, rates), Fraction(0))),
        Value(RETRANSMITTED, scope, Fraction(sum(again)) if len(again) == len(carried) else None),
    )


def payload_bps(one: Carried) -> Fraction | None:
    return None if one.received_ns <= 0 else Fraction(8 * one.received_bytes * 10**9, one.received_ns)


def _row(one: Carried) -> tuple[Cell, ...]:
    counts = (one.retransmitted_segments, one.mss_bytes, one.mean_rtt_ns)
    return (
        one.name,
        Fraction(one.connections),
        Fraction(one.sent_bytes),
        Fraction(one.received_bytes),
        payload_bps(one),
        *(None if count is None else Fraction(count) for count in counts),
        one.congestion,
    )


def fits(parameters: TcpParameters, situation: Situation) -> Problem | None:
    """Says whether a segment of `mss` fits in a frame; None if it does."""
    most = int(ip_length(situation.mean_size)) - SEGMENT_HEADERS
    if parameters.mss is None or parameters.mss <= most:
        return None
    return Problem(
        f"a segment of {parameters.mss} bytes of payload does not fit in a frame of"
        f" {situation.mean_size} bytes",
        f"at most `{most}`, or a longer `size`",
        ("mss",),
        code="out-of-range",
    )


METHOD = Procedure(
    name="tcp",
    title="TCP",
    doc="What TCP connections carry through the device, all at once.",
    standard="",
    like="RFC 6349 has the terms; its steps (path MTU, RTT, window) are not run",
    parameters=TcpParameters,
    start=tcp,
    traffic_seconds=lambda parameters: SECONDS + parameters.omit.amount + parameters.duration.amount,
    load_class=CONNECTIONS,
    fits=fits,
    values=(PAYLOAD, RETRANSMITTED),
)
