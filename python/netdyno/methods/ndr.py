"""NDR and PDR by MLRsearch (RFC 9971): several goals in one search, each with its relevant bounds.

A goal says how long a trial is, which share of its frames may be missing, how much time of trials at one load
settles what it is, and which share of that time may be bad. So a device that now and then loses a frame has a
result that can be repeated, where a plain bisection ends wherever it was unlucky.

Where this departs from FD.io CSIT: what the tester did not send is no loss, and its bound is its own.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

from pydantic import Field, model_validator

from netdyno.errors import NetdynoError, Problem
from netdyno.methods.mlr import report, seed
from netdyno.methods.mlr.controller import Search, between, from_the_top
from netdyno.methods.mlr.goals import Evidence
from netdyno.methods.mlr.grid import Grid
from netdyno.methods.mlr.presets import Goal
from netdyno.methods.mlr.shooting import Budget, Shooting
from netdyno.methods.parts.procedure import Allowed, Parameters, Procedure, scaled
from netdyno.methods.parts.samples import Sample, find_on_schedule, scopes
from netdyno.methods.throughput import THROUGHPUT
from netdyno.values.finding import Result
from netdyno.values.kind import ValueKind
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.method import Method
from netdyno.values.number import duration
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation
from netdyno.values.units import Duration, FrameRate, Percent, PositiveDuration, PositiveLoad

HOLD_SHARE = 10
"""The top of the ramp is held for this part of its length: a knee just below it shows there."""


class NdrParameters(Parameters):
    """Parameters of the search."""

    goals: dict[str, Goal] = Field(
        default={
            report.NDR.name: Goal.model_validate("csit-ndr"),
            report.PDR.name: Goal.model_validate("csit-pdr"),
        },
        min_length=1,
    )
    """Goals by the name their value gets; `NDR` or `PDR` is among them, and judged."""
    minimum: PositiveLoad = PositiveLoad(Percent(Fraction(1, 1000)))
    """The lowest load: below it nothing is searched."""
    maximum: PositiveLoad = PositiveLoad(Percent(Fraction(1)))
    """The highest load: `100%`."""
    seed: Literal["none", "ramp"] = "none"
    """`ramp`: a short ramp first, and the search begins at its knees."""
    ramp: PositiveDuration = PositiveDuration(Fraction(2))
    """How long that ramp rises, from the minimum to the maximum."""
    warmup: Duration = Duration(Fraction(1))
    """A trial at the maximum first, which does not count; `0s` for none, as with a ramp."""
    overhead: Duration = Duration(Fraction(0))
    """Counted as part of each trial in the sums of a goal; CSIT's trials have 0.5 s of it."""
    repeats: int = Field(default=2, ge=0, le=100)
    """How often a trial in which the tester fell short is retried."""
    trials: int = Field(default=500, ge=1, le=100_000)
    """The most trials a case may take; then it ends with what it has."""
    longest: PositiveDuration = PositiveDuration(Fraction(4 * 3600))
    """The most traffic a case may take, all trials."""

    @model_validator(mode="after")
    def _sensible(self) -> NdrParameters:
        if not set(report.JUDGED) & set(self.goals):
            raise Problem(
                "no goal is called `NDR` or `PDR`",
                "one of them stands for the case",
                at=("goals",),
                code="missing-field",
            )
        for name, goal in self.goals.items():
            if name == report.NDR.name and goal.loss.amount:
                raise Problem(
                    f"the goal `NDR` allows a loss of {goal.loss}, and NDR is the no-drop rate",
                    "call it `PDR`, or set `loss: 0%`",
                    at=("goals", name, "loss"),
                    code="conflict",
                )
            if not name.strip() or len(name) > 40:
                raise _wrong_name(name, ("goals",))
        check_names(self.goals, (THROUGHPUT,), ("goals",))
        of_goals = min(goal.initial_ns for goal in self.goals.values())
        first_ns = self.ramp.ns if self.seed == "ramp" else self.warmup.ns or of_goals
        if self.longest.ns < first_ns:
            raise Problem(
                f"the first trial of the search takes {duration(first_ns)}, and `longest` ends it before",
                "`longest` is the traffic of all trials of a case; to shorten each, set `scale`",
                at=("longest",),
                code="conflict",
            )
        return self

    def scaled(self, scale: Fraction) -> Any:
        """As `Parameters.scaled`, the goals too."""
        if scale == 1:
            return self
        goals = {name: scaled(goal, scale) for name, goal in self.goals.items()}
        return scaled(self, scale).model_copy(update={"goals": goals})

    @property
    def searched(self) -> Mapping[str, Allowed]:
        """Its goals."""
        return {name: Allowed(goal.loss.amount, goal.exceed.amount) for name, goal in self.goals.items()}

    @property
    def budget(self) -> Budget:
        """The most trials and time of traffic that the search may take."""
        return Budget(self.trials, self.longest, self.repeats)


def check_names(goals: Iterable[str], taken: Iterable[ValueKind], at: tuple[str, ...]) -> None:
    """Raises Problem for a goal that is called like another value; it stands at `at`."""
    known = {kind.name for kind in taken}
    for name in goals:
        if name in known:
            raise _wrong_name(name, at)


def _wrong_name(name: str, at: tuple[str, ...]) -> Problem:
    return Problem(
        f"a goal cannot be called `{name[:40]}`",
        "a short name that means nothing else: `PDR`, `PDR 0.1%`",
        at=at,
        code="wrong-format",
    )


def ndr(parameters: NdrParameters, situation: Situation) -> Method:
    """RFC 9971: for each goal the relevant lower and upper bound, and the conditional throughput."""
    return (yield from search(parameters, situation))


