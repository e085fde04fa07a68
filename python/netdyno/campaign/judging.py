"""What the verdicts on a case follow from, and the verdicts: nothing else is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from netdyno.campaign.attempts import StopRequestedError
from netdyno.campaign.events import Measured
from netdyno.methods import METHODS
from netdyno.values.load import CONNECTIONS, FRAMES, LoadClass, Trial
from netdyno.values.records import StoredVerdict
from netdyno.verdict import (
    Evidence,
    SteadyLoss,
    Timed,
    Traffic,
    Witnesses,
    breaks_in,
    breaks_of,
    find_causes,
    find_flow_notes,
    find_uneven_load,
    is_asked,
    judge,
    judge_connections,
    judge_goal,
    with_breaks,
    with_link,
    with_proven_bounds,
    with_standing_bounds,
    with_tag_overhead,
    with_watches,
)

if TYPE_CHECKING:
    from netdyno.devices.watches import Watch
    from netdyno.plan.goals import Goal
    from netdyno.values.finding import Result
    from netdyno.values.outcome import Outcome
    from netdyno.values.proven import Proven
    from netdyno.values.situation import Situation
    from netdyno.values.verdict import Verdict


@dataclass(frozen=True)
class Made:
    """A case as it was measured. result: as the method found it. trials: each as it was asked for and as it
    came out, by number. has_one_profile: there is no case of another one that a goal could be asked of."""

    number: int
    method: str
    situation: Situation
    clock: Literal["virtual", "real"]
    enforced_rate: bool
    traffic: Traffic
    result: Result
    trials: Mapping[int, tuple[Trial, Outcome]]
    proven: Proven | None
    goals: tuple[Goal, ...]
    has_one_profile: bool
    watch: Watch | None = None


@dataclass(frozen=True)
class _Basis:
    """What is judged of a case. evidence: of a value, by name. verdicts: on a value by scope, by name. known:
    the result as far as these verdicts let it stand."""

    result: Result
    evidence: Callable[[str], Evidence]
    verdicts: Callable[[str], Mapping[str, Verdict]]
    known: Callable[[Mapping[str, Mapping[str, Verdict]]], Result]


def judge_case(made: Made, stopping: Callable[[], bool] = lambda: False) -> Measured:
    """The verdicts and goals of a case. Raises `StopRequestedError`: judging thousands of streams takes a
    while, too."""
    basis = BASES[METHODS[made.method].load_class](made)
    result = basis.result
    verdicts = {}
    for name in result.judged:
        if stopping():
            raise StopRequestedError
        verdicts[name] = basis.verdicts(name)
    result = basis.known(verdicts)
    if made.watch is not None:
        result = with_watches(result, _outcomes(made), made.watch.cli_ns)
    first = result.headlines[0] if verdicts else ""
    asked = [goal for goal in made.goals if made.has_one_profile or is_asked(goal, result)]
    goals = [(goal, goal.value if goal.value in verdicts else first) for goal in asked]
    return Measured(
        made.number,
        result,
        tuple(
            StoredVerdict(scope, verdict.limit, verdict.reason, name)
            for name, found in verdicts.items()
            for scope, verdict in _with_breaks(found, made, result.resting(name)).items()
        ),
        tuple(judge_goal(goal, result, verdicts.get(name, {}), basis.evidence(name)) for goal, name in goals),
    )


def _of_frames(made: Made) -> _Basis:
    result = with_tag_overhead(made.result, made.situation, tuple(made.trials.values()))
    common = _evidence(made)
    if made.clock == "real":
        # A trial with a carrier loss shows nothing of the device: it floods what it has to learn again.
        timed = tuple(
            Timed(one, trial.duration_ns, _is_constant(trial, made.situation))
            for trial, one in made.trials.values()
            if not one.carrier_losses
        )
        witnesses = Witnesses.of(timed, _on_line(made))
        common = replace(common, witnesses=witnesses, steady=SteadyLoss(timed, witnesses), case_trials=timed)
        result = with_standing_bounds(result, made.trials, common)
    common = replace(common, causes=find_causes(made.trials, common))
    also = find_flow_notes([outcome for _, outcome in made.trials.values()])
    uneven = find_uneven_load(_list_fixed_loads(result, made))
    also = also if uneven is None else (*also, uneven)
    result = replace(result, notes=(*result.notes, *common.causes, *also))

    def evidence(name: str) -> Evidence:
        counted = METHODS[made.method].counted
        resting = [made.trials[number] for number in result.resting(name)]
        return with_link(
            replace(
                common,
                trials=tuple(
                    outcome if counted is None else counted(made.situation, outcome) for _, outcome in resting
                ),
                planned_ns=tuple(trial.duration_ns for trial, _ in resting),
                is_constant=all(_is_constant(trial, made.situation) for trial, _ in resting),
                has_failures=any(trial.counts_carrier_losses and trial.events for trial, _ in resting),
            )
        )

    def known(verdicts: Mapping[str, Mapping[str, Verdict]]) -> Result:
        return with_proven_bounds(result, verdicts, made.trials, common)

    return _Basis(result, evidence, lambda name: judge(result, evidence(name), name), known)


def _of_connections(made: Made) -> _Basis:
    evidence = _evidence(made)
    return _Basis(
        made.result,
        lambda name: evidence,
        lambda name: judge_connections(
            made.result, name, made.trials, made.situation, is_line_enforced=made.enforced_rate
        ),
        lambda verdicts: made.result,
    )


BASES: Mapping[LoadClass, Callable[[Made], _Basis]] = {FRAMES: _of_frames, CONNECTIONS: _of_connections}
"""How a class of loads is judged."""


def _evidence(made: Made) -> Evidence:
    return Evidence(
        situation=made.situation,
        clock=made.clock,
        enforced_rate=made.enforced_rate,
        trials=(),
        proven=made.proven,
        flows=made.traffic.flows,
        sizes=made.traffic.sizes,
        varies=made.traffic.varies,
    )


def _outcomes(made: Made) -> dict[int, Outcome]:
    return {number: outcome for number, (_, outcome) in made.trials.items()}


def _with_breaks(found: Mapping[str, Verdict], made: Made, resting: Sequence[int]) -> Mapping[str, Verdict]:
    """The verdicts on a value with what broke in the trials that it rests on."""
    if made.watch is None:
        return found
    breaks = breaks_of(breaks_in(_outcomes(made), made.watch.cli_ns), resting)
    return {scope: with_breaks(verdict, breaks) for scope, verdict in found.items()}


def _on_line(made: Made) -> Traffic:
    """The traffic of a case with the time that a frame takes on its line, where something enforces that."""
    situation = made.situation
    slowest = min((situation.in_fps(name) for name in situation.streams), default=Fraction(0))
    if not made.enforced_rate or not slowest:
        return made.traffic
    ports = {place.tx for place in situation.places}
    return replace(made.traffic, frame_ns=10**9 / slowest, ports=len(ports) or len(situation.streams))


def _list_fixed_loads(result: Result, made: Made) -> Sequence[tuple[Trial, Outcome]]:
    """The trials of one constant load each that values rest on, but for rates, whose verdicts judge it."""
    measures = [name for name in result.judged if result.kinds[name].unit != "fps"]
    numbers = dict.fromkeys(number for name in measures for number in result.resting(name))
    held = (made.trials[number] for number in numbers)
    return [(trial, outcome) for trial, outcome in held if _is_constant(trial, made.situation)]


def _is_constant(trial: Trial, situation: Situation) -> bool:
    """Whether a trial held one load, frame by frame."""
    load = trial.frames
    steady = load.constant and len(load.segments) == 1 and load.burst is None
    return steady and not situation.is_uneven
