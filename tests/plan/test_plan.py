# ruff: noqa: E501 (plans and messages are quoted whole, one a line)
"""Plans: every mistake at once, each with its place, its reason and what to write instead."""

from __future__ import annotations

import json
import pickle
import re
import time
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from netdyno.errors import PlanError, PlanErrors
from netdyno.methods import METHODS
from netdyno.plan import json_schema, load, parse
from netdyno.plan.goals import goal_kinds
from netdyno.plan.link_vlans import LinkVlan
from netdyno.plan.models import DIRECTIONS, Link, PlanFile, TrialSettings
from netdyno.plan.pools import ADDRESSES
from netdyno.plan.source import MAX_BYTES, MAX_NODES, read_text
from netdyno.plan.traffic import Profile
from netdyno.testers import tables
from netdyno.values.mixes import MIXES
from netdyno.values.units import Duration, FrameSize, decimal
from ruamel.yaml import YAML
from sampling import examples
from words import has_code

HERE = Path(__file__).parents[1]
BROKEN = HERE / "broken"
EXAMPLES = sorted((HERE.parent / "examples").glob("*.yaml"))

WHOLE = """\
title: A whole plan
lab:
  nodes:
    tester: {kind: netdyno}
    dut: {kind: emulated/asr9006}
  links:
    - {endpoints: ["tester:west", "dut:p0"], rate: 10Gbps}
    - {endpoints: ["tester:east", "dut:p1"], rate: 10Gbps}
traffic:
  small: {size: 64B, flows: 1000}
  big: {size: 1518B, vlan: 10}
matrix:
  lag: [plain, lacp]
  profile: [small, big]
  direction: [uni, bidir]
method:
  ramp: {warmup: 30s at 1kpps, ramp: 120s to 100%, hold: 30s}
"""


def mistakes(text: str, base: Path | None = None) -> list[str]:
    """The mistakes of a plan's text, `line:column message`."""
    try:
        parse(text, base=base)
    except PlanErrors as found:
        return [f"{error.line}:{error.column} {error.message}" for error in found.errors]
    return []


def findings(text: str) -> tuple[PlanError, ...]:
    """The mistakes of a plan's text; none means that it is a plan."""
    try:
        parse(text)
    except PlanErrors as found:
        return found.errors or pytest.fail("errors without an error")
    return ()


def changed(old: str, new: str) -> str:
    assert WHOLE.count(old) == 1, old
    return WHOLE.replace(old, new)


