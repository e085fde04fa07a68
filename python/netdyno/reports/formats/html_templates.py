"""The templates of the page, and how texts are shown in it. Jinja escapes all but markup."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup, escape

from netdyno.reports.model.answer import capital
from netdyno.values import number as printed
from netdyno.values.printable import printable_lines


def environment() -> jinja2.Environment:
    """What finds templates and fills them in."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["capital"] = capital
    environment.filters["count"] = printed.count
    environment.filters["duration"] = printed.duration
    environment.filters["exact"] = printed.exact
    environment.filters["prose"] = _prose
    environment.filters["unbroken"] = _unbroken
    environment.filters["whole"] = _whole
    environment.filters["slug"] = lambda text: (
        re.sub(r"[^a-z0-9]+", "-", str(text).lower()).strip("-") or "unknown"
    )
    return environment


def _shown(value: object) -> object:
    """What stands in the page for a value: of text that is not markup, only what can be shown."""
    return printable_lines(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def shown_in(value: Any) -> Any:
    """A document with what can be shown of its texts; most of it is numbers."""
    if isinstance(value, float):
        return value
    if isinstance(value, dict):
        return {printable_lines(name): shown_in(part) for name, part in value.items()}
    if isinstance(value, list):
        return [part if isinstance(part, float) else shown_in(part) for part in value]
    return printable_lines(value) if isinstance(value, str) else value


def _prose(text: object) -> Markup:
    """A sentence, whose names in backticks are set as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(printable_lines(str(text))))))


def _whole(text: str) -> str:
    """A text in which no line ends between a number and its unit or its sign."""
    glued = r"(?<=[0-9]) (?=%|[kMG]?(?:pps|bit/s|bps)|[num]?s\b)|(?<=[<>]) (?=[0-9])|(?<=[<>]=) (?=[0-9])"
    return re.sub(glued, "\N{NO-BREAK SPACE}", text)


def _unbroken(text: str) -> Markup:
    """A sentence, whose times and names are not broken at their hyphens."""
    return Markup(
        re.sub(r"\S+-\S+", r'<span class="unbroken">\g<0></span>', str(escape(printable_lines(str(text)))))
    )


def asset(name: str) -> str:
    """A file of the page."""
    return resources.files("netdyno.reports").joinpath("assets", name).read_text(encoding="utf-8")
