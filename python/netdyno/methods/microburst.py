"""Microbursts: how much a device holds of bursts that meet at one port, RFC 8239 sections 3 and 4."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import mean, stdev

from pydantic import Field, model_validator

from netdyno.errors import Problem
from netdyno.methods.parts.bursts import Bursts
from netdyno.methods.parts.procedure import Parameters, Procedure
from netdyno.methods.parts.rules import deviations
from netdyno.methods.reasons.bursts import NoBurstPassed, Unsteady
from netdyno.methods.reasons.common import AtPort, Taken
from netdyno.values.finding import Cell, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.method import Method
from netdyno.values.outcome import StreamResult
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.units import Percent, PositiveDuration

STEADY = Fraction(1, 10)
"""RFC 8239 section 1.2: the standard deviation of repeats should be below 10 % of their mean."""

HELD = ValueKind(
    "burst held",
    "frames",
    "frames that a port held of the longest bursts which came back whole, the mean",
    good="more",
)
BUFFER = ValueKind("buffer", "B", "the bytes of the frames that a port held, by their mean size", good="more")


class MicroburstParameters(Parameters):
    """Parameters of microbursts."""

    repeats: int = Field(default=10, ge=1, le=1000)
    """Complete searches; their mean is the result."""
    others: Percent = Percent(Fraction(1))
    """Load of all but the first of the ports that send to one: `100%` is a microburst (section 4), `1%` fills
    a buffer as section 3 does."""
    longest: PositiveDuration = PositiveDuration.of_ns(10**9)
    """The longest burst that is tried."""
    quiet: PositiveDuration = PositiveDuration.of_ns(2 * 10**9)
    """Wait behind a burst, when all can have come."""

    @model_validator(mode="after")
    def _possible(self) -> MicroburstParameters:
        if not 0 < self.others.amount <= 1:
            raise Problem(
                f"`others` is {self.others} of the line",
                "more than nothing, up to `100%`",
                at=("others",),
                code="out-of-range",
            )
        return self


def microburst(parameters: MicroburstParameters, situation: Situation) -> Method:
    """All ports that send to one begin a burst at the same instant; the longest that comes back whole.

    A length is in frames of a port that sends at the line's rate. What is held is all that came in less what
    the line out had taken when the last frame came in.
    """
    line = situation.line_fps

    def burst(length: int) -> Trial:
        duration_ns = max(int(length * 10**9 / line), 1)
        return Trial(
            f"{length} frames",
            replace(
                Frames.steady(Percent(Fraction(1)), duration_ns, "burst"),
                loads=_loads(parameters, situation, duration_ns),
            ),
            drain_ns=parameters.quiet.ns + len(situation.streams) * duration_ns,
        )

    bursts = Bursts(max(int(parameters.longest.ns * line / 10**9), 1), burst)
    yield from bursts.search(parameters.repeats)
    return _result(parameters, situation, bursts)


def _find_shared_receivers(situation: Situation) -> list[list[int]]:
    """For each port to which several streams go, the places of these streams."""
    receivers: dict[int, list[int]] = {}
    for number, place in enumerate(situation.places):
        receivers.setdefault(place.rx, []).append(number)
    return [
        numbers
        for numbers in receivers.values()
        if len({situation.places[number].tx for number in numbers}) > 1
    ]


def _fits(parameters: MicroburstParameters, situation: Situation) -> Problem | None:
    """Several ports send to one, each all it has."""
    del parameters
    if not _find_shared_receivers(situation):
        return Problem(
            "no port receives from several ports, so no burst fills a buffer",
            "three links or more, and `pattern: [many-to-one]`, `direction: [uni]`",
            code="unsupported",
        )
    split = [situation.streams[n] for n, place in enumerate(situation.places) if place.share != 1]
    if split:
        return Problem(
            f"`{split[0]}` has only a part of its port's load, and a burst must fill the line",
            "`pattern: [many-to-one]`, `direction: [uni]`, and a profile without classes",
            code="unsupported",
        )
    meet = [situation.streams[number] for numbers in _find_shared_receivers(situation) for number in numbers]
    faster = [name for name in meet if situation.line_out_fps(name) != situation.line_fps]
    if faster:
        return Problem(
            f"`{faster[0]}` goes to a link that is faster than the slowest one: bursts are sent at the"
            " slowest rate and do not fill its buffer",
            "links of one rate, or the slowest one where they meet",
            code="unsupported",
        )
    return None


def _loads(
    parameters: MicroburstParameters, situation: Situation, duration_ns: int
) -> dict[str, tuple[Segment, ...]]:
    """The loads of the streams that are not to fill their lines."""
    if parameters.others.amount == 1:
        return {}
    segment = Segment("burst", duration_ns, parameters.others, parameters.others)
    return {
        situation.streams[number]: (segment,)
        for numbers in _find_shared_receivers(situation)
        for number in numbers[1:]
    }


@dataclass(frozen=True)
class _Held:
    """The frames a port held of the longest burst of one search, and the longest wait in it."""

    burst: int
    held: int
    latency_ns: int | None


def _held(situation: Situation, streams: list[StreamResult], length: int) -> _Held:
    burst = sum(one.offered for one in streams)
    # When the last frames come in the line out has sent all but one of as many as the line in brought.
    waits = [one.latency.max_ns for one in streams if one.latency is not None]
    return _Held(burst, burst - (length - 1), max(waits, default=None))


TABLE = columns(
    "frame size: B | port | senders | burst, mean: frames | burst, least: frames"
    " | burst, most: frames | held, mean: frames | held, bytes | drains in: ns | longest latency: ns"
    " | relative stdev: share | variation: share | searches"
)


def _result(parameters: MicroburstParameters, situation: Situation, bursts: Bursts) -> Result:
    note = bursts.why_none(parameters.repeats, parameters.longest)
    lengths = [] if bursts.is_unlimited else bursts.lengths
    if lengths and not any(lengths):
        note = NoBurstPassed()
    outcomes = [bursts.outcomes[bursts.passing[length]] for length in lengths if length]
    values: list[Value] = []
    table: list[tuple[Cell, ...]] = []
    notes: list[Reason] = [] if note is None else [note]
    for numbers in _find_shared_receivers(situation):
        found = [
            _held(situation, [outcome.streams[number] for number in numbers], length)
            for outcome, length in zip(outcomes, [one for one in lengths if one], strict=True)
        ]
        first = situation.streams[numbers[0]]
        port = _receiver([situation.streams[number] for number in numbers])
        row, unsteady = _row(situation, port, len(numbers), found, lengths)
        table.append(row)
        if unsteady is not None:
            notes.append(unsteady)
        held = [Fraction(one.held) for one in found]
        number = mean(held) if held else None
        low, high = (min(held), max(held)) if held else (None, None)
        values += [
            Value(HELD, situation.streams[one], number, low, high, note or AtPort(port)) for one in numbers
        ]
        values.append(
            Value(
                BUFFER,
                first,
                None if number is None else number * situation.mean_size,
                note=Taken("frames-by-size"),
            )
        )
    who = "all at the line's rate"
    if parameters.others.amount != 1:
        who = f"the first at the line's rate, the others at {parameters.others} of it"
    together = [one for one in values if one.kind is HELD]
    values.append(replace(min(together, key=_least), scope="sum"))
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=bursts.resting,
        notes=tuple(notes),
        **deviations(METHOD.name, parameters, situation),
        headlines=(HELD.name,),
        tables=(
            Table(
                "Microbursts",
                TABLE,
                tuple(table),
                f"RFC 8239: bursts of several ports that meet at one, begun at one instant, {who}; the"
                " longest that come back whole. Held: all frames of a burst, less those the line out (at the"
                " slowest link's rate) had taken when the last came in. Variation: greatest less least of the"
                " searches, over the least (section 4.3).",
            ),
        ),
    )


def _receiver(streams: list[str]) -> str:
    """The port that streams have in common, which are named by their ports, `west-east`."""
    end = streams[0]
    while not all(name.endswith(end) for name in streams):
        end = end[1:]
    return end.partition("-")[2]


def _least(value: Value) -> tuple[bool, Fraction]:
    return value.number is not None, value.number or Fraction(0)


def _row(
    situation: Situation, port: str, senders: int, found: list[_Held], lengths: list[int]
) -> tuple[tuple[Cell, ...], Unsteady | None]:
    """The row of a port, and why its results are unsteady, if they are."""
    if not found:
        empty: tuple[Cell, ...] = (None,) * (len(TABLE) - 4)
        head = (situation.mean_size, port, Fraction(senders))
        return (*head, *empty, Fraction(len(lengths))), None
    bursts, held = [one.burst for one in found], [Fraction(one.held) for one in found]
    average = mean(held)
    spread = Fraction(stdev(held)) / average if len(held) > 1 else None
    waits = [one.latency_ns for one in found if one.latency_ns is not None]
    unsteady = None if spread is None or spread <= STEADY else Unsteady(port, spread)
    return (
        situation.mean_size,
        port,
        Fraction(senders),
        Fraction(sum(bursts), len(bursts)),
        Fraction(min(bursts)),
        Fraction(max(bursts)),
        average,
        average * situation.mean_size,
        average / situation.line_fps * 10**9,
        Fraction(max(waits)) if waits else None,
        spread,
        (max(held) - min(held)) / min(held) if len(held) > 1 else None,
        Fraction(len(lengths)),
    ), unsteady


METHOD = Procedure(
    name="microburst",
    title="Microbursts",
    doc="Bursts of several ports that meet at one: the longest that come back whole, and what was held.",
    standard="RFC 8239 sections 3.2 and 4.2",
    parameters=MicroburstParameters,
    start=microburst,
    # About sixteen bursts a search, each hardly longer than its quiet.
    traffic_seconds=lambda parameters: 16 * parameters.repeats * parameters.quiet.amount,
    fits=_fits,
    values=(HELD, BUFFER),
    needs_even=True,
)
