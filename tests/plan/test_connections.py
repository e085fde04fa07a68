"""Plans of connections: what a profile, a modifier and a tester can be beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from netdyno.testers import tables

PLAN = (Path(__file__).parents[2] / "examples" / "linux-tcp.yaml").read_text()
FIVE = "{size: 1518B, flows: 5}"


@pytest.mark.parametrize(
    ("written", "instead", "code"),
    [
        (FIVE, "{size: imix/bench, flows: 5}", "unsupported"),
        (FIVE, "{size: 1518B, flows: 5, burst: 3}", "unsupported"),
        (FIVE, "{size: 1518B}", "missing-field"),
        (FIVE, "{size: 1518B, flows: 129}", "out-of-range"),
        ("  direction: [uni, bidir]", "  direction: [uni]\n  modifier: [none, broadcast]", "unsupported"),
        ("tester: iperf3", "tester: netdyno", "unsupported"),
    ],
)
def test_plan_of_connections_with_what_only_frames_have_is_refused(
    written: str, instead: str, code: str
) -> None:
    assert written in PLAN
    with pytest.raises(PlanErrors) as refused:
        parse(PLAN.replace(written, instead), tables=tables())
    assert [error.code for error in refused.value.errors] == [code]


def test_plan_of_connections_beside_filters_is_accepted() -> None:
    plan = PLAN.replace("  direction: [uni, bidir]", "  direction: [uni]\n  modifier: [none, filters-25]")
    assert parse(plan, tables=tables()).tester == "iperf3"


def test_licence_that_a_lab_declares_is_bits_a_second() -> None:
    declared = PLAN.replace("  links:\n", "  licence: 50Mbps\n  links:\n")
    assert parse(declared, tables=tables()).lab.licence_bps == 50_000_000
    with pytest.raises(PlanErrors) as refused:
        parse(declared.replace("50Mbps", "extended"), tables=tables())
    assert [error.code for error in refused.value.errors] == ["wrong-format"]
