"""One case in real time on a cable in a namespace of its own, with something that goes wrong under way.

    python faulty_case.py FAULT

Prints what the case told, one JSON object a line. A process of its own, since some faults are of a process.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from netdyno.campaign.case import run_case
from netdyno.campaign.events import Event, Failed, Looked, Measured, TrialEnded, Waiting, Wired
from netdyno.campaign.job import Job
from netdyno.devices.linux import namespaces
from netdyno.devices.linux.device import SEARCH
from netdyno.methods.wrap import witness
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.ports import watch
from netdyno.testers import TESTERS

CGROUP = Path("/sys/fs/cgroup/cpu")
PERIOD_US, QUOTA_US = 50_000, 2_000
"""A 25th of a core, and the tester is away for 48 ms at a time: less than makes a trial invalid."""

SMALL_BYTES = 64 * 768 // 2
"""What SO_RCVBUF is asked for to hold 64 short frames: the kernel doubles it and counts 768 bytes each."""

STARTED_S = 0.2
"""From the first look at a trial, which comes at once, until it has begun also where its thread is late."""

PLAN = """\
title: A cable
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: external}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: {rate}, interface: west}}
    - {{endpoints: ["tester:east", "dut:b"], rate: {rate}, interface: east}}
traffic:
  64b: {{size: 64B, flows: 16, burst: {burst}}}
matrix: {{profile: [64b], direction: [uni]}}
method: {{ramp: {{warmup: null, ramp: 700ms to {load}, hold: 300ms}}}}
trial: {{settle: 50ms, drain: 100ms, sample: 20ms}}
seed: 7
"""


def ip(command: str) -> None:
    """An ip(8) command in this namespace."""
    subprocess.run(["ip", *command.split()], env={"PATH": SEARCH}, check=True)


def throttle() -> None:
    """Puts this process, and so the tester's thread, under a quota of processor time."""
    folder = CGROUP / f"netdyno-test-{os.getpid()}"
    folder.mkdir()
    (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
    (folder / "cpu.cfs_quota_us").write_text(str(QUOTA_US))
    (folder / "cgroup.procs").write_text(str(os.getpid()))


def unthrottle() -> None:
    """Back, and nothing is left."""
    folder = CGROUP / f"netdyno-test-{os.getpid()}"
    if folder.exists():
        counts = dict(line.split() for line in (folder / "cpu.stat").read_text().splitlines())
        tell(throttled=int(counts["nr_throttled"]))
        (CGROUP / "cgroup.procs").write_text(str(os.getpid()))
        folder.rmdir()


def shrink() -> None:
    """Gives every packet socket of this process a receive buffer of 64 short frames."""
    for name in os.listdir("/proc/self/fd"):
        try:
            kind = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if kind.startswith("socket:"):
            with socket.socket(fileno=os.dup(int(name))) as one:
                if one.family == socket.AF_PACKET:
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BYTES)


def flap() -> None:
    ip("link set east down")
    time.sleep(0.05)
    ip("link set east up")


def long_down() -> None:
    """Down for longer than the three attempts of a trial take."""
    ip("link set east down")
    again = "sleep 5; ip link set east up"
    HELD.append(subprocess.Popen(["sh", "-c", again], env={"PATH": SEARCH}))


def own_down() -> None:
    """The tester's own end goes down as a retry begins, for a second."""
    ip("link set west down")
    HELD.append(subprocess.Popen(["sh", "-c", "sleep 1; ip link set west up"], env={"PATH": SEARCH}))


def own_flap() -> None:
    """The same for a moment that nobody sees."""
    ip("link set west down")
    ip("link set west up")


def elsewhere() -> None:
    """Gives the interface to a namespace that ends with this process."""
    holder = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", "60"], env={"PATH": SEARCH}
    )
    own = os.readlink("/proc/self/ns/net")
    while os.readlink(f"/proc/{holder.pid}/ns/net") == own:
        time.sleep(0.01)
    ip(f"link set east netns {holder.pid}")
    HELD.append(holder)


HELD: list[subprocess.Popen[bytes]] = []


def drop_privilege() -> None:
    """This thread may open no packet socket from now on: capset(2) with nothing."""
    header = (ctypes.c_uint32 * 2)(0x2008_0522, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capset")


# What goes wrong, and whether as soon as the lab is wired, in the first trial only, or in each.
FAULTS: dict[str, tuple[str, Callable[[], None]]] = {
    "none": ("never", lambda: None),
    "throttled": ("wired", throttle),
    "small": ("each", shrink),
    "flaps-once": ("first", flap),
    "flaps": ("each", flap),
    "long-down": ("first", long_down),
    "own-down": ("first", flap),
    "own-flap": ("first", flap),
    "stays-down": ("first", lambda: ip("link set east down")),
    "gone": ("first", lambda: ip("link delete east")),
    "elsewhere": ("first", elsewhere),
    "unprivileged": ("before", drop_privilege),
}

BETWEEN: dict[str, Callable[[], None]] = {"own-down": own_down, "own-flap": own_flap}
"""What goes wrong between the first attempt and the second, besides."""


def main() -> None:
    """Runs the case."""
    when, fault = FAULTS[sys.argv[1]]
    load = sys.argv[2]
    seen: set[tuple[int, int]] = set()
    ended = 0

    def emit(event: Event) -> None:
        nonlocal ended
        match event:
            case Wired() if when == "wired":
                fault()
            case Looked():
                first = (event.number, ended) not in seen
                seen.add((event.number, ended))
                if first and (when == "each" or (when == "first" and len(seen) == 1)):
                    if fault is not shrink:
                        time.sleep(STARTED_S)
                    fault()
            case Waiting(why=why):
                tell(waiting=why)
            case TrialEnded(trial=trial) if trial.name == witness.NAME:
                # It is no part of the result.
                pass
            case TrialEnded(trial=trial):
                ended += 1
                if ended == 1 and sys.argv[1] in BETWEEN:
                    BETWEEN[sys.argv[1]]()
                result = trial.result
                tell(
                    trial=trial.state,
                    invalid=[one.full_code for one in result.invalid],
                    unsent=result.health.unsent,
                    dropped=result.health.rx_dropped,
                    lost=result.lost,
                    waited=[one.waited_ns for one in result.interfaces],
                    offered=result.streams[0].offered,
                )
            case Measured(verdicts=verdicts):
                told = next(one for one in verdicts if one.scope == "sum")
                tell(limit=told.limit, reason=str(told.reason))
            case Failed(error=error, trace=trace):
                tell(code=error.code, failed=error.message, hint=error.hint, trace=trace)

    if sys.argv[1] == "stays-down":
        watch.CARRIER_S = 2.0
    with namespaces.tester_namespace():
        ip("link add west type veth peer name east")
        for name in ("west", "east"):
            ip(f"link set {name} up")
        if when == "before":
            fault()
        # A reader that is always there needs no room for 64 frames, unless so many come at once.
        rate, burst = ("10Gbps", 256) if sys.argv[1] == "small" else ("1Gbps", 1)
        plan = parse(PLAN.format(load=load, rate=rate, burst=burst), name="cable.yaml", base=Path())
        (case,) = cases(plan)
        try:
            run_case(Job(plan, case, TESTERS["netdyno"]), emit, lambda: False)
            if when == "before":
                # Without rights there is no way back to the namespace we came from.
                os._exit(0)
        finally:
            unthrottle()
            for holder in HELD:
                holder.kill()
                holder.wait()


def tell(**what: object) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
