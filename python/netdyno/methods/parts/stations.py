"""Stations behind a port: learned by the device from frames they send, then sent to. What RFC 2889 sections
5.7 and 5.8 have in common."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from netdyno.errors import Problem
from netdyno.methods.parts.procedure import Parameters, Procedure, find_shortfall
from netdyno.methods.parts.rules import deviations
from netdyno.methods.parts.search import find_bracket
from netdyno.methods.reasons.learned import AllKnown, Flooded, StationsUnsent, TestFramesLost
from netdyno.methods.reasons.searches import TesterBound, UnknownAtAll
from netdyno.values.finding import Cell, Result, Table, Value, columns
from netdyno.values.kind import ValueKind
from netdyno.values.load import Event, Frames, Segment, Trial
from netdyno.values.outcome import Outcome, StreamResult
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, PositiveDuration, PositiveLoad, Rate, decimal

AGEING_S = 300
"""IEEE 802.1D-2004, table 7-5: the recommended ageing time."""
LONGER = Fraction(11, 10)
"""So many times the ageing time is waited for: devices look for what has aged only now and then."""

TABLE = columns(
    "addresses | learning rate: fps | test frames: frames | came back: frames | flooded: frames | known"
)


class StationParameters(Parameters):
    """Parameters of both methods."""

    ageing: PositiveDuration = PositiveDuration(Fraction(AGEING_S))
    """The device's ageing time; a tenth more is waited before each try."""
    test: PositiveLoad = PositiveLoad(FrameRate(Fraction(1000)))
    """Load of the test frames, one to each address."""
    pause: PositiveDuration = PositiveDuration(Fraction(1))
    """Between the last learning and the first test frame."""
    forget: bool = False
    """Have the device forget before each try, where it can be asked, in place of the wait."""

    @property
    def wait_ns(self) -> int:
        """Before each try."""
        return 0 if self.forget else (self.ageing.ns * LONGER).__ceil__()


LEAST_PAUSE_NS = 100_000_000
"""In real time: what a station sent may wait so long in a stalled machine, or in a device's own learning."""


def fits(parameters: StationParameters, situation: Situation) -> Problem | None:
    """The problem of a plan that asks an external device to forget (it forgets in its own time), or to learn
    while its test frames are on their way; else None."""
    if situation.by_hand and parameters.pause.ns < LEAST_PAUSE_NS:
        return Problem(
            f"a pause of {parameters.pause} lets test frames come before the device has learned",
            "set `pause` to 100 ms or more; in virtual time it may be shorter",
            at=("pause",),
            code="conflict",
        )
    if situation.asked or not parameters.forget:
        return None
    return Problem(
        "netdyno cannot ask this device to `forget` its addresses",
        "leave `forget` out to wait for the ageing time, or use a device that netdyno builds",
        at=("forget",),
        code="not-askable",
    )


