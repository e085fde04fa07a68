"""Emulated devices that model no product: a cross connect, a bridge, a router."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from netdyno.devices import addresses, agent, filters, incidents, routes, routing
from netdyno.devices.emulated import lags
from netdyno.devices.emulated.model import Emulated, Model, fps
from netdyno.devices.reasons import DeviceSetTo, DeviceTakesIn
from netdyno.devices.wiring import LabLink
from netdyno.values.reason import Reason
from netdyno.values.units import Duration, FrameRate, FrameSize

MS = 1_000_000

RESET_NS = 100 * MS
"""How long a reset takes: short enough for a rehearsal."""

PORTS_PER_CARD = 2

# What is taken in: as much as the lines bring, or this; by each port, each card of two, or the whole box.
_CAPACITY = {
    "capacity": ("line", "10kpps", "100kpps", "1Mpps", "2Mpps", "5Mpps", "10Mpps"),
    "shared": ("port", "card", "box"),
}

# By DSCP: expedited forwarding (46, RFC 3246), AF41 (34, RFC 2597), all else.
_QUEUEING = {
    "fifo": (),
    "priority": (("voice", [46], 0, 1), ("video", [34], 1, 1), ("default", [], 2, 1)),
    "weighted": (("voice", [46], 0, 1), ("video", [34], 1, 3), ("default", [], 1, 1)),
}

# Faults of every egress port, and what a port keeps of an overload.
_BEHAVIOUR: Mapping[str, tuple[dict[str, Any], ...]] = {
    "steady": (),
    # Its processor is taken away for 3 ms, once a second on average.
    "noisy": (
        {
            "fault": {"stall": {"for_ns": 3 * MS}},
            "when": {"window": {"window_ns": 10 * MS, "parts": 1, "of": 100, "seed": 2544}},
        },
    ),
    "stalls": (
        {
            "fault": {"stall": {"for_ns": MS}},
            "when": {"period": {"every_ns": 100 * MS, "first_ns": 50 * MS, "for_ns": MS}},
        },
    ),
    # A frame that comes more than 100 us after the one before it wakes the port, and is lost.
    "sleepy": ({"fault": "lose", "when": {"after_idle": {"idle_ns": 100_000, "frames": 1}}},),
    # One frame in a thousand comes later by `late_by`: none that anything in _FAULTS befalls.
    "late": ({"when": {"every": {"every": 1000, "first": 501}}},),
    "weary": (),
}
WEARY = {"for_ns": 200 * MS, "every": 10}
"""Of a port that was overloaded: for so long it loses every tenth frame."""

# What befalls one frame in so many on its way out, each egress port for itself, and the first that it
# befalls, in tenths of so many: so no two of them meet one frame, whatever they are set to.
_FAULTS: Mapping[str, tuple[Any, int]] = {
    "loses": ("lose", 5),
    "duplicates": ("duplicate", 2),
    "reorders": ({"reorder": {"by": 3}}, 7),
    "corrupts": ("corrupt", 9),
}
_ONE_IN = ("none", "1/10", "1/100", "1/1000", "1/10000", "1/100000", "1/1000000")

_SETTINGS: Mapping[str, tuple[str, ...]] = {
    **_CAPACITY,
    "behaviour": tuple(_BEHAVIOUR),
    # The first is after a drain of 2 s (RFC 2544 section 23); the others are after one that is rehearsed.
    "late_by": ("3s", "1s", "300ms", "100ms", "30ms"),
    **dict.fromkeys(_FAULTS, _ONE_IN),
    **lags.SETTINGS,
    incidents.SETTING: (),
}
_ROUTER: Mapping[str, tuple[str, ...]] = {
    # Nothing protects its answers to ARP: corrupted ones would be believed.
    **{name: values for name, values in _SETTINGS.items() if name != "corrupts"},
    # One that sleeps would never answer who asks for it.
    "behaviour": tuple(behaviour for behaviour in _BEHAVIOUR if behaviour != "sleepy"),
    "queueing": tuple(_QUEUEING),
    # What its processor, which takes in `capacity`, has to do beside: for each rule of a filter that it
    # looks at, and for a broadcast.
    "rule_cost": ("0ns", "10ns", "100ns", "1us"),
    "broadcast_cost": ("0ns", "1us", "10us", "100us"),
    # A query of its SNMP agent, if it has one.
    "query_cost": ("0ns", "1ms", "10ms", "100ms"),
    agent.SETTING: agent.VALUES,
    # A routing update, for each route in it, if it learns any.
    "route_cost": ("0ns", "100us", "1ms", "10ms"),
    routing.SETTING: routing.WITHOUT_NEIGHBOUR,
}
_BRIDGE: Mapping[str, tuple[str, ...]] = {
    **_SETTINGS,
    "queueing": tuple(_QUEUEING),
    "addresses": ("131072", "8192", "1024"),
    "learns": ("any", "10kpps", "1kpps"),
    # RFC 2889 section 5.5.3: whether a congested output costs others their traffic.
    "blocking": ("none", "head-of-line"),
    # RFC 2889 section 5.9.3: what it does with frames that are too long.
    "largest": ("any", "1518B", "1522B"),
}
HELD = {"in_queue": 256, "out_queue": 16}
"""Of ports that hold back what finds no room at its output: frames that wait before and behind the switch."""


def _model(forwarding: str, links: tuple[LabLink, ...], chosen: Mapping[str, str]) -> Model:
    limits, port, notes = _capacity(chosen, _cards(links))
    device: dict[str, Any] = {"reset_ns": RESET_NS, **limits, "impairments": _faults(chosen)}
    members = int(chosen["members"])
    port |= lags.port_fields(chosen)
    if members > 1:
        notes = (*notes, lags.note(chosen))
    if chosen["behaviour"] == "weary":
        if port.get("in_fps") is None:
            raise ValueError("`behaviour: weary` is of ports with a `capacity` of their own (`shared: port`)")
        port["weary"] = WEARY
    port |= _costs(chosen, port)
    port["classes"] = [
        {"name": name, "dscp": dscp, "priority": priority, "weight": weight}
        for name, dscp, priority, weight in _QUEUEING[chosen.get("queueing", "fifo")]
    ]
    if chosen.get("blocking", "none") != "none":
        if chosen["queueing"] != "fifo" or limits or members > 1:
            raise ValueError(
                "`blocking: head-of-line` goes with `queueing: fifo`, `shared: port` and `members: 1`"
            )
        port |= HELD
        device["head_of_line"] = True
    if chosen.get("largest", "any") != "any":
        device["largest"] = int(FrameSize.parse(chosen["largest"]).amount)
    if chosen.get(agent.SETTING) == agent.SNMP:
        device["agent"] = {"community": "public"}
    if chosen.get(routing.SETTING) == routing.RIP:
        device["rip"] = True
    bridge: dict[str, Any] = {}
    if "addresses" in chosen:
        rate = None if chosen["learns"] == "any" else fps(int(FrameRate.parse(chosen["learns"]).amount))
        bridge = {"table_limit": int(chosen["addresses"]), "learn_fps": rate}
    changed = tuple(
        (name, value)
        for name, value in chosen.items()
        if name not in _CAPACITY and value != {**_BRIDGE, **_ROUTER}[name][0]
    )
    if changed:
        notes = (*notes, DeviceSetTo(changed))
    return Model(forwarding, members, (port,) * len(links), device, notes, bridge)


def _costs(chosen: Mapping[str, str], port: Mapping[str, Any]) -> dict[str, Any]:
    """Extra time of a port's processor for some frames, ns; ValueError if the port has no processor."""
    found: dict[str, Any] = {}
    costs = (
        ("rule_cost", "filter_ns"),
        ("broadcast_cost", "group_ns"),
        ("query_cost", "query_ns"),
        ("route_cost", "route_ns"),
    )
    for setting, field in costs:
        cost_ns = Duration.parse(chosen.get(setting, "0ns")).ns
        if cost_ns and (port.get("in_fps") is None or "weary" in port):
            raise ValueError(
                f"`{setting}` is of ports with a `capacity` of their own (`shared: port`) that are not weary"
            )
        found |= {field: cost_ns} if cost_ns else {}
    return found


