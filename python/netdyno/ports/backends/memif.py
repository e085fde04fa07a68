"""Memory shared with another process on this machine: memif, as client or as server."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, WithJsonSchema

from netdyno.errors import Problem, as_written
from netdyno.ports.backends.backend import Backend, Options
from netdyno.ports.reasons import MemifLoop, SharedMemoryPort

SERVER_S = 2.0
"""A memif's server that is being started at the same moment is waited for this long, once a run."""

MAX_SOCKET = 107
"""Bytes of a Unix socket's name: `sun_path` has 108, one of which ends a path or begins an abstract name."""


def _socket(value: str) -> str:
    if not value.startswith(("/", "@")) or len(value) < 2 or "\0" in value:
        raise Problem(
            f"`{as_written(value)}` is not a socket",
            "a whole path, `/run/vpp/memif.sock`, or a name in the abstract namespace, `@name`",
            code="wrong-format",
        )
    if len(value.encode()) > MAX_SOCKET:
        raise Problem(
            f"a socket's name of {len(value.encode())} bytes is too long",
            f"at most {MAX_SOCKET} bytes",
            code="out-of-range",
        )
    return value


SocketName: TypeAlias = Annotated[
    str, AfterValidator(_socket), WithJsonSchema({"type": "string", "pattern": "^[/@].+$"})
]


class MemifOptions(Options):
    """Where the other end is, and who of the two listens there."""

    socket: SocketName | None = Field(default=None, description="Of a memif: a path, or `@name`.")
    role: Literal["client", "server"] = Field(
        default="client", description="Of a memif: who listens at the socket is the server."
    )
    id: int = Field(default=0, ge=0, le=2**32 - 1, description="Of a memif: its number at the socket.")


def _identity(written: Mapping[str, Any]) -> tuple[Any, str]:
    name, number = written.get("socket"), written.get("id", 0)
    # As text: a mistaken mapping has no hash.
    return (str(name), str(number)), f"memif {number} at `{name}`"


def explain_missing_server(options: MemifOptions) -> tuple[str, str | None] | None:
    """Why a client of a memif would not find its server: without one each case would wait for it in vain.

    Looked for and not called: DPDK 22.11's server does not survive a client that connects and says nothing.
    """
    if options.role == "server" or options.socket is None:
        return None
    deadline = time.monotonic() + SERVER_S
    while (why := _nobody_at(options.socket)) is not None and time.monotonic() < deadline:
        time.sleep(0.1)
    if why is None:
        return None
    return f"nobody listens at the memif socket `{options.socket}`: {why[0]}", why[1]


def _nobody_at(place: str) -> tuple[str, str] | None:
    """Why a socket cannot have a listener, and what to do; None where it has one, or that is unknown."""
    start = "start the device's memif server first, or take `role: server` here"
    if place.startswith("@"):
        # unix(7): an abstract name is that of a network namespace, whose sockets are all listed.
        names = [line.split()[-1] for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
        if place in names:
            return None
        return "no such name in this network namespace", start
    try:
        found = Path(place).stat()
    except OSError as error:
        return error.strerror or str(error), start
    if not stat.S_ISSOCK(found.st_mode):
        return "it is no socket", "take the path that the device's memif server listens at"
    if not os.access(place, os.W_OK):
        return "this process may not write to it", f"look at its rights and its folder's: `ls -l {place}`"
    return None


def _note(port: str, spec: Mapping[str, Any]) -> SharedMemoryPort:
    return SharedMemoryPort(port, spec["id"], spec["socket"])


def _loop(own: MemifOptions, folder: str, pair: int) -> tuple[MemifOptions, MemifOptions]:
    place = {"socket": f"{folder}/loop{pair}.sock", "id": 0}
    near, far = (own.model_copy(update={**place, "role": role}) for role in ("server", "client"))
    return near, far


BACKEND = Backend(
    name="memif",
    noun="a memif",
    whose="a memif's",
    options=MemifOptions,
    keeps_peers=True,
    needed=("socket", "`socket: /run/vpp/memif.sock` or `socket: @name`"),
    identity=_identity,
    absent=explain_missing_server,
    note=_note,
    loop=_loop,
    looped=MemifLoop,
    of_peer=frozenset(("socket", "role", "id")),
)
