#!/usr/bin/env python3
"""netdyno's sender beside DPDK's testpmd, each on a device that only gives the buffers back.

Both generate 64-byte frames on one core: testpmd `txonly` (one flow) and `flowgen` (many), netdyno one
flow and 65,536 random ones with valid checksums. They take turns within each round, so that a machine
which changes its speed changes it for both; the medians of the ratios are what to read.
testpmd is in Debian's package `dpdk-dev`; without it, this says so and ends.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 3
SECONDS = 4
PATIENCE_S = 20
"""testpmd polls its devices without a pause: one that does not end when asked would take a core for good."""
ROOT = Path(__file__).resolve().parent.parent
NETDYNO = re.compile(r"^(.*\bnull\b.*?)\s+([\d.]+) ns", re.MULTILINE)
PAIRS = (("txonly", "1 flow, 64 B"), ("flowgen", "65,536 flows, 64 B"))


def netdyno() -> dict[str, float]:
    """Mpps by name of the bench's line."""
    bench = ["--locked", "-p", "netdyno-engine", "--bench", "tester", "--", "null"]
    out = subprocess.run(
        ["tools/cargo.sh", "bench", *bench], cwd=ROOT, capture_output=True, text=True, timeout=900, check=True
    ).stdout
    return {name: 1000 / float(ns) for name, ns in NETDYNO.findall(out)}


def testpmd(mode: str) -> float:
    """Mpps on a null device."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "dpdk-testpmd", "-l", "0,1", "--no-pci", "--no-huge", "-m", "512", "--vdev", "net_null0",
            "--file-prefix", Path(folder).name, "--",
            f"--forward-mode={mode}", "--nb-cores=1", "--no-mlockall", "--total-num-mbufs=4096",
            "--stats-period=1",
        ]  # fmt: skip
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            out, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.terminate()
            try:
                out, _ = process.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                out, _ = process.communicate()
        finally:
            process.kill()
    rates = [int(rate) for rate in re.findall(r"Tx-pps:\s+(\d+)", out) if int(rate)]
    if not rates:
        raise SystemExit(f"testpmd {mode} printed no rate:\n{out[-1000:]}")
    return max(rates) / 1e6


def main() -> int:
    if shutil.which("dpdk-testpmd") is None:
        print("testpmd is not here, so there is nothing to compare with: apt-get install dpdk-dev")
        return 0
    ratios: dict[tuple[str, str], list[float]] = {}
    for round_ in range(1, ROUNDS + 1):
        for mode, flows in PAIRS:
            peer = testpmd(mode)
            ours = netdyno()
            name = next(name for name in ours if flows in name)
            ratios.setdefault((mode, name), []).append(ours[name] / peer)
            mine = ours[name]
            print(
                f"round {round_}: testpmd {mode:8} {peer:7.1f} Mpps"
                f"   netdyno {name} {mine:7.1f} Mpps   ratio {mine / peer:5.2f}",
                flush=True,
            )
    for (mode, name), found in ratios.items():
        print(f"median ratio, netdyno {name} / testpmd {mode}: {statistics.median(found):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
