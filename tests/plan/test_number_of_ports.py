# ruff: noqa: E501 (plans and messages are quoted whole, one a line)
"""Labs with one link, or three and more: who sends to whom, with which addresses, and what comes of it."""

from __future__ import annotations

import csv
import io
import ipaddress
import json
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from netdyno.campaign.reasons import REASONS
from netdyno.cli import outline
from netdyno.devices import KINDS, LabError, LabLink
from netdyno.devices.wiring import Wiring
from netdyno.errors import PlanErrors
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import Case, cases, streams
from netdyno.ports.backends import PortBackend
from netdyno.ports.threads import Threads
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.testers.netdyno import raw
from netdyno.testers.netdyno.spec import read_result, session_spec, trial_spec
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Outcome
from netdyno.values.units import FrameRate
from pages import report_text
from words import has_code

PORTS = ("west", "east", "south", "north", "p4", "p5", "p6", "p7")
MS = 1_000_000
NO_LOADS: Mapping[str, int] = {}
NO_RATES: Mapping[int, str] = {}


def text(
    links: int, *, kind: str = "emulated/router", more: str = "", rates: Mapping[int, str] = NO_RATES
) -> str:
    cables = "\n".join(
        f'    - {{endpoints: ["tester:{PORTS[n]}", "dut:d{n}"], rate: {rates.get(n, "1Gbps")}}}'
        for n in range(links)
    )
    return f"""\
title: Ports
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}}}}}
  links:
{cables}
traffic:
  small: {{size: 64B, flows: 100}}
{more}method: {{throughput: {{duration: 20ms, width: 1%}}}}
trial: {{sample: 1ms, settle: 0s, drain: 100ms}}
"""


def mistakes(plan: str) -> list[str]:
    with pytest.raises(PlanErrors) as found:
        parse(plan)
    return [f"{error.line}:{error.column} {error.message}" for error in found.value.errors]


def wired(plan: Plan, number: int = 0) -> tuple[Case, Wiring]:
    case = cases(plan)[number]
    return case, plan.kind.wire(plan.lab.links, case.settings)


# Who sends to whom.


@pytest.mark.parametrize(
    ("links", "direction", "expected"),
    [
        (1, "uni", ["west-west"]),
        (2, "uni", ["west-east"]),
        (2, "uni-reverse", ["east-west"]),
        (2, "bidir", ["west-east", "east-west"]),
        (3, "uni", ["west-east", "east-south", "south-west"]),
        (3, "uni-reverse", ["east-west", "south-east", "west-south"]),
        (3, "bidir", ["west-east", "east-south", "south-west", "east-west", "south-east", "west-south"]),
        (4, "uni", ["west-east", "east-south", "south-north", "north-west"]),
    ],
)
def test_streams_by_the_number_of_links(links: int, direction: str, expected: list[str]) -> None:
    case, wiring = wired(parse(text(links, more=f"matrix: {{direction: [{direction}]}}\n")))
    assert [stream.name for stream in streams(case, wiring)] == expected


def test_of_eight_ports_each_sends_once_and_receives_once() -> None:
    ways = [stream.place for stream in streams(*wired(parse(text(8))))]
    assert sorted(way.tx for way in ways) == sorted(way.rx for way in ways) == list(range(8))
    assert all(way.tx != way.rx and way.share == 1 for way in ways)


@pytest.mark.parametrize(("links", "expected"), [(1, ["uni"]), (2, ["uni", "bidir"]), (3, ["uni"])])
def test_directions_of_a_plan_that_names_none(links: int, expected: list[str]) -> None:
    assert [case.direction for case in cases(parse(text(links)))] == expected


def test_a_check_prints_the_streams_and_what_is_behind_each_port() -> None:
    assert list(outline.lines(parse(text(1)))) == [
        "  uni: west-west",
        "  behind west: 16.0.0.0/8, 48.0.0.0/8",
    ]
    assert list(outline.lines(parse(text(3)))) == [
        "  uni: west-east, east-south, south-west",
        "  behind west: 16.0.0.0/11, 48.0.0.0/11",
        "  behind east: 16.32.0.0/11, 48.32.0.0/11",
        "  behind south: 16.64.0.0/11, 48.64.0.0/11",
    ]
    bridge = list(outline.lines(parse(text(2, kind="emulated/bridge"))))
    assert bridge == ["  uni: west-east", "  bidir: west-east, east-west"]


