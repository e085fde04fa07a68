"""Writes docs/reference.md from the program itself: commands, options, exit codes, methods, goals and names.

.venv/bin/python tools/reference_page.py           writes the page
.venv/bin/python tools/reference_page.py --check   exits with 1 if the page is not what it would write
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import get_args

import click
from netdyno import _engine
from netdyno.campaign.reasons import REASONS
from netdyno.cli import catalogue
from netdyno.cli.app import cli
from netdyno.cli.codes import MEANINGS
from netdyno.devices import KINDS
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.linux.features import FEATURES
from netdyno.errors import CODES
from netdyno.methods import METHODS
from netdyno.modifiers import MODIFIERS
from netdyno.plan.patterns import PATTERNS
from netdyno.ports.backends import AUTO, BACKENDS, options_of
from netdyno.reports import FORMATS
from netdyno.testers import TESTERS
from netdyno.values.engine_reason import EngineReason
from netdyno.values.reason import Reason
from netdyno.values.verdict import Limit

PAGE = Path(__file__).parents[1] / "docs" / "reference.md"

HEAD = """\
# Reference

<!-- made by tools/reference_page.py -->

What the program accepts, written by the program. The same at the command line:

```sh
netdyno --help
netdyno methods
netdyno kinds
```

[Plans](plan.md) explains the fields of a plan, [methods](methods.md) what each method measures, and the
[glossary](glossary.md) the words.
"""


DEFAULTS = """\
An option that a command line leaves out is taken from the environment, else from the user's file of
defaults, else it is the built-in one.

- **Environment**: `NETDYNO_COMMAND_OPTION`, as in `NETDYNO_RUN_OUT=/srv/runs` or `NETDYNO_DUT_SERVE_RATE`.
  Words of an option that may be repeated have spaces between them: `NETDYNO_RUN_REPORT="html csv"`. A flag is
  `1` or `0`.
- **File**: `~/.config/netdyno/defaults.yaml`, below `XDG_CONFIG_HOME` if that is set. It has options by
  command, under their long names without dashes:

```yaml
run: {out: /srv/runs, report: [html, csv]}
calibrate: {out: /srv/runs}
check: {format: json}
```

A flag that is on there is switched off by its opposite, `--no-bidir`, and one that begins with `no-` by the
rest, `--calibrate`. Unknown names and wrong values are reported with the file's line, or with the variable.
Secrets of devices are refused in this file; [they have variables of their own](devices.md).

Commands and options are completed in a shell with one of these lines, typed there or in its own file:

```sh
eval "$(_NETDYNO_COMPLETE=bash_source netdyno)"     # ~/.bashrc, bash 4.4 or newer
eval "$(_NETDYNO_COMPLETE=zsh_source netdyno)"      # ~/.zshrc
_NETDYNO_COMPLETE=fish_source netdyno | source      # ~/.config/fish/config.fish
```
"""


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A Markdown table, line by line; with bars inside cells escaped."""
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by what is typed for it."""
    for name, command in cli.commands.items():
        if isinstance(command, click.Group):
            yield from ((f"netdyno {name} {inner}", one) for inner, one in command.commands.items())
        else:
            yield f"netdyno {name}", command


def usage(typed: str, command: click.Command) -> str:
    """`netdyno rate RATE SIZE`."""
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    metavars = [one.metavar or one.human_readable_name.upper().replace("-", "_") for one in arguments]
    words = (word if one.required else f"[{word}]" for one, word in zip(arguments, metavars, strict=True))
    return " ".join([typed, *words])


def sentence(text: str | None) -> str:
    """The first paragraph of a help text on one line, without click's marks."""
    first = (text or "").replace("\b", "").strip().split("\n\n")[0]
    return re.sub(r"\s+", " ", first)


def option(one: click.Option) -> tuple[str, str]:
    """How an option is written, and what it does with its default."""
    flags = ", ".join(f"`{flag}`" for flag in one.opts)
    kind = one.type
    value = one.metavar or (
        ", ".join(f"`{choice}`" for choice in kind.choices) if isinstance(kind, click.Choice) else None
    )
    written = flags if one.is_flag else f"{flags} {value or kind.name.upper()}"
    default = f"Default: `{one.default}`." if one.show_default and one.default is not None else ""
    return written, f"{sentence(one.help)} {default}".strip()


def meaning(one: type[Reason]) -> str:
    """The first sentence of a reason's docstring."""
    return sentence(inspect.getdoc(one)).partition(". ")[0].rstrip(".")


def settings() -> Iterator[tuple[str, str, str]]:
    """Each setting of the kinds of devices, of which kinds, and its values; the same ones share a row."""
    rows: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for kind in KINDS.values():
        for name, values in kind.settings.items():
            rows.setdefault((name, values), []).append(f"`{kind.name}`")
    for (name, values), of in rows.items():
        yield (
            f"`{name}`",
            ", ".join(of),
            (not 0 < len(values) < SHORT and SET_BY.get(name))
            or ", ".join(f"`{one}`" for one in values)
            or "a number",
        )


SHORT = 10
SET_BY = {
    "routes": "a number: the axis `routes`",
    "service": "`none`, or one of the list below",
    "filters": "a number: set by the axis `modifier`",
    "incidents": "a text, `2 down at 2h for 3s`: [incidents](labs.md#incidents)",
}
"""Settings whose values are no list, or a long one."""


def named(methods: tuple[str, ...]) -> str:
    """Methods as code; all others if there is none."""
    return ", ".join(f"`{name}`" for name in methods) or "any other method"


