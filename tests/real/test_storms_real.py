"""Storms of Ctrl-C while a lab stands: nothing of it is left, in the kernel or on the disk.

One of each kind for each ten in virtual time (tests/fuzz/test_storms.py).
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from campaigns import wait_for, write_plan
from netdyno.devices.linux import device, leftovers
from netdyno.store import open_run
from storms import COUNT, LIMIT_S, SEED, command, finish, finished_trials, pass_storm

pytestmark = [
    pytest.mark.paired,
    pytest.mark.skipif(os.getuid() != 0, reason="wants root: network namespaces, XDP programs"),
]

LINUX = """\
title: A Linux router
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 10Gbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 10Gbps}
traffic: {64b: {size: 64B, flows: 64}}
matrix: {profile: [64b], direction: [uni, bidir]}
method: {throughput: {duration: 100ms, maximum: 20kpps, width: 20%}}
trial: {sample: 10ms, settle: 20ms, drain: 50ms}
"""

CABLE = (
    LINUX.replace("linux/router", "external")
    .replace("A Linux router", "A cable")
    .replace("rate: 10Gbps}", "rate: 10Gbps, interface: west, backend: af_xdp}", 1)
    .replace("rate: 10Gbps}\n", "rate: 10Gbps, interface: east, backend: af_xdp}\n", 1)
)
"""Two ends of a veth pair that outlives the run: what a tester attaches to them would stay."""

OWN_CODES = (0, 3, 4)
"""Of a run in real time: all is measured, a busy machine spoiled trials, the tester was the limit."""

SPOILED = {"tester-preempted", "trial-invalid"}
"""A busy machine may spoil every attempt; nothing else may fail."""

PLANS = {"namespaces": LINUX, "XDP": CABLE}


@dataclass(frozen=True)
class Place:
    """A namespace with a veth pair, and the notes on labs that commands inside leave."""

    machine: device.Device
    notes: Path

    @property
    def prefix(self) -> Sequence[str]:
        """Runs a command inside."""
        return (device.tool("nsenter"), "-t", str(self.machine.pid), "-n")

    def attached(self) -> str:
        """All that the kernel says of the interfaces: programs, promiscuity, queues; not their state."""
        return self.machine.do("ip -details link show | sed 's/ state [A-Z]*//'")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with device.device_namespace() as machine:
        machine.do("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
        queues = "numrxqueues 1 numtxqueues 1"
        machine.do(f"ip link add west {queues} type veth peer name east {queues}")
        machine.do("ip link set west up")
        machine.do("ip link set east up")
        (tmp_path / "runtime").mkdir(mode=0o700)
        yield Place(machine, tmp_path / "runtime" / "netdyno-labs")


def failures(folder: Path) -> set[str]:
    """Codes of why cases of a run that went to its end could not be measured."""
    with open_run(folder) as run:
        assert {case.state for case in run.cases} <= {"done", "failed"}
        return {case.error.code for case in run.cases if case.error}


@pytest.mark.parametrize("what", PLANS)
def test_run_in_real_time_in_a_storm_leaves_nothing_attached(what: str, place: Place, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, PLANS[what])
    environment = {"XDG_RUNTIME_DIR": str(place.notes.parent)}
    before = place.attached()
    began = time.monotonic()
    with command(plan, "--out", tmp_path / "whole", prefix=place.prefix, **environment) as process:
        if what == "XDP":
            wait_for(lambda: "xdp" in place.attached())
        _, err = process.communicate(timeout=LIMIT_S)
    seconds = time.monotonic() - began
    assert process.returncode in OWN_CODES, err
    assert failures(next((tmp_path / "whole").glob("2*"))) <= SPOILED
    assert place.attached() == before
    for number in range(max(1, COUNT // 10)):
        chance = random.Random(SEED * 1_000 + number)
        runs = tmp_path / f"runs-{number}"
        wait_s = chance.uniform(0.3, 0.9) * seconds
        passed = pass_storm(plan, runs, chance, wait_s, OWN_CODES, prefix=place.prefix, **environment)
        assert place.attached() == before, passed.err
        # What a killed worker could not remove is removed by whoever builds the next lab.
        if place.notes.exists():
            assert leftovers.remove(place.notes) == []
            assert list(place.notes.iterdir()) == []
        if passed.folder is None:
            continue
        kept = finished_trials(passed.folder)
        code, err = finish("--resume", passed.folder, prefix=place.prefix, **environment)
        assert code in OWN_CODES, err
        assert kept.items() <= finished_trials(passed.folder).items()
        assert failures(passed.folder) <= SPOILED
        assert place.attached() == before
