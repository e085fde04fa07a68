"""OSPF adjacencies of an emulated router under load: examples/asr1000-wan.yaml with two VLANs, not 205."""

from __future__ import annotations

from pathlib import Path

from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices.watches.reasons import NeighbourSilent
from netdyno.plan import load
from netdyno.store import open_run
from netdyno.values.breaks import ADJACENCY
from netdyno.values.finding import FAIL, PASS
from netdyno.values.table_series import ROUTES

PLAN = Path(__file__).parents[2] / "examples" / "asr1000-wan.yaml"
SMALL = (
    "lab.links[0].rate=100Mbps",
    "lab.links[1].rate=100Mbps",
    # Of 50 Mbit/s each, 90 % are 44.5 Mbit/s of frames, and 100 % are 49.5.
    "lab.links[0].vlans=[{vlan: 100-101, shape: 45Mbps L2}]",
    "lab.links[0].routing.bgp.routes=3000",
    "matrix.qos=[none, llq]",
    "method.acceptance.loads=[90%, 100%]",
    "method.acceptance.loss_free=90%",
)


def test_adjacencies_break_in_a_full_queue_and_not_in_a_priority_queue(tmp_path: Path) -> None:
    outcome = runner.run(load(PLAN, overrides=SMALL), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        without, llq = run.cases
        lost = [one for trial in run.trials(without.head.number) for one in trial.result.adjacencies_lost]
        first = next(run.trials(llq.head.number)).result
    verdicts = [
        [(row[0], row[6]) for table in case.result.tables[:1] for row in table.rows]
        for case in (without, llq)
        if case.result is not None
    ]
    assert verdicts == [
        [("IPv4 table", PASS), ("adjacencies", FAIL), ("loss-free load", PASS)],
        [("IPv4 table", PASS), ("adjacencies", PASS), ("loss-free load", PASS)],
    ]
    (table,) = (one for one in first.series if one.source == ROUTES and one.name == "ipv4 routes")
    # Announced; the networks of both VLANs and of the other link, and the two that are behind each port.
    assert set(table.values) == {3000 + 3 + 2}
    assert [one.subject for one in first.series if one.source == ADJACENCY] == [
        f"OSPF neighbour 100.80.0.{host} (VLAN {vlan})" for host, vlan in ((1, 100), (5, 101))
    ]
    silent = [one.why for one in lost if isinstance(one.why, NeighbourSilent)]
    # Three hellos at least are lost in a dead interval of four.
    assert silent
    assert {(one.who, one.place) for one in silent} == {("tester", "shaper")}
    assert all(one.hellos >= 3 and one.within_ns == 40 * 10**9 // 300 for one in silent)
