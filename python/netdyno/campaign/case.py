"""One case, in a process of its own: build the lab, ask the method for trials, run each, say what came of it.

Nothing is written here. Everything is sent as an event to the one process that holds the store.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from netdyno import modifiers
from netdyno.calibration import Calibration, Proven, inventory, shelf, traffic
from netdyno.campaign import backend as choose
from netdyno.campaign.events import Course
from netdyno.devices import KINDS, Wiring
from netdyno.errors import NetdynoError, NotMeasuredError, advice
from netdyno.methods import METHODS, kept_away, spoiled
from netdyno.methods.wrap import contradicted
from netdyno.methods.wrap import routes as fib
from netdyno.methods.wrap.late import watched
from netdyno.plan.matrix import beside, cases, opened, situation
from netdyno.plan.patterns import PATTERNS
from netdyno.ports import memif as peers
from netdyno.ports.memif import Peers, Session
from netdyno.ports.watch import Watch, await_lines
from netdyno.store import CaseWiring, StoredGoal, StoredTrial, StoredVerdict
from netdyno.testers.netdyno.spec import read_result, scene, session_spec, trial_spec
from netdyno.values.finding import Result
from netdyno.values.load import Observe, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation
from netdyno.verdict import Evidence, is_asked, judge, judge_goal

if TYPE_CHECKING:
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case

ATTEMPTS = 3
"""How often a trial is made if it turns out invalid (bounded; every attempt is kept)."""

NO_STANDARD = "none"
"""What the `standard` of a method begins with that follows none."""

MESHED = ("RFC 2544 section 26.1", "RFC 2544 section 26.3")
"""What RFC 2889 sections 5.1 to 5.4 measure with the traffic of a pattern."""

RFC_SIZES = 5
"""RFC 2544 section 9: at least five frame sizes."""

SNAPSHOT_S = 0.3
"""How often a running trial is looked at."""

GRACE_S = 60.0
"""How long a cancelled trial may take to stop, drain and be read."""


class StopRequestedError(Exception):
    """The case was asked to stop, and did so in order."""


@dataclass(frozen=True)
class Job:
    """A case to run. `done`: its trials of an earlier, killed run, in order."""

    plan: Plan
    case: Case
    engine: str
    """Name of the module with the engine's `Session`."""
    done: tuple[StoredTrial, ...] = ()
    calibrations: tuple[Calibration, ...] = ()
    """Those kept beside the runs, of whatever ports."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """What the run is made with."""


@dataclass(frozen=True)
class Wired:
    """The lab of the case is built."""

    case: int
    wiring: CaseWiring


@dataclass(frozen=True)
class Looked:
    """How the running trial stands: the engine's snapshot (docs/interfaces.md)."""

    case: int
    trial: str
    number: int
    snapshot: dict[str, Any]


@dataclass(frozen=True)
class Waiting:
    """The next trial waits for something: a clause."""

    case: int
    trial: str
    why: str


@dataclass(frozen=True)
class TrialEnded:
    """A trial has ended, well or not."""

    case: int
    trial: StoredTrial


@dataclass(frozen=True)
class Measured:
    """The case has a result."""

    case: int
    result: Result
    verdicts: tuple[StoredVerdict, ...]
    goals: tuple[StoredGoal, ...]


@dataclass(frozen=True)
class Failed:
    """The case could not be measured. trace: of a bug in netdyno, else empty."""

    case: int
    message: str
    hint: str | None = None
    trace: str = field(default="", compare=False)


@dataclass(frozen=True)
class Interrupted:
    """The case was stopped before it had a result."""

    case: int


Event: TypeAlias = Wired | Looked | Waiting | TrialEnded | Measured | Failed | Interrupted


def run_case(job: Job, emit: Callable[[Event], None], stopping: Callable[[], bool]) -> None:
    """Runs a case to its end; the last event is `Measured`, `Failed` or `Interrupted`."""
    number = job.case.number
    try:
        emit(_measure(job, emit, stopping))
    except StopRequestedError:
        emit(Interrupted(number))
    except NetdynoError as error:
        emit(Failed(number, error.message, error.hint))
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        emit(Failed(number, f"the operating system refused: {what}", advice(error), traceback.format_exc()))
    except ValueError as error:
        # A lab that cannot be so (Kind.wire); a checked plan has none.
        emit(Failed(number, str(error), None, traceback.format_exc()))
    except MemoryError:
        emit(
            Failed(
                number, "there is not enough memory for this case", "look at `ulimit -v`, or take fewer flows"
            )
        )
    except Exception as error:
        hint = getattr(error, "hint", None)
        # The engine is loaded by its name; before it is, nothing can be an error of it.
        engine_error = isinstance(error, getattr(sys.modules.get(job.engine), "EngineError", ()))
        message = str(error) if engine_error else f"a bug in netdyno: {type(error).__name__}: {error}"
        emit(Failed(number, message, hint, "" if engine_error else traceback.format_exc()))


