"""Two bridges of Open vSwitch's userspace datapath, joined by a trunk, in a network namespace of their own.

tester t0 -- o0 [ba] k0 -- trunk -- k1 [bb] o1 -- t1 tester
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from netdyno.devices.linux import device as dut
from netdyno.devices.linux import links
from netdyno.devices.linux.daemon import run_daemon

BRIDGES = ("ba", "bb")
TESTER, ACCESS, TRUNK = ("t0", "t1"), ("o0", "o1"), ("k0", "k1")
MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02")
MTU = 1600
"""Room for two tags more than the tester's longest frame has."""
SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
COMMON = "-vconsole:off -vfile:off -vsyslog:off --no-chdir"


def is_installed() -> bool:
    return shutil.which("ovs-vswitchd", path=dut.SEARCH) is not None and SCHEMA.exists()


@dataclass(frozen=True)
class Switch:
    """The running switch. env: with which its tools find it."""

    device: dut.Device
    env: dict[str, str]

    def do(self, command: str) -> str:
        """What a command prints in its namespace. Raises LabError."""
        settings = " ".join(f"{name}={value}" for name, value in self.env.items() if name != "PATH")
        return self.device.do(f"env {settings} {command}")


def wire(device: dut.Device) -> None:
    """Makes the cables, the tester's ends in the caller's namespace. The kernel sends nothing of its own."""
    device.do("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6; ip link set lo up")
    for name, far, mac in zip(TESTER, ACCESS, MACS, strict=True):
        ends = f"{name} mtu {MTU} address {mac} type veth peer name {far} mtu {MTU} netns {device.pid}"
        links.ip(f"link add {ends}")
        links.ip(f"link set {name} up")
    device.do("ip link add {} mtu {mtu} type veth peer name {} mtu {mtu}".format(*TRUNK, mtu=MTU))
    for name in (*ACCESS, *TRUNK):
        device.do(f"ip link set {name} up")


@contextmanager
def run_switch(folder: Path, device: dut.Device) -> Iterator[Switch]:
    """Runs database and switch; both end with the block."""
    env = {
        **{f"OVS_{name}DIR": str(folder) for name in ("RUN", "LOG", "DB", "SYSCONF")},
        "PATH": dut.SEARCH,
        "LC_ALL": "C",
    }
    settings = " ".join(f"{name}={value}" for name, value in env.items())
    database = (
        f"env {settings} sh -c 'ovsdb-tool create {folder}/conf.db {SCHEMA} && exec ovsdb-server"
        f" {folder}/conf.db --remote=punix:{folder}/db.sock --pidfile {COMMON}'"
    )
    asked = f"env {settings} ovs-vsctl --timeout=5"
    with run_daemon(device, "ovsdb", database, "", f"{asked} --no-wait init"):
        switch = f"env {settings} ovs-vswitchd unix:{folder}/db.sock --pidfile {COMMON}"
        with run_daemon(device, "ovs", switch, "", f"env {settings} ovs-appctl version"):
            yield Switch(device, env)
