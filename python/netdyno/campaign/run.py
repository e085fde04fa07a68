"""A run from plan to record: the only place where plan, lab, method, engine, store and verdict meet."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from netdyno.calibration import Calibration, shelf
from netdyno.campaign import busy, memory
from netdyno.campaign.cluster import Cluster
from netdyno.campaign.events import Event, Failed, Interrupted, Measured, Rewired, TrialEnded, Wired
from netdyno.campaign.interrupts import Interrupts
from netdyno.campaign.job import Job
from netdyno.campaign.kept import INCLUDED, OWN, keep_files, read_templates
from netdyno.campaign.logged import warn
from netdyno.campaign.pending import Undos, list_configured, restore_devices, undo_goes_on
from netdyno.campaign.reasons import REASONS
from netdyno.campaign.selection import Selection, missing_extra
from netdyno.campaign.versions import versions
from netdyno.campaign.workers import Workers
from netdyno.devices import KINDS, LabError, LabLink
from netdyno.devices.bgp_password import read_password
from netdyno.devices.reasons import VersionUnknown
from netdyno.errors import NetdynoError
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import Case, cases
from netdyno.plan.overrides import locate
from netdyno.plan.source import Path_
from netdyno.ports.backends import BACKENDS
from netdyno.ports.threads import keep_to, kept_to
from netdyno.store import FILE, DamagedError, Hold, RunWriter, StoredRun, new_folder, open_run
from netdyno.testers import TESTERS, TesterEntry, tables
from netdyno.values.kind import TRIAL_LOSS
from netdyno.values.packed import shared, with_packed_series
from netdyno.values.records import RESUMED, CaseHead, RunHead, StoredCalibration, StoredCase, StoredTrial
from netdyno.verdict import across


class Watcher(Protocol):
    """The protocol of a viewer of the run, such as the live view."""

    def begin(self, plan: Plan, cases: Sequence[Case], already: int) -> None: ...
    def event(self, event: Event) -> None: ...
    def tick(self) -> None: ...
    def stopping(self, *, is_configured: bool) -> None: ...
    def end(self) -> None: ...


@dataclass(frozen=True)
class Outcome:
    """The end of a run. exit_code: 0, 1, 3, 4, 124 or 130; docs/reference.md says which."""

    folder: Path
    exit_code: int


def run(
    plan: Plan,
    parent: Path,
    watcher: Watcher,
    selection: Selection,
    tester: TesterEntry | None = None,
    interrupts: Interrupts | None = None,
    prepare: Callable[[Plan, Sequence[Case]], None] = lambda plan, cases: None,
    on: str = "",
) -> Outcome:
    """Runs a plan into a new folder below `parent`.

    tester: in place of the plan's. interrupts: stay in force when it returns. prepare: called with the plan
    and its cases once this machine is known to be able to run them, before anything is kept. on: the cluster
    whose workers run the cases, as `Cluster` takes it; empty: processes of this machine.
    """
    plan = selection.plan(plan)
    tester = tester or TESTERS[plan.tester]
    chosen = selection.cases(plan)
    if on:
        _refuse_real(plan, chosen)
    name = Path(plan.file).stem
    head = RunHead(
        name=name,
        title=plan.title,
        plan=plan.text,
        plan_path=plan.file,
        lab="\n".join(plan.included.values()),
        scale=plan.scale,
        only=dict(selection.only or {}),
        seed=plan.seed,
        versions=versions(tester, plan),
        overrides=plan.overrides,
    )
    with ExitStack() as entered:
        shared = entered.enter_context(_prepared(plan, chosen))
        prepare(plan, chosen)
        cluster = entered.enter_context(Cluster(on, head.versions)) if on else None
        installed = entered.enter_context(_installed(interrupts))
        now = datetime.now(UTC)
        folder = new_folder(parent, name, now)
        try:
            keep_files(folder, read_templates(plan, chosen), OWN)
            keep_files(folder, plan.included)
            store = RunWriter.create(folder, head, _heads(plan, chosen), now)
        except BaseException:
            # Nothing is in it yet that anybody could read or resume.
            shutil.rmtree(folder, ignore_errors=True)
            raise
        with store:
            kept, own = _calibrations(parent), str(folder.resolve())
            every = cases(plan)
            jobs = [
                Job(plan, case, tester, calibrations=kept, versions=head.versions, run=own, served=every)
                for case in chosen
            ]
            return _campaign(store, jobs, watcher, 0, installed, shared, cluster)


def _calibrations(runs: Path) -> tuple[Calibration, ...]:
    """The calibrations stored beside the runs. A file that cannot be read is reported and left out."""
    found, wrong = shelf.load(runs)
    for reason in wrong:
        warn(reason)
    return tuple(found)


def plan_of(stored: StoredRun) -> Plan:
    """The plan of a run, as it was written."""
    head, kept = stored.head, stored.folder / INCLUDED
    base = kept if kept.is_dir() else stored.folder
    return parse(head.plan, name=head.plan_path, base=base, tables=tables(), overrides=head.overrides)


def resume(
    folder: Path,
    watcher: Watcher,
    tester: TesterEntry | None = None,
    interrupts: Interrupts | None = None,
) -> Outcome:
    """Resumes a run that was killed or interrupted; stored trials are not repeated."""
    folder = folder.parent if folder.name == FILE else folder
    if not (folder / FILE).exists():
        open_run(folder, REASONS).close()
    # Held before it is read: another one that goes on with it would change what was read.
    with Hold(folder) as hold:
        with open_run(folder, REASONS) as stored:
            if stored.state == "done" and all(case.state == "done" for case in stored.cases):
                return Outcome(folder, _exit_code(stored.cases))
            head = stored.head
            selection = Selection(head.scale, head.only)
            plan = selection.plan(plan_of(stored))
            if "\n".join(plan.included.values()) != head.lab:
                what = f"the file that the plan includes, `{', '.join(plan.included)}`, changed"
                raise DamagedError(folder, what, code="store-damaged")
            tester = tester or TESTERS[plan.tester]
            finished = {case.head.number for case in stored.cases if case.state == "done"}
            begun = {case.head.number: case.wiring for case in stored.cases}
            chosen, every = selection.cases(plan), cases(plan)
            calibrations, running = _calibrations(folder.resolve().parent), versions(tester, plan)
            jobs = [
                Job(
                    plan,
                    case,
                    tester,
                    _trials_to_keep(stored.trials(case.number, with_lists=False)),
                    begun=begun.get(case.number),
                    calibrations=calibrations,
                    versions=running,
                    run=str(folder.resolve()),
                    served=every,
                )
                for case in chosen
                if case.number not in finished
            ]
        with (
            _prepared(plan, [job.case for job in jobs]) if jobs else nullcontext(()) as shared,
            _installed(interrupts) as installed,
            RunWriter.resume(folder, hold) as store,
        ):
            if jobs:
                _store_versions(store, head.versions, running)
            return _campaign(store, jobs, watcher, len(finished), installed, shared)


def _store_versions(store: RunWriter, begun: Mapping[str, str], running: Mapping[str, str]) -> None:
    """Stores the versions that resume a run, if they differ from those that began it."""
    others = [f"{what} {now}" for what, now in running.items() if begun.get(what) != now]
    if others:
        before = [begun[RESUMED]] if RESUMED in begun else []
        told = list(dict.fromkeys([*before, ", ".join(others)]))
        store.versions({**begun, RESUMED: "; then ".join(told)})


@contextmanager
def _prepared(plan: Plan, chosen: Sequence[Case]) -> Iterator[Collection[int]]:
    """Holds a device that is configured, until the block ends: the files that its workers share.

    Warns of interfaces with own traffic. PlanErrors or LabError if this machine cannot run the cases.
    """
    memory.refuse(plan, chosen)
    extra = missing_extra(plan)
    if extra is not None:
        raise extra
    restore_devices()
    kind = plan.kind
    turn = kind.driver.take_turn(kind.reached, warn) if plan.lab.configuration else nullcontext(())
    with turn as shared:
        _warn_of_interfaces(plan)
        _read_passwords(plan)
        yield shared


def _read_passwords(plan: Plan) -> None:
    """Raises LabError if a speaker has no password that can be one: before any lab is built."""
    for link in () if plan.kind.emulated else plan.lab.links:
        if link.speaker is not None:
            read_password(link.tester_port, link.speaker.bgp)


def _warn_of_interfaces(plan: Plan) -> None:
    try:
        for warning in plan.kind.preflight(plan.lab.links):
            warn(warning)
    except LabError as error:
        if error.link is None:
            raise
        raise LabError(
            f"{_place(plan, error.link)}: {error.message}", error.hint, error.link, code=error.code
        ) from error


def _place(plan: Plan, link: int) -> str:
    """The place `file:line:column` where a link names its interface or socket; or the option that does."""
    backend = BACKENDS.get(plan.lab.links[link].backend.kind)
    named = backend.needed[0] if backend is not None and backend.needed is not None else "interface"
    path: Path_ = ("lab", "links", link, named)
    file, line, column = locate(plan, path)
    return f"{file}:{line}:{column}" if line else file


def _trials_to_keep(trials: Iterator[StoredTrial]) -> tuple[StoredTrial, ...]:
    """All but cancelled ones, in little memory: of a soak there may be thousands."""
    kept: list[StoredTrial] = []
    for trial in trials:
        if trial.state != "cancelled":
            packed = replace(trial, result=with_packed_series(trial.result))
            kept.append(shared(packed, kept[-1] if kept else None))
    return tuple(kept)


def _campaign(
    store: RunWriter,
    jobs: list[Job],
    watcher: Watcher,
    already: int,
    interrupts: Interrupts,
    shared: Collection[int],
    cluster: Cluster | None = None,
) -> Outcome:
    """Virtual cases on all cores, then real ones one by one. This process alone writes the store.

    shared: files that its workers keep open. cluster: runs the cases in place of processes of this machine.
    """
    # What sends both ways takes about twice as long, and no core is to wait for such a case at the end.
    virtual = [job for job in jobs if _clock(job) == "virtual"]
    virtual.sort(key=lambda job: job.case.direction != "bidir")
    real = [job for job in jobs if _clock(job) == "real"]
    told = warned = is_said = False
    undos = Undos()
    own = str(store.folder.resolve())
    configures = any(job.plan.lab.access is not None and job.plan.lab.configuration for job in jobs)

    def is_configured() -> bool:
        return configures and bool(list_configured(own))

    interrupts.look_at_clock()
    found = busy.find_busy_machine() if real and not interrupts.is_stopping else None
    if found is not None:
        warn(found)
        real = [replace(job, notes=(*job.notes, found)) for job in real]
    if jobs:
        with suppress(OSError):
            watcher.begin(jobs[0].plan, [job.case for job in jobs], already)
    try:
        # A process each, for a lab may change its namespaces; but one for all whose peers would go with it.
        # So are the cases of a device that a driver reaches: it has one configuration, and one session.
        reached = any(job.plan.lab.access is not None for job in jobs)
        apart = bool(real) and not reached and not any(_keeps_peers(link) for link in real[0].plan.lab.links)
        cores = 1 if reached else os.cpu_count() or 1
        for group, count, fresh in ((virtual, cores, False), (real, 1, apart)):
            if not group or interrupts.is_stopping:
                continue
            kept = {one.id: one for one in jobs[0].calibrations}
            workers = cluster or Workers(min(count, len(group)), fresh=fresh, shared=shared)
            with (
                interrupts.stopping(workers, is_configured),
                nullcontext() if cluster else workers,
                kept_to(),
            ):
                for event in workers.run(group):
                    undos.follow(event)
                    interrupts.look_at_clock()
                    if isinstance(event, Wired):
                        keep_to(event.spare)
                        for note in event.wiring.notes:
                            if isinstance(note, VersionUnknown) and not is_said:
                                is_said = True
                                warn(note)
                    if interrupts.is_stopping and not told:
                        told = True
                        with suppress(OSError):
                            watcher.stopping(is_configured=is_configured())
                    if interrupts.is_undo_awaited and not warned:
                        warned = True
                        for left in list_configured(own):
                            warn(undo_goes_on(left))
                    if event is not None:
                        _record(store, event, kept)
                    # Who watches may be gone (a terminal that was closed): what is measured is not.
                    with suppress(OSError):
                        watcher.tick() if event is None else watcher.event(event)
    finally:
        with suppress(OSError):
            watcher.end()
    with open_run(store.folder, REASONS) as stored:
        ended = stored.cases
    if configures:
        pending = list_configured(own)
        for reason in undos.list_warnings(pending):
            warn(reason)
        for number, wiring in undos.correct_notes(ended, pending):
            store.case_rewired(number, wiring)
    # What only several cases together show: a cap in bits a second, whatever the frame size.
    for number, verdicts in across(ended).items():
        store.judged_again(number, verdicts)
    now = datetime.now(UTC)
    if interrupts.is_stopping and any(case.state not in ("done", "failed") for case in ended):
        store.run_ended("interrupted", now)
        return Outcome(store.folder, interrupts.exit_code)
    store.run_ended("done" if all(case.state == "done" for case in ended) else "failed", now)
    return Outcome(store.folder, _exit_code(ended))


def _exit_code(cases: Sequence[StoredCase]) -> int:
    """The exit code of a run whose cases have all ended."""
    goals = [goal for case in cases for goal in case.goals]
    if any(case.state != "done" for case in cases):
        return 3
    # What a device failed is known, whatever of others is not.
    if any(goal.passed is False for goal in goals):
        return 1
    if any(verdict.limit == "invalid" for case in cases for verdict in case.verdicts):
        return 3
    if any(goal.passed is None for goal in goals):
        return 3
    if not any(has_number(case) for case in cases):
        return 4
    # A goal that was met at what the tester could send is an answer; a number that only it limited is none.
    return 4 if not goals and all(_tester_limited(case) for case in cases) else 0


def _tester_limited(case: StoredCase) -> bool:
    """Whether the tester was the limit on every value of a case."""
    return bool(case.verdicts) and all(verdict.limit in ("tester", "receiver") for verdict in case.verdicts)


def has_number(case: StoredCase) -> bool:
    """Whether a case has a number of the device, not only numbers of the tester, and bounds. That nothing at
    all came back is none: so it is without a cable, a route or a device."""
    if case.result is None:
        return False
    headlines = case.result.headlines
    has_any = any(value.name in headlines and value.number is not None for value in case.result.values)
    return has_any and not _is_silent(case)


def _is_silent(case: StoredCase) -> bool:
    """Whether a rate or a loss was asked for, and every verdict that counts frames has all of them lost. A
    device that filters what it should (RFC 2889 section 5.9) is silent, too, and right; so is one that a goal
    asks to lose them."""
    assert case.result is not None
    kinds = [case.result.kinds[name] for name in case.result.headlines]
    asks_loss = not case.goals and any(kind.goal_name == TRIAL_LOSS.goal_name for kind in kinds)
    if not asks_loss and all(kind.unit != "fps" for kind in kinds):
        return False
    counts = [(getattr(one.reason, "lost", 0), getattr(one.reason, "sent", 0)) for one in case.verdicts]
    counted = [(lost, sent) for lost, sent in counts if sent]
    return bool(counted) and all(lost == sent for lost, sent in counted)


def _record(store: RunWriter, event: Event, calibrations: Mapping[str, Calibration]) -> None:
    now = datetime.now(UTC)
    match event:
        case Wired():
            proven = event.wiring.proven
            known = (calibrations.get(id) for id in (proven.id, *proven.others)) if proven else ()
            copies = [StoredCalibration(used.id, used.to_json()) for used in known if used is not None]
            store.case_wired(event.case, event.wiring, now, *copies)
        case Rewired():
            store.case_rewired(event.case, event.wiring)
        case TrialEnded():
            store.add_trial(event.trial)
        case Measured():
            store.case_done(event.case, event.result, event.verdicts, event.goals, now)
        case Failed():
            if event.trace:
                _keep_trace(store.folder / "bugs.txt", f"case {event.case}\n{event.trace}\n")
            store.case_ended(event.case, "failed", event.error, now)
        case Interrupted():
            store.case_ended(event.case, "interrupted", None, now)


def _keep_trace(file: Path, text: str) -> None:
    """Appends where a case failed. Without room for it the record says that and why the case failed."""
    with suppress(OSError), file.open("a", encoding="utf-8", errors="backslashreplace") as out:
        out.write(text)


@contextmanager
def _installed(given: Interrupts | None) -> Iterator[Interrupts]:
    """Installs interrupts for a run; given ones stay installed for their owner."""
    interrupts = given or Interrupts()
    interrupts.install()
    try:
        yield interrupts
    finally:
        if given is None:
            interrupts.restore()


def _keeps_peers(link: LabLink) -> bool:
    backend = BACKENDS.get(link.backend.kind)
    return backend is not None and backend.keeps_peers


def _clock(job: Job) -> str:
    return _clock_of(job.plan, job.case)


def _clock_of(plan: Plan, case: Case) -> str:
    return plan.kind.wire(plan.lab.links, case.settings).clock


def _refuse_real(plan: Plan, chosen: Iterable[Case]) -> None:
    """NetdynoError if a case must run here: on ports, or on a device that a driver reaches."""
    for case in chosen:
        if plan.lab.access is not None or _clock_of(plan, case) == "real":
            text = f"--on: the case `{case.name}` runs on ports or a device of this machine"
            hint = "leave out --on, or choose cases of emulated devices with --only"
            raise NetdynoError(text, hint, code="conflict")


def _heads(plan: Plan, chosen: Iterable[Case]) -> list[CaseHead]:
    kind = KINDS[plan.lab.kind]
    return [
        CaseHead(
            number=case.number,
            name=case.name,
            axes=dict(case.choices),
            kind=kind.name,
            kind_title=kind.title,
            emulated=kind.emulated,
            settings=dict(case.settings),
            method=plan.method,
            parameters=plan.parameters_of(case).model_dump_json(by_alias=True),
            seed=case.seed,
            repeat=case.repeat,
        )
        for case in chosen
    ]
