"""What carries a port's frames, as a plan's link and as a session have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Backend: TypeAlias = Literal["auto", "af_packet", "af_xdp", "memif"]
Role: TypeAlias = Literal["client", "server"]
Attach: TypeAlias = Literal["auto", "generic", "native"]
Mode: TypeAlias = Literal["auto", "copy", "zero-copy"]

AUTO = "auto"
USUAL = "af_packet"
"""Where nothing else is asked for or known to be better."""
KERNEL: tuple[Backend, ...] = ("auto", "af_packet", "af_xdp")
"""Those that work on an interface of the kernel."""
ALL: tuple[Backend, ...] = (*KERNEL, "memif")


@dataclass(frozen=True)
class PortBackend:
    """The backend of one link.

    kind: `auto` is settled when the lab is built. socket, role, id: of a memif; the socket is a path, or a
    name in the abstract namespace written `@name`. attach, mode: of AF_XDP, where its program is in the
    receive path, and whether frames are copied.
    """

    kind: Backend = "af_packet"
    socket: str | None = None
    role: Role = "client"
    id: int = 0
    attach: Attach = "auto"
    mode: Mode = "auto"

    def spec(self, interface: str) -> dict[str, Any]:
        """The backend as a session has it (docs/interfaces.md); a memif uses no interface."""
        if self.kind == "memif":
            return {"kind": self.kind, "socket": self.socket, "role": self.role, "id": self.id}
        told = {"kind": self.kind, "interface": interface}
        asked = {"attach": self.attach, "mode": self.mode}
        return told | {name: value for name, value in asked.items() if value != "auto"}


def settled(session: Mapping[str, Any], kind: str = USUAL) -> Mapping[str, Any]:
    """The session with this backend for each port with `auto`."""
    ports = [
        {**port, "backend": _with_kind(port["backend"], kind)} if port["backend"]["kind"] == AUTO else port
        for port in session["ports"]
    ]
    return {**session, "ports": ports}


def _with_kind(backend: Mapping[str, Any], kind: str) -> dict[str, Any]:
    if kind == "af_xdp":
        return {**backend, "kind": kind}
    return {"kind": kind, "interface": backend["interface"]}
