"""Pings and adjacencies of a Linux router through a ramp; its link to its routing neighbour is cut meanwhile.

Truth: the times around the command that cuts it, on the clock that the readings have, too.
"""

from __future__ import annotations

import json
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from campaigns import wait_for
from netdyno.campaign import run as runner
from netdyno.campaign.happening import Course
from netdyno.campaign.instruments import Recorder
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import KINDS
from netdyno.devices.linux.live import LinuxLive
from netdyno.devices.linux.services import routing
from netdyno.devices.wiring import LabLink
from netdyno.plan import parse
from netdyno.store import open_run
from netdyno.values.breaks import ADJACENCY, PING
from netdyno.values.load import Event
from netdyno.values.outcome import Outcome
from netdyno.values.records import StoredCase, StoredTrial
from netdyno.verdict.watch_reasons import TABLE, WatchBroke, WatchesBroke, WatchesHeld, WatchesLost
from test_labs import needs_root

pytest.importorskip("netdyno._engine", reason="the engine is not built")
MS = 10**6
HAD_ENOUGH_PPM = 900_000
"""With less of its core a tester does not ask in time, and routing protocols run late."""
PAUSE_NS = 60 * MS
"""Beside the 100 ms between pings: both cores of a small machine may be busy with others."""

PLAN = """\
title: Watched
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router, settings: {routing: ROUTING}}}
  links:
    - {endpoints: ["tester:west", "dut:p0"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:p1"], rate: 1Gbps}
traffic: {it: {size: 64B}}
matrix: {direction: [uni]}
method: {ramp: {warmup: 1s at 1kpps, ramp: 3s to 2kpps, hold: 1s}}
trial: {settle: 200ms, drain: 200ms, sample: 100ms, retries: 0}
watch: {ping: [device, neighbour], adjacencies: true}
goals: ["watch breaks <= 0"]
"""


