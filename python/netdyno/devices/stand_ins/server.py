"""Serves a stand-in by SSH on the loopback: asyncssh, an extra."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netdyno.devices.extras import find_missing
from netdyno.devices.stand_ins.terminal import Terminal, Wire
from netdyno.devices.wiring import LabError

if TYPE_CHECKING:
    import asyncssh

LOOPBACK = "127.0.0.1"
STOP_S = 5.0


@dataclass(frozen=True)
class Door:
    """Where it is reached. key: its host key, as a line of `known_hosts` has it. fingerprint: of that key."""

    port: int
    key: str
    fingerprint: str

    @property
    def known_host(self) -> str:
        """The line of `known_hosts`."""
        return f"[{LOOPBACK}]:{self.port} {self.key}\n"


class _Session(Wire):
    def __init__(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        super().__init__(process.stdin)
        self._process = process

    async def put(self, text: str) -> None:
        self._process.stdout.write(text.replace("\n", "\r\n").encode())
        await self._process.stdout.drain()


@contextmanager
def serve(sessions: Callable[[], Terminal], user: str, password: str, port: int = 0) -> Iterator[Door]:
    """Serves a new session to each login until the block ends. port: 0: any.

    Raises LabError: `extra-missing`, `port-in-use`.
    """
    missing = find_missing("rehearse", "a stand-in")
    if missing is not None:
        raise missing
    import asyncssh

    class Users(asyncssh.SSHServer):
        def begin_auth(self, username: str) -> bool:
            return True

        def password_auth_supported(self) -> bool:
            return True

        def validate_password(self, username: str, password_: str) -> bool:
            # RouterOS takes settings of the terminal behind the name.
            return (username.partition("+")[0], password_) == (user, password)

    async def session(process: asyncssh.SSHServerProcess[bytes]) -> None:
        with suppress(asyncssh.Error, OSError):
            await sessions().talk(_Session(process))
        with suppress(asyncssh.Error, OSError):
            process.exit(0)

    key = asyncssh.generate_private_key("ssh-ed25519")

    async def listen() -> asyncssh.SSHAcceptor:
        return await asyncssh.create_server(
            Users,
            LOOPBACK,
            port,
            server_host_keys=[key],
            process_factory=session,
            encoding=None,
            line_editor=False,
        )

    with ExitStack() as stack:
        try:
            acceptor = stack.enter_context(listening(listen))
        except OSError as error:
            message = f"port {port} of {LOOPBACK} cannot be listened at: {error.strerror}"
            raise LabError(message, "give another port", code="port-in-use") from None
        yield Door(acceptor.get_port(), key.export_public_key().decode().strip(), key.get_fingerprint())


@contextmanager
def listening(listen: Callable[[], Awaitable[asyncssh.SSHAcceptor]]) -> Iterator[asyncssh.SSHAcceptor]:
    """A server in a thread of its own until the block ends; then its sessions are cancelled.

    listen: starts it. Raises what that raises.
    """
    opened: Future[asyncssh.SSHAcceptor] = Future()
    loop, stop = asyncio.new_event_loop(), asyncio.Event()

    async def main() -> None:
        try:
            acceptor = await listen()
        except Exception as error:
            opened.set_exception(error)
            return
        opened.set_result(acceptor)
        await stop.wait()
        acceptor.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for one in others:
            one.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    acceptor = opened.result()
    try:
        yield acceptor
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(STOP_S)
        if not thread.is_alive():
            loop.close()
