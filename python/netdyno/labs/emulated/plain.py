"""Devices that are nothing but what they do: a cross connect, a bridge, a router."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from netdyno.labs import addresses
from netdyno.labs.emulated.model import Capacity, Emulated, Model, hashes
from netdyno.labs.wiring import LabLink
from netdyno.units import FrameRate

# What each port takes in: as much as the line brings, or this.
_IDEAL: Mapping[str, tuple[str, ...]] = {
    "capacity": ("line", "10kpps", "100kpps", "1Mpps", "2Mpps", "5Mpps", "10Mpps")
}

RESET_NS = 100_000_000
"""How long a reset takes: short enough for a rehearsal."""


def _model(forwarding: str, links: tuple[LabLink, ...], chosen: Mapping[str, str]) -> Model:
    asked = chosen["capacity"]
    capacity = Capacity()
    notes: tuple[str, ...] = ()
    if asked != "line":
        rate = int(FrameRate.parse(asked).amount)
        capacity = Capacity(rate, rate)
        shown = asked.replace("kpps", " kpps").replace("Mpps", " Mpps")
        notes = (f"The device takes in {shown} on each port, as the plan says.",)
    ports = tuple({**capacity.of(index), **hashes(forwarding)} for index in range(len(links)))
    return Model(forwarding, 1, ports, {"reset_ns": RESET_NS}, notes)


CROSS_CONNECT = Emulated(
    "emulated/cross-connect", "emulated cross connect", partial(_model, "l2-xconnect"), _IDEAL
)
BRIDGE = Emulated(
    "emulated/bridge",
    "emulated learning bridge",
    partial(_model, "bridge-domain"),
    _IDEAL,
    links=range(2, addresses.MOST_PORTS + 1),
)
ROUTER = Emulated(
    "emulated/router",
    "emulated IPv4 and IPv6 router",
    partial(_model, "ipv4"),
    _IDEAL,
    links=range(1, addresses.MOST_PORTS + 1),
)
