"""What a driver configured and read of the device: software, configuration, CPU and power, a row a case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from netdyno.errors import CHANGED, counted, without_commands
from netdyno.reports.model import device
from netdyno.reports.model.table import PRINTED, Table
from netdyno.reports.model.view import CaseView, RunView, TrialView
from netdyno.values import number as printed
from netdyno.values.finding import columns
from netdyno.values.reason import Reason
from netdyno.values.records import Configured
from netdyno.values.series import Series

COLUMNS = columns(
    f"Case | Configuration | Software | CPU, highest of whole trials | Power in the hold: {PRINTED}"
    f" | Power before: {PRINTED} | Mpps/W: {PRINTED}"
)
FAILED = "reading-failed"
LEFT_BEHIND = "configuration-not-undone"
MINUTE_NS = 60 * 10**9


@dataclass(frozen=True)
class Highest:
    """The highest reading of a CPU in the trials of a case. window_ns: that the device averaged."""

    subject: str
    name: str
    percent: Fraction
    window_ns: int | None

    def __str__(self) -> str:
        average = "" if self.window_ns is None else f", {describe_average(self.window_ns)}"
        return f"{printed.decimal(self.percent, 1)} % ({self.name} of {self.subject}{average})"


def describe_average(window_ns: int) -> str:
    """`1 min average`."""
    minutes, rest = divmod(window_ns, MINUTE_NS)
    return f"{f'{minutes} min' if minutes and not rest else printed.duration(window_ns)} average"


def highest_cpu(case: CaseView) -> Highest | None:
    """The highest CPU of a case; None: none was read."""
    found = (
        Highest(series.subject, series.name, max(series.numbers), series.window_ns)
        for trial in case.resting_trials
        for series in trial.result.series
        if (series.unit, series.is_counter) == ("%", False) and series.name.endswith("CPU") and series.values
    )
    return max(found, key=lambda one: one.percent, default=None)


def table(run: RunView) -> Table:
    """A row for each case that a driver configured, or whose CPU or power it read."""
    found: list[tuple[str, ...]] = []
    for case in run.cases:
        own, cpu, power = case.configuration, highest_cpu(case), device.power(case)
        if own is None and cpu is None and power is None:
            continue
        idle = None if power is None else power.idle_watts
        each = None if power is None else power.mpps_per_watt
        found.append(
            (
                case.name,
                own.name if own else "",
                own.version if own else "",
                str(cpu or ""),
                _watts(power.hold_watts if power else None),
                _watts(idle),
                "" if each is None else printed.decimal(each, 4),
            )
        )
    return Table("Device", (), COLUMNS, found).without_empty_columns()


def configurations(run: RunView) -> dict[Configured, list[CaseView]]:
    """The configurations of a run, each once, with their cases."""
    found: dict[Configured, list[CaseView]] = {}
    for case in run.cases:
        if case.configuration is not None:
            found.setdefault(case.configuration, []).append(case)
    return found


def line(run: RunView) -> str:
    """The whole run in a line: configurations, software, the highest CPU and power; empty: nothing of it."""
    made = configurations(run)
    cpus = [one for case in run.cases if (one := highest_cpu(case)) is not None]
    watts = [power.hold_watts for case in run.cases if (power := device.power(case)) is not None]
    parts = []
    if made:
        software = ", ".join(dict.fromkeys(one.version for one in made if one.version))
        parts.append(f"{counted(len(made), 'configuration')}{f', software {software}' if software else ''}")
    if cpus:
        parts.append(f"CPU over whole trials at most {max(cpus, key=lambda one: one.percent)}")
    if watts:
        parts.append(f"power in the hold at most {_watts(max(watts))}")
    return "; ".join(parts)


def caveats(run: RunView) -> Iterator[str]:
    """That a device keeps the configuration of a case; that it gave no more readings from some time on."""
    left = [(case, note) for case in run.cases for note in case.notes if note.code == LEFT_BEHIND]
    if left:
        case, note = left[0]
        where = f"{case.name}: " if len(run.cases) > 1 else ""
        what = str(note.fields()["what"])
        short = without_commands(what)
        why = short.partition("\n")[0].rstrip(".")
        then = "The next `netdyno run` undoes it"
        if note.fields()["error_code"] == CHANGED:
            then = "Enter the commands, or delete its journal to keep the device as it is"
        listed = "" if short == what else "; the notes of the report have the commands"
        yield f"{where}The device still has its configuration: {why}. {then}{listed}."
    lost = [(case, *one) for case in run.cases if (one := _lost(case)) is not None]
    if lost:
        case, trial, at_ns, reason = lost[0]
        more = f" ({counted(len(lost) - 1, 'more case')})" if len(lost) > 1 else ""
        where = f"{case.name}: " if len(run.cases) > 1 else ""
        when = f"{printed.duration(at_ns)} into" if at_ns > 0 else "before the traffic of"
        yield (
            f"{where}The device's readings end {when} {trial.name}"
            f" (`{reason.fields()['error_code']}`){more}: its figures are of before, the traffic's are whole."
        )


def _lost(case: CaseView) -> tuple[TrialView, int, Reason] | None:
    """The first trial with a series that ends in readings that failed, when, and why."""
    for trial in case.resting_trials:
        ends = [one for series in trial.result.series if (one := _end(series)) is not None]
        if ends:
            return trial, *min(ends, key=lambda one: one[0])
    return None


def _end(series: Series) -> tuple[int, Reason] | None:
    """The first of the failed readings that a series ends in; None: it has a value after them."""
    last_ns = series.times_ns[-1] if series.values else None
    for missed in series.missed:
        if missed.reason.code == FAILED and (last_ns is None or missed.at_ns > last_ns):
            return missed.at_ns, missed.reason
    return None


def _watts(watts: Fraction | None) -> str:
    return "" if watts is None else f"{printed.decimal(watts, 1)} W"
