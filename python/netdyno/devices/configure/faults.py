"""What is wrong with a template, in words of a template instead of those of jinja2."""

from __future__ import annotations

import re
from collections.abc import Iterable

from netdyno.errors import suggestion

MAY = "a template may use values, loops, conditions, `set` and includes"


class TemplateFault(Exception):  # noqa: N818, it becomes an error with a code
    """What is wrong with a template. line: from 1; 0: unknown. hint: what to do about it.

    missing: what has no value, as `Unknown` knows it. absent: the template that there is none of.
    """

    def __init__(
        self,
        name: str,
        line: int,
        why: str,
        hint: str = MAY,
        *,
        missing: tuple[str, str] | None = None,
        absent: str | None = None,
    ) -> None:
        super().__init__(why)
        self.name = name
        self.line = line
        self.why = why
        self.hint = hint
        self.missing = missing
        self.absent = absent


def as_fault(
    name: str, line: int, message: str, filters: Iterable[str], tests: Iterable[str], source: str
) -> TemplateFault:
    """A fault of the syntax. message: of jinja2. source: of the template."""
    inner = re.search(r"innermost block that needs to be closed is '(\w+)'", message)
    tag = re.match(r"Encountered unknown tag '(\w+)'", message)
    unknown = re.match(r"No (filter|test) named '(\w+)'", message)
    if inner:
        block = inner[1]
        open_block = f"`{block}`{_begin(block, source)} is not closed"
        why = f"`{tag[1]}` is here while {open_block}" if tag else f"the template ends while {open_block}"
        return TemplateFault(name, line, why, f"close it before by `{{% end{block} %}}`")
    if tag:
        return TemplateFault(name, line, f"`{tag[1]}` is no tag that can stand here")
    if unknown:
        kind, known = unknown[1], filters if unknown[1] == "filter" else tests
        hint = suggestion(unknown[2], known, f"{kind}s")
        return TemplateFault(name, line, f"there is no {kind} `{unknown[2]}`", hint)
    if "end of print statement" in message or message.startswith("unexpected '}'"):
        line = _open_line("{{", "}}", source, line)
        return TemplateFault(name, line, "`{{` is not closed", "close it by `}}` on its line")
    if "end of statement block" in message:
        line = _open_line("{%", "%}", source, line)
        return TemplateFault(name, line, "a tag is not closed where it should end", "close each `{%` by `%}`")
    if "Missing end of comment" in message:
        return TemplateFault(name, line, "`{#` is not closed", "close the comment by `#}`")
    message = message.rstrip(". ") or "it is no template"
    return TemplateFault(name, line, message[0].lower() + message[1:])


def _begin(block: str, source: str) -> str:
    """Where the innermost block of a kind that is not closed begins; empty: it is not found."""
    begins: list[int] = []
    for found in re.finditer(r"\{%[-+]?\s*(end)?(\w+)", source):
        if found[2] == block and not found[1]:
            begins.append(source.count("\n", 0, found.start()) + 1)
        elif found[2] == block and begins:
            begins.pop()
    return f" of line {begins[-1]}" if begins else ""


def _open_line(begin: str, end: str, source: str, last: int) -> int:
    """The last line up to this one that opens what it does not close; this one, if there is none."""
    lines = source.splitlines()[:last]
    opens = (
        number
        for number in range(len(lines), 0, -1)
        if lines[number - 1].rfind(begin) > lines[number - 1].rfind(end)
    )
    return next(opens, last)
