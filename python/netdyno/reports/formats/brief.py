"""One line a run: what was tested, its range of headline numbers, and how often which limit was named."""

from __future__ import annotations

from collections.abc import Sequence

from netdyno.errors import counted
from netdyno.reports import Look
from netdyno.reports.model.families import span_of
from netdyno.reports.model.headline import headline
from netdyno.reports.model.view import RunView
from netdyno.values.printable import printable

TITLE = 24
NUMBER = 22


def render(runs: Sequence[RunView], look: Look) -> bytes:
    """A line for each run."""
    return "".join(map(text, runs)).encode()


def text(run: RunView) -> str:
    """The line."""
    shown = headline(run)
    measured = [case for case in run.cases if case.headline is not None and case.headline.number is not None]
    number = span_of(measured) or (shown.numbers[0].text if shown.numbers else "no number")
    counts: dict[str, int] = {}
    for case in run.cases:
        counts[case.limit()] = counts.get(case.limit(), 0) + 1
    limits = ", ".join(f"{limit} {count}" for limit, count in counts.items())
    answer, _ = shown.calibrated
    told = {
        "yes": "; calibrated",
        "no": "; not calibrated",
        "does not hold": "; calibration does not hold",
    }.get(answer, "")
    title, many = printable(shown.title), counted(len(run.cases), "test")
    return f"{title:<{TITLE}}  {number:>{NUMBER}}  {many}, limit: {limits}{told}\n"