# Mistakes.


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (
            text(1, more="matrix: {direction: [uni, bidir]}\n"),
            "8:27 a lab with one link has no direction `bidir`",
        ),
        (
            text(1, more="matrix: {direction: [uni-reverse]}\n"),
            "8:22 a lab with one link has no direction `uni-reverse`",
        ),
        (text(1, kind="emulated/bridge"), "4:3 the lab has 1 link, and `emulated/bridge` takes two to 64"),
        (text(3, kind="linux/xconnect"), "4:3 the lab has 3 links, and `linux/xconnect` takes two"),
        (text(3, kind="emulated/asr9006"), "4:3 the lab has 3 links, and `emulated/asr9006` takes two"),
        (
            text(4, kind="emulated/cross-connect"),
            "4:3 the lab has 4 links, and `emulated/cross-connect` takes two",
        ),
        (
            text(
                3,
                more="  tiny: {size: 64B, flows: 1, addresses: {source: 10.0.0.0/30, destination: 10.1.0.0/16}}\n",
            ),
            "10:42 10.0.0.0/30 has fewer than 8 addresses: too few for three or more links",
        ),
        # An eighth of a /26 is a /29: six hosts each side.
        (
            text(
                3,
                more="  few: {size: 64B, flows: 37, addresses: {source: 10.0.0.0/26, destination: 10.0.1.0/26}}\n",
            ),
            "10:27 37 flows, but an eighth of the addresses, which each port has, makes 36",
        ),
        (
            text(
                3,
                more="  own: {size: 64B, flows: 1, headers: [{type: ethernet}, {type: ipv4, src: 16.0.0.1, dst: 48.0.0.1}, {type: udp, sport: 1, dport: 2}]}\n",
            ),
            "10:30 `headers` give every port the same addresses, and a router sends them all to one port",
        ),
    ],
)
def test_what_cannot_be_is_refused_where_it_stands(plan: str, expected: str) -> None:
    assert mistakes(plan) == [expected]


def test_65_links_are_too_many_even_for_an_external_device() -> None:
    links = tuple(LabLink(f"p{n}", f"d{n}", 10**9) for n in range(65))
    with pytest.raises(ValueError, match="`external` takes one to 64 links, not 65"):
        KINDS["external"].wire(links, {})


# Addresses.


def ends(stream: dict[str, Any]) -> tuple[Any, Any]:
    (header,) = [header for header in stream["headers"] if header["type"] in ("ipv4", "ipv6")]

    def span(field: Any) -> tuple[Any, Any]:
        low, high = (
            (field["random"]["min"], field["random"]["max"]) if isinstance(field, dict) else (field, field)
        )
        return ipaddress.ip_address(low), ipaddress.ip_address(high)

    return span(header["src"]), span(header["dst"])


@pytest.mark.parametrize(
    ("links", "direction"), [(1, "uni"), *((n, way) for n in (2, 3, 8) for way in ("uni", "uni-reverse"))]
)
@pytest.mark.parametrize(
    "profile", ["size: 64B", "size: 64B, flows: 1", "size: 64B, addresses: rfc2544", "size: 84B, ip: 6"]
)
def test_router_has_one_route_to_the_port_of_each_stream_end(
    links: int, profile: str, direction: str
) -> None:
    plan = parse(
        text(links, more=f"  it: {{{profile}}}\nmatrix: {{profile: [it], direction: [{direction}]}}\n")
    )
    case, wiring = wired(plan)
    routes = [
        (ipaddress.ip_network(route["prefix"]), route["via"])
        for route in wiring.session["devices"][0]["forwarding"]["routes"]
    ]
    assert not any(
        one.version == other.version and one.overlaps(other)
        for (one, _), (other, _) in combinations(routes, 2)
    )
    rate = Fraction(1000)
    trial = Trial("trial", Frames.steady(FrameRate(rate), MS))
    for stream in trial_spec(plan, case, wiring, trial)["streams"]:
        for (low, high), port in zip(ends(stream), (stream["tx_port"], stream["rx_port"]), strict=True):
            (via,) = [via for prefix, via in routes if low in prefix and high in prefix]
            assert via in (wiring.ports[port].ipv4, wiring.ports[port].ipv6)


# What comes of it, with the real engine, in virtual time.


