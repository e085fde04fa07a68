"""VLANs with a shaper each on an emulated router: a plan reaches the device, and the report is by VLAN."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.errors import PlanErrors
from netdyno.plan import load, parse
from netdyno.reports.model.first_lines import vlan_lines
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.values.records import StoredCase
from netdyno.values.vlans import TABLE

EXAMPLES = Path(__file__).parents[2] / "examples"
PLAN = """\
title: Five subinterfaces, one of them shaped
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/router}}
  links:
    - endpoints: ["tester:branch", "dut:a"]
      rate: 1Gbps
      vlans: [{vlan: 100-103}, {vlan: [{vid: 7, tpid: 0x88a8}, 104], shape: 8Mbps L2}]
    - {endpoints: ["tester:core", "dut:b"], rate: 1Gbps}
traffic: {small: {size: 256B, flows: 1000}}
matrix: {direction: [bidir], routes: [50]}
method: {sweep: {loads: [1%, 10%], duration: 500ms}}
trial: {settle: 100ms, drain: 2s}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outcome = runner.run(parse(PLAN), tmp_path_factory.mktemp("runs"), watcher(), runner.Selection())
    return outcome.folder


def case_of(folder: Path) -> StoredCase:
    with open_run(folder, REASONS) as run:
        (case,) = run.cases
        return case


def test_only_the_shaped_vlan_loses_what_its_shaper_does_not_pass(folder: Path) -> None:
    with open_run(folder, REASONS) as run:
        last = list(run.trials(0))[-1].result
        assert last is not None
    lost = {stream.name: stream.missing for stream in last.streams}
    shaped = next(stream for stream in last.streams if stream.name == "core-branch/7.104")
    assert {name for name, count in lost.items() if count} == {shaped.name}
    # Frames of 256 B leave with two tags: the bucket of 9248 bytes, its rate for 500 ms, 64 that wait.
    passed = (Fraction(8_000_000, 8) / 2 + 9248) / (256 + 8) + 64
    assert abs(shaped.offered - shaped.missing - passed) <= 2


def test_each_vlan_has_a_row_with_the_load_up_to_which_it_lost_nothing(folder: Path) -> None:
    result = case_of(folder).result
    assert result is not None
    (table,) = (one for one in result.tables if one.name == TABLE)
    rows = {(row[0], row[1]): row for row in table.rows}
    assert len(rows) == 10
    assert rows["core-branch", "100"][3:6] == ("10%", 0, "")
    free_at, worst, worst_at = rows["core-branch", "7.104"][3:6]
    assert (free_at, worst_at) == ("1%", "10%")
    assert isinstance(worst, Fraction)
    assert worst > Fraction(1, 2)


def test_first_screen_names_the_vlans_that_lost(folder: Path) -> None:
    with open_run(folder, REASONS) as run:
        there, back = vlan_lines(view(run), lambda case: case.name)
    assert there.startswith("branch-core: no loss on 5 VLANs")
    assert "1 of 5 VLANs" in back
    assert "7.104" in back


def test_every_route_of_every_vlan_was_proven(folder: Path) -> None:
    with open_run(folder, REASONS) as run:
        first = next(iter(run.trials(0))).result
        assert first is not None
    # Fifty routes on each side; each stream has its tenth or fifth of those it sends to.
    assert {stream.flows_received for stream in first.streams} == {10}


@pytest.mark.parametrize("direction", ["uni", "uni-reverse"])
def test_one_way_alone_resolves_each_side_as_it_is_tagged(direction: str, tmp_path: Path) -> None:
    text = PLAN.replace("bidir", direction).replace(", routes: [50]", "").replace("[1%, 10%]", "[1%]")
    outcome = runner.run(parse(text), tmp_path, watcher(), runner.Selection())
    case = case_of(outcome.folder)
    assert case.error is None
    with open_run(outcome.folder, REASONS) as run:
        (trial,) = run.trials(0)
    assert trial.result is not None
    assert trial.result.invalid == ()
    assert {stream.missing for stream in trial.result.streams} == {0}


def test_streams_with_unlike_numbers_of_routes_are_all_proven(tmp_path: Path) -> None:
    """In a mesh a port with two VLANs has half of the routes on each; the others have all on one."""
    links = """
    - {endpoints: ["tester:a", "dut:a"], rate: 1Gbps, vlans: [{vlan: 100-101}]}
    - {endpoints: ["tester:b", "dut:b"], rate: 1Gbps}
    - {endpoints: ["tester:c", "dut:c"], rate: 1Gbps}
"""
    head, _, rest = PLAN.partition("  links:\n")
    text = f"{head}  links:{links}{rest[rest.index('traffic:') :]}"
    text = text.replace("direction: [bidir]", "pattern: [full-mesh]").replace("[1%, 10%]", "[1%]")
    case = case_of(runner.run(parse(text), tmp_path, watcher(), runner.Selection()).folder)
    assert case.error is None
    assert case.result is not None


def test_fewer_routes_than_vlans_are_refused() -> None:
    with pytest.raises(PlanErrors) as caught:
        parse(PLAN.replace("routes: [50]", "routes: [4]"))
    assert [error.code for error in caught.value.errors] == ["conflict"]


@pytest.mark.parametrize("direction", ["uni", "bidir"])
def test_hairpin_through_an_emulated_router_fills_the_line_both_ways(direction: str, tmp_path: Path) -> None:
    """Closed form: a port that sends a full line gets a full line back, and each VLAN its part of that."""
    plan = load(EXAMPLES / "ccr1072-hairpin.yaml", overrides=("method.throughput.duration=100ms", "scale=1"))
    only = {"direction": direction}
    outcome = runner.run(plan, tmp_path, watcher(), runner.Selection(only=only))
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert case.error is None
        assert case.result is not None
        best = [trial.result for trial in run.trials(case.head.number) if trial.number in case.result.trials]
    ways = {"uni": ["10-20"], "bidir": ["10-20", "20-10"]}[direction]
    line = Fraction(10**10, 8 * (9022 + 20))
    for trial in best:
        assert len(trial.streams) == 8 * len(ways)
        assert {one.name.partition("/")[2] for one in trial.streams} == set(ways)
        assert {one.missing for one in trial.streams} == {0}
        for port in trial.ports:
            assert port.test_frames == port.tx_frames - port.own_frames
            assert abs(port.test_frames - line / 10) <= len(ways)
        assert all(abs(one.received - line / 10 / len(ways)) < 1 for one in trial.streams)


def test_hairpin_with_routes_proves_those_of_the_vlan_that_receives(tmp_path: Path) -> None:
    text = PLAN.replace("direction: [bidir]", "pattern: [hairpin], direction: [bidir]")
    core = text.index('    - {endpoints: ["tester:core"')
    text = text[:core] + text[text.index("traffic:") :]
    text = text.replace("[{vlan: 100-103}", "[{vlan: 100}").replace("[1%, 10%]", "[0.1%]")
    outcome = runner.run(parse(text), tmp_path, watcher(), runner.Selection())
    assert case_of(outcome.folder).error is None
    with open_run(outcome.folder, REASONS) as run:
        first = next(iter(run.trials(0))).result
    assert first is not None
    assert {stream.name: stream.flows_received for stream in first.streams} == {
        "branch-branch/100-7.104": 25,
        "branch-branch/7.104-100": 25,
    }
