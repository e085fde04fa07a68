# ruff: noqa: E501 (plans and messages are quoted whole, one a line)
"""RFC 2544 section 11.3: routing updates in two states in turn, followed by a device whose answer is known."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from netdyno.campaign.reasons import REASONS
from netdyno.campaign.standard import conditions
from netdyno.errors import PlanErrors
from netdyno.modifiers import MODIFIERS, Scene, rip, routing
from netdyno.modifiers.reasons import FollowingUnknown, UpdatesNotFollowed
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.values.finding import Result
from netdyno.values.outcome import Exchange, FrameCounts, Heard, Outcome, Post, Said
from pages import report_text
from test_management import LINE, pcap
from test_modifiers import HELD, cells, plan, result, run, spec, throughput
from words import within

S = 10**9
NETWORKS = [
    "192.0.2.0/25",
    "192.0.2.128/25",
    "198.51.100.0/25",
    "198.51.100.128/25",
    "203.0.113.0/25",
    "203.0.113.128/25",
]


def scene(*, settle_ns: int = 7 * S, duration_ns: int = 60 * S, ports: tuple[int, int] = (0, 1)) -> Scene:
    asked = plan("routing")
    (case,) = cases(asked)
    wiring = asked.kind.wire(asked.lab.links, case.settings)
    return Scene(wiring, *ports, case.settings, settle_ns, duration_ns)


def words(**more: Any) -> dict[int, list[dict[str, Any]]]:
    """The messages of each port."""
    said = routing.MODIFIER.words
    assert said is not None
    return {port: list(one.messages) for port, one in said(scene(**more), secret=False).items()}


def times(message: dict[str, Any]) -> list[int]:
    return [message["at_ns"] + number * message["every_ns"] for number in range(message["count"])]


def metric(message: dict[str, Any]) -> int:
    """Of the first network, whose entry begins behind 42 bytes of headers and 4 of the message's own."""
    return int.from_bytes(bytes.fromhex(message["frame"])[62:66], "big")


# What is said.


