"""The other generators that Debian ships, and netdyno, each run once for some seconds: how many frames came.

Every figure is counted where the frames arrive if anything counts there (testpmd `rxonly`, the far end of a
veth), by the generator itself where nothing does (a device that only gives the buffers back).
Each function says with `MissingError` what is not there; each process it starts is ended by it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

SECONDS = 3
"""Of traffic, each time."""
PATIENCE_S = 20
"""testpmd polls its devices without a pause: one that does not end when asked would take a core for good."""
SENDER_CORE, FAR_CORE = 0, 1
PAYLOAD_BYTES = 64 - 4 - 14 - 20 - 8
"""UDP payload of a frame of 64 bytes, FCS counted."""


def ping_pong_ns() -> float:
    """The median time a cache line takes from one of the two cores to the other, ns."""
    from netdyno.testers.netdyno.engine import bounce

    return float(bounce(SENDER_CORE, FAR_CORE, 20_000)["median_ns"])


class MissingError(Exception):
    """A peer that is not on this machine, or not to be had: which, and what to do."""


@dataclass(frozen=True)
class Found:
    """One run.

    mpps: million frames per second. core_share: of the core that sent, 0 to 1, where known.
    offered_mpps: what was sent, where `mpps` is what came back. passed_mpps: what a device in between says
    that it passed in the same run, if there is one.
    """

    mpps: float
    core_share: float | None = None
    more: str = ""
    offered_mpps: float | None = None
    passed_mpps: float | None = None


def _program(name: str, package: str) -> str:
    path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if path is None:
        raise MissingError(f"{name} is not here: apt-get install {package}")
    return path


def _start(command: list[str], *, speaks: bool = False) -> subprocess.Popen[str]:
    """In a session of its own, to be ended with all it starts: trafgen's workers outlive it."""
    out = subprocess.PIPE if speaks else subprocess.DEVNULL
    pipes = {"stdin": subprocess.PIPE, "stdout": out, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, text=True, start_new_session=True, **pipes)  # type: ignore[call-overload, no-any-return]


def _kill(process: subprocess.Popen[str]) -> None:
    """All that is left of it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _end(process: subprocess.Popen[str]) -> str:
    """What it printed, once it has ended; killed if it does not heed being asked."""
    try:
        process.terminate()
        return process.communicate(timeout=PATIENCE_S)[0] or ""
    except subprocess.TimeoutExpired:
        # With all it started: they may hold the pipe, and it would never end.
        _kill(process)
        return process.communicate()[0] or ""
    finally:
        _kill(process)


def _watch(session: int) -> float:
    """Lets `SECONDS` pass; the share of a core that the session's busiest thread had of them."""
    before, start = _thread_times(session), time.monotonic()
    time.sleep(SECONDS)
    after, took = _thread_times(session), time.monotonic() - start
    used = max((after[task] - before.get(task, 0) for task in after), default=0)
    return min(1.0, used / os.sysconf("SC_CLK_TCK") / took)


def _thread_times(session: int) -> dict[str, int]:
    """User and system time of each thread, in clock ticks (proc(5): fields 6, 14 and 15 of `stat`)."""
    times = {}
    for stat in Path("/proc").glob("[0-9]*/task/*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                times[stat.parent.name] = int(fields[11]) + int(fields[12])
    return times


# testpmd


GIVEN = os.environ.get("NETDYNO_TESTPMD")
"""A testpmd of the user's, such as one built for this machine, to be compared with beside Debian's."""


@contextmanager
def _testpmd(mode: str, vdev: str, core: int, given: str | None = None) -> Iterator[subprocess.Popen[str]]:
    """A given testpmd, or Debian's, with one forwarding core, its statistics on a pipe once a second."""
    program = given or _program("dpdk-testpmd", "dpdk-dev")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            program, "-l", "0,1", f"--main-lcore={1 - core}", "--no-pci", "--no-huge", "-m", "512",
            "--vdev", vdev, "--file-prefix", Path(folder).name, "--",
            f"--forward-mode={mode}", "--nb-cores=1", "--no-mlockall", "--total-num-mbufs=16384",
            "--stats-period=1",
        ]  # fmt: skip
        process = _start(command, speaks=True)
        try:
            yield process
        finally:
            _kill(process)


