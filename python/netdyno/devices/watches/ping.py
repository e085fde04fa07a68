"""Pings one address again and again, beside the traffic, from the network namespace of the calling thread.

By ICMP (RFC 792) and ICMPv6 (RFC 4443 section 4).
"""

from __future__ import annotations

import errno
import ipaddress
import os
import select
import socket
import struct
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from netdyno.devices.live import Channel, InSeries
from netdyno.devices.watches import Ping
from netdyno.devices.watches.reasons import NoAnswer, PingNotSent
from netdyno.devices.wiring import LabError
from netdyno.values.breaks import PING
from netdyno.values.reason import Reason
from netdyno.values.sample import Absent, Sample

TOKEN = 16
"""Bytes of a payload that nobody can guess: an answer that repeats them is one to this series of pings."""
LONGEST = 65536
_PROTOCOLS = {4: socket.IPPROTO_ICMP, 6: socket.IPPROTO_ICMPV6}
_FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
LONGEST_WAIT_NS = 10**9
"""An answer is waited for no longer, so that the end of a trial need not wait for it."""


class PingInstrument(InSeries):
    """A series of pings. Its socket is open until `close`.

    Raises LabError: without the right to ping, or for an interface that is not there.
    """

    def __init__(self, ping: Ping, address: str) -> None:
        """address: of `ping.to`."""
        self._ping = ping
        self._address = ipaddress.ip_address(address)
        version = self._address.version
        self._socket, self._is_raw = open_socket(version)
        self._identifier = int.from_bytes(os.urandom(2), "big")
        self._token = os.urandom(TOKEN)
        self._sequence = -1
        self._next_ns = 0
        self._channel = Channel(ping.to, "round trip", "ns")
        if ping.interface:
            try:
                _bind(self._socket, ping)
            except LabError:
                self.close()
                raise

    @property
    def name(self) -> str:
        """The source of its series."""
        return PING

    @property
    def period_s(self) -> float:
        """Time left until the next ping is due, s: so the rhythm is the same while no answer comes."""
        return max(0.0, (self._next_ns - time.monotonic_ns()) / 1e9)

    def read(self, now: Callable[[], int]) -> Mapping[Channel, Sample]:
        """The round trip of a ping that is sent now, ns.

        None if no answer comes before the next one is due, or in a second.
        """
        every_ns = self._ping.every_ns
        asked_ns = now()
        # After a pause of this process it goes on in its rhythm, and makes up for nothing.
        is_late = asked_ns > self._next_ns + every_ns
        self._next_ns = (asked_ns if is_late else max(self._next_ns, asked_ns - every_ns)) + every_ns
        within_ns = min(every_ns, LONGEST_WAIT_NS)
        answered = self._exchange(now, asked_ns + within_ns, within_ns)
        if isinstance(answered, Reason):
            # Its time is that of sending: the answer never had one.
            return {self._channel: Sample(asked_ns, asked_ns, Absent(answered))}
        return {self._channel: Sample(asked_ns, answered, answered - asked_ns)}

    def close(self) -> None:
        """Closes the socket; a reading that waits ends without an answer."""
        with suppress(OSError):
            self._socket.close()

    def _exchange(self, now: Callable[[], int], deadline_ns: int, within_ns: int) -> int | Reason:
        """Sends the next ping. When its answer came; or why there is none."""
        self._sequence = (self._sequence + 1) % 2**16
        asked = Echo(self._identifier, self._sequence, self._token + self._sequence.to_bytes(8, "big"))
        version = self._address.version
        try:
            self._socket.sendto(encode_request(asked, version), (str(self._address), 0))
        except OSError as error:
            wait_s = (deadline_ns - now()) / 1e9
            time.sleep(max(wait_s, 0))
            return PingNotSent(errno.errorcode.get(error.errno or 0, "unknown"))
        while (left_ns := deadline_ns - now()) > 0:
            try:
                ready, _, _ = select.select([self._socket], [], [], left_ns / 1e9)
                if not ready:
                    continue
                frame, source = self._socket.recvfrom(LONGEST)
            except (OSError, ValueError):
                # Closed meanwhile, or an error that the network reported: no answer either way.
                time.sleep(0.001)
                continue
            came_ns = now()
            if source[0].partition("%")[0] == str(self._address) and self._is_answer(frame, asked):
                return came_ns
        return NoAnswer(within_ns)

    def _is_answer(self, frame: bytes, asked: Echo) -> bool:
        """Whether it answers this request. A late one, a duplicate and one to anybody else do not."""
        found = decode_reply(frame, self._address.version, has_ip=self._is_raw and self._address.version == 4)
        if found is None or (found.sequence, found.payload) != (asked.sequence, asked.payload):
            return False
        # Of a socket for pings alone the kernel chooses the identifier, and looks at it.
        return not self._is_raw or found.identifier == asked.identifier