def attempt(
    name: str, parameters: StationParameters, situation: Situation, count: int, learning: Rate
) -> Trial:
    """So many stations send a frame each, at the learning rate; then each is sent one."""
    first = parameters.pause.ns if parameters.forget else 0
    _, test = situation.streams
    rate, nothing = parameters.test.amount, FrameRate(Fraction(0))
    learn_ns, test_ns = (count * 10**9 // situation.fps(one) for one in (learning, rate))
    return Trial(
        name,
        Frames(
            (
                *((Segment("forget", first, nothing, nothing),) if first else ()),
                Segment("learn", learn_ns, learning, learning),
                Segment("pause", parameters.pause.ns, nothing, nothing),
                Segment("test", test_ns, nothing, nothing),
            ),
            loads={
                test: (
                    Segment("learn", first + learn_ns + parameters.pause.ns, nothing, nothing),
                    Segment("test", test_ns, rate, rate),
                )
            },
            flows=count,
        ),
        settle_ns=None if parameters.forget else parameters.wait_ns,
        events=(Event(0, "forget"),) if parameters.forget else (),
    )


@dataclass
class Tries:
    """The tries of a search, by their step."""

    at_any_rate: bool = False
    """Whether stations that all answered are known however late the tester was: not if a rate is searched."""
    count: int = 0
    passing: dict[int, int] = field(default_factory=dict)
    failing: dict[int, int] = field(default_factory=dict)
    doubtful: dict[int, Reason] = field(default_factory=dict)
    """Of the steps that show nothing of what is known, why: the tester did not send what it was to, or test
    frames were lost that nobody flooded."""
    why: dict[int, Flooded] = field(default_factory=dict)
    rows: list[tuple[Cell, ...]] = field(default_factory=list)

    def add(self, step: int, stations: int, learning: Fraction, trial: Trial, outcome: Outcome) -> bool:
        """Whether every station was known: its frame came back to it, and no other port saw one."""
        number, self.count = self.count, self.count + 1
        learned, tested = outcome.streams
        back = not tested.elsewhere and not tested.missing and not tested.duplicates
        short: Reason | None = _unsent(stations, learned, tested)
        if short is None and not (back and self.at_any_rate):
            short = find_shortfall(outcome, trial.duration_ns)
        if short is not None:
            self.doubtful[step] = short
        elif tested.missing > 0 and not tested.elsewhere:
            self.doubtful[step] = TestFramesLost(tested.missing, tested.offered)
        known = short is None and back
        (self.passing if known else self.failing)[step] = number
        # A frame that is flooded comes to each port that watches: all but the sender and the station's own.
        flooded = -(-tested.elsewhere // max(len(outcome.ports) - 2, 1))
        self.why[step] = Flooded(flooded, max(tested.missing, 0), tested.offered)
        self.rows.append(
            (
                Fraction(stations),
                learning,
                Fraction(tested.offered),
                Fraction(tested.received),
                Fraction(flooded),
                "not tried: the tester fell short" if short else "all" if known else "not all",
            )
        )
        return known


def _unsent(stations: int, learned: StreamResult, tested: StreamResult) -> StationsUnsent | None:
    if min(learned.offered, tested.offered) >= stations:
        return None
    return StationsUnsent(learned.offered, tested.offered, stations)


@dataclass(frozen=True)
class Found:
    """Between which steps the limit is. upper: None if the highest step passed, or the tester fell short."""

    lower: int
    upper: int | None
    note: Reason
    trials: tuple[int, ...]
    tries: Tries


def search(
    steps: int,
    least: int,
    trial: Callable[[int], tuple[Trial, int, Fraction]],
    *,
    at_any_rate: bool = False,
) -> Generator[Trial, Outcome, Found]:
    """The highest step at which every station was known: the highest is tried first, then it is halved.

    RFC 2889's own halving (section 5.7.3) never tries the highest unless it begins there. trial: that of a
    step, its stations and its learning rate. least: how close the ends come. at_any_rate: of `Tries`.
    """
    tries = Tries(at_any_rate)

    def passes(step: int) -> Generator[Trial, Outcome, bool]:
        asked, stations, learning = trial(step)
        outcome = yield asked
        return tries.add(step, stations, learning, asked, outcome)

    bracket = yield from find_bracket(passes, steps, apart=least)
    lower, upper = bracket.lower, bracket.upper
    failed = tries.failing.get(upper)
    trials = tuple(number for number in (tries.passing.get(lower), failed) if number is not None)
    if failed is None:
        return Found(lower, None, AllKnown(), trials, tries)
    if upper in tries.doubtful:
        why = tries.doubtful[upper]
        return Found(lower, None, TesterBound(why) if lower else UnknownAtAll(why), trials, tries)
    return Found(lower, upper, tries.why[upper], trials, tries)


def result(
    method: Procedure[Any],
    kind: ValueKind,
    parameters: StationParameters,
    found: Found,
    of: Callable[[int], Fraction],
) -> Result:
    """The result of a search. kind: of the value; of: a step in its unit."""
    low = of(found.lower) if found.lower or found.upper is not None else None
    high = None if found.upper is None else of(found.upper)
    return Result(
        method=method.name,
        values=(Value(kind, "sum", low, low=low, high=high, note=found.note),),
        trials=found.trials,
        **deviations(method.name, parameters),
        headlines=(kind.name,),
        tables=(
            Table(
                kind.name.capitalize(),
                TABLE,
                tuple(found.tries.rows),
                f"{method.standard}. {caption(parameters)}",
            ),
        ),
    )


def caption(parameters: StationParameters) -> str:
    """The caption of the table of tries."""
    waited = f"{decimal(Fraction(parameters.wait_ns, 10**9), 3)} s were waited, for the device to forget"
    forgotten = "the device was asked to forget" if parameters.forget else waited
    return (
        f"Before each try {forgotten} what it had learned. Then each address sent a frame to the test port,"
        " and the test port one to each address; the other ports watched for flooded test frames."
    )
