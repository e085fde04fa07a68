# ruff: noqa: E501 (plans and messages are quoted whole, one a line)
"""RFC 2544 section 11.2: a management query as the first frame of each second, on a device whose answer is known."""

from __future__ import annotations

import contextlib
import json
import re
import struct
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netdyno.campaign.reasons import REASONS
from netdyno.campaign.standard import conditions
from netdyno.devices import KINDS, LabLink
from netdyno.errors import PlanErrors
from netdyno.modifiers import MODIFIERS, Scene, management, snmp
from netdyno.modifiers.reasons import QueriesUnanswered, WrongAnswers
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import cases
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.finding import Result
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import Exchange, FrameCounts, Heard, Outcome, Post, Said
from netdyno.values.units import FrameRate
from pages import report_text
from test_modifiers import HELD, cells, plan, result, run, spec, throughput
from words import within

LINE = Fraction(10**8, 672)
"""64-byte frames a second on 100 Mbit/s (RFC 5180 appendix A.1: 148,809)."""
NAMES = management.names(1)


def message(asked: Plan, index: int = 0) -> dict[str, Any]:
    (said,) = spec(asked)["ports"][index]["messages"]  # type: ignore[index]
    return dict(said)


def pcap(path: Path, frames: list[bytes]) -> None:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    records = [struct.pack("<IIII", number, 0, len(one), len(one)) + one for number, one in enumerate(frames)]
    path.write_bytes(head + b"".join(records))


# What is said.


