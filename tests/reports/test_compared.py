"""Comparisons: which differences are shown, why others are not, and what is worse than a limit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from compared import Sample, compare, run_of, sample
from kinds import kind
from netdyno.methods import METHODS
from netdyno.reports.figures import boxes
from netdyno.reports.model.compared import ONE_EACH, Comparison
from netdyno.reports.model.comparison_screen import screen, shown_text
from netdyno.reports.model.run_set import RunSet
from netdyno.reports.model.sides import DEFAULT, conditions, short_names
from netdyno.reports.model.view import RunView
from words import said

RATES = (4_990_000, 5_000_000, 5_010_000, 5_005_000, 4_995_000)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return sample(tmp_path_factory.mktemp("small"))


def times(factor: str) -> list[Fraction]:
    return [rate * Fraction(factor) for rate in RATES]


def outcome(found: Comparison) -> tuple[str, str]:
    (row,) = found.rows
    (change,) = row.changes
    return change.outcome, change.why


def test_lower_rates_are_worse_and_higher_ones_better(case: Sample) -> None:
    first = run_of(case, *RATES)
    assert outcome(compare(first, run_of(case, *times("0.97")))) == ("worse", "")
    assert outcome(compare(first, run_of(case, *times("1.03")))) == ("better", "")
    assert outcome(compare(first, run_of(case, *times("1.0001")))) == ("none shown", "")


def test_what_would_have_been_shown_is_shown_and_less_is_not(case: Sample) -> None:
    first = run_of(case, *RATES)
    (row,) = compare(first, run_of(case, *times("1.0001"))).rows
    would = row.changes[0].would
    assert would is not None
    for factor, wanted in ((Fraction("1.05"), "better"), (Fraction("0.95"), "none shown")):
        second = run_of(case, *(rate + would * factor for rate in RATES))
        assert outcome(compare(first, second))[0] == wanted


def test_of_many_cases_one_that_chance_explains_is_not_shown(case: Sample) -> None:
    """A p of 2 % is a difference of one case, and none of twelve."""
    shift = 13_500
    same = {f"p{number}": RATES for number in range(11)}
    first = run_of(case, cases={"64b": RATES, **same})
    second = run_of(case, cases={"64b": [rate + shift for rate in RATES], **same})
    alone = compare(run_of(case, *RATES), run_of(case, *(rate + shift for rate in RATES)))
    (row,) = alone.rows
    assert row.changes[0].chance == pytest.approx(0.0267, abs=0.001)
    assert outcome(alone)[0] == "better"
    together = compare(first, second)
    assert {change.outcome for row in together.rows for change in row.changes} == {"none shown"}


@pytest.mark.parametrize(
    ("second", "why"),
    [
        ({"sizes": ((128, 1),)}, "64 B against 128 B"),
        ({"headers": ("ethernet", "ipv6", "udp")}, "ethernet/ipv4/udp against ethernet/ipv6/udp"),
        ({"burst": 32}, "64 B against 64 B, in bursts of 32"),
        ({"result": None}, "no number in B"),
    ],
)
def test_what_cannot_be_compared_says_why(case: Sample, second: dict[str, object], why: str) -> None:
    first = run_of(case, *RATES)
    first = replace(
        first,
        cases=tuple(
            replace(one, headers=("ethernet", "ipv4", "udp"), sizes=((64, 1),)) for one in first.cases
        ),
    )
    other = replace(first, cases=tuple(replace(one, **second) for one in first.cases))  # type: ignore[arg-type]
    assert outcome(compare(first, other)) == ("not compared", why)


def test_two_full_lines_are_not_compared_and_within_any_limit(case: Sample) -> None:
    first = run_of(case, 5_000_000, limit="line")
    found = compare(first, first, limit="0.02")
    assert outcome(found) == ("not compared", "full line in both")
    assert found.verdict == "within"


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [("0.95", "worse"), ("0.98", "cannot tell"), ("0.99", "within"), ("1", "within"), ("1.1", "within")],
)
def test_worse_than_a_limit(case: Sample, factor: str, verdict: str) -> None:
    assert compare(run_of(case, *RATES), run_of(case, *times(factor)), limit="0.02").verdict == verdict


def test_a_case_that_one_side_lacks_leaves_the_limit_open(case: Sample) -> None:
    first = run_of(case, cases={"64b": RATES, "512b": RATES})
    found = compare(first, run_of(case, cases={"64b": RATES}), limit="0.02")
    assert (found.verdict, found.only) == ("cannot tell", {"A": 1})


def test_single_searches_are_compared_by_their_brackets_and_say_so(case: Sample) -> None:
    first, second = run_of(case, 5_000_000, bracket=10_000), run_of(case, 4_800_000, bracket=10_000)
    found = compare(first, second, limit="0.02")
    (row,) = found.rows
    assert row.changes[0].chance is None
    assert shown_text(row, row.changes[0]).startswith("worse, ")
    assert found.verdict == "worse"


def test_single_counted_rates_differ_from_a_tenth_on(case: Sample) -> None:
    """The bounds of a ramp's best rate are a frame apart, and no bracket. RFC 8239: a steady device spreads
    by a tenth at the most."""

    def ramp(rate: int) -> RunView:
        return run_of(case, rate, bracket=10, name="ramp max Rx")

    near, far = (compare(ramp(5_000_000), ramp(rate), limit="0.02") for rate in (4_800_000, 500_000))
    assert (outcome(near)[0], near.verdict) == ("none shown", "cannot tell")
    assert (outcome(far)[0], far.verdict) == ("worse", "worse")
    assert compare(ramp(5_000_000), ramp(5_000_000), limit="0.02").verdict == "within"
    repeats = [run_of(case, *times(factor), bracket=10, name="ramp max Rx") for factor in ("1", "0.96")]
    assert outcome(compare(*repeats))[0] == "worse"


def test_change_of_more_than_all_is_no_bound_of_what_would_show(case: Sample) -> None:
    """Two repeats a side have Student's t of 4.3 and more at two degrees of freedom: here some 250 %."""
    (row,) = compare(run_of(case, 1_000_000, 3_000_000), run_of(case, 3_100_000, 1_100_000)).rows
    assert row.changes[0].would is not None
    assert row.changes[0].would > row.sides[0].mean
    assert shown_text(row, row.changes[0]) == "no"


