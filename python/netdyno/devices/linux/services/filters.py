"""Packet filters of a Linux router: nftables, one chain of rules for each port that has any."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from netdyno.devices import filters
from netdyno.devices.kind import Program
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import leftovers
from netdyno.devices.linux.services.service import Installed, Lab, Service
from netdyno.devices.wiring import LabError, Wiring

NFT = Program("nft", "nftables", "a Linux router filters packets with it")


@dataclass(frozen=True)
class Filters(Service):
    """Rules on what comes in from each port, as `devices.filters` has them."""

    def wire(self, wiring: Wiring, value: str) -> Wiring:
        rules = filters.rules_behind(value, len(wiring.ports))
        return replace(wiring, filters=tuple(tuple(line(rule) for rule in of_port) for of_port in rules))

    @contextmanager
    def install(self, lab: Lab) -> Iterator[Installed]:
        load(lab.device, table(lab.wiring.filters))
        yield Installed()


SERVICE = Filters(filters.SETTING, programs=(NFT,))


def load(device: dut.Device, rules: str) -> None:
    """Adds rules, as `nft -f` reads them; they go with the namespace. Raises LabError."""
    program = dut.tool(NFT)
    with leftovers.own_folder("nft") as folder:
        file = folder / "rules.nft"
        file.write_text(rules)
        status, said = device.ask(f"{program} -f {file}")
    if status != 0:
        raise LabError(
            f"the device's rules could not be set up: `nft` said: {said.strip() or status}",
            "this kernel may lack nftables; try `sudo modprobe nf_tables`",
            code="command-failed",
        )


def line(rule: filters.Rule) -> str:
    """A rule as `nft` reads it: `ip saddr 192.0.2.1/32 ip daddr 198.19.0.0/16 drop`."""
    ends = [("saddr", rule.source), ("daddr", rule.destination)]
    matches = [f"{_family(prefix)} {end} {prefix}" for end, prefix in ends if prefix is not None]
    return " ".join([*matches, "accept" if rule.permit else "drop"])


def _family(prefix: str) -> str:
    return "ip" if ipaddress.ip_network(prefix).version == 4 else "ip6"


def table(lines: Sequence[Sequence[str]]) -> str:
    """The whole table, for `nft -f`: forwarded packets are filtered by the port they came in on."""
    return "\n".join(_table(lines)) + "\n"


def _table(of_ports: Sequence[Sequence[str]]) -> Iterator[str]:
    # The kernel takes a packet to its port's chain by one look-up, however many ports have one.
    filtered = [name for name, lines in zip(dut.PORTS, of_ports, strict=False) if lines]
    yield "table inet netdyno {"
    for name, lines in zip(dut.PORTS, of_ports, strict=False):
        if lines:
            yield f"  chain from_{name} {{"
            yield from (f"    {one}" for one in lines)
            yield "  }"
    jumps = ", ".join(f'"{name}" : jump from_{name}' for name in filtered)
    yield "  chain forward {"
    yield "    type filter hook forward priority 0; policy accept;"
    yield f"    iifname vmap {{ {jumps} }}"
    yield "  }"
    yield "}"
