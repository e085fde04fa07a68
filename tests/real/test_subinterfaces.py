"""205 VLANs on one side of a router, an untagged core on the other: a process of its own (tests/nic)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import namespaces
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.testers.netdyno.spec import read_result, session_spec, trial_spec
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.units import FrameRate

pytestmark = [
    pytest.mark.paired,
    pytest.mark.skipif(
        os.getuid() != 0 or shutil.which("ip", path=dut.SEARCH) is None or shutil.which("cc") is None,
        reason="wants root, `ip` and a C compiler (apt-get install iproute2 gcc)",
    ),
]

VLANS = 205
FIRST = 100
PLAN = """\
title: 205 subinterfaces towards an untagged core
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - endpoints: ["tester:branch", "dut:a"]
      rate: 1Gbps
      vlans: [{vlan: 100-304, address: 10.0.0.2/24, gateway: 10.0.0.1}]
    - {endpoints: ["tester:core", "dut:b"], rate: 1Gbps, address: 192.0.2.2/30, gateway: 192.0.2.1}
traffic: {small: {size: 128B, flows: 2050}}
matrix: {direction: [bidir]}
method: {throughput: {duration: 1s}}
trial: {resolve: 5s, settle: 100ms, drain: 1s}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("device") / "subinterfaces"
    source = Path(__file__).parents[1] / "nic/subinterfaces.c"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(made), str(source)], check=True)
    return made


@pytest.fixture
def cables() -> Iterator[None]:
    """Two veth pairs in a network namespace that this thread is in: branch, core, and the device's ends."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    with namespaces.tester_namespace():
        for near, far in (("branch", "far-branch"), ("core", "far-core")):
            subprocess.run(["ip", "link", "add", near, "type", "veth", "peer", "name", far], check=True)
            for name in (near, far):
                Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
                subprocess.run(["ip", "link", "set", "dev", name, "up"], check=True)
        try:
            yield
        finally:
            for near in ("branch", "core"):
                subprocess.run(["ip", "link", "del", near], check=True)


@contextmanager
def router(program: Path, answers: str, counts: dict[int, tuple[int, int]]) -> Iterator[None]:
    """The device; `counts` is filled with what it forwarded of each VLAN, to the core and to the branch."""
    command = [str(program), "far-branch", "far-core", str(FIRST), str(VLANS), answers]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == "ready"
            yield
            process.send_signal(signal.SIGTERM)
            out, _ = process.communicate(timeout=10)
            rows = [tuple(map(int, line.split())) for line in out.splitlines()]
            counts.update({vid: (to_core, to_branch) for vid, to_core, to_branch in rows})
        finally:
            process.kill()


def measure(pps: int) -> Outcome:
    from netdyno import _engine

    plan = parse(PLAN)
    (case,) = cases(plan)
    with plan.kind.build(plan.kind.wire(plan.lab.links, case.settings)) as live:
        segment = Segment("traffic", 10**9, FrameRate(pps), FrameRate(pps))
        spec = trial_spec(plan, case, live.wiring, Trial("trial", Frames((segment,))))
        session = _engine.Session(json.dumps(session_spec(live.wiring, case)))
        session.start(json.dumps(spec))
        assert session.wait(60)
        found = read_result(session.result())
        session.close()
    return found


def test_tagged_side_and_untagged_side_are_measured_both_ways(program: Path, cables: None) -> None:
    counts: dict[int, tuple[int, int]] = {}
    with router(program, "as-asked", counts):
        found = measure(4_100)
    assert found.invalid == ()
    assert len(found.resolved) == VLANS + 1
    by_name = {stream.name: stream for stream in found.streams}
    for vid in range(FIRST, FIRST + VLANS):
        there, back = by_name[f"branch-core/{vid}"], by_name[f"core-branch/{vid}"]
        # What the device counted of each VLAN is what was sent on it, and all of it came to the right port.
        assert counts[vid] == (there.offered, back.offered)
        assert (there.lost, back.lost) == (0, 0)
        assert min(there.offered, back.offered) > 0


@pytest.mark.parametrize(
    ("answers", "code", "example"),
    [
        ("untagged", "next-hops-elsewhere", "10.0.0.1 asked on VLAN 100, answered untagged"),
        ("other", "next-hops-elsewhere", "10.0.0.1 asked on VLAN 100, answered on VLAN 101"),
        ("never", "next-hops-silent", "10.0.0.1 on VLAN 100"),
    ],
)
def test_side_that_answers_otherwise_is_one_reason_with_examples(
    program: Path, cables: None, answers: str, code: str, example: str
) -> None:
    with router(program, answers, {}):
        (why,) = measure(4_100).invalid
    assert why.kind == code  # type: ignore[attr-defined]
    about = why.about  # type: ignore[attr-defined]
    assert (about["port"], about["count"], about["asked"]) == ("branch", VLANS, VLANS)
    assert about["examples"].startswith(example)
    assert about["examples"].endswith(f"and {VLANS - 3} more")
