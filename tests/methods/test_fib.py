"""Any method against the number of routes: the prefixes, that each is proven, and what comes of it."""

from __future__ import annotations

import ipaddress
import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import KINDS, LabLink, routes
from netdyno.devices.emulated import model
from netdyno.errors import PlanErrors
from netdyno.methods.reasons.learned import RoutesRetried
from netdyno.plan import Plan, parse
from netdyno.plan.device_lists import route_lines as listed
from netdyno.plan.matrix import cases
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.load import Frames, Trial
from netdyno.values.units import FrameRate
from pages import report_text

LINE = Fraction(10**9, 672)
HEADERS = (
    "{type: ethernet}",
    "{type: ipv4, src: 16.0.0.1, dst: 48.0.0.1}",
    "{type: udp, sport: 1025, dport: 12}",
)


def plan(matrix: str, *, kind: str = "emulated/router", profile: str = "size: 64B, flows: 4096") -> Plan:
    return parse(f"""\
title: Routes
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}}}}}
  links:
    - {{endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}}
    - {{endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}}
traffic:
  it: {{{profile}}}
matrix: {{{matrix}}}
method: {{throughput: {{duration: 20ms, width: 1%, maximum: 20kpps}}}}
trial: {{sample: 1ms, settle: 1ms, drain: 100ms}}
""")


def mistakes(matrix: str, **more: str) -> list[str]:
    with pytest.raises(PlanErrors) as found:
        plan(matrix, **more)
    return [f"{error.message} | {error.hint}" for error in found.value.errors]


@pytest.mark.parametrize("network", ["48.0.0.0/8", "2001:2:0:8000::/49"])
@pytest.mark.parametrize("count", [1, 2, 3, 255, 256, 4096, 65_536])
def test_so_many_prefixes_are_in_the_network_and_none_in_another(network: str, count: int) -> None:
    found = [ipaddress.ip_network(prefix) for prefix in routes.prefixes(network, count)]
    assert len(found) == count
    whole = ipaddress.ip_network(network)
    assert all(one.subnet_of(whole) for one in found)  # type: ignore[arg-type]
    in_order = sorted(found)  # type: ignore[type-var]
    assert all(one.broadcast_address < two.network_address for one, two in pairwise(in_order))  # type: ignore[operator]


def test_ipv6_routes_are_as_long_as_sites_links_and_loopbacks_have_them() -> None:
    lengths = [ipaddress.ip_network(one).prefixlen for one in routes.prefixes("2001:2:0:8000::/49", 100)]
    assert set(lengths) <= {56, 60, 64, 127, 128}
    assert lengths.count(64) > 50


def test_prefixes_and_destinations_are_the_same_every_time() -> None:
    """Or a device that was given the routes of yesterday's list would not have today's."""
    assert routes.prefixes("48.0.0.0/8", 3) == routes.prefixes("48.0.0.0/8", 3)
    some = routes.prefixes("48.0.0.0/8", 300)
    assert routes.destinations(some, 7) == routes.destinations(some, 7)
    assert routes.destinations(some, 7) != routes.destinations(some, 8)
    # Another number of routes is no beginning of the same list: lengths follow the room there is.
    assert max(ipaddress.ip_network(one).prefixlen for one in routes.prefixes("48.0.0.0/8", 65_536)) == 24
    assert min(ipaddress.ip_network(one).prefixlen for one in routes.prefixes("48.0.0.0/8", 16)) >= 12


