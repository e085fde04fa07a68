"""The generator hosts of a case as a table: processor, core share, clock, settings of each port."""

from __future__ import annotations

from fractions import Fraction

from netdyno.reports.model.table import PRINTED, Table
from netdyno.reports.model.view import CaseView
from netdyno.values import number as printed
from netdyno.values.finding import columns
from netdyno.values.host_facts import ClockState, HostFacts

COLUMNS = columns(f"Host | CPU | Core share: {PRINTED} | Clock | Port | Driver | MTU | Offloads")
SAID = (
    "Core share: the least of all trials, of what the tester's thread or program wanted of its core."
    " Offloads: those of GRO, LRO, TSO and GSO that are on."
)


def table(case: CaseView) -> Table:
    """A row for each port; no rows where all ports are on one host."""
    rows = [row for host in case.hosts for row in _rows(case, host)]
    return Table("Generator hosts", (SAID,), COLUMNS, rows) if rows else Table()


def _rows(case: CaseView, host: HostFacts) -> list[tuple[str, ...]]:
    shares = [
        one.core_share_ppm
        for trial in case.trials
        for one in trial.result.hosts
        if one.name == host.name and one.core_share_ppm is not None
    ]
    share = printed.percent(Fraction(min(shares), 1_000_000)) if shares else "n/a"
    own = (host.name or "this host", describe_processor(host), share, describe_clock(host.clock))
    return [
        (
            *(own if number == 0 else ("",) * len(own)),
            f"{port.name} ({port.interface})",
            port.driver or "n/a",
            "n/a" if port.mtu is None else str(port.mtu),
            ", ".join(port.offloads) or "none",
        )
        for number, port in enumerate(host.ports)
    ]


def describe_processor(host: HostFacts) -> str:
    """`8 x NAME`, and how many cores the tester may use."""
    return host.cpu if host.cpu.startswith(f"{host.cores} x ") else f"{host.cpu}, {host.cores} usable"


def describe_clock(clock: ClockState) -> str:
    """What keeps it, and how far it is from its source."""
    if not clock.kept_by:
        without = "neither chrony nor PTP"
        return f"{without}; {', '.join(clock.hardware)} unused" if clock.hardware else without
    if clock.offset_ns is None:
        return f"{clock.kept_by}, not synchronised"
    return f"{clock.kept_by}, {printed.duration(abs(clock.offset_ns))} off its source"
