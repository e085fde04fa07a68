"""Packet delay variation at the throughput by RFC 8219 section 7.3: PDV, and from frame to frame IPDV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from pydantic import Field

from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import Procedure, constant, find_shortfall
from netdyno.methods.parts.rules import deviations
from netdyno.methods.reasons.common import Taken, TooFewCame
from netdyno.methods.reasons.tester import Unpaired
from netdyno.methods.throughput import KNOWN, WAIT, Known, OnThroughput, at_the_throughput
from netdyno.stats import delay_variation as variation
from netdyno.values.finding import Cell, Figure, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import Observe
from netdyno.values.method import Method
from netdyno.values.offer import Offer
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, PositiveDuration

REPEATS = 20
"""RFC 8219 sections 7.3.1 and 7.3.2: at least 20 times; the median is reported."""
STREAM_NS = 60 * 10**9
"""Same: a stream of at least 60 seconds, of which every frame is timed."""

PDV = ValueKind(
    "PDV",
    "ns",
    "the 99.9th percentile of delay less the least, the median of all streams",
    on_throughput=True,
    tail=Fraction(1, 1000),
)
IPDV = tuple(
    ValueKind(
        f"IPDV, {which}",
        "ns",
        f"delay less that of the frame sent before, the {which} of a stream (RFC 5481 section 4.1)",
        on_throughput=True,
        tail=None if which == "median" else Fraction(0),
    )
    for which in ("least", "median", "most")
)


class VariationParameters(OnThroughput):
    """Parameters of delay variation."""

    repeats: int = Field(default=REPEATS, ge=1, le=1000)
    """Streams; the median of them is the result."""
    duration: PositiveDuration = PositiveDuration.of_ns(STREAM_NS)
    """Length of each stream."""


COLUMNS = columns(
    "frame size: B | stream | load: fps * | streams",
    PDV,
    "PDV p1: ns | PDV p99: ns",
    *IPDV,
    "lost: frames",
)
EACH = columns(
    "trial | stream | received: frames | delay, least: ns | PDV p99.9: ns | PDV, most: ns",
    *IPDV,
    "remark",
)
DISTRIBUTION = columns("stream | percentile: share", PDV)


def measure(parameters: VariationParameters, situation: Situation, known: Known) -> Method:
    """Streams at the throughput, and the median of each figure."""
    fps, length = known.fps, parameters.duration.ns
    outcomes: list[Outcome] = []
    observe = Observe(variation=True)
    for number in range(1, parameters.repeats + 1 if fps else 1):
        assert fps is not None
        outcome = yield constant(f"variation {number}", FrameRate(fps), length, observe=observe)
        outcomes.append(outcome)
    shorts = [find_shortfall(outcome, length) for outcome in outcomes]
    notes: list[Reason] = [
        About(f"variation {number}", short) for number, short in enumerate(shorts, 1) if short is not None
    ]
    if not fps:
        notes.append(About("delay variation", known.is_missing))
    apart = [count_unpaired(one) for outcome in outcomes for one in outcome.streams]
    if any(apart):
        notes.append(About("delay variation", Unpaired(sum(apart))))
    values: list[Value] = []
    table: list[tuple[Cell, ...]] = []
    for place, name in enumerate(situation.streams):
        trials = [outcome.streams[place] for outcome in outcomes]
        each = [_figures(one) for one in trials]
        over = [rows.over([one[at] for one in each]) for at in range(1 + len(IPDV))]
        unknown = TooFewCame() if fps else notes[-1]
        values += [_value(what, name, found, unknown) for what, found in zip((PDV, *IPDV), over, strict=True)]
        if fps:
            pdv, *ipdv = over
            load, streams = fps * situation.share(name), Fraction(len(trials))
            medians = (*pdv, *(middle for middle, _, _ in ipdv))
            size, lost = situation.mean_size, Fraction(rows.count_lost(trials))
            table.append((size, name, load, streams, *medians, lost))
    values.append(_worst([one for one in values if one.kind is PDV]))
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=tuple(range(len(outcomes))),
        **deviations(METHOD.name, parameters, situation, outcomes),
        notes=tuple(notes),
        headlines=(PDV.name,),
        tables=tuple(_tables(situation, outcomes, shorts, table)),
    )


def _figures(one: StreamResult) -> tuple[int | None, ...]:
    """PDV, and the least, the median and the greatest IPDV of a stream's trial, ns."""
    pdv = None if one.latency is None else variation.pdv(one.latency)
    if one.variation is None:
        return (pdv, None, None, None)
    return (pdv, one.variation.min_ns, variation.median(one.variation), one.variation.max_ns)


