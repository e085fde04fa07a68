"""Storms of Ctrl-C over the real command, and what must be true once they have passed."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from campaigns import ENVIRONMENT, wait_for
from netdyno.campaign.reasons import REASONS
from netdyno.devices.linux import leftovers
from netdyno.store import FILE, StoreError, open_run

COUNT = int(os.environ.get("NETDYNO_STORMS", "2"))
SEED = int(os.environ.get("NETDYNO_FUZZ_SEED", "14"))
LIMIT_S = 90
"""A storm that has not ended after this long has met a command that hangs."""

PAUSES_S = (0.0, 0.002, 0.02, 0.2)
"""Between one Ctrl-C and the next."""

Trials = Mapping[tuple[int, int, int], str]


class Seen:
    """What belonged to a command while it ran: processes with their start times, namespaces that it made."""

    def __init__(self) -> None:
        """What is there now is not the command's."""
        self.before = set(_namespaces().values())
        self.processes: set[tuple[int, int]] = set()
        self.namespaces: set[str] = set()

    def look(self, pid: int) -> None:
        """Adds a process and all that descend from it."""
        for one in (pid, *_below(pid)):
            started, namespace = leftovers.read_start_time(one), _namespace(one)
            if started is not None and namespace is not None:
                self.processes.add((one, started))
                self.namespaces |= {namespace} - self.before

    def left(self) -> list[str]:
        """Those processes that are still alive, and all processes in one of those namespaces."""
        alive = [f"process {pid}" for pid, start in self.processes if leftovers.read_start_time(pid) == start]
        within = [f"process {pid}, {name}" for pid, name in _namespaces().items() if name in self.namespaces]
        return [*alive, *within]


@dataclass(frozen=True)
class Passed:
    """How a command ended in a storm. folder: of its run; None if there is none that has a record."""

    code: int
    err: str
    folder: Path | None
    known: Trials
    """Trials that a reader saw before the first Ctrl-C."""


@contextmanager
def command(
    *arguments: object, prefix: Sequence[str] = (), **environment: str
) -> Iterator[subprocess.Popen[str]]:
    """`netdyno run`, in a session of its own; killed at the end of the block, should it still be there."""
    process = subprocess.Popen(
        [*prefix, sys.executable, "-m", "netdyno", "run", "--no-calibrate", *map(str, arguments)],
        env={**ENVIRONMENT, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def finish(*arguments: object, prefix: Sequence[str] = (), **environment: str) -> tuple[int, str]:
    """Exit code and stderr of `netdyno run` that nothing interrupts."""
    with command(*arguments, prefix=prefix, **environment) as process:
        _, err = process.communicate(timeout=LIMIT_S)
    assert "Traceback" not in err, err
    return process.returncode, err


def pass_storm(
    plan: Path,
    runs: Path,
    chance: random.Random,
    wait_s: float,
    own_codes: Sequence[int] = (0,),
    prefix: Sequence[str] = (),
    **environment: str,
) -> Passed:
    """Runs a plan and sends Ctrl-C to all of its processes again and again, from `wait_s` on.

    own_codes: exit codes that the run may have if it is complete before the first Ctrl-C. Fails if the
    command hangs, shows a traceback, ends in another way than docs/reference.md says, loses a trial, or
    leaves a process or a namespace.
    """
    seen = Seen()
    with command(plan, "--out", runs, prefix=prefix, **environment) as process:
        end = time.monotonic() + wait_s
        while time.monotonic() < end and process.poll() is None:
            seen.look(process.pid)
            time.sleep(0.02)
        folder = _folder(runs)
        known = {} if folder is None else finished_trials(folder)
        end = time.monotonic() + LIMIT_S
        while process.poll() is None:
            assert time.monotonic() < end, "the command does not end"
            seen.look(process.pid)
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(chance.choice(PAUSES_S))
        _, err = process.communicate(timeout=LIMIT_S)
    assert "Traceback" not in err, err
    wait_for(lambda: not seen.left())
    passed = Passed(process.returncode, err, _folder(runs), known)
    _check_ending(passed, own_codes)
    assert passed.folder is not None or not runs.exists() or not any(runs.iterdir())
    return passed


def finished_trials(folder: Path) -> Trials:
    """The finished trials of a record and all of their outcomes, each read."""
    with open_run(folder, REASONS) as run:
        return {
            (trial.case, trial.number, trial.attempt): repr(trial.result)
            for case in run.cases
            for trial in run.trials(case.head.number)
            if trial.state == "done"
        }


def _check_ending(passed: Passed, own_codes: Sequence[int]) -> None:
    """The exit code, the last words and the record say the same."""
    if passed.folder is None:
        assert passed.code == 130, passed.err
        assert "interrupted: nothing was measured" in passed.err
        return
    with open_run(passed.folder, REASONS) as run:
        complete = all(case.state in ("done", "failed") for case in run.cases)
        assert run.state != "running"
    kept = finished_trials(passed.folder)
    assert passed.known.items() <= kept.items(), "a finished trial is lost"
    if passed.code != 130:
        # The first Ctrl-C came after the last word.
        assert complete, passed.err
        assert passed.code in own_codes, passed.err
        return
    said = re.search(r"^interrupted: .*?\b(\d+) trials? kept", passed.err, re.MULTILINE)
    assert said is not None, passed.err
    assert int(said[1]) == len(kept), passed.err
    assert ("the run is complete" in passed.err) == complete, passed.err


def _folder(runs: Path) -> Path | None:
    """The only run below a folder, if its record has begun."""
    found = [path for path in (runs.iterdir() if runs.exists() else ()) if (path / FILE).exists()]
    assert len(found) <= 1
    try:
        for folder in found:
            open_run(folder, REASONS).close()
    except StoreError:
        return None
    return found[0] if found else None


def _namespace(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None


def _namespaces() -> dict[int, str]:
    """The network namespace of each process of this machine."""
    everybody = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    return {pid: name for pid in everybody if (name := _namespace(pid)) is not None}


def _below(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [*children, *(deeper for child in children for deeper in _below(child))]
