"""What `address-caching` is to find, and how tests ask for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from bench import Bench, Plan, Ways
from netdyno.values.situation import Situation
from proof import BRIDGE, MIXED_UP, TRY, Proof, strange
from servers import Packet, Server

STATIONS = 37
"""What the bridge has room for, of 50 that are tried."""


def stations(known: Situation, change: Mapping[str, Any]) -> Ways:
    """A learning bridge (IEEE 802.1Q 8.7): what is for a station it does not know goes to all other ports.

    Frame k of the first stream is of station k, and frame k of the second to it. It has been asked to forget.
    """
    del known
    settings = change["forwarding"]
    room, learner = settings.get("table_limit", 1_000_000), None
    if settings.get("learn_fps"):
        learner = Server(settings["learn_fps"][0], 0)
    table: set[int] = set()

    def ways(packet: Packet, port: int) -> Sequence[int]:
        others = [other for other in range(3) if other != port]
        if packet.stream == 0:
            if len(table) < room and (learner is None or learner.served(packet.at) is not None):
                table.add(packet.number)
            return others
        return [0] if packet.number in table else others

    return ways


def known_stations(bench: Bench, name: str, tried: Callable[[int], Fraction]) -> None:
    """The most of what was tried at which every test frame came to its station and to nobody else."""
    good, bad = [Fraction(0)], []
    for place, (_, tested) in enumerate(bench.expected):
        every = not (tested.missing + tested.copies + tested.elsewhere + tested.broken_elsewhere)
        (good if every else bad).append(tried(place))
    (value,) = bench.result.values
    assert value.name == name
    flooded = [
        place
        for place, (_, tested) in enumerate(bench.expected)
        if tried(place) == min(bad) and tested.elsewhere + tested.broken_elsewhere
    ]
    if flooded:
        assert (value.number, value.low, value.high) == (max(good), max(good), min(bad))
    else:
        # Lost, and flooded by nobody: whether they were known does not show.
        assert (value.low, value.high) == (max(good) or None, None)


def address_caching(bench: Bench) -> None:
    """RFC 2889 section 5.7."""
    known_stations(
        bench, "address caching capacity", lambda place: Fraction(bench.trials[place].frames.flows or 0)
    )


PROOF = Proof(
    strange=strange(
        "maximum: 50, learning: 10kpps, test: 10kpps, pause: 10ms, forget: true", 7, links=3, matrix=""
    ),
    plan=Plan(
        "address-caching",
        f"maximum: 50, learning: 10kpps, {TRY}",
        change={"forwarding": {"table_limit": STATIONS}},
        ways=stations,
        **BRIDGE,
    ),
    row="rrrrrrrrrrrrrrrrr~rrrrrr",
    finding=address_caching,
    within=MIXED_UP,
    has_classes=False,
    loses_nothing=True,
)
