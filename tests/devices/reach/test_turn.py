"""Several runs on one device: each waits until the one before it has ended and undone its configuration."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import pytest
from campaigns import PATIENCE_S, wait_for
from fakes.fridge import Fridge, fridge_in
from fakes.server import Faults
from killing import Moments, run_in_child
from netdyno.devices.configure import locks
from netdyno.devices.configure.journal import Journal, list_pending
from netdyno.devices.configure.locks import Identity, InUseError
from netdyno.devices.reach.configuring import Held, hold_device, take_turn
from netdyno.values.reason import Reason

FRIDGE = Identity("cisco_iosxr", "fridge")
IN_USE = "another netdyno uses this device"


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # Other tests of this machine may hold a device of this name.
    monkeypatch.setattr(locks, "FOLDER", tmp_path)


@pytest.fixture
def fridge(tmp_path: Path) -> Iterator[Fridge]:
    with fridge_in(tmp_path) as found:
        yield found


def test_free_device_is_taken_without_a_word() -> None:
    said: list[Reason] = []
    with take_turn(FRIDGE, said.append), pytest.raises(InUseError):
        Journal(FRIDGE)
    assert said == []
    Journal(FRIDGE).close()


def test_device_in_use_is_waited_for_and_said_once() -> None:
    said: list[Reason] = []
    other = Journal(FRIDGE)

    def say(reason: Reason) -> None:
        said.append(reason)
        other.close()

    with take_turn(FRIDGE, say):
        pass
    assert [one.code for one in said] == ["device-awaited"]


def test_device_of_a_killed_run_is_its_workers_until_they_end() -> None:
    """The parent of a worker has ended; the worker still holds the device."""
    reading, writing = os.pipe()

    child = os.fork()
    if not child:
        hold_device(FRIDGE)
        if not os.fork():
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    with pytest.raises(InUseError):
        Journal(FRIDGE)
    os.close(writing)
    os.close(reading)
    with take_turn(FRIDGE, lambda reason: None):
        pass


def test_worker_reads_what_one_before_it_has_stored() -> None:
    with take_turn(FRIDGE, lambda reason: None):

        def configure(moments: Moments) -> None:
            hold_device(FRIDGE).journal.begin("a\n", "b\n", run="/runs/x")

        run_in_child(configure)
        assert hold_device(FRIDGE).journal.pending is None

        def check(moments: Moments) -> None:
            entry = hold_device(FRIDGE).journal.pending
            assert entry is not None
            assert entry.run == "/runs/x"
            hold_device(FRIDGE).journal.mark_undone()

        run_in_child(check)
    assert list_pending() == {}


def plan_of(fridge: Fridge, word: str) -> Path:
    """A plan that describes a port with a word, which is in no other plan's configuration."""
    (fridge.folder / f"{word}.j2").write_text(f"interface {{{{ ports[0] }}}}\n description {word}\n!\n")
    one = {"l2-xconnect, bridge-domain, ipv4": "ipv4", "[plain, lacp]": "[plain]", "1/100": "1/1000"}
    path = fridge.plan(**one, **{"asr9006-{forwarding}-{lag}": f"{word}.j2"})
    return path.rename(fridge.folder / f"{word}.yaml")


class Runs:
    """Runs of netdyno in processes of their own, each with what it has printed so far in a file."""

    def __init__(self, fridge: Fridge) -> None:
        self.fridge = fridge
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def start(self, word: str) -> None:
        """Starts the run of a plan with this word."""
        plan = plan_of(self.fridge, word)
        with (self.fridge.folder / f"{word}.said").open("w") as out:
            self.processes[word] = self.fridge.start("run", str(plan), stdout=out)

    def said(self, word: str) -> str:
        return (self.fridge.folder / f"{word}.said").read_text()

    def waiting(self) -> list[str]:
        """The words of the runs that have said that they wait."""
        return [word for word in self.processes if IN_USE in self.said(word)]

    def end(self, word: str) -> int:
        """Waits for the end of a run; its exit code."""
        return self.processes[word].wait(PATIENCE_S)


