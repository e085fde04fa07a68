"""What instruments read, as CSV: one row a sample, exact, its unit beside it."""

from __future__ import annotations

import csv
import io

from netdyno.reports import Look
from netdyno.reports.model.run_set import RunSet
from netdyno.values import number as printed
from netdyno.values.printable import printable
from netdyno.values.series import MOST_DIGITS

COLUMNS = ("run", "case", "name", "trial", "attempt", "source", "subject", "series", "unit", "at_ns", "value")


def render(runs: RunSet, look: Look) -> bytes:
    """The samples of all runs (RFC 4180, but `\\n` ends a line), after a header."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(COLUMNS)
    for run in runs.runs:
        for case in run.cases:
            for trial in case.trials:
                for one in trial.result.series:
                    of = (run.id, case.number, case.name, trial.number, trial.attempt)
                    about = (one.source, one.subject, one.name, one.unit)
                    begin = [printable(str(cell)) for cell in (*of, *about)]
                    for at, number in zip(one.times_ns, one.numbers, strict=True):
                        writer.writerow([*begin, at, printed.exact(number, places=MOST_DIGITS)])
    return target.getvalue().encode()
