"""Network cards that are cabled to each other, in pairs named by NETDYNO_TEST_PAIRS ("eth1:eth2 eth3:eth4").

`tools/vm/test.sh` runs this on the cards QEMU has, under other kernels; it runs on real cards as well, which
it sets up as netdyno's own advice says and leaves so.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from netdyno.devices.linux import device
from netdyno.ports import nic
from netdyno.ports.nic import advice

PAIRS = [tuple(pair.split(":")) for pair in os.environ.get("NETDYNO_TEST_PAIRS", "").split()]
RATE, SECONDS = 500, 2
PATIENCE_S = 60.0

pytestmark = [
    pytest.mark.skipif(not PAIRS, reason="wants cabled network cards: NETDYNO_TEST_PAIRS, tools/vm/test.sh"),
    pytest.mark.skipif(os.getuid() != 0, reason="wants root"),
    pytest.mark.skipif(
        shutil.which("ethtool", path=device.SEARCH) is None,
        reason="wants `ethtool` (apt-get install ethtool)",
    ),
]
each_pair = pytest.mark.parametrize("pair", PAIRS, ids=[pair[0] for pair in PAIRS])


def said(command: str) -> str:
    """What a tool prints, mistakes too."""
    done = subprocess.run(
        command.split(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PATH": device.SEARCH, "LC_ALL": "C"},
    )
    return done.stdout


def has_program(interface: str) -> bool:
    return "prog/xdp" in said(f"ip link show dev {interface}")


def read(interface: str) -> nic.Nic:
    found = nic.read(interface)
    assert found is not None
    return found


def await_link(pair: tuple[str, ...]) -> None:
    """Cards take some seconds after they have been set up anew."""
    deadline = time.monotonic() + PATIENCE_S
    while not all(read(name).link.carrier for name in pair):
        assert time.monotonic() < deadline, f"no carrier on {pair}"
        time.sleep(0.1)


@each_pair
def test_facts_are_those_of_ethtool(pair: tuple[str, ...]) -> None:
    card = read(pair[0])
    driver = dict(re.findall(r"^(driver|bus-info): (.*)$", said(f"ethtool -i {pair[0]}"), re.MULTILINE))
    assert (card.card.driver, card.card.bus) == (driver["driver"], driver["bus-info"])

    rings = re.findall(r"^(RX|TX):\s+(\d+)$", said(f"ethtool -g {pair[0]}"), re.MULTILINE)
    assert card.rings is not None
    assert [int(value) for _, value in rings] == [
        *(card.rings[0].most, card.rings[1].most),
        *(card.rings[0].now, card.rings[1].now),
    ]

    channels = re.findall(r"^Combined:\s+(\d+)$", said(f"ethtool -l {pair[0]}"), re.MULTILINE)
    assert (card.queues is None) == (not channels)
    if card.queues is not None:
        assert [card.queues.most, card.queues.now] == [int(value) for value in channels]

    pause = re.findall(r"^(?:Autonegotiate|RX|TX):\s+(on|off)$", said(f"ethtool -a {pair[0]}"), re.MULTILINE)
    assert (card.pause is None) == (not pause)
    if card.pause is not None:
        assert [card.pause.negotiated, card.pause.rx, card.pause.tx] == [word == "on" for word in pause]

    shown = re.findall(r"^\s*([\w-]+): (on|off)( \[fixed\])?", said(f"ethtool -k {pair[0]}"), re.MULTILINE)
    offloads = {name: (word == "on", bool(fixed)) for name, word, fixed in shown}
    # ethtool's long names of the few it has longer ones for.
    for long, kernels in (
        ("generic-receive-offload", "rx-gro"),
        ("large-receive-offload", "rx-lro"),
        ("rx-vlan-offload", "rx-vlan-hw-parse"),
        ("rx-gro-hw", "rx-gro-hw"),
        ("rx-gro-list", "rx-gro-list"),
    ):
        if long in offloads:
            offload = card.offloads[kernels]
            assert (offload.on, offload.fixed) == offloads[long], long

    names = set(re.findall(r"^\s+(.+): \d+$", said(f"ethtool -S {pair[0]}"), re.MULTILINE))
    assert {name.strip() for name in nic.driver_counters(pair[0])} == {name.strip() for name in names}


@each_pair
def test_each_finding_goes_by_the_command_it_names(pair: tuple[str, ...]) -> None:
    for interface in pair:
        await_link(pair)
        found = [one for one in advice.findings(read(interface)) if one.command]
        for one in found:
            assert one.command is not None
            answer = said(one.command)
            left = [other.what for other in advice.findings(read(interface)) if "carrier" not in other.what]
            assert one.what not in left, f"{one.command}: {answer}"
    await_link(pair)


def session(pair: tuple[str, ...], backend: dict[str, str]) -> str:
    queues = [read(name).queues for name in pair]
    workers = max([1, *(one.now for one in queues if one is not None)])
    split = {"workers": workers} if backend["kind"] == "af_xdp" and workers > 1 else {}
    ports = [{"name": name, "backend": {**backend, "interface": name}} for name in pair]
    return json.dumps({"clock": "real", "ports": ports, **split})


def spec(seconds: float) -> str:
    load = RATE * 800 * 8
    streams = [
        {
            "name": f"from {tx}", "tx_port": tx, "rx_port": 1 - tx,
            "headers": [
                {"type": "ethernet", "src": f"02:00:00:00:00:0{tx}", "dst": f"02:00:00:00:00:0{1 - tx}"},
                {"type": "ipv4", "src": f"198.18.{tx}.1", "dst": f"198.18.{1 - tx}.1"},
                {"type": "udp", "sport": 1025, "dport": 12},
            ],
            "destination": "peer",
            "sizes": [{"size": size, "weight": 1} for size in (64, 1024, 1518)], "flows": 8,
            "schedule": [
                {"name": "traffic", "duration_ns": int(seconds * 1e9), "from_bps": load, "to_bps": load}
            ],
        }
        for tx in (0, 1)
    ]  # fmt: skip
    macs = [{"mac": f"02:00:00:00:00:0{port}"} for port in (0, 1)]
    waits = {"settle_ns": 10**8, "drain_ns": 10**9, "sample_ns": 10**8}
    return json.dumps({"seed": 5, "streams": streams, "ports": macs, **waits})


WAYS = [
    {"kind": "af_packet"},
    *(
        {"kind": "af_xdp", "attach": attach, "mode": mode}
        for attach, mode in (
            ("auto", "auto"), ("generic", "copy"), ("native", "copy"), ("native", "zero-copy"),
        )
    ),
]  # fmt: skip


@each_pair
@pytest.mark.parametrize("way", WAYS, ids=["-".join(way.values()) for way in WAYS])
def test_frames_of_all_sizes_cross_and_are_counted(pair: tuple[str, ...], way: dict[str, str]) -> None:
    from netdyno import _engine

    await_link(pair)
    before = [read(name).link.counters for name in pair]
    refusal = ""
    try:
        running = _engine.Session(session(pair, way))
    except _engine.EngineError as error:
        refusal = str(error)
    if refusal:
        # Not every driver runs programs or lends its memory; that is said with what to do instead.
        assert way.get("attach") == "native", refusal
        assert re.search(r"use `attach: generic`|use mode `auto` or `copy`", refusal)
        pytest.skip(refusal)
    running.start(spec(SECONDS))
    assert running.wait(PATIENCE_S)
    found: dict[str, Any] = json.loads(running.result())["trial"]
    running.close()
    assert found["invalid"] == []
    for stream in found["streams"]:
        assert stream["offered"] > RATE
        assert (stream["corrupted"], stream["duplicates"], stream["elsewhere"]) == (0, 0, 0)
        assert stream["received"] == stream["offered"] - stream["lost"]
        assert stream["lost"] <= found["health"]["rx_dropped"]
    assert not any(has_program(name) for name in pair)
    if way["kind"] == "af_xdp":
        return  # Some drivers do not count what they hand to AF_XDP, or begin anew with a program.
    # What the cards counted: all of it, and a few frames of the machine's own.
    for port, name in enumerate(pair):
        now, frames = read(name).link.counters, found["ports"][port]
        for counter, ours in (("rx_packets", "rx_frames"), ("tx_packets", "tx_frames")):
            moved = now[counter] - before[port][counter]
            assert frames[ours] <= moved <= frames[ours] + 100, counter


HOLD = """
import sys, time
from netdyno._engine import Session
held = Session(sys.argv[1])
held.start(sys.argv[2])
print("open", flush=True)
while not held.wait(1.0):
    pass
"""


@each_pair
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_attached(pair: tuple[str, ...], number: signal.Signals) -> None:
    """And the queue can be had again by whoever comes next."""
    from netdyno import _engine

    await_link(pair)
    way = {"kind": "af_xdp", "attach": "auto", "mode": "auto"}
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, session(pair, way), spec(60)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        assert all(has_program(name) for name in pair)
        process.send_signal(number)
        process.wait(PATIENCE_S)
        deadline = time.monotonic() + PATIENCE_S
        while any(has_program(name) for name in pair):
            assert time.monotonic() < deadline, "a program is left attached"
            time.sleep(0.05)
    _engine.Session(session(pair, way)).close()
