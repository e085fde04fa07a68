"""Management queries in real time: to a router in another process that has an SNMP agent, over memif."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns import served_router
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import addresses
from netdyno.modifiers import management
from netdyno.plan import parse
from netdyno.store import StoredRun, open_run
from test_labs import needs_root
from words import said

pytest.importorskip("netdyno._engine", reason="the engine is not built")

SECRET = "an0ther-one"


@pytest.fixture
def router(tmp_path: Path) -> Iterator[Path]:
    """The folder of the sockets of an emulated router with an agent, which knows `public`."""
    with served_router(tmp_path, "agent=snmp"):
        yield tmp_path


def run(folder: Path) -> StoredRun:
    links = "\n".join(
        f'    - {{endpoints: ["tester:{name}", "dut:{name}"], rate: 10Gbps, backend: memif,'
        f" socket: {folder}/{name}.sock, address: {addresses.tester(port)}/30,"
        f" gateway: {addresses.device(port)}}}"
        for port, name in enumerate(("west", "east"))
    )
    plan = parse(f"""\
title: In real time
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: external, settings: {{if_index: 1}}}}}}
  links:
{links}
traffic: {{it: {{size: 64B}}}}
matrix: {{direction: [uni], modifier: [management]}}
method: {{ramp: {{warmup: 1s at 1kpps, ramp: 1s to 2kpps, hold: 1s}}}}
trial: {{settle: 100ms, drain: 200ms}}
""")
    outcome = runner.run(plan, folder / "runs", watcher(), runner.Selection())
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


def test_an_agent_that_knows_another_community_answers_nothing_and_the_one_asked_with_is_kept_nowhere(
    router: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(management.COMMUNITY, SECRET)
    with run(router) as stored:
        (case,) = stored.cases
        assert case.result is not None, case.error
        assert said(case.result.notes)[-1] == (
            "The device answered 0 of 3 management queries. Nothing was answered: is NETDYNO_SNMP_COMMUNITY"
            " its community?"
        )
    written = [path.read_bytes() for path in router.rglob("*") if path.is_file()]
    assert written
    printed = capfd.readouterr()
    for told in (*written, printed.out.encode(), printed.err.encode()):
        assert SECRET.encode() not in told
        assert SECRET.encode().hex().encode() not in told


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
