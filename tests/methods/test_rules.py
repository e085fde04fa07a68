"""The table of the standards' rules, against the numbers of the standards' texts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from netdyno.campaign.reasons import REASONS
from netdyno.methods import METHODS
from netdyno.methods.parts.rules import RULES, Conditions, MethodFacts, Rule, deviations
from netdyno.methods.reasons.deviations import LeftOut, NotTested, OtherThanRule, OutsideRule, Rehearsal
from netdyno.store.codec import decode_reason
from netdyno.values.reason import Reason, encode
from netdyno.values.situation import Situation

LINE = Situation(("a-b",), Fraction(1000), Fraction(64))
MIXED = replace(LINE, mixed_receivers=(1,))
SECOND = 1_000_000_000
TWO_SECONDS = Fraction(2 * SECOND)

MUST = {
    # RFC 2544 section 23, phases b, d and e.
    ("throughput", "RFC 2544 section 23 phase b"): 2 * SECOND,
    ("throughput", "RFC 2544 section 23 phase d"): 2 * SECOND,
    ("throughput", "RFC 2544 section 23 phase e"): 5 * SECOND,
    # Section 26.2: "The test MUST be repeated at least 20 times".
    ("latency", "RFC 2544 section 26.2"): 20,
    # Section 26.5: "at a rate 110% of the recorded throughput rate or the maximum rate [...] for at least 60
    # seconds".
    ("recovery", "RFC 2544 section 26.5"): (60 * SECOND, Fraction(110, 100)),
    # RFC 6201 section 4: at least 15 seconds of traffic without loss before the reset.
    ("reset", "RFC 6201 section 4"): 15 * SECOND,
    # RFC 9004 section 6.2: a waiting time of at least 2 seconds.
    ("back-to-back", "RFC 9004 section 6.2"): 2 * SECOND,
    # RFC 8219 section 7.3.1: at least 20 times.
    ("delay-variation", "RFC 8219 section 7.3"): 20,
}
SHOULD = {
    ("throughput", "RFC 2544 section 24"): 60 * SECOND,
    ("frame-loss", "RFC 2544 section 24"): 60 * SECOND,
    ("bisection", "RFC 2544 section 24"): 60 * SECOND,
    # Section 26.2: streams of at least 120 seconds, a tag after 60 seconds.
    ("latency", "RFC 2544 section 26.2"): (120 * SECOND, 60 * SECOND),
    ("latency", "RFC 8219 section 7.2"): 500,
    ("back-to-back", "RFC 2544 section 26.4"): 50,
    # "a number of times": more than once.
    ("recovery", "RFC 2544 section 26.5"): 2,
    ("reset", "RFC 6201 section 4"): 64,
    ("RFC 2544", "RFC 2544 section 9"): 5,
    ("RFC 2544", "RFC 2544 section 12"): 256,
    ("delay-variation", "RFC 8219 section 7.3"): 60 * SECOND,
    ("microburst", "RFC 8239 section 1.2"): 2,
    # RFC 2889: "a 30-second trial duration is recommended".
    ("congestion", "RFC 2889 section 5.5.2"): 30 * SECOND,
    ("max-forwarding-rate", "RFC 2889 section 5.6.2"): 30 * SECOND,
    ("errored-frames", "RFC 2889 section 5.9.2"): (30 * SECOND, 2),
    ("broadcast", "RFC 2889 section 5.10.2"): 30 * SECOND,
    # "the test duration SHOULD be at least 30 seconds".
    ("rfc6349", "RFC 6349 section 3.3.1"): 30 * SECOND,
    ("y1564", "ITU-T Y.1564"): 900 * SECOND,
}


def bounds(applies_to: str, section: str, *, should: bool) -> Any:
    """The bounds of the table's rules of one section: one number, or several."""
    found = [
        one.bound
        for one in RULES[applies_to]
        if isinstance(one, Rule) and (one.section, one.should) == (section, should)
    ]
    return found[0] if len(found) == 1 else tuple(found)


@pytest.mark.parametrize(("rule", "bound"), MUST.items())
def test_required_number_is_that_of_the_standard(rule: tuple[str, str], bound: Any) -> None:
    assert bounds(*rule, should=False) == bound


@pytest.mark.parametrize(("rule", "bound"), SHOULD.items())
def test_recommended_number_is_that_of_the_standard(rule: tuple[str, str], bound: Any) -> None:
    assert bounds(*rule, should=True) == bound


def test_each_number_of_the_table_is_checked_here() -> None:
    waits = "RFC 2544 section 23 "
    for should, known in ((False, MUST), (True, SHOULD)):
        table = {
            (name, one.section)
            for name, those in RULES.items()
            for one in those
            if isinstance(one, Rule) and one.should == should
            if name == "throughput" or not one.section.startswith(waits)
        }
        assert table == set(known)


def test_rules_apply_to_methods_that_exist() -> None:
    names = {name.partition(",")[0] for name in RULES} - {"RFC 2544"}
    assert names <= set(METHODS)
    assert {one.conditions for one in METHODS.values()} == {None, "RFC 2544"}


METHOD_RULES = [name for name in RULES if name in METHODS and name != "rfc2544"]


@pytest.mark.parametrize("name", METHOD_RULES)
def test_default_parameters_deviate_only_where_nothing_can_be_tested(name: str) -> None:
    found = deviations(name, METHODS[name].parameters(), LINE)
    assert all(isinstance(one, NotTested) for one in found["compliance"])
    assert found["recommended"] == ()