def no_room(parameters: NdrParameters, situation: Situation) -> Problem | None:
    """A search from a minimum that is no less than its maximum."""
    ends = (parameters.minimum, parameters.maximum)
    lowest, highest = (situation.fps(end.amount) for end in ends)
    if lowest < highest:
        return None
    message = f"the search has no room: its minimum is {ends[0]}, its maximum {ends[1]}"
    return Problem(message, "give a lower `minimum`", at=("minimum",), code="conflict")


def search(
    parameters: NdrParameters,
    situation: Situation,
    knees: Mapping[str, Fraction | None] | None = None,
    first: int = 0,
) -> Generator[Trial, Outcome, Result]:
    """The search, from knees that a trial before it found, if any did: frames per second by goal, None: no
    loss up to the maximum. first: the number of its first trial in the case."""
    lowest = situation.fps(parameters.minimum.amount)
    highest = situation.fps(parameters.maximum.amount)
    narrow = no_room(parameters, situation)
    if narrow is not None:
        raise NetdynoError(narrow.message, narrow.hint, code=narrow.code)
    goals = parameters.goals
    grid = Grid(lowest, highest, [goal.width.amount for goal in goals.values()])
    finest = min(goal.width.amount for goal in goals.values())
    shooting = Shooting(grid, Evidence(), parameters.budget, parameters.overhead.ns, situation, finest, first)
    if knees is None and parameters.seed == "ramp":
        knees = yield from _ramp(parameters, situation, grid, shooting)
    yield from shooting.run(_search(parameters, grid, shooting.evidence, knees))
    return report.result(METHOD.name, goals, situation, shooting)


def _search(
    parameters: NdrParameters, grid: Grid, evidence: Evidence, knees: Mapping[str, Fraction | None] | None
) -> Search:
    goals = parameters.goals
    if knees is None:
        chains = [goal.chain(grid) for goal in goals.values()]
        return from_the_top(grid, evidence, chains, parameters.warmup.ns)
    targets = [goal.final(grid) for goal in goals.values()]
    initial = [goal.initial_ns for goal in goals.values()]
    return between(grid, evidence, seed.starts(grid, targets, [knees[name] for name in goals], initial))


def _ramp(
    parameters: NdrParameters, situation: Situation, grid: Grid, shooting: Shooting
) -> Generator[Trial, Outcome, dict[str, Fraction | None]]:
    """A short ramp, and the knee of each goal in it."""
    trial = Trial("ramp", Frames(rise(grid.lowest, grid.highest, parameters.ramp.ns)))
    outcome = yield trial
    shooting.ramped(trial, outcome)
    return knees(outcome, trial, situation, parameters.goals)


def rise(lowest: Fraction, highest: Fraction, length_ns: int) -> tuple[Segment, ...]:
    """A load that about doubles from segment to segment, so that any knee is as clear as any other; and the
    highest one held for a while, for a knee just below it."""
    count = max(math.ceil(math.log2(highest / lowest)), 1)
    factor = float(highest / lowest) ** (1 / count)
    between = (Fraction(round(float(lowest) * factor**n)) for n in range(1, count))
    loads = [FrameRate(fps) for fps in (lowest, *between, highest)]
    each = max(length_ns // count, 1)
    doubling = tuple(Segment("ramp", each, before, after) for before, after in pairwise(loads))
    return (*doubling, Segment("hold", max(length_ns // HOLD_SHARE, 1), loads[-1], loads[-1]))


def knees(
    outcome: Outcome, trial: Trial, situation: Situation, goals: Mapping[str, Goal]
) -> dict[str, Fraction | None]:
    """Where a ramp begins to lose more than each goal allows, frames per second of each sending port.

    No loss means none of any stream; other shares are of all streams together, as trials count them.
    """
    warmup_ns = sum(segment.duration_ns for segment in trial.segments if segment.name == "warmup")
    first = -(-warmup_ns // outcome.sample_ns)
    last = trial.duration_ns // outcome.sample_ns
    risen: dict[str, list[Sample]] = {}
    reached: Fraction | None = None
    for scope, samples in scopes(outcome, trial, situation):
        whole = samples[first:last]
        risen[scope] = find_on_schedule(whole)
        if scope in situation.streams and len(risen[scope]) < len(whole) and situation.share(scope):
            # The tester fell behind for good: the search begins at the last load that it offered.
            end = risen[scope][-1].peak / situation.share(scope) if risen[scope] else Fraction(0)
            reached = end if reached is None else min(reached, end)
    together = risen.pop("sum")
    found: dict[str, Fraction | None] = {}
    for name, goal in goals.items():
        loss = goal.loss.amount
        if loss:
            each = [(seed.knee(together, loss, outcome.sample_ns), "sum")]
        else:
            each = [(seed.knee(risen[scope], loss, outcome.sample_ns), scope) for scope in situation.streams]
        ports = [at / situation.share(scope) for at, scope in each if at is not None]
        found[name] = min(ports, default=reached)
    return found


def _traffic_seconds(parameters: NdrParameters) -> Fraction:
    # Each goal proves a lower and an upper bound, together its sum of durations; half as much is search.
    proof = sum((goal.sum.amount for goal in parameters.goals.values()), Fraction(0))
    return (
        proof * Fraction(3, 2)
        + parameters.warmup.amount
        + parameters.ramp.amount * (parameters.seed == "ramp")
    )


METHOD = Procedure(
    name="ndr",
    title="NDR and PDR",
    doc="The highest loads without loss and with little loss, for several goals in one search (MLRsearch).",
    standard=report.STANDARD,
    parameters=NdrParameters,
    groups=True,
    start=ndr,
    traffic_seconds=_traffic_seconds,
    fits=no_room,
    values=(report.NDR, report.PDR),
    counts_alone=True,
)