def shot(
    plan: Plan, fps: int, duration_ns: int, loads: Mapping[str, int] = NO_LOADS
) -> tuple[Outcome, dict[str, Any]]:
    """One trial of a plan's first case. loads: of streams that have one of their own, L1 bits a second."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    case, wiring = wired(plan)
    rate = Fraction(fps)
    spec = trial_spec(plan, case, wiring, Trial("trial", Frames.steady(FrameRate(rate), duration_ns)))
    for stream in spec["streams"]:
        (segment,) = stream["schedule"]
        bps = loads.get(stream["name"], segment["from_bps"])
        segment.update(from_bps=bps, to_bps=bps)
    with raw(session_spec(wiring)) as session:
        result = read_result(session.trial(spec))
    assert result.invalid == ()
    return result, result.devices[0]


@pytest.mark.parametrize("profile", ["size: 64B, flows: 100", "size: 84B, ip: 6, flows: 100"])
@pytest.mark.parametrize(
    ("kind", "links"),
    [*(("emulated/router", n) for n in (1, 3, 8)), ("emulated/bridge", 3), ("emulated/bridge", 8)],
)
def test_every_frame_comes_back_where_it_should(links: int, kind: str, profile: str) -> None:
    plan = parse(text(links, kind=kind, more=f"  it: {{{profile}}}\nmatrix: {{profile: [it]}}\n"))
    result, _ = shot(plan, 100_000, 20 * MS)
    assert len(result.streams) == links
    # 100,000 frames a second for 20 ms.
    assert [(one.intended, one.offered, one.received) for one in result.streams] == [
        (2000, 2000, 2000)
    ] * links
    assert all((one.lost, one.duplicates, one.corrupted) == (0, 0, 0) for one in result.streams)


def test_stream_over_a_narrow_egress_gets_its_line_and_others_all() -> None:
    """Two ports of 10 Gbit/s and one of 1: what goes to that one is held to its line, to the frame."""
    plan = parse(text(3, rates={0: "10Gbps", 1: "10Gbps"}))
    # All at twice the narrow line, but for the narrow port itself, which sends half of what its line carries.
    twice = 2 * 10**9
    loads = {"west-east": twice, "east-south": twice, "south-west": 500_000_000}
    result, device = shot(plan, 1, 100 * MS, loads)
    found = {one.name: one for one in result.streams}
    assert (found["west-east"].lost, found["south-west"].lost) == (0, 0)
    assert found["west-east"].received == found["west-east"].intended > 0
    narrow = found["east-south"]
    assert narrow.lost > 0
    # What did not come back is what the device says it had no room for at its third port, and nothing else.
    assert [port["out_drops"] for port in device["ports"]] == [0, 0, narrow.lost]
    # 64 B are 84 B on the line: 10^9 / 672 frames a second, 1488.095 in each millisecond once it is full.
    middle = narrow.rx[20:80]
    assert set(middle) <= {1488, 1489}
    assert abs(sum(middle) - 60 * Fraction(10**9, 672 * 1000)) < 1


RUN = "matrix: {capacity: [line, 100kpps], direction: [uni]}\n"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[int, Path]:
    """A whole campaign with one link, and one with three."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    found = {}
    for links in (1, 3):
        folder = tmp_path_factory.mktemp(f"ports{links}")
        (folder / "plan.yaml").write_text(text(links, more=RUN))
        command = [sys.executable, "-m", "netdyno", "run", "plan.yaml", "--out", "runs"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        (found[links],) = (folder / "runs").iterdir()
    return found


@pytest.mark.parametrize(
    ("links", "streams"), [(1, ["west-west"]), (3, ["west-east", "east-south", "south-west"])]
)
def test_throughput_of_each_stream_is_the_line_s_or_the_device_s(
    runs: Mapping[int, Path], links: int, streams: list[str]
) -> None:
    with open_run(runs[links], REASONS) as run:
        table = json.loads(report_text("json", view(run)))
        rows = list(csv.DictReader(io.StringIO(report_text("csv", view(run)))))
    full, capped = table["cases"]
    assert full["streams"] == capped["streams"] == streams
    scopes = [*streams, "sum"]
    values = {one["scope"]: one for one in full["values"] if one["value"] == "throughput"}
    assert list(values) == scopes
    # 1 Gbit/s carries 10^9 / 672 frames of 64 B a second.
    for scope in streams:
        assert Fraction(values[scope]["number_pps_exact"]) == Fraction(10**9, 672)
    assert Fraction(values["sum"]["number_pps_exact"]) == links * Fraction(10**9, 672)
    assert {one["share_of_line_percent"] for one in values.values()} == {100}
    assert {one["limit"] for one in values.values()} == {"line"}
    # 100,000 a second are taken in; what a queue holds beyond that does not last.
    for one in (one for one in capped["values"] if one["value"] == "throughput"):
        times = links if one["scope"] == "sum" else 1
        assert 99_000 * times <= Fraction(one["number_pps_exact"]) <= 101_000 * times
        assert one["limit"] == "device"
    shares = [
        row["share_of_line_percent"]
        for row in rows
        if (row["value"], row["setting_capacity"]) == ("throughput", "line")
    ]
    assert shares == ["100"] * len(scopes)


@pytest.mark.parametrize("links", [1, 3])
def test_reports_say_what_their_rates_add_up(runs: Mapping[int, Path], links: int) -> None:
    with open_run(runs[links], REASONS) as run:
        pages = {name: report_text(name, view(run)) for name in ("terminal", "markdown", "html")}
    # 1,488,095 frames a second a stream.
    rate = {1: "1.488 Mpps", 3: "4.464 Mpps"}[links]
    together = "Rates are those of all 3 sending ports together."
    for name, page in pages.items():
        assert rate in page.replace("\N{NO-BREAK SPACE}", " "), name
        assert (together in page) == (links == 3), name


# The tester's own limits.


def test_one_memif_is_not_joined_with_itself() -> None:
    kind = KINDS["external"]
    alone = LabLink("west", "a", 10**9, backend=PortBackend.of("memif", socket="/nowhere"))
    with (
        pytest.raises(LabError, check=has_code("ports-not-joinable")) as told,
        kind.loopback((alone,), Threads()),
    ):
        pass
    assert "--backend memif" in (told.value.hint or "")
