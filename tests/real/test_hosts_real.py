"""Ports of one load test on several hosts: network namespaces, a Linux router between them, Dask with TLS."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ovs
import pytest
import sampling
from faulty_case import CGROUP
from hosts_lab import HostsLab, hosts_lab, run
from hosts_vlans import FAVOURED, FIFTIETH_OF_A_CORE, TENTH_OF_A_CORE, access_vlans, in_cgroup
from netdyno import _engine
from netdyno.calibration import Calibration, shelf
from netdyno.campaign.reasons import REASONS
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import links, namespaces
from netdyno.hosts.clocks import measure_offset
from netdyno.hosts.merge import merge_results
from netdyno.hosts.resident import InUseError, Resident, hold_interfaces
from netdyno.hosts.split import find_owners, split_session, split_trial
from netdyno.methods.reasons.tester import SentLonger, Unsent
from netdyno.reports.model import reasons
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.values.engine_reason import EngineReason
from netdyno.values.records import CaseError, StoredTrial
from netdyno.verdict.connection_reasons import TesterBusy
from netdyno.verdict.reasons import TesterShort

pytestmark = [
    pytest.mark.skipif(
        os.getuid() != 0 or shutil.which("ip", path=dut.SEARCH) is None,
        reason="wants root and `ip` (apt-get install iproute2)",
    ),
    pytest.mark.skipif(shutil.which("tc", path=dut.SEARCH) is None, reason="wants `tc`"),
]

with_cgroups = pytest.mark.skipif(
    not (CGROUP / "cgroup.procs").exists(), reason="wants cgroups for processor time"
)

PLAN = """\
title: Two hosts
lab:
  hosts: {{scheduler: "tls://192.0.2.1:8786"}}
  nodes:
    gen1: {{kind: netdyno, host: gen1}}
    gen2: {{kind: netdyno, host: gen2}}
    dut: {{kind: external}}
  links:
    - {{endpoints: ["gen1:west", "dut:d0"], rate: 1Gbps, interface: p0,
       address: 100.64.0.2/30, gateway: 100.64.0.1}}
    - {{endpoints: ["gen2:east", "dut:d1"], rate: 1Gbps, interface: p0,
       address: 100.64.1.2/30, gateway: 100.64.1.1}}
