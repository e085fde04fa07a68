"""Routing neighbours and tables that come with the plan: BIRD beside the test frames, BIRD or FRR behind.

Truth: the kernel's own count of its routes, frames that come back, and what the device's port hears.
"""

from __future__ import annotations

import shutil
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import frr
import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import addresses
from netdyno.devices.linux import ROUTER, bird, namespaces
from netdyno.devices.linux import device as dut
from netdyno.devices.live import Live
from netdyno.devices.reasons import RoutesAnnounced
from netdyno.devices.speakers import speaking
from netdyno.devices.watches.bird import command
from netdyno.plan import Plan, parse
from netdyno.store import open_run
from netdyno.values.load import Event
from netdyno.values.records import StoredCase
from own_router import own_router
from test_labs import needs_root

pytest.importorskip("netdyno._engine", reason="the engine is not built")
pytestmark = [
    pytest.mark.paired,
    needs_root,
    pytest.mark.skipif(
        shutil.which("bird", path=dut.SEARCH) is None, reason="wants BIRD (apt install bird2)"
    ),
]

LINKS = """\
    - {endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}
    - endpoints: ["tester:east", "dut:d1"]
      rate: 1Gbps
      routing: %s
"""
BGP = "own_as: 64512, sessions: 2, routes: 3000, routes_ipv6: 500, md5: true"
TABLE = f"{{bgp: {{{BGP}}}, ospf: {{hello: 1s, dead: 4s}}}}"
PLAN = """\
title: Routing neighbours
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: %s}}
  links:
%s
traffic: {it: {size: 64B, flows: 1000}}
matrix: {direction: [uni]}
method: {soak: {load: 2kpps, duration: 1s, part: 0s}}
trial: {settle: 100ms, drain: 200ms, retries: 0, catch_up: 1000%%}
watch: {adjacencies: true}
"""


def asked(kind: str, routing: str) -> Plan:
    return parse(PLAN % (kind, LINKS % routing))


def run(plan: Plan, folder: Path) -> StoredCase:
    outcome = runner.run(plan, folder / "runs", watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as stored:
        (case,) = stored.cases
        return case


@pytest.mark.parametrize("daemon", ["bird", "frr"])
def test_table_of_several_sessions_is_forwarded_by(
    daemon: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if daemon == "frr" and not frr.is_installed():
        pytest.skip("wants FRR (apt-get install frr)")
    monkeypatch.setenv("NETDYNO_BGP_PASSWORD", "only-for-tests")
    case = run(asked(f"linux/router, settings: {{routing: {daemon}}}", TABLE), tmp_path)
    assert case.state == "done", case.error
    (told,) = (note for note in case.wiring.notes if isinstance(note, RoutesAnnounced))
    assert (told.routes, told.routes_ipv6, told.sessions) == (3000, 500, 2)
    # The device has routes of its own, too: to its links and to the loopbacks of the sessions.
    assert told.held is not None
    assert 3500 < told.held < 3600
    # The method began only after a frame to each of 1,000 prefixes had come back.
    assert case.result is not None
    text = "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file())
    assert "only-for-tests" not in text


@pytest.mark.parametrize("version", [4, 6])
def test_example_of_an_acceptance_judges_the_table_and_what_changes(version: int, tmp_path: Path) -> None:
    """With a 300th of the routes, by frames of each IP version."""
    text = (Path(__file__).parents[2] / "examples" / "acceptance.yaml").read_text()
    for many, few in (("900000", "3000"), ("143000", "500"), ("100000", "1500")):
        text = text.replace(many, few)
    if version == 6:
        for many, few in (
            ("imix/trex, flows", "84B, ip: 6, flows"),
            ("withdraw: 1500", "withdraw_ipv6: 300"),
        ):
            text = text.replace(many, few)
        text = text.replace("routes: 3000, withdraw", "routes: 3000, routes_ipv6: 500, withdraw")
    fewer = "{loads: [500pps], hold: 1s, loss_free: 500pps, cut: east, rate: 5, before: 1s, watch: 6s}"
    settings = "{settle: 100ms, drain: 500ms, retries: 0, catch_up: 1000%}"
    case = run(parse(text, overrides=[f"method.acceptance={fewer}", f"trial={settings}"]), tmp_path)
    assert case.result is not None, case.error
    (table,) = (one for one in case.result.tables if one.name == "Acceptance")
    judged = {row[0]: row[-2] for row in table.rows}
    assert {"IPv4 table", "IPv6 table", "adjacencies", "pings", "withdrawal", "announcement", "cut"} <= set(
        judged
    )
    assert (judged["IPv4 table"], judged["IPv6 table"]) == ("pass", "pass")
    assert "fail" not in {judged[name] for name in ("withdrawal", "announcement", "cut")}


@contextmanager
def built(routing: str) -> Iterator[tuple[Live, speaking.Speaking]]:
    plan = asked("linux/router, settings: {routing: bird}", routing)
    wiring = ROUTER.wire(plan.lab.links, {"routing": "bird"})
    with ROUTER.build(wiring) as live, speaking.speaking(live, lambda _: None) as found:
        yield live, found


def test_session_that_ends_says_so_to_the_device() -> None:
    """A Cease of RFC 4486, in the words of the device's BIRD."""
    plan = asked("linux/router, settings: {routing: bird}", "{bgp: {own_as: 64513, routes: 20000}}")
    with ROUTER.build(ROUTER.wire(plan.lab.links, {"routing": "bird"})) as live:
        with speaking.speaking(live, lambda _: None) as found:
            assert not list(Path(found.running[0].daemons[0].log.parent.parent).glob("table-*"))
        (daemon,) = live.daemons  # type: ignore[attr-defined]
        (said,) = command(daemon.control, ("show protocols all",), 5.0)
    assert "Received: Administrative shutdown" in said


def test_kernel_of_a_speaker_answers_no_test_frame() -> None:
    """Frames to announced prefixes, to closed ports of the speaker itself, and with no more hops to go."""
    with built("{bgp: {own_as: 64513, peer_as: 64512, routes: 2000}}") as (live, _):
        device = live.device  # type: ignore[attr-defined]
        with namespaces.within(device.pid):
            heard = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            heard.bind(("d1", 3))
            heard.settimeout(0.5)
            heard.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**21)
        sent = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        sent.bind(("p0", 0))
        targets = [prefix.partition("/")[0] for prefix in live.wiring.routes[1][:200]]
        for target in (*targets, addresses.tester(1)):
            for hops in (64, 2):
                sent.send(datagram(target, hops))
        found_there = list(received(heard))
        heard.close()
        sent.close()
    assert sum(frame[23] == 17 for frame, is_sent in found_there if is_sent) == 2 * 201
    assert {kind(frame) for frame, is_sent in found_there if not is_sent} <= {"arp", "bgp"}


def received(heard: socket.socket) -> Iterator[tuple[bytes, bool]]:
    """Frames at a port until none comes any more, and whether the port sent them."""
    while True:
        try:
            frame, place = heard.recvfrom(2048)
        except TimeoutError:
            return
        yield frame, place[2] == socket.PACKET_OUTGOING


def kind(frame: bytes) -> str:
    if frame[12:14] == b"\x08\x06":
        return "arp"
    if frame[12:14] == b"\x08\x00" and frame[23] == 6 and 179 in struct.unpack_from("!HH", frame, 34):
        return "bgp"
    return frame.hex()


def datagram(target: str, hops: int) -> bytes:
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 46, 0, 0, hops, 17, 0) + b"".join(
        socket.inet_aton(one) for one in ("16.0.0.1", target)
    )
    total = sum(struct.unpack("!10H", ip))
    total = (total & 0xFFFF) + (total >> 16)
    ip = ip[:10] + struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF) + ip[12:]
    ends = bytes.fromhex((addresses.device_mac(0) + addresses.tester_mac(0)).replace(":", ""))
    return ends + b"\x08\x00" + ip + struct.pack("!HHHH", 1025, 12, 26, 0) + bytes(18)


