# ruff: noqa: E501 (mistakes are quoted whole, one a line)
"""A mistake is still reported when another one is made elsewhere: no mistake hides another."""

from __future__ import annotations

import copy
import io
import itertools
import re
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import sampling
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from netdyno.cli.app import main
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from ruamel.yaml import YAML
from sampling import examples

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))

WHOLE = """\
title: Two memifs and two cards
lab:
  nodes:
    tester: {kind: netdyno, workers: 2, cores: [0, 1]}
    dut: {kind: external}
  links:
    - {endpoints: ["tester:a", "dut:1"], rate: 10Gbps, backend: memif, socket: "@one"}
    - {endpoints: ["tester:b", "dut:2"], rate: 10Gbps, backend: memif, socket: "@two"}
    - {endpoints: ["tester:c", "dut:3"], rate: 10Gbps, backend: af_xdp, interface: eth1}
    - {endpoints: ["tester:d", "dut:4"], rate: 10Gbps, backend: af_packet, interface: eth2}
traffic:
  small: {size: 64B, flows: 1000}
  big: {size: 1518B, vlan: 10}
  own: {size: 128B, flows: 1, headers: [{type: ethernet}, {type: ipv4, src: 16.0.0.1, dst: 48.0.0.1}, {type: udp, sport: 7, dport: 7}]}
matrix:
  profile: [small, big, own]
  direction: [uni]
only: [{profile: small}, {profile: [big, own]}]
method:
  ramp: {warmup: 30s at 1kpps, ramp: 120s to 100%, hold: 30s}
trial: {settle: 1s, drain: 1s}
goals: [loss <= 1%]
"""

Mistake = Callable[[Any], object]

MISTAKES: dict[str, tuple[Mistake, str]] = {
    "core twice": (lambda p: p["lab"]["nodes"]["tester"].update(cores=[0, 0, 99]), "a core is named twice"),
    "workers type": (lambda p: p["lab"]["nodes"]["tester"].update(workers="two"), "`workers` must be a whole number"),
    "tester's settings": (lambda p: p["lab"]["nodes"]["tester"].update(settings={"x": 1}), "the tester has no settings"),
    "device's cores": (lambda p: p["lab"]["nodes"]["dut"].update(cores=[1]), "a device has no `cores`"),
    "device's setting": (lambda p: p["lab"]["nodes"]["dut"].update(settings={"lag": "plain"}), "has no setting `lag`"),
    "settings type": (lambda p: p["lab"]["nodes"]["dut"].update(settings=[1]), "`settings` must be a mapping"),
    "attach on memif": (lambda p: p["lab"]["links"][0].update(attach="native"), "`attach` is AF_XDP's"),
    "interface on memif": (lambda p: p["lab"]["links"][0].update(interface="eth9"), "a memif is no interface"),
    "socket twice": (lambda p: p["lab"]["links"][1].update(socket="@one"), "memif 0 at `@one` is used twice"),
    "id type": (lambda p: p["lab"]["links"][1].update(mode=3), "`mode` cannot be `3`"),
    "socket on af_xdp": (lambda p: p["lab"]["links"][2].update(socket="@three"), "`socket` is a memif's"),
    "interface twice": (lambda p: p["lab"]["links"][2].update(interface="eth2"), "interface `eth2` is used twice"),
    "link's rate": (lambda p: p["lab"]["links"][2].update(rate="ten"), "`ten` is not a"),
    "unknown backend": (lambda p: p["lab"]["links"][3].update(backend="dpdk"), "`backend` cannot be `dpdk`"),
    "unknown node": (lambda p: p["lab"]["links"][3].update(endpoints=["tester:d", "dat:4"]), "`dat` is not a node"),
    "linked twice": (lambda p: p["lab"]["links"][1].update(endpoints=["tester:b", "dut:1"]), "`dut:1` is linked twice"),
    "gateway alone": (lambda p: p["lab"]["links"][0].update(gateway="10.0.0.1"), "the tester has no address to ask for the gateway from"),
    "unknown field": (lambda p: p["traffic"]["small"].update(flow=1), "unknown field `flow`"),
    "too small": (lambda p: p["traffic"]["big"].update(size="64B"), "frames of 64B are too small"),
    "flows": (lambda p: p["traffic"]["own"].update(flows=2), "2 flows, but the headers make only 1"),
    "said twice": (lambda p: p["traffic"]["own"].update(ip=4), "`ip` beside `headers`"),
    "IP versions": (lambda p: p["traffic"]["small"].update(ip=6, addresses="trex"), "the addresses are IPv4"),
    "no profile": (lambda p: p["matrix"].update(profile=["small", "huge"]), "unknown profile `huge`"),
    "no direction": (lambda p: p["matrix"].update(direction=["both"]), "`direction` cannot be `both`"),
    "no axis": (lambda p: p["matrix"].update(lags=["plain"]), "unknown axis `lags`"),
    "filter": (lambda p: p.update(only=[{"profile": "none"}]), "`none` is not on the axis `profile`"),
    "filter type": (lambda p: p.update(skip=7), "`skip` must be a list"),
    "over the line": (lambda p: p["method"]["ramp"].update(ramp="120s to 20Mpps"), "a load of 20Mpps"),
    "over 100 %": (lambda p: p["method"]["ramp"].update(ramp="120s to 120%"), "is more than the line carries"),
    "parameter": (lambda p: p["method"]["ramp"].update(holds="1s"), "unknown field `holds`"),
    "parameter type": (lambda p: p["method"]["ramp"].update(hold=30), "`30`"),
    "samples": (lambda p: p["trial"].update(sample="10us"), "are more than 2000000"),
    "trial type": (lambda p: p["trial"].update(verify="maybe"), "`verify` must be `true` or `false`"),
    "goal": (lambda p: p.update(goals=["speed > 1"]), "there is no value `speed`"),
    "seed": (lambda p: p.update(seed=-1), "`seed` cannot be `-1`"),
    "scale": (lambda p: p.update(scale=2), "`2` is not a scale"),
    "title": (lambda p: p.pop("title"), "`title` is missing"),
}  # fmt: skip
"""A mistake in the plan above, and what is said of it."""