# The ten broken plans: the place, the message, the hint; and nothing else is wrong with them.
BROKEN_PLANS = {
    "bad-unit": (15, 38, "`120secs` is not a duration: `secs` is no unit of one", "write `120s`"),
    "unknown-field": (
        10, 22, "unknown field `flow`",
        "did you mean `flows`? fields: `flows`, `size`, `burst`, `arrival`, `probe`, `ip`, `protocol`, `vlan`, `addresses`, `headers`, `writes`, `payload`, `back`, `answers` and `classes`",
    ),
    "unknown-kind": (5, 17, "unknown device kind `emulated/ruoter`", "did you mean `emulated/router`? kinds: "),
    "too-small-for-headers": (
        10, 17, "frames of 64B are too small for their headers: at least 68B",
        "headers 46 B, probe 18 B, FCS 4 B: give `68B`, or fewer headers",
    ),
    "over-line-rate": (
        15, 38, "a load of 15Mpps is 100.8 % of the line in case `small / uni`",
        "10Gbps L1 carries at most 14880952 frames/s of 64B",
    ),
    "duplicate-name": (
        11, 3, "`small` is given twice", "the first one is in line 10; rename or remove one",
    ),
    "missing-file": (2, 6, "`lab-of-nobody.yaml`: no such file", "the directory is "),
    "zero-duration": (
        15, 58, "`0s` is no time at all",
        "give a duration longer than zero, such as `30s`, or leave the phase out",
    ),
    "endpoint-twice": (
        8, 35, "`dut:p0` is linked twice", "the first link is in line 7; a port takes one cable",
    ),
    "wrong-type": (
        13, 14, "`direction` must be a list, not `uni`", "write it in brackets: `[uni]`",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN_PLANS)
def test_a_broken_plan_gives_one_clear_line(name: str) -> None:
    line, column, message, hint = BROKEN_PLANS[name]
    with pytest.raises(PlanErrors) as caught:
        load(BROKEN / f"{name}.yaml", shown=f"{name}.yaml")
    (error,) = caught.value.errors
    assert str(error) == f"{name}.yaml:{line}:{column}: {message}"
    assert error.hint is not None
    assert error.hint.startswith(hint)


def test_there_are_ten_broken_plans() -> None:
    assert {path.stem for path in BROKEN.glob("*.yaml")} == set(BROKEN_PLANS)
    assert len(BROKEN_PLANS) == 10


def test_all_mistakes_of_a_plan_are_reported_at_once_in_order() -> None:
    text = """\
titel: x
lab:
  nodes:
    tester: {kind: netdyno}
    dut: {kind: emulated/asr9007}
    dut: {kind: emulated/asr9006}
  links:
    - {endpoints: ["tester:west", "dat:p0"], rate: 10gbps}
    - {endpoints: ["tester:west", "dut:p1"], rate: 10}
traffic:
  a: {size: imix/bnch, flows: 1.5, vlan: [{vid: 5000}, true], headers: [{type: eth}]}
  b: {size: {64: 28, 594: 0, x: 3}, vlan: 10}
  c: {size: 64B, ip: 6}
  d: 64B
  e: {size: 64B, protocol: sctp}
matrix:
  forwardign: [l2-xconnect]
  profile: [a, z]
  direction: uni
  lag: []
method:
  ramp: {warmup: 30s at 1kpp, ramp: 120s to 110%, hold: 0s, foo: 1}
goals: [thruput >= 95%, 7]
scale: 1/0
trial: {drain: 3}
"""
    assert mistakes(text) == [
        "1:1 `title` is missing",
        "1:1 unknown field `titel`",
        "5:17 unknown device kind `emulated/asr9007`",
        "6:5 `dut` is given twice",
        "8:35 `dat` is not a node of the lab",
        "8:52 `10gbps` has no unit netdyno knows: `gbps`",
        "9:20 `tester:west` is linked twice",
        "9:52 `10` is a bit rate without a unit",
        "11:13 unknown mix `imix/bnch`",
        "11:31 `flows` must be a whole number, not `1.5`",
        "11:49 `5000` is no VLAN",
        "11:56 `true` is not a VLAN",
        "11:73 unknown headers type `eth`",
        "12:27 `0` is not a weight",
        "12:33 `x` is not a frame size",
        "13:13 frames of 64B are too small for their headers: at least 84B",
        "14:6 `d` must be a mapping, not `64B`",
        "15:28 `protocol` cannot be `sctp`",
        "17:3 unknown axis `forwardign` of the matrix",
        "18:16 unknown profile `z`",
        "19:14 `direction` must be a list, not `uni`",
        "20:8 `lag` is empty",
        "22:18 `1kpp` is not a load: `kpp` is no unit of one",
        "22:37 a load of 110% is more than the line carries",
        "22:57 `0s` is no time at all",
        "22:61 unknown field `foo`",
        "23:9 there is no value `thruput` to set a goal for",
        "23:25 `7` is not a goal",
        "24:8 `1/0` is not a scale",
        "25:16 `3` is a duration without a unit",
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # Loads: what the slowest line carries, of this profile, in this case.
        ("to 100%", "to 100.5%", "17:38 a load of 100.5% is more than the line carries"),
        ("to 100%", "to 21Gbps", "17:38 a load of 21Gbps L1 is 210 % of the line in case `plain / small / uni`"),
        ("to 100%", "to 900kpps", "17:38 a load of 900kpps is 110.74 % of the line in case `plain / big / uni`"),
        ("to 100%", "to 9Gbps L2", "17:38 a load of 9Gbps L2 is 118.12 % of the line in case `plain / small / uni`"),
        # The lab.
        ("rate: 10Gbps}\n    - ", "rate: 10Gbps L2}\n    - ", "7:52 `10Gbps L2` is an L2 rate where an L1 rate is needed"),
        ('["tester:east", "dut:p1"]', '["tester:east"]', "8:19 a link has two endpoints"),
        ('["tester:east", "dut:p1"]', '["tester:east", "dut"]', "8:35 `dut` is not an endpoint"),
        ('["tester:east", "dut:p1"]', '["tester:east", "tester:x"]', "8:19 a link joins the tester and the device"),
        ("tester: {kind: netdyno}", "tester: {kind: linux/router}", "3:3 the lab has no node of kind `netdyno`"),
        ("kind: emulated/asr9006", "kind: netdyno", "3:3 the lab has more than one node of kind `netdyno`"),
        ("emulated/asr9006}", "emulated/asr9006, settings: {lga: lacp}}", "5:46 `emulated/asr9006` has no setting `lga`"),
        ("emulated/asr9006}", "emulated/asr9006, settings: {lag: lacq}}", "5:51 `lag` of `emulated/asr9006` cannot be `lacq`"),
        # Profiles.
        ("size: 64B,", "size: 9217B,", "10:17 `9217B` is longer than any frame netdyno sends"),
        ("size: 64B,", "size: 64,", "10:17 `64` is a frame size without a unit"),
        ("size: 64B,", "size: {1518: 1, 65: 2}, vlan: 7,", "10:27 frames of 65B are too small for their headers: at least 68B"),
        ("flows: 1000", "flows: 0", "10:29 `flows` cannot be `0`"),
        ("flows: 1000", "flows: yes", "10:29 `flows` must be a whole number, not `yes`"),
        ("flows: 1000", "flows: 7, addresses: {source: 10.0.0.0/30, destination: 10.1.0.1/32}", "10:29 7 flows, but the addresses make only 2"),
        ("flows: 1000", "addresses: trax", "10:33 unknown addresses `trax`"),
        ("flows: 1000", "addresses: {source: 10.0.0.0/8, destination: 10.1.0.1/24}", "10:67 `10.1.0.1/24` is not a prefix"),
        ("flows: 1000", "addresses: rfc5180", "10:33 the addresses are IPv6 and the profile is IPv4"),
        ("size: 1518B, vlan: 10", "size: 1518B, vlan: {vid: 4096}", "11:34 `4096` is no VLAN"),
        ("size: 1518B, vlan: 10", "size: 1518B, vlan: [{vid: 1, tpid: 65536}]", "11:44 `65536` is no TPID"),
        # The matrix and its filters.
        ("profile: [small, big]", "profile: [small, bog]", "14:20 unknown profile `bog`"),
        ("profile: [small, big]", "profile: [small, small]", "14:20 `small` stands twice on the axis `profile`"),
        ("profile: [small, big]", "profile: []", "14:12 `profile` is empty"),
        ("direction: [uni, bidir]", "direction: [uni, both]", "15:20 `direction` cannot be `both`"),
        ("method:", "only: [{lag: lacp, speed: 1}]\nmethod:", "16:20 `speed` is not an axis of the matrix"),
        ("method:", "skip: [{lag: [plain, lacq]}]\nmethod:", "16:22 `lacq` is not on the axis `lag`"),
        ("method:", "skip: [{direction: uni}, {direction: bidir}]\nmethod:", "16:1 `only` and `skip` leave no case of the matrix"),
        # The method.
        ("  ramp: {warmup", "  rampe: {warmup", "17:3 unknown method `rampe`"),
        ("hold: 30s}", "hold: 30s}\n  throughput: {}", "16:1 `method` names 2 methods, and a plan has one"),
        ("ramp: 120s to 100%", "ramp: {duration: 120s, to: 100}", "17:59 `100` is a load without a unit"),
        # Everything else.
        ("matrix:", "  64: {size: 64B}\nmatrix:", "12:3 the name `64` must be text"),
        ("matrix:", "  big one: {size: 64B}\nmatrix:", "12:3 `big one` is not a name"),
        ("method:", "goals: [[]]\nmethod:", "16:9 `[]` is not a goal"),
        ("method:", "only: [3]\nmethod:", "16:8 an entry of `only` must be a mapping, not `3`"),
        ('"dut:p1"], rate: 10Gbps', '"dut:p1"], rate: 10Gbps, address: 192.0.2.1', "8:69 `192.0.2.1` is not an address with its prefix length"),
        ('"dut:p1"], rate: 10Gbps', '"dut:p1"], rate: 10Gbps, address: 192.0.2.1/30, gateway: 192.0.2.9', "8:92 the gateway 192.0.2.9 is outside the network 192.0.2.0/30 of the address 192.0.2.1/30"),
        ('"dut:p1"], rate: 10Gbps', '"dut:p1"], rate: 10Gbps, address: 192.0.2.1/30, gateway: 192.0.2.1', "8:92 the gateway 192.0.2.1 is the tester's own address"),
        ('"dut:p1"], rate: 10Gbps', '"dut:p1"], rate: 10Gbps, address: 192.0.2.1/30, gateway: 192.0.2.3', "8:92 the gateway 192.0.2.3 is the broadcast address of 192.0.2.0/30"),
        ("title: A whole plan", "title: ''", "1:8 `title` is empty"),
        ("title: A whole plan", "title: [a]", "1:8 `title` must be text, not a list of `a`"),
        ("method:", "seed: -1\nmethod:", "16:7 `seed` cannot be `-1`"),
        ("method:", "goals: [loss <= 1kpps]\nmethod:", "16:9 loss is a share, and `1kpps` is a rate"),
        ("method:", "goals: [loss <= 1]\nmethod:", "16:9 the goal `loss <= 1` has a bound without a unit"),
        ("method:", "goals: [loss <= 200%]\nmethod:", "16:9 the goal `loss <= 200%` asks for more than 100 % of what was sent"),
        ("method:", "goals: [knee >= 110%]\nmethod:", "16:9 the goal `knee >= 110%` asks for more than 100 % of the line"),
        ("flows: 1000", "flows: 268435457", "10:29 268435457 flows in all in case `plain / small / uni`; at most 268435456 can be distinguished"),
        ("flows: 1000", "flows: 134217729", "10:29 268435458 flows in all, of 2 streams, in case `plain / small / bidir`; at most 268435456 can be distinguished"),
        ("method:", "trial: {sample: 0ms}\nmethod:", "16:17 `0ms` is no time at all"),
        ("method:", "trial: {sample: 1us}\nmethod:", "16:17 182000000 samples of 1us are more than 2000000"),
        ("method:", "trial: {sample: 1ms, drain: 70min}\nmethod:", "16:17 4380000 samples of 1ms are more than 2000000"),
        ("method:", "trial: {verify: maybe}\nmethod:", "16:17 `verify` must be `true` or `false`, not `maybe`"),
        ("method:", "trial: {catch_up: 90%}\nmethod:", "16:19 `90%` is no rate to catch up at"),
        ("method:", "trial: {catch_up: 150.5%}\nmethod:", "16:19 `150.5%` is no rate to catch up at"),
        ("method:", "trial: {retries: -1}\nmethod:", "16:18 `retries` cannot be `-1`"),
        ("method:", "trial: {again: 1, retries: 2}\nmethod:", "16:9 unknown field `again`"),
        ("method:", "lag: on\nmethod:", "16:1 unknown field `lag`"),
    ],
)  # fmt: skip
def test_a_slip_and_what_is_said_about_it(old: str, new: str, expected: str) -> None:
    assert mistakes(changed(old, new)) == [expected]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("matrix: [lag, direction]", "a list of `lag` and `direction`"),
        (
            "matrix: [{lag: plain}, {direction: uni}, x, y, z]",
            "a list of a mapping, a mapping, `x` and 2 more",
        ),
        ("matrix: []", "a list, which is empty"),
    ],
)
def test_list_in_place_of_a_mapping_is_reported_with_its_items(written: str, expected: str) -> None:
    (error,) = findings(re.sub(r"matrix:\n(  .*\n){3}", f"{written}\n", WHOLE))
    assert error.message == f"`matrix` must be a mapping, not {expected}"
    assert error.hint == "write fields as `name: value`, without brackets and dashes"


