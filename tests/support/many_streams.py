"""A run with 410 streams for the tests of the reports: 205 VLANs both ways, alike but for what they found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from netdyno.reports.model.from_store import view
from netdyno.reports.model.view import RunView
from netdyno.values.finding import Figure, Table, Value, columns
from netdyno.values.situation import Place
from report_sample import SMALL, write

VLANS = 205
LOADS = (Fraction(9, 10), Fraction(1))
TABLE = columns("stream | load: share | asked: fps | sent: frames | lost: frames | loss: share | remark")


def rows(streams: tuple[str, ...]) -> Iterator[tuple[Fraction | str, ...]]:
    """At the full load the first VLAN of each way loses one of 1,000 frames; the last has a remark."""
    for load in LOADS:
        for name in streams:
            lost = Fraction(load == 1 and name.endswith("/100"))
            remark = "late" if name.endswith("/304") else ""
            yield name, load, load * 1000, Fraction(1000), lost, lost / 1000, remark


def many_streams(folder: Path) -> RunView:
    """A run whose case has 205 VLANs both ways, each of which found something else."""
    with write(folder, replace(SMALL, cases=SMALL.cases[1:2])) as stored:
        whole = view(stored)
    (case,) = whole.cases
    assert case.result is not None
    ways = (("west-east", 0, 1), ("east-west", 1, 0))
    streams = tuple(f"{way}/{vlan}" for way, _, _ in ways for vlan in range(100, 100 + VLANS))
    places = tuple(
        Place(tx, rx, Fraction(1, VLANS), vlan=str(vlan))
        for _, tx, rx in ways
        for vlan in range(100, 100 + VLANS)
    )
    kind = case.result.values[0].kind
    values = [Value(kind, name, Fraction(1000 + number)) for number, name in enumerate(streams)]
    values.append(Value(kind, "sum", Fraction(400_000)))
    (trial,) = case.trials
    of_trial = [
        replace(trial.result.streams[number // VLANS], name=name, lost=number)
        for number, name in enumerate(streams)
    ]
    counts = replace(trial.result.counts, streams=tuple(of_trial))
    table = Table("Loss", TABLE, tuple(rows(streams)), figure=Figure("load", ("loss",), by="stream"))
    case = replace(
        case,
        streams=streams,
        places=places,
        trials=(replace(trial, result=replace(trial.result, counts=counts)),),
        result=replace(case.result, values=tuple(values), tables=(table,)),
    )
    return replace(whole, cases=(case,))
