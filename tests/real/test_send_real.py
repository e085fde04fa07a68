"""`netdyno send` on interfaces: a bridge and a router of the kernel, Ctrl-C, and what it refuses to load.

What the machine manages is not judged: counts agree, whatever they are.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns import ENVIRONMENT, served_router
from commands import said
from netdyno.devices.linux import device, namespaces

pytestmark = pytest.mark.paired


def ip(*commands: str) -> None:
    for command in commands:
        subprocess.run(["ip", *command.split()], env={"PATH": device.SEARCH}, check=True)


@pytest.fixture
def ports() -> Iterator[None]:
    """`west` and `east`, each cabled to a port of this namespace, `w` and `e`."""
    if os.getuid() != 0 or shutil.which("ip", path=device.SEARCH) is None:
        pytest.skip("wants root and `ip` (apt-get install iproute2)")
    with namespaces.tester_namespace():
        for near, far in (("west", "w"), ("east", "e")):
            ip(f"link add {near} type veth peer name {far}", f"link set {near} up", f"link set {far} up")
        yield


def start(*arguments: object, cwd: Path, command: str = "send") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "netdyno", command, *map(str, arguments)],
        env={**ENVIRONMENT, "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        start_new_session=True,
    )


def send(*arguments: object, cwd: Path) -> tuple[int, str, str]:
    with start(*arguments, cwd=cwd) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def bridge() -> None:
    ip("link add br0 type bridge", "link set br0 up", "link set w master br0", "link set e master br0")


def test_bridge_brings_every_frame_and_a_line_each_second(ports: None, tmp_path: Path) -> None:
    bridge()
    code, out, err = send("west", "east", "--rate", "2kpps", "-t", 2, "--bidir", cwd=tmp_path)
    assert code in (0, 4), err
    lines = out.splitlines()
    assert lines[0].startswith("west <-> east  64 B, 10 Gbit/s line (assumed), 4,096 flows")
    assert [line.split()[0] for line in lines[2:6]] == ["1", "->", "2", "->"] or lines[2].split()[:2] == [
        "1",
        "s",
    ]
    assert max(map(len, lines[:7])) <= 80
    summary = next(line for line in lines if " received, " in line)
    sent, received = (
        int(re.sub("[^0-9]", "", one)) for one in re.findall(r"([0-9,]+) (?:sent|received)", summary)
    )
    assert 0 < received <= sent <= 8000


PROFILE = """from trex_stl_lib.api import *
class P:
    def get_streams(self, direction=0, size=64, **kw):
        ends = ("16.0.0.1", "48.0.0.1")[:: 1 - 2 * direction]
        packet = Ether() / IP(src=ends[0], dst=ends[1]) / UDP(dport=12, sport=1025)
        packet = packet / ("x" * (size - 4 - len(packet)))
        return STLStream(packet=STLPktBuilder(pkt=packet), mode=STLTXCont(pps=1))