def count_unpaired(one: StreamResult) -> int:
    """Differences between neighbours of a stream that are missing though both frames came, at the least.

    N frames are N - 1 pairs of neighbours, and a frame that did not come intact takes two of them at most.
    """
    if one.variation is None:
        return 0
    return max(one.offered - 1 - 2 * max(one.missing, 0) - one.variation.pairs, 0)


def _value(
    kind: ValueKind,
    scope: str,
    found: tuple[Fraction | None, Fraction | None, Fraction | None],
    unknown: Reason,
) -> Value:
    """A figure of a stream: the median of its trials, and between which percentiles they are."""
    middle, low, high = found
    if middle is None:
        return Value(kind, scope, None, note=unknown)
    note = Taken("pdv-median" if kind is PDV else "ipdv-median")
    return Value(kind, scope, middle, low, high, note)


def _worst(each: Sequence[Value]) -> Value:
    """The greatest of all streams, if it is known of all."""
    known = [one.number for one in each if one.number is not None]
    if len(known) < len(each):
        return Value(PDV, "sum", None, note=next(one.note for one in each if one.number is None))
    return Value(PDV, "sum", max(known), note=Taken("greatest-of-streams"))


def _tables(
    situation: Situation,
    outcomes: Sequence[Outcome],
    shorts: Sequence[Reason | None],
    table: Sequence[tuple[Cell, ...]],
) -> Iterator[Table]:
    yield Table(
        "Packet delay variation",
        COLUMNS,
        tuple(table),
        "RFC 8219 section 7.3, all frames timed. PDV: the 99.9th percentile of delay less the least of the"
        " stream (RFC 5481 section 4.2). IPDV: delay less that of the frame sent before (section 4.1)."
        " Medians over the streams, of PDV the 1st and 99th percentile, too.",
    )
    yield Table(
        "Delay variation of each stream",
        EACH,
        tuple(
            _each(number, one, short)
            for number, (outcome, short) in enumerate(zip(outcomes, shorts, strict=True), 1)
            for one in outcome.streams
        ),
    )
    yield Table(
        PDV.name,
        DISTRIBUTION,
        tuple(
            row
            for place, name in enumerate(situation.streams)
            for row in _distribution(name, [outcome.streams[place] for outcome in outcomes])
        ),
        "The PDV that a share of the frames of all streams do not exceed, from the least delay of all.",
        Figure("percentile", (PDV.name,), log_x=True, by="stream"),
    )


def _each(number: int, one: StreamResult, short: Reason | None) -> tuple[Cell, ...]:
    pdv, *ipdv = _figures(one)
    ends: tuple[int | None, int | None] = (None, None)
    if one.latency is not None and one.latency.count:
        ends = (one.latency.min_ns, one.latency.max_ns - one.latency.min_ns)
    cells = (ends[0], pdv, ends[1], *ipdv)
    times = (None if cell is None else Fraction(cell) for cell in cells)
    return Fraction(number), one.name, Fraction(one.received), *times, str(short or "")


def _distribution(name: str, trials: Sequence[StreamResult]) -> Iterator[tuple[Cell, ...]]:
    times = rows.Times.of(trials)
    if times is None:
        return
    for share in rows.PERCENTILES:
        found = times.percentile(share)
        if found is not None:
            yield name, share, Fraction(found - times.min_ns)


METHOD = Procedure(
    name="delay-variation",
    title="Packet delay variation",
    doc="PDV and IPDV of all frames at the throughput, the medians of repeated streams.",
    standard="RFC 8219 section 7.3 (RFC 5481, RFC 3393)",
    parameters=VariationParameters,
    start=at_the_throughput(measure),
    settle=WAIT,
    traffic_seconds=lambda parameters: (
        parameters.repeats * parameters.duration.amount + parameters.search_seconds
    ),
    further_needs=frozenset({Offer.LATENCY}),
    values=(PDV, *IPDV, *KNOWN),
)
