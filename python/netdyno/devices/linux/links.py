"""Links of this machine's side of a lab, and the one that pings take."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from netdyno.devices import addresses
from netdyno.devices.linux import device as dut
from netdyno.devices.linux import neighbour
from netdyno.devices.wiring import LabError


def ip(command: str) -> None:
    """Runs `ip` in the namespace of the calling thread. Raises LabError."""
    done = subprocess.run(
        [dut.tool("ip"), *command.split()],
        capture_output=True,
        text=True,
        env={"PATH": dut.SEARCH, "LC_ALL": "C"},
    )
    if done.returncode != 0:
        said = done.stderr.strip()
        raise LabError(
            f"`ip {command}` said: {said or done.returncode}", dut.refusal_hint(said), code="command-failed"
        )


@contextmanager
def manage(device: dut.Device, *, has_neighbour: bool) -> Iterator[None]:
    """A link by which this machine pings the device, and through it its neighbour."""
    theirs, ours = addresses.MANAGEMENT
    ip(f"link add {neighbour.OURS} type veth peer name {neighbour.THEIRS} netns {device.pid}")
    try:
        for line in (
            f"ip address add {theirs}/30 dev {neighbour.THEIRS}",
            f"ip link set {neighbour.THEIRS} up",
        ):
            device.do(line)
        ip(f"address add {ours}/30 dev {neighbour.OURS}")
        ip(f"link set {neighbour.OURS} up")
        if has_neighbour:
            ip(f"route add {addresses.NEIGHBOUR}/32 via {theirs}")
        yield
    finally:
        with suppress(LabError):
            ip(f"link delete {neighbour.OURS}")
