"""Service activation as ITU-T Y.1564 has it: each service's rates step by step, then all services together.

What is written here of the Recommendation is from descriptions of it; what these leave open or disagree on is
in `ASSUMPTIONS`, and every report says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from pydantic import Field, model_validator

from netdyno.errors import Problem
from netdyno.methods.parts import carrier, rows
from netdyno.methods.parts.acceptance import RATES, Checks, Service, accept, available, cells_of, fdv, ftd
from netdyno.methods.parts.procedure import Parameters, Procedure, clock, find_shortfall
from netdyno.methods.parts.rules import deviations
from netdyno.methods.reasons.common import Taken
from netdyno.methods.reasons.services import ASSUMPTIONS, Assumed, StepNotRun, StepsPassed
from netdyno.stats.carrier import spans
from netdyno.values import number as printed
from netdyno.values.finding import FAIL, NOT_KNOWN, PASS, Cell, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.method import Method
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.units import (
    Duration,
    FrameRate,
    L1Rate,
    L2Rate,
    Percent,
    PositiveDuration,
    PositiveLoad,
    Rate,
    decimal,
)

USUAL = Duration(Fraction(15 * 60))
"""The shortest of the three usual lengths of the performance test: 15 minutes, 2 hours, 24 hours."""
LONGEST_FILL_NS = 15 * 60 * 10**9
"""A bucket that takes longer to fill is a mistake of the plan: a test of it would stand still meanwhile."""
SURE = 3
"""Frames that buckets may hold besides when two of them fill at once."""
LITTLE = Fraction(1, 5)
"""An EIR below this share of the CIR: the policing step exceeds the CIR by a quarter, and not the EIR."""
BEYOND = Fraction(5, 4)

STEPS = ValueKind(
    "steps passed",
    "share",
    "the share of the steps of configuration and performance that were passed",
    goal="steps passed >= 100%",
    hinges_on="delay",
)
LOSS_RATE = ValueKind(
    "frame loss rate", "ratio", "the share of frames lost in the performance test", goal="loss <= 0.1%"
)
FTD = ValueKind("FTD", "ns", "the mean delay of a service's frames in the performance test")
FDV = ValueKind(
    "FDV",
    "ns",
    "the 99.9th percentile of a service's delay in the performance test, less the least",
    tail=Fraction(1, 1000),
)


class Y1564Parameters(Parameters):
    """Parameters of service activation."""

    services: dict[str, Service] = Field(
        default={"all": Service(cir=PositiveLoad(Percent(Fraction(1))))},
        examples=["{voice: {cir: 10Mbps L2, eir: 5Mbps L2, sac: {flr: 0.01%, ftd: 5ms, fdv: 1ms}}}"],
    )
    """Services by name: each class of the profile, or one that is all of it, of any name."""
    steps: list[Percent] = Field(
        default=[Percent(Fraction(share, 100)) for share in (25, 50, 75, 100)],
        examples=["[25%, 50%, 75%, 100%]"],
    )
    """Steps of the configuration test, of the CIR."""
    step: PositiveDuration = PositiveDuration(Fraction(10))
    """Length of each step of the configuration test."""
    performance: Duration = USUAL
    """Length of the performance test, all services at once; `0s`: none."""
    margin: Percent = Percent(Fraction(1, 100))
    """M: the rate may exceed CIR + EIR by this share of it, and by what full buckets add."""

    @model_validator(mode="after")
    def _something(self) -> Y1564Parameters:
        if not self.services:
            raise Problem(
                "no service", "give each its CIR: `all: {cir: 100Mbps L2}`", at=("services",), code="empty"
            )
        if not self.steps or any(not 0 < one.amount <= 1 for one in self.steps):
            raise Problem(
                "steps are shares of the CIR, above 0 up to 100 %",
                "`[25%, 50%, 75%, 100%]`",
                at=("steps",),
                code="out-of-range",
            )
        return self


LINE = Percent(Fraction(1))


@dataclass(frozen=True)
class _Step:
    """A step of a service: its offered rate, and the bounds of the received rate, frames per second."""

    service: str
    name: str
    offered: Rate
    least: Fraction | None = None
    most: Fraction | None = None
    judged: bool = False
    """By the acceptance criteria."""
    burst: int | None = None
    """Frames of a burst at the line's rate, all of which must come back."""
    wait_ns: int = 0
    """Before it, until the buckets are full again."""
    trial: int | None = None
    """Number of its trial; None: not run, as the line carries less."""


