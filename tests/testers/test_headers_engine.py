"""Header stacks of plans in the engine: the same are refused, and devices forward those that they know."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from netdyno.errors import Problems
from netdyno.plan import parse
from netdyno.plan.headers import LAYERS, Header, check_order, smallest_frame, type_name
from netdyno.plan.matrix import cases
from netdyno.testers.netdyno.spec import read_result, session_spec, trial_spec
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import StreamResult
from netdyno.values.units import FrameRate
from pydantic import TypeAdapter

engine = pytest.importorskip("netdyno._engine", reason="the engine is not built")

MACS = {"src": "02:00:00:00:01:01", "dst": "02:00:00:00:01:02"}
FIELDS: dict[str, dict[str, Any]] = {
    "ethernet": MACS,
    "vlan": {"vid": 7},
    "pppoe": {"session": 1},
    "mpls": {"label": 16},
    "ipv4": {"src": "16.0.0.1", "dst": "48.0.0.1"},
    "ipv6": {"src": "2001:2::1", "dst": "2001:2:0:8000::1"},
    "srh": {"segments": ["2001:2:0:8000::1"]},
    "udp": {"sport": 1, "dport": 2},
    "tcp": {"sport": 1, "dport": 2},
    "vxlan": {"vni": 1},
    "gtpu": {"teid": 1},
    "raw": {"bytes": "0102"},
}
BEFORE = {
    "pppoe": ["ethernet"],
    "ppp": ["ethernet", "pppoe"],
    "mpls": ["ethernet"],
    "control_word": ["ethernet", "mpls"],
    "ipv4": ["ethernet"],
    "ipv6": ["ethernet"],
    "vlan": ["ethernet"],
    "raw": ["ethernet"],
    "hop_by_hop": ["ethernet", "ipv6"],
    "destination_options": ["ethernet", "ipv6"],
    "routing": ["ethernet", "ipv6"],
    "srh": ["ethernet", "ipv6"],
    "fragment": ["ethernet", "ipv6"],
    "vxlan": ["ethernet", "ipv4", "udp"],
    "gtpu": ["ethernet", "ipv4", "udp"],
}
BEHIND = {
    "pppoe": ["ppp", "ipv4", "udp"],
    "ppp": ["ipv4", "udp"],
    "mpls": ["ipv4", "udp"],
    "control_word": ["ethernet", "ipv4", "udp"],
    "vxlan": ["ethernet", "ipv4", "udp"],
    "gtpu": ["ipv4", "udp"],
    "gre": ["ipv4", "udp"],
    "ethernet": ["ipv4", "udp"],
    "vlan": ["ipv4", "udp"],
    **{name: ["udp"] for name in ("ipv4", "ipv6", "hop_by_hop", "destination_options")},
    **{name: ["udp"] for name in ("routing", "srh", "fragment")},
}
NAMES = [type_name(layer) for layer in LAYERS]


def header(name: str) -> dict[str, Any]:
    return {"type": name, **FIELDS.get(name, {})}


def sent_directly(headers: list[dict[str, Any]], size: int) -> str:
    """Why the engine refuses a trial of these headers; empty if it takes it."""
    lab = {
        "clock": "virtual",
        "ports": [
            {"name": "west", "backend": {"kind": "wire"}},
            {"name": "east", "backend": {"kind": "wire"}},
        ],
        "loops": [{"ports": [0, 1], "rate_bps": 10**10, "delay_ps": 0}],
    }
    stream = {
        "name": "west-east",
        "tx_port": 0,
        "rx_port": 1,
        "headers": headers,
        "destination": "written",
        "sizes": [{"size": size, "weight": 1}],
        "flows": 1,
        "schedule": [{"name": "traffic", "duration_ns": 1000, "from_bps": 10**9, "to_bps": 10**9}],
    }
    trial = {
        "seed": 1,
        "streams": [stream],
        "settle_ns": 1000,
        "drain_ns": 1000,
        "sample_ns": 1000,
        "ports": [{"mac": mac, "line_bps": 10**10} for mac in MACS.values()],
    }
    session = engine.Session(json.dumps(lab))
    try:
        session.start(json.dumps(trial))
        return ""
    except engine.EngineError as refused:
        return str(refused)
    finally:
        session.close()


def test_order_and_length_are_the_same_in_plan_and_engine() -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(Header)
    for above, below in product(NAMES, NAMES):
        names = [*BEFORE.get(above, ["ethernet", "ipv4"] if above != "ethernet" else []), above, below]
        names += BEHIND.get(below, [])
        raw = [header(name) for name in names]
        parsed = tuple(adapter.validate_python(one) for one in raw)
        try:
            check_order(parsed)
            refused = ""
        except Problems as problems:
            refused = str(problems)
        least = smallest_frame(parsed)
        answer = sent_directly(raw, least)
        assert bool(answer) == bool(refused), (names, answer, refused)
        if not refused and least > 64:
            assert f"at least {least}" in sent_directly(raw, least - 1), names


@pytest.mark.parametrize(
    "stack",
    [
        [{**header("ethernet"), "ethertype": 0x0800}],
        [header("ethernet"), {**header("vlan"), "tpid": 0x8864}, header("ipv4"), header("udp")],
        [header("ethernet"), header("ipv6"), {**header("udp"), "checksum": False}],
        [{**header("ethernet"), "src": "01:00:00:00:00:01"}, header("ipv4"), header("udp")],
    ],
)
def test_values_that_contradict_are_refused_by_plan_and_engine(stack: list[dict[str, Any]]) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(Header)
    with pytest.raises(Problems):
        check_order(tuple(adapter.validate_python(one) for one in stack))
    assert sent_directly(stack, 256)


def measured(device: str, stack: list[dict[str, Any]], size: int) -> StreamResult:
    """One millisecond of frames through an emulated device in virtual time."""
    own = {"size": f"{size}B", "flows": 1, "headers": [{"type": "ethernet"}, *stack]}
    plan = parse(
        f"""\