def _bind(bound: socket.socket, ping: Ping) -> None:
    """Has pings leave by the interface of the plan. Raises LabError."""
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, ping.interface.encode() + b"\0")
    except OSError as error:
        message = f"pings to {ping.to} cannot leave by `{ping.interface}`: {error.strerror}"
        if error.errno == errno.ENODEV:
            hint = "give the `interface` of the ping as one of this machine: `netdyno ports` lists them"
            raise LabError(message, hint, code="no-such-interface") from error
        raise LabError(message, "run as root, or leave `interface` out", code="no-rights") from error


def open_socket(version: int) -> tuple[socket.socket, bool]:
    """A socket for pings, and whether it is a raw one. Raises LabError without the right to have either."""
    refused: OSError | None = None
    for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM):
        try:
            made = socket.socket(_FAMILIES[version], kind | socket.SOCK_CLOEXEC, _PROTOCOLS[version])
        except OSError as error:
            refused = error
            continue
        made.setblocking(False)
        return made, kind == socket.SOCK_RAW
    assert refused is not None
    raise LabError(
        f"this process may not ping: {refused.strerror}",
        'run as root, or allow pings: `sudo sysctl net.ipv4.ping_group_range="0 2147483647"`',
        code="no-rights",
    ) from refused


def await_answer(instrument: PingInstrument, ping: Ping, address: str, within_s: float) -> None:
    """Pings until one is answered. Raises LabError: what never answered cannot be watched."""
    deadline = time.monotonic() + within_s
    while True:
        (sample,) = instrument.read(time.monotonic_ns).values()
        if not isinstance(sample.value, Absent):
            return
        if time.monotonic() > deadline:
            name = ping.to if ping.to == address else f"{ping.to} ({address})"
            raise LabError(
                f"{name} answered no ping within {within_s:g} s, before any traffic. {sample.value.reason}",
                f"try `ping {address}` on this machine, or leave it out of `watch`",
                code="device-silent",
            )


REQUEST = {4: 8, 6: 128}
REPLY = {4: 0, 6: 129}
_HEADER = struct.Struct("!BBHHH")


@dataclass(frozen=True)
class Echo:
    """An echo message. identifier and sequence: 16 bits each."""

    identifier: int
    sequence: int
    payload: bytes


def encode_request(echo: Echo, version: int) -> bytes:
    """The request as it is handed to the kernel, which adds the checksum of ICMPv6 itself (RFC 3542
    section 3.1)."""
    head = (REQUEST[version], 0, 0, echo.identifier, echo.sequence)
    plain = _HEADER.pack(*head) + echo.payload
    if version == 6:
        return plain
    return _HEADER.pack(REQUEST[4], 0, checksum(plain), echo.identifier, echo.sequence) + echo.payload


def decode_reply(frame: bytes, version: int, *, has_ip: bool) -> Echo | None:
    """The reply in what a socket received; None: it is no whole, undamaged echo reply.

    has_ip: the IPv4 header stands before it, as of a raw socket. The kernel has checked ICMPv6.
    """
    if has_ip:
        # RFC 791: the header's length is in words of 32 bits.
        length = (frame[0] & 0x0F) * 4 if frame else 0
        if length < 20 or frame[0] >> 4 != 4:
            return None
        frame = frame[length:]
    if len(frame) < _HEADER.size:
        return None
    kind, code, _, identifier, sequence = _HEADER.unpack_from(frame)
    if kind != REPLY[version] or code != 0 or (version == 4 and checksum(frame)):
        return None
    return Echo(identifier, sequence, frame[_HEADER.size :])


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071); 0 over data that holds its own right one."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
