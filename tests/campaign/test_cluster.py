"""Campaigns on a Dask cluster: the record of one without, whichever workers are lost."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from methodlab import text
from netdyno.campaign import run as runner
from netdyno.campaign.cluster import check_address
from netdyno.campaign.events import Measured
from netdyno.campaign.reasons import REASONS
from netdyno.errors import NetdynoError
from netdyno.plan import parse
from netdyno.plan.matrix import Case
from netdyno.reports import render
from netdyno.reports.model.from_store import view
from netdyno.store import open_run

pytest.importorskip("distributed", reason="wants the extra `hosts`")

CASES = 12
PLAN = text(
    "throughput: {duration: 20ms, width: 1%}",
    kind="emulated/asr1000-esp20",
    matrix="direction: [uni, bidir]",
)
PLAN += f"repeat: {{count: {CASES // 2}, seeds: each}}\n"


def list_workers() -> list[int]:
    """Processes that a cluster of this process started: those below it that run cases."""
    found = []
    for name in Path("/proc").iterdir():
        if name.name.isdigit():
            try:
                parent = (name / "stat").read_text().rpartition(")")[2].split()[1]
                words = (name / "cmdline").read_bytes()
            except OSError:
                continue
            if int(parent) == os.getpid() and b"spawn_main" in words:
                found.append(int(name.name))
    return found


class Watcher:
    """Kills a worker, a seeded one, whenever one of these many cases has ended."""

    def __init__(self, kills: int = 0) -> None:
        self.kills = kills
        self.killed: list[int] = []
        self.measured: list[int] = []
        self.random = random.Random(7)

    def begin(self, plan: Any, cases: Sequence[Case], already: int) -> None: ...
    def tick(self) -> None: ...
    def stopping(self, *, is_configured: bool) -> None: ...
    def end(self) -> None: ...

    def event(self, event: Any) -> None:
        if not isinstance(event, Measured):
            return
        self.measured.append(event.case)
        workers = list_workers()
        if len(self.killed) < self.kills and workers:
            self.killed.append(self.random.choice(sorted(workers)))
            os.kill(self.killed[-1], signal.SIGKILL)


def record(folder: Path) -> Any:
    with open_run(folder, REASONS) as stored:
        return json.loads(render([view(stored)], "json"))


DIFFERENT = {"run", "started", "ended"}
"""Fields that two runs of a plan in virtual time do not share: its name, and times."""


def differences(one: Any, other: Any, at: str = "") -> set[str]:
    """The fields in which two records differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return {
            place for name in one for place in differences(one[name], other[name], f"{at}.{name}".lstrip("."))
        }
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return {place for pair in zip(one, other, strict=True) for place in differences(*pair, f"{at}[]")}
    return set() if one == other else {at}


def test_record_of_a_cluster_that_loses_workers_equals_the_local_one(tmp_path: Path) -> None:
    here = runner.run(parse(PLAN), tmp_path / "here", Watcher(), runner.Selection())
    watcher = Watcher(kills=3)
    there = runner.run(parse(PLAN), tmp_path / "there", watcher, runner.Selection(), on="local:2")
    assert (here.exit_code, there.exit_code) == (0, 0)
    assert len(watcher.killed) == 3
    assert sorted(watcher.measured) == list(range(CASES))
    assert differences(record(here.folder), record(there.folder)) == DIFFERENT
    assert not list_workers()


@pytest.mark.parametrize(
    "where",
    ["local:0", "local:", "local:x", "scheduler:8786", "tcp://scheduler", "http://a:1", "tcp://a:99999"],
)
def test_place_that_is_no_cluster_is_refused(where: str) -> None:
    assert check_address(where)


def test_scheduler_that_does_not_answer_ends_the_run_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netdyno.campaign.cluster.CONNECT_S", 0.5)
    with pytest.raises(NetdynoError) as caught:
        runner.run(parse(PLAN), tmp_path, Watcher(), runner.Selection(), on="tcp://127.0.0.1:9")
    assert caught.value.code == "host-unreachable"


def test_scheduler_that_others_can_reach_needs_tls(tmp_path: Path) -> None:
    with pytest.raises(NetdynoError) as caught:
        runner.run(parse(PLAN), tmp_path, Watcher(), runner.Selection(), on="tcp://192.0.2.9:8786")
    assert caught.value.code == "host-not-encrypted"


def test_cases_on_ports_stay_on_their_machine(tmp_path: Path) -> None:
    plan = parse(text("throughput: {}", kind="linux/router"))
    with pytest.raises(NetdynoError) as caught:
        runner.run(plan, tmp_path, Watcher(), runner.Selection(), on="local:2")
    assert caught.value.code == "conflict"
