"""Templates of a plan's configuration: what is wrong with them shows before any device is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from netdyno.errors import PlanErrors
from netdyno.plan import Plan, load
from netdyno.plan.matrix import cases

PLAN = """\
title: A device that is configured
lab:
  nodes:
    tester: {kind: netdyno}
    dut:
      kind: KIND
      driver: cisco_iosxr
      host: fridge
      configuration: lab/my-{lag}.j2
      settings: {area: "0"}
  links:
    - {endpoints: ["tester:west", "dut:Te0/1/0/0"], INTERFACE1 rate: 10Gbps}
    - {endpoints: ["tester:east", "dut:Te0/2/0/0"], INTERFACE2 rate: 10Gbps}
traffic: {small: {size: 64B}}
matrix: {lag: [plain, lacp], metric: [1, 2]}
method: {throughput: {duration: 10ms}}
"""
RIGHT = """\
interface {{ ports[0] }}
 description area {{ area }}
!
{% include "lab/more.j2" %}
"""
MORE = """\
interface {{ ports[1] }}
 description metric {{ metric }}
"""
HERE = "lab.nodes.dut.configuration"


def loaded(folder: Path, kind: str = "emulated/asr9006", **templates: str) -> Plan:
    """The plan with its templates beside it: `plain`, `lacp`, and `more`, which both include."""
    (folder / "lab").mkdir()
    names = {"plain": "my-plain", "lacp": "my-lacp", "more": "more"}
    for name, text in {"plain": RIGHT, "lacp": RIGHT, "more": MORE, **templates}.items():
        (folder / "lab" / f"{names[name]}.j2").write_text(text)
    text = PLAN.replace("KIND", kind)
    for number in ("1", "2"):
        own = f"interface: eth7{number}," if kind == "external" else ""
        text = text.replace(f"INTERFACE{number}", own)
    (folder / "plan.yaml").write_text(text)
    return load(folder / "plan.yaml")


def mistakes(folder: Path, **templates: str) -> list[tuple[str, str, int, str]]:
    """Code, place and line in the plan, and template of each mistake."""
    with pytest.raises(PlanErrors) as caught:
        loaded(folder, **templates)
    return [
        (one.code, one.path, one.line, one.message.split(": ")[0].removeprefix("template "))
        for one in caught.value.errors
    ]


@pytest.mark.parametrize("kind", ["emulated/asr9006", "external"])
def test_settings_that_only_templates_take_are_accepted(kind: str, tmp_path: Path) -> None:
    """`metric` is in an included template, `area` in the plan's `settings`; the kind has neither."""
    plan = loaded(tmp_path, kind)
    found = cases(plan)
    assert [case.settings["metric"] for case in (found[0], found[-1])] == ["1", "2"]
    assert {case.settings["area"] for case in found} == {"0"}
    wiring = plan.kind.wire(plan.lab.links, found[-1].settings)
    assert wiring.settings["metric"] == "2"


def test_setting_that_nothing_takes_is_unknown(tmp_path: Path) -> None:
    found = mistakes(tmp_path, more="interface {{ ports[1] }}\n")
    assert [(code, path) for code, path, _, _ in found] == [("unknown-name", "matrix.metric")]


def test_names_without_a_value_are_all_reported_with_their_lines(tmp_path: Path) -> None:
    plain = "{# two #}\nmtu {{ size[1] }}\n{% for one in others %}\n{% endfor %}\n"
    found = mistakes(tmp_path, plain=plain + RIGHT, more=MORE + "\n cost {{ cost }}\n")
    assert sorted(found) == [
        ("template-wrong", HERE, 9, "lab/more.j2:4"),
        ("template-wrong", HERE, 9, "lab/my-plain.j2:2"),
        ("template-wrong", HERE, 9, "lab/my-plain.j2:3"),
    ]


def test_template_that_is_no_jinja_is_reported_alone(tmp_path: Path) -> None:
    """Its settings are not called unknown beside that."""
    broken = "interface {{ ports[0] }}\n{% if area == metric %}\n shutdown\n"
    found = mistakes(tmp_path, plain=broken, lacp=broken, more="interface {{ ports[1] }}\n")
    assert {one[:2] for one in found} == {("template-wrong", HERE)}
    assert {place.partition(":")[0] for *_, place in found} == {"lab/my-plain.j2", "lab/my-lacp.j2"}


def test_template_that_is_missing_is_reported(tmp_path: Path) -> None:
    found = mistakes(tmp_path, more='{% include "lab/none.j2" %}\n' + MORE)
    assert {one[0] for one in found} == {"template-wrong"}


def test_templates_wait_for_endpoints_that_are_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they would write for the port of another name is no mistake of theirs."""
    monkeypatch.setitem(globals(), "PLAN", PLAN.replace("dut:Te0/1/0/0", "dut:Te 0/1/0/0"))
    with pytest.raises(PlanErrors) as caught:
        loaded(tmp_path)
    assert [(one.code, one.path) for one in caught.value.errors] == [
        ("wrong-format", "lab.links[0].endpoints[1]")
    ]


def test_lines_that_are_not_the_labs_are_all_reported(tmp_path: Path) -> None:
    foreign = """\
{% for number in range(2) %}
line vty {{ number }}
  transport   input ssh
{% endfor %}
interface Loopback5
interface {{ ports[0] }}
 ipv4  address 192.0.2.1/24
 username  {{ area }}
reload
"""
    found = mistakes(tmp_path, plain=RIGHT + foreign)
    assert [one[0] for one in found] == ["section-not-allowed"] * 5
    assert sorted(place for *_, place in found) == [
        "lab/my-plain.j2:12",
        "lab/my-plain.j2:13",
        "lab/my-plain.j2:6",
        "lab/my-plain.j2:6",
        "lab/my-plain.j2:9",
    ]


def test_what_the_running_configuration_decides_is_left_to_it(tmp_path: Path) -> None:
    """A bundle may have the lab's ports already, and an interface the network of an ARP entry."""
    left = "interface Bundle-Ether7\n mtu 9000\n!\narp 192.0.2.7 0000.0000.0001 ARPA\n"
    left += "no l2vpn\nl2vpn\n bridge group lab\n  bridge-domain one\n   interface Bundle-Ether7\n"
    assert loaded(tmp_path, plain=RIGHT + left).lab.configuration
