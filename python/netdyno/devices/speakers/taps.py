"""VLANs of a port as interfaces of a speaker, beside traffic and on kernels without an 802.1Q driver."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netdyno.devices.wiring import LabError, Subinterface


@dataclass(frozen=True)
class Carried:
    """Control frames between an interface and its TAPs.

    up: to the TAPs. down: from them. dropped: of either, lost on the way.
    """

    up: int
    down: int
    dropped: int


class Taps:
    """A TAP interface for each VLAN of an interface; the engine carries their control frames.

    ARP, neighbor discovery, OSPF, BGP, BFD, and ICMP to the VLANs' addresses come up; everything goes down.
    """

    def __init__(self, interface: str, vlans: Sequence[Subinterface], pid: int, mac: str) -> None:
        """Makes the TAPs, up and without addresses, in the network namespace of a process.

        interface: of this thread's namespace. mac: of all TAPs; the port's, so that the device sees one
        station.
        Raises LabError: of code `no-tap` if the system gives no TAP interfaces.
        """
        from netdyno import _engine

        sys.audit("netdyno.real_time")
        self.names = tuple(name_tap(one) for one in vlans)
        spec = {
            "interface": interface,
            "namespace": f"/proc/{pid}/ns/net",
            "mac": mac,
            "taps": [_spec(one) for one in vlans],
        }
        try:
            self._taps = _engine.Taps(json.dumps(spec))
        except _engine.EngineError as refusal:
            raise LabError(str(refusal), refusal.hint, code=refusal.code) from refusal

    def carried(self) -> Carried:
        """Returns what was carried so far."""
        return Carried(**json.loads(self._taps.carried()))

    def close(self) -> None:
        """Removes the TAPs. Safe to call twice."""
        self._taps.close()

    def __enter__(self) -> Taps:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def name_tap(vlan: Subinterface) -> str:
    """Returns the name of a VLAN's TAP: `v100`, `v100.20`."""
    return f"v{vlan.name}"


def _spec(vlan: Subinterface) -> dict[str, Any]:
    """As a TapsSpec has it (crates/session/src/taps.rs)."""
    addresses = [one for one in (vlan.address, vlan.ipv6) if one]
    tags = [{"vid": vid, "tpid": tpid} for vid, tpid in vlan.tags]
    return {"name": name_tap(vlan), "tags": tags, "addresses": addresses}
