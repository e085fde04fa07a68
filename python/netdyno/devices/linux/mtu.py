"""The MTU of interfaces of this machine while a case runs, put back also if this process is killed."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from netdyno.devices.linux.links import ip
from netdyno.devices.linux.programs import SEARCH, tool
from netdyno.devices.wiring import LabError
from netdyno.ports import nic

RESTORE = """read -r _
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  ip link set dev "$1" mtu "$2" && exit 0
  sleep 0.1
done
exit 1"""
"""Waits for the end of its input, then restores; an interface that is a host's comes back a moment later."""
CARRIER_S = 10.0
"""A card may take its link down for a new MTU."""


@contextmanager
def with_mtu(interfaces: Iterable[str], mtu: int) -> Iterator[None]:
    """Interfaces of this network namespace with an MTU, bytes, and with their own again afterwards.

    Raises LabError.
    """
    with ExitStack() as changed:
        for interface in interfaces:
            changed.enter_context(_changed(interface, mtu))
        yield


@contextmanager
def _changed(interface: str, mtu: int) -> Iterator[None]:
    card = nic.read(interface)
    if card is None or card.link.mtu == mtu:
        yield
        return
    # A session of its own, so that a Ctrl-C in the terminal leaves it alone.
    guard = subprocess.Popen(
        [tool("sh"), "-c", RESTORE, "sh", interface, str(card.link.mtu)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": SEARCH, "LC_ALL": "C"},
        start_new_session=True,
    )
    try:
        ip(f"link set dev {interface} mtu {mtu}")
        if card.link.carrier:
            _await_carrier(interface)
        yield
    finally:
        guard.communicate()
    if guard.returncode:
        raise LabError(
            f"the MTU of `{interface}` could not be set back",
            f"ip link set dev {interface} mtu {card.link.mtu}",
            code="command-failed",
        )
    if card.link.carrier:
        _await_carrier(interface)


def _await_carrier(interface: str) -> None:
    deadline = time.monotonic() + CARRIER_S
    while (card := nic.read(interface)) is not None and not card.link.carrier:
        if time.monotonic() > deadline:
            raise LabError(f"`{interface}` has no carrier since its MTU was set", code="interface-unfit")
        time.sleep(0.05)