def _capacity(
    chosen: Mapping[str, str], cards: Sequence[Sequence[int]]
) -> tuple[dict[str, Any], dict[str, Any], tuple[Reason, ...]]:
    """Fields of the device and of each port for the capacity, and the note on it."""
    asked, shared = chosen["capacity"], chosen["shared"]
    if asked == "line":
        return {}, {"in_fps": None}, ()
    rate_pps = int(FrameRate.parse(asked).amount)
    rate = fps(rate_pps)
    notes = (DeviceTakesIn(rate_pps, shared, tuple(map(len, cards))),)  # type: ignore[arg-type]
    if shared == "port":
        return {}, {"in_fps": rate}, notes
    if shared == "box":
        return {"box_fps": rate}, {}, notes
    return {"cards": [{"ports": list(card), "in_fps": rate} for card in cards]}, {}, notes


def _cards(links: tuple[LabLink, ...]) -> list[list[int]]:
    """The ports of each card: those whose links name the same one; two by two where none does."""
    found: dict[str, list[int]] = {}
    named = any(link.card for link in links)
    for number, link in enumerate(links):
        # A port of no card has one to itself.
        card = (link.card or f"port {number}") if named else f"card {number // PORTS_PER_CARD}"
        found.setdefault(card, []).append(number)
    return list(found.values())


def _faults(chosen: Mapping[str, str]) -> list[dict[str, Any]]:
    found = [{"port": None, **fault} for fault in _BEHAVIOUR[chosen["behaviour"]]]
    if chosen["behaviour"] == "late":
        found[0]["fault"] = {"hold": {"for_ns": Duration.parse(chosen["late_by"]).ns}}
    elif chosen["late_by"] != _SETTINGS["late_by"][0]:
        raise ValueError("`late_by` is of a device with `behaviour: late`")
    for name, (fault, tenths) in _FAULTS.items():
        asked = chosen.get(name, "none")
        if asked != "none":
            every = int(asked.removeprefix("1/"))
            when = {"every": {"every": every, "first": every * tenths // 10}}
            found.append({"port": None, "fault": fault, "when": when})
    return found


CROSS_CONNECT = Emulated(
    "emulated/cross-connect",
    "emulated cross connect",
    partial(_model, "l2-xconnect"),
    settings=_SETTINGS,
)
BRIDGE = Emulated(
    "emulated/bridge",
    "emulated learning bridge",
    partial(_model, "bridge-domain"),
    settings=_BRIDGE,
    links=range(2, addresses.MOST_PORTS + 1),
)
ROUTER = Emulated(
    "emulated/router",
    "emulated IPv4 and IPv6 router",
    partial(_model, "ipv4"),
    settings={**_ROUTER, routes.SETTING: (), filters.SETTING: ()},
    links=range(1, addresses.MOST_PORTS + 1),
)
KIND = (CROSS_CONNECT, BRIDGE, ROUTER)
