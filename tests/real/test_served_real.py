"""Emulated devices served in real time: TCP by iperf3 and netdyno's own frames pass them and are counted."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from driving import shoot
from emulated import MS
from emulated import plan as plan_of_frames
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices.emulated.served import ServedCounters, ServedLive
from netdyno.errors import PlanErrors
from netdyno.plan import Plan, load, parse
from netdyno.plan.matrix import cases
from netdyno.store import open_run
from netdyno.testers import tables
from netdyno.testers.netdyno.engine import Opened
from netdyno.testers.netdyno.spec import session_spec, trial_spec
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.outcome import Carried, Outcome
from netdyno.values.served import read_served
from netdyno.values.units import FrameRate
from test_labs import needs_root

pytestmark = pytest.mark.paired
needs_iperf3 = pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed")

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE = EXAMPLES / "path-tcp.yaml"
PAYLOAD_100BASE_TX = Fraction(100_000_000 * 1448, 1538)
"""TCP with timestamps in frames of 1518 bytes, which take 1538 of the line: 94.15 Mbit/s."""


def plan(kind: str, settings: Mapping[str, str]) -> Plan:
    chosen = ", ".join(f"{name}: {value}" for name, value in settings.items())
    return parse(
        f"""\
title: TCP
tester: iperf3
lab:
  nodes:
    tester: {{kind: netdyno}}
    dut: {{kind: {kind}, settings: {{{chosen}}}}}
  links:
    - {{endpoints: ["tester:west", "dut:d0"], rate: 100Mbps}}
    - {{endpoints: ["tester:east", "dut:d1"], rate: 100Mbps}}
traffic:
  it: {{size: 1518B, flows: 1}}
matrix: {{profile: [it], direction: [uni]}}
method:
  tcp: {{duration: 2s}}
