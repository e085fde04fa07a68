"""How a card is set up: queues, rings, RSS, coalescing, pause frames, offloads, after linux/ethtool.h.

What a driver does not answer is None or empty, never a guess.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from netdyno.ports.ethtool import Ask

# linux/ethtool.h
_GCOALESCE, _GRINGPARAM, _GPAUSEPARAM = 0x0E, 0x10, 0x12
_GSTRINGS, _GSSET_INFO, _GFEATURES = 0x1B, 0x37, 0x3A
_GRXFH, _GCHANNELS, _GRSSH = 0x29, 0x3C, 0x46
_STRING = 32
_MOST_STRINGS = 1 << 16
_SS_FEATURES = 4
_RXNFC_BYTES, _RXFH_BYTES = 192, 24
_MOST_RSS_BYTES = 1 << 20

_FLOWS = {"udp4": 0x02, "udp6": 0x06, "tcp4": 0x01, "tcp6": 0x05}
_HASHED = {
    2: "MAC destination",
    4: "VLAN",
    8: "protocol",
    16: "source address",
    32: "destination address",
    64: "source port",
    128: "destination port",
}


@dataclass(frozen=True)
class Ring:
    """Descriptors of a receive or transmit ring."""

    now: int
    most: int


@dataclass(frozen=True)
class Queues:
    """now, most: pairs of queues the card uses and could use; each with an interrupt of its own."""

    now: int
    most: int


@dataclass(frozen=True)
class Spreading:
    """Receive-side scaling: how frames are spread over the queues.

    table: entries of the indirection table. used: queues that are in it. key: of the hash, bytes as hex.
    fields: by kind of packet (`udp4`), what is hashed.
    """

    table: int
    used: int
    key: str
    fields: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Coalescing:
    """How long a card waits before it interrupts: time, us, and frames. adaptive: it decides by itself."""

    adaptive_rx: bool
    rx_us: int
    rx_frames: int


@dataclass(frozen=True)
class Pause:
    """Flow control by IEEE 802.3 pause frames: obeyed (rx), sent (tx). negotiated: as both ends agree."""

    rx: bool
    tx: bool
    negotiated: bool


@dataclass(frozen=True)
class Offload:
    """A feature of the card or of the kernel on its behalf. fixed: it cannot be switched."""

    on: bool
    fixed: bool


def queues(ask: Ask) -> Queues | None:
    """Of struct ethtool_channels: those that do both, or the lesser of the two kinds."""
    words = _words(ask, _GCHANNELS, 9)
    if words is None:
        return None
    most_rx, most_tx, _, most_both, rx, tx, _, both = words[1:]
    return Queues(both + min(rx, tx), max(most_both, min(most_rx, most_tx)))


def rings(ask: Ask) -> tuple[Ring, Ring] | None:
    """Receive and transmit."""
    words = _words(ask, _GRINGPARAM, 9)
    return None if words is None else (Ring(words[5], words[1]), Ring(words[8], words[4]))


def coalescing(ask: Ask) -> Coalescing | None:
    """Of struct ethtool_coalesce, 23 words."""
    words = _words(ask, _GCOALESCE, 23)
    return None if words is None else Coalescing(bool(words[10]), words[1], words[2])


def pause(ask: Ask) -> Pause | None:
    """Of struct ethtool_pauseparam."""
    words = _words(ask, _GPAUSEPARAM, 4)
    return None if words is None else Pause(bool(words[2]), bool(words[3]), bool(words[1]))


def spreading(ask: Ask) -> Spreading | None:
    """Of struct ethtool_rxfh, asked twice: the first answer says how long the table and the key are."""
    sizes = ask(struct.pack(f"I{_RXFH_BYTES - 4}x", _GRSSH))
    if sizes is None:
        return None
    entries, key = struct.unpack_from("II", sizes, 8)
    if not 0 < 4 * entries + key <= _MOST_RSS_BYTES:
        return None
    reply = ask(struct.pack("IIII8x", _GRSSH, 0, entries, key) + bytes(4 * entries + key))
    if reply is None:
        return None
    table = struct.unpack_from(f"{entries}I", reply, _RXFH_BYTES)
    first = _RXFH_BYTES + 4 * entries
    fields = {name: found for name, flow in _FLOWS.items() if (found := _hashed(ask, flow)) is not None}
    return Spreading(entries, len(set(table)), reply[first : first + key].hex(":"), fields)


def _hashed(ask: Ask, flow: int) -> tuple[str, ...] | None:
    reply = ask(struct.pack(f"II{_RXNFC_BYTES - 8}x", _GRXFH, flow))
    if reply is None:
        return None
    (bits,) = struct.unpack_from("Q", reply, 8)
    return tuple(name for bit, name in _HASHED.items() if bits & bit)


def offloads(ask: Ask) -> dict[str, Offload]:
    """Every feature by the kernel's name for it, as `ethtool --show-features` ends up with (`rx-gro`)."""
    names = strings(ask, _SS_FEATURES)
    blocks = (len(names) + 31) // 32
    reply = ask(struct.pack("II", _GFEATURES, blocks) + bytes(16 * blocks)) if names else None
    if reply is None:
        return {}
    found = {}
    for number, name in enumerate(names):
        # struct ethtool_get_features_block: available, requested, active, never changed.
        available, _, active, never = struct.unpack_from("4I", reply, 8 + 16 * (number // 32))
        bit = 1 << number % 32
        if name:
            found[name] = Offload(bool(active & bit), bool(never & bit) or not available & bit)
    return found


def strings(ask: Ask, which: int) -> list[str]:
    """A set of names the driver has, in order; empty if it has none."""
    info = ask(struct.pack("IIQI", _GSSET_INFO, 0, 1 << which, 0))
    if info is None:
        return []
    mask, count = struct.unpack_from("QI", info, 8)
    if not mask & 1 << which or not 0 < count <= _MOST_STRINGS:
        return []
    reply = ask(struct.pack("III", _GSTRINGS, which, count) + bytes(_STRING * count))
    if reply is None:
        return []
    return [
        reply[at : at + _STRING].partition(b"\0")[0].decode(errors="replace")
        for at in range(12, 12 + _STRING * count, _STRING)
    ]


def _words(ask: Ask, command: int, count: int) -> tuple[int, ...] | None:
    reply = ask(struct.pack(f"I{4 * (count - 1)}x", command))
    return None if reply is None else struct.unpack_from(f"{count}I", reply)
