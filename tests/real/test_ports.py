"""`netdyno ports`: what each interface can take, why not, for root and for a plain user."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.app import cli
from netdyno.devices.linux import device, namespaces
from netdyno.ports import backends, ethtool, nic
from netdyno.ports.listing import OWN_TRAFFIC, PortReport, advices, look
from netdyno.ports.nic import fit, netlink, xdp
from netdyno.store import open_run

pytestmark = pytest.mark.paired

needs_root = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("ip", path=device.SEARCH) is None,
    reason="wants root and `ip` (apt-get install iproute2)",
)
NOBODY = 65534
MAY_ALL = fit.Rights(None, None)


def card(**changes: object) -> nic.Nic:
    facts: dict[str, object] = {
        **{"index": 2, "name": "eth1", "up": True, "loopback": False, "ethernet": True, "state": "up"},
        **{"mac": "", "mtu": 1500, "kind": "", "in_group": False, "carrier": True, "downs": 0},
        **{"promiscuity": 0, "xdp": "", "xdp_program": None, "counters": {}},
    }
    link = netlink.Link(**{**facts, **changes})  # type: ignore[arg-type]
    return nic.Nic(link, ethtool.Card("ixgbe", "0000:03:00.0", 10**10), xdp=xdp.Features(True, True))


@pytest.fixture
def lab() -> Iterator[None]:
    """A veth pair, one end with an address; a tun; an interface that is down."""
    with namespaces.tester_namespace():
        for command in (
            "link add west type veth peer name east",
            "link set west up",
            "link set east up",
            "address add 192.0.2.1/24 dev east",
            "tuntap add tunnel mode tun",
            "link set tunnel up",
            "link add idle type veth peer name spare",
        ):
            subprocess.run(["ip", *command.split()], env={"PATH": device.SEARCH}, check=True)
        yield


@needs_root
def test_every_interface_and_what_it_takes(lab: None) -> None:
    done = CliRunner().invoke(cli, ["ports", "--format", "json"])
    assert done.exit_code == 0, done.output
    found = {one["interface"]["name"]: one for one in json.loads(done.stdout)}
    assert found.keys() == {name for _, name in socket.if_nameindex()}
    takes = {name: one["backends"]["af_packet"]["takes"] for name, one in found.items()}
    assert takes == {"lo": False, "west": True, "east": True, "tunnel": False, "idle": False, "spare": False}
    assert found["west"]["backends"]["af_xdp"]["takes"], found["west"]["backends"]
    assert found["idle"]["backends"]["af_packet"]["why_not"] == "it is down"
    assert found["tunnel"]["backends"]["af_packet"]["why_not"] == "it carries no Ethernet frames"
    assert found["west"]["own_traffic"] is None
    assert found["east"]["own_traffic"] == f"192.0.2.1/24; {OWN_TRAFFIC}"
    assert not found["west"]["has_line"]


@needs_root
def test_the_table_says_it_in_a_line_each(lab: None) -> None:
    done = CliRunner().invoke(cli, ["ports"], env={"COLUMNS": "160"})
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert "(10Gbps)" in lines["west"], "a speed told for form's sake stands in brackets"
    assert "no: it is down" in lines["idle"]
    assert lines["east"].endswith("192.0.2.1/24")
    assert OWN_TRAFFIC in done.stderr
    assert "idle" not in done.stderr, "what is down is not advised on"


@needs_root
def test_a_plain_user_gets_the_list_and_the_reason(lab: None) -> None:
    """In a process of its own, which gives up being root for good."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writing, json.dumps([one.table() for one in look()]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        found = {one["interface"]["name"]: one for one in json.loads(told.read())}
    os.waitpid(child, 0)
    assert {"west", "east", "tunnel"} <= found.keys()
    for backend in ("af_packet", "af_xdp"):
        assert not found["west"]["backends"][backend]["takes"]
        assert "this process may not" in found["west"]["backends"][backend]["why_not"]
        assert "CAP_NET_RAW" in found["west"]["backends"][backend]["hint"]
    assert found["west"]["card"]["driver"] == "veth"
    assert found["west"]["interface"]["carrier"] is True


@needs_root
def test_what_is_tried_leaves_nothing_behind(lab: None) -> None:
    def opened() -> list[str]:
        return sorted(os.listdir("/proc/self/fd"))

    before = opened()
    assert fit.rights().af_packet is None
    assert opened() == before
    assert [link.xdp for link in netlink.links()] == [""] * len(netlink.links())


def test_a_program_of_somebody_elses_is_in_the_way() -> None:
    packet, af_xdp = backends.fits(card(xdp="native", xdp_program=17), MAY_ALL)
    assert packet.why is None
    assert af_xdp.why == "it has an XDP program already (native, number 17)"
    assert "ip link set eth1 xdp off" in str(af_xdp.hint)


def test_a_card_without_native_xdp_takes_generic() -> None:
    no_native = nic.Nic(card().link, card().card, xdp=xdp.Features(False, False))
    unknown = nic.Nic(card().link, card().card)
    assert [backends.fits(one, MAY_ALL)[1].how for one in (card(), no_native, unknown)] == [
        "native, zero-copy",
        "generic, copy",
        "native if its driver can, else generic",
    ]


def test_an_old_kernel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.release", lambda: "4.19.0-27-amd64")
    assert fit.rights().af_xdp == ("Linux 4.19.0-27-amd64 has no BPF links", "Linux 5.9 or later")


def test_interface_with_traffic_of_the_machine_is_warned_of_once_first() -> None:
    routed = nic.Nic(card().link, card().card, default_route=True, addresses=("192.0.2.9/24",))
    report = PortReport(routed, backends.fits(routed, MAY_ALL), ())
    assert report.own_traffic == "default route"
    assert advices([report]) == [f"eth1 {OWN_TRAFFIC} (default route)"]


# A whole run.

RUN = """\
title: Counted
lab:
  nodes:
    tester: {kind: netdyno}
    dut: {kind: linux/xconnect}
  links:
    - {endpoints: ["tester:west", "dut:a"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:b"], rate: 1Gbps}
traffic:
  small: {size: 64B, flows: 10}
matrix: {direction: [uni]}
method:
  ramp: {warmup: 200ms at 1kpps, ramp: 300ms to 2kpps, hold: 200ms}
trial: {settle: 100ms, drain: 300ms}
"""


@needs_root
def test_a_run_keeps_what_its_interfaces_counted(tmp_path: Path) -> None:
    pytest.importorskip("netdyno._engine", reason="the engine is not built")
    (tmp_path / "plan.yaml").write_text(RUN)
    done = CliRunner().invoke(
        cli, ["run", str(tmp_path / "plan.yaml"), "--out", str(tmp_path / "runs"), "--no-calibrate"]
    )
    (folder,) = [path for path in (tmp_path / "runs").iterdir() if (path / "run.sqlite").exists()]
    with open_run(folder, REASONS) as run:
        # Where a pause lost frames, the trial `bunches` follows.
        trial, *_ = [trial for trial in run.trials(0) if trial.state == "done"] or [None]
        assert trial is not None, done.output
        west, east = trial.result.interfaces
        sent = trial.result.streams[0]
    assert (west.port, west.interface, east.port, east.interface) == ("west", "p0", "east", "p1")
    # The kernel's counters know nothing of ours: they count what crossed the interface.
    assert west.counters["tx_packets"] >= sent.offered
    assert east.counters["rx_packets"] >= sent.received
    assert (west.downs, east.downs) == (0, 0)
