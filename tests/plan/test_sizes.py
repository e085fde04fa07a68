# ruff: noqa: E501 (plans and messages are quoted whole, one a line)
"""`size: [64B, 512B]`: a profile for each size, wherever the plan names it, and every mistake once, at its place."""

from __future__ import annotations

import jsonschema
import pytest
from netdyno.errors import PlanErrors
from netdyno.plan import json_schema, parse
from netdyno.plan.matrix import cases
from netdyno.plan.sizes import MOST_SIZES
from ruamel.yaml import YAML

LAB = """\
title: x
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/router}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}
method: {throughput: {}}
"""


def mistakes(text: str) -> list[str]:
    with pytest.raises(PlanErrors) as found:
        parse(LAB + text + "\n")
    return [f"{error.line}:{error.column} {error.code} {error.path}" for error in found.value.errors]


def names(text: str) -> list[str]:
    return [case.name for case in cases(parse(LAB + text + "\nmatrix: {direction: [uni]}\n"))]


def test_list_of_sizes_is_a_profile_of_each() -> None:
    plan = parse(LAB + "traffic: {pair: {size: [64B, 1518B, imix/trex], flows: 7}, one: {size: 128B}}\n")
    assert {name: (str(each.mix), each.flows) for name, each in plan.profiles.items()} == {
        "pair-64b": ("64B", 7),
        "pair-1518b": ("1518B", 7),
        "pair-imix-trex": ("imix/trex: 28:16:4 of 64:594:1518 B, average 361.8333 B", 7),
        "one": ("128B", 65536),
    }
    assert dict(plan.axes)["profile"] == tuple(plan.profiles)


def test_traffic_of_one_profile_needs_no_name() -> None:
    assert names("traffic: {size: [64B, 512B], flows: 16}") == ["uni / 64b", "uni / 512b"]
    assert names("traffic: {size: 64B}") == ["uni / 64b"]


def test_name_of_the_list_stands_for_all_its_sizes() -> None:
    text = "traffic: {a: {size: [64B, 512B, 1518B]}, b: {size: 64B}}\n"
    found = cases(
        parse(LAB + text + "matrix: {profile: [b, a], direction: [uni]}\nskip: [{profile: a-512b}]\n")
    )
    assert [case.name for case in found] == ["b / uni", "a-64b / uni", "a-1518b / uni"]
    found = cases(parse(LAB + text + "only: [{profile: a}]\n"))
    assert {case.profile_name for case in found} == {"a-64b", "a-512b", "a-1518b"}


def test_profile_of_a_list_sends_what_one_by_hand_sends() -> None:
    by_hand = cases(parse(LAB + "traffic: {64b: {size: 64B, flows: 9}}\n"))
    assert cases(parse(LAB + "traffic: {size: [64B], flows: 9}\n")) == by_hand


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("traffic: {a: {size: [64B, 51B, 512B]}}\nmatrix: {profile: [a-51b]}", ["8:27 out-of-range traffic.a.size[1]"]),
        ("traffic: {a: {size: [64B, 512B], flow: 1}}", ["8:34 unknown-field traffic.a.flow"]),
        ("traffic: {size: [64B, 512B], flow: 1}", ["8:30 unknown-field traffic.flow"]),
        ("traffic: {a: {size: [64B, 64B]}}", ["8:27 given-twice traffic.a.size[1]"]),
        ("traffic: {a: {size: [64B, {64: 7}]}}", ["8:27 wrong-type traffic.a.size[1]"]),
        ("traffic: {a: {size: [64B, imix]}}", ["8:27 unknown-name traffic.a.size[1]"]),
        ("traffic: {a: {size: [[64B], 64]}}", ["8:22 wrong-type traffic.a.size[0]", "8:29 wrong-unit traffic.a.size[1]"]),
        ("traffic: {a: {size: []}}", ["8:21 wrong-type traffic.a.size"]),
        ("traffic: {a: {size: [64B]}, a-64b: {size: 64B}}", ["8:29 conflict traffic.a-64b"]),
        ("traffic: {a: {size: [64B, 512B], ip: 6}}", ["8:22 frame-too-small traffic.a.size[0]"]),
        ("traffic: {a: {size: [64B]}}\nonly: [{profile: {a: 1}}]", ["9:18 wrong-type only[0].profile"]),
        (f"traffic: {{a: {{size: [{', '.join(f'{64 + n}B' for n in range(MOST_SIZES + 2))}]}}}}", ["8:370 too-many traffic.a.size[64]"]),
    ],
)  # fmt: skip
def test_mistake_in_a_list_is_reported_once_at_its_place(text: str, expected: list[str]) -> None:
    assert mistakes(text) == expected


def test_editors_know_lists_of_sizes() -> None:
    check = jsonschema.Draft202012Validator(json_schema())
    read = YAML(typ="safe").load
    for right in (
        "a: {size: [64B, imix/trex]}",
        "size: [64B, 512B], flows: 7",
        "size: 64B",
        "size: {size: 64B}",
    ):
        check.validate(read(f"{LAB}traffic: {{{right}}}"))
    for wrong in (
        "a: {size: []}",
        "a: {size: [{64: 7}]}",
        "size: [64B], flow: 7",
        "a: {flows: 7}",
        "a: {size: [[64B]]}",
    ):
        assert not check.is_valid(read(f"{LAB}traffic: {{{wrong}}}")), wrong
