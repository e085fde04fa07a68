"""A case to run, as it is given to a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from netdyno.calibration import Calibration
from netdyno.plan import Plan
from netdyno.plan.matrix import Case
from netdyno.testers import TesterEntry
from netdyno.values.reason import Reason
from netdyno.values.records import CaseWiring, StoredTrial


@dataclass(frozen=True)
class Job:
    """A case to run. `done`: its trials of an earlier, killed run, in order."""

    plan: Plan
    case: Case
    tester: TesterEntry
    done: tuple[StoredTrial, ...] = ()
    begun: CaseWiring | None = None
    """What was known of the case when these were made."""
    calibrations: tuple[Calibration, ...] = ()
    """Those kept beside the runs, of whatever ports."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """What the run is made with."""
    notes: tuple[Reason, ...] = ()
    """On the machine, seen before the first case: kept with those on the lab."""
    run: str = ""
    """The folder of the run: it stands beside the undo of a device that a kill leaves configured."""
    served: tuple[Case, ...] = ()
    """All cases of the plan, which a tester may serve by the same session; none: only its own."""
