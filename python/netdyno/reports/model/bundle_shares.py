"""How evenly traffic arrived over the tester's ports behind a LAG or ECMP group of the device."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from netdyno.reports.model.lag_members import SHARE_COLUMNS, list_shares
from netdyno.reports.model.table import Table, table_of_cases
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values.finding import Cell, columns

TITLE = "Ports of a bundle"
CAPTION = (
    "Test frames that arrived at each port behind a LAG or ECMP group of the device, in order of the links,"
    " over the trials that the result rests on."
)
COLUMNS = columns(f"ports | arrived: frames | {SHARE_COLUMNS}")


def tables(run: RunView) -> tuple[Table, ...]:
    """A row for each case and bundle; none where no link is of one."""
    rows = [(case, row) for case in run.cases for row in _rows(case)]
    return (table_of_cases(run, TITLE, CAPTION, COLUMNS, rows),) if rows else ()


def _rows(case: CaseView) -> Iterator[tuple[Cell, ...]]:
    made = [trial.result for trial in case.resting_trials]
    # The members of a LAG of the tester are in a table of their own.
    bundles = dict.fromkeys(place.bundle for place in case.places if place.bundle)
    for bundle in (one for one in bundles if one not in case.lags):
        # A record may come from a stranger.
        known = [one.ports for one in made if len(one.ports) > max(bundle)]
        frames = [sum(ports[port].test_frames for ports in known) for port in bundle]
        if any(frames):
            names = ", ".join(known[0][port].name for port in bundle)
            yield names, Fraction(sum(frames)), *list_shares(frames)
