"""Formats of one case: a file for each case of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from netdyno.errors import NetdynoError
from netdyno.reports import FORMATS, render
from netdyno.reports.model.view import CaseView, RunView

LONGEST = 200
"""Bytes of a file's name without its suffix."""


def case_file(case: CaseView) -> str:
    """The name of its file without a suffix: `forwarding=ipv4,profile=64b,direction=bidir`.

    What no file's name may hold is written as in addresses (`%2F`); a name that would be too long is the
    number of the case.
    """
    axes = {axis: value for axis, value in case.axes.items() if value}
    if case.repeat is not None:
        axes["repeat"] = str(case.repeat)
    name = ",".join(f"{quote(axis, safe=' ')}={quote(value, safe=' ')}" for axis, value in axes.items())
    return name if 0 < len(name) <= LONGEST else f"case-{case.number}"


def render_each(run: RunView, name: str) -> Iterator[tuple[str, bytes | NetdynoError]]:
    """The file of each case and what is in it, or why the format has no room for that case."""
    for case in run.cases:
        page: bytes | NetdynoError
        try:
            page = render([replace(run, cases=(case,))], name)
        except NetdynoError as error:
            page = error
        yield f"{case_file(case)}{FORMATS[name].suffix}", page
