"""Runs one case in a process of its own: builds the lab, runs the trials of the method, judges the result.

Nothing is written here. Everything is sent as an event to the one process that holds the store.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from netdyno.calibration import inventory
from netdyno.campaign import backend as choose
from netdyno.campaign.attempts import Attempts, StopRequestedError
from netdyno.campaign.events import (
    Event,
    Failed,
    Interrupted,
    Looked,
    Measured,
    TrialEnded,
    Waiting,
    Wired,
)
from netdyno.campaign.job import Job
from netdyno.campaign.sessions import SESSIONS
from netdyno.campaign.standing import find_proof, ports_note, proven_for
from netdyno.devices import Trait, Wiring
from netdyno.errors import NetdynoError, advice
from netdyno.methods import METHODS
from netdyno.methods.wrap import witness
from netdyno.plan.matrix import cases, situation, wire_groups
from netdyno.store import CaseWiring, StoredVerdict
from netdyno.values.load import Frames, Trial
from netdyno.values.rates import wire_bits
from netdyno.values.records import CaseError
from netdyno.values.situation import Situation
from netdyno.verdict import (
    Evidence,
    Timed,
    Traffic,
    Witnesses,
    is_asked,
    judge,
    judge_goal,
    with_link,
    with_standing_bounds,
)

if TYPE_CHECKING:
    from netdyno.devices.live import Live
    from netdyno.plan.matrix import Case

__all__ = [
    "Event",
    "Failed",
    "Interrupted",
    "Job",
    "Looked",
    "Measured",
    "TrialEnded",
    "Waiting",
    "Wired",
    "run_case",
]


def run_case(job: Job, emit: Callable[[Event], None], stopping: Callable[[], bool]) -> None:
    """Runs a case to its end; the last event is `Measured`, `Failed` or `Interrupted`."""
    number = job.case.number
    try:
        emit(_measure(job, emit, stopping))
    except StopRequestedError:
        emit(Interrupted(number))
    except NetdynoError as error:
        emit(Failed(number, CaseError(error.code, error.message, error.hint)))
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        told = CaseError("refused-by-system", f"the operating system refused: {what}", advice(error))
        emit(Failed(number, told, traceback.format_exc()))
    except ValueError as error:
        # A lab that cannot be so (Device.wire); a checked plan has none.
        emit(Failed(number, CaseError("unsupported", str(error)), traceback.format_exc()))
    except MemoryError:
        hint = "look at `ulimit -v`, or take fewer flows"
        emit(Failed(number, CaseError("no-memory", "there is not enough memory for this case", hint)))
    except Exception as error:
        message = f"a bug in netdyno: {type(error).__name__}: {error}"
        told = CaseError("bug", message, getattr(error, "hint", None))
        emit(Failed(number, told, traceback.format_exc()))


def _measure(job: Job, emit: Callable[[Event], None], stopping: Callable[[], bool]) -> Measured:
    plan, case = job.plan, job.case
    kind = plan.kind
    # A lab is built, and a backend chosen and looked up, by the workers that will use them.
    wanted = kind.wire(plan.lab.links, case.settings).with_threads(plan.lab.threads)
    if not case.profile.tagged:
        wanted = replace(wanted, traits=wanted.traits | {Trait.UNTAGGED})
    with kind.build(wanted) as live, _configured(live, case):
        wiring = choose.choose_backends(
            plan, case, wire_groups(case, live.wiring), lambda wiring: proven_for(job, wiring)
        )
        waits_ns = (plan.trial.settle.ns, plan.trial.drain.ns)
        known = replace(situation(case, wiring), waits_ns=waits_ns)
        basis = inventory.basis(wiring, job.versions)
        # What a tester may go on with behind this case: all cases of the plan.
        served = (case, *cases(plan))
        with SESSIONS.of_case(job.tester.load(), plan, wiring, served) as session:
            found = session.ports
            proven, notes = find_proof(job, wiring, {**basis, **inventory.describe_open_ports(wiring, found)})
            wiring = replace(wiring, notes=(*wiring.notes, *ports_note(wiring, found), *notes, *job.notes))
            emit(Wired(case.number, replace(_wired(wiring, known, session.described), proven=proven)))
            trials = Attempts(job, wiring, live, session, emit, stopping)
            result = trials.follow(known)

    made = {number: (trials.asked[number], outcome) for number, outcome in trials.outcomes.items()}
    common = Evidence(
        situation=known,
        clock=wiring.clock,
        enforced_rate=all(port.enforced_rate for port in wiring.ports),
        trials=(),
        proven=proven,
        flows=_traffic(case).flows,
        is_constant=all(_is_constant(trial) for trial, _ in made.values() if trial.name != witness.NAME),
    )
    if wiring.clock == "real":
        # A trial with a carrier loss shows nothing of the device: it floods what it has to learn again.
        timed = tuple(
            Timed(one, trial.duration_ns, _is_constant(trial))
            for trial, one in made.values()
            if not one.carrier_losses
        )
        common = replace(common, witnesses=Witnesses.of(timed, _traffic(case)), case_trials=timed)
        result = with_standing_bounds(result, made, common)

    def evidence(headline: str) -> Evidence:
        counted = METHODS[plan.method].counted
        outcomes = (trials.outcomes[number] for number in result.resting(headline))
        return with_link(
            replace(
                common,
                trials=tuple(outcomes if counted is None else (counted(known, one) for one in outcomes)),
                planned_ns=tuple(trials.asked[number].duration_ns for number in result.resting(headline)),
            )
        )

    verdicts = {}
    for name in result.judged:
        # Reading and judging thousands of streams takes a while, too.
        if stopping():
            raise StopRequestedError
        verdicts[name] = judge(result, evidence(name), name)
    first = result.headlines[0] if verdicts else ""
    # With one profile alone there is no case of the other kind that could answer.
    alone = len(dict(plan.axes)["profile"]) == 1
    asked = [goal for goal in plan.goals if alone or is_asked(goal, result)]
    goals = [(goal, goal.value if goal.value in verdicts else first) for goal in asked]
    return Measured(
        case.number,
        result,
        tuple(
            StoredVerdict(scope, verdict.limit, verdict.reason, name)
            for name, found in verdicts.items()
            for scope, verdict in found.items()
        ),
        tuple(judge_goal(goal, result, verdicts.get(name, {}), evidence(name)) for goal, name in goals),
    )


@contextmanager
def _configured(live: Live, case: Case) -> Iterator[None]:
    """Configures the device with the case's settings; undoes it at the end."""
    applied = live.configure(case.settings)
    try:
        yield
    finally:
        if applied.undo is not None:
            applied.undo()


def _is_constant(trial: Trial) -> bool:
    """Whether a trial held one load, frame by frame."""
    load = trial.load
    return isinstance(load, Frames) and load.constant and len(load.segments) == 1 and load.burst is None


def _traffic(case: Case) -> Traffic:
    profile = case.profile
    on_line = [wire_bits(Fraction(size)) for size, _ in profile.mix.weights]
    ratio = math.ceil(max(on_line) / min(on_line))
    return Traffic(0 if profile.classes else profile.flows, profile.burst, ratio)


def _wired(wiring: Wiring, known: Situation, session: str) -> CaseWiring:
    return CaseWiring(
        clock=wiring.clock,
        situation=known,
        enforced_rate=all(port.enforced_rate for port in wiring.ports),
        notes=wiring.notes,
        session=session,
    )