def plan() -> Any:
    return YAML(typ="safe").load(WHOLE)


def written(value: Any) -> str:
    stream = io.StringIO()
    yaml = YAML(typ="safe")
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[attr-defined]
    yaml.dump(value, stream)
    return stream.getvalue()


def said(value: Any) -> tuple[str, ...]:
    try:
        parse(written(value))
    except PlanErrors as found:
        return tuple(str(error) for error in found.errors)
    return ()


def test_the_plan_itself_is_right() -> None:
    assert said(plan()) == ()


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_is_reported(name: str) -> None:
    change, expected = MISTAKES[name]
    wrong = plan()
    change(wrong)
    assert any(expected in error for error in said(wrong)), said(wrong)


CASES = ("filter", "filter type", "no profile")
"""Which cases there are is not known then, and so not whether a load is above the line of one."""

DEPENDENT = {
    frozenset(pair)
    for pair in (
        ("over the line", "over 100 %"),  # the same value
        *(("over the line", about) for about in CASES),
        ("samples", "parameter type"),  # how long the trial is
        ("samples", "scale"),
        ("flows", "said twice"),  # what the headers are
        ("device's setting", "settings type"),  # the same value
    )
}


def hidden(*made: str) -> list[str]:
    """Those of some mistakes that are not told when all of them are made."""
    wrong = plan()
    for name in made:
        MISTAKES[name][0](wrong)
    found = said(wrong)
    return [name for name in made if not any(MISTAKES[name][1] in error for error in found)]


PAIRS = [pair for pair in itertools.combinations(MISTAKES, 2) if frozenset(pair) not in DEPENDENT]


@settings(max_examples=len(PAIRS) if sampling.WHOLE else 12, deadline=None)
@given(st.sampled_from(PAIRS))
def test_two_mistakes_are_both_reported(pair: tuple[str, str]) -> None:
    assert not hidden(*pair)


def test_all_mistakes_are_reported_at_once() -> None:
    left = list(MISTAKES)
    for pair in DEPENDENT:
        if pair <= set(left):
            # The reported one is left out, so that the other is reported.
            left.remove(
                next(
                    name
                    for name in MISTAKES
                    if name in pair and name not in ("over the line", "samples", "flows")
                )
            )
    assert not hidden(*left)


# Any plan that a slip of the hand, or a hostile one, can make of an example.