def test_the_same_mistake_many_times_is_one_with_its_first_places() -> None:
    """Up to three are reported each at its place, for an editor to jump to; of more the first three places."""
    three = changed("method:", "only: [3, 4, 5]\nmethod:")
    assert [one.partition(" ")[0] for one in mistakes(three)] == ["16:8", "16:11", "16:14"]
    assert mistakes(changed("method:", "only: [3, 4, 5, 6, 7]\nmethod:")) == [
        "16:8 an entry of `only` must be a mapping, not `3` (5 times: also at 16:11, 16:14 and at 2 more)"
    ]
    # Other values of the matrix are other mistakes.
    assert len(mistakes(changed("[small, big]", "[p, q, r, s]"))) == 4


def test_the_plan_of_an_older_run_is_still_read() -> None:
    assert parse(changed("method:", "trial: {again: 7}\nmethod:")).trial.retries == 7
    assert parse(changed("method:", "trial: {retries: 7}\nmethod:")).trial.retries == 7


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ("[{type: ipv4, src: 1.1.1.1, dst: 2.2.2.2}, {type: udp, sport: 1, dport: 2}]", ["a frame begins with `ethernet`, not `ipv4`"]),
        ("[{type: ethernet}, {type: udp, sport: 1, dport: 2}]", ["`udp` cannot follow `ethernet`"]),
        ("[{type: ethernet}, {type: ipv4, src: 1.1.1.1, dst: 2.2.2.2}]", ["the stack ends with `ipv4`"]),
        ("[{type: ethernet}, {type: ipv4, src: 1.1.1.300, dst: 2.2.2.2}, {type: echo}]", ["`1.1.1.300` is not an IPv4 address"]),
        ("[{type: ethernet, src: 02:00:00:00:00}, {type: ipv4, src: 1.1.1.1, dst: 2.2.2.2}, {type: echo}]", ["`02:00:00:00:00` is not a MAC address"]),
        (
            "[{type: ethernet}, {type: ipv4, src: {random: {min: 2.0.0.0, max: 1.0.0.0}}, dst: {lst: [1.1.1.1]}}, {type: echo}]",
            ["`min` 2.0.0.0 is above `max` 1.0.0.0", "unknown way to vary `lst`"],
        ),
        (
            "[{type: ethernet}, {type: ipv4, src: 1.1.1.1, dst: {step: {start: 255.255.255.0, step: 1, count: 257}}}, {type: echo}]",
            ["the last of 257 values does not fit in 32 bits"],
        ),
        (
            "[{type: ethernet}, {type: ipv4, src: 1.1.1.1, dst: {step: {start: 255.255.255.0, step: 1, count: 256}}}, {type: udp, sport: {list: [1, 2, 3]}, dport: 1}], flows: 769",
            ["769 flows, but the headers make only 768"],
        ),
        ("[{type: ethernet}, {type: ipv4, src: 1.1.1.1, dst: 1.1.1.2}, {type: udp, sport: 1}], flows: 1", ["`dport` of `headers` is missing"]),
        ("[{type: ethernet}, {type: ipv4, src: 1.1.1.1, dst: 1.1.1.2}, {type: echo, idd: 1}], flows: 1", ["unknown field `idd`"]),
        ("[{type: ethernet}, {type: ipv4, src: 1.1.1.1, dst: 1.1.1.2}, {type: echo}], ip: 4, flows: 1", ["`ip` beside `headers` says the same thing twice"]),
    ],
)  # fmt: skip
def test_header_stacks_are_checked(headers: str, expected: list[str]) -> None:
    text = changed("small: {size: 64B, flows: 1000}", f"small: {{size: 128B, headers: {headers}}}")
    assert [mistake.split(" ", 1)[1] for mistake in mistakes(text)] == expected


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        ("emulated/router", True),
        ("emulated/bridge", False),
        ("emulated/cross-connect", False),
        ("emulated/asr9006", False),  # its own default is a cross connect
        ("{emulated/asr9006, settings: {forwarding: ipv4}}", True),
    ],
)
@pytest.mark.parametrize("headers", [False, True])
def test_a_router_without_vlans_is_sent_no_tags(kind: str, refused: bool, headers: bool) -> None:
    text = changed("kind: emulated/asr9006", f"kind: {kind.strip('{}')}" + "}" * kind.startswith("{"))
    text = text.replace("  lag: [plain, lacp]\n", "")
    place = "11:22"
    stack = (
        "[{type: ethernet}, {type: vlan, vid: 10}, {type: ipv4, src: 10.0.0.1, dst: 10.0.0.2},"
        " {type: udp, sport: 1, dport: 2}]"
    )
    if headers:
        place, text = "11:50", text.replace("vlan: 10", f"headers: {stack}, flows: 1")
    found = findings(text)
    assert [f"{error.line}:{error.column}" for error in found] == [place] * refused
    if refused:
        assert "`big` have a VLAN tag" in found[0].message
        assert "`emulated/bridge`" in str(found[0].hint)


