"""A synthetic table (stand-in until the real one)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from netdyno.devices import addresses
from netdyno.devices import routes as behind
from netdyno.devices.peering import Speaker


@dataclass(frozen=True)
class Table:
    ipv4: tuple[str, ...]
    withdrawn: tuple[str, ...]
    ipv6: tuple[str, ...]

    def sample(self, count: int, version: int = 4) -> tuple[str, ...]:
        every = self.withdrawn or self.ipv4
        return tuple(random.Random(1).sample(every, min(count, len(every))))

    def write_bird(self, folder: Path) -> str:
        said = []
        for name, family, prefixes in (
            ("table4", "ipv4", self.ipv4),
            ("withdrawn4", "ipv4", self.withdrawn),
            ("table6", "ipv6", self.ipv6),
        ):
            file = folder / f"{name}.conf"
            file.write_text("".join(f"route {one} blackhole;\n" for one in prefixes))
            said.append(f'protocol static {name} {{\n  {family};\ninclude "{file}";\n}}')
        return "\n".join(said)

    def count(self, version: int) -> int:
        return len(self.ipv6) if version == 6 else len(self.ipv4) + len(self.withdrawn)


@lru_cache(maxsize=8)
def make_table(
    routes: int, routes_ipv6: int, seed: int, withdraw: int = 0, avoid: Sequence[str] = ()
) -> Table:
    every = behind.prefixes("80.0.0.0/4", routes)
    return Table(
        every[withdraw:], every[:withdraw], behind.prefixes("2a00::/12", routes_ipv6) if routes_ipv6 else ()
    )


LABS = ("100.64.0.0/10", "16.0.0.0/4", "48.0.0.0/4", "198.18.0.0/15")
"""Networks of labs, which no table has."""
SAMPLE = 1_000
"""Prefixes that test frames go to."""


def table_of(speaker: Speaker) -> Table | None:
    """What a speaker announces; None: nothing."""
    bgp = speaker.bgp
    if bgp is None or not speaker.announces:
        return None
    return make_table(bgp.routes, bgp.routes_ipv6, bgp.seed, bgp.withdraw, LABS)


def behind_ports(speakers: Sequence[Speaker | None]) -> tuple[tuple[str, ...], ...]:
    """The prefixes behind each port that test frames go to, as many each; none: no speaker announces any.

    Behind a port without a table they are of the networks that are usually there.
    """
    tables = [speaker and table_of(speaker) for speaker in speakers]
    found = [table.sample(SAMPLE) if table else () for table in tables]
    count = max(map(len, found), default=0)
    if not count:
        return ()
    ports = len(speakers)
    return tuple(
        own or behind.prefixes(addresses.networks_behind(port, ports)[0], count)
        for port, own in enumerate(found)
    )
