"""Driver and speed of an interface, asked of the kernel as ethtool(8) does.

Through a socket, so the answer is that of the network namespace we are in; /sys shows the one it was
mounted in.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

# linux/sockios.h, linux/ethtool.h
SIOCETHTOOL = 0x8946
ETHTOOL_GDRVINFO = 0x03
ETHTOOL_GLINKSETTINGS = 0x4C
ETHTOOL_SRXCSUM, ETHTOOL_STXCSUM = 0x15, 0x17
_MERGING = (0x1F, 0x24, 0x2C)
"""ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO: segments that are cut or joined below TCP."""
SPEED_UNKNOWN = 0xFFFFFFFF
DUPLEX_HALF, DUPLEX_FULL = 0, 1
AUTONEG_ENABLE = 1

_DRVINFO_BYTES = 196
"""struct ethtool_drvinfo: command, driver (32 bytes), version (32), firmware (32), bus (32), ..."""
_LINK_BYTES = 48
"""struct ethtool_link_settings: command, speed in Mbit/s, 7 bytes, words in a mask (signed), ...; masks."""
_MASK_WORDS_AT = 15
_MOST_MASK_WORDS = 127

NO_LINE = frozenset(
    (
        # Software: frames go from memory to memory.
        *("veth", "tun", "dummy", "bridge", "macvlan", "macvtap", "ipvlan", "ipvtap", "vxlan", "geneve"),
        *("ifb", "vrf", "netkit", "nlmon", "wireguard", "openvswitch", "netdevsim", "vcan", "gre", "gretap"),
        *("bonding", "bond", "team", "802.1Q VLAN Support", "vlan", "macsec", "hsr", "batman-adv"),
        # Cards of a virtual machine that say a speed for form's sake.
        *("virtio_net", "vmxnet3", "hv_netvsc", "xen_netfront", "vif", "ena", "gve", "ibmveth"),
    )
)
"""Drivers of interfaces that hold frames to no rate of their own, whatever speed they tell."""


Ask: TypeAlias = Callable[[bytes], bytes | None]
"""Puts a request, a structure of linux/ethtool.h that begins with its command; the structure as filled in,
or None if the driver does not answer it."""


@dataclass(frozen=True)
class Card:
    """driver: its name, empty if the kernel knows none. bus: where the card sits, empty if on no bus.

    speed_bps: what the driver says, None if it does not know.
    """

    driver: str
    bus: str
    speed_bps: int | None
    firmware: str = ""
    full_duplex: bool | None = None
    negotiated: bool = False
    """Whether the speed was agreed on with the other end."""

    @property
    def has_line(self) -> bool:
        """Whether hardware enforces its rate: a card on a bus."""
        return bool(self.driver and self.bus) and self.driver not in NO_LINE


@contextmanager
def open_ethtool(interface: str) -> Iterator[Ask]:
    """Asks of one interface of this network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:

        def ask(request: bytes) -> bytes | None:
            answer = ctypes.create_string_buffer(request, len(request))
            # struct ifreq: the name, then a pointer in a union of 24 bytes.
            ifreq = struct.pack("16sP16x", interface.encode(), ctypes.addressof(answer))
            try:
                fcntl.ioctl(opened, SIOCETHTOOL, ifreq)
            except OSError:
                return None
            return answer.raw

        yield ask


def switch_offloads_off(interface: str) -> bool:
    """Has the kernel send and receive each segment as a frame, with its checksum; whether it takes that."""
    with open_ethtool(interface) as ask:
        for command in (*_MERGING, ETHTOOL_SRXCSUM):
            ask(struct.pack("II", command, 0))
        return ask(struct.pack("II", ETHTOOL_STXCSUM, 0)) is not None


def switch_merging_on(interface: str) -> None:
    """Has the kernel cut and join segments of TCP at an interface, as far as it can."""
    with open_ethtool(interface) as ask:
        for command in _MERGING:
            ask(struct.pack("II", command, 1))


def card(interface: str) -> Card:
    """The card behind an interface. What the kernel cannot tell is empty."""
    with open_ethtool(interface) as ask:
        return read_card(ask)


def read_card(ask: Ask) -> Card:
    """The card of an interface as `ask` answers for it."""
    reply = ask(struct.pack(f"I{_DRVINFO_BYTES - 4}x", ETHTOOL_GDRVINFO))
    driver, firmware, bus = (_text(reply[at : at + 32]) for at in (4, 68, 100)) if reply else ("", "", "")
    firmware, bus = ("" if field == "N/A" else field for field in (firmware, bus))
    link = _link_settings(ask)
    if link is None:
        return Card(driver, bus, None, firmware)
    megabits, duplex, negotiated = struct.unpack_from("IBxxB", link, 4)
    return Card(
        driver,
        bus,
        None if megabits in (0, SPEED_UNKNOWN) else megabits * 1_000_000,
        firmware,
        {DUPLEX_HALF: False, DUPLEX_FULL: True}.get(duplex),
        negotiated == AUTONEG_ENABLE,
    )


def _link_settings(ask: Ask) -> bytes | None:
    """Asked twice: the first answer has the length of the masks behind the settings, negated."""
    request = struct.pack(f"I{_LINK_BYTES - 4}x", ETHTOOL_GLINKSETTINGS)
    first = ask(request)
    if first is None:
        return None
    (words,) = struct.unpack_from("b", first, _MASK_WORDS_AT)
    if not 0 < -words <= _MOST_MASK_WORDS:
        return None
    request = struct.pack(f"I{_MASK_WORDS_AT - 4}xb{_LINK_BYTES - 16}x", ETHTOOL_GLINKSETTINGS, -words)
    # Three masks: supported, advertised, and what the partner advertises.
    return ask(request + bytes(3 * 4 * -words))


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode(errors="replace")
