"""Port groups on real Linux devices with four ports: relations only, whatever this machine can do."""

from __future__ import annotations

from pathlib import Path

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import KINDS, LabError, LabLink
from netdyno.plan import parse
from netdyno.reports.model.from_store import view
from netdyno.reports.model.together import families
from netdyno.store import open_run

pytestmark = pytest.mark.paired

pytest.importorskip("netdyno._engine", reason="the engine is not built")

PLAN = """\
title: Groups of a Linux device
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}}}}}
  links:
    - {{endpoints: ["tester:p0", "dut:d0"], rate: 100Mbps}}
    - {{endpoints: ["tester:p1", "dut:d1"], rate: 100Mbps}}
    - {{endpoints: ["tester:p2", "dut:d2"], rate: 200Mbps}}
    - {{endpoints: ["tester:p3", "dut:d3"], rate: 200Mbps}}
groups: {{one: [p0, p1], two: [p2, p3]}}
traffic: {{512b: {{size: 512B, flows: 64}}}}
matrix: {{direction: [bidir], group: [two, one+two]}}
method: {{sweep: {{loads: [20%], duration: 300ms}}}}
trial: {{settle: 50ms, drain: 200ms, sample: 20ms}}
"""


@pytest.mark.parametrize("kind", ["linux/router", "linux/bridge"])
def test_groups_of_a_linux_device_send_to_themselves_and_at_once(kind: str, tmp_path: Path) -> None:
    links = tuple(LabLink(f"p{port}", f"d{port}", 10**8) for port in range(4))
    try:
        with KINDS[kind].build(KINDS[kind].wire(links, {})):
            pass
    except LabError as refused:
        pytest.skip(f"no lab of network namespaces here: {refused}")
    outcome = runner.run(parse(PLAN.format(kind=kind)), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        found = view(run)
        alone, together = found.cases
        assert (alone.error, together.error) == (None, None)
        # The ports that no group of the case has are not opened.
        assert (alone.ports, together.ports) == (("p2", "p3"), ("p0", "p1", "p2", "p3"))
        assert alone.streams == ("two/p2-p3", "two/p3-p2")
        for case in (alone, together):
            for trial in case.trials:
                for stream in trial.result.streams:
                    assert stream.received > 0
                    assert (stream.duplicates, stream.corrupted, stream.elsewhere) == (0, 0, 0)
        (trial,) = together.resting_trials[-1:] or together.trials[-1:]
        slow, _, fast, _ = trial.result.streams
        # 20 % of each line, for as long: twice the frames on a line of twice the rate.
        assert abs(fast.intended - 2 * slow.intended) <= 2
        assert {name.partition("/")[0] for name in together.streams} == {"one", "two"}
        # One group was not measured alone, and no tester of four ports is calibrated: nobody is blamed.
        assert all(family.answer.resource in ("tester", "not told") for family in families(found))
