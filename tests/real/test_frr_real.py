"""Adjacencies of FRR on a Linux router that is reached by SSH, through a load; its link is cut meanwhile.

Truth: the times around the command that cuts it, on the clock that the readings have, too.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import frr
import pytest
import real_shell
from netdyno.campaign import run as runner
from netdyno.campaign.instruments import Recorder
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import LabLink, addresses
from netdyno.devices.access import Access, Ssh
from netdyno.devices.drivers.kernel import read
from netdyno.devices.drivers.linux import DRIVER
from netdyno.devices.linux import ROUTER, links, namespaces
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.forwarding import Router, set_up
from netdyno.devices.linux.services import routes, routing
from netdyno.devices.linux.services import service as services
from netdyno.devices.reach.session import Session
from netdyno.devices.watches.bird import BIRD
from netdyno.devices.watches.by_cli import DaemonsByCli
from netdyno.plan import parse
from netdyno.reports.model.device import balance
from netdyno.reports.model.from_store import view
from netdyno.reports.model.view import CaseView
from netdyno.store import open_run
from netdyno.values.breaks import ADJACENCY
from netdyno.values.outcome import Outcome
from netdyno.verdict.balance_reasons import EveryFrameAccounted
from netdyno.verdict.watch_reasons import WatchesBroke, WatchesHeld, WatchesLost
from test_labs import needs_root

pytest.importorskip("netdyno._engine", reason="the engine is not built")
pytestmark = [
    needs_root,
    pytest.mark.skipif(not frr.is_installed(), reason="wants FRR (apt-get install frr)"),
]

PLAN = """\
title: FRR under load
lab:
  nodes:
    tester: {{kind: netdyno}}
    dut:
      kind: external
      driver: linux
      host: 127.0.0.1
      user: lab
      ssh: {{port: {port}, known_hosts: {known}}}
  links:
    - {{endpoints: ["tester:t0", "dut:d0"], rate: 1Gbps, address: {own[0]}/30, gateway: {far[0]}}}
    - {{endpoints: ["tester:t1", "dut:d1"], rate: 1Gbps, address: {own[1]}/30, gateway: {far[1]}}}
traffic: {{it: {{size: 64B}}}}
matrix: {{direction: [uni]}}
method: {{soak: {{load: 500pps, duration: 4s, part: 0s}}}}
trial: {{settle: 200ms, drain: 500ms, retries: 0, catch_up: 1000%}}
watch: {{adjacencies: true}}
goals: ["watch breaks <= 0"]
"""
OURS, THEIRS = "100.64.100.1", "100.64.100.2"
NEIGHBOURS = {f"{kind} neighbour {THEIRS}" for kind in ("OSPF", "BGP")}


@dataclass(frozen=True)
class Lab:
    """A router with FRR, and how it is reached."""

    device: dut.Device
    server: real_shell.Server
    folder: Path

    def run(self) -> CaseView:
        text = PLAN.format(
            port=self.server.port,
            known=self.server.known_hosts(self.folder),
            own=[addresses.tester(port) for port in range(2)],
            far=[addresses.device(port) for port in range(2)],
        )
        outcome = runner.run(parse(text), self.folder / "runs", watcher(), runner.Selection())
        with open_run(outcome.folder, REASONS) as stored:
            (case,) = view(stored).cases
        assert case.result is not None, case.error
        return case

    def taken(self) -> int:
        """Frames that the device took in on its first port."""
        said = Path(f"/proc/{self.device.pid}/net/dev").read_text()
        return read(said, ("d0",))["d0"]["rx_packets"]


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """A router whose adjacencies are up. The path of a socket has to be short."""
    real_shell.log_in(monkeypatch, tmp_path)
    with ExitStack() as within:
        short = Path(within.enter_context(tempfile.TemporaryDirectory(prefix="nd-", dir="/tmp")))
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(short))
        within.enter_context(namespaces.tester_namespace())
        router, other = (within.enter_context(dut.device_namespace()) for _ in range(2))
        links.ip("link set lo up")
        for port in range(2):
            mine = f"t{port} address {addresses.tester_mac(port)} type veth"
            links.ip(f"link add {mine} peer name d{port} netns {router.pid}")
            links.ip(f"link set t{port} up")
        set_up(router, Router(), 2)
        ends = [LabLink(f"t{port}", f"d{port}", 10**9) for port in range(2)]
        within.enter_context(routes.SERVICE.install(services.Lab(router, ROUTER.wire(tuple(ends), {}))))
        router.do(f"ip link add c0 type veth peer name n0 netns {other.pid}")
        for device, port, address in ((router, "c0", OURS), (other, "n0", THEIRS)):
            device.do(f"ip link set lo up && ip address add {address}/30 dev {port}")
            device.do(f"ip link set {port} up")
        for device, port, name in ((other, "n0", "far"), (router, "c0", "own")):
            folder = short / name
            folder.mkdir()
            peers = (OURS, THEIRS) if name == "own" else (THEIRS, OURS)
            systems = (64512, 64513) if name == "own" else (64513, 64512)
            within.enter_context(frr.run_frr(folder, device, port, peers, systems))
        ask = f"{short}/own/vtysh -c"
        up = f"{ask} 'show ip ospf neighbor' | grep -q Full"
        up += f" && {ask} 'show bgp summary json' | grep -q Established"
        dut.await_success(router, up, frr.UP_S, "adjacencies")
        # /sys shows the interfaces of the namespace that it was mounted in.
        mounted = 'mount -t sysfs netdyno /sys && exec "$@"'
        into = (
            *(dut.tool("nsenter"), "--net", "--target", str(router.pid)),
            *(dut.tool("unshare"), "--mount", "sh", "-c", mounted, "sh"),
        )
        env = {"PATH": f"{short}/own:{dut.SEARCH}", "LC_ALL": "C"}
        yield Lab(router, within.enter_context(real_shell.serve_bash(into, env)), tmp_path)


@pytest.fixture
def began(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A file that has when the traffic of the first trial began, ns of the monotonic clock."""
    said = tmp_path / "began"
    readings = Recorder.with_readings

    def noted(recorder: Recorder, outcome: Outcome) -> Outcome:
        if not said.exists():
            said.write_text(str(recorder.began_ns))
        return readings(recorder, outcome)

    monkeypatch.setattr(Recorder, "with_readings", noted)
    return said