def page() -> str:
    """The whole page."""
    lines = [HEAD, "## Commands", ""]
    every = list(commands())
    lines += table(
        ["command", "what it does"], [(f"`{usage(name, one)}`", sentence(one.help)) for name, one in every]
    )
    lines += ["Data goes to stdout, messages to stderr. Tables are as wide as the terminal or `COLUMNS`.", ""]
    lines += ["## Exit codes", ""]
    lines += table(["code", "meaning"], [(str(code), meaning) for code, meaning in MEANINGS.items()])
    lines += ["## Options", "", DEFAULTS]
    for name, one in every:
        rows = [option(given) for given in one.params if isinstance(given, click.Option)]
        if rows:
            lines += [f"### {name}", "", *table(["option", "meaning"], rows)]
    lines += ["## Methods", ""]
    lines += table(
        ["method", "what it finds", "standard"],
        [(f"[`{one.name}`](#{one.name})", one.doc, one.described_standard) for one in METHODS.values()],
    )
    lines += [
        "A method stands in the plan with its parameters, `method: {ramp: {hold: 10s}}`.",
        "A parameter that is left out has its default. Loads are those of each direction. A parameter that is"
        " a word, a number or a quantity may be an [axis](plan.md#parameters) of the matrix.",
        "",
    ]
    for name in METHODS:
        rows = [
            (f"`{one.name}`", one.kind, one.default, one.meaning)
            for one in catalogue.parameters()
            if one.method == name
        ]
        lines += [f"### {name}", "", *table(["parameter", "written as", "default", "meaning"], rows)]
    lines += [
        "## Goals",
        "",
        "A goal is a value, a comparison (`>=`, `<=`, `>`, `<`) and a bound with its unit.",
        "",
    ]
    lines += table(
        ["value", "of", "meaning", "example"],
        [
            (f"`{one.value}`", named(one.methods), one.meaning, f"`{one.example}`")
            for one in catalogue.goals()
        ],
    )
    lines += [
        "## Values",
        "",
        "What methods find. A goal of `ndr` with a name of its own makes a value of that name.",
        "",
    ]
    lines += table(
        ["value", "unit", "meaning", "of"],
        [(one.value, one.unit, one.meaning, named(one.methods)) for one in catalogue.values()],
    )
    lines += [
        "## Limits",
        "",
        f"The limit of a result is one of {', '.join(f'`{one}`' for one in get_args(Limit))}:",
    ]
    lines += ["[verdicts](verdicts.md).", ""]
    lines += ["## Kinds of devices, drivers and testers", ""]
    lines += table(
        ["kind", "what it is", "links"],
        [
            (
                f"`{kind.name}`",
                kind.title,
                f"{kind.links[0]}" if len(kind.links) == 1 else f"{kind.links[0]} to {kind.links[-1]}",
            )
            for kind in KINDS.values()
        ],
    )
    lines += ["[Labs](labs.md) explains the settings; the first value is the default.", ""]
    lines += table(["setting", "of", "values"], settings())
    lines += table(["service", "what it is"], [(f"`{one.name}`", one.doc) for one in FEATURES.values()])
    lines += table(["driver", "reads"], [(f"`{one.name}`", one.title) for one in DRIVERS.values()])
    lines += table(
        ["tester", "offers"],
        [(f"`{name}`", ", ".join(sorted(one.offers))) for name, one in TESTERS.items()],
    )
    lines += [
        "## Backends",
        "",
        "What a link's `backend` can be ([ports](ports.md)), and the options it brings.",
        "",
    ]
    lines += table(
        ["backend", "what a port is", "kinds", "options"],
        [
            (
                f"`{name}`",
                BACKENDS[name].noun
                if name in BACKENDS
                else "the one of those on interfaces that carries the load",
                ", ".join(f"`{kind.name}`" for kind in KINDS.values() if name in kind.backends),
                ", ".join(f"`{one}`" for one in sorted(options_of(name))) or "none",
            )
            for name in (AUTO, *BACKENDS)
        ],
    )
    lines += ["## Patterns and modifiers", ""]
    lines += [f"Patterns: {', '.join(f'`{name}`' for name in PATTERNS)} ([plans](plan.md#pattern)).", ""]
    lines += [f"Modifiers: {', '.join(f'`{name}`' for name in MODIFIERS)} ([plans](plan.md#modifier)).", ""]
    lines += ["## Reports", ""]
    lines += table(["report", "what it is"], [(f"`{one.name}`", one.help) for one in FORMATS.values()])
    lines += [
        "## Reasons",
        "",
        "`code` and `fields` of the reasons of verdicts and notes, as the store has them."
        " Reports print sentences.",
        "",
    ]
    lines += table(
        ["code", "fields", "meaning"],
        [
            (
                f"`{code}`",
                ", ".join(f"`{field.name}`" for field in dataclasses.fields(one)) or "none",
                meaning(one),
            )
            for code, one in sorted(REASONS.items())
            if one is not EngineReason
        ],
    )
    lines += [
        "## Errors",
        "",
        "`netdyno check PLAN --format json` prints each mistake with its `code`; sentences may change.",
        "What the tester itself refuses has a code of the engine, below.",
        "",
    ]
    lines += table(["code", "meaning"], [(f"`{code}`", CODES[code]) for code in sorted(CODES)])
    lines += [
        "## Reasons of the engine",
        "",
        "`EngineError.code`, and the `code` of each reason for which a trial does not count.",
        "Sentences may change; codes and the names of their fields are for programs.",
        "",
    ]
    lines += table(
        ["code", "fields", "meaning"],
        [
            (f"`{one['code']}`", ", ".join(f"`{name}`" for name in one["fields"]) or "none", one["meaning"])
            for one in json.loads(_engine.reasons())
        ],
    )
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Writes the page, or with `--check` compares it."""
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text() != page())
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
