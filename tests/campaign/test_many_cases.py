"""What a case costs does not grow with the number of cases in its plan."""

from __future__ import annotations

from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

import fake_engine
import pytest
from netdyno.campaign import workers
from netdyno.campaign.case import run_case
from netdyno.campaign.events import Event, Failed, Measured
from netdyno.campaign.job import Job
from netdyno.plan import matrix, parse
from netdyno.values.records import CaseError

PLAN = """
title: many
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: emulated/router}}}}
  links:
    - {{endpoints: ["tester:west", "dut:p0"], rate: 1Gbps}}
    - {{endpoints: ["tester:east", "dut:p1"], rate: 1Gbps}}
traffic: {{{profiles}}}
matrix: {{direction: [uni]}}
method: {{sweep: {{loads: [50%], duration: 1ms}}}}
"""


def list_jobs(count: int) -> list[Job]:
    """The jobs of a plan of so many profiles."""
    plan = parse(PLAN.format(profiles=", ".join(f"p{number}: {{size: 64B}}" for number in range(count))))
    found = matrix.cases(plan)
    return [Job(plan, case, fake_engine.ENTRY, served=found) for case in found]


def test_case_of_a_large_plan_expands_no_other_case(monkeypatch: pytest.MonkeyPatch) -> None:
    job = list_jobs(50)[0]
    expanded: list[str] = []
    monkeypatch.setattr(matrix, "case_seed", lambda _seed, name, _repeat=1: len(expanded.append(name) or ""))
    events: list[Event] = []
    run_case(job, events.append, lambda: False)
    assert isinstance(events[-1], Measured)
    assert expanded == []


def test_job_of_a_large_plan_is_sent_in_a_few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    send = Connection.send

    def send_counted(connection: Connection, value: Any) -> None:
        sent.append(len(ForkingPickler.dumps(value)))
        send(connection, value)

    def run_case(job: Job, emit: Any, stopping: Any) -> None:
        emit(Failed(job.case.number, CaseError("name", job.case.name)))

    monkeypatch.setattr(Connection, "send", send_counted)
    monkeypatch.setattr(workers, "run_case", run_case)
    with workers.Workers(1, fresh=False) as made:
        found = [event for event in made.run(list_jobs(50)) if isinstance(event, Failed)]
    assert [event.error.message for event in found] == [f"uni / p{number}" for number in range(50)]
    assert len(sent) == 50
    assert max(sent) < 50
