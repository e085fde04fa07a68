"""An SSH server on loopback with the manners of a network device's command line."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import asyncssh
from asyncssh import import_public_key
from netdyno.devices.configure.locks import FOLDER, Identity, shared_path
from netdyno.devices.stand_ins.server import listening
from netdyno.devices.stand_ins.terminal import PAGE, Terminal, Wire

USER, PASSWORD = "lab", "planted-password-7391"
LINES = ("drop_in_line", "garbage_at_line", "silent_from_line")
"""Faults that are at a line."""
HIDDEN = "***"
"""Stands in `Server.lines` for what was typed at a password prompt."""


class Box(Protocol):
    """What stands behind one session."""

    async def talk(self, process: asyncssh.SSHServerProcess[bytes], server: Server) -> None:
        """Answers until the session ends."""
        ...


@dataclass
class Faults:
    """What goes wrong. Counts are lines from the begin of a session; 0: never. -1: the next line."""

    split: int = 0
    """Bytes of a piece; answers come in so many, with `pause_s` between them."""
    pause_s: float = 0.0
    drop_in_line: int = 0
    """A session is dropped in the middle of the answer to this line, once."""
    drop_at: str = ""
    """The same, at the first line that holds this."""
    waits_at: str = ""
    """The answer to the first line that holds this waits for `Server.release`."""
    silent_from_line: int = 0
    lost_after: int = 0
    """After so many lines of all sessions together nothing is answered any more."""
    colours: bool = False
    garbage_at_line: int = 0
    never_takes: bool = False
    """No user or password is right."""
    always_pages: bool = False
    """A user who may not turn paging off."""


@dataclass
class Server:
    """A running server. lines: everything it was sent, by all sessions."""

    port: int = 0
    key: str = ""
    faults: Faults = field(default_factory=Faults)
    lines: list[str] = field(default_factory=list)
    sessions: int = 0
    password: str = PASSWORD
    waiting: threading.Event = field(default_factory=threading.Event)
    """Set while an answer waits: what the line was to do is not done yet."""

    def release(self) -> None:
        """Lets the answer that waits come."""
        self.waiting.clear()

    async def wait_at(self, line: str) -> None:
        """Waits at the line that `Faults.waits_at` names."""
        if self.faults.waits_at and self.faults.waits_at in line:
            self.faults.waits_at = ""
            self.waiting.set()
            while self.waiting.is_set():
                await asyncio.sleep(0.005)

    def takes(self, number: int, line: str) -> Faults:
        """The faults at a line, counted from the begin of its session."""
        found = self.faults
        for name in LINES:
            if getattr(found, name) == -1:
                setattr(found, name, number)
        if found.drop_at and found.drop_at in line:
            found.drop_at, found.drop_in_line = "", number
        return found

    @property
    def identity(self) -> Identity:
        """It as a device without a driver, known by its key."""
        return Identity("", "127.0.0.1", self.port, key=import_public_key(self.key).get_fingerprint())

    def known_hosts(self, folder: Path) -> str:
        """A file in which this server's key is known."""
        file = folder / "known_hosts"
        file.write_text(f"[127.0.0.1]:{self.port} {self.key}\n")
        return str(file)


@contextmanager
def serve(boxes: Callable[[], Box | Terminal], **options: object) -> Iterator[Server]:
    """Serves a new box to each session until the block ends."""
    server = Server()

    class Door(asyncssh.SSHServer):
        def begin_auth(self, username: str) -> bool:
            return True

        def password_auth_supported(self) -> bool:
            return True

        def validate_password(self, username: str, password: str) -> bool:
            # RouterOS takes settings of the terminal behind the name.
            name = username.partition("+")[0]
            return not server.faults.never_takes and (name, password) == (USER, server.password)

    async def session(process: asyncssh.SSHServerProcess[bytes]) -> None:
        server.sessions += 1
        try:
            box = boxes()
            if isinstance(box, Terminal):
                await box.talk(Seen(process, server))
            else:
                await box.talk(process, server)
        except (asyncssh.Error, OSError, ConnectionError):
            pass
        finally:
            # One that was silent until the server ended has no loop any more.
            with suppress(asyncssh.Error, OSError, RuntimeError):
                process.exit(0)

    key = asyncssh.generate_private_key("ssh-ed25519")
    server.key = key.export_public_key().decode().strip()

    async def listen() -> asyncssh.SSHAcceptor:
        return await asyncssh.create_server(
            Door,
            "127.0.0.1",
            0,
            server_host_keys=[key],
            process_factory=session,
            encoding=None,
            line_editor=False,
            **options,
        )

    with listening(listen) as acceptor:
        server.port = acceptor.get_port()
        try:
            yield server
        finally:
            # Nobody will reach this device again.
            for lock in (*FOLDER.glob(f"netdyno-*-{server.port}-*.lock"), shared_path(server.identity)):
                lock.unlink(missing_ok=True)


class Seen(Wire):
    """A session of a command line, with the server's faults."""

    def __init__(self, process: asyncssh.SSHServerProcess[bytes], server: Server) -> None:
        super().__init__(process.stdin)
        self.process, self.server = process, server
        self.put_pieces = Pieces(process, server.faults)

    @property
    def page(self) -> int:  # type: ignore[override]
        """Of a user who may not turn paging off."""
        return PAGE if self.server.faults.always_pages else 0

    async def put(self, text: str) -> None:
        """As `Wire`."""
        await self.put_pieces(text)

    async def hears(self, number: int, line: str, *, is_hidden: bool) -> bool:
        """As `Wire`."""
        self.server.lines.append(HIDDEN if is_hidden else line)
        await self.server.wait_at(line)
        faults = self.put_pieces.faults = self.server.takes(number, line)
        is_lost = 0 < faults.lost_after < len(self.server.lines)
        return not (is_lost or (faults.silent_from_line and number >= faults.silent_from_line))

    async def answers(self, number: int, echo: str, answer: str) -> str:
        """As `Wire`."""
        faults = self.server.faults
        if number == faults.garbage_at_line:
            answer = "\x00\xff\x1b[31m" * 200 + "\n" + answer
        if number == faults.drop_in_line:
            faults.drop_in_line = 0
            await self.put(f"{echo}\n{answer}"[: len(f"{echo}\n{answer}") // 2])
            await self.process.stdout.drain()
            self.process.channel.abort()
            raise ConnectionError
        return re.sub(r"(?m)^( *)(\S+)", "\\1\x1b[36m\\2\x1b[0m", answer) if faults.colours else answer

    def prompts(self, prompt: str) -> str:
        """As `Wire`."""
        return f"\x1b[32m{prompt}\x1b[0m" if self.server.faults.colours else prompt


@dataclass
class Pieces:
    """Prints to a session, whole or in pieces."""

    process: asyncssh.SSHServerProcess[bytes]
    faults: Faults

    async def __call__(self, text: str) -> None:
        await self.write(text.replace("\n", "\r\n").encode())

    async def write(self, data: bytes) -> None:
        """The same for bytes, as they are."""
        step = self.faults.split or len(data) or 1
        for at in range(0, len(data), step):
            self.process.stdout.write(data[at : at + step])
            if self.faults.split:
                await self.process.stdout.drain()
                await asyncio.sleep(self.faults.pause_s)