def test_the_flows_that_lists_and_steps_make_are_counted() -> None:
    stack = (
        "[{type: ethernet}, {type: ipv4, src: 1.1.1.1, dst: {step: {start: 1.0.0.0, step: 1, count: 256}}},"
        " {type: udp, sport: {list: [1, 2, 3]}, dport: 1}]"
    )
    # Both walk with the flow's number: 256 and 3 meet again after 768.
    text = changed("small: {size: 64B, flows: 1000}", f"small: {{size: 128B, flows: 768, headers: {stack}}}")
    assert mistakes(text) == []


def test_a_lab_in_a_file_of_its_own(tmp_path: Path) -> None:
    start, end = WHOLE.index("lab:"), WHOLE.index("traffic:")
    lab = "\n".join(line[2:] for line in WHOLE[start:end].splitlines()[1:]) + "\n"
    (tmp_path / "lab.yaml").write_text(lab)
    text = WHOLE[:start] + "lab: lab.yaml\n" + WHOLE[end:]
    plan = parse(text, base=tmp_path)
    assert plan.lab == parse(WHOLE).lab
    assert plan.included == {"lab.yaml": lab}
    # Resuming finds it in the run's own folder, where nothing from elsewhere can be kept.
    for elsewhere in ("../lab.yaml", str(tmp_path / "lab.yaml")):
        (tmp_path / "plan.yaml").write_text(text.replace("lab: lab.yaml", f"lab: {elsewhere}"))
        with pytest.raises(PlanErrors, check=has_code("not-beside-the-plan")):
            load(tmp_path / "plan.yaml")

    (tmp_path / "lab.yaml").write_text(lab.replace("p1", "p0"))
    with pytest.raises(PlanErrors) as caught:
        parse(text, base=tmp_path)
    assert str(caught.value.errors[0]) == "lab.yaml:6:33: `dut:p0` is linked twice"
    assert mistakes(text) == ["2:6 `lab` must be a mapping or a file, not `lab.yaml`"]

    (tmp_path / "lab.yaml").write_text("")
    assert mistakes(text, tmp_path) == ["2:6 `lab` must be a mapping, not nothing"]
    (tmp_path / "lab.yaml").write_text("nodes: {")
    with pytest.raises(PlanErrors, check=has_code("not-yaml")):
        parse(text, base=tmp_path)


