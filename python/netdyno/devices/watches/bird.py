"""What BIRD says of its neighbours, on its control socket (as `birdc` does, BIRD 2)."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from netdyno.devices.watches.adjacency import Adjacency
from netdyno.devices.watches.by_cli import RoutingDaemon
from netdyno.devices.wiring import LabError

COMMANDS = ("show ospf neighbors", "show protocols all")
MOST_TEXT = 1_000_000
"""Bytes of one answer."""

_END = re.compile(rb"^(\d{4}) ([^\n]*)\n", re.MULTILINE)
_NEIGHBOUR = re.compile(
    r"^(?P<id>[0-9.]+)\s+\d+\s+(?P<state>[\w-]+)/\S+\s+\S+\s+(?P<port>\S+)\s+(?P<address>[0-9a-fA-F.:]+)\s*$"
)
_PROTOCOL = re.compile(r"^\S+\s+(?P<kind>[A-Z]\w*)\s+\S+\s+(?P<state>up|down|start|stop)\s")
_FIELD = re.compile(r"^\s+(?P<name>BGP state|Neighbor address):\s+(?P<value>\S+)\s*$")


def read_adjacencies(text: str) -> Iterator[Adjacency]:
    """The neighbours in answers to `COMMANDS`."""
    is_bgp, state = False, ""
    for line in text.splitlines():
        if found := _NEIGHBOUR.match(line):
            yield Adjacency("OSPF", found["address"], found["state"], found["state"].lower() == "full")
        elif found := _PROTOCOL.match(line):
            is_bgp, state = found["kind"] == "BGP", ""
        elif is_bgp and (found := _FIELD.match(line)):
            if found["name"] == "BGP state":
                state = found["value"]
            else:
                yield Adjacency("BGP", found["value"], state or "Idle", state == "Established")


def read_answers(texts: Sequence[str]) -> tuple[Adjacency, ...]:
    """The neighbours in answers of `birdc`."""
    return tuple(read_adjacencies("\n".join(texts)))


BIRD = RoutingDaemon(
    name="BIRD",
    commands=tuple(f"birdc {command}" for command in COMMANDS),
    read=read_answers,
    absent=r"^Unable to connect to server control socket",
)
"""On a device that is reached by its command line."""


def ask_bird(path: Path, within_s: float) -> tuple[Adjacency, ...]:
    """The neighbours that the BIRD with this control socket has now. Raises LabError: no answer in time."""
    return tuple(dict.fromkeys(read_adjacencies("\n".join(command(path, COMMANDS, within_s)))))


def command(path: Path, commands: Sequence[str], within_s: float) -> list[str]:
    """The answers of the BIRD with this control socket. Raises LabError: no answer in time."""
    deadline = time.monotonic() + within_s
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) as control:
            control.settimeout(within_s)
            control.connect(str(path))
            _receive(control, deadline)
            texts = []
            for one in commands:
                control.sendall(f"{one}\n".encode())
                texts.append(_receive(control, deadline))
    except OSError as error:
        raise LabError(
            f"BIRD does not answer on its control socket: {error.strerror or error}",
            "look whether `bird` still runs, and at its log",
            code="device-silent",
        ) from error
    return texts


def _receive(control: socket.socket, deadline: float) -> str:
    """One answer without its codes. Raises OSError.

    Every line has a code of four digits and a hyphen, or a space in its place if it has the code of the line
    before; the last line has code and space.
    """
    found = b""
    while True:
        for end in _END.finditer(found):
            # A code and a space at the begin of a line ends the answer; continued lines begin with a space.
            if end.end() == len(found):
                return "\n".join(map(_without_code, found.decode(errors="replace").splitlines()))
        left = deadline - time.monotonic()
        if left <= 0 or len(found) > MOST_TEXT:
            raise TimeoutError("timed out")
        control.settimeout(left)
        piece = control.recv(65536)
        if not piece:
            raise ConnectionResetError("it closed the connection")
        found += piece


def _without_code(line: str) -> str:
    """The text of a line: behind `1013-`, `0000 ` or a space."""
    return line[5:] if re.match(r"\d{4}[- ]", line) else line[1:]
