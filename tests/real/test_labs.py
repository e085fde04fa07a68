"""Labs: what they say they wire, what they build, and that nothing is left of them, however they end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from netdyno.devices import KINDS, LabError, LabLink, Trait, Wiring
from netdyno.devices.linux import device, leftovers, namespaces, programs
from netdyno.devices.reasons import (
    DeviceOnOwnCore,
    DeviceTakesIn,
    EmulatedDevice,
    HasOwnAddress,
    HoldsDefaultRoute,
    InterfaceWithoutLine,
)
from netdyno.ports import ethtool
from netdyno.ports.threads import Threads
from words import within

pytestmark = pytest.mark.paired

TEN_GIGABIT = 10_000_000_000
LINKS = (LabLink("west", "Te0/1/0/0", TEN_GIGABIT), LabLink("east", "Te0/2/0/0", TEN_GIGABIT))
LINUX = ("linux/router", "linux/bridge", "linux/xconnect")
ROOT = Path(__file__).parents[2]


def namespace_possible() -> bool:
    return os.getuid() == 0 and shutil.which("ip", path=device.SEARCH) is not None


needs_root = pytest.mark.skipif(
    not namespace_possible(), reason="wants root and `ip` (apt-get install iproute2)"
)


def wired(kind: str, **settings: str) -> Wiring:
    return KINDS[kind].wire(LINKS, settings)


# What is wired.


def test_every_kind_wires_two_ports_in_the_order_of_the_links() -> None:
    for kind in KINDS.values():
        if 2 not in kind.links:
            continue
        wiring = kind.wire(LINKS, {})
        assert [port.name for port in wiring.ports] == ["west", "east"], kind.name
        assert [port["name"] for port in wiring.session["ports"]] == ["west", "east"], kind.name
        assert wiring.clock == wiring.session["clock"]
        assert json.loads(json.dumps(wiring.session)) == wiring.session, "the session spec is plain JSON"
        assert kind.emulated == (wiring.clock == "virtual")


def test_a_group_has_the_rate_of_its_members_together() -> None:
    wiring = wired("emulated/asr9006", forwarding="l2-xconnect", lag="lacp")
    assert [port.rate_bps for port in wiring.ports] == [2 * TEN_GIGABIT] * 2
    assert [port.member_bps for port in wiring.ports] == [TEN_GIGABIT] * 2
    assert [link["rate_bps"] for link in wiring.session["links"]] == [2 * TEN_GIGABIT] * 2
    assert [port["rate_bps"] for port in wiring.session["devices"][0]["ports"]] == [TEN_GIGABIT] * 2


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS.values() if kind.emulated])
def test_emulated_port_runs_at_the_rate_of_its_own_cable(kind: str) -> None:
    rates = [TEN_GIGABIT, TEN_GIGABIT // 10] * (KINDS[kind].links[0] // 2 or 1)
    links = tuple(LabLink(f"p{number}", f"d{number}", rate) for number, rate in enumerate(rates))
    for lag in KINDS[kind].settings.get("lag", ("plain",)):
        session = KINDS[kind].wire(links, {"lag": lag} if lag != "plain" else {}).session
        ports = [port for device in session["devices"] for port in device["ports"]]
        assert [port["rate_bps"] for port in ports] == rates
        assert [link["rate_bps"] for link in session["links"]] == [
            port["rate_bps"] * port["members"] for port in ports
        ]


@pytest.mark.parametrize(
    ("forwarding", "lag", "inputs", "both"),
    [
        # Cells of the article's tables, divided by the two members of a group where it has one.
        ("l2-xconnect", "plain", (14_660_000, 14_660_000), 20_300_000),
        ("bridge-domain", "plain", (None, None), 19_000_000),
        ("ipv4", "plain", (5_140_000, 12_300_000 - 5_140_000), None),
        ("l2-xconnect", "lacp", (None, None), 34_900_000 // 2),
        ("bridge-domain", "lacp", (9_770_000, 9_770_000), 28_200_000 // 2),
        ("ipv4", "lacp", (6_374_000, 6_374_000), 11_431_000),
    ],
)
def test_the_asr9006_has_at_most_two_capacities_a_service(
    forwarding: str, lag: str, inputs: tuple[int | None, int | None], both: int | None
) -> None:
    ports = wired("emulated/asr9006", forwarding=forwarding, lag=lag).session["devices"][0]["ports"]
    assert [port["in_fps"] for port in ports] == [None if rate is None else [rate, 1] for rate in inputs]
    assert [port["both_fps"] for port in ports] == [None if both is None else [both, 1]] * 2


@pytest.mark.parametrize("forwarding", ["ipv4", "bridge-domain", "l2-xconnect"])
def test_test_frames_are_addressed_to_the_right_receiver(forwarding: str) -> None:
    wiring = wired("emulated/asr9006", forwarding=forwarding)
    routed = forwarding == "ipv4"
    device_addresses = [port["ipv4"] for port in wiring.session["devices"][0]["ports"]]
    assert [port.destination for port in wiring.ports] == (
        ["100.64.0.1", "100.64.1.1"] if routed else ["peer", "peer"]
    )
    assert [port.ipv4 for port in wiring.ports] == (["100.64.0.2", "100.64.1.2"] if routed else [None, None])
    assert device_addresses == (["100.64.0.1/30", "100.64.1.1/30"] if routed else [None, None])
    assert (Trait.LEARNS in wiring.traits) == (forwarding == "bridge-domain")


def test_a_lab_that_cannot_be_is_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"`mpls`.*`l2-xconnect`, `bridge-domain`, `ipv4`"):
        wired("emulated/asr9006", forwarding="mpls")
    with pytest.raises(ValueError, match="`speed` is not a setting"):
        wired("linux/router", speed="fast")
    for name in ("linux/router", "linux/bridge"):
        with pytest.raises(ValueError, match="takes two to eight links, not 9"):
            KINDS[name].wire(tuple(LabLink(f"p{n}", f"d{n}", 1) for n in range(9)), {})
    for name in ("emulated/cross-connect", "emulated/asr9006", "linux/xconnect"):
        with pytest.raises(ValueError, match="takes two links, not 1"):
            KINDS[name].wire(LINKS[:1], {})
    with pytest.raises(ValueError, match="`emulated/bridge` takes two to 64 links, not 1"):
        KINDS["emulated/bridge"].wire(LINKS[:1], {})
    for name in ("emulated/router", "external"):
        with pytest.raises(ValueError, match="takes one to 64 links, not 65"):
            KINDS[name].wire(tuple(LabLink(f"p{n}", f"d{n}", 1) for n in range(65)), {})


def test_an_ideal_device_takes_a_capacity() -> None:
    ports = wired("emulated/bridge", capacity="2Mpps").session["devices"][0]["ports"]
    assert [port["in_fps"] for port in ports] == [[2_000_000, 1]] * 2
    assert wired("emulated/bridge").session["devices"][0]["ports"][0]["in_fps"] is None


@pytest.mark.parametrize(
    ("capacity", "rate_pps", "shown"), [("5Mpps", 5_000_000, "5 Mpps"), ("10kpps", 10_000, "10 kpps")]
)
def test_a_capacity_is_noted_in_an_engineers_unit(capacity: str, rate_pps: int, shown: str) -> None:
    (note,) = within(DeviceTakesIn, wired("emulated/bridge", capacity=capacity).notes)
    assert note == DeviceTakesIn(rate_pps, "port", (2,))
    assert f" {shown} " in str(note)
    assert not within(DeviceTakesIn, wired("emulated/bridge").notes)


def test_emulated_devices_say_so() -> None:
    for kind in KINDS.values():
        if kind.emulated:
            assert kind.title.startswith("emulated ")
            links = LINKS * (kind.links[0] // 2 or 1)
            assert EmulatedDevice() in kind.wire(links, {}).notes


# An external device.


def test_an_external_router_is_addressed_by_its_gateway() -> None:
    links = (
        LabLink("west", "Gi0/0", TEN_GIGABIT, "eth1", "192.0.2.2/30", "192.0.2.1"),
        LabLink("east", "Gi0/1", TEN_GIGABIT, "eth2", "2001:db8::2/64", "2001:db8::1"),
    )
    wiring = KINDS["external"].wire(links, {})
    west, east = wiring.ports
    assert (west.ipv4, west.ipv6, west.destination) == ("192.0.2.2", None, "192.0.2.1")
    assert (east.ipv4, east.ipv6, east.destination) == (None, "2001:db8::2", "2001:db8::1")
    assert [port["backend"] for port in wiring.session["ports"]] == [
        {"kind": "af_packet", "interface": "eth1"},
        {"kind": "af_packet", "interface": "eth2"},
    ]
    assert Trait.LEARNS not in wiring.traits


def test_an_external_bridge_is_taught_where_the_ports_are() -> None:
    wiring = KINDS["external"].wire((LabLink("eth1", "1", 1), LabLink("eth2", "2", 1)), {})
    assert [port.destination for port in wiring.ports] == ["peer", "peer"]
    assert [port["backend"]["interface"] for port in wiring.session["ports"]] == ["eth1", "eth2"]
    assert Trait.LEARNS in wiring.traits


@needs_root
def test_an_interface_that_is_not_there_is_named() -> None:
    kind = KINDS["external"]
    with (
        pytest.raises(LabError, match="no interface `eth77`") as caught,
        kind.build(kind.wire((LabLink("eth77", "1", 1),), {})),
    ):
        pass
    assert "`lo`" in str(caught.value.hint)


@needs_root
def test_a_line_rate_the_interface_does_not_say_is_declared_only() -> None:
    """The loopback knows no speed; so nothing is known to hold the frames to the rate of the plan."""
    kind = KINDS["external"]
    with kind.build(kind.wire((LabLink("lo", "1", 10**10), LabLink("lo", "2", 10**10)), {})) as live:
        built = live.wiring
        assert not any(port.enforced_rate for port in built.ports)


@needs_root
@pytest.mark.parametrize("made", ["link add made type veth peer name far", "tuntap add made mode tap"])
def test_nominal_speed_of_a_virtual_card_enforces_nothing(made: str) -> None:
    """The kernel says 10 Gbit/s of a veth and of a tap; frames pass them as fast as the CPU can."""
    kind = KINDS["external"]
    links = (LabLink("west", "1", TEN_GIGABIT, "made"), LabLink("east", "2", TEN_GIGABIT, "made"))
    with namespaces.tester_namespace():
        for command in (made, "link set made up"):
            subprocess.run(["ip", *command.split()], env={"PATH": device.SEARCH}, check=True)
        assert ethtool.card("made").speed_bps == TEN_GIGABIT, "the namespace of the caller is asked"
        with kind.build(kind.wire(links, {})) as live:
            built = live.wiring
            assert not any(port.enforced_rate for port in built.ports)
    assert within(InterfaceWithoutLine, built.notes)


def test_card_on_a_bus_has_a_line_rate_and_a_virtual_card_has_none() -> None:
    """Drivers and buses as `ethtool -i` prints them."""
    assert ethtool.Card("ixgbe", "0000:03:00.0", TEN_GIGABIT).has_line
    assert ethtool.Card("r8152", "usb-0000:00:14.0-2", 10**9).has_line
    assert not ethtool.Card("vmxnet3", "0000:0b:00.0", TEN_GIGABIT).has_line
    assert not ethtool.Card("virtio_net", "0000:00:03.0", None).has_line
    assert not ethtool.Card("tun", "tap", TEN_GIGABIT).has_line
    assert not ethtool.Card("unheard-of", "", TEN_GIGABIT).has_line


@needs_root
def test_notes_go_into_no_other_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `sudo` may leave the variable: root could write there, and its folder would stay."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert leftovers.state_folder() == tmp_path / "netdyno-labs"
    (tmp_path / "netdyno-labs").rmdir()
    os.chown(tmp_path, 12345, 12345)
    assert leftovers.state_folder().parent != tmp_path
    assert list(tmp_path.iterdir()) == []


FOLDER_OF = """
import os, sys
os.environ.pop("XDG_RUNTIME_DIR", None)
from netdyno.devices.linux import leftovers
os.environ["HOME"] = sys.argv[2]
os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))
print(leftovers.state_folder())
"""


@needs_root
@pytest.mark.parametrize("home", ["own", "none"])
def test_lab_folder_another_user_took_its_names_is_found_elsewhere(home: str, tmp_path: Path) -> None:
    """Another user has made the names that can be foreseen; two processes agree on a private folder."""
    user = 43_210 + (home == "own")
    taken = [Path(f"/tmp/netdyno-labs-{user}"), Path(f"/tmp/netdyno-labs-{user}-")]
    house = Path(tempfile.mkdtemp(dir="/tmp"))
    if home == "own":
        os.chown(house, user, user)
    found: list[Path] = []
    try:
        for folder in taken:
            folder.mkdir()
            os.chown(folder, 12_345, 12_345)
        for _ in range(2):
            command = [sys.executable, "-c", FOLDER_OF, str(user), str(house)]
            environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
            done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
            found.append(Path(done.stdout.strip()))
        assert found[0] == found[1]
        status = found[0].lstat()
        assert (status.st_uid, status.st_mode & 0o777) == (user, 0o700)
        assert found[0].is_relative_to(house) == (home == "own")
    finally:
        for folder in (*taken, house, *found):
            shutil.rmtree(folder, ignore_errors=True)


# What is built.


@needs_root
@pytest.mark.parametrize("name", LINUX)
def test_a_linux_device_forwards_both_ways(name: str) -> None:
    wiring = wired(name)
    with KINDS[name].build(wiring) as live:
        built = live.wiring
        sockets = [packet_socket(port["backend"]["interface"]) for port in built.session["ports"]]
        for sender, receiver, source, target in (
            (0, 1, "16.0.0.1", "48.0.0.1"),
            (1, 0, "48.0.0.1", "16.0.0.1"),
        ):
            port = built.ports[sender]
            # A router is addressed by its own MAC (addresses.device_mac), the others are not addressed.
            to = f"02:00:00:00:02:0{sender + 1}" if name == "linux/router" else built.ports[receiver].mac
            frame = udp_frame(to, port.mac, source, target)
            sockets[sender].send(frame)
            arrived = next_frame(sockets[receiver])
            if name == "linux/router":
                # RFC 1812 section 5.3.1: one hop takes one off the TTL. Both MACs are the next link's.
                assert arrived[:6] == mac_bytes(built.ports[receiver].mac)
                assert arrived[6:12] == mac_bytes(f"02:00:00:00:02:0{receiver + 1}")
                assert arrived[22] == frame[22] - 1
                assert arrived[26:] == frame[26:]
            else:
                assert arrived == frame
        for opened in sockets:
            opened.close()


@needs_root
@pytest.mark.parametrize("name", ["linux/router", "linux/bridge"])
def test_a_linux_device_of_eight_ports_forwards_from_the_first_to_the_last(name: str) -> None:
    """The last of eight has the last eighth of 48.0.0.0/8, 32 networks each: 48.224.0.0/11."""
    links = tuple(LabLink(f"t{n}", f"d{n}", TEN_GIGABIT) for n in range(8))
    with KINDS[name].build(KINDS[name].wire(links, {})) as live:
        built = live.wiring
        interfaces = [port["backend"]["interface"] for port in built.session["ports"]]
        assert interfaces == [f"p{n}" for n in range(8)]
        with packet_socket("p0") as first, packet_socket("p7") as last:
            to = "02:00:00:00:02:01" if name == "linux/router" else built.ports[7].mac
            first.send(udp_frame(to, built.ports[0].mac, "16.0.0.1", "48.224.0.1"))
            arrived = next_frame(last)
            assert arrived[:6] == mac_bytes(built.ports[7].mac)
            # The destination of its IPv4 header, behind 14 bytes of Ethernet (RFC 791 section 3.1).
            assert arrived[30:34] == bytes([48, 224, 0, 1])


@needs_root
@pytest.mark.parametrize("count", [3, 4, 8])
def test_linux_ports_are_joined_in_pairs_for_calibration(count: int) -> None:
    """What leaves by p0 comes in at p1, by p2 at p3; p2 alone faces a port that no lab has."""
    links = tuple(LabLink(f"t{n}", f"d{n}", TEN_GIGABIT) for n in range(count))
    with KINDS["linux/bridge"].loopback(links, Threads()) as looped:
        interfaces = [port["backend"]["interface"] for port in looped.session["ports"]]
        assert interfaces == [f"p{n}" for n in range(count)] + (["far"] if count % 2 else [])
        assert len(looped.own.ports) == count
        for sender, receiver in zip(interfaces[::2], interfaces[1::2], strict=True):
            with packet_socket(sender) as near, packet_socket(receiver) as far:
                frame = udp_frame("02:00:00:00:02:01", "02:00:00:00:01:01", "16.0.0.1", "48.0.0.1")
                near.send(frame)
                assert next_frame(far) == frame
    assert {name for _, name in socket.if_nameindex()}.isdisjoint(interfaces)


@needs_root
def test_a_linux_router_answers_arp_for_its_gateways() -> None:
    with KINDS["linux/router"].build(wired("linux/router")) as live, packet_socket("p0") as west:
        built = live.wiring
        # RFC 826: hardware type 1, protocol 0x0800, lengths 6 and 4, opcode 1 request, 2 reply.
        sender = mac_bytes(built.ports[0].mac)
        asked = bytes([100, 64, 0, 1])
        west.send(
            b"\xff" * 6
            + sender
            + bytes.fromhex("0806 0001 0800 06 04 0001")
            + sender
            + bytes([100, 64, 0, 2])
            + bytes(6)
            + asked
            + bytes(18)
        )
        answer = next_frame(west)
        assert answer[12:14] == b"\x08\x06"
        assert answer[20:22] == b"\x00\x02"
        assert answer[22:28] == mac_bytes("02:00:00:00:02:01")
        assert answer[28:32] == asked


@needs_root
def test_the_first_namespace_is_untouched_and_returned_to() -> None:
    def here() -> tuple[str, str]:
        shown = subprocess.run(
            ["ip", "-o", "link"], capture_output=True, text=True, env={"PATH": device.SEARCH}
        )
        return os.readlink("/proc/thread-self/ns/net"), shown.stdout

    before = here()
    with KINDS["linux/bridge"].build(wired("linux/bridge")) as live:
        built = live.wiring
        assert here()[0] != before[0]
        assert built.session["cores"] == sorted(os.sched_getaffinity(0))[:1]
        if len(os.sched_getaffinity(0)) > 1:
            assert within(DeviceOnOwnCore, built.notes)
    assert here() == before


@needs_root
def test_a_missing_tool_is_an_error_with_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "SEARCH", "/nowhere")
    with (
        pytest.raises(LabError, match="the program `ip` is not installed") as caught,
        KINDS["linux/router"].build(wired("linux/router")),
    ):
        pass
    assert caught.value.hint == "sudo apt-get install iproute2"


@needs_root
def test_forbidden_namespaces_are_an_error_with_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespaces, "_call", lambda *_: refuse())
    # This process runs other tests too, which leave threads behind.
    monkeypatch.setattr(namespaces.os, "listdir", lambda _: ["1"])
    with pytest.raises(LabError, match="may not make") as caught, namespaces.tester_namespace():
        pass
    assert "run as root" in str(caught.value.hint)


def refuse() -> int:
    import ctypes
    import errno

    ctypes.set_errno(errno.EPERM)
    return -1


# What is left: nothing, however it ends.

BUILD_AND = """
import os, signal, sys, time
# A shell that starts tests in the background has it ignored, and a child inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)
from netdyno.devices import KINDS, LabLink
kind = KINDS["linux/router"]
with kind.build(kind.wire((LabLink("a", "x", 1), LabLink("b", "y", 1)), {})) as live:
    print(live.device.pid, os.readlink(f"/proc/{live.device.pid}/ns/net"), flush=True)
    ENDING