@pytest.mark.parametrize(
    ("text", "begun"),
    [
        ("lab: {kind: linux/router\n  x: 1\n", "line 1, column 6"),
        ("title: t\nsizes: [64, 128\nb: {c: 1}\n", "line 2, column 8"),
        ('title: "x\nlab: 1\n', "line 1, column 8"),
        ("lab:\n  nodes: 1\n dut: 2\n", "line 1, column 1"),
    ],
)
def test_what_is_left_open_is_said_with_where_it_began(text: str, begun: str) -> None:
    with pytest.raises(PlanErrors, check=has_code("not-yaml")) as caught:
        parse(text)
    assert begun in (caught.value.errors[0].hint or "")


def test_a_plan_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PlanErrors) as caught:
        load(tmp_path / "nothing.yaml", shown="nothing.yaml")
    assert str(caught.value.errors[0]) == "nothing.yaml: no such file"
    with pytest.raises(PlanErrors, check=has_code("cannot-read")):
        load(tmp_path)


def test_yaml_is_that_of_today() -> None:
    """YAML 1.2: `on`, `no` and 12:30:45 are text, 010 is ten (examples of the specification, 10.3.2)."""
    text = "a: on\nb: no\nc: 12:30:45\nd: 010\ne: 0o10\nf: 0x88a8\ng: ~\nh: True\ni: 1e3\nj: '1'\nk: 10:20:30:40:50:55\n"
    assert read_text(text, "x").value == {
        "a": "on", "b": "no", "c": "12:30:45", "d": 10, "e": 8, "f": 34984, "g": None, "h": True, "i": 1000.0,
        "j": "1", "k": "10:20:30:40:50:55",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("title: !!python/object/apply:os.system [x]\n", "1:8 the tag `tag:yaml.org,2002:python/object/apply:os.system` means"),
        ("title: !x y\n", "1:8 the tag `!x` means nothing in a plan"),
        ("a: &a [*a]\n", "1:8 `*a` is not defined above"),
        ("a: *b\n", "1:4 `*b` is not defined above"),
        ("[" * 5000, "1:33 nested more than 32 deep"),
        ("a: {" * 5000, "1:128 nested more than 32 deep"),
        ("? [a]\n: b\n", "1:3 a list or a mapping cannot be a key"),
        ("title: x\n---\ntitle: y\n", "2:1 a second document begins here"),
        ("title: 'x\n", "2:1 not YAML: "),
        ("\ttitle: x\n", "1:1 not YAML: "),
        ("title: a: b\n", "1:9 not YAML: mapping values are not allowed"),
        ("load: %80\n", "1:7 not YAML: "),
        ("a: \x00\n", "1:4 not YAML: "),
        ("", "1:1 the plan is empty"),
        ("- a\n", "1:1 a plan is a mapping, not a list"),
    ],
)  # fmt: skip
def test_hostile_and_broken_yaml(text: str, expected: str) -> None:
    (mistake,) = mistakes(text)
    assert mistake.startswith(expected)


