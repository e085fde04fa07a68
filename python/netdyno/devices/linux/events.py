"""What a Linux device can be asked to do while traffic runs, and how: a few commands in its namespace."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from netdyno.devices.linux import device as dut
from netdyno.devices.wiring import LabError


def asking(
    device: dut.Device, service: str, ports: int, files: Sequence[str] = ()
) -> Callable[[str, int | None], None]:
    """What `Wiring.ask` is for a device that was built with so many ports."""
    every = dut.PORTS[:ports]

    def ask(kind: str, port: int | None) -> None:
        names = every if port is None else (every[port],)
        lines = _LINES[kind](service, names, every)
        if (kind, service) == ("link-up", "router"):
            # A router's addresses, routes and given neighbours go with its link: they are given again.
            for name in names:
                lines += dut.router_port(every.index(name), len(every), files)
        status, said = device.ask(" && ".join(["true", *lines]))
        if status != 0:
            raise LabError(
                f"the device could not do `{kind}`: {said.strip() or status}", dut.refusal_hint(said)
            )

    return ask


def _reset(service: str, _names: tuple[str, ...], every: tuple[str, ...]) -> list[str]:
    """Forwarding stops, what was learned goes, and forwarding begins again: at once, for Linux does."""
    if service == "router":
        path = "/proc/sys/net/ipv4/ip_forward"
        return [f"echo 0 > {path}", *_forget(service, every, every), f"echo 1 > {path}"]
    if service == "bridge":
        return ["ip link set br0 down", *_forget(service, every, every), "ip link set br0 up"]
    return [*(f"tc qdisc del dev {name} ingress" for name in every), *dut.redirects()]


def _forget(service: str, names: tuple[str, ...], _every: tuple[str, ...]) -> list[str]:
    """Neighbours that were given stay; addresses behind a bridge's port go, its own does not."""
    if service == "router":
        return [f"ip neigh flush dev {name}" for name in names]
    if service == "bridge":
        return [f"ip link set dev {name} type bridge_slave fdb_flush" for name in names]
    return []


def _down(_service: str, names: tuple[str, ...], _every: tuple[str, ...]) -> list[str]:
    return [f"ip link set {name} down" for name in names]


def _up(_service: str, names: tuple[str, ...], _every: tuple[str, ...]) -> list[str]:
    return [f"ip link set {name} up" for name in names]


_LINES = {"reset": _reset, "forget": _forget, "link-down": _down, "link-up": _up}