traffic: {{it: {{size: 128B, flows: 16}}}}
matrix: {{profile: [it], direction: [bidir]}}
trial: {{settle: 100ms, drain: 400ms, catch_up: 10000%, retries: 0}}
method: {{sweep: {{loads: [{load}], duration: {duration}}}}}
"""


def spec(loads: tuple[int, int]) -> dict[str, Any]:
    """A trial between two ports, each way so many frames in a quarter of a second."""
    streams = [
        {
            "name": f"from {tx}", "tx_port": tx, "rx_port": 1 - tx,
            "headers": [
                {"type": "ethernet", "src": f"02:00:00:00:00:0{tx}", "dst": f"02:00:00:00:00:0{1 - tx}"},
                {"type": "ipv4", "src": f"198.18.{tx}.1", "dst": f"198.18.{1 - tx}.1"},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "destination": "peer", "flows": 7,
            "sizes": [{"size": size, "weight": 1} for size in (64, 512)],
            "schedule": [
                {"name": "traffic", "duration_ns": 250_000_000, "from_bps": load, "to_bps": load}
            ],
        }
        for tx, load in enumerate(loads)
    ]  # fmt: skip
    ports = [{"mac": f"02:00:00:00:00:0{port}", "line_bps": 10**9} for port in range(2)]
    # On a busy machine all is sent some time.
    waits = {"settle_ns": 10**8, "drain_ns": 2 * 10**8, "sample_ns": 10**8, "overtime_ns": 2 * 10**9}
    observe = {"by_flow": True, "order": True, "gaps": 10}
    return {
        "seed": 3,
        "streams": streams,
        "ports": ports,
        "catch_up_percent": 10_000,
        "observe": observe,
        **waits,
    }


@pytest.fixture
def cable() -> Iterator[None]:
    """west and east of this namespace, joined."""
    with namespaces.tester_namespace():
        links.ip("link add west type veth peer name east")
        for name in ("west", "east"):
            links.ip(f"link set {name} up")
        yield


@pytest.mark.usefixtures("cable")
@pytest.mark.parametrize(("workers", "apart_s"), [(1, 5), (2, 0)])
def test_results_of_two_hosts_merged_are_those_of_one(workers: int, apart_s: float) -> None:
    """Also where clocks are seconds apart: that of a session begins as its ports are opened."""
    backends = [
        {"name": name, "backend": {"kind": "af_packet", "interface": name}} for name in ("west", "east")
    ]
    ports = [{**port, "host": f"gen{number}"} for number, port in enumerate(backends)]
    session: dict[str, Any] = {"clock": "real", "ports": ports, "hosts": {"scheduler": ""}}
    session["hosts"]["threads"] = {f"gen{number}": {"workers": workers} for number in range(2)}
    trial = spec((4_000_000, 9_000_000))
    alone = _engine.Session(json.dumps({"clock": "real", "ports": backends, "workers": workers}))
    alone.start(json.dumps(trial))
    alone.wait(60)
    whole = json.loads(alone.result())["trial"]
    alone.close()

    owners = find_owners(session)
    sessions = {}
    for host, own in split_session(session).items():
        time.sleep(apart_s if sessions else 0)
        sessions[host] = _engine.Session(json.dumps(own))
    for host, own in split_trial(trial, owners).items():
        sessions[host].start(json.dumps(own))
    clocks = {host: measure_offset(one.clock_ps) for host, one in sessions.items()}
    first, second = sessions
    at_ps = sessions[first].clock_ps() + 3 * 10**11
    between = clocks[second].ps - clocks[first].ps
    assert -between >= apart_s * 10**12
    sessions[first].begin(json.dumps({"at_ps": at_ps, "shifts_ps": [between, 0]}))
    sessions[second].begin(json.dumps({"at_ps": at_ps + between, "shifts_ps": [0, -between]}))
    found = {}
    for host, one in sessions.items():
        assert one.wait(60)
        found[host] = json.loads(one.result())
        one.close()
    merged = merge_results(found, owners, trial, clocks)["trial"]

    exact = (
        "name",
        "intended",
        "offered",
        "offered_bytes",
        "received",
        "received_bytes",
        "lost",
        "duplicates",
    )
    exact += ("elsewhere", "out_of_order", "corrupted", "flows_received")
    for one, other in zip(whole["streams"], merged["streams"], strict=True):
        assert {name: one[name] for name in exact} == {name: other[name] for name in exact}
        assert one["by_flow"]["sent"] == other["by_flow"]["sent"]
        assert one["by_flow"]["received"] == other["by_flow"]["received"]
        assert one["gaps"] == other["gaps"]
        assert sum(other["tx"]) == sum(other["arrived"]) == one["offered"]
        assert other["latency"] is None
    for one, other in zip(whole["ports"], merged["ports"], strict=True):
        counts = ("name", "tx_frames", "tx_bytes", "rx_frames", "rx_bytes", "stale")
        assert {name: one[name] for name in counts} == {name: other[name] for name in counts}
    assert {one["name"] for one in merged["hosts"]} == {first, second}
    assert set(whole) | {"hosts"} == set(merged)


@pytest.mark.usefixtures("cable")
def test_instant_that_is_over_makes_a_trial_invalid() -> None:
    ports = [{"name": name, "backend": {"kind": "af_packet", "interface": name}} for name in ("west", "east")]
    session = _engine.Session(json.dumps({"clock": "real", "ports": ports}))
    session.start(json.dumps({**spec((10**6, 10**6)), "waits": True}))
    assert not session.wait(1.0)
    assert json.loads(session.snapshot())["phase"] == "settle"
    session.begin(json.dumps({"at_ps": session.clock_ps() - 10**9}))
    assert session.wait(10)
    found = json.loads(session.result())["trial"]
    session.close()
    (reason,) = found["invalid"]
    assert reason["code"] == "begin-missed"
    assert reason["fields"]["late_us"] >= 1000
    assert [one["offered"] for one in found["streams"]] == [0, 0]


@pytest.mark.usefixtures("cable")
def test_interface_of_another_load_test_is_refused() -> None:
    ports = [{"name": name, "backend": {"kind": "af_packet", "interface": name}} for name in ("west", "east")]
    session = json.dumps({"clock": "real", "ports": ports})
    first, second = Resident(), Resident()
    assert "value" in first.open(session)
    assert second.open(session)["error"][2] == "interface-in-use"
    # Dask lets go of what a client had that is gone.
    del first
    assert "value" in second.open(session)
    second.close()


def test_interface_is_taken_while_a_session_opens_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_session(session: str) -> None:
        with pytest.raises(InUseError), hold_interfaces(["west"]):
            pass
        raise OSError("no such device")

    monkeypatch.setattr(_engine, "Session", open_session)
    session = json.dumps({"ports": [{"backend": {"interface": "west"}}]})
    assert Resident().open(session)["error"][2] == "command-failed"
    with hold_interfaces(["west"]):
        assert Resident().open(session)["error"][2] == "interface-in-use"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostsLab]:
    pytest.importorskip("distributed")
    pytest.importorskip("cryptography")
    with hosts_lab(tmp_path_factory.mktemp("hosts"), count=4) as found:
        yield found


def trials_of(folder: Path) -> list[StoredTrial]:
    (file,) = folder.glob("*/run.sqlite")
    with open_run(file.parent, REASONS) as stored:
        return [trial for case in stored.cases for trial in stored.trials(case.head.number)]


def dropped(lab: HostsLab, port: int) -> int:
    """Frames that the router's queue on a port dropped so far."""
    said = run(f"ip netns exec {lab.router} tc -s qdisc show dev d{port}")
    return int(re.search(r"dropped (\d+)", said)[1])  # type: ignore[index]


