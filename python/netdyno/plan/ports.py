"""The part of a link that says what carries the tester's frames: fields, and which of them go together."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, WithJsonSchema

from netdyno.errors import Problem, as_written, suggestion
from netdyno.plan.source import Source
from netdyno.ports.backends import KERNEL

MAX_SOCKET = 107
"""Bytes of a Unix socket's name: `sun_path` has 108, one of which ends a path or begins an abstract name."""


def _socket(value: str) -> str:
    if not value.startswith(("/", "@")) or len(value) < 2 or "\0" in value:
        raise Problem(
            f"`{as_written(value)}` is not a socket",
            "a whole path, `/run/vpp/memif.sock`, or a name in the abstract namespace, `@name`",
        )
    if len(value.encode()) > MAX_SOCKET:
        raise Problem(
            f"a socket's name of {len(value.encode())} bytes is too long", f"at most {MAX_SOCKET} bytes"
        )
    return value


SocketName: TypeAlias = Annotated[
    str, AfterValidator(_socket), WithJsonSchema({"type": "string", "pattern": "^[/@].+$"})
]

MEMIF_FIELDS = ("socket", "role", "id")
XDP_FIELDS = ("attach", "mode")


def check(source: Source, raw: object, kind: Any) -> None:
    """That each link, as written, has a backend its kind of device can be reached by, and what that needs."""
    memifs: dict[tuple[str, int], int] = {}
    interfaces: dict[str, int] = {}
    for index, link in enumerate(raw if isinstance(raw, list) else ()):
        if not isinstance(link, dict):
            continue
        place = ("lab", "links", index)
        backend = link.get("backend", "af_packet")
        if _known(source, place, link, backend, kind):
            _fields(source, place, link, backend, kind)
        if backend == "memif":
            name, number = link.get("socket"), link.get("id", 0)
            if name is None:
                source.report(
                    place, "a memif has no `socket`", "`socket: /run/vpp/memif.sock` or `socket: @name`"
                )
            elif isinstance(name, str) and isinstance(number, int):
                _once(
                    source, (*place, "socket"), memifs, (name, number), index, f"memif {number} at `{name}`"
                )
        elif isinstance(interface := link.get("interface"), str):
            _once(source, (*place, "interface"), interfaces, interface, index, f"interface `{interface}`")


def _known(
    source: Source, place: tuple[str | int, ...], link: dict[str, Any], backend: object, kind: Any
) -> bool:
    known = kind.backends
    if "backend" in link and isinstance(backend, str) and backend not in known:
        if not known:
            message = f"`{kind.name}` is emulated in this process: no backend carries its frames"
            hint = "leave `backend` out"
        else:
            message = f"the ports of `{kind.name}` cannot be `{backend[:40]}`"
            hint = suggestion(backend, known)
        if backend in ("auto", "af_packet", "af_xdp", "memif"):
            source.report((*place, "backend"), message, hint)
        return False  # An unknown name is told where the fields are read.
    return isinstance(backend, str)


def _fields(
    source: Source, place: tuple[str | int, ...], link: dict[str, Any], backend: object, kind: Any
) -> None:
    """No field of another backend than the link has."""
    known = kind.backends
    if backend not in ("af_xdp", "auto"):
        for field in XDP_FIELDS:
            if field in link:
                hint = "`backend: af_xdp` has it" if "af_xdp" in known else "leave it out"
                source.report(
                    (*place, field), f"`{field}` is AF_XDP's, and this link is none", hint, key=True
                )
    if backend != "memif":
        for field in MEMIF_FIELDS:
            if field in link:
                hint = "`backend: memif` has it" if "memif" in known else "leave it out"
                source.report(
                    (*place, field), f"`{field}` is a memif's, and this link is none", hint, key=True
                )
    elif "interface" in link:
        source.report(
            (*place, "interface"),
            "a memif is no interface of this machine",
            f"leave out `interface`, or take another backend: {', '.join(f'`{name}`' for name in KERNEL)}",
            key=True,
        )


def _once(
    source: Source, place: tuple[str | int, ...], seen: dict[Any, int], what: Any, index: int, named: str
) -> None:
    if what in seen:
        line = source.position(("lab", "links", seen[what]))[0]
        source.report(
            place, f"{named} is used twice", f"the first link is in line {line}; each needs its own"
        )
    seen.setdefault(what, index)
