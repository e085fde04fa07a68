"""Small campaigns on the fake engine.

Also a program: `python campaigns.py run PLAN OUT` and `python campaigns.py resume FOLDER`. It prints the
outcome's exit code and folder. CAMPAIGN_ENGINE names another engine than the fake one.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import TYPE_CHECKING, Any

import netdyno

if TYPE_CHECKING:
    from netdyno.campaign.run import Outcome

SEARCH = """\
title: A small search
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/asr9006}}
  links:
    - {endpoints: ["tester:west", "dut:Te0/1/0/0"], rate: 10Gbps}
    - {endpoints: ["tester:east", "dut:Te0/2/0/0"], rate: 10Gbps}
traffic:
  64b: {size: 64B, flows: 64}
  512b: {size: 512B, flows: 64}
matrix:
  forwarding: [l2-xconnect, ipv4]
  profile: [64b, 512b]
  direction: [uni, bidir]
method: {throughput: {duration: 10ms, width: 1%}}
trial: {sample: 1ms, settle: 0s, drain: 0s}
"""

TWO = SEARCH.replace("[l2-xconnect, ipv4]", "[ipv4]").replace("[64b, 512b]", "[64b]")
"""Two cases, one of two streams."""

ONE = TWO.replace("[uni, bidir]", "[uni]")
"""A single case: one worker to start."""


class _Environment(Mapping[str, str]):
    """That of programs that tests start: this process's own, now, with the folders of netdyno and of this."""

    def _now(self) -> dict[str, str]:
        folders = (Path(__file__).parent, Path(netdyno.__file__).parent.parent)
        path = [*map(str, folders), os.environ.get("PYTHONPATH", "")]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}

    def __getitem__(self, name: str) -> str:
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())


ENVIRONMENT = _Environment()


def write_plan(folder: Path, text: str = SEARCH) -> Path:
    """The plan as a file."""
    path = folder / "small.yaml"
    path.write_text(text)
    return path


PATIENCE_S = 120


@contextmanager
def served_router(folder: Path, *settings: str) -> Iterator[None]:
    """An emulated router in a process of its own, with memifs `west.sock` and `east.sock` in a folder."""
    ports = [option for name in ("west", "east") for option in ("--memif", f"{name}={folder / name}.sock")]
    chosen = [option for setting in settings for option in ("--setting", setting)]
    process = subprocess.Popen(
        [sys.executable, "-m", "netdyno", "dut", "serve", "emulated/router", *ports, *chosen],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        for name in ("west", "east"):
            assert process.stderr.readline().startswith(f"{name} listens at")
        yield
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE_S)


def start(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    """The program, in a session of its own so that a signal can be sent to all of it."""
    return subprocess.Popen(
        [sys.executable, __file__, *map(str, arguments)],
        env={**ENVIRONMENT, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(*arguments: object, **environment: str) -> tuple[int, Path, str]:
    """Exit code, folder and stderr of the same in this process, which has imported all."""
    from unittest.mock import patch

    err = io.StringIO()
    with patch.dict(os.environ, environment), redirect_stderr(err):
        outcome = perform(*map(str, arguments))
    return outcome.exit_code, outcome.folder, err.getvalue()


def wait_for(condition: object, seconds: float = 120.0) -> None:
    """Waits until a condition holds."""
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.005)


def is_gone(group: int) -> bool:
    """Whether no process of a session is left."""
    try:
        os.killpg(group, signal.SIG_DFL)
    except ProcessLookupError:
        return True
    return False


def essence(folder: Path) -> list[Any]:
    """All of a run but times and versions."""
    from netdyno.store import open_run

    with open_run(folder) as run:
        return [
            (
                case.head,
                case.state,
                case.wiring,
                case.result,
                case.verdicts,
                [
                    (trial.number, trial.attempt, trial.state, trial.spec, trial.result)
                    for trial in run.trials(case.head.number)
                ],
            )
            for case in run.cases
        ]


def perform(what: str, *arguments: str) -> Outcome:
    """Runs a plan in a folder, or resumes the run of a folder."""
    # Here, for the workers of the program import this file and have no use for them.
    from netdyno.campaign import run as runner
    from netdyno.cli import live
    from netdyno.plan import load
    from netdyno.testers import TESTERS

    watcher = live.watcher()
    import fake_engine

    engine = os.environ.get("CAMPAIGN_ENGINE", "fake_engine")
    tester = fake_engine.ENTRY if engine == "fake_engine" else TESTERS["netdyno"]
    if what == "run":
        return runner.run(load(Path(arguments[0])), Path(arguments[1]), watcher, runner.Selection(), tester)
    return runner.resume(Path(arguments[0]), watcher, tester)


def main() -> None:
    """The program."""
    outcome = perform(*sys.argv[1:])
    print(outcome.exit_code, outcome.folder)


if __name__ == "__main__":
    main()
