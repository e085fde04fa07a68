# ruff: noqa: E501 (plans and messages are quoted whole, one a line)
"""RFC 2544 section 11: broadcasts among the test frames and packet filters, on devices whose answer is known."""

from __future__ import annotations

import csv
import io
import ipaddress
import re
from fractions import Fraction
from pathlib import Path

import pytest
from commands import said
from methodlab import run_here
from netdyno.campaign.reasons import REASONS
from netdyno.campaign.standard import conditions
from netdyno.cli.outline import lines
from netdyno.devices import KINDS, LabLink, filters
from netdyno.devices.linux.services.filters import table
from netdyno.errors import PlanErrors
from netdyno.methods.parts.rules import Conditions, deviations
from netdyno.methods.reasons.deviations import NotTested
from netdyno.modifiers import MODIFIERS, Modifier
from netdyno.plan import Plan, parse
from netdyno.plan.device_lists import filter_lines as listed
from netdyno.plan.matrix import cases, situation
from netdyno.reports.model.from_store import view
from netdyno.reports.model.joined import join_tables
from netdyno.store import open_run
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.finding import Result
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.records import StoredCase
from netdyno.values.units import FrameRate
from pages import report_text

HELD = 1025
"""Frames an emulated port holds: 1024 wait, one is served (docs/labs.md)."""


def plan(
    modifier: str,
    *,
    kind: str = "emulated/router",
    settings: str = "",
    profile: str = "size: 64B, flows: 256, addresses: rfc2544",
    matrix: str = "direction: [uni]",
    method: str = "throughput: {duration: 1s, width: 10fps}",
    rate: str = "100Mbps",
    links: int = 2,
    settle: str = "1ms",
) -> Plan:
    ports = ("west", "east", "south", "north")
    cables = "\n".join(
        f'    - {{endpoints: ["tester:{ports[n]}", "dut:d{n}"], rate: {rate}}}' for n in range(links)
    )
    return parse(f"""\
title: Modifiers
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}{f", settings: {{{settings}}}" if settings else ""}}}}}
  links:
{cables}
traffic: {{it: {{{profile}}}}}
matrix: {{{matrix}, modifier: [{modifier}]}}
method: {{{method}}}
trial: {{sample: 10ms, settle: {settle}, drain: 200ms}}
""")  # fmt: skip


def run(asked: Plan, folder: Path) -> tuple[StoredCase, ...]:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    outcome = run_here(asked, folder)
    with open_run(outcome.folder, REASONS) as stored:
        found = tuple(stored.cases)
    for case in found:
        assert case.result is not None, case.error
    return found


def result(case: StoredCase) -> Result:
    assert case.result is not None
    return case.result


def throughput(case: StoredCase, scope: str = "west-east") -> Fraction:
    (value,) = (one for one in result(case).values if (one.name, one.scope) == ("throughput", scope))
    assert value.load is not None
    return value.load


def cells(case: StoredCase, name: str) -> list[tuple[object, ...]]:
    (table,) = (one for one in result(case).tables if one.name == name)
    return list(table.rows)


def spec(asked: Plan, fps: int = 1000, **more: object) -> dict[str, object]:
    (case,) = cases(asked)
    load = Segment("t", 10**9, FrameRate(fps), FrameRate(fps))
    wiring = asked.kind.wire(asked.lab.links, case.settings)
    return trial_spec(asked, case, wiring, Trial("x", Frames((load,), **more)))  # type: ignore[arg-type]


# Broadcast frames.


def test_every_hundredth_frame_is_a_broadcast_of_the_same_stream() -> None:
    """The load is of both; of 1000 frames a second 990 are the stream's, 10 are broadcasts from the same port."""
    asked = plan("broadcast", matrix="direction: [bidir]")
    found = spec(asked)
    streams = {one["name"]: one for one in found["streams"]}  # type: ignore[attr-defined]
    assert list(streams) == ["west-east", "east-west", "west-east/broadcast", "east-west/broadcast"]
    for way, port in (("west-east", 0), ("east-west", 1)):
        frames, others = streams[way], streams[f"{way}/broadcast"]
        assert (
            (others["tx_port"], others["rx_port"])
            == (frames["tx_port"], frames["rx_port"])
            == (port, 1 - port)
        )
        assert others["headers"] == [
            {"type": "ethernet", "src": found["ports"][port]["mac"], "dst": "ff:ff:ff:ff:ff:ff"}
        ]  # type: ignore[index]
        assert others["sizes"] == frames["sizes"]
        assert [one["schedule"][0]["from_bps"] for one in (frames, others)] == [672 * 990, 672 * 10]
    (case,) = cases(asked)
    known = situation(case, asked.kind.wire(asked.lab.links, case.settings))
    assert known.streams == ("west-east", "east-west"), "no method sees them"
    assert known.share("west-east") == Fraction(99, 100)