BRIEFLY = """
from dataclasses import replace
from netdyno.calibration import effort
MS = 10**6
lengths = {"trial_ns": 20 * MS, "confirm_ns": 20 * MS, "soak_ns": 50 * MS, "drain_ns": 50 * MS}
effort.QUICK = replace(effort.QUICK, **lengths, watch_s=0.02, spare=0)
from netdyno.cli import main
main()
"""
"""netdyno, which takes less time for a calibration."""


@contextmanager
def plugs(lab: HostsLab) -> Iterator[None]:
    """The router sends each frame of the first two hosts back as it is, meanwhile."""
    wires = [f"ip netns exec {lab.router} tc {{}} dev d{number}" for number in range(2)]
    try:
        for wire in wires:
            run(wire.format("qdisc add") + " clsact")
            back = f" ingress protocol all u32 match u32 0 0 action mirred egress redirect {wire[-6:]}"
            run(wire.format("filter add") + back)
        yield
    finally:
        for wire in wires:
            run(wire.format("qdisc del") + " clsact")


def calibrate(lab: HostsLab, plan: Path, runs: Path) -> list[Calibration]:
    """The calibrations of the hosts of a plan, as far as each found frames that come back."""
    words = (sys.executable, "-c", BRIEFLY, "calibrate", plan, "--quick", "--out", runs)
    done = subprocess.run(
        lab.within(lab.control, *words), env=lab.environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode in (0, 1), done.stderr
    return shelf.load(runs)[0]


def test_every_frame_of_two_hosts_is_received_or_the_routers_drop(lab: HostsLab, tmp_path: Path) -> None:
    plan = tmp_path / "two.yaml"
    plan.write_text(PLAN.format(load="5kpps", duration="300ms"))
    # Before the calibration, which another MTU would end.
    run(f"ip -n {lab.control}gen2 link set p0 mtu 1400")
    with plugs(lab):
        calibrations = calibrate(lab, plan, tmp_path / "runs")
    assert sorted(one.host for one in calibrations) == ["gen1", "gen2"]
    # 128 B frames are 142 B for the queue: some 2.2 kpps pass.
    run(f"ip netns exec {lab.router} tc qdisc replace dev d1 root tbf rate 2mbit burst 8k limit 20k")
    try:
        done = lab.netdyno("run", plan, "--out", tmp_path / "runs", "--report", "html")
        queued = dropped(lab, 1)
    finally:
        run(f"ip netns exec {lab.router} tc qdisc del dev d1 root")
        run(f"ip -n {lab.control}gen2 link set p0 mtu 1500")
    trials = trials_of(tmp_path / "runs")
    assert trials, done.stderr
    (file,) = (tmp_path / "runs").glob("*/run.sqlite")
    with open_run(file.parent, REASONS) as stored:
        (case,) = stored.cases
        assert case.wiring is not None
        proven = case.wiring.proven
        assert proven is not None
        ids = {one.id for one in calibrations}
        assert {proven.id, *proven.others} == {one.id for one in stored.calibrations} == ids
        least = min((one.traffic[0].max_fps or 0, one.host) for one in calibrations)
        assert proven.expired or (proven.max_fps, proven.host) == least
    lost = 0
    for trial in trials:
        west, east = trial.result.streams
        assert (west.name, east.name) == ("west-east", "east-west")
        assert east.offered == east.received > 0
        assert west.offered - west.received == west.lost >= 0
        assert west.latency is east.latency is None
        assert [one.name for one in trial.result.hosts] == ["gen1", "gen2"]
        assert all(one.clock_bound_ns is not None for one in trial.result.hosts)
        lost += west.lost
    assert lost == queued > 0
    (page,) = (tmp_path / "runs").glob("*/report.html")
    assert all(name in page.read_text() for name in ("gen1", "gen2"))
    with open_run(file.parent, REASONS) as stored:
        (first, second) = view(stored).cases[0].hosts
    assert (first.name, second.name) == ("gen1", "gen2")
    assert [(one.name, one.interface, one.mtu) for one in first.ports] == [("west", "p0", 1500)]
    assert [(one.name, one.interface, one.mtu) for one in second.ports] == [("east", "p0", 1400)]
    assert {one.cores for one in (first, second)} == {len(os.sched_getaffinity(0))}


CAPTURE = """
import selectors, socket, struct, sys
SO_RCVBUFFORCE, SO_TIMESTAMPNS, PACKET_IGNORE_OUTGOING, SOL_PACKET = 33, 35, 23, 263
ports = selectors.DefaultSelector()
for name in sys.argv[1:]:
    one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 25)
    one.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    one.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    one.bind((name, 0))
    ports.register(one, selectors.EVENT_READ, name)
ports.register(sys.stdin, selectors.EVENT_READ)
print("ready", flush=True)
ends = False
while (found := ports.select(0 if ends else None)) and not (ends and len(found) == 1):
    for key, _ in found:
        if key.fileobj is sys.stdin:
            ends = True
        else:
            data, (stamp,), *_ = key.fileobj.recvmsg(2048, 64)
            seconds, nanoseconds = struct.unpack("@ll", stamp[2])
            print(key.data, seconds * 10**9 + nanoseconds, data.hex())
"""
"""Prints port, time (ns) and bytes of what interfaces receive, until its standard input is closed."""


@contextmanager
def captured(lab: HostsLab, found: list[tuple[str, int, bytes]]) -> Iterator[None]:
    """Adds the test frames that the router receives, by port and time (ns), without what tells when each was
    sent."""
    words = lab.within(
        lab.router, sys.executable, "-c", CAPTURE, *(f"d{number}" for number in range(len(lab.names)))
    )
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as capture:
        assert capture.stdout is not None
        assert capture.stdout.readline() == "ready\n"
        lines: list[str] = []
        reading = threading.Thread(target=lambda: lines.extend(capture.stdout or ()))
        reading.start()
        try:
            yield
        finally:
            assert capture.stdin is not None
            capture.stdin.close()
            reading.join(30)
    for line in lines:
        port, at_ns, text = line.split()
        frame = bytearray.fromhex(text)
        if frame[23] == 17:
            # The checksum of UDP, and check and departure of the probe (crates/frame/src/probe.rs).
            for first, last in ((40, 44), (52, 60)):
                frame[first:last] = bytes(last - first)
            found.append((port, int(at_ns), bytes(frame)))


SAME_FRAMES = """\
traffic: {it: {size: 128B, flows: 16}}
matrix: {profile: [it], direction: [bidir]}
trial: {settle: 100ms, drain: 300ms, catch_up: 10000%, retries: 0}
method: {sweep: {loads: [1kpps], duration: 250ms}}
"""


def four_ports(owners: tuple[str, ...], rest: str, interface: str = "t{}", *, is_spread: bool = True) -> str:
    """A plan of four ports on these hosts, or on one alone; an empty name: the machine that runs it."""
    nodes = {
        name or "here": f"{{kind: netdyno, host: {name}}}" if name and is_spread else "{kind: netdyno}"
        for name in owners
    }
    links = [
        f'    - {{endpoints: ["{name or "here"}:t{number}", "dut:d{number}"], rate: 1Gbps,'
        f" interface: {interface.format(number)},"
        f" address: 100.64.{number}.2/30, gateway: 100.64.{number}.1}}"
        for number, name in enumerate(owners)
    ]
    return "\n".join(
        [
            "title: Four ports",
            "lab:",
            *(['  hosts: {scheduler: "tls://192.0.2.1:8786"}'] if is_spread else []),
            "  nodes:",
            *(f"    {name}: {node}" for name, node in nodes.items()),
            "    dut: {kind: external}",
            "  links:",
            *links,
            rest,
        ]
    )


@contextmanager
def routed(lab: HostsLab, more: Sequence[str] = ()) -> Iterator[None]:
    """The router has routes to what is behind each of four ports, and these."""
    routes = [
        f"{first}.{32 * number}.0.0/11 via 100.64.{number}.2" for number in range(4) for first in (16, 48)
    ]
    try:
        for route in (*routes, *more):
            run(f"ip -n {lab.router} route add {route}")
        yield
    finally:
        for route in (*routes, *more):
            run(f"ip -n {lab.router} route del {route}")


def send_whole(lab: HostsLab, plan: Path, runs: Path, *, is_spread: bool) -> list[tuple[str, int, int, int]]:
    """Offered, received and lost of each stream, of the first run that sent all it was to."""
    place = lab.control if is_spread else f"{lab.control}gen1"
    # Four hosts have two cores here: some attempts are preempted, and send the same frames.
    for number in range(5):
        done = lab.netdyno("run", plan, "--out", runs / str(number), "--no-calibrate", namespace=place)
        for trial in trials_of(runs / str(number)):
            if all(one.offered == one.intended for one in trial.result.streams):
                return [(one.name, one.offered, one.received, one.lost) for one in trial.result.streams]
    raise AssertionError(done.stderr)


def test_one_two_and_four_hosts_send_and_lose_the_same_frames(lab: HostsLab, tmp_path: Path) -> None:
    spread = {
        1: ("gen1", "gen1", "gen1", "gen1"),
        # One of them is the machine that runs the load test.
        2: ("", "gen2", "", "gen2"),
        4: lab.names,
    }
    # Of some flows all is lost, and nothing of the others: what a router does to both is no chance.
    doomed = [f"blackhole 48.{32 * number + 16}.0.0/12" for number in range(4)]
    frames: dict[int, set[tuple[str, bytes]]] = {}
    counts: dict[int, list[tuple[str, int, int, int]]] = {}
    with routed(lab, doomed):
        for hosts, owners in spread.items():
            plan = tmp_path / f"{hosts}.yaml"
            plan.write_text(four_ports(owners, SAME_FRAMES, is_spread=hosts > 1))
            heard: list[tuple[str, int, bytes]] = []
            with lab.ports_on(owners), captured(lab, heard):
                counts[hosts] = send_whole(lab, plan, tmp_path / f"runs{hosts}", is_spread=hosts > 1)
            frames[hosts] = {(port, frame) for port, _, frame in heard}
    assert frames[1] == frames[2] == frames[4]
    assert counts[1] == counts[2] == counts[4]
    # The router's own rule is the truth: the destination is in the second half of its network.
    lost = sum(frame[30] == 48 and bool(frame[31] & 16) for _, frame in frames[1])
    assert sum(lost for *_, lost in counts[1]) == lost > 0
    assert sum(offered for _, offered, *_ in counts[1]) == len(frames[1])


TRIALS = 20 if sampling.WHOLE else 5
APART_NS = 10**9
"""Between two trials; the frames of one are 1 ms apart."""


def test_first_frames_of_two_hosts_are_as_far_apart_as_reported(lab: HostsLab, tmp_path: Path) -> None:
    """By the kernel's own times of their arrival: one clock, which is no host's."""
    plan = tmp_path / "two.yaml"
    loads = ", ".join(f"{1000 + number}pps" for number in range(TRIALS))
    plan.write_text(PLAN.format(load=loads, duration="50ms").replace("drain: 400ms", "drain: 100ms"))
    heard: list[tuple[str, int, bytes]] = []
    with captured(lab, heard):
        lab.netdyno("run", plan, "--out", tmp_path / "runs", "--no-calibrate")
    firsts = [list(find_firsts(at_ns for name, at_ns, _ in heard if name == port)) for port in ("d0", "d1")]
    trials = trials_of(tmp_path / "runs")
    assert len(firsts[0]) == len(firsts[1]) == len(trials) == TRIALS
    beyond = []
    for west_ns, east_ns, trial in zip(*firsts, trials, strict=True):
        west, east = trial.result.hosts
        assert None not in (west.began_late_ns, east.began_late_ns, west.clock_bound_ns, east.clock_bound_ns)
        reported_ns = (east.began_late_ns or 0) - (west.began_late_ns or 0)
        known_ns = (west.clock_bound_ns or 0) + (east.clock_bound_ns or 0)
        beyond.append(abs(east_ns - west_ns - reported_ns) - known_ns)
    # A host that is preempted between its clock and its socket is later than it knows.
    assert statistics.median(beyond) <= 0


def find_firsts(times_ns: Iterable[int]) -> Iterator[int]:
    """Of each trial the time of its first frame."""
    before = 0
    for at_ns in sorted(times_ns):
        if at_ns > before + APART_NS:
            yield at_ns
        before = at_ns


OF_THE_ARTICLE = """\
traffic:
  jumbo: {size: 9018B, flows: 16}
  imix: {size: {64: 7, 594: 4, 1518: 1}, flows: 16}
matrix: {direction: [uni]}
trial: {settle: 100ms, drain: 300ms, retries: 0}
method: {sweep: {loads: [100pps], duration: 480ms}}
"""
"""48 frames a port: the mix four times."""


@pytest.mark.skipif(not ovs.is_installed(), reason="wants Open vSwitch (apt-get install openvswitch-switch)")
@with_cgroups
def test_host_with_a_tenth_of_a_core_is_the_limit_of_four_on_vlans(lab: HostsLab, tmp_path: Path) -> None:
    """The published test of the CCR1072 in small: four hosts on VLANs of a switch, an MTU of 9000."""
    plan = tmp_path / "four.yaml"
    plan.write_text(four_ports(lab.names, OF_THE_ARTICLE, "p0"))
    *three, last = (worker.pid for worker in lab.workers.values())
    words = ("run", plan, "--no-calibrate", "--out")
    with routed(lab), access_vlans(lab) as switch:
        with in_cgroup("all", (*three, last, *switch.pids), FAVOURED):
            before = switch.count()
            lab.netdyno(*words, tmp_path / "all")
            after = switch.count()
        rest = in_cgroup("others", (*three, *switch.pids), FAVOURED)
        with rest, in_cgroup("last", (last,), TENTH_OF_A_CORE):
            fast = ("--only", "profile=jumbo", "--set", "method.sweep.loads=[500pps]")
            lab.netdyno(*words, tmp_path / "starved", *fast)
    streams = [one for trial in trials_of(tmp_path / "all") for one in trial.result.streams]
    assert len(streams) >= 2 * 4
    assert all(one.received == one.offered == 48 for one in streams)
    sent, sent_bytes = sum(one.offered for one in streams), sum(one.offered_bytes for one in streams)
    for then, now in zip(before, after, strict=True):
        # A tag in place of the FCS. The other frames are ARP, with a tag, some with padding.
        others = now.packets - then.packets - sent
        assert 0 < others <= 8 * len(streams)
        assert 46 * others <= now.octets - then.octets - sent_bytes <= 64 * others
    (folder,) = (tmp_path / "starved").iterdir()
    with open_run(folder, REASONS) as stored:
        (case,) = view(stored).cases
    reason = case.verdicts["t3-t0"].reason
    assert isinstance(reason, TesterShort)
    assert isinstance(reason.cause, Unsent | SentLonger)
    assert reason.cause.host == "gen4"
    # No other is named beside it where a reader looks first, though all share two cores here.
    limit, sentence = reasons.of_case(case) or ("", "")
    assert (limit, re.findall("gen[0-9]", sentence)) == ("tester", ["gen4"])


def await_traffic(lab: HostsLab, running: subprocess.Popen[str]) -> None:
    """Waits until frames go through the router."""
    before, deadline = forwarded(lab), time.monotonic() + 60
    while forwarded(lab) < before + 500:
        assert running.poll() is None, lab.log.read_text()[-3000:]
        assert time.monotonic() < deadline
        time.sleep(0.05)


def forwarded(lab: HostsLab) -> int:
    """Frames that the router sent to both hosts."""
    counters = "/sys/class/net/d0/statistics/tx_packets /sys/class/net/d1/statistics/tx_packets"
    return sum(map(int, run(f"ip netns exec {lab.router} cat {counters}").split()))


def is_quiet(lab: HostsLab) -> bool:
    """Whether no load comes any more, some seconds given."""
    for _ in range(20):
        before = forwarded(lab)
        time.sleep(0.5)
        # ARP and the like.
        if forwarded(lab) < before + 10:
            return True
    return False


TCP = Path(__file__).parents[2] / "examples" / "hosts-tcp.yaml"
UNEXPLORED = """
from netdyno.methods import tcp
from netdyno.methods.parts.path import Explored
def explore_path(situation, streams):
    return Explored({}, 0, ())
    yield
tcp.explore_path = explore_path
from netdyno.cli import main
main()
"""
"""netdyno, which sends no frames of its own before connections: four hosts have two cores here."""
with_iperf3 = pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed")


def start_tcp(lab: HostsLab, runs: Path, duration: str) -> subprocess.Popen[str]:
    """Runs the example, so long and one way alone."""
    sets = (f"method.tcp.duration={duration}", "method.tcp.omit=0s", "matrix.direction=[uni]")
    options = [word for one in sets for word in ("--set", one)]
    words = lab.within(lab.control, sys.executable, "-c", UNEXPLORED, "run", TCP, "--out", runs, *options)
    return subprocess.Popen(words, env=lab.environment, text=True)


@contextmanager
def shaped(lab: HostsLab, ports: Sequence[int], rate: str) -> Iterator[None]:
    """The router sends so much at most on these ports."""
    try:
        for port in ports:
            tbf = f"root tbf rate {rate} burst 32k limit 200k"
            run(f"ip netns exec {lab.router} tc qdisc replace dev d{port} {tbf}")
        yield
    finally:
        for port in ports:
            run(f"ip netns exec {lab.router} tc qdisc del dev d{port} root")


def await_iperf3(lab: HostsLab, running: subprocess.Popen[str]) -> set[str]:
    """The processes of iperf3 on all hosts, once both ends of the four pairs are there."""
    deadline = time.monotonic() + 60
    while len(found := iperf3_of(lab, *lab.names)) < 8:
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def iperf3_of(lab: HostsLab, *names: str) -> set[str]:
    """The processes of iperf3 on some hosts."""
    ours = {str(lab.workers[name].pid) for name in names}
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, after = (folder / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        found |= {folder.name} if name == "iperf3" and after.split()[1] in ours else set()
    return found


@with_iperf3
@with_cgroups
def test_tcp_of_four_hosts_adds_up_and_names_the_one_held_back(lab: HostsLab, tmp_path: Path) -> None:
    with shaped(lab, (0, 1, 3), "20mbit"):
        running = start_tcp(lab, tmp_path, "2s")
        await_iperf3(lab, running)
        with in_cgroup("iperf3", map(int, iperf3_of(lab, "gen3")), FIFTIETH_OF_A_CORE):
            assert running.wait(60) in (0, 4)
    (folder,) = tmp_path.glob("*/")
    with open_run(folder, REASONS) as stored:
        (case,) = stored.cases
        assert case.state == "done", case.error
        (trial,) = stored.trials(0)
        assert case.result is not None
        values = {one.scope: one.number or 0 for one in case.result.values if one.kind.name == "tcp"}
        reasons = {one.scope: one.reason for one in case.verdicts}
    pairs = {
        "p1-p2": ("gen1", "gen2"),
        "p2-p3": ("gen2", "gen3"),
        "p3-p4": ("gen3", "gen4"),
        "p4-p1": ("gen4", "gen1"),
    }
    assert values.keys() == {*pairs, "sum"}
    assert values["sum"] == sum(values[name] for name in pairs)
    # The router's shaper is the truth, whoever sends.
    assert all(0 < values[name] < 20_000_000 for name in ("p1-p2", "p3-p4", "p4-p1"))
    for one in trial.result.carried:
        assert one.sender is not None
        assert one.receiver is not None
        assert (one.sender.host, one.receiver.host) == pairs[one.name]
    assert {one.subject for one in trial.result.series if one.name == "RTT"} == pairs.keys()
    shares = {one.name: one.core_share_ppm or 0 for one in trial.result.hosts}
    assert min(shares, key=lambda name: shares[name]) == "gen3"
    named = {name: one.host for name, one in reasons.items() if isinstance(one, TesterBusy)}
    assert named["p2-p3"] == "gen3"
    # On a busy machine others may wait, too.
    assert "gen3" not in (named.get("p1-p2"), named.get("p4-p1"))
    assert not iperf3_of(lab, *lab.names)


@with_iperf3
def test_worker_that_ends_while_tcp_runs_leaves_no_program_on_any_host(lab: HostsLab, tmp_path: Path) -> None:
    running = start_tcp(lab, tmp_path, "60s")
    began = await_iperf3(lab, running)
    lab.workers["gen2"].kill()
    assert running.wait(60) == 3
    (folder,) = tmp_path.glob("*/")
    assert error_of(folder).code == "host-lost"
    assert "gen2" in error_of(folder).message
    assert not [pid for pid in began if Path("/proc", pid).exists()]
    for name in ("gen1", "gen3", "gen4"):
        assert "p0" in run(f"ip -n {lab.control}{name} link show p0")
    lab.workers["gen2"].wait(10)
    # Sockets of what was killed may keep its namespace, and in it the end of the line, for a while.
    subprocess.run(["ip", "-n", lab.router, "link", "del", "d1"], capture_output=True)
    registered = lab.log.read_text().count("Registered to:")
    lab.join_router("gen2")
    lab.start_worker("gen2")
    lab.await_workers(registered + 1)


def error_of(folder: Path) -> CaseError:
    """Why the only case of a run failed."""
    with open_run(folder) as stored:
        (case,) = stored.cases
    assert case.error is not None
    return case.error


STOPPING = """
import os, signal, sys, threading
from netdyno.hosts.spread import SpreadSession
look, worker = SpreadSession._look, int(sys.argv.pop(1))
def stop_once(self, spec):
    # All hosts have just been given the instant, which is two seconds ahead.
    SpreadSession._look = look
    os.kill(worker, signal.SIGSTOP)
    threading.Timer(5, os.kill, (worker, signal.SIGCONT)).start()
    return look(self, spec)
SpreadSession._look = stop_once
from netdyno.cli import main
main()
"""
"""A run during whose first trial a worker stands still from before the begin of traffic, for 5 s."""


def test_host_that_begins_late_is_named_and_the_trial_retried(lab: HostsLab, tmp_path: Path) -> None:
    plan = tmp_path / "two.yaml"
    plan.write_text(PLAN.format(load="1kpps", duration="200ms"))
    words = ("-c", STOPPING, lab.workers["gen2"].pid, "run", plan, "--out", tmp_path / "runs")
    subprocess.run(
        lab.within(lab.control, sys.executable, *words), env=lab.environment, capture_output=True, timeout=120
    )
    first, second, *_ = trials_of(tmp_path / "runs")
    assert (first.state, first.number, second.number, second.attempt) == ("invalid", 0, 0, 1)
    missed = [one for one in first.result.invalid if isinstance(one, EngineReason)]
    assert [(one.kind, one.about["host"]) for one in missed] == [("begin-missed", "gen2")]
    assert missed[0].about["late_us"] > 1_000_000


def test_run_that_a_signal_ends_leaves_no_host_sending(lab: HostsLab, tmp_path: Path) -> None:
    """And each host serves the next one, which is the next test's in the end."""
    plan = tmp_path / "two.yaml"
    plan.write_text(PLAN.format(load="1kpps", duration="60s"))
    for number, ended in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
        running = lab.start(lab.control, "run", plan, "--out", tmp_path / number.name)
        await_traffic(lab, running)
        running.send_signal(number)
        assert running.wait(60) == ended
        assert is_quiet(lab)


EXAMPLE = Path(__file__).parents[2] / "examples" / "hosts.yaml"
SHORTER = (
    *("method.ramp.ramp=2s to 2kpps", "method.ramp.warmup=null", "method.ramp.hold=null"),
    *("matrix.profile=[64b]", "matrix.direction=[uni]", "trial.settle=100ms", "trial.drain=500ms"),
)


def test_example_whose_worker_ends_in_a_trial_fails_until_resumed(lab: HostsLab, tmp_path: Path) -> None:
    words = (word for one in SHORTER for word in ("--set", one))
    running = lab.start(lab.control, "run", EXAMPLE, "--out", tmp_path / "runs", *words)
    await_traffic(lab, running)
    lab.workers["gen2"].kill()
    assert running.wait(60) == 3
    (folder,) = (tmp_path / "runs").glob("*/")
    error = error_of(folder)
    assert error.code == "host-lost", error
    assert "gen2" in error.message
    assert is_quiet(lab)
    registered = lab.log.read_text().count("Registered to:")
    lab.start_worker("gen2")
    lab.await_workers(registered + 1)
    lab.netdyno("run", "--resume", folder)
    trials = trials_of(tmp_path / "runs")
    assert any(one.result.streams[0].offered == one.result.streams[0].received > 0 for one in trials)


def test_scheduler_that_ends_in_a_trial_is_named_and_nothing_sends(lab: HostsLab, tmp_path: Path) -> None:
    # The last one of this lab: its workers end.
    plan = tmp_path / "two.yaml"
    plan.write_text(PLAN.format(load="1kpps", duration="60s"))
    running = lab.start(lab.control, "run", plan, "--out", tmp_path / "runs")
    await_traffic(lab, running)
    lab.schedulers[-1].kill()
    assert running.wait(60) == 3
    (folder,) = (tmp_path / "runs").glob("*/")
    error = error_of(folder)
    assert error.code == "host-lost", error
    assert "scheduler tls://192.0.2.1:8786" in error.message
    assert is_quiet(lab)
    assert [worker.wait(30) for worker in lab.workers.values()] == [0] * len(lab.workers)
