"""The MTU of interfaces of this machine while a case runs, put back also if this process is killed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from netdyno.devices.linux.links import ip
from netdyno.devices.linux.put_back import PutBack
from netdyno.devices.wiring import LabError
from netdyno.ports import nic

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
    guard = PutBack("link", "set", "dev", interface, "mtu", str(card.link.mtu))
    try:
        ip(f"link set dev {interface} mtu {mtu}")
        if card.link.carrier:
            _await_carrier(interface)
        yield
    finally:
        is_back = guard.run()
    if not is_back:
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