def test_a_burst_is_as_long_as_its_table_says(tmp_path: Path) -> None:
    """Of n frames in a row, broadcasts among them, a device of 100,000 forwards some while they come at 1,488,095
    a second and holds 1,025; a router throws the broadcasts away behind its queue."""
    method = "back-to-back: {repeats: 1, quiet: 50ms, throughput: 95kpps}"
    asked = plan("none, broadcast", settings="capacity: 100kpps", method=method, rate="1Gbps")
    found = run(asked, tmp_path)
    line = Fraction(10**9, 672)
    longest = max(n for n in range(5000) if n - int((n - 1) * 100_000 / line) <= 1025)
    for case in found:
        (value,) = (
            one
            for one in result(case).values
            if (one.name, one.scope) == ("back-to-back frames", "west-east")
        )
        ((_, mean, *_),) = cells(case, "Back-to-back frames")
        assert value.number == value.low == value.high == mean
        assert abs(longest - mean) <= 1


def test_tagged_streams_have_tagged_broadcasts() -> None:
    (frames, others) = spec(
        plan("broadcast", kind="emulated/bridge", profile="size: 128B, vlan: [{vid: 100, tpid: 0x88a8}, 200]")
    )["streams"]  # type: ignore[misc]
    assert others["headers"][1:] == frames["headers"][1:3]
    assert len(others["headers"]) == 3


def test_a_stream_of_its_own_load_has_its_hundredth_too() -> None:
    """Sent 990 frames a second, ten broadcasts go with them."""
    load = (Segment("t", 10**9, FrameRate(990), FrameRate(990)),)
    (frames, others) = spec(plan("broadcast"), loads={"west-east": load})["streams"]  # type: ignore[misc]
    assert [one["schedule"][0]["from_bps"] for one in (frames, others)] == [672 * 990, 672 * 10]


@pytest.mark.parametrize(
    ("cost", "capacity"),
    [
        # A frame in 100 us, whatever it is: of 10,000 a second 9,900 are the stream's.
        ("0ns", Fraction(10_000)),
        # A hundred frames take 99 * 100 and 200 us.
        ("100us", Fraction(100 * 10**6, 10_100)),
    ],
)
def test_the_throughput_is_that_of_the_other_frames(tmp_path: Path, cost: str, capacity: Fraction) -> None:
    settings = f"capacity: 10kpps, broadcast_cost: {cost}"
    method = "throughput: {maximum: 12kpps, duration: 1s, width: 10fps}"
    bare, broadcast = run(plan("none, broadcast", settings=settings, method=method), tmp_path)
    # What waits at the end of a second comes in the drain: so much more passes.
    assert 10_000 <= throughput(bare) <= 10_000 + HELD
    assert abs(throughput(broadcast) - throughput(bare) * capacity / 10_000 * Fraction(99, 100)) <= 25
    assert [one.limit for one in broadcast.verdicts if one.scope == "west-east"] == ["device"]
    ((stream, frames, others, share, received),) = cells(broadcast, "Broadcast frames")
    assert stream == "west-east"
    assert isinstance(frames, Fraction)
    assert isinstance(others, Fraction)
    # One in a hundred, to the frame, in each trial that counts.
    assert abs(others - frames / 99) <= len(result(broadcast).trials)
    assert abs(Fraction(str(share)) - Fraction(1, 100)) < Fraction(1, 10_000)
    assert received == 0, "a router passes no broadcast"
    assert not [table for table in result(bare).tables if table.name == "Broadcast frames"]