title: Headers
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {device}}}}}
  links:
    - {{endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}}
    - {{endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}}
traffic: {{own: {json.dumps(own)}}}
matrix: {{profile: [own], direction: [uni]}}
method: {{throughput: {{duration: 1s}}}}
"""
    )
    (case,) = cases(plan)
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    trial = Trial("trial", Frames.steady(FrameRate(100_000), 10**6, "load"))
    session = engine.Session(json.dumps(session_spec(wiring, case)))
    try:
        session.start(json.dumps(trial_spec(plan, case, wiring, trial)))
        assert session.wait(20)
        (stream,) = read_result(session.result()).streams
        return stream
    finally:
        session.close()


IP, IP6, UDP = header("ipv4"), header("ipv6"), header("udp")
THROUGH_ROUTERS = {
    "fragment": [{**IP, "offset": 1480, "protocol": 17}],
    "dscp, ttl, df": [{**IP, "dscp": 46, "ttl": 9, "df": True}, UDP],
    "extensions": [IP6, header("hop_by_hop"), header("routing"), header("fragment"), UDP],
    "srv6": [IP6, header("srh"), IP, UDP],
    "gtpu": [IP, {**UDP, "dport": 2152}, header("gtpu"), IP, UDP],
    "other protocol": [{**IP, "protocol": 254}, header("raw")],
}
THROUGH_BRIDGES = {
    "eompls": [header("mpls"), header("control_word"), {"type": "ethernet"}, IP, UDP],
    "pppoe": [header("pppoe"), header("ppp"), IP, UDP],
    "raw": [header("raw")],
}


@pytest.mark.parametrize("name", {**THROUGH_ROUTERS, **THROUGH_BRIDGES})
@pytest.mark.parametrize("device", ["emulated/bridge", "emulated/cross-connect", "emulated/router"])
def test_frames_of_each_header_pass_devices_that_know_them(device: str, name: str) -> None:
    stack = {**THROUGH_ROUTERS, **THROUGH_BRIDGES}[name]
    stream = measured(device, stack, 256)
    assert stream.offered == 100
    passes = device != "emulated/router" or name in THROUGH_ROUTERS
    assert (stream.received, stream.corrupted) == (100 if passes else 0, 0)
