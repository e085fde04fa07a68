"""netdyno's engine as a tester: a case and a trial in, an outcome out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from netdyno.devices import incidents
from netdyno.plan.arrivals import CONSTANT
from netdyno.plan.matrix import list_streams_beside
from netdyno.ports.memif import Peers
from netdyno.testers.netdyno import engine as door
from netdyno.testers.netdyno.engine import ENGINE, Opened, versions
from netdyno.testers.netdyno.spec import event_spec, read_result, scene, session_spec, trial_spec
from netdyno.testers.tester import PortInfo, PortProgress, Progress, Stop, Watcher
from netdyno.values.interval import StreamInterval, TrialInterval
from netdyno.values.load import Happened, Observe, Trial
from netdyno.values.offer import ENGINE_OFFERS, Offer
from netdyno.values.outcome import Interval, Outcome
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from netdyno.devices import Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case

BEFORE_TRAFFIC = ("", "resolve", "settle")
"""Phases of a trial in which its traffic has not begun."""


class Netdyno:
    """The tester `netdyno`. engine: name of the module with the engine's `Session`."""

    def __init__(self, engine: str = ENGINE) -> None:
        self._engine = engine

    @property
    def offers(self) -> frozenset[Offer]:
        """Loads of frames and all that is measured of them; no connections."""
        return ENGINE_OFFERS

    def versions(self) -> dict[str, str]:
        """The engine's version, and what it was built for. Raises TesterMissingError."""
        return versions(self._engine)

    @contextmanager
    def open(self, plan: Plan, wiring: Wiring, cases: Sequence[Case]) -> Iterator[EngineSession]:
        """Opens the ports of a lab for the frames of these cases."""
        # Ports that stay open from case to case are opened for the frames of all.
        served = cases if Peers(wiring.session) else cases[:1]
        spec = session_spec(wiring, *served)
        with Opened(spec, self._engine) as opened:
            yield EngineSession(plan, wiring, spec, served, opened)

    def raw(self, spec: Mapping[str, Any]) -> AbstractContextManager[Opened]:
        """An open session of a SessionSpec that takes TrialSpecs: for calibration alone."""
        return raw(spec, self._engine)

    def session_spec(self, wiring: Wiring, *cases: Case) -> dict[str, Any]:
        """The SessionSpec of a lab."""
        return session_spec(wiring, *cases)

    def trial_spec(self, plan: Plan, case: Case, wiring: Wiring, trial: Trial) -> dict[str, Any]:
        """The TrialSpec of a trial, without secrets."""
        return trial_spec(plan, case, wiring, trial)

    def read_result(self, answer: str) -> Outcome:
        """What a trial found."""
        return read_result(answer)

    def watch_core(self, core: int, seconds: float) -> dict[str, Any]:
        """What a core is like to a loop that only reads the clock (machine::Watch)."""
        return door.watch_core(core, seconds)

    def bounce(self, first: int, second: int, rounds: int) -> dict[str, Any]:
        """What lies between two cores (machine::Bounce)."""
        return door.bounce(first, second, rounds)


@contextmanager
def raw(spec: Mapping[str, Any], engine: str = ENGINE) -> Iterator[Opened]:
    """An open session of a SessionSpec that takes TrialSpecs."""
    with Opened(spec, engine) as opened:
        yield opened