def y1564(parameters: Y1564Parameters, situation: Situation) -> Method:
    """The configuration test, one service at a time; then the performance test, all at their CIR.

    Both directions of a service run at once, each judged by itself.
    """
    streams = _streams_of(parameters, situation)
    steps: list[_Step] = []
    outcomes: list[Outcome] = []
    for name in parameters.services:
        for step in _steps(parameters, situation, name):
            if situation.fps(step.offered) > situation.line_fps:
                steps.append(step)
                continue
            outcome = yield _trial(parameters, situation, step, streams)
            steps.append(_Step(**{**vars(step), "trial": len(outcomes)}))
            outcomes.append(outcome)
    performed = None
    if parameters.performance.ns:
        performed = yield _build_performance_trial(parameters, situation, streams)
        outcomes.append(performed)
    return _result(parameters, situation, streams, steps, outcomes, performed)


def _fits(parameters: Y1564Parameters, situation: Situation) -> Problem | None:
    """The problem if services are not the classes of a profile or one service, or exceed the line."""
    classes = {place.traffic for place in situation.places} - {""}
    if classes != set(parameters.services) and (classes or len(parameters.services) > 1):
        have = f"has the classes {', '.join(sorted(classes))}" if classes else "has no classes"
        return Problem(
            f"the services are {', '.join(parameters.services)}, and the profile {have}",
            "`classes` of the profile with the names of the services; or one service, and no classes",
            at=("services",),
            code="conflict",
        )
    if situation.sizes:
        return Problem(
            "the services are classes with frames of several sizes, and their rates would be of the average",
            "a plan for each service, or `size` of the profile alone",
            at=("services",),
            code="unsupported",
        )
    rates = {name: situation.fps(one.cir.amount) for name, one in parameters.services.items()}
    for name, one in parameters.services.items():
        most = rates[name] + (0 if one.eir is None else situation.fps(one.eir.amount))
        if most > situation.line_fps:
            share = decimal(100 * most / situation.line_fps, 1)
            return Problem(
                f"CIR + EIR of `{name}` are {share} % of the line",
                "lower rates",
                at=("services", name),
                code="load-above-line",
            )
        for bucket, octets, rate in (("cbs", one.cbs, one.cir), ("ebs", one.ebs, one.eir)):
            if octets is None or rate is None:
                continue
            fps = situation.fps(rate.amount)
            wait_ns = _fill_ns(octets.octets, fps, situation) if fps else None
            if wait_ns is None or wait_ns > LONGEST_FILL_NS:
                takes = "never fills" if wait_ns is None else f"takes {wait_ns // 10**9} s to fill"
                return Problem(
                    f"the {bucket.upper()} of `{name}` {takes}: the test would wait as long",
                    "a smaller bucket, or a higher rate",
                    at=("services", name, bucket),
                    code="out-of-range",
                )
    total = sum(rates.values(), Fraction(0))
    if total > situation.line_fps:
        share = decimal(100 * total / situation.line_fps, 1)
        return Problem(
            f"the CIRs of all services together are {share} % of the line",
            "lower CIRs",
            at=("services",),
            code="load-above-line",
        )
    return None


def _streams_of(parameters: Y1564Parameters, situation: Situation) -> dict[str, tuple[str, ...]]:
    """The streams of each service."""
    if not any(place.traffic for place in situation.places):
        return {next(iter(parameters.services)): situation.streams}
    found: dict[str, list[str]] = {name: [] for name in parameters.services}
    for stream, place in zip(situation.streams, situation.places, strict=True):
        found[place.traffic].append(stream)
    return {name: tuple(streams) for name, streams in found.items()}


def _steps(parameters: Y1564Parameters, situation: Situation, name: str) -> Iterator[_Step]:
    service = parameters.services[name]
    cir = situation.fps(service.cir.amount)
    eir = Fraction(0) if service.eir is None else situation.fps(service.eir.amount)
    committed = cir * (1 - service.sac.flr.amount)
    for share in parameters.steps:
        yield _Step(name, f"{share} of CIR", service.cir.amount * share.amount, judged=True)
    if eir:
        yield _Step(name, "CIR + EIR", FrameRate(cir + eir), committed, cir + eir)
    beyond = BEYOND * cir + eir if eir < LITTLE * cir else cir + BEYOND * eir
    buckets = sum(one.octets for one in (service.cbs, service.ebs) if one is not None)
    margin = parameters.margin.amount * (cir + eir) + buckets / situation.mean_size / parameters.step.amount
    yield _Step(name, "policing", FrameRate(beyond), committed, cir + eir + margin)
    if service.cbs is not None:
        committed_burst, excess_burst = _bursts(service, cir, eir, situation)
        full_ns = _fill_ns(service.cbs.octets, cir, situation)
        yield _Step(name, "CBS", LINE, burst=committed_burst, wait_ns=full_ns)
        if service.ebs is not None:
            both_ns = max(full_ns, _fill_ns(service.ebs.octets, eir, situation))
            both = committed_burst + excess_burst
            yield _Step(name, "CBS + EBS", LINE, burst=both, wait_ns=both_ns)


