"""A port of the tester whose VLANs Open vSwitch takes apart: the router has an interface for each.

tester t0 -- o0 [br] a10, a11, ... -- e10, e11, ... router, which is 10.0.10.1/24, 10.0.11.1/24, ... there
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import ovs
import pytest
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import links, namespaces


@contextmanager
def vlan_router(vids: Sequence[int]) -> Iterator[dut.Device]:
    """The router, which forwards; the caller is in the tester's namespace."""
    with (
        # Sockets have short paths.
        tempfile.TemporaryDirectory(prefix="nd-", dir="/tmp") as short,
        pytest.MonkeyPatch.context() as patch,
        namespaces.tester_namespace(),
        dut.device_namespace() as device,
        dut.device_namespace() as router,
    ):
        patch.setenv("XDG_RUNTIME_DIR", short)
        for one in (device, router):
            one.do("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6; ip link set lo up")
        router.do("echo 1 > /proc/sys/net/ipv4/ip_forward")
        cable("t0", "o0", device)
        ports = [f"add-port br o0 trunks={','.join(map(str, vids))}"]
        for vid in vids:
            device.do(f"ip link add a{vid} type veth peer name e{vid} netns {router.pid}")
            device.do(f"ip link set a{vid} up")
            router.do(f"ip address add 10.0.{vid}.1/24 dev e{vid}; ip link set e{vid} up")
            router.do(f"ethtool -K e{vid} tx off")
            ports.append(f"add-port br a{vid} tag={vid}")
        with ovs.run_switch(Path(short), device) as switch:
            made = "add-br br -- set Bridge br datapath_type=netdev"
            switch.do(f"ovs-vsctl --timeout=10 {' -- '.join((made, *ports))}")
            yield router


def cable(name: str, far: str, device: dut.Device) -> None:
    """A cable between an interface of the tester and one of a device."""
    links.ip(f"link add {name} type veth peer name {far} netns {device.pid}")
    links.ip(f"link set {name} up")
    # Open vSwitch takes frames as they are in memory, and a veth leaves TCP's checksum undone there.
    subprocess.run(["ethtool", "-K", name, "tx", "off"], check=True, stdout=subprocess.DEVNULL)
    device.do(f"ip link set {far} up")
