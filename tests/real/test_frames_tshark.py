"""What a plan asks for is what is on the cable: frames the engine sent, captured and decoded by Wireshark."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NoReturn

import pytest
from netdyno.devices import KINDS, LabError
from netdyno.methods import METHODS
from netdyno.plan import parse
from netdyno.plan.matrix import cases, situation
from netdyno.testers.netdyno.spec import read_result, session_spec, trial_spec

pytestmark = pytest.mark.paired

engine = pytest.importorskip("netdyno._engine", reason="the engine is not built")

TSHARK = shutil.which("tshark")
FRAMES = 12
"""At least so many of each profile. 40 are asked for; a busy machine may not have time for all of them, and
where it had not even for these they are asked for again."""
TRIES = 20

PLAN = """\
title: Frames on a cable
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/xconnect}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}
traffic:
  plain: {size: 64B, flows: 1}
  random: {size: 128B, flows: 4096, addresses: rfc2544}
  tcp: {size: 76B, flows: 1, protocol: tcp}
  tcp-64: {size: 64B, flows: 3, protocol: tcp, probe: false}
  vlan: {size: 68B, flows: 1, vlan: {vid: 10, pcp: 5}}
  qinq: {size: 128B, flows: 1, vlan: [{vid: 100, tpid: 0x88a8}, 200], protocol: tcp}
  # The tags of the published tunnel of an S5860: its own outer one, and a customer's.
  qinq-9100: {size: 128B, flows: 1, vlan: [{vid: 20, tpid: 0x9100}, 1000]}
  ipv6: {size: 84B, flows: 1, ip: 6}
  ipv6-tcp: {size: 1518B, flows: 512, ip: 6, protocol: tcp}
  mpls:
    size: 128B
    flows: 1
    headers:
      - {type: ethernet}
      - {type: mpls, label: 16, tc: 3, ttl: 9}
      - {type: mpls, label: 777}
      - {type: ipv4, src: 16.0.0.1, dst: 48.0.0.1, dscp: 46, ttl: 17}
      - {type: udp, sport: 1025, dport: 12}
  vxlan:
    size: 256B
    flows: 3
    headers:
      - {type: ethernet}
      - {type: ipv4, src: 192.0.2.1, dst: 192.0.2.2}
      - {type: udp, sport: {list: [50000, 50001, 50002]}, dport: 4789}
      - {type: vxlan, vni: 5001}
      - {type: ethernet}
      - {type: ipv6, src: "2001:2::1", dst: "2001:2:0:8000::1"}
      - {type: tcp, sport: 1025, dport: 12}
  gre:
    size: 200B
    flows: 2
    headers:
      - {type: ethernet}
      - {type: vlan, vid: 7}
      - {type: ipv4, src: 192.0.2.1, dst: 192.0.2.2}
      - {type: gre, key: 305419896}
      - {type: ipv4, src: 16.0.0.1, dst: {step: {start: 48.0.0.1, step: 1, count: 2}}}
      - {type: udp, sport: 1025, dport: 12}
  eompls:
    size: 128B
    flows: 1
    headers:
      - {type: ethernet}
      - {type: mpls, label: 778}
      - {type: ethernet}
      - {type: vlan, vid: 9}
      - {type: ipv4, src: 16.0.0.1, dst: 48.0.0.1}
      - {type: udp, sport: 1025, dport: 12}
  eompls-control-word:
    size: 128B
    flows: 1
    headers:
      - {type: ethernet}
      - {type: mpls, label: 16}
      - {type: mpls, label: 888}
      - {type: control_word, sequence: 5}
      - {type: ethernet}
      - {type: ipv4, src: 16.0.0.1, dst: 48.0.0.1}
      - {type: udp, sport: 1025, dport: 12}
  pppoe:
    size: 128B
    flows: 2
    headers:
      - {type: ethernet}
      - {type: vlan, vid: 7}
      - {type: pppoe, session: {list: [17, 18]}}
      - {type: ppp}
      - {type: ipv4, src: 16.0.0.1, dst: 48.0.0.1}
      - {type: udp, sport: 1025, dport: 12}
  pppoe-ipv6:
    size: 128B
    flows: 1
    headers:
      - {type: ethernet}
      - {type: pppoe, session: 1}
      - {type: ppp}
      - {type: ipv6, src: "2001:2::1", dst: "2001:2:0:8000::1"}
      - {type: tcp, sport: 1025, dport: 12}
  options:
    size: 200B
    flows: 1
    headers:
      - {type: ethernet}
      - {type: ipv6, src: "2001:2::1", dst: "2001:2:0:8000::1"}
      - {type: hop_by_hop, options: "0502 0000"}
      - {type: destination_options, size: 24}
      - {type: udp, sport: 1025, dport: 12}
  chain:
    size: 200B
    flows: 1
    headers:
      - {type: ethernet}
      - {type: ipv6, src: "2001:2::1", dst: "2001:2:0:8000::1"}
      - {type: routing, routing_type: 2, segments_left: 1, addresses: ["2001:2:0:8000::9"]}
      - {type: destination_options}
      - {type: fragment, id: 7}
      - {type: udp, sport: 1025, dport: 12}
  srv6:
    size: 256B
    flows: 2
    headers:
      - {type: ethernet}
      - {type: ipv6, src: "2001:2::1", dst: "2001:2:0:8000::1"}
      - {type: srh, segments: ["2001:2:0:8000::1", "2001:2:0:8000::2"], tag: 77}
      - {type: ipv4, src: 16.0.0.1, dst: {list: [48.0.0.1, 48.0.0.2]}}
      - {type: udp, sport: 1025, dport: 12}
  srv6-udp:
    size: 200B
    flows: 1
    headers:
      - {type: ethernet}
      - {type: ipv6, src: "2001:2::1", dst: "2001:2:0:8000::1"}
      - {type: srh, segments: ["2001:2:0:8000::1", "2001:2:0:8000::2", "2001:2:0:8000::3"]}
      - {type: udp, sport: 1025, dport: 12}
  gtpu:
    size: 128B
    flows: 2
    headers:
      - {type: ethernet}
      - {type: ipv4, src: 192.0.2.1, dst: 192.0.2.2}
      - {type: udp, sport: 2152, dport: 2152}
      - {type: gtpu, teid: {step: {start: 4096, step: 1, count: 2}}}
      - {type: ipv4, src: 16.0.0.1, dst: 48.0.0.1}
      - {type: udp, sport: 1025, dport: 12}
  gtpu-5g:
    size: 200B
    flows: 1
    headers:
      - {type: ethernet}
      - {type: ipv4, src: 192.0.2.1, dst: 192.0.2.2}
      - {type: udp, sport: 2152, dport: 2152, checksum: false}
      - {type: gtpu, teid: 9, qfi: 5}
      - {type: ipv6, src: "2001:2::1", dst: "2001:2:0:8000::1"}
      - {type: udp, sport: 1025, dport: 12}
  varied:
    size: 128B
    flows: 6
    headers:
      - {type: ethernet}
      - type: ipv4
        src: 16.0.0.1
        dst: 48.0.0.1
        dscp: {list: [0, 46]}
        ttl: {step: {start: 10, step: 5, count: 3}}
        df: {list: [true, false]}
      - {type: udp, sport: 1025, dport: 12}
  varied-ipv6:
    size: 128B
    flows: 2
    headers:
      - {type: ethernet}
      - type: ipv6
        src: "2001:2::1"
        dst: "2001:2:0:8000::1"
        dscp: {list: [10, 46]}
        hop_limit: {list: [9, 255]}
      - {type: udp, sport: 1025, dport: 12}
  fragment-first:
    size: 1518B
    flows: 1
    headers:
      - {type: ethernet}
      - {type: ipv4, src: 16.0.0.1, dst: 48.0.0.1, id: 4660, more: true}
      - {type: udp, sport: 1025, dport: 12}
  fragment-last:
    size: 128B
    flows: 2
    headers:
      - {type: ethernet}
      - {type: ipv4, src: 16.0.0.1, dst: 48.0.0.1, id: {list: [1, 2]}, offset: 1480, protocol: 17}
  fragment-ipv6:
    size: 130B
    flows: 1
    headers:
      - {type: ethernet}
      - {type: ipv6, src: "2001:2::1", dst: "2001:2:0:8000::1"}
      - {type: fragment, id: 99, more: true, offset: 1448, protocol: 17}
  no-ip: {size: 64B, flows: 1, headers: [{type: ethernet, ethertype: 0x88b5}]}
  raw: {size: 128B, flows: 1, headers: [{type: ethernet, ethertype: 0x88b6}, {type: raw, bytes: "0102 0304"}]}
  protocol:
    size: 128B
    flows: 1
    headers:
      - {type: ethernet}
      - {type: ipv4, src: 16.0.0.1, dst: 48.0.0.1, protocol: 254}
      - {type: raw, bytes: "0204 0000"}
