"""The part of a link that says what carries the tester's frames: fields, and which of them go together."""

from __future__ import annotations

from typing import Any

from netdyno.errors import suggestion
from netdyno.plan.source import Source
from netdyno.ports.backends import ALL, BACKENDS, KERNEL, OWNER, USUAL, options_of


def check(source: Source, raw: object, kind: Any) -> None:
    """That each link, as written, has a backend its kind of device can be reached by, and what that needs."""
    taken: dict[Any, int] = {}
    interfaces: dict[str, int] = {}
    for index, link in enumerate(raw if isinstance(raw, list) else ()):
        if not isinstance(link, dict):
            continue
        place = ("lab", "links", index)
        backend = link.get("backend", USUAL)
        if _known(source, place, link, backend, kind):
            _fields(source, place, link, backend, kind)
        own = BACKENDS.get(backend) if isinstance(backend, str) else None
        if own is not None and not own.on_interface:
            if own.needed is not None and link.get(own.needed[0]) is None:
                source.report(
                    place, f"{own.noun} has no `{own.needed[0]}`", own.needed[1], code="missing-field"
                )
            elif own.identity is not None:
                what, named = own.identity(link)
                field = () if own.needed is None else (own.needed[0],)
                _once(source, (*place, *field), taken, what, index, named)
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
        if backend in ALL:
            source.report((*place, "backend"), message, hint, code="unsupported")
        return False  # An unknown name is reported where the fields are read.
    return isinstance(backend, str)


def _fields(
    source: Source, place: tuple[str | int, ...], link: dict[str, Any], backend: str, kind: Any
) -> None:
    """No field of another backend than the link has."""
    known = kind.backends
    may = options_of(backend) if backend in ALL else frozenset(OWNER)
    for field, owner in OWNER.items():
        if field in link and field not in may:
            hint = f"`backend: {owner.name}` has it" if owner.name in known else "leave it out"
            source.report(
                (*place, field),
                f"`{field}` is {owner.whose}, and this link is none",
                hint,
                key=True,
                code="unknown-field",
            )
    own = BACKENDS.get(backend)
    if own is not None and not own.on_interface and "interface" in link:
        source.report(
            (*place, "interface"),
            f"{own.noun} is no interface of this machine",
            f"leave out `interface`, or take another backend: {', '.join(f'`{name}`' for name in KERNEL)}",
            key=True,
            code="conflict",
        )


def _once(
    source: Source, place: tuple[str | int, ...], seen: dict[Any, int], what: Any, index: int, named: str
) -> None:
    if what in seen:
        line = source.position(("lab", "links", seen[what]))[0]
        source.report(
            place,
            f"{named} is used twice",
            f"the first link is in line {line}; each needs its own",
            code="given-twice",
        )
    seen.setdefault(what, index)