def test_the_update_is_the_frame_of_appendix_c_but_for_the_version() -> None:
    """C.2.6.2, byte by byte. There version 1 is broadcast; here it is version 2, to its group, with masks."""
    (first, *_) = words()[0]
    frame = bytes.fromhex(first["frame"])
    # As in the RFC: type, IP version and length, no TOS, total length 238 with six networks of 20 bytes are 166 of ours less 14.
    assert len(frame) == 166
    expected = {
        12: "0800", 14: "45", 15: "00", 16: "0098", 18: "0000", 20: "4000", 23: "11",
        34: "0208", 36: "0208", 38: "0084", 40: "0000", 42: "02", 44: "0000",
    }  # fmt: skip
    for at, bytes_ in expected.items():
        assert frame[at : at + len(bytes_) // 2].hex() == bytes_, at
    for place in range(6):
        entry = frame[46 + 20 * place :][:20]
        assert (entry[:4].hex(), entry[16:].hex()) == ("00020000", "00000007"), "family IP, metric 7"


def test_wireshark_reads_the_updates(tmp_path: Path) -> None:
    frames = [bytes.fromhex(one["frame"]) for one in words()[0]]
    pcap(tmp_path / "updates.pcap", frames)
    fields = "eth.dst ip.src ip.dst ip.ttl rip.command rip.version rip.family rip.ip rip.netmask rip.next_hop rip.metric"
    told = subprocess.run(
        ["tshark", "-r", tmp_path / "updates.pcap", "-T", "json", "-o", "ip.check_checksum:TRUE", "-e",
         "ip.checksum.status", *(part for field in fields.split() for part in ("-e", field))],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    found = [packet["_source"]["layers"] for packet in json.loads(told)]
    for one in found:
        assert one["ip.checksum.status"] == ["1"], "good"
        assert (one["eth.dst"], one["ip.dst"]) == (["01:00:5e:00:00:09"], ["224.0.0.9"])
        assert (one["ip.src"], one["ip.ttl"]) == (["100.64.0.2"], ["1"])
        assert (one["rip.command"], one["rip.version"], one["rip.family"]) == (["2"], ["2"], ["2"] * 6)
        assert one["rip.netmask"] == ["255.255.255.128"] * 6
        assert [f"{ip}/25" for ip in one["rip.ip"]] == NETWORKS
    assert sorted({metric for one in found for metric in one["rip.metric"]}, key=int) == ["7", "16"]


@pytest.mark.parametrize(
    ("settle_ns", "duration_ns", "reachable", "not_reachable"),
    [
        # C.2.3: 5 s before the traffic, and every 30 s with it; section 11.3: the first frame.
        (7 * S, 60 * S, [-5 * S, 30 * S], [0]),
        (7 * S, 60 * S + 1, [-5 * S, 30 * S], [0, 60 * S]),
        (7 * S, 1, [-5 * S], [0]),
        (7 * S, 130 * S, [-5 * S, 30 * S, 90 * S], [0, 60 * S, 120 * S]),
        (S // 2, 20 * S, [-S // 2], [0]),
        # With no time before the traffic there is no state A to begin with.
        (0, 40 * S, [30 * S], [0]),
    ],
)  # fmt: skip
def test_the_states_alternate(
    settle_ns: int, duration_ns: int, reachable: list[int], not_reachable: list[int]
) -> None:
    said = words(settle_ns=settle_ns, duration_ns=duration_ns)[0]
    assert sorted(at for one in said if metric(one) == 7 for at in times(one)) == reachable
    assert sorted(at for one in said if metric(one) == 16 for at in times(one)) == not_reachable
    assert all(one["count"] == 1 for one in said if one["at_ns"] < 0)


def test_two_seconds_later_a_frame_goes_to_each_network() -> None:
    """Section 23 b: two seconds for the routing to settle; where there is less time, half of it."""
    found = words(duration_ns=91 * S)[1]
    looked = sorted(at for one in found for at in times(one))
    assert looked == sorted([-3 * S, 2 * S, 32 * S, 62 * S, 90 * S + S // 2] * 6)
    for one in found:
        assert one["to"] == "100.64.1.1", "the device, from the port at which the test frames come out"
    to = sorted({bytes.fromhex(one["frame"])[30:34] for one in found})
    assert [".".join(map(str, one)) for one in to] == [
        "192.0.2.1", "192.0.2.129", "198.51.100.1", "198.51.100.129", "203.0.113.1", "203.0.113.129"
    ]  # fmt: skip
    long = words(duration_ns=40 * 86_400 * S)
    assert sum(one["count"] for one in long[1]) == 6 * routing.MOST
    assert sum(one["count"] for one in long[0]) == 1 + 40 * 2880


def test_the_first_port_that_sends_announces_and_listens() -> None:
    for direction, port in (("bidir", 0), ("uni-reverse", 1)):
        ports: Any = spec(plan("routing", matrix=f"direction: [{direction}]"))["ports"]
        assert [one["behind"] for one in ports] == [NETWORKS if n == port else [] for n in (0, 1)]
        assert [len(one["listens"]) for one in ports] == [int(n == port) for n in (0, 1)]
        assert {one["frame"][:12] for one in ports[port]["messages"]} == {"01005e000009"}
        assert all("to" in one for one in ports[1 - port]["messages"])


# The emulated router.


def test_its_lines_have_room_for_them(tmp_path: Path) -> None:
    """An update is 170 bytes and 20 of preamble and gap, and six frames of 64 look after it from the other side."""
    asked = plan("none, routing", method="throughput: {duration: 2s}", matrix="direction: [bidir]")
    bare, updated = run(asked, tmp_path)
    assert throughput(bare) == LINE
    # One number is the load of both directions, each with its own room.
    assert throughput(updated) == LINE * (1 - Fraction(190 * 8, 10**8))
    assert throughput(updated, "east-west") == LINE * (1 - Fraction(6 * 84 * 8, 10**8))
    ((port, sent, followed, wrong, unknown),) = cells(updated, "Routing updates")
    trials = len(result(updated).trials)
    assert (port, sent, followed, wrong, unknown) == ("west", 2 * trials, 2 * trials, 0, 0)
    assert not within(UpdatesNotFollowed, result(updated).notes)
    assert not within(FollowingUnknown, result(updated).notes)
    assert not [table for table in result(bare).tables if table.name == "Routing updates"]


@pytest.mark.parametrize(("cost", "cost_ms"), [("1ms", 1), ("10ms", 10)])
def test_the_throughput_falls_by_what_an_update_costs(tmp_path: Path, cost: str, cost_ms: int) -> None:
    """With the first frame of a trial the processor is away for six routes, and 100 us for the update itself; as many
    frames may wait as there is room for, and come in the drain."""
    asked = plan(
        "routing",
        settings=f"capacity: 10kpps, route_cost: {cost}",
        method="throughput: {maximum: 12kpps, duration: 4s, width: 5fps}",
        settle="1s",  # The update before the traffic costs as much.
    )
    (case,) = run(asked, tmp_path)
    served = 4 * 10_000 - 60 * cost_ms - 1
    assert served / 4 <= throughput(case) <= (served + HELD) / 4 + 5


def test_what_came_of_them_is_kept_and_shown(tmp_path: Path) -> None:
    asked = plan("routing", method="throughput: {maximum: 10%, duration: 35s}")
    (case,) = run(asked, tmp_path)
    (folder,) = tmp_path.iterdir()
    with open_run(folder, REASONS) as stored:
        shown = view(stored)
        for name in ("terminal", "markdown", "json"):
            assert "Routing updates" in report_text(name, shown), name
        for trial in stored.trials(0):
            assert trial.result.exchange == Exchange("west", 3, 3, 0)
            assert trial.result.post is None
    assert not any(
        "routing update frames (11.3)" in one.fields().get("test", "") for one in result(case).recommended
    )


def test_modifier_of_the_plan_is_not_left_out() -> None:
    found = conditions(plan("none, routing", profile="size: 64B, flows: 1"))
    assert found.modifiers_left == (
        "broadcast frames (11.1)",
        "management frames (11.2)",
        "filters (11.4)",
    )


# What cannot be.


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"kind": "emulated/bridge"}, "`emulated/bridge` learns no routes | `emulated/router`, `linux/router`, or `external`"),
        ({"settings": "route_cost: 1ms"}, "`route_cost` is of ports with a `capacity` of their own"),
        ({"matrix": "direction: [uni], routing: [static, rip]"}, "`routing` is what the modifier `routing` sets: it is no axis of its own | leave `routing` out of the matrix"),
        ({"links": 1}, "at a second port | a second link"),
        ({"profile": "size: 128B, flows: 256, addresses: rfc2544, vlan: [7]"}, "VLAN tags"),
        (
            {"profile": "size: 64B, addresses: {source: 16.0.0.0/8, destination: 198.51.100.0/26}"},
            "`198.51.100.0/26` has addresses of the networks that are announced, 192.0.2.0/25, 198.51.100.0/25, 203.0.113.0/25",
        ),
    ],
)  # fmt: skip
def test_impossible_modifier_is_refused_with_the_plan(more: dict[str, Any], expected: str) -> None:
    with pytest.raises(PlanErrors) as found:
        plan("routing", **more)
    told = [f"{error.message} | {error.hint}" for error in found.value.errors]
    assert any(expected in one for one in told), told


OWN = """\
title: Own
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:west", "dut:a"], rate: 1Gbps, interface: eth1%s}
    - {endpoints: ["tester:east", "dut:b"], rate: 1Gbps, interface: eth2%s}
traffic: {it: {size: 64B, flows: 1, addresses: rfc2544}}
matrix: {direction: [uni], modifier: [routing]}
method: {throughput: {}}
"""
WEST, EAST = ", address: 10.0.0.2/24, gateway: 10.0.0.1", ", address: 10.0.1.2/24, gateway: 10.0.1.1"


@pytest.mark.parametrize(
    ("links", "told"),
    [
        (("", ""), "`west` has no IPv4 address and next hop | give its link `address: 198.18.1.2/24`"),
        ((WEST, ", address: 2001:db8::2/64, gateway: 2001:db8::1"), "`east` has no IPv4 address and next hop"),
        ((WEST, ", address: 192.0.2.200/24, gateway: 192.0.2.129"), "`192.0.2.200/24` has addresses of the networks"),
    ],
)  # fmt: skip
def test_external_device_with_routing_has_ipv4_at_both_ports(links: tuple[str, str], told: str) -> None:
    with pytest.raises(PlanErrors) as found:
        parse(OWN % links)
    shown = [f"{error.message} | {error.hint}" for error in found.value.errors]
    assert any(told in one for one in shown), shown
    parse(OWN % (WEST, EAST))


def test_no_address_of_the_test_is_in_an_announced_network() -> None:
    """Of any port, and of headers that are written out."""
    more = '    - {endpoints: ["tester:south", "dut:c"], rate: 1Gbps, interface: eth3, address: 198.51.100.2/24, gateway: 198.51.100.1}\n'
    third = OWN % (WEST, EAST)
    third = third.replace("traffic:", more + "traffic:")
    end = "{random: {min: 192.0.1.250, max: 192.0.2.1}}"
    step = "{step: {start: 203.0.112.255, step: 1, count: 2}}"
    for field, told in (
        ("192.0.2.5", "192.0.2.5"),
        (end, "192.0.1.250 to 192.0.2.1"),
        (step, "203.0.112.255 to 203.0.113.0"),
    ):
        headers = f"headers: [{{type: ethernet}}, {{type: ipv4, src: 16.0.0.1, dst: {field}}}, {{type: udp, sport: 7, dport: 7}}], size: 64B"
        written = (OWN % (WEST, EAST)).replace(
            "size: 64B, flows: 1, addresses: rfc2544", f"flows: 1, {headers}"
        )
        with pytest.raises(PlanErrors) as found:
            parse(written)
        assert any(f"`{told}` has addresses of the networks" in one.message for one in found.value.errors), [
            one.message for one in found.value.errors
        ]
    with pytest.raises(PlanErrors) as found:
        parse(third)
    assert any("`198.51.100.2/24` has addresses" in one.message for one in found.value.errors), [
        one.message for one in found.value.errors
    ]


# What comes back.


def read(reached: dict[int, int], *, ports: tuple[int, int] = (0, 1), said: int | None = None, **more: Any) -> Exchange:  # fmt: skip
    """Of a trial of 60 s, whose updates are at -5, 0 and 30 s: by the time of an update, how many networks were reached."""
    at = scene(ports=ports, **more)
    messages = words(ports=ports, **more)
    numbered = [(port, one) for port in sorted(messages) for one in messages[port]]
    every = [
        (Said(index, number, when), port, bytes.fromhex(one["frame"]))
        for index, (port, one) in enumerate(numbered)
        for number, when in enumerate(times(one))
    ]
    heard = []
    for update, count in reached.items():
        probes = [
            (one, frame) for one, port, frame in every if port == ports[1] and one.at_ns == update + 2 * S
        ]
        for one, frame in probes[:count]:
            payload = bytearray(frame[42:])
            payload[-4:] = one.number.to_bytes(4, "big")
            heard.append(Heard(ports[0], one.at_ns + 1000, "100.64.1.2", 50_520, 50_520, bytes(payload)))
    post = Post(said=tuple(one for one, _, _ in every)[:said], heard=tuple(heard))
    empty = Outcome(FrameCounts((), (), 10**7), None, (), post=post)  # type: ignore[arg-type]
    return routing._read(at, empty)


def test_a_router_that_follows() -> None:
    for ports in ((0, 1), (1, 0)):
        name = ("west", "east")[ports[0]]
        assert read({-5 * S: 6, 30 * S: 6}, ports=ports) == Exchange(name, 3, 3, 0)


def test_a_router_that_does_not_learn() -> None:
    """That nothing is reached after state B shows nothing where nothing was reached before."""
    found = read({})
    assert (found.sent, found.answered, found.wrong) == (3, 0, 2)
    assert found.findings == (
        "2 s after the update at -5 s 6 of 6 networks could not be reached yet (state A)",
        "2 s after the update at 30 s 6 of 6 networks could not be reached yet (state A)",
    )


def test_a_router_that_keeps_what_was_taken_back() -> None:
    found = read({-5 * S: 6, 0: 6, 30 * S: 6})
    assert (found.answered, found.wrong) == (2, 1)
    assert found.findings == ("2 s after the update at 0 s 6 of 6 networks could still be reached (state B)",)


def test_less_time_than_the_standard_gives_is_no_mistake_of_the_router() -> None:
    """Section 23 b: 2 s. A second before the traffic, 20 ms of it: nothing came, which shows nothing."""
    found = read({}, settle_ns=S, duration_ns=S // 50)
    assert (found.sent, found.answered, found.wrong) == (2, 0, 0)
    wiring = scene().wiring
    trials = [Outcome(FrameCounts((), (), 1), None, (), exchange=found)]  # type: ignore[arg-type]
    told = MODIFIERS["routing"].conclude(Result("throughput", (), (0, 1)), wiring, trials)
    assert told.notes == (FollowingUnknown(2, 2),)


def test_a_router_that_follows_in_part() -> None:
    found = read({-5 * S: 5, 0: 1, 30 * S: 6})
    assert (found.answered, found.wrong) == (1, 2)
    assert found.findings[0].startswith("2 s after the update at -5 s 1 of 6 networks could not")
    assert found.findings[1].startswith("2 s after the update at 0 s 1 of 6 networks could still")


def test_routing_update_without_a_check_is_unknown() -> None:
    """A trial that is cut short: two of three updates were said, and the frames of the first alone."""
    found = read({-5 * S: 6, 30 * S: 6}, said=3 + 6)
    assert (found.sent, found.answered, found.wrong) == (3, 1, 0)


def test_strangers_reach_nothing() -> None:
    at = scene()
    heard = tuple(
        Heard(port, 0, "192.0.2.9", 1, 50_520, payload)
        for port, payload in ((0, b""), (0, b"x" * 18), (1, routing._PAYLOAD.pack(routing._MAGIC, 0, 0, 0)))
    )
    assert list(routing._find_reached_probes(at, Post(heard=heard))) == []


def test_findings_are_in_the_notes_and_spoil_nothing() -> None:
    asked = plan("routing")
    (case,) = cases(asked)
    wiring = asked.kind.wire(asked.lab.links, case.settings)
    exchanges = (Exchange("west", 3, 0, 2, ("first", "second")), Exchange("west", 3, 0, 2, ("third",)))
    trials = [Outcome(FrameCounts((), (), 1), None, (), exchange=one) for one in exchanges]  # type: ignore[arg-type]
    told = MODIFIERS["routing"].conclude(Result("throughput", (), (0, 1)), wiring, trials)
    assert told.notes == (UpdatesNotFollowed(4, 6, ("first", "second", "third"), None),)
    assert told.tables[0].rows == (("west", 6, 0, 4, 2),)
    assert told.compliance == ()
    external = replace(wiring, clock="real", traits=frozenset())
    own = MODIFIERS["routing"].conclude(Result("throughput", (), (0, 1)), external, trials)
    assert own.notes == (UpdatesNotFollowed(4, 6, ("first", "second", "third"), "west"),)


def test_a_message_has_room_for_25_networks() -> None:
    """RFC 2453 section 3.6."""
    assert len(rip.update(["192.0.2.0/25"] * 25, 1)) == 504
    with pytest.raises(AssertionError):
        rip.update(["192.0.2.0/25"] * 26, 1)
