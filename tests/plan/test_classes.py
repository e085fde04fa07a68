"""Classes of traffic with loads of their own: what is sent, what a method sees, and what cannot be."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from netdyno.errors import PlanErrors
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import cases, situation
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.units import Duration, FrameRate

VOICE = "voice: {dscp: ef, rate: 100Mbps, size: 218B, flows: 64}, default: {}"
STACK = "[{type: ethernet}, {type: ipv4, src: 10.0.0.1, dst: 10.0.0.2}, {type: udp, sport: 1, dport: 2}]"
PLAN = """\
title: Voice beside a load
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: emulated/router}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 1Gbps}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 1Gbps}}
traffic:
  mixed: {{size: 1518B, flows: 16, classes: {{{classes}}}}}
matrix: {{direction: [bidir]}}
method: {{sweep: {{loads: [50%], duration: 1s}}}}
goals: {goals}
"""


def plan_of(classes: str = VOICE, goals: str = "[]") -> Plan:
    return parse(PLAN.format(classes=classes, goals=goals))


def sent(plan: Plan, share: Fraction) -> list[dict[str, Any]]:
    (case,) = cases(plan)
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    rate = FrameRate(Fraction(10**9, 1538 * 8) * share)
    segments = (Segment("ramp", 10**9, FrameRate(0), rate), Segment("hold", 10**9, rate, rate))
    streams: list[dict[str, Any]] = trial_spec(plan, case, wiring, Trial("t", Frames(segments)))["streams"]
    return streams


def loads(stream: dict[str, Any]) -> list[tuple[int, int]]:
    return [(segment["from_bps"], segment["to_bps"]) for segment in stream["schedule"]]


def test_class_with_a_rate_keeps_it_while_the_load_rises() -> None:
    streams = {stream["name"]: stream for stream in sent(plan_of(), Fraction(1))}
    assert list(streams) == [
        "west-east/default",
        "east-west/default",
        "west-east/voice",
        "east-west/voice",
    ]
    voice, default = streams["west-east/voice"], streams["west-east/default"]
    assert loads(voice) == [(100_000_000, 100_000_000)] * 2
    assert (voice["sizes"], voice["flows"]) == ([{"size": 218, "weight": 1}], 64)
    assert (default["sizes"], default["flows"]) == ([{"size": 1518, "weight": 1}], 16)
    assert voice["headers"][1]["dscp"] == 46
    # At 100 % the line is full: 900 Mbit/s beside the 100 of voice.
    assert loads(default) == [(0, 900_000_000), (900_000_000, 900_000_000)]


def test_method_sees_the_classes_that_share_its_load() -> None:
    plan = plan_of(VOICE.replace("default: {}", "data: {share: 25%}, default: {}"))
    (case,) = cases(plan)
    at_hand = situation(case, plan.kind.wire(plan.lab.links, case.settings))
    assert at_hand.streams == ("west-east/data", "west-east/default", "east-west/data", "east-west/default")
    assert [place.share for place in at_hand.places[:2]] == [Fraction(9, 40), Fraction(27, 40)]
    assert at_hand.classes == ("voice", "data", "default")
    # Where it arrives, a tenth of the line is taken, and voice is one of three streams there.
    assert at_hand.taken == (Fraction(1, 10), Fraction(1, 10))
    assert at_hand.out_fps("west-east/data") == at_hand.line_fps * Fraction(9, 10)
    assert at_hand.crowd("west-east/data") == (3, Fraction(4))


def test_rate_in_per_cent_is_of_the_line_and_addresses_are_its_own() -> None:
    own = "voice: {rate: 5%, addresses: rfc2544}, default: {}"
    voice = next(stream for stream in sent(plan_of(own), Fraction(1, 2)) if stream["name"].endswith("voice"))
    assert loads(voice) == [(50_000_000, 50_000_000)] * 2
    network = next(header for header in voice["headers"] if header["type"] == "ipv4")
    assert network["dst"]["random"]["min"] == "198.19.0.1"


def test_class_has_headers_and_flows_of_its_own() -> None:
    plan = plan_of(f"voice: {{share: 5%, headers: {STACK}, flows: 1}}, rest: {{}}")
    streams = {one["name"]: one for one in sent(plan, Fraction(1))}
    voice, rest = streams["west-east/voice"], streams["west-east/rest"]
    assert [(one["headers"][2]["dport"], one["flows"]) for one in (voice, rest)] == [(2, 1), (12, 16)]
    assert streams["east-west/voice"]["headers"][1]["src"] == "10.0.0.2"


def test_tags_that_the_device_adds_count_where_frames_arrive() -> None:
    text = PLAN.format(classes="voice: {rate: 500Mbps, size: 104B}, default: {}", goals="[]")
    text = text.replace('"dut:b"], rate: 1Gbps', '"dut:b"], rate: 1Gbps, vlans: [{vlan: [7, 8]}]')
    plan = parse(text.replace("bidir", "uni"))
    (case,) = cases(plan)
    at_hand = situation(case, plan.kind.wire(plan.lab.links, case.settings))
    # A frame of 104 bytes takes 124 on the line in, and eight more on the line out.
    assert at_hand.taken == (0, Fraction(1, 2) * Fraction(132, 124))
    (stream,) = at_hand.streams
    assert at_hand.growth == (Fraction(1546, 1538),)
    assert at_hand.out_fps(stream) == at_hand.line_fps * (1 - at_hand.taken[1]) * Fraction(1538, 1546)
    assert at_hand.line_out_fps(stream) == at_hand.line_fps


def test_goals_of_classes_are_read() -> None:
    loss, latency = plan_of(goals="[loss of voice <= 0, p99 of voice <= 1ms]").goals
    assert (loss.of_class, latency.of_class) == ("voice", "voice")
    assert isinstance(latency.bound, Duration)
    assert latency.bound.ns == 1_000_000


@pytest.mark.parametrize(
    ("classes", "goals", "code", "line"),
    [
        ("voice: {rate: 1.1Gbps}, default: {}", "[]", "load-above-line", 8),
        ("voice: {rate: 600Mbps}, video: {rate: 40%}, default: {}", "[]", "load-above-line", 8),
        ("voice: {rate: 1Mbps}, video: {rate: 5%}", "[]", "wrong-unit", 8),
        ("voice: {rate: 1Mbps, share: 5%}, default: {}", "[]", "conflict", 8),
        ("voice: {burst: 4}, default: {}", "[]", "unsupported", 8),
        (f"voice: {{headers: {STACK}, flows: 2}}, default: {{}}", "[]", "too-many", 8),
        (f"voice: {{headers: {STACK}, flows: 1, addresses: trex}}, default: {{}}", "[]", "given-twice", 8),
        ("voice: {size: mtu}, default: {}", "[]", "missing-field", 8),
        ("voice: {probe: false}, default: {}", "[]", "unsupported", 8),
        ("voice: {rate: 1Mbps, size: 50B}, default: {}", "[]", "out-of-range", 8),
        ("voice: {rate: 0bps}, default: {}", "[]", "out-of-range", 8),
        ("'a/b': {rate: 1Mbps}, default: {}", "[]", "wrong-format", 8),
        ("'x > 1': {}, default: {}", "[]", "wrong-format", 8),
        ("voice: {rate: 1Mbps, addresses: rfc5180}, default: {}", "[]", "conflict", 8),
        (VOICE, "[loss of video <= 0]", "unknown-name", 11),
        (VOICE, "[p99 of voice <= 5]", "wrong-unit", 11),
    ],
)
def test_class_that_cannot_be_is_reported(classes: str, goals: str, code: str, line: int) -> None:
    with pytest.raises(PlanErrors) as caught:
        plan_of(classes, goals)
    (error,) = caught.value.errors
    assert (error.code, error.line) == (code, line), error