def test_equal_repeats_differ_by_any_change(case: Sample) -> None:
    first, second = run_of(case, *[5_000_000] * 5), run_of(case, *[4_990_000] * 5)
    found = compare(first, second, limit="0.02")
    assert (outcome(found)[0], found.verdict) == ("worse", "within")
    assert compare(first, first, limit="0.02").verdict == "within"
    assert compare(first, run_of(case, *[500_000] * 5), limit="0.02").verdict == "worse"


def test_three_sides_are_compared_with_the_first(case: Sample) -> None:
    found = compare(*(run_of(case, *times(factor)) for factor in ("1", "0.9", "1.1")))
    (row,) = found.rows
    assert [change.outcome for change in row.changes] == ["worse", "better"]
    assert len(set(screen(found).grid.headings)) == len(screen(found).grid.headings)


def losing(case: Sample, *frames: int, of: int = 1000) -> RunView:
    """A run that lost so many frames in each repeat."""
    run = run_of(case, *frames)
    found = []
    for one, lost in zip(run.cases, frames, strict=True):
        assert one.result is not None
        loss = kind("frame loss rate", "ratio")
        value = replace(one.result.values[0], kind=loss, number=Fraction(lost, of), of_frames=of)
        result = replace(one.result, values=(value,), headlines=(loss.name,))
        found.append(replace(one, result=result))
    return replace(run, cases=tuple(found))


def test_frames_that_one_trial_lost_say_nothing_of_the_next(case: Sample) -> None:
    assert outcome(compare(losing(case, 3), losing(case, 100))) == ("not compared", ONE_EACH)


def test_repeats_that_all_lose_nothing_are_known_to_their_frames(case: Sample) -> None:
    """Of no frame of 3,000 at most 0.12 % are lost (Clopper and Pearson)."""
    found = compare(losing(case, 0, 0, 0), losing(case, 0, 0, 0), limit="0.02")
    (row,) = found.rows
    assert (outcome(found)[0], found.verdict) == ("none shown", "within")
    assert row.changes[0].would == pytest.approx(Fraction(123, 100_000), rel=0.01)


def test_a_loss_that_is_shown_is_beyond_any_limit(case: Sample) -> None:
    found = compare(losing(case, 0, 0, 0, 0), losing(case, 10, 12, 9, 11), limit="0.02")
    assert (outcome(found)[0], found.verdict) == ("worse", "worse")


@pytest.mark.parametrize(
    "name", ["reordered", "back-to-back frames", "loss at the uncongested port", "buffer"]
)
def test_every_value_of_a_device_has_a_better_direction(name: str) -> None:
    kinds = {one.name: one for method in METHODS.values() for one in method.values}
    assert {kinds[name].better for name in ("reordered", "loss at the uncongested port", "latency")} == {
        "less"
    }
    assert {kinds[name].better for name in ("back-to-back frames", "buffer", "throughput")} == {"more"}
    unknown = [one.name for one in kinds.values() if one.about == "device" and not one.better]
    assert unknown == ["line utilisation"]


