"""The comparison with other generators: nothing is left running, skipped in silence or invented."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
STUBBORN = """\
#!/bin/sh
trap '' TERM
(trap '' TERM; while :; do sleep 0.1; done) &
echo $$ $! > "$STUBBORN_ID"
echo "Tx-pps:      0"
echo "Tx-pps:      5000000"
echo "Tx-pps:      7000000"
echo "Tx-pps:      7100000"
echo "Tx-pps:      2000000"
while :; do sleep 0.1; done
"""


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def peers() -> ModuleType:
    return load("peers")


@pytest.fixture
def bench(peers: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(peers, "ping_pong_ns", lambda: 50.0)
    return load("bench_peers")


def test_a_testpmd_that_does_not_end_is_killed_with_all_it_started(
    peers: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "dpdk-testpmd"
    program.write_text(STUBBORN)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("STUBBORN_ID", str(tmp_path / "id"))
    monkeypatch.setattr(peers, "SECONDS", 0.1)
    monkeypatch.setattr(peers, "PATIENCE_S", 0.5)
    # The seconds in which it began and ended are left out.
    assert peers.testpmd_null("txonly", None).mpps == 7.05
    # Neither it nor what it started; what init has not waited for yet is a zombie, and runs no more.
    for number in (tmp_path / "id").read_text().split():
        stat = Path(f"/proc/{number}/stat")
        assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_peer_that_is_missing_is_named_with_its_package(
    bench: ModuleType, peers: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers.shutil, "which", lambda name, path: None)
    comparison = bench.Comparison(
        "null, 1 flow", "testpmd txonly", lambda: peers.Found(1), lambda: peers.testpmd_null("txonly", None)
    )
    rounds = bench.Rounds()
    bench.run(comparison, rounds, 1)
    assert "MISSING: dpdk-testpmd is not here: apt-get install dpdk-dev" in capsys.readouterr().out
    assert "missing: dpdk-testpmd" in bench.row(comparison, rounds)


def test_preempted_sender_is_shown_and_not_counted(
    bench: ModuleType, peers: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    found = iter([peers.Found(10, 0.99), peers.Found(30, 0.5), peers.Found(40, 1.0), peers.Found(10, None)])
    comparison = bench.Comparison(
        "a", "b", lambda: next(found), lambda: next(found), target=50, least_ratio=3
    )
    rounds = bench.Rounds()
    bench.run(comparison, rounds, 1)
    assert "NOT COUNTED" in capsys.readouterr().out
    assert bench.row(comparison, rounds).endswith("no round counted of 1")
    # In the second round netdyno goes first.
    bench.run(comparison, rounds, 2)
    row = bench.row(comparison, rounds)
    assert "4.00 (4.00-4.00)" in row
    assert "target 3 x: reached" in row
    assert "target 50 Mpps: MISSED" in row
    assert "1 round, 1 not counted" in row


@pytest.mark.parametrize(("crosses", "counted"), [(True, []), (False, [1])])
def test_a_machine_that_changed_is_not_counted_where_frames_cross_cores(
    bench: ModuleType, peers: ModuleType, monkeypatch: pytest.MonkeyPatch, crosses: bool, counted: list[int]
) -> None:
    ways = iter([50.0, 180.0])
    monkeypatch.setattr(peers, "ping_pong_ns", lambda: next(ways))
    rounds = bench.Rounds()
    comparison = bench.Comparison("a", "", lambda: peers.Found(1, 1.0), None, crosses=crosses)
    bench.run(comparison, rounds, 1)
    assert (rounds.ours, rounds.dropped) == (counted, 1 - len(counted))


def test_pairs_that_do_not_count_are_retried_but_not_for_ever(
    bench: ModuleType, peers: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shares = iter([1.0, 0.5, 0.5, 1.0])
    often = bench.Comparison("often", "", lambda: peers.Found(7, next(shares)), None)
    never = bench.Comparison("never", "", lambda: peers.Found(7, 0.5), None)
    monkeypatch.setattr(bench, "COMPARISONS", (often, never))
    monkeypatch.setattr(sys, "argv", ["bench_peers.py", "--rounds", "2"])
    assert bench.main() == 0
    table = capsys.readouterr().out.partition("medians")[2]
    assert "2 rounds, 2 not counted" in table
    assert "no round counted of 8" in table


def test_failed_bench_run_is_reported_and_the_others_go_on(
    bench: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> None:
        raise RuntimeError("the peer fell over")

    rounds = bench.Rounds()
    bench.run(bench.Comparison("a", "b", fails, fails), rounds, 1)
    assert "FAILED: the peer fell over" in capsys.readouterr().out
    assert rounds.dropped == 1


def test_what_a_device_in_between_passed_is_what_came_back_is_held_against(
    bench: ModuleType, peers: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    found = iter([(0.9, 1.2), (0.99, 1.0)])

    def routed() -> Any:
        came, offered = next(found)
        return peers.Found(came, 1.0, offered_mpps=offered, passed_mpps=1.0)

    comparison = bench.Comparison("a", "passed", routed, None, least_ratio=0.95)
    rounds = bench.Rounds()
    bench.run(comparison, rounds, 1)
    assert "0.90 (0.90-0.90)" in bench.row(comparison, rounds)
    # Nearly all of it came back: of a router that was offered no more than it passes.
    bench.run(comparison, rounds, 2)
    assert "THE SENDER WAS THE LIMIT" in capsys.readouterr().out
    row = bench.row(comparison, rounds)
    assert "target 0.95 x: MISSED" in row
    assert "1 round, 1 not counted" in row