def test_a_bridge_floods_them_and_loses_nothing(tmp_path: Path) -> None:
    """Three ports: each broadcast comes out of both others, once where it is counted and once elsewhere."""
    asked = plan(
        "broadcast", kind="emulated/bridge", links=3, method="throughput: {maximum: 50%, duration: 100ms}"
    )
    (case,) = run(asked, tmp_path)
    for stream, _, others, _, received in cells(case, "Broadcast frames"):
        assert received == 2 * Fraction(str(others)), stream
    assert all(
        throughput(case, name) == Fraction(10**8, 672) / 2 * Fraction(99, 100)
        for name in ("west-east", "east-south", "south-west")
    )


@pytest.mark.parametrize(
    ("sizes", "frames_off"),
    [
        ("64B", 1),
        # Loads are bits: of the last twelve frames of each mix that were not all sent, one has had longer ones.
        ("{64: 7, 594: 4, 1518: 1}", 4),
    ],
)
def test_the_share_is_exact_in_a_ramp(tmp_path: Path, sizes: str, frames_off: int) -> None:
    asked = plan("broadcast", profile=f"size: {sizes}", method="ramp: {ramp: 1s to 50%, hold: 1s}")
    (case,) = run(asked, tmp_path)
    ((_, frames, others, _, _),) = cells(case, "Broadcast frames")
    assert abs(Fraction(str(others)) - Fraction(str(frames)) / 99) <= frames_off


def test_they_are_kept_with_the_trial(tmp_path: Path) -> None:
    asked = plan("broadcast", method="throughput: {maximum: 10%, duration: 100ms}")
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    outcome = run_here(asked, tmp_path)
    with open_run(outcome.folder, REASONS) as stored:
        shown = view(stored)
        for name in ("terminal", "markdown", "json"):
            assert "Broadcast frames" in report_text(name, shown), name
        for trial in stored.trials(0):
            (beside,) = trial.result.beside
            (judged,) = trial.result.streams
            assert (judged.name, beside.name) == ("west-east", "west-east/broadcast")
            assert beside.offered == pytest.approx(judged.offered / 99, abs=1)
            assert beside.lost == beside.offered
            assert judged.lost == 0


# Filters.


def test_the_rules_are_those_of_the_standard() -> None:
    """Section 11.4: 24 that match nothing and the one that permits; it is the last, or (11.4.1) the 13th."""
    for name, count, place in (
        ("filters-1", 1, 1),
        ("filters-25", 25, 25),
        ("filters-25-13th", 25, 13),
        ("filters-250", 250, 250),
    ):
        (case,) = cases(plan(name, profile="size: 64B, flows: 1, addresses: rfc2544"))
        west, east = filters.rules_behind(case.settings["filters"], 2)
        assert east == (), "it sends nothing"
        assert len(west) == count + 1
        assert str(west[place - 1]) == "permit 198.18.0.2/32 to 198.19.0.2/32"
        assert str(west[-1]) == "deny any to any"
        others = [rule for rule in west[:-1] if not rule.permit]
        assert len({rule.source for rule in others}) == count - 1, "each is another"
        # "SHOULD not be any that are represented in the test data stream", input and output addresses.
        for end in (end for rule in others for end in (rule.source, rule.destination)):
            assert end is not None
            assert not ipaddress.ip_network(end).overlaps(ipaddress.ip_network("198.18.0.0/15"))


@pytest.mark.parametrize(
    ("profile", "direction", "links", "expected"),
    [
        ("size: 64B", "bidir", 2, ["permit 16.0.0.0/8 to 48.0.0.0/8", "permit 48.0.0.0/8 to 16.0.0.0/8"]),
        ("size: 64B, addresses: rfc2544-256", "bidir", 2, ["permit 198.18.0.2/32 to 198.19.0.0/16", "permit 198.19.0.2/32 to 198.18.0.0/16"]),
        ("size: 84B, ip: 6", "uni-reverse", 2, ["", "permit 2001:2:0:8000::/49 to 2001:2::/49"]),
        ("size: 64B", "uni", 3, ["permit 16.0.0.0/11 to 48.32.0.0/11", "permit 16.32.0.0/11 to 48.64.0.0/11", "permit 16.64.0.0/11 to 48.0.0.0/11"]),
        # Its traffic comes from where the first rules' strangers would be.
        ("size: 64B, flows: 9, addresses: {source: 192.0.2.0/24, destination: 198.19.0.0/16}", "uni", 2, ["permit 192.0.2.0/24 to 198.19.0.0/16", ""]),
    ],
)  # fmt: skip
def test_what_is_permitted_is_what_is_sent(
    profile: str, direction: str, links: int, expected: list[str]
) -> None:
    asked = plan("filters-25", profile=profile, matrix=f"direction: [{direction}]", links=links)
    (case,) = cases(asked)
    rules = filters.rules_behind(case.settings["filters"], links)
    assert [str(of_port[24]) if of_port else "" for of_port in rules] == expected
    for of_port in rules:
        for rule in of_port[:24]:
            assert rule.source is not None
            assert of_port[24].source is not None
            assert not ipaddress.ip_network(rule.source).overlaps(ipaddress.ip_network(of_port[24].source))  # type: ignore[arg-type]


