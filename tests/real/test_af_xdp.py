"""AF_XDP on ports that the kernel and a routing daemon go on using: ARP is learned, OSPF stays up."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from netdyno.devices import LabError
from netdyno.devices.linux import device

BIRD, BIRDC = (shutil.which(name, path=device.SEARCH) for name in ("bird", "birdc"))
PATIENCE_S = 60.0
"""For OSPF to come up on a busy machine; it takes some four seconds on an idle one."""

TESTER, KERNEL, ROUTER = 2, 3, 1
"""Who has which address on each link: the tester beside its own machine's kernel, and the router."""
LINKS = (("p0", "d0", 0), ("p1", "d1", 1))
FLOWS = 1000
LINE_BITS = 84 * 8
"""A 64-byte frame with preamble and gap."""

pytestmark = [
    pytest.mark.skipif(os.getuid() != 0, reason="wants root: BPF programs and network namespaces"),
    pytest.mark.skipif(not (BIRD and BIRDC), reason="wants BIRD (apt-get install bird2)"),
]


def address(link: int, host: int) -> str:
    return f"100.64.{link}.{host}"


@dataclass
class Daemon:
    """A BIRD that speaks OSPF on both interfaces of a namespace."""

    control: Path
    log: Path

    def neighbours(self) -> list[list[str]]:
        """The lines of its neighbour table: router, priority, state, time left, interface, address."""
        assert BIRDC is not None
        said = subprocess.run(
            [BIRDC, "-s", str(self.control), "show", "ospf", "neighbors"], capture_output=True, text=True
        )
        lines = [line.split() for line in said.stdout.splitlines()]
        return [line for line in lines if len(line) >= 6 and line[0].count(".") == 3]

    def is_full(self) -> bool:
        states = [line[2].partition("/")[0] for line in self.neighbours()]
        return states == ["Full", "Full"]

    def changes(self) -> list[str]:
        """What became of its neighbours so far."""
        return [
            line
            for line in self.log.read_text().splitlines()
            if "Neighbor" in line and "changed state" in line
        ]


