"""The interfaces under the tester's ports: awaited before each trial, listened to during it, read before
and after."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from netdyno.errors import NetdynoError
from netdyno.ports import carrier, nic, softirq
from netdyno.ports.nic import counters, netlink
from netdyno.ports.reasons import (
    DuplexChanged,
    InterfaceGone,
    InterfaceReset,
    InterfaceSwitchedOff,
    LinkWentDown,
    SpeedChanged,
)
from netdyno.values.engine_reason import EngineReason
from netdyno.values.load import Trial
from netdyno.values.outcome import CarrierLoss, InterfaceResult, Outcome
from netdyno.values.reason import Reason

CARRIER_S = 30.0
"""How long a trial waits for the lines under its ports. A 10GBASE-T link takes some seconds to agree on a
speed, a switch that runs spanning tree some more to restart a port."""

STEADY_S = 0.5
"""A line counts as up when it has been for so long: one that flaps comes up for moments in between."""

POLL_S = 0.1

FAR_END = frozenset(("veth", "tun"))
"""Kinds of interface that count as dropped on sending what their far end, the device, did not take in."""


BELOW = ("no room to receive", "not sent")
"""What the interfaces below a port's own count that it does not: frames that they dropped."""

RESTARTING = ("queues", "rings", "pause")
"""Settings of a card whose change makes many drivers start it again, and the carrier go."""


class NoLineError(NetdynoError):
    """The line of a port stayed down."""


def await_lines(
    session: Mapping[str, Any],
    say: Callable[[str], None],
    tick: Callable[[float], None],
    at_least_s: float = 0.0,
) -> dict[str, int]:
    """Waits until every interface under a port has its line; nanoseconds waited for each that had none.

    A trial that begins while a line is down is lost before it begins, and there are only so many attempts.
    Where an interface is gone nothing is waited for: what opened it has lost it for good.

    say: told what is waited for, again and again. tick: sleeps so many seconds, and may raise to end it all.
    at_least_s: how long where `CARRIER_S` is less. Raises `NoLineError`.
    """
    named = dict(_interfaces(session))
    down = _down(named)
    if not down:
        return {}
    at_most_s = max(CARRIER_S, at_least_s)
    began = time.monotonic()
    waited: dict[str, float] = {}
    steady = began
    while True:
        now = time.monotonic()
        if down:
            steady = now
            waited.update(dict.fromkeys(down, now - began))
            if now - began >= at_most_s:
                which = " and ".join(_line(port, named[port]) for port in down)
                first = named[next(iter(down))]
                raise NoLineError(
                    f"{which} {'is' if len(down) == 1 else 'are'} down, and stayed so for {at_most_s:.0f} s",
                    f"look at the cable and at the device's port; `ip link show {first}` has its state",
                    code="line-down",
                )
            say("waiting for " + " and ".join(_line(port, named[port]) for port in down))
        elif now - steady >= STEADY_S:
            return {port: round(seconds * 1e9) for port, seconds in waited.items()}
        tick(POLL_S)
        down = _down(named)


def can_come_back(session: Mapping[str, Any], reasons: Sequence[Reason]) -> bool:
    """Whether a trial did not begin because of ports whose interfaces were down and are still there.

    A packet socket says once that its interface was down, even when it is up again.
    """
    named = dict(_interfaces(session))
    gone = [one for one in reasons if isinstance(one, EngineReason) and one.kind == "port-gone"]
    there = {link.name for link in netlink.links()} if gone else set()
    return bool(gone) and all(named.get(str(one.about.get("port"))) in there for one in gone)


def _line(port: str, interface: str) -> str:
    return f"the line of `{port}` (interface `{interface}`)"


def _down(named: dict[str, str]) -> list[str]:
    """Ports whose interface has no carrier or is switched off; none if one of them is not there at all."""
    links = {link.name: link for link in netlink.links()} if named else {}
    if not set(named.values()) <= set(links):
        return []
    found = {port: links[interface] for port, interface in named.items()}
    return [port for port, link in found.items() if not link.up or link.carrier is False]


