"""An SSH server on loopback with the manners of a network device's command line."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import asyncssh

USER, PASSWORD = "lab", "planted-password-7391"
PAGE = 24


class Box(Protocol):
    """What stands behind the prompt of one session."""

    banner: str
    page: int

    @property
    def prompt(self) -> str: ...
    def run(self, line: str) -> str | None:
        """The answer to a line; None ends the session."""
        ...


@dataclass
class Faults:
    """What goes wrong. Counts are lines from the begin of a session; 0: never."""

    split: int = 0
    """Bytes of a piece; answers come in so many, with `pause_s` between them."""
    pause_s: float = 0.0
    drop_in_line: int = 0
    """The session is dropped in the middle of the answer to this line."""
    silent_from_line: int = 0
    colours: bool = False
    garbage_at_line: int = 0
    never_takes: bool = False
    """No user or password is right."""


@dataclass
class Server:
    """A running server. lines: everything it was sent, by all sessions."""

    port: int = 0
    key: str = ""
    faults: Faults = field(default_factory=Faults)
    lines: list[str] = field(default_factory=list)
    sessions: int = 0
    password: str = PASSWORD

    def known_hosts(self, folder: Path) -> str:
        """A file in which this server's key is known."""
        file = folder / "known_hosts"
        file.write_text(f"[127.0.0.1]:{self.port} {self.key}\n")
        return str(file)


@contextmanager
def serve(boxes: Callable[[], Box], **options: object) -> Iterator[Server]:
    """Serves a new box to each session until the block ends."""
    server = Server()
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    class Door(asyncssh.SSHServer):
        def begin_auth(self, username: str) -> bool:
            return True

        def password_auth_supported(self) -> bool:
            return True

        def validate_password(self, username: str, password: str) -> bool:
            return not server.faults.never_takes and (username, password) == (USER, server.password)

    async def session(process: asyncssh.SSHServerProcess[bytes]) -> None:
        server.sessions += 1
        try:
            await _talk(process, boxes(), server)
        except (asyncssh.Error, OSError, ConnectionError):
            pass
        finally:
            with suppress(asyncssh.Error, OSError):
                process.exit(0)

    async def main() -> None:
        key = asyncssh.generate_private_key("ssh-ed25519")
        server.key = key.export_public_key().decode().strip()
        listener = await asyncssh.create_server(
            Door,
            "127.0.0.1",
            0,
            server_host_keys=[key],
            process_factory=session,
            encoding=None,
            line_editor=False,
            **options,
        )
        server.port = listener.get_port()
        ready.set()
        await stop.wait()
        listener.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for one in others:
            one.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    assert ready.wait(20)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(5)


async def _talk(process: asyncssh.SSHServerProcess[bytes], box: Box, server: Server) -> None:
    faults = server.faults

    async def put(text: str) -> None:
        data = text.replace("\n", "\r\n").encode()
        step = faults.split or len(data) or 1
        for at in range(0, len(data), step):
            process.stdout.write(data[at : at + step])
            if faults.split:
                await process.stdout.drain()
                await asyncio.sleep(faults.pause_s)

    await put(box.banner + _coloured(box.prompt, faults))
    number, held = 0, b""
    while piece := await process.stdin.read(4096):
        held += piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        while b"\n" in held:
            line, _, held = held.partition(b"\n")
            number += 1
            text = line.decode(errors="replace")
            server.lines.append(text)
            if faults.silent_from_line and number >= faults.silent_from_line:
                continue
            answer = box.run(text)
            if answer is None:
                return
            if answer and not answer.endswith("\n"):
                answer += "\n"
            if number == faults.garbage_at_line:
                answer = "\x00\xff\x1b[31m" * 200 + "\n" + answer
            whole = f"{text}\n{answer}"
            if number == faults.drop_in_line:
                await put(whole[: len(whole) // 2])
                await process.stdout.drain()
                process.channel.abort()
                return
            if box.page and answer.count("\n") > box.page:
                held = await _paged(process, put, text, answer, box.page, held)
            else:
                await put(whole)
            await put(_coloured(box.prompt, faults))


async def _paged(
    process: asyncssh.SSHServerProcess[bytes],
    put: Callable[[str], object],
    text: str,
    answer: str,
    page: int,
    held: bytes,
) -> bytes:
    """Prints an answer a page at a time, each begun by a key."""
    lines = answer.splitlines(keepends=True)
    await put(f"{text}\n")  # type: ignore[misc]
    for at in range(0, len(lines), page):
        await put("".join(lines[at : at + page]))  # type: ignore[misc]
        if at + page < len(lines):
            await put(" --More-- ")  # type: ignore[misc]
            key = held[:1] or await process.stdin.read(1)
            held = held[1:]
            await put("\b" * 10 + " " * 10 + "\b" * 10)  # type: ignore[misc]
            if key in (b"q", b""):
                break
    return held


def _coloured(prompt: str, faults: Faults) -> str:
    return f"\x1b[32m{prompt}\x1b[0m" if faults.colours else prompt