"""

ENDINGS = {
    "normal": "pass",
    "exception": "raise RuntimeError('boom')",
    "SIGINT": "time.sleep(30)",
    "SIGTERM": "time.sleep(30)",
    "SIGKILL": "time.sleep(30)",
}


@needs_root
@pytest.mark.parametrize("ending", ENDINGS)
def test_lab_that_fails_at_any_step_leaves_nothing(ending: str, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", BUILD_AND.replace("ENDING", ENDINGS[ending])],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path), "PYTHONPATH": str(ROOT / "python")},
    )
    assert process.stdout is not None
    pid_text, namespace = process.stdout.readline().split()
    if ending.startswith("SIG"):
        process.send_signal(getattr(signal, ending))
    process.wait(timeout=20)
    process.stdout.close()
    wait_until(5, lambda: leftovers.read_start_time(int(pid_text)) is None)
    wait_until(5, lambda: namespace not in namespaces_in_use())
    notes = list((tmp_path / "netdyno-labs").iterdir())
    # Only a process that got no chance leaves its note; the next start takes it away.
    assert bool(notes) == (ending in ("SIGKILL", "SIGTERM"))
    assert leftovers.remove(tmp_path / "netdyno-labs") == []
    assert list((tmp_path / "netdyno-labs").iterdir()) == []


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "30"])
    yield process
    process.kill()
    process.wait()


def note(folder: Path, owner: list[int | None], child: list[int | None]) -> Path:
    path = folder / f"{child[0]}.json"
    path.write_text(json.dumps({"owner": owner, "child": child}))
    return path


def test_a_survivor_of_a_killed_run_is_ended(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    note(tmp_path, [dead.pid, 1], [sleeper.pid, leftovers.read_start_time(sleeper.pid)])
    assert leftovers.remove(tmp_path) == [sleeper.pid]
    assert sleeper.wait(5) == -signal.SIGKILL
    assert not list(tmp_path.iterdir())


def test_a_process_that_only_has_the_same_id_is_left_alone(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    started = leftovers.read_start_time(sleeper.pid)
    assert started is not None
    note(tmp_path, [sleeper.pid, started + 1], [sleeper.pid, started - 1])
    assert leftovers.remove(tmp_path) == []
    assert sleeper.poll() is None


def test_the_lab_of_a_living_run_is_left_alone(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    mine = os.getpid()
    kept = note(
        tmp_path,
        [mine, leftovers.read_start_time(mine)],
        [sleeper.pid, leftovers.read_start_time(sleeper.pid)],
    )
    assert leftovers.remove(tmp_path) == []
    assert sleeper.poll() is None
    assert kept.exists()


def test_folders_of_dead_runs_are_removed_and_those_of_living_ones_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon's settings and log stay behind a run that was killed; what it said when it ended is kept."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    script = (
        "import os, signal\nfrom netdyno.devices.linux import leftovers\n"
        "with leftovers.own_folder('bird') as folder:\n"
        "    (folder / 'log').write_text('x')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == -signal.SIGKILL
    folder = leftovers.state_folder()
    (left,) = folder.iterdir()
    assert (left / "log").read_text() == "x"
    (folder / "bird-17.log").write_text("kept")
    with leftovers.own_folder("bird") as mine:
        leftovers.remove(folder)
        assert {path.name for path in folder.iterdir()} == {mine.name, "bird-17.log"}
    assert [path.name for path in folder.iterdir()] == ["bird-17.log"]


def test_a_torn_note_is_removed(tmp_path: Path) -> None:
    (tmp_path / "17.json").write_text('{"owner": [1')
    assert leftovers.remove(tmp_path) == []
    assert not list(tmp_path.iterdir())


# A plain user.

AS_NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


@needs_root
def test_a_plain_user_gets_the_lab_or_the_reason(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    package = tmp_path / "python"
    shutil.copytree(ROOT / "python", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for needed in ("pydantic", "pydantic_core", "annotated_types", "typing_inspection"):
        place = Path(str(import_module(needed).__file__)).parent
        shutil.copytree(place, package / needed, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(str(import_module("typing_extensions").__file__), package)
    python = next((path for path in ("/usr/bin/python3.11", "/usr/bin/python3") if Path(path).exists()), None)
    for folder in tmp_path.parents:
        if not folder.stat().st_mode & 0o001:
            # pytest keeps its folders for their owner; what is copied must be readable by nobody.
            package = Path(shutil.move(package, f"/tmp/netdyno-test-{os.getpid()}"))
            break
    assert python is not None
    try:
        done = subprocess.run(
            [*AS_NOBODY, python, "-c", BUILD_AND.replace("ENDING", "pass")],
            capture_output=True,
            text=True,
            timeout=30,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"},
        )
    finally:
        if package.parent == Path("/tmp"):
            shutil.rmtree(package)
    assert done.returncode == 0 or "user namespace" in done.stderr, done.stderr


def packet_socket(interface: str) -> socket.socket:
    every_protocol = 3  # ETH_P_ALL
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(every_protocol))
    opened.bind((interface, 0))
    opened.settimeout(5)
    return opened


def next_frame(opened: socket.socket) -> bytes:
    """The next frame that came in; a packet socket also sees what goes out."""
    while True:
        frame, address = opened.recvfrom(2048)
        if address[2] != socket.PACKET_OUTGOING:
            return frame


def mac_bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def udp_frame(to: str, by: str, source: str, target: str) -> bytes:
    """60 bytes before the FCS: UDP 1025 to 12, TTL 64, no UDP checksum (RFC 768: zero)."""
    header = (
        bytes.fromhex("4500002e 00010000 4011")
        + bytes(2)
        + socket.inet_aton(source)
        + socket.inet_aton(target)
    )
    words = sum(int.from_bytes(header[i : i + 2]) for i in range(0, 20, 2))
    words = (words & 0xFFFF) + (words >> 16)
    header = header[:10] + (0xFFFF - words).to_bytes(2) + header[12:]
    return (
        mac_bytes(to) + mac_bytes(by) + b"\x08\x00" + header + bytes.fromhex("0401000c001a0000") + bytes(18)
    )


def namespaces_in_use() -> set[str]:
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found.add(os.readlink(entry / "ns/net"))
            except OSError:
                continue
    return found


def wait_until(seconds: float, holds: object) -> None:
    deadline = time.monotonic() + seconds
    assert callable(holds)
    while not holds():
        assert time.monotonic() < deadline, "it did not become so in time"
        time.sleep(0.02)


# What is said before an external device is tested.


@needs_root
def test_load_on_the_interface_of_the_machine_itself_is_warned_of() -> None:
    kind = KINDS["external"]
    links = (LabLink("west", "1", 1, "made"), LabLink("east", "2", 1, "far"))
    with namespaces.tester_namespace():
        for command in (
            "link add made type veth peer name far",
            "link set made up",
            "link set far up",
            "address add 192.0.2.1/24 dev made",
        ):
            subprocess.run(["ip", *command.split()], env={"PATH": device.SEARCH}, check=True)
        (addressed,) = kind.preflight(links)
        assert addressed == HasOwnAddress("west", "made", "192.0.2.1/24")
        default = "route add default via 192.0.2.2"
        subprocess.run(["ip", *default.split()], env={"PATH": device.SEARCH}, check=True)
        (routed,) = kind.preflight(links)
        assert routed == HoldsDefaultRoute("west", "made")
        assert kind.preflight(links[1:]) == ()
        with pytest.raises(LabError, match="interface `far` is named by two links"):
            kind.preflight((links[1], LabLink("far", "3", 1)))
