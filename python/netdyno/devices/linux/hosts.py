"""Tester ports as hosts: each interface in a network namespace of its own, so that what they send one another
crosses the device. Undone at the end: the interfaces come back as they were."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from netdyno.devices.linux import device as dut
from netdyno.devices.linux import namespaces
from netdyno.devices.linux.links import ip
from netdyno.devices.wiring import PEER, LabError, WiredPort, Wiring
from netdyno.ports import nic
from netdyno.values.load import OFFLOADS_ON, OFFLOADS_SETTING

BRIDGED = "198.18.0.{}"
"""Addresses of hosts on one network, of RFC 2544's, where the lab has none for its ports."""
SETTINGS = Path("/proc/sys/net/ipv4")
NICE = -15
"""Of the programs on hosts."""
LISTENING = "0A"
"""Of a TCP socket, in /proc/net/tcp."""


def find_version(program: str) -> str | None:
    """What a program prints of its version, or why it does not; None: it is not installed."""
    path = shutil.which(program, path=dut.SEARCH)
    if path is None:
        return None
    ended = subprocess.run([path, "--version"], capture_output=True, text=True)
    return ended.stdout or ended.stderr


class Running:
    """A program on a host."""

    def __init__(self, process: subprocess.Popen[bytes], output: IO[bytes], complaints: IO[bytes]) -> None:
        self._process = process
        self._output = output
        self._complaints = complaints

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def wait(self, within_s: float) -> None:
        """Waits for its end, so long at most."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within_s)

    @property
    def killed_by(self) -> str:
        """The signal that ended it, as `SIGKILL`; empty: none did."""
        code = self._process.poll()
        return signal.Signals(-code).name if code is not None and code < 0 else ""

    @property
    def printed(self) -> str:
        """What it has printed on its standard output."""
        return _read(self._output)

    @property
    def complained(self) -> str:
        """The last line that it has printed on its standard error; empty: it has not."""
        lines = _read(self._complaints).split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _read(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read().decode(errors="replace")


@dataclass(frozen=True)
class Host:
    """A tester port with the kernel's own TCP, in the namespace that a process holds."""

    pid: int
    address: str
    route: str
    """To all others, as `ip route` takes it."""

    memory: Mapping[str, tuple[int, int, int]] = field(compare=False, repr=False)
    """Least, usual and largest socket buffers as the kernel has them, by name (tcp(7))."""

    def limit(
        self, segments: int | None = None, receive_bytes: int | None = None, send_bytes: int | None = None
    ) -> None:
        """Sets the most segments that each of its connections has under way, and how much memory each has to
        receive and to send; None: as the kernel has them. Raises LabError, OSError."""
        # Exact, as no window of a socket's buffer is: the kernel makes of that what it likes.
        clamp = f" cwnd lock {segments}" if segments else ""
        self.ip(f"route replace {self.route}{clamp}")
        # What it remembers of earlier connections, the clamp with it.
        self.ip("tcp_metrics flush all")
        with namespaces.within(self.pid):
            for name, wanted in (("tcp_rmem", receive_bytes), ("tcp_wmem", send_bytes)):
                usual = self.memory[name]
                sizes = (min(size, wanted) for size in usual) if wanted else usual
                SETTINGS.joinpath(name).write_text(" ".join(map(str, sizes)))

    @contextmanager
    def run(self, command: str) -> Iterator[Running]:
        """Runs a program on the host; killed at the end of the block, and with this process."""
        # A warning among a report in JSON would spoil it.
        with TemporaryFile() as output, TemporaryFile() as complaints:
            process = subprocess.Popen(
                [dut.tool("setpriv"), "--pdeathsig", "KILL", *self._within(), *command.split()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=complaints,
                env={"PATH": dut.SEARCH, "LC_ALL": "C"},
                # A Ctrl-C in the terminal is for the run to take.
                start_new_session=True,
            )
            # What makes and takes the load goes first, where that is allowed.
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, process.pid, NICE)
            try:
                yield Running(process, output, complaints)
            finally:
                process.kill()
                process.wait()

    def await_listener(self, port: int, within_s: float = 10.0) -> None:
        """Waits until a program on the host listens on a TCP port. Raises LabError."""
        deadline = time.monotonic() + within_s
        while f":{port:04X} 00000000:0000 {LISTENING}" not in Path(f"/proc/{self.pid}/net/tcp").read_text():
            if time.monotonic() > deadline:
                raise LabError(f"nothing listens on TCP port {port} of the tester", code="device-silent")
            time.sleep(0.01)

    def ip(self, command: str) -> str:
        """Runs `ip` on the host; what it prints. Raises LabError."""
        return ip(command, *self._within())

    def _within(self) -> tuple[str, str]:
        return dut.tool("nsenter"), f"--net=/proc/{self.pid}/ns/net"


