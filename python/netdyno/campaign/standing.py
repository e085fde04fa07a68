"""Finds the calibration of a case, and describes how its ports were opened."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netdyno.calibration import Proven, by_host, inventory, shelf, traffic
from netdyno.campaign.lab_reasons import CalibrationInvalid, OpenedPorts, PortsNotCalibrated, ResumedOtherwise
from netdyno.methods import METHODS
from netdyno.plan import STDIN
from netdyno.ports.threads import cores_of, workers_of
from netdyno.values.load import FRAMES
from netdyno.values.reason import Reason

if TYPE_CHECKING:
    from netdyno.calibration.by_host import HostFacts
    from netdyno.campaign.job import Job
    from netdyno.devices import Wiring
    from netdyno.testers.tester import PortInfo
    from netdyno.values.records import CaseWiring


def find_proof(job: Job, wiring: Wiring, now: Mapping[str, str]) -> tuple[Proven | None, tuple[Reason, ...]]:
    """The calibration for the case's ports and traffic, and notes on it; None: never calibrated.

    now: what a calibration of these ports would rest on.
    """
    if wiring.clock == "virtual" or not _sends_frames(job):
        return None, ()
    proven = proven_for(job, wiring, now)
    if proven is None:
        return None, (PortsNotCalibrated(_command(job), _find_cables(job, wiring)),)
    return _judge_proof(job, wiring, proven)


def _sends_frames(job: Job) -> bool:
    """Only a tester of frames can be calibrated."""
    return METHODS[job.plan.method].load_class is FRAMES


def find_proof_of_hosts(
    job: Job, wiring: Wiring, now: Mapping[str, HostFacts], opened: Sequence[PortInfo]
) -> tuple[Proven | None, tuple[Reason, ...]]:
    """As `find_proof`, of ports on several hosts: the least of what each host is calibrated for.

    now: of each host, before its ports were opened.
    """
    if not _sends_frames(job):
        return None, ()
    found, missing = {}, []
    for host, share in by_host.shares_of(wiring).items():
        infos = [opened[number] for number in share.numbers]
        basis = {**now[host].basis, **inventory.describe_open_ports(share, infos)}
        key = traffic.key(job.case, share, verify=job.plan.trial.verify)
        proven = shelf.find_proven(job.calibrations, now[host].ports, key, basis)
        if proven is None:
            missing.append(host)
        elif proven.expired is not None and host:
            found[host] = replace(proven, expired=f"on host `{host}` {proven.expired}")
        else:
            found[host] = proven
    if missing:
        return None, (PortsNotCalibrated(_command(job), _find_cables(job, wiring), tuple(missing)),)
    return _judge_proof(job, wiring, by_host.find_least(found))


def _judge_proof(job: Job, wiring: Wiring, proven: Proven) -> tuple[Proven | None, tuple[Reason, ...]]:
    """Whether a case may rest on a calibration, and notes on it."""
    if proven.expired is not None:
        cables = _find_cables(job, wiring)
        return proven, (CalibrationInvalid(proven.id, proven.expired, _command(job), cables),)
    if job.done:
        both = _proven_before(job.begun, wiring, proven)
        if both is None:
            return None, (ResumedOtherwise(len({trial.number for trial in job.done})),)
        proven = both
    old = shelf.age_note(proven)
    return proven, () if old is None else (old,)


def _command(job: Job) -> str:
    """What calibrates the ports of a plan; it names the run that has the plan, where no file does."""
    plan = job.plan
    if job.run and plan.file != STDIN and not Path(plan.file).exists():
        return f"netdyno calibrate {shlex.quote(os.path.relpath(job.run))}"
    return f"netdyno calibrate {plan.words}"


def _proven_before(begun: CaseWiring | None, wiring: Wiring, proven: Proven) -> Proven | None:
    """What covers the trials of an earlier run as well: the lower of its calibration and of this one.

    None: it had other ports or threads, or no calibration that held then.
    """
    if begun is None or begun.proven is None or not begun.proven.holds:
        return None
    if _describe_session(json.loads(begun.session)) != _describe_session(wiring.session):
        return None
    return min(begun.proven, proven, key=lambda one: one.max_fps or 0)


def _describe_session(session: Mapping[str, Any]) -> tuple[object, ...]:
    """The ports of a session and its threads."""
    threads = json.dumps(session.get("hosts", {}).get("threads"), sort_keys=True)
    return inventory.ports_of(session), workers_of(session), cores_of(session), threads


def proven_for(job: Job, wiring: Wiring, now: Mapping[str, str] | None = None) -> Proven | None:
    """The calibration for the case's ports and traffic. now: as in `find_proof`; None: ports not open yet."""
    key = traffic.key(job.case, wiring, verify=job.plan.trial.verify)
    now = inventory.basis(wiring, job.versions) if now is None else now
    return shelf.find_proven(job.calibrations, inventory.ports(wiring), key, now)


def _find_cables(job: Job, wiring: Wiring) -> tuple[tuple[str, ...], ...]:
    """The ports that the user has to join for a calibration, in pairs; none: netdyno joins them itself."""
    kind, ports = job.plan.kind, wiring.own.session["ports"]
    if kind.joins_itself(job.plan.lab.links) or not all(one["backend"].get("interface") for one in ports):
        return ()
    shares = by_host.shares_of(wiring).values() if "hosts" in wiring.session else [wiring]
    return tuple(
        tuple(port.name for port in share.ports[first : first + 2])
        for share in shares
        for first in range(0, len(share.ports), 2)
    )


def ports_note(wiring: Wiring, opened: Sequence[PortInfo]) -> tuple[Reason, ...]:
    """The note on how real ports were opened; none if no port has details."""
    detailed = tuple((port.name, port.backend, port.detail) for port in opened if port.detail)
    return (OpenedPorts(detailed),) if detailed and wiring.clock == "real" else ()
