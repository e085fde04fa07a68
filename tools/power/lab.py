"""Where a run of `make power` takes place: cables or memifs, a device process, what disturbs the tester."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from faults import DEVICE_CORE, TESTER_CORE, Scenario

PORTS = ("interface: {side}, backend: af_packet", "backend: memif, socket: {socket}, id: {number}")
"""A tester port at a cable, and one at a memif."""

PLAN = """\
title: Power
lab:
  nodes: {{tester: {{kind: netdyno, cores: {cores}}}, dut: {{kind: external}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 1Gbps, {west}}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 1Gbps, {east}}}
traffic:
  frames: {{size: {size}B, flows: 64}}
matrix:
  profile: [frames]
  direction: [{direction}]
method: {method}
trial: {{settle: 50ms, drain: {drain}}}
"""


REST_NS = 20_000
"""Of a device whose fault does not depend on how soon it reads a frame."""

CALIBRATIONS = 5
"""At most, until one holds."""


def _do(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


@contextmanager
def lab() -> Iterator[str]:
    """A network namespace with two cables between tester and device; its name."""
    name = f"power{os.getpid()}"
    _do("ip", "netns", "add", name)
    try:
        for ours, theirs in (("west", "a"), ("east", "b")):
            _do("ip", "-n", name, "link", "add", ours, "type", "veth", "peer", "name", theirs)
            for one in (ours, theirs):
                _do("ip", "netns", "exec", name, "sysctl", "-qw", f"net.ipv6.conf.{one}.disable_ipv6=1")
                _do("ip", "-n", name, "link", "set", "dev", one, "up")
        yield name
    finally:
        _do("ip", "netns", "del", name)


FLAP = """
import subprocess, sys, time
def sent():
    with open("/sys/class/net/west/statistics/tx_packets") as file: return int(file.read())
first, deadline = sent(), time.monotonic() + 120
# Some frames are sent before traffic.
while sent() < first + 1000 and time.monotonic() < deadline: time.sleep(0.005)
time.sleep(0.5)
subprocess.run(["ip", "link", "set", "dev", sys.argv[2], "down"], check=True)
time.sleep(int(sys.argv[1]) / 1000)
subprocess.run(["ip", "link", "set", "dev", sys.argv[2], "up"], check=True)
"""
"""Switches an end of the first link off and on, once traffic runs."""


@contextmanager
def flap(name: str, down_ms: int, end: str) -> Iterator[None]:
    """Has a link go down once, on its own, while a run lasts. end: which end of it."""
    if not down_ms:
        yield
        return
    process = subprocess.Popen(["ip", "netns", "exec", name, sys.executable, "-c", FLAP, str(down_ms), end])
    try:
        yield
    finally:
        process.kill()
        process.wait()


class Device:
    """A device process; `end` ends it. ends: its interfaces, or its socket."""

    def __init__(
        self,
        program: Path,
        ends: Sequence[str],
        name: str,
        core: int,
        fault: str,
        arguments: Sequence[int],
        rest_ns: int = 0,
    ) -> None:
        """rest_ns: how long it sleeps when nothing comes, for other processes to use its core."""
        words = ["ip", "netns", "exec", name, "taskset", "-c", str(core), str(program), *ends, fault]
        self.process = subprocess.Popen(
            [*words, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"REST_NS": str(rest_ns)},
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == "ready"

    def end(self) -> dict[str, Any]:
        """Its log."""
        told, _ = self.process.communicate(timeout=10)
        found: dict[str, Any] = json.loads(told)
        return found


HOG = """
import sys, time
rests = sys.argv[1] == "half"
print("ready", flush=True)
while True:
    began = time.monotonic()
    while time.monotonic() - began < 0.1: pass
    if rests: time.sleep(0.1)
"""
"""Runs all the time, or in turns of 100 ms."""


@contextmanager
def hog(core: int, tester: str) -> Iterator[None]:
    """Something that takes a core, as the tester's state is."""
    if tester not in ("half", "starved"):
        yield
        return
    words = ["taskset", "-c", str(core), sys.executable, "-c", HOG, tester]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.wait()


def _family(pid: int) -> list[int]:
    """A process and those it made."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in children for one in _family(int(child)))]


def _stop_at_times(process: subprocess.Popen[str], draw: random.Random) -> None:
    while process.poll() is None:
        time.sleep(draw.uniform(0.005, 0.15))
        family = _family(process.pid)
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for pid in family:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
            if number == signal.SIGSTOP:
                time.sleep(draw.choice((0.001, 0.003, 0.005, 0.008, 0.03)))


def _runs(out: Path) -> set[Path]:
    return set(out.glob("*-plan-*"))


NETDYNO = """
import pickle, sys
from netdyno.campaign import case
from netdyno.ports.backends.backend import Backend
kept, log2 = sys.argv[1], int(sys.argv[2])
del sys.argv[1:3]
spec, judge = Backend.spec, case.judge_case
def of_size(self, *given):
    found = spec(self, *given)
    return found | {"ring_log2": log2} if self.name == "memif" and log2 else found
