# ruff: noqa: E501 (plans and messages are quoted whole, one a line)
"""`suite:` in a plan: what the standard gives, what the plan says itself, and every mistake in it at its place."""

from __future__ import annotations

import ipaddress
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
from emulated import trials
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.errors import PlanErrors
from netdyno.methods.reasons.deviations import Rehearsal
from netdyno.plan import Plan, json_schema, load, parse
from netdyno.plan.matrix import cases
from netdyno.store import open_run
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.units import FrameRate
from ruamel.yaml import YAML
from words import has_code

SIZES = (64, 128, 256, 512, 1024, 1280, 1518)
"""RFC 2544 section 9.1."""

LAB = """\
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/router}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}
"""


def mistakes(text: str) -> list[str]:
    with pytest.raises(PlanErrors) as found:
        parse(text)
    return [f"{error.line}:{error.column} {error.message} | {error.hint}" for error in found.value.errors]


def sizes(plan: Plan) -> dict[str, int]:
    return {name: weight[0] for name, profile in plan.profiles.items() for weight in profile.mix.weights}


def test_a_lab_and_a_suite_are_a_plan() -> None:
    """What RFC 2544 section 26 asks for of Ethernet: seven sizes, each way and both, between one pair."""
    plan = parse(LAB + "suite: rfc2544\n")
    assert plan.title == "RFC 2544, all six tests"
    assert plan.method == "rfc2544"
    assert plan.parameters == plan.parameters.model_validate({})
    assert sizes(plan) == {f"{size}b": size for size in SIZES}
    assert {profile.flows for profile in plan.profiles.values()} == {1}
    assert [case.name for case in cases(plan)] == [
        f"{size}b / {way}" for size in SIZES for way in ("uni", "bidir")
    ]
    # Section 23: 2 s for learning, 5 s of rest and 2 s for what is left in the device; section 24: 60 s.
    assert (plan.trial.settle.ns, plan.trial.drain.ns) == (7 * 10**9, 2 * 10**9)
    assert plan.parameters.throughput.duration.ns == 60 * 10**9


def test_the_example_of_a_suite_runs(tmp_path: Path) -> None:
    """8127 frames of 1518 bytes are the line of 100 Mbit/s, which is less than the device takes in."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    only = {"profile": "1518b", "direction": "uni"}
    plan = load(Path(__file__).parents[2] / "examples" / "rfc2544-suite.yaml")
    outcome = runner.run(plan, tmp_path, watcher(), runner.Selection(Fraction(1, 60), only))
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert case.result is not None, case.error
        (found,) = (one for one in case.result.values if (one.name, one.scope) == ("throughput", "sum"))
        assert found.number == Fraction(10**8, 8 * 1538)
        assert any(isinstance(one, Rehearsal) for one in case.result.compliance)


def test_what_the_plan_says_itself_stays() -> None:
    plan = parse(LAB + """\
title: Mine
traffic:
  pair: {flows: 1, addresses: rfc2544}
  whole: {size: imix/bench}
