"""Finds templates by their names: the ready ones of netdyno, and files beside a plan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from netdyno.errors import closest, names, suggestion

READY = Path(__file__).parent / "templates"
ALSO = {"cisco_ios": ("cisco_ios", "cisco_iosxe")}
"""Folders of the ready templates for a driver, if others than its own: IOS takes what IOS XE does."""
LONGEST_TEMPLATE = 100_000
"""Bytes of a template's file."""
MOST_FILES = 1000
"""Files of a folder beside the plan that are looked at."""
MOST_NAMED = 6
"""Of them in a hint."""


@dataclass(eq=False)
class TemplateFault(Exception):  # noqa: N818, it becomes an error with a code
    """What is wrong with a template. line: from 1; 0: unknown. why: a clause. hint: what to do about it.

    absent: the template that there is none of.
    """

    name: str
    line: int
    why: str
    hint: str | None = None
    absent: str | None = None


def list_ready(driver: str) -> tuple[str, ...]:
    """Names of the ready templates for a driver."""
    return tuple(sorted(path.stem for folder in _folders(driver) for path in folder.glob("*.j2")))


def _folders(driver: str) -> tuple[Path, ...]:
    return tuple(READY / name for name in ALSO.get(driver, (driver,)))


def list_files(folder: str, beside: Path | None) -> Iterator[str]:
    """Files in a folder below the plan's, as a plan names them. folder: empty, or ending in `/`."""
    if beside is None or not is_name(folder.rstrip("/") or "-"):
        return
    with suppress(OSError):
        yield from (f"{folder}{path.name}" for path in islice((beside / folder).iterdir(), MOST_FILES))


def is_name(text: str) -> bool:
    """Whether a text is the name of a file below the plan's folder."""
    return re.fullmatch(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)*", text) is not None


def find_source(name: str, driver: str, beside: Path | None) -> str | None:
    """The source of a template. A file that a link leads out of the plan's folder is none of it."""
    if not is_name(name):
        return None
    for ready in (folder / f"{name}.j2" for folder in _folders(driver)):
        if "/" not in name and ready.is_file():
            return ready.read_text(encoding="utf-8")
    if beside is None:
        return None
    path = (beside / name).resolve()
    if not path.is_relative_to(beside.resolve()) or not path.is_file():
        return None
    try:
        if path.stat().st_size > LONGEST_TEMPLATE:
            why = f"it is longer than {LONGEST_TEMPLATE:,} bytes"
            raise TemplateFault(name, 0, why, "split it by `include`")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TemplateFault(name, 0, f"it cannot be read: {error}", "write it as UTF-8") from error


def explain_absence(name: str, driver: str, beside: Path | None) -> tuple[str, str]:
    """Why there is no template of a name, and what to do.

    A ready one of another driver, a file whose name is alike, or the ready ones.
    """
    others = [one.name for one in sorted(READY.iterdir()) if one.is_dir() and name in list_ready(one.name)]
    if others:
        return f"`{name}` is not for `{driver}`", f"it is ready for {names(others)}: check `driver`"
    ready = list_ready(driver)
    if beside is None:
        return f"there is no template `{name}`", suggestion(name, ready, f"ready for `{driver}`")
    if not is_name(name):
        why = "is no name of a file in the plan's folder or below"
        return f"there is no template `{name}`: it {why}", suggestion(name, ready, f"ready for `{driver}`")
    folder = f"{name.rpartition('/')[0]}/".lstrip("/")
    where = (beside / folder).resolve()
    files = sorted(one for one in list_files(folder, beside) if one.endswith(".j2"))
    why = f"there is no template `{name}`: neither a ready one for `{driver}` nor a file in `{where}`"
    if f"{name}.j2" in files:
        return why, f"a file is named in full: write `{name}.j2`"
    if files and ("." in name or "/" in name):
        return why, suggestion(name, closest(name, files)[:MOST_NAMED], "templates there")
    return why, suggestion(name, ready, f"ready for `{driver}`")