def _bursts(service: Service, cir: Fraction, eir: Fraction, situation: Situation) -> tuple[int, int]:
    """Frames at the line's rate that just empty the bucket of the CBS, and then that of the EBS.

    A bucket fills while the burst comes in, so the burst is longer than it: CBS * line / (line - CIR) bytes,
    as MEF 10 has it. Frame k of the first (from 0) finds CBS - k (1 - CIR/line) frames in a bucket that was
    full, and wants one. Behind them CIR and EIR fill while the frames take turns with the two: to be sure of
    what is left in either, the second burst is of three frames less than the EBS.
    """
    size, line = situation.mean_size, situation.line_fps
    cbs = Fraction(0 if service.cbs is None else service.cbs.octets) / size
    ebs = Fraction(0 if service.ebs is None else service.ebs.octets) / size
    drained, both_drained = 1 - cir / line, 1 - (cir + eir) / line
    # At the line's rate a bucket never empties: what it holds is sent, and no more can be asked of it.
    first = int((cbs - 1) / drained) + 1 if drained and cbs > 1 else max(int(cbs), 1)
    second = ebs - SURE if ebs > SURE else Fraction(0)
    return first, int(second / both_drained) if both_drained else int(second)


def _fill_ns(octets: int, fps: Fraction, situation: Situation) -> int:
    """The time a token bucket takes to fill, ns."""
    return -int(-(octets / situation.mean_size * 10**9 / fps) // 1)


def _burst_ns(frames: int, line: Fraction) -> int:
    return max(int(frames * 10**9 / line), 1)


def _planned_ns(parameters: Y1564Parameters, situation: Situation, step: _Step) -> int:
    """The planned time of a step's trial, ns."""
    if step.burst is None:
        return parameters.step.ns
    return step.wait_ns + _burst_ns(step.burst, situation.line_fps)


def _trial(
    parameters: Y1564Parameters,
    situation: Situation,
    step: _Step,
    streams: Mapping[str, tuple[str, ...]],
) -> Trial:
    """One service's trial; all other streams are silent."""
    length = parameters.step.ns if step.burst is None else _burst_ns(step.burst, situation.line_fps)
    segments = Frames.steady(step.offered, length).segments
    if step.burst is not None:
        segments = (Segment("idle", step.wait_ns, LINE * 0, LINE * 0), *segments)
    loads: dict[str, tuple[Segment, ...]] = dict.fromkeys(situation.streams, ())
    for name, share in _shares(situation, streams[step.service]):
        loads[name] = tuple(
            replace(one, from_rate=one.from_rate * share, to_rate=one.to_rate * share) for one in segments
        )
    return Trial(f"{step.service}: {step.name}", Frames(segments, loads=loads))


def _shares(situation: Situation, streams: Sequence[str]) -> Iterator[tuple[str, Fraction]]:
    """A service's streams, each with its share of the frames its port sends of the service."""
    place = dict(zip(situation.streams, situation.places, strict=False))
    for name in streams:
        if name not in place:
            yield name, Fraction(1)
            continue
        mine = [place[one].share for one in streams if place[one].tx == place[name].tx]
        yield name, place[name].share / sum(mine, Fraction(0))


def _build_performance_trial(
    parameters: Y1564Parameters, situation: Situation, streams: Mapping[str, tuple[str, ...]]
) -> Trial:
    """All services at their CIR."""
    rates = {name: one.cir.amount for name, one in parameters.services.items()}
    total = FrameRate(sum(map(situation.fps, rates.values()), Fraction(0)))
    length = parameters.performance.ns
    loads = {
        stream: Frames.steady(rates[name] * share, length).segments
        for name, theirs in streams.items()
        for stream, share in _shares(situation, theirs)
    }
    load = replace(Frames.steady(total, length), loads=loads)
    return Trial("performance", load, counts_carrier_losses=True)


def _judge(
    parameters: Y1564Parameters, situation: Situation, step: _Step, one: StreamResult, share: Fraction
) -> Checks:
    """A step in one direction."""
    checks = Checks()
    if step.burst is not None:
        if one.missing:
            checks.failed.append(f"{one.missing} of {one.offered} frames of the burst did not come back")
        return checks
    if step.judged:
        accept(parameters.services[step.service].sac, one, checks)
    rate = Fraction(one.received * 10**9, parameters.step.ns)
    # A count is known to the frame.
    frame = Fraction(10**9, parameters.step.ns)
    if step.least is not None and rate + frame < step.least * share:
        checks.failed.append(f"IR {_l2(rate, situation)} is below {_l2(step.least * share, situation)}")
    if step.most is not None and rate - frame > step.most * share:
        checks.failed.append(f"IR {_l2(rate, situation)} is above {_l2(step.most * share, situation)}")
    return checks


def _l2(fps: Fraction, situation: Situation) -> str:
    return f"{printed.bits(fps * situation.mean_size * 8, (6, 3, 3))} L2"


CONFIGURATION = columns(
    "service | step | stream", *RATES, "IR at least, L2: bps | IR at most, L2: bps | result | reason"
)
PERFORMANCE = columns("service | stream", *RATES, "availability: share | result | reason")


@dataclass
class _Tally:
    """The passed, failed and unknown steps of each stream. failed: the numbers of the trials of those.
    by_others: streams of which a step failed by more than its delays."""

    verdicts: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, list[int]] = field(default_factory=dict)
    by_others: set[str] = field(default_factory=set)

    def count(self, stream: str, checks: Checks, trial: int) -> None:
        self.verdicts.setdefault(stream, []).append(checks.verdict)
        if checks.verdict == FAIL:
            self.failed.setdefault(stream, []).append(trial)
            if checks.delays < len(checks.failed):
                self.by_others.add(stream)

    def failed_trials(self, scope: str) -> tuple[int, ...]:
        """The trials of the steps of a stream that failed, or of all streams."""
        of = self.failed.values() if scope == "sum" else [self.failed.get(scope, [])]
        return tuple(sorted({number for one in of for number in one}))

    def value(self, scope: str) -> Value:
        """The share of steps that passed; bounds only, if the outcome of some steps is unknown."""
        of = [self.verdicts.get(scope, [])] if scope != "sum" else self.verdicts.values()
        found = [verdict for one in of for verdict in one]
        if not found:
            return Value(STEPS, scope, None, note=StepsPassed(0, 0, 0))
        run, passed, unknown = len(found), found.count(PASS), found.count(NOT_KNOWN)
        failed = set(self.failed) if scope == "sum" else {scope} & set(self.failed)
        note = StepsPassed(passed, run, unknown, bool(failed) and failed.isdisjoint(self.by_others))
        least, most = Fraction(passed, run), Fraction(passed + unknown, run)
        if unknown:
            return Value(STEPS, scope, None, least, most, note)
        return Value(STEPS, scope, least, note=note)


