"""What is late in virtual time: nothing that only waits for the other streams of its port."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from methodlab import measure_plan, text
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.plan import parse
from netdyno.reports.model import health
from netdyno.reports.model.from_store import view
from netdyno.store import open_run

FRAME_NS = 1538 * 8 * 10
"""A frame of 1518 bytes on a line of 100 Mbit/s, preamble and gap counted."""


def test_the_latency_of_a_mesh_is_not_spoiled() -> None:
    """Each of four ports sends to the three others, a frame each at once: the third leaves two later."""
    plan = text(
        "sweep: {loads: [10%, 90%], duration: 20ms}",
        links=4,
        rate="100Mbps",
        profile="size: 1518B, flows: 10",
        matrix="pattern: [full-mesh]",
    )
    _, _, outcomes = measure_plan(plan)
    lags = [stream.lag for outcome in outcomes for stream in outcome.streams]
    assert {lag.max_ns for lag in lags if lag is not None} == {0, FRAME_NS, 2 * FRAME_NS}
    assert {lag.limit_ns for lag in lags if lag is not None} == {2 * FRAME_NS}
    assert "late" not in {finding.kind for finding in health.findings(outcomes)}


def test_one_stream_of_a_port_has_no_others_to_wait_for() -> None:
    """Two directions are two ports: what leaves 10 us after it was due is late."""
    _, _, outcomes = measure_plan(
        text("sweep: {loads: [10%], duration: 20ms}", rate="100Mbps", matrix="direction: [bidir]")
    )
    assert [stream.lag.limit_ns for stream in outcomes[0].streams if stream.lag] == [10_000, 10_000]


def test_query_before_a_test_frame_leaves_the_latency_usable(tmp_path: Path) -> None:
    """RFC 2544 section 11.2: at 100 Mbit/s a query of over 105 bytes takes more than 10 us."""
    plan = text(
        "latency: {repeats: 1, duration: 2500ms, after: 0s, throughput: 90%}",
        kind="emulated/router",
        rate="100Mbps",
        profile="size: 1518B, flows: 1",
        matrix="direction: [uni], modifier: [management]",
    )
    outcome = runner.run(parse(plan), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        (case,) = view(run).cases
    (stream,) = case.trials[0].result.streams
    assert stream.lag is not None
    assert 10_000 < stream.lag.max_ns <= stream.lag.limit_ns
    assert "late" not in {finding.kind for finding in case.tester}


def test_a_throughput_that_late_frames_leave_open_stands_in_no_table(tmp_path: Path) -> None:
    """10,000 frames a second and a queue of 1,024: it takes 102 ms to empty, and the drain is 100 ms."""
    plan = text(
        "throughput: {duration: 200ms, width: 1%}",
        kind="emulated/router, settings: {capacity: 10kpps}",
        rate="100Mbps",
        profile="size: 64B, flows: 4",
        trial="settle: 10ms, drain: 100ms, sample: 1ms",
    )
    outcome = runner.run(parse(plan), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        result = run.cases[0].result
    assert result is not None
    value = result.value("throughput", "west-east")
    assert value is not None
    assert value.number is None
    (row,) = result.tables[0].rows
    shown = dict(zip([column.name for column in result.tables[0].columns], row, strict=True))
    assert (shown["throughput"], shown["of the line"], shown["did not pass"]) == (None, None, None)
    passed = shown["passed"]
    assert isinstance(passed, Fraction)
    assert value.low is not None
    # Of that load a part was still queued when sending ended: 10,000 frames a second last.
    assert value.low <= 10_000 < passed
