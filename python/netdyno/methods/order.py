"""Order at a load: how many frames were overtaken, and by how much (RFC 4737), and copies (RFC 4689)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from pydantic import Field

from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import Parameters, Procedure, constant, find_shortfall
from netdyno.methods.reasons.common import NothingCame, OfReceived, Taken
from netdyno.methods.reasons.tester import OrderUnknown
from netdyno.stats.histogram import decode, merge
from netdyno.values.finding import Cell, Figure, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import Observe
from netdyno.values.method import Method
from netdyno.values.offer import Offer
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import Percent, PositiveDuration, PositiveLoad

RATIO = ValueKind(
    "reordered",
    "share",
    "the share of received frames that a later one of their flow overtook (RFC 4737, 4.1)",
    hinges_on="order",
    good="less",
)
COPIES = ValueKind("duplicated", "share", "copies as a share of the frames received (RFC 4689)", good="less")
EXTENT = ValueKind(
    "extent, most",
    "frames",
    "the greatest distance in arrivals by which a frame was overtaken (RFC 4737, 4.2)",
    hinges_on="order",
    good="less",
)


class OrderParameters(Parameters):
    """Parameters of order."""

    load: PositiveLoad = PositiveLoad(Percent(Fraction(1, 2)))
    """The load, `50%`."""
    duration: PositiveDuration = PositiveDuration(Fraction(60))
    """Length of each trial."""
    repeats: int = Field(default=1, ge=1, le=1000)
    """Trials, counted together."""


ORDER = columns(
    "stream | sent: frames | received: frames | lost: frames | duplicated: frames"
    " | duplicated share: share | reordered: frames | reordered share: share | extent, mean: frames"
    " | extent, p99: frames",
    EXTENT,
    "extent not known: frames | 3-reordered share: share",
)
N_ORDER = columns("stream | n | frames: frames | n-reordered: share")


def order(parameters: OrderParameters, situation: Situation) -> Method:
    """Trials at one load; counts of all of them together."""
    load, length = parameters.load.amount, parameters.duration.ns
    outcomes: list[Outcome] = []
    for number in range(1, parameters.repeats + 1):
        outcome = yield constant(f"order {number}", load, length, observe=Observe(order=True))
        outcomes.append(outcome)
    streams = {
        name: [one for outcome in outcomes for one in outcome.streams if one.name == name]
        for name in situation.streams
    }
    shorts = [find_shortfall(outcome, length) for outcome in outcomes]
    values: list[Value] = []
    for name, trials in streams.items():
        values += _values(name, trials)
    if len(streams) > 1:
        every = [one for trials in streams.values() for one in trials]
        values += [_share(RATIO, "sum", every), _share(COPIES, "sum", every)]
    else:
        (name,) = streams
        values += [Value(one.kind, "sum", one.number, one.low, one.high, one.note) for one in values]
    apart = sum(outcome.health.split_flows for outcome in outcomes)
    notes: list[Reason] = [
        About(f"trial {number}", short) for number, short in enumerate(shorts, 1) if short is not None
    ]
    if apart:
        notes.append(OrderUnknown(apart))
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=tuple(range(len(outcomes))),
        notes=tuple(notes),
        headlines=(RATIO.name,),
        tables=tuple(_tables(streams)),
    )


def _share(kind: ValueKind, scope: str, trials: Sequence[StreamResult]) -> Value:
    counted = sum(one.out_of_order if kind is RATIO else one.duplicates for one in trials)
    received = sum(one.received for one in trials)
    if not received:
        return Value(kind, scope, None, note=NothingCame())
    return Value(
        kind,
        scope,
        Fraction(counted, received),
        note=OfReceived(counted, received),
    )


def _values(scope: str, trials: Sequence[StreamResult]) -> Iterator[Value]:
    yield _share(RATIO, scope, trials)
    yield _share(COPIES, scope, trials)
    most = max((one.order.extent_max for one in trials if one.order is not None), default=0)
    yield Value(EXTENT, scope, Fraction(most), note=Taken("extent"))


def _tables(streams: dict[str, list[StreamResult]]) -> Iterator[Table]:
    yield Table(
        "Reordering",
        ORDER,
        tuple(_ordered(name, trials) for name, trials in streams.items()),
        "RFC 4737, all trials together, in the sequence of each flow: a frame is reordered if one that was"
        " sent later came before it; its extent is the distance in arrivals to the earliest such one; it is"
        " n-reordered if the n that came just before it were all sent later (TCP takes 3 for a loss). Copies"
        " are counted apart, and loss is no reordering.",
    )
    yield Table(
        "n-reordering",
        N_ORDER,
        tuple(row for name, trials in streams.items() for row in _n_reordered(name, trials)),
        "RFC 4737 section 5.3.",
        Figure("n", ("n-reordered",), by="stream"),
    )


def _ordered(name: str, trials: Sequence[StreamResult]) -> tuple[Cell, ...]:
    received = sum(one.received for one in trials)
    observed = [one.order for one in trials if one.order is not None]
    placed, extents = sum(one.placed for one in observed), sum(one.extent_sum for one in observed)
    late = merge(decode(one.extents) for one in observed if one.extents is not None)
    p99 = late.percentile(Fraction(99, 100))
    copies = sum(one.duplicates for one in trials)
    reordered = sum(one.out_of_order for one in trials)
    three = sum(one.n_reordered[2] for one in observed if len(one.n_reordered) > 2)
    most = max((one.extent_max for one in observed), default=0)
    return (
        name,
        Fraction(sum(one.offered for one in trials)),
        Fraction(received),
        Fraction(rows.count_lost(trials)),
        Fraction(copies),
        _of(copies, received),
        Fraction(reordered),
        _of(reordered, received),
        _of(extents, placed),
        None if p99 is None else Fraction(min(p99, most)),
        Fraction(most) if placed else None,
        Fraction(sum(one.unplaced for one in observed)),
        _of(three, received),
    )


def _of(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None


def _n_reordered(name: str, trials: Sequence[StreamResult]) -> Iterator[tuple[Cell, ...]]:
    received = sum(one.received for one in trials)
    each = [one.order.n_reordered for one in trials if one.order is not None]
    for n in range(1, max(map(len, each), default=0) + 1):
        frames = sum(one[n - 1] for one in each if len(one) >= n)
        yield name, Fraction(n), Fraction(frames), _of(frames, received)


METHOD = Procedure(
    name="order",
    title="Order",
    doc="Reordering and copies of each stream at a load.",
    standard="RFC 4737",
    parameters=OrderParameters,
    start=order,
    traffic_seconds=lambda parameters: parameters.duration.amount * parameters.repeats,
    trials=lambda parameters: parameters.repeats,
    further_needs=frozenset({Offer.ORDER}),
    values=(RATIO, COPIES, EXTENT),
)
