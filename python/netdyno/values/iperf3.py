"""The JSON of iperf3 (`-J` and, since 3.17, `--json-stream`): its words, and a report read as typed values.

All bytes are payload, without a header of TCP, UDP, IP or Ethernet. What a report does not have, or has as 0
because the other end alone knew it, is None.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NoReturn

from netdyno.values.outcome import Carried

MOST = 2**53
"""iperf3 prints its counts from floating point, which is exact up to here."""
LONGEST_S = 10**9
_WITH_SERVER = "_bidir_reverse"
"""Ends the keys of what the server sent in a test of both directions."""


class ReportError(ValueError):
    """No result can be read. kind: why. number: of the report in its text, from 1.

    empty: nothing is there. text: it is not JSON. damaged: its JSON is cut or broken. foreign: it is JSON,
    but not of iperf3, or lacks a number. failed: iperf3 reports that the test failed; `said` is its error.
    """

    def __init__(self, kind: Literal["empty", "text", "damaged", "foreign", "failed"], said: str) -> None:
        super().__init__(said)
        self.kind = kind
        self.said = said
        self.number = 1


@dataclass(frozen=True)
class Span:
    """What one stream, or all streams of a direction, carried in a time."""

    start_ns: int
    """Since the start of the test, or since the end of the seconds that it omits."""
    ns: int
    """0 or more."""
    payload_bytes: int
    is_omitted: bool
    """Whether it is of the first seconds (`-O`), which count in no sum."""
    retransmitted_segments: int | None
    cwnd_bytes: int | None
    """Congestion window at its end; of one stream that this end sent. So are RTT and path MTU."""
    rtt_us: int | None
    rttvar_us: int | None
    pmtu_bytes: int | None
    packets: int | None
    """UDP: datagrams. lost_packets may be negative, where some came twice."""
    lost_packets: int | None
    jitter_ns: int | None


@dataclass(frozen=True)
class StreamEnd:
    """A stream over the whole test. received: None of UDP, which has `sent` alone, with loss and jitter."""

    sent: Span
    received: Span | None
    max_cwnd_bytes: int | None
    min_rtt_us: int | None
    mean_rtt_us: int | None
    max_rtt_us: int | None
    out_of_order: int | None


@dataclass(frozen=True)
class Interval:
    """What a direction carried between two lines of the report, by the end that reports."""

    sum: Span
    streams: tuple[Span, ...]


@dataclass(frozen=True)
class Direction:
    """One direction of a test. is_by_server: whether the server sent (`-R`, or one of two of `--bidir`)."""

    is_by_server: bool
    sent: Span
    received: Span
    streams: tuple[StreamEnd, ...]
    intervals: tuple[Interval, ...]


@dataclass(frozen=True)
class Report:
    """A report of one test, whole. directions: one, or that of the client and that of the server."""

    version: str
    system: str
    protocol: str
    """`TCP`, `UDP` or `SCTP`."""
    is_of_server: bool
    """Whether the server printed it (`-s -J`): it has the counts of its own end alone."""
    streams: int
    """Asked for, in each direction."""
    duration_ns: int
    """Asked for; 0 where bytes or blocks were."""
    asked_bytes: int
    asked_blocks: int
    block_bytes: int
    """What is written at once; of UDP the payload of a datagram."""
    omit_ns: int
    target_bps: int
    """Of each stream; 0: none."""
    asked_mss_bytes: int | None
    """By `-M`."""
    mss_bytes: int | None
    """Of the connection that controls the test, as its kernel had it."""
    asked_socket_bytes: int | None
    """By `-w`, for both buffers."""
    send_buffer_bytes: int | None
    """As the kernel set it when the socket was made, before it grows."""
    receive_buffer_bytes: int | None
    sender_congestion: str
    """Congestion control of what sent, and of what received; empty: not reported."""
    receiver_congestion: str
    started: datetime | None
    host: str
    """The server, as the client was given its name; empty of a server's report."""
    local_address: str
    remote_address: str
    cookie: str
    """Differs from test to test."""
    directions: tuple[Direction, ...]


def read_reports(text: str) -> tuple[Report, ...]:
    """The reports in a text, one or more, one behind another. Raises ReportError of the first bad one."""
    found: list[Report] = []
    try:
        for document in _documents(text):
            found.append(_report(document))
    except ReportError as error:
        error.number = len(found) + 1
        raise
    return tuple(found)