@contextmanager
def bird(
    place: device.Device, folder: Path, name: str, host: int, interfaces: tuple[str, ...]
) -> Iterator[Daemon]:
    ospf = "\n".join(
        f'    interface "{interface}" {{ type broadcast; hello 1; dead 4; wait 2; }};'
        for interface in interfaces
    )
    configuration = folder / f"{name}.conf"
    log, control = folder / f"{name}.log", folder / f"{name}.ctl"
    configuration.write_text(
        f'log "{log}" all;\nrouter id {address(0, host)};\nprotocol device {{ scan time 1; }}\n'
        "protocol ospf v2 {\n  debug { states, interfaces, events };\n"
        "  ipv4 { import none; export none; };\n"
        f"  area 0 {{\n{ospf}\n  }};\n}}\n"
    )
    assert BIRD is not None
    process = subprocess.Popen(
        [
            *("nsenter", "-t", str(place.pid), "-n"),
            *(BIRD, "-f", "-c", str(configuration), "-s", str(control), "-P", str(folder / f"{name}.pid")),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield Daemon(control, log)
    finally:
        process.terminate()
        process.wait()


@dataclass
class Place:
    """The tester's namespace, the router's, a BIRD in each."""

    tester: device.Device
    router: device.Device
    here: Daemon
    there: Daemon
    macs: tuple[str, ...]

    def are_full(self) -> bool:
        return self.here.is_full() and self.there.is_full()

    def knows(self, interface: str, host: str, mac: str) -> bool:
        """Whether the router has learned who a host is."""
        entry = self.router.do(f"ip neighbour show {host} dev {interface}").split()
        return mac in entry and "PERMANENT" not in entry

    def events(self) -> tuple[list[str], list[str]]:
        return self.here.changes(), self.there.changes()


def join(tester: device.Device, router: device.Device) -> None:
    """Two cables between two kernels, addresses, and routes to what is behind the tester; no neighbours."""
    for place in (tester, router):
        place.ask("for s in all default; do echo 1 > /proc/sys/net/ipv6/conf/$s/disable_ipv6; done")
    for ours, theirs, link in LINKS:
        tester.do(f"ip link add {ours} type veth peer name {theirs} netns {router.pid}")
        tester.do(f"ip address add {address(link, KERNEL)}/29 dev {ours}")
        tester.do(f"ip link set {ours} up")
        router.do(f"ip address add {address(link, ROUTER)}/29 dev {theirs}")
        router.do(f"ip link set {theirs} up")
        router.do(f"echo 0 > /proc/sys/net/ipv4/conf/{theirs}/rp_filter")
        # Whom it has not heard of for a second it asks whether he is there, and gives him up if he is not.
        for name, value in (("base_reachable_time_ms", 1000), ("delay_first_probe_time", 1)):
            router.do(f"echo {value} > /proc/sys/net/ipv4/neigh/{theirs}/{name}")
    router.do("echo 1 > /proc/sys/net/ipv4/ip_forward")
    router.do("echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter")
    router.do(f"ip route add 16.0.0.0/8 via {address(0, TESTER)}")
    router.do(f"ip route add 48.0.0.0/8 via {address(1, TESTER)}")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with ExitStack() as stack:
        try:
            tester = stack.enter_context(device.device_namespace())
            router = stack.enter_context(device.device_namespace())
            join(tester, router)
        except LabError as error:
            pytest.skip(f"no lab here: {error}")
        here = stack.enter_context(bird(tester, tmp_path, "here", KERNEL, ("p0", "p1")))
        there = stack.enter_context(bird(router, tmp_path, "there", ROUTER, ("d0", "d1")))
        macs = tuple(tester.do(f"ip -brief link show {name}").split()[2] for name, _, _ in LINKS)
        place = Place(tester, router, here, there, macs)
        wait_until(place.are_full, "OSPF is up on both links")
        assert all(place.events()), "each BIRD has noted how its neighbours came up"
        yield place


def wait_until(true: Any, what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, f"not within {PATIENCE_S:.0f} s: {what}"
        time.sleep(0.1)


def trial(place: Place, rate_fps: int, seconds: float) -> str:
    """Both directions at this rate each."""
    behind = [{"random": {"min": f"{net}.0.0.1", "max": f"{net}.255.255.254"}} for net in (16, 48)]
    load = {"name": "traffic", "duration_ns": int(seconds * 1e9)}
    streams = [
        {
            "name": name,
            "tx_port": tx,
            "rx_port": 1 - tx,
            "headers": [
                {"type": "ethernet", "src": place.macs[tx], "dst": "00:00:00:00:00:00"},
                {"type": "ipv4", "src": behind[tx], "dst": behind[1 - tx]},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "destination": {"gateway": address(tx, ROUTER)},
            "sizes": [{"size": 64, "weight": 1}],
            "flows": FLOWS,
            "schedule": [{**load, "from_bps": rate_fps * LINE_BITS, "to_bps": rate_fps * LINE_BITS}],
        }
        for tx, name in enumerate(("west-east", "east-west"))
    ]
    ports = [
        {"mac": mac, "ipv4": address(link, TESTER), "gateway": address(link, ROUTER)}
        for link, mac in enumerate(place.macs)
    ]
    waits = {"settle_ns": 100_000_000, "drain_ns": 500_000_000, "sample_ns": 100_000_000}
    return json.dumps({"seed": 7, "streams": streams, "ports": ports, **waits})


ASK = 'import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b"?", ("{}", 9))'

RUN = """
import json, sys
from netdyno._engine import Session
session = Session(sys.argv[1])
session.start(sys.stdin.read())
while not session.wait(1.0):
    pass
print(session.result())
session.close()
"""


@contextmanager
def running(place: Place, rate_fps: int, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """A trial in the tester's namespace, in a process of its own."""
    ports = [
        {"name": name, "backend": {"kind": "af_xdp", "interface": interface}}
        for name, interface in (("west", "p0"), ("east", "p1"))
    ]
    process = subprocess.Popen(
        [
            *("nsenter", "-t", str(place.tester.pid), "-n"),
            *(sys.executable, "-c", RUN, json.dumps({"clock": "real", "ports": ports})),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdin is not None
        process.stdin.write(trial(place, rate_fps, seconds))
        process.stdin.close()
        process.stdin = None
        yield process
    finally:
        process.kill()
        process.wait()


def outcome(process: subprocess.Popen[str]) -> dict[str, Any]:
    said, _ = process.communicate(timeout=PATIENCE_S)
    if "CAP_BPF" in said or "this kernel has no AF_XDP" in said:
        pytest.skip(f"no AF_XDP here: {said.strip().splitlines()[-1]}")
    assert process.returncode == 0, said
    found: dict[str, Any] = json.loads(said)["trial"]
    assert found["invalid"] == []
    return found


def test_ospf_stays_up_and_arp_is_learned_on_ports_under_load(place: Place) -> None:
    before = place.events()
    with running(place, 50_000, 6.0) as process:
        # Longer than OSPF waits for a neighbour (4 s), and than the router trusts what ARP told it (1 s).
        wait_until(lambda: "prog/xdp" in place.tester.do("ip link show p0"), "the port is open")
        time.sleep(2.5)
        for (_, interface, link), mac in zip(LINKS, place.macs, strict=True):
            # The machine's own address on the loaded port is answered for by its kernel.
            own = address(link, KERNEL)
            place.router.ask(f"ip neighbour delete {own} dev {interface}")
            place.router.do(f"{sys.executable} -c '{ASK.format(own)}'")
            wait_until(partial(place.knows, interface, own, mac), f"{own} is answered for under load")
            assert place.knows(interface, address(link, TESTER), mac)
        found = outcome(process)
    for stream in found["streams"]:
        # Whoever shares the machine may keep the tester from its core: it then drops frames, or sends less.
        assert stream["offered"] > 100_000
        assert stream["lost"] <= found["health"]["rx_dropped"]
        assert stream["flows_received"] == FLOWS
        assert (stream["duplicates"], stream["corrupted"], stream["elsewhere"]) == (0, 0, 0)
    # Each port was asked again and again whether the tester is there.
    assert all(port["foreign"] >= 2 for port in found["ports"])
    assert place.events() == before, "no adjacency has changed"
    assert place.are_full()
    assert "prog/xdp" not in place.tester.do("ip link show"), "nothing is left attached"


def test_ospf_stays_up_at_full_speed(place: Place) -> None:
    before = place.events()
    with running(place, 3_000_000, 5.0) as process:
        found = outcome(process)
    assert found["health"]["unsent"] > 0, "more than can be sent was asked for"
    assert all(stream["received"] > 100_000 for stream in found["streams"])
    assert place.events() == before, "no adjacency has changed"
    assert place.are_full()
