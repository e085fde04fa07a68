"""The device: a shell in a namespace of its own. Commands configure it; it ends with its standard input."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product

from netdyno.devices import addresses
from netdyno.devices.linux import leftovers, namespaces
from netdyno.devices.linux.programs import SEARCH as SEARCH
from netdyno.devices.linux.programs import tool as tool
from netdyno.devices.reasons import DeviceNotIsolated
from netdyno.devices.wiring import LabError

ANSWER_S = 10.0
"""A command here takes milliseconds; after this long something is stuck."""

MOST_PORTS = 8
"""A veth pair each, whose names and networks are told apart by one digit."""

PORTS = tuple(f"d{port}" for port in range(MOST_PORTS))
"""Its ports, of which a lab has the first ones."""


class Device:
    """A living device namespace."""

    def __init__(self, shell: subprocess.Popen[bytes]) -> None:
        self._shell = shell
        self._lines = 0
        self._left = b""

    @property
    def pid(self) -> int:
        """Process that holds the namespace: `ip link set X netns PID` reaches it."""
        return self._shell.pid

    def ask(self, command: str) -> tuple[int, str]:
        """Runs one shell command inside; returns its exit status and output."""
        assert self._shell.stdin is not None
        self._lines += 1
        mark = f"--netdyno-{self._lines}--"
        try:
            # Commands must not eat the shell's own input, which is what they would inherit.
            self._shell.stdin.write(f"{{ {command}\n}} </dev/null 2>&1; echo {mark} $?\n".encode())
            self._shell.stdin.flush()
        except BrokenPipeError:
            raise self._gone() from None
        said, status = self._until(mark)
        return status, said

    def do(self, command: str) -> str:
        """Runs one shell command inside that has to succeed."""
        status, said = self.ask(command)
        if status != 0:
            raise LabError(
                f"the device could not be set up: `{command}` said: {said.strip() or status}",
                refusal_hint(said),
                code="command-failed",
            )
        return said

    def _until(self, mark: str) -> tuple[str, int]:
        assert self._shell.stdout is not None
        deadline = time.monotonic() + ANSWER_S
        wanted = mark.encode()
        while wanted not in self._left or not self._left.endswith(b"\n"):
            ready, _, _ = select.select([self._shell.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise LabError(
                    f"the device's shell does not answer within {ANSWER_S:.0f} s", code="device-silent"
                )
            piece = os.read(self._shell.stdout.fileno(), 65536)
            if not piece:
                raise self._gone()
            self._left += piece
        said, _, status = self._left.decode(errors="replace").rpartition(mark)
        self._left = b""
        return said, int(status)

    def _gone(self) -> LabError:
        said = self._left.decode(errors="replace").strip()
        return LabError(
            f"the device's namespace could not be made: {said or 'its process ended'}",
            refusal_hint(said),
            code="no-namespace",
        )


@contextmanager
def device_namespace() -> Iterator[Device]:
    """A fresh network namespace held by a shell; it ends with this block or with this process."""
    sys.audit("netdyno.namespace")
    # Each of these becomes the next by exec, so the process we start is the one that holds the namespace.
    # It dies with us twice over: by the parent-death signal, and by the end of its standard input.
    shell = subprocess.Popen(
        [tool("setpriv"), "--pdeathsig", "KILL", tool("unshare"), "--net", tool("sh")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PATH": SEARCH, "LC_ALL": "C"},
        # A Ctrl-C in the terminal is for the run to take, in order, not for the device.
        start_new_session=True,
    )
    try:
        device = Device(shell)
        device.do("true")
        yield device
    finally:
        shell.kill()
        shell.communicate()


def set_up(
    device: Device, service: str, ports: int, files: Sequence[str] = (), *, has_routes: bool = True
) -> None:
    """Turns the namespace, which holds its ports, into a router, a bridge or a cross connect.

    files: of the routes behind each port (`route_files`); none: the networks. has_routes: a router is given
    them; else it learns them.
    """
    names = PORTS[:ports]
    device.ask(f"for s in {_everywhere(names)}; do echo 1 > /proc/sys/net/ipv6/conf/$s/disable_ipv6; done")
    is_router = service == "router"
    lines = _router(names, files, has_routes=has_routes) if is_router else _SERVICES[service](names)
    for line in lines:
        device.do(line)
    _await_carrier(device, names, "state forwarding" if service == "bridge" else "state UP")


def _everywhere(names: Sequence[str]) -> str:
    """Where the kernel keeps a setting of interfaces, for a shell's loop."""
    return " ".join(("all", "default", *names))


def _await_carrier(device: Device, names: Sequence[str], ready: str) -> None:
    """Waits for the kernel to notice, up to a second late, that its cables are plugged in.

    Until then a bridge's port is disabled and drops all it gets, which no loss search should find.
    """
    deadline = time.monotonic() + ANSWER_S
    for port in names:
        while ready not in (said := device.do(f"ip -details link show {port}")):
            if time.monotonic() > deadline:
                raise LabError(
                    f"the device's port {port} does not come up: {said.strip()}", code="command-failed"
                )
            time.sleep(0.02)


