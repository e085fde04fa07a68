"""Mistakes of a template that show without the device: in rendering it, and in what it would enter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from re import sub

from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.escapes import LONGEST_LINE
from netdyno.devices.configure.render import finder, hint_for, render_lines
from netdyno.devices.configure.sandbox import TemplateFault
from netdyno.devices.wiring import LabLink

MOST = 20
"""Mistakes of a case that are reported."""


@dataclass(frozen=True)
class TemplateMistake:
    """template: its name; line: of it, from 1; 0: unknown. why: a clause. code: one of `errors.CODES`."""

    code: str
    template: str
    line: int
    why: str
    hint: str | None = None

    def __str__(self) -> str:
        place = f"{self.template}:{self.line}" if self.line else self.template
        return f"template {place}: {self.why}"


def find_mistakes(
    name: str,
    driver: str,
    settings: Mapping[str, str],
    links: Sequence[LabLink],
    beside: Path | None,
    allowed: Allowed,
) -> Iterator[TemplateMistake]:
    """The mistakes of the template of one case, at most `MOST`; of `allowed` those that need no device.

    name, driver, settings, links, beside: as `render` has them. Raises LabError `wrong-format`.
    """
    used: dict[str, str] = {}
    find = finder(driver, beside, used)
    missing: list[str] = []
    while len(missing) < MOST:
        try:
            text = render_lines(name, settings, links, find, missing)
        except TemplateFault as fault:
            if fault.missing or not missing:
                hint = hint_for(fault, name, driver, settings)
                yield TemplateMistake("template-wrong", fault.name, fault.line, fault.why, hint)
            if not fault.missing or fault.missing in missing:
                return
            missing.append(fault.missing)
        else:
            break
    if not missing:
        yield from _refused(text, name, used, allowed)


def _refused(text: str, name: str, used: Mapping[str, str], allowed: Allowed) -> Iterator[TemplateMistake]:
    place = _Places(used).find
    for number, refusal in enumerate(allowed.refusals(text, None)):
        if number == MOST:
            return
        template, line = place(refusal.path[-1]) or (name, 0)
        shown = " / ".join(refusal.path)[:200]
        why = f"`{shown}` is not allowed: {refusal.why}"
        yield TemplateMistake("section-not-allowed", template, line, why, refusal.hint)


class _Places:
    """Finds lines of a rendered text in the templates that it came from."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._lines = [
            (name, number, parts) for name, source in sources.items() for number, parts in _literals(source)
        ]

    def find(self, rendered: str) -> tuple[str, int] | None:
        """Template and line that fit a rendered line best; None: none does."""
        fits = [one for one in self._lines if _fits(one[2], rendered)]
        best = max(fits, key=lambda one: sum(map(len, one[2])), default=None)
        return best and best[:2]


def _literals(source: str) -> Iterator[tuple[int, list[str]]]:
    """Each line of a template that writes something: its number, and its texts around `{{ }}`."""
    for number, line in enumerate(source.split("\n"), 1):
        plain = sub(r"\{#.*?#\}|\{%.*?%\}", "", line[:LONGEST_LINE])
        parts = sub(" +", " ", sub(r"\{\{.*?\}\}", "\0", plain)).strip().split("\0")
        if any(parts):
            yield number, parts


def _fits(parts: Sequence[str], line: str) -> bool:
    """Whether a line has these texts in order, from its begin to its end."""
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return line == first
    at = len(first)
    for part in parts[1:-1]:
        found = line.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return line.startswith(first) and line.endswith(last) and at <= len(line) - len(last)
