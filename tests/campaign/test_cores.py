"""Who is not the tester stays off its cores while it measures."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest
from netdyno.campaign import workers
from netdyno.campaign.events import Failed
from netdyno.ports.threads import keep_to, kept_to, spare_cores
from netdyno.values.records import CaseError

ALL = frozenset(os.sched_getaffinity(0))
LAST = max(ALL)

needs_two = pytest.mark.skipif(len(ALL) < 2, reason="there is one core")


def session(cores: list[int], workers: int = 1, clock: str = "real") -> dict[str, Any]:
    return {"clock": clock, "workers": workers, "cores": cores}


@needs_two
def test_spare_are_the_cores_of_neither_tester_nor_device() -> None:
    assert spare_cores(session([LAST])) == ALL - {LAST}
    # If there is no other one, that of the device rather than that of the tester.
    both = [LAST, *sorted(ALL - {LAST})]
    assert spare_cores(session(both)) == ALL - {LAST}
    assert spare_cores(session(both, len(both))) == ALL
    assert spare_cores(session([])) == ALL
    assert spare_cores(session([LAST], clock="virtual")) == ALL


@needs_two
def test_thread_is_elsewhere_for_a_while_and_comes_back() -> None:
    with kept_to(ALL - {LAST}):
        assert os.sched_getaffinity(0) == ALL - {LAST}
    assert os.sched_getaffinity(0) == ALL


@needs_two
def test_worker_may_run_on_a_core_its_parent_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_case(job: Any, emit: Any, stopping: Any) -> None:
        emit(Failed(1, CaseError("cores", " ".join(map(str, sorted(os.sched_getaffinity(0)))))))

    job: Any = SimpleNamespace(case=SimpleNamespace(number=1))
    monkeypatch.setattr(workers, "run_case", run_case)
    made = workers.Workers(1, fresh=True)
    with made, kept_to():
        keep_to(ALL - {LAST})
        (event,) = made.run([job])
    assert isinstance(event, Failed)
    assert event.error.message == " ".join(map(str, sorted(ALL)))