def _rate(process: subprocess.Popen[str], way: str) -> float:
    """The median of the whole seconds in which frames passed, Mpps."""
    out = _end(process)
    rates = [int(rate) for rate in re.findall(rf"{way}-pps:\s+(\d+)", out) if int(rate)]
    if not rates:
        raise RuntimeError(f"testpmd printed no {way} rate:\n{out[-1000:]}")
    # The first and the last second hold the beginning and the end.
    return statistics.median(rates[1:-1] or rates) / 1e6


def testpmd_null(mode: str, given: str | None) -> Found:
    """testpmd sending into a device that only gives the buffers back."""
    with _testpmd(mode, "net_null0", SENDER_CORE, given) as process:
        time.sleep(1)
        share = _watch(process.pid)
        return Found(_rate(process, "Tx"), share)


def memif(socket: Path, role: str) -> str:
    """testpmd's end of a memif."""
    return f"net_memif0,role={role},id=0,socket={socket},socket-abstract=no,rsize=11"


@contextmanager
def _far_end(mode: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """testpmd as the server of a memif, on the far core; and where it listens."""
    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder) / "memif.sock"
        with _testpmd(mode, memif(socket, "server"), FAR_CORE) as far:
            _wait_for(socket.exists, "testpmd's memif socket")
            yield far, socket


