"""Formats of reports over stored runs, one file each, and their table. They measure nothing.

`render([run], "html")` gives the bytes of a report. Adding a format is one file in `formats/` with
`render(runs: RunSet, look: Look) -> bytes` and one line in `FORMATS`. Formats of one module are its levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Literal, TypeAlias

from netdyno.values.table import load_entry

if TYPE_CHECKING:
    from netdyno.reports.model.run_set import RunSet
    from netdyno.reports.model.view import RunView


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


@dataclass(frozen=True)
class Format:
    """A rendering of one run or of several, in a module of `formats`.

    The module is imported when it renders: figures import slowly.
    """

    name: str
    """What `--as` calls it."""
    suffix: str
    """Of a file that holds it."""
    help: str
    takes_several: bool = False
    """Whether it shows more than one run; else `render` gets a set of one."""
    omits: tuple[Part, ...] = ()
    """What it leaves out, which all others have."""
    shows_texts: bool = False
    """Whether it shows what devices printed, which all others leave in the record."""
    module: str = ""
    """Its module, if that has another name."""
    is_of_a_case: bool = False
    """Whether it shows one case: `render` gets a run with that alone (`reports/each_case.py`)."""

    def render(self, runs: RunSet, look: Look) -> bytes:
        """The report, UTF-8 if it is text."""
        module = f"netdyno.reports.formats.{self.module or self.name}"
        page: bytes = load_entry(module, "render", FunctionType)(runs, replace(look, level=self.name))
        return page


# fmt: off
_ALL = (
    Format("terminal", ".txt", "tables for a terminal: every number, its share of line rate and its limit"),
    Format("summary", ".summary.txt", "one screen, as `netdyno run` ends: headline numbers and limits",
           module="terminal"),
    Format("brief", ".brief.txt", "one line a run: the range of the headline numbers, and the limits",
           takes_several=True, omits=("failures",), module="terminal"),
    Format("html", ".html", "one self-contained page with zoomable figures; works offline, prints to PDF"),
    Format("markdown", ".md", "the tables, for an article or a wiki"),
    Format("markdown-summary", ".summary.md", "the first screen and the goals, for the page of a CI job",
           module="markdown"),
    Format("junit", ".junit.xml", "for a CI server: a test for each case and each goal, with its reason"),
    Format("csv", ".csv", "one row a value, exact counts, units in the column names; not the tables",
           omits=("device",)),
    Format("tables", ".tables.csv", "the tables of the methods and of modifiers as CSV, one after the other",
           omits=("device", "failures"), module="csv"),
    Format("json", ".json", "everything: settings, values, counts, phases, health, series of instruments"),
    Format("json-small", ".small.json", "the results alone: plain numbers, their unit in the key, and exact",
           module="json"),
    Format("series", ".series.csv", "what instruments of the device read, as CSV: one row a sample",
           takes_several=True, omits=("device", "failures")),
    Format("transcript", ".transcript.txt", "what devices printed for each command, word for word, and when",
           omits=("failures",), shows_texts=True),
    Format("ipng", ".json", "a ramp between two ports as the JSON that trex-loadtest-viz draws; one case",
           omits=("device", "failures"), is_of_a_case=True),
)
# fmt: on
FORMATS: dict[str, Format] = {one.name: one for one in _ALL}
"""In the order `--help` lists them."""


def render(runs: Sequence[RunView], name: str, look: Look | None = None) -> bytes:
    """Runs as one report. Raises KeyError for a name that is not in FORMATS."""
    from netdyno.reports.model.run_set import RunSet

    return FORMATS[name].render(RunSet(tuple(runs)), look or Look())