def _result(
    parameters: Y1564Parameters,
    situation: Situation,
    streams: Mapping[str, tuple[str, ...]],
    steps: Sequence[_Step],
    outcomes: Sequence[Outcome],
    performed: Outcome | None,
) -> Result:
    tally, table = _Tally(), []
    notes: list[Reason] = []
    for step in steps:
        shares = dict(_shares(situation, streams[step.service]))
        if step.trial is None:
            notes.append(
                StepNotRun(step.service, step.name, situation.fps(step.offered) / situation.line_fps)
            )
            continue
        outcome = outcomes[step.trial]
        line = situation.line_fps
        length = parameters.step.ns if step.burst is None else _burst_ns(step.burst, line)
        short = find_shortfall(outcome, _planned_ns(parameters, situation, step))
        for one in outcome.streams:
            if one.name not in shares:
                continue
            checks = _judge(parameters, situation, step, one, shares[one.name])
            if short is not None:
                checks = Checks(unknown=[str(short)])
            tally.count(one.name, checks, step.trial)
            ends = (
                None if end is None else end * shares[one.name] * situation.mean_size * 8
                for end in (step.least, step.most)
            )
            cells = cells_of(one, length)
            table.append((step.service, step.name, one.name, *cells, *ends, checks.verdict, checks.why))
    values: list[Value] = []
    tables = [
        Table(
            "Service configuration",
            CONFIGURATION,
            tuple(table),
            "ITU-T Y.1564: one service at a time, colour-blind. L2 counts frames with FCS, L1 preamble and"
            " gap besides; FTD is first bit out to last bit in, FDV the 99.9th percentile less the least.",
        )
    ]
    if performed is not None:
        number = len(outcomes) - 1
        tables.append(_performance(parameters, situation, streams, performed, number, tally, values))
        without = spans([(parameters.performance.ns, performed.carrier_losses)])
        values.append(carrier.number(without, [performed]))
        tables += carrier.tables(without, None, lambda _, at_ns: clock(performed, at_ns))
    for stream in situation.streams:
        values.insert(0, tally.value(stream))
    values.insert(0, tally.value("sum"))
    return Result(
        method=METHOD.name,
        values=tuple(values),
        trials=tuple(range(len(outcomes))),
        **deviations(METHOD.name, parameters, situation),
        notes=(*notes, *map(Assumed, ASSUMPTIONS)),
        headlines=(STEPS.name,),
        # Judged by the performance test alone, and not by steps that overload a service; and steps that
        # failed by themselves.
        rests={}
        if performed is None
        else dict.fromkeys((LOSS_RATE.name, FTD.name, FDV.name), (len(outcomes) - 1,)),
        # What other steps lost, a policer as it should, says nothing of those that failed.
        rests_by_scope={
            STEPS.name: {
                scope: tally.failed_trials(scope) or tuple(range(len(outcomes)))
                for scope in (*situation.streams, "sum")
            }
        },
        tables=tuple(tables),
    )


