# ruff: noqa: E501 (header stacks are quoted as a plan has them)
"""The spec of a trial against the engine's own definition of it: the Rust sources are the reference."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from netdyno.methods import METHODS
from netdyno.plan import Plan, load, parse
from netdyno.plan.matrix import cases, situation
from netdyno.testers.netdyno import raw
from netdyno.testers.netdyno.spec import read_result, session_spec, trial_spec
from netdyno.values import outcome
from netdyno.values.health import CatchUp, Health, PeerHealth, WorkerHealth
from netdyno.values.load import Frames, Observe, Segment, Trial
from netdyno.values.outcome import (
    BackPressure,
    Conflict,
    Gap,
    Gaps,
    HopChange,
    HopSilence,
    Interval,
    Lag,
    Latency,
    LatePeriod,
    NextHop,
    Phase,
    PortResult,
    Reordering,
    Silence,
    StreamResult,
    Variation,
)
from netdyno.values.units import FrameRate, L1Rate, L2Rate, Percent, Rate

ROOT = Path(__file__).parents[2]
ARTICLE = ROOT / "examples" / "asr9006.yaml"


def rust_fields(file: str, name: str) -> set[str]:
    """The names of a struct's or an enum variant's fields, as the source has them."""
    text = (ROOT / "crates" / file).read_text()
    body = re.search(
        rf"(?:pub struct |^    ){name} \{{\n(.*?)\n(?:\}}|    \}})", text, re.DOTALL | re.MULTILINE
    )
    assert body, name
    return set(re.findall(r"^\s+(?:pub )?([a-z0-9_]+): ", body[1], re.MULTILINE))


SPEC = "engine/src/spec.rs"


def specs(plan: Plan, *segments: Segment) -> dict[str, dict[str, Any]]:
    trial = Trial("trial", Frames(segments))
    return {
        case.name: trial_spec(plan, case, plan.kind.wire(plan.lab.links, case.settings), trial)
        for case in cases(plan)
    }


def segment(case_line_fps: Fraction, name: str = "ramp") -> Segment:
    return Segment(name, 10**9, FrameRate(0), FrameRate(case_line_fps))


def test_every_field_is_the_engines_and_none_is_left_out() -> None:
    spec = specs(load(ARTICLE), segment(Fraction(1000)))["ipv4 / lacp / imix / bidir"]
    # What dealing a trial to several hosts adds: `netdyno.hosts.split`.
    assert set(spec) == rust_fields(SPEC, "TrialSpec") - {"waits"}
    for port in spec["ports"]:
        # Nor is there an OSPF neighbour, a LAG or a bundle.
        assert set(port) == rust_fields(SPEC, "TesterPortSpec") - {"remote", "ospf", "lag", "bundle"}
    for stream in spec["streams"]:
        # Nor are flows picked.
        assert set(stream) == rust_fields(SPEC, "StreamSpec") - {"pick"}
        assert [set(size) for size in stream["sizes"]] == [rust_fields(SPEC, "SizeSpec")] * 3
        assert [set(part) for part in stream["schedule"]] == [rust_fields(SPEC, "Segment")]
    assert set(spec["observe"]) == rust_fields(SPEC, "Observe")
    assert json.loads(json.dumps(spec)) == spec


def test_what_is_observed_has_the_engines_fields() -> None:
    for name in ("FlowCounts", "Gap", "Gaps", "Interval", "Silence", "Reordering", "Variation"):
        assert {field.name for field in fields(getattr(outcome, name))} == rust_fields(
            "engine/src/result.rs", name
        )
    plan = load(ARTICLE)
    case = cases(plan)[0]
    wanted = Observe(
        timed_from_ns=7, gaps=3, bridge=2, order=True, variation=True, interval_ns=9, by_flow=True
    )
    trial = Trial("x", Frames((segment(Fraction(1000)),)), observe=wanted)
    spec = trial_spec(plan, case, plan.kind.wire(plan.lab.links, case.settings), trial)
    assert spec["observe"] == {
        "timed_from_ns": 7,
        "gaps": 3,
        "bridge": 2,
        "order": True,
        "variation": True,
        "interval_ns": 9,
        "by_flow": True,
    } | {"spacing": False}


# Tags are for what forwards them; the emulated router refuses them.
ALL_WAYS = "[l2-xconnect, bridge-domain, ipv4]"


def test_every_header_is_the_frames() -> None:
    stack = """[{type: ethernet}, {type: vlan, vid: {list: [1, 2]}, tpid: 0x88a8, pcp: 5}, {type: mpls, label: 16},
      {type: ipv4, src: 1.1.1.1, dst: {random: {min: 2.0.0.0, max: 2.0.255.255}}}, {type: udp, sport: {step: {start: 1, step: 1, count: 9}}, dport: 4789},
      {type: vxlan, vni: 7}, {type: ethernet}, {type: ipv6, src: 2001:2::1, dst: "2001:2:0:8000::1"}, {type: gre, key: 9},
      {type: ipv4, src: 1.1.1.1, dst: 2.2.2.2}, {type: tcp, sport: 1, dport: 2}]"""
    text = re.sub(
        r"(?s)traffic:.*?matrix:",
        f"traffic:\n  1514b: {{size: 1514B, flows: 2, headers: {stack}}}\nmatrix:",
        ARTICLE.read_text(),
    )
    text = text.replace("[1514b, imix, 64b-multi, 64b-single]", "[1514b]").replace(ALL_WAYS, "[l2-xconnect]")
    spec = specs(parse(text), segment(Fraction(1000)))["l2-xconnect / plain / 1514b / bidir"]
    there, back = (stream["headers"] for stream in spec["streams"])
    for header in there:
        fields_there = rust_fields(f"frame/src/headers/{header['type']}.rs", header["type"].capitalize())
        assert set(header) - {"type"} == fields_there - {"ethertype", "protocol"}, header["type"]
    assert there[1] == {"type": "vlan", "vid": {"list": [1, 2]}, "tpid": 34984, "pcp": 5, "dei": False}
    assert there[4]["sport"] == {"step": {"start": 1, "step": 1, "count": 9}}
    for outward, homeward in zip(there, back, strict=True):
        if outward["type"] in ("ipv4", "ipv6"):
            assert (outward["src"], outward["dst"]) == (homeward["dst"], homeward["src"])


def test_the_articles_traffic() -> None:
    found = specs(load(ARTICLE), segment(Fraction(1000)))
    single = found["ipv4 / plain / 64b-single / bidir"]
    there, back = single["streams"]
    assert (there["name"], there["tx_port"], there["rx_port"]) == ("west-east", 0, 1)
    assert (back["name"], back["tx_port"], back["rx_port"]) == ("east-west", 1, 0)
    assert [header["type"] for header in there["headers"]] == ["ethernet", "ipv4", "udp"]
    assert (there["headers"][1]["src"], there["headers"][1]["dst"]) == ("16.0.0.1", "48.0.0.1")
    assert (back["headers"][1]["src"], back["headers"][1]["dst"]) == ("48.0.0.1", "16.0.0.1")
    assert (there["headers"][2]["sport"], there["headers"][2]["dport"]) == (1025, 12)
    assert there["headers"][0]["src"] == single["ports"][0]["mac"]
    # A router is the next hop; through a cross connect the far port is.
    assert set(there["destination"]) == {"gateway"}
    assert found["l2-xconnect / plain / imix / uni"]["streams"][0]["destination"] == "peer"

    multi = found["ipv4 / plain / 64b-multi / uni"]["streams"][0]
    assert multi["flows"] == 65536
    # Each drawn from its own /8 without the two ends, and neither tied to the other by a common seed.
    assert multi["headers"][1]["src"] == {"random": {"min": "16.0.0.1", "max": "16.255.255.254"}}
    assert multi["headers"][1]["dst"] == {"random": {"min": "48.0.0.1", "max": "48.255.255.254"}}
    assert found["ipv4 / plain / imix / uni"]["streams"][0]["sizes"] == [
        {"size": 68, "weight": 28},
        {"size": 590, "weight": 16},
        {"size": 1514, "weight": 4},
    ]


@pytest.mark.parametrize(
    ("name", "share", "bps"),
    [
        ("ipv4 / plain / 64b-multi / uni", Fraction(1), 10_000_000_000),
        ("ipv4 / plain / imix / uni", Fraction(1), 10_000_000_000),
        ("ipv4 / lacp / 1514b / bidir", Fraction(1), 20_000_000_000),
        # A third of a line is 3,333,333,333.3 bit/s: rounded down.
        ("ipv4 / plain / imix / bidir", Fraction(1, 3), 3_333_333_333),
    ],
)
def test_loads_are_whole_bits_of_the_line(name: str, share: Fraction, bps: int) -> None:
    plan = load(ARTICLE)
    case = next(case for case in cases(plan) if case.name == name)
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    line = situation(case, wiring).line_fps
    spec = trial_spec(plan, case, wiring, Trial("x", Frames((segment(line * share),))))
    assert {stream["schedule"][0]["to_bps"] for stream in spec["streams"]} == {bps}
    assert spec["streams"][0]["schedule"][0]["from_bps"] == 0


def test_bursts_leave_at_line_rate_and_catch_up_as_the_plan_says() -> None:
    text = ARTICLE.read_text().replace("{size: imix/bench,", "{size: imix/bench, burst: 32,")
    assert "burst: 32" in text
    text = text.replace("\nmatrix:", "\ntrial: {catch_up: 150%}\nmatrix:", 1)
    plan = parse(text, name="asr9006")
    for fps, burst in ((Fraction(1000), 32), (Fraction(10**9), 1)):
        found = specs(plan, segment(fps))
        assert {spec["catch_up_percent"] for spec in found.values()} == {150}
        imix = found["ipv4 / lacp / imix / bidir"]
        assert [stream["burst"] for stream in imix["streams"]] == [burst] * 2
        # Two members of 10 Gbit/s each.
        assert [port["line_bps"] for port in imix["ports"]] == [20 * 10**9] * 2
        assert {stream["burst"] for stream in found["ipv4 / lacp / 64b-multi / uni"]["streams"]} == {1}


def test_a_rate_in_frames_is_whole_bits_too() -> None:
    """1,000 frames of 64 B are 672,000 bits of line; of imix/bench 3,060,000."""
    found = specs(load(ARTICLE), segment(Fraction(1000), "warmup"))
    assert found["ipv4 / plain / 64b-multi / uni"]["streams"][0]["schedule"][0]["to_bps"] == 672_000
    assert found["ipv4 / plain / imix / uni"]["streams"][0]["schedule"][0]["to_bps"] == 3_060_000


def test_short_forms() -> None:
    text = re.sub(
        r"(?s)traffic:.*?matrix:",
        "traffic:\n"
        "  tagged: {size: 128B, flows: 1, vlan: [{vid: 100, tpid: 0x88a8}, 200], protocol: tcp}\n"
        "  six: {size: 128B, flows: 1, ip: 6}\n"
        "  bench: {size: 128B, flows: 100, addresses: rfc2544}\n"
        "  own: {size: 128B, flows: 100, addresses: {source: 10.0.0.0/24, destination: 10.0.1.0/31}}\nmatrix:",
        ARTICLE.read_text(),
    ).replace("[1514b, imix, 64b-multi, 64b-single]", "[tagged, six, bench, own]")
    text = text.replace(ALL_WAYS, "[l2-xconnect]")
    found = specs(parse(text), segment(Fraction(1000)))
    tagged = found["l2-xconnect / plain / tagged / uni"]["streams"][0]["headers"]
    assert [(header["vid"], header["tpid"]) for header in tagged[1:3]] == [(100, 0x88A8), (200, 0x8100)]
    assert tagged[-1] == {"type": "tcp", "sport": 1025, "dport": 12, "flags": 0x10}
    six = found["l2-xconnect / plain / six / uni"]["streams"][0]["headers"][1]
    assert (six["type"], six["src"], six["dst"]) == ("ipv6", "2001:2::1", "2001:2:0:8000::1")
    # RFC 2544 appendix C.2.2 and C.2.6.4: 198.18/15 in two halves, 0xC020 to the echo port.
    bench = found["l2-xconnect / plain / bench / uni"]["streams"][0]["headers"]
    assert bench[1]["src"] == {"random": {"min": "198.18.0.1", "max": "198.18.255.254"}}
    assert bench[1]["dst"] == {"random": {"min": "198.19.0.1", "max": "198.19.255.254"}}
    assert (bench[2]["sport"], bench[2]["dport"]) == (0xC020, 7)
    own = found["l2-xconnect / plain / own / uni"]["streams"][0]["headers"][1]
    assert own["src"] == {"random": {"min": "10.0.0.1", "max": "10.0.0.254"}}
    assert own["dst"] == {"random": {"min": "10.0.1.0", "max": "10.0.1.1"}}


def test_a_destination_that_is_written_stays() -> None:
    stack = '[{type: ethernet, src: "02:00:00:00:00:01", dst: 0200.0000.0002}, {type: ipv4, src: 1.1.1.1, dst: 2.2.2.2}, {type: echo}]'
    text = re.sub(
        r"(?s)traffic:.*?matrix:",
        f"traffic:\n  a: {{size: 64B, flows: 1, headers: {stack}}}\nmatrix:",
        ARTICLE.read_text(),
    )
    spec = specs(parse(text.replace("[1514b, imix, 64b-multi, 64b-single]", "[a]")), segment(Fraction(1)))
    there, back = spec["ipv4 / plain / a / bidir"]["streams"]
    assert there["destination"] == back["destination"] == "written"
    assert (there["headers"][0]["src"], there["headers"][0]["dst"]) == (
        "02:00:00:00:00:01",
        "02:00:00:00:00:02",
    )
    assert (back["headers"][0]["src"], back["headers"][0]["dst"]) == (
        "02:00:00:00:00:02",
        "02:00:00:00:00:01",
    )


def test_the_session_is_the_wirings() -> None:
    plan = load(ARTICLE)
    wiring = plan.kind.wire(plan.lab.links, cases(plan)[0].settings)
    session = session_spec(wiring)
    assert session["clock"] == "virtual"
    assert [port["name"] for port in session["ports"]] == ["west", "east"]
    assert "max_frame" not in session


def test_the_session_is_opened_for_the_longest_frame_of_its_cases() -> None:
    plan = load(ARTICLE)
    found = {dict(case.choices)["profile"]: case for case in cases(plan)}
    wiring = plan.kind.wire(plan.lab.links, cases(plan)[0].settings)
    # Without FCS, of frames of 1514 and 64 bytes; the mix has 1514 too.
    longest = {name: session_spec(wiring, case)["max_frame"] for name, case in found.items()}
    assert longest == {"1514b": 1510, "imix": 1510, "64b-multi": 60, "64b-single": 60}
    assert session_spec(wiring, found["64b-single"], found["imix"])["max_frame"] == 1510


RESULT = "engine/src/result.rs"


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (StreamResult, "StreamResult"),
        (PortResult, "PortResult"),
        (Health, "Health"),
        (WorkerHealth, "WorkerHealth"),
        (CatchUp, "CatchUp"),
        (Lag, "Lag"),
        (Latency, "Latency"),
        (Phase, "PhaseResult"),
        (NextHop, "NextHopResult"),
        (HopChange, "HopChange"),
        (HopSilence, "HopSilence"),
        (Conflict, "ConflictResult"),
    ],
)
def test_results_have_the_engines_fields(kind: Any, name: str) -> None:
    assert {field.name for field in fields(kind)} == rust_fields(RESULT, name)


@pytest.mark.parametrize(
    ("kind", "path", "name"),
    [
        (BackPressure, "io/src/pressure.rs", "BackPressure"),
        (PeerHealth, "io/src/process.rs", "ProcessShare"),
    ],
)
def test_results_of_ports_have_the_engines_fields(kind: Any, path: str, name: str) -> None:
    assert {field.name for field in fields(kind)} == rust_fields(path, name)


def test_a_result_is_read() -> None:
    series = {"tx": [1, 2], "rx": [0, 3]}
    stream = dict.fromkeys(rust_fields(RESULT, "StreamResult"), 0) | series | {
        "name": "west-east", "lost": -2, "arrived": [1, 2], "first_loss_ns": None,
        "latency": {"count": 1, "min_ns": 1, "sum_ns": 2**70, "max_ns": 3, "over": 0, "negative": 0, "histogram": "x"},
        "lag": dict.fromkeys(rust_fields(RESULT, "Lag"), 7) | {
            "periods": [dict.fromkeys(rust_fields(RESULT, "LatePeriod"), 14)], "by_sample": [[15, 16, 17]],
        },
        "gaps": {"gaps": [dict.fromkeys(rust_fields(RESULT, "Gap"), 8)], "further": 9, "further_frames": 10},
        "silence": dict.fromkeys(rust_fields(RESULT, "Silence"), 11),
        "order": dict.fromkeys(rust_fields(RESULT, "Reordering"), 12) | {"extents": None, "n_reordered": [3, 2]},
        "variation": dict.fromkeys(rust_fields(RESULT, "Variation"), 13) | {"above": None, "below": None},
        "by_flow": {name: [14, 15] for name in rust_fields(RESULT, "FlowCounts")},
        "spacing": None, "intervals": [dict.fromkeys(rust_fields(RESULT, "Interval"), 20)],
    }  # fmt: skip
    port = (
        dict.fromkeys(rust_fields(RESULT, "PortResult"), 0)
        | series
        | {"name": "west", "tx_bytes_series": [5], "rx_bytes_series": [6], "rx_full_spans": [[7, 8]]}
        | {"back_pressure": dict.fromkeys(rust_fields("io/src/pressure.rs", "BackPressure"), 18)}
    )
    worker = dict.fromkeys(rust_fields(RESULT, "WorkerHealth"), 0) | {"tx_frames": [5], "rx_frames": [6]}
    caught = dict.fromkeys(rust_fields(RESULT, "CatchUp"), 3)
    peer = dict.fromkeys(rust_fields("io/src/process.rs", "ProcessShare"), 19)
    health = dict.fromkeys(rust_fields(RESULT, "Health"), 0)
    health |= {"workers": [worker], "catch_up": caught, "peers": [peer]}
    answer = {
        "trial": {
            "streams": [stream], "ports": [port], "health": health,
            "phases": [{"name": "ramp", "start_ns": 1, "duration_ns": 2}], "sample_ns": 10**8,
            "resolved": [["100.64.0.1", "02:00:00:00:00:09"]], "invalid": [{"code": "cancelled", "fields": {}, "text": "because"}],
        },
        "devices": [{"box_drops": 7}],
    }  # fmt: skip
    result = read_result(json.dumps(answer))
    assert result.lost == -2
    assert result.streams[0].arrived == (1, 2)
    assert result.streams[0].latency is not None
    assert result.streams[0].latency.sum_ns == 2**70
    assert result.streams[0].by_flow == outcome.FlowCounts(*[(14, 15)] * 6)
    assert result.streams[0].gaps == Gaps((Gap(8, 8, 8, 8, 8),), 9, 10)
    assert result.streams[0].lag is not None
    assert result.streams[0].lag.periods == (LatePeriod(14, 14, 14, 14, 14, 14),)
    assert result.streams[0].lag.by_sample == ((15, 16, 17),)
    assert result.streams[0].silence == Silence(11, 11)
    assert result.streams[0].intervals == (Interval(20, 20, 20, 20),)
    assert result.streams[0].order == Reordering(12, 12, 12, None, 12, (3, 2))
    assert result.streams[0].variation == Variation(13, 13, 13, 13, 13, None, None)
    assert result.ports[0].rx_bytes_series == (6,)
    assert result.ports[0].rx_full_spans == ((7, 8),)
    assert result.ports[0].back_pressure == BackPressure(18, 18, 18, 18, 18, 18)
    assert result.health.peers == (PeerHealth(19, 19, 19, 19, 19, 19, 19),)
    assert result.phases == (Phase("ramp", 1, 2),)
    assert result.resolved == (("100.64.0.1", "02:00:00:00:00:09"),)
    assert result.devices[0]["box_drops"] == 7
    assert result.health.made_up == 3
    answer["trial"]["surprise"] = 1
    stream["surprise"] = 1
    with pytest.raises(TypeError):
        read_result(json.dumps(answer))


STACK = """[{type: ethernet}, {type: vlan, vid: {list: [1, 2]}, tpid: 0x88a8, pcp: 5}, {type: mpls, label: 16},
      {type: ipv4, src: 1.1.1.1, dst: {random: {min: 2.0.0.0, max: 2.0.255.255}}},
      {type: udp, sport: {step: {start: 1, step: 1, count: 9}}, dport: 4789}, {type: vxlan, vni: 7},
      {type: ethernet}, {type: ipv6, src: 2001:2::1, dst: "2001:2:0:8000::1"}, {type: gre, key: 9},
      {type: ipv4, src: 1.1.1.1, dst: 2.2.2.2}, {type: tcp, sport: 1, dport: 2}]"""


MIX = """\
title: Loads as asked
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: emulated/cross-connect}}}}
  links:
    - {{endpoints: ["tester:west", "dut:in"], rate: 10Gbps}}
    - {{endpoints: ["tester:east", "dut:out"], rate: 40Gbps}}