def as_carried(name: str, report: Report, direction: Direction) -> Carried:
    """What the connections of a direction of TCP carried, as a stream of a trial.

    Raises ReportError: the direction took no time.
    """
    sent, received = direction.sent, direction.received
    if not sent.ns or not received.ns:
        _refuse("foreign", "the test took no time")
    counted = [one.sum for one in direction.intervals if not one.sum.is_omitted]
    rtts = [one.mean_rtt_us for one in direction.streams if one.mean_rtt_us is not None]
    return Carried(
        name=name,
        connections=len(direction.streams),
        sent_bytes=sent.payload_bytes,
        sent_ns=sent.ns,
        received_bytes=received.payload_bytes,
        received_ns=received.ns,
        retransmitted_segments=sent.retransmitted_segments,
        mss_bytes=report.mss_bytes,
        mean_rtt_ns=1000 * sum(rtts) // len(rtts) if rtts else None,
        congestion=report.sender_congestion,
        samples=tuple((one.payload_bytes, one.ns) for one in counted),
    )


def _documents(text: str) -> Iterator[Mapping[str, Any]]:
    """Each report as one JSON object; of a stream of events put together. At least one."""
    streamed: dict[str, Any] | None = None
    is_open = False
    found = 0
    for one in _objects(text):
        if "event" not in one:
            if is_open:
                break
            # `--json-stream-full` prints the whole behind the events.
            if streamed is not None and _cookie(streamed) != _cookie(one):
                yield streamed
            streamed = None
            found += 1
            yield one
            continue
        name, data = one["event"], one.get("data")
        if name == "start" or streamed is None or not is_open:
            if is_open:
                break
            if streamed is not None:
                yield streamed
            streamed = {"intervals": []}
            is_open = True
            found += 1
        if name == "interval":
            streamed["intervals"].append(data)
        elif isinstance(name, str):
            streamed[name] = data
        is_open = name != "end"
    if is_open:
        _refuse("damaged", "a stream of events has no `end`")
    if streamed is not None:
        yield streamed
    if not found:
        _refuse("empty", "nothing is in it")


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(parse_constant=lambda name: _refuse("foreign", f"{name} is no number"))
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        if text[at] not in "{[":
            _refuse("text", f"`{text[at : at + 60].splitlines()[0]}`")
        try:
            one, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            _refuse("damaged", "its JSON is cut or broken")
        except ReportError:
            raise
        except ValueError:
            _refuse("foreign", "a number has too many digits")
        if not isinstance(one, dict):
            _refuse("foreign", "it is no JSON object")
        yield one


def _report(document: Mapping[str, Any]) -> Report:
    """One report. A server that ended early leaves `error` beside an `end` that looks whole."""
    if "error" in document:
        _refuse("failed", str(document["error"])[:200])
    start, end = _object(document, "start"), _object(document, "end")
    asked = _object(start, "test_start")
    protocol = _text(asked, "protocol")
    is_of_server = "accepted_connection" in start
    # Until 3.6 streams did not say who sent.
    sends = is_of_server == bool(asked.get("reverse"))
    intervals = _list(document, "intervals")
    ends = [_end(one, sends) for one in _list(end, "streams")]
    suffixes = ("", _WITH_SERVER) if f"sum_sent{_WITH_SERVER}" in end else ("",)
    directions = []
    for suffix in suffixes:
        is_by_server = bool(suffix or asked.get("reverse"))
        here = is_by_server == is_of_server
        directions.append(
            Direction(
                is_by_server=is_by_server,
                sent=_span(_object(end, f"sum_sent{suffix}")),
                received=_span(_object(end, f"sum_received{suffix}")),
                streams=tuple(one for is_sender, one in ends if is_sender == here),
                intervals=tuple(_intervals(intervals, suffix, here, sends)),
            )
        )
    connected = [one for one in _list(start, "connected") if isinstance(one, dict)]
    first: Mapping[str, Any] = connected[0] if connected else {}
    server = start.get("connecting_to")
    return Report(
        version=_text(start, "version").removeprefix("iperf ").rstrip("+"),
        system=_text(start, "system_info"),
        protocol=protocol,
        is_of_server=is_of_server,
        streams=_int(asked, "num_streams"),
        duration_ns=_ns(asked, "duration"),
        asked_bytes=_count(asked, "bytes") or 0,
        asked_blocks=_count(asked, "blocks") or 0,
        block_bytes=_count(asked, "blksize") or 0,
        omit_ns=_ns(asked, "omit"),
        target_bps=_count(asked, "target_bitrate") or 0,
        asked_mss_bytes=_known(start, "tcp_mss"),
        mss_bytes=_known(start, "tcp_mss_default"),
        asked_socket_bytes=_known(start, "sock_bufsize"),
        send_buffer_bytes=_known(start, "sndbuf_actual"),
        receive_buffer_bytes=_known(start, "rcvbuf_actual"),
        sender_congestion=_text(end, "sender_tcp_congestion"),
        receiver_congestion=_text(end, "receiver_tcp_congestion"),
        started=_moment(start.get("timestamp")),
        host=_text(server, "host") if isinstance(server, dict) else "",
        local_address=_text(first, "local_host"),
        remote_address=_text(first, "remote_host"),
        cookie=_cookie(document),
        directions=tuple(directions),
    )


