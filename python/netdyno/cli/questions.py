"""Questions of a command, each with a proposed answer; or the flags that answer them."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import click

from netdyno.values.printable import printable, wrap

Answer = TypeVar("Answer")


@dataclass
class Questions:
    """Answers from flags; else the proposals, if `takes_proposals`; else asked for at a terminal.

    missing: the flags that nobody could be asked for, each with what is proposed.
    """

    takes_proposals: bool
    asked: int = 0
    missing: list[str] = field(default_factory=list)

    def answer(
        self,
        flag: str,
        given: str | None,
        question: str,
        proposal: str,
        parse: Callable[[str], Answer],
        explain: Callable[[], None] | None = None,
    ) -> Answer | None:
        """The answer to a question as `parse` reads it, which raises ValueError for what is none.

        None: nobody could be asked. explain: prints what helps to answer, before the question. A flag whose
        value is no answer raises click.UsageError.
        """
        if given is not None or (self.takes_proposals and proposal):
            try:
                return parse(proposal if given is None else given)
            except ValueError as error:
                raise click.UsageError(f"{flag}: {error}") from None
        if self.takes_proposals and explain is not None:
            explain()
        if self.takes_proposals or not sys.stdin.isatty():
            self.missing.append(f"{flag} {proposal}".strip())
            return None
        self.asked += 1
        if self.asked == 1:
            click.echo("Enter takes the answer in brackets; Ctrl-C ends without a trace.", err=True)
        if explain is not None:
            explain()
        while True:
            text = click.prompt(f"{self.asked}. {question}", default=proposal or None, err=True)
            try:
                return parse(text.strip())
            except ValueError as error:
                said = wrap(printable(str(error)), max(shutil.get_terminal_size().columns, 40) - 3)
                click.echo(textwrap.indent("\n".join(said), "   "), err=True)

    def refuse_missing(self) -> None:
        """Raises click.UsageError if a question has no answer."""
        if self.missing:
            raise click.UsageError(
                f"there is no terminal to ask at; missing: {', '.join(self.missing)}"
                if not self.takes_proposals
                else f"nothing can be proposed for {', '.join(self.missing)}: give it"
            )
