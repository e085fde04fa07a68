"""The lab of a plan, understood: the tester, the device under test, and the links between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from netdyno.devices.wiring import Hosts
from netdyno.ports.threads import Threads

if TYPE_CHECKING:
    from netdyno.devices.access import Access
    from netdyno.devices.wiring import LabLink
    from netdyno.values.trunk import Trunk


@dataclass(frozen=True)
class Lab:
    """One tester, one device.

    tester, device: names of the nodes. kind: of the device, a key of `labs.KINDS`. settings: of the
    device in every case, before the matrix. links: in the plan's order; the first one is where
    direction `uni` sends, of three or more each sends to the next. threads: the tester's.
    """

    tester: str
    device: str
    kind: str
    settings: Mapping[str, str]
    links: tuple[LabLink, ...]
    driver: str = ""
    """What reaches the device beside the traffic, a key of `devices.DRIVERS`; empty: nothing."""
    access: Access | None = None
    configuration: str = ""
    trunk: Trunk | None = None
    """A line inside the device, its near ports by their number in `links`; None: none is declared."""
    licence_bps: int | None = None
    """What it is licensed to pass; None: nothing is declared."""
    threads: Threads = field(default_factory=Threads)
    hosts: Hosts | None = None
    """Generator hosts; None: all ports are this host's."""