def _wait_for(there: Any, what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not there():
        if time.monotonic() > end:
            raise RuntimeError(f"waited {PATIENCE_S} s for {what}")
        time.sleep(0.05)


def testpmd_memif(mode: str, given: str | None) -> Found:
    """testpmd sending by memif to another testpmd that only receives, which counts."""
    with (
        _far_end("rxonly") as (far, socket),
        _testpmd(mode, memif(socket, "client"), SENDER_CORE, given) as near,
    ):
        time.sleep(1)
        share = _watch(near.pid)
        return Found(_rate(far, "Rx"), share)


def netdyno_memif(flows: int, streams: int = 1) -> Found:
    """netdyno sending by memif to a testpmd that only receives, which counts."""
    with _far_end("rxonly") as (far, socket):
        backend = {"kind": "memif", "socket": str(socket), "role": "client", "id": 0}
        found = netdyno(backend, flows, 100, streams=streams)
        return Found(_rate(far, "Rx"), found.core_share, found.more)


def netdyno_memif_server(flows: int) -> Found:
    """The same with netdyno as the server. A testpmd that finds nobody to connect to never tries again."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as beside:
        socket = Path(folder) / "memif.sock"
        backend = {"kind": "memif", "socket": str(socket), "role": "server", "id": 0}
        near = beside.submit(netdyno, backend, flows, 100)
        _wait_for(lambda: near.done() or socket.exists(), "netdyno's memif socket")
        with _testpmd("rxonly", memif(socket, "client"), FAR_CORE) as far:
            found = near.result()
            return Found(_rate(far, "Rx"), found.core_share, found.more)


def netdyno_echo(flows: int) -> Found:
    """netdyno sending by memif to a testpmd that gives every frame back; what came back, checked."""
    with _far_end("io") as (_, socket):
        backend = {"kind": "memif", "socket": str(socket), "role": "client", "id": 0}
        return netdyno(backend, flows, 100, echo=True)


# A veth pair in a namespace of its own: its far end's counters say what came.


@contextmanager
def veth() -> Iterator[str]:
    """A namespace with `near` and `far`, nothing else in it; what reaches `far` is dropped and counted."""
    if os.geteuid() != 0:
        raise MissingError("a veth pair needs root")
    name = f"netdyno-peers-{os.getpid()}"
    _ip("netns", "add", name)
    try:
        inside = ("-n", name)
        _ip(*inside, "link", "add", "near", "type", "veth", "peer", "name", "far")
        for end, number in (("near", 1), ("far", 2)):
            _ip(*inside, "addr", "add", f"198.18.0.{number}/30", "dev", end)
            _ip(*inside, "link", "set", end, "arp", "off", "up")
        yield name
    finally:
        _ip("netns", "del", name)


def _ip(*arguments: str) -> str:
    command = [_program("ip", "iproute2"), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _arrived(name: str) -> int:
    (link,) = json.loads(_ip("-n", name, "-s", "-j", "link", "show", "dev", "far"))
    return int(link["stats64"]["rx"]["packets"])


def _inside(name: str, command: list[str]) -> list[str]:
    taskset = _program("taskset", "util-linux")
    return [_program("ip", "iproute2"), "netns", "exec", name, taskset, "-c", str(SENDER_CORE), *command]


TRAFGEN = """{
  0x02, 0, 0, 0, 0, 2,  0x02, 0, 0, 0, 0, 1,  const16(0x0800),
  0x45, 0, const16(46), const16(0), const16(0), 64, 17, csumip(14, 33),
  16, drnd(3),  48, drnd(3),
  const16(1025), const16(12), const16(26), const16(0),
  fill(0, 18),
}
"""
"""64 bytes with FCS: random source and destination, IPv4 checksum right, UDP checksum 0 (none)."""


def trafgen() -> Found:
    """trafgen on one core, random addresses."""
    program = _program("trafgen", "netsniff-ng")
    with veth() as name, tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "frame.cfg"
        config.write_text(TRAFGEN)
        command = [program, "--conf", str(config), "--out", "near", "--cpus", "1", "--no-sock-mem"]
        return _counted(name, _inside(name, command))


def iperf3() -> Found:
    """iperf3, UDP, one flow, to a server in another namespace; what the server's end received."""
    program = _program("iperf3", "iperf3")
    with veth() as name:
        away = f"{name}-far"
        _ip("netns", "add", away)
        try:
            _ip("-n", name, "link", "set", "far", "netns", away)
            _ip("-n", away, "addr", "add", "198.18.0.2/30", "dev", "far")
            for where, end in ((name, "near"), (away, "far")):
                _ip("-n", where, "link", "set", end, "arp", "on", "up")
                _ip("-n", where, "link", "set", "lo", "up")
            run = [_program("ip", "iproute2"), "netns", "exec", away, program, "-s", "-1"]
            server = _start(run)
            try:
                time.sleep(1)
                command = [program, "-c", "198.18.0.2", "-u", "-b", "0", "-l", str(PAYLOAD_BYTES)]
                before, start = _arrived(away), time.monotonic()
                client = _inside(name, [*command, "-t", str(SECONDS)])
                subprocess.run(client, check=True, capture_output=True, timeout=SECONDS + PATIENCE_S)
                return Found((_arrived(away) - before) / (time.monotonic() - start) / 1e6)
            finally:
                _end(server)
        finally:
            _ip("netns", "del", away)


def _counted(name: str, command: list[str]) -> Found:
    """What reached the far end in the middle of a run of `command`, which sends until it is ended."""
    process = _start(command)
    try:
        time.sleep(1)
        before, start = _arrived(name), time.monotonic()
        share = _watch(process.pid)
        mpps = (_arrived(name) - before) / (time.monotonic() - start) / 1e6
    finally:
        _end(process)
    if not mpps:
        raise RuntimeError(f"nothing came of: {' '.join(command)}")
    return Found(mpps, share)


def netdyno_veth(backend: str, flows: int) -> Found:
    """netdyno on the near end; what reached the far end, over the time of traffic."""
    with veth() as name:
        before = _arrived(name)
        found = netdyno({"kind": backend, "interface": "near"}, flows, 5, namespace=name)
        return Found((_arrived(name) - before) / SECONDS / 1e6, found.core_share, found.more)


def netdyno_routed(flows: int) -> Found:
    """netdyno on both ends of the kernel's router, by AF_XDP: what came back, beside what the router passed.

    The router has a namespace and, by receive packet steering, a core of its own.
    """
    with veth() as name:
        away = f"{name}-router"
        _ip("netns", "add", away)
        try:
            for number, end in enumerate(("near", "far"), start=1):
                inner = f"in-{end}"
                _ip("-n", name, "link", "add", f"to-{end}", "type", "veth", "peer", "name", inner)
                _ip("-n", name, "link", "set", inner, "netns", away)
                _ip("-n", name, "link", "set", f"to-{end}", "arp", "off", "up")
                _ip("-n", away, "addr", "add", f"198.18.{number}.1/24", "dev", inner)
                # The near one is what the test frames are sent to.
                _ip("-n", away, "link", "set", inner, "address", f"02:00:00:00:0{number - 1}:02", "up")
            # Every test frame leaves by the far port, to a neighbour that is known.
            neighbour = ("198.18.2.2", "lladdr", "02:00:00:00:00:02", "dev", "in-far")
            _ip("-n", away, "neigh", "add", *neighbour, "nud", "permanent")
            _ip("-n", away, "route", "add", "48.0.0.0/8", "via", "198.18.2.2")
            steer = f"echo {1 << FAR_CORE:x} > /sys/class/net/in-near/queues/rx-0/rps_cpus"
            filters = "for one in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 > $one; done"
            forward = f"echo 1 > /proc/sys/net/ipv4/ip_forward; {filters}; {steer}"
            inside = [_program("ip", "iproute2"), "netns", "exec", away]
            subprocess.run([*inside, "sh", "-ec", forward], check=True, capture_output=True, text=True)
            before = _forwarded(inside)
            # What comes back is taken in the driver: a generic program sits behind a queue of the kernel's
            # that all frames of a core share, and that the flood towards the router has filled.
            backends = [
                {"kind": "af_xdp", "interface": f"to-{end}", "attach": attach}
                for end, attach in (("near", "auto"), ("far", "native"))
            ]
            found = netdyno(backends[0], flows, 5, echo=True, namespace=name, second=backends[1])
            return replace(found, passed_mpps=(_forwarded(inside) - before) / SECONDS / 1e6)
        finally:
            _ip("netns", "del", away)


def _forwarded(inside: list[str]) -> int:
    """Packets forwarded in a namespace, of the kernel's own count (RFC 1213, ipForwDatagrams)."""
    told = subprocess.run([*inside, "cat", "/proc/net/snmp"], check=True, capture_output=True, text=True)
    names, values = (line.split() for line in told.stdout.splitlines() if line.startswith("Ip:"))
    return int(values[names.index("ForwDatagrams")])


# netdyno itself, in a process of its own.


def netdyno(
    backend: dict[str, Any], flows: int, ask_mpps: float, *,
    echo: bool = False, namespace: str | None = None, workers: int = 1, first: int = SENDER_CORE,
    second: dict[str, Any] | None = None, streams: int = 1,
) -> Found:  # fmt: skip
    """netdyno asked for more than it can send, 64 bytes, random addresses, a core for each worker.

    echo: counts what comes back. first: the core of the first worker; the others follow. second: where
    frames come back, if not where they left. streams: that flows and rate are shared by.
    """
    cores = list(range(first, first + workers))
    backends = [backend] if second is None else [backend, second]
    asked = {
        "backends": backends, "flows": flows // streams, "ask": ask_mpps / streams, "workers": workers,
        "cores": cores, "streams": streams,
    }  # fmt: skip
    run = [sys.executable, __file__, json.dumps(asked)]
    command = run if namespace is None else [_program("ip", "iproute2"), "netns", "exec", namespace, *run]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS + PATIENCE_S)
    if done.returncode:
        raise RuntimeError(f"netdyno on {backend['kind']}: {done.stderr.strip()[-400:]}")
    trial = json.loads(done.stdout)
    stream = {
        name: sum(one[name] for one in trial["streams"])
        for name in (
            "offered", "received", "lost", "corrupted", "duplicates", "out_of_order", "flows_received",
        )
    }  # fmt: skip
    share = trial["health"]["core_share_ppm"] / 1e6
    if not echo:
        each = ", ".join(
            f"worker {number} had {worker['core_share_ppm'] / 1e6:.1%} of core {worker['core']}"
            for number, worker in enumerate(trial["health"]["workers"], start=1)
        )
        return Found(stream["offered"] / SECONDS / 1e6, share, each if workers > 1 else "")
    wrong = stream["corrupted"] + stream["duplicates"] + stream["out_of_order"]
    more = f"{stream['flows_received']:,} flows came back, {wrong} frames wrong, {stream['lost']:,} lost"
    offered = stream["offered"] / SECONDS / 1e6
    return Found(stream["received"] / SECONDS / 1e6, share, more, offered)


