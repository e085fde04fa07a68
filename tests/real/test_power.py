"""A small sample of `make power`: verdicts on a device process in C that is not netdyno's own, which has a
declared fault or none."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from netdyno.devices.linux import device as dut

TOOL = Path(__file__).parents[2] / "tools" / "power" / "campaign.py"
SEED = 1
GUILTY = ("outage", "wrong-port")
"""Faults that no pause of the tester makes."""
INNOCENT = "small-bucket"
"""A device that loses nothing of the ideal schedule."""

pytestmark = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("ip", path=dut.SEARCH) is None or shutil.which("gcc") is None,
    reason="wants root, `ip` and `gcc` (apt-get install iproute2 gcc)",
)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """A run of each fault with a tester that is left alone, and of no fault with one that is starved."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("tester and device have a core each, and this process may use one only")
    record = tmp_path_factory.mktemp("power") / "power.csv"
    only = ",".join((*(f"{fault}@undisturbed" for fault in GUILTY), f"{INNOCENT}@starved"))
    words = ["--count", "1", "--seed", str(SEED), "--only", only]
    done = subprocess.run(
        [sys.executable, str(TOOL), *words, "--record", str(record)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, "PATH": f"{os.environ.get('PATH', '')}:{dut.SEARCH}"},
    )
    assert done.returncode == 0, done.stderr
    with record.open(newline="") as file:
        found = list(csv.DictReader(file))
    assert [row["fault"] for row in found] == [*GUILTY, INNOCENT]
    return found


def test_device_with_a_declared_fault_is_named(rows: list[dict[str, str]]) -> None:
    """A busy machine may leave a verdict open, and may make the tester the limit; not of every fault."""
    guilty = [row for row in rows if row["fault"] in GUILTY]
    assert all(int(row["faulty"]) > 0 for row in guilty), "the device says that it did it"
    named = [row["limit"] for row in guilty]
    assert set(named) <= {"device", "inconclusive", "tester", "receiver", "invalid"}, guilty
    shares = [int(row["core_share_ppm"] or 0) for row in guilty]
    if min(shares) < 900_000 and "device" not in named:
        pytest.skip(f"the machine left the tester {min(shares) / 10_000:.0f} % of its core")
    assert "device" in named, guilty


def test_device_without_a_fault_is_never_blamed(rows: list[dict[str, str]]) -> None:
    innocent = [row for row in rows if row["fault"] == INNOCENT]
    assert "device" not in {row["limit"] for row in innocent}, innocent