def test_a_million_laughs_are_not_laughed() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    began = time.monotonic()
    (mistake,) = mistakes("\n".join(lines))
    assert f"more than {MAX_NODES} values" in mistake
    assert time.monotonic() - began < 60


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(PlanErrors, check=has_code("too-large")):
        load(tmp_path / "plan.yaml")
    (tmp_path / "plan.yaml").write_bytes(b"title: \xff\n")
    with pytest.raises(PlanErrors, check=has_code("not-utf8")):
        load(tmp_path / "plan.yaml")


def test_mistake_in_an_alias_is_reported_at_its_anchor() -> None:
    text = changed("small: {size: 64B, flows: 1000}", "small: &s {size: 64B, flows: 1000}").replace(
        "big: {size: 1518B, vlan: 10}", "big: *s"
    )
    assert parse(text).profiles["big"] == parse(text).profiles["small"]
    assert mistakes(text.replace("64B", "64b")) == [
        "10:20 `64b` is in bits (`b`), and a frame size is in bytes"
    ]


PIECES = [
    "64B", "10Gbps", "0", "-1", "1e9", "~", "[]", "{}", "[[]]", "{a: {}}", "!!x y", "&a", "*a", "'", '"', ":", "- ", "\n",
    "  ", "\t", "%", "100%", "true", "imix/bench", "null", "1/100", "\N{SNOWMAN}", "\x00", "0x", ".inf", ".nan", "? ", "|", ">",
    "<<: *a", "9" * 30, "1518B", "{64: 1}", "{list: []}", "{random: 3}", "vlan: ", "headers: [", "{type: vlan}",
]  # fmt: skip

