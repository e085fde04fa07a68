"""The plan of one load between two ports, or of one search there, as text: what `send` and `ndr` run."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from netdyno.plan.source import scalar
from netdyno.values.units import L1Rate

_PLAIN = re.compile(r"[A-Za-z0-9./][A-Za-z0-9./_%-]*(?: [A-Za-z0-9./_%-]+)*")
SOURCE, SOURCE_PORT, PORT = "16.0.0.1", 1025, 12
"""Where frames to an address come from if their port has none of its own; the ports of UDP, as in T-Rex."""
SOURCE_V6 = "2001:2::1"
REVERSE = "uni-reverse"


@dataclass(frozen=True)
class QuickPort:
    """A port of the tester. options: what else its link has: interface, backend, socket, address, gateway."""

    name: str
    rate: L1Rate
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def own_address(self) -> str | None:
        """Its address without the length of its prefix."""
        address = self.options.get("address")
        return None if address is None else str(address).partition("/")[0]


@dataclass(frozen=True)
class QuickPlan:
    """What is sent, between which ports, by which method.

    kind, settings: of the device. to: the address or network that frames go to; None: the far port's own
    where there is a router, else T-Rex's addresses. vlan: of both ports.
    """

    title: str
    ports: tuple[QuickPort, QuickPort]
    method: str
    parameters: Mapping[str, Any]
    trial: Mapping[str, Any]
    kind: str = "external"
    settings: Mapping[str, str] = field(default_factory=dict)
    size: str = "64B"
    flows: int = 4096
    direction: str = "uni"
    vlan: int | None = None
    to: str | None = None

    def text(self) -> str:
        """The plan."""
        profile = self.size.replace("/", "-").replace(" ", "")
        links = (
            {"endpoints": [f"tester:{port.name}", f"dut:{end}"], "rate": _bare(port.rate), **port.options}
            for port, end in zip(self.ports, ("a", "b"), strict=True)
        )
        device = {"kind": self.kind, **({"settings": self.settings} if self.settings else {})}
        lines = (
            f"title: {quoted(self.title)}",
            "lab:",
            "  nodes:",
            "    tester: {kind: netdyno}",
            f"    dut: {flow(device)}",
            "  links:",
            *(f"    - {flow(link)}" for link in links),
            "traffic:",
            f"  {profile}: {flow(self._profile())}",
            f"matrix: {flow({'profile': [profile], 'direction': [self.direction]})}",
            f"method: {flow({self.method: self.parameters})}",
            f"trial: {flow(self.trial)}",
        )
        return "".join(f"{line}\n" for line in lines)

    @property
    def destination(self) -> str | None:
        """Where frames go: as asked, or through a router to the far port; None: T-Rex's addresses."""
        near, far = self._ways
        return self.to or (far.own_address if "gateway" in near.options else None)

    @property
    def _ways(self) -> tuple[QuickPort, QuickPort]:
        """The port that sends first, and the other one."""
        first, second = self.ports
        return (second, first) if self.direction == REVERSE else (first, second)

    def _profile(self) -> dict[str, Any]:
        profile: dict[str, Any] = {"size": self.size, "flows": self.flows}
        if self.destination is None:
            return profile | ({} if self.vlan is None else {"vlan": self.vlan})
        network = ipaddress.ip_network(self.destination, strict=False)
        source = self._ways[0].own_address or (SOURCE if network.version == 4 else SOURCE_V6)
        if network.num_addresses > 1:
            ends = self._written(str(ipaddress.ip_network(source)), str(network))
            profile |= {"ip": network.version, "addresses": {"source": ends[0], "destination": ends[1]}}
            return profile | ({} if self.vlan is None else {"vlan": self.vlan})
        # To a single address flows differ in their ports alone.
        step = {"step": {"start": SOURCE_PORT, "step": 1, "count": self.flows}}
        tags = [] if self.vlan is None else [{"type": "vlan", "vid": self.vlan}]
        ends = self._written(source, self.destination.partition("/")[0])
        ip = {"type": f"ipv{network.version}", "src": ends[0], "dst": ends[1]}
        udp = {"type": "udp", "sport": step if self.flows > 1 else SOURCE_PORT, "dport": PORT}
        return profile | {"headers": [{"type": "ethernet"}, *tags, ip, udp]}

    def _written(self, source: str, destination: str) -> tuple[str, str]:
        """Source and destination of a profile, whose addresses are swapped in what the second port sends."""
        return (destination, source) if self.direction == REVERSE else (source, destination)


def link_addresses(via: str | None, own: str | None, on_interface: Sequence[str]) -> dict[str, str]:
    """The gateway and the tester's address of a link, as far as there are any.

    The address is the one given, else the interface's in the network of the gateway, else the other host of
    that: of a /30 or /31 unless the gateway has a length. Without a gateway it is the interface's first.
    """
    if via is None:
        address = own or next((one for one in on_interface if ":" not in one), None)
        return {} if address is None else {"address": address}
    gateway, _, length = via.partition("/")
    of = ipaddress.ip_address(gateway)
    there = (one for one in on_interface if of in ipaddress.ip_interface(one).network)
    return {"address": own or next(there, None) or _other_host(gateway, length), "gateway": gateway}


def _other_host(gateway: str, length: str) -> str:
    short, shortest = (126, 127) if ":" in gateway else (30, 31)
    is_alone = not length or int(length) > shortest
    for bits in [short, shortest] if is_alone else [int(length)]:
        network = ipaddress.ip_interface(f"{gateway}/{bits}").network
        hosts = [str(host) for host in islice(network.hosts(), 3)]
        # The ends of a /30 are no hosts: then it is a /31.
        if gateway in hosts or not is_alone:
            break
    return f"{next(host for host in hosts if host != gateway)}/{bits}"


def _bare(rate: L1Rate) -> str:
    return str(rate).removesuffix(" L1")


def flow(value: Any) -> str:
    """A value as YAML in one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(name)}: {flow(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and scalar(value) == value:
        return value
    return quoted(value)


def quoted(value: Any) -> str:
    # Beyond the BMP an escape is two halves in JSON, which YAML has not.
    return json.dumps(value, ensure_ascii=False)
