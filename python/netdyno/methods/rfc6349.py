"""RFC 6349: TCP throughput against the window, from a part of the bandwidth-delay product to more than it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated

from pydantic import AfterValidator, Field

from netdyno.errors import Problem
from netdyno.methods.parts.path import SECONDS, connect, explore_path
from netdyno.methods.parts.procedure import Parameters, Procedure
from netdyno.methods.parts.rules import deviations
from netdyno.methods.reasons.connections import LossyPath, PathNotMeasured, SmallProduct
from netdyno.methods.tcp import PAYLOAD, RETRANSMITTED, Congestion, Counted, carried_values, payload_bps
from netdyno.stats.path import TCP_HEADERS, Path
from netdyno.values.finding import Cell, Figure, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import CONNECTIONS, MOST_CONNECTIONS, Connections, Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Carried, Outcome
from netdyno.values.rates import ip_length
from netdyno.values.reason import About, Reason
from netdyno.values.situation import Situation
from netdyno.values.units import Percent, PositiveDuration
from netdyno.values.unmeasured import NotMeasuredError

STANDARD = "RFC 6349"
SLOW_START_NS = 10**9
"""Before each window's time counts: section 2 is about a TCP in equilibrium."""
BASELINE_NS = 2 * 10**9
LEAST_SEGMENTS = 4
"""Of a window: fewer wait for delayed acknowledgements."""
MOST_LOSS = Fraction(5, 100)
"""Section 1.2: paths that lose more are not for this methodology."""

RATIO = ValueKind(
    "transfer time ratio",
    "",
    "the time that the payload took over the time that it takes at the most the path carries (section 4.1)",
    good="less",
)
EFFICIENCY = ValueKind(
    "TCP efficiency",
    "share",
    "the share of the bytes sent that were not sent again (section 4.2)",
    goal="TCP efficiency >= 99%",
    good="more",
    at_full_load=True,
)
DELAY = ValueKind(
    "buffer delay",
    "share",
    "by how much the mean round-trip time was longer than the least (section 4.3)",
    goal="buffer delay <= 50%",
    good="less",
    at_full_load=True,
)
WINDOWS = columns(
    "stream | window: share | under way: bytes | predicted: bps",
    PAYLOAD,
    RATIO,
    EFFICIENCY,
    RETRANSMITTED,
    "mean RTT: ns",
    DELAY,
)
PATH = columns(
    "stream | path MTU: bytes | baseline RTT: ns | test frames: fps | most payload: bps | product: bytes"
    " | lost at half: share"
)


MOST_WINDOW = Percent(Fraction(10))
"""Of the bandwidth-delay product: section 3.3 ends at twice that, and a larger window fills queues alone."""


def _window(value: Percent) -> Percent:
    if 0 < value.amount <= MOST_WINDOW.amount:
        return value
    raise Problem(
        f"a window cannot be `{value}` of the bandwidth-delay product",
        f"more than `0%` and at most `{MOST_WINDOW}`",
        code="out-of-range",
    )


class Rfc6349Parameters(Parameters):
    """Parameters of RFC 6349."""

    duration: Counted = PositiveDuration(Fraction(30))
    """How long the connections send at each window."""
    windows: Annotated[
        list[Annotated[Percent, AfterValidator(_window)]], Field(min_length=1, max_length=20)
    ] = Field(
        default=[Percent(Fraction(part, 100)) for part in (25, 50, 75, 100, 150, 200)],
        examples=[["25%", "100%", "200%"]],
    )
    """Windows, of the bandwidth-delay product, at most 1000 %, all connections together: `[25%, 100%]`."""
    streams: int = Field(default=1, ge=1, le=MOST_CONNECTIONS)
    """Connections of each direction."""
    congestion: Congestion = Field(default="cubic", examples=["cubic"])
    """Congestion control of the senders, by the kernel's name: `cubic`, `bbr`, `reno`."""

    @property
    def needs_flows(self) -> bool:
        """It says the number of connections itself."""
        return False


