"""Mistakes of a template that show without the device: in rendering it, and in what it would enter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.render import Rendered, finder, hint_for, render_lines
from netdyno.devices.configure.sandbox import TemplateFault
from netdyno.devices.hiding import hide_secrets
from netdyno.devices.reasons import SecretInTemplate
from netdyno.devices.wiring import LabLink

_STATEMENT = re.compile(r"\{%[^%\n]*%\}")
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
    find = finder(driver, beside, {})
    missing: list[str] = []
    while len(missing) < MOST:
        try:
            rendered = render_lines(name, settings, links, find, missing)
        except TemplateFault as fault:
            if fault.missing or not missing:
                hint = hint_for(fault, name, driver, settings)
                yield TemplateMistake("template-wrong", fault.name, fault.line, fault.why, hint)
            if not fault.missing or fault.missing in missing:
                return
            missing.append(fault.missing)
        else:
            if not missing:
                yield from _refused(rendered, name, allowed)
            return


def find_secrets(templates: Mapping[str, str]) -> Iterator[SecretInTemplate]:
    """The lines of templates, name and text, that seem to hold a secret, also one that a setting gives."""
    for name, text in templates.items():
        # What Jinja2 does is no configuration.
        for number, line in enumerate(_STATEMENT.sub("", text).split("\n"), 1):
            if hide_secrets(line) != line:
                yield SecretInTemplate(name, number)


def _refused(rendered: Rendered, name: str, allowed: Allowed) -> Iterator[TemplateMistake]:
    for one in islice(replace(allowed, places=rendered.places).refused(rendered.text, None), MOST):
        template, _, line = one.place.rpartition(":")
        why = f"`{hide_secrets(one.line)[:200]}` is not allowed: {one.why}"
        yield TemplateMistake("section-not-allowed", template or name, int(line or 0), why, one.hint)
