"""What XDP a driver can do, asked over generic netlink's family `netdev` (Linux 6.3)."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

from netdyno.ports.nic.netlink import attributes, dump

# linux/genetlink.h, linux/netdev.h
_NETLINK_GENERIC = 16
_CTRL, _GETFAMILY = 0x10, 3
_FAMILY_ID, _FAMILY_NAME = 1, 2
_DEV_GET = 1
_IFINDEX, _XDP_FEATURES = 1, 3
_BASIC, _REDIRECT, _ZERO_COPY = 1, 2, 8
_GENERIC_HEADER = 4


@dataclass(frozen=True)
class Features:
    """native: programs run in the driver and may redirect frames. zero_copy: AF_XDP without copying."""

    native: bool
    zero_copy: bool


def features() -> dict[int, Features]:
    """By index of the interface; empty if this kernel does not tell."""
    try:
        family = _family("netdev")
        if family is None:
            return {}
        answers = list(dump(family, family, struct.pack("=BBH", _DEV_GET, 1, 0), _NETLINK_GENERIC))
    except OSError:
        return {}
    found = {}
    for answer in answers:
        fields = attributes(answer[_GENERIC_HEADER:])
        if _IFINDEX in fields and _XDP_FEATURES in fields:
            (index,) = struct.unpack_from("=I", fields[_IFINDEX])
            (bits,) = struct.unpack_from("=Q", fields[_XDP_FEATURES])
            native = bits & (_BASIC | _REDIRECT) == _BASIC | _REDIRECT
            found[index] = Features(native, native and bool(bits & _ZERO_COPY))
    return found


def _family(name: str) -> int | None:
    for answer in dump(_CTRL, _CTRL, struct.pack("=BBH", _GETFAMILY, 1, 0), _NETLINK_GENERIC):
        fields = attributes(answer[_GENERIC_HEADER:])
        if fields.get(_FAMILY_NAME, b"").rstrip(b"\0").decode(errors="replace") == name:
            return int(struct.unpack_from("=H", fields[_FAMILY_ID])[0])
    return None


def socket_refusal() -> OSError | None:
    """Why an AF_XDP socket may not be opened; None: it may. Opens one and closes it."""
    try:
        socket.socket(_AF_XDP, socket.SOCK_RAW, 0).close()
    except OSError as error:
        return error
    return None


_AF_XDP = 44
