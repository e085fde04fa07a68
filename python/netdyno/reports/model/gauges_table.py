"""What drivers read of the device during the load, as a table: least, mean and highest of each gauge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from netdyno.reports.model.device import held
from netdyno.reports.model.table import PRINTED, Table
from netdyno.reports.model.view import CaseView, TrialView
from netdyno.values import number as printed
from netdyno.values.breaks import ADJACENCY, PING
from netdyno.values.finding import columns
from netdyno.values.gauge import numbers_within
from netdyno.values.outcome import SENDERS_KERNEL
from netdyno.values.series import Series
from netdyno.values.served import SOURCE as SERVED
from netdyno.verdict.printed_rates import QUANTITIES

COLUMNS = columns(
    f"Of | Quantity | Unit | Min: {PRINTED} | Mean: {PRINTED} | Max: {PRINTED} | Readings: {PRINTED} | Source"
)
MOST_ROWS = 60
MOST_CASES = 12
"""In Markdown."""
APART = (SENDERS_KERNEL, SERVED)
"""Sources of gauges that are none of the device."""
_UNREAD = {
    "reading-refused": "The device refused",
    "reading-not-understood": "In a form that is not known",
    "reading-empty": "Without a value",
    "reading-too-long": "Too long to be read",
    "reading-late": "Not answered in time",
}
"""Codes of readings that a device has not, and what stands before their commands."""

_SAID = ("sensors-left-out", "wide-counter-still")
"""Codes of what an agent has and was not read, whose sentences say all."""

_UNITS = {"C": "°C"}
_SCALED = {"bit/s": ("Mbit/s", 10**6, 1), "ns": ("ms", 10**6, 2), "ppm": ("%", 10**4, 1)}
"""Units with too many digits for a reader, what is printed in their place, its divisor and its decimals."""
MEGABYTE = 10**6


@dataclass(frozen=True)
class Read:
    """Gauges of a trial with readings between two times, and the number of those without any there."""

    trial: TrialView
    begin_ns: int
    end_ns: int
    found: tuple[tuple[Series, tuple[Fraction, ...]], ...]
    without: int


def table(case: CaseView) -> Table:
    """A row for each gauge in the trial that received most, while it held its load, and what was not read.

    Over all of the trial where it held none, or where no reading fell into that time.
    """
    return _table(case, "Device during the load", None)


def kernel_table(case: CaseView) -> Table:
    """The same of what the senders' kernel said of their connections."""
    return _table(case, "TCP during the load", SENDERS_KERNEL)


def served_table(case: CaseView) -> Table:
    """The same of an emulated device that this machine serves."""
    return _table(case, "How the emulated device was served", SERVED)


def _table(case: CaseView, name: str, source: str | None) -> Table:
    read = _read(case, source)
    rows = [] if read is None else [_row(one, numbers) for one, numbers in read.found[:MOST_ROWS]]
    said = () if read is None else (_caption(read, source),)
    return Table(name, said, COLUMNS, rows)


def _caption(read: Read, source: str | None) -> str:
    trial = read.trial
    span = held(trial)
    over = "the time its load was held" if span == (read.begin_ns, read.end_ns) else "all of it"
    sentences = [f"Trial `{trial.name}`, over {over}."]
    if span is not None and read.without:
        length = printed.duration(span[1] - span[0])
        some = f"{read.without} quantit{'y' if read.without == 1 else 'ies'}"
        which = "any quantity" if span != (read.begin_ns, read.end_ns) else some
        sentences.append(f"No reading fell into the {length} of load for {which}: hold the load longer.")
    more = len(read.found) - MOST_ROWS
    if more > 0:
        sentences.append(f"{more} more rows are in `--as json`.")
    if source is not None:
        return " ".join(sentences)
    sentences += _not_read(trial)
    if any(one.command for one in trial.result.series):
        sentences.append("Its own texts: `netdyno report RUN --as transcript`.")
    return " ".join(sentences)


def _read(case: CaseView, source: str | None) -> Read | None:
    """The gauges of a case; None: no driver read anything."""
    trial = _trial(case, source)
    if trial is None:
        return None
    every = [one for one in _gauges(trial, source) if one.values]
    whole = (0, trial.duration_ns)
    span = held(trial) or whole
    found = _with_readings(every, *span)
    if found or not every:
        return Read(trial, *span, found, len(every) - len(found))
    return Read(trial, *whole, _with_readings(every, *whole), len(every))


def _with_readings(
    every: Iterable[Series], begin_ns: int, end_ns: int
) -> tuple[tuple[Series, tuple[Fraction, ...]], ...]:
    read = ((one, tuple(numbers_within(one, begin_ns, end_ns))) for one in every)
    return tuple((one, numbers) for one, numbers in read if numbers)


def _trial(case: CaseView, source: str | None) -> TrialView | None:
    read = [trial for trial in case.resting_trials if any(_gauges(trial, source))]
    return max(read, key=lambda trial: sum(trial.result.samples.rx), default=None)


def _gauges(trial: TrialView, source: str | None) -> Iterator[Series]:
    """Those of a source. None: of the device, that is of every other source."""
    for one in trial.result.series:
        if one.source != source and (source is not None or one.source in APART):
            continue
        # Averages of a port's rate have a table of their own.
        is_rate = one.window_ns is not None and one.name in QUANTITIES
        if not one.is_counter and not is_rate and one.source not in (ADJACENCY, PING):
            yield one


def _row(one: Series, found: tuple[Fraction, ...]) -> tuple[str, ...]:
    window = "" if one.window_ns is None else f" ({printed.duration(one.window_ns)} average)"
    unit = _UNITS.get(one.unit, one.unit)
    # Readings have so many decimals, and their mean one more.
    places, more = min(one.scale, 3), 1
    if one.unit == "B" and max(found) >= MEGABYTE:
        # Nine digits of bytes say less than three of megabytes.
        found, unit, places, more = tuple(value / MEGABYTE for value in found), "MB", 1, 0
    if one.source in APART and (scaled := _SCALED.get(unit)):
        unit, divisor, places, more = *scaled, 1
        found = tuple(value / divisor for value in found)
    mean = sum(found, Fraction(0)) / len(found)
    numbers = (
        printed.decimal(min(found), places),
        printed.decimal(mean, min(places + more, 3)),
        printed.decimal(max(found), places),
    )
    source = one.command or one.source
    return (one.subject, f"{one.name}{window}", unit, *numbers, str(len(found)), source)


def _not_read(trial: TrialView) -> Iterator[str]:
    """Commands that gave nothing, by why, and what an agent has beside."""
    found: dict[str, dict[str, None]] = {}
    sentences: dict[str, None] = {}
    for one in trial.result.series:
        for missed in one.missed if not one.values else ():
            reason, fields = missed.reason, missed.reason.fields()
            if reason.code in _UNREAD and fields.get("command"):
                found.setdefault(reason.code, {})[_place(**fields)] = None
            elif reason.code in _SAID:
                sentences[str(reason)] = None
    for code, commands in found.items():
        yield f"{_UNREAD[code]}: {', '.join(commands)}."
    yield from sentences


def _place(command: str, line: int | None = None, shown: str = "", **_: object) -> str:
    """A command, and the line of its text that is not understood."""
    if not shown:
        return f"`{command}`"
    shown = shown.replace("`", "'")
    return f"`{command}` (line {line}: `{shown}`)" if line else f"`{command}` (`{shown}`)"