def _interfaces(session: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Ports that are interfaces of this host's kernel, each with that one's name."""
    here = (port for port in session["ports"] if "host" not in port)
    opened = [(port["name"], port["backend"].get("interface")) for port in here]
    return [(name, interface) for name, interface in opened if interface is not None]


@dataclass(frozen=True)
class _Port:
    """before: the interface when the trial began, None if there was none; of_driver: its counters then, read
    at at_ns of the monotonic clock. below: those of each interface that its frames go through."""

    name: str
    interface: str
    before: nic.Nic | None
    of_driver: dict[str, int]
    at_ns: int
    below: Mapping[str, Mapping[str, int]]


class Watch:
    """What was there when a trial began, and what became of it meanwhile. To be ended."""

    def __init__(self, session: Mapping[str, Any], waited: dict[str, int] | None = None) -> None:
        """waited: nanoseconds that the lines of some ports were waited for before."""
        self._waited = waited or {}
        self._kernel: softirq.Waits | None = None
        # What changes while they are read is reported as well, and read again at the end.
        named = dict(_interfaces(session))
        links = netlink.links() if named else []
        indexes = {link.name: link.index for link in links}
        listened = {port: indexes[one] for port, one in named.items() if one in indexes}
        self._monitor = carrier.Monitor(listened) if listened else None
        self._begun: dict[int, carrier.Change] = {}
        self._ports = [
            _Port(
                name,
                interface,
                nic.read(interface),
                nic.driver_counters(interface),
                time.monotonic_ns(),
                _counted_below(interface, links),
            )
            for name, interface in named.items()
        ]

    def started(self) -> None:
        """The trial is about to start. Waits of the kernel's threads for frames before that do not count."""
        if self._ports:
            self._kernel = softirq.Waits()

    def stopped(self) -> None:
        """The trial has ended. What they wait for from now on does not count.

        The kernel adds a wait when it is over: while one lasts, they are read later (`with_counts`).
        """
        if self._kernel is not None and not softirq.is_waiting():
            self._kernel.end()

    def begun(self) -> None:
        """Reads the interfaces when traffic has begun: opening a port may have set its interface up anew."""
        if self._ports:
            at_ns = time.monotonic_ns()
            self._begun = {link.index: carrier.Change(at_ns, link) for link in netlink.links()}

    def end(self) -> None:
        """Stops listening."""
        if self._monitor is not None:
            self._monitor.end()
        if self._kernel is not None:
            self._kernel.end()

    def with_counts(self, result: Outcome, trial: Trial, began_ns: int | None) -> Outcome:
        """The result with what the interfaces counted meanwhile, and why it is invalid if a line changed.

        began_ns: when its traffic began, monotonic clock; None: it did not. Where the trial counts carrier
        losses, those stand in the result instead.
        """
        if not self._ports:
            return result
        heard = {} if self._monitor is None else self._monitor.end()
        counting = trial.counts_carrier_losses and began_ns is not None
        # What the trial itself has the device do to a link is what it measures.
        down = {event.port for event in trial.events if event.kind == "link-down"}
        asked = {port.name for port in self._ports if down & {None, port.name}}
        found = [
            _compare(
                port,
                heard,
                self._begun,
                may_go=counting or port.name in asked,
                may_be_off=port.name in asked,
            )
            for port in self._ports
        ]
        dated = [
            CarrierLoss(
                port.name,
                one.from_ns - (began_ns or 0),
                None if one.until_ns is None else one.until_ns - (began_ns or 0),
                times=one.times,
            )
            for port, (_, reasons, losses) in zip(self._ports, found, strict=True)
            for one in losses
            if counting and not reasons and port.name not in asked
            if one.until_ns is None or one.until_ns > (began_ns or 0)
        ]
        if self._kernel is not None:
            self._kernel.end()
            waits, waited_ns = self._kernel.dated(began_ns), self._kernel.waited_ns
            result = replace(result, softirq_waited_ns=waited_ns, softirq_waits=waits)
        return replace(
            result,
            interfaces=tuple(
                replace(interface, waited_ns=self._waited.get(interface.port, 0)) for interface, _, _ in found
            ),
            carrier_losses=tuple(sorted(dated, key=lambda loss: (loss.from_ns, loss.port))),
            invalid=(*result.invalid, *(reason for _, reasons, _ in found for reason in reasons)),
        )


def _compare(
    port: _Port,
    heard: Mapping[int, Sequence[carrier.Change]],
    begun: Mapping[int, carrier.Change],
    *,
    may_go: bool,
    may_be_off: bool,
) -> tuple[InterfaceResult, list[Reason], list[carrier.Lost]]:
    """What an interface counted, why the trial is invalid, and when there was no carrier. begun: interfaces
    as they were when traffic had begun. may_go: a carrier that went makes it not invalid; may_be_off:
    nor does an interface that was switched off and on."""
    before, after = port.before, nic.read(port.interface)
    named = (port.name, port.interface)
    if before is None or after is None or before.link.index != after.link.index:
        return InterfaceResult(*named), [InterfaceGone(*named)], []
    general = counters.difference(before.link.counters, after.link.counters)
    of_driver = counters.difference(port.of_driver, nic.driver_counters(port.interface))
    reasons: list[Reason] = []
    first = carrier.Change(port.at_ns, before.link)
    # What was reported before the first reading is in it.
    changes = [one for one in heard.get(before.link.index, ()) if one.at_ns > port.at_ns]
    changes.append(carrier.Change(time.monotonic_ns(), after.link))
    downs = after.link.downs - before.link.downs
    opened = begun.get(before.link.index, first)
    anew = _set_up_anew([opened, *(one for one in changes if one.at_ns > opened.at_ns)], of_driver)
    anew += tuple(what for what in RESTARTING if getattr(before, what) != getattr(after, what))
    if not all(one.is_there for one in changes):
        reasons.append(InterfaceGone(*named))
    elif may_be_off:
        pass
    elif before.link.up and not all(one.link.up for one in changes):
        reasons.append(InterfaceSwitchedOff(*named))
    elif downs > 0 and anew:
        reasons.append(InterfaceReset(*named, anew))
    elif downs > 0 and not may_go:
        reasons.append(LinkWentDown(*named, downs))
    # A link that is down has no speed; that it went down has been reported.
    was_bps, now_bps = before.card.speed_bps, after.card.speed_bps
    if was_bps is not None and now_bps is not None and was_bps != now_bps:
        reasons.append(SpeedChanged(*named, was_bps, now_bps))
    was, now = _duplex(before), _duplex(after)
    if was is not None and now is not None and was != now:
        reasons.append(DuplexChanged(*named, was, now))
    kinds = counters.by_kind(general, of_driver)
    if after.pause is not None and not after.pause.rx:
        # Those of a class (PFC) are obeyed by a setting of their own.
        came = kinds.pop("pause received", {})
        for name, frames in came.items():
            kinds.setdefault("pause received" if "prio" in name else "pause ignored", {})[name] = frames
    if after.link.kind in FAR_END and "not sent" in kinds:
        kinds["refused by the far end"] = kinds.pop("not sent")
    if after.link.kind == "veth" and "rx_dropped" in general:
        # What found no room in the queue of a core is not among the frames that it received.
        kinds["not taken in"] = {"rx_dropped": general["rx_dropped"]}
    for interface, counted in _counted_below(port.interface, netlink.links()).items():
        moved = counters.difference(port.below.get(interface, counted), counted)
        for kind in BELOW:
            for what, frames in counters.by_kind(moved).get(kind, {}).items():
                kinds.setdefault(kind, {})[f"{interface}: {what}"] = frames
    result = InterfaceResult(*named, general, of_driver, kinds, max(downs, 0), mtu=after.link.mtu)
    return result, reasons, list(carrier.losses(first, changes))


def _counted_below(interface: str, links: Sequence[netlink.Link]) -> dict[str, Mapping[str, int]]:
    """The counters of the interfaces that send and receive the frames of one, and of their drivers."""
    upper = next((link for link in links if link.name == interface), None)
    lower = [] if upper is None else netlink.below(upper, links)
    # What a veth did not send, its far end, the device, did not take in.
    return {
        link.name: {**link.counters, **nic.driver_counters(link.name)}
        for link in lower
        if link.kind not in FAR_END
    }


def _set_up_anew(changes: Sequence[carrier.Change], of_driver: Mapping[str, int]) -> tuple[str, ...]:
    """What says that the interface lost its carrier by this machine: counters of resets, and settings whose
    change makes a driver start the card again."""
    settings: dict[str, set[object]] = {
        "mtu": {one.link.mtu for one in changes},
        "address": {one.link.mac for one in changes},
        "xdp": {(one.link.xdp, one.link.xdp_program) for one in changes},
    }
    return (
        *counters.resets(of_driver),
        *(name for name, values in settings.items() if len(values) > 1),
    )


def _duplex(card: nic.Nic) -> Literal["full", "half"] | None:
    full = card.card.full_duplex
    return None if full is None else "full" if full else "half"