TEXTS = [WHOLE, *(path.read_text() for path in [*EXAMPLES, *sorted(BROKEN.glob("*.yaml"))])]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(st.sampled_from([*PIECES, ""])) + text[end:]
    return text


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
@example(WHOLE.replace("kind: netdyno", "kind: .nan"))
@example(WHOLE.replace("1000}", "1000, size: 1}"))
@example(WHOLE.replace("lag:", "1:"))
@example(WHOLE.replace("ramp:", "~:", 1))
@example("%YAML 9.9\n---\na: b")
@example('a: "\\UFFFFFFFF"')
@example('"a\\nb": 1')
def test_no_text_makes_a_check_crash(text: str) -> None:
    for error in findings(text):
        assert error.message
        assert 0 < error.line <= text.count("\n") + 2
        assert "\n" not in error.message


@settings(max_examples=examples(100), deadline=None)
@given(st.text(max_size=200))
def test_no_noise_makes_a_check_crash(text: str) -> None:
    with pytest.raises(PlanErrors):
        parse(text)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_are_plans_to_us_and_to_editors(path: Path) -> None:
    plan = load(path, tables=tables())
    assert pickle.loads(pickle.dumps(plan)) == plan
    schema = json_schema(tables())
    jsonschema.Draft202012Validator(schema).validate(YAML(typ="safe").load(path.read_text()))


