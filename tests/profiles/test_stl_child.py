"""A T-Rex profile in its own process: what it may use, the frames that come out, and what ends it.

Bytes of frames are those of T-Rex 3.08's own library for the same packets.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest
from netdyno.errors import NetdynoError
from netdyno.profiles import child
from netdyno.profiles.child import Request, read_profile

HEAD = "from trex_stl_lib.api import *\n"
NEW = (
    HEAD
    + """import argparse

class Profile:
    def get_streams(self, direction, tunables, **kwargs):
        parser = argparse.ArgumentParser(os.path.basename(__file__))
        parser.add_argument("--size", type=int, default=64)
        size = parser.parse_args(tunables).size
        ends = ("16.0.0.4", "48.0.0.4")[:: 1 - 2 * direction]
        packet = Ether() / IP(src=ends[0], dst=ends[1]) / UDP(dport=12, sport=1025, chksum=0)
        packet = packet / ("x" * (size - 4 - len(packet)))
        vm = STLVM()
        vm.var(name="src", min_value="16.0.0.4", max_value="16.0.0.254", size=4, op="inc")
        vm.write(fv_name="src", pkt_offset="IP.src")
        vm.fix_chksum()
        return [STLStream(packet=STLPktBuilder(pkt=packet, vm=vm), mode=STLTXCont(pps=1))]

def register():
    return Profile()
"""
)
OLD = """from trex.stl.api import *

class Profile(object):
    def get_streams(self, direction=0, size=64, **kw):
        base = Ether(dst="00:00:00:01:00:00") / IP(src="16.0.0.4", dst="48.0.0.4") / UDP(dport=12, sport=1025)
        base[UDP].chksum = 0
        packet = base / Raw(load=(size - 4 - len(base)) * b"x")
        vm = STLScVmRaw([STLVmFlowVar("src", min_value="16.0.0.4", max_value="16.0.0.254", op="inc"),
                         STLVmWrFlowVar("src", "IP.src"), STLVmFixIpv4("IP")])
        return STLStream(packet=STLPktBuilder(pkt=packet, vm=vm), mode=STLTXCont(pps=1))

def register():
    return Profile()