def test_wireshark_reads_the_query_as_appendix_c_has_it(tmp_path: Path) -> None:
    """C.2.4.3: sysUpTime, ifInOctets, ifOutOctets, ifInUcastPkts, ifOutUcastPkts of one interface."""
    said = message(plan("management"))
    frame = bytearray.fromhex(said["frame"])
    later = bytearray(frame)
    at = said["number_at"]
    later[at : at + 4] = (int.from_bytes(later[at : at + 4], "big") + 70_000).to_bytes(4, "big")
    pcap(tmp_path / "query.pcap", [bytes(frame), bytes(later)])
    fields = "ip.src ip.dst udp.dstport snmp.version snmp.community snmp.data snmp.request_id snmp.name"
    told = subprocess.run(
        ["tshark", "-r", tmp_path / "query.pcap", "-T", "json", "-o", "ip.check_checksum:TRUE", "-e",
         "ip.checksum.status", *(part for field in fields.split() for part in ("-e", field))],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    found = [packet["_source"]["layers"] for packet in json.loads(told)]
    assert [int(one["snmp.request_id"][0]) for one in found] == [2**30, 2**30 + 70_000]
    (first, _) = found
    assert first["ip.checksum.status"] == ["1"], "good"
    assert (first["ip.src"], first["ip.dst"]) == (["100.64.0.2"], ["100.64.0.1"])
    assert (first["udp.dstport"], first["snmp.version"]) == (["161"], ["1"])
    assert (first["snmp.community"], first["snmp.data"]) == (["public"], ["0"]), "a get-request"
    assert first["snmp.name"] == [
        "1.3.6.1.2.1.1.3.0",
        "1.3.6.1.2.1.2.2.1.10.1",
        "1.3.6.1.2.1.2.2.1.16.1",
        "1.3.6.1.2.1.2.2.1.11.1",
        "1.3.6.1.2.1.2.2.1.17.1",
    ]


def test_the_first_port_that_sends_asks_once_a_second() -> None:
    for direction, port in (("bidir", 0), ("uni-reverse", 1)):
        asked = plan("management", matrix=f"direction: [{direction}]")
        ports = spec(asked)["ports"]
        assert [len(one["messages"]) for one in ports] == [int(n == port) for n in (0, 1)]  # type: ignore[attr-defined]
        assert message(asked, port)["to"] == f"100.64.{port}.1"
    (case,) = cases(plan("management"))
    asked = plan("management")
    wiring = asked.kind.wire(asked.lab.links, case.settings)
    for length_ns, count in ((1, 1), (10**9, 1), (10**9 + 1, 2), (60 * 10**9, 60), (10**15, 50_000)):
        trial = Trial("x", Frames.steady(FrameRate(9), length_ns, "t"))
        (said,) = trial_spec(asked, case, wiring, trial)["ports"][0]["messages"]
        assert (said["at_ns"], said["every_ns"], said["count"]) == (0, 10**9, count)


def test_community_is_sent_to_the_device_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(management.COMMUNITY, "s3cret")
    links = (
        LabLink("west", "a", 10**9, "eth1", "10.0.0.2/24", "10.0.0.1"),
        LabLink("east", "b", 10**9, "eth2", "10.0.1.2/24", "10.0.1.1"),
    )
    wiring = KINDS["external"].wire(links, {"if_index": "3"})
    modifier = MODIFIERS["management"]
    assert modifier.words is not None
    scene = Scene(wiring, 0, 1, {"if_index": "3"}, 10**9, 10**9)
    for secret, known in ((False, b"public"), (True, b"s3cret")):
        words = modifier.words(scene, secret=secret)[0]
        frame = bytes.fromhex(words.messages[0]["frame"])
        assert known in frame
        assert (b"s3cret" in frame) == secret
        assert frame[-4:] == b"\x11\x03\x05\x00", "ifOutUcastPkts.3, and nothing as its value"
    monkeypatch.setenv(management.COMMUNITY, "s3cret" * 6)
    with pytest.raises(ValueError, match="has 36 bytes") as told:
        modifier.words(scene, secret=True)
    assert "s3cret" not in str(told.value)


def test_the_longest_query_is_no_longer_than_what_is_kept_free() -> None:
    query, _ = snmp.get(b"x" * management.MOST_COMMUNITY, management.names(2**31 - 1))
    assert len(query) + 14 + 20 + 8 + 4 <= management.KEPT_BYTES


# The emulated router.


def test_its_line_has_room_for_the_queries(tmp_path: Path) -> None:
    """A query takes the place of test frames: 276 bytes of line a second are kept for it, and nothing leaves late."""
    asked = plan("none, management", method="throughput: {duration: 2s}")
    bare, queried = run(asked, tmp_path)
    assert throughput(bare) == LINE
    assert throughput(queried) == LINE * (1 - Fraction(276 * 8, 10**8))
    ((port, sent, answered, wrong, longest, taken, offered),) = cells(queried, "Management queries")
    trials = len(result(queried).trials)
    assert (port, sent, answered, wrong) == ("west", 2 * trials, 2 * trials, 0)
    assert taken is not None
    assert offered is not None
    # Of a second; frames that are on the line or in the delay when the answer is made are not counted yet.
    assert abs(Fraction(str(taken)) - Fraction(str(offered))) <= 1 * trials
    assert Fraction(str(taken)) == pytest.approx(148_809 * trials, rel=1e-4)
    # A query of about 160 bytes and its answer of about 180 on 100 Mbit/s, and 5 us of delay.
    assert 25_000 < Fraction(str(longest)) < 100_000
    assert not within(QueriesUnanswered, result(queried).notes)
    assert not within(WrongAnswers, result(queried).notes)
    assert not [table for table in result(bare).tables if table.name == "Management queries"]


@pytest.mark.parametrize(("cost", "cost_ms"), [("10ms", 10), ("100ms", 100)])
def test_the_throughput_falls_by_what_a_query_costs(tmp_path: Path, cost: str, cost_ms: int) -> None:
    """Of each second the processor has so much less, 100 us a frame and for the query itself as well; in the last one
    as many frames may wait as there is room for, and come in the drain."""
    asked = plan(
        "management",
        settings=f"capacity: 10kpps, query_cost: {cost}",
        method="throughput: {maximum: 12kpps, duration: 4s, width: 5fps}",
    )
    (case,) = run(asked, tmp_path)
    served = 4 * (10_000 - 10 * cost_ms - 1)
    assert served / 4 <= throughput(case) <= (served + HELD) / 4 + 5


def test_a_capacity_with_room_to_spare_loses_nothing_by_a_query(tmp_path: Path) -> None:
    """10 ms of standing are 50 frames of 5,000 a second, and the queue holds 1024."""
    asked = plan(
        "management",
        settings="capacity: 10kpps, query_cost: 10ms",
        method="throughput: {maximum: 5kpps, duration: 3s}",
    )
    (case,) = run(asked, tmp_path)
    assert throughput(case) == 5000 * (1 - Fraction(2208, 10**8))


def test_what_came_of_them_is_kept_and_shown(tmp_path: Path) -> None:
    asked = plan("management", method="throughput: {maximum: 10%, duration: 3s}")
    (case,) = run(asked, tmp_path)
    (folder,) = tmp_path.iterdir()
    with open_run(folder, REASONS) as stored:
        shown = view(stored)
        for name in ("terminal", "markdown", "json"):
            assert "Management queries" in report_text(name, shown), name
        for trial in stored.trials(0):
            exchange = trial.result.exchange
            assert exchange is not None
            assert (exchange.sent, exchange.answered, exchange.wrong) == (3, 3, 0)
            assert trial.result.post is None
            assert trial.result.ports[0].own_frames >= 3
    assert not any(
        "management frames (11.2)" in one.fields().get("test", "") for one in result(case).recommended
    )


def test_modifier_of_the_plan_is_not_left_out() -> None:
    found = conditions(plan("none, management", profile="size: 64B, flows: 1"))
    assert found.modifiers_left == (
        "broadcast frames (11.1)",
        "routing update frames (11.3)",
        "filters (11.4)",
    )


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"kind": "emulated/bridge"}, "`emulated/bridge` has no SNMP agent that could be asked | `emulated/router`, `linux/router`, or `external`"),
        ({"settings": "query_cost: 1ms"}, "`query_cost` is of ports with a `capacity` of their own"),
        ({"profile": "size: 128B, flows: 256, addresses: rfc2544, vlan: [7]"}, "VLAN tags"),
    ],
)  # fmt: skip
def test_impossible_modifier_is_refused_with_the_plan(more: dict[str, Any], expected: str) -> None:
    with pytest.raises(PlanErrors) as found:
        plan("management", **more)
    told = [f"{error.message} | {error.hint}" for error in found.value.errors]
    assert any(expected in one for one in told), told