EXTREME: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**400, -(10**30), 0.5, 1e308, -0.0, float("nan"), float("inf"),
    "", " ", "~", "0", "-1", "1e400%", "NaN%", "9" * 5000 + "Gbps", "100%", "0%", "1/0", "1/3", "64B", "0B", "65535B",
    "10Gbps", "0bps", "1e9Gbps", "1s", "0s", "1e300h", "1ns", "::1", "0.0.0.0/0", "::/0", "10.0.0.1/33", "@", "/", "@" + "x" * 200,
    "\u0000", "\u202e", "\U0001f4a9", "\ufeff", "a" * 5000, "\x1b[31m", "tester:west", "dut:p0", ":", "imix", "netdyno", "external",
    [], [[]], {}, {"": ""}, [None], {"random": {"min": 0, "max": 2**70}}, {"step": {"start": 0, "step": 0, "count": 2**32}}, {64: 1},
]  # fmt: skip


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": [value]}
    return value


DEEPEST = 20
"""Levels of a tree that slips happen in: each may double its depth, which Python's own recursion would not bear."""


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if len(here) == DEEPEST:
        return [here]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(place for key, part in items for place in places(part, (*here, key)))]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """An example after one to six slips, as YAML."""
    tree = copy.deepcopy(TREES[draw(st.sampled_from(sorted(TREES)))])
    for _ in range(draw(st.integers(1, 6))):
        inner = [place for place in places(tree) if place]
        if not inner:
            break
        *above, last = draw(st.sampled_from(inner))
        owner = tree
        for part in above:
            owner = owner[part]
        other = tree
        for part in draw(st.sampled_from(inner)):
            other = other[part]
        match draw(
            st.sampled_from(["drop", "extreme", "other", "double", "rename", "nest", "text", "alias"])
        ):
            case "drop":
                del owner[last]
            case "extreme":
                owner[last] = copy.deepcopy(draw(st.sampled_from(EXTREME)))
            case "other":
                owner[last] = copy.deepcopy(other)
            case "double" if isinstance(owner, list):
                owner.insert(last, copy.deepcopy(owner[last]))
            case "rename" if isinstance(owner, dict):
                owner[draw(st.sampled_from([*list(owner), "x", "", 7, "ram", "links", "\U0001f4a9"]))] = (
                    owner.pop(last)
                )
            case "nest":
                owner[last] = nested(draw(st.integers(1, 40)))
            case "alias" if isinstance(other, dict | list):
                # The same object twice: written as an anchor and an alias.
                shared = copy.deepcopy(other)
                owner[last] = [shared, shared]
            case _:
                owner[last] = draw(st.text(max_size=30))
    return written(tree)


TREES = {path.name: YAML(typ="safe").load(path.read_text()) for path in EXAMPLES} | {"whole": plan()}


@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated())
def test_a_mutated_example_is_a_plan_or_has_mistakes_with_places(text: str) -> None:
    try:
        parse(text)
    except PlanErrors as found:
        for error in found.errors:
            assert error.line >= 1, error
            assert error.column >= 1, error
            assert error.line <= text.count("\n") + 1, error
            assert 0 < len(error.message) < 1000, error


@settings(max_examples=examples(80), deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated(), st.data())
def test_what_the_command_line_makes_of_it(text: str, data: st.DataObject) -> None:
    """Characters go missing, double and change too: exit 0, or 2 and each mistake with its place."""
    characters = list(text)
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, max(len(characters) - 1, 0)))
        characters[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from(["", "\t", "&a ", "*a", "{", "]", "- ", ": ", "!!x ", "\ud83d", "\x00", "---\n"])
        )
    with TemporaryDirectory() as folder:
        file = Path(folder, "mutant.yaml")
        file.write_bytes("".join(characters).encode(errors="surrogatepass"))
        code, said = checked(file)
        assert code in (0, 2), (code, said)
        assert "Traceback" not in said
        if code == 2:
            mistakes = [line for line in said.splitlines() if line.startswith("error: ")]
            assert mistakes, said
            for line in mistakes:
                assert re.match(rf"error: {re.escape(str(file))}:[0-9]+:[0-9]+: .", line), said


def checked(file: Path) -> tuple[int, str]:
    """`netdyno check` in this process: its exit code and all it says."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["netdyno", "check", str(file)])
        with pytest.raises(SystemExit) as ended:
            main()
    assert isinstance(ended.value.code, int)
    return ended.value.code, out.getvalue() + err.getvalue()
