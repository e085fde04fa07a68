"""Frames of slow protocols that members of a LAG exchange: LACPDUs and markers, bytes and back.

IEEE 802.1AX-2014 sections 6.4.2.3 (LACPDU) and 6.5.3.3 (Marker PDU); frames are without FCS.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from enum import IntFlag

GROUP = "01:80:c2:00:00:02"
ETHERTYPE = 0x8809
LACP, MARKER = 1, 2
"""Subtypes of slow protocols."""
VERSION = 1
REQUEST, RESPONSE = 1, 2
"""Types of a marker's TLV."""
ACTOR, PARTNER, COLLECTOR = (1, 20), (2, 20), (3, 16)
"""Type and length of the TLVs of a LACPDU, in this order."""

_INFO = struct.Struct("!H6sHHHB3x")
_HEAD = struct.Struct("!6s6sHBB")
_LACP_BYTES, _MARKER_BYTES = _HEAD.size + 108, _HEAD.size + 108
_MARKED = struct.Struct("!BBH6sI2x")


class State(IntFlag):
    """Bits of the state of an actor or a partner."""

    ACTIVE = 0x01
    SHORT_TIMEOUT = 0x02
    AGGREGATION = 0x04
    SYNCHRONIZATION = 0x08
    COLLECTING = 0x10
    DISTRIBUTING = 0x20
    DEFAULTED = 0x40
    EXPIRED = 0x80


_NOTHING = State(0)
CARRIES = State.SYNCHRONIZATION | State.COLLECTING | State.DISTRIBUTING
"""The state of a member that frames go over."""


@dataclass(frozen=True)
class Info:
    """What a LACPDU says of one end. system: a MAC address. All zero: nothing is known of it."""

    system: str = "00:00:00:00:00:00"
    key: int = 0
    port: int = 0
    state: State = _NOTHING
    system_priority: int = 0
    port_priority: int = 0

    @property
    def identity(self) -> tuple[object, ...]:
        """What both ends have to agree on (6.4.8, matched): all but the state, and its aggregation bit."""
        return (replace(self, state=State(0)), self.state & State.AGGREGATION)

    def encode(self) -> bytes:
        """The value of its TLV."""
        of_port = (self.key, self.port_priority, self.port)
        return _INFO.pack(self.system_priority, _mac(self.system), *of_port, self.state)

    @classmethod
    def decode(cls, data: bytes) -> Info:
        """From the value of its TLV."""
        system_priority, system, key, port_priority, port, state = _INFO.unpack(data)
        return cls(system.hex(":"), key, port, State(state), system_priority, port_priority)


@dataclass(frozen=True)
class Lacpdu:
    """What one end says of itself, and what it has heard of the other."""

    actor: Info
    partner: Info

    def encode(self, source: str) -> bytes:
        """The frame, 124 bytes. source: the MAC address of the member."""
        ends = ((ACTOR, self.actor), (PARTNER, self.partner))
        tlvs = b"".join(bytes(head) + info.encode() for head, info in ends)
        return (_head(source, LACP) + tlvs + bytes(COLLECTOR)).ljust(_LACP_BYTES, b"\0")


@dataclass(frozen=True)
class Marker:
    """A request to say that all frames before it have been received, or the answer to one."""

    kind: int
    port: int
    system: str
    transaction: int

    def encode(self, source: str) -> bytes:
        """The frame, 124 bytes. source: the MAC address of the member."""
        body = _MARKED.pack(self.kind, 16, self.port, _mac(self.system), self.transaction)
        return (_head(source, MARKER) + body).ljust(_MARKER_BYTES, b"\0")

    def answer(self) -> Marker:
        """What a collector answers: the same, as a response (6.5.4.2)."""
        return replace(self, kind=RESPONSE)


def decode(frame: bytes) -> Lacpdu | Marker | None:
    """What a frame without tags says; None: no LACPDU and no marker, or cut short.

    Of a LACPDU the version is not looked at: later ones begin as the first (6.4.2.3).
    """
    if len(frame) < _HEAD.size:
        return None
    _, _, kind, subtype, _ = _HEAD.unpack_from(frame)
    if kind != ETHERTYPE:
        return None
    body = frame[_HEAD.size :]
    if subtype == MARKER and len(body) >= _MARKED.size:
        tlv, length, port, system, transaction = _MARKED.unpack_from(body)
        is_marker = tlv in (REQUEST, RESPONSE) and length == 16
        return Marker(tlv, port, system.hex(":"), transaction) if is_marker else None
    first, second = ACTOR[1], ACTOR[1] + PARTNER[1]
    if subtype != LACP or len(body) < second:
        return None
    if (body[0], body[1]) != ACTOR or (body[first], body[first + 1]) != PARTNER:
        return None
    return Lacpdu(Info.decode(body[2:first]), Info.decode(body[first + 2 : second]))


def _head(source: str, subtype: int) -> bytes:
    return _HEAD.pack(_mac(GROUP), _mac(source), ETHERTYPE, subtype, VERSION)


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))