OWN = """\
title: Own
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external%s}}
  links:
    - {endpoints: ["tester:west", "dut:a"], rate: 1Gbps, interface: eth1%s}
    - {endpoints: ["tester:east", "dut:b"], rate: 1Gbps, interface: eth2%s}
traffic: {it: {size: 64B, flows: 1, addresses: rfc2544}}
matrix: {direction: [uni], modifier: [management]}
method: {throughput: {}}
"""
ROUTED = (", address: 10.0.0.2/24, gateway: 10.0.0.1", ", address: 10.0.1.2/24, gateway: 10.0.1.1")


@pytest.mark.parametrize(
    ("settings", "addresses", "message", "hint"),
    [
        (", settings: {if_index: 2}", ("", ""), "`west`, the first port that sends, knows no IPv4 address", "gateway: 198.18.1.1"),
        ("", ROUTED, "the ifIndex of the device's port at `west` is not known", "ipAdEntIfIndex.10.0.0.1 tells it"),
        (", settings: {if_index: zero}", ROUTED, "`if_index` is not `zero`: interfaces of SNMP are numbered from 1", ""),
    ],
)  # fmt: skip
def test_management_of_an_unknown_external_device_is_refused(
    settings: str, addresses: tuple[str, str], message: str, hint: str
) -> None:
    with pytest.raises(PlanErrors) as found:
        parse(OWN % (settings, *addresses))
    told = [error for error in found.value.errors if message in error.message]
    assert told, [error.message for error in found.value.errors]
    assert hint in (told[0].hint or "")
    assert told[0].line > 0
    parse(OWN % (", settings: {if_index: 2}", *ROUTED))


# What comes back.


def ber(tag: int, *parts: bytes) -> bytes:
    value = b"".join(parts)
    length = bytes([len(value)]) if len(value) < 128 else bytes([0x81, len(value)])
    return bytes([tag]) + length + value


def answer(number: int, values: tuple[int, ...], *, community: bytes = b"public", error: int = 0, kinds: bytes = b"CAAAA") -> bytes:  # fmt: skip
    query, _ = snmp.get(b"public", NAMES)
    names = [query[at + 2 : at + 2 + length + 2] for at, length in _bindings(query)]
    bound = [
        ber(0x30, name, ber(kind, value.to_bytes(5, "big").lstrip(b"\0") if value else b"\0"))
        if not value or value.to_bytes(5, "big").lstrip(b"\0")[0] < 128
        else ber(0x30, name, ber(kind, b"\0" + value.to_bytes(5, "big").lstrip(b"\0")))
        for name, kind, value in zip(names, kinds, values, strict=True)
    ]
    pdu = ber(
        0xA2,
        ber(2, (2**30 + number).to_bytes(4, "big")),
        ber(2, bytes([error])),
        b"\2\1\0",
        ber(0x30, *bound),
    )
    return ber(0x30, b"\2\1\1", ber(4, community), pdu)