def test_adjacencies_of_frr_that_are_cut_are_dated_between_two_polls(lab: Lab, began: Path) -> None:
    seen: dict[str, int] = {}
    taken, after_s = lab.taken(), random.Random(7).uniform(0.6, 2.0)

    def cut() -> None:
        deadline = time.monotonic() + 30
        while lab.taken() < taken + 50 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(after_s)
        seen["before"] = time.monotonic_ns()
        lab.device.do("ip link set c0 down")
        seen["after"] = time.monotonic_ns()

    cutter = threading.Thread(target=cut)
    cutter.start()
    try:
        case = lab.run()
    finally:
        cutter.join(60)
    began_ns = int(began.read_text())
    trial = case.trials[0]
    assert case.result is not None
    (lost,) = (one for one in case.result.notes if isinstance(one, WatchesLost))
    broken = {one.watch: one for one in lost.breaks}
    assert set(broken) == NEIGHBOURS
    for found in broken.values():
        assert found.good_ns is not None
        assert found.good_ns <= seen["after"] - began_ns
        assert found.bad_ns >= seen["before"] - began_ns
        assert found.back_ns is None
        # Between two polls that follow each other, each a sample of its series.
        (series,) = (
            one for one in trial.result.series if (one.source, one.subject) == (ADJACENCY, found.subject)
        )
        down = series.values.index(0)
        assert series.times_ns[down - 1] - series.took_ns[down - 1] <= found.good_ns
        assert found.good_ns <= series.times_ns[down - 1]
        assert series.times_ns[down] <= found.bad_ns <= series.times_ns[down] + series.took_ns[down]
    for verdict in case.verdicts.values():
        assert isinstance(verdict.reason, WatchesBroke)
    ((_, passed, _),) = case.goals
    assert passed is False


def test_linux_router_by_ssh_closes_the_balance_and_reads_frr(lab: Lab) -> None:
    """FRR counts the kernel's routes, and its own by OSPF to the network of the link, which is connected."""
    case = lab.run()
    assert case.result is not None
    assert [one for one in case.result.notes if isinstance(one, WatchesHeld)] == [WatchesHeld(2)]
    answer = balance(case).answer
    assert isinstance(answer, EveryFrameAccounted), str(answer)
    series = {(one.subject, one.name): one for one in case.trials[0].result.series}
    assert {("RIB", "routes"), ("FIB", "routes"), ("d0", "rx_packets")} <= set(series)
    installed = len(lab.device.do("ip -4 route show").splitlines())
    assert set(series["FIB", "routes"].values) == {installed}
    assert set(series["RIB", "routes"].values) == {installed + 1}


@pytest.mark.skipif(
    shutil.which("birdc", path=dut.SEARCH) is None, reason="wants BIRD (apt-get install bird2)"
)
def test_adjacencies_of_bird_are_read_by_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_shell.log_in(monkeypatch, tmp_path)
    with ExitStack() as within:
        short = Path(within.enter_context(tempfile.TemporaryDirectory(prefix="nd-", dir="/tmp")))
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(short))
        within.enter_context(namespaces.tester_namespace())
        links.ip("link set lo up")
        router = within.enter_context(dut.device_namespace())
        for port in dut.PORTS[:2]:
            router.do(f"ip link add {port} type veth peer name far-{port}")
            router.do(f"ip link set far-{port} up")
        set_up(router, Router(), 2)
        behind = [addresses.networks_behind(port, 2) for port in range(2)]
        own, _ = within.enter_context(routing.run_neighbour(router, "bgp", behind))
        birdc = short / "birdc"
        birdc.write_text(f'#!/bin/sh\nexec {dut.tool("birdc")} -s {own.control} "$@"\n')
        birdc.chmod(0o755)
        into = (dut.tool("nsenter"), "--net", "--target", str(router.pid))
        env = {"PATH": f"{short}:{dut.SEARCH}", "LC_ALL": "C"}
        server = within.enter_context(real_shell.serve_bash(into, env))
        known = server.known_hosts(tmp_path)
        access = Access("127.0.0.1", "lab", Ssh(server.port, known_hosts=known))
        session = within.enter_context(Session(access, DRIVER.shell))
        up = {one.subject for one in DaemonsByCli(session, (BIRD,)).ask(10.0) if one.is_up}
    assert up == {f"{kind} neighbour 100.64.100.2" for kind in ("OSPF", "BGP")}
