"""The TCP sockets of a host, as its kernel has them (sock_diag(7)): the one module that uses pyroute2."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

from pyroute2 import DiagSocket, NetlinkError  # type: ignore[import-untyped]

from netdyno.devices.linux import namespaces
from netdyno.values.outcome import Connection

ESTABLISHED = 1 << 1
"""Mask of states: net/tcp_states.h. Others have no `tcp_info`."""
_INFO = 1 << 1
"""Mask of extensions: INET_DIAG_INFO - 1, linux/inet_diag.h."""
_US = 1000


class Sockets:
    """The established TCP connections of a network namespace, that of a process."""

    def __init__(self, pid: int) -> None:
        """Raises OSError."""
        with namespaces.within(pid):
            self._diag: Any = DiagSocket()
            self._diag.bind()

    def close(self) -> None:
        """Closes the way to the kernel."""
        self._diag.close()

    def list_senders(self) -> list[Connection]:
        """The connections, each as a sender has it. Raises OSError."""
        try:
            asked = self._diag.get_sock_stats(family=socket.AF_INET, states=ESTABLISHED, extensions=_INFO)
        except NetlinkError as error:
            # A kernel without INET_DIAG_TCP.
            raise OSError(error.code, str(error)) from error
        return [
            _connection(one["idiag_sport"], one["idiag_dport"], info)
            for one in asked
            if (info := one.get_attr("INET_DIAG_INFO"))
        ]


def _connection(port: int, to: int, info: Mapping[str, int]) -> Connection:
    """A kernel older than a field leaves it out."""

    def of(name: str) -> int:
        return int(info.get(f"tcpi_{name}", 0))

    return Connection(
        port=port,
        to=to,
        mss_bytes=of("snd_mss"),
        path_mtu_bytes=of("pmtu"),
        cwnd_segments=of("snd_cwnd"),
        rtt_ns=of("rtt") * _US,
        min_rtt_ns=of("min_rtt") * _US,
        window_bytes=of("snd_wnd"),
        sent_segments=of("data_segs_out"),
        retransmitted_segments=of("total_retrans"),
        sent_bytes=of("bytes_sent"),
        retransmitted_bytes=of("bytes_retrans"),
        delivery_bps=of("delivery_rate") * 8,
        busy_ns=of("busy_time") * _US,
        window_ns=of("rwnd_limited") * _US,
        buffer_ns=of("sndbuf_limited") * _US,
    )
