"""LAGs of emulated devices: how many members they have, and the hashes that choose one for each frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netdyno.devices.reasons import HashedMembers

HASHES = ("src-dst-ip", "src-ip", "dst-ip", "l2", "l3-l4")
"""What a hash looks at (`Hash` of crates/dut/src/spec.rs)."""
ROTATED_BITS = 4
"""By which the second of two stages rotates the 8 bits of the hash, unless both hash alike."""

SETTINGS: Mapping[str, tuple[str, ...]] = {
    "members": ("1", "2", "4", "8"),
    "hash": HASHES,
    "partner_hash": HASHES,
    # The members of a port belong to so many switches: a hash chooses the switch, and the switch its member.
    "switches": ("1", "2", "4"),
    "second_hash": ("same", "rotated"),
}
"""Of devices whose ports may be LAGs, all of them alike."""


def port_fields(chosen: Mapping[str, str]) -> dict[str, Any]:
    """Fields of each port (DevicePortSpec) for these settings; ValueError if the switches cannot share."""
    members, switches = int(chosen["members"]), int(chosen["switches"])
    if members % switches:
        raise ValueError(f"`switches: {switches}` cannot share `members: {members}` evenly")
    rotated = chosen["second_hash"] == "rotated"
    if rotated and switches == 1:
        raise ValueError("`second_hash: rotated` is of members of several `switches`")
    stages = {"switches": switches, "rotate": ROTATED_BITS if rotated else 0}
    return {
        "hash": chosen["hash"],
        "partner_hash": chosen["partner_hash"],
        "stages": stages if switches > 1 else None,
    }


def note(chosen: Mapping[str, str]) -> HashedMembers:
    """How members are chosen by these settings."""
    switches = int(chosen["switches"])
    second = chosen["second_hash"] if switches > 1 else ""
    return HashedMembers(int(chosen["members"]), chosen["hash"], chosen["partner_hash"], switches, second)
