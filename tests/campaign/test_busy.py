"""When a busy machine is reported: by readers of CPU time that a test hands in, without any real load."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import methodlab
import pytest
from netdyno.campaign import busy
from netdyno.campaign import run as runner
from netdyno.campaign.busy import BusyMachine, Process, Usage
from netdyno.campaign.reasons import REASONS
from netdyno.plan import parse
from netdyno.store import open_run

OWN, CHILD, OTHER, ELSEWHERE = 100, 101, 200, 201
IDLE = Usage(
    {0: 1000, 1: 1000, 2: 1000},
    {
        OWN: Process("netdyno", 1, 50, 0),
        CHILD: Process("worker", OWN, 50, 1),
        OTHER: Process("make", 1, 300, 1),
        ELSEWHERE: Process("database", 1, 300, 2),
    },
)
WINDOW = 50
"""Ticks of a core in half a second."""


def after(**used: int) -> Usage:
    """Half a second later: ticks that each process has used since, by name."""
    processes = {
        pid: replace(one, ticks=one.ticks + used.get(one.name, 0)) for pid, one in IDLE.processes.items()
    }
    cores = dict(IDLE.cores)
    for one in processes.values():
        cores[one.core] += used.get(one.name, 0)
    return Usage(cores, processes)


def found(then: Usage, cores: frozenset[int] = frozenset({0, 1})) -> BusyMachine | None:
    readings = iter((IDLE, then))
    slept: list[float] = []
    reason = busy.find_busy_machine(
        lambda: next(readings), slept.append, cores=cores, own=OWN, ticks_per_s=2 * WINDOW
    )
    assert slept == [busy.WINDOW_S]
    return reason


def test_busy_machine_with_a_loaded_core_names_the_process() -> None:
    assert found(after(make=45, netdyno=10)) == BusyMachine(90, "make", OTHER, 90)


def test_busy_machine_at_a_fifth_of_a_core_is_not_reported() -> None:
    assert found(after(make=WINDOW // 5)) is None
    assert found(after(make=WINDOW // 5 + 1)) is not None


def test_busy_machine_with_own_load_only_is_not_reported() -> None:
    assert found(after(netdyno=50, worker=50)) is None


def test_busy_machine_with_load_on_other_cores_is_not_reported() -> None:
    assert found(after(database=50)) is None
    assert found(after(database=50), cores=frozenset({1, 2})) == BusyMachine(100, "database", ELSEWHERE, 100)


def test_busy_machine_with_short_processes_names_none() -> None:
    cores = {**IDLE.cores, 0: IDLE.cores[0] + 40}
    assert found(Usage(cores, IDLE.processes)) == BusyMachine(80, "", 0, 0)


def test_busy_machine_with_a_new_process_counts_all_it_used() -> None:
    then = after(make=20)
    processes = {**then.processes, 300: Process("cc1", OTHER, 25, 0)}
    then = Usage({**then.cores, 0: then.cores[0] + 25}, processes)
    assert found(then) == BusyMachine(90, "cc1", 300, 50)


def test_busy_machine_without_proc_is_unknown(tmp_path: Path) -> None:
    assert busy.find_busy_machine(lambda: busy.read_usage(tmp_path / "none"), lambda _: None) is None


def test_usage_of_a_process_with_brackets_in_its_name_is_read(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  9 9 9 9 9 9 9 9 0 0\ncpu1 5 1 4 1000 70 2 3 99 0 0\nintr 1\n")
    (tmp_path / "42").mkdir()
    fields = ["S", "7", *["0"] * 9, "11", "12", *["0"] * 23, "1", "0"]
    (tmp_path / "42" / "stat").write_text(f"42 (a) b (c) {' '.join(fields)}\n")
    assert busy.read_usage(tmp_path) == Usage({1: 15}, {42: Process("a) b (c", 7, 23, 1)})


@pytest.mark.parametrize(("clock", "times"), [("real", 1), ("virtual", 0)])
def test_busy_machine_is_looked_for_once_in_real_time_only(
    clock: str, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked: list[BusyMachine] = []

    def busy_machine() -> BusyMachine:
        asked.append(BusyMachine(90, "make", OTHER, 90))
        return asked[-1]

    monkeypatch.setattr(runner.busy, "find_busy_machine", busy_machine)
    monkeypatch.setattr(runner, "_clock", lambda _: clock)
    plan = parse(methodlab.text("throughput: {duration: 10ms, width: 10%}"))
    outcome = methodlab.run_here(plan, tmp_path)
    warnings = [
        line
        for line in capfd.readouterr().err.splitlines()
        if str(BusyMachine(90, "make", OTHER, 90)) in line
    ]
    assert (len(asked), len(warnings)) == (times, times)
    with open_run(outcome.folder, REASONS) as stored:
        kept = {note.code for case in stored.cases if case.wiring for note in case.wiring.notes}
    assert (BusyMachine.code in kept) == bool(times), "a report says so as well"
