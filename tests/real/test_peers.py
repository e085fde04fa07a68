"""Ports with a peer of their own: a device that connects to us stays connected from case to case."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import testpmd
from netdyno.campaign.reasons import REASONS
from netdyno.ports import memif as peers
from netdyno.store import open_run
from netdyno.values.engine_reason import EngineReason

pytestmark = pytest.mark.paired

PLAN = """\
title: testpmd as a client
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: external}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 10Gbps, backend: memif, socket: {0}, role: server, id: 0}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 10Gbps, backend: memif, socket: {0}, role: server, id: 1}}
traffic: {{4000b: {{size: 4000B}}, 1518b: {{size: 1518B}}, 64b: {{size: 64B}}, 2052b: {{size: 2052B}}}}
matrix: {{profile: [4000b, 1518b, 64b, 2052b], direction: [uni]}}
method: {{ramp: {{warmup: 200ms at 1kpps, ramp: 1s to 1%, hold: 200ms}}}}
trial: {{settle: 50ms, drain: 200ms}}
"""


def test_a_testpmd_that_connects_once_is_measured_in_every_case(tmp_path: Path) -> None:
    """DPDK's client looks for its server when it is started and never again; started seconds after us."""
    testpmd.skip_without()
    listens = tmp_path / "dut.sock"
    (tmp_path / "plan.yaml").write_text(PLAN.format(listens))
    vdevs = [
        f"--vdev=net_memif{number},role=client,id={number},socket={listens},socket-abstract=no"
        for number in (0, 1)
    ]
    run = [
        sys.executable,
        "-m",
        "netdyno",
        "run",
        str(tmp_path / "plan.yaml"),
        "--out",
        str(tmp_path / "runs"),
        "--no-calibrate",
    ]
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as netdyno:
        testpmd.wait_for(listens)
        # Longer than an engine waits at a time: whoever starts the other one by hand takes as long.
        time.sleep(6)
        command = ["dpdk-testpmd", "-l", "0,1", "--no-pci", "--no-huge", "-m", "128", "--no-telemetry"]
        command += ["--file-prefix", "peers", *vdevs, "--", "--forward-mode=io", "--no-mlockall"]
        with testpmd.run_testpmd([*command, "--total-num-mbufs=4096"], tmp_path):
            try:
                _, told = netdyno.communicate(timeout=testpmd.DEADLINE_S)
            finally:
                netdyno.kill()
    assert "start it now" in told, told
    (folder,) = (path for path in (tmp_path / "runs").iterdir() if (path / "run.sqlite").exists())
    with open_run(folder, REASONS) as stored:
        assert [case.state for case in stored.cases] == ["done"] * 4, told
        for case in stored.cases:
            trial = next(iter(stored.trials(case.head.number)))
            (stream,) = trial.result.streams
            assert stream.received > 0
            # None came joined to another, and so longer than any that was sent.
            health = trial.result.health
            assert (health.rx_dropped, health.rx_too_long) == (0, 0), case.head.name


def memif(role: str, **more: Any) -> dict[str, Any]:
    port = {"name": "west", "backend": {"kind": "memif", "socket": "/tmp/x.sock", "role": role, "id": 7}}
    return {"ports": [port], **more}


def absent(code: str, **more: bool | str) -> EngineReason:
    """Why port `west` has no peer."""
    return EngineReason.of(
        "no peer", code, {"port": "west", "waited_ms": 5000, "socket": "/tmp/x.sock", **more}
    )


def test_peer_missing_in_one_case_gets_a_shorter_wait_in_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    why = [absent("memif-nobody-connected")]
    first = peers.Peers(memif("server"))
    assert first.patient(why)
    clock[0] += peers.PATIENCE_S - 1
    assert first.patient(why)
    clock[0] += 1
    assert not first.patient(why)
    assert not first.of_next_case().patient(why)
    first.came()
    assert first.of_next_case().patient(why)
    # Who calls for a server has looked for it before, and waits no longer than the engine does.
    assert not peers.Peers(memif("client")).patient(why)
    assert peers.Peers(memif("server")).patient(why)


def test_what_is_waited_for_is_named_and_why_it_is_not_there() -> None:
    told = peers.Peers(memif("server"))
    assert told.waiting == (
        "listening for the device as a memif client at /tmp/x.sock (`west` id 7); start it now, it has 60 s"
    )
    assert told.patient([absent("memif-disagreed", why="no")])
    assert told.waiting.endswith("; so far the connection at `/tmp/x.sock` failed: no")
    assert not peers.Peers({"ports": [{"name": "west", "backend": {"kind": "ring"}}]})


def test_peer_with_too_few_queues_gets_a_hint_how_to_add_more() -> None:
    hint = peers.Peers(memif("client", workers=2)).hint(
        [absent("memif-fewer-queues", why="Invalid ring index")]
    )
    assert hint is not None
    assert "`--rxq=2 --txq=2`" in hint
    assert "`workers: 1`" in hint
    assert "start netdyno first" in (
        peers.Peers(memif("server")).hint([absent("memif-nobody-connected")]) or ""
    )


def test_the_file_of_a_peer_that_was_killed_is_to_be_removed() -> None:
    device = peers.Peers(memif("client"))
    for is_left_over, wanted in ((True, "`rm /tmp/x.sock`"), (False, "start the device first")):
        reason = absent("memif-nobody-listens", error="Connection refused", is_left_over=is_left_over)
        assert wanted in (device.hint([reason]) or "")
