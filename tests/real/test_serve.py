"""`netdyno dut serve`: a device in another process, killed and started again, and ended in order."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from campaigns import ENVIRONMENT
from netdyno import _engine
from netdyno.cli.serve import Service
from netdyno.devices.linux import namespaces
from netdyno.devices.linux.device import SEARCH
from netdyno.devices.linux.links import ip
from netdyno.errors import Problems
from netdyno.ports.nic import fit
from sampling import WHOLE

pytestmark = pytest.mark.paired

KILLS = 20 if WHOLE else 4
PATIENCE_S = 30


def command(folder: Path, *options: str) -> list[str]:
    ports = [option for name in ("west", "east") for option in ("--memif", f"{name}={folder / name}.sock")]
    return [sys.executable, "-m", "netdyno", "dut", "serve", "emulated/cross-connect", *ports, *options]


@contextmanager
def served(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command(folder, *options),
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE_S)


def session(folder: Path) -> _engine.Session:
    ports = [
        {
            "name": name,
            "backend": {"kind": "memif", "socket": f"{folder / name}.sock", "patience_ms": PATIENCE_S * 1000},
        }
        for name in ("west", "east")
    ]
    return _engine.Session(json.dumps({"clock": "real", "ports": ports}))


def trial(milliseconds: int) -> str:
    stream = {
        "name": "west-east",
        "tx_port": 0,
        "rx_port": 1,
        "headers": [
            {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
            {"type": "ipv4", "src": "16.0.0.1", "dst": "48.0.0.1"},
            {"type": "udp", "sport": 1025, "dport": 12},
        ],
        "destination": "peer",
        "sizes": [{"size": 64, "weight": 1}],
        "flows": 1,
        # 1000 frames a second of 64 bytes and the 20 around them.
        "schedule": [
            {
                "name": "traffic",
                "duration_ns": milliseconds * 10**6,
                "from_bps": 672_000,
                "to_bps": 672_000,
            }
        ],
    }
    ports = [
        {"mac": "02:00:00:00:00:01", "ipv4": "198.18.0.2"},
        {"mac": "02:00:00:00:00:02", "ipv4": "198.18.0.6"},
    ]
    times = {"settle_ns": 10**6, "drain_ns": 10**8, "sample_ns": 10**7}
    return json.dumps({"seed": 1, "streams": [stream], "ports": ports, **times})


def found(tester: _engine.Session) -> dict[str, Any]:
    assert tester.wait(PATIENCE_S), "the trial hangs"
    result: dict[str, Any] = json.loads(tester.result())["trial"]
    return result


def test_a_device_killed_and_started_again_again_and_again(tmp_path: Path) -> None:
    tester = session(tmp_path)
    for _ in range(KILLS):
        # The sockets of the one that was killed are still there.
        with served(tmp_path) as device:
            tester.start(trial(600_000))
            deadline = time.monotonic() + PATIENCE_S
            while json.loads(tester.snapshot())["ports"][1]["rx_frames"] < 5:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            device.send_signal(signal.SIGKILL)
            cut = found(tester)
            # What was on its way is not the device's loss: there is no such trial.
            (why,) = cut["invalid"]
            assert why["code"] == "port-gone"
            assert "closed the connection without a DISCONNECT" in why["fields"]["why"]
    with served(tmp_path):
        tester.start(trial(50))
        whole = found(tester)
        assert whole["invalid"] == []
        (stream,) = whole["streams"]
        assert stream["received"] > 0
    tester.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order(tmp_path: Path, number: signal.Signals) -> None:
    with served(tmp_path, "--format", "json", "--delay", "50us") as device:
        tester = session(tmp_path)
        tester.start(trial(100))
        offered = found(tester)["streams"][0]["offered"]
        tester.close()
        device.send_signal(number)
        out, err = device.communicate(timeout=PATIENCE_S)
    assert device.returncode == 0, err
    west, east = json.loads(out)
    assert int(west["rx frames"]) == offered
    assert int(east["tx frames"]) + int(east["no room at the tester"]) == offered
    assert err.splitlines()[0] == f"west listens at {tmp_path}/west.sock, id 0"
    assert os.listdir(tmp_path) == []


def refused(**change: Any) -> list[str]:
    known = {"kind": "emulated/router", "ports": (("west", "@w"), ("east", "@e"))}
    with pytest.raises(Problems) as found:
        Service(**{**known, **change}).spec()
    assert all(problem.hint for problem in found.value.problems)
    return [problem.message for problem in found.value.problems]


def test_mistakes_are_a_line_each() -> None:
    assert refused(kind="linux/router") == ["`linux/router` is no emulated device"]
    assert refused(kind="emulated/toaster") == ["`emulated/toaster` is no kind of device"]
    assert refused(ports=(("west", "@w"), ("west", "@e"))) == ["the name of a port `west` is given twice"]
    alone = (("west", "@w"),)
    assert refused(kind="emulated/bridge", ports=alone) == ["`emulated/bridge` takes two to 64 ports, not 1"]
    assert refused(settings={"capacity": "9"}) == ["`capacity` of `emulated/router` cannot be `9`"]


def test_all_mistakes_of_a_command_line_are_reported_at_once(tmp_path: Path) -> None:
    options = ["--setting", "speed=1", "--setting", "capacity=2", "--rate", "fast", "--delay", "long"]
    more = ["--max-size", "9", "--duration", "0s", "--memif", f"west={tmp_path}/other.sock"]
    done = subprocess.run(
        command(tmp_path, *options, *more),
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 2, done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    for words in ("`speed`", "`capacity`", "`fast`", "`long`", "`9`", "`0s`", "`west` is given twice"):
        assert sum(words in error for error in errors) == 1, (words, errors)
    assert os.listdir(tmp_path) == []


def test_a_socket_that_is_taken_is_not_taken_over(tmp_path: Path) -> None:
    ports = (("west", f"{tmp_path}/west.sock"), ("east", f"{tmp_path}/east.sock"))
    taken = json.dumps(Service("emulated/bridge", ports).spec())
    with served(tmp_path):
        deadline = time.monotonic() + PATIENCE_S
        while not (tmp_path / "east.sock").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        with pytest.raises(_engine.EngineError, match="another process listens there already") as refused:
            _engine.Server(taken)
        assert refused.value.code == "port-system"


@pytest.mark.skipif(os.getuid() != 0, reason="wants root: packet sockets and network namespaces")
def test_device_on_interfaces_passes_what_comes_to_their_far_ends() -> None:
    pairs = (("w0", "w1"), ("e0", "e1"))
    on = [option for near, far in pairs for option in ("--interface", f"{near}={far}")]
    asked = [sys.executable, "-m", "netdyno", "dut", "serve", "emulated/path", *on, "--format", "json"]
    with namespaces.tester_namespace():
        for near, far in pairs:
            ip(f"link add {near} type veth peer name {far}")
            for end in (near, far):
                ip(f"link set {end} up")
        with subprocess.Popen(
            [*asked, "--setting", "delay=1ms"],
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as device:
            assert device.stderr is not None
            assert device.stderr.readline() == "w0 is w1\n"
            ports = [{"name": near, "backend": {"kind": "af_packet", "interface": near}} for near, _ in pairs]
            tester = _engine.Session(json.dumps({"clock": "real", "ports": ports}))
            tester.start(trial(100))
            (stream,) = found(tester)["streams"]
            tester.close()
            device.send_signal(signal.SIGINT)
            out, err = device.communicate(timeout=PATIENCE_S)
        for near, _ in pairs:
            ip(f"link delete {near}")
    assert device.returncode == 0, err
    west, east = json.loads(out)
    assert int(west["rx frames"]) == stream["offered"] > 0
    assert int(east["tx frames"]) == stream["received"] + int(east["no room at the tester"])
    assert stream["latency"]["min_ns"] >= 1_000_000


ON_XDP = """\
import json, subprocess, sys, time
from pathlib import Path
from netdyno import _engine
for scope in ("all", "default"):
    Path(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6").write_text("1")
for pair in (("w0", "w1"), ("e0", "e1")):
    subprocess.run(["ip", "link", "add", pair[0], "type", "veth", "peer", "name", pair[1]], check=True)
    for end in pair:
        subprocess.run(["ip", "link", "set", end, "up"], check=True)
spec, trial = json.loads(sys.argv[1]), sys.argv[2]
spec["ports"] = [{"kind": "af_xdp", "interface": name} for name in ("w1", "e1")]
server = _engine.Server(json.dumps(spec))
ports = [
    {"name": name, "backend": {"kind": "af_packet", "interface": interface}}
    for name, interface in (("west", "w0"), ("east", "e0"))
]
tester = _engine.Session(json.dumps({"clock": "real", "ports": ports}))
tester.start(trial)
assert tester.wait(30.0)
print(json.dumps({"trial": json.loads(tester.result())["trial"], "served": json.loads(server.stop())}))
"""
"""A device on two AF_XDP ports, a tester on packet sockets at the other ends of two cables."""


@pytest.mark.skipif(os.getuid() != 0, reason="wants root: BPF programs and network namespaces")
@pytest.mark.skipif(
    not all(shutil.which(name, path=SEARCH) for name in ("ip", "unshare")),
    reason="wants `ip` and `unshare` (apt-get install iproute2 util-linux)",
)
def test_device_on_interfaces_shared_with_the_kernel_receives_all_frames() -> None:
    refused = fit.rights().af_xdp
    if refused is not None:
        pytest.skip(f"AF_XDP: {refused[0]}")
    served = json.dumps(Service("emulated/cross-connect", (("west", "@w"), ("east", "@e"))).spec())
    done = subprocess.run(
        ["unshare", "-n", sys.executable, "-c", ON_XDP, served, trial(100)],
        env={**ENVIRONMENT, "PATH": SEARCH},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S * 2,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["trial"]["invalid"] == []
    (stream,) = told["trial"]["streams"]
    west, _ = told["served"]["device"]["ports"]
    assert stream["offered"] > 0
    assert west["rx_frames"] >= stream["offered"], "all test frames, and what else came"
    assert stream["received"] > 0
