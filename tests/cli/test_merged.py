"""Equal messages of a run: one line, the count, at most three examples."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import methodlab
import pytest
from netdyno.campaign.events import Failed, TrialEnded, Waiting
from netdyno.campaign.run import Selection
from netdyno.cli.live import Merged, PlainView
from netdyno.methods.reasons.tester import Preempted
from netdyno.plan import parse
from netdyno.values.engine_reason import EngineReason
from netdyno.values.reason import EXAMPLES, Reason, in_short
from netdyno.values.records import CaseError
from words import said

PLAN = methodlab.text("order: {repeats: 2, duration: 10ms}")
CASES = 48


class Silent(Reason, code="silent"):
    """No answer on a VLAN."""

    vlan: int
    says = "no answer on VLAN {vlan:d}"


def begun() -> tuple[PlainView, io.StringIO]:
    """A view of many cases, and what it prints after the run's begin."""
    stream = io.StringIO()
    view = PlainView(stream, clock=lambda: 0.0)
    plan = parse(PLAN)
    (case, *_) = Selection().cases(plan)
    cases: list[Any] = [
        SimpleNamespace(
            number=n, title=f"case-{n}.", name=case.name, choices=case.choices, profile=case.profile
        )
        for n in range(CASES)
    ]
    view.begin(plan, cases, 0)
    stream.truncate(0)
    stream.seek(0)
    return view, stream


def invalid(case: int, reason: Reason) -> TrialEnded:
    health = SimpleNamespace(longest_gap_ns=1)
    result = SimpleNamespace(invalid=(reason,), began=True, health=health)
    trial: Any = SimpleNamespace(name="t", number=0, state="invalid", result=result)
    return TrialEnded(case, trial)


def test_messages_with_equal_fields_merge_into_a_count_and_three_examples() -> None:
    view, stream = begun()
    reason = Preempted(72_000_000)
    for case in range(CASES):
        view.event(invalid(case, reason))
        view.event(Failed(case, CaseError("bug", f"no {case}")))
    view.end()
    lines = [line for line in stream.getvalue().splitlines() if str(reason) in line]
    assert len(lines) == 2
    assert f"{CASES} times" in lines[1]
    assert [f"case-{n}." in lines[1] for n in range(CASES)] == [n < EXAMPLES for n in range(CASES)]


def test_messages_with_other_fields_stay_apart() -> None:
    view, stream = begun()
    for case in range(3):
        view.event(invalid(case, Preempted(10**6 * (case + 1))))
        view.event(Failed(case, CaseError("bug", "no")))
    view.end()
    assert sum("does not count" in line for line in stream.getvalue().splitlines()) == 3


def test_waiting_for_the_same_in_all_cases_is_one_line_and_a_count() -> None:
    view, stream = begun()
    for case in range(CASES):
        view.event(Waiting(case, "t", "waits-for-a-peer"))
    view.end()
    assert stream.getvalue().count("waits-for-a-peer") == 2


def test_cases_that_failed_alike_name_the_first() -> None:
    view, stream = begun()
    for case in range(CASES):
        view.event(Failed(case, CaseError("device-silent", "the-device-is-silent", "plug-it-in")))
    lines = stream.getvalue().splitlines()
    assert len(lines) == CASES
    assert stream.getvalue().count("the-device-is-silent") == stream.getvalue().count("plug-it-in") == 1
    assert all("case-0." in line for line in lines)


def test_merged_message_given_once_has_no_second_line() -> None:
    merged = Merged()
    assert merged.is_new("key", "text", "here")
    assert list(merged.lines()) == []


def test_reasons_of_a_silent_device_are_three_examples_and_a_count() -> None:
    line = in_short([Silent(vlan % 205) for vlan in range(684)])
    assert line.count("no answer on VLAN") == EXAMPLES
    assert "684" in line
    assert len(line) < 200


@pytest.mark.parametrize(
    ("reasons", "shown", "count"),
    [
        ([said("a")], 1, None),
        ([said("a")] * 7, 1, "7"),
        ([said(one) for one in "abc"], 3, None),
        ([EngineReason.of(one, one, {}) for one in "abcde"], 5, None),
        ([Silent(1), Silent(2)], 2, None),
        ([Silent(1), said("a"), Silent(1)], 2, "2"),
    ],
)
def test_reasons_in_short_show_each_once(reasons: list[Reason], shown: int, count: str | None) -> None:
    line = in_short(reasons)
    assert line.count("; ") == shown - 1
    assert all(line.count(str(one)) >= 1 for one in reasons)
    assert ("times" in line) == (count is not None)
    assert count is None or f"({count} times)" in line