matrix: {profile: [PROFILES], direction: [uni]}
method: {throughput: {duration: 200ms, maximum: 200pps, width: 200pps}}
trial: {settle: 1ms, drain: 50ms, sample: 1ms}
"""

# Field of Wireshark to the values that its frames have; outermost first.
# Checksum states: 1 is good, 3 is "none there" (RFC 7348: the outer UDP checksum of VXLAN should be zero).
EXPECTED: dict[str, dict[str, tuple[str, ...]]] = {
    "plain": {
        "frame.protocols": ("eth:ethertype:ip:udp:data",),
        "frame.len": ("60",),
        "ip.src": ("16.0.0.1",),
        "ip.dst": ("48.0.0.1",),
        "ip.len": ("46",),
        "udp.srcport": ("1025",),
        "udp.dstport": ("12",),
        "udp.length": ("26",),
        "udp.checksum.status": ("1",),
    },
    "random": {"frame.len": ("124",), "udp.dstport": ("7",), "udp.checksum.status": ("1",)},
    "tcp": {
        "frame.len": ("72",),
        "tcp.len": ("18",),
        "tcp.dstport": ("12",),
        "tcp.checksum.status": ("1",),
    },
    "tcp-64": {
        "frame.len": ("60",),
        "frame.protocols": ("eth:ethertype:ip:tcp:data",),
        "ip.len": ("46",),
        "tcp.len": ("6",),
        "tcp.checksum.status": ("1",),
    },
    "vlan": {
        "frame.len": ("64",),
        "vlan.id": ("10",),
        "vlan.priority": ("5",),
        "ip.dst": ("48.0.0.1",),
        "udp.checksum.status": ("1",),
    },
    "qinq": {
        "frame.len": ("124",),
        "ieee8021ad.id": ("100",),
        "vlan.id": ("200",),
        "tcp.checksum.status": ("1",),
    },
    "qinq-9100": {
        "frame.len": ("124",),
        "eth.type": ("0x9100",),
        "vlan.id": ("20,1000",),
        "vlan.etype": ("0x8100,0x0800",),
        "ip.dst": ("48.0.0.1",),
        "udp.checksum.status": ("1",),
    },
    "ipv6": {
        "frame.protocols": ("eth:ethertype:ipv6:udp:data",),
        "frame.len": ("80",),
        "ipv6.plen": ("26",),
        "udp.checksum.status": ("1",),
    },
    "ipv6-tcp": {"frame.len": ("1514",), "ipv6.plen": ("1460",), "tcp.checksum.status": ("1",)},
    "mpls": {
        "frame.len": ("124",),
        "mpls.label": ("16,777",),
        "mpls.exp": ("3,0",),
        "mpls.bottom": ("0,1",),
        "mpls.ttl": ("9,64",),
        "ip.ttl": ("17",),
        "ip.dsfield.dscp": ("46",),
        "udp.checksum.status": ("1",),
    },
    "vxlan": {
        "frame.len": ("252",),
        "ip.src": ("192.0.2.1",),
        "udp.srcport": ("50000", "50001", "50002"),
        "vxlan.vni": ("5001",),
        "ipv6.src": ("2001:2::1",),
        "ipv6.dst": ("2001:2:0:8000::1",),
        "tcp.dstport": ("12",),
        "tcp.checksum.status": ("1",),
    },
    "gre": {
        "frame.len": ("196",),
        "vlan.id": ("7",),
        "gre.key": ("0x12345678",),
        "ip.src": ("192.0.2.1,16.0.0.1",),
        "ip.dst": ("192.0.2.2,48.0.0.1", "192.0.2.2,48.0.0.2"),
        "ip.checksum.status": ("1,1",),
        "udp.checksum.status": ("1",),
    },
    "eompls": {
        "frame.protocols": ("eth:ethertype:mpls:eth:ethertype:vlan:ethertype:ip:udp:data",),
        "mpls.label": ("778",),
        "mpls.bottom": ("1",),
        "vlan.id": ("9",),
        "ip.dst": ("48.0.0.1",),
        "udp.checksum.status": ("1",),
    },
    "eompls-control-word": {
        "frame.protocols": ("eth:ethertype:mpls:eth:ethertype:ip:udp:data",),
        "pwethcw": ("pwethcw",),
        "mpls.label": ("16,888",),
        "mpls.bottom": ("0,1",),
        "udp.checksum.status": ("1",),
    },
    "pppoe": {
        "frame.protocols": ("eth:ethertype:vlan:ethertype:pppoes:ppp:ip:udp:data",),
        "pppoe.session_id": ("0x0011", "0x0012"),
        "pppoe.payload_length": ("100",),
        "ppp.protocol": ("0x0021",),
        "udp.checksum.status": ("1",),
    },
    "pppoe-ipv6": {
        "ppp.protocol": ("0x0057",),
        "ipv6.plen": ("62",),
        "tcp.checksum.status": ("1",),
    },
    "options": {
        "frame.protocols": ("eth:ethertype:ipv6:ipv6.hopopts:ipv6.dstopts:udp:data",),
        "ipv6.opt.type": ("0x05,0x01,0x01",),
        "ipv6.dstopts.len_oct": ("24",),
        "udp.checksum.status": ("1",),
    },
    "chain": {
        "frame.protocols": ("eth:ethertype:ipv6:ipv6.routing:ipv6.dstopts:ipv6.fraghdr:udp:data",),
        "ipv6.routing.segleft": ("1",),
        "ipv6.fraghdr.ident": ("0x00000007",),
        "udp.checksum.status": ("1",),
    },
    "srv6": {
        "frame.protocols": ("eth:ethertype:ipv6:ipv6.routing:ip:udp:data",),
        "ipv6.routing.type": ("4",),
        "ipv6.routing.segleft": ("1",),
        "ipv6.routing.srh.last_entry": ("1",),
        "ipv6.routing.srh.addr": ("2001:2:0:8000::2,2001:2:0:8000::1",),
        "ip.dst": ("48.0.0.1", "48.0.0.2"),
        "udp.checksum.status": ("1",),
    },
    # The checksum is that of the final destination (RFC 8200 section 8.1).
    "srv6-udp": {"ipv6.routing.segleft": ("2",), "udp.checksum.status": ("1",)},
    "gtpu": {
        "frame.protocols": ("eth:ethertype:ip:udp:gtp:ip:udp:data",),
        "gtp.message": ("0xff",),
        "gtp.teid": ("0x00001000", "0x00001001"),
        "gtp.length": ("74",),
        "ip.checksum.status": ("1,1",),
        "udp.checksum.status": ("1,1",),
    },
    "gtpu-5g": {
        "frame.protocols": ("eth:ethertype:ip:udp:gtp:ipv6:udp:data",),
        "gtp.ext_hdr.pdu_ses_con.qos_flow_id": ("5",),
        "udp.checksum.status": ("3,1",),
    },
    "varied": {
        "ip.dsfield.dscp": ("0", "46"),
        "ip.ttl": ("10", "15", "20"),
        "ip.flags.df": ("0", "1"),
        "ip.checksum.status": ("1",),
        "udp.checksum.status": ("1",),
    },
    "varied-ipv6": {
        "ipv6.tclass.dscp": ("10", "46"),
        "ipv6.hlim": ("9", "255"),
        "udp.checksum.status": ("1",),
    },
    "fragment-first": {
        "ip.id": ("0x1234",),
        "ip.flags.mf": ("1",),
        "ip.frag_offset": ("0",),
        "ip.len": ("1500",),
        # Not verified: the rest of the packet is not there.
        "udp.checksum.status": ("2",),
    },
    "fragment-last": {
        "ip.id": ("0x0001", "0x0002"),
        "ip.flags.mf": ("0",),
        "ip.frag_offset": ("185",),
        "ip.proto": ("17",),
    },
    "fragment-ipv6": {
        "ipv6.fraghdr.more": ("1",),
        "ipv6.fraghdr.offset": ("181",),
        "ipv6.fraghdr.nxt": ("17",),
    },
    "no-ip": {"frame.len": ("60",), "frame.protocols": ("eth:ethertype:data",), "eth.type": ("0x88b5",)},
    "raw": {"eth.type": ("0x88b6",), "frame.protocols": ("eth:ethertype:data",)},
    "protocol": {"ip.proto": ("254",), "ip.checksum.status": ("1",)},
}
FIELDS = sorted(
    {field for fields in EXPECTED.values() for field in fields}
    | {"eth.src", "eth.dst", "_ws.malformed", "_ws.expert.message", "ip.checksum.status"}
)


def unable(why: str) -> NoReturn:
    """Skips, but under `make test`, which has installed all it takes: there the lab alone may be refused."""
    if os.environ.get("NETDYNO_TESTS") == "all":
        pytest.fail(why)
    pytest.skip(why)


@contextmanager
def capturing(interface: str, file: Path) -> Iterator[None]:
    """Wireshark listens on an interface, for a minute at most."""
    assert TSHARK is not None
    command = [TSHARK, "-Q", "-n", "-p", "-i", interface, "-w", str(file), "-a", "duration:60"]
    listener = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 20
        # A capture file has a header as soon as it listens.
        while not (file.exists() and file.stat().st_size >= 24):
            if listener.poll() is not None or time.monotonic() > deadline:
                listener.kill()
                unable(f"tshark cannot capture here: {listener.communicate()[1].strip()}")
            time.sleep(0.05)
        time.sleep(0.3)
        yield
        time.sleep(0.5)
    finally:
        if listener.poll() is None:
            listener.send_signal(signal.SIGINT)
        listener.communicate(timeout=20)


def decoded(file: Path) -> list[dict[str, str]]:
    """The frames of a capture, checksums validated."""
    assert TSHARK is not None
    command = [TSHARK, "-n", "-r", str(file), "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]
    for layer in ("ip", "udp", "tcp"):
        command += ["-o", f"{layer}.check_checksum:TRUE"]
    command += ["-o", "tcp.analyze_sequence_numbers:FALSE", "-o", "ip.defragment:FALSE"]
    command += ["-o", "ipv6.defragment:FALSE"]
    command += ["-d", "mpls.label==778,pwethnocw", "-d", "mpls.label==888,pwethcw"]
    # Our payload is not what these ports would suggest; an MPLS label does not say what follows it.
    for port in ("udp.port==12", "udp.port==7", "tcp.port==12", "tcp.port==7"):
        command += ["-d", f"{port},data"]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, str]]]:
    """Frames of each profile as they came out of the far end of the cable."""
    if TSHARK is None:
        pytest.skip("wants tshark (apt-get install tshark)")
    folder = tmp_path_factory.mktemp("frames")
    plan = parse(PLAN.replace("PROFILES", ", ".join(EXPECTED)), name="frames.yaml", base=folder)
    kind = KINDS[plan.lab.kind]
    file = folder / "frames.pcapng"
    sent: list[tuple[str, int]] = []
    try:
        with kind.build(kind.wire(plan.lab.links, {})) as live:
            wiring = live.wiring
            interface = wiring.session["ports"][1]["backend"]["interface"]
            with capturing(interface, file):
                for case in cases(plan):
                    trial = next(METHODS[plan.method].start(plan.parameters, situation(case, wiring)))
                    spec = json.dumps(trial_spec(plan, case, wiring, trial))
                    for _ in range(TRIES):
                        sent.append((case.profile_name, offered(json.dumps(session_spec(wiring)), spec)))
                        if sent[-1][1] >= FRAMES:
                            break
                    else:
                        pytest.fail(f"never so many frames of one profile: {sent}")
    except LabError as refused:
        pytest.skip(f"no lab of network namespaces here: {refused}")
    west, east = wiring.ports
    ours = [frame for frame in decoded(file) if frame["eth.src"].split(",")[0] == west.mac]
    assert all(frame["eth.dst"].split(",")[0] == east.mac for frame in ours)
    assert len(ours) == sum(count for _, count in sent)
    frames = iter(ours)
    return {profile: list(islice(frames, count)) for profile, count in sent}


def offered(session_spec: str, spec: str) -> int:
    """Makes a trial of one stream that loses nothing: how many frames were sent."""
    session = engine.Session(session_spec)
    try:
        session.start(spec)
        assert session.wait(20)
        result = read_result(session.result())
    finally:
        session.close()
    assert not result.invalid
    (stream,) = result.streams
    assert (stream.lost, stream.corrupted, stream.duplicates) == (0, 0, 0)
    return stream.offered


@pytest.mark.parametrize(("asked", "outcome"), [("all", "Failed"), ("", "Skipped")])
def test_capture_that_does_not_begin_fails_where_no_skip_is_allowed(
    asked: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETDYNO_TESTS", asked)
    monkeypatch.setitem(globals(), "TSHARK", "false")
    raised = {"Failed": pytest.fail.Exception, "Skipped": pytest.skip.Exception}[outcome]
    with pytest.raises(raised, match="cannot capture"), capturing("lo", tmp_path / "none.pcapng"):
        pass


@pytest.mark.parametrize("profile", EXPECTED)
def test_frames_are_decoded_as_meant(profile: str, seen: dict[str, list[dict[str, str]]]) -> None:
    frames = seen[profile]
    for frame in frames:
        assert frame["_ws.malformed"] == frame["_ws.expert.message"] == ""
        assert set(frame["ip.checksum.status"].split(",")) <= {"", "1"}
    for field, values in EXPECTED[profile].items():
        assert {frame[field] for frame in frames} == set(values), field


def test_random_addresses_stay_in_their_prefixes_and_differ(seen: dict[str, list[dict[str, str]]]) -> None:
    frames = seen["random"]
    assert all(frame["ip.src"].startswith("198.18.") for frame in frames)
    assert all(frame["ip.dst"].startswith("198.19.") for frame in frames)
    assert len({frame["ip.src"] for frame in frames}) > len(frames) // 2
    # RFC 4814 section 4: the two ends are drawn independently, so their difference is no constant.
    last = [(frame["ip.src"].split(".")[2:], frame["ip.dst"].split(".")[2:]) for frame in frames]
    assert len({int(a[0]) ^ int(b[0]) for a, b in last}) > 1
