"""Latency at the throughput, as RFC 2544 section 26.2 and RFC 8219 section 7.2 have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from pydantic import Field, model_validator

from netdyno.errors import Problem
from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import Parameters, Procedure, constant, find_shortfall
from netdyno.methods.parts.rules import deviations
from netdyno.methods.reasons.common import Taken
from netdyno.methods.reasons.loss import Untimed
from netdyno.methods.throughput import KNOWN, WAIT, Known, OnThroughput, at_the_throughput
from netdyno.values.finding import Cell, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import Observe
from netdyno.values.method import Method
from netdyno.values.offer import Offer
from netdyno.values.outcome import Outcome
from netdyno.values.rates import WIRE_OVERHEAD
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import Duration, FrameRate, PositiveDuration

REPEATS = 20
"""RFC 2544 section 26.2 and RFC 8219 section 7.2: at least 20 times."""
STREAM_NS = 120 * 10**9
"""Same: a stream of at least 120 seconds,"""
TAGGED_NS = 60 * 10**9
"""of which frames are tagged after 60 seconds; netdyno tags all of them."""
WORST = Fraction(999, 1000)
"""RFC 8219 section 7.2: worst case latency is the 99.9th percentile."""

PREAMBLE = 8
"""Bytes before a frame on its line: the preamble and the start delimiter (IEEE Std 802.3 section 3.1.1)."""

LATENCY = ValueKind(
    "latency",
    "ns",
    "the mean one-way latency at the throughput, first bit out to last bit in",
    on_throughput=True,
    role="latency",
)


class LatencySettings(Parameters):
    """Parameters of latency."""

    repeats: int = Field(default=REPEATS, ge=1, le=1000)
    """Streams; their mean is the result."""
    duration: PositiveDuration = PositiveDuration.of_ns(STREAM_NS)
    """Length of each stream."""
    after: Duration = Duration.of_ns(TAGGED_NS)
    """Frames that left before this are not timed."""

    @model_validator(mode="after")
    def _possible(self) -> LatencySettings:
        if self.after.ns >= self.duration.ns:
            raise Problem(
                f"`after` ({self.after}) is not shorter than `duration` ({self.duration}): no frame is timed",
                "a shorter `after`, or a longer `duration`",
                at=("after",),
                code="conflict",
            )
        return self

    @property
    def seconds(self) -> Fraction:
        """The time of traffic, s."""
        return self.repeats * self.duration.amount


class LatencyParameters(LatencySettings, OnThroughput):
    """The same, and the throughput."""


COLUMNS = columns(
    "frame size: B | stream | load: fps * | streams | mean: ns | TL: ns | TL p1: ns | TL p99: ns"
    " | WCL: ns | WCL p1: ns | WCL p99: ns | store and forward: ns | lost: frames",
)


def measure(parameters: LatencySettings, situation: Situation, known: Known) -> Method:
    """The streams, at a known load.

    Typical latency (TL) is the median of a stream's, worst case latency (WCL) its 99.9th percentile; of all
    streams the medians of both (RFC 8219 section 7.2).
    """
    fps, duration_ns = known.fps, parameters.duration.ns
    outcomes: list[Outcome] = []
    notes: list[Reason] = []
    if not fps:
        notes.append(About("latency", known.is_missing))
    for number in range(parameters.repeats if fps else 0):
        assert fps is not None
        timed = Observe(timed_from_ns=parameters.after.ns)
        outcome = yield constant(f"latency {number + 1}", FrameRate(fps), duration_ns, observe=timed)
        outcomes.append(outcome)
        short = find_shortfall(outcome, duration_ns)
        if short is not None:
            notes.append(About(f"latency {number + 1}", short))
    values, table = [], []
    for scope, cells, mean in _rows(situation, fps, outcomes):
        values.append(Value(LATENCY, scope, mean, note=Taken("mean-of-streams")))
        table.append(cells)
    if not outcomes:
        values = [Value(LATENCY, scope, None, note=notes[0]) for scope in situation.scopes]
    lost = sum(rows.count_lost(outcome.streams) for outcome in outcomes)
    if lost:
        notes.append(About("latency", Untimed(lost)))
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=tuple(range(len(outcomes))),
        **deviations(METHOD.name, parameters, situation, outcomes),
        notes=tuple(notes),
        headlines=(LATENCY.name,),
        tables=(
            Table(
                "Latency",
                COLUMNS,
                tuple(table),
                "RFC 2544 section 26.2 and RFC 8219 section 7.2, all frames tagged. Mean, TL and WCL are from"
                " first bit out to last bit in (FILO, RFC 8238), the preamble out first; store and forward is"
                " RFC 1242 section 3.8's, last bit in to first bit out: the mean less a frame's time on both"
                " lines and its preamble's on that in; nothing where nothing enforces their rates.",
            ),
        ),
    )


def _rows(
    situation: Situation, fps: Fraction | None, outcomes: list[Outcome]
) -> Iterator[tuple[str, tuple[Cell, ...], Fraction | None]]:
    if not outcomes or fps is None:
        return
    for place, (scope, _) in enumerate(rows.scopes(outcomes[0], situation)):
        streams = [rows.scopes(outcome, situation)[place][1] for outcome in outcomes]
        times = [found for one in streams if (found := rows.Times.of(one)) is not None]
        mean = sum((one.mean_ns for one in times), Fraction(0)) / len(times) if times else None
        typical = [one.percentile(Fraction(1, 2)) for one in times]
        worst = [one.percentile(WORST) for one in times]
        serial = _serial(situation, [one.name for one in streams[0]])
        forward = None if mean is None or serial is None else mean - serial
        yield (
            scope,
            (
                situation.size(scope),
                scope,
                fps * situation.share(scope),
                Fraction(len(times)),
                mean,
                *rows.over(typical),
                *rows.over(worst),
                forward if forward is not None and forward >= 0 else None,
                Fraction(sum(rows.count_lost(one) for one in streams)),
            ),
            mean,
        )


def _serial(situation: Situation, streams: Sequence[str]) -> Fraction | None:
    """Serialisation time of a frame, ns: on the line in with its preamble, plus on the line out without it.

    A frame is what is behind its preamble (RFC 1242 section 3.5). Latency begins with the preamble of the one
    that the tester sends; that of the one it gets is between the two frames, and in the device's latency.
    None where nothing holds the ports to these lines, where frames of several sizes or on lines of several
    rates have one mean, and where they get tags on the way.
    """
    both = {(situation.in_fps(name), situation.line_out_fps(name)) for name in streams}
    sizes = {situation.size(name) for name in streams}
    if not situation.enforced or situation.mixed_receivers or situation.growth or len(both) * len(sizes) > 1:
        return None
    ((in_fps, out_fps),), (size,) = both, sizes
    # Lines are in frames of average size.
    wire = situation.mean_size + WIRE_OVERHEAD
    return ((size + PREAMBLE) / in_fps + size / out_fps) * 10**9 / wire


METHOD = Procedure(
    name="latency",
    title="Latency",
    doc="One-way latency at the throughput: mean, typical and worst case over repeated streams.",
    standard="RFC 2544 section 26.2, RFC 8219 section 7.2",
    parameters=LatencyParameters,
    groups=True,
    start=at_the_throughput(measure),
    settle=WAIT,
    conditions="RFC 2544",
    traffic_seconds=lambda parameters: parameters.seconds + parameters.search_seconds,
    further_needs=frozenset({Offer.LATENCY}),
    values=(LATENCY, *KNOWN),
)
