"""What happened in a soak, in order of time: its loss events and the times without carrier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from netdyno.errors import counted
from netdyno.reports.model.shown import Record, number_in, records
from netdyno.reports.model.table import PRINTED, Table
from netdyno.reports.model.view import CaseView, RunView
from netdyno.values import number as printed
from netdyno.values.finding import Cell, columns

SHOWN = 8
"""Events on a first screen. Of more the carrier losses come first, then those that lost most."""
STREAMS = 2
"""Streams of an event that are named; of more their number is."""
COLUMNS = columns(f"event | at | clock, UTC | for | lost: {PRINTED} | stream | no carrier | limit")


@dataclass(frozen=True)
class _Event:
    """from_ns, until_ns: of the load. ports: without carrier meanwhile."""

    from_ns: Fraction
    until_ns: Fraction
    clock: Cell
    lost: Fraction
    streams: tuple[str, ...]
    ports: str
    limit: str

    @property
    def row(self) -> tuple[str, ...]:
        """Without its number."""
        streams = self.streams
        named = ", ".join(streams) if len(streams) <= STREAMS else counted(len(streams), "stream")
        lasted = self.until_ns - self.from_ns
        return (
            printed.instant(self.from_ns),
            "" if self.clock is None else str(self.clock),
            printed.duration(lasted) if lasted else "",
            printed.grouped(self.lost),
            named,
            self.ports,
            self.limit,
        )


def events(run: RunView) -> Table:
    """The first screen's table of them; without rows if nothing happened."""
    rows: list[tuple[str, ...]] = []
    count = 0
    for case in run.cases:
        found = sorted(_events(case), key=lambda one: (one.from_ns, one.until_ns))
        count += len(found)
        of = f"{case.name}: " if len(run.cases) > 1 else ""
        rows += [(f"{of}{place}", *one.row) for place, one in _loudest(found)]
    cut = f"{len(rows)} of {count} events: carrier losses, then those that lost most"
    return Table("", (cut,) if count > len(rows) else (), COLUMNS, rows)


def caveats(run: RunView) -> Iterator[str]:
    """Carrier losses in a sentence, of methods whose first screen has no events."""
    for case in run.cases:
        losses = records(case, "Carrier losses")
        if losses:
            of = f"{case.name}: " if len(run.cases) > 1 else ""
            at = printed.instant(number_in(losses[0]["from"]))
            yield f"{of}{beside(case)}, the first at {at} (no carrier: {_carrier(losses)})"


def beside(case: CaseView) -> str:
    """What stands beside the number of loss events."""
    carrier = records(case, "Carrier losses")
    if not carrier:
        return "stretches of lost frames"
    times = int(sum(number_in(one["times"]) for one in carrier))
    ports = ", ".join(dict.fromkeys(str(one["port"]) for one in carrier[:SHOWN]))
    what = "carrier loss" if times == 1 else "carrier losses"
    return f"{times:,} {what}: {ports}"


def _loudest(found: Sequence[_Event]) -> list[tuple[int, _Event]]:
    """The events that are shown, with their numbers, in order of time."""
    numbered = list(enumerate(found, 1))
    chosen = sorted(numbered, key=lambda one: (not one[1].ports, -one[1].lost, one[0]))[:SHOWN]
    return sorted(chosen, key=lambda one: one[0])


def _events(case: CaseView) -> Iterator[_Event]:
    """Each loss event once, whatever rows it has, and carrier losses in which no frame was lost."""
    losses: dict[Cell, list[Record]] = {}
    for record in records(case, "Loss events"):
        losses.setdefault(record["event"], []).append(record)
    carrier = records(case, "Carrier losses")
    for rows in losses.values():
        first = min(rows, key=lambda row: number_in(row["first lost"]))
        until_ns = max(number_in(row["last lost"]) for row in rows)
        ports = {port for row in rows if row["no carrier"] for port in str(row["no carrier"]).split(", ")}
        meanwhile = [one for one in carrier if str(one["port"]) in ports]
        # Those nearest in time: the kernel may date a carrier loss a little behind the first lost frame.
        near = [one for one in meanwhile if number_in(one["from"]) <= until_ns] or meanwhile[:1]
        near = [one for one in near if number_in(one["until"]) >= number_in(first["first lost"])] or near[-1:]
        streams = tuple(dict.fromkeys(str(row["stream"]) for row in rows))
        causes = dict.fromkeys(str(one["limit"]) for one in near)
        yield _Event(
            number_in(first["first lost"]),
            until_ns,
            first["first lost, clock"],
            sum((number_in(row["lost"]) for row in rows), Fraction(0)),
            streams,
            _carrier(near),
            ", ".join(causes or dict.fromkeys(case.limit(name) for name in streams)),
        )
    for record in carrier:
        if not record["lost meanwhile"]:
            from_ns, until_ns = number_in(record["from"]), number_in(record["until"])
            clock, limit = record["from, clock"], str(record["limit"])
            yield _Event(from_ns, until_ns, clock, Fraction(0), (), _carrier([record]), limit)


def _carrier(losses: Sequence[Record]) -> str:
    """`p2 for 3 s`: the ports without carrier, and how long each had none in all."""
    found: dict[str, Fraction] = {}
    for one in losses:
        port = str(one["port"])
        found[port] = found.get(port, Fraction(0)) + number_in(one["no carrier for"])
    return ", ".join(f"{port} for {printed.duration(lasted)}" for port, lasted in found.items())
