"""What a plan watches beside the traffic: pings, adjacencies, the command line."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from netdyno.devices.kind import Kind
from netdyno.devices.watches import Ping, Watch
from netdyno.errors import names
from netdyno.plan import models as m
from netdyno.plan.source import Path_, Source
from netdyno.values.breaks import WATCH_BREAKS

if TYPE_CHECKING:
    from netdyno.plan import Tables
    from netdyno.plan.goals import Goal
    from netdyno.plan.lab import Lab

AT = "watch"
LEAST_NS = 10**7
"""Between pings: a hundred a second, of each of a few addresses, take no notable part of a core."""

_NEXT = "give it `ping`, `adjacencies` or `cli`, or leave `watch` out"


def watch(
    source: Source,
    asked: m.WatchSettings | None,
    lab: Lab | None,
    kind: Kind | None,
    axes: Sequence[tuple[str, tuple[str, ...]]],
    tables: Tables,
) -> Watch | None:
    """What is watched, with all mistakes reported; None: nothing is.

    axes: of the matrix, as device settings may be among them.
    """
    if asked is None:
        return None
    if not asked.ping and not asked.adjacencies and asked.cli is None:
        source.report_key((AT,), "`watch` watches nothing", _NEXT, code="missing-field")
        return None
    found = Watch(
        tuple(Ping(one.to, one.interface, one.every.ns) for one in asked.ping),
        asked.adjacencies,
        None if asked.cli is None else asked.cli.ns,
    )
    if kind is None or lab is None:
        return found
    driver = tables.drivers[lab.driver] if lab.driver else None
    has_speakers = any(link.speaker for link in lab.links)
    # Of an emulated router itself there are hellos alone.
    is_heard = any(link.speaker and link.speaker.ospf for link in lab.links)
    has_own = driver is not None or (found.adjacencies and is_heard)
    if kind.emulated and (found.pings or not has_own):
        source.report_key(
            (AT, "ping") if has_own else (AT,),
            f"`{kind.name}` runs in virtual time, and {'pings' if has_own else 'watches'} need real time",
            "leave `ping` out"
            if has_own
            else "give a link `routing: {ospf: true}` and watch `adjacencies`; or take a `linux/...` or an"
            " external device",
            code="unsupported",
        )
        return found
    settings = tuple(_settings(lab.settings, kind, axes))
    for place, ping in enumerate(found.pings):
        _ping(source, (AT, "ping", place), ping, kind, settings)
    _twice(source, found.pings)
    is_spoken_to = has_speakers and (driver is None or not kind.emulated)
    can_ask = (driver is not None and driver.has_adjacencies) or is_spoken_to
    if found.adjacencies and not can_ask and not all(map(kind.has_adjacencies, settings)):
        source.report(
            (AT, "adjacencies"),
            f"netdyno reads no adjacencies of this `{kind.name}`",
            "give a link `routing`, whose neighbours are watched; or take a `driver` that reads them:"
            " `netdyno drivers`",
            code="unsupported",
        )
    if found.cli_ns is not None and (driver is None or not driver.needs_host):
        source.report(
            (AT, "cli"),
            "netdyno has no session with the device's command line",
            "name a `driver` that logs in, and its `host`: `netdyno drivers` lists them",
            code="unsupported",
        )
    return found


def goals_watched(source: Source, goals: Sequence[Goal], found: Watch | None) -> None:
    """Reports goals for breaks where nothing is watched."""
    for index, goal in enumerate(goals):
        if goal.value == WATCH_BREAKS.goal_name and found is None:
            hint = "add `watch`, such as `watch: {ping: [192.0.2.1]}`"
            source.report(("goals", index), f"`{goal}` needs a watch", hint, code="missing-field")


def _settings(
    given: Mapping[str, str], kind: Kind, axes: Sequence[tuple[str, tuple[str, ...]]]
) -> Iterator[Mapping[str, str]]:
    """The settings of the device in each case."""
    own = [(axis, values) for axis, values in axes if axis in kind.settings]
    for chosen in product(*(values for _, values in own)):
        yield {**given, **dict(zip((axis for axis, _ in own), chosen, strict=True))}


def _ping(
    source: Source, place: Path_, ping: Ping, kind: Kind, settings: Sequence[Mapping[str, str]]
) -> None:
    known = _names(kind, settings)
    if ping.every_ns < LEAST_NS:
        hint = "10 ms at least: `every: 100ms` is 10 a second"
        source.report((*place, "every"), "pings are too close together", hint, code="out-of-range")
    if ping.interface and kind.configured:
        source.report_key(
            (*place, "interface"),
            f"netdyno makes the link by which it pings `{kind.name}`",
            "leave `interface` out",
            code="unknown-field",
        )
    if ping.to in known:
        return
    if kind.configured:
        message = f"`{ping.to}` is nothing that can be pinged of this `{kind.name}`"
        hint = f"one of {names(known)}" if known else "take `linux/router`, which has addresses"
        if known == ("device",):
            hint += "; `neighbour` too with the setting `routing: ospf` or `routing: bgp`"
        source.report((*place, "to"), message, hint, code="unknown-name")
        return
    try:
        address = ipaddress.ip_address(ping.to)
    except ValueError:
        hint = "IPv4 or IPv6, as in `to: 192.0.2.1`"
        source.report((*place, "to"), f"`{ping.to}` is not an address", hint, code="wrong-format")
        return
    if address.is_multicast or address.is_unspecified or str(address) == "255.255.255.255":
        hint = "the address of one host"
        source.report((*place, "to"), f"nothing answers pings as {ping.to}", hint, code="out-of-range")


def _twice(source: Source, pings: Sequence[Ping]) -> None:
    seen: set[str] = set()
    for place, ping in enumerate(pings):
        if ping.to in seen:
            source.report(
                (AT, "ping", place), f"`{ping.to}` is pinged twice", "each address once", code="given-twice"
            )
        seen.add(ping.to)


def _names(kind: Kind, settings: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """Names that can be pinged in every case."""
    found = [kind.list_watched(one) for one in settings]
    return tuple(name for name in found[0] if all(name in each for each in found)) if found else ()
