"""What a Linux device's own kernel counted in a trial, and where a report says it."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices.drivers.kernel import KernelCounters, read
from netdyno.devices.linux import device
from netdyno.devices.live import Channel
from netdyno.plan import parse
from netdyno.reports.model import health
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from tendevices import measure, wall

pytestmark = pytest.mark.paired

SAID = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
    d0: 2096760   34946    0   17    0     0          0         0       42       1    0    0    0     0       0          0
    d1:     120       2    0    0    0     0          0         0  2096682   34945    0    0    0     0       0          0
Ip: Forwarding DefaultTTL InReceives InHdrErrors InAddrErrors ForwDatagrams InUnknownProtos InDiscards OutNoRoutes
Ip: 1 64 34944 0 0 34930 0 0 14
Icmp: InMsgs InErrors
Icmp: 0 0
"""  # noqa: E501
"""As Linux 6.1 has them (net/core/net-procfs.c, net/ipv4/proc.c), cut off on the right."""


def test_the_kernel_s_files_are_read() -> None:
    found = read(SAID, ("d0", "d1"))
    assert list(found) == ["d0", "d1", "ip"]
    assert (found["d0"]["rx_packets"], found["d0"]["rx_dropped"], found["d0"]["tx_packets"]) == (34946, 17, 1)
    assert (found["d1"]["rx_bytes"], found["d1"]["tx_bytes"]) == (120, 2096682)
    assert found["ip"]["OutNoRoutes"] == 14
    assert "DefaultTTL" not in found["ip"]


def test_only_what_moved_is_of_the_trial() -> None:
    later = SAID.replace("   17 ", "   20 ").replace("0 0 14", "0 0 9")
    before, after = (
        {
            Channel(who, what, ""): number
            for who, counted in read(said, ("d0",)).items()
            for what, number in counted.items()
        }
        for said in (SAID, later)
    )
    kernel = KernelCounters("the device's kernel", "self", ("d0",), ours=True)
    assert kernel.summary(before, after) == {
        "name": "the device's kernel",
        "ports": [{"name": "d0", "rx_dropped": 3}],
        "ip": {},
    }


def lossy() -> Outcome:
    """Ten frames of a hundred are lost."""
    load = (Segment("t", 10**9, FrameRate(100), FrameRate(100)),)
    return measure(Trial("x", Frames(load)), wall(90), Situation(("a",), Fraction(1000), Fraction(64)))


def test_its_drops_stand_beside_what_was_lost() -> None:
    port = {"name": "d0", "rx_packets": 93, "rx_dropped": 7}
    kernel = {"name": "k", "ports": [port], "ip": {"OutNoRoutes": 3}}
    (told,) = (
        finding.sentence
        for finding in health.findings([replace(lossy(), devices=(kernel,))])
        if finding.kind == "device-kernel"
    )
    assert told == (
        "10 frames lost, of which the device's own kernel counted rx_dropped of d0 7, OutNoRoutes of IPv4 3"
        " (several may be of one frame)"
    )


def test_a_kernel_that_dropped_nothing_says_so_and_a_model_has_none() -> None:
    kernel = {"name": "k", "ports": [{"name": "d0", "rx_packets": 100}], "ip": {"InReceives": 100}}
    sentences = [one.sentence for one in health.findings([replace(lossy(), devices=(kernel,))])]
    assert "10 frames lost, of which the device's own kernel counted none of them as dropped" in sentences
    assert not [one for one in health.findings([lossy()]) if one.kind == "device-kernel"]


PLAN = """\
title: Counts
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}
traffic: {small: {size: 64B}}
matrix: {direction: [uni]}
method: {frame-loss: {duration: 100ms, maximum: 1kpps}}
trial: {settle: 10ms, drain: 100ms, sample: 10ms}
"""


needs_root = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("ip", path=device.SEARCH) is None, reason="wants root and iproute2"
)


@needs_root
def test_frames_without_room_on_a_routers_own_core_are_the_routers(tmp_path: Path) -> None:
    """What its far end dropped on sending is what the tester's interface did not take in, frame by frame."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    flood = PLAN.replace("duration: 100ms, maximum: 1kpps", "duration: 1s, maximum: 600kpps")
    outcome = runner.run(parse(flood), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        trials = [trial.result for trial in view(run).cases[0].trials]
    refused = 0
    for trial in trials:
        (kernel,), (_, east) = trial.devices, trial.interfaces
        _, out = kernel["ports"]
        dropped = out.get("tx_dropped", 0)
        assert east.not_taken_in == dropped
        if kernel.get("has_own_core"):
            assert not dropped or trial.unseen < dropped
        else:
            assert trial.unseen >= dropped - trial.dropped
        refused += dropped
    if not refused:
        pytest.skip("this machine had room for all frames")


@needs_root
def test_what_came_through_a_linux_router_its_kernel_has_counted(tmp_path: Path) -> None:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    outcome = runner.run(parse(PLAN), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        trials = [trial.result for trial in view(run).cases[0].trials]
    assert trials
    for trial in trials:
        (kernel,), (stream,) = trial.devices, trial.streams
        west, east = kernel["ports"]
        assert stream.received > 0
        assert west["rx_packets"] >= stream.received
        assert east["tx_packets"] >= stream.received
        assert kernel["ip"]["ForwDatagrams"] >= stream.received


@pytest.mark.parametrize(
    "kernel",
    [
        {"ip": 3},
        {"ip": None, "ports": 3},
        {"ip": {"drops": "many"}, "ports": [3, {}, {"name": 5, "rx_dropped": None}]},
    ],
)
def test_a_record_from_elsewhere_hurts_no_report(kernel: dict[str, Any]) -> None:
    sentences = [one.sentence for one in health.findings([replace(lossy(), devices=(kernel,))])]
    assert "10 frames lost, of which the device's own kernel counted none of them as dropped" in sentences
