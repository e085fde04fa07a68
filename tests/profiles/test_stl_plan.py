"""Streams of T-Rex as plans: the frames that netdyno sends of them are those of T-Rex's simulator."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from netdyno.cli.app import cli
from netdyno.errors import NetdynoError
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import cases
from netdyno.plan.quick import QuickPort
from netdyno.profiles.plan import Multiplier, Wanted, plan_text
from netdyno.profiles.streams import read_streams
from netdyno.testers import tables
from netdyno.testers.netdyno.frames import first_frames
from netdyno.values.units import L1Rate
from trex_json import BENCH, FIX, SIMPLE, mode, stream, variable, write

TEN = L1Rate(Fraction(10**10))
LINKS = (QuickPort("eth1", TEN), QuickPort("eth2", TEN))


def text_of(*ports: Sequence[dict[str, Any]], **more: Any) -> str:
    wanted = Wanted("T-Rex", "a test", LINKS, ports=tuple(range(len(ports))), duration="10min", **more)
    return plan_text([read_streams(port) for port in ports], wanted)


def plan_of(text: str) -> Plan:
    return parse(text, tables=tables())


def frames_of(*streams: dict[str, Any], count: int = 6, **more: Any) -> dict[str, list[tuple[int, bytes]]]:
    """The first frames of each stream of port 0, us and bytes, by the name of its class."""
    plan = plan_of(text_of(list(streams), **more))
    (case,) = cases(plan)
    found: dict[str, list[tuple[int, bytes]]] = {}
    for one in first_frames(plan, case, count):
        name = one.stream.rpartition("/")[2] if "/" in one.stream else ""
        found.setdefault(name, []).append((one.at_ps // 10**6, one.data))
    return found


def only(*streams: dict[str, Any], count: int = 6, **more: Any) -> list[bytes]:
    """The frames of a port with one stream, behind their MAC addresses."""
    (found,) = frames_of(*streams, count=count, **more).values()
    return [data[12:] for _, data in found]


VAR2 = stream(
    variable("src", 0x10000004, 0x100000FE),
    variable("dst", 0x30000004, 0x300000FE),
    write("src", 26),
    write("dst", 30),
    FIX,
)


def test_two_variables_walk_together_as_in_t_rex() -> None:
    sent = only(VAR2, count=252, exact=True)
    head, rest = "08004500002e000100004011", "0401000c001a0000" + "78" * 18
    for number, ends in (
        (0, "3ab71000000430000004"),
        (1, "3ab51000000530000005"),
        (251, "3ab71000000430000004"),
    ):
        assert sent[number].hex() == head + ends + rest
    assert sent[250].hex()[24:44] == "38c3100000fe300000fe"


def test_frames_of_a_plan_hold_a_probe_where_there_is_room() -> None:
    text = text_of([VAR2])
    assert "probe" not in text
    sent = only(VAR2)
    assert [one[:30].hex()[24:] for one in sent[:2]] == [
        "3ab710000004300000040401000c001a0000",
        "3ab510000005300000050401000c001a0000",
    ]
    assert all(len(one) == 48 for one in sent)


def test_tuple_and_its_ports_are_those_of_t_rex() -> None:
    given = {"type": "tuple_flow_var", "name": "t", "ip_min": 0x10000004, "ip_max": 0x100000FE}
    given |= {"port_min": 1234, "port_max": 65500, "limit_flows": 0, "flags": 0}
    sent = only(stream(given, write("t.ip", 26), write("t.port", 34), FIX), count=253, exact=True)
    assert sent[250].hex()[24:52] == "39bd100000fe3000000404d2000c"
    assert sent[251].hex()[24:52] == "3ab7100000043000000404d3000c"


def test_masked_write_changes_its_bits_alone() -> None:
    # stl/udp_1pkt_mac_mask2.py: 30 downwards, shifted into the upper byte of two.
    given = write("m", 10, mask=0xFF00, shift=8, pkt_cast_size=2)
    (found,) = frames_of(stream(variable("m", 1, 30, "dec", size=2), given, frame=SIMPLE)).values()
    own = found[0][1]
    assert [data[10] for _, data in found[:4]] == [30, 29, 28, 27]
    assert {data[6:10] + data[11:12] for _, data in found} == {own[6:10] + own[11:12]}


def test_chained_variables_in_the_payload_are_written_as_in_t_rex() -> None:
    # stl/dependent_vars_all.py with op=dec, size=1, step=2.
    frame = bytes.fromhex(
        "0000000100000000000200000800450000340001000040113ab710000001300000010401000c002015fa" + "78" * 24
    )
    chain = [
        variable("a", 97, 101, "dec", size=1, step=2, next_var="b"),
        variable("b", 97, 100, "dec", size=1, step=2, next_var="c"),
        variable("c", 97, 99, "dec", size=1, step=2),
    ]
    writes = [write("a", 44), write("b", 43), write("c", 42)]
    given = stream(*chain, *writes, frame=frame)
    expected = [b"cde", b"cdc", b"cda", b"cbe", b"cbc", b"cba"]
    assert [one[30:33] for one in only(given)] == expected
    exact = only(given, exact=True)
    assert [one[30:33] for one in exact] == expected
    # T-Rex leaves the checksum of its template.
    assert {one[28:30] for one in exact} == {bytes.fromhex("15fa")}
    assert {one[28:30] for one in only(given)} != {bytes.fromhex("15fa")}


def test_chain_of_bursts_has_the_times_of_t_rex() -> None:
    # stl/burst_3st_loop_x_times.py: bursts of 1, 2 and 3 frames, 10 a second, twice in all.
    def burst(name: str, frames: int, **more: Any) -> dict[str, Any]:
        pattern = mode("single_burst", 10, total_pkts=frames)
        return stream(frame=SIMPLE, name=name, mode=pattern, **more)

    chain = (
        burst("S0", 1, isg=10.0, next="S1"),
        burst("S1", 2, next="S2", self_start=False),
        burst("S2", 3, next="S0", self_start=False, action_count=2),
    )
    found = frames_of(*chain, count=100)
    times = {name: [at for at, _ in sent] for name, sent in found.items()}
    assert times == {
        "S0": [10, 300_020],
        "S1": [10, 100_010, 300_020, 400_020],
        "S2": [100_010, 200_010, 300_010, 400_020, 500_020, 600_020],
    }


def test_continuous_streams_share_the_load_as_their_rates_are() -> None:
    sizes = {60: 28, 590: 16, 1514: 4}
    streams = [stream(frame=BENCH[:42] + bytes(size - 42), mode=mode(pps=pps)) for size, pps in sizes.items()]
    text = text_of(streams, multiplier=Multiplier(load="50%"))
    assert "load: 50%" in text
    (case,) = cases(plan_of(text))
    assert case.profile.mean == Fraction(28 * 64 + 16 * 594 + 4 * 1518, 48)
    assert "load: 96pps" in text_of(streams, multiplier=Multiplier(Fraction(2)))


def test_port_that_sends_what_comes_back_is_the_same_profile() -> None:
    back = stream(
        variable("src", 0x30000004, 0x300000FE),
        variable("dst", 0x10000004, 0x100000FE),
        write("src", 26),
        write("dst", 30),
        FIX,
        frame=BENCH[:26] + BENCH[30:34] + BENCH[26:30] + BENCH[34:],
    )
    assert [case.name for case in cases(plan_of(text_of([VAR2], [back])))] == ["trex / bidir"]


def test_port_that_sends_something_else_is_what_comes_back() -> None:
    plan = plan_of(text_of([VAR2], [VAR2]))
    (case,) = cases(plan)
    assert case.name == "trex / bidir"
    ways: dict[str, list[bytes]] = {}
    for one in first_frames(plan, case, 3):
        ways.setdefault(one.stream, []).append(one.data[12:42])
    forward, backward = ways.values()
    assert forward == backward
    other = stream(frame=BENCH + bytes(20))
    apart = cases(plan_of(text_of([VAR2], [other])))
    assert [case.name for case in apart] == ["port-0 / uni", "port-1 / uni-reverse"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (stream(flags=8), "dummy_stream"),
        (stream(variable("a", 0, 9), write("b", 30)), "`b`"),
        (stream(variable("a", 0, 9), write("a", 24)), "checksum"),
        (stream(variable("a", 0, 9), write("a", 58)), "behind the end"),
        (stream({"type": "fix_checksum_icmpv6", "l2_len": 14, "l3_len": 40}), "STLVmFixIcmpv6"),
        (stream({"type": "other"}), "other"),
        (stream(mode=mode("single_burst", total_pkts=3), next="nobody"), "nobody"),
        (stream(mode=mode("stateful")), "stateful"),
    ],
)
def test_stream_that_no_plan_can_say_is_refused_by_name(given: dict[str, Any], says: str) -> None:
    with pytest.raises(NetdynoError) as caught:
        text_of([given])
    assert (caught.value.code, says in caught.value.message) == ("unsupported", True)


@pytest.mark.parametrize(
    "broken",
    [
        {"packet": {"binary": "no base64!"}},
        {"packet": {}},
        {"flags": "x"},
        {"isg": -1},
        {"isg": float("nan")},
        {"mode": {"type": "continuous"}},
        {"mode": mode(pps=-4)},
        {"vm": {"instructions": [variable("a", 0, 1 << 70)]}},
        {"vm": {"instructions": [{"type": "flow_var", "name": "a"}]}},
        {"vm": {"instructions": [{}] * 1000}},
        {"vm": []},
        {"action_count": True},
    ],
)
def test_json_of_a_stream_that_is_none_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(NetdynoError):
        text_of([stream(**broken)])


PROFILE = """from trex_stl_lib.api import *
class P:
    def get_streams(self, direction=0, size=64, **kw):
        packet = Ether() / IP(src="16.0.0.1", dst="48.0.0.1") / UDP(dport=12, sport=1025)
        packet = packet / ("x" * (size - 4 - len(packet)))
        return [STLStream(packet=STLPktBuilder(pkt=packet), mode=STLTXCont(pps=1))]
register = P
"""


def test_line_of_t_rex_without_interfaces_writes_a_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("simple.py").write_text(PROFILE)
    line = ["start", "-f", "simple.py", "-m", "10%", "--port", "0", "-t", "size=128", "-d", "5"]
    done = CliRunner().invoke(cli, ["trex", *line])
    assert done.exit_code == 0, done.output
    asked = ["check", "simple.yaml", "--frames", "simple.pcap", "-n", "3"]
    checked = CliRunner().invoke(cli, asked)
    assert checked.exit_code == 0, checked.output
    capture = Path("simple.pcap").read_bytes()
    assert len(capture) == 24 + 3 * (16 + 124)
    assert "load: 10%, duration: 5s" in Path("simple.yaml").read_text()
    again = CliRunner().invoke(cli, ["trex", *line])
    assert again.exit_code == 2
