"""What FRR says of its neighbours, as JSON by `vtysh` (FRR 8 and later)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netdyno.devices.watches.adjacency import Adjacency
from netdyno.devices.watches.by_cli import RoutingDaemon
from netdyno.devices.wiring import LabError

OSPF = "vtysh -c 'show ip ospf vrf all neighbor json'"
BGP = "vtysh -c 'show bgp vrf all summary json'"
_NOT_RUNNING = re.compile(r"\s*(?:ospfd|bgpd) is not running\s*")
_SHOWN = 100
"""Characters of an answer in an error."""


def read_adjacencies(texts: Sequence[str]) -> tuple[Adjacency, ...]:
    """The neighbours in the answers to `OSPF` and `BGP`. Raises LabError `not-understood`."""
    ospf, bgp = texts
    return (*_each(OSPF, ospf, _ospf), *_each(BGP, bgp, _bgp))


def _each(command: str, text: str, read: Any) -> Iterator[Adjacency]:
    """The neighbours in every VRF of an answer."""
    if _NOT_RUNNING.fullmatch(text):
        return
    try:
        for vrf, found in _table(json.loads(text)).items():
            yield from read(_table(found), "" if vrf == "default" else f" in VRF {vrf}")
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        shown = "".join(one if one.isprintable() else "?" for one in " ".join(text.split())[:_SHOWN])
        raise LabError(
            f"FRR's answer to `{command}` was not understood ({type(error).__name__}): {shown or 'empty'}",
            "enter the command by hand; netdyno reads the JSON of FRR 8 and later",
            code="not-understood",
        ) from None


def _ospf(vrf: Mapping[str, Any], where: str) -> Iterator[Adjacency]:
    for of_router in _table(vrf.get("neighbors", {})).values():
        if not isinstance(of_router, list):
            raise TypeError
        for one in of_router:
            # `Full/DR`: the state of the adjacency, and the part of the neighbour on the network.
            state = _text(_table(one)["nbrState"]).partition("/")[0]
            yield Adjacency("OSPF", _text(one["ifaceAddress"]) + where, state, state == "Full")


def _bgp(vrf: Mapping[str, Any], where: str) -> Iterator[Adjacency]:
    """A neighbour of several address families has one session."""
    families = (one for one in vrf.values() if isinstance(one, dict) and "peers" in one)
    for address, peer in (item for family in families for item in _table(family["peers"]).items()):
        state = _text(_table(peer)["state"])
        yield Adjacency("BGP", address + where, state, state == "Established")


def _table(found: Any) -> Mapping[str, Any]:
    if not isinstance(found, dict):
        raise TypeError
    return found


def _text(found: Any) -> str:
    if not isinstance(found, str) or not found or len(found) > _SHOWN:
        raise TypeError
    return found


FRR = RoutingDaemon(
    "FRR", (OSPF, BGP), read_adjacencies, absent=r"^Exiting: failed to connect to any daemons"
)
"""On a device that is reached by its command line."""
