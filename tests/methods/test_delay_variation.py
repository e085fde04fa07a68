"""Delay variation through emulated devices that delay known frames by known times."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from methodlab import measure_plan, table, text, value
from netdyno.methods import METHODS
from netdyno.methods.delay_variation import VariationParameters
from netdyno.methods.reasons.deviations import OutsideRule
from netdyno.methods.reasons.searches import NoThroughput
from netdyno.methods.reasons.tester import Unpaired
from netdyno.values.finding import Result
from netdyno.values.reason import About
from netdyno.values.situation import Situation
from words import within

APART_NS = 2000
"""From frame to frame at 500 kpps."""
FRAME_NS = 672
"""64 bytes and 20 around them at 1 Gbit/s."""


def variation(
    *faults: dict[str, Any], method: str = "throughput: 500kpps", direction: str = "uni", **device: Any
) -> Result:
    """Three streams of 10,000 frames each, of one flow."""
    plan = text(
        f"delay-variation: {{repeats: 3, duration: 20ms, {method}}}",
        profile="size: 64B, flows: 1",
        matrix=f"direction: [{direction}]",
    )
    result, _, _ = measure_plan(plan, lambda spec: spec.update(impairments=[*faults], **device))
    return result


def each(fault: Any, every: int, port: int = 1) -> dict[str, Any]:
    return {"port": port, "fault": fault, "when": {"every": {"every": every, "first": 50}}}


@pytest.mark.parametrize("by", [1, 8])
def test_a_frame_held_back_is_late_by_those_that_pass_it(by: int) -> None:
    """One of 100: more than one of 1000, which the 99.9th percentile leaves out.

    It leaves when the last of those that pass it has left, and is late by their time and that one's; the next
    one is early by as much.
    """
    result = variation(each({"reorder": {"by": by}}, 100))
    late = by * APART_NS + FRAME_NS
    # The histogram has three digits.
    assert value(result, "PDV").number == pytest.approx(late, rel=1e-3)
    for name, expected in (("IPDV, least", -late), ("IPDV, median", 0), ("IPDV, most", late)):
        assert value(result, name, "west-east").number == expected
    assert [one["trial"] for one in table(result, "Delay variation of each stream")] == [1, 2, 3]
    (row,) = table(result, "Packet delay variation")
    assert (row["streams"], row["load"], row["lost"]) == (3, 500_000, 0)
    assert row["PDV p1"] == row["PDV"] == row["PDV p99"], "all streams are alike"


def test_one_late_frame_in_2000_moves_ipdv_and_not_the_percentile() -> None:
    result = variation(each({"reorder": {"by": 3}}, 2000))
    assert value(result, "PDV").number == pytest.approx(0, abs=7), "to three digits of 6 us"
    assert value(result, "IPDV, most", "west-east").number == 3 * APART_NS + FRAME_NS


def test_a_device_that_disturbs_nothing_varies_nothing() -> None:
    result = variation(direction="bidir")
    assert value(result, "PDV").number == 0
    rows = table(result, "Packet delay variation")
    assert {row["stream"] for row in rows} == {"west-east", "east-west"}
    for name in ("PDV", "IPDV, least", "IPDV, median", "IPDV, most"):
        assert {row[name] for row in rows} == {0}
    assert [row["PDV"] for row in table(result, "PDV")] == [0] * 8, "p99.99 takes 100,000 frames"


def test_what_a_device_that_passes_nothing_varies_by_is_not_known() -> None:
    lose = {"port": 1, "fault": "lose", "when": {"every": {"every": 1, "first": 0}}}
    assert value(variation(lose), "PDV").number is None
    result = variation(lose, method="throughput: {duration: 10ms, width: 10%}")
    assert value(result, "PDV").note == About("delay variation", NoThroughput(is_testers=False))
    assert table(result, "Packet delay variation") == []


def test_the_throughput_is_searched_where_it_is_not_known() -> None:
    result = variation(method="throughput: {duration: 10ms, width: 10%}")
    (row,) = table(result, "Packet delay variation")
    assert row["load"] == Fraction(10**9, 672), "of a device at the line's rate"
    assert min(result.trials) > 0, "the search comes first"


def test_trial_shorter_than_the_standard_asks_is_a_deviation() -> None:
    result = variation()
    few, short = result.compliance[0], *result.recommended
    assert isinstance(few, OutsideRule)
    assert isinstance(short, OutsideRule)
    assert (few.found, few.bound, few.section, few.is_required) == (3, 20, "RFC 8219 section 7.3", True)
    assert (short.found, short.bound, short.unit) == (20 * 10**6, 60 * 10**9, "ns")


def test_differences_that_were_not_measured_are_noted() -> None:
    """Of 10,000 frames with one lost 9,997 pairs are whole. With two workers many are not of one of them."""
    plan = text(
        "delay-variation: {repeats: 1, duration: 20ms, throughput: 500kpps}",
        profile="size: 64B, flows: 1",
        matrix="direction: [uni]",
    )
    lose = {"port": 1, "fault": "lose", "when": {"frames": [5000]}}
    result, _, (outcome,) = measure_plan(plan, lambda spec: spec.update(impairments=[lose]))
    (stream,) = outcome.streams
    assert stream.variation is not None
    assert stream.variation.pairs == 9_997
    assert not within(Unpaired, result.notes)

    def list_unpaired(pairs: int) -> tuple[Unpaired, ...]:
        assert stream.variation is not None
        fewer = replace(stream, variation=replace(stream.variation, pairs=pairs))
        asked = VariationParameters.model_validate(
            {"repeats": 1, "duration": "20ms", "throughput": "500kpps"}
        )
        method = METHODS["delay-variation"].start(
            asked, Situation((stream.name,), Fraction(1_488_095), Fraction(64))
        )
        next(method)
        with pytest.raises(StopIteration) as ended:
            method.send(outcome.with_counts(streams=(fewer,)))
        return within(Unpaired, ended.value.value.notes)

    assert list_unpaired(9_997) == ()
    assert list_unpaired(5_000) == (Unpaired(4_997),)
