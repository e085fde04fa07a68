"""What a stored run holds, as plain values. Reports are made from these alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from netdyno.values.finding import Result
from netdyno.values.host_facts import HostFacts
from netdyno.values.load import Segment
from netdyno.values.outcome import Outcome
from netdyno.values.proven import Proven
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.verdict import Limit

CaseState: TypeAlias = Literal["pending", "running", "done", "interrupted", "failed"]
RunState: TypeAlias = Literal["running", "done", "interrupted", "failed"]
TrialState: TypeAlias = Literal["done", "invalid", "cancelled"]


RESUMED = "resumed with"
"""Among a run's versions: those that were others when it went on."""


IMPORTED = "imported from"
"""Among a run's versions: the tool that measured it, if that was not netdyno."""


NAMELESS = ("none", "yes", "no", "on", "off", "true", "false")
"""Values of an axis that say nothing without its name."""


def name_choice(axis: str, value: str) -> str:
    """What a value of an axis is called among others: `ipv4`, and with its axis what says nothing by itself,
    `routes 1000`, `service none`."""
    return f"{axis} {value}" if value in NAMELESS or value.isdigit() else value


@dataclass(frozen=True)
class RunHead:
    """What is known of a run before its first case."""

    name: str
    """Short name of the plan, as in the folder's: `asr9006`."""
    title: str
    plan: str
    """The plan file's text."""
    plan_path: str
    lab: str
    """The lab file's text; empty if the plan holds its lab."""
    scale: Fraction
    """Every duration of the plan was multiplied by this; 1: none was."""
    only: Mapping[str, str]
    """Values of the matrix that were chosen with `--only`; empty: all of it was run."""
    seed: int
    versions: Mapping[str, str]
    """netdyno, engine, python, sqlite, kernel, cpu; `RESUMED`, if the run went on with others; `IMPORTED`, if
    another tool measured it."""
    overrides: tuple[str, ...] = ()
    """Values that were put into the plan with `--set`, `traffic.64b.size=128B`, in their order."""


@dataclass(frozen=True)
class CaseHead:
    """What is known of a case before it runs."""

    number: int
    """From 0, in the order of the matrix."""
    name: str
    axes: Mapping[str, str]
    """Axis of the matrix to value, in the plan's order: `{"forwarding": "ipv4", ...}`."""
    kind: str
    """`emulated/asr9006`."""
    kind_title: str
    """`emulated Cisco ASR9006`."""
    emulated: bool
    settings: Mapping[str, str]
    method: str
    parameters: str
    """The method's parameters, JSON."""
    seed: int
    repeat: int = 1
    """From 1, of the cases of one name."""


@dataclass(frozen=True)
class Configured:
    """The configuration of a device for a case. text: as entered. diff: the lines that it changed. version:
    of the device's software. name: of the template."""

    text: str
    diff: str
    version: str
    name: str = ""


@dataclass(frozen=True)
class CaseWiring:
    """What is known of a case once its lab is wired."""

    clock: Literal["virtual", "real"]
    situation: Situation
    enforced_rate: bool
    """False: the line rate is declared and nothing enforces it (veth)."""
    notes: tuple[Reason, ...]
    session: str
    """The session spec, JSON."""
    proven: Proven | None = None
    """What a calibration proved of the tester with these ports and frames; None: nothing."""
    configuration: Configured | None = None
    """What was entered on the device; None: nothing."""
    hosts: tuple[HostFacts, ...] = ()
    """Each host, of a case whose ports are on several; empty: not noted."""


@dataclass(frozen=True)
class StoredCalibration:
    """A calibration that cases of the run rest on, copied here whole."""

    id: str
    document: str
    """JSON (netdyno.calibration.document)."""


@dataclass(frozen=True)
class StoredVerdict:
    """The limit of a value of one scope (a stream's name, or `sum`)."""

    scope: str
    limit: Limit
    reason: Reason
    value: str = ""
    """The name of the value, one of those that the case's result has judged. Empty: the first of them."""


@dataclass(frozen=True)
class StoredGoal:
    """A goal of the plan, judged on one case. passed is None if it could not be judged."""

    name: str
    passed: bool | None
    reason: Reason


@dataclass(frozen=True)
class StoredTrial:
    """One trial as it was asked for and as it went. An invalid one was repeated: see `attempt`."""

    case: int
    number: int
    attempt: int
    name: str
    state: TrialState
    segments: tuple[Segment, ...]
    spec: str
    """The trial spec the engine was given, JSON."""
    result: Outcome
    started: datetime
    ended: datetime


COMMANDS = ("sudo ", "ip ", "ethtool ", "pip ")


@dataclass(frozen=True)
class CaseError:
    """Why a case has no result. code: as `NetdynoError.code`."""

    code: str
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        if not self.hint:
            return self.message
        # A command is entered as it is.
        is_command = self.hint.startswith(COMMANDS)
        first = self.hint[:1] if is_command else self.hint[:1].upper()
        return f"{self.message.rstrip('.')}. {first}{self.hint[1:]}"


@dataclass(frozen=True)
class StoredCase:
    """One case of the matrix. `trials` of a run reads its trials."""

    head: CaseHead
    state: CaseState
    wiring: CaseWiring | None
    """None until the lab of the case was wired."""
    result: Result | None
    """None until the method has ended."""
    verdicts: tuple[StoredVerdict, ...] = ()
    """Those on the first headline come first."""
    goals: tuple[StoredGoal, ...] = ()
    error: CaseError | None = None
    started: datetime | None = None
    ended: datetime | None = None

    def verdict(self, scope: str, value: str = "") -> StoredVerdict | None:
        """The verdict on a value of one scope, if there is one; on the first headline if none is named."""
        return self._verdict_on.get((scope, value))

    @cached_property
    def _verdict_on(self) -> Mapping[tuple[str, str], StoredVerdict]:
        """By scope and value, and the first of each scope by no value."""
        backwards = self.verdicts[::-1]
        of_value = {(one.scope, one.value): one for one in backwards}
        return of_value | {(one.scope, ""): one for one in backwards}


@dataclass(frozen=True)
class Note:
    """What somebody remarked on a run. at: when, UTC, ISO 8601."""

    at: str
    text: str


@dataclass(frozen=True)
class Notes:
    """What people added to a run, beside its record. unreadable: lines that say nothing."""

    tags: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    unreadable: int = 0


@dataclass(frozen=True)
class RunSummary:
    """One line of `netdyno list`."""

    folder: Path
    title: str
    state: RunState
    started: datetime
    ended: datetime | None
    cases: int
    done: int
    failed: int
    limits: Mapping[str, int] = field(default_factory=dict)
    """Limit to number of cases: of all streams together, or of the only one."""
    goals: Mapping[bool | None, int] = field(default_factory=dict)
    """How many were met (True), missed (False) and not decided (None), of all cases."""
    notes: Notes = Notes()


@dataclass(frozen=True)
class UnreadableRun:
    """A folder with a record that cannot be read: damaged, of a newer netdyno, or none of ours."""

    folder: Path
    reason: str
