"""Carrier losses of real interfaces: veth pairs to a kernel bridge, whose ends are switched off and on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from methodlab import table, value
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import namespaces
from netdyno.devices.wiring import LabError
from netdyno.methods.wrap import witness
from netdyno.plan import parse
from netdyno.ports.nic import fit
from netdyno.ports.reasons import InterfaceSwitchedOff, LinkWentDown
from netdyno.store import open_run
from netdyno.values.records import StoredCase, StoredTrial
from netdyno.verdict.reasons import OtherLoad
from words import within

pytestmark = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("ip", path=dut.SEARCH) is None,
    reason="wants root and `ip` (apt-get install iproute2)",
)

PLAN = """\
title: A link that flaps
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: external}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 1Gbps, interface: west, backend: {backend}}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 1Gbps, interface: east, backend: {backend}}}
traffic: {{it: {{size: 128B, flows: 16}}}}
matrix: {{profile: [it], direction: [bidir]}}
method: {{{method}}}
goals: [{goals}]
trial: {{settle: 100ms, drain: 300ms, catch_up: 10000%}}
"""
SOAK = "soak: {load: 500pps, duration: 4s, part: 2s, apart: 200ms}"
FLAP = """
import json, subprocess, sys, time
from netdyno.ports.nic import netlink
first = netlink.link("west").counters["tx_packets"]
deadline = time.monotonic() + 60
# Some tens are sent before traffic: what a bridge learns by.
while netlink.link("west").counters["tx_packets"] < first + 300 and time.monotonic() < deadline:
    time.sleep(0.01)
found = []
for word in sys.argv[2:]:
    before = time.time()
    subprocess.run(["ip", "link", "set", "dev", sys.argv[1], word], check=True)
    found.append((before, time.time()))
    time.sleep(0.3)
print(json.dumps(found))
"""
"""Switches an interface off and on while traffic runs; prints when each command began and had ended."""
TESTER = 4
"""The exit code of a run in which the tester was the limit of all."""
LATE_S = 0.5
"""How late a thread of the tester may read the kernel's message, on a busy machine."""
EARLY_S = 0.1
"""The time of day of a trial is that of the call that starts it, some moments before it begins."""


def ip(line: str) -> None:
    subprocess.run(["ip", *line.split()], env={"PATH": dut.SEARCH}, check=True)


