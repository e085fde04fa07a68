"""Bursts that meet at one port of an emulated bridge, whose queue is known."""

from __future__ import annotations

from fractions import Fraction

import pytest
from methodlab import measure_plan, table, text, value
from netdyno.methods import METHODS
from netdyno.methods.reasons.bursts import BurstsUnsent, NoBurstLimit, NoBurstPassed
from netdyno.plan import PlanErrors, parse
from netdyno.values.finding import Result
from netdyno.values.situation import Place, Situation
from tendevices import drive, starved_tester
from words import has_code, within

MANY = "pattern: [many-to-one], direction: [uni]"


def burst(queue: int, links: int, options: str = "", longest: str = "10ms", **device: object) -> Result:
    plan = text(
        f"microburst: {{repeats: 2, quiet: 100ms, longest: {longest}{options}}}", links=links, matrix=MANY
    )

    def change(spec: dict[str, object]) -> None:
        spec.update(device)
        for port in spec["ports"]:  # type: ignore[attr-defined]
            port["out_queue"] = queue

    result, _, _ = measure_plan(plan, change)
    return result


@pytest.mark.parametrize(("queue", "links"), [(16, 3), (100, 3), (33, 4)])
def test_what_is_held_is_the_queue_and_the_frame_on_the_line(queue: int, links: int) -> None:
    """Of n senders n frames come in the time of one, and one leaves.

    When those numbered k, from 1, of a burst have come, k - 1 have left and one is on its way: (n - 1) k
    wait. So bursts of queue / (n - 1) frames each fit.
    """
    senders = links - 1
    fits = queue // (senders - 1)
    (row,) = table(burst(queue, links), "Microbursts")
    assert (row["senders"], row["searches"]) == (senders, 2)
    assert row["burst, mean"] == row["burst, least"] == row["burst, most"] == senders * fits
    assert row["held, mean"] == (senders - 1) * fits + 1
    assert row["held, bytes"] == 64 * ((senders - 1) * fits + 1)
    assert (row["relative stdev"], row["variation"]) == (0, 0)


def test_buffer_found_at_line_rate_and_at_a_hundredth_of_it_is_the_same() -> None:
    """RFC 8239 section 3.2: while the first one fills the line, what the second sends is held."""
    (row,) = table(burst(16, 3, ", others: 1%"), "Microbursts")
    assert row["held, mean"] == 17
    # The seventeenth frame of the second port comes with number 1601 of the first.
    assert row["burst, mean"] == 1600 + 16


def test_a_buffer_that_is_not_filled_has_no_size() -> None:
    result = burst(100_000, 3, longest="1ms")
    assert value(result, "burst held").number is None
    assert isinstance(value(result, "burst held").note, NoBurstLimit)


def test_a_device_that_passes_nothing_ends_the_search() -> None:
    lose = {"port": None, "fault": "lose", "when": {"every": {"every": 1, "first": 0}}}
    result = burst(16, 3, impairments=[lose])
    assert value(result, "burst held").number is None
    assert isinstance(value(result, "burst held").note, NoBurstPassed)


def test_a_tester_that_cannot_send_the_burst_is_named() -> None:
    both = Situation(
        ("east-west", "south-west"), Fraction(10**6), Fraction(64), places=(Place(1, 0), Place(2, 0))
    )
    method = METHODS["microburst"]
    result, outcomes = drive(method.start(method.parameters(), both), starved_tester(1000), both)
    assert len(outcomes) == 3
    found = value(result, "burst held")
    assert found.number is None
    assert within(BurstsUnsent, found.note)


def test_a_pattern_in_which_nothing_meets_is_refused() -> None:
    with pytest.raises(PlanErrors) as found:
        parse(
            text("microburst", links=3, matrix="direction: [uni]").replace("{microburst}", "{microburst: {}}")
        )
    (error,) = found.value.errors
    assert error.code == "unsupported"
    assert error.hint is not None
    assert "many-to-one" in error.hint


UNEQUAL = """\
title: Unequal
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: emulated/bridge}}}}
  links:
    - {{endpoints: ["tester:west", "dut:d0"], rate: {0}}}
    - {{endpoints: ["tester:east", "dut:d1"], rate: {1}}}
    - {{endpoints: ["tester:south", "dut:d2"], rate: {2}}}
traffic: {{it: {{size: 64B}}}}
matrix: {{direction: [uni], pattern: [many-to-one]}}
method: {{microburst: {{repeats: 1}}}}
"""


@pytest.mark.parametrize(
    ("rates", "refused"),
    [
        (("10Gbps", "1Gbps", "1Gbps"), True),
        (("1Gbps", "10Gbps", "10Gbps"), False),
        (("1Gbps", "1Gbps", "10Gbps"), False),
        (("1Gbps", "1Gbps", "1Gbps"), False),
    ],
)
def test_bursts_that_meet_at_a_faster_link_are_a_mistake_of_the_plan(
    rates: tuple[str, ...], refused: bool
) -> None:
    """The first port receives: a line that takes more than one port brings does not hold what it has sent."""
    plan = UNEQUAL.format(*rates)
    if not refused:
        parse(plan)
        return
    with pytest.raises(PlanErrors, check=has_code("unsupported")):
        parse(plan)
