"""When two kinds of traffic are the same work for a tester."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from netdyno.plan.matrix import streams

if TYPE_CHECKING:
    from netdyno.devices.wiring import Wiring
    from netdyno.plan.matrix import Case

VERSION = 1
"""Changes when the engine's work for the same frames does."""


def key(case: Case, wiring: Wiring, *, verify: bool) -> str:
    """The key by which the traffic of a calibration and of a case are compared.

    Sizes with their weights, the number of flows, the length of bursts, the kinds of headers with the
    fields that vary, the directions, and whether checksums are verified. Not the addresses: another address
    is the same work. Of more ports than two, of several port groups, or of one host of several, also who
    sends how much to whom; of a host, which ports are its own.

    wiring: with the ports alone that the case opens.
    """
    case = with_load(case)
    profile = case.profile
    what = {
        "version": VERSION,
        "sizes": [list(pair) for pair in profile.mix.weights],
        "flows": profile.flows,
        "headers": [_header(header.model_dump(mode="json")) for header in profile.stack],
        "direction": case.direction,
        "verify": verify,
    }
    if not profile.probe:
        what["probe"] = False
    if profile.writes:
        what["writes"] = [
            [write.at, write.bytes, isinstance(write.value, dict) and next(iter(write.value))]
            for write in profile.writes
        ]
    if profile.payload:
        what["payload"] = len(profile.payload)
    if not case.profile.arrival.is_even:
        what["arrival"] = case.profile.arrival.spec()
    if case.profile.burst > 1:
        what["burst"] = case.profile.burst
    if any(one.rate is not None or one.own.keys() - {"addresses"} for one in profile.classes.values()):
        what["classes"] = [
            one.model_dump(mode="json", exclude={"dscp", "pcp", "addresses", "headers"}, exclude_none=True)
            | {"headers": [_header(header.model_dump(mode="json")) for header in one.headers or ()]}
            for one in profile.classes.values()
        ]
    if wiring.share_of is not None or len(wiring.own.ports) > 2 or len(case.groups) > 1:
        # A modifier's frames take the place of some of these, as between two ports.
        places = [stream.place for stream in streams(replace(case, choices=()), wiring.lab)]
        what["ways"] = [[place.tx, place.rx, str(place.share)] for place in places]
    if wiring.share_of is not None:
        what["share"] = list(wiring.numbers)
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]


def with_load(case: Case) -> Case:
    """A case whose frames are of a load that a calibration chooses, where its classes send by themselves."""
    return replace(case, profile=case.profile.with_even_shares()) if case.profile.sends_by_itself else case


def name(case: Case) -> str:
    """For people: `64b / bidir`."""
    return f"{case.profile_name} / {case.direction}"


def pick_distinct(cases: Iterable[Case], wiring: Wiring, *, verify: bool) -> list[Case]:
    """One case of each traffic, in the order they first come. wiring: as in `key`."""
    found: dict[str, Case] = {}
    for case in cases:
        found.setdefault(key(case, wiring, verify=verify), with_load(case))
    return list(found.values())


def _header(table: dict[str, Any]) -> list[str]:
    """Its type, and each field that differs from flow to flow with the way it does."""
    varied = sorted(
        f"{field}:{next(iter(how))}" for field, how in table.items() if isinstance(how, dict) and how
    )
    return [str(table["type"]), *varied]