def _bindings(query: bytes) -> list[tuple[int, int]]:
    """Where each binding lies, and how long its name is: 30 len 06 len name 05 00."""
    found, at = [], 0
    while (at := query.find(b"\x06", at)) >= 0:
        if query[at - 2] == 0x30 and query[at + 2] == 0x2B:
            found.append((at - 2, query[at + 1]))
        at += 1
    return found


def read(heard: list[tuple[int, bytes]], *, queries: int = 4, rate: int = 10**8, source: str = "100.64.0.1") -> Exchange:  # fmt: skip
    asked = plan("management")
    (case,) = cases(asked)
    wiring = asked.kind.wire(asked.lab.links, case.settings)
    wiring = replace(wiring, ports=(replace(wiring.ports[0], rate_bps=rate), *wiring.ports[1:]))
    post = Post(
        said=tuple(Said(0, number, number * 10**9) for number in range(queries)),
        heard=tuple(Heard(0, at, source, 161, 50_161, payload) for at, payload in heard),
    )
    counts = FrameCounts((), (_Port(),), 10**7)  # type: ignore[arg-type]
    empty = Outcome(counts, None, (), post=post)  # type: ignore[arg-type]
    return management._read(Scene(wiring, 0, 1, case.settings, 10**9, queries * 10**9), empty)


class _Port:
    """100 frames in each hundredth of a second."""

    tx = (100,) * 400


def row(number: int, up: int | None = None, counted: int | None = None) -> tuple[int, bytes]:
    """The answer to query `number`, 1 ms later, of a device that takes in 10,000 frames of 64 bytes a second."""
    frames = 10_001 * number if counted is None else counted
    up = 100 * number if up is None else up
    return number * 10**9 + 10**6, answer(number, (up, 64 * frames, 64 * frames, frames, frames))


def test_right_answers_are_counted_and_compared() -> None:
    found = read([row(number) for number in range(4)])
    assert found == Exchange("west", 4, 4, 0, (), 10**6, taken=30_003, offered=30_003)


def test_missing_answers_are_counted() -> None:
    found = read([row(1), row(3)])
    assert (found.sent, found.answered, found.wrong) == (4, 2, 0)
    assert (found.taken, found.offered) == (20_002, 20_002)
    assert read([]) == Exchange("west", 4, 0, 0)


def test_counters_begin_again_at_zero() -> None:
    near = 2**32 - 5000
    found = read([row(0, counted=0), row(1)])
    assert found.wrong == 0
    wrapped = [
        (10**6, answer(0, (0, near, 0, near, 0))),
        (10**9 + 10**6, answer(1, (100, 635_064, 0, 5001, 0))),
    ]
    found = read(wrapped)
    assert (found.wrong, found.taken) == (0, 10_001)


@pytest.mark.parametrize(
    ("heard", "told"),
    [
        ((0, answer(7, (0, 0, 0, 0, 0))), "request id that no query had"),
        ((0, answer(0, (0, 0, 0, 0, 0), community=b"private")), "another community"),
        ((0, answer(0, (0, 0, 0, 0, 0), error=2)), r"error status 2 \(noSuchName\)"),
        ((0, answer(0, (0, 0, 0, 0, 0), error=99)), r"error status 99 \(unknown\)"),
        ((0, answer(0, (0, 0, 0, 0, 0), kinds=b"CABAA")), "ifOutOctets is Gauge32, not Counter32"),
        ((0, answer(0, (0, 0, 0, 0, 0)).replace(b"\x0a\x01", b"\x0a\x04")), "about other objects"),
        ((0, answer(0, (0, 0, 0, 0, 0)).replace(b"\2\1\1\4", b"\2\1\0\4")), "version 0, not 1"),
        ((0, answer(0, (0, 0, 0, 0, 0)).replace(b"\xa2", b"\xa0")), "tag 0xa0, not 0xa2"),
        ((0, answer(0, (0, 0, 0, 0, 0)) + b"\0"), "1 bytes behind the message"),
        ((0, answer(0, (0, 0, 0, 0, 0))[:-1]), "beyond the end"),
        ((0, b""), "ends before the message"),
        ((0, b"\x30\x80\0\0"), "no length that can be"),
    ],
)  # fmt: skip
def test_a_wrong_answer_is_none(heard: tuple[int, bytes], told: str) -> None:
    found = read([heard])
    assert (found.answered, found.wrong) == (0, 1)
    assert re.search(told, found.findings[0]), found.findings