def test_the_schema_knows_kinds_methods_and_mixes() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    text = json.dumps(schema)
    for name in [*METHODS, *MIXES, "emulated/asr9006", "linux/router"]:
        assert f'"{name}"' in text
    judge = jsonschema.Draft202012Validator(schema)
    whole = YAML(typ="safe").load(WHOLE)
    assert judge.is_valid(whole)
    for spoil in (
        {"titel": "x"},
        {"method": {"rampe": {}}},
        {"method": {"ramp": {"hold": "30"}}},
        {"traffic": {"a": {"size": "64"}}},
        {"traffic": {"a": {"size": "imix/bnch"}}},
        {"scale": "1/0"},
        {"matrix": {"lga": ["plain"]}},
        {"lab": {**whole["lab"], "nodes": {"dut": {"kind": "linux/rooter"}}}},
    ):
        assert not judge.is_valid({**whole, **spoil}), spoil


def test_a_plan_by_itself_names_nothing_it_does_not_need() -> None:
    text = changed(WHOLE[WHOLE.index("matrix:") : WHOLE.index("method:")], "")
    plan = parse(text)
    assert plan.axes == (("profile", ("small", "big")), ("direction", ("uni", "bidir")))
    # RFC 2544 section 23: two seconds before and after.
    assert (plan.trial.settle.ns, plan.trial.drain.ns, plan.trial.sample.ns) == (2 * 10**9, 2 * 10**9, 10**8)
    assert plan.seed == 1


def test_scale_shortens_every_phase() -> None:
    whole = parse(WHOLE)
    plan = parse(changed("method:", "scale: 1/100\nmethod:"))
    assert plan.parameters.ramp.duration.ns * 100 == whole.parameters.ramp.duration.ns
    assert plan.parameters.hold.ns * 100 == whole.parameters.hold.ns
    assert plan.trial.settle.ns * 100 == whole.trial.settle.ns
    assert plan.trial.sample.ns * 100 == whole.trial.sample.ns
    assert plan.trial.resolve == whole.trial.resolve
    assert plan.scale * 100 == whole.scale


DOCUMENT = (HERE.parent / "docs" / "plan.md").read_text()


def test_the_plan_in_the_documentation_is_one() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)
    whole = next(block for block in blocks if block.startswith("title:"))
    assert parse(whole).title == "My router"
    for block in blocks:
        if block.startswith(("only:", "skip:")):
            assert (
                mistakes(
                    changed("big: {size: 1518B, vlan: 10}", "imix: {size: 64B}\n  64b-multi: {size: 64B}")
                    .replace("[small, big]", "[imix, 64b-multi]")
                    .replace("method:", f"{block}method:")
                )
                == []
            )
        if block.startswith("headers:"):
            stack = "\n".join(f"      {line}" for line in block.splitlines())
            assert (
                mistakes(
                    changed(
                        "small: {size: 64B, flows: 1000}",
                        f"small:\n      size: 128B\n      flows: 1000\n{stack}",
                    )
                )
                == []
            )


def test_the_documentation_names_every_field() -> None:
    for model in (PlanFile, Link, LinkVlan, Profile, TrialSettings):
        for field in model.model_fields:
            assert f"`{field}`" in DOCUMENT, field
    for name in [*ADDRESSES, *goal_kinds(METHODS), *DIRECTIONS]:
        assert name in DOCUMENT, name
    units = (HERE.parent / "docs" / "units.md").read_text()
    for mix in MIXES.values():
        assert f"`{mix.name}`" in units
        assert f"{decimal(mix.mean, 4)} B" in units
    for spelling in [*Duration.units, *FrameSize.units]:
        assert f"`{spelling}`" in units