@pytest.fixture
def bridged() -> Iterator[None]:
    """west and east for the tester, a and b at their other ends, joined by a bridge."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    with namespaces.tester_namespace():
        try:
            try:
                ip("link add bridge type bridge forward_delay 0")
            except subprocess.CalledProcessError:
                pytest.skip("this kernel has no bridge")
            for ours, theirs in (("west", "a"), ("east", "b")):
                ip(f"link add {ours} type veth peer name {theirs}")
                ip(f"link set dev {theirs} master bridge")
                for name in (ours, theirs):
                    subprocess.run(["sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1"], check=False)
                    ip(f"link set dev {name} up")
            ip("link set dev bridge up")
            yield
        finally:
            for name in ("west", "east", "bridge"):
                with suppress(LabError, subprocess.CalledProcessError):
                    ip(f"link delete {name}")


def run(
    folder: Path, flapping: str, *words: str, method: str = SOAK, goals: str = "", backend: str = "af_packet"
) -> tuple[int, StoredCase, list[StoredTrial], list[list[float]]]:
    """The exit code, the case with its trials, and when an interface was switched."""
    flap = subprocess.Popen(
        [sys.executable, "-c", FLAP, flapping, *words],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PATH": dut.SEARCH},
    )
    try:
        plan = parse(PLAN.format(method=method, goals=goals, backend=backend))
        outcome = runner.run(plan, folder / "runs", watcher(), runner.Selection())
        told, _ = flap.communicate(timeout=30)
    finally:
        flap.kill()
        flap.wait()
    with open_run(outcome.folder, REASONS) as stored:
        case, trials = stored.cases[0], list(stored.trials(0))
    return outcome.exit_code, case, trials, json.loads(told)


def seconds(clock: Any) -> float:
    return datetime.strptime(f"{clock}+0000", "%Y-%m-%d %H:%M:%S.%f%z").timestamp()


@pytest.mark.parametrize(
    ("goals", "code", "backend"),
    [("", 0, "af_packet"), ('"carrier losses <= 0"', 1, "af_packet"), ("", 0, "af_xdp")],
)
def test_device_end_that_goes_down_is_a_dated_event_of_the_link(
    bridged: None, tmp_path: Path, goals: str, code: int, backend: str
) -> None:
    refusal = fit.rights().af_xdp
    if backend == "af_xdp" and refusal is not None:
        pytest.skip(f"no AF_XDP here: {refusal[0]}")
    exit_code, case, trials, (down, up) = run(tmp_path, "a", "down", "up", goals=goals, backend=backend)
    # A tester that was kept from sending the load has a code of its own.
    is_of_tester = {one.limit for one in case.verdicts} <= {"tester", "receiver"}
    assert exit_code == (code or (TESTER if is_of_tester else 0))
    # Parts that a pause of the tester did not spoil are made once, and stand.
    assert [(trial.number, trial.attempt, trial.state) for trial in trials if trial.name != witness.NAME] == [
        (0, 0, "done"),
        (1, 0, "done"),
    ]
    result = case.result
    assert result is not None
    (row,) = table(result, "Carrier losses")
    assert (row["port"], row["times"], row["limit"], row["part"]) == ("west", 1, "link", 1)
    for at, (before, after) in ((row["from, clock"], down), (row["until, clock"], up)):
        print(f"{1000 * (seconds(at) - before):.1f} ms after a command of {1000 * (after - before):.1f} ms")
        assert before - EARLY_S < seconds(at) < after + LATE_S
    assert value(result, "carrier losses").number == 1
    losses = [one for one in table(result, "Loss events") if one["no carrier"] == "west"]
    assert {one["stream"] for one in losses} == {"west-east", "east-west"}
    assert sum(one["lost"] for one in losses) == row["lost meanwhile"] > 100
    # A busy machine may leave frames unsent or lose some beside; none of that makes it the device's.
    assert {one.limit for one in case.verdicts} <= {"link", "tester", "receiver", "inconclusive"}
    is_on_load = not within(OtherLoad, *(one.reason for one in case.verdicts))
    if is_on_load and all(one["no carrier"] for one in table(result, "Loss events")):
        assert {one.limit for one in case.verdicts} == {"link"}


def test_tester_end_that_goes_down_is_no_event_of_the_link(bridged: None, tmp_path: Path) -> None:
    """The part is invalid. Where the socket is gone for good with its interface, the case has no result."""
    exit_code, case, trials, _ = run(tmp_path, "west", "down", "up")
    first = trials[0]
    assert first.state == "invalid"
    assert within(InterfaceSwitchedOff, first.result.invalid)
    assert all(one.result.carrier_losses == () for one in trials)
    assert (exit_code == 3) == (case.verdicts == ())
    assert not {one.limit for one in case.verdicts} & {"link", "device"}


def test_search_retries_a_trial_whose_link_went_down(bridged: None, tmp_path: Path) -> None:
    """A search has no use for a trial in which a link was down, whoever did it."""
    method = "throughput: {maximum: 500pps, width: 500pps, duration: 2s}"
    _, case, trials, _ = run(tmp_path, "a", "down", "up", method=method)
    assert trials[0].state == "invalid"
    assert within(LinkWentDown, trials[0].result.invalid)
    assert all(trial.result.carrier_losses == () for trial in trials)
    assert "link" not in {one.limit for one in case.verdicts}


def test_link_that_a_reset_takes_down_is_measured(tmp_path: Path) -> None:
    """RFC 6201: netdyno has the device do it, so that is no reason to retry the trial."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    plan = """\
title: A reset
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/bridge}}
  links:
    - {endpoints: ["tester:west", "dut:a"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:b"], rate: 1Gbps}
traffic: {it: {size: 128B, flows: 16}}
matrix: {profile: [it], direction: [uni]}
method: {reset: {kind: link-down, throughput: 500pps, before: 1s, down: 500ms, watch: 2s, repeats: 1}}
trial: {settle: 100ms, drain: 300ms, retries: 10}
"""
    outcome = runner.run(parse(plan), tmp_path / "runs", watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as stored:
        trials = list(stored.trials(0))
    for trial in trials:
        if trial.name == witness.NAME:
            continue
        assert not within(LinkWentDown, trial.result.invalid)
        assert trial.result.carrier_losses == ()
        assert [one.downs for one in trial.result.interfaces] == [1, 1]