def run(routing: str, folder: Path) -> tuple[StoredCase, StoredTrial]:
    plan = parse(PLAN.replace("ROUTING", routing))
    outcome = runner.run(plan, folder / "runs", watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as stored:
        (case,) = stored.cases
        assert case.result is not None, case.error
        # A later one is made to judge what it lost.
        trial = next(iter(stored.trials(0)))
        assert (trial.number, trial.state) == (0, "done")
        return case, trial


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Cuts the link to the neighbour at a random time of the ramp. The file says when, ns of the traffic."""
    said = tmp_path / "cut.json"
    seen: dict[str, int] = {}
    after_s = random.Random(request.node.name).uniform(1.5, 3.5)
    begin, readings = Course.begin, Recorder.with_readings

    def cut_once(course: Any) -> None:
        while course._recorder.began_ns is None:
            time.sleep(0.01)
        time.sleep(after_s)
        if seen:
            return
        seen["before"] = time.monotonic_ns()
        course._live.device.do(f"ip link set {routing.PORT} down")
        seen["after"] = time.monotonic_ns()

    def begun(course: Any) -> None:
        begin(course)
        threading.Thread(target=cut_once, args=(course,), daemon=True).start()

    def read(recorder: Recorder, outcome: Outcome) -> Outcome:
        assert recorder.began_ns is not None
        if said.exists():
            return readings(recorder, outcome)
        said.write_text(json.dumps({name: at - recorder.began_ns for name, at in seen.items()}))
        return readings(recorder, outcome)

    monkeypatch.setattr(Course, "begin", begun)
    monkeypatch.setattr(Recorder, "with_readings", read)
    return said


@needs_root
@pytest.mark.parametrize("routing", ["bgp", "ospf"])
def test_link_cut_under_traffic_is_dated_and_in_the_verdict(routing: str, cut: Path, tmp_path: Path) -> None:
    """By BGP traffic follows routes that go with the link; beside OSPF it has static routes and stays."""
    case, trial = run(routing, tmp_path)
    assert case.result is not None
    share = trial.result.health.core_share_ppm or 0
    if share < HAD_ENOUGH_PPM:
        pytest.skip(
            f"the machine left the tester {share / 10_000:.0f} % of its core: watches and routing had less"
        )
    when = json.loads(cut.read_text())
    (lost,) = (one for one in case.result.notes if isinstance(one, WatchesLost))
    broken = {one.watch: one for one in lost.breaks}
    neighbours = {f"{kind} neighbour 100.64.100.2" for kind in ("OSPF", "BGP")[: 1 + (routing == "bgp")]}
    assert set(broken) == {"ping to neighbour", *neighbours}
    assert (lost.watches, lost.broken, lost.more) == (2 + len(neighbours), 1 + len(neighbours), 0)
    for found in broken.values():
        assert found.good_ns is not None
        assert found.good_ns <= when["after"]
        assert found.bad_ns >= when["before"]
        assert found.back_ns is None
    ping = broken["ping to neighbour"]
    assert when["before"] - ping.good_ns <= 100 * MS + PAUSE_NS
    assert ping.bad_ns - when["after"] <= 100 * MS + PAUSE_NS
    _check_adjacency(broken["OSPF neighbour 100.64.100.2"], trial.result)
    first = _first_lost_ns(trial.result)
    if routing == "bgp":
        assert first is not None
        assert first - 100 * MS <= when["after"] + PAUSE_NS
        assert first >= when["before"]
    else:
        assert first is None or first < when["before"], "the tester's own"
    _check_verdict(case, set(broken))


def _check_adjacency(found: WatchBroke, outcome: Outcome) -> None:
    """It broke between two polls that follow each other, each of which is a sample of its series."""
    (series,) = (one for one in outcome.series if (one.source, one.subject) == (ADJACENCY, found.subject))
    down = series.values.index(0)
    assert found.good_ns is not None
    assert series.times_ns[down - 1] - series.took_ns[down - 1] <= found.good_ns <= series.times_ns[down - 1]
    assert series.times_ns[down] <= found.bad_ns <= series.times_ns[down] + series.took_ns[down]
    assert found.missed == len(series.values) - down


def _first_lost_ns(outcome: Outcome) -> int | None:
    """The end of the first sample that lost frames for good: none of its frames or of later ones came."""
    (stream,) = outcome.streams
    for at, (sent, came) in enumerate(zip(stream.tx, stream.arrived, strict=True)):
        if sent and came < sent and not any(stream.arrived[at + 1 :]):
            return (at + 1) * outcome.sample_ns
    return None


def _check_verdict(case: StoredCase, watches: set[str]) -> None:
    """Number and limit are as they would be; the reason has the breaks, the goal counts them."""
    assert case.result is not None
    assert case.verdicts
    for verdict in case.verdicts:
        assert isinstance(verdict.reason, WatchesBroke)
        assert {one.watch for one in verdict.reason.breaks} == watches
        assert verdict.reason.reason.code != WatchesBroke.code
    (goal,) = case.goals
    assert goal.passed is False
    value = case.result.value("watch breaks", "sum")
    assert value is not None
    assert value.number == len(watches)
    (table,) = (one for one in case.result.tables if one.name == TABLE)
    assert {row[0] for row in table.rows if row[2] == "broke"} == watches
    assert {row[0] for row in table.rows if row[2] == "held"} == {"ping to device"}


@needs_root
def test_watches_that_hold_are_noted_once(tmp_path: Path) -> None:
    case, trial = run("ospf", tmp_path)
    assert case.result is not None
    assert [one for one in case.result.notes if isinstance(one, WatchesHeld)] == [WatchesHeld(3)]
    assert not any(isinstance(one.reason, WatchesBroke) for one in case.verdicts)
    (goal,) = case.goals
    assert goal.passed is True
    pings = [one for one in trial.result.series if one.source == PING]
    assert {one.subject for one in pings} == {"device", "neighbour"}
    # From before the traffic until after it, ten a second.
    for one in pings:
        assert one.times_ns[0] < 0
        assert one.times_ns[-1] > 5000 * MS
        assert 40 <= len(one.values) <= 70


def await_route(live: LinuxLive, *, is_there: bool) -> None:
    deadline = time.monotonic() + 20
    while ("48.0.0.0/8 via" in live.device.do("ip route")) is not is_there:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@needs_root
def test_neighbour_comes_back_and_ends_with_the_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A port of the device goes and comes, then the link to the neighbour; then the neighbour's BIRD ends."""
    with tempfile.TemporaryDirectory(prefix="nd-", dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        kind = KINDS["linux/router"]
        links = (LabLink("west", "0", 10**9), LabLink("east", "1", 10**9))
        with kind.build(kind.wire(links, {"routing": "bgp"})) as live:
            assert isinstance(live, LinuxLive)
            await_route(live, is_there=True)
            live.ask(Event(0, "link-down", "east"))
            await_route(live, is_there=False)
            live.ask(Event(0, "link-up", "east"))
            await_route(live, is_there=True)
            live.device.do(f"ip link set {routing.PORT} down")
            await_route(live, is_there=False)
            live.device.do(f"ip link set {routing.PORT} up")
            await_route(live, is_there=True)
            assert live.check() is None
            own, far = live.daemons
            os.kill(far.pid, signal.SIGKILL)
            wait_for(lambda: live.check() is not None)
            ended = live.check()
            assert ended is not None
            assert ended.code == "device-ended"
        # A process that is killed with its namespace may take a moment.
        wait_for(lambda: not any(Path(f"/proc/{one.pid}/exe").exists() for one in (own, far)))
        assert not any(Path(folder, "netdyno-labs").glob("bird*/"))