def rfc6349(parameters: Rfc6349Parameters, situation: Situation) -> Method:
    """The path by own frames, the least round-trip time by one connection, then a trial for each window."""
    explored = yield from explore_path(situation, parameters.streams)
    paths, made = explored.paths, explored.made
    congestion = parameters.congestion
    baseline = Connections(BASELINE_NS, congestion, streams=1, segments_under_way=LEAST_SEGMENTS)
    first = yield from connect(Trial("baseline RTT", baseline), explored, situation)
    made += 1
    notes: list[Reason] = []
    rtts = {one.name: least for one in first.carried if (least := _least_rtt(one))}
    lines = {name: _Line(paths[name], rtts[name], situation) for name in rtts if name in paths}
    if not lines:
        return _without_number(situation, (PathNotMeasured(),))
    product = max(one.product for one in lines.values())
    count = parameters.streams
    mss = max(one.mss for one in lines.values())
    found: list[tuple[Percent, int, Outcome, int]] = []
    tried: set[int] = set()
    for part in parameters.windows:
        segments = max(round(product * part.amount / mss / count), LEAST_SEGMENTS)
        if segments in tried:
            continue
        tried.add(segments)
        load = Connections(
            parameters.duration.ns,
            congestion,
            streams=count,
            omit_ns=SLOW_START_NS,
            segments_under_way=segments,
        )
        try:
            outcome = yield Trial(f"window of {part}", load)
            found.append((part, segments, outcome, made))
        except NotMeasuredError as error:
            notes.append(About(f"window of {part}", error.reason))
        made += 1
    if not found:
        return _without_number(situation, tuple(notes))
    if product <= LEAST_SEGMENTS * mss:
        notes.append(SmallProduct(int(product), LEAST_SEGMENTS * mss))
    lossy: list[Reason] = []
    for name, line in lines.items():
        if line.path.of and Fraction(line.path.lost, line.path.of) > MOST_LOSS:
            lossy.append(LossyPath(name, Fraction(line.path.lost, line.path.of)))
    asked = deviations(METHOD.name, parameters, situation)
    best = max(found, key=lambda one: sum(payload_bps(each) or 0 for each in one[2].carried))
    return Result(
        method=METHOD.name,
        values=tuple(_values(best[2].carried, lines)),
        trials=(best[3],),
        compliance=(*lossy, *asked["compliance"]),
        recommended=asked["recommended"],
        notes=tuple(notes),
        headlines=(PAYLOAD.name,),
        standard=STANDARD,
        tables=(
            Table(
                "Path",
                PATH,
                tuple(line.row(name) for name, line in lines.items()),
                "RFC 6349 sections 3.1 and 3.2. Product: most payload times baseline RTT. The MTU is that of"
                " full frames that came back.",
            ),
            Table(
                "Payload against the window",
                WINDOWS,
                tuple(
                    _row(one, lines[one.name], part, segments)
                    for part, segments, outcome, _ in found
                    for one in outcome.carried
                    if one.name in lines
                ),
                "RFC 6349 section 3.3: predicted is the window over the baseline RTT, at most what the path"
                " carries. The window is held at the sender, in whole segments. The case's numbers are of the"
                " window that carried most.",
                Figure("window", ("predicted", PAYLOAD.display_name), reference=("predicted",), by="stream"),
            ),
        ),
    )


def _without_number(situation: Situation, notes: tuple[Reason, ...]) -> Result:
    """The result where nothing could be measured, and why."""
    values = tuple(Value(PAYLOAD, name, None) for name in (*situation.streams, "sum"))
    return Result(METHOD.name, values, (), notes=notes, headlines=(PAYLOAD.name,))


class _Line:
    """What a path carries of one stream. rtt_ns: the least round-trip time, without queues."""

    def __init__(self, path: Path, rtt_ns: int, situation: Situation) -> None:
        self.path = path
        self.rtt_ns = rtt_ns
        self.mtu = int(ip_length(situation.mean_size))
        self.mss = self.mtu - TCP_HEADERS
        self.most_bps = path.fps * self.mss * 8
        self.product = self.most_bps / 8 * Fraction(rtt_ns, 10**9)

    def row(self, name: str) -> tuple[Cell, ...]:
        """Its row of the table of paths."""
        lost = Fraction(self.path.lost, self.path.of) if self.path.of else None
        return (
            name,
            Fraction(self.mtu),
            Fraction(self.rtt_ns),
            self.path.fps,
            self.most_bps,
            Fraction(round(self.product)),
            lost,
        )


def _least_rtt(one: Carried) -> int:
    return min((each.min_rtt_ns for each in one.each if each.min_rtt_ns), default=0)


def _ratio(one: Carried, line: _Line) -> Fraction | None:
    bps = payload_bps(one)
    return line.most_bps / bps if bps else None


def _efficiency(one: Carried) -> Fraction | None:
    sent = sum(each.sent_bytes for each in one.each)
    again = sum(each.retransmitted_bytes for each in one.each)
    return 1 - Fraction(again, sent) if sent else None


def _delay(one: Carried, line: _Line) -> Fraction | None:
    if one.mean_rtt_ns is None:
        return None
    return Fraction(max(one.mean_rtt_ns - line.rtt_ns, 0), line.rtt_ns)


def _values(carried: Sequence[Carried], lines: Mapping[str, _Line]) -> list[Value]:
    found = list(carried_values(carried))
    for one in carried:
        if one.name in lines:
            line = lines[one.name]
            found.append(Value(RATIO, one.name, _ratio(one, line)))
            found.append(Value(EFFICIENCY, one.name, _efficiency(one)))
            found.append(Value(DELAY, one.name, _delay(one, line)))
    return found


def _row(one: Carried, line: _Line, part: Percent, segments: int) -> tuple[Cell, ...]:
    whole = segments * line.mss * one.connections
    again = one.retransmitted_segments
    return (
        one.name,
        part.amount,
        Fraction(whole),
        min(Fraction(whole * 8 * 10**9, line.rtt_ns), line.most_bps),
        payload_bps(one),
        None if (ratio := _ratio(one, line)) is None else round(ratio, 3),
        _efficiency(one),
        None if again is None else Fraction(again),
        None if one.mean_rtt_ns is None else Fraction(one.mean_rtt_ns),
        _delay(one, line),
    )


METHOD = Procedure(
    name="rfc6349",
    title="RFC 6349",
    doc="TCP throughput against the window: transfer time, efficiency and buffer delay.",
    standard=STANDARD,
    parameters=Rfc6349Parameters,
    start=rfc6349,
    traffic_seconds=lambda parameters: (
        SECONDS + Fraction(BASELINE_NS, 10**9) + (parameters.duration.amount + 1) * len(parameters.windows)
    ),
    load_class=CONNECTIONS,
    needs_path=True,
    values=(PAYLOAD, RATIO, EFFICIENCY, DELAY, RETRANSMITTED),
)
