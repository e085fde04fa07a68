"""`--set`: a value is put into a plan and checked as if its file had it; a mistake in it names the option."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from netdyno.errors import PlanErrors
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import cases
from netdyno.plan.overrides import locate

LAB = """\
nodes: {tester: {kind: netdyno}, dut: {kind: emulated/router}}
links:
  - {endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}
  - {endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}
"""
HEAD = "title: x\nlab:\n" + "".join(f"  {line}\n" for line in LAB.splitlines()) + "method: {throughput: }\n"
NAMED = (
    HEAD
    + "traffic:\n  a.b: {size: 64B}\n  many: {size: [64B, 512B], classes: {voice: {share: 10%}, rest: {}}}\n"
)
NAMELESS = HEAD + "traffic: {size: [64B, 512B]}\n"


def put(*overrides: str, text: str = NAMED) -> Plan:
    return parse(text, overrides=overrides)


def mistakes(*overrides: str, text: str = NAMED) -> list[str]:
    with pytest.raises(PlanErrors) as found:
        parse(text, overrides=overrides)
    for error in found.value.errors:
        assert (error.line, error.column) == (0, 0)
    return [f"{error.file}: {error.code} {error.path}" for error in found.value.errors]


def test_plan_with_a_value_set_is_the_plan_that_says_so() -> None:
    by_hand = parse(NAMED.replace("{size: 64B}", "{size: 128B}"))
    found = put("traffic.a.b.size=128B")
    assert (found.profiles, cases(found)) == (by_hand.profiles, cases(by_hand))
    assert (found.text, found.overrides) == (NAMED, ("traffic.a.b.size=128B",))


def test_value_is_set_where_it_is_named_and_at_no_alias_of_it() -> None:
    text = HEAD + "traffic:\n  a: &small {size: 64B, flows: 7}\n  b: *small\n"
    found = put("traffic.b.size=1518B", text=text)
    assert [str(one.mix.name) for one in found.profiles.values()] == ["64B", "1518B"]


def test_fields_that_the_plan_leaves_out_can_be_set() -> None:
    found = put(
        "trial.settle=7s", "method.throughput.duration=1s", "lab.nodes.dut.settings.routes=16", "seed=3"
    )
    assert found.trial.settle.ns == 7 * 10**9
    assert found.parameters.duration.ns == 10**9
    assert found.lab.settings["routes"] == "16"
    assert found.seed == 3


def test_entries_of_lists_lists_and_mappings_can_be_set() -> None:
    found = put("lab.links[1].rate=10Gbps", "matrix={direction: [uni]}", "goals=['throughput >= 50%']")
    assert [link.rate_bps for link in found.lab.links] == [10**9, 10**10]
    assert dict(found.axes)["direction"] == ("uni",)
    assert len(found.goals) == 1


def test_later_setting_of_a_place_wins() -> None:
    assert put("seed=3", "seed=4").seed == 4


@pytest.mark.parametrize(("text", "name"), [(NAMED, "many-64b"), (NAMELESS, "64b")])
def test_profile_of_one_size_can_be_set_by_itself(text: str, name: str) -> None:
    found = put(f"traffic.{name}.flows=7", text=text)
    assert {each: one.flows for each, one in found.profiles.items() if one.flows != 65536} == {name: 7}


def test_parts_that_profiles_of_a_list_share_are_set_in_one() -> None:
    shares = {
        name: profile.classes["voice"].share
        for name, profile in put("traffic.many-64b.classes.voice.share=20%").profiles.items()
        if profile.classes
    }
    assert [str(share) for share in shares.values()] == ["20%", "10%"]


def test_list_of_sizes_can_be_set() -> None:
    assert list(put("traffic.size=[128B, 256B]", text=NAMELESS).profiles) == ["128b", "256b"]


def test_size_of_the_standard_can_be_set_in_a_suite() -> None:
    text = HEAD.replace("method: {throughput: }", "suite: rfc2544")
    assert put("traffic.64b.flows=5", text=text).profiles["64b"].flows == 5


def test_another_lab_is_read_before_what_is_set_in_it(tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text(LAB)
    (tmp_path / "other.yaml").write_text(LAB.replace("1Gbps", "2Gbps"))
    text = "title: x\nlab: lab.yaml\nmethod: {throughput: {}}\ntraffic: {size: 64B}\n"
    found = parse(text, base=tmp_path, overrides=["lab.links[0].rate=5Gbps", "lab=other.yaml"])
    assert [link.rate_bps for link in found.lab.links] == [5 * 10**9, 2 * 10**9]
    assert list(found.included) == ["other.yaml"]


@pytest.mark.parametrize(
    ("override", "code"),
    [
        ("traffic.a.c.size=128B", "unknown-name"),
        ("trafic.a.b.size=128B", "unknown-name"),
        ("traffic.a.b.sise=128B", "unknown-field"),
        ("traffic.a.b.size=12B", "out-of-range"),
        ("traffic.a.b.size.x=1", "unknown-name"),
        ("traffic.many.size=[64B, 5B]", "out-of-range"),
        ("traffic.many-64b.flows=0", "out-of-range"),
        ("traffic.many-65b.flows=1", "unknown-name"),
        ("lab.links[2].rate=1Gbps", "unknown-name"),
        ("lab.links.rate=1Gbps", "unknown-name"),
        ("method.ndr.width=1%", "unknown-name"),
        ("method.throughput.maximum=120%", "load-above-line"),
        ("seed=[", "not-yaml"),
        ("seed=!!python/name:os.system", "not-yaml"),
        ("trial.settle=1", "wrong-unit"),
        ("lab=other.yaml", "wrong-type"),
        (".=1", "unknown-name"),
    ],
)
def test_mistake_names_the_option_and_the_path(override: str, code: str) -> None:
    path = override.partition("=")[0]
    assert mistakes(override) == [f"--set {path}: {code} {path}"]


def test_unknown_profile_has_a_suggestion() -> None:
    with pytest.raises(PlanErrors) as found:
        put("traffic.many-65b.flows=1")
    assert "did you mean `many-64b`?" in str(found.value.errors[0].hint)


def test_mistake_of_the_file_keeps_its_place() -> None:
    with pytest.raises(PlanErrors) as found:
        parse(NAMED.replace("title: x", "title: []"), overrides=["seed=x"])
    assert [(error.file, error.line) for error in found.value.errors] == [("plan.yaml", 1), ("--set seed", 0)]


def test_place_of_a_value_is_the_option_that_set_it() -> None:
    plan = put("lab.links[1].rate=10Gbps")
    assert locate(plan, ("lab", "links", 1, "rate")) == ("--set lab.links[1].rate", 0, 0)
    assert locate(plan, ("lab", "links", 0, "rate")) == ("plan.yaml", 5, 52)


def test_refused_setting_changes_nothing() -> None:
    from netdyno.plan.overrides import NoPlaceError
    from netdyno.plan.overrides import put as put_into

    plan = {"traffic": {"a": {"size": "64B"}}}
    before = copy.deepcopy(plan)
    with pytest.raises(NoPlaceError):
        put_into(plan, "trial.settle.x.y", 1)
    assert plan == before