def test_withdrawn_routes_leave_the_device_and_come_again() -> None:
    with built("{bgp: {own_as: 64513, peer_as: 64512, routes: 2000, withdraw: 500}}") as (live, found):
        before = count(live)
        found.ask(Event(0, "withdraw", "east"))
        assert before - 500 == settled(live, before - 500)
        found.ask(Event(0, "announce", "east"))
        assert before == settled(live, before)


def count(live: Live) -> int:
    found = live.count_routes()
    assert found is not None
    return found[4]


def settled(live: Live, wanted: int) -> int:
    device = live.device  # type: ignore[attr-defined]
    for _ in range(200):
        if count(live) == wanted:
            break
        device.do("sleep 0.05")
    return count(live)


@pytest.fixture
def router() -> Iterator[dut.Device]:
    with own_router() as found:
        yield found


THEIRS = """router id 100.64.1.1; protocol device {} protocol kernel { ipv4 { export all; }; }
protocol bgp { local 100.64.1.1 as 64999; neighbor 100.64.1.2 as 64513; ipv4 { import all; export none; }; }
"""


EXTERNAL = LINKS.replace("1Gbps", "1Gbps, address: 100.64.0.2/30, gateway: 100.64.0.1", 1).replace(
    "rate: 1Gbps\n", "rate: 1Gbps\n      address: 100.64.1.2/30\n      gateway: 100.64.1.1\n"
)


def test_session_that_a_device_refuses_is_named_with_its_reason(
    router: dut.Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speaking, "UP_S", 4.0)
    routing = "{bgp: {own_as: 64513, peer_as: 64512, routes: 2000}}"
    plan = parse(PLAN % ("external", EXTERNAL % routing))
    with bird.run_bird(router, THEIRS, bird.IS_UP):
        case = run(plan, tmp_path)
    assert case.error is not None
    assert case.error.code == "session-refused"
    assert "Bad peer AS" in case.error.message


OF_IPV6 = """router id 100.64.1.1; protocol device {} protocol direct { ipv6; }
protocol kernel { ipv6 { export all; }; }
protocol bgp {
  local 100.64.1.1 as 64512; neighbor 100.64.1.2 as 64513; connect delay time 1; connect retry time 2;
  ipv4 { import none; export none; }; ipv6 { import all; export none; gateway recursive; };
}
"""


def test_ipv6_frames_through_an_external_router_come_to_the_next_hop(
    router: dut.Device, tmp_path: Path
) -> None:
    for scope in ("all", "d0", "d1"):
        router.do(f"echo 0 > /proc/sys/net/ipv6/conf/{scope}/disable_ipv6")
    router.do("echo 1 > /proc/sys/net/ipv6/conf/all/forwarding; ip address add 2001:db8::1/64 dev d1 nodad")
    routing = "{bgp: {own_as: 64513, peer_as: 64512, routes_ipv6: 400, next_hop_ipv6: '2001:db8::2'}}"
    plan = parse((PLAN % ("external", EXTERNAL % routing)).replace("64B", "84B, ip: 6"))
    with bird.run_bird(router, OF_IPV6, bird.IS_UP):
        case = run(plan, tmp_path)
    # Each of the prefixes had a frame that came back.
    assert case.state == "done", case.error
