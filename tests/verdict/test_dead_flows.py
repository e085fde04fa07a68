"""A flow that lost every frame is said as such, and not as a share of all frames."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from methodlab import run_here, text
from netdyno.campaign.reasons import REASONS
from netdyno.plan import parse
from netdyno.reports.model.from_store import view
from netdyno.reports.model.headline import headline
from netdyno.store import open_run
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import StreamResult
from netdyno.values.records import StoredCase
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from netdyno.verdict.evidence import find_dead_flows
from netdyno.verdict.reasons import DeviceLost, DeviceMeasured
from netdyno.verdict.saying import DeadFlows
from tendevices import measure, passes_everything

ONE = Situation(("a-b",), Fraction(10_000_000), Fraction(64))


def stream(sent: int, flows_received: int, lost: int, name: str = "a-b") -> StreamResult:
    """The counts of a stream."""
    trial = measure(Trial("t", Frames.steady(FrameRate(sent), 10**9)), passes_everything(), ONE)
    (found,) = trial.streams
    return replace(found, name=name, lost=lost, flows_received=flows_received)


@pytest.mark.parametrize(
    ("streams", "expected"),
    [
        ([stream(1_000, 3, 250)], DeadFlows(1, 4, True)),
        # Frames of other flows are missing as well.
        ([stream(1_000, 3, 251)], DeadFlows(1, 4, False)),
        ([stream(1_000, 4, 250)], None),
        # None came at all: that is said of the frames.
        ([stream(1_000, 0, 1_000)], None),
        # Fewer than 16 frames of each flow.
        ([stream(63, 3, 15)], None),
        ([stream(64, 3, 16)], DeadFlows(1, 4, True)),
        # Of 16 frames each, the other flows lost 15: one that lost the 16th as well is no other.
        ([stream(64, 3, 61)], None),
        # Of 1,000 frames each, the others lost two of three: none would lose all.
        ([stream(4_000, 3, 3_000)], DeadFlows(1, 4, False)),
        # In another trial all flows came.
        ([stream(1_000, 3, 250), stream(2_000, 4, 0)], None),
        ([stream(1_000, 2, 500), stream(2_000, 3, 500)], DeadFlows(1, 4, False)),
        # Of two directions one is dead.
        ([stream(1_000, 4, 0), stream(1_000, 0, 1_000, "b-a")], DeadFlows(4, 8, True)),
    ],
)
def test_flows_without_a_frame_in_any_trial_are_dead(
    streams: list[StreamResult], expected: DeadFlows | None
) -> None:
    assert find_dead_flows(streams, 4) == expected
    assert find_dead_flows(streams, 0) is None, "how many there are is unknown"


def case_of(tmp_path: Path, method: str, flows: int = 10) -> tuple[StoredCase, tuple[str, ...]]:
    """The one case of a router that loses each tenth frame, all of one of ten flows; and its caveats."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    plan = text(method, kind="emulated/router, settings: {loses: 1/10}", profile=f"size: 64B, flows: {flows}")
    with open_run(run_here(parse(plan), tmp_path).folder, REASONS) as run:
        (case,) = run.cases
        return case, headline(view(run)).caveats


def test_verdict_on_a_loss_names_the_dead_flow(tmp_path: Path) -> None:
    case, caveats = case_of(tmp_path, "frame-loss: {duration: 20ms, maximum: 10%}")
    verdict = case.verdict("west-east")
    assert verdict is not None
    assert isinstance(verdict.reason, DeviceMeasured)
    assert verdict.reason.dead == DeadFlows(1, 10, True)
    assert "%" not in str(verdict.reason)
    assert any("1 of 10 flows" in caveat for caveat in caveats)


def test_verdict_on_a_rate_names_the_dead_flow(tmp_path: Path) -> None:
    case, caveats = case_of(tmp_path, "throughput: {duration: 20ms, width: 1%}")
    verdict = case.verdict("west-east")
    assert verdict is not None
    assert isinstance(verdict.reason, DeviceLost)
    assert verdict.reason.dead == DeadFlows(1, 10, True)
    assert any("1 of 10 flows" in caveat for caveat in caveats)


def test_loss_spread_over_flows_names_none(tmp_path: Path) -> None:
    case, caveats = case_of(tmp_path, "frame-loss: {duration: 20ms, maximum: 10%}", flows=7)
    verdict = case.verdict("west-east")
    assert verdict is not None
    assert isinstance(verdict.reason, DeviceMeasured)
    assert verdict.reason.dead is None
    assert not any("lost every frame" in caveat for caveat in caveats)
