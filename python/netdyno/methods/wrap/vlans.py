"""Any method on links with several VLANs: what each VLAN lost, and from which load on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from netdyno.methods.parts.procedure import record_trials
from netdyno.stats.histogram import percentiles
from netdyno.values.finding import Cell, Table
from netdyno.values.load import Trial
from netdyno.values.method import Method
from netdyno.values.outcome import StreamResult
from netdyno.values.situation import Place, Situation
from netdyno.values.vlans import COLUMNS, TABLE, name_way

HIGH = Fraction(99, 100)


def by_vlan(method: Method, situation: Situation) -> Method:
    """The same method; its result has a table of the VLANs, each direction and class by itself."""
    result, made = yield from record_trials(method)
    by_load = sorted(made.values(), key=lambda one: _load(one[0], situation))
    found: dict[str, list[tuple[Trial, StreamResult]]] = {}
    for trial, outcome in by_load:
        for stream in (*outcome.streams, *outcome.beside):
            if stream.offered:
                found.setdefault(stream.name, []).append((trial, stream))
    rows = tuple(
        _row(name, place, found[name], situation)
        for name, place in zip(situation.streams, situation.places, strict=True)
        if place.vlan and name in found
    )
    caption = (
        "Each VLAN over all trials of the case. Loss-free load: its own, the highest up to which nothing was"
        " lost."
    )
    return replace(result, tables=(*result.tables, Table(TABLE, COLUMNS, rows, caption)))


def _load(trial: Trial, situation: Situation) -> Fraction:
    return max(map(situation.fps, trial.rates), default=Fraction(0))


def _row(
    name: str, place: Place, made: Sequence[tuple[Trial, StreamResult]], situation: Situation
) -> tuple[Cell, ...]:
    first_lossy = next((place for place, (_, one) in enumerate(made) if one.missing > 0), len(made))
    clean = made[:first_lossy]
    worst_trial, worst = max(made, key=lambda one: Fraction(max(one[1].missing, 0), one[1].offered))
    share = Fraction(max(worst.missing, 0), worst.offered)
    latencies = [one.latency for _, one in made if one.latency is not None]
    highest = max((ns for one in latencies if (ns := percentiles(one, [HIGH])[0]) is not None), default=None)
    return (
        name_way(name, place),
        place.vlan,
        _load(clean[-1][0], situation) * place.share if clean else None,
        clean[-1][0].name if clean else "",
        share,
        worst_trial.name if share else "",
        None if highest is None else Fraction(highest),
    )
