"""Traffic from two ports comes back by two of one ECMP group, of a router with equal or unequal next hops.

tester t0, t1 (sources) -- d0, d1 [router] d2, d3 -- tester t2, t3 (one bundle)
Truth: what the router's kernel counted out of d2 and d3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import links, namespaces
from netdyno.plan import parse
from netdyno.reports.model import bundle_shares
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.verdict.causes import Polarised
from pages import report_text
from test_labs import needs_root
from words import within

pytest.importorskip("netdyno._engine", reason="the engine is not built")
pytestmark = [pytest.mark.paired, needs_root]

PORTS = ("t0", "t1", "t2", "t3")
PLAN = """\
title: Two sources, one ECMP group
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:t0", "dut:d0"], rate: 1Gbps, address: 10.0.0.2/30, gateway: 10.0.0.1}
    - {endpoints: ["tester:t1", "dut:d1"], rate: 1Gbps, address: 10.0.1.2/30, gateway: 10.0.1.1}
    - {endpoints: ["tester:t2", "dut:d2"], rate: 1Gbps, address: 10.0.2.2/30, gateway: 10.0.2.1, bundle: far}
    - {endpoints: ["tester:t3", "dut:d3"], rate: 1Gbps, address: 10.0.3.2/30, gateway: 10.0.3.1, bundle: far}
traffic: {small: {size: 128B, flows: 1024}}
matrix: {pattern: [half-to-half], direction: [uni]}
method: {soak: {load: 4096pps, duration: 2s, part: 0s}}
trial: {resolve: 5s, settle: 100ms, drain: 500ms, retries: 0, catch_up: 1000%}
"""


@pytest.fixture
def router() -> Iterator[dut.Device]:
    """Each source's and each receiver's eighth of the networks; those of both receivers by two next hops."""
    with namespaces.tester_namespace(), dut.device_namespace() as device:
        device.do("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
        device.do("echo 1 > /proc/sys/net/ipv4/ip_forward")
        device.do("echo 1 > /proc/sys/net/ipv4/fib_multipath_hash_policy")
        for number, name in enumerate(PORTS):
            links.ip(f"link add {name} type veth peer name d{number} netns {device.pid}")
            links.ip(f"link set {name} arp off up")
            device.do(f"ip address add 10.0.{number}.1/30 dev d{number}; ip link set d{number} up")
            device.do(f"echo 0 > /proc/sys/net/ipv4/conf/d{number}/rp_filter")
        device.do("echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter")
        yield device


def spread(device: dut.Device, *weights: int) -> None:
    """What goes to the networks behind both receivers goes by either, in these parts."""
    ways = zip((2, 3), weights, strict=True)
    hops = " ".join(f"nexthop via 10.0.{port}.2 dev d{port} weight {weight}" for port, weight in ways)
    # The third and the fourth eighth of 48.0.0.0/8.
    device.do(f"ip route replace 48.64.0.0/10 {hops}")


def sent(device: dut.Device) -> list[int]:
    """Frames out of d2 and d3."""
    shown = [json.loads(device.do(f"ip -s -j link show d{port}"))[0] for port in (2, 3)]
    return [one["stats64"]["tx"]["packets"] for one in shown]


@pytest.mark.parametrize("weights", [(1, 1), (3, 1)])
def test_share_of_each_far_port_is_that_of_the_router(
    weights: tuple[int, int], router: dut.Device, tmp_path: Path
) -> None:
    spread(router, *weights)
    before = sent(router)
    outcome = runner.run(parse(PLAN), tmp_path, watcher(), runner.Selection())
    counted = [after - first for after, first in zip(sent(router), before, strict=True)]
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert case.state == "done", case.error
        assert case.result is not None
        (trial,) = run.trials(0)
        (table,) = bundle_shares.tables(view(run))
        told = report_text("json", view(run))
        named = within(Polarised, case.result.notes)
    found = trial.result
    assert found.invalid == ()
    # Whichever port a frame came by, it is its stream's.
    assert sum(stream.elsewhere for stream in found.streams) == 0
    assert all(stream.received > 0 for stream in found.streams)
    (row,) = table.rows
    arrived = [port.test_frames for port in found.ports[2:]]
    assert row[:2] == ("t2, t3", Fraction(sum(arrived)))
    # Beside test frames the router sends ARP alone.
    assert all(0 <= count - frames < 50 for count, frames in zip(counted, arrived, strict=True))
    assert bundle_shares.TITLE in told
    # The hash is the kernel's: of 4096 flows half is within 6 standard deviations, three quarters are not.
    if weights == (1, 1):
        assert named == ()
    else:
        (why,) = named
        assert why.frames == tuple(arrived)
        assert why.flows == min(4096, sum(arrived))


def test_flows_are_chosen_for_even_shares_of_an_uneven_router(router: dut.Device, tmp_path: Path) -> None:
    spread(router, 3, 1)
    outcome = runner.run(
        parse(PLAN.replace("flows: 1024", "flows: {count: 64, members: even}")),
        tmp_path,
        watcher(),
        runner.Selection(),
    )
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert case.result is not None
        _, trial = run.trials(0)
        (table,) = bundle_shares.tables(view(run))
    (note,) = (one.fields() for one in case.result.notes if one.code == "flows-chosen")
    # Of all candidates, from two sources to both ports, the router sends three quarters to the first port.
    first, second = note["found"]
    assert abs(Fraction(first, first + second) - Fraction(3, 4)) < Fraction(1, 20)
    assert note["chosen"] == [note["flows"] // 2] * 2
    frames = [trial.result.ports[port].test_frames for port in (2, 3)]
    assert all(abs(Fraction(one, sum(frames)) - Fraction(1, 2)) < Fraction(1, 20) for one in frames)
    ((_, arrived, *_),) = table.rows
    assert arrived == sum(frames)
    assert not list(within(Polarised, case.result.notes))
