"""Packets as stacks of layers, each a list of fields, with the defaults that Scapy's have."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterator
from typing import Any, ClassVar


class Refused(Exception):  # noqa: N818
    """Something of T-Rex or Scapy that is not here. name: what a profile calls it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Field:
    """A field of a header: its name, its default and its width in bits, a multiple of 8 in most."""

    bits = 8

    def __init__(self, name: str, default: Any, *_: Any) -> None:
        self.name, self.default = name, default

    def number(self, value: Any) -> int:
        """A value as the number in the packet."""
        return int(value or 0)

    def value(self, number: int) -> Any:
        """The number in a packet as a value."""
        return number


class ByteField(Field):
    """1 byte."""


class ShortField(Field):
    """2 bytes."""

    bits = 16


class ThreeBytesField(Field):
    """3 bytes."""

    bits = 24


class IntField(Field):
    """4 bytes."""

    bits = 32


class LongField(Field):
    """8 bytes."""

    bits = 64


class BitField(Field):
    """As many bits as it says."""

    def __init__(self, name: str, default: Any, size: int, *_: Any) -> None:
        super().__init__(name, default)
        self.bits = size


class FlagsField(BitField):
    """Bits with names, the lowest first: a number, or the letters of those that are set."""

    def __init__(self, name: str, default: Any, size: int, names: Any = "") -> None:
        super().__init__(name, default, size)
        self.names = list(names)

    def number(self, value: Any) -> int:
        """Letters as their bits."""
        if isinstance(value, str):
            return sum(1 << self.names.index(one) for one in (value.split("+") if "+" in value else value))
        return int(value or 0)


class NamedField(ByteField):
    """A number that may have a name."""

    def __init__(self, name: str, default: Any, names: dict[str, int] | None = None, *_: Any) -> None:
        super().__init__(name, default)
        self.names = names if isinstance(names, dict) else {}

    def number(self, value: Any) -> int:
        """A name as its number."""
        return self.names[value.lower()] if isinstance(value, str) else int(value or 0)


class MACField(Field):
    """A MAC address as text."""

    bits = 48

    def number(self, value: Any) -> int:
        """`02:00:..` as a number."""
        if isinstance(value, bytes):
            return int.from_bytes(value, "big")
        return int(str(value).replace(":", "").replace("-", ""), 16)

    def value(self, number: int) -> Any:
        """The address as text."""
        return number.to_bytes(6, "big").hex(":")


class IPField(Field):
    """An IPv4 address as text."""

    bits = 32

    def number(self, value: Any) -> int:
        """The address as a number."""
        return int(ipaddress.IPv4Address(value))

    def value(self, number: int) -> Any:
        """The address as text."""
        return str(ipaddress.IPv4Address(number))


class IP6Field(Field):
    """An IPv6 address as text."""

    bits = 128

    def number(self, value: Any) -> int:
        """The address as a number."""
        return int(ipaddress.IPv6Address(value))

    def value(self, number: int) -> Any:
        """The address as text."""
        return str(ipaddress.IPv6Address(number))


class StrField(Field):
    """Bytes to the end of the packet, or those of options."""

    bits = 0


def as_bytes(value: Any) -> bytes:
    """The bytes of text, of bytes, of a packet or of a list of these."""
    if isinstance(value, str):
        return value.encode("latin-1")
    if isinstance(value, list | tuple):
        return b"".join(map(as_bytes, value))
    return bytes(value or b"")


