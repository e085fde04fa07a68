"""Options from elsewhere than the command line: the environment, then the user's own file of defaults."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netdyno.errors import PlanErrors

if TYPE_CHECKING:
    from netdyno.plan.source import Path_, Source

PREFIX = "NETDYNO"
_SOURCE = "netdyno.defaults"
_SECRET = re.compile(
    r"passw|passphrase|secret|communit|token|private|enable$|snmp.?(auth|priv)", re.IGNORECASE
)


def find_file() -> Path | None:
    """`~/.config/netdyno/defaults.yaml`, or where XDG_CONFIG_HOME says that it is; None: there is none.

    A user without a home has none, as in a container.
    """
    home = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    with suppress(RuntimeError):
        return (home if home.is_absolute() else Path.home() / ".config") / "netdyno" / "defaults.yaml"
    return None


def name_of(option: click.Option) -> str:
    """What it is called in the file of defaults: `log-file`."""
    return max(option.opts, key=len).lstrip("-")


def name_variables(group: click.Group, prefix: str = PREFIX) -> None:
    """Gives each option of each command its variable, `NETDYNO_RUN_LOG_FILE`, and each flag its opposite,
    `--no-bidir`: on the command line it is off, though it is on in the file of defaults."""
    for name, command in group.commands.items():
        own = f"{prefix}_{name}"
        if isinstance(command, click.Group):
            name_variables(command, own)
            continue
        for option in _options(command).values():
            option.envvar = f"{own}_{name_of(option)}".upper().replace("-", "_")
            if option.is_bool_flag and not option.secondary_opts and not option.hidden:
                plain = name_of(option)
                option.secondary_opts = [
                    f"--{plain.removeprefix('no-') if plain.startswith('no-') else f'no-{plain}'}"
                ]


def read_defaults(context: click.Context) -> dict[str, Any] | None:
    """The defaults of every command for click; None: there is no file. Raises PlanErrors."""
    file = find_file()
    try:
        if file is None or not file.is_file():
            return None
    except PermissionError:
        # Another user's folder, as after `su` without `-`.
        return None
    from netdyno.plan.source import read_file

    source = read_file(file)
    context.meta[_SOURCE] = source
    assert isinstance(context.command, click.Group)
    found = _of_group(source, context.command, source.value, ())
    if source.errors:
        raise PlanErrors(source.file, source.errors)
    return found


def place_of(context: click.Context | None, option: click.Parameter | None) -> str:
    """Where the value of an option stands, `FILE:3:8: `; empty: on the command line."""
    if context is None or not isinstance(option, click.Option) or option.name is None:
        return ""
    origin = context.get_parameter_source(option.name)
    if origin is click.core.ParameterSource.ENVIRONMENT:
        return f"{option.envvar}: "
    if origin is not click.core.ParameterSource.DEFAULT_MAP:
        return ""
    source: Source = context.meta[_SOURCE]
    words = context.command_path.split()[1:]
    line, column = source.position((*words, name_of(option)))
    return f"{source.file}:{line}:{column}: "


def find_named(context: click.Context | None, message: str) -> click.Option | None:
    """The option that a message begins with, `--rate: ...`; None: it begins with none."""
    word = re.match(r"--?[A-Za-z][A-Za-z0-9-]*", message)
    if context is None or word is None:
        return None
    options = _options(context.command).values()
    return next((one for one in options if word[0] in one.opts), None)


def _options(command: click.Command) -> dict[str, click.Option]:
    return {name_of(one): one for one in command.params if isinstance(one, click.Option)}


def _of_group(source: Source, group: click.Group, value: object, path: Path_) -> dict[str, Any]:
    """The defaults of each command of a group; mistakes are noted."""
    found: dict[str, Any] = {}
    for name, inner in _mapping(source, value, path, "commands").items():
        command = group.commands.get(str(name))
        if _is_secret(source, name, (*path, name)):
            continue
        if command is None:
            message = f"netdyno has no command `{str(name)[:40]}`"
            source.report_unknown((*path, name), message, str(name), group.commands, "commands", key=True)
        elif isinstance(command, click.Group):
            found[str(name)] = _of_group(source, command, inner, (*path, name))
        else:
            found[str(name)] = _of_command(source, command, inner, (*path, name))
    return found


def _of_command(source: Source, command: click.Command, value: object, path: Path_) -> dict[str, Any]:
    """The defaults of the options of a command, by the names that click has for them."""
    found: dict[str, Any] = {}
    options = _options(command)
    for name, given in _mapping(source, value, path, "options").items():
        place = (*path, name)
        if _is_secret(source, name, place):
            continue
        option = options.get(str(name))
        if option is None or option.name is None:
            message = f"`{' '.join(map(str, path))}` has no option `--{str(name)[:40]}`"
            source.report_unknown(place, message, str(name), options, "options", key=True)
        else:
            found[option.name] = _value(source, option, given, place)
    return found


def _mapping(source: Source, value: object, path: Path_, what: str) -> Mapping[Any, Any]:
    if isinstance(value, Mapping):
        return value
    if value is not None:
        message = f"{what} are given by name"
        source.report(path, message, "write `run: {out: /srv/runs}`", code="wrong-type")
    return {}


def _is_secret(source: Source, name: object, place: Path_) -> bool:
    found = _SECRET.search(str(name)) is not None
    if found:
        source.report(
            place,
            f"`{str(name)[:40]}` looks like a secret, and this file is no place for one",
            "devices' secrets come from the environment alone: NETDYNO_PASSWORD and others, docs/devices.md",
            code="secret-refused",
            key=True,
        )
    return found


def _value(source: Source, option: click.Option, given: object, place: Path_) -> Any:
    """A value as the command line would have it; its type is looked at by the command itself."""
    from netdyno.errors import as_written

    listed = given if isinstance(given, list) else [given]
    if option.is_flag or option.count:
        kind, wanted = (bool, "`true` or `false`") if option.is_flag else (int, "a whole number")
        if type(given) is kind:
            return given
        source.report(place, f"`--{name_of(option)}` is on or off", f"write {wanted}", code="wrong-type")
    elif (isinstance(given, list) and not option.multiple) or any(
        one is None or isinstance(one, bool | list | Mapping) for one in listed
    ):
        wanted = "one value, or a list of values" if option.multiple else "one value"
        source.report(
            place, f"`--{name_of(option)}` takes {wanted}", "as behind the option", code="wrong-type"
        )
    elif option.multiple:
        return [str(one) for one in listed]
    else:
        return as_written(given) if not isinstance(given, str) else given
    return None