def test_a_throughput_that_later_trials_refute_is_no_number(case: Sample) -> None:
    first = run_of(case, 5_000_000, bracket=10_000)
    (one,) = first.cases
    assert one.result is not None
    value = replace(
        one.result.values[0],
        low=Fraction(0),
        high=Fraction(149_000),
        searched=True,
        contradicted=said("later"),
    )
    refuted = replace(first, cases=(replace(one, result=replace(one.result, values=(value,))),))
    found = compare(first, refuted, limit="0.02")
    (row,) = found.rows
    assert outcome(found) == ("not compared", "contradicted in B")
    assert found.verdict == "cannot tell"
    assert row.texts[1] == "< 149 kpps *"
    sound = replace(refuted, cases=(one, replace(refuted.cases[0], number=1, repeat=2)))
    (row,) = compare(first, sound).rows
    assert row.sides[1].limits == ("contradicted", "device")


def test_repeats_that_failed_leave_a_limit_open(case: Sample) -> None:
    second = run_of(case, *RATES)
    failed = tuple(replace(one, result=None, state="failed") for one in second.cases[1:])
    found = compare(run_of(case, *RATES), replace(second, cases=(second.cases[0], *failed)), limit="0.02")
    (row,) = found.rows
    assert found.verdict == "cannot tell"
    assert row.texts[1].endswith("(1 of 5)")


def test_a_single_run_against_several_counts_once(case: Sample) -> None:
    """Its repeats scatter by less than runs do: of their own scatter each difference would be shown."""
    before = [run_of(case, rate - 10, rate, rate + 10) for rate in RATES]
    after = run_of(case, 5_015_000 - 10, 5_015_000, 5_015_000 + 10)
    found = Comparison(RunSet((*before, after), ((0, 1, 2, 3, 4), (5,))), ("A", "B"))
    (row,) = found.rows
    assert len(row.sides[1].numbers) == 1
    assert outcome(found)[0] == "none shown"


def test_noise_near_the_line_is_not_shown_as_worse(case: Sample) -> None:
    full, near = run_of(case, 14_850_000, 14_880_000, limit="line"), run_of(case, 14_000_000, 14_800_000)
    found = compare(full, near, limit="0.02")
    assert outcome(found)[0] == "none shown"
    assert found.verdict == "cannot tell"


def test_runs_of_one_profile_each_keep_their_cases_apart(case: Sample) -> None:
    runs = [run_of(case, cases={profile: RATES}) for profile in ("64b", "512b", "64b", "512b")]
    found = Comparison(RunSet(tuple(runs), ((0, 1), (2, 3))), ("A", "B"))
    assert len(found.rows) == 2


def test_other_flows_and_other_goals_are_not_compared(case: Sample) -> None:
    first = run_of(case, *RATES)
    flows = replace(first, cases=tuple(replace(one, flows=7) for one in first.cases))
    assert outcome(compare(first, flows))[1].endswith("against 7 flows")
    goals = []
    for meaning in ("0.5% may be lost", "5% may be lost"):
        cases = []
        for one in first.cases:
            assert one.result is not None
            value = one.result.values[0]
            own = replace(value, kind=replace(value.kind, meaning=meaning))
            cases.append(replace(one, result=replace(one.result, values=(own,))))
        goals.append(replace(first, cases=tuple(cases)))
    assert outcome(compare(*goals))[1] == "throughput of 0.5% against throughput of 5%"


def test_sixty_one_sides_are_drawn(case: Sample) -> None:
    runs = tuple(run_of(case, rate) for rate in range(5_000_000, 5_000_061))
    found = Comparison(RunSet(runs), tuple(f"box {number}" for number in range(61)))
    assert len(list(boxes.figures(found))) == 1


def test_sides_are_called_by_what_differs_in_their_titles(case: Sample) -> None:
    run = run_of(case, *RATES)
    runs = [
        replace(run, head=replace(run.head, title=f"RouterOS {version} on CCR1072"))
        for version in ("7.14", "7.16")
    ]
    assert short_names(RunSet(tuple(runs))) == ("7.14", "7.16")


def test_sides_of_one_title_are_called_by_the_setting_that_differs(case: Sample) -> None:
    run = run_of(case, *RATES)
    other = replace(run, head=replace(run.head, plan=run.head.plan.replace("hold: 30s", "hold: 10s")))
    assert short_names(RunSet((run, other))) == ("30s", "10s")


def test_what_else_differs_is_found_in_plans_and_versions(case: Sample) -> None:
    run = run_of(case, *RATES)
    head = replace(
        run.head,
        plan=run.head.plan.replace("hold: 30s", "hold: 10s"),
        versions={**run.head.versions, "netdyno": "9.9"},
    )
    found = conditions(RunSet((run, replace(run, head=head))))
    assert found["method.ramp.hold"] == ("30s", "10s")
    assert found["netdyno"][1] == "9.9"
    assert set(found) == {"method.ramp.hold", "netdyno"}


def test_a_plan_that_is_no_yaml_is_no_error(case: Sample, tmp_path: Path) -> None:
    run = run_of(case, *RATES)
    broken = replace(run, head=replace(run.head, plan="a: [1\n\tb: &x *x"))
    found = conditions(RunSet((run, broken)))
    assert found["method.ramp.hold"] == ("30s", DEFAULT)
