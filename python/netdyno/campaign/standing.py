"""What the tester has proven of itself for a case, and what its ports turned out to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from netdyno.calibration import Proven, inventory, shelf, traffic

if TYPE_CHECKING:
    from netdyno.campaign.case import Job
    from netdyno.devices import Wiring
    from netdyno.testers.tester import PortInfo


def find_proof(job: Job, wiring: Wiring, now: Mapping[str, str]) -> tuple[Proven | None, tuple[str, ...]]:
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
    proven = proven_for(job, wiring, now)
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


def proven_for(job: Job, wiring: Wiring, now: Mapping[str, str] | None = None) -> Proven | None:
    """now: as in `standing`, unless the ports are not open yet."""
    key = traffic.key(job.case, verify=job.plan.trial.verify)
    now = inventory.basis(wiring, job.versions) if now is None else now
    return shelf.find_proven(job.calibrations, inventory.ports(wiring), key, now)


def ports_note(wiring: Wiring, opened: Sequence[PortInfo]) -> tuple[str, ...]:
    """What the ports turned out to be, where there is anything to say; a sentence."""
    told = [f"`{port.name}` is {port.backend}: {port.detail}" for port in opened if port.detail]
    return (f"{'; '.join(told)}.",) if told and wiring.clock == "real" else ()
