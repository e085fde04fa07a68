"""Runs one case in a process of its own: builds the lab, runs the trials of the method, judges the result.

Nothing is written here. Everything is sent as an event to the one process that holds the store.
"""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from netdyno.calibration import by_host, inventory
from netdyno.campaign import backend as choose
from netdyno.campaign import inside
from netdyno.campaign.attempts import Attempts, StopRequestedError
from netdyno.campaign.events import (
    Event,
    Failed,
    Interrupted,
    Measured,
    Rewired,
    UndoFailed,
    Waiting,
    Wired,
)
from netdyno.campaign.instants import with_readings_asked
from netdyno.campaign.job import Job
from netdyno.campaign.judging import Made, judge_case
from netdyno.campaign.sessions import SESSIONS
from netdyno.campaign.standing import find_proof, find_proof_of_hosts, ports_note, proven_for
from netdyno.campaign.watching import watching
from netdyno.devices import Trait, Wiring
from netdyno.devices.reasons import NotUndone
from netdyno.devices.speakers.lags import lags_formed
from netdyno.devices.speakers.speaking import speaking
from netdyno.errors import NetdynoError, advice
from netdyno.hosts.facts import read_hosts
from netdyno.plan.headers import list_varying
from netdyno.plan.matrix import (
    list_destinations,
    own_flows,
    situation,
    streams,
    total_flows,
    wire,
    wire_groups,
)
from netdyno.ports.threads import spare_cores
from netdyno.values.rates import wire_bits
from netdyno.values.records import CaseError, CaseWiring, Configured
from netdyno.values.situation import Situation
from netdyno.verdict import Traffic

if TYPE_CHECKING:
    from netdyno.devices.live import Live
    from netdyno.plan.matrix import Case
    from netdyno.testers.tester import Session
    from netdyno.values.reason import Reason

SHOWN_S = 5.0
"""How often it is said what is waited for before the first trial."""


def run_case(job: Job, emit: Callable[[Event], None], stopping: Callable[[], bool]) -> None:
    """Runs a case to its end; the last event is `Measured`, `Failed` or `Interrupted`."""
    number = job.case.number
    try:
        emit(_measure(job, emit, stopping))
    except StopRequestedError:
        emit(Interrupted(number))
    except NetdynoError as error:
        emit(
            Failed(
                number,
                CaseError(error.code, _in_a_line(error.message), error.hint and _in_a_line(error.hint)),
            )
        )
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


def _in_a_line(text: str) -> str:
    """A text with ` / ` between its lines: commands to enter by hand, where there is one line for a case."""
    return " / ".join(text.splitlines())


def _measure(job: Job, emit: Callable[[Event], None], stopping: Callable[[], bool]) -> Measured:
    plan, case = job.plan, job.case
    kind = plan.kind
    # A lab is built, and a backend chosen and looked up, by the workers that will use them.
    wanted = wire(plan, case).with_threads(plan.lab.threads).with_hosts(plan.lab.hosts)
    wanted = replace(with_readings_asked(wanted, plan.scale), watch=plan.watch, run=job.run)
    wanted = replace(wanted, flows=total_flows(case, wanted, tx=0))
    if not case.profile.tagged:
        wanted = replace(wanted, traits=wanted.traits | {Trait.UNTAGGED})
    undone: list[NotUndone] = []
    noted: list[Reason] = []
    with (
        kind.build(wanted) as live,
        _configured(live, case, noted, undone, emit) as applied,
        lags_formed(live.wiring, _teller(case.number, emit, stopping)) as lags,
        speaking(live, _teller(case.number, emit, stopping)) as speakers,
        watching(live, plan.watch, speakers, lags) as watches,
    ):
        wiring = choose.choose_backends(
            plan,
            case,
            wire_groups(case, speakers.wiring.without_members(lags.left_out)),
            lambda wiring: proven_for(job, wiring),
        )
        waits_ns = (plan.trial.settle.ns, plan.trial.drain.ns)
        known = replace(
            situation(case, wiring),
            destinations=list_destinations(case, wiring),
            waits_ns=waits_ns,
            device_ports=inside.device_ports(plan.lab.links, wiring),
            trunk=inside.trunk(wiring, plan.lab.trunk),
            licence_bps=inside.licence(wiring, plan.lab.licence_bps),
            watched=() if plan.watch is None else plan.watch.sources,
            answer_ns=None if plan.watch is None else plan.watch.cli_ns,
        )
        is_spread = "hosts" in wiring.session
        of_hosts = by_host.read_facts(wiring, plan.tester, job.versions) if is_spread else {}
        basis = inventory.basis(wiring, job.versions) if wiring.clock == "real" and not is_spread else {}
        with SESSIONS.of_case(job.tester.load(), plan, wiring, (case, *job.served)) as session:
            found = session.ports
            proven, notes = (
                find_proof_of_hosts(job, wiring, of_hosts, found)
                if is_spread
                else find_proof(job, wiring, {**basis, **inventory.describe_open_ports(wiring, found)})
            )
            wiring = replace(
                wiring,
                notes=(*noted, *lags.notes, *wiring.notes, *ports_note(wiring, found), *notes, *job.notes),
            )
            told = replace(
                _wired(wiring, known, session.described),
                proven=proven,
                configuration=applied,
                hosts=read_hosts(wiring.session),
            )
            emit(Wired(case.number, told, spare_cores(wiring.session)))
            with _other_sessions(job, wiring) as with_settings:
                trials = Attempts(
                    job, wiring, live, session, emit, stopping, watches, with_settings, speakers
                )
                result = trials.follow(known)
    if undone:
        emit(Rewired(case.number, replace(told, notes=(*told.notes, *undone))))

    made = Made(
        number=case.number,
        method=plan.method,
        situation=known,
        clock=wiring.clock,
        enforced_rate=all(port.enforced_rate for port in wiring.ports),
        traffic=_traffic(case, wiring),
        result=result,
        trials={number: (trials.asked[number], outcome) for number, outcome in trials.outcomes.items()},
        proven=proven,
        goals=plan.goals,
        has_one_profile=len(dict(plan.axes)["profile"]) == 1,
        watch=plan.watch,
    )
    return judge_case(made, stopping)