@contextmanager
def runs_on(fridge: Fridge) -> Iterator[Runs]:
    runs = Runs(fridge)
    try:
        yield runs
    finally:
        for process in runs.processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def warnings_of(fridge: Fridge, word: str) -> list[dict[str, str]]:
    code, said = fridge.run("check", "--device", "--format", "json", f"{word}.yaml")
    assert code == 0, said
    found: list[dict[str, str]] = json.loads(said)["warnings"]
    return found


def locks_of(process: int) -> list[str]:
    """The locks that the processes below one have open."""
    below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    files = [file for one in below for file in Path(f"/proc/{one}/fd").iterdir()]
    found = []
    for file in files:
        # It may be closed meanwhile.
        with suppress(FileNotFoundError):
            found.append(os.readlink(file))
    return [name for name in found if name.endswith(".lock")]


def test_three_runs_at_once_are_measured_one_after_the_other(fridge: Fridge) -> None:
    before = fridge.device.text()
    texts = [before]
    save = fridge.device.save

    def record(state: dict[str, object]) -> None:
        save(state)
        texts.append(fridge.device.text())

    fridge.device.save = record  # type: ignore[method-assign]
    words = ("first", "second", "third")
    # The first that configures stops there until both others have said that they wait.
    fridge.server.faults = Faults(waits_at="commit")
    with runs_on(fridge) as runs:
        for word in words:
            runs.start(word)
        wait_for(lambda: fridge.server.waiting.is_set() and len(runs.waiting()) == 2)
        (holder,) = set(words) - set(runs.waiting())
        process = runs.processes[holder].pid
        assert locks_of(process)
        (run,) = (fridge.folder / "runs").iterdir()
        found = warnings_of(fridge, words[0])
        assert [one["code"] for one in found] == ["device-in-use"]
        assert f"process {process}, since " in found[0]["message"]
        assert str(run) in found[0]["message"]
        code, said = fridge.run("run", "--dry-run", f"{words[0]}.yaml")
        assert (code, said.count(f"process {process}, since ")) == (0, 1)
        fridge.server.release()
        assert [runs.end(word) for word in words] == [0, 0, 0], [runs.said(word) for word in words]
        said = "".join(map(runs.said, words))
    # The last one waited for both before it.
    assert said.count(IN_USE) == 3
    changes = [text for text, other in pairwise([*texts, ""]) if text != other]
    assert changes[::2] == [before] * 4
    entered = [word for text in changes[1::2] for word in words if f" description {word}\n" in text]
    assert sorted(entered) == sorted(words)
    assert fridge.device.text() == before
    assert len(list((fridge.folder / "runs").iterdir())) == 3
    for folder in (fridge.folder / "runs").iterdir():
        code, text = fridge.run("report", str(folder), "--as", "json")
        assert (code, [case["state"] for case in json.loads(text)["cases"]]) == (0, ["done"])
    assert warnings_of(fridge, words[0]) == []


def test_run_that_is_killed_gives_the_device_to_who_waits(fridge: Fridge) -> None:
    """Who waits undoes what the killed one has left, and is measured."""
    before = fridge.device.text()
    # In its undo, of which nothing is in effect yet.
    fridge.server.faults = Faults(waits_at="no description")
    with runs_on(fridge) as runs:
        runs.start("first")
        wait_for(fridge.server.waiting.is_set)
        runs.start("second")
        wait_for(lambda: runs.waiting() == ["second"])
        os.killpg(runs.processes["first"].pid, signal.SIGKILL)
        fridge.server.release()
        assert runs.end("second") == 0, runs.said("second")
    assert fridge.device.text() == before


def test_interrupted_wait_begins_nothing(fridge: Fridge) -> None:
    held = Held.take(fridge.server.identity)
    # A test before this one may have left it ignored, which a process inherits.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with runs_on(fridge) as runs:
        runs.start("first")
        signal.signal(signal.SIGINT, before)
        wait_for(lambda: runs.waiting() == ["first"])
        os.kill(runs.processes["first"].pid, signal.SIGINT)
        assert runs.end("first") == 130
        assert "nothing was measured" in runs.said("first")
    held.release()
    assert not (fridge.folder / "runs").exists()
    assert not [line for line in fridge.server.lines if line.startswith(("conf", "show"))]
