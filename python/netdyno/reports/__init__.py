"""Formats of reports over stored runs, one file each, and their table. They measure nothing.

`render([run], "html")` gives the bytes of a report. Adding a format is one file in `formats/` with
`render(runs: RunSet, look: Look) -> bytes` and one line in `FORMATS`. Formats of one module are its levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from netdyno.values.table import load_entry

if TYPE_CHECKING:
    from netdyno.reports.model.run_set import RunSet
    from netdyno.store import StoredRun


@dataclass(frozen=True)
class Look:
    """How a report is shown. A format heeds what applies to it: a page has no columns."""

    width: int = 100
    """Columns of the terminal."""
    colour: bool = False
    level: str = ""
    """Which of the formats of a module is asked for, by its name."""


Part: TypeAlias = Literal["device", "failures"]
"""What a report says of a run beside its results: the device's title; cases without a result, and why."""


class Format(Protocol):
    """A rendering of one run or of several."""

    @property
    def name(self) -> str:
        """What `--as` calls it."""

    @property
    def suffix(self) -> str:
        """Of a file that holds it."""

    @property
    def help(self) -> str: ...
    @property
    def takes_several(self) -> bool:
        """Whether it shows more than one run; else `render` gets a set of one."""

    @property
    def omits(self) -> tuple[Part, ...]:
        """What it leaves out, which all others have."""

    @property
    def shows_texts(self) -> bool:
        """Whether it shows what devices printed, which all others leave in the record."""

    def render(self, runs: RunSet, look: Look) -> bytes:
        """The report, UTF-8 if it is text."""


@dataclass(frozen=True)
class _File:
    """A format in a module of `formats`, imported when it renders: figures import slowly. module: its name,
    if it is not the format's."""

    name: str
    suffix: str
    help: str
    takes_several: bool = False
    omits: tuple[Part, ...] = ()
    shows_texts: bool = False
    module: str = ""

    def render(self, runs: RunSet, look: Look) -> bytes:
        module = f"netdyno.reports.formats.{self.module or self.name}"
        page: bytes = load_entry(module, "render", FunctionType)(runs, replace(look, level=self.name))
        return page


# fmt: off
_ALL: tuple[Format, ...] = (
    _File("terminal", ".txt", "tables for a terminal: every number, its share of line rate and its limit"),
    _File("summary", ".summary.txt", "one screen, as `netdyno run` ends: headline numbers and limits",
          module="terminal"),
    _File("brief", ".brief.txt", "one line a run: the range of the headline numbers, and the limits",
          takes_several=True, omits=("failures",), module="terminal"),
    _File("html", ".html", "one self-contained page with zoomable figures; works offline, prints to PDF"),
    _File("markdown", ".md", "the tables, for an article or a wiki"),
    _File("csv", ".csv", "one row a value, exact counts, units in the column names; not the tables",
          omits=("device",)),
    _File("tables", ".tables.csv", "the tables of the methods and of modifiers as CSV, one after the other",
          omits=("device", "failures"), module="csv"),
    _File("json", ".json", "everything: settings, values, counts, phases, health, series of instruments"),
    _File("json-small", ".small.json", "the results alone: plain numbers, their unit in the key, and exact",
          module="json"),
    _File("series", ".series.csv", "what instruments of the device read, as CSV: one row a sample",
          takes_several=True, omits=("device", "failures")),
    _File("transcript", ".transcript.txt", "what devices printed for each command, word for word, and when",
          omits=("failures",), shows_texts=True),
)
# fmt: on
FORMATS: dict[str, Format] = {one.name: one for one in _ALL}
"""In the order `--help` lists them."""


def render(runs: Sequence[StoredRun], name: str, look: Look | None = None) -> bytes:
    """Stored runs as one report. Raises KeyError for a name that is not in FORMATS."""
    from netdyno.reports.model.from_store import view
    from netdyno.reports.model.run_set import RunSet

    report = FORMATS[name]
    found = tuple(view(run, with_texts=report.shows_texts) for run in runs)
    return report.render(RunSet(found), look or Look())
