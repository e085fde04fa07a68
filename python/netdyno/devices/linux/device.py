"""The device: a shell in a namespace of its own. Commands configure it; it ends with its standard input."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

from netdyno.devices.linux import namespaces
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


def await_success(device: Device, command: str, within_s: float, what: str) -> None:
    """Waits until a shell command inside succeeds. Raises LabError. what: what it waits for."""
    deadline = time.monotonic() + within_s
    while device.ask(command)[0] != 0:
        if time.monotonic() > deadline:
            raise LabError(f"the device has no {what} after {within_s:g} s", code="device-silent")
        time.sleep(0.02)


def isolate(device: Device, core: int | None, ports: int, queues: int = 1) -> DeviceNotIsolated | None:
    """Moves the device's work, of so many ports and queues of each, to one core; the failure, if it cannot.

    None: back to whichever core sends.

    Without it a veth's far end is worked by whoever sends into it, in the sender's own core, and
    overload shows as a slow tester and never as loss.
    """
    mask = f"{0 if core is None else 1 << core:x}".encode()
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


def refusal_hint(said: str) -> str | None:
    """A hint for a refused command, from its message; None without one."""
    lowered = said.lower()
    if "unknown device type" in lowered or "not supported" in lowered:
        return "this kernel lacks a driver; try `sudo modprobe -a veth bridge cls_u32 act_mirred sch_ingress`"
    if "permitted" in lowered or "denied" in lowered:
        return "run as root; this process may not configure a network here"
    return None
