"""This machine's cores and memory: counters of times, and nothing where a file is missing or strange."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from netdyno.devices.linux.forwarding import Router
from netdyno.devices.linux.live import LinuxLive
from netdyno.devices.telemetry import linux_cpu
from netdyno.devices.telemetry.linux_cpu import MachineCores
from netdyno.devices.wiring import Wiring

STAT = """\
cpu  30 0 0 0 0 0 0 0 0 0
cpu0 100 10 200 5000 7 1 30 4 90 0
cpu3 1 0 2 900 0 0 0 0 0 0
intr 7 1
"""
SOFTNET = """\
000000ff 00000002 00000003 0 0 0 0 0 0 0 0 0 00000000 0 0
00000001 00000000 00000000 0 0 0 0 0 0 0 0 0 00000003 0 0
"""
MEMINFO = "MemTotal:       1000 kB\nMemFree: 5 kB\nMemAvailable:    400 kB\nHugePages_Total:  0\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "net").mkdir()
    (tmp_path / "stat").write_text(STAT)
    (tmp_path / "net/softnet_stat").write_text(SOFTNET)
    (tmp_path / "meminfo").write_text(MEMINFO)
    return tmp_path


def read(proc: Path) -> dict[tuple[str, str], object]:
    found = MachineCores(proc=proc, ticks_per_s=100).read(time.monotonic_ns)
    return {(channel.subject, channel.name): sample.value for channel, sample in found.items()}


def test_cores_have_times_and_frames_by_their_own_numbers(proc: Path) -> None:
    found = read(proc)
    assert found == {
        ("cpu0", "busy"): 3450,
        ("cpu0", "softirq"): 300,
        ("cpu0", "steal"): 40,
        ("cpu3", "busy"): 30,
        ("cpu3", "softirq"): 0,
        ("cpu3", "steal"): 0,
        ("cpu0", "softnet_processed"): 255,
        ("cpu0", "softnet_dropped"): 2,
        ("cpu0", "softnet_time_squeeze"): 3,
        ("cpu3", "softnet_processed"): 1,
        ("cpu3", "softnet_dropped"): 0,
        ("cpu3", "softnet_time_squeeze"): 0,
        ("memory", "used"): 600 * 1024,
    }


@pytest.mark.parametrize(
    "text", [None, "", "cpu\ncpu0 x\n", "cpu\ncpu0 1 2\n", "MemTotal: 1 kB\n", "zz zz\n"]
)
@pytest.mark.parametrize("file", ["stat", "net/softnet_stat", "meminfo"])
def test_file_that_is_missing_or_strange_leaves_the_others(file: str, text: str | None, proc: Path) -> None:
    path = proc / file
    path.unlink() if text is None else path.write_text(text)
    kept = {name for _, name in read(proc)}
    every = {"stat": "busy", "net/softnet_stat": "softnet_processed", "meminfo": "used"}
    assert {name for one, name in every.items() if one != file} <= kept
    assert every[file] not in kept


def test_cores_beyond_the_bound_are_left_out(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux_cpu, "MOST_CORES", 3)
    assert {subject for subject, _ in read(proc)} == {"cpu0", "memory"}


def test_this_machine_is_read_for_a_fraction_of_a_core() -> None:
    """At a reading a second, 2 % of a core are 20 ms."""
    instrument = MachineCores()
    begun = time.process_time()
    for _ in range(20):
        found = instrument.read(time.monotonic_ns)
    assert (time.process_time() - begun) / 20 < 0.02
    assert {"busy", "softnet_processed", "used"} <= {channel.name for channel in found}


def test_linux_device_has_its_counters_first_then_the_machines() -> None:
    class Device:
        pid = 1

    live = LinuxLive(Wiring("real", (), {}), Device(), Router())  # type: ignore[arg-type]
    assert [one.name for one in live.instruments()] == ["the device's kernel", linux_cpu.SOURCE]
