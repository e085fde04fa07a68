"""What is late in virtual time: nothing that only waits for the other streams of its port."""

from __future__ import annotations

from methodlab import measured, text
from netdyno.reports import health

FRAME_NS = 1538 * 8 * 10
"""A frame of 1518 bytes on a line of 100 Mbit/s, preamble and gap counted."""


def test_the_latency_of_a_mesh_is_not_tainted() -> None:
    """Each of four ports sends to the three others, a frame each at once: the third leaves two later."""
    plan = text(
        "sweep: {loads: [10%, 90%], duration: 20ms}",
        links=4,
        rate="100Mbps",
        profile="size: 1518B, flows: 10",
        matrix="pattern: [full-mesh]",
    )
    _, _, outcomes = measured(plan)
    lags = [stream.lag for outcome in outcomes for stream in outcome.streams]
    assert {lag.max_ns for lag in lags if lag is not None} == {0, FRAME_NS, 2 * FRAME_NS}
    assert {lag.limit_ns for lag in lags if lag is not None} == {2 * FRAME_NS}
    assert "late" not in {finding.kind for finding in health.findings(outcomes)}


def test_one_stream_of_a_port_has_no_others_to_wait_for() -> None:
    """Two directions are two ports: what leaves 10 us after it was due is late."""
    _, _, outcomes = measured(
        text("sweep: {loads: [10%], duration: 20ms}", rate="100Mbps", matrix="direction: [bidir]")
    )
    assert [stream.lag.limit_ns for stream in outcomes[0].streams if stream.lag] == [10_000, 10_000]