class EngineSession:
    """Opened ports of a lab. Takes the next case if its ports and peers are the same."""

    def __init__(
        self, plan: Plan, wiring: Wiring, spec: Mapping[str, Any], cases: Sequence[Case], opened: Opened
    ) -> None:
        self._plan = plan
        self._wiring = wiring
        self._spec = spec
        self._cases = cases
        self._opened = opened
        self._peers = Peers(spec)
        self._last: tuple[Case, Trial, dict[str, Any]] | None = None

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        """The opened ports."""
        return self._opened.ports

    @property
    def described(self) -> str:
        """The SessionSpec."""
        return json.dumps(self._spec)

    @property
    def lasts(self) -> bool:
        """Whether a port's peer is another process."""
        return bool(self._peers)

    def take(self, wiring: Wiring) -> bool:
        """Goes on with the lab of the next case if its ports have the same peers."""
        if not self._peers or session_spec(wiring, *self._cases) != self._spec:
            return False
        self._wiring, self._peers, self._last = wiring, self._peers.of_next_case(), None
        return True

    def asked(self, case: Case, trial: Trial) -> str:
        """The TrialSpec, without what a modifier keeps secret."""
        spec = trial_spec(self._plan, case, self._wiring, trial)
        self._last = (case, trial, spec)
        return json.dumps(spec)

    def is_same(self, stored: str, asked: str) -> bool:
        """Whether both ask for the same loads, observations and waits."""
        return essence(stored) == essence(asked)

    def measure(self, case: Case, trial: Trial, watch: Watcher, stop: Stop) -> Outcome:
        """What the trial found; begun again while a peer that is to connect may still come."""
        spec = self._whole(case, trial)
        result, cut_short = self._once(spec, case, trial, watch, stop)
        while not (cut_short or result.began) and self._peers.patient(result.invalid):
            # Nothing was sent: it is no attempt yet.
            result, cut_short = self._once(spec, case, trial, watch, stop)
        if result.began:
            self._peers.came()
        return result

    def _whole(self, case: Case, trial: Trial) -> dict[str, Any]:
        """The TrialSpec with its secrets. Only what a modifier says may be secret."""
        if case.modifier.words is None and self._last is not None:
            of_case, of_trial, spec = self._last
            if of_case is case and of_trial is trial:
                return spec
        return trial_spec(self._plan, case, self._wiring, trial, secret=True)

    def advice(self, reasons: Sequence[Reason]) -> str | None:
        """What to do about a peer that did not come."""
        return self._peers.hint(reasons)

    def _once(
        self, spec: Mapping[str, Any], case: Case, trial: Trial, watch: Watcher, stop: Stop
    ) -> tuple[Outcome, bool]:
        """The outcome, and whether the trial was cut short."""
        # Emulated devices get all events before the trial; a real one is asked during it, by the watcher.
        events = (
            sorted(trial.events, key=lambda event: event.at_ns) if self._wiring.clock == "virtual" else []
        )
        # A trial of any other method is invalid, and retried, if something befalls a link.
        befalls = self._incidents if trial.counts_carrier_losses else ()
        also = incidents.events(befalls, trial)
        names = [port.name for port in self._wiring.ports]
        around_ns = trial.duration_ns + int(spec["drain_ns"])

        def now() -> Progress:
            return self._progress(around_ns, trial.observe.interval_ns)

        watch.begin()
        started = datetime.now(UTC)
        self._opened.start(spec, [event_spec(event, names) for event in (*events, *also)])
        whole = self._opened.wait(lambda: watch.look(now), stop)
        if whole:
            watch.end(now)
        result = self._read(case, trial).dated(started)
        happened = tuple(Happened(event, event.at_ns, event.at_ns) for event in events)
        losses = incidents.carrier_losses(befalls, trial)
        return replace(result, happened=happened, carrier_losses=losses), not whole

    @property
    def _incidents(self) -> tuple[incidents.Incident, ...]:
        """Those of the ports that are opened, at the times of this run."""
        opened = {port.name for port in self._wiring.ports}
        scale = self._plan.scale
        return tuple(one.scaled(scale) for one in self._wiring.incidents if one.port in opened)

    def _progress(self, around_ns: int, interval_ns: int) -> Progress:
        """around_ns: of the trial from the begin of traffic. interval_ns: of each interval."""
        found = self._opened.snapshot()
        # Once traffic has begun the engine knows how long the trial will take.
        began_ns = found["total_ns"] - around_ns
        return Progress(
            phase=found["phase"],
            elapsed_ns=found["elapsed_ns"],
            total_ns=found["total_ns"],
            ports=tuple(PortProgress(**port) for port in found.get("ports", ())),
            traffic_ns=None if found["phase"] in BEFORE_TRAFFIC else found["elapsed_ns"] - began_ns,
            waiting=self._peers.waiting if self._peers and found["elapsed_ns"] == 0 else "",
            intervals=tuple(_interval(one, interval_ns) for one in found.get("intervals", ())),
        )

    def _read(self, case: Case, trial: Trial) -> Outcome:
        """What the engine found, and what came of what the case's modifier said."""
        apart = frozenset(stream.name for stream in list_streams_beside(case, self._wiring))
        answer, modifier = self._opened.result(), case.modifier
        result = read_result(answer, apart, self._wiring, trial.duration_ns)
        if modifier.read is None or result.post is None:
            return result
        exchange = modifier.read(scene(self._plan, case, self._wiring, trial), result)
        return replace(result, exchange=exchange, post=None)


def _interval(found: Mapping[str, Any], interval_ns: int) -> TrialInterval:
    streams = (
        StreamInterval(one["sent"], one["received"], one["late_ns"], Interval(**one["latency"]))
        for one in found["streams"]
    )
    return TrialInterval(found["number"], (found["number"] + 1) * interval_ns, tuple(streams))


def essence(spec: str) -> dict[str, Any]:
    """What a TrialSpec asks for: what a stored one must have in common with one that it stands for."""
    found = json.loads(spec)
    return {
        "streams": [
            (
                stream["name"],
                stream["schedule"],
                stream.get("burst", 1),
                stream.get("flows"),
                *_further(stream),
            )
            for stream in found["streams"]
        ],
        # Earlier versions observed nothing.
        "observe": {**asdict(Observe()), "spacing": False, **found.get("observe", {})},
        "waits": (found["settle_ns"], found["drain_ns"]),
    }


def _further(stream: Mapping[str, Any]) -> tuple[Any, ...]:
    """How frames are placed in time, if not evenly; that they have no probe, if so; and picked flows."""
    found = [] if stream.get("arrival", CONSTANT) == CONSTANT else [stream["arrival"]]
    found += [] if stream.get("probe", True) else ["no probe"]
    return (*found, tuple(stream["pick"])) if stream.get("pick") else tuple(found)
