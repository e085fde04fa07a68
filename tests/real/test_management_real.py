"""Management queries in real time: to a router in another process that has an SNMP agent, over memif."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns import ENVIRONMENT, served_router, wait_for
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import addresses
from netdyno.modifiers import management
from netdyno.plan import parse
from netdyno.reports import FORMATS
from netdyno.store import StoredRun, open_run
from test_labs import needs_root

pytestmark = pytest.mark.paired

pytest.importorskip("netdyno._engine", reason="the engine is not built")

SECRET = "an0ther-one"
LIMIT_S = 60


@pytest.fixture
def router(tmp_path: Path) -> Iterator[Path]:
    """The folder of the sockets of an emulated router with an agent, which knows `public`."""
    with served_router(tmp_path, "agent=snmp"):
        yield tmp_path


def plan_text(folder: Path) -> str:
    """A ramp through the served router, with a query as the first frame of each second."""
    links = "\n".join(
        f'    - {{endpoints: ["tester:{name}", "dut:{name}"], rate: 10Gbps, backend: memif,'
        f" socket: {folder}/{name}.sock, address: {addresses.tester(port)}/30,"
        f" gateway: {addresses.device(port)}}}"
        for port, name in enumerate(("west", "east"))
    )
    return f"""\
title: In real time
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: external, settings: {{if_index: 1}}}}}}
  links:
{links}
traffic: {{it: {{size: 64B}}}}
matrix: {{direction: [uni], modifier: [management]}}
method: {{ramp: {{warmup: 1s at 1kpps, ramp: 1s to 2kpps, hold: 1s}}}}
trial: {{settle: 100ms, drain: 200ms}}
"""


def run(folder: Path) -> StoredRun:
    outcome = runner.run(parse(plan_text(folder)), folder / "runs", watcher(), runner.Selection())
    return open_run(outcome.folder, REASONS)


def test_a_router_answers_under_load(router: Path) -> None:
    with run(router) as stored:
        (case,) = stored.cases
        assert case.result is not None, case.error
        trials = {trial.number: trial.result for trial in stored.trials(0) if trial.state == "done"}
        (number,) = case.result.trials
        exchange, (stream,) = trials[number].exchange, trials[number].streams
    assert exchange is not None
    assert (exchange.port, exchange.sent, exchange.answered, exchange.wrong) == ("west", 3, 3, 0)
    # Of the frames those between the first answer and the last, and the queries; none was lost.
    assert exchange.taken is not None
    assert 0 < exchange.taken <= stream.offered + exchange.sent
    (table,) = (table for table in case.result.tables if table.name == "Management queries")
    assert table.rows[0][:4] == ("west", 3, 3, 0)


def test_agent_with_another_community_answers_nothing(router: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(management.COMMUNITY, SECRET)
    with run(router) as stored:
        (case,) = stored.cases
        assert case.result is not None, case.error
        exchanges = [trial.result.exchange for trial in stored.trials(0) if trial.state == "done"]
    assert [(one.sent, one.answered) for one in exchanges if one is not None] == [(3, 0)]


def netdyno(*arguments: object) -> subprocess.Popen[bytes]:
    """The real command with the secret in its environment, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "netdyno", *map(str, arguments)],
        env={**ENVIRONMENT, management.COMMUNITY: SECRET},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def test_planted_secret_is_in_no_byte_that_is_kept_or_printed(router: Path) -> None:
    """A run killed in its load, resumed, listed and reported in every format, with a log."""
    log, runs, plan = router / "log", router / "runs", router / "plan.yaml"
    plan.write_text(plan_text(router))
    killed = netdyno("run", plan, "--out", runs, "--log-file", log, "-v", "--no-calibrate")
    wait_for(lambda: any(path.stat().st_size > 0 for path in runs.glob("*/*.sqlite*")))
    time.sleep(1)
    os.killpg(killed.pid, signal.SIGKILL)
    spoken = [*killed.communicate(timeout=LIMIT_S)]
    (folder,) = (path for path in runs.iterdir() if not path.name.startswith("."))
    resumed = netdyno("run", "--resume", folder, "--log-file", log, "-v", "--report", "html")
    spoken += resumed.communicate(timeout=LIMIT_S)
    assert resumed.returncode in (0, 4), spoken[-1]
    for arguments in (("list", runs), *(("report", folder, "--as", name) for name in FORMATS)):
        process = netdyno(*arguments)
        spoken += process.communicate(timeout=LIMIT_S)
    with open_run(folder, REASONS) as stored:
        exchanges = [one.result.exchange for one in stored.trials(0) if one.state == "done"]
        assert [one.sent for one in exchanges if one is not None] == [3], "the queries were sent"
    kept = [path.read_bytes() for path in router.rglob("*") if path.is_file()]
    kept += [one for blob in kept for one in unpacked(blob)]
    for code in (SECRET.encode(), SECRET.encode().hex().encode(), base64.b64encode(SECRET.encode())[:-2]):
        assert not [one[:80] for one in (*kept, *spoken) if code in one]


def unpacked(blob: bytes) -> Iterator[bytes]:
    """What zlib finds behind each of its headers: bodies of trials are packed."""
    for start in (match.start() for match in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", blob)):
        with contextlib.suppress(zlib.error):
            yield zlib.decompressobj().decompress(blob[start:], 10_000_000)


@needs_root
def test_net_snmp_answers_on_a_linux_router(tmp_path: Path) -> None:
    plan = parse("""\
title: In real time
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}
traffic: {it: {size: 64B}}
matrix: {direction: [uni, uni-reverse], modifier: [management]}
method: {ramp: {warmup: 1s at 1kpps, ramp: 1s to 2kpps, hold: 1s}}
trial: {settle: 100ms, drain: 200ms}
""")
    outcome = runner.run(plan, tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as stored:
        for case, port in zip(stored.cases, ("west", "east"), strict=True):
            assert case.result is not None, case.error
            trials = {
                one.number: one.result for one in stored.trials(case.head.number) if one.state == "done"
            }
            exchange = trials[case.result.trials[0]].exchange
            assert exchange is not None
            assert (exchange.port, exchange.sent) == (port, 3)
            # The last answer may come after the drain of a tester that had no core for a while.
            assert exchange.answered in (2, 3)
            assert (exchange.wrong, exchange.findings) == (0, ())
