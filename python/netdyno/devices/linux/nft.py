"""Packet filters of a Linux router: nftables, one chain of rules for each port that has any."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from netdyno.devices.filters import Rule
from netdyno.devices.linux import device as dut
from netdyno.devices.wiring import LabError


def line(rule: Rule) -> str:
    """A rule as `nft` reads it: `ip saddr 192.0.2.1/32 ip daddr 198.19.0.0/16 drop`."""
    ends = [("saddr", rule.source), ("daddr", rule.destination)]
    matches = [f"{_family(prefix)} {end} {prefix}" for end, prefix in ends if prefix is not None]
    return " ".join([*matches, "accept" if rule.permit else "drop"])


def _family(prefix: str) -> str:
    return "ip" if ipaddress.ip_network(prefix).version == 4 else "ip6"


def table(filters: Sequence[Sequence[str]]) -> str:
    """The whole table, for `nft -f`: forwarded packets are filtered by the port they came in on."""
    return "\n".join(_table(filters)) + "\n"


def _table(filters: Sequence[Sequence[str]]) -> Iterator[str]:
    # The kernel takes a packet to its port's chain by one look-up, however many ports have one.
    filtered = [name for name, lines in zip(dut.PORTS, filters, strict=False) if lines]
    yield "table inet netdyno {"
    for name, lines in zip(dut.PORTS, filters, strict=False):
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


def install(device: dut.Device, filters: Sequence[Sequence[str]]) -> None:
    """Gives the router its filters, if it is to have any. Raises LabError where this machine cannot."""
    if not any(filters):
        return
    program = dut.tool("nft")
    with TemporaryDirectory(prefix="netdyno-") as folder:
        file = Path(folder, "filters.nft")
        file.write_text(table(filters))
        status, said = device.ask(f"{program} -f {file}")
    if status != 0:
        raise LabError(
            f"the packet filters could not be set up: `nft` said: {said.strip() or status}",
            "this kernel may lack nftables; try `sudo modprobe nf_tables`",
            code="command-failed",
        )
