"""An SNMPv2c agent in a thread, for answers that no real one gives: enough BER for GET and GETBULK."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

Oid = tuple[int, ...]
Value = tuple[int, bytes]
"""Tag and content."""

INTEGER, TEXT, NULL, OBJECT, SEQUENCE = 0x02, 0x04, 0x05, 0x06, 0x30
COUNTER, GAUGE, TICKS, COUNTER64 = 0x41, 0x42, 0x43, 0x46
NO_SUCH, END = (0x80, b""), (0x82, b"")
GET, GETBULK, RESPONSE = 0xA0, 0xA5, 0xA2


def tlv(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 128:
        return bytes((tag, size)) + content
    return bytes((tag, 0x82, size >> 8, size & 255)) + content


def whole(number: int, tag: int = INTEGER) -> Value:
    return tag, number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


def text(said: str) -> Value:
    return TEXT, said.encode()


def oid(numbers: Oid) -> Value:
    found = [bytes((numbers[0] * 40 + numbers[1],))]
    for number in numbers[2:]:
        part = [number & 127]
        while number := number >> 7:
            part.append(128 | number & 127)
        found.append(bytes(reversed(part)))
    return OBJECT, b"".join(found)


def parts(data: bytes) -> Iterator[Value]:
    while data:
        tag, size, at = data[0], data[1], 2
        if size & 128:
            at += size & 127
            size = int.from_bytes(data[2:at], "big")
        yield tag, data[at : at + size]
        data = data[at + size :]


def numbers_of(content: bytes) -> Oid:
    found, number = [content[0] // 40, content[0] % 40], 0
    for byte in content[1:]:
        number = number << 7 | byte & 127
        if not byte & 128:
            found.append(number)
            number = 0
    return tuple(found)


def parse(dotted: str) -> Oid:
    return tuple(map(int, dotted.split(".")))


@dataclass
class Request:
    """What was asked: the PDU's tag, its number, its objects, and how many rows of each."""

    tag: int
    number: bytes
    rows: int
    oids: list[Oid]
    head: bytes

    def answer(self, bindings: list[tuple[Oid, Value]], error: int = 0, number: bytes = b"") -> bytes:
        bound = b"".join(tlv(SEQUENCE, tlv(*oid(name)) + tlv(*value)) for name, value in bindings)
        begin = tlv(INTEGER, number or self.number) + tlv(*whole(error)) + tlv(*whole(0))
        return tlv(SEQUENCE, self.head + tlv(RESPONSE, begin + tlv(SEQUENCE, bound)))


def read(data: bytes) -> Request:
    ((_, message),) = parts(data)
    version, community, (tag, pdu) = parts(message)
    (_, number), _, (_, rows), (_, bound) = parts(pdu)
    oids = [numbers_of(next(parts(one))[1]) for _, one in parts(bound)]
    return Request(tag, number, int.from_bytes(rows, "big"), oids, tlv(*version) + tlv(*community))


@dataclass
class Agent:
    """Has these objects. spoil: what it sends instead of its answer; None: nothing."""

    objects: dict[str, Value]
    spoil: Callable[[Request, bytes], list[bytes]] | None = None
    port: int = 0
    asked: list[Request] = field(default_factory=list)

    def bindings(self, request: Request) -> list[tuple[Oid, Value]]:
        table: Mapping[Oid, Value] = {parse(name): value for name, value in self.objects.items()}
        if request.tag == GET:
            return [(one, table.get(one, NO_SUCH)) for one in request.oids]
        (begin,) = request.oids
        later = [(one, table[one]) for one in sorted(table) if one > begin][: request.rows]
        return later or [(begin, END)]

    def answers(self, data: bytes) -> list[bytes]:
        request = read(data)
        self.asked.append(request)
        found = request.answer(self.bindings(request))
        return [found] if self.spoil is None else self.spoil(request, found)


@contextmanager
def serving(agent: Agent) -> Iterator[Agent]:
    """The agent answers on a port of the loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(("127.0.0.1", 0))
        own.settimeout(0.05)
        agent.port = own.getsockname()[1]
        over = threading.Event()

        def serve() -> None:
            while not over.is_set():
                try:
                    data, sender = own.recvfrom(65535)
                except TimeoutError:
                    continue
                for one in agent.answers(data):
                    own.sendto(one, sender)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield agent
        finally:
            over.set()
            thread.join()
