"""The balance of a case as a table and sentences: who counted how many frames, and where some are missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netdyno.reports.model import device
from netdyno.reports.model.table import PRINTED, Table
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import columns
from netdyno.values.reason import Reason
from netdyno.verdict.balance import Path

COLUMNS = columns(
    f"From → to | Trial | Tester sent: {PRINTED} | Device in: {PRINTED} | Device dropped: {PRINTED}"
    f" | Device out: {PRINTED} | Tester received: {PRINTED} | Missing before device: {PRINTED}"
    f" | Missing in device: {PRINTED} | Missing behind device: {PRINTED}"
)
MOST_TRIALS = 10
"""Trials that have rows of their own: of more, their sum alone."""
MOST_PORTS = 3
UNKNOWN = "unknown"


def table(case: CaseView) -> Table:
    """The answer first, then which bytes the device counts, then power; a row for each path over all trials,
    and for each of few trials; without rows if no driver counted frames."""
    found = device.balance(case)
    answer = "" if found.answer is None else str(found.answer)
    sentences = (*map(str, found.conventions), *_power(case))
    rows = [_row(path, "all" if len(found.trials) > 1 else found.trials[0][0].name) for path in found.paths]
    if 1 < len(found.trials) <= MOST_TRIALS:
        rows += [_row(path, trial.name) for trial, paths in found.trials for path in paths]
    return Table("Balance", (answer, *sentences), COLUMNS, rows)


def summary(run: RunView) -> str:
    """The whole run in a line, `frames accounted for in 7 of 8 cases; at most 0.31 Mpps per W`."""
    answers = [one for case in run.cases if (one := device.balance(case).answer) is not None]
    powers = [each.mpps_per_watt for case in run.cases if (each := device.power(case)) is not None]
    best = max((one for one in powers if one is not None), default=None)
    parts = []
    if answers:
        whole = sum(one.code == "every-frame-accounted" for one in answers)
        unknown = sum(one.code == "balance-unknown" for one in answers)
        others = f", unknown in {unknown}" if unknown else ""
        of_cases = f" in {whole} of {len(answers)} cases{others}" if len(answers) > 1 else ""
        is_short = len(answers) > 1 or whole
        parts.append(f"every frame accounted for{of_cases}" if is_short else str(answers[0]))
    if best is not None:
        many = "at most " if len(powers) > 1 else ""
        parts.append(f"{many}{printed.decimal(best, 4)} Mpps per W")
    return "; ".join(part.rstrip(".") for part in parts)


def _power(case: CaseView) -> Iterator[str]:
    found = device.power(case)
    if found is None:
        return
    idle = "" if found.idle_watts is None else f", {printed.decimal(found.idle_watts, 1)} W before traffic"
    watts = f"Power: {printed.decimal(found.hold_watts, 1)} W under load{idle}"
    each = found.mpps_per_watt
    if each is not None:
        rate = printed.rate(found.rx_fps, "pps")
        watts += f"; {printed.decimal(each, 4)} Mpps per W at {rate} received"
    yield f"{watts}."


def _row(path: Path, trial: str) -> tuple[str, ...]:
    dropped = "" if path.dropped is None else printed.count(path.dropped)
    names = ", ".join(dict.fromkeys(drop.name for drop in path.drops if drop.frames))
    return (
        f"{_ports(path.senders)} → {_ports(path.receivers)}",
        trial,
        printed.count(path.sent),
        _count(path.taken),
        f"{dropped or UNKNOWN}{f' ({names})' if names else ''}",
        _count(path.given),
        printed.count(path.received),
        *(UNKNOWN if one is None else printed.count(one) for one in (path.link_in, path.rest, path.link_out)),
    )


def _ports(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_PORTS])
    return f"{shown} and {len(names) - MOST_PORTS} more" if len(names) > MOST_PORTS else shown


def _count(count: int | Reason) -> str:
    return UNKNOWN if isinstance(count, Reason) else printed.count(count)