def test_each_rule_that_is_looked_at_costs_what_it_costs(tmp_path: Path) -> None:
    """A frame in 10 us, and 1 us more for each rule: 100,000 a second, with one rule 90,909, the 13th 43,478 and the
    25th 28,571; and what waits at the end, 1025 frames, over the 200 ms of a trial."""
    asked = plan(
        "none, filters-1, filters-25-13th, filters-25",
        settings="capacity: 100kpps, rule_cost: 1us",
        method="throughput: {maximum: 110kpps, duration: 200ms, width: 500fps}",
    )
    found = {case.head.axes["modifier"]: case for case in run(asked, tmp_path)}
    for name, looked_at in (
        ("none", 0),
        ("filters-1", 1),
        ("filters-25-13th", 13),
        ("filters-25", 25),
    ):
        capacity = Fraction(10**6, 10 + looked_at)
        assert capacity <= throughput(found[name]) <= capacity + HELD * 5, name
    assert cells(found["filters-1"], "Filters") == [
        ("west", 1, "permit 198.18.0.0/16 to 198.19.0.0/16"),
        ("west", 2, "deny any to any"),
    ]
    assert len(cells(found["filters-25"], "Filters")) == 26
    assert not [table for table in result(found["none"]).tables if table.name == "Filters"]


def test_the_table_of_filters_is_bounded() -> None:
    """Two ports of 101 lines each: the first hundred are shown, and of how many."""
    asked = plan("filters-25", matrix="direction: [bidir]")
    (case,) = cases(asked)
    long = filters.text(
        100, 1, {0: ("198.18.0.2/32", "198.19.0.2/32"), 1: ("198.19.0.2/32", "198.18.0.2/32")}
    )
    wiring = asked.kind.wire(asked.lab.links, {**case.settings, filters.SETTING: long})
    (shown,) = case.modifier.conclude(Result("throughput", (), ()), wiring, ()).tables
    assert len(shown.rows) == 100
    assert shown.rows[0][2] == "permit 198.18.0.2/32 to 198.19.0.2/32"
    assert shown.caption.endswith("The first 100 of 202 lines; `netdyno filters` prints all.")


@pytest.mark.parametrize(
    ("modifier", "more", "expected"),
    [
        ("brodcast", {}, "`modifier` cannot be `brodcast` | did you mean `broadcast`? "),
        ("filters-1", {"kind": "emulated/bridge"}, "`filters-1` cannot be in case `uni / filters-1 / it`: `emulated/bridge` has no packet filter"),
        ("filters-1", {"profile": "size: 64B, headers: [{type: ethernet}, {type: ipv4, src: 16.0.0.1, dst: 48.0.0.1}, {type: udp, sport: 1, dport: 2}], flows: 1"}, "and `headers` may have several"),
        ("none, filters-1", {"matrix": "direction: [bidir]", "links": 3}, "a port sends to several"),
        ("filters-1", {"profile": "size: 64B, flows: 1, addresses: {source: 10.0.0.0/31, destination: 10.0.1.0/31}", "links": 3}, "10.0.0.0/31 has fewer than 8 addresses"),
        ("broadcast", {"profile": "size: 64B, classes: {a: {dscp: ef, share: 10%}, b: {}}"}, "which a profile with classes does not allow"),
        ("broadcast", {"kind": "emulated/bridge", "links": 3, "matrix": "direction: [uni], pattern: [addresses]"}, "does not go with a pattern of MAC addresses"),
        ("filters-1", {"settings": "rule_cost: 1us"}, "`rule_cost` is of ports with a `capacity` of their own"),
        ("none", {"matrix": "direction: [uni], filters: [x]"}, "`filters` is not `x`, but like `25 at 13, 0: "),
        ("none", {"matrix": "direction: [uni], filters: ['3 at 4, 0: 1.0.0.0/8 > 2.0.0.0/8']"}, "rule 4 of 3 cannot be"),
        ("none", {"matrix": "direction: [uni], filters: ['3 at 1, 2: 1.0.0.0/8 > 2.0.0.0/8']"}, "port 2 is named twice, or there are only 2"),
        ("none", {"matrix": "direction: [uni], filters: ['3 at 1, 0: 1.0.0.1/8 > 2.0.0.0/8']"}, "has host bits set"),
    ],
)  # fmt: skip
def test_impossible_modifier_is_refused_with_the_plan(
    modifier: str, more: dict[str, object], expected: str
) -> None:
    with pytest.raises(PlanErrors) as found:
        plan(modifier, **more)  # type: ignore[arg-type]
    told = [f"{error.message} | {error.hint}" for error in found.value.errors]
    assert any(expected in one for one in told), told


