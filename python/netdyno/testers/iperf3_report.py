"""What an iperf3 client reports in JSON of a stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from netdyno.values.outcome import Carried
from netdyno.values.reason import Reason
from netdyno.values.unmeasured import ProgramFailed


def read_report(name: str, asked: int, printed: str) -> Carried | Reason:
    """What a client reported of a stream of so many connections; the reason if it failed.

    A server that ended early leaves `error` beside an `end` that looks whole.
    """
    try:
        report = json.loads(printed)
        if "error" in report:
            return ProgramFailed("iperf3", name, str(report["error"]))
        end = report["end"]
        senders = [one["sender"] for one in end["streams"]]
        if len(senders) != asked:
            return ProgramFailed("iperf3", name, f"{len(senders)} of {asked} connections were open")
        sent, received = end["sum_sent"], end["sum_received"]
        rtts = [one["mean_rtt"] for one in senders if "mean_rtt" in one]
        return Carried(
            name=name,
            connections=asked,
            sent_bytes=sent["bytes"],
            sent_ns=_ns(sent),
            received_bytes=received["bytes"],
            received_ns=_ns(received),
            retransmitted_segments=sent.get("retransmits"),
            mss_bytes=report["start"].get("tcp_mss_default"),
            mean_rtt_ns=1000 * sum(rtts) // len(rtts) if rtts else None,
            congestion=end.get("sender_tcp_congestion", ""),
            samples=tuple(
                (one["sum"]["bytes"], round(one["sum"]["seconds"] * 1e9)) for one in report["intervals"]
            ),
        )
    except (ValueError, LookupError, TypeError, ArithmeticError):
        return ProgramFailed("iperf3", name, f"its report is cut or wrong: {printed[-80:]!r}")


def _ns(span: Mapping[str, Any]) -> int:
    """How long a span of a report was, ns. Raises ValueError, OverflowError: it had no length."""
    seconds: float = span["seconds"]
    ns = round(seconds * 1e9)
    if ns <= 0:
        raise ValueError(f"{seconds} s")
    return ns
