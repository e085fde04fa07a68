"""Routing updates in real time: to a router in another process over memif, and to the kernel's with BIRD."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from campaigns import served_router
from netdyno.campaign import run as runner
from netdyno.campaign.events import Looked
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import PlainView, watcher
from netdyno.devices import addresses
from netdyno.devices.linux import device, leftovers, programs
from netdyno.devices.linux.daemon import Daemon
from netdyno.devices.linux.services import routing
from netdyno.devices.wiring import LabError
from netdyno.plan import parse
from netdyno.store import open_run
from netdyno.values.outcome import Exchange
from netdyno.values.records import StoredCase
from test_labs import needs_root
from words import as_text

pytestmark = pytest.mark.paired

pytest.importorskip("netdyno._engine", reason="the engine is not built")


def run(
    lab: str, links: list[str], folder: Path, view: PlainView | None = None
) -> tuple[StoredCase, Exchange | None]:
    cables = "\n".join(f"    - {{{link}}}" for link in links)
    plan = parse(f"""\
title: In real time
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {lab}}}}}
  links:
{cables}
traffic: {{it: {{size: 64B}}}}
matrix: {{direction: [bidir], modifier: [routing]}}
method: {{ramp: {{warmup: 300ms at 1kpps, ramp: 1s to 2kpps, hold: 300ms}}}}
trial: {{settle: 5s, drain: 200ms}}
""")
    outcome = runner.run(plan, folder / "runs", view or watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as stored:
        (case,) = stored.cases
        trials = {trial.number: trial.result for trial in stored.trials(0) if trial.state == "done"}
        exchange = trials[case.result.trials[0]].exchange if case.result is not None else None
        return case, exchange


def memif(folder: Path) -> list[str]:
    return [
        f'endpoints: ["tester:{name}", "dut:{name}"], rate: 10Gbps, backend: memif,'
        f" socket: {folder}/{name}.sock, address: {addresses.tester(port)}/30,"
        f" gateway: {addresses.device(port)}"
        for port, name in enumerate(("west", "east"))
    ]


@pytest.fixture(params=["rip", "static"])
def router(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    with served_router(tmp_path, f"routing={request.param}"):
        yield request.param, tmp_path


def test_external_router_is_checked_for_following_updates(router: tuple[str, Path]) -> None:
    """State A before the traffic and state B as its first frame; without RIP nothing is ever reached."""
    routing, folder = router
    case, exchange = run("external", memif(folder), folder)
    assert case.result is not None, case.error
    assert exchange is not None
    notes = [note for note in as_text(case.result.notes) if "routing updates" in note]
    if routing == "rip":
        assert (exchange.sent, exchange.answered, exchange.wrong) == (2, 2, 0)
        assert notes == []
        return
    assert (exchange.sent, exchange.answered, exchange.wrong) == (2, 0, 1)
    assert notes == [
        "The device did not follow 1 of 2 routing updates: 2 s after the update at -5 s 6 of 6 networks could"
        " not be reached yet (state A). Does the device learn by RIP version 2 on its port at west?"
    ]


@needs_root
def test_a_linux_router_follows(tmp_path: Path) -> None:
    links = [f'endpoints: ["tester:{name}", "dut:{name}"], rate: 1Gbps' for name in ("west", "east")]
    case, exchange = run("linux/router", links, tmp_path)
    assert case.result is not None, case.error
    assert exchange is not None
    assert (exchange.port, exchange.sent, exchange.answered, exchange.wrong) == ("west", 2, 2, 0)


def run_rip(router: device.Device) -> AbstractContextManager[Daemon]:
    """A router of two ports learns by RIP."""
    return routing.run_bird(
        router, routing.configure_router("rip", 2), "show protocols | grep -q 'RIP .* up '"
    )


@needs_root
def test_its_routing_protocol_ends_with_it() -> None:
    """Though nobody ends it: only the process that holds the namespace is killed."""
    with device.device_namespace() as router:
        router.do("ip link add d0 type veth peer name d1")
        with run_rip(router):
            (process,) = Path(f"/proc/{router.pid}/task/{router.pid}/children").read_text().split()
            assert Path(f"/proc/{process}/comm").read_text() == "bird\n"
    deadline = time.monotonic() + 10
    while running(process):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the labs of this test have their notes and folders; BIRD's socket wants a short path."""
    with tempfile.TemporaryDirectory(prefix="nd-", dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder, "netdyno-labs")


@needs_root
@pytest.mark.parametrize(
    ("number", "ending"), [(signal.SIGKILL, "killed by SIGKILL"), (signal.SIGTERM, "with exit code 0")]
)
def test_routing_protocol_that_ends_is_reported(number: signal.Signals, ending: str, state: Path) -> None:
    """BIRD leaves in order when it is asked to (bird(8)); its last words are kept where the hint says."""
    with device.device_namespace() as router:
        router.do("ip link add d0 type veth peer name d1")
        with run_rip(router) as daemon:
            daemon.look()
            os.kill(daemon.pid, number)
            deadline = time.monotonic() + 10
            while running(str(daemon.pid)):
                assert time.monotonic() < deadline
                time.sleep(0.02)
            with pytest.raises(
                LabError, match=f"the device's `bird` ended during the run, {ending}:"
            ) as told:
                daemon.look()
    (log,) = state.iterdir()
    assert log.name == f"bird-{daemon.pid}.log"
    assert told.value.hint is not None
    assert str(log) in told.value.hint


def test_another_process_with_its_id_is_not_it(state: Path) -> None:
    """Ids are given again; what started at another time is another process (proc(5), starttime)."""
    state.mkdir(mode=0o700)
    log = state / "log"
    log.write_text("gone\n")
    shell: Any = SimpleNamespace(ask=lambda command: (128 + signal.SIGKILL, ""))
    begun = leftovers.read_start_time(os.getpid())
    assert begun is not None
    here = Daemon(shell, "bird", os.getpid(), begun, log)
    here.look()
    for other in (begun - 1, None):
        with pytest.raises(LabError, match="ended during the run, killed by SIGKILL"):
            replace(here, begun=other).look()


@needs_root
def test_a_trial_in_which_the_routing_protocol_ended_does_not_count(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = watcher()
    known: list[int] = []

    def event(happened: object) -> None:
        type(view).event(view, happened)  # type: ignore[arg-type]
        # Once the load is on.
        if isinstance(happened, Looked) and happened.progress.phase == "ramp" and not known:
            known.extend(int(path.name) for path in Path("/proc").glob("[0-9]*") if is_bird(path, state))
            os.kill(known[0], signal.SIGKILL)

    monkeypatch.setattr(view, "event", event)
    links = [f'endpoints: ["tester:{name}", "dut:{name}"], rate: 1Gbps' for name in ("west", "east")]
    case, _ = run("linux/router", links, tmp_path, view)
    assert len(known) == 1
    assert case.result is None
    assert case.error is not None
    assert case.error.code == "device-ended"
    (log,) = state.iterdir()
    assert str(log) in (case.error.hint or "")


def is_bird(process: Path, folder: Path) -> bool:
    with contextlib.suppress(OSError):
        said = (process / "cmdline").read_bytes().split(b"\0")
        return said[0].endswith(b"/bird") and str(folder).encode() in b" ".join(said)
    return False


def running(process: str) -> bool:
    """Whether it is there, and not only until somebody asks how it ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


def test_where_it_is_missing_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "SEARCH", "/nowhere")
    with (
        pytest.raises(LabError, match="the program `bird` is not installed") as told,
        run_rip(device.Device.__new__(device.Device)),
    ):
        pass
    assert told.value.hint == "sudo apt-get install bird2"