def _end(one: object, sends: bool) -> tuple[bool, StreamEnd]:
    """Whether this end sent a stream, and what the stream carried."""
    stream = _is_object(one, "a stream")
    sent = _object(stream, "udp" if "udp" in stream else "sender")
    received = None if "udp" in stream else _span(_object(stream, "receiver"))
    is_sender = bool(sent.get("sender", sends))
    # Of a stream that came from the other end these are of this end's socket, which sent no data.
    by_sender = sent if is_sender else {}
    return is_sender, StreamEnd(
        sent=_span(sent),
        received=received,
        max_cwnd_bytes=_known(by_sender, "max_snd_cwnd"),
        min_rtt_us=_known(by_sender, "min_rtt"),
        mean_rtt_us=_known(by_sender, "mean_rtt"),
        max_rtt_us=_known(by_sender, "max_rtt"),
        out_of_order=_count(sent, "out_of_order"),
    )


def _intervals(intervals: Sequence[object], suffix: str, here: bool, sends: bool) -> Iterator[Interval]:
    for one in intervals:
        interval = _is_object(one, "an interval")
        streams = [_is_object(each, "a stream") for each in _list(interval, "streams")]
        yield Interval(
            _span(_object(interval, f"sum{suffix}")),
            tuple(_span(each) for each in streams if bool(each.get("sender", sends)) == here),
        )


def _span(one: Mapping[str, Any]) -> Span:
    jitter_ms = one.get("jitter_ms")
    return Span(
        start_ns=_ns(one, "start"),
        ns=_ns(one, "seconds"),
        payload_bytes=_int(one, "bytes"),
        is_omitted=one.get("omitted") is True,
        retransmitted_segments=_count(one, "retransmits"),
        cwnd_bytes=_known(one, "snd_cwnd"),
        rtt_us=_known(one, "rtt"),
        rttvar_us=_known(one, "rttvar"),
        pmtu_bytes=_known(one, "pmtu"),
        packets=_count(one, "packets"),
        lost_packets=_whole(one, "lost_packets"),
        jitter_ns=None if jitter_ms is None else round(_number(one, "jitter_ms") * 1e6),
    )


def _object(above: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return _is_object(above.get(key), f"`{key}`")


def _is_object(one: object, what: str) -> Mapping[str, Any]:
    return one if isinstance(one, dict) else _refuse("foreign", f"{what} is missing")


def _list(above: Mapping[str, Any], key: str) -> Sequence[Any]:
    found = above.get(key)
    return found if isinstance(found, list) else _refuse("foreign", f"`{key}` is missing")


def _text(above: Mapping[str, Any], key: str) -> str:
    found = above.get(key)
    return found[:200] if isinstance(found, str) else ""


def _number(above: Mapping[str, Any], key: str) -> float:
    """A number of 0 or more, of seconds or milliseconds."""
    found = above.get(key)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= LONGEST_S:
        _refuse("foreign", f"`{key}` is missing or wrong")
    return found


def _ns(above: Mapping[str, Any], key: str) -> int:
    return round(_number(above, key) * 1e9)


def _whole(above: Mapping[str, Any], key: str) -> int | None:
    """A whole number; None: it is missing. iperf3 writes those over 10^15 as `1e+15`."""
    found = above.get(key)
    if found is None:
        return None
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    if not is_number or not math.isfinite(found) or abs(found) > MOST or found != int(found):
        _refuse("foreign", f"`{key}` is wrong")
    return int(found)


def _int(above: Mapping[str, Any], key: str) -> int:
    found = _count(above, key)
    return _refuse("foreign", f"`{key}` is missing or wrong") if found is None else found


def _count(above: Mapping[str, Any], key: str) -> int | None:
    """A count; None: it is missing, or -1, which stands for unknown."""
    found = _whole(above, key)
    return None if found is None or found < 0 else found


def _known(above: Mapping[str, Any], key: str) -> int | None:
    """A size or a time, which is 0 where this end does not know it."""
    return _count(above, key) or None


def _moment(timestamp: object) -> datetime | None:
    if not isinstance(timestamp, dict):
        return None
    seconds = _count(timestamp, "timesecs")
    return None if not seconds or seconds > 10**10 else datetime.fromtimestamp(seconds, UTC)


def _cookie(document: Mapping[str, Any]) -> str:
    start = document.get("start")
    return _text(start, "cookie") if isinstance(start, dict) else ""


def _refuse(kind: Literal["empty", "text", "damaged", "foreign", "failed"], said: str) -> NoReturn:
    raise ReportError(kind, said)
