"""A real shell behind SSH; in a network namespace of its own its ports are cables that lead nowhere.

Its `ip`, `sysctl` and `grep` are this machine's. What the kernel counts is replaced by files that an emulated
device moves, at the places where the kernel has them.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import asyncssh
from netdyno.devices.configure.ipprinted import RUNNING
from netdyno.devices.drivers.linux import DRIVER
from netdyno.devices.shell import Shell
from netdyno.devices.stand_ins.chassis import INSTANT, Chassis
from netdyno.devices.wiring import LabError

from fakes.server import Pieces, Server

PROMPT = "lab@box:~# "
COLOURED = r"\[\e[01;32m\]lab@box\[\e[00m\]:\[\e[01;34m\]~\[\e[00m\]# "
AS_USER = ("--user", "--map-root-user") if os.geteuid() else ()
AS_ROOT = ("--user", "--preserve-credentials") if os.geteuid() else ()
"""A plain user is root in a namespace of users."""
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


class Draw(Protocol):
    """Writes what a device has counted where its shell finds it."""

    def __call__(self, folder: Path, chassis: Chassis) -> None: ...


@dataclass(frozen=True)
class Box:
    """The machine. folder: what the emulated device moves. process: holds its namespaces; 0: it has none."""

    folder: Path
    process: int = 0

    def command(self, *words: str) -> list[str]:
        """A command as it runs there."""
        into = ["nsenter", "--target", str(self.process), *AS_ROOT, "--net", "--mount"]
        return [*(into if self.process else ()), *words]

    def do(self, text: str) -> str:
        """What commands print there, errors with it."""
        done = subprocess.run(
            self.command("sh", "-c", text),
            env={"PATH": PATH},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
            check=False,
        )
        return done.stdout

    def text(self) -> str:
        """Its configuration, as it prints it."""
        return self.do(f"{RUNNING}; ip -details link show; ip -6 address show")


@contextmanager
def box_in(folder: Path, ports: Sequence[str]) -> Iterator[Box]:
    """A machine with these ports until the block ends, all of them down."""
    holder = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "unshare", *AS_USER, "--net", "--mount", "sleep", "600"],
        env={"PATH": PATH},
        stdout=subprocess.DEVNULL,
    )
    try:
        here = os.readlink("/proc/self/ns/mnt")
        while os.readlink(f"/proc/{holder.pid}/ns/mnt") == here:
            assert holder.poll() is None
        found = Box(folder, holder.pid)
        cables = (
            f"ip link add {port} type veth peer name x{number};"
            f" ip link set {port} up; ip link set {port} down;"
            for number, port in enumerate(ports)
        )
        said = found.do(f"{' '.join(cables)} ip link set lo up")
        assert not said, said
        yield found
    finally:
        holder.kill()
        holder.wait()


@dataclass
class FakeShell:
    """A session as `Cli`, without SSH. step: called around everything that the machine does; it may kill."""

    box: Box
    step: Callable[[str], None]

    @property
    def shell(self) -> Shell:
        """Linux's."""
        return DRIVER.shell

    def ask(self, command: str, within_s: float = 15.0) -> str:
        """What a command prints."""
        self.step("ask")
        said = self.box.do(command)
        self.step("asked")
        return said.replace("\n", "\r\n")

    def configure(self, text: str, confirm_s: int | None = None, within_s: float = 30.0) -> str:
        """Each line at once."""
        refused = ""
        for line in text.splitlines():
            self.step("line")
            said = self.box.do(line)
            if re.search("|".join(DRIVER.shell.refused), said, re.MULTILINE):
                refused = refused or said
            self.step("entered")
        if refused:
            raise LabError(refused, code="command-refused")
        return ""

    def confirm(self) -> None:
        """It has none."""
        raise AssertionError


class Session:
    """One login: a shell on a terminal."""

    def __init__(self, box: Box, chassis: Chassis, draw: Draw) -> None:
        self.box, self.chassis, self.draw = box, chassis, draw

    async def talk(self, process: asyncssh.SSHServerProcess[bytes], server: Server) -> None:
        """As `fakes.server.Box`."""
        ours, its = pty.openpty()
        columns, rows, *_ = process.get_terminal_size()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        shell = await asyncio.create_subprocess_exec(
            *self.box.command("setsid", "--ctty", "bash", "--norc", "--noprofile", "-i"),
            stdin=its,
            stdout=its,
            stderr=its,
            env={
                "PATH": f"{self.box.folder / 'bin'}:{PATH}",
                "TERM": process.get_terminal_type() or "vt100",
                "PS1": COLOURED if server.faults.colours else PROMPT,
                "HOME": str(self.box.folder),
                "HISTFILE": "",
            },
        )
        os.close(its)
        os.set_blocking(ours, False)
        self._put = Pieces(process, server.faults)
        self._drops = False
        printing = asyncio.create_task(self._print(ours, process, server))
        try:
            await self._type(ours, process, server)
        finally:
            printing.cancel()
            with suppress(asyncio.CancelledError):
                await printing
            with suppress(ProcessLookupError):
                shell.kill()
            os.close(ours)
            await shell.wait()

    async def _type(self, ours: int, process: asyncssh.SSHServerProcess[bytes], server: Server) -> None:
        """Passes on what is typed, line by line."""
        number, held = 0, b""
        while piece := await process.stdin.read(4096):
            held += piece
            while b"\n" in held:
                line, _, held = held.partition(b"\n")
                number += 1
                text = line.decode(errors="replace").strip("\r")
                server.lines.append(text)
                faults = server.takes(number, text)
                is_lost = 0 < faults.lost_after < len(server.lines)
                if is_lost or (faults.silent_from_line and number >= faults.silent_from_line):
                    continue
                if text.startswith(f"# {INSTANT} "):
                    self.chassis.stand_at(json.loads(text.partition(INSTANT)[2]))
                    self.draw(self.box.folder, self.chassis)
                if number == faults.garbage_at_line:
                    await self._put.write(b"\x00\xff\x1b[31m" * 200 + b"\r\n")
                self._drops = number == faults.drop_in_line
                await _write(ours, line + b"\n")

    async def _print(self, ours: int, process: asyncssh.SSHServerProcess[bytes], server: Server) -> None:
        """Passes on what is printed."""
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(ours, ready.set)
        try:
            while True:
                await ready.wait()
                ready.clear()
                try:
                    data = os.read(ours, 65536)
                except BlockingIOError:
                    continue
                except OSError:
                    data = b""
                if not data or (self._drops and b"\n" in data):
                    process.channel.abort()
                    return
                self._put.faults = server.faults
                await self._put.write(data)
        finally:
            loop.remove_reader(ours)


async def _write(terminal: int, data: bytes) -> None:
    """Types, as fast as it is read."""
    while data:
        try:
            data = data[os.write(terminal, data) :]
        except BlockingIOError:
            await asyncio.sleep(0.001)


def write(path: Path, text: str) -> None:
    """Replaces the text of a file in place: a mount on it stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def printer(folder: Path) -> Callable[[str], str]:
    """Gives the command that prints a text."""

    def print_by(text: str) -> str:
        write(folder / "text", text)
        return f"cat {folder / 'text'}"

    return print_by
