"""SNMP version 2c as a manager of one request needs it: GET, and its response (RFC 3416, RFC 1157 section 4).

BER (X.690) as SNMP uses it: definite lengths, numbers of 32 bits. What is read comes from a device:
everything that is not exactly what was to come is an error, of whatever length or depth it says it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PORT = 161
"""UDP port of agents (RFC 1157 section 4)."""

FIRST_ID = 0x4000_0000
"""Request ids have four bytes from here on, for the shortest encoding is the only right one."""

VERSION_2C = 1
MOST_BYTES = 65_507
"""Of a message: what a UDP datagram holds."""
MOST_BINDINGS = 64

_INTEGER, _STRING, _NULL, _OBJECT, _SEQUENCE = 0x02, 0x04, 0x05, 0x06, 0x30
_COUNTER32, _GAUGE32, _TIME_TICKS = 0x41, 0x42, 0x43
_GET, _RESPONSE = 0xA0, 0xA2
EXCEPTIONS = {0x80: "noSuchObject", 0x81: "noSuchInstance", 0x82: "endOfMibView"}
"""RFC 3416 section 3."""
KINDS = {_COUNTER32: "Counter32", _GAUGE32: "Gauge32", _TIME_TICKS: "TimeTicks"}
ERRORS = ("noError", "tooBig", "noSuchName", "badValue", "readOnly", "genErr")
"""RFC 3416 section 3, the first ones; further ones are those of requests to set."""


class BadMessageError(ValueError):
    """No SNMP response: why, a clause."""


@dataclass(frozen=True)
class Binding:
    """An object and what it is. kind: of KINDS or EXCEPTIONS, or the number of another tag."""

    name: tuple[int, ...]
    kind: str
    number: int | None


@dataclass(frozen=True)
class Response:
    """What an agent said."""

    community: bytes
    id: int
    error: int
    bindings: tuple[Binding, ...]


def get(community: bytes, names: Sequence[tuple[int, ...]]) -> tuple[bytes, int]:
    """A request for these objects with the id FIRST_ID, and where in it the four bytes of the id are."""
    bindings = b"".join(_wrap(_SEQUENCE, _wrap(_OBJECT, _encode(name)) + _wrap(_NULL, b"")) for name in names)
    number = FIRST_ID.to_bytes(4, "big")
    rest = _wrap(_INTEGER, b"\0") * 2 + _wrap(_SEQUENCE, bindings)
    request = _wrap(_GET, _wrap(_INTEGER, number) + rest)
    head = _wrap(_INTEGER, bytes([VERSION_2C])) + _wrap(_STRING, community)
    message = _wrap(_SEQUENCE, head + request)
    # From the end: what comes before depends on the community.
    return message, len(message) - len(rest) - len(number)


def read(message: bytes) -> Response:
    """The response in a datagram.

    Raises:
        BadMessageError: if it is anything else.
    """
    if len(message) > MOST_BYTES:
        raise BadMessageError("longer than a datagram can be")
    whole = _Reader(message)
    said = _Reader(whole.take(_SEQUENCE, "message"))
    whole.end("message")
    version = said.integer("version")
    if version != VERSION_2C:
        raise BadMessageError(f"version {version}, not {VERSION_2C} (2c)")
    community = said.take(_STRING, "community")
    pdu = _Reader(said.take(_RESPONSE, "response"))
    said.end("response")
    number, error = pdu.integer("request id"), pdu.integer("error status")
    pdu.integer("error index")
    listed = _Reader(pdu.take(_SEQUENCE, "bindings"))
    pdu.end("bindings")
    bindings = []
    while listed.left:
        one = _Reader(listed.take(_SEQUENCE, "binding"))
        name = _decode(one.take(_OBJECT, "object"))
        tag, value = one.any("value")
        one.end("value")
        bindings.append(Binding(name, *_value(tag, value)))
        if len(bindings) > MOST_BINDINGS:
            raise BadMessageError(f"an answer has more than {MOST_BINDINGS} objects, the most that is read")
    return Response(community, number, error, tuple(bindings))


def _value(tag: int, value: bytes) -> tuple[str, int | None]:
    if tag in EXCEPTIONS:
        if value:
            raise BadMessageError(f"{EXCEPTIONS[tag]} with a value")
        return EXCEPTIONS[tag], None
    if tag in KINDS:
        return KINDS[tag], _number(value, KINDS[tag], signed=False)
    return f"tag {tag:#04x}", None


def _number(value: bytes, what: str, *, signed: bool) -> int:
    """As few bytes as there may be, and no more than 32 bits."""
    if not value:
        raise BadMessageError(f"bad encoding: {what} has no bytes")
    # The first nine bits may not all be the same (X.690 section 8.3.2).
    if len(value) > 1 and (value[0], value[1] >> 7) in ((0, 0), (0xFF, 1)):
        raise BadMessageError(f"bad encoding: {what} is not in its shortest form")
    number = int.from_bytes(value, "big", signed=True)
    low, high = (-(2**31), 2**31) if signed else (0, 2**32)
    if not low <= number < high:
        raise BadMessageError(f"bad encoding: {what} has more than 32 bits")
    return number


class _Reader:
    """Reads values one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def end(self, after: str) -> None:
        if self.left:
            raise BadMessageError(f"{self.left} bytes behind the {after}")

    def integer(self, what: str) -> int:
        return _number(self.take(_INTEGER, what), f"the {what}", signed=True)

    def take(self, tag: int, what: str) -> bytes:
        found, value = self.any(what)
        if found != tag:
            raise BadMessageError(f"the {what} has tag {found:#04x}, not {tag:#04x}")
        return value

    def any(self, what: str) -> tuple[int, bytes]:
        if self.left < 2:
            raise BadMessageError(f"it ends before the {what}")
        tag, length = self._data[self._at], self._data[self._at + 1]
        begin = self._at + 2
        if length & 0x80:
            # Up to two bytes of length: a datagram is no longer. SNMP has none of indefinite length (0x80).
            more = length & 0x7F
            if more not in (1, 2) or self.left < 2 + more:
                raise BadMessageError(f"the {what} has no length that can be")
            length = int.from_bytes(self._data[begin : begin + more], "big")
            begin += more
        if begin + length > len(self._data):
            raise BadMessageError(f"the {what} goes beyond the end")
        self._at = begin + length
        return tag, self._data[begin : self._at]


def _wrap(tag: int, value: bytes) -> bytes:
    size = len(value)
    if size < 0x80:
        return bytes([tag, size]) + value
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + value


def _encode(name: tuple[int, ...]) -> bytes:
    """X.690 section 8.19: the first two numbers in one, each further one seven bits a byte."""
    found = bytearray()
    for number in (name[0] * 40 + name[1], *name[2:]):
        parts = [number & 0x7F]
        while number := number >> 7:
            parts.append(0x80 | (number & 0x7F))
        found += bytes(reversed(parts))
    return bytes(found)


def _decode(value: bytes) -> tuple[int, ...]:
    if not value or value[-1] & 0x80:
        raise BadMessageError("an object without an end")
    numbers, number = [], 0
    for byte in value:
        if number == 0 and byte == 0x80:
            raise BadMessageError("an object that is not in its shortest form")
        number = number << 7 | byte & 0x7F
        if number >= 2**32:
            raise BadMessageError("an object with a number of more than 32 bits")
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return (first, numbers[0] - 40 * first, *numbers[1:])
