"""Carrier losses during a load: their number as a value, and their table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from netdyno.methods.reasons.outages import CarrierUnknown
from netdyno.stats.carrier import CarrierSpan
from netdyno.values.finding import Cell, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.outcome import Outcome

CARRIER_LOSSES = ValueKind(
    "carrier losses",
    "",
    "how often ports of the tester lost their carrier during the load; not by the tester's own doing",
    goal="carrier losses <= 0",
)


def number(found: Sequence[CarrierSpan], outcomes: Sequence[Outcome]) -> Value:
    """The value of a case. Without a number where a port is no interface: nothing reports its carrier."""
    unknown = [
        port.name
        for outcome in outcomes
        # In virtual time the lab itself says when a link is down.
        if outcome.started is not None
        for port in outcome.ports
        if port.name not in {one.port for one in outcome.interfaces}
    ]
    if unknown:
        return Value(CARRIER_LOSSES, "sum", None, note=CarrierUnknown(tuple(dict.fromkeys(unknown))))
    return Value(CARRIER_LOSSES, "sum", Fraction(sum(span.times for span in found)))


TABLE = "Carrier losses"
COLUMNS = columns(
    "carrier loss | port | from: at | until: at | no carrier for: ns | times | from, clock"
    " | until, clock | part | lost meanwhile: frames | limit"
)


def tables(
    found: Sequence[CarrierSpan], lost: Mapping[int, int] | None, clock: Callable[[int, int], str | None]
) -> Iterator[Table]:
    """The table of carrier losses, if there are any.

    lost: frames of the loss events that each falls in; None: unknown. clock: the time of day of a part and a
    time of the load; None in virtual time.
    """
    if not found:
        return
    rows: list[tuple[Cell, ...]] = [
        (
            Fraction(place + 1),
            span.port,
            Fraction(span.from_ns),
            Fraction(span.until_ns),
            Fraction(span.duration_ns),
            Fraction(span.times),
            clock(span.first, span.from_ns),
            clock(span.last, span.until_ns),
            Fraction(span.first + 1),
            None if lost is None else Fraction(lost.get(place, 0)),
            span.cause,
        )
        for place, span in enumerate(found)
    ]
    caption = (
        "When ports of the tester had no carrier, as the kernel reported it or the lab says; what the tester"
        " did itself is not among them. Times are of the load, pauses between parts not counted. *Lost"
        " meanwhile*: frames of all streams in the loss events that it falls in."
    )
    yield Table(TABLE, COLUMNS, tuple(rows), caption)
