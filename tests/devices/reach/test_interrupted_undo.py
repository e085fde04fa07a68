"""Signals while a device is configured: the undo goes on, or the next run undoes what is left."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes.fridge import Fridge, fridge_in
from netdyno.campaign.reasons import REASONS
from netdyno.devices.reasons import StillConfigured, UndoPending
from netdyno.store import open_run

ONE = {"l2-xconnect, bridge-domain, ipv4": "bridge-domain", "[plain, lacp]": "[plain]"}
UNRELATED = """\
title: Names no device
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/asr9006}}
  links:
    - {endpoints: ["tester:west", "dut:Te0/1/0/0"], rate: 10Gbps}
    - {endpoints: ["tester:east", "dut:Te0/2/0/0"], rate: 10Gbps}
traffic: {64b: {size: 64B, flows: 65536}}
matrix: {forwarding: [ipv4], lag: [plain], profile: [64b], direction: [uni]}
method: {ramp: {warmup: 1s at 1kpps, ramp: 8s to 100%, hold: 2s}}
scale: 1/1000
"""


@pytest.fixture
def fridge(tmp_path: Path) -> Iterator[Fridge]:
    with fridge_in(tmp_path) as found:
        yield found


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def configured(fridge: Fridge) -> subprocess.Popen[str]:
    """A run that has configured the device, and whose load lasts for seconds."""
    before = fridge.device.text()
    plan = fridge.plan(**ONE, **{"scale: 1/100": "scale: 1/1"})
    process = fridge.start("run", str(plan), "--log-file", "log")
    wait_until(lambda: fridge.device.text() != before)
    return process


def codes(fridge: Fridge, log: str = "log") -> list[str]:
    """Codes of the warnings of a run."""
    path = fridge.folder / log
    return re.findall(r'event=warning code="([\w-]+)"', path.read_text()) if path.exists() else []


def leave_configured(fridge: Fridge) -> None:
    """Kills a run that has configured the device."""
    process = configured(fridge)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def interrupt_the_undo(fridge: Fridge, times: int) -> str:
    """What a run prints whose undo at the start, slowed down, gets so many signals; its log is `next`."""
    fridge.server.faults.split, fridge.server.faults.pause_s = 40, 0.05
    (fridge.folder / "unrelated.yaml").write_text(UNRELATED)
    known = len(fridge.server.lines)
    process = fridge.start("run", "unrelated.yaml", "--log-file", "next")
    wait_until(lambda: "show running-config" in fridge.server.lines[known:])
    for _ in range(times):
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.1)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 130, said
    return said


def run_unrelated(fridge: Fridge, log: str) -> int:
    """Runs a plan that names no device."""
    (fridge.folder / "unrelated.yaml").write_text(UNRELATED)
    return fridge.run("run", "unrelated.yaml", "--log-file", log)[0]


def journal_of(fridge: Fridge) -> Path:
    (found,) = fridge.journals.glob("*.journal")
    return found


def test_second_signal_during_the_undo_lets_it_end(fridge: Fridge) -> None:
    before = fridge.device.text()
    process = configured(fridge)
    fridge.server.faults.split, fridge.server.faults.pause_s = 40, 0.05
    os.kill(process.pid, signal.SIGINT)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=120)[0]
    assert process.returncode == 130, said
    assert fridge.device.text() == before
    assert "undo-goes-on" in codes(fridge)
    assert "still-configured" not in codes(fridge)
    # The first signal promised no end at the second.
    assert "to end at once" not in said
    assert said.count("300 s") == 2


def test_third_signal_leaves_and_the_next_run_undoes(fridge: Fridge) -> None:
    before = fridge.device.text()
    process = configured(fridge)
    fridge.server.faults.silent_from_line = 1
    os.kill(process.pid, signal.SIGINT)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    wait_until(lambda: "undo-goes-on" in codes(fridge))
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=20)[0]
    assert process.returncode == 130, said
    assert "still-configured" in codes(fridge)
    assert str(journal_of(fridge)) in said
    assert fridge.device.text() != before
    fridge.server.faults.silent_from_line = 0
    assert run_unrelated(fridge, "next") == 0
    assert codes(fridge, "next") == ["configuration-restored"]
    (folder,) = (fridge.folder / "runs").glob("*-plan-*")
    (line,) = (line for line in (fridge.folder / "next").read_text().splitlines() if "restored" in line)
    assert "127.0.0.1" in line
    assert str(folder) in line
    assert fridge.device.text() == before


def test_configuration_that_is_gone_is_not_called_undone(fridge: Fridge) -> None:
    before = fridge.device.text()
    leave_configured(fridge)
    fridge.device.reboot()
    assert fridge.device.text() == before
    known = len(fridge.server.lines)
    assert run_unrelated(fridge, "next") == 0
    assert codes(fridge, "next") == ["configuration-gone"]
    assert "configure terminal" not in fridge.server.lines[known:]
    assert not journal_of(fridge).stat().st_size


def test_change_by_hand_is_not_promised_to_be_undone(fridge: Fridge) -> None:
    leave_configured(fridge)
    fridge.device.edit("interface TenGigE0/1/0/0\ndescription mine")
    changed = fridge.device.text()
    code, said = fridge.run("run", str(fridge.plan(**ONE)), "--log-file", "next")
    assert code == 3
    assert codes(fridge, "next") == ["configuration-not-undone", "still-configured"]
    assert str(StillConfigured("127.0.0.1", str(journal_of(fridge)), is_changed=True)) in said
    assert ", of any plan, undoes it" not in said
    assert fridge.device.text() == changed


@pytest.mark.parametrize(
    ("cases", "code"),
    [
        ("bridge-domain, ipv4", "configuration-undone-later"),
        ("bridge-domain", "configuration-not-undone"),
    ],
)
def test_failed_undo_is_left_only_if_no_later_case_undid_it(fridge: Fridge, cases: str, code: str) -> None:
    fridge.server.faults.drop_at = "no l2vpn"
    before = fridge.device.text()
    plan = fridge.plan(**{**ONE, "l2-xconnect, bridge-domain, ipv4": cases})
    fridge.run("run", str(plan), "--log-file", "log")
    is_left = fridge.device.text() != before
    assert is_left == (cases == "bridge-domain")
    assert codes(fridge) == ([code, "still-configured"] if is_left else [code])
    (folder,) = (fridge.folder / "runs").glob("*-plan-*")
    with open_run(folder, REASONS) as stored:
        wiring = stored.cases[0].wiring
    assert wiring is not None
    assert [one.code for one in wiring.notes if one.code.startswith("configuration-")] == [code]


def test_look_at_a_device_with_a_pending_undo_warns(fridge: Fridge) -> None:
    """The dry run and `check --device` change nothing; after the undo they warn of nothing."""
    plan = str(fridge.plan(**ONE))

    def warnings() -> list[str]:
        code, said = fridge.run("check", "--device", "--format", "json", plan)
        assert code == 0, said
        return [one["code"] for one in json.loads(said)["warnings"]]

    leave_configured(fridge)
    changed = fridge.device.text()
    (folder,) = (fridge.folder / "runs").glob("*-plan-*")
    warning = f"warning: {UndoPending('127.0.0.1', str(folder))}\n"
    assert fridge.run("run", "--dry-run", plan)[1].count(warning) == 1
    assert warnings() == ["undo-pending"]
    assert fridge.device.text() == changed
    assert run_unrelated(fridge, "next") == 0
    assert warning not in fridge.run("run", "--dry-run", plan)[1]
    assert warnings() == []


def test_device_that_cannot_be_reached_costs_no_other_run(fridge: Fridge) -> None:
    """The commands to enter by hand are in the note, and the undo stays for a later start."""
    before = fridge.device.text()
    leave_configured(fridge)
    fridge.server.faults.never_takes = True
    assert run_unrelated(fridge, "next") == 0
    assert codes(fridge, "next") == ["configuration-not-undone"]
    assert "no l2vpn" in (fridge.folder / "next").read_text()
    assert journal_of(fridge).stat().st_size
    fridge.server.faults.never_takes = False
    assert run_unrelated(fridge, "again") == 0
    assert codes(fridge, "again") == ["configuration-restored"]
    assert fridge.device.text() == before


def test_signals_during_the_undo_at_the_start_let_it_end(fridge: Fridge) -> None:
    before = fridge.device.text()
    leave_configured(fridge)
    said = interrupt_the_undo(fridge, 2)
    assert fridge.device.text() == before, said
    assert codes(fridge, "next") == ["configuration-restored"]


def test_third_signal_during_the_undo_at_the_start_says_so(fridge: Fridge) -> None:
    leave_configured(fridge)
    said = interrupt_the_undo(fridge, 3)
    assert str(journal_of(fridge)) in said
    assert journal_of(fridge).stat().st_size
