"""A command line that answers line by line, with the manners of a network device's."""

from __future__ import annotations

import asyncio
from typing import Protocol

PAGE = 24
BACKSPACES = "\b" * 10 + " " * 10 + "\b" * 10


class Keys(Protocol):
    """What a user types, asyncssh's `SSHReader`."""

    async def read(self, n: int) -> bytes:
        """At most so many bytes; none at the end."""
        ...


class Wire:
    """A session's other end. Tests make it lose lines, stop and print garbage."""

    page = 0
    """Lines of a page for a user who may not turn paging off; 0: he may."""

    def __init__(self, keys: Keys) -> None:
        self.keys = keys

    async def put(self, text: str) -> None:
        """Prints a text."""
        raise NotImplementedError

    async def hears(self, number: int, line: str, *, is_hidden: bool) -> bool:
        """Whether a line is answered. number: of the session's lines, from 1."""
        return True

    async def answers(self, number: int, echo: str, answer: str) -> str:
        """The answer as it is printed."""
        return answer

    def prompts(self, prompt: str) -> str:
        """The prompt as it is printed."""
        return prompt


class Terminal:
    """A session.

    more: what it prints behind a page. erase: what it prints over that. enter: what ends a line. hidden: what
    is typed is not printed: a password. repaints: the prompt is printed again, with the line typed at it.
    silent_s: for how long it answers nothing, from now: a device that writes its table.
    """

    banner = ""
    page = PAGE
    more = " --More-- "
    erase = BACKSPACES
    enter = b"\n"
    hidden = False
    repaints = False
    silent_s = 0.0

    @property
    def prompt(self) -> str:
        """What it prints before a line is typed."""
        raise NotImplementedError

    def run(self, line: str) -> str | None:
        """The answer to a line; None ends the session."""
        raise NotImplementedError

    async def talk(self, wire: Wire) -> None:
        """Answers until the session ends."""
        await self._be_silent()
        await wire.put(self.banner + wire.prompts(self.prompt))
        number, held = 0, b""
        while piece := await wire.keys.read(4096):
            if self.enter == b"\r":
                held += piece.replace(b"\n", b"")
            else:
                held += piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            while self.enter in held:
                line, _, held = held.partition(self.enter)
                await self._be_silent()
                number += 1
                text = line.decode(errors="replace")
                if not await wire.hears(number, text, is_hidden=self.hidden):
                    continue
                echo = "" if self.hidden else self._echo(text)
                answer = self.run(text)
                if answer is None:
                    return
                if answer and not answer.endswith("\n"):
                    answer += "\n"
                answer = await wire.answers(number, echo, answer)
                page = self.page or wire.page
                if page and answer.count("\n") > page:
                    held = await self._paged(wire, echo, answer, page, held)
                else:
                    await wire.put(f"{echo}\n{answer}")
                await wire.put(wire.prompts(self.prompt))

    async def _be_silent(self) -> None:
        # It may end sooner than it was to.
        while (left_s := self.silent_s) > 0:
            await asyncio.sleep(min(left_s, 0.1))

    async def _paged(self, wire: Wire, echo: str, answer: str, page: int, held: bytes) -> bytes:
        """Prints an answer a page at a time, each begun by a key."""
        lines = answer.splitlines(keepends=True)
        await wire.put(f"{echo}\n")
        for at in range(0, len(lines), page):
            await wire.put("".join(lines[at : at + page]))
            if at + page < len(lines):
                await wire.put(self.more)
                key = held[:1] or await wire.keys.read(1)
                held = held[1:]
                await wire.put(self.erase)
                if key in (b"q", b""):
                    break
        return held

    def _echo(self, line: str) -> str:
        return f"{line}\r{self.prompt}{line}" if self.repaints else line
