"""Loads a profile and asks it for its streams, as T-Rex's console does."""

from __future__ import annotations

import builtins
import importlib.util
import io
import os
import random
import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stderr
from types import ModuleType
from typing import Any

from netdyno.profiles.stl.packet import Refused

CSIT = ("TrafficStreamsBaseClass", "TrafficStreamsScaleClass")
"""Bases of CSIT's profiles: one call returns the streams of both directions, and two of latency."""
MOST_TEXT = 300


class Failed(Exception):  # noqa: N818
    """Why there are no streams. code: `unknown`, `wants`, `arguments`, `raised`, `nothing`, `no-profile`."""

    def __init__(self, code: str, text: str, line: int = 0, name: str = "") -> None:
        super().__init__(text)
        self.json = {"code": code, "text": text[:MOST_TEXT], "line": line, "name": name[:MOST_TEXT]}


def as_value(text: str) -> Any:
    """A tunable of `key=value` as T-Rex reads it."""
    if text[:1] in "'\"" and text[-1:] == text[:1] and len(text) > 1:
        return text[1:-1]
    lower = text.lower()
    if lower in ("true", "on", "yes"):
        return True
    if lower in ("false", "off", "no"):
        return False
    for read in (lambda one: int(one, 16) if one[:2] in ("0x", "0X") else int(one), float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def both_forms(tunables: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Tunables as options and as keywords. `a=1,b=x` makes both; `--a 1` is options alone."""
    if not tunables or tunables[0].startswith("-"):
        return list(tunables), {}
    options: list[str] = []
    keywords: dict[str, Any] = {}
    for pair in ",".join(tunables).split(","):
        if not pair:
            continue
        name, equals, value = pair.partition("=")
        if not equals:
            raise Failed("arguments", f"`{pair}` is not `name=value`")
        keywords[name.strip()] = as_value(value.strip())
        options += [f"--{name.strip()}", str(keywords[name.strip()])]
    return options, keywords


def _load(path: str) -> ModuleType:
    folder = os.path.dirname(os.path.abspath(path))
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location(os.path.basename(path).rpartition(".")[0], path)
    if spec is None or spec.loader is None:
        raise Failed("no-profile", "no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _line_of(error: BaseException, path: str) -> int:
    """The line of the profile that was last in work when an error came."""
    folder = os.path.dirname(os.path.abspath(path))
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if os.path.abspath(one.filename) == os.path.abspath(path)]
    near = [one for one in frames if os.path.dirname(os.path.abspath(one.filename)) == folder]
    if isinstance(error, SyntaxError) and error.lineno:
        return error.lineno
    return (own or near)[-1].lineno or 0 if own or near else 0


def _why(error: BaseException, path: str, printed: str) -> Failed:
    line = _line_of(error, path)
    if isinstance(error, Failed):
        return error
    if isinstance(error, Refused):
        return Failed("unknown", error.name, line, error.name)
    if isinstance(error, NameError) and error.name and not hasattr(builtins, error.name):
        return Failed("unknown", error.name, line, error.name)
    if isinstance(error, ImportError):
        module = error.name or ""
        # `cannot import name X`: that X is missing.
        name = str(error).split("'")[1] if "cannot import name" in str(error) else module
        return Failed("unknown", name, line, name)
    if isinstance(error, SystemExit):
        last = [one for one in printed.strip().splitlines() if one.strip()]
        if error.code in (0, None):
            return Failed("help", printed.strip()[:4000])
        return Failed("arguments", last[-1].strip() if last else str(error.code), line)
    if isinstance(error, KeyError) and line and str(error.args[0]).isidentifier():
        return Failed("wants", error.args[0], line, error.args[0])
    if isinstance(error, TypeError) and "required" in str(error) and "argument" in str(error):
        return Failed("wants", str(error), line, str(error).rpartition(": ")[2].strip("'"))
    if isinstance(error, MemoryError):
        return Failed("raised", "out of memory", line)
    return Failed("raised", f"{type(error).__name__}: {error}", line)


def _streams(found: Any) -> list[Any]:
    listed = found.get_streams() if hasattr(found, "get_streams") else found
    streams = list(listed) if isinstance(listed, list | tuple) else [listed]
    if not streams or any(one is None for one in streams):
        raise Failed("nothing", "get_streams returned no streams")
    return streams


def ask(path: str, tunables: Sequence[str], ports: Sequence[int]) -> dict[str, Any]:
    """The streams of each port as T-Rex's JSON: `{"ports": [[stream, ...], ...]}` or `{"failed": {...}}`."""
    printed = io.StringIO()
    try:
        options, keywords = both_forms(tunables)
        random.seed(1)
        with redirect_stderr(printed):
            module = _load(path)
        if not hasattr(module, "register"):
            raise Failed("no-profile", "no function `register`")
        of_ports, notes = [], []
        for port in ports:
            # The same letters in the payload of both directions.
            random.seed(1)
            with redirect_stderr(printed):
                profile = module.register()
                given = {**keywords, "tunables": list(options)}
                found = _streams(profile.get_streams(direction=port % 2, port_id=port, **given))
            of_ports.append(found)
            if any(base.__name__ in CSIT for base in type(profile).__mro__):
                of_ports = _of_csit(found)
                left = len(found) - sum(map(len, of_ports))
                notes = (
                    [f"CSIT's {left} latency streams are left out: their frames are the same"] if left else []
                )
                break
        return {"ports": [_as_json(streams) for streams in of_ports], "notes": notes}
    except BaseException as error:
        return {"failed": _why(error, path, printed.getvalue()).json}


def _of_csit(found: list[Any]) -> list[list[Any]]:
    """Half the streams are of one direction, half of the other. Those of latency, whose frames are the same,
    are left out."""
    plain = [one for one in found if _json_of(one)["flow_stats"].get("rule_type") != "latency"]
    half = len(plain) // 2
    return [plain[:half], plain[half:]]


def _json_of(stream: Any) -> dict[str, Any]:
    json = stream.json if isinstance(getattr(stream, "json", None), dict) else stream.to_json()
    return dict(json)


def _as_json(streams: list[Any]) -> list[dict[str, Any]]:
    return [_json_of(one) for one in streams]
