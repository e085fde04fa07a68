"""An emulated device served to other testers: in real time, each of its ports a memif or an interface."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from netdyno.devices import KINDS, LabError, LabLink
from netdyno.devices.wiring import in_words
from netdyno.errors import Problem, Problems, suggestion
from netdyno.testers.netdyno.engine import Server
from netdyno.testers.tester import TesterError
from netdyno.values.rates import FCS

MEMIF_ID = 0
"""The interface that a tester asks for at each socket: every port has a socket of its own."""

FRESH_S = 0.005
"""How often it is looked whether a served device has counted since it was asked."""
TICK_S = 1.0
"""How often a served device is looked at."""


@dataclass(frozen=True)
class Service:
    """What is served: the kind, its ports in order, and how the device is.

    ports: each with the socket it listens at, or with an interface of this machine (`on_interfaces`).
    rate_bps: L1 rate of each port's line, which the device keeps. delay_ns: fixed, from a frame's last bit
    in to its first bit out; None: the model's own, 0 if it has none. max_size: the longest frame, with FCS.
    """

    kind: str
    ports: tuple[tuple[str, str], ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    rate_bps: int = 10_000_000_000
    delay_ns: int | None = None
    core: int | None = None
    max_size: int = 1522
    on_interfaces: bool = False

    def spec(self) -> dict[str, Any]:
        """The ServeSpec of docs/interfaces.md. Raises `Problems`, all there are, where it cannot be."""
        problems: list[Problem] = []
        emulated = [name for name, kind in KINDS.items() if kind.emulated]
        if self.kind not in emulated:
            why = "is no emulated device" if self.kind in KINDS else "is no kind of device"
            problems.append(
                Problem(
                    f"`{self.kind}` {why}", suggestion(self.kind, emulated, "served are"), code="unknown-name"
                )
            )
        for what, values in (
            ("name of a port", [name for name, _ in self.ports]),
            ("interface" if self.on_interfaces else "socket", [at for _, at in self.ports]),
        ):
            twice = sorted({value for value in values if values.count(value) > 1})
            problems += [
                Problem(f"the {what} `{value}` is given twice", "each port has its own", code="given-twice")
                for value in twice
            ]
        device: dict[str, Any] = {}
        if self.kind in emulated:
            kind = KINDS[self.kind]
            if len(self.ports) not in kind.links:
                wanted = f"`{self.kind}` takes {in_words(kind.links)} ports, not {len(self.ports)}"
                option = "--interface" if self.on_interfaces else "--memif"
                problems.append(Problem(wanted, f"give `{option}` once for each port", code="missing-field"))
            for name, value in self.settings.items():
                if name not in kind.settings:
                    known = suggestion(name, kind.settings, "settings")
                    problems.append(
                        Problem(f"`{self.kind}` has no setting `{name}`", known, code="unknown-field")
                    )
                elif kind.settings[name] and value not in kind.settings[name]:
                    known = suggestion(value, kind.settings[name], "values")
                    problems.append(
                        Problem(f"`{name}` of `{self.kind}` cannot be `{value}`", known, code="out-of-range")
                    )
            if not problems:
                links = tuple(LabLink(name, name, self.rate_bps) for name, _ in self.ports)
                devices: list[dict[str, Any]] = []
                try:
                    devices = kind.wire(links, self.settings).session["devices"]
                    device = devices[0]
                except Problem as problem:
                    problems.append(problem)
                except ValueError as error:
                    problems.append(Problem(str(error), code="unsupported"))
                if len(devices) > 1:
                    several = f"`{self.kind}` is {len(devices)} devices side by side: one can be served"
                    problems.append(
                        Problem(several, "serve one of its services: `emulated/asr9006`", code="out-of-range")
                    )
        if problems:
            raise Problems(problems)
        return {
            "device": {
                "delay_ns": 0,
                **device,
                **({} if self.delay_ns is None else {"delay_ns": self.delay_ns}),
            },
            "ports": [
                {"kind": "af_packet", "interface": at}
                if self.on_interfaces
                else {"kind": "memif", "socket": at, "role": "server", "id": MEMIF_ID}
                for _, at in self.ports
            ],
            "max_frame": self.max_size - FCS,
            "core": self.core,
        }

    def addresses(self) -> list[str]:
        """Of a router's ports, in their order; empty: a port has none."""
        return [port.get("ipv4") or "" for port in self.spec()["device"]["ports"]]


