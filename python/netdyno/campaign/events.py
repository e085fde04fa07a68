"""Events that a worker reports to the process that holds the store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from netdyno.devices.reasons import NotUndone
from netdyno.testers.tester import Progress
from netdyno.values.finding import Result
from netdyno.values.records import CaseError, CaseWiring, StoredGoal, StoredTrial, StoredVerdict


@dataclass(frozen=True)
class Wired:
    """The lab of the case is built."""

    case: int
    wiring: CaseWiring
    spare: frozenset[int] = frozenset()
    """The cores for whoever is not the tester (`netdyno.ports.threads`)."""


@dataclass(frozen=True)
class Rewired:
    """More is known of the lab of the case than when it was built."""

    case: int
    wiring: CaseWiring


@dataclass(frozen=True)
class UndoFailed:
    """The device still has the configuration of the case."""

    case: int
    reason: NotUndone


@dataclass(frozen=True)
class Looked:
    """The progress of the running trial."""

    case: int
    trial: str
    number: int
    progress: Progress


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
    error: CaseError
    trace: str = field(default="", compare=False)


@dataclass(frozen=True)
class Interrupted:
    """The case was stopped before it had a result."""

    case: int


Event: TypeAlias = (
    Wired | Rewired | UndoFailed | Looked | Waiting | TrialEnded | Measured | Failed | Interrupted
)