def test_external_router_gets_the_list_of_filters_to_configure() -> None:
    links = (
        LabLink("west", "a", 10**9, "eth1", "10.0.0.2/24", "10.0.0.1"),
        LabLink("east", "b", 10**9, "eth2", "10.0.1.2/24", "10.0.1.1"),
    )
    wiring = KINDS["external"].wire(links, {"filters": "1 at 1, 0: 198.18.0.2/32 > 198.19.0.2/32"})
    assert wiring.filters == (("permit 198.18.0.2/32 to 198.19.0.2/32", "deny any to any"), ())


OWN = """\
title: Own
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:west", "dut:a"], rate: 1Gbps, interface: eth1, address: 10.0.0.2/24, gateway: 10.0.0.1}
    - {endpoints: ["tester:east", "dut:b"], rate: 1Gbps, interface: eth2, address: 10.0.1.2/24, gateway: 10.0.1.1}
traffic: {it: {size: 64B, flows: 1, addresses: rfc2544}}
matrix: {direction: [uni], modifier: [none, filters-1]}
method: {throughput: {}}
"""


def test_device_that_is_not_configured_has_one_filter_a_run() -> None:
    """Or a case without a filter would be measured with one, and the report would say otherwise."""
    with pytest.raises(PlanErrors) as found:
        parse(OWN)
    (error,) = found.value.errors
    assert (error.line, error.column) == (8, 28)
    assert error.code == "not-askable"
    parse(OWN.replace("[none, filters-1]", "[none, broadcast]"))
    one = parse(OWN + "only: [{modifier: filters-1}]\n")
    assert list(listed(one)) == [
        "# uni / filters-1 / it: what comes in from west",
        "permit 198.18.0.2/32 to 198.19.0.2/32",
        "deny any to any",
    ]


def test_check_names_the_conditions_cases_are_run_under() -> None:
    told = list(lines(plan("none, broadcast, filters-25")))
    assert (
        "  broadcast: one frame in a hundred is a broadcast, in place of a test frame (RFC 2544 section 11.1)"
        in told
    )
    assert [line.split(":")[0].strip() for line in told[1:3]] == ["broadcast", "filters-25"]


EVERY_MODIFIER = (
    "broadcast frames (11.1), management frames (11.2), routing update frames (11.3), filters (11.4)"
)


def test_modifier_without_a_section_is_named_beside_the_standard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Modifier("wet", "rain falls", settings=lambda profile, ways, ports: {"queueing": "priority"})
    monkeypatch.setitem(MODIFIERS, own.name, own)  # type: ignore[arg-type]
    asked = plan("none, wet", method="throughput: {maximum: 10%, duration: 100ms}")
    assert "  wet: rain falls" in list(lines(asked))
    plain, wet = (result(case) for case in run(asked, tmp_path))
    assert wet.standard.startswith(plain.standard)
    assert "`wet`" in wet.standard
    assert wet.recommended == plain.recommended


