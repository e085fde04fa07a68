"""A service as ITU-T Y.1564 has it: its bandwidth profile and its acceptance criteria, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby

from pydantic import ConfigDict, model_validator

from netdyno.errors import Problem
from netdyno.methods.parts import rows
from netdyno.stats import delay_variation as variation
from netdyno.values import number as printed
from netdyno.values.described import Described
from netdyno.values.finding import FAIL, NOT_KNOWN, PASS, Cell, columns
from netdyno.values.outcome import StreamResult
from netdyno.values.rates import WIRE_OVERHEAD
from netdyno.values.units import Duration, FrameSize, Load, Percent, PositiveLoad, decimal

SEVERE = Fraction(1, 2)
"""A second with a greater loss ratio is severely errored."""
IN_A_ROW = 10
"""So many in a row begin a time that is unavailable, and so many others end it."""
SECOND_NS = 10**9


def available(stream: StreamResult, sample_ns: int) -> Fraction | None:
    """The share of whole seconds of a stream's traffic that it was available; None without any.

    Seconds are made of samples; of samples that do not divide a second, of as many as make one or more.
    """
    samples = -(-SECOND_NS // sample_ns)
    sent = [sum(stream.tx[at : at + samples]) for at in range(0, len(stream.tx), samples)]
    came = [sum(stream.arrived[at : at + samples]) for at in range(0, len(stream.tx), samples)]
    # Behind the traffic samples go on while the device is drained.
    severe = [tx - arrived > SEVERE * tx for tx, arrived in zip(sent, came, strict=True) if tx]
    if not severe or len(stream.tx) < samples:
        return None
    return Fraction(len(severe) - unavailable(severe), len(severe))


def unavailable(severe: Sequence[bool]) -> int:
    """Seconds that are unavailable, of seconds that are severely errored or not.

    Unavailable time begins with the first of ten severely errored seconds in a row, and ends before the first
    of ten others in a row.
    """
    down, count = False, 0
    for errored, group in groupby(severe):
        length = len(list(group))
        if length >= IN_A_ROW:
            down = errored
        count += length * down
    return count


class Acceptance(Described):
    """Service acceptance criteria (SAC); a criterion that is left out is not judged."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    flr: Percent = Percent(Fraction(0))
    """Frame loss ratio, at most."""
    ftd: Duration | None = None
    """Frame transfer delay, mean, at most."""
    fdv: Duration | None = None
    """Frame delay variation (99.9 %), at most."""
    avail: Percent | None = None
    """Availability, at least."""


class Service(Described):
    """The bandwidth profile of a service, each direction: colour-blind."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cir: PositiveLoad
    """Committed information rate."""
    eir: Load | None = None
    """Excess information rate; none: no more than the CIR."""
    cbs: FrameSize | None = None
    """Committed burst size: is tested if given."""
    ebs: FrameSize | None = None
    """Excess burst size: is tested with the CBS."""
    sac: Acceptance = Acceptance()
    """Acceptance criteria."""

    @model_validator(mode="after")
    def _possible(self) -> Service:
        if self.ebs is not None and (self.cbs is None or self.eir is None):
            raise Problem(
                "an `ebs` goes with a `cbs` and an `eir`", "give both", at=("ebs",), code="missing-field"
            )
        return self


RATES = columns(
    "offered IR, L2: bps | IR, L2: bps | IR, L1: bps | sent: frames | received: frames"
    " | FLR: share | FTD mean: ns | FTD max: ns | FDV: ns"
)


@dataclass
class Checks:
    """The criteria of a step or a service, and which of them it met."""

    failed: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    delays: int = 0
    """How many of the failed ones are of delays."""

    @property
    def verdict(self) -> str:
        """`pass`, `fail` or `not known`."""
        return FAIL if self.failed else NOT_KNOWN if self.unknown else PASS

    @property
    def why(self) -> str:
        """A clause on the criteria that failed, or why that is unknown."""
        return "; ".join(self.failed or self.unknown)


def cells_of(one: StreamResult, duration_ns: int) -> tuple[Cell, ...]:
    """The cells of `RATES`; L1 has preamble, start delimiter and gap besides."""
    second = Fraction(8 * 10**9, duration_ns)
    lost = Fraction(max(one.missing, 0), one.offered) if one.offered else None
    return (
        one.offered_bytes * second,
        one.received_bytes * second,
        (one.received_bytes + WIRE_OVERHEAD * one.received) * second,
        Fraction(one.offered),
        Fraction(one.received),
        lost,
        ftd(one),
        Fraction(one.latency.max_ns) if one.latency is not None and one.latency.count else None,
        fdv(one),
    )


def accept(sac: Acceptance, one: StreamResult, checks: Checks) -> None:
    """The acceptance criteria but availability."""
    if not one.offered:
        checks.unknown.append("no frame was sent")
        return
    flr = Fraction(max(one.missing, 0), one.offered)
    if flr > sac.flr.amount:
        checks.failed.append(f"FLR {decimal(100 * flr, 4)} % is above {printed.share(sac.flr.amount)}")
    for name, found, bound in (("FTD", ftd(one), sac.ftd), ("FDV", fdv(one), sac.fdv)):
        if bound is None or (name == "FDV" and found is None and _spread(one, bound)):
            continue
        if found is None:
            checks.unknown.append(f"{name}: too few frames came back to say")
        elif found > bound.ns and one.lag is not None and one.lag.late:
            checks.unknown.append(f"{name}: {one.lag.late} frames were sent late")
        elif found > bound.ns:
            checks.delays += 1
            checks.failed.append(
                f"{name} {decimal(found / 1000, 3)} us is above {decimal(Fraction(bound.ns, 1000), 3)} us"
            )


def ftd(one: StreamResult) -> Fraction | None:
    """Frame transfer delay: the mean, ns; None if nothing was timed."""
    times = rows.Times.of((one,))
    return None if times is None else times.mean_ns


def fdv(one: StreamResult) -> Fraction | None:
    """Frame delay variation: the 99.9th percentile less the least, ns; None if too few were timed."""
    found = None if one.latency is None or not one.latency.count else variation.pdv(one.latency)
    return None if found is None else Fraction(found)


def _spread(one: StreamResult, bound: Duration) -> bool:
    """Whether not even the longest delay is further than this from the least."""
    times = rows.Times.of((one,))
    return times is not None and times.max_ns - times.min_ns <= bound.ns
