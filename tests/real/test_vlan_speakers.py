"""Twenty OSPF adjacencies and BGP sessions over VLANs of one trunk port of Open vSwitch, beside test traffic.

tester t0 (trunk, a speaker on each VLAN) -- o0 [br] 10..29 -- a router with an interface for each VLAN
                                                       tester t1 -- d1 of the same router
Truth: the router's own BIRD: its list of neighbours, and their states in its log.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import ovs
import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.bird import IS_UP, run_bird
from netdyno.devices.reasons import RoutesAnnounced
from netdyno.plan import parse
from netdyno.store import open_run
from netdyno.values.breaks import ADJACENCY
from ovs_vlans import cable, vlan_router
from test_labs import needs_root

pytest.importorskip("netdyno._engine", reason="the engine is not built")
pytestmark = [
    pytest.mark.paired,
    needs_root,
    pytest.mark.skipif(
        not ovs.is_installed() or shutil.which("bird", path=dut.SEARCH) is None,
        reason="wants Open vSwitch and BIRD (apt-get install openvswitch-switch bird2)",
    ),
]

VIDS = range(10, 30)
DEAD_S = 3
BIRD = """log stderr all;
debug protocols { events };
router id 10.0.0.1;
protocol device {}
protocol ospf v2 {
  ipv4 { import all; export none; };
  area 0 { interface "e*" { type ptp; hello 1; dead %d; }; };
}
"""
PLAN = f"""\
title: OSPF on twenty VLANs
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: external}}}}
  links:
    - endpoints: ["tester:t0", "dut:o0"]
      rate: 1Gbps
      vlans: [{{vlan: 10-29, address: 10.0.10.2/24, gateway: 10.0.10.1}}]
      routing: {{ospf: {{hello: 1s, dead: {DEAD_S}s}}}}
    - endpoints: ["tester:t1", "dut:d1"]
      rate: 1Gbps
      address: 10.1.0.2/24
      gateway: 10.1.0.1
traffic: {{small: {{size: 128B, flows: 20}}}}
matrix: {{direction: [uni]}}
method: {{soak: {{load: 1kpps, duration: {2 * DEAD_S}s, part: 0s}}}}
trial: {{resolve: 5s, settle: 100ms, drain: 500ms, retries: 0, catch_up: 1000%}}
watch: {{adjacencies: true}}
"""


BGP = """log stderr all;
debug protocols { events };
router id 10.0.0.1;
protocol device {}
protocol kernel { ipv4 { export all; }; }
""" + "".join(
    f"protocol bgp b{vid} {{ local 10.0.{vid}.1 as 64512; neighbor 10.0.{vid}.2 as 64513; direct;"
    " connect delay time 1; connect retry time 2; ipv4 { import all; export none; }; }\n"
    for vid in VIDS
)
BGP_PLAN = """\
title: BGP on twenty VLANs
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - endpoints: ["tester:t1", "dut:d1"]
      rate: 1Gbps
      address: 10.1.0.2/24
      gateway: 10.1.0.1
    - endpoints: ["tester:t0", "dut:o0"]
      rate: 1Gbps
      vlans: [{vlan: 10-29, address: 10.0.10.2/24, gateway: 10.0.10.1}]
      routing: {bgp: {own_as: 64513, peer_as: 64512, routes: 2000, withdraw: 600}}
traffic: {small: {size: 128B, flows: 1000}}
matrix: {direction: [uni]}
method:
  acceptance: {loads: [500pps], hold: 2s, loss_free: 500pps, rate: 2, before: 1s, watch: 5s}
trial: {resolve: 5s, settle: 100ms, drain: 500ms, retries: 0, catch_up: 1000%}
watch: {adjacencies: true}
"""


@pytest.fixture
def router() -> Iterator[dut.Device]:
    with vlan_router(VIDS) as router:
        cable("t1", "d1", router)
        router.do("ip address add 10.1.0.1/24 dev d1; ip route add 48.0.0.0/8 via 10.1.0.2")
        yield router


def test_adjacencies_of_all_vlans_come_up_and_stay_beside_traffic(router: dut.Device, tmp_path: Path) -> None:
    with run_bird(router, BIRD % DEAD_S, IS_UP) as bird:
        outcome = runner.run(parse(PLAN), tmp_path / "runs", watcher(), runner.Selection())
        said = bird.log.read_text()
    with open_run(outcome.folder, REASONS) as stored:
        (case,) = stored.cases
        assert case.state == "done", case.error
        (trial,) = [trial.result for trial in stored.trials(0) if trial.state == "done"]
    of_vlans = [one for one in trial.series if one.source == ADJACENCY]
    assert {one.subject for one in of_vlans} == {f"OSPF neighbour 10.0.{vid}.1" for vid in VIDS}
    assert all(set(one.values) == {1} for one in of_vlans)
    # Some frames came through the router: from every VLAN, each a stream of its own.
    assert all(stream.received for stream in trial.streams)
    assert len(trial.streams) == len(VIDS)
    # A neighbour is believed for three seconds. In six of traffic none was lost; then each told its end.
    assert said.count(" to Full") == len(VIDS)
    assert said.count("from Full to") == said.count("from Full to Init")


def test_table_that_vlans_share_is_forwarded_by_withdrawn_and_announced(
    router: dut.Device, tmp_path: Path
) -> None:
    with run_bird(router, BGP, IS_UP) as bird:
        outcome = runner.run(parse(BGP_PLAN), tmp_path / "runs", watcher(), runner.Selection())
        said = bird.log.read_text()
    with open_run(outcome.folder, REASONS) as stored:
        (case,) = stored.cases
        assert case.state == "done", case.error
        trials = [trial.result for trial in stored.trials(0) if trial.state == "done"]
    (told,) = (note for note in case.wiring.notes if isinstance(note, RoutesAnnounced))
    assert (told.routes, told.sessions) == (2000, len(VIDS))
    # Every prefix of the part that is withdrawn had a frame that came back, 30 on each VLAN.
    assert [stream.flows_received for stream in trials[0].streams] == [30] * len(VIDS)
    assert case.result is not None
    (table,) = (one for one in case.result.tables if one.name == "Acceptance")
    judged = {row[0]: row[-2] for row in table.rows}
    assert judged["adjacencies"] == "pass"
    assert "fail" not in {judged[name] for name in ("withdrawal", "announcement")}
    # One that a busy machine kept waiting is opened again.
    assert said.count("BGP session established") >= len(VIDS)
