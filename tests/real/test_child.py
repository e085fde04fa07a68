"""A case's process that dies or cannot start: how it ended, what it said last, and what helps."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from campaigns import ENVIRONMENT, finish, wait_for, write_plan
from netdyno.campaign.reasons import REASONS
from netdyno.devices.linux import leftovers
from netdyno.store import open_run

pytestmark = pytest.mark.paired

ONE = """\
title: One case
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/cross-connect}}
  links:
    - {endpoints: ["tester:west", "dut:a"], rate: 10Gbps}
    - {endpoints: ["tester:east", "dut:b"], rate: 10Gbps}
traffic: {64b: {size: 64B, flows: 64}}
matrix: {profile: [64b], direction: [uni]}
method: {throughput: {duration: 10ms, width: 1%}}
trial: {sample: 1ms, settle: 0s, drain: 0s}
"""


def death(folder: Path, **environment: str) -> tuple[str, str]:
    """What is reported of a case whose process dies so, and the hint."""
    code, run, err = finish("run", write_plan(folder, ONE), folder, **environment)
    assert code == 3, err
    with open_run(run, REASONS) as stored:
        (case,) = stored.cases
    assert case.state == "failed"
    assert case.error is not None
    assert case.error.code == "process-ended"
    return case.error.message, str(case.error.hint)


def test_an_exit_tells_its_code_and_the_last_words(tmp_path: Path) -> None:
    why, _ = death(tmp_path, FAKE_CRASH="1", FAKE_LAST_WORDS="libfoo.so.1: cannot open shared object file")
    assert "exit code 7" in why
    assert "it last said: libfoo.so.1: cannot open shared object file" in why


def test_last_words_of_an_allocation_that_failed_name_the_memory_limit(tmp_path: Path) -> None:
    why, hint = death(tmp_path, FAKE_CRASH="1", FAKE_LAST_WORDS="memory allocation of 4096 bytes failed")
    assert "exit code 7" in why
    assert "ulimit -v" in hint


@pytest.mark.parametrize(
    ("number", "words"),
    [(signal.SIGKILL, "for want of memory"), (signal.SIGBUS, "/dev/shm"), (signal.SIGXCPU, "ulimit -t")],
)
def test_a_signal_is_named_with_what_sends_it(tmp_path: Path, number: signal.Signals, words: str) -> None:
    why, hint = death(tmp_path, FAKE_KILLED_BY=str(int(number)))
    assert f"by signal {number.name}" in why
    assert words in hint


KILLED = ONE.replace("emulated/cross-connect", "linux/router").replace(
    "10ms, width", "60s, maximum: 1kpps, width"
)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: namespaces without a user namespace around")
@pytest.mark.parametrize("whom", ["the parent", "the child", "both"])
def test_killed_in_traffic_it_leaves_nothing_for_as_long_as_a_drain(tmp_path: Path, whom: str) -> None:
    """A drain of a minute is not waited for when there is nobody to tell."""
    plan = write_plan(tmp_path, KILLED.replace("drain: 0s", "drain: 60s"))
    run = subprocess.Popen(
        [sys.executable, "-m", "netdyno", "run", str(plan), "--out", str(tmp_path), "--no-calibrate"],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(lambda: len({namespace(pid) for pid in below(run.pid)} - {None, namespace(run.pid)}) == 2)
        all_of_it = below(run.pid)
        (case,) = children_of(run.pid)
        if whom != "the child":
            run.kill()
        if whom != "the parent":
            os.kill(case, signal.SIGKILL)
        _, err = run.communicate(timeout=30)
    finally:
        run.kill()
    if whom == "the child":
        assert "by signal SIGKILL" in err
    # With its processes go the namespaces, and programs in receive paths, which a descriptor holds.
    wait_for(lambda: not any(alive(pid) for pid in all_of_it))


def alive(pid: int) -> bool:
    return leftovers.read_start_time(pid) is not None


def namespace(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None


def children_of(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def below(pid: int) -> list[int]:
    """The processes that descend from one."""
    children = children_of(pid)
    return [*children, *(deeper for child in children for deeper in below(child))]


@pytest.mark.skipif(os.getuid() != 0, reason="needs root: a plain user's limit counts all of its processes")
def test_process_limit_is_reported_and_the_run_goes_on(tmp_path: Path) -> None:
    """As nobody, who may have no more processes."""
    script = (
        "import os, resource, sys, multiprocessing.popen_fork;"
        "from netdyno.campaign.workers import Workers; from netdyno.campaign.job import Job;"
        "from netdyno.plan import load; import fake_engine;"
        "from netdyno.plan.matrix import cases;"
        "p = load(sys.argv[1]);"
        "resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)); os.setresuid(54321, 54321, 54321);"
        "jobs = [Job(p, case, fake_engine.ENTRY) for case in cases(p)] * 2\n"
        "with Workers(1, fresh=True) as workers:\n"
        "    for event in workers.run(jobs): print(event.error.message, '|', event.error.hint)\n"
    )
    readable = tmp_path / "plan.yaml"
    readable.write_text(ONE)
    done = subprocess.run(
        [sys.executable, "-c", script, str(readable)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.count("no process could be started for this case") == 2, done.stderr
    assert "ulimit -u" in done.stdout