def serve(
    service: Service,
    wait: Callable[[float], bool],
    duration_s: float | None,
    begun: Callable[[], None],
    each_tick: Callable[[dict[str, Any], dict[str, Any]], None],
) -> dict[str, Any]:
    """Serves until `wait` (so many seconds) says that it is time to end, or the duration is over.

    begun: called once it listens. each_tick: given how it fared before and fares now, each second. Raises
    `LabError` if a port or a core cannot be had.
    """
    try:
        served = Server(service.spec())
    except TesterError as error:
        raise LabError(error.message, error.hint, code=error.code) from error
    try:
        begun()
        passed = 0.0
        before = served.look()
        while duration_s is None or passed < duration_s:
            tick = TICK_S if duration_s is None else min(TICK_S, duration_s - passed)
            if wait(tick):
                break
            passed += tick
            now = served.look()
            each_tick(before, now)
            before = now
        return served.stop()
    finally:
        served.stop()


def answer_looks(asked: Iterable[str], answer: Callable[[str], None]) -> None:
    """Serves the ServeSpec of the first line until there are no more lines; answers each with a line of JSON.

    The counters of an answer are those of some time after its question.
    """
    lines = iter(asked)
    try:
        served = Server(json.loads(next(lines)))
    except TesterError as error:
        answer(json.dumps({"error": error.message, "hint": error.hint, "code": error.code}))
        return
    try:
        answer(json.dumps(served.look()))
        for _ in lines:
            before = found = served.look()
            gap_ns = 0
            while found["elapsed_ns"] == before["elapsed_ns"]:
                gap_ns = max(gap_ns, found["gap_ns"])
                time.sleep(FRESH_S)
                found = served.look()
            answer(json.dumps({**found, "gap_ns": max(gap_ns, found["gap_ns"])}))
    finally:
        served.stop()


def table(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Per port: frames in and out, those the device dropped, those that found no room at their tester."""
    return [
        {
            "port": port["name"],
            "rx frames": port["rx_frames"],
            "tx frames": port["tx_frames"] - spilled,
            "dropped": sum(port[name] for name in ("partner_drops", "in_drops", "both_drops", "out_drops")),
            "no room at the tester": spilled,
        }
        for port, spilled in zip(found["device"]["ports"], found["spilled"], strict=True)
    ]


ELSEWHERE = {
    "no_route": "dropped without a route or a neighbour",
    "ttl_expired": "dropped at the end of their TTL",
    "malformed": "dropped as none that it forwards",
    "unknown_vlan": "dropped with a VLAN that the port has not",
    "filtered": "not forwarded by the bridge",
    "consumed": "for the device itself, or for nobody it knows",
}
"""Counters of the whole device, by the engine's names."""


def elsewhere(found: Mapping[str, Any]) -> dict[str, int]:
    """Frames that the device neither sent nor dropped for want of room: what became of them, and how many."""
    device = found["device"]
    return {what: device[name] for name, what in ELSEWHERE.items() if device.get(name)}


def rates(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What passed between two looks, a line."""
    ns = now["elapsed_ns"] - before["elapsed_ns"]
    if ns <= 0 or not before["spilled"]:
        return "nothing yet"
    share = f"core {now['core_share_ppm'] / 10**4:.0f} %"
    ports = []
    for old, new in zip(table(before), table(now), strict=True):
        passed = {name: f"{(new[name] - old[name]) * 1000 / ns:.3f} Mpps" for name in new if name != "port"}
        ports.append(f"{new['port']}: " + ", ".join(f"{name} {rate}" for name, rate in passed.items()))
    return "; ".join([*ports, share])
