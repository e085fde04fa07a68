"""Any method with classes of traffic: what each class lost, and how long it took, at each load.

A method sees the classes that share its load. Those with a rate of their own are sent beside them; how they
fare while the load rises is the point of a priority test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from netdyno.methods.parts.procedure import find_own_shortfall, record_trials
from netdyno.methods.reasons.loss import ClassesInPhase
from netdyno.stats.histogram import percentiles
from netdyno.values.classes import CLASS, COLUMNS, HIGH, LOAD, TABLE
from netdyno.values.finding import Cell, Figure, Result, Table, Value
from netdyno.values.kind import class_latency, class_loss
from netdyno.values.load import Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.situation import Situation

SHARES = (Fraction(1, 2), Fraction(99, 100))
IN_PHASE = 3
"""Times the share of the other class that one must have lost."""
ENOUGH = 10
"""Frames that it must have lost."""


@dataclass(frozen=True)
class _ClassResult:
    """How a class fared in a trial: its streams together; of a latency the worst of them, ns."""

    sent: int
    lost: int
    p50_ns: int | None
    p99_ns: int | None
    max_ns: int | None
    is_excused: bool = False
    """Whether the tester fell short or dropped frames: what is missing may be its own."""

    @property
    def loss(self) -> Fraction | None:
        """Share of its frames that did not come back intact."""
        return Fraction(self.lost, self.sent) if self.sent else None


def by_class(method: Method, situation: Situation) -> Method:
    """The same method; its result has a table of classes, and what each class lost and took at most."""
    result, made = yield from record_trials(method)
    return _with_classes(result, situation, list(made.values()))


def _with_classes(result: Result, situation: Situation, made: Sequence[tuple[Trial, Outcome]]) -> Result:
    rows: list[tuple[Cell, ...]] = []
    values: list[Value] = []
    for traffic in situation.classes:
        fared = [
            (trial, replace(_fared(_of_class(outcome, traffic)), is_excused=_is_short(trial, outcome)))
            for trial, outcome in made
        ]
        fared = [(trial, one) for trial, one in fared if one.sent]
        rows += [_row(trial, traffic, one, situation) for trial, one in fared]
        values += _values(traffic, [one for trial, one in fared if not one.is_excused])
    phase = None if situation.is_uneven else _find_in_phase(rows)
    notes = (*result.notes, *(() if phase is None else (phase,)))
    caption = (
        "Each trial by class, all directions together; of a latency the worst direction. Load: of each port,"
        " of the classes that share the method's load."
    )
    figure = Figure(LOAD, (HIGH,), by=CLASS)
    table = Table(TABLE, COLUMNS, tuple(rows), caption, figure if rows else None)
    return replace(result, values=(*result.values, *values), tables=(table, *result.tables), notes=notes)


def _find_in_phase(rows: Sequence[tuple[Cell, ...]]) -> ClassesInPhase | None:
    """The trial in which a class of few frames lost a far larger share than one of many, which lost some;
    None: in none. In one queue evenly spaced frames find room or not by their place in the pattern."""
    names = [column.name for column in COLUMNS]
    trial, name, sent, lost = (names.index(one) for one in ("trial", CLASS, "sent", "lost"))
    found: list[ClassesInPhase] = []
    for few in rows:
        for many in rows:
            if few[trial] != many[trial]:
                continue
            counts = [row[place] for row in (few, many) for place in (sent, lost)]
            sent_few, lost_few, sent_many, lost_many = (
                one if isinstance(one, Fraction) else Fraction(0) for one in counts
            )
            if not lost_many or sent_few >= sent_many or lost_few < ENOUGH:
                continue
            shares = lost_few / sent_few, lost_many / sent_many
            if shares[0] >= IN_PHASE * shares[1]:
                found.append(ClassesInPhase(str(few[name]), str(many[name]), *shares, str(few[trial])))
    return max(found, key=lambda one: one.loss / one.other_loss, default=None)


def _values(traffic: str, fared: Sequence[_ClassResult]) -> Iterator[Value]:
    """What a class lost and took at most, in the trials that the tester did not spoil.

    Of too few frames for a 99th percentile the longest is its upper bound.
    """
    worst = max((one.loss for one in fared if one.loss is not None), default=None)
    fewest = min((one.sent for one in fared), default=None)
    yield Value(class_loss(traffic), "sum", worst, of_frames=fewest)
    known = max((one.p99_ns for one in fared if one.p99_ns is not None), default=None)
    bound = max((one.max_ns for one in fared if one.p99_ns is None and one.max_ns is not None), default=None)
    p99, high = (None if ns is None else Fraction(ns) for ns in (known, bound))
    yield Value(class_latency(traffic), "sum", p99, high=None if high is None else max(high, p99 or high))


def _is_short(trial: Trial, outcome: Outcome) -> bool:
    """Whether what a trial did not bring back may be the tester's own doing."""
    dropped = outcome.health.rx_dropped + outcome.health.tx_dropped
    return bool(dropped) or find_own_shortfall(outcome, trial.duration_ns) is not None


def _of_class(outcome: Outcome, traffic: str) -> Iterator[StreamResult]:
    return (one for one in (*outcome.streams, *outcome.beside) if one.name.rpartition("/")[2] == traffic)


def _fared(streams: Iterator[StreamResult]) -> _ClassResult:
    found = list(streams)
    latencies = [one.latency for one in found if one.latency is not None]
    known = [percentiles(latency, SHARES) for latency in latencies]
    p50, p99 = (
        max((ns for one in known if (ns := one[place]) is not None), default=None) for place in range(2)
    )
    return _ClassResult(
        sum(one.offered for one in found),
        sum(max(one.missing, 0) for one in found),
        p50,
        p99,
        max((latency.max_ns for latency in latencies), default=None),
    )


def _row(trial: Trial, traffic: str, fared: _ClassResult, situation: Situation) -> tuple[Cell, ...]:
    load = max((situation.fps(segment.from_rate) for segment in trial.segments), default=None)
    return (
        trial.name,
        None if load is None else load * situation.load_part,
        traffic,
        Fraction(fared.sent),
        Fraction(fared.lost),
        fared.loss,
        *(None if one is None else Fraction(one) for one in (fared.p50_ns, fared.p99_ns, fared.max_ns)),
    )