@pytest.mark.parametrize(("version", "profile"), [(4, "size: 64B"), (6, "size: 84B, ip: 6")])
def test_every_route_is_a_destination_of_the_flows(version: int, profile: str) -> None:
    asked = plan("routes: [300], direction: [bidir]", profile=f"{profile}, flows: 4096")
    (case,) = cases(asked)
    wiring = asked.kind.wire(asked.lab.links, case.settings)
    spec = trial_spec(asked, case, wiring, Trial("x", Frames.steady(FrameRate(1000), 10**6, "t")))
    for stream, behind in zip(spec["streams"], (1, 0), strict=True):
        (network,) = (header for header in stream["headers"] if header["type"] == f"ipv{version}")
        addresses = [ipaddress.ip_address(one) for one in network["dst"]["list"]]
        networks = [ipaddress.ip_network(one) for one in wiring.routes[behind]]
        assert len(addresses) == 300
        hit = {index for index, one in enumerate(networks) for address in addresses if address in one}
        assert hit == set(range(300))
    table = wiring.session["devices"][0]["forwarding"]["routes"]
    assert sum(ipaddress.ip_network(route["prefix"]).version == version for route in table) == 600
    hops = {route["via"] for route in table if ipaddress.ip_network(route["prefix"]).version == version}
    assert hops == ({"100.64.0.2", "100.64.1.2"} if version == 4 else {"fd00:64:0::2", "fd00:64:1::2"})


@pytest.mark.parametrize(
    ("matrix", "more", "expected"),
    [
        (
            "routes: [0]",
            {},
            "`emulated/router`: `routes` is a number of routes behind each port, 1 to 300000, not `0` | None",
        ),
        ("routes: [many]", {}, "1 to 300000, not `many` | None"),
        (
            "routes: [8192]",
            {},
            "4096 flows do not reach all of 8192 routes (case `routes 8192 / it / uni`)"
            " | `flows: 8192` or more",
        ),
        (
            "routes: [16]",
            {"profile": "size: 128B, ip: 6", "kind": "linux/router"},
            "`linux/router`: it forwards IPv4 alone, so there are no IPv6 routes",
        ),
        (
            "routes: [16 IPv6]",
            {},
            "drawn from the routes, which are IPv6 (case `16 IPv6 / it / uni`) | take `ip: 6`",
        ),
        (
            "routes: [16]",
            {"profile": f"size: 64B, flows: 1, headers: [{', '.join(HEADERS)}]"},
            "destinations are drawn from the routes (case `routes 16 / it / uni`) | leave `headers` out",
        ),
        ("routes: [16]", {"kind": "emulated/bridge"}, "unknown axis `routes` of the matrix"),
    ],
)
def test_impossible_routes_are_refused(matrix: str, more: dict[str, str], expected: str) -> None:
    assert any(expected in told for told in mistakes(matrix, **more))


