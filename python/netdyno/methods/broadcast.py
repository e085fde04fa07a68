"""Broadcast forwarding and latency as RFC 2889 section 5.10 has it: one port sends to all others at once."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from fractions import Fraction

from netdyno.methods.parts.procedure import FromMaximum, Procedure, constant, find_shortfall
from netdyno.methods.parts.rules import deviations
from netdyno.methods.parts.search import find_bracket
from netdyno.methods.reasons.common import NothingCame, Taken
from netdyno.methods.reasons.searches import Between, PassedHighest, TesterBound, UnknownAtAll
from netdyno.values.finding import Cell, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, Percent, PositiveDuration, PositiveLoad

RFC_TRIAL_NS = 30 * 10**9
"""RFC 2889 section 5.10.2: 30 seconds are recommended."""

FORWARDED = ValueKind(
    "broadcast throughput", "fps", "the highest load of broadcasts at which all came to every other port"
)
LATENCY = ValueKind(
    "broadcast latency",
    "ns",
    "the one-way latency of a single broadcast frame, first bit out to last bit in",
    tail=Fraction(0),
)
ALONE_NS = 100_000_000
"""From one single frame to the next, which are timed."""

TABLE = columns(
    "receiving port | load: share | offered: fps | sent: frames | received: frames | lost: frames"
    " | loss: share"
)
TIMED = columns("receiving port | latency: ns")


class BroadcastParameters(FromMaximum):
    """Parameters of broadcast forwarding."""

    duration: PositiveDuration = PositiveDuration.of_ns(RFC_TRIAL_NS)
    """Length of each trial."""
    width: PositiveLoad = PositiveLoad(Percent(Fraction(1, 100)))
    """Stop when the bounds are this close: `1%`."""


def broadcast(parameters: BroadcastParameters, situation: Situation) -> Method:
    """RFC 2889 section 5.10: the highest load at which every broadcast comes to every other port.

    The maximum is tried first, then the interval is halved. Each receiving port times the frames of a stream
    of its own among the broadcasts, which follow each other in turn; what it received is of all of them.
    Latency is of a single frame (section 5.10.3): one for each receiving port, far apart.
    """
    maximum = situation.fps(parameters.maximum.amount)
    steps = -((-maximum) // situation.fps(parameters.width.amount))
    duration_ns = parameters.duration.ns
    outcomes: list[Outcome] = []
    table: list[tuple[Cell, ...]] = []
    passed: int | None = None
    failed: int | None = None
    short: Reason | None = None

    def passes(step: int) -> Generator[Trial, Outcome, bool]:
        nonlocal passed, failed, short
        fps = maximum * step / steps
        outcome = yield constant(f"search {len(outcomes) + 1}", FrameRate(fps), duration_ns)
        outcomes.append(outcome)
        fell_short = find_shortfall(outcome, duration_ns)
        rows = tuple(_rows(situation, outcome, fps / situation.line_fps, duration_ns))
        table.extend(rows)
        clean = (
            fell_short is None and not any(row[_LOST] for row in rows) and not _has_spoiled_frames(outcome)
        )
        if clean:
            passed = len(outcomes) - 1
        else:
            failed, short = len(outcomes) - 1, fell_short
        return clean

    found = yield from find_bracket(passes, steps)
    lower, upper = found.lower, found.upper
    number: Fraction | None = maximum * lower / steps
    high: Fraction | None = maximum * upper / steps
    note: Reason = Between(maximum * lower / steps, maximum * upper / steps)
    if failed is None:
        high, note = None, PassedHighest(maximum * lower / steps)
    elif short is not None:
        high, note = None, TesterBound(short, maximum * upper / steps)
        if not lower:
            number, note = None, UnknownAtAll(short)
    alone = yield _one_by_one(situation)
    timed = tuple(_find_latencies(situation, alone))
    values = [Value(FORWARDED, "sum", number, low=number, high=high, note=note, searched=True)]
    values += [
        Value(LATENCY, one.name, number, note=Taken("single-frame") if number else NothingCame())
        for one, (_, number) in zip(alone.streams, timed, strict=True)
    ]
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=tuple(number for number in (passed, failed) if number is not None),
        **deviations(METHOD.name, parameters, situation),
        headlines=(FORWARDED.name,),
        tables=(
            Table(
                "Broadcast forwarding",
                TABLE,
                tuple(table),
                "RFC 2889 section 5.10: what came to each port of all broadcasts. A copy counts as received.",
            ),
            Table(
                "Broadcast latency",
                TIMED,
                timed,
                "RFC 2889 section 5.10.3: of a single frame, first bit out to last bit in (FILO, RFC 8238).",
            ),
        ),
    )


def _one_by_one(situation: Situation) -> Trial:
    """A frame for each receiving port, each of them alone: the device has been done with the one before."""
    single, nothing = FrameRate(Fraction(10**9, ALONE_NS)), FrameRate(Fraction(0))
    loads = {
        name: (
            *((Segment("silence", turn * ALONE_NS, nothing, nothing),) if turn else ()),
            Segment("single frame", ALONE_NS, single, single),
        )
        for turn, name in enumerate(situation.streams)
    }
    whole_ns = len(situation.streams) * ALONE_NS
    return Trial("single frames", replace(Frames.steady(single, whole_ns), loads=loads))


_LOST = [column.name for column in TABLE].index("lost")


def _rows(
    situation: Situation, outcome: Outcome, share: Fraction, duration_ns: int
) -> Iterator[tuple[Cell, ...]]:
    """One for each receiving port."""
    sent = sum(one.offered for one in outcome.streams)
    for place in situation.places:
        port = outcome.ports[place.rx]
        received = sum(port.rx)
        lost = sent - received
        yield (
            port.name,
            share,
            Fraction(sent * 10**9, duration_ns),
            Fraction(sent),
            Fraction(received),
            Fraction(lost),
            Fraction(lost, sent) if sent else None,
        )


def _find_latencies(situation: Situation, outcome: Outcome) -> Iterator[tuple[str, Fraction | None]]:
    """The latency of the single frame to each receiving port, ns; None: it did not come."""
    for stream, place in zip(outcome.streams, situation.places, strict=True):
        found = stream.latency
        time = Fraction(found.sum_ns, found.count) if found is not None and found.count else None
        yield outcome.ports[place.rx].name, time


def at_all_ports(situation: Situation, outcome: Outcome) -> Outcome:
    """The trial with every broadcast due at every receiving port, as the method has it.

    A stream of its own is a port's only for the time its frames take; of the others the port counts them.
    """
    asked = sum(one.intended for one in outcome.streams)
    sent = sum(one.offered for one in outcome.streams)
    streams = []
    for one, place in zip(outcome.streams, situation.places, strict=True):
        received = sum(outcome.ports[place.rx].rx)
        # Frames that were never sent are so of its own stream; copies of others' are in the port's count.
        lost = one.lost if one.lost < 0 else max(sent - received, one.lost)
        streams.append(replace(one, intended=asked, offered=sent, received=sent - lost, lost=lost))
    return outcome.with_counts(streams=tuple(streams))


def _has_spoiled_frames(outcome: Outcome) -> bool:
    """Whether a port's own frames were lost, broken or copied: of the others it only knows how many came."""
    return any(one.missing or one.duplicates for one in outcome.streams)


METHOD = Procedure(
    name="broadcast",
    title="Broadcast forwarding and latency",
    doc="The highest load of broadcasts from one port that come to all others, loss and latency of each.",
    standard="RFC 2889 section 5.10",
    parameters=BroadcastParameters,
    start=broadcast,
    traffic_seconds=lambda parameters: 8 * parameters.duration.amount,
    pattern="broadcast",
    counted=at_all_ports,
    values=(FORWARDED, LATENCY),
)
