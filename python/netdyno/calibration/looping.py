"""Which streams run on looped ports, so that each port does at least what it does in the lab.

A loopback joins ports in pairs, whatever streams a case has. One way of a pair carries the streams of the
sender or those of the receiver, whichever are the higher load: in many to one, the port that all others send
to gets as much from the one port that it is joined with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netdyno.devices.wiring import Wiring

UNSAID = ("messages", "listens", "behind")
"""What a modifier has a port say and hear. The far end of an odd port says nothing."""

JOINED = ("lag", "bundle")
"""What a port has in common with others of the lab."""


def lead_back(spec: dict[str, Any], wiring: Wiring) -> dict[str, Any]:
    """The TrialSpec for looped ports, from that for the lab's ports (`wiring.lab`).

    Streams that run between joined ports already stay as they are. Of a host's ports each carries what it
    sends or what it receives in the lab, whichever host is at the other end.
    """
    numbers = range(len(spec["ports"])) if wiring.share_of is None else wiring.numbers
    # Members of a LAG or bundle are joined with each other, or with other ports: each is one of its own.
    own = [{name: one for name, one in port.items() if name not in JOINED} for port in spec["ports"]]
    ports = [{**own[number], "mac": port.mac} for number, port in zip(numbers, wiring.ports, strict=False)]
    for port in wiring.ports[len(ports) :]:
        ports.append({**ports[-1], "mac": port.mac, **{what: [] for what in UNSAID}})
    streams = spec["streams"]
    if wiring.share_of is None and all(
        stream["rx_port"] == wiring.joined_with(stream["tx_port"]) for stream in streams
    ):
        return {**spec, "ports": ports}
    sent: dict[int, list[dict[str, Any]]] = defaultdict(list)
    received: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for stream in streams:
        for ways, port in ((sent, stream["tx_port"]), (received, stream["rx_port"])):
            if port in numbers:
                ways[numbers.index(port)].append(stream)
    led = []
    for tx in range(len(ports)):
        rx = wiring.joined_with(tx)
        most = wiring.ports[rx].rate_bps if wiring.ports[rx].enforced_rate else None
        carried = max(sent[tx], _at_most(received[rx], most), key=sum_bps)
        led += [_stream_between(stream, tx, rx, wiring) for stream in carried]
    return {**spec, "ports": ports, "streams": led}


def sum_bps(streams: Sequence[dict[str, Any]]) -> int:
    """The load of these streams together, bit/s (L1); of one in bursts, that of these."""
    return sum(max(one["from_bps"] for one in stream["schedule"]) for stream in streams)


def received_bps(spec: dict[str, Any]) -> list[int]:
    """The load that each port of a trial receives if nothing is lost, bit/s (L1)."""
    return [
        sum_bps([stream for stream in spec["streams"] if stream["rx_port"] == port])
        for port in range(len(spec["ports"]))
    ]


def sum_at_ports(streams: Sequence[dict[str, Any]], wiring: Wiring) -> int:
    """The load that the ports of a wiring send and receive in the lab, bit/s (L1)."""
    numbers = range(len(wiring.own.ports)) if wiring.share_of is None else wiring.numbers
    return sum(sum_bps([one for one in streams if one[end] in numbers]) for end in ("tx_port", "rx_port"))


def _at_most(streams: list[dict[str, Any]], most_bps: int | None) -> list[dict[str, Any]]:
    """The streams at no more than a line's load together: more does not come out of the device."""
    load_bps = sum_bps(streams)
    if most_bps is None or load_bps <= most_bps:
        return streams
    part = Fraction(most_bps, load_bps)
    return [
        {
            **stream,
            "schedule": [
                {**one, "from_bps": int(one["from_bps"] * part), "to_bps": int(one["to_bps"] * part)}
                for one in stream["schedule"]
            ],
        }
        for stream in streams
    ]


def _stream_between(stream: dict[str, Any], tx: int, rx: int, wiring: Wiring) -> dict[str, Any]:
    """The stream from one port to another: only a source address that was its port's changes."""
    name = f"{wiring.ports[tx].name}-{wiring.ports[rx].name}/{stream['name']}"
    first, *rest = stream["headers"]
    if first["src"] == wiring.lab.ports[stream["tx_port"]].mac:
        first = {**first, "src": wiring.ports[tx].mac}
    return {**stream, "name": name, "tx_port": tx, "rx_port": rx, "headers": [first, *rest]}
