"""A RouterOS API server on loopback, by the published protocol: sentences of words with their length.

https://help.mikrotik.com/docs/spaces/ROS/pages/47579160/API
"""

from __future__ import annotations

import hashlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

USER, PASSWORD = "lab", "planted-password-7391"
CHALLENGE = "a1b2c3d4e5f60718293a4b5c6d7e8f90"
Row = Mapping[str, str]


@dataclass
class Router:
    """A router. tables: the rows of each print command, as functions, so that counters move.

    old: its login is that of before version 6.43. faults: what it does at a command in place of an answer.
    """

    tables: dict[str, Callable[[], Sequence[Row]]]
    old: bool = False
    never_takes: bool = False
    faults: dict[str, bytes | str] = field(default_factory=dict)
    asked: list[tuple[str, ...]] = field(default_factory=list)
    logins: int = 0
    port: int = 0


def word(text: str | bytes) -> bytes:
    """A word with its length in one to five bytes."""
    data = text if isinstance(text, bytes) else text.encode()
    size = len(data)
    if size < 0x80:
        return bytes((size,)) + data
    if size < 0x4000:
        return (size | 0x8000).to_bytes(2, "big") + data
    return (size | 0xC00000).to_bytes(3, "big") + data


def sentence(*words: str) -> bytes:
    return b"".join(map(word, words)) + b"\0"


def read_sentence(stream: socket.socket) -> tuple[str, ...]:
    words: list[str] = []
    while True:
        size = _exactly(stream, 1)[0]
        if size >= 0xC0:
            size = (size & 0x1F) << 16 | int.from_bytes(_exactly(stream, 2), "big")
        elif size >= 0x80:
            size = (size & 0x3F) << 8 | _exactly(stream, 1)[0]
        if not size:
            return tuple(words)
        words.append(_exactly(stream, size).decode())


def _exactly(stream: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = stream.recv(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def _attributes(words: Sequence[str]) -> dict[str, str]:
    return dict(one[1:].split("=", 1) for one in words if one.startswith("="))


def _converse(router: Router, stream: socket.socket) -> None:
    is_in = False
    while True:
        command, *words = read_sentence(stream)
        router.asked.append((command, *words))
        fault = router.faults.get(command)
        if fault == "silent":
            time.sleep(30)
        elif fault == "hang up":
            return
        elif isinstance(fault, bytes):
            stream.sendall(fault)
        elif command == "/login":
            answer = _login(router, _attributes(words))
            is_in = answer == sentence("!done")
            stream.sendall(answer)
        elif not is_in:
            stream.sendall(sentence("!fatal", "not logged in"))
            return
        elif command not in router.tables:
            stream.sendall(sentence("!trap", "=message=no such command prefix") + sentence("!done"))
        else:
            _answer(router.tables[command](), words, stream)


def _login(router: Router, given: Mapping[str, str]) -> bytes:
    refused = sentence("!trap", "=message=invalid user name or password (6)") + sentence("!done")
    if router.never_takes:
        return refused
    if router.old and "response" not in given:
        return sentence("!done", f"=ret={CHALLENGE}")
    if router.old:
        digest = hashlib.md5(b"\0" + PASSWORD.encode() + bytes.fromhex(CHALLENGE)).hexdigest()
        right = given["response"] == f"00{digest}"
    else:
        right = given.get("password") == PASSWORD
    if not right or given.get("name") != USER:
        return refused
    router.logins += 1
    return sentence("!done")


def _answer(rows: Sequence[Row], words: Sequence[str], stream: socket.socket) -> None:
    wanted = dict(one[1:].split("=", 1) for one in words if one.startswith("?"))
    for row in rows:
        if all(row.get(name) == value for name, value in wanted.items()):
            stream.sendall(sentence("!re", *(f"={name}={value}" for name, value in row.items())))
    stream.sendall(sentence("!done"))


@contextmanager
def serving(router: Router, tls: ssl.SSLContext | None = None) -> Iterator[Router]:
    """Serves the router until the block ends."""
    listener = socket.create_server(("127.0.0.1", 0))
    router.port = listener.getsockname()[1]
    streams: list[socket.socket] = []

    def talk(plain: socket.socket) -> None:
        with suppress(OSError, EOFError, ValueError):
            stream = plain if tls is None else tls.wrap_socket(plain, server_side=True)
            streams.append(stream)
            with stream:
                _converse(router, stream)

    def accept() -> None:
        with suppress(OSError):
            while True:
                plain, _ = listener.accept()
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                streams.append(plain)
                threading.Thread(target=talk, args=(plain,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield router
    finally:
        # Closing alone leaves the thread waiting, on a number that the next listener gets.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for stream in streams:
            with suppress(OSError):
                stream.close()
