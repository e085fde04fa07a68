"""VLANs between generator hosts and their router, by Open vSwitch; and a host that has little of its core.

host p0 -- o0 [ba] k0 -- trunk -- k1 [bb] s0 -- d0 router, for each host; o and s are access ports.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import ovs
from faulty_case import CGROUP
from hosts_lab import HostsLab, move, run
from netdyno.devices.linux import device as dut

VLANS = (101, 102, 201, 202)
"""Of the hosts, as the published test of the CCR1072 has them of two ports."""
MTU, TAG = 9000, 4


class Frames(NamedTuple):
    """Frames on a line, and their bytes without FCS."""

    packets: int
    octets: int


@dataclass(frozen=True)
class Switch:
    """The bridges. pids: of their programs."""

    place: str
    pids: tuple[int, ...]

    def count(self) -> tuple[Frames, Frames]:
        """What went over the trunk from the hosts, and back to them, by the kernel's counters."""
        (trunk,) = json.loads(run(f"ip -n {self.place} -s -j link show {ovs.TRUNK[0]}"))
        sent, back = (Frames(way["packets"], way["bytes"]) for way in map(trunk["stats64"].get, ("tx", "rx")))
        return sent, back


@contextmanager
def access_vlans(lab: HostsLab) -> Iterator[Switch]:
    """Each host on a VLAN of its own, untagged, as the router's port to it; all lines have an MTU of 9000."""
    place = f"{lab.control}s"
    near = [(f"{lab.control}{name}", f"o{number}", f"s{number}") for number, name in enumerate(lab.names)]
    with tempfile.TemporaryDirectory(prefix="nd-", dir="/tmp") as short, dut.device_namespace() as device:
        run(f"ip netns attach {place} {device.pid}")
        device.do("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6; ip link set lo up")
        room = MTU + TAG
        device.do(f"ip link add k0 mtu {room} type veth peer name k1 mtu {room}")
        try:
            for number, (host, access, far) in enumerate(near):
                move(host, "p0", place, far)
                run(
                    f"ip -n {place} link add {access} mtu {MTU} type veth peer name p0 mtu {MTU} netns {host}"
                )
                run(f"ip -n {host} link set p0 up")
                run(f"ip -n {place} link set {far} mtu {MTU}")
                run(f"ip -n {lab.router} link set d{number} mtu {MTU}")
            for _, access, far in near:
                device.do(f"ip link set {access} up; ip link set {far} up")
            device.do("ip link set k0 up; ip link set k1 up")
            with ovs.run_switch(Path(short), device) as switch:
                added = [f"add-br {name} -- set Bridge {name} datapath_type=netdev" for name in ovs.BRIDGES]
                added += [
                    f"add-port {bridge} {port} tag={vlan}"
                    for (_, *ports), vlan in zip(near, VLANS, strict=True)
                    for bridge, port in zip(ovs.BRIDGES, ports, strict=True)
                ]
                added += [
                    f"add-port {bridge} {port}" for bridge, port in zip(ovs.BRIDGES, ovs.TRUNK, strict=True)
                ]
                switch.do(f"ovs-vsctl --timeout=10 {' -- '.join(added)}")
                pids = tuple(map(int, run(f"ip netns pids {place}").split()))
                for pid in pids:
                    # A socket of the switch holds a dozen of the longest frames.
                    os.setpriority(os.PRIO_PROCESS, pid, -19)
                yield Switch(place, pids)
        finally:
            for number, (host, access, far) in enumerate(near):
                run(f"ip -n {place} link del {access}")
                move(place, far, host, "p0")
                run(f"ip -n {host} link set p0 mtu 1500")
                run(f"ip -n {lab.router} link set d{number} mtu 1500")
            run(f"ip netns del {place}")


FAVOURED = {"cpu.shares": 262_144, "cpu.rt_runtime_us": 200_000}
"""What others on this machine want hardly matters, and traffic may begin with real-time priority."""
TENTH_OF_A_CORE = {**FAVOURED, "cpu.cfs_period_us": 100_000, "cpu.cfs_quota_us": 10_000}
FIFTIETH_OF_A_CORE = {"cpu.cfs_period_us": 50_000, "cpu.cfs_quota_us": 1_000}


@contextmanager
def in_cgroup(name: str, pids: Iterable[int], settings: Mapping[str, int]) -> Iterator[None]:
    """Processes in a group of their own for processor time, meanwhile."""
    folder = CGROUP / f"netdyno-test-{os.getpid()}-{name}"
    folder.mkdir()
    try:
        for setting, value in settings.items():
            (folder / setting).write_text(str(value))
        for pid in pids:
            (folder / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        for left in (folder / "cgroup.procs").read_text().split():
            (CGROUP / "cgroup.procs").write_text(left)
        folder.rmdir()
