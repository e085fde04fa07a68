"""What the speakers of a plan announce, and which of its prefixes test frames go to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

from netdyno.devices import addresses, routes
from netdyno.devices.peering import Bgp, Speaker
from netdyno.devices.speakers.mrt import read_table
from netdyno.devices.speakers.table import Table, make_table
from netdyno.devices.wiring import LabError
from netdyno.errors import Problem

LABS = ("100.64.0.0/10", "16.0.0.0/4", "48.0.0.0/4", "198.18.0.0/15", "fd00::/8", "2001:2::/48")
"""Networks of labs, which no table has."""
SAMPLE = 1_000
"""Prefixes that test frames go to."""


def table_of(speaker: Speaker) -> Table | None:
    """What a speaker announces; None: nothing. Raises LabError."""
    return _table(speaker.bgp) if speaker.bgp is not None and speaker.announces else None


def count_announced(bgp: Bgp) -> dict[int, int]:
    """How many routes are announced, by IP version: those of a file once it is read. Raises LabError."""
    if bgp.table:
        table = _table(bgp)
        found = {4: table.count(4), 6: table.count(6)}
    else:
        found = {4: bgp.routes, 6: bgp.routes_ipv6}
    return {version: count for version, count in found.items() if count}


@lru_cache(maxsize=4)
def _table(bgp: Bgp) -> Table:
    numbers = (bgp.own_as, bgp.peer_as)
    if bgp.table:
        table = read_table(Path(bgp.table), bgp.seed, LABS, numbers, bgp.has_ipv6)
        return table.split(bgp.withdraw, bgp.withdraw_ipv6)
    return make_table(
        *(bgp.routes, bgp.routes_ipv6, bgp.seed, bgp.withdraw, LABS, numbers), withdraw_ipv6=bgp.withdraw_ipv6
    )


def _sample(bgp: Bgp, version: int) -> tuple[str, ...]:
    if bgp.table:
        return _table(bgp).sample(SAMPLE, version)
    routes = bgp.routes_ipv6 if version == 6 else bgp.routes
    return _synthetic(version, routes, bgp.seed, bgp.withdrawn(version))


@lru_cache(maxsize=16)  # asked for with each look at a case
def _synthetic(version: int, routes: int, seed: int, withdraw: int) -> tuple[str, ...]:
    return _of_version(version, routes, seed, withdraw).sample(SAMPLE, version)


def _of_version(version: int, routes: int, seed: int, withdraw: int) -> Table:
    """The prefixes of one IP version: attributes and those of the other one take time and change nothing."""
    counts = (0, routes, seed, 0) if version == 6 else (routes, 0, seed, withdraw)
    ipv6 = withdraw if version == 6 else 0
    return make_table(*counts, LABS, has_attributes=False, withdraw_ipv6=ipv6)


@lru_cache(maxsize=4)  # asked for with each look at a case
def _whole(bgp: Bgp, version: int) -> tuple[str, ...]:
    """The prefixes of an IP version, those that test frames go to first."""
    routes = bgp.routes_ipv6 if version == 6 else bgp.routes
    if not (bgp.table or routes):
        return ()
    table = _table(bgp) if bgp.table else _of_version(version, routes, bgp.seed, bgp.withdrawn(version))
    parts = (table.ipv6, table.withdrawn_ipv6) if version == 6 else (table.ipv4, table.withdrawn)
    return tuple(dict.fromkeys(chain(_sample(bgp, version), *(part.texts() for part in parts))))


def tables_behind(speakers: Sequence[Speaker | None], version: int = 4) -> tuple[tuple[str, ...], ...]:
    """All prefixes of an IP version that are announced at each port, those of `behind_ports` first; none: no
    speaker announces any.

    Raises LabError if a file cannot be read.
    """
    found = tuple(_whole(one.bgp, version) if one and one.bgp else () for one in speakers)
    return found if any(found) else ()


def behind_ports(speakers: Sequence[Speaker | None], version: int = 4) -> tuple[tuple[str, ...], ...]:
    """The prefixes of an IP version behind each port that test frames go to, as many each; none: no speaker
    announces any.

    Behind a port without a table they are of the networks that are usually there. ValueError if a table
    cannot be made, or its file not be read.
    """
    try:
        found = [_sample(one.bgp, version) if one and one.bgp else () for one in speakers]
    except LabError as error:
        raise Problem(error.message, error.hint, code=error.code) from error
    count = max(map(len, found), default=0)
    if not count:
        return ()
    ports = len(speakers)
    networks = addresses.behind_ipv6 if version == 6 else addresses.networks_behind
    return tuple(own or routes.prefixes(networks(port, ports)[0], count) for port, own in enumerate(found))
