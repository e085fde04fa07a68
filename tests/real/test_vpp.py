"""Against VPP over memif: its counters are the truth, its own ARP answers and asks; it may be restarted."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

VPP = os.environ.get("NETDYNO_TEST_VPP") or shutil.which("vpp")
"""Of your own build: `NETDYNO_TEST_VPP=build-root/.../bin/vpp`, with vppctl beside it."""

pytestmark = pytest.mark.skipif(
    VPP is None or os.getuid() != 0,
    reason="wants root and VPP, which Debian has no package of (NETDYNO_TEST_VPP)",
)

RATE, SECONDS = 2000, 2
BITS_64 = 84 * 8
PATIENCE_S = 40.0
MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02")

STARTUP = """
unix {{ nodaemon cli-listen {folder}/cli.sock runtime-dir {folder} startup-config {folder}/commands }}
api-segment {{ prefix {prefix} }}
buffers {{ buffers-per-numa 8192 page-size default }}
memory {{ main-heap-size 256M main-heap-page-size default }}
statseg {{ size 32M socket-name {folder}/stats.sock page-size default }}
plugins {{ plugin default {{ disable }} plugin memif_plugin.so {{ enable }} }}
"""
# VPP listens on one side and connects on the other, so netdyno is client and server.
PORTS = """
create memif socket id 1 filename {folder}/west.sock
create memif socket id 2 filename {folder}/east.sock
create interface memif id 0 socket-id 1 master
create interface memif id 0 socket-id 2 slave
set interface state memif1/0 up
set interface state memif2/0 up
"""
CROSS = """
set interface l2 xconnect memif1/0 memif2/0
set interface l2 xconnect memif2/0 memif1/0
"""
ROUTER = """
set interface ip address memif1/0 198.18.0.1/30
set interface ip address memif2/0 198.18.0.5/30
ip route add 16.0.0.0/8 via 198.18.0.2
ip route add 48.0.0.0/8 via 198.18.0.6
"""


class Vpp:
    """A VPP process with a folder of its own."""

    def __init__(self, folder: Path, commands: str) -> None:
        self.folder = folder
        prefix = f"nd{os.getpid()}"
        (folder / "startup").write_text(STARTUP.format(folder=folder, prefix=prefix))
        (folder / "commands").write_text((PORTS + commands).format(folder=folder))
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        assert VPP is not None
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([VPP, "-c", str(self.folder / "startup")], stdout=log, stderr=log)
        deadline = time.monotonic() + PATIENCE_S
        # The CLI answers before the commands have been read.
        while "memif2/0" not in self.say("show interface"):
            assert self.process.poll() is None, (self.folder / "log").read_text(errors="replace")
            assert time.monotonic() < deadline, "VPP does not come up"
            time.sleep(0.2)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def say(self, command: str) -> str:
        assert VPP is not None
        vppctl = str(Path(VPP).with_name("vppctl"))
        words = [vppctl, "-s", str(self.folder / "cli.sock"), *command.split()]
        return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S).stdout

    def counts(self) -> dict[tuple[str, str], int]:
        """By interface and name of counter, of `show interface`."""
        found, interface = {}, ""
        for line in self.say("show interface").splitlines():
            if not line.startswith(" "):
                interface = line.split()[0]
            if counter := re.search(r"(rx packets|tx packets|drops|punt)\s+(\d+)$", line.rstrip()):
                found[interface, counter[1]] = int(counter[2])
        return found

    def no_room(self) -> int:
        """Frames VPP had no place for in a ring of ours: it counts them as sent all the same."""
        return sum(
            int(line.split()[0])
            for line in self.say("show errors").splitlines()
            if "no free tx slots" in line
        )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    return tmp_path


def vpp_of(folder: Path, commands: str) -> Iterator[Vpp]:
    vpp = Vpp(folder, commands)
    try:
        yield vpp
    finally:
        vpp.kill()


@pytest.fixture
def cross(folder: Path) -> Iterator[Vpp]:
    yield from vpp_of(folder, CROSS)


@pytest.fixture
def router(folder: Path) -> Iterator[Vpp]:
    yield from vpp_of(folder, ROUTER)


def session(folder: Path) -> Any:
    from netdyno import _engine

    ports = [
        {"name": name, "backend": {"kind": "memif", "socket": str(folder / f"{name}.sock"), "role": role}}
        for name, role in (("west", "client"), ("east", "server"))
    ]
    return _engine.Session(json.dumps({"clock": "real", "ports": ports}))


def spec(routed: bool) -> str:
    nets, load = ("16.0.0.1", "48.0.0.1"), RATE * BITS_64
    streams = [
        {
            "name": f"from {tx}", "tx_port": tx, "rx_port": 1 - tx,
            "headers": [
                {"type": "ethernet", "src": MACS[tx], "dst": MACS[1 - tx]},
                {"type": "ipv4", "src": nets[tx], "dst": nets[1 - tx]},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "destination": {"gateway": ("198.18.0.1", "198.18.0.5")[tx]} if routed else "peer",
            "sizes": [{"size": 64, "weight": 1}], "flows": 100,
            "schedule": [
                {"name": "traffic", "duration_ns": SECONDS * 10**9, "from_bps": load, "to_bps": load}
            ],
        }
        for tx in (0, 1)
    ]  # fmt: skip
    own = (("198.18.0.2", "198.18.0.1"), ("198.18.0.6", "198.18.0.5"))
    ports = [
        {"mac": mac, **({"ipv4": ours, "gateway": theirs} if routed else {})}
        for mac, (ours, theirs) in zip(MACS, own, strict=True)
    ]
    waits = {"settle_ns": 10**8, "drain_ns": 10**9, "sample_ns": 10**8}
    return json.dumps({"seed": 3, "streams": streams, "ports": ports, **waits})


def trial(running: Any, routed: bool) -> dict[str, Any]:
    running.start(spec(routed))
    assert running.wait(PATIENCE_S)
    found: dict[str, Any] = json.loads(running.result())["trial"]
    assert found["invalid"] == []
    return found


def agrees(vpp: Vpp, found: dict[str, Any], before: dict[tuple[str, str], int]) -> None:
    """Frame for frame: what we sent it received, what it sent and had room for we received."""
    after = vpp.counts()
    for port, interface in ((0, "memif1/0"), (1, "memif2/0")):
        counted = {
            name: after.get((interface, name), 0) - before.get((interface, name), 0)
            for name in ("rx packets", "tx packets")
        }
        assert counted["rx packets"] == found["ports"][port]["tx_frames"]
        if vpp.no_room() == 0:
            assert counted["tx packets"] == found["ports"][port]["rx_frames"]
    for stream in found["streams"]:
        assert stream["offered"] > 0
        assert (stream["corrupted"], stream["duplicates"]) == (0, 0)
    assert sum(stream["lost"] for stream in found["streams"]) <= vpp.no_room()


def test_counts_are_vpps_as_client_and_as_server(cross: Vpp) -> None:
    running = session(cross.folder)
    agrees(cross, trial(running, False), {})
    running.close()


def test_vpp_routes_and_resolves(router: Vpp) -> None:
    """The tester asks VPP for its MAC, VPP asks the tester for his, and both answer."""
    running = session(router.folder)
    found = trial(running, True)
    agrees(router, found, {})
    neighbours = router.say("show ip neighbors")
    for ours, mac in zip(("198.18.0.2", "198.18.0.6"), MACS, strict=True):
        assert re.search(rf"{re.escape(ours)}\s.*{mac}", neighbours), neighbours
    running.close()


def test_vpp_is_killed_and_comes_back(cross: Vpp) -> None:
    running = session(cross.folder)
    agrees(cross, trial(running, False), {})
    for _ in range(2):
        cross.kill()
        cross.start()
        agrees(cross, trial(running, False), {})
    running.close()


def test_a_trial_on_a_vpp_that_dies_is_invalid(cross: Vpp) -> None:
    running = session(cross.folder)
    running.start(spec(False))
    deadline = time.monotonic() + PATIENCE_S
    while json.loads(running.snapshot())["phase"] in ("resolve", "settle"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    cross.kill()
    assert running.wait(PATIENCE_S)
    assert json.loads(running.result())["trial"]["invalid"] != []
    running.close()
