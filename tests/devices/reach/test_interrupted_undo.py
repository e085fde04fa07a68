"""Signals while a device is configured: the undo goes on, or the next run undoes what is left."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns import PATIENCE_S, wait_for
from fakes.fridge import Fridge, fridge_in
from fakes.server import Faults
from netdyno.campaign import pending
from netdyno.campaign.reasons import REASONS
from netdyno.devices.configure.apply import UNDO_S
from netdyno.devices.reasons import StillConfigured, UndoGoesOn, UndoPending
from netdyno.store import open_run
from netdyno.values.reason import Reason

ONE = {"l2-xconnect, bridge-domain, ipv4": "bridge-domain", "[plain, lacp]": "[plain]"}
UNDO = "no l2vpn"
"""In a line of the undo."""
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


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Fridge, Path]]:
    """A run that has configured the device and was killed; a copy of its folder."""
    parent = tmp_path_factory.mktemp("killed")
    (parent / "lab").mkdir()
    with fridge_in(parent / "lab") as found:
        process = configured(found)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        yield found, Path(shutil.copytree(found.folder, parent / "copy"))


@pytest.fixture
def left(killed: tuple[Fridge, Path]) -> Fridge:
    """The device as that run has left it, and its journal."""
    found, copy = killed
    shutil.rmtree(found.folder)
    shutil.copytree(copy, found.folder)
    found.server.faults = Faults()
    return found


def configured(fridge: Fridge) -> subprocess.Popen[str]:
    """A run that has configured the device, and whose load lasts for seconds."""
    before = fridge.device.text()
    plan = fridge.plan(**ONE, **{"scale: 1/100": "scale: 1/1"})
    process = fridge.start("run", str(plan), "--log-file", "log")
    wait_for(lambda: fridge.device.text() != before)
    return process


def codes(fridge: Fridge, log: str = "log") -> list[str]:
    """Codes of the warnings of a run."""
    path = fridge.folder / log
    return re.findall(r'event=warning code="([\w-]+)"', path.read_text()) if path.exists() else []


def restore(fridge: Fridge) -> list[Reason]:
    """What a run of any other plan warns of at its start, where it undoes what killed runs left."""
    found: list[Reason] = []
    with pytest.MonkeyPatch.context() as patch:
        for name, value in fridge.environment.items():
            patch.setenv(name, value)
        patch.setattr(pending, "warn", found.append)
        pending.restore_devices()
    return found


def interrupt_the_undo(fridge: Fridge, times: int) -> str:
    """What a run prints whose undo at the start gets so many signals while the device answers nothing.

    The device answers after two: a third one ends the run. The log is `next`.
    """
    (fridge.folder / "unrelated.yaml").write_text(UNRELATED)
    fridge.server.faults.waits_at = UNDO
    process = fridge.start("run", "unrelated.yaml", "--log-file", "next")
    assert fridge.server.waiting.wait(PATIENCE_S)
    assert process.stdout is not None
    said = ""
    for number in range(times):
        os.kill(process.pid, signal.SIGINT)
        # A signal that the process has seen prints a line; the next one would else be the same signal.
        said += process.stdout.readline()
        if number == 1:
            assert said.count(f"warning: {UndoGoesOn('127.0.0.1', int(UNDO_S))}\n") == 2
    if times == 2:
        fridge.server.release()
    said += process.stdout.read()
    assert process.wait(PATIENCE_S) == 130, said
    return said


def journal_of(fridge: Fridge) -> Path:
    (found,) = fridge.journals.glob("*.journal")
    return found


def test_second_signal_during_the_undo_lets_it_end(fridge: Fridge) -> None:
    before = fridge.device.text()
    process = configured(fridge)
    fridge.server.faults.waits_at = UNDO
    os.kill(process.pid, signal.SIGINT)
    assert fridge.server.waiting.wait(PATIENCE_S)
    os.kill(process.pid, signal.SIGINT)
    wait_for(lambda: "undo-goes-on" in codes(fridge))
    fridge.server.release()
    said = process.communicate(timeout=PATIENCE_S)[0]
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
    fridge.server.faults.waits_at = UNDO
    os.kill(process.pid, signal.SIGINT)
    assert fridge.server.waiting.wait(PATIENCE_S)
    os.kill(process.pid, signal.SIGINT)
    wait_for(lambda: "undo-goes-on" in codes(fridge))
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=PATIENCE_S)[0]
    assert process.returncode == 130, said
    assert "still-configured" in codes(fridge)
    assert str(journal_of(fridge)) in said
    assert fridge.device.text() != before
    (folder,) = (fridge.folder / "runs").glob("*-plan-*")
    (fridge.folder / "unrelated.yaml").write_text(UNRELATED)
    assert fridge.run("run", "unrelated.yaml", "--log-file", "next")[0] == 0
    assert codes(fridge, "next") == ["configuration-restored"]
    (line,) = (line for line in (fridge.folder / "next").read_text().splitlines() if "restored" in line)
    assert "127.0.0.1" in line
    assert str(folder) in line
    assert fridge.device.text() == before


def test_configuration_that_is_gone_is_not_called_undone(left: Fridge) -> None:
    left.device.reboot()
    known = len(left.server.lines)
    assert [reason.code for reason in restore(left)] == ["configuration-gone"]
    assert "configure terminal" not in left.server.lines[known:]
    assert not journal_of(left).stat().st_size


def test_change_by_hand_is_not_promised_to_be_undone(left: Fridge) -> None:
    left.device.edit("interface TenGigE0/1/0/0\ndescription mine")
    changed = left.device.text()
    code, said = left.run("run", str(left.plan(**ONE)), "--log-file", "next")
    assert code == 3
    assert codes(left, "next") == ["configuration-not-undone", "still-configured"]
    assert str(StillConfigured("127.0.0.1", str(journal_of(left)), is_changed=True)) in said
    assert ", of any plan, undoes it" not in said
    assert UNDO in said
    assert left.device.text() == changed


@pytest.mark.parametrize(
    ("cases", "code"),
    [
        ("bridge-domain, ipv4", "configuration-undone-later"),
        ("bridge-domain", "configuration-not-undone"),
    ],
)
def test_failed_undo_is_left_only_if_no_later_case_undid_it(fridge: Fridge, cases: str, code: str) -> None:
    fridge.server.faults.drop_at = UNDO
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


def test_look_at_a_device_with_a_pending_undo_warns(left: Fridge) -> None:
    """The dry run and `check --device` change nothing; after the undo they warn of nothing."""
    plan = str(left.plan(**ONE))

    def warnings() -> list[str]:
        code, said = left.run("check", "--device", "--format", "json", plan)
        assert code == 0, said
        return [one["code"] for one in json.loads(said)["warnings"]]

    changed = left.device.text()
    (folder,) = (left.folder / "runs").glob("*-plan-*")
    warning = f"warning: {UndoPending('127.0.0.1', str(folder))}\n"
    assert left.run("run", "--dry-run", plan)[1].count(warning) == 1
    assert warnings() == ["undo-pending"]
    assert left.device.text() == changed
    restore(left)
    assert warning not in left.run("run", "--dry-run", plan)[1]
    assert warnings() == []


@pytest.mark.parametrize(
    ("harm", "code"),
    [("change", "undo-pending"), ("cut", "journal-damaged"), ("rename", "undo-pending")],
)
def test_looks_say_why_a_real_run_is_refused(harm: str, code: str, left: Fridge) -> None:
    """And the run says it, with the same remedy."""
    plan, journal = str(left.plan(**ONE)), journal_of(left)
    match harm:
        case "change":
            left.device.edit("interface TenGigE0/1/0/0\ndescription mine")
        case "cut":
            journal.write_bytes(journal.read_bytes()[:200])
        case _:
            journal.rename(journal.with_name("mine.journal"))
    before = left.device.text()
    _, said = left.run("check", "--device", "--format", "json", plan)
    (warning,) = (one for one in json.loads(said)["warnings"] if one["code"] == code)
    assert f"warning: {warning['message']}\n" in left.run("run", "--dry-run", plan)[1]
    assert "undoes it first" not in warning["message"]
    assert "127.0.0.1" in warning["message"]
    refused, said = left.run("run", plan)
    assert refused == 3
    assert left.device.text() == before
    if harm == "cut":
        assert "the undo of `127.0.0.1` is unknown" in said
    if harm == "rename":
        remedy = f"rename {journal.with_name('mine.journal')} to {journal.name}"
        assert remedy in warning["message"]
        assert remedy in said


def test_device_that_cannot_be_reached_costs_no_other_run(left: Fridge, fridge: Fridge) -> None:
    """The commands to enter by hand are in the note, and the undo stays for a later start."""
    left.server.faults.never_takes = True
    (reason,) = restore(left)
    assert reason.code == "configuration-not-undone"
    assert UNDO in str(reason)
    assert journal_of(left).stat().st_size
    left.server.faults.never_takes = False
    assert [reason.code for reason in restore(left)] == ["configuration-restored"]
    # As a device that was never configured.
    assert left.device.text() == fridge.device.text()


def test_signals_during_the_undo_at_the_start_let_it_end(left: Fridge, fridge: Fridge) -> None:
    said = interrupt_the_undo(left, 2)
    assert left.device.text() == fridge.device.text(), said
    assert codes(left, "next") == ["configuration-restored"]


def test_third_signal_during_the_undo_at_the_start_says_so(left: Fridge) -> None:
    said = interrupt_the_undo(left, 3)
    assert str(journal_of(left)) in said
    assert journal_of(left).stat().st_size