@pytest.mark.parametrize(
    ("name", "asked", "required", "recommended"),
    [
        ("latency", {"repeats": 19}, [19], []),
        ("latency", {"duration": "119s", "after": "59s"}, [], [119 * SECOND, 59 * SECOND]),
        ("recovery", {"overload": "59999ms"}, [59_999_000_000], []),
        ("recovery", {"share": "120%"}, [Fraction(6, 5)], []),
        ("recovery", {"repeats": 1}, [], [1]),
        ("reset", {"before": "14s"}, [14 * SECOND], []),
        ("frame-loss", {"maximum": "50%"}, [], ["50%"]),
        ("frame-loss", {"maximum": "1kpps", "duration": "59s"}, [], [59 * SECOND, "1kpps"]),
        ("back-to-back", {"quiet": "1s", "repeats": 49}, [SECOND], [49]),
        ("delay-variation", {"repeats": 19, "duration": "59s"}, [19], [59 * SECOND]),
        ("microburst", {"repeats": 1}, [], [1]),
        ("congestion", {"load": "90%", "duration": "29s"}, [], [29 * SECOND, "90%"]),
        ("max-forwarding-rate", {"duration": "29s"}, [], [29 * SECOND]),
        ("broadcast", {"duration": "29s"}, [], [29 * SECOND]),
        ("bisection", {"duration": "59s"}, [], [59 * SECOND]),
        ("throughput", {"duration": "59s"}, [], [59 * SECOND]),
        ("y1564", {"performance": "899s"}, [], [899 * SECOND]),
        ("address-caching", {"forget": True}, [], ["a request to the device"]),
        ("address-learning-rate", {"forget": True}, [], ["a request to the device"]),
    ],
)
def test_parameter_outside_a_rule_is_a_deviation(
    name: str, asked: dict[str, Any], required: list[object], recommended: list[object]
) -> None:
    parameters = METHODS[name].parameters.model_validate(asked)
    both = deviations(name, parameters, LINE)
    for found, wanted, is_required in (
        (both["compliance"], required, True),
        (both["recommended"], recommended, False),
    ):
        assert all(isinstance(one, OutsideRule | OtherThanRule) for one in found)
        assert [one.fields()["is_required"] for one in found] == [is_required] * len(wanted)
        assert [one.found for one in found if isinstance(one, OutsideRule | OtherThanRule)] == wanted


def test_mix_of_sizes_deviates_for_bursts_and_microbursts() -> None:
    forbidden = deviations("back-to-back", METHODS["back-to-back"].parameters(), MIXED)["compliance"]
    advised = deviations("microburst", METHODS["microburst"].parameters(), MIXED)["recommended"]
    sections = [one.section for one in (*forbidden, *advised) if isinstance(one, OtherThanRule)]
    assert sections == ["RFC 9004 section 3", "RFC 8239 section 3"]


def test_larger_frames_than_the_smallest_deviate_for_a_reset() -> None:
    larger = replace(LINE, mean_size=Fraction(65))
    (large,) = deviations("reset", METHODS["reset"].parameters(), larger)["recommended"]
    assert isinstance(large, OutsideRule)
    assert (large.found, large.bound, large.relation) == (65, 64, "at most")


def test_plan_with_all_conditions_deviates_in_nothing() -> None:
    found = deviations("RFC 2544", Conditions(5, (), True, 256, True, True))
    assert found == {"compliance": (), "recommended": ()}


@pytest.mark.parametrize(("has_cause", "cause"), [(True, LeftOut()), (False, None)])
def test_deviation_names_what_was_seen_only_where_it_follows(has_cause: bool, cause: Reason | None) -> None:
    facts = MethodFacts(METHODS["throughput"].parameters(duration="1s"), LINE, (), LeftOut())
    found = Rule("length", "duration", 60 * SECOND, "ns", "S", has_cause=has_cause).deviation(facts)
    assert isinstance(found, OutsideRule)
    assert found.cause == cause


def test_only_the_length_of_trials_is_explained_by_what_was_seen() -> None:
    assert [
        one.section for rules in RULES.values() for one in rules if isinstance(one, Rule) and one.has_cause
    ] == ["RFC 2544 section 24"]


def test_tests_left_out_of_the_suite_are_required() -> None:
    required = deviations("rfc2544", {"reset": LeftOut()})["compliance"]
    assert required == (NotTested("reset", LeftOut(), "RFC 2544 section 26", True),)


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (
            OutsideRule("wait", Fraction(1_999_999_999), "at least", TWO_SECONDS, "ns", "S", True, None),
            "wait is 1.99 s; S requires at least 2 s",
        ),
        (
            OutsideRule("overload", Fraction(6, 5), "exactly", Fraction(11, 10), "share", "S", True, None),
            "overload is 120 %; S requires 110 %",
        ),
        (
            OutsideRule("frame size", Fraction(128), "at most", Fraction(64), "B", "S", False, None),
            "frame size is 128 B; S recommends at most 64 B",
        ),
        (
            OtherThanRule("source", "the plan", "a measurement", "S", True),
            "source is the plan; S requires a measurement",
        ),
        (NotTested("reset", LeftOut(), "S", True), "not tested: reset (left out by the plan); S requires it"),
        (NotTested("filters", None, "S", False), "not tested: filters; S recommends it"),
        (
            Rehearsal(Fraction(1, 20), 10**7),
            "rehearsal, not a benchmark: every duration is 1/20 of what the plan says"
            " (the drain only to 10 ms)",
        ),
    ],
)  # fmt: skip
def test_deviation_reads_and_returns_from_the_store(reason: Reason, sentence: str) -> None:
    assert str(reason) == sentence
    assert decode_reason(encode(reason), REASONS) == reason
