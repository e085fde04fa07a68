"""Network cards: each field is read from where the kernel's header has it, and agrees with ip and ethtool."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from netdyno.devices import external
from netdyno.devices.linux import device, namespaces
from netdyno.devices.reasons import CardSetting
from netdyno.devices.wiring import LabLink
from netdyno.ports import carrier, ethtool, nic
from netdyno.ports.nic import advice, bus, counters, netlink, settings
from netdyno.ports.reasons import (
    InterfaceGone,
    InterfaceReset,
    InterfaceSwitchedOff,
    LinkWentDown,
    SpeedChanged,
)
from netdyno.ports.watch import Watch
from netdyno.values.health import Health
from netdyno.values.load import Frames, Trial
from netdyno.values.outcome import FrameCounts, InterfaceResult, Outcome, PortResult
from netdyno.values.reason import Reason
from netdyno.values.units import FrameRate
from words import within

pytestmark = pytest.mark.paired

HERE = Path(__file__).parents[1]

needs_root = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("ip", path=device.SEARCH) is None,
    reason="wants root and `ip` (apt-get install iproute2)",
)
needs_ethtool = pytest.mark.skipif(
    shutil.which("ethtool", path=device.SEARCH) is None, reason="wants `ethtool` (apt-get install ethtool)"
)


def said(command: str) -> str:
    """What a tool prints. Nothing where it has nothing to say of an interface, which it calls a failure."""
    done = subprocess.run(
        command.split(), capture_output=True, text=True, env={"PATH": device.SEARCH, "LC_ALL": "C"}
    )
    return done.stdout


# A real card, in the words of linux/ethtool.h.


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    compiler = shutil.which("cc")
    if compiler is None or not Path("/usr/include/linux/ethtool.h").exists():
        pytest.skip("wants a C compiler and linux/ethtool.h (apt-get install gcc linux-libc-dev)")
    program = tmp_path_factory.mktemp("nic") / "answers"
    subprocess.run([compiler, "-o", str(program), str(HERE / "nic" / "answers.c")], check=True)
    return {line.split()[0]: bytes.fromhex(line.split()[1]) for line in said(str(program)).splitlines()}


@pytest.fixture
def ask(answers: dict[str, bytes]) -> ethtool.Ask:
    """Answers as the kernel does: a length where room for nothing was given, what was asked for elsewhere."""

    def answer(request: bytes) -> bytes | None:
        command, first = struct.unpack_from("II", request.ljust(8, b"\0"))
        which = {
            0x03: "driver",
            0x4C: "link-length" if len(request) == len(answers["link-length"]) else "link",
            0x3C: "channels",
            0x10: "ring",
            0x0E: "coalesce",
            0x12: "pause",
            0x46: "rss-length" if len(request) == len(answers["rss-length"]) else "rss",
            0x29: {1: "hash-tcp4", 2: "hash-udp4"}.get(first),
            0x1B: {1: "stats-names", 4: "features-names"}.get(first),
            0x3A: "features",
            0x1D: "stats",
        }.get(command)
        if command == 0x37:
            (mask,) = struct.unpack_from("Q", request, 8)
            which = {1 << 1: "stats-count", 1 << 4: "features-count"}.get(mask)
        if which is None:
            return None
        assert len(request) >= len(answers[which]), f"the kernel would write past the room given for {which}"
        return answers[which].ljust(len(request), b"\0")

    return answer


def link(**changes: Any) -> netlink.Link:
    facts: dict[str, Any] = {
        "index": 2,
        "name": "eth1",
        "up": True,
        "loopback": False,
        "ethernet": True,
        "state": "up",
        "mac": "00:1b:21:00:00:01",
        "mtu": 1500,
        "kind": "",
        "in_group": False,
        "carrier": True,
        "downs": 1,
        "promiscuity": 0,
        "xdp": "",
        "xdp_program": None,
        "counters": {},
    }
    return netlink.Link(**facts | changes)


def test_a_card_is_read_as_the_header_lays_it_out(ask: ethtool.Ask) -> None:
    card = nic.ask_card(link(), ask)
    assert card.card == ethtool.Card("ixgbe", "0000:03:00.0", 10**10, "0x800006d1", True, True)
    assert card.queues == settings.Queues(16, 63)
    assert card.rings == (settings.Ring(512, 4096), settings.Ring(1024, 4096))
    assert card.coalescing == settings.Coalescing(adaptive_rx=True, rx_us=30, rx_frames=7)
    assert card.pause == settings.Pause(rx=True, tx=False, negotiated=True)
    assert card.spreading is not None
    assert (card.spreading.table, card.spreading.used) == (128, 16)
    assert card.spreading.key == ":".join(f"{byte:02x}" for byte in range(1, 41))
    assert card.spreading.fields == {
        "udp4": ("source address", "destination address"),
        "tcp4": ("source address", "destination address", "source port", "destination port"),
    }
    on = {name for name, offload in card.offloads.items() if offload.on}
    assert on == {"rx-gro", "rx-lro", "rx-vlan-hw-parse", "rx-checksum"}
    assert [name for name, offload in card.offloads.items() if offload.fixed] == ["rx-checksum"]
    assert json.loads(json.dumps(card.facts())) == card.facts(), "the facts are plain JSON"


def test_what_falsifies_a_test_is_named_with_its_command(ask: ethtool.Ask) -> None:
    found = advice.findings(nic.ask_card(link(), ask), rate_bps=10**10)
    assert [(finding.effect, finding.command) for finding in found] == [
        ("result", "ethtool -K eth1 gro off lro off"),
        ("result", "ethtool -K eth1 rxvlan off"),
        ("result", "ethtool -A eth1 autoneg off rx off tx off"),
        ("capacity", "ethtool -G eth1 rx 4096"),
        ("latency", "ethtool -C eth1 adaptive-rx off rx-usecs 0"),
    ]


def test_what_a_card_does_to_tags_is_marked_as_nothing_to_frames_without(ask: ethtool.Ask) -> None:
    found = advice.findings(nic.ask_card(link(), ask))
    assert [finding.command for finding in found if finding.tags] == ["ethtool -K eth1 rxvlan off"]
    port = LabLink("west", "a", 10**10, interface="eth1")
    wired = external.EXTERNAL.wire((port,), {}).ports[0]
    card = nic.ask_card(link(), ask)
    on, off = (
        {note.setting for note in within(CardSetting, tuple(external._warnings(wired, card, tagged=tagged)))}
        for tagged in (True, False)
    )
    assert on - off == {"strips-tags"}
    assert "merges-frames" in off


def test_plan_that_exceeds_its_card_is_reported(ask: ethtool.Ask) -> None:
    card = nic.ask_card(link(carrier=False, in_group=True), ask)
    told = " ".join(finding.what for finding in advice.findings(card, rate_bps=25 * 10**9))
    for what in ("no carrier", "belongs to a bridge", "10000000000 bit/s, and the plan gives it 25000000000"):
        assert what in told


def test_a_card_that_answers_nothing_is_no_error() -> None:
    card = nic.ask_card(link(), lambda _: None)
    assert (card.card.driver, card.queues, card.rings, card.pause, card.spreading) == (
        "",
        None,
        None,
        None,
        None,
    )
    assert card.offloads == {}
    assert advice.findings(card) == []


def test_a_driver_that_answers_nonsense_is_not_believed() -> None:
    """Lengths a driver gives are input: nothing is asked for with them that could not be."""
    asked = []

    def huge(request: bytes) -> bytes:
        asked.append(len(request))
        return request[:4] + b"\xff" * (len(request) - 4)

    card = nic.ask_card(link(), huge)
    assert card.card.speed_bps is None
    assert card.spreading is None
    assert card.offloads == {}
    assert max(asked) < 1 << 20


def test_a_drivers_counters_by_their_names(ask: ethtool.Ask) -> None:
    assert counters.driver(ask) == {
        "rx_packets": 2**40,
        "rx_missed_errors": 2**40 + 1,
        "rx_flow_control_xoff": 2**40 + 2,
        "rx_crc_errors": 2**40 + 3,
    }


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        # As the drivers of kernel 6 name them: ixgbe, e1000e, igb, i40e, ice, mlx5, virtio_net, r8169, veth.
        ("rx_missed_errors", "no room to receive"),
        ("rx_no_buffer_count", "no room to receive"),
        ("rx_no_dma_resources", "no room to receive"),
        ("rx_queue_3_drops", "no room to receive"),
        ("rx_out_of_buffer", "no room to receive"),
        ("rx_discards_phy", "no room to receive"),
        ("port.rx_dropped", "no room to receive"),
        ("rx0_drops", "no room to receive"),
        ("rx_drops", "no room to receive"),
        ("rx_flow_control_xon", "pause received"),
        ("tx_flow_control_xoff", "pause sent"),
        ("rx_prio3_pause", "pause received"),
        ("tx_pause_ctrl_phy", "pause sent"),
        ("link_xoff_rx.nic", "pause received"),
        ("port.link_xon_tx", "pause sent"),
        ("rx_prio3_pause_duration", None),
        ("rx_crc_errors", "damaged on the line"),
        ("rx_crc_errors.nic", "damaged on the line"),
        ("rx_symbol_err_phy", "damaged on the line"),
        ("align_errors", "damaged on the line"),
        ("tx_dropped", "not sent"),
        ("tx_timeout_count", "not sent"),
        ("rx_packets", None),
        ("rx_bytes", None),
        ("tx_kicks", None),
        ("rx_xdp_redirects", None),
        # The kernel's own, which counts test frames no protocol wanted.
        ("rx_dropped", None),
        ("rx_otherhost_dropped", None),
    ],
)
def test_what_a_counter_speaks_of(name: str, kind: str | None) -> None:
    assert counters.kind_of(name) == kind


def test_a_counter_that_began_anew_counts_nothing() -> None:
    assert counters.difference({"a": 5, "b": 7, "c": 1}, {"a": 9, "b": 2, "c": 1, "new": 3}) == {"a": 4}


def test_frame_in_two_counters_counts_once() -> None:
    of_driver = {"rx_no_dma_resources": 90, "rx_queue_0_drops": 90, "rx_crc_errors": 3}
    found = counters.by_kind({"rx_missed_errors": 90, "rx_packets": 10**6}, of_driver)
    assert found == {
        "no room to receive": {"rx_missed_errors": 90, "rx_no_dma_resources": 90, "rx_queue_0_drops": 90},
        "damaged on the line": {"rx_crc_errors": 3},
    }
    interface = InterfaceResult("west", "eth1", kinds=found)
    assert (interface.not_received, interface.paused) == (90, 0)


def test_a_slot_on_pci_express(tmp_path: Path) -> None:
    """Values as sysfs writes them (Documentation/ABI/testing/sysfs-bus-pci)."""
    folder = tmp_path / "0000:03:00.0"
    folder.mkdir()
    for name, text in (
        ("numa_node", "1"),
        ("current_link_speed", "8.0 GT/s PCIe"),
        ("current_link_width", "8"),
        ("max_link_speed", "16.0 GT/s PCIe"),
        ("max_link_width", "255"),
    ):
        (folder / name).write_text(text + "\n")
    found = bus.slot("0000:03:00.0", tmp_path)
    assert found == bus.Slot(1, 8.0, 8, 16.0, None)
    # 8 GT/s by 8 lanes; of each 130 bits 128 are data (PCI Express 3.0).
    assert found.data_bps == pytest.approx(8 * 8e9 * 128 / 130, rel=1e-3)
    (folder / "numa_node").write_text("-1\n")
    (folder / "current_link_speed").write_text("Unknown\n")
    unknown = bus.slot("0000:03:00.0", tmp_path)
    assert unknown is not None
    assert (unknown.numa, unknown.speed, unknown.data_bps) == (None, None, None)
    assert bus.slot("", tmp_path) is None
    assert bus.slot("usb-0000:00:14.0-2", tmp_path) is None
    assert bus.slot("../0000:03:00.0", tmp_path) is None


# This machine, beside what ip and ethtool say.

MADE = (
    "link add west mtu 9000 numrxqueues 2 numtxqueues 2 type veth peer name east",
    "link add idle type veth peer name spare",
    "tuntap add made mode tap",
    "link add join type bridge",
    "link set east master join",
    "address add 192.0.2.1/24 dev west",
    "link set lo up",
    "link set west up",
    "link set east up",
    "route add default via 192.0.2.2",
)


@pytest.fixture
def lab() -> Iterator[None]:
    """A namespace with two veth pairs, a tap and a bridge."""
    with namespaces.tester_namespace():
        for command in MADE:
            subprocess.run(["ip", *command.split()], env={"PATH": device.SEARCH}, check=True)
        # A tester's namespace has IPv6 switched off.
        Path("/proc/sys/net/ipv6/conf/west/disable_ipv6").write_text("0")
        address = "address add 2001:db8::1/64 dev west nodad"
        subprocess.run(["ip", *address.split()], env={"PATH": device.SEARCH}, check=True)
        yield


@needs_root
def test_links_are_what_ip_says(lab: None) -> None:
    theirs = {one["ifname"]: one for one in json.loads(said("ip -details -statistics -json link show"))}
    ours = {one.name: one for one in netlink.links()}
    assert ours.keys() == theirs.keys() >= {"lo", "west", "east", "idle", "made", "join"}
    for name, one in theirs.items():
        our = ours[name]
        assert (our.index, our.mtu, our.mac) == (one["ifindex"], one["mtu"], one["address"]), name
        assert our.up == ("UP" in one["flags"]), name
        assert our.state.replace(" ", "").upper() == one["operstate"]
        assert our.kind == one.get("linkinfo", {}).get("info_kind", ""), name
        assert our.promiscuity == one["promiscuity"], name
        assert our.in_group == ("master" in one), name
        received = one["stats64"]["rx"]
        assert our.counters["rx_over_errors"] == received["over_errors"], name
        assert {"rx_packets", "tx_bytes", "rx_missed_errors"} <= our.counters.keys(), name
    assert ours["west"].carrier
    assert ours["idle"].carrier is None, "an interface that is down tells of no carrier"
    assert netlink.link("west") is not None
    assert netlink.link("nobody") is None


@needs_root
def test_addresses_and_default_routes(lab: None) -> None:
    cards = {card.name: card for card in nic.read_all()}
    assert cards["west"].addresses == ("192.0.2.1/24", "2001:db8::1/64")
    assert [name for name, card in cards.items() if card.default_route] == ["west"]
    assert cards["east"].addresses == ()
    for command in (
        "route del default",
        "route add default nexthop via 192.0.2.2 dev west nexthop via 192.0.2.3 dev west",
    ):
        subprocess.run(["ip", *command.split()], env={"PATH": device.SEARCH}, check=True)
    route_over_several_hops = nic.read("west")
    assert route_over_several_hops is not None
    assert route_over_several_hops.default_route


@needs_root
@needs_ethtool
@pytest.mark.parametrize("name", ["west", "idle", "made", "lo"])
def test_a_card_is_what_ethtool_says(lab: None, name: str) -> None:
    card = nic.read(name)
    assert card is not None
    driver = dict(re.findall(r"^([a-z-]+): (\S*)$", said(f"ethtool -i {name}"), re.MULTILINE))
    assert card.card.driver == driver.get("driver", "")
    theirs = dict(re.findall(r"^\t?([a-z0-9-]+): (on|off)", said(f"ethtool -k {name}"), re.MULTILINE))
    ours = {feature: "on" if offload.on else "off" for feature, offload in card.offloads.items()}
    # ethtool prints what may never change and is off as well; a few names are its own, for several at once.
    shared = ours.keys() & theirs.keys()
    assert len(shared) > 20
    assert {feature: ours[feature] for feature in shared} == {feature: theirs[feature] for feature in shared}
    assert ours.get("rx-gro") == theirs["generic-receive-offload"]
    printed = dict(re.findall(r"^ +(\S+): (\d+)$", said(f"ethtool -S {name}"), re.MULTILINE))
    assert nic.driver_counters(name).keys() == printed.keys()
    speed = re.search(r"Speed: (\d+)Mb/s", said(f"ethtool {name}"))
    assert card.card.speed_bps == (int(speed[1]) * 10**6 if speed else None)


@needs_root
def test_a_carrier_that_came_and_went_is_counted(lab: None) -> None:
    before = netlink.link("west")
    subprocess.run(["ip", "link", "set", "east", "down"], env={"PATH": device.SEARCH}, check=True)
    down = netlink.link("west")
    assert before is not None
    assert down is not None
    assert (before.carrier, down.carrier) == (True, False)
    assert down.downs == before.downs + 1


# Before and after a trial.

FOUND = Outcome(FrameCounts((), (), 1), Health(0, 0, 0, 0, 0, None), ())


def watched(*interfaces: str) -> Watch:
    ports = [
        {"name": f"port-{name}", "backend": {"kind": "af_packet", "interface": name}} for name in interfaces
    ]
    return Watch({"ports": ports})


TRIAL = Trial("trial", Frames.steady(FrameRate(1), 1))
COUNTING = replace(TRIAL, counts_carrier_losses=True)


@needs_root
def test_what_interfaces_counted_goes_with_the_trial(lab: None) -> None:
    watch = watched("west", "east")
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind(("west", 0))
        for _ in range(7):
            sender.send(b"\xff" * 12 + b"\x88\xb5" + bytes(50))  # RFC 5342: for experiments
    result = watch.with_counts(FOUND, TRIAL, None)
    assert result.invalid == ()
    west, east = result.interfaces
    assert (west.port, west.interface, west.downs) == ("port-west", "west", 0)
    assert west.counters["tx_packets"] >= 7
    assert east.counters["rx_packets"] >= 7
    assert "rx_errors" not in east.counters, "what stood still is left out"


@needs_root
@pytest.mark.parametrize(
    ("commands", "reason"),
    [
        (("link set east down", "link set east up"), LinkWentDown("port-west", "west", 1)),
        (("link set east down", "link set east up") * 2, LinkWentDown("port-west", "west", 2)),
        (("link delete west",), InterfaceGone("port-west", "west")),
        (
            ("link delete west", "link add west type veth peer name east"),
            InterfaceGone("port-west", "west"),
        ),
        (("link set west down",), InterfaceSwitchedOff("port-west", "west")),
        (("link set west down", "link set west up"), InterfaceSwitchedOff("port-west", "west")),
        (
            ("link set west mtu 1400", "link set east down", "link set east up"),
            InterfaceReset("port-west", "west", ("mtu",)),
        ),
    ],
)
def test_a_line_that_changed_makes_the_trial_invalid(
    lab: None, commands: tuple[str, ...], reason: Reason
) -> None:
    watch = watched("west")
    for command in commands:
        subprocess.run(["ip", *command.split()], env={"PATH": device.SEARCH}, check=True)
    assert watch.with_counts(FOUND, TRIAL, None).invalid == (reason,)


@needs_root
def test_a_carrier_loss_is_dated_in_a_trial_that_counts_them(lab: None) -> None:
    """East is the far end: two losses, of which the second one lasts."""
    watch, began_ns = watched("west"), time.monotonic_ns()
    spans = []
    for word in ("down", "up", "down"):
        before_ns = time.monotonic_ns() - began_ns
        subprocess.run(["ip", "link", "set", "east", word], env={"PATH": device.SEARCH}, check=True)
        spans.append((before_ns, time.monotonic_ns() - began_ns))
        time.sleep(0.2)
    result = watch.with_counts(FOUND, COUNTING, began_ns)
    assert result.invalid == ()
    one, other = result.carrier_losses
    assert [(loss.port, loss.cause, loss.times) for loss in (one, other)] == [("port-west", "link", 1)] * 2
    assert other.until_ns is None
    for at_ns, (before_ns, after_ns) in zip((one.from_ns, one.until_ns, other.from_ns), spans, strict=True):
        assert at_ns is not None
        assert before_ns <= at_ns <= after_ns + 500_000_000
    assert result.interfaces[0].downs == 2


@needs_root
@pytest.mark.parametrize(
    ("commands", "reason"),
    [
        (("link set west down", "link set west up"), InterfaceSwitchedOff("port-west", "west")),
        (
            ("link set west mtu 1400", "link set east down"),
            InterfaceReset("port-west", "west", ("mtu",)),
        ),
    ],
)
def test_what_the_tester_did_itself_is_no_carrier_loss(
    lab: None, commands: tuple[str, ...], reason: Reason
) -> None:
    watch, began_ns = watched("west"), time.monotonic_ns()
    for command in commands:
        subprocess.run(["ip", *command.split()], env={"PATH": device.SEARCH}, check=True)
    result = watch.with_counts(FOUND, COUNTING, began_ns)
    assert (result.invalid, result.carrier_losses) == ((reason,), ())


@needs_root
@needs_ethtool
def test_a_line_that_changed_its_speed_makes_the_trial_invalid(lab: None) -> None:
    """A tap reports any speed it is set to."""
    said("ethtool -s made speed 10000 duplex full")
    watch = watched("made")
    if said("ethtool -s made speed 1000 duplex full") or "1000Mb/s" not in said("ethtool made"):
        pytest.skip("this kernel's taps keep their speed")
    assert watch.with_counts(FOUND, TRIAL, None).invalid == (
        SpeedChanged("port-made", "made", 10**10, 10**9),
    )


@pytest.mark.parametrize(
    ("kind", "not_sent", "said_of"),
    [("", 9, "not sent"), ("macvlan", 9, "not sent"), ("veth", 0, "refused by the far end")],
)
def test_egress_drops_count_to_the_tester_on_cards_and_not_on_cables(
    monkeypatch: pytest.MonkeyPatch, kind: str, not_sent: int, said_of: str
) -> None:
    (lo, *_) = (link for link in netlink.links() if link.name == "lo")
    card = nic.ask_card(replace(lo, kind=kind), lambda _: None)
    counted = [{"tx_dropped": 1, "tx_packets": 0}, {"tx_dropped": 10, "tx_packets": 5000}]
    looks = iter([replace(card, link=replace(card.link, counters=counters)) for counters in counted])
    monkeypatch.setattr(nic, "read", lambda _: next(looks))
    monkeypatch.setattr(nic, "driver_counters", lambda _: {"tx_busy": 4})
    (interface,) = (found := watched("eth1").with_counts(FOUND, TRIAL, None)).interfaces
    assert (found.not_sent, found.invalid) == (not_sent, ())
    assert interface.kinds == {said_of: {"tx_dropped": 9}}


@pytest.mark.parametrize(("is_obeyed", "paused"), [(True, 9), (False, 3)])
def test_pauses_that_the_card_does_not_obey_hold_nothing_back(
    monkeypatch: pytest.MonkeyPatch, is_obeyed: bool, paused: int
) -> None:
    """Those of a class (PFC) are obeyed by another setting."""
    (lo, *_) = (link for link in netlink.links() if link.name == "lo")
    card = replace(
        nic.ask_card(lo, lambda _: None), pause=settings.Pause(rx=is_obeyed, tx=False, negotiated=False)
    )
    monkeypatch.setattr(nic, "read", lambda _: card)
    counted = iter([{"rx_pause": 1, "rx_prio3_pause": 1}, {"rx_pause": 10, "rx_prio3_pause": 4}])
    monkeypatch.setattr(nic, "driver_counters", lambda _: next(counted))
    (interface,) = watched("eth1").with_counts(FOUND, TRIAL, None).interfaces
    assert interface.paused == paused
    assert interface.most("pause ignored") == (0 if is_obeyed else 9)


@pytest.mark.parametrize(("kind", "unseen"), [("veth", 9), ("", 0)])
def test_ingress_drops_of_a_veth_count_as_frames_that_came(
    monkeypatch: pytest.MonkeyPatch, kind: str, unseen: int
) -> None:
    """A card counts them as received, too."""
    (lo, *_) = (link for link in netlink.links() if link.name == "lo")
    card = nic.ask_card(replace(lo, kind=kind), lambda _: None)
    counted = [{"rx_dropped": 1, "rx_packets": 0}, {"rx_dropped": 10, "rx_packets": 50}]
    looks = iter([replace(card, link=replace(card.link, counters=counters)) for counters in counted])
    monkeypatch.setattr(nic, "read", lambda _: next(looks))
    monkeypatch.setattr(nic, "driver_counters", lambda _: {})
    port = PortResult("port-eth1", 0, 0, 50, 0, 0, (), (), (), ())
    found = watched("eth1").with_counts(FOUND.with_counts(ports=(port,)), TRIAL, None)
    assert (found.unseen, found.dropped) == (unseen, 0)


def stacked(*links: tuple[str, int, str, int | None, int | None]) -> list[netlink.Link]:
    """Interfaces by name, index, kind, what they are made on, and the group they are in."""
    (lo, *_) = (link for link in netlink.links() if link.name == "lo")
    return [
        replace(lo, name=name, index=index, kind=kind, lower=lower, group=group, counters={})
        for name, index, kind, lower, group in links
    ]


def test_interfaces_below_one_are_found_down_to_the_cards() -> None:
    """A VLAN of a LAG of two cards; the far end of a veth is no interface below it."""
    links = stacked(
        ("vlan", 2, "vlan", 3, None), ("bond", 3, "bond", None, None), ("eth0", 4, "", None, 3),
        ("eth1", 5, "", None, 3), ("eth2", 6, "", None, None), ("v0", 7, "veth", 8, None),
        ("v1", 8, "veth", 7, None),
    )  # fmt: skip
    (vlan, bond, *_) = links
    assert {link.name for link in netlink.below(vlan, links)} == {"bond", "eth0", "eth1"}
    assert {link.name for link in netlink.below(bond, links)} == {"eth0", "eth1"}
    assert netlink.below(links[5], links) == []


@needs_root
def test_kernel_says_what_a_macvlan_is_made_on(lab: None) -> None:
    """Of a veth it gives the far end in the same way."""
    made = ["ip", "link", "add", "link", "west", "name", "upper", "type", "macvlan"]
    if subprocess.run(made, env={"PATH": device.SEARCH}, capture_output=True).returncode:
        pytest.skip("this kernel has no macvlan")
    links = {link.name: link for link in netlink.links()}
    assert links["upper"].lower == links["west"].index
    assert [link.name for link in netlink.below(links["upper"], list(links.values()))] == ["west"]
    assert netlink.below(links["west"], list(links.values())) == []


def test_drops_of_the_card_below_a_vlan_count_to_the_tester(monkeypatch: pytest.MonkeyPatch) -> None:
    """The VLAN itself counts none of them."""
    vlan, card = stacked(("eth0.7", 2, "vlan", 3, None), ("eth0", 3, "", None, None))
    looks = iter(
        [vlan, replace(card, counters={"rx_missed_errors": missed, "tx_dropped": 1})] for missed in (5, 12)
    )
    whole = nic.ask_card(vlan, lambda _: None)
    monkeypatch.setattr(netlink, "links", lambda: next(looks))
    monkeypatch.setattr(nic, "read", lambda _: whole)
    monkeypatch.setattr(nic, "driver_counters", lambda _: {})
    monkeypatch.setattr(carrier, "Monitor", lambda _: None)
    watch = Watch({"ports": [{"name": "west", "backend": {"kind": "af_packet", "interface": "eth0.7"}}]})
    found = watch.with_counts(FOUND, TRIAL, None)
    assert (found.dropped, found.not_sent) == (7, 0)
    assert found.interfaces[0].kinds == {"no room to receive": {"eth0: rx_missed_errors": 7}}


def test_card_that_was_set_up_anew_lost_its_carrier_to_that(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ethtool -G` by a stranger: many drivers start the card again."""
    (lo, *_) = (link for link in netlink.links() if link.name == "lo")
    card = nic.ask_card(replace(lo, kind=""), lambda _: None)
    looks = iter(
        replace(
            card,
            link=replace(card.link, downs=downs),
            rings=(settings.Ring(room, 4096), settings.Ring(512, 4096)),
        )
        for downs, room in ((1, 512), (2, 1024))
    )
    monkeypatch.setattr(nic, "read", lambda _: next(looks))
    monkeypatch.setattr(nic, "driver_counters", lambda _: {})
    found = watched("eth1").with_counts(FOUND, COUNTING, time.monotonic_ns())
    assert found.invalid == (InterfaceReset("port-eth1", "eth1", ("rings",)),)
    assert found.carrier_losses == ()


def test_ports_without_an_interface_are_left_alone() -> None:
    session = {"ports": [{"name": "west", "backend": {"kind": "memif", "socket": "@dut"}}]}
    assert Watch(session).with_counts(FOUND, TRIAL, None) is FOUND