register = P
"""


def test_line_of_t_rex_sends_its_profile_through_a_bridge(ports: None, tmp_path: Path) -> None:
    bridge()
    (tmp_path / "simple.py").write_text(PROFILE)
    line = "start -f simple.py -m 1kpps --port 0 1 -t size=128 -d 1 --interfaces west,east"
    with start(*line.split(), cwd=tmp_path, command="trex") as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode in (0, 4), err
    counts = {
        row[0]: [int(re.sub("[^0-9]", "", one)) for one in row[1:3]]
        for row in (text.split() for text in out.splitlines())
        if row[:1] in (["west-east"], ["east-west"])
    }
    assert {name: 0 < sent <= 1000 for name, (sent, _) in counts.items()} == {
        "west-east": True,
        "east-west": True,
    }


def test_router_is_sent_through_by_its_addresses(ports: None, tmp_path: Path) -> None:
    # The kernel here is router and host at once: a namespace of its own would have the same addresses.
    ip("netns add netdyno-test-router")
    try:
        inside = "netns exec netdyno-test-router ip"
        ip("link set w netns netdyno-test-router", "link set e netns netdyno-test-router")
        for name, address in (("w", "10.77.1.1/30"), ("e", "10.77.2.1/30")):
            ip(f"{inside} link set {name} up", f"{inside} address add {address} dev {name}")
        ip("netns exec netdyno-test-router sysctl -qw net.ipv4.ip_forward=1")
        arguments = ("west", "east", "--via", "10.77.1.1,10.77.2.1", "--rate", "1kpps", "-t", 1, "-J")
        code, out, err = send(*arguments, cwd=tmp_path)
        assert code in (0, 4), err
        found = json.loads(out)
        assert found["received"] > 0
    finally:
        ip("netns delete netdyno-test-router")


def test_interrupt_ends_in_order_and_sums_up(ports: None, tmp_path: Path) -> None:
    """Until then its ports are refused to another one; what was sent is in its report afterwards."""
    bridge()
    with start("west", "east", "--rate", "1kpps", "-t", 600, cwd=tmp_path) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.split()[:2] == ["1", "s"]:
                break
        code, _, err = send("east", "w", "-t", 1, cwd=tmp_path)
        assert (code, f"kill -INT {process.pid}`" in err, "--force" in err) == (2, True, False), err
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    counts = re.search(r"([0-9,]+) sent, ([0-9,]+) received, ([0-9,]+) lost", out)
    assert counts is not None
    (folder,) = (tmp_path / "runs").iterdir()
    (row,) = csv.DictReader(said("report", folder, "--as", "tables").stdout.splitlines()[1:])
    columns = ("sent (frames)", "received (frames)", "lost (frames)")
    assert [row[column] for column in columns] == [count.replace(",", "") for count in counts.groups()]
    assert "it was interrupted" in out
    assert "netdyno run --resume" in out


def test_default_route_is_refused_without_force(ports: None, tmp_path: Path) -> None:
    bridge()
    ip("address add 192.0.2.1/24 dev east", "route add default via 192.0.2.2")
    code, out, err = send("west", "east", "-t", 1, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert "`east` is in use: it holds the default route" in err
    assert "--force" in err
    code, out, err = send("west", "east", "-t", 1, "--rate", "100pps", "--force", "--json", cwd=tmp_path)
    assert code in (0, 3, 4), err
    assert json.loads(out)["sent"] > 0


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("west", "west"), "given twice"),
        (("west", "other-name"), "two names of one interface"),
        (("west", "eastt"), "did you mean `east`?"),
        (("west", "w"), "both ends of one veth"),
        (("west", "e"), "it is down"),
    ],
)
def test_names_of_no_two_idle_ports_are_said(
    ports: None, names: tuple[str, str], words: str, tmp_path: Path
) -> None:
    ip("link property add dev west altname other-name", "link set e down")
    code, _, err = send(*names, "-t", 1, "--rate", "100pps", cwd=tmp_path)
    assert words in err
    # A name is the command's mistake, an interface that is down the machine's.
    assert code == 3 if "down" in words else (code == 2) == ("veth" not in words)


def test_memif_device_is_sent_through_by_its_addresses(tmp_path: Path) -> None:
    with served_router(tmp_path, "capacity=100kpps"):
        sockets = [option for name in ("west", "east") for option in ("--memif", f"{name}.sock")]
        via = ("--via", "100.64.0.1,100.64.1.1")
        code, out, err = send(*sockets, *via, "--rate", "1kpps", "-t", 1, "-J", cwd=tmp_path)
    assert code in (0, 4), err
    found = json.loads(out)
    assert 0 < found["received"] <= found["sent"]


def test_nothing_that_came_back_names_the_option_for_a_router(ports: None, tmp_path: Path) -> None:
    code, out, err = send("west", "east", "--rate", "1kpps", "-t", 1, cwd=tmp_path)
    assert code in (3, 4), err
    assert "1,000 sent, 0 received, 1,000 lost (100 %)" in out
    assert "`--via GATEWAY,GATEWAY`" in out
