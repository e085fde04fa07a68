"""How often the right one is named, on real ports with a device that is not netdyno's own.

    make power                  every scenario that is not yet in runs/power.csv, then the table
    .venv/bin/python tools/power.py --count 20 --seed 7 --only policer,outage --tester undisturbed

The device is tools/power/device.c, or of faults `memif-*` tools/power/memif_device.c: a process of its own
with one declared fault, which logs what it did. The tester is undisturbed, half loaded (another process
competes for its core, in turns of 100 ms) or starved (all the time). Each run is one `netdyno run` as a user
makes it, in a network namespace, with a calibration over the same ports.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "runs" / "power.csv"
SOURCES = ROOT / "tools" / "power"
COLUMNS = (
    *("fault", "tester", "seed", "arguments", "method", "limit", "code", "core_share_ppm", "longest_gap_ns"),
    *("in", "passed", "faulty", "own_drops", "away_ns", "number", "reason"),
)
UNDISTURBED_PPM, UNDISTURBED_NS = 970_000, 1_000_000
"""What a run must have had to count as undisturbed: core share, and the longest gap."""

PORTS = ("interface: {side}, backend: af_packet", "backend: memif, socket: {socket}, id: {number}")
"""A tester port at a cable, and one at a memif."""

PLAN = """\
title: Power
lab:
  nodes: {{tester: {{kind: netdyno, cores: [{core}]}}, dut: {{kind: external}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 1Gbps, {west}}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 1Gbps, {east}}}
traffic:
  frames: {{size: {size}B, flows: 64}}
matrix:
  profile: [frames]
  direction: [{direction}]
method: {method}
trial: {{settle: 50ms, drain: 300ms}}
"""


@dataclass(frozen=True)
class Scenario:
    """A declared fault and how it is looked for. right: the limit that names it. on_memif: by memifs.
    down_ms: how long the device's end of the first link is switched off once, while traffic runs; 0: not."""

    fault: str
    arguments: tuple[int, ...]
    method: str
    direction: str = "uni"
    right: str = "device"
    on_memif: bool = False
    down_ms: int = 0


def _search(most: int, width: int) -> str:
    return f"{{throughput: {{duration: 500ms, maximum: {most}pps, width: {width}pps}}}}"


def _losses(*loads: int, duration: str = "500ms") -> str:
    each = ", ".join(f"{load}pps" for load in loads)
    return f"{{sweep: {{loads: [{each}], duration: {duration}}}}}"


