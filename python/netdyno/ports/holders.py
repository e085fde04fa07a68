"""Which interfaces of this machine another netdyno has open, by what the kernel says of its sockets."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROGRAM = "netdyno"
_LONGEST = 80
"""Characters of a command that are printed."""


@dataclass(frozen=True)
class Holder:
    """Another netdyno. pid: of the command itself, which has processes for its cases."""

    pid: int
    command: str


def read_holders(proc: Path = Path("/proc")) -> Mapping[int, Holder]:
    """By the index of the interface, in this network namespace; of processes that this user may look at."""
    found: dict[int, Holder] = {}
    sockets = dict(_packet_sockets(proc))
    here = _namespace(proc / "thread-self")
    for process in proc.glob("[0-9]*"):
        words = _words(process)
        if not _is_netdyno(words) or int(process.name) == os.getpid() or _namespace(process) != here:
            continue
        for index in _interfaces(process, sockets):
            found[index] = Holder(_first_of(process, words), _command(words))
    return found


def _packet_sockets(proc: Path) -> Iterator[tuple[str, int]]:
    """Packet sockets: the name that a descriptor has for each, and the interface that it is bound to."""
    with suppress(OSError):
        for line in (proc / "thread-self" / "net" / "packet").read_text().splitlines()[1:]:
            _, _, _, _, index, *_, inode = line.split()
            yield f"socket:[{inode}]", int(index)


def _interfaces(process: Path, sockets: Mapping[str, int]) -> Iterator[int]:
    """The interfaces that a process receives from: by packet sockets, or an XDP program of its own."""
    with suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with suppress(OSError, ValueError):
                name = os.readlink(descriptor)
                if name in sockets:
                    yield sockets[name]
                elif "bpf_link" in name:
                    text = (process / "fdinfo" / descriptor.name).read_text()
                    _, _, index = text.partition("ifindex:")
                    if index:
                        yield int(index.split()[0])


def _namespace(process: Path) -> str:
    with suppress(OSError):
        return os.readlink(process / "ns" / "net")
    return ""


def _words(process: Path) -> list[str]:
    with suppress(OSError):
        return (process / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    return []


def _is_netdyno(words: list[str]) -> bool:
    """`netdyno ...`, `python .../netdyno ...` or `python -m netdyno ...`."""
    return PROGRAM in [Path(word).name for word in words[:3]]


def _command(words: list[str]) -> str:
    at = [Path(word).name for word in words].index(PROGRAM)
    text = shlex.join([PROGRAM, *words[at + 1 :]])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _first_of(process: Path, words: list[str]) -> int:
    """The process that the others of a command were forked from."""
    while True:
        with suppress(OSError, IndexError):
            parent = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()[1]
            if _words(process.parent / parent) == words:
                process = process.parent / parent
                continue
        return int(process.name)
