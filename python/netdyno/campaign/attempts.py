"""The trials of one case: those of an earlier run first, then new ones, each retried if it went wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from netdyno.campaign.events import Event, Looked, TrialEnded, Waiting
from netdyno.campaign.happening import Course
from netdyno.campaign.instants import with_instants
from netdyno.campaign.instruments import Recorder
from netdyno.campaign.learning import wanted_members
from netdyno.campaign.standard import with_plan
from netdyno.campaign.watching import Watching
from netdyno.devices.speakers.speaking import Speaking
from netdyno.errors import NetdynoError
from netdyno.methods import METHODS, find_long_pause, find_spoiling_pause
from netdyno.methods.reasons.tester import Preempted
from netdyno.methods.wrap import WRAPPERS, Around
from netdyno.plan.matrix import list_uneven, own_flows, streams
from netdyno.ports.threads import kept_to, spare_cores
from netdyno.ports.watch import Watch, await_lines, can_come_back
from netdyno.testers.tester import Progress, Session
from netdyno.values.finding import Result
from netdyno.values.load import FRAMES, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.packed import shared, with_packed_series
from netdyno.values.records import StoredTrial
from netdyno.values.situation import Situation
from netdyno.values.unmeasured import NotMeasuredError, TrialInvalid, TrialNotBegun

if TYPE_CHECKING:
    from netdyno.campaign.job import Job
    from netdyno.devices import Wiring
    from netdyno.devices.live import Live

ATTEMPTS = 3
"""How often a trial is made if it turns out invalid (bounded; every attempt is kept)."""


class StopRequestedError(Exception):
    """The case was asked to stop, and did so in order."""


class Attempts:
    """The trials of one case."""

    def __init__(
        self,
        job: Job,
        wiring: Wiring,
        live: Live,
        session: Session,
        emit: Callable[[Event], None],
        stopping: Callable[[], bool],
        watching: Watching | None = None,
        with_settings: Callable[[Mapping[str, str]], Session] | None = None,
        speakers: Speaking | None = None,
    ) -> None:
        """with_settings: a session with a device of other settings, in virtual time, where it is a part of
        the session."""
        self.plan = job.plan
        self.case = job.case
        self.wiring = wiring
        self._spare = spare_cores(wiring.session)
        self.live = live
        self.session = session
        self._with_settings = with_settings
        self._speakers = speakers or Speaking(wiring)
        self.emit = emit
        self.stopping = stopping
        self.watching = watching or Watching()
        self.stored = {trial.number: trial for trial in job.done if trial.state == "done"}
        self.given_up = {trial.number: trial for trial in job.done if trial.state == "invalid"}
        """The last attempt at each that was invalid."""
        self.reached = max((trial.number for trial in job.done), default=-1)
        self.outcomes: dict[int, Outcome] = {}
        """By number; what could not be measured has a number, and no outcome."""
        self.asked: dict[int, Trial] = {}
        self._last: Outcome | None = None
        """Of the trials that stand, the last one."""

    def follow(self, known: Situation) -> Result:
        """Runs the trials that the method yields until it returns a result.

        What cannot be measured is thrown into it: a method of several parts goes on with the next one.
        """
        procedure = METHODS[self.plan.method]
        routes = len(self.wiring.routes[0]) if self.wiring.routes else 0
        around = Around(
            situation=known,
            is_real=self.wiring.clock == "real",
            waits=bool(self.plan.trial.drain.ns),
            counts_itself=procedure.counted is not None,
            uneven=list_uneven(self.case, self.wiring),
            routes=routes,
            routes_of={
                stream.name: own_flows(stream, self.wiring, routes)
                for stream in streams(self.case, self.wiring)
                if routes
            },
            members=wanted_members(self.plan, self.case, self.wiring, known),
        )
        method = procedure.start(self.plan.parameters_of(self.case), known)
        method = WRAPPERS[procedure.load_class](method, around)
        number = 0
        try:
            trial = next(method)
            while True:
                self.asked[number] = trial
                try:
                    outcome = self._outcome(number, trial, known)
                except NotMeasuredError as error:
                    number += 1
                    trial = method.throw(error)
                    continue
                self.outcomes[number] = outcome
                number += 1
                if trial.observe.by_flow and routes:
                    why = f"judging {trial.frames.flows or routes:,} prefixes"
                    self.emit(Waiting(self.case.number, trial.name, why))
                trial = method.send(outcome)
        except StopIteration as stop:
            result = with_plan(stop.value, self.plan, self.case)
            counted = [self.outcomes[number] for number in result.trials]
            return self.case.modifier.conclude(result, self.wiring, counted)

    def _session(self, trial: Trial) -> Session:
        """That of a trial: an emulated device of other settings is another one, in a session of its own."""
        if trial.settings and self._with_settings is not None:
            return self._with_settings(trial.settings)
        return self.session

    def _outcome(self, number: int, trial: Trial, known: Situation) -> Outcome:
        """The trial as stored, if it was made before the run was killed; else as it goes now."""
        stored = self.stored.get(number)
        if stored is not None:
            happened = tuple(event.event for event in stored.result.happened)
            same = known.in_frames(stored.segments) == known.in_frames(trial.segments)
            same = same and happened == trial.events
            if not same or not self.session.is_same(
                stored.spec, self._session(trial).asked(self.case, trial)
            ):
                # The run as a whole is another one: no part of it is left out for that.
                raise NetdynoError(
                    f"trial {number} of the stored run asked for another load, or to observe something else,"
                    " than the plan does now",
                    "start a new run instead of resuming this one",
                    code="other-plan",
                )
            return self._kept(trial, stored.result)
        given_up = self.given_up.get(number)
        if given_up is not None and number < self.reached:
            # The run went on without it, and every later trial is another one if this is made now.
            raise self._not_measured(trial, given_up)
        # An invalid trial of a killed run counts as an attempt; one more is always made. Loads that a pause
        # spoiled have attempts of their own: they take none from those that went wrong otherwise.
        first = 0 if given_up is None else given_up.attempt + 1
        wrong, spoilt = min(first, ATTEMPTS - 1), 0
        stale: list[int] = []
        for attempt in count(first):
            again = spoilt < self.plan.trial.retries
            with kept_to(self._spare):
                ended = self._attempt(number, attempt, trial, stale, again=again)
            stale = [port.stale for port in ended.result.ports]
            self.emit(TrialEnded(self.case.number, ended))
            if ended.state == "cancelled":
                raise StopRequestedError
            if ended.state == "done":
                return self._kept(trial, ended.result)
            reasons = ended.result.invalid
            if not ended.result.began and not can_come_back(self.wiring.session, reasons):
                break
            if any(reason.is_lasting for reason in reasons):
                break
            away = find_long_pause(trial, ended.result)
            if again and away is None and reasons == (find_spoiling_pause(trial, ended.result),):
                spoilt += 1
                continue
            wrong += 1
            # However long the pauses are, a plan may ask for more attempts.
            if wrong >= (ATTEMPTS if away is None else max(ATTEMPTS, self.plan.trial.retries + 1)):
                break
        raise self._not_measured(trial, ended)

    def _kept(self, trial: Trial, outcome: Outcome) -> Outcome:
        """The outcome as the method, and what judges its result, keep it: a soak has thousands.

        What devices printed is in the record by now, and judged by nobody.
        """
        outcome = replace(outcome, readings=(), transcript=b"")
        if trial.stands:
            outcome = self._last = shared(with_packed_series(outcome), self._last)
        return outcome

    def _not_measured(self, trial: Trial, last: StoredTrial) -> NotMeasuredError:
        """The error of a trial without an outcome, from its last attempt."""
        reasons = last.result.invalid
        if not last.result.began:
            # It did not begin: a port had no peer for as long as it waits for one.
            return NotMeasuredError(TrialNotBegun(trial.name, reasons), self.session.advice(reasons))
        lasting = [reason for reason in reasons if reason.is_lasting]
        hint = self.session.advice(lasting) if lasting else None
        if all(isinstance(reason, Preempted) for reason in reasons):
            hint = (
                "end other programs on this machine, lower the load, or raise `trial.retries`"
                f" (now {self.plan.trial.retries})"
            )
        return NotMeasuredError(TrialInvalid(trial.name, last.attempt + 1, reasons), hint)

    def _attempt(
        self, number: int, attempt: int, trial: Trial, stale: Sequence[int], *, again: bool
    ) -> StoredTrial:
        """Runs one attempt of a trial. stale: frames of earlier trials that came to each port in earlier
        attempts of this one. again: a load that a pause spoiled may be retried."""
        if self.stopping():
            raise StopRequestedError
        waited = await_lines(
            self.wiring.session,
            lambda why: self.emit(Waiting(self.case.number, trial.name, why)),
            self._sleep,
            # The parts before it count; another one counts only once there is a line again.
            trial.duration_ns / 1e9 if trial.counts_carrier_losses else 0.0,
        )
        self._wait_for_lacp(trial)
        session = self._session(trial)
        if session is self.session or self.live.stands_apart:
            self.live.switch(trial.settings)
        asked = session.asked(self.case, trial)
        started = datetime.now(UTC)
        # An interface that is a host's is not in this namespace.
        watch = Watch(self.wiring.session if trial.load.load_class is FRAMES else {"ports": ()}, waited)
        # Watches first: there is room for so many series.
        instruments = (*self.watching.instruments, *self.live.instruments())
        # A device that was read before, and is too busy now, costs readings and no trial.
        read_by = instruments if self.wiring.clock == "real" else ()
        is_strict = not self.outcomes
        self._speakers.begin(trial)
        lacpdus = self.watching.lags.count_sent()
        recorder = Recorder(read_by, watch.begun, is_strict=is_strict)
        course = Course(
            self.live,
            trial,
            lambda progress: self._show(number, trial, progress),
            recorder,
            watch,
            self._speakers,
            self.watching.lags,
        )
        self._look()
        cut_short = False

        def stop() -> bool:
            nonlocal cut_short
            cut_short = self.stopping()
            return cut_short

        try:
            with recorder:
                result = session.measure(self.case, trial, course, stop)
                if trial.events and read_by:
                    why = "the last readings of the device, and what each prefix lost"
                    self.emit(Waiting(self.case.number, trial.name, f"waiting for {why}"))
                result = self.watching.with_answers(recorder.with_readings(result))
                result = self.watching.lags.with_own_frames(result, lacpdus)
                result = with_instants(self.live, result, self.plan.scale, self.watching, is_strict=is_strict)
            result = watch.with_counts(result, trial, recorder.began_ns)
        finally:
            watch.end()
        result = course.with_events(result).with_stale(stale)
        # What the device did without a program that it is to have counts for nothing and is not kept.
        self._look(result)
        away = find_long_pause(trial, result)
        if away is None and again:
            # The last one stands as it is: that it was spoiled is in its health, and is judged.
            away = find_spoiling_pause(trial, result)
        if away is not None:
            result = replace(result, invalid=(*result.invalid, away))
        return StoredTrial(
            case=self.case.number,
            number=number,
            attempt=attempt,
            name=trial.name,
            state="cancelled" if cut_short else "invalid" if result.invalid else "done",
            segments=trial.segments,
            spec=asked,
            result=result,
            # A tester may wait for its peers first.
            started=result.started or started,
            ended=datetime.now(UTC),
        )

    def _show(self, number: int, trial: Trial, progress: Progress) -> None:
        """Reports how the trial stands."""
        if progress.waiting:
            self.emit(Waiting(self.case.number, trial.name, progress.waiting))
        else:
            self.emit(Looked(self.case.number, trial.name, number, progress))

    def _look(self, made: Outcome | None = None) -> None:
        """Checks that the device is still the one that was built. made: of a trial that ended. Raises
        LabError."""
        ended = self.live.check(made) or self._speakers.check()
        if ended is not None:
            raise ended

    def _wait_for_lacp(self, trial: Trial) -> None:
        """Waits for members of LAGs that left in the trial before."""
        told = set[str]()

        def tell(why: str) -> None:
            if self.stopping():
                raise StopRequestedError
            if why not in told:
                told.add(why)
                self.emit(Waiting(self.case.number, trial.name, why))

        self.watching.lags.wait(tell)

    def _sleep(self, seconds: float) -> None:
        if self.stopping():
            raise StopRequestedError
        time.sleep(seconds)