def netdyno_twice(backend: dict[str, Any], flows: int, ask_mpps: float) -> Found:
    """Two netdynos of one worker at once, a core each: what the machine gives to two who share nothing.

    They begin within some tenths of a second of each other, of the three seconds that each of them sends.
    """
    with ThreadPoolExecutor(2) as both:
        runs = [
            both.submit(netdyno, backend, flows, ask_mpps, first=core) for core in (SENDER_CORE, FAR_CORE)
        ]
        found = [run.result() for run in runs]
    shares = [one.core_share for one in found if one.core_share is not None]
    return Found(sum(one.mpps for one in found), min(shares, default=None))


def _send(asked: dict[str, Any]) -> None:
    from netdyno.testers.netdyno import raw

    session = {
        "clock": "real", "workers": asked["workers"], "cores": asked["cores"],
        "ports": [
            {"name": name, "backend": backend}
            for name, backend in zip(("near", "far"), asked["backends"], strict=False)
        ],
    }  # fmt: skip
    addresses = {
        way: {"random": {"min": f"{net}.0.0.1", "max": f"{net}.255.255.254"}}
        for way, net in (("src", 16), ("dst", 48))
    }
    bits = round(asked["ask"] * 1e6 * (64 + 20) * 8)
    # The time of traffic starts when the peer has been found.
    trial = {
        # What is not sent in time stays unsent: rates are over the time that was asked for.
        "overtime_ns": 0,
        "seed": 1, "settle_ns": 500_000_000, "drain_ns": 100_000_000, "sample_ns": 100_000_000,
        "ports": [{"mac": f"02:00:00:00:00:0{number}"} for number in range(1, len(asked["backends"]) + 1)],
        "streams": [{
            "name": f"near {number}", "tx_port": 0, "rx_port": len(asked["backends"]) - 1,
            "destination": "written", "flows": asked["flows"],
            "sizes": [{"size": 64, "weight": 1}],
            "headers": [
                {"type": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"},
                {"type": "ipv4", **addresses},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "schedule": [
                {"name": "traffic", "duration_ns": SECONDS * 10**9, "from_bps": bits, "to_bps": bits}
            ],
        } for number in range(asked["streams"])],
    }  # fmt: skip
    ends = time.monotonic() + SECONDS + PATIENCE_S
    with raw(session) as engine:
        engine.start(trial)
        if not engine.wait(stop=lambda: time.monotonic() > ends):
            raise SystemExit("the trial did not end")
        found = json.loads(engine.result())["trial"]
    if found["invalid"]:
        raise SystemExit(f"the trial is invalid: {json.dumps(found['invalid'])}")
    print(json.dumps(found))


if __name__ == "__main__":
    _send(json.loads(sys.argv[1]))
