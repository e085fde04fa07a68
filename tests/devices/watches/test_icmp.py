"""Echo messages as bytes. Truth: the examples of RFC 1071 and what a kernel writes."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netdyno.devices.watches.ping import Echo, checksum, decode_reply, encode_request

ECHO = Echo(0x1234, 7, b"payload-of-netdyno")


def reply(kind: int = 0, code: int = 0, echo: Echo = ECHO) -> bytes:
    plain = struct.pack("!BBHHH", kind, code, 0, echo.identifier, echo.sequence) + echo.payload
    return plain[:2] + checksum(plain).to_bytes(2, "big") + plain[4:]


IP = bytes([0x45]) + bytes(19)


def test_checksum_is_that_of_rfc_1071() -> None:
    """The sum in its section 3 is ddf2; the checksum is its complement."""
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF ^ 0xDDF2


def test_request_has_its_type_and_a_right_checksum() -> None:
    found = encode_request(ECHO, 4)
    assert (found[0], checksum(found), found[8:]) == (8, 0, ECHO.payload)
    assert encode_request(ECHO, 6)[:4] == bytes([128, 0, 0, 0])


def test_reply_is_read_with_and_without_an_ip_header() -> None:
    assert decode_reply(reply(), 4, has_ip=False) == ECHO
    assert decode_reply(IP + reply(), 4, has_ip=True) == ECHO
    longer = bytes([0x46]) + bytes(23)
    assert decode_reply(longer + reply(), 4, has_ip=True) == ECHO
    assert decode_reply(reply(129), 6, has_ip=False) == ECHO


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        IP,
        IP[:10],
        IP + reply()[:7],
        bytes([0x41]) + bytes(19) + reply(),
        bytes([0x4F]) + bytes(19) + reply(),
        bytes([0x65]) + bytes(19) + reply(),
        IP + reply(8),
        IP + reply(3, 1),
        IP + reply(0, 1),
        IP + reply()[:-1],
        IP + reply()[:-1] + b"\xff",
    ],
)
def test_frame_that_is_no_whole_reply_is_none(frame: bytes) -> None:
    assert decode_reply(frame, 4, has_ip=True) is None


@given(st.binary(max_size=100), st.sampled_from([(4, True), (4, False), (6, False)]))
def test_any_bytes_are_a_reply_or_none(frame: bytes, how: tuple[int, bool]) -> None:
    found = decode_reply(frame, how[0], has_ip=how[1])
    assert found is None or frame.endswith(found.payload)