def test_plan_without_conditions_lists_each_of_them(tmp_path: Path) -> None:
    short = "throughput: {maximum: 10%, duration: 100ms}"
    (case,) = run(plan("none", method=short), tmp_path)
    tests = [one.test for one in result(case).recommended if isinstance(one, NotTested)]
    assert tests == [EVERY_MODIFIER, "traffic between one pair of addresses", "equal load from both sides"]


def test_plan_with_modifiers_alone_lacks_the_plain_case() -> None:
    found = conditions(plan("broadcast, filters-1", profile="size: 64B, flows: 1"))
    assert found == Conditions(
        sizes=1,
        modifiers_left=("management frames (11.2)", "routing update frames (11.3)"),
        has_plain=False,
        networks=1,
        has_pair=True,
        has_both_ways=False,
    )
    from_plan = deviations("RFC 2544", found)
    assert from_plan["compliance"] == ()
    assert [one.code for one in from_plan["recommended"]] == [
        "outside-rule",
        *["not-tested"] * 2,
        "outside-rule",
        "not-tested",
    ]


def test_methods_of_other_standards_have_no_conditions(tmp_path: Path) -> None:
    (case,) = run(plan("none", method="order: {load: 1%, duration: 100ms, repeats: 1}"), tmp_path)
    assert not any(isinstance(one, NotTested) for one in result(case).recommended)


def test_the_table_of_a_linux_router_is_one_chain_a_port() -> None:
    wiring = KINDS["linux/router"].wire(
        (LabLink("west", "d0", 10**9), LabLink("east", "d1", 10**9)),
        {"filters": "2 at 2, 0: 198.18.0.2/32 > 198.19.0.2/32, 1: 198.19.0.2/32 > 198.18.0.2/32"},
    )
    assert wiring.filters[1] == (
        "ip saddr 192.0.2.1/32 ip daddr 203.0.113.1/32 drop",
        "ip saddr 198.19.0.2/32 ip daddr 198.18.0.2/32 accept",
        "drop",
    )
    text = table(wiring.filters)
    assert re.findall(r"chain (\w+)", text) == ["from_d0", "from_d1", "forward"]
    assert '"d0" : jump from_d0, "d1" : jump from_d1' in text
    assert '"d1"' not in table((wiring.filters[0], ()))


def test_every_modifier_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "plan.md").read_text()
    for name in MODIFIERS:
        assert f"`{name}`" in text, name


def test_the_csv_says_where_the_tables_of_modifiers_are(tmp_path: Path) -> None:
    """A page shows them; a file of one row a value cannot, so it names them and the file that has them."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    matrix = "direction: [uni]"
    outcome = run_here(plan("none, management, broadcast, filters-1, routing", matrix=matrix), tmp_path)
    named = ("Management queries", "Broadcast frames", "Filters", "Routing updates")
    done = said("report", outcome.folder, "--as", "csv")
    for row in csv.DictReader(io.StringIO(done.stdout)):
        assert row["setting_modifier"]
    (hint,) = done.stderr.splitlines()
    assert all(name in hint for name in named)
    assert f"`netdyno report {outcome.folder} --as tables`" in hint
    assert not said("report", outcome.folder, "--as", "json").stderr
    page, tables = (said("report", outcome.folder, "--as", name).stdout for name in ("html", "tables"))
    blocks = {block.splitlines()[0]: block.splitlines()[2:] for block in tables.split("\n\n")}
    for name in named:
        assert f"<h3>{name}</h3>" in page
        assert blocks[name], name


def test_caption_of_rows_of_several_ports_stands_once(tmp_path: Path) -> None:
    """Updates of `uni` go to one port and those of `uni-reverse` to the other; progress calls cases as reports do."""
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    asked = plan("routing", matrix="direction: [uni, uni-reverse]", method="frame-loss: {duration: 100ms}")
    outcome = run_here(asked, tmp_path)
    with open_run(outcome.folder, REASONS) as stored:
        shown = view(stored)
    (table,) = (one for one in join_tables(shown) if one.name == "Routing updates")
    places = [column.name for column in table.columns].index("port")
    assert {row[places] for row in table.rows} == {"west", "east"}
    assert len([text for text in table.captions if "appendix C.2.6.2" in text]) == 1
    assert [case.title for case in cases(asked)] == [case.name for case in shown.cases]