def _measure(job: Job, emit: Callable[[Event], None], stopping: Callable[[], bool]) -> Measured:
    plan, case = job.plan, job.case
    kind = KINDS[plan.lab.kind]
    # A lab is built, and a backend chosen and looked up, by the workers that will use them.
    wanted = plan.lab.threads.asked(kind.wire(plan.lab.links, case.settings))
    with kind.build(replace(wanted, tagged=case.profile.tagged)) as built:
        wiring = choose.backend(plan, case, opened(case, built), lambda wiring: _proven(job, wiring))
        waits_ns = (plan.trial.settle.ns, plan.trial.drain.ns)
        known = replace(situation(case, wiring), waits_ns=waits_ns)
        basis = inventory.basis(wiring, job.versions)
        # Ports that stay open from case to case are opened for the frames of all.
        spec = session_spec(wiring, *(cases(plan) if Peers(wiring.session) else (case,)))
        with peers.session(job.engine, spec) as session:
            found = json.loads(session.ports())
            proven, notes = standing(job, wiring, {**basis, **inventory.opened(wiring, found)})
            wiring = replace(wiring, notes=(*wiring.notes, *_opened(wiring, found), *notes))
            emit(Wired(case.number, replace(_wired(wiring, known, spec), proven=proven)))
            trials = _Trials(job, wiring, session, emit, stopping)
            result = trials.follow(known)

    def evidence(headline: str) -> Evidence:
        counted = METHODS[plan.method].counted
        outcomes = (trials.outcomes[number] for number in result.resting(headline))
        return Evidence(
            situation=known,
            clock=wiring.clock,
            enforced_rate=all(port.enforced_rate for port in wiring.ports),
            trials=tuple(outcomes if counted is None else (counted(known, one) for one in outcomes)),
            planned_ns=tuple(trials.planned_ns[number] for number in result.resting(headline)),
            proven=proven,
        )

    verdicts = {}
    for name in result.judged:
        # Reading and judging thousands of streams takes a while, too.
        if stopping():
            raise StopRequestedError
        verdicts[name] = judge(result, evidence(name), name)
    first = result.judged[0] if verdicts else ""
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


def standing(job: Job, wiring: Wiring, now: Mapping[str, str]) -> tuple[Proven | None, tuple[str, ...]]:
    """What the tester has proven with its ports as they are now and the case's traffic, and notes on it.

    now: what a calibration of these ports would rest on.
    """
    if wiring.clock == "virtual":
        return None, ()
    if len(wiring.ports) > 2:
        return None, (
            "Not calibrated: what the tester itself can do with these ports is not known. Two ports are"
            " calibrated, joined with each other, or one that leads back into itself, and this case has"
            f" {len(wiring.ports)}.",
        )
    calibrate = f"netdyno calibrate {job.plan.file}"
    proven = _proven(job, wiring, now)
    if proven is None:
        return None, (
            f"Not calibrated: what the tester itself can do with these ports and frames is not known;"
            f" `{calibrate} --quick` takes about 20 s.",
        )
    if proven.expired is not None:
        return proven, (
            f"The calibration {proven.id} proves nothing now: {proven.expired};"
            f" `{calibrate}` makes a new one.",
        )
    old = shelf.age_note(proven)
    return proven, () if old is None else (old,)


def _proven(job: Job, wiring: Wiring, now: Mapping[str, str] | None = None) -> Proven | None:
    """now: as in `standing`, unless the ports are not open yet."""
    key = traffic.key(job.case, verify=job.plan.trial.verify)
    now = inventory.basis(wiring, job.versions) if now is None else now
    return shelf.proven(job.calibrations, inventory.ports(wiring), key, now)