@pytest.mark.parametrize("profile", ["size: 64B", "size: 84B, ip: 6"])
def test_throughput_against_the_number_of_routes_is_one_table(profile: str, tmp_path: Path) -> None:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    asked = plan("routes: [1, 256, 4096], direction: [bidir]", profile=f"{profile}, flows: 4096")
    outcome = runner.run(asked, tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        for case in run.cases:
            trials = list(run.trials(case.head.number))
            count = int(case.head.axes["routes"])
            assert trials[0].name == "every route"
            # Each route once, both ways, before anything is measured.
            assert [stream.received for stream in trials[0].result.streams] == [count, count]
            assert case.result is not None
            assert case.result.trials[0] > 0
        shown = view(run)
        told = json.loads(report_text("json", shown))
        page = report_text("markdown", shown)
    assert all(case["state"] == "done" for case in told["cases"])
    shown_table = page[page.rindex("Against the number of routes") :]
    rows = [line for line in shown_table.splitlines() if line.startswith("|") and "40,000" in line][:3]
    # The number of routes is a column, and stands there once.
    assert [row.split("|")[1].strip() for row in rows] == ["1", "256", "4,096"]


@pytest.mark.parametrize("profile", ["size: 64B", "size: 84B, ip: 6"])
def test_a_device_without_one_of_the_routes_is_not_measured(
    profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    whole = model._forwarding

    def short(*asked: Any) -> object:
        *others, tables = asked
        return whole(*others, {version: (first, last[:-1]) for version, (first, last) in tables.items()})

    monkeypatch.setattr(model, "_forwarding", short)
    from netdyno.campaign.case import run_case
    from netdyno.campaign.events import Failed
    from netdyno.campaign.job import Job
    from netdyno.testers import TESTERS

    asked = plan("routes: [256], direction: [uni]", profile=f"{profile}, flows: 4096")
    events: list[object] = []
    run_case(Job(asked, cases(asked)[0], TESTERS["netdyno"]), events.append, lambda: False)
    assert isinstance(events[-1], Failed)
    missing = asked.kind.wire(asked.lab.links, cases(asked)[0].settings).routes[1][-1]
    message = f"1 of 256 routes forward nothing of `west-east` (first {missing})"
    assert events[-1].error.message.startswith(message)


def test_a_lost_frame_is_no_missing_route(tmp_path: Path) -> None:
    """Of 4096 frames four are lost: all routes are there. Of one frame in ten that would be too kind."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    asked = plan("routes: [4096], direction: [uni], loses: [1/1000, 1/10]")
    outcome = runner.run(asked, tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        some, many = run.cases
        names = [[trial.name for trial in run.trials(case.head.number)] for case in (some, many)]
        firsts = [next(run.trials(case.head.number)).result.streams[0] for case in (some, many)]
        page = report_text("markdown", view(run))
    assert [one.offered - one.flows_received for one in firsts] == [4, 410]
    assert names[0][:2] == ["every route", "every route, 4 frames each"]
    assert names[0][2].startswith("measured: ")
    assert some.result is not None
    assert min(some.result.trials) > 1
    assert RoutesRetried(4, 4096, 4) in some.result.notes
    assert names[1] == ["every route"]
    assert "410 of 4,096 routes forward nothing of" in page


def test_number_of_flows_is_that_of_the_measured_trial(tmp_path: Path) -> None:
    """The trial before it, which proves the routes, has a flow for each route."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    outcome = runner.run(plan("routes: [64], direction: [uni]"), tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as run:
        trials = list(run.trials(0))
        (case,) = view(run).cases
    sent = [json.loads(trial.spec)["streams"][0]["flows"] for trial in trials]
    assert sent[0] == 64
    assert case.flows == sent[1] == 4096


def test_the_routes_of_a_plan_are_printed_each_with_its_next_hop() -> None:
    told = list(listed(plan("routes: [2, 1]")))
    assert [line for line in told if line.startswith("#")] == [
        "# 2 routes behind each port",
        "# 1 route behind each port",
    ]
    assert len(told) == 2 + 4 + 2
    prefix, _, hop = told[1].partition(" via ")
    assert ipaddress.ip_network(prefix).subnet_of(ipaddress.ip_network("16.0.0.0/8"))
    assert hop == "100.64.0.2"
    assert told[3].endswith(" via 100.64.1.2")


def test_ipv6_routes_are_printed_by_the_addresses_of_their_own_version() -> None:
    told = list(listed(plan("routes: [2]", profile="size: 84B, ip: 6, flows: 256")))
    assert told[0] == "# 2 IPv6 routes behind each port"
    for line, network, hop in zip(
        told[1:], ("2001:2::/49",) * 2 + ("2001:2:0:8000::/49",) * 2, ("0",) * 2 + ("1",) * 2, strict=True
    ):
        prefix, _, via = line.partition(" via ")
        assert ipaddress.IPv6Network(prefix).subnet_of(ipaddress.IPv6Network(network))
        assert via == f"fd00:64:{hop}::2"


def test_an_external_router_without_an_ipv6_address_has_no_ipv6_routes() -> None:
    links = tuple(
        LabLink(name, name, 10**9, address=f"192.0.2.{end}/30", gateway=f"192.0.2.{end - 1}")
        for name, end in (("west", 2), ("east", 6))
    )
    assert len(KINDS["external"].wire(links, {"routes": "3"}).routes[1]) == 3
    with pytest.raises(ValueError, match="IPv6 routes want an IPv6 `address` and `gateway` of every link"):
        KINDS["external"].wire(links, {"routes": "3 IPv6"})