"""
BENCH = "00000001000000000002000008004500002e0001000040113ab7100000043000000404010 00c001a0000".replace(
    " ", ""
)
"""What T-Rex makes of it: Ethernet, IPv4, UDP, before 18 bytes of `x`."""


def ask(folder: Path, text: str, *tunables: str) -> list[list[dict[str, Any]]]:
    path = folder / "profile.py"
    path.write_text(text)
    return read_profile(Request(path, tunables)).ports


def refusal(folder: Path, text: str, *tunables: str) -> NetdynoError:
    with pytest.raises(NetdynoError) as caught:
        ask(folder, text, *tunables)
    return caught.value


def frame(stream: dict[str, Any]) -> bytes:
    return base64.b64decode(stream["packet"]["binary"])


@pytest.mark.parametrize(("text", "flags"), [(NEW, 0), (OLD, 2)])
def test_profile_of_either_convention_has_the_frame_of_t_rex(tmp_path: Path, text: str, flags: int) -> None:
    for tunables, size in (((), 60), (("size=128",), 124)):
        (first, *_), _ = ask(tmp_path, text, *tunables)
        assert len(frame(first)) == size
        assert first["flags"] == flags
        assert [one["type"] for one in first["vm"]["instructions"]] == [
            "flow_var",
            "write_flow_var",
            "fix_checksum_ipv4",
        ]
        assert first["vm"]["instructions"][1]["pkt_offset"] == 26
    (short, *_), _ = ask(tmp_path, text)
    assert frame(short) == bytes.fromhex(BENCH) + b"x" * 18


PACKETS = {
    # Expression, bytes of T-Rex 3.08.
    "Ether()/IP()/UDP()/('x'*18)": "00000001000000000002000008004500002e0001000040113abd1000000130000001"
    "00350035001a8312" + "78" * 18,
    "Ether()/IP(dst='48.0.0.1')/TCP(flags='S')": "0000000100000000000200000800450000280001000040063ace"
    "1000000130000001001400500000000000000000500220004f7d0000",
    "Ether()/MPLS(label=17,cos=1,s=0,ttl=255)/MPLS(label=0,cos=1,s=1,ttl=12)/IP()"
    "/UDP(dport=12,sport=1025)/('x'*20)": "0000000100000000000200008847000112ff0000030c4500003000010000"
    "40113abb10000001300000010401000c001c06f3" + "78" * 20,
    "Ether()/IPv6(dst='2001:0:4137:9350:8000:f12a:b9c8:2815', src='2001:4860:0:2001::68')"
    "/ICMPv6ND_NS(tgt='2001:0:4137:9350:8000:f12a:b9c8:2815')": "00000001000000000002000086dd6000000000183aff"
    "20014860000020010000000000000068200100004137935080 00f12ab9c828158700 60be00000000".replace(" ", "")
    + "200100004137935080 00f12ab9c82815".replace(" ", ""),
}


def test_packets_have_the_bytes_of_t_rex(tmp_path: Path) -> None:
    made = ",".join(f"STLStream(packet=STLPktBuilder(pkt={one}))" for one in PACKETS)
    imports = "from scapy.contrib.mpls import *\n"
    text = (
        f"{HEAD}{imports}class P:\n    def get_streams(self, **kw):\n        return [{made}]\nregister = P\n"
    )
    streams, _ = ask(tmp_path, text)
    assert [frame(one).hex() for one in streams] == list(PACKETS.values())


def profile(body: str) -> str:
    return f"{HEAD}class P:\n    def get_streams(self, **kw):\n        {body}\nregister = P\n"


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        (profile("return STLHltStream(rate_pps=1)"), "unsupported", ":4: `STLHltStream`"),
        ("from scapy.layers.dns import *\n", "unsupported", ":1: `scapy.layers.dns`"),
        (profile("return Ether(src=1, odd=2)"), "unsupported", ":4: `Ether.odd`"),
        (profile("raise ValueError('no such thing')"), "profile-failed", ":4: the profile raised ValueError"),
        (profile("return kw['framesize']"), "missing-field", ":4: the profile wants the tunable `framesize`"),
        (profile("return []"), "profile-failed", "no streams"),
        ("def register(:\n", "profile-failed", ":1: the profile raised SyntaxError"),
        ("x = 1\n", "wrong-format", "no function `register`"),
        (profile("print(1, file=open('here', 'w'), flush=True)"), "profile-failed", ":4: the profile raised"),
        (profile("os.fork() or os.setsid()"), "profile-failed", ":4: the profile raised BlockingIOError"),
        (profile("return bytearray(1 << 32)"), "profile-failed", ":4: the profile raised out of memory"),
        (profile("[print('x' * 1000000) for _ in range(1000)]"), "too-large", "printed more than 1 MiB"),
    ],
)
def test_profile_that_cannot_be_read_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if "fork" in text and os.geteuid() == 0 and not child._shut_in():
        pytest.skip("the superuser's processes are not counted here")
    error = refusal(tmp_path, text)
    assert (error.code, says in error.message) == (code, True), error.message


def test_profile_that_refuses_its_tunables_is_reported(tmp_path: Path) -> None:
    error = refusal(tmp_path, NEW, "speed=9")
    assert error.code == "wrong-format"
    assert "--speed" in error.message


def test_profile_that_loops_for_ever_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "WALL_S", 2)
    error = refusal(tmp_path, "while True:\n    pass\n")
    assert (error.code, "more than 2 s" in error.message) == ("profile-failed", True)


def test_profile_reads_a_capture_beside_it(tmp_path: Path) -> None:
    head = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
    frames = [bytes(60), bytes(range(64))]
    entries = (int.to_bytes(at, 8, "little") + len(one).to_bytes(4, "little") * 2 + one
               for at, one in enumerate(frames))  # fmt: skip
    (tmp_path / "two.pcap").write_bytes(head + b"".join(entries))
    path = "os.path.join(os.path.dirname(__file__), 'two.pcap')"
    body = f"return STLProfile.load_pcap({path}, ipg_usec=10, loop_count=3)"
    first, _ = ask(tmp_path, profile(body))
    assert [frame(one) for one in first] == frames
    assert [(one["next"], one["action_count"], one["isg"]) for one in first] == [(2, 0, 10), (1, 3, 10)]


def test_csit_profile_has_the_streams_of_both_directions(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(
        HEAD
        + """class TrafficStreamsBaseClass:
    def get_streams(self, **kwargs):
        size = kwargs["framesize"]
        def one(src, latency):
            packet = Ether() / IP(src=src, dst="20.0.0.1", proto=61)
            packet = packet / ("x" * (size - 4 - len(packet)))
            rule = STLFlowLatencyStats(pg_id=0) if latency else None
            return STLStream(packet=STLPktBuilder(pkt=packet), flow_stats=rule, mode=STLTXCont(pps=9000))
        return [one("10.0.0.1", False), one("10.0.0.2", False), one("10.0.0.1", True), one("10.0.0.2", True)]
"""
    )
    text = "from base import TrafficStreamsBaseClass\nclass P(TrafficStreamsBaseClass): pass\nregister = P\n"
    ports = ask(tmp_path, text, "framesize=64", "rate=1")
    assert [[frame(one)[26:30] for one in port] for port in ports] == [[b"\x0a\0\0\x01"], [b"\x0a\0\0\x02"]]


def test_library_of_the_user_reads_the_profile_in_place_of_ours(tmp_path: Path) -> None:
    folder = tmp_path / "v3" / child.LIBRARY / "trex" / "stl"
    folder.mkdir(parents=True)
    (folder / "api.py").write_text(
        "class Own:\n    def to_json(self):\n        return {'flow_stats': {}, 'packet': 'own'}\n"
    )
    path = tmp_path / "profile.py"
    path.write_text(profile("return Own()").replace(HEAD, "from trex.stl.api import Own\n"))
    found = read_profile(Request(path, library=tmp_path / "v3"))
    assert found.ports == [[{"flow_stats": {}, "packet": "own"}]] * 2
    with pytest.raises(NetdynoError) as caught:
        read_profile(Request(path, library=tmp_path))
    assert caught.value.code == "no-such-file"