def ones_sum(data: bytes) -> int:
    """The Internet checksum (RFC 1071) of bytes."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return int(~total & 0xFFFF)


class Packet:
    """A header and what is behind it. Values that are not given are computed or have their defaults."""

    name: ClassVar[str] = ""
    fields_desc: ClassVar[list[Field]] = []
    above: ClassVar[list[tuple[type[Packet], type[Packet], dict[str, Any]]]] = []
    """What may follow: a layer, what is behind it, and the values that say so."""
    fields: dict[str, Any]
    payload: Any
    underlayer: Packet | None
    is_read: bool
    """Whether it is made of bytes."""

    def __init__(self, _raw: Any = b"", /, **fields: Any) -> None:
        own: dict[str, Any] = {"fields": {}, "payload": None, "underlayer": None, "is_read": bool(_raw)}
        self.__dict__.update(own)
        known = {field.name for field in self.fields_desc}
        for name in fields:
            if name not in known:
                raise Refused(f"{type(self).__name__}.{name}")
        self.fields.update(fields)
        if _raw:
            # What is read counts, as in Scapy.
            self._dissect(as_bytes(_raw))

    # Building.

    def computed(self, header: bytes, behind: bytes) -> bytes:
        """The header with its lengths and checksums. behind: the bytes of the payload."""
        return header

    def given(self, name: str) -> Any:
        """A value: as given, as what follows wants it, or the default."""
        if name in self.fields:
            return self.fields[name]
        follows = self.payload
        for lower, upper, values in reversed(self.above):
            if name in values and isinstance(self, lower) and isinstance(follows, upper):
                return values[name]
        return next(field.default for field in self.fields_desc if field.name == name)

    def header(self) -> bytes:
        """Its own bytes, before lengths and checksums are computed."""
        found, number, bits = b"", 0, 0
        for field in self.fields_desc:
            value = self.given(field.name)
            if not field.bits:
                found += as_bytes(value)
                continue
            number = number << field.bits | field.number(value) & (1 << field.bits) - 1
            bits += field.bits
            if bits % 8 == 0:
                found, number, bits = found + number.to_bytes(bits // 8, "big"), 0, 0
        return found

    def build(self) -> bytes:
        """The bytes of the packet."""
        if self.payload is not None:
            self.payload.underlayer = self
        behind = b"" if self.payload is None else self.payload.build()
        return self.computed(self.header(), behind) + behind

    def __bytes__(self) -> bytes:
        return self.build()

    def __len__(self) -> int:
        return len(self.build())

    def __bool__(self) -> bool:
        return True

    # Stacking.

    def copy(self) -> Packet:
        """A copy that shares nothing with it."""
        found = type(self)()
        found.fields.update(self.fields)
        found.is_read = self.is_read
        if self.payload is not None:
            found.payload = self.payload.copy()
        return found

    def add_payload(self, other: Any) -> None:
        """Puts a packet, text or bytes behind the last layer."""
        last = list(self.layers())[-1]
        last.__dict__["payload"] = other.copy() if isinstance(other, Packet) else plain(other)

    def __truediv__(self, other: Any) -> Packet:
        if not isinstance(other, Packet | str | bytes | bytearray):
            return NotImplemented
        found = self.copy()
        found.add_payload(other)
        return found

    def __rtruediv__(self, other: Any) -> Packet:
        found: Packet = plain(other) / self
        return found

    # Looking.

    def layers(self) -> Iterator[Packet]:
        """Its layers, outermost first."""
        layer: Packet | None = self
        while layer is not None:
            yield layer
            layer = layer.payload

    def getlayer(self, what: Any, count: int = 1) -> Packet | None:
        """The n-th layer of a class or a name, or the layer at a place."""
        if isinstance(what, slice):
            what, count = what.start, what.stop or 1
        if isinstance(what, int):
            found = list(self.layers())
            return found[what] if what < len(found) else None
        met = [one for one in self.layers() if what in (type(one), type(one).__name__, one.name)]
        return met[count - 1] if len(met) >= count else None

    def haslayer(self, what: Any) -> bool:
        """Whether it has such a layer."""
        return self.getlayer(what) is not None

    __contains__ = haslayer

    def __getitem__(self, what: Any) -> Packet:
        found = self.getlayer(what)
        if found is None:
            raise IndexError(f"no layer {what}")
        return found

    def lastlayer(self) -> Packet:
        """The innermost layer."""
        return list(self.layers())[-1]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for layer in self.layers():
            if any(field.name == name for field in layer.fields_desc):
                return layer.given(name)
        raise Refused(f"{type(self).__name__}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__:
            self.__dict__[name] = value
            return
        for layer in self.layers():
            if any(field.name == name for field in layer.fields_desc):
                layer.fields[name] = value
                return
        raise Refused(f"{type(self).__name__}.{name}")

    def __delattr__(self, name: str) -> None:
        self.fields.pop(name, None)

    def remove_payload(self) -> None:
        """Takes away what is behind it."""
        self.__dict__["payload"] = None

    def show(self, *_: Any, **__: Any) -> None:
        """Prints nothing here."""

    show2 = summary = hexdump = show

    # Reading.

    def _dissect(self, raw: bytes) -> None:
        place, group, bits = 0, [], 0
        for field in self.fields_desc:
            if not field.bits:
                end = place + self.room(raw)
                self.fields[field.name] = raw[place:end]
                place = end
                continue
            group.append(field)
            bits += field.bits
            if bits % 8 == 0:
                number = int.from_bytes(raw[place : place + bits // 8], "big")
                for one in reversed(group):
                    self.fields[one.name] = one.value(number & (1 << one.bits) - 1)
                    number >>= one.bits
                place, group, bits = place + bits // 8, [], 0
        behind, padding = raw[place : self.end(raw)], raw[self.end(raw) :]
        if behind:
            self.__dict__["payload"] = self._follows()(behind)
        if padding:
            list(self.layers())[-1].__dict__["payload"] = PADDING[0](padding)

    def room(self, raw: bytes) -> int:
        """Bytes of a field without a width of its own, when it is read."""
        return len(raw)

    def end(self, raw: bytes) -> int:
        """Where its payload ends; behind that is padding."""
        return len(raw)

    def _follows(self) -> type[Packet]:
        found: list[type[Packet]] = []
        for lower, upper, values in self.above:
            told = all(self.fields.get(name) == value for name, value in values.items())
            if isinstance(self, lower) and told:
                # What is bound later, and what a value says, comes first.
                found.insert(0 if values or not found else len(found), upper)
        return [*found, *RAW][0]


RAW: list[type[Packet]] = []
"""The class of plain bytes, once it is defined."""
PADDING: list[type[Packet]] = []
"""The class of bytes behind the end of a packet."""


def plain(data: Any) -> Packet:
    """Text or bytes as a layer."""
    return RAW[0](load=as_bytes(data))


def bind_layers(lower: type[Packet], upper: type[Packet], fields: Any = None, **values: Any) -> None:
    """Says which values of a layer announce which other."""
    Packet.above.append((lower, upper, {**(fields or {}), **values}))
