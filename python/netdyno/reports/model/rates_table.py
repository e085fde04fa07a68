"""The rates of the device's counters as a table, with what must be known of it."""

from __future__ import annotations

from netdyno.reports.model.device_rates import CounterRate, device_rates
from netdyno.reports.model.view import CaseView
from netdyno.values import number as printed

TITLE = "Rates of the device's counters"
COLUMNS = ("Device port and way", "Counter", "From", "To", "Rate", "At least", "At most")
LEFT = 2
"""Columns of text; the others are numbers."""
MORE = 2
"""Digits of a rate beyond the usual ones: bounds are close to it."""


def caption(case: CaseView) -> str:
    """The trial and its hold, then an example of each reason why rates are unknown; empty: there are none."""
    found = device_rates(case)
    if found is None:
        return ""
    begin, end = printed.duration(found.begin_ns), printed.duration(found.end_ns)
    text = f"Trial `{found.trial.name}`, load held from {begin} to {end}; between changes of each counter."
    reasons = [one.found.reason for one in found.rates if one.found.reason is not None]
    # Ports are many, and as a rule unknown for one reason.
    first = {reason.code: str(reason) for reason in reversed(reasons)}
    return " ".join((text, *first.values()))


def rows(case: CaseView) -> list[tuple[str, ...]]:
    """A row for each counter; empty: there are none."""
    found = device_rates(case)
    return [] if found is None else [_row(one) for one in found.rates]


def _row(one: CounterRate) -> tuple[str, ...]:
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