def await_success(device: Device, command: str, within_s: float, what: str) -> None:
    """Waits until a shell command inside succeeds. Raises LabError. what: what it waits for."""
    deadline = time.monotonic() + within_s
    while device.ask(command)[0] != 0:
        if time.monotonic() > deadline:
            raise LabError(f"the device has no {what} after {within_s:g} s", code="device-silent")
        time.sleep(0.02)


def isolate(device: Device, core: int, ports: int, queues: int = 1) -> DeviceNotIsolated | None:
    """Moves the device's work, of so many ports and queues of each, to one core; the failure, if it cannot.

    Without it a veth's far end is worked by whoever sends into it, in the sender's own core, and
    overload shows as a slow tester and never as loss.
    """
    mask = f"{1 << core:x}".encode()
    try:
        folder = namespaces.sysfs_of(device.pid)
    except PermissionError:
        return DeviceNotIsolated("only-root")
    except OSError as error:
        return DeviceNotIsolated("settings-unreachable", error.strerror or "")
    try:
        for port, number in product(PORTS[:ports], range(queues)):
            queue = os.open(f"class/net/{port}/queues/rx-{number}/rps_cpus", os.O_WRONLY, dir_fd=folder)
            with os.fdopen(queue, "wb", buffering=0) as file:
                file.write(mask)
    except PermissionError:
        return DeviceNotIsolated("only-root")
    except OSError as error:
        return DeviceNotIsolated("not-steerable", error.strerror or "")
    finally:
        os.close(folder)
    return None


def _router(names: Sequence[str], files: Sequence[str], *, has_routes: bool) -> list[str]:
    settings = _everywhere(names)
    lines = [
        "echo 1 > /proc/sys/net/ipv4/ip_forward",
        # Loose on purpose: what is measured is forwarding, and profiles may send from anywhere.
        f"for s in {settings}; do echo 0 > /proc/sys/net/ipv4/conf/$s/rp_filter; done",
        f"for s in {settings}; do echo 0 > /proc/sys/net/ipv4/conf/$s/send_redirects; done",
    ]
    # All ports first: a route wants its next hop's network.
    for port, name in enumerate(names):
        lines += [
            f"ip address add {addresses.device(port)}/30 dev {name}",
            f"ip link set {name} up",
        ]
    for port in range(len(names)):
        lines += router_port(port, len(names), files, has_routes=has_routes)
    return lines


def router_port(port: int, ports: int, files: Sequence[str] = (), *, has_routes: bool = True) -> list[str]:
    """What a router's port of so many loses when its link goes down: the neighbour it was given, and routes
    by it. has_routes: it was given routes; else it learns them."""
    tester = addresses.tester(port)
    neighbour = (
        f"ip neighbour replace {tester} lladdr {addresses.tester_mac(port)} dev {PORTS[port]} nud permanent"
    )
    if not has_routes:
        return [neighbour]
    if files:
        return [neighbour, f"ip -batch {files[port]}"]
    prefixes = addresses.networks_behind(port, ports)
    return [neighbour, *(f"ip route replace {prefix} via {tester}" for prefix in prefixes)]


@contextmanager
def route_files(routes: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Commands for `ip -batch` with the routes behind each port: one process for all of them."""
    with leftovers.own_folder("routes") as folder:
        files = []
        for port, prefixes in enumerate(routes):
            file = folder / f"routes-{port}"
            via = addresses.tester(port)
            file.write_text("".join(f"route replace {prefix} via {via}\n" for prefix in prefixes))
            files.append(str(file))
        yield tuple(files)


def _bridge(names: Sequence[str]) -> list[str]:
    return [
        "ip link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0",
        *(f"ip link set {name} master br0 up" for name in names),
        "ip link set br0 up",
    ]


def _xconnect(names: Sequence[str]) -> list[str]:
    return [*(f"ip link set {name} up" for name in names), *redirects()]


def redirects() -> list[str]:
    """Commands that pass frames from each port to the other."""
    lines = []
    for name, other in zip(PORTS[:2], reversed(PORTS[:2]), strict=True):
        lines += [
            f"tc qdisc add dev {name} ingress",
            f"tc filter add dev {name} parent ffff: protocol all prio 1 u32 match u32 0 0"
            f" action mirred egress redirect dev {other}",
        ]
    return lines


_SERVICES = {"bridge": _bridge, "xconnect": _xconnect}


def refusal_hint(said: str) -> str | None:
    """A hint for a refused command, from its message; None without one."""
    lowered = said.lower()
    if "unknown device type" in lowered or "not supported" in lowered:
        return "this kernel lacks a driver; try `sudo modprobe -a veth bridge cls_u32 act_mirred sch_ingress`"
    if "permitted" in lowered or "denied" in lowered:
        return "run as root; this process may not configure a network here"
    return None
