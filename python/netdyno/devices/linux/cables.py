"""What the cables of a Linux lab carry: their MTU, and whether segments of TCP cross them joined."""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices.linux import device as dut
from netdyno.devices.linux import namespaces
from netdyno.ports.ethtool import switch_merging_on
from netdyno.values.load import OFFLOADS_ON, OFFLOADS_SETTING
from netdyno.values.rates import MTU_SETTING, mtu_of

SETTINGS: Mapping[str, tuple[str, ...]] = {MTU_SETTING: (), OFFLOADS_SETTING: ("off", OFFLOADS_ON)}
"""Of every Linux device. Without an `mtu` a cable takes frames of any size that it can."""
MTUS = range(576, 9199)
"""What every host must take (RFC 791 section 3.1), and the packet of the longest frame that netdyno sends."""


def read_mtu(settings: Mapping[str, str]) -> int | None:
    """The MTU that a plan asks for, bytes; None: it asks for none. ValueError if it cannot be."""
    found = mtu_of(settings)
    if MTU_SETTING in settings and found not in MTUS:
        text = settings[MTU_SETTING][:20]
        raise ValueError(f"`{MTU_SETTING}` is a number of {MTUS[0]} to {MTUS[-1]}, not `{text}`")
    return found


def set_offloads(device: dut.Device, settings: Mapping[str, str], ours: tuple[str, ...]) -> None:
    """Has the kernel cut and join segments at both ends of each cable, where the plan asks for that.

    Without it a veth joins nothing, and the tester's hosts send segments one by one (`hosts.as_hosts`).
    """
    if settings.get(OFFLOADS_SETTING) != OFFLOADS_ON:
        return
    for interface in ours:
        switch_merging_on(interface)
    with namespaces.within(device.pid):
        for interface in dut.PORTS[: len(ours)]:
            switch_merging_on(interface)
