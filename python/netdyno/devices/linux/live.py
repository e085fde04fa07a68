"""A built Linux device: events it carries out during traffic, and the counters of its kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from netdyno.devices import addresses, neighbours, watches
from netdyno.devices.drivers.kernel import KernelCounters
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.daemon import Daemon
from netdyno.devices.live import Instrument, Live
from netdyno.devices.reasons import DeviceOnOwnCore
from netdyno.devices.telemetry.linux_cpu import MachineCores
from netdyno.devices.watches.adjacency import AdjacencyInstrument
from netdyno.devices.watches.bird import COMMANDS, ask_bird
from netdyno.devices.wiring import LabError
from netdyno.values.load import Event


@dataclass(frozen=True)
class LinuxLive(Live):
    """A device namespace and the programs in it. files: of the routes behind each port (`route_files`)."""

    device: dut.Device
    service: str
    files: tuple[str, ...] = ()
    daemons: tuple[Daemon, ...] = ()

    @property
    def _every(self) -> tuple[str, ...]:
        return dut.PORTS[: len(self.wiring.ports)]

    def ask(self, event: Event) -> None:
        """A few commands in its namespace."""
        every, names = self._every, self._every
        if event.port is not None:
            names = (every[[port.name for port in self.wiring.ports].index(event.port)],)
        lines = _LINES[event.kind](self.service, names, every)
        if (event.kind, self.service) == ("link-up", "router"):
            # A router's addresses, routes and given neighbours go with its link: they are given again.
            for name in names:
                has_routes = self.wiring.settings.get(neighbours.SETTING) != neighbours.BGP
                lines += dut.router_port(every.index(name), len(every), self.files, has_routes=has_routes)
        status, said = self.device.ask(" && ".join(["true", *lines]))
        if status != 0:
            raise LabError(
                f"the device could not do `{event.kind}`: {said.strip() or status}",
                dut.refusal_hint(said),
                code="command-failed",
            )

    def instruments(self) -> tuple[Instrument, ...]:
        """The counters of its kernel, and the cores of this machine, which it shares with the tester."""
        apart = any(isinstance(note, DeviceOnOwnCore) for note in self.wiring.notes)
        process = str(self.device.pid)
        own = KernelCounters("the device's kernel", process, self._every, ours=True, has_own_core=apart)
        return own, MachineCores()

    def addresses_of(self) -> Mapping[str, str]:
        """Addresses by the names that pings can have in their place."""
        return {watches.DEVICE: addresses.MANAGEMENT[0], watches.NEIGHBOUR: addresses.NEIGHBOUR}

    def adjacencies(self) -> AdjacencyInstrument | None:
        """Reads the neighbours of its routing protocol; None: it has none."""
        if self.wiring.settings.get(neighbours.SETTING) not in neighbours.WITH_NEIGHBOUR:
            return None
        return AdjacencyInstrument(partial(ask_bird, self.daemons[0].control), "; ".join(COMMANDS))

    def check(self) -> LabError | None:
        """Which program in it has ended, and how."""
        try:
            for daemon in self.daemons:
                daemon.look()
        except LabError as error:
            return error
        return None


def _reset(service: str, _names: tuple[str, ...], every: tuple[str, ...]) -> list[str]:
    """The commands that stop forwarding, forget learned addresses, and start forwarding again."""
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
