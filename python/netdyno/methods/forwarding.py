"""Forwarding rates as RFC 2889 section 5.6 has them: the highest, and that at the highest load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from pydantic import model_validator

from netdyno.errors import Problem
from netdyno.methods.parts.procedure import Procedure, constant, find_shortfall
from netdyno.methods.parts.rules import deviations
from netdyno.methods.reasons.services import NoForwardPressure
from netdyno.methods.reasons.tester import SamplesTooLong
from netdyno.methods.throughput import KNOWN, Known, OnThroughput, at_the_throughput
from netdyno.values.finding import Cell, Figure, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.method import Method
from netdyno.values.outcome import StreamResult
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, Percent, PositiveDuration, PositiveLoad

RFC_TRIAL_NS = 30 * 10**9
"""RFC 2889 section 5.6.2: 30 seconds are recommended."""
MOST_STEPS = 1000

MFR = ValueKind(
    "maximum forwarding rate",
    "fps",
    "the most that came out at loads from the throughput upward, frames lost or not",
)
FRMOL = ValueKind(
    "forwarding rate at maximum load", "fps", "what came out at the highest load, frames lost or not"
)

TABLE = columns("load: share | offered: fps | forwarded: fps | remark")


EDGE = 2
"""Frames by which a count in a window of time may be off: one at either end."""


def forwarding_rate(
    streams: Sequence[StreamResult], asked: Sequence[Fraction], duration_ns: int, sample_ns: int
) -> Fraction | None:
    """Frames per second received at the right port while traffic lasted (RFC 2285, 3.6.1), all together.

    asked: the load of each stream, frames per second. None if there is no whole sample in that time.
    """
    rates = [_rate(one, fps, duration_ns, sample_ns) for one, fps in zip(streams, asked, strict=True)]
    known = [rate for rate in rates if rate is not None]
    return sum(known, Fraction(0)) if len(known) == len(rates) else None


def _rate(stream: StreamResult, asked: Fraction, duration_ns: int, sample_ns: int) -> Fraction | None:
    """The forwarding rate of a stream, frames a second, over whole samples from its first frame to the end.

    Before that nothing comes, however fast the device is. What a queue still gives back behind it is not
    counted: over a short trial that would be a higher rate than the device has. Where nothing was lost and
    these samples agree with the load to a frame at either end, the rate is the load: what was asked for,
    which a count of frames may exceed by one, or less where less was sent.
    """
    crossing_ns = stream.latency.min_ns if stream.latency is not None and stream.latency.count else 0
    first, behind = -(-max(crossing_ns, 0) // sample_ns), duration_ns // sample_ns
    if behind <= first:
        return None
    window_ns = (behind - first) * sample_ns
    received, offered = sum(stream.rx[first:behind]), Fraction(stream.offered * 10**9, duration_ns)
    if not stream.missing and abs(received - offered * window_ns / 10**9) <= EDGE:
        return min(offered, asked)
    return Fraction(received * 10**9, window_ns)


class ForwardingParameters(OnThroughput):
    """Parameters of the maximum forwarding rate."""

    duration: PositiveDuration = PositiveDuration.of_ns(RFC_TRIAL_NS)
    """Length of each trial."""
    maximum: PositiveLoad = PositiveLoad(Percent(Fraction(1)))
    """The highest load, MOL: `100%`, `99.98%`."""
    step: Percent = Percent(Fraction(1, 100))
    """From load to load, of the maximum: `1%`."""

    @model_validator(mode="after")
    def _possible(self) -> ForwardingParameters:
        if not Fraction(1, MOST_STEPS) <= self.step.amount <= 1:
            raise Problem(
                f"`step` is {self.step}", "from `0.1%` to `100%`", at=("step",), code="out-of-range"
            )
        return self


def measure(parameters: ForwardingParameters, situation: Situation, known: Known) -> Method:
    """RFC 2889 section 5.6: loads from the throughput up to the maximum, and the most that came out.

    A device whose throughput is the maximum load has that as its maximum forwarding rate: what is on its way
    when traffic ends is no loss of rate.
    """
    maximum, duration_ns = situation.fps(parameters.maximum.amount), parameters.duration.ns
    table: list[tuple[Cell, ...]] = []
    rates: dict[int, dict[str, Fraction | None]] = {}
    short: dict[int, Reason] = {}
    loads = list(_loads(known.fps or Fraction(0), maximum, maximum * parameters.step.amount))
    for number, fps in enumerate(loads):
        outcome = yield constant(f"load {number + 1}", FrameRate(fps), duration_ns)
        asked = {one.name: fps * situation.share(one.name) for one in outcome.streams}
        rate = {
            one.name: forwarding_rate((one,), (asked[one.name],), duration_ns, outcome.sample_ns)
            for one in outcome.streams
        } | {"sum": forwarding_rate(outcome.streams, tuple(asked.values()), duration_ns, outcome.sample_ns)}
        fell_short = find_shortfall(outcome, duration_ns) or (
            SamplesTooLong() if rate["sum"] is None else None
        )
        if fell_short is None:
            rates[number] = rate
        else:
            short[number] = fell_short
        offered = Fraction(sum(one.offered for one in outcome.streams) * 10**9, duration_ns)
        table.append((fps / situation.line_fps, offered, rate["sum"], str(fell_short or "")))
    best = max(rates, key=lambda number: rates[number]["sum"] or 0, default=None)
    last = len(loads) - 1
    return Result(
        method=METHOD.name,
        values=tuple(
            Value(
                kind,
                scope,
                rates[number][scope] if number in rates else None,
                note=short.get(last),
            )
            for kind, number in ((MFR, best), (FRMOL, last))
            for scope in (*situation.streams, "sum")
        ),
        trials=tuple(dict.fromkeys(number for number in (best, last) if number is not None)),
        notes=(
            NoForwardPressure(),
            *(About(f"load {number + 1}", why) for number, why in short.items()),
        ),
        **deviations(METHOD.name, parameters, situation),
        headlines=(MFR.name,),
        tables=(
            Table(
                "Forwarding rate",
                TABLE,
                tuple(table),
                "RFC 2889 section 5.6: what came out at the right ports while each load was offered, all"
                " streams together; the load is a port's, of its line.",
                Figure("load", ("offered", "forwarded"), reference=("offered",)),
            ),
        ),
    )


def _loads(lowest: Fraction, maximum: Fraction, step: Fraction) -> Iterator[Fraction]:
    """From the throughput up, the maximum last."""
    load = lowest if lowest > 0 else step
    while load < maximum:
        yield load
        load += step
    yield maximum


METHOD = Procedure(
    name="max-forwarding-rate",
    title="Maximum forwarding rate",
    doc="The most that comes out of a device at loads from its throughput up to the line.",
    standard="RFC 2889 section 5.6",
    parameters=ForwardingParameters,
    start=at_the_throughput(measure),
    traffic_seconds=lambda parameters: (
        parameters.search_seconds + parameters.duration.amount * -(-1 // parameters.step.amount)
    ),
    values=(MFR, FRMOL, *KNOWN),
)
