"""What several hosts are calibrated for together."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import pytest
from netdyno.calibration import by_host, traffic
from netdyno.calibration.by_host import HostFacts, find_least
from netdyno.calibration.document import Calibration, Traffic
from netdyno.campaign import standing
from netdyno.campaign.lab_reasons import PortsNotCalibrated
from netdyno.devices.wiring import loop_ports
from netdyno.plan import parse
from netdyno.plan.matrix import cases, wire
from netdyno.values.proven import OwnLatency, Proven

NOW = datetime.now(UTC)
PLAN = """
title: Two hosts
lab:
  hosts: {scheduler: "tcp://127.0.0.1:8786"}
  nodes: {gen1: {kind: netdyno, host: gen1}, gen2: {kind: netdyno, host: gen2}, dut: {kind: external}}
  links:
    - {endpoints: ["gen1:a", "dut:1"], rate: 1Gbps, interface: p0}
    - {endpoints: ["gen2:b", "dut:2"], rate: 1Gbps, interface: p0}
    - {endpoints: ["gen1:c", "dut:3"], rate: 1Gbps, interface: p1}
traffic: {it: {size: 64B}}
matrix: {profile: [it], direction: [bidir], pattern: [full-mesh]}
method: {throughput: {}}
"""


def proof(id: str, most: int, *latencies: tuple[int, int]) -> Proven:
    own = tuple(OwnLatency(Fraction(load), ns) for load, ns in latencies)
    return Proven(id, NOW, Fraction(most), latency_floor_ns=most, latencies=own)


def test_several_hosts_are_calibrated_for_what_the_weakest_is() -> None:
    strong, weak = proof("s", 300, (10, 5), (100, 50)), proof("w", 200, (12, 6), (120, 60))
    least = find_least({"gen1": strong, "gen2": weak})
    assert (least.id, least.host, least.others, least.max_fps) == ("w", "gen2", ("s",), 200)
    assert least.latency_floor_ns == 300
    for load in range(1, 200):
        assert least.own_ns(Fraction(load)) >= max(one.own_ns(Fraction(load)) for one in (strong, weak))


def calibration(host: str, ports: tuple[str, ...], key: str, most: int) -> Calibration:
    one = Traffic(key, "it / bidir", Fraction(most), None, None, None, None)
    return Calibration(host, NOW, "quick", "", ports, {"kernel": "6"}, {}, (), (one,), host=host)


@pytest.mark.parametrize(
    ("calibrated", "kernel", "expected"),
    [
        (("gen1", "gen2"), "6", "gen2"),
        (("gen1",), "6", None),
        (("gen1", "gen2"), "7", "expired"),
    ],
)
def test_case_is_proven_only_if_each_host_is(
    calibrated: tuple[str, ...], kernel: str, expected: str | None
) -> None:
    plan = parse(PLAN, name="plan.yaml")
    (case,) = cases(plan)
    wiring = wire(plan, case).with_hosts(plan.lab.hosts)
    shares = by_host.shares_of(wiring)
    assert [(host, share.numbers) for host, share in shares.items()] == [("gen1", (0, 2)), ("gen2", (1,))]
    # As on the host, where the ports are looped.
    keys = {
        host: traffic.key(case, loop_ports(share, cast("Any", None)), verify=plan.trial.verify)
        for host, share in shares.items()
    }
    kept = [
        Calibration.from_json(calibration(host, (host,), keys[host], most).to_json())
        for host, most in (("gen1", 300), ("gen2", 200))
        if host in calibrated
    ]
    job = SimpleNamespace(plan=plan, case=case, calibrations=kept, done=(), begun=None, run="")
    facts = {host: HostFacts((host,), {"kernel": kernel if host == "gen1" else "6"}) for host in shares}
    infos = [SimpleNamespace(detail="")] * 3
    proven, notes = standing.find_proof_of_hosts(cast("Any", job), wiring, facts, cast("Any", infos))
    if expected is None:
        assert proven is None
        (note,) = notes
        assert isinstance(note, PortsNotCalibrated)
        assert note.hosts == ("gen2",)
        assert note.cables == (("a", "c"), ("b",))
    elif expected == "expired":
        assert proven is not None
        assert not proven.holds
        assert [note.code for note in notes] == ["calibration-invalid"]
    else:
        assert proven is not None
        assert (proven.host, proven.max_fps, proven.holds, notes) == (expected, 200, True, ())
