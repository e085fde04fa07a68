"""What carries a port's frames: the table of backends, and the backend of one link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import create_model

from netdyno.ports.backends.backend import Backend as Backend
from netdyno.ports.backends.backend import Options as Options
from netdyno.ports.nic import Nic
from netdyno.ports.nic.fit import Fit, Rights
from netdyno.values.table import load_table

MODULES = (
    "af_packet",
    "af_xdp",
    "memif",
)
"""Each has its backend as `BACKEND`. In the order in which `backend: auto` prefers them."""

BACKENDS: Mapping[str, Backend] = {
    backend.name: backend for backend in load_table(__name__, "BACKEND", Backend, MODULES)
}
"""Every backend, by the name a plan uses."""

AUTO = "auto"
USUAL = BACKENDS["af_packet"].name
"""Where nothing else is asked for or known to be better."""
KERNEL = (AUTO, *(one.name for one in BACKENDS.values() if one.on_interface))
"""Those that work on an interface of the kernel."""
LOOPS = tuple(one.name for one in BACKENDS.values() if one.loop is not None)
"""Those of which two ports can be joined with each other, without an interface."""
RING = "ring"
"""Ports that are joined inside this process. No plan names it, as no device can be in between."""
ALL = (AUTO, *BACKENDS)

OPTIONS: Mapping[str, Any] = {
    name: (found.annotation if not found.metadata else found.rebuild_annotation(), found)
    for backend in BACKENDS.values()
    for name, found in backend.options.model_fields.items()
}
"""The options of all backends as fields of a pydantic model: type and default."""

OWNER: Mapping[str, Backend] = {
    name: backend for backend in BACKENDS.values() for name in backend.options.model_fields
}
"""Whose option it is."""


def options_of(kind: str) -> frozenset[str]:
    """Names of the options a link of this backend may have; of `auto`, those of any that it may become."""
    able = (
        [one for one in BACKENDS.values() if one.usual_fps is not None] if kind == AUTO else [BACKENDS[kind]]
    )
    return frozenset(name for one in able for name in one.options.model_fields)


_AUTO_OPTIONS = create_model(
    "AutoOptions", __base__=Options, **{name: OPTIONS[name] for name in sorted(options_of(AUTO))}
)


def options_model(kind: str) -> type[Options]:
    """The model of a backend's options."""
    return _AUTO_OPTIONS if kind == AUTO else BACKENDS[kind].options


@dataclass(frozen=True)
class PortBackend:
    """The backend of one link. kind: `auto` is settled when the lab is built."""

    kind: str = USUAL
    options: Options = field(default_factory=Options)

    @classmethod
    def of(cls, kind: str, **options: Any) -> PortBackend:
        """A backend with these options, and others at their defaults."""
        return cls(kind, options_model(kind)(**options))

    def spec(self, interface: str) -> dict[str, Any]:
        """The backend as a session has it (docs/interfaces.md)."""
        if self.kind == AUTO:
            return {"kind": AUTO, "interface": interface, **self.options.model_dump(exclude_defaults=True)}
        return BACKENDS[self.kind].spec(self.options, interface)


def with_backend(session: Mapping[str, Any], kind: str = USUAL) -> Mapping[str, Any]:
    """The session with this backend for each port with `auto`."""
    ports = [
        {**port, "backend": _with_kind(port["backend"], kind)} if port["backend"]["kind"] == AUTO else port
        for port in session["ports"]
    ]
    return {**session, "ports": ports}


def _with_kind(backend: Mapping[str, Any], kind: str) -> dict[str, Any]:
    own = {name: value for name, value in backend.items() if name in options_of(kind)}
    return {"kind": kind, "interface": backend["interface"], **own}


def fits(card: Nic, may: Rights) -> tuple[Fit, ...]:
    """Whether an interface can take each backend that works on one."""
    return tuple(one.fit(card, may) for one in BACKENDS.values() if one.fit is not None)
