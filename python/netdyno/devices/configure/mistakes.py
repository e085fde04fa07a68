"""Mistakes of a template that show without the device: in rendering it, and in what it would enter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.render import Rendered, explain
from netdyno.devices.configure.sandbox import STAND_IN
from netdyno.devices.hiding import hide_secrets
from netdyno.devices.reasons import SecretInTemplate

_COMMENT = re.compile(r"\{#(?:[^#]|#(?!\}))*+(#\})?")
_STATEMENT = re.compile(r"\{%[^%\n]*%\}")
MOST = 20
"""Mistakes of a case that are reported."""


@dataclass(frozen=True)
class TemplateMistake:
    """template: its name; empty: there is none. line: of it, from 1; 0: unknown. why: a clause.

    code: one of `errors.CODES`.
    """

    code: str
    template: str
    line: int
    why: str
    hint: str | None = None

    def __str__(self) -> str:
        place = f"{self.template}:{self.line}" if self.line else self.template
        return f"template {place}: {self.why}" if place else self.why


def find_mistakes(
    rendered: Rendered, name: str, driver: str, beside: Path | None, allowed: Allowed
) -> Iterator[TemplateMistake]:
    """The mistakes of one case's template, at most `MOST` of a kind; of `allowed` those that need no device.

    name, driver, beside: as `render` has them.
    """
    for fault in rendered.faults[:MOST]:
        why, hint = explain(fault, driver, beside)
        # What says that a template is not there has its name.
        where = "" if fault.absent == fault.name else fault.name
        yield TemplateMistake("template-wrong", where, fault.line, why, hint)
    yield from _refused(rendered, name, allowed)


def find_secrets(templates: Mapping[str, str]) -> Iterator[SecretInTemplate]:
    """The lines of templates, name and text, that seem to hold a secret, also one that a setting gives."""
    for name, text in templates.items():
        # What Jinja2 does is no configuration.
        text = _STATEMENT.sub("", _COMMENT.sub(_blank_lines, text))
        for number, line in enumerate(text.split("\n"), 1):
            if hide_secrets(line) != line:
                yield SecretInTemplate(name, number)


def _blank_lines(found: re.Match[str]) -> str:
    """The ends of the lines of a comment, so that lines keep their numbers; what is not closed is none."""
    return "\n" * found[0].count("\n") if found[1] else found[0]


def _refused(rendered: Rendered, name: str, allowed: Allowed) -> Iterator[TemplateMistake]:
    """The lines that may not be entered, of those that have all their values."""
    lines = rendered.text.split("\n")
    found = replace(allowed, places=rendered.places).refused(rendered.text, None)
    whole = (one for one in found if STAND_IN not in f"{one.line}{lines[one.number - 1]}")
    for one in islice(whole, MOST):
        template, _, line = one.place.rpartition(":")
        why = f"`{hide_secrets(one.line)[:200]}` is not allowed: {one.why}"
        yield TemplateMistake("section-not-allowed", template or name, int(line or 0), why, one.hint)
