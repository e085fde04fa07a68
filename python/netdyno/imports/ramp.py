"""What a ramp shows of rates that another tool averaged over each second.

As `methods/ramp.py` has it of counts, but for what takes exact counts: a rate has no bounds of a frame, a
loss no interval, and the load of a second is what was sent in it, not what a schedule asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from netdyno.methods.ramp import HOLD_RATE, KNEE, LINE_UTILISATION, LOSS_AT_THE_END, MAX_RX, USUAL_THRESHOLD
from netdyno.methods.reasons.common import NothingSent
from netdyno.methods.reasons.ramps import (
    BestWindow,
    FullestWindow,
    Knee,
    KneeAtStart,
    NoHold,
    NoKnee,
    NoKneeUpTo,
    RampTooShort,
    Survey,
)
from netdyno.values.finding import Result, Value
from netdyno.values.ipng import SECOND


@dataclass(frozen=True)
class Rates:
    """Frames sent and received in each second of one scope, and how full its line back was, of 1."""

    sent: Sequence[int]
    came: Sequence[int]
    full: Sequence[Fraction]


@dataclass(frozen=True)
class Parts:
    """The seconds of the ramp-up and of the hold."""

    ramp: range
    hold: range


def read_ramp(scopes: Sequence[tuple[str, Rates]], parts: Parts, *, is_mix: bool) -> Result:
    """The values of a ramp, of each scope. is_mix: of several frame sizes."""
    values = [value for scope, rates in scopes for value in _values(scope, rates, parts, is_mix=is_mix)]
    return Result(
        method="ramp",
        values=tuple(values),
        trials=(0,),
        notes=(Survey(SECOND),) if parts.ramp else (),
        headlines=(MAX_RX.name,),
    )


def _values(scope: str, rates: Rates, parts: Parts, *, is_mix: bool) -> Iterator[Value]:
    ramp, hold = (
        [at for at in part if at < len(rates.sent) and rates.sent[at]] for part in (parts.ramp, parts.hold)
    )
    loaded = [*ramp, *hold]
    if not loaded:
        yield Value(MAX_RX, scope, None, note=RampTooShort(1))
        return
    best = Fraction(max(rates.came[at] for at in loaded))
    yield Value(MAX_RX, scope, best, note=BestWindow(SECOND, len(loaded), False))
    if is_mix:
        most = max(rates.full[at] for at in loaded)
        yield Value(LINE_UTILISATION, scope, most, note=FullestWindow(SECOND))
    yield _knee(scope, rates, ramp, hold, best)
    yield _loss_at_the_end(scope, rates, hold or ramp[-1:])
    if hold:
        yield Value(HOLD_RATE, scope, Fraction(sum(rates.came[at] for at in hold), len(hold)))
    else:
        yield Value(HOLD_RATE, scope, None, note=NoHold())


def _knee(scope: str, rates: Rates, ramp: Sequence[int], hold: Sequence[int], best: Fraction) -> Value:
    """The load above which more than the threshold is lost to the end of the ramp-up: between two seconds."""
    loads = [Fraction(rates.sent[at]) for at in ramp]
    bad = [_loses(rates, at) for at in ramp]
    if not ramp:
        return Value(KNEE, scope, None, note=NoKnee("nothing-sent"))
    first = len(ramp)
    while first and bad[first - 1]:
        first -= 1
    earlier = next((load for load, is_bad in zip(loads[:first], bad, strict=False) if is_bad), None)
    if first == len(ramp):
        lossy = sum(_loses(rates, at) for at in hold)
        note = NoKneeUpTo(USUAL_THRESHOLD, loads[-1], lossy, len(hold), None, earlier)
        return Value(KNEE, scope, None, low=min(loads[-1], best), note=note)
    if not first:
        return Value(KNEE, scope, Fraction(0), Fraction(0), loads[0], KneeAtStart(USUAL_THRESHOLD))
    # What is sent need not rise from each second to the next.
    low, high = sorted(loads[first - 1 : first + 1])
    return Value(KNEE, scope, low, low, high, Knee(USUAL_THRESHOLD, high - low, 0, earlier))


def _loses(rates: Rates, at: int) -> bool:
    return rates.sent[at] - rates.came[at] > USUAL_THRESHOLD * rates.sent[at]


def _loss_at_the_end(scope: str, rates: Rates, seconds: Sequence[int]) -> Value:
    sent, came = (sum(each[at] for at in seconds) for each in (rates.sent, rates.came))
    if not sent:
        return Value(LOSS_AT_THE_END, scope, None, note=NothingSent())
    return Value(LOSS_AT_THE_END, scope, Fraction(sent - came, sent))
