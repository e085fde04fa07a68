"""Connections of a case as tables: each as its sender's kernel had it, and the programs at both ends."""

from __future__ import annotations

from fractions import Fraction

from netdyno.errors import counted
from netdyno.reports.model.table import PRINTED, Table
from netdyno.reports.model.view import CaseView
from netdyno.values import number as printed
from netdyno.values.finding import columns
from netdyno.values.health import HostHealth
from netdyno.values.outcome import Carried, Connection, Outcome

EACH = columns(
    f"Stream and port | Sent: {PRINTED} | Sent again: {PRINTED} | RTT: {PRINTED} | Least RTT: {PRINTED}"
    f" | Congestion window: {PRINTED} | Busy: {PRINTED} | Held by window: {PRINTED}"
    f" | Held by send buffer: {PRINTED}"
)
PROGRAMS = columns(f"Program | Ran: {PRINTED} | Waited for a core: {PRINTED} | Of: {PRINTED}")
HOSTS = columns(
    f"Generator host | Sends: {PRINTED} | Receives: {PRINTED} | Wanted of a core: {PRINTED}"
    f" | Waited for a core: {PRINTED} | Any process waited: {PRINTED} | Began late: {PRINTED}"
)
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
            f"{one.name}, {end}{f' on {program.host}' if program.host else ''}",
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


def by_host(case: CaseView) -> Table:
    """A row for each of several generator hosts: payload of its streams, what its programs had of cores."""
    rows = [
        _host_row(trial.result, host)
        for trial in case.resting_trials[-1:]
        if trial.result.carried
        for host in trial.result.hosts
    ]
    said = (
        "Payload that arrived, of streams that the host sends and of those that it receives. Wanted, waited:"
        " of its program that did most, by schedstat. Any process: of the whole host, by its kernel's PSI."
        " Late: after the instant at which all hosts were to start their clients."
    )
    return Table("TCP by host", (said,), HOSTS, rows) if rows else Table()


def _host_row(result: Outcome, host: HostHealth) -> tuple[str, ...]:
    sent = [one for one in result.carried if one.name in host.streams]
    # Which host receives is known of its program alone.
    is_known = all(one.receiver is not None for one in result.carried)
    received = [one for one in result.carried if one.receiver is not None and one.receiver.host == host.name]
    rates = [
        sum(
            (Fraction(8 * one.received_bytes * 10**9, max(one.received_ns, 1)) for one in streams),
            Fraction(0),
        )
        for streams in (sent, received)
    ]
    ends = (end for one in result.carried for end in (one.sender, one.receiver))
    programs = [program for program in ends if program is not None and program.host == host.name]
    shares = [[one.wanted for one in programs], [one.waited for one in programs]]
    pressure = None if host.pressure_ns is None else Fraction(host.pressure_ns, max(host.sent_ns, 1))
    return (
        host.name or "this host",
        printed.bits(rates[0], (3, 2, 0)),
        printed.bits(rates[1], (3, 2, 0)) if is_known or received else "n/a",
        *(printed.part(max(share)) if share else "n/a" for share in shares),
        "n/a" if pressure is None else printed.part(min(pressure, Fraction(1))),
        "n/a" if host.began_late_ns is None else printed.duration(host.began_late_ns),
    )


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
