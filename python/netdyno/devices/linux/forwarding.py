"""What a namespace is made into: a router, a bridge or a cross connect."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from netdyno.devices import addresses
from netdyno.devices.linux import device as dut
from netdyno.devices.wiring import LabError


@dataclass(frozen=True)
class Forwarding:
    """How a device forwards between its ports, as commands of its shell. names: its ports."""

    ready = "state UP"
    """What `ip -details link show` prints of a port that forwards."""
    is_routed = False
    learns = False
    """Whether it learns where MAC addresses are."""

    def build(self, names: Sequence[str]) -> list[str]:
        """Makes a namespace that holds these ports forward between them."""
        raise NotImplementedError

    def forget(self, names: Sequence[str]) -> list[str]:
        """Forgets the addresses learned behind some ports."""
        return []

    def reset(self, names: Sequence[str]) -> list[str]:
        """Stops forwarding, forgets what was learned, and starts forwarding again."""
        raise NotImplementedError

    def restore(self, port: int) -> list[str]:
        """Gives a port again what goes with its link."""
        return []


@dataclass(frozen=True)
class Router(Forwarding):
    """The kernel's IPv4 forwarding. Its ports have addresses and know the tester; routes are a service."""

    is_routed = True

    def build(self, names: Sequence[str]) -> list[str]:
        settings = _everywhere(names)
        lines = [
            "echo 1 > /proc/sys/net/ipv4/ip_forward",
            # Loose on purpose: what is measured is forwarding, and profiles may send from anywhere.
            f"for s in {settings}; do echo 0 > /proc/sys/net/ipv4/conf/$s/rp_filter; done",
            f"for s in {settings}; do echo 0 > /proc/sys/net/ipv4/conf/$s/send_redirects; done",
        ]
        for port, name in enumerate(names):
            lines += [
                f"ip address add {addresses.device(port)}/30 dev {name}",
                f"ip link set {name} up",
                *self.restore(port),
            ]
        return lines

    def forget(self, names: Sequence[str]) -> list[str]:
        # Neighbours that were given stay.
        return [f"ip neigh flush dev {name}" for name in names]

    def reset(self, names: Sequence[str]) -> list[str]:
        path = "/proc/sys/net/ipv4/ip_forward"
        return [f"echo 0 > {path}", *self.forget(names), f"echo 1 > {path}"]

    def restore(self, port: int) -> list[str]:
        tester, mac = addresses.tester(port), addresses.tester_mac(port)
        return [f"ip neighbour replace {tester} lladdr {mac} dev {dut.PORTS[port]} nud permanent"]


@dataclass(frozen=True)
class Bridge(Forwarding):
    """A Linux bridge without STP."""

    ready = "state forwarding"
    learns = True

    def build(self, names: Sequence[str]) -> list[str]:
        return [
            "ip link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0",
            *(f"ip link set {name} master br0 up" for name in names),
            "ip link set br0 up",
        ]

    def forget(self, names: Sequence[str]) -> list[str]:
        # The port's own address stays.
        return [f"ip link set dev {name} type bridge_slave fdb_flush" for name in names]

    def reset(self, names: Sequence[str]) -> list[str]:
        return ["ip link set br0 down", *self.forget(names), "ip link set br0 up"]


@dataclass(frozen=True)
class CrossConnect(Forwarding):
    """tc mirred, from each of two ports to the other."""

    def build(self, names: Sequence[str]) -> list[str]:
        return [*(f"ip link set {name} up" for name in names), *self._redirect(names)]

    def reset(self, names: Sequence[str]) -> list[str]:
        return [*(f"tc qdisc del dev {name} ingress" for name in names), *self._redirect(names)]

    def _redirect(self, names: Sequence[str]) -> list[str]:
        lines = []
        for name, other in zip(names, reversed(names), strict=True):
            lines += [
                f"tc qdisc add dev {name} ingress",
                f"tc filter add dev {name} parent ffff: protocol all prio 1 u32 match u32 0 0"
                f" action mirred egress redirect dev {other}",
            ]
        return lines


def set_up(device: dut.Device, forwarding: Forwarding, ports: int) -> None:
    """Makes a namespace that holds so many ports forward between them. Raises LabError."""
    names = dut.PORTS[:ports]
    device.ask(f"for s in {_everywhere(names)}; do echo 1 > /proc/sys/net/ipv6/conf/$s/disable_ipv6; done")
    for line in forwarding.build(names):
        device.do(line)
    _await_carrier(device, names, forwarding.ready)


def _everywhere(names: Sequence[str]) -> str:
    """Where the kernel keeps a setting of interfaces, for a shell's loop."""
    return " ".join(("all", "default", *names))


def _await_carrier(device: dut.Device, names: Sequence[str], ready: str) -> None:
    """Waits for the kernel to notice, up to a second late, that its cables are plugged in.

    Until then a bridge's port is disabled and drops all it gets, which no loss search should find.
    """
    deadline = time.monotonic() + dut.ANSWER_S
    for port in names:
        while ready not in (said := device.do(f"ip -details link show {port}")):
            if time.monotonic() > deadline:
                raise LabError(
                    f"the device's port {port} does not come up: {said.strip()}", code="command-failed"
                )
            time.sleep(0.02)