def keep(made, *more):
    with open(kept, "wb") as file: pickle.dump(made, file)
    return judge(made, *more)
Backend.spec, case.judge_case = of_size, keep
from netdyno.cli import main
main()
"""
"""netdyno, which keeps what it judges, and may have memifs of another size than any plan can ask for."""


def _netdyno(
    name: str,
    *words: str,
    kept: Path | None = None,
    ring_log2: int | None = None,
    stops: random.Random | None = None,
) -> subprocess.CompletedProcess[str]:
    """kept: a file for what is judged. stops: where it is stopped at times."""
    how = ("-c", NETDYNO, str(kept or os.devnull), str(ring_log2 or 0))
    process = subprocess.Popen(
        ["ip", "netns", "exec", name, sys.executable, *how, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    stopper = threading.Thread(target=_stop_at_times, args=(process, stops)) if stops is not None else None
    if stopper is not None:
        stopper.start()
    try:
        told, complained = process.communicate(timeout=300)
    finally:
        process.kill()
        process.wait()
        if stopper is not None:
            stopper.join()
    return subprocess.CompletedProcess(process.args, process.returncode, told, complained)


def _calibrate(name: str, plan: Path, out: Path, ring_log2: int | None) -> None:
    """Again where a check failed, as of a core that was elsewhere for a moment: it would prove nothing."""
    for _ in range(CALIBRATIONS):
        words = ("calibrate", str(plan), "--quick", "--out", str(out))
        if _netdyno(name, *words, ring_log2=ring_log2).returncode == 0:
            return


def measure(
    given: Scenario, tester: str, seed: int, name: str, folder: Path, kept: Path
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """One run: the device's log, and the case as the JSON report has it if nothing was judged.

    folder: with the compiled devices. kept: a file for what the verdicts follow from.
    """
    size = random.Random(seed).choice((64, 128, 512))
    plan, socket = folder / "plan.yaml", folder / "device.sock"
    west, east = (
        PORTS[given.on_memif].format(side=side, socket=socket, number=number)
        for number, side in enumerate(("west", "east"))
    )
    plan.write_text(
        PLAN.format(
            cores=list(given.cores),
            size=size,
            direction=given.direction,
            method=given.method,
            drain="300ms" if given.right == "device" else "100ms",
            west=west,
            east=east,
        )
    )
    out = folder / "runs"
    program = folder / ("memif_device" if given.on_memif else "device")
    ends = (str(socket),) if given.on_memif else ("a", "b")
    with ExitStack() as stack:
        # A calibration on memif makes a loop of its own.
        cable = None if given.on_memif else Device(program, ends, name, DEVICE_CORE, "none", ())
        basis = (size, given.direction, program.name, *given.cores, given.ring_log2 or "usual")
        calibrated = folder / f"calibrated-{'-'.join(map(str, basis))}"
        if not calibrated.exists():
            _calibrate(name, plan, out, given.ring_log2)
            calibrated.touch()
        if cable is not None:
            cable.end()
        # Else all that wakes up on this machine does so on the tester's core as often as not.
        may_rest = given.right != "tester" and given.fault != "slow-reader"
        rest_ns = REST_NS if tester == "undisturbed" and may_rest else 0
        device = Device(program, ends, name, given.device_core, given.fault, given.arguments, rest_ns)
        stack.enter_context(hog(TESTER_CORE, tester))
        if given.busy_core is not None:
            stack.enter_context(hog(given.busy_core, "half"))
        stack.enter_context(flap(name, given.down_ms, given.flapped))
        before = _runs(out)
        stops = random.Random(seed) if tester == "stopped" else None
        words = ("run", str(plan), "--out", str(out))
        done = _netdyno(name, *words, kept=kept, ring_log2=given.ring_log2, stops=stops)
        log = device.end()
    made = _runs(out) - before
    if not made:
        raise SystemExit(f"no run was made: {done.stderr}")
    (run,) = made
    failed = None
    if not kept.exists():
        told = _netdyno(name, "report", str(run), "--as", "json")
        (failed,) = json.loads(told.stdout)["cases"]
    shutil.rmtree(run)
    return log, failed
