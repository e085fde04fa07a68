"""A memif device in C that is not netdyno's own (tools/power): who is named when it does not read.

What a busy machine leaves the tester is not asserted: a condition that was not met is said by its code.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "tools" / "power" / "memif_device.c"
CONDITIONS = {
    *("taken-late", "core-shared", "long-pause", "receive-ring-full", "refused-load-unproven"),
    *("ring-size-unproven", "peer-stopped", "peer-preempted", "tester-beside-peer", "core-interrupted"),
    *("held-back", "no-second-trial"),
}
HAD_ENOUGH_PPM = 900_000
"""With less of its core the tester itself may not have sent the load."""

PLAN = """\
title: a memif device that does not read fast enough
lab:
  nodes: {{tester: {{kind: netdyno, cores: [{core}]}}, dut: {{kind: external}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 1Gbps, backend: memif, socket: {socket}, id: 0}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 1Gbps, backend: memif, socket: {socket}, id: 1}}
traffic: {{64b: {{size: 64B, flows: 16}}}}
matrix: {{profile: [64b], direction: [uni]}}
method: {{sweep: {{loads: [20kpps, 100kpps], duration: 600ms}}}}
trial: {{settle: 50ms, drain: 100ms, retries: 0}}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("wants a C compiler (apt-get install gcc)")
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("tester and device poll, and this process may use one core only")
    made = tmp_path_factory.mktemp("device") / "memif_device"
    subprocess.run([compiler, "-O2", "-Wall", "-Werror", "-o", str(made), str(SOURCE)], check=True)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all runs: the first one calibrates, and the others find that."""
    return tmp_path_factory.mktemp("runs")


@contextmanager
def device(program: Path, core: int, *words: str) -> Iterator[subprocess.Popen[str]]:
    command = ["taskset", "-c", str(core), str(program), *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == "ready"
            yield process
        finally:
            process.kill()


@dataclass(frozen=True)
class Run:
    """A run of the plan. case: as the report in JSON has it. log: what the device says it did."""

    case: dict[str, Any]
    log: dict[str, Any]

    @property
    def trials(self) -> list[dict[str, Any]]:
        return [one for one in self.case["trials"] if one["state"] == "done"]

    @property
    def answer(self) -> tuple[str, dict[str, Any]]:
        """The limit of the loss-free load, and its reason."""
        value = next(one for one in self.case["values"] if one["value"] == "loss-free load")
        return value["limit"], value["reason"]


def run(program: Path, folder: Path, *fault: str) -> Run:
    """One run against the device with this fault."""
    device_core, core, *_ = sorted(os.sched_getaffinity(0))
    socket, plan, out = folder / "dut.sock", folder / "plan.yaml", folder / "runs"
    plan.write_text(PLAN.format(core=core, socket=socket))
    socket.unlink(missing_ok=True)
    before = set(out.glob("*-plan-*"))
    with device(program, device_core, str(socket), *fault) as process:
        netdyno("run", str(plan), "--out", str(out))
        process.terminate()
        said, _ = process.communicate(timeout=10)
    (made,) = set(out.glob("*-plan-*")) - before
    (case,) = json.loads(netdyno("report", str(made), "--as", "json"))["cases"]
    if "values" not in case:
        pytest.skip(f"the machine left the tester too little: {case.get('error')}")
    found = Run(case, json.loads(said))
    if any((one["health"].get("core_share_ppm") or 0) < HAD_ENOUGH_PPM for one in found.trials):
        pytest.skip("the machine left the tester less than 90 % of its core")
    return found


def netdyno(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "netdyno", *words], capture_output=True, text=True, timeout=120, check=False
    )
    return done.stdout


def streams(trials: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [stream for trial in trials for stream in trial["streams"]]


@pytest.mark.parametrize(
    "fault", [("slow-reader", "50000"), ("stopped-reader", "200", "300")], ids=lambda fault: fault[0]
)
def test_reader_that_is_slow_or_stops_is_never_the_testers(
    fault: tuple[str, ...], program: Path, folder: Path
) -> None:
    found = run(program, folder, *fault)
    limit, reason = found.answer
    assert limit in ("device", "inconclusive"), reason
    if limit == "device":
        assert reason["code"] == "device-refused"
        assert fault[0] == "slow-reader", "a stop may be another load's"
    elif reason["code"] == "peer-ring-full":
        assert reason["fields"]["missing"]["code"] in CONDITIONS
    refused = [one for one in streams(found.trials) if one.get("refused_frames")]
    for one in refused:
        assert one["offered_frames"] + one["refused_frames"] == one["intended_frames"]
    if fault[0] == "slow-reader":
        assert refused, "100 kpps are more than 50 kpps"
    # The device is the other witness: it read what was sent, and lost nothing.
    west = found.log["sides"][0]
    sent = sum(one["offered_frames"] for one in streams(found.case["trials"]))
    assert west["in"] + west["left"] >= sent
    assert west["faulty"] == west["bad"] == 0


def test_policer_that_reads_all_loses_frames_and_refuses_none(program: Path, folder: Path) -> None:
    found = run(program, folder, "policer", "50000", "100")
    limit, reason = found.answer
    assert limit in ("device", "inconclusive", "tester"), reason
    assert reason["code"] not in ("device-refused", "peer-ring-full")
    lost = sum(one["lost_frames"] for one in streams(found.case["trials"]))
    west, east = found.log["sides"]
    assert west["faulty"] > 0
    assert lost >= west["faulty"] - east["in"]


def test_device_that_forwards_all_is_not_limited(program: Path, folder: Path) -> None:
    found = run(program, folder, "forward")
    assert not any(one.get("refused_frames") for one in streams(found.trials))
    assert found.answer[0] != "device"


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("x",),
        ("@sock", "slow-reader"),
        ("@sock", "slow-reader", "0"),
        ("@sock", "policer", "10", "0"),
        ("@sock", "naps"),
    ],
)
def test_device_refuses_arguments_it_does_not_know(words: tuple[str, ...], program: Path) -> None:
    done = subprocess.run([str(program), *words], capture_output=True, timeout=10, check=False)
    assert done.returncode == 2
