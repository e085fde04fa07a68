"""Connections of a case as tables: each as its sender's kernel had it, and the programs at both ends."""

from __future__ import annotations

from fractions import Fraction

from netdyno.errors import counted
from netdyno.reports.model.table import PRINTED, Table
from netdyno.reports.model.view import CaseView
from netdyno.values import number as printed
from netdyno.values.finding import columns
from netdyno.values.outcome import Carried, Connection

EACH = columns(
    f"Stream and port | Sent: {PRINTED} | Sent again: {PRINTED} | RTT: {PRINTED} | Least RTT: {PRINTED}"
    f" | Congestion window: {PRINTED} | Busy: {PRINTED} | Held by window: {PRINTED}"
    f" | Held by send buffer: {PRINTED}"
)
PROGRAMS = columns(f"Program | Ran: {PRINTED} | Waited for a core: {PRINTED} | Of: {PRINTED}")
MOST_ROWS = 64


def each(case: CaseView) -> Table:
    """A row for each connection of the trial that the case's numbers rest on."""
    rows = [
        _row(one, connection, trial.omitted_ns)
        for trial in case.resting_trials[-1:]
        for one in trial.result.carried
        for connection in one.each
    ]
    if not rows:
        return Table()
    said = [
        "As the sender's kernel had it at its last look before the end, since the connection opened: omitted"
        " seconds count, so numbers differ from those of the table TCP. Busy: the part of the test with data"
        " under way or to send. Held: the part of that in which the receive window or the send buffer was too"
        " small."
    ]
    if len(rows) > MOST_ROWS:
        said.append(f"The first {MOST_ROWS} of {counted(len(rows), 'connection')}.")
    return Table("Connections", tuple(said), EACH, rows[:MOST_ROWS])


def programs(case: CaseView) -> Table:
    """A row for the program of each stream's ends that wanted most of a core."""
    rows = [
        (
            f"{one.name}, {end}",
            printed.part(Fraction(program.ran_ns, program.elapsed_ns)),
            printed.part(program.waited),
            printed.duration(program.elapsed_ns),
        )
        for trial in case.resting_trials[-1:]
        for one in trial.result.carried
        for end, program in (("sends", one.sender), ("receives", one.receiver))
        if program is not None and program.elapsed_ns
    ]
    said = "Shares of the time, by the kernel's schedstat."
    return Table("Programs of the tester", (said,), PROGRAMS, rows) if rows else Table()


def _row(of: Carried, one: Connection, omitted_ns: int) -> tuple[str, ...]:
    busy = Fraction(one.busy_ns, max(of.sent_ns + omitted_ns, 1))
    held = [Fraction(time_ns, max(one.busy_ns, 1)) for time_ns in (one.window_ns, one.buffer_ns)]
    return (
        f"{of.name}, {one.port}",
        f"{printed.decimal(Fraction(one.sent_bytes, 10**6), 2)} MB",
        counted(one.retransmitted_segments, "segment"),
        printed.duration(one.rtt_ns),
        printed.duration(one.min_rtt_ns),
        counted(one.cwnd_segments, "segment"),
        printed.part(min(busy, Fraction(1))),
        *map(printed.part, held),
    )
