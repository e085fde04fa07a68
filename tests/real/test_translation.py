"""Traffic both ways through a real router that translates: each flow is answered where it came out."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import pytest
from netdyno.plan import Plan, load, parse
from netdyno.plan.matrix import cases
from netdyno.testers.netdyno.spec import read_result, session_spec, trial_spec
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.units import FrameRate
from test_labs import needs_root

pytestmark = [pytest.mark.paired, needs_root]

FLOWS = 10_000
"""Of as many hosts that all send from one port to one port of one address: each collides with each."""
EXAMPLE = Path(__file__).parents[2] / "examples/nat-both-ways.yaml"
SECONDS, PPS = 3, 5_000
"""A stall of the machine of 100 ms does not fill the queue of the device's core."""


def refused_by_the_router(interface: str) -> int:
    """Frames that were sent into its full input queue."""
    command = ["ip", "-s", "-j", "link", "show", interface]
    said = subprocess.run(command, capture_output=True, check=True, timeout=10).stdout
    return int(json.loads(said)[0]["stats64"]["tx"]["dropped"])


ENTRY = re.compile(r"src=(\S+) dst=(\S+) sport=(\d+) dport=(\d+)")


@dataclass(frozen=True)
class Made:
    """A trial through a router, its table of connections, and frames that went into full queues before it."""

    result: Outcome
    listed: str
    refused: int


def load_both_ways(plan: Plan, service: str, seconds: int) -> Made:
    engine = pytest.importorskip("netdyno._engine", reason="the engine is not built")
    (case,) = (one for one in cases(plan) if one.settings["service"] == service)
    trial = Trial("it", Frames.steady(FrameRate(PPS), seconds * 10**9))
    with plan.kind.build(plan.kind.wire(plan.lab.links, case.settings)) as live:
        session = engine.Session(json.dumps(session_spec(live.wiring, case)))
        try:
            session.start(json.dumps(trial_spec(plan, case, live.wiring, trial)))
            assert session.wait(90)
            result = read_result(session.result())
        finally:
            session.close()
        _, listed = live.device.ask("conntrack -L -p udp 2>/dev/null")  # type: ignore[attr-defined]
        return Made(result, listed, sum(refused_by_the_router(name) for name in ("p0", "p1")))


@pytest.mark.parametrize(
    ("service", "outside"), [("masquerade", "100.64.1.1"), ("nat-static", "10.0.0.1 to 10.0.39.16")]
)
def test_flows_whose_ports_collide_are_each_answered(service: str, outside: str) -> None:
    made = load_both_ways(load(EXAMPLE), service, SECONDS)
    result = made.result
    assert result.invalid == ()
    for stream in result.streams:
        assert stream.offered > FLOWS
        assert (stream.corrupted, stream.duplicates, stream.elsewhere) == (0, 0, 0), stream.name
        assert (stream.flows_received, stream.retranslated) == (FLOWS, 0)
    assert [stream.translated for stream in result.streams] == [FLOWS, None]
    # But for those that a machine with other work left in a full queue before the router, or the tester.
    assert sum(stream.missing for stream in result.streams) <= made.refused + result.dropped
    # The kernel's own entries: one for each host, answered, and no two outside are one.
    ours = [line for line in made.listed.splitlines() if "src=16.0." in line]
    assert not any("UNREPLIED" in line for line in ours)
    asked, answered = zip(*(ENTRY.findall(line) for line in ours), strict=True)
    first = int(ip_address("16.0.0.1"))
    hosts = {str(ip_address(first + number)) for number in range(FLOWS)}
    assert len(ours) == FLOWS
    assert {source for source, _, _, _ in asked} == hosts
    ends = {(address, port) for _, address, _, port in answered}
    assert len(ends) == FLOWS
    low, _, high = outside.partition(" to ")
    assert all(ip_address(low) <= ip_address(address) <= ip_address(high or low) for address, _ in ends)


def test_flows_that_no_pool_has_room_for_end_by_name() -> None:
    """One address has fewer ports than there are hosts."""
    plan = parse(EXAMPLE.read_text().replace(str(FLOWS), "66000"))
    made = load_both_ways(plan, "masquerade", 1)
    (reason,) = made.result.invalid
    assert reason.full_code == "engine flows-not-opened"
    # 64,512 ports from 1,024 on (RFC 6056 section 3.2 has them as ephemeral), of 66,000 flows.
    assert reason.about["missing"] >= 66_000 - 64_512
