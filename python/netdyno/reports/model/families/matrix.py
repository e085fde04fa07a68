"""A matrix of rates: a row for each profile and direction, a letter for each limit."""

from __future__ import annotations

from collections.abc import Sequence

from netdyno.reports.model import grid
from netdyno.reports.model.answer import FULL, extremes, fills_member, judged
from netdyno.reports.model.shown import Shown
from netdyno.reports.model.table import small_table
from netdyno.reports.model.view import CaseView, RunView

FEW = 12
"""Cases up to which each has a row of its own; more are a matrix, where they are rates."""

LETTERS = {
    "line": "L",
    "device": "D",
    "link": "K",
    "licence": "C",
    "shaper": "S",
    "policer": "P",
    "loss": "X",
    "receive-window": "W",
    "send-buffer": "B",
    "tester": "T",
    "receiver": "R",
    "fixture": "F",
    "none": "",
    "inconclusive": "?",
    "invalid": "!",
    "failed": "!",
}
"""Limits in the cells of a matrix."""


def is_matrix(run: RunView) -> bool:
    """Whether a run is shown as a heat map: many cases of one rate, in several combinations of settings."""
    one_rate = run.rated and len(run.headline_names) == 1 and len(judged(run)) == 1
    return one_rate and len(run.places) > FEW and len(run.combinations) > 1


def show(run: RunView) -> Shown:
    """A row for each profile and direction, a column for each combination, a letter for each limit."""
    rows: list[tuple[str, ...]] = []
    used: dict[str, str] = {}
    before = ""
    for profile, direction, places in grid.matrix(run):
        name = "" if profile == before else profile
        rows.append((name, direction, *(_cell(run, cases, used) for cases in places)))
        before = profile
    legend = ", ".join(f"{letter} {limit}" for letter, limit in used.items() if letter)
    caption = f"{', '.join(run.headline_names)}, {'% of line rate' if run.shares else 'pps'}; limit: {legend}"
    headings = ("", "", *(" / ".join(one) or ", ".join(run.device_titles) for one in run.combinations))
    return Shown(extremes(run), small_table(headings, tuple(rows), caption, left=2))


def _cell(run: RunView, cases: Sequence[CaseView], used: dict[str, str]) -> str:
    """`98.5 D`. used: takes in what the letter says."""
    if not cases:
        return ""
    cell = grid.place(cases)
    share = cell.share_of_line if run.shares else None
    letter, meaning = LETTERS.get(cell.limit, "?"), cell.limit
    if letter == "L" and share is not None and share < FULL and fills_member(cell.case):
        letter, meaning = "L*", "the line of one LAG member"
    used[letter] = meaning
    return f"{cell.number if share is None else _digits(cell.share.removesuffix(' %'))} {letter}".strip()


def _digits(text: str) -> str:
    return "100" if text == "100.0" else text
