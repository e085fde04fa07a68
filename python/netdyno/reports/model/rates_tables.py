"""Rates of the device as tables: of its counters, and as it printed them, with what must be known of them."""

from __future__ import annotations

from collections import Counter

from netdyno.errors import counted
from netdyno.reports.model import device
from netdyno.reports.model.device_rates import CounterRate, device_rates
from netdyno.reports.model.table import PRINTED, Table
from netdyno.reports.model.view import CaseView
from netdyno.values import number as printed
from netdyno.values.finding import columns

COUNTED = columns(
    f"Device port and way | Counter | From: {PRINTED} | To: {PRINTED} | Rate: {PRINTED}"
    f" | At least: {PRINTED} | At most: {PRINTED}"
)
COMPARED = columns(
    f"Port | Trial | Way | Window | Device printed: {PRINTED} | Tester predicts: {PRINTED} | Answer"
)
MORE = 2
"""Digits of a rate beyond the usual ones: bounds are close to it."""
MOST_ROWS = 40
"""Rates that the device printed: of a search with many trials the first ones."""


def counter_table(case: CaseView) -> Table:
    """The trial and its hold, an example of each reason why rates are unknown, and a row for each counter."""
    found = device_rates(case)
    if found is None:
        return Table()
    begin, end = printed.duration(found.begin_ns), printed.duration(found.end_ns)
    text = f"Trial `{found.trial.name}`, load held from {begin} to {end}; between changes of each counter."
    reasons = [one.found.reason for one in found.rates if one.found.reason is not None]
    # Ports are many, and as a rule unknown for one reason.
    first = {reason.code: str(reason) for reason in reversed(reasons)}
    said = " ".join((text, *first.values()))
    rows = [_counter_row(one) for one in found.rates]
    return Table("Rates of the device's counters", (said,), COUNTED, rows)


def _counter_row(one: CounterRate) -> tuple[str, ...]:
    found = one.found
    if found.rate is None:
        rate = "unknown" if found.reason is None else f"unknown ({found.reason.code})"
    else:
        rate = printed.rate(found.rate, one.unit, more=MORE)
    return (
        f"{one.port} {one.way}",
        one.counter,
        printed.duration(found.begin_ns),
        printed.duration(found.end_ns),
        rate,
        "" if found.low is None else printed.rate(found.low, one.unit, "at least", MORE),
        "" if found.high is None else printed.rate(found.high, one.unit, "at most", MORE),
    )


def printed_table(case: CaseView) -> Table:
    """A row for each rate that could be compared, and why others could not, once for each reason."""
    every = device.printed_rates(case)
    left = Counter(str(one.answer) for _, one in every if one.predicted is None)
    said = " ".join(f"Not compared: {counted(many, 'average')}, {why}." for why, many in left.items())
    rows = []
    for trial, one in [found for found in every if found[1].predicted is not None][:MOST_ROWS]:
        unit = "pps" if one.is_of_frames else "bit/s"
        numbers = ("" if rate is None else printed.rate(rate, unit) for rate in (one.rate, one.predicted))
        rows.append(
            (one.port, trial.name, one.way, printed.duration(one.window_ns), *numbers, str(one.answer))
        )
    return Table("Rates the device printed", (said,) if said else (), COMPARED, rows)
