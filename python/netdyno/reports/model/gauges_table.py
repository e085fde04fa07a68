"""What drivers read of the device during the load, as a table: least, mean and highest of each gauge."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from netdyno.reports.model.device import held
from netdyno.reports.model.view import CaseView, TrialView
from netdyno.values import number as printed
from netdyno.values.breaks import ADJACENCY, PING
from netdyno.values.gauge import numbers_within
from netdyno.values.outcome import FrameCounts
from netdyno.values.series import Series
from netdyno.verdict.printed_rates import QUANTITIES

TITLE = "Device during the load"
COLUMNS = ("Of", "Quantity", "Unit", "Min", "Mean", "Max", "Readings", "Source")
LEFT = 3
"""Columns of text before those of numbers."""
MOST_ROWS = 60
MOST_CASES = 12
"""In Markdown."""
_UNREAD = {
    "reading-refused": "The device refused",
    "reading-not-understood": "In a form that is not known",
    "reading-empty": "Without a value",
    "reading-too-long": "Too long to be read",
}
"""Codes of readings that a device has not, and what stands before their commands."""


def rows(case: CaseView) -> list[tuple[str, ...]]:
    """A row for each gauge in the trial that received most, while it held its load or over all of it."""
    trial = _trial(case)
    if trial is None:
        return []
    span = held(trial)
    begin_ns, for_ns = (0, trial.duration_ns) if span is None else (span[1], span[0].duration_ns)
    every = [_row(one, begin_ns, begin_ns + for_ns) for one in _gauges(trial) if one.values]
    return every[:MOST_ROWS]


def caption(case: CaseView) -> str:
    """Which trial, and what was not read of it; empty: no driver read anything."""
    trial = _trial(case)
    if trial is None:
        return ""
    over = "all of it" if held(trial) is None else "the time its load was held"
    more = sum(1 for one in _gauges(trial) if one.values) - MOST_ROWS
    further = f" {more} more rows are in `--as json`." if more > 0 else ""
    own = ("Its own texts: `netdyno report RUN --as transcript`.",) if _has_commands(trial) else ()
    return " ".join((f"Trial `{trial.name}`, over {over}.{further}", *_not_read(trial), *own))


def _has_commands(trial: TrialView) -> bool:
    """Whether the device was asked by commands, whose texts are in the record."""
    return any(one.command for one in trial.result.series)


def _trial(case: CaseView) -> TrialView | None:
    read = [
        trial
        for trial in case.resting_trials
        if isinstance(trial.result.counts, FrameCounts) and any(_gauges(trial))
    ]
    return max(read, key=lambda trial: sum(trial.samples.rx), default=None)


def _gauges(trial: TrialView) -> Iterator[Series]:
    for one in trial.result.series:
        # Averages of a port's rate have a table of their own.
        is_rate = one.window_ns is not None and one.name in QUANTITIES
        if not one.is_counter and not is_rate and one.source not in (ADJACENCY, PING):
            yield one


def _row(one: Series, begin_ns: int, end_ns: int) -> tuple[str, ...]:
    found = numbers_within(one, begin_ns, end_ns)
    window = "" if one.window_ns is None else f" ({printed.duration(one.window_ns)} average)"
    numbers = ("n/a",) * 3
    if found:
        mean = sum(found, Fraction(0)) / len(found)
        places = min(one.scale, 3)
        numbers = (
            printed.decimal(min(found), places),
            printed.decimal(mean, min(places + 1, 3)),
            printed.decimal(max(found), places),
        )
    unit = "°C" if one.unit == "C" else one.unit
    source = one.command or one.source
    return (one.subject, f"{one.name}{window}", unit, *numbers, str(len(found)), source)


def _not_read(trial: TrialView) -> Iterator[str]:
    """Commands that gave nothing, by why."""
    found: dict[str, dict[str, None]] = {}
    for one in trial.result.series:
        for missed in one.missed if not one.values else ():
            command = missed.reason.fields().get("command")
            if missed.reason.code in _UNREAD and command:
                found.setdefault(missed.reason.code, {})[f"`{command}`"] = None
    for code, commands in found.items():
        yield f"{_UNREAD[code]}: {', '.join(commands)}."