matrix: {profile: [whole, pair], direction: [uni]}
skip: [{profile: pair-512b}, {profile: [pair-64b, whole]}]
suite: {rfc2544: {latency: null, throughput: {duration: 1s}}}
""".replace("imix/bench", "{64: 7, 594: 4}"))  # fmt: skip
    assert plan.title == "Mine"
    assert [case.name for case in cases(plan)] == [
        f"pair-{size}b / uni" for size in (128, 256, 1024, 1280, 1518)
    ]
    assert plan.parameters.latency is None
    assert plan.parameters.throughput.duration.ns == 10**9


def test_a_filter_names_all_sizes_of_a_profile() -> None:
    text = LAB + "traffic: {pair: {flows: 1}, many: {flows: 9}}\nonly: [{profile: many}]\nsuite: rfc2544\n"
    assert {case.profile_name for case in cases(parse(text))} == {f"many-{size}b" for size in SIZES}


def test_sizes_are_those_that_hold_the_headers() -> None:
    """Ethernet 14, IPv6 40, UDP 8, the probe 18 and the FCS 4 are 84 bytes: no frame of 64 holds them."""
    assert sizes(parse(LAB + "traffic: {six: {ip: 6}}\nsuite: rfc2544\n")) == {
        "six-84b": 84,
        **{f"six-{size}b": size for size in SIZES[1:]},
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("suite: rfc2455", ["6:8 unknown suite `rfc2455` | did you mean `rfc2544`? suites: `rfc2544`"]),
        ("suite: [rfc2544]", ["6:8 `suite` is a name, or a name with parameters, not a list | write `suite: rfc2544`; suites: `rfc2544`"]),
        ("suite: {rfc2544: {latncy: null}}", ["6:19 unknown field `latncy` | did you mean `latency`? "]),
        ("suite: {rfc2544: {throughput: {maximum: 120%}}}", ["6:41 a load of 120% is more than the line carries | "]),
        ("suite: {rfc2544: {throughput: {maximum: 2Mpps}}}", ["6:41 a load of 2Mpps is 134.4 % of the line in case `64b / uni` | "]),
        ("suite: rfc2544\nmethod: {ramp: {}}", ["7:1 `suite` and `method` both say what is measured | keep one of them"]),
        ("suite: rfc2544\ntraffic: {udp: {flow: 1}}", ["7:17 unknown field `flow` | "]),
        (
            "suite: rfc2544\ntraffic:\n  a: {flows: 2, addresses: {source: 10.0.0.0/32, destination: 10.0.0.1/32}}\nmatrix:\n  profile: [b, a]\nskip: [{profile: c}]",
            ["8:14 2 flows, but the addresses make only 1 | `flows: 1`, or fields with more values", "10:13 unknown profile `b` | ", "11:18 `c` is not on the axis `profile` | "],
        ),
        ("suite: no\ntraffic: {udp: {size: 1B}}\nscale: 2", ["6:8 unknown suite", "7:23 ", "8:8 `2` is not a scale"]),
    ],
)  # fmt: skip
def test_every_mistake_has_its_place(text: str, expected: list[str]) -> None:
    found = mistakes(LAB + text + "\n")
    assert len(found) == len(expected), found
    for told, wanted in zip(found, expected, strict=True):
        assert told.startswith(wanted), told


def test_without_a_suite_nothing_is_left_out() -> None:
    assert [told.split(" | ")[0] for told in mistakes(LAB + "traffic: {a: {flows: 1}}\n")] == [
        "1:1 `method` is missing",
        "1:1 `title` is missing",
        "6:11 `size` of `a` is missing",
    ]


def test_editors_know_suites() -> None:
    check = jsonschema.Draft202012Validator(json_schema())
    read = YAML(typ="safe").load
    for right in ("suite: rfc2544", "suite: {rfc2544: {latency: null}}\ntraffic: {a: {flows: 1}}"):
        check.validate(read(LAB + right))
    for wrong in (
        "suite: rfc2445",
        "suite: {rfc2544: {latncy: null}}",
        "suite: rfc2544\ntitle: x\ntraffic: {a: {size: 64B}}\nmethod: {ramp: {ramp: 1s to 1%}}",
        "title: x\ntraffic: {a: {flows: 1}}\nmethod: {ramp: {ramp: 1s to 1%}}",
        "",
    ):
        assert not check.is_valid(read(LAB + wrong)), wrong


# 256 destination networks.


def specs(profile: str, direction: str = "bidir") -> list[dict[str, object]]:
    plan = parse(
        LAB
        + f"title: x\ntraffic: {{it: {{size: 64B, {profile}}}}}\nmatrix: {{direction: [{direction}]}}\nmethod: {{throughput: {{}}}}\n"
    )
    (case,) = cases(plan)
    load = Segment("t", 10**6, FrameRate(1000), FrameRate(1000))
    spec = trial_spec(plan, case, plan.kind.wire(plan.lab.links, case.settings), Trial("x", Frames((load,))))
    streams: list[dict[str, object]] = spec["streams"]
    return streams


def test_256_networks_are_the_destinations_of_each_direction() -> None:
    """RFC 2544 section 12: from one address to a range of 256 networks; section C.2.2: of 198.18.0.0/15."""
    for stream, source, network in zip(
        specs("addresses: rfc2544-256"),
        ("198.18.0.2", "198.19.0.2"),
        ("198.19.0.0/16", "198.18.0.0/16"),
        strict=True,
    ):
        assert stream["flows"] == 256
        (header,) = (one for one in stream["headers"] if one["type"] == "ipv4")  # type: ignore[attr-defined,index]
        assert header["src"] == source
        hosts = [ipaddress.ip_address(one) for one in header["dst"]["list"]]
        of_each = Counter(ipaddress.ip_network(f"{host}/24", strict=False) for host in hosts)
        assert of_each == dict.fromkeys(ipaddress.ip_network(network).subnets(new_prefix=24), 1)
        assert all(0 < int(host) % 256 < 255 for host in hosts), (
            "neither the network nor its broadcast address"
        )
        # At random: no run of networks one after the other.
        third = [int(host) >> 8 & 255 for host in hosts]
        assert sum(two - one == 1 for one, two in pairwise(third)) < 8


def test_one_flow_of_it_is_the_pair() -> None:
    (stream,) = specs("addresses: rfc2544-256, flows: 1", "uni")
    (header,) = (one for one in stream["headers"] if one["type"] == "ipv4")  # type: ignore[attr-defined,index]
    assert (header["src"], header["dst"]) == ("198.18.0.2", "198.19.0.2")


@pytest.mark.parametrize("links", [2, 3])
def test_an_emulated_router_forwards_to_each_network(links: int) -> None:
    from emulated import plan as emulated

    direction = "bidir" if links == 2 else "uni"
    asked = emulated("emulated/router", "size: 64B, addresses: rfc2544-256", links=links, direction=direction)
    (result,) = trials(asked, [[(Fraction(10_000), 10**8)]])
    assert len(result.streams) == (2 if links == 2 else 3)
    for stream in result.streams:
        assert (stream.lost, stream.flows_received) == (0, 256)


def test_a_profile_that_the_suite_would_make_of_another_is_a_mistake() -> None:
    text = LAB + "traffic: {pair: {flows: 1}, pair-64b: {size: 64B}}\nsuite: rfc2544\n"
    with pytest.raises(PlanErrors, check=has_code("conflict")):
        parse(text)