traffic: {{mix: {{size: {{64: 7, 594: 4, 1518: 1}}, flows: 10}}}}
matrix: {{profile: [mix], direction: [bidir]}}
method: {{{method}}}
"""
MIX_BYTES, MIX_WIRE_BYTES = 7 * 64 + 4 * 594 + 1518, 7 * 84 + 4 * 614 + 1538
"""Of the mix's twelve frames, without and with preamble and gap."""


@pytest.mark.parametrize(
    ("text", "rate", "bps"),
    [
        # Of the slower line, whichever port sends.
        ("33.3%", Percent(Fraction(333, 1000)), 333 * 10**10 // 1000),
        ("33.333333333333%", Percent(Fraction(33_333_333_333_333, 10**14)), 3_333_333_333),
        ("7Mbit/s L2", L2Rate(Fraction(7 * 10**6)), 7 * 10**6 * MIX_WIRE_BYTES // MIX_BYTES),
        ("7000000.9bps", L1Rate(Fraction(70_000_009, 10)), 7 * 10**6),
        ("1003pps", FrameRate(Fraction(1003)), 1003 * 8 * MIX_WIRE_BYTES // 12),
    ],
)
def test_load_of_a_mix_is_the_rate_as_asked_rounded_down(text: str, rate: Rate, bps: int) -> None:
    methods = (
        f'ramp: {{ramp: {{from: "{text}", to: "{text}", duration: 1s}}}}',
        f'soak: {{load: "{text}", duration: 1s}}',
        f'order: {{load: "{text}", duration: 1s}}',
        f'frame-loss: {{maximum: "{text}", duration: 1s}}',
        f'sweep: {{loads: ["{text}"], duration: 1s}}',
        f'y1564: {{services: {{all: {{cir: "{text}"}}}}, steps: [100%]}}',
    )
    for method in methods:
        plan = parse(MIX.format(method=method))
        (case,) = cases(plan)
        wiring = plan.kind.wire(plan.lab.links, case.settings)
        trial = next(METHODS[plan.method].start(plan.parameters, situation(case, wiring)))
        assert trial.segments[-1].to_rate == rate, method
        spec = trial_spec(plan, case, wiring, trial)
        assert [stream["schedule"][-1]["to_bps"] for stream in spec["streams"]] == [bps, bps], method


WRITES = "[{at: 27, bytes: 1, value: {step: {start: 1, step: 1, count: 60}}}, {at: 61, bytes: 3, add: 7, value: 9}]"


def test_the_engine_takes_every_spec_and_its_result_is_read() -> None:
    """Short forms, whole stacks, IPv6 and own mixes, through the emulated cross connect, unharmed."""
    pytest.importorskip("netdyno._engine")
    text = re.sub(
        r"(?s)traffic:.*?matrix:",
        "traffic:\n"
        "  six: {size: 128B, flows: 500, ip: 6}\n"
        "  tcp: {size: 128B, flows: 500, protocol: tcp, vlan: [{vid: 100, tpid: 0x88a8}, 200]}\n"
        f"  stack: {{size: 512B, flows: 4, headers: {STACK}}}\n"
        "  bench: {size: 64B, flows: 100, addresses: rfc2544}\n"
        "  own: {size: {64: 1, 128: 1}, flows: 1}\n"
        f"  written: {{size: 100B-1500B, flows: 60, payload: cafe01, writes: {WRITES}}}\nmatrix:",
        ARTICLE.read_text(),
    ).replace("[1514b, imix, 64b-multi, 64b-single]", "[six, tcp, stack, bench, own, written]")
    plan = parse(text + "\nonly: [{forwarding: l2-xconnect, lag: plain}]\n")
    for case in cases(plan):
        wiring = plan.kind.wire(plan.lab.links, case.settings)
        rise = Segment("ramp", 2 * 10**6, FrameRate(0), FrameRate(situation(case, wiring).line_fps / 10))
        with raw(session_spec(wiring)) as session:
            asked = trial_spec(plan, case, wiring, Trial("ramp", Frames((rise,))))
            result = read_result(session.trial(asked))
        assert result.invalid == ()
        for stream in result.streams:
            assert stream.offered == stream.received > 0, case.name
            assert stream.flows_received == case.profile.flows, case.name
