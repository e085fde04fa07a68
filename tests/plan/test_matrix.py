"""Cases: which, in what order, called what, with which seed and which lines."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from netdyno.plan import Plan, load, parse
from netdyno.plan.matrix import case_seed, cases, situation

ARTICLE = Path(__file__).parents[2] / "examples" / "asr9006.yaml"


def plan(**extra: str) -> Plan:
    text = ARTICLE.read_text()
    return parse(text + "".join(f"\n{field}: {value}\n" for field, value in extra.items()))


def test_the_article_has_48_cases() -> None:
    found = cases(load(ARTICLE))
    assert len(found) == 48
    assert len({case.name for case in found}) == 48
    assert len({case.seed for case in found}) == 48
    assert [case.number for case in found] == list(range(48))
    # The last axis changes fastest.
    assert [case.name for case in found[:3]] == [
        "l2-xconnect / plain / 1514b / uni",
        "l2-xconnect / plain / 1514b / bidir",
        "l2-xconnect / plain / imix / uni",
    ]
    assert found[-1].name == "ipv4 / lacp / 64b-single / bidir"
    settings = found[-1].settings
    assert (settings["forwarding"], settings["lag"]) == ("ipv4", "lacp")
    assert (found[-1].profile_name, found[-1].direction) == ("64b-single", "bidir")


def test_filters_keep_and_leave_out() -> None:
    kept = cases(plan(only="[{lag: plain, profile: [imix, 1514b]}, {forwarding: ipv4, profile: imix}]"))
    names = {case.name for case in kept}
    assert len(names) == 3 * 1 * 2 * 2 + 1 * 1 * 1 * 2
    assert "ipv4 / lacp / imix / uni" in names
    assert "ipv4 / lacp / 1514b / uni" not in names
    left = cases(plan(skip="[{direction: bidir}]"))
    assert [case.direction for case in left] == ["uni"] * 24


def test_case_in_any_matrix_keeps_its_seed() -> None:
    # printf '1/imix / uni' | sha256sum | cut -c1-16
    assert case_seed(1, "imix / uni") == 0xC88D43AD8DE93B20 >> 1
    all_cases = {case.name: case.seed for case in cases(plan())}
    some = {case.name: case.seed for case in cases(plan(skip="[{direction: uni}]"))}
    assert some.items() <= all_cases.items()
    assert all(0 <= seed < 2**63 for seed in all_cases.values())
    other = {case.name: case.seed for case in cases(plan(seed="2"))}
    assert not set(other.values()) & set(all_cases.values())


def test_the_situation_of_a_case() -> None:
    """14,880,952 frames/s a 10G line, twice that a group of two; one flow meets one member."""
    the_plan = plan()
    found = {
        case.name: situation(case, the_plan.kind.wire(the_plan.lab.links, case.settings))
        for case in cases(the_plan)
    }
    plain = found["ipv4 / plain / 64b-single / uni"]
    assert plain.streams == ("west-east",)
    assert plain.line_fps == Fraction(312_500_000, 21)
    assert plain.flow_ceiling_fps is None
    group = found["ipv4 / lacp / 64b-single / bidir"]
    assert group.streams == ("west-east", "east-west")
    assert group.line_fps == Fraction(625_000_000, 21)
    assert group.flow_ceiling_fps == Fraction(312_500_000, 21)
    assert found["ipv4 / lacp / 64b-multi / uni"].flow_ceiling_fps is None
    imix = found["ipv4 / plain / imix / uni"]
    assert imix.mean_size == Fraction(725, 2)
    assert round(imix.line_fps) == 3_267_974


def test_settings_are_defaults_then_lab_then_case() -> None:
    text = ARTICLE.read_text()
    text = text.replace(
        "kind: emulated/asr9006}", "kind: emulated/asr9006, settings: {forwarding: ipv4, lag: lacp}}"
    )
    fixed = parse(text.replace("  forwarding: [l2-xconnect, bridge-domain, ipv4]\n", ""))
    assert {case.settings["forwarding"] for case in cases(fixed)} == {"ipv4"}
    assert {case.settings["lag"] for case in cases(fixed)} == {"plain", "lacp"}
    plain = parse(ARTICLE.read_text().replace("  lag: [plain, lacp]\n", ""))
    assert {case.settings["lag"] for case in cases(plain)} == {"plain"}
    assert cases(plain)[0].name == "l2-xconnect / 1514b / uni"


def test_the_other_way_round() -> None:
    text = ARTICLE.read_text().replace("direction: [uni, bidir]", "direction: [uni-reverse]")
    reverse = parse(text)
    case = cases(reverse)[0]
    assert situation(case, reverse.kind.wire(reverse.lab.links, case.settings)).streams == ("east-west",)


def test_repeats_are_in_turns_and_send_the_same_frames() -> None:
    """All cases once, then all again: what drifts meets them alike (ABAB)."""
    once, found = cases(plan()), cases(plan(repeat="3"))
    assert [case.number for case in found] == list(range(3 * 48))
    assert [case.name for case in found] == [case.name for case in once] * 3
    assert [case.repeat for case in found] == [1] * 48 + [2] * 48 + [3] * 48
    assert [case.seed for case in found] == [case.seed for case in once] * 3
    assert found[0] == once[0]
    assert found[48].title == f"{once[0].name} (repeat 2)"


def test_repeats_may_have_frames_of_their_own() -> None:
    once, found = cases(plan()), cases(plan(repeat="{count: 2, seeds: each}"))
    assert [case.seed for case in found[:48]] == [case.seed for case in once]
    assert len({case.seed for case in found}) == 2 * 48