def scenario(fault: str, seed: int) -> Scenario:
    """What a run of this fault and seed is."""
    draw = random.Random(f"{fault} {seed}")
    load = draw.randrange(10_000, 30_000, 1000)
    every = draw.choice((50, 211, 1000))
    match fault:
        case "policer":
            arguments = (load * draw.randrange(50, 90) // 100, draw.choice((20, 100, 500)))
            return Scenario(fault, arguments, _search(load, load // 50))
        case "queue":
            arguments = (load * draw.randrange(50, 90) // 100, draw.choice((64, 256)))
            return Scenario(fault, arguments, _search(load, load // 50))
        case "outage":
            arguments = (draw.randrange(300, 700), draw.randrange(20, 90))
            return Scenario(fault, arguments, _losses(load // 2, load))
        case "lose" | "corrupt" | "duplicate" | "wrong-port":
            return Scenario(
                fault, (every,), draw.choice((_search(load, load // 20), _losses(load // 2, load)))
            )
        case "one-way":
            return Scenario(fault, (), _losses(load // 2, load), "bidir")
        case "dead-flow":
            return Scenario(fault, (draw.choice((8, 16, 32)),), _losses(load // 2, load))
        case "stall":
            arguments = (draw.randrange(200, 400), draw.randrange(20, 60))
            return Scenario(fault, arguments, _losses(load // 2, load))
        case "table":
            return Scenario(fault, (draw.choice((8, 32)),), _losses(load // 2, load))
        case "memif-slow":
            # One frame in less than 100 us: a slower reader looks like one that stops.
            load = draw.randrange(60_000, 200_000, 10_000)
            arguments = (load * draw.randrange(40, 70) // 100,)
            return Scenario("slow-reader", arguments, _losses(load // 4, load, duration="1s"), on_memif=True)
        case "memif-stopped":
            # Longer than the ring of 4096 frames lasts.
            arguments = (draw.randrange(200, 500), draw.randrange(300, 500))
            return Scenario(
                "stopped-reader",
                arguments,
                _losses(20_000, 100_000, duration="1s"),
                right="inconclusive",
                on_memif=True,
            )
        case "memif-policer":
            arguments = (load * draw.randrange(50, 90) // 100, draw.choice((20, 100, 500)))
            return Scenario("policer", arguments, _search(load, load // 50), on_memif=True)
        case "link-flap":
            # A device that loses nothing; its end of a link goes down once.
            method = f"{{soak: {{load: {load}pps, duration: 3s, part: 0s, apart: 100ms}}}}"
            down_ms = draw.randrange(50, 500)
            return Scenario("none", (), method, "bidir", right="link", down_ms=down_ms)
        case "small-queue" | "small-bucket":
            # A device that loses nothing of the ideal schedule: what it drops the tester's bunches caused.
            room = draw.choice((1, 1, 2, 4, 16, 64, 512))
            served = round(load / draw.choice((0.5, 0.8, 0.95, 0.99, 0.999)))
            kind = "queue" if fault == "small-queue" else "policer"
            return Scenario(
                kind, (served, room), draw.choice((_search(load, load // 20), _losses(load))), right="tester"
            )
    raise ValueError(fault)


FAULTS = (
    *("policer", "queue", "outage", "lose", "wrong-port", "one-way", "dead-flow", "stall", "corrupt"),
    *("duplicate", "table", "memif-slow", "memif-stopped", "memif-policer"),
)
INNOCENT = ("small-queue", "small-bucket", "link-flap")
CALIBRATIONS = 5
"""At most, until one holds."""
TESTERS = ("undisturbed", "half", "starved")


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
subprocess.run(["ip", "link", "set", "dev", "a", "down"], check=True)
time.sleep(int(sys.argv[1]) / 1000)
subprocess.run(["ip", "link", "set", "dev", "a", "up"], check=True)
"""
"""Switches the device's end of the first link off and on, once traffic runs."""


@contextmanager
def flap(name: str, down_ms: int) -> Iterator[None]:
    """Has a link go down once, on its own, while a run lasts."""
    if not down_ms:
        yield
        return
    process = subprocess.Popen(["ip", "netns", "exec", name, sys.executable, "-c", FLAP, str(down_ms)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


class Device:
    """A device process; `end` ends it. ends: its interfaces, or its socket."""

    def __init__(
        self, program: Path, ends: Sequence[str], name: str, core: int, fault: str, arguments: Sequence[int]
    ) -> None:
        words = ["ip", "netns", "exec", name, "taskset", "-c", str(core), str(program), *ends, fault]
        self.process = subprocess.Popen(
            [*words, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
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
    """Something that takes the tester's core."""
    if tester == "undisturbed":
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


def _runs(out: Path) -> set[Path]:
    return set(out.glob("*-plan-*"))


def _netdyno(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    netdyno = [sys.executable, "-m", "netdyno", *words]
    return subprocess.run(
        ["ip", "netns", "exec", name, *netdyno], capture_output=True, text=True, timeout=300, check=False
    )


def _calibrate(name: str, plan: Path, out: Path) -> None:
    """Again where a check failed, as of a core that was elsewhere for a moment: it would prove nothing."""
    for _ in range(CALIBRATIONS):
        if _netdyno(name, "calibrate", str(plan), "--quick", "--out", str(out)).returncode == 0:
            return


def measure(
    given: Scenario, tester: str, seed: int, name: str, programs: Path, folder: Path
) -> dict[str, Any]:
    """One run and what came of it. programs: the folder of the compiled devices."""
    tester_core, device_core = 1, 0
    size = random.Random(seed).choice((64, 128, 512))
    plan, socket = folder / "plan.yaml", folder / "device.sock"
    west, east = (
        PORTS[given.on_memif].format(side=side, socket=socket, number=number)
        for number, side in enumerate(("west", "east"))
    )
    plan.write_text(
        PLAN.format(
            core=tester_core, size=size, direction=given.direction, method=given.method, west=west, east=east
        )
    )
    out = folder / "runs"
    program = programs / ("memif_device" if given.on_memif else "device")
    ends = (str(socket),) if given.on_memif else ("a", "b")
    with ExitStack() as stack:
        # A calibration on memif makes a loop of its own.
        cable = None if given.on_memif else Device(program, ends, name, device_core, "none", ())
        calibrated = folder / f"calibrated-{size}-{given.direction}-{program.name}"
        if not calibrated.exists():
            _calibrate(name, plan, out)
            calibrated.touch()
        if cable is not None:
            cable.end()
        device = Device(program, ends, name, device_core, given.fault, given.arguments)
        stack.enter_context(hog(tester_core, tester))
        stack.enter_context(flap(name, given.down_ms))
        before = _runs(out)
        done = _netdyno(name, "run", str(plan), "--out", str(out))
        log = device.end()
    made = _runs(out) - before
    if not made:
        raise SystemExit(f"no run was made: {done.stderr}")
    (run,) = made
    told = _netdyno(name, "report", str(run), "--as", "json")
    (case,) = json.loads(told.stdout)["cases"]
    shutil.rmtree(run)
    return _row(given, tester, case, log)


def _row(given: Scenario, tester: str, case: Mapping[str, Any], log: Mapping[str, Any]) -> dict[str, Any]:
    values = case.get("values") or []
    first = next((one for one in values if one["scope"] == "sum"), {})
    health = [trial["health"] for trial in case.get("trials", ()) if trial.get("health")]
    reason = first.get("reason") or case.get("error") or {}
    sides = log["sides"]
    return {
        "fault": given.fault,
        "tester": tester,
        "arguments": " ".join(map(str, given.arguments)),
        "method": given.method,
        "limit": first.get("limit", case["state"]),
        "code": reason.get("code", ""),
        "core_share_ppm": min((one.get("core_share_ppm") or 0 for one in health), default=""),
        "longest_gap_ns": max((one.get("longest_gap_ns") or 0 for one in health), default=""),
        "in": sum(side["in"] for side in sides),
        "passed": sum(side["passed"] for side in sides),
        "faulty": sum(side["faulty"] for side in sides),
        "own_drops": sum(side["own_drops"] for side in sides),
        "away_ns": log["longest_away_ns"],
        "number": next((str(value) for key, value in first.items() if key.startswith("number")), ""),
        "reason": reason.get("text", reason.get("message", "")),
    }


def main() -> int:
    """Measures what is not measured yet, and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=20, help="runs of each fault and tester")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", default=",".join((*FAULTS, *INNOCENT)), help="faults; `policer@half`: with that tester only"
    )
    parser.add_argument("--tester", default=",".join(TESTERS))
    parser.add_argument("--record", type=Path, default=RECORD)
    asked = parser.parse_args()
    asked.record.parent.mkdir(exist_ok=True)
    known = set()
    if asked.record.exists():
        with asked.record.open(newline="") as file:
            known = {(row["fault"], row["tester"], row["seed"]) for row in csv.DictReader(file)}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for source in sorted(SOURCES.glob("*.c")):
            subprocess.run(["gcc", "-O2", "-o", str(folder / source.stem), str(source)], check=True)
        name = stack.enter_context(lab())
        for seed in range(asked.seed, asked.seed + asked.count):
            for word in asked.only.split(","):
                fault, _, given_tester = word.partition("@")
                for tester in (given_tester or asked.tester).split(","):
                    if (fault, tester, str(seed)) in known:
                        continue
                    given = scenario(fault, seed)
                    began = time.monotonic()
                    row = measure(given, tester, seed, name, folder, folder)
                    row |= {"fault": fault, "seed": seed}
                    _append(asked.record, row)
                    shown = f"{row['core_share_ppm']} ppm, {row['longest_gap_ns']} ns"
                    print(
                        f"{fault} {tester} {seed}: {row['limit']} {row['code']} ({shown},"
                        f" {time.monotonic() - began:.1f} s) {row['reason']}",
                        flush=True,
                    )
    with asked.record.open(newline="") as file:
        print(table(list(csv.DictReader(file))))
    return 0


def _append(record: Path, row: Mapping[str, Any]) -> None:
    is_new = not record.exists()
    with record.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def state(row: Mapping[str, str]) -> str:
    """The tester's state as it was, not as it was meant."""
    if row["tester"] != "undisturbed":
        return row["tester"]
    share, gap = int(row["core_share_ppm"] or 0), int(row["longest_gap_ns"] or 0)
    return "undisturbed" if share >= UNDISTURBED_PPM and gap <= UNDISTURBED_NS else "disturbed"


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """Fault and state of the tester against what was named."""
    counts = Counter((row["fault"], state(row), row["limit"]) for row in rows)
    limits = list(dict.fromkeys(row["limit"] for row in rows))
    lines = [f"| fault | tester | {' | '.join(f'`{limit}`' for limit in limits)} | runs |"]
    lines.append("|---" * (len(limits) + 3) + "|")
    for fault, of in dict.fromkeys((row["fault"], state(row)) for row in rows):
        each = [counts[fault, of, limit] for limit in limits]
        lines.append(f"| {fault} | {of} | {' | '.join(str(one or '') for one in each)} | {sum(each)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
