"""Addresses on VLANs of a link: from the plan to what the engine gets, and what cannot be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.load import Frames, Trial
from netdyno.values.units import FrameRate

pytestmark = pytest.mark.paired

PLAN = """\
title: A router with subinterfaces
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: external}}}}
  links:
    - endpoints: ["tester:west", "dut:a"]
      rate: 10Gbps
      vlans: {vlans}
    - {{endpoints: ["tester:east", "dut:b"], rate: 10Gbps, address: 192.0.2.2/30, gateway: 192.0.2.1}}
traffic:
  tagged: {{size: 128B, flows: 2, headers: [{{type: ethernet}}, {{type: vlan, vid: {{list: [10, 20]}}}},
    {{type: ipv4, src: 16.0.0.1, dst: 48.0.0.1}}, {{type: udp, sport: {{list: [1, 2]}}, dport: 7}}]}}
matrix: {{profile: [tagged], direction: [uni]}}
method: {{throughput: {{duration: 1s}}}}
"""
TWO = (
    "[{vlan: 10, address: 10.0.10.2/24, gateway: 10.0.10.1},"
    " {vlan: [{vid: 100, tpid: 0x88a8}, 20], address: '2001:db8::2/64', gateway: '2001:db8::1'}]"
)


def spec(vlans: str) -> dict[str, Any]:
    plan = parse(PLAN.format(vlans=vlans))
    (case,) = cases(plan)
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    return trial_spec(plan, case, wiring, Trial("t", Frames.steady(FrameRate(1), 10**9, "s")))


def test_each_vlan_has_its_address_and_its_next_hop() -> None:
    found = spec(TWO)
    west, east = found["ports"]
    assert west["vlans"] == [
        {"tags": [{"vid": 10, "tpid": 0x8100}], "ipv4": "10.0.10.2", "gateway": "10.0.10.1"},
        {
            "tags": [{"vid": 100, "tpid": 0x88A8}, {"vid": 20, "tpid": 0x8100}],
            "ipv6": "2001:db8::2",
            "gateway": "2001:db8::1",
        },
    ]
    assert (west["ipv4"], east["vlans"]) == (None, [])
    # Without an address untagged, the next hop is one of a VLAN; the engine takes that of each frame's own.
    assert found["streams"][0]["destination"] == {"gateway": "10.0.10.1"}


def test_engine_takes_the_vlans_passed_to_it() -> None:
    """On ports that lead nowhere: nobody answers, and it has asked for each next hop on its VLAN."""
    engine = pytest.importorskip("netdyno._engine", reason="the engine is not built")
    ports = [{"name": name, "backend": {"kind": "null"}} for name in ("west", "east")]
    session = engine.Session(json.dumps({"clock": "real", "ports": ports}))
    found = spec("[{vlan: 10, address: 10.0.10.2/24, gateway: 10.0.10.1},"
                 " {vlan: 20, address: 10.0.20.2/24, gateway: 10.0.20.1}]")  # fmt: skip
    session.start(json.dumps({**found, "resolve_ns": 10**7, "settle_ns": 0, "drain_ns": 0}))
    assert session.wait(30)
    trial = json.loads(session.result())["trial"]
    session.close()
    assert trial["invalid"]
    west, _ = (why["fields"] for why in trial["invalid"] if why["code"] == "next-hops-silent")
    assert (west["port"], west["count"], west["asked"]) == ("west", 2, 2)
    assert west["examples"] == "10.0.10.1 on VLAN 10, 10.0.20.1 on VLAN 20"
    asked = {(tuple(hop["vlans"]), hop["address"]) for hop in trial["next_hops"] if hop["port"] == "west"}
    assert asked == {((10,), "10.0.10.1"), ((20,), "10.0.20.1")}


@pytest.mark.parametrize(
    ("vlans", "code"),
    [
        ("[{vlan: 10, gateway: 10.0.10.1}]", "conflict"),
        ("[{vlan: 10, address: 10.0.10.2, gateway: 10.0.10.1}]", "wrong-format"),
        ("[{vlan: 5000, address: 10.0.10.2/24, gateway: 10.0.10.1}]", "out-of-range"),
        ("[{vlan: 20-10}]", "out-of-range"),
        ("[{vlan: 10, address: 10.0.10.2/24, gateway: '2001:db8::1'}]", "conflict"),
        ("[{vlan: [{vid: 1-2}, 3-4]}]", "wrong-count"),
        ("[{vlan: {vid: {random: {min: 1, max: 2}}}}]", "unsupported"),
        ("[{vlan: 10, address: 10.0.10.2/24, gateway: 10.0.10.1, mac: '02:00:00:00:00:01'}]", "given-twice"),
        ("[{vlan: 10}, {vlan: 9-11}]", "given-twice"),
        ("[{vlan: 10-12, address: 255.255.254.2/24, gateway: 255.255.254.1}]", "out-of-range"),
    ],
)
def test_impossible_vlan_is_reported_with_its_place(vlans: str, code: str) -> None:
    with pytest.raises(PlanErrors) as caught:
        parse(PLAN.format(vlans=vlans))
    (error,) = caught.value.errors
    assert (error.code, error.line) == (code, 7), error