def _performance(
    parameters: Y1564Parameters,
    situation: Situation,
    streams: Mapping[str, tuple[str, ...]],
    performed: Outcome,
    number: int,
    tally: _Tally,
    values: list[Value],
) -> Table:
    table: list[tuple[Cell, ...]] = []
    short = find_shortfall(performed, parameters.performance.ns)
    for name, service in parameters.services.items():
        for one in performed.streams:
            if one.name not in streams[name]:
                continue
            checks = Checks()
            accept(service.sac, one, checks)
            share = available(one, performed.sample_ns)
            wanted = service.sac.avail
            if wanted is not None and share is not None and share < wanted.amount:
                bound = printed.share(wanted.amount)
                checks.failed.append(f"available {decimal(100 * share, 4)} % of the time, below {bound}")
            if wanted is not None and share is None:
                checks.unknown.append("availability: no whole second was measured")
            if short is not None:
                checks = Checks(unknown=[str(short)])
            tally.count(one.name, checks, number)
            cells = cells_of(one, parameters.performance.ns)
            table.append((name, one.name, *cells, share, checks.verdict, checks.why))
            ratio = None if short is not None else rows.loss((one,))
            bounds = rows.loss_bounds(ratio, one.offered)
            note = short or Taken("performance")
            values.append(Value(LOSS_RATE, one.name, ratio, *bounds, note, of_frames=one.offered))
            values.append(Value(FTD, one.name, ftd(one), note=Taken("performance-mean")))
            values.append(Value(FDV, one.name, fdv(one), note=Taken("performance-percentile")))
    return Table(
        "Service performance",
        PERFORMANCE,
        tuple(table),
        "ITU-T Y.1564: all services at their CIR at once, for"
        f" {printed.duration(parameters.performance.ns)}.",
    )


def _seconds(parameters: Y1564Parameters) -> Fraction:
    filling = sum((_find_filling_time(service) for service in parameters.services.values()), Fraction(0))
    return parameters.step.amount * _count(parameters) + parameters.performance.amount + filling


def _find_filling_time(service: Service) -> Fraction:
    """The time waited for the token buckets to fill, s, where rates in bits determine it."""
    waits = [
        octets.octets * 8 / rate.amount.amount
        for octets, rate in ((service.cbs, service.cir), (service.ebs, service.eir))
        if octets is not None and rate is not None
        # Without a line a percentage tells none.
        if isinstance(rate.amount, L1Rate | L2Rate) and rate.amount.amount
    ]
    # Once for the CBS, and for both together until the slower one is full.
    return waits[0] + max(waits) if len(waits) > 1 else sum(waits, Fraction(0))


def _count(parameters: Y1564Parameters) -> int:
    """Steps of all services; those of a burst among them."""
    each = [
        len(parameters.steps) + 1 + sum(one is not None for one in (service.eir, service.cbs, service.ebs))
        for service in parameters.services.values()
    ]
    return sum(each)


METHOD: Procedure[Any] = Procedure(
    name="y1564",
    title="Service activation",
    doc="Each service at 25 to 100 % of its CIR, at CIR + EIR, and above; then all services at once.",
    standard="ITU-T Y.1564",
    parameters=Y1564Parameters,
    start=y1564,
    traffic_seconds=_seconds,
    fits=_fits,
    values=(STEPS, LOSS_RATE, FTD, FDV, carrier.CARRIER_LOSSES),
    needs_even=True,
)