def _opened(wiring: Wiring, opened: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What the ports turned out to be, where there is anything to say; a sentence."""
    told = [f"`{port['name']}` is {port['backend']}: {port['detail']}" for port in opened if port["detail"]]
    return (f"{'; '.join(told)}.",) if told and wiring.clock == "real" else ()


def _wired(wiring: Wiring, known: Situation, session: Mapping[str, Any]) -> CaseWiring:
    return CaseWiring(
        clock=wiring.clock,
        situation=known,
        enforced_rate=all(port.enforced_rate for port in wiring.ports),
        notes=wiring.notes,
        session=json.dumps(session),
    )


class _Trials:
    """The trials of one case: those of an earlier run first, then new ones."""

    def __init__(
        self,
        job: Job,
        wiring: Wiring,
        session: Session,
        emit: Callable[[Event], None],
        stopping: Callable[[], bool],
    ) -> None:
        self.plan = job.plan
        self.case = job.case
        self.wiring = wiring
        self.session = session
        self.emit = emit
        self.stopping = stopping
        self.stored = {trial.number: trial for trial in job.done if trial.state == "done"}
        self.given_up = {trial.number: trial for trial in job.done if trial.state == "invalid"}
        """The last attempt at each that was invalid."""
        self.reached = max((trial.number for trial in job.done), default=-1)
        self.peers = Peers(wiring.session)
        self.apart = frozenset(stream.name for stream in beside(job.case, wiring))
        self.outcomes: dict[int, Outcome] = {}
        """By number; what could not be measured has a number, and no outcome."""
        self.planned_ns: dict[int, int] = {}

    def follow(self, known: Situation) -> Result:
        """Gives the method what it asks for until it has a result.

        What cannot be measured is thrown into it: a method of several parts goes on with the next one.
        """
        method = METHODS[self.plan.method].start(self.plan.parameters, known)
        if self.plan.trial.drain.ns:
            # A plan that waits for nothing asks to have what is still on its way counted as lost.
            method = watched(method)
        method = contradicted.checked(method, known)
        if self.wiring.routes:
            method = fib.proven(method, known, len(self.wiring.routes[0]))
        number = 0
        try:
            trial = next(method)
            while True:
                self.planned_ns[number] = trial.duration_ns
                try:
                    outcome = self._outcome(number, trial)
                except NotMeasuredError as error:
                    number += 1
                    trial = method.throw(error)
                    continue
                self.outcomes[number] = outcome
                number += 1
                trial = method.send(outcome)
        except StopIteration as stop:
            result = _with_plan(stop.value, self.plan, self.case)
            counted = [self.outcomes[number] for number in result.trials]
            return self.case.modifier.told(result, self.wiring, counted)

    def _outcome(self, number: int, trial: Trial) -> Outcome:
        """The trial as stored, if it was made before the run was killed; else as it goes now."""
        stored = self.stored.get(number)
        if stored is not None:
            happened = tuple(event.event for event in stored.result.happened)
            same = stored.segments == trial.segments and happened == trial.events
            if not same or asked(stored.spec) != asked(self._spec(trial)):
                # The run as a whole is another one: no part of it is left out for that.
                raise NetdynoError(
                    f"trial {number} of the stored run asked for another load, or to observe something else,"
                    " than the plan does now",
                    "start a new run instead of resuming this one",
                )
            return stored.result
        given_up = self.given_up.get(number)
        if given_up is not None and number < self.reached:
            # The run went on without it, and every later trial is another one if this is made now.
            raise self._not_measured(trial, given_up)
        # An invalid trial of a killed run counts as an attempt; one more is always made. Loads that a pause
        # spoiled have attempts of their own: they take none from those that went wrong otherwise.
        first = 0 if given_up is None else given_up.attempt + 1
        wrong, spoilt = min(first, ATTEMPTS - 1), 0
        for attempt in count(first):
            again = spoilt < self.plan.trial.retries
            ended = self._attempt(number, attempt, trial, again=again)
            self.emit(TrialEnded(self.case.number, ended))
            if ended.state == "cancelled":
                raise StopRequestedError
            if ended.state == "done":
                return ended.result
            reasons = ended.result.invalid
            if not ended.result.began:
                break
            away = kept_away(trial, ended.result)
            if again and away is None and reasons == (spoiled(trial, ended.result),):
                spoilt += 1
                continue
            wrong += 1
            if wrong == ATTEMPTS:
                break
        raise self._not_measured(trial, ended)

    def _not_measured(self, trial: Trial, last: StoredTrial) -> NotMeasuredError:
        """Why a trial has no outcome, by the last attempt at it."""
        reasons = last.result.invalid
        if not last.result.began:
            # It did not begin: a port had no peer for as long as it waits for one.
            why = f"trial `{trial.name}` could not begin: {'; '.join(reasons)}"
            return NotMeasuredError(why, self.peers.hint(reasons))
        why = f"trial `{trial.name}` was invalid {last.attempt + 1} times: {'; '.join(reasons)}"
        return NotMeasuredError(why)

    def _spec(self, trial: Trial, *, secret: bool = False) -> str:
        """secret: as the engine is told it, and nobody else."""
        return json.dumps(trial_spec(self.plan, self.case, self.wiring, trial, secret=secret))

    def _read(self, trial: Trial) -> Outcome:
        """What the engine found, and what came of what the modifier said."""
        result, modifier = read_result(self.session.result(), self.apart), self.case.modifier
        if modifier.read is None or result.post is None:
            return result
        exchange = modifier.read(scene(self.plan, self.case, self.wiring, trial), result)
        return replace(result, exchange=exchange, post=None)

    def _attempt(self, number: int, attempt: int, trial: Trial, *, again: bool) -> StoredTrial:
        """again: a load that a pause spoiled may be made again."""
        if self.stopping():
            raise StopRequestedError
        waited = await_lines(
            self.wiring, lambda why: self.emit(Waiting(self.case.number, trial.name, why)), self._sleep
        )
        spec = self._spec(trial)
        started = datetime.now(UTC)
        watch = Watch(self.wiring, waited)
        course = Course(self.session, self.wiring, trial)
        # Only what a modifier says may be secret.
        told = spec if self.case.modifier.words is None else self._spec(trial, secret=True)
        self._look()
        cancelled = self._offer(number, trial, course, told)
        result = course.told(watch.told(self._read(trial)))
        while not (cancelled or result.began) and self.peers.patient(result.invalid):
            # Nothing was sent: it is no attempt yet.
            started = datetime.now(UTC)
            cancelled = self._offer(number, trial, course, told)
            result = course.told(watch.told(self._read(trial)))
        # What the device did without a program that it is to have counts for nothing and is not kept.
        self._look()
        result = result.dated(started)
        away = kept_away(trial, result)
        if away is None and again:
            # The last one stands as it is: that it was spoiled is in its health, and is judged.
            away = spoiled(trial, result)
        if away is not None:
            result = replace(result, invalid=(*result.invalid, away))
        return StoredTrial(
            case=self.case.number,
            number=number,
            attempt=attempt,
            name=trial.name,
            state="cancelled" if cancelled else "invalid" if result.invalid else "done",
            segments=trial.segments,
            spec=spec,
            result=result,
            started=started,
            ended=datetime.now(UTC),
        )

    def _offer(self, number: int, trial: Trial, course: Course, spec: str) -> bool:
        """Has the engine make the trial, and says how it goes; whether it was cut short."""
        course.start(spec)
        while not course.wait(SNAPSHOT_S):
            if self.stopping():
                self.session.cancel()
                self.session.wait(GRACE_S)
                return True
            snapshot = json.loads(self.session.snapshot())
            if snapshot["elapsed_ns"] == 0 and self.peers:
                self.emit(Waiting(self.case.number, trial.name, self.peers.waiting))
                continue
            self.emit(Looked(self.case.number, trial.name, number, snapshot))
        return False

    def _look(self) -> None:
        """Raises LabError if the device is no more what was built."""
        if self.wiring.looked_after is not None:
            self.wiring.looked_after()

    def _sleep(self, seconds: float) -> None:
        if self.stopping():
            raise StopRequestedError
        time.sleep(seconds)


def asked(spec: str) -> dict[str, Any]:
    """What a trial asks for: what a stored one must have in common with one that it stands for."""
    found = json.loads(spec)
    return {
        "streams": [
            (stream["name"], stream["schedule"], stream.get("burst", 1), stream.get("flows"))
            for stream in found["streams"]
        ],
        # Earlier versions observed nothing.
        "observe": {**asdict(Observe()), **found.get("observe", {})},
        "waits": (found["settle_ns"], found["drain_ns"]),
    }


def _with_plan(result: Result, plan: Plan, case: Case) -> Result:
    """A result with its method's standard, and with what the plan as a whole does against it."""
    standard = result.standard or METHODS[plan.method].standard
    if standard.startswith(NO_STANDARD):
        standard = ""
    section = PATTERNS[case.pattern].section
    if section is not None and standard in MESHED:
        standard = f"{standard}, RFC 2889 section {section}"
    return replace(
        result,
        standard=standard,
        compliance=(*result.compliance, *plan.deviations),
        recommended=(*result.recommended, *_few_sizes(plan, standard), *_not_run(plan, standard)),
    )


def _not_run(plan: Plan, standard: str) -> tuple[str, ...]:
    """Conditions that RFC 2544 has, and the plan has not."""
    return modifiers.not_run(plan) if standard.startswith("RFC 2544") else ()


def _few_sizes(plan: Plan, standard: str) -> tuple[str, ...]:
    """What RFC 2544 section 9 says of frame sizes ("at least five frame sizes SHOULD be tested")."""
    if not standard.startswith("RFC 2544"):
        return ()
    used = dict(plan.axes)["profile"]
    mixes = [plan.profiles[name].mix.weights for name in used]
    sizes = {weights[0][0] for weights in mixes if len(weights) == 1}
    if len(sizes) >= RFC_SIZES:
        return ()
    tested = "1 frame size is tested" if len(sizes) == 1 else f"{len(sizes)} frame sizes are tested"
    return (f"{tested}, RFC 2544 section 9 asks for at least five",)
