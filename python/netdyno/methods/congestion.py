"""Congestion control as RFC 2889 section 5.5 has it: head-of-line blocking and back pressure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from netdyno.methods.forwarding import EDGE, forwarding_rate
from netdyno.methods.parts import rows
from netdyno.methods.parts.procedure import Parameters, Procedure, constant, find_shortfall
from netdyno.methods.parts.rows import count_lost
from netdyno.methods.parts.rules import deviations
from netdyno.methods.reasons.tester import OfOffered, SamplesTooLong
from netdyno.values.finding import Cell, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.method import Method
from netdyno.values.number import whole
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.units import Percent, PositiveDuration, PositiveLoad, decimal

RFC_TRIAL_NS = 30 * 10**9
"""RFC 2889 section 5.5.2: 30 seconds are recommended."""
ABOVE_LINE = Fraction(10_001, 10_000)
"""What a port forwards beyond this share of its line, and beyond the frames that a count may be off, no line
held: lines may be 100 ppm off."""

UNCONGESTED = ValueKind(
    "loss at the uncongested port",
    "ratio",
    "the share lost of the frames to the port that has room; more than none is head-of-line blocking"
    " (RFC 2889 section 5.5)",
    good="less",
)
CONGESTED = ValueKind(
    "loss at the congested port",
    "ratio",
    "the share lost of the frames to the port that is sent more than it carries",
    good="less",
)

TABLE = columns(
    "port | offered: fps | forwarded: fps | sent: frames | lost: frames | loss: share"
    " | loss without control: share"
)
FINDINGS = columns("question | finding")


class CongestionParameters(Parameters):
    """Parameters of congestion control."""

    load: PositiveLoad = PositiveLoad(Percent(Fraction(1)))
    """What each of both senders sends, of its line."""
    duration: PositiveDuration = PositiveDuration.of_ns(RFC_TRIAL_NS)
    """Length of the trial."""


def congestion(parameters: CongestionParameters, situation: Situation) -> Method:
    """RFC 2889 section 5.5: half a line to one port, one and a half to another. The loss at both."""
    fps = situation.fps(parameters.load.amount)
    duration_ns = parameters.duration.ns
    outcome = yield constant("congestion", parameters.load.amount, duration_ns)
    short = find_shortfall(outcome, duration_ns)
    free, full = _ports(situation, outcome)
    ports = [
        _Port(
            name,
            streams,
            [fps * situation.share(one.name) for one in streams],
            duration_ns,
            outcome.sample_ns,
            situation.line_fps,
        )
        for name, streams in (("uncongested", free), ("congested", full))
    ]
    values = [
        Value(
            kind,
            scope,
            port.loss if short is None else None,
            *rows.loss_bounds(port.loss if short is None else None, port.sent),
            short,
            of_frames=port.sent,
        )
        for kind, port, scope in (
            (UNCONGESTED, ports[0], free[0].name if len(free) == 1 else "sum"),
            (CONGESTED, ports[1], "sum"),
        )
    ]
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=(0,),
        notes=() if short is None else (OfOffered(short),),
        **deviations(METHOD.name, parameters, situation),
        headlines=(UNCONGESTED.name, CONGESTED.name),
        tables=(
            Table(
                "Congestion control",
                TABLE,
                tuple(port.row for port in ports),
                "RFC 2889 section 5.5: the first port sends one half to a port of its own and one half to one"
                " that the second port fills. Forwarded is what came while traffic lasted.",
            ),
            Table("Findings on congestion", FINDINGS, tuple(_findings(ports, outcome, short))),
        ),
    )


def _ports(
    situation: Situation, outcome: Outcome
) -> tuple[tuple[StreamResult, ...], tuple[StreamResult, ...]]:
    """The streams to the uncongested port, which one port sends to, and those to the other."""
    of = dict(zip(situation.streams, situation.places, strict=True))
    senders: dict[int, set[int]] = {}
    for place in situation.places:
        senders.setdefault(place.rx, set()).add(place.tx)
    free = tuple(one for one in outcome.streams if len(senders[of[one.name].rx]) == 1)
    return free, tuple(one for one in outcome.streams if one not in free)


class _Port:
    """The counts of the frames to one receiving port."""

    def __init__(
        self,
        name: str,
        streams: Sequence[StreamResult],
        asked: Sequence[Fraction],
        duration_ns: int,
        sample_ns: int,
        line: Fraction,
    ) -> None:
        self.name, self.line = name, line
        self.sent = sum(one.offered for one in streams)
        self.lost = count_lost(streams)
        self.offered = Fraction(self.sent * 10**9, duration_ns)
        self.forwarded = forwarding_rate(streams, asked, duration_ns, sample_ns)
        self.loss = Fraction(self.lost, self.sent) if self.sent else None
        self.expected = max(1 - line / self.offered, Fraction(0)) if self.sent else None
        edges = Fraction(EDGE * len(streams) * 10**9, duration_ns)
        self.held = None if self.forwarded is None else self.forwarded <= line * ABOVE_LINE + edges
        """Whether no more came than its line carries; None: that is not known."""
        self.inside = None
        if self.forwarded is not None:
            self.inside = max(int((self.offered - self.forwarded) * duration_ns / 10**9) - self.lost, 0)
        """Frames that were in the device or on the line when traffic ended, and came."""

    @property
    def row(self) -> tuple[Cell, ...]:
        """The cells of its row in the table."""
        return (
            self.name, self.offered, self.forwarded, Fraction(self.sent), Fraction(self.lost), self.loss,
            self.expected,
        )  # fmt: skip


def _findings(ports: Sequence[_Port], outcome: Outcome, short: Reason | None) -> Iterator[tuple[Cell, ...]]:
    """The sentences that RFC 2889 section 5.5.5 asks for."""
    free, full = ports
    unclear = _explain_no_congestion(full) if short is None else str(short)
    yield "head-of-line blocking", _explain_blocking(free, outcome, short, unclear)
    yield "back pressure", _pressure(full, outcome, unclear)
    yield (
        CONGESTED.name,
        f"{_share(Fraction(full.lost), Fraction(full.sent))}; without any control"
        f" {_share(full.expected or Fraction(0), Fraction(1))} of what was offered",
    )
    yield (
        "rate at the uncongested port",
        f"not known: {SamplesTooLong()}"
        if free.forwarded is None
        else f"{whole(free.forwarded)} of {whole(free.offered)} fps offered,"
        f" {_share(free.forwarded, free.line)} of its line",
    )


def _explain_no_congestion(full: _Port) -> str | None:
    """A clause on why the load congested no port, or why that is unknown; None if it did."""
    if full.offered <= full.line:
        return "the load did not fill the congested port"
    if full.forwarded is None:
        return str(SamplesTooLong())
    if full.held:
        return None
    return (
        f"the congested port forwarded {_share(full.forwarded, full.line)} of its line: nothing holds it to"
        " that rate, and nothing was congested"
    )


def _explain_blocking(free: _Port, outcome: Outcome, short: Reason | None, unclear: str | None) -> str:
    """A clause on whether the uncongested port lost frames that it has room for."""
    of_sent = f"{free.lost} of {free.sent} frames to the uncongested port were lost"
    if not free.lost:
        return f"not tested: {unclear}" if unclear else f"none: {of_sent}"
    if short is not None:
        return f"not told: {of_sent}, and {short}"
    own = outcome.dropped + outcome.not_sent
    if own >= free.lost:
        return f"not told: {of_sent}, and the tester itself dropped {own} frames"
    late = sum(one.lag.late for one in outcome.streams if one.lag is not None)
    if late >= free.lost:
        return f"not told: {of_sent}, and the tester sent {late} frames late"
    return f"yes: {of_sent}"


def _pressure(full: _Port, outcome: Outcome, unclear: str | None) -> str:
    """Whether the device held the senders back (RFC 2285, 3.7.3).

    That nothing was lost does not tell: a deep buffer does as much. Pause frames do, if a card counts them.
    """
    of_sent = f"{full.lost} of {full.sent} frames to the congested port were lost"
    pauses = sum(one.paused for one in outcome.interfaces)
    if pauses:
        and_yet = f"{of_sent} nevertheless" if full.lost else "nothing was lost at the congested port"
        return f"yes: {pauses} pause frames came to the tester, and {and_yet}"
    if unclear:
        return f"not tested: {unclear}"
    if full.lost:
        return f"none: {of_sent}"
    return (
        "not told: nothing was lost at the congested port, no pause frame was counted, and"
        f" about {full.inside} frames were in the device when the load ended"
    )


def _share(part: Fraction, whole: Fraction) -> str:
    return f"{decimal(100 * part / whole, 2)} %" if whole else "n/a"


METHOD = Procedure(
    name="congestion",
    title="Congestion control",
    doc="Half a line to one port and one and a half to another: head-of-line blocking and back pressure.",
    standard="RFC 2889 section 5.5",
    parameters=CongestionParameters,
    start=congestion,
    traffic_seconds=lambda parameters: parameters.duration.amount,
    pattern="congestion",
    values=(UNCONGESTED, CONGESTED),
)
