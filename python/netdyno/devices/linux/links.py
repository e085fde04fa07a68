"""Links of this machine's side of a lab, and the one that pings take."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from netdyno.devices import addresses
from netdyno.devices.linux import device as dut
from netdyno.devices.wiring import LabError

OURS, THEIRS = "w0", "w1"
"""Ends of the link that pings take, in this machine's namespace and in the device's."""


def ip(command: str, *within: str) -> str:
    """Runs `ip` in the namespace of the calling thread, or as another program does. What it prints.

    Raises LabError.
    """
    done = subprocess.run(
        [*within, dut.tool("ip"), *command.split()],
        capture_output=True,
        text=True,
        env={"PATH": dut.SEARCH, "LC_ALL": "C"},
    )
    if done.returncode != 0:
        said = done.stderr.strip()
        raise LabError(
            f"`ip {command}` said: {said or done.returncode}", dut.refusal_hint(said), code="command-failed"
        )
    return done.stdout


@contextmanager
def manage(device: dut.Device, behind: Iterable[str]) -> Iterator[None]:
    """A link by which this machine pings the device, and through it the addresses behind it."""
    theirs, ours = addresses.MANAGEMENT
    ip(f"link add {OURS} type veth peer name {THEIRS} netns {device.pid}")
    try:
        for line in (
            f"ip address add {theirs}/30 dev {THEIRS}",
            f"ip link set {THEIRS} up",
        ):
            device.do(line)
        ip(f"address add {ours}/30 dev {OURS}")
        ip(f"link set {OURS} up")
        for address in behind:
            ip(f"route add {address}/32 via {theirs}")
        yield
    finally:
        with suppress(LabError):
            ip(f"link delete {OURS}")
