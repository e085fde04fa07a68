"""What a tester is to the rest of netdyno: it opens ports, and measures one trial after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from netdyno.errors import NetdynoError
from netdyno.values.interval import TrialInterval
from netdyno.values.load import Trial
from netdyno.values.offer import Offer
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from netdyno.devices import Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case


class TesterError(NetdynoError):
    """The tester could not do what it was asked to."""


class TesterMissingError(NetdynoError):
    """The tester's program or module is not installed or cannot be loaded."""


@dataclass(frozen=True)
class PortInfo:
    """One opened port. detail: what it turned out to be, such as `copy, generic attach`; empty: nothing."""

    name: str
    backend: str = ""
    detail: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """All the tester says of the port, by its own names."""


@dataclass(frozen=True)
class PortProgress:
    """Counters of one port since the trial began."""

    name: str
    tx_frames: int
    tx_bytes: int
    rx_frames: int
    rx_bytes: int


@dataclass(frozen=True)
class Progress:
    """How a running trial stands. elapsed_ns: since it began; total_ns: what it will take, as far as known.

    traffic_ns: since traffic began; None before. waiting: which peer the tester waits for, a clause.
    intervals: the last ones that ended, and whose frames had time to arrive.
    """

    phase: str
    elapsed_ns: int
    total_ns: int
    ports: tuple[PortProgress, ...] = ()
    traffic_ns: int | None = None
    waiting: str = ""
    intervals: tuple[TrialInterval, ...] = ()


Stop: TypeAlias = Callable[[], bool]
"""Whether the trial is to be cut short. Its outcome then holds what was measured."""


class Watcher(Protocol):
    """Who looks at a trial while it runs."""

    def begin(self) -> None:
        """Called just before the trial begins, once for each time that it has to begin again."""
        ...

    def look(self, now: Callable[[], Progress]) -> float:
        """Seconds until the next call at the latest. now: how the trial stands, read at each call."""
        ...

    def end(self, now: Callable[[], Progress]) -> None:
        """Called once the trial has ended by itself, before its outcome is read."""
        ...


class Session(Protocol):
    """Opened ports of a lab. Measures one trial at a time."""

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        """The opened ports, in the order of the wiring."""
        ...

    @property
    def described(self) -> str:
        """The session as a JSON object, without secrets: stored with the case."""
        ...

    @property
    def lasts(self) -> bool:
        """Whether it should stay open for the next case: its peers would not come a second time."""
        ...

    def take(self, wiring: Wiring) -> bool:
        """Goes on with the lab of the next case, True; False if that lab needs a session of its own."""
        ...

    def asked(self, case: Case, trial: Trial) -> str:
        """The trial as a JSON object, without secrets: stored beside its outcome. Pure."""
        ...

    def is_same(self, stored: str, asked: str) -> bool:
        """Whether a stored trial asked for the same as this one does; both texts are of `asked`."""
        ...

    def measure(self, case: Case, trial: Trial, watch: Watcher, stop: Stop) -> Outcome:
        """What the trial found. Secrets enter here only. Raises TesterError."""
        ...

    def advice(self, reasons: Sequence[Reason]) -> str | None:
        """What to do about a trial that could not begin for these reasons."""
        ...


class OneLab:
    """The usual answers of a session that serves one case and describes a trial by its load."""

    lasts, described = False, "{}"

    def take(self, wiring: Wiring) -> bool:
        """No session serves two cases."""
        return False

    def asked(self, case: Case, trial: Trial) -> str:
        """The load."""
        return json.dumps({"load": repr(trial.load)})

    def is_same(self, stored: str, asked: str) -> bool:
        """Whether the loads are equal."""
        return stored == asked

    def advice(self, reasons: Sequence[Reason]) -> str | None:
        """Nothing."""
        return None


@runtime_checkable
class Tester(Protocol):
    """Makes and counts the traffic."""

    @property
    def offers(self) -> frozenset[Offer]:
        """What it can do."""
        ...

    def versions(self) -> dict[str, str]:
        """What a run is made with: names and versions. Raises TesterMissingError."""
        ...

    def open(self, plan: Plan, wiring: Wiring, cases: Sequence[Case]) -> AbstractContextManager[Session]:
        """Opens the ports of a lab. Raises TesterError, TesterMissingError.

        plan: for its `trial:` settings, which no case carries. cases: the next one first, then all that may
        follow on the same ports.
        """
        ...


class RawSession(Protocol):
    """Opened ports that take a trial as it is written (docs/interfaces.md) and answer in JSON."""

    ports: tuple[PortInfo, ...]

    def start(self, spec: Mapping[str, Any], /) -> None:
        """Begins a TrialSpec and returns at once. Raises TesterError."""
        ...

    def wait(self) -> bool:
        """Waits for the end of the trial."""
        ...

    def result(self) -> str:
        """The answer to the last trial, which has ended. Raises TesterError."""
        ...

    def trial(self, spec: Mapping[str, Any], /) -> str:
        """Makes a whole trial of a TrialSpec; the answer. Raises TesterError."""
        ...


@runtime_checkable
class Calibratable(Protocol):
    """A tester whose own limits a calibration can measure: its specs can be looked at and changed."""

    def raw(self, spec: Mapping[str, Any]) -> AbstractContextManager[RawSession]:
        """Opens the ports of a SessionSpec. Raises TesterError, TesterMissingError."""
        ...

    def session_spec(self, wiring: Wiring, *cases: Case) -> dict[str, Any]:
        """The SessionSpec of a lab."""
        ...

    def trial_spec(self, plan: Plan, case: Case, wiring: Wiring, trial: Trial) -> dict[str, Any]:
        """The TrialSpec of a trial."""
        ...

    def read_result(self, answer: str) -> Outcome:
        """What a trial found, from the answer to it."""
        ...

    def watch_core(self, core: int, seconds: float) -> dict[str, Any]:
        """What a core is like to a loop that only reads the clock."""
        ...

    def bounce(self, first: int, second: int, rounds: int) -> dict[str, Any]:
        """What lies between two cores, by a cache line that goes to and fro."""
        ...