@dataclass(frozen=True)
class HostPort:
    """A tester port that is to be a host. interface: None: it has none. is_joined: it joins segments."""

    wired: WiredPort
    interface: str | None
    address: str
    is_joined: bool


def list_host_ports(wiring: Wiring) -> dict[int, HostPort]:
    """The tester ports of a lab that can be hosts, by number: those for which no server stands."""
    is_joined = wiring.settings.get(OFFLOADS_SETTING) == OFFLOADS_ON
    return {
        number: HostPort(port, opened["backend"].get("interface"), address_of(wiring, number), is_joined)
        for number, (port, opened) in enumerate(zip(wiring.ports, wiring.session["ports"], strict=True))
        if not port.server
    }


@contextmanager
def as_hosts(ports: Mapping[int, HostPort], mtu: int) -> Iterator[dict[int, Host]]:
    """A host for each of these ports of this machine, by number. mtu: of the interfaces. Raises LabError."""
    with ExitStack() as made:
        yield {number: made.enter_context(_host(port, mtu)) for number, port in ports.items()}


@contextmanager
def _host(of: HostPort, mtu: int) -> Iterator[Host]:
    port, interface = of.wired, of.interface
    before = None if interface is None else nic.read(interface)
    if before is None or port.vlans or ":" in port.destination:
        raise LabError(
            f"`{port.name}` cannot be a host: that needs an interface, no VLANs, and a next hop by IPv4",
            code="interface-unfit",
        )
    if before.addresses:
        raise LabError(
            f"`{interface}` has the address {before.addresses[0]}, which it would lose as a tester's host",
            f"ip address flush dev {interface}",
            code="interface-unfit",
        )
    with dut.device_namespace() as holder:
        settings = _settings(before.name)
        holder.ask("for s in all default; do echo 1 > /proc/sys/net/ipv6/conf/$s/disable_ipv6; done")
        via = "" if port.destination == PEER else f"via {port.destination} "
        route = f"default {via}dev {interface}{' onlink' if via else ''}"
        host = Host(holder.pid, of.address, route, _read_memory(holder.pid))
        ip(f"link set {interface} netns {host.pid}")
        try:
            # Segments one by one: joined ones of 64 kB cross a device of this kernel as one frame.
            segments = "" if of.is_joined else "gso_max_segs 1 "
            host.ip(f"link set {interface} address {port.mac} mtu {mtu} {segments}arp on up")
            host.ip(f"address add {host.address}/32 dev {interface}")
            host.ip(f"route add {route}")
            yield host
        except BaseException:
            # The first error is the one to report.
            with suppress(LabError):
                _take_back(host, before.name, settings)
            raise
        _take_back(host, before.name, settings)


def read_congestion_controls() -> list[str]:
    """Names the congestion controls that the kernel has, without the modules that it could load."""
    return SETTINGS.joinpath("tcp_available_congestion_control").read_text().split()


def _read_memory(pid: int) -> Mapping[str, tuple[int, int, int]]:
    """Limits of socket buffers in the namespace of a process."""
    found = {}
    with namespaces.within(pid):
        for name in ("tcp_rmem", "tcp_wmem"):
            least, usual, most = map(int, SETTINGS.joinpath(name).read_text().split())
            found[name] = least, usual, most
    return found


def address_of(wiring: Wiring, number: int) -> str:
    """The address of a tester port as a host."""
    return wiring.ports[number].ipv4 or BRIDGED.format(number + 1)


def _settings(interface: str) -> tuple[str, ...]:
    """What a host changes of an interface, each as `ip link set` takes it. Raises LabError."""
    (link,) = json.loads(ip(f"-details -json link show {interface}"))
    return (
        f"address {link['address']}",
        f"mtu {link['mtu']}",
        f"gso_max_segs {link['gso_max_segs']}",
        f"arp {'off' if 'NOARP' in link['flags'] else 'on'}",
        "up" if "UP" in link["flags"] else "down",
    )


def _take_back(host: Host, interface: str, settings: tuple[str, ...]) -> None:
    """Moves the interface of a host back and restores its settings, whichever of these steps fail.

    Raises the first LabError, at the end.
    """
    failed: list[LabError] = []
    # It comes back switched off: some drivers take no other address while it is on.
    steps: list[tuple[Callable[[str], object], str]] = [(host.ip, f"netns {threading.get_native_id()}")]
    for run, setting in (*steps, *((ip, setting) for setting in settings)):
        try:
            run(f"link set {interface} {setting}")
        except LabError as error:
            failed.append(error)
    if failed:
        raise failed[0]