""",
        tables=tables(),
    )


def measured(
    folder: Path, asked: Plan, only: Mapping[str, str]
) -> tuple[Outcome, Carried, Mapping[str, Any]]:
    """The last trial of connections, what they carried, and what the device counted."""
    outcome = runner.run(asked, folder, watcher(), runner.Selection(only=only))
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert case.state == "done", case.error
        assert "served-device" in {note.code for note in case.wiring.notes}
        found = [trial.result for trial in run.trials(case.head.number) if trial.result.carried]
    (carried,), (device,) = found[-1].carried, found[-1].devices
    return found[-1], carried, device


@needs_root
@needs_iperf3
def test_tcp_over_a_line_is_no_faster_than_its_payload(tmp_path: Path) -> None:
    result, carried, device = measured(tmp_path, plan("emulated/path", {"rate": "100Mbps"}), {})
    assert 0 < Fraction(8 * carried.received_bytes * 10**9, carried.received_ns) <= PAYLOAD_100BASE_TX
    # Each segment is a frame of its own: the device saw as many as the payload takes, or more.
    west, east = device["ports"]
    assert west["rx_frames"] >= carried.received_bytes // 1448
    assert east["rx_frames"] > 0
    served = read_served(result)
    assert served is not None
    assert (served.spilled, served.unheard) == (0, 0)


@needs_root
@needs_iperf3
def test_tcp_over_a_path_that_loses_sends_again_what_it_lost(tmp_path: Path) -> None:
    result, carried, device = measured(tmp_path, load(EXAMPLE, tables=tables()), {"loses": "1/500"})
    assert carried.mean_rtt_ns is not None
    assert carried.mean_rtt_ns >= 20 * MS
    lost = device["injected"]["lose"]
    dropped = sum(port["out_drops"] for port in device["ports"])
    # Each 500th: of frames in a row, whose first may be any of the 500, so many or one more.
    assert lost - device["ports"][0]["rx_frames"] // 500 in (0, 1)
    # A late retransmission may be one too many; none is missing but for what was lost at the end.
    assert carried.retransmitted_segments is not None
    assert lost + dropped - 2 <= carried.retransmitted_segments
    if not dropped:
        assert carried.retransmitted_segments <= lost + 2
    assert {(one.subject, one.name) for one in result.series} >= {
        ("injected", "injected_drops"),
        ("d1", "tx_packets"),
    }


MOST_OF_EXAMPLES = {
    # A licence of 50 Mbit/s for the frames of both ways, an acknowledgement of 70 B for two segments or more.
    "isr-tcp.yaml": ({"licence": "base"}, Fraction(50_000_000 * 1448, 1518)),
    "ccr1072-tcp.yaml": ({"profile": "jumbo"}, Fraction(50_000_000 * 8948, 9038)),
}


@needs_root
@needs_iperf3
@pytest.mark.parametrize("name", MOST_OF_EXAMPLES)
def test_tcp_example_carries_no_more_than_its_limit(name: str, tmp_path: Path) -> None:
    only, most = MOST_OF_EXAMPLES[name]
    asked = load(EXAMPLES / name, tables=tables(), overrides=["method.tcp={duration: 2s}"])
    outcome = runner.run(asked, tmp_path, watcher(), runner.Selection(only=only))
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert case.state == "done", case.error
        verdicts = {one.limit for one in case.verdicts}
        (found,) = [one for trial in run.trials(case.head.number) if (one := trial.result.carried)]
    for one in found:
        # Queues that drain behind the senders' time add to it.
        assert 0 < Fraction(8 * one.received_bytes * 10**9, one.received_ns) <= most * Fraction(102, 100)
    # What this machine's other work held up is the tester's limit, and nothing the device's.
    assert verdicts <= {"licence", "line", "tester", "inconclusive"}


@needs_root
@pytest.mark.parametrize(
    ("kind", "settings", "delay_ns"),
    [("emulated/path", {"delay": "10ms"}, 10 * MS), ("emulated/isr-4321", {}, 0), ("emulated/bridge", {}, 0)],
)
def test_own_frames_pass_a_served_device(kind: str, settings: Mapping[str, str], delay_ns: int) -> None:
    profile = "size: 1518B, flows: 1"
    asked = plan_of_frames(kind, profile, direction="uni", rate="100Mbps", settings=settings)
    (case,) = cases(asked)
    served = asked.kind.in_real_time()
    trial = Trial(
        "it", Frames((Segment("load", 200 * MS, FrameRate(Fraction(500)), FrameRate(Fraction(500))),))
    )
    with served.build(served.wire(asked.lab.links, case.settings)) as live:
        assert isinstance(live, ServedLive)
        (counters,) = live.instruments()
        assert isinstance(counters, ServedCounters)
        before = counters.read(time.monotonic_ns)
        with Opened(session_spec(live.wiring, case)) as session:
            found = shoot(session, live.wiring, trial, trial_spec(asked, case, live.wiring, trial))
        after = counters.read(time.monotonic_ns)
        assert live.check() is None
    assert not found.invalid
    (stream,) = found.streams
    counted = counters.summary(
        {channel: one.value for channel, one in before.items()},
        {channel: one.value for channel, one in after.items()},
    )
    west, east = counted["ports"]
    # What was sent and did not come back was lost where somebody counts it.
    assert stream.offered > 0
    assert west["rx_frames"] >= stream.offered
    assert stream.received == stream.offered - counted.get("box_drops", 0) - east["out_drops"]
    assert stream.latency is not None
    assert stream.latency.min_ns >= delay_ns


@pytest.mark.parametrize(
    ("kind", "settings"),
    [("emulated/asr9006-at-once", {}), ("emulated/router", {"incidents": "d0 down at 1s for 1s"})],
)
def test_device_that_cannot_be_served_is_refused(kind: str, settings: Mapping[str, str]) -> None:
    with pytest.raises(PlanErrors):
        plan(kind, settings)


def test_plan_with_connections_is_in_real_time() -> None:
    found = plan("emulated/isr-4321", {"licence": "base"})
    (case,) = cases(found)
    wiring = found.kind.wire(found.lab.links, case.settings)
    assert wiring.clock == "real"
    assert [port.destination for port in wiring.ports] == ["100.64.0.1", "100.64.1.1"]
    assert wiring.served is not None
    assert wiring.served["box_bits"]["rate_bps"] == 50_000_000
    assert "devices" not in wiring.session