def test_others_do_not_answer_for_the_device() -> None:
    assert read([row(0)], source="100.64.0.9").findings == (
        "0.001 s into the traffic: an answer came from 100.64.0.9 port 161, not from 100.64.0.1 port 161",
    )
    found = read([row(0), row(0)])
    assert (found.answered, found.wrong, found.findings) == (
        1,
        1,
        ("0.001 s into the traffic: a second answer to one query",),
    )


def test_an_agent_that_looks_at_its_counters_now_and_then_is_not_wrong() -> None:
    """Net-SNMP tells the same for some seconds, and then all at once what the full line has brought."""
    line = 10**8 // 8
    answers = [(number, 0) for number in range(4)] + [(4, 4 * line)]
    found = read(
        [(n * 10**9 + 10**6, answer(n, (100 * n, octets, 0, octets // 64, 0))) for n, octets in answers],
        queries=5,
    )
    assert (found.answered, found.wrong) == (5, 0)


def test_impossible_numbers_are_refused() -> None:
    restarted = read([row(0, up=5000), row(1, up=20)])
    assert restarted.findings == (
        "1.001 s into the traffic: sysUpTime fell from 5000 to 20: it started again",
    )
    fell = read([row(2), row(3, counted=10)])
    assert "ifInOctets went from 1280128 to 640, more than the line carries" in fell.findings[0]
    # A line of 40 Gbit/s may have carried all those bytes between two answers, but not as many frames.
    found = read([row(2), row(3, counted=10)], rate=40 * 10**9)
    assert found.findings == (
        "3.001 s into the traffic: ifInUcastPkts went from 20002 to 10, more than the line carries",
        "3.001 s into the traffic: ifOutUcastPkts went from 20002 to 10, more than the line carries",
    )
    assert read([row(2), row(3, counted=10)], rate=400 * 10**9).wrong == 0


@given(st.binary(max_size=300))
def test_any_received_bytes_are_an_answer_or_none(payload: bytes) -> None:
    with contextlib.suppress(snmp.BadMessageError):
        snmp.read(payload)


@given(st.data())
def test_an_answer_with_a_wrong_byte_is_an_answer_or_none(data: st.DataObject) -> None:
    right = bytearray(answer(1, (1, 2, 3, 4, 5)))
    for _ in range(data.draw(st.integers(1, 3))):
        right[data.draw(st.integers(0, len(right) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(snmp.BadMessageError):
        snmp.read(bytes(right))


def test_findings_are_in_the_notes_and_spoil_nothing() -> None:
    asked = plan("management")
    (case,) = cases(asked)
    wiring = asked.kind.wire(asked.lab.links, case.settings)
    exchanges = (
        Exchange("west", 60, 58, 1, ("at 1.000 s: no",), 2_000_000, 100, 101),
        Exchange("west", 60, 60, 0, (), 3_000_000, 200, 200),
    )
    trials = [Outcome(FrameCounts((), (), 1), None, (), exchange=one) for one in exchanges]  # type: ignore[arg-type]
    told = MODIFIERS["management"].conclude(Result("throughput", (), (0, 1)), wiring, trials)
    assert told.notes == (
        QueriesUnanswered(118, 120, management.COMMUNITY),
        WrongAnswers(1, ("at 1.000 s: no",)),
    )
    assert told.tables[0].rows == (("west", 120, 118, 1, 3_000_000, 300, 301),)
    assert told.compliance == ()


def test_the_example_shows_what_each_condition_costs(tmp_path: Path) -> None:
    """examples/modifiers.yaml: a frame takes 100 us. One broadcast in a hundred takes 100 us more, a query 10 ms a second, an
    update 60 ms, and 25 rules 25 us of every frame. In trials of a second as many frames come as the port holds, more than its capacity."""
    path = Path(__file__).parents[2] / "examples" / "modifiers.yaml"
    found = run(parse(path.read_text() + "scale: 1/60\n"), tmp_path)
    modifiers = [case.head.axes["modifier"] for case in found]
    assert modifiers == ["none", "broadcast", "management", "routing", "filters-25"]
    bare, broadcast, queried, updated, filtered = (throughput(case) for case in found)
    for number, capacity in (
        (bare, Fraction(10_000)),
        (broadcast, Fraction(99 * 10_000, 101)),
        (queried, Fraction(9_899)),
        (updated, Fraction(9_399)),
        (filtered, Fraction(8_000)),
    ):
        assert capacity <= number <= capacity + HELD + 50