def _teller(
    number: int, emit: Callable[[Event], None], stopping: Callable[[], bool]
) -> Callable[[str], None]:
    """What is given whatever is waited for before the first trial; it stops the case if that was asked."""
    shown_s = -math.inf

    def tell(why: str) -> None:
        nonlocal shown_s
        if stopping():
            raise StopRequestedError
        if time.monotonic() >= shown_s + SHOWN_S:
            shown_s = time.monotonic()
            emit(Waiting(number, "routing", why))

    return tell


@contextmanager
def _other_sessions(job: Job, wiring: Wiring) -> Iterator[Callable[[Mapping[str, str]], Session] | None]:
    """Sessions with an emulated device of other settings than the case's, each opened when it is asked for.
    None in real time, where the device is switched itself."""
    if wiring.clock == "real":
        yield None
        return
    plan, case = job.plan, job.case
    opened: dict[tuple[tuple[str, str], ...], Session] = {}
    with ExitStack() as stack:

        def with_settings(settings: Mapping[str, str]) -> Session:
            key = tuple(settings.items())
            if key not in opened:
                wanted = plan.kind.wire(plan.lab.links, {**case.settings, **settings})
                other = replace(wiring, session=wire_groups(case, wanted).session)
                opened[key] = stack.enter_context(job.tester.load().open(plan, other, (case,)))
            return opened[key]

        yield with_settings


@contextmanager
def _configured(
    live: Live, case: Case, noted: list[Reason], undone: list[NotUndone], emit: Callable[[Event], None]
) -> Iterator[Configured | None]:
    """Configures the device with the case's settings; undoes it at the end.

    noted: where notes on the configuration are added. undone: where it is noted that the undo failed. What
    was measured before is none the worse for it; the error of a case that was not measured goes on.
    """
    applied = live.configure(case.settings)
    noted += applied.notes
    is_measured = False
    try:
        entered = Configured(applied.text, applied.diff, applied.version, applied.name)
        yield entered if applied.text else None
        is_measured = True
    finally:
        if applied.undo is not None:
            try:
                applied.undo()
            except NetdynoError as error:
                reason = NotUndone(error.message, error.hint or "", error.code)
                # A later case may undo it: the run says at its end what is left.
                emit(UndoFailed(case.number, reason))
                if is_measured:
                    undone.append(reason)


def _traffic(case: Case, wiring: Wiring) -> Traffic:
    """What excuses must know of the frames. Streams of several kinds have flows of their own."""
    profile = case.profile
    flows = {own_flows(stream, wiring, profile.flows) for stream in streams(case, wiring)}
    on_line = [wire_bits(Fraction(size)) for part in profile.parts for size, _ in part.mix.weights]
    ratio = math.ceil(max(on_line) / min(on_line))
    own = 0 if profile.classes or len(flows) > 1 else min(flows)
    return Traffic(
        own,
        profile.burst,
        ratio,
        sizes=() if profile.classes else profile.mix.weights,
        varies=list_varying(profile.stack, own) if own else (),
    )


def _wired(wiring: Wiring, known: Situation, session: str) -> CaseWiring:
    return CaseWiring(
        clock=wiring.clock,
        situation=known,
        enforced_rate=all(port.enforced_rate for port in wiring.ports),
        notes=wiring.notes,
        session=session,
    )
