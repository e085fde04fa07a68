"""Bytes changed at random, for whatever reads what strangers send."""

from __future__ import annotations

import random

PARTS = [
    b"",
    b"\0",
    b"\xff",
    b"null",
    b"-1",
    b"1e999",
    b'"1/0"',
    b'"1e999999999"',
    b"[" * 3000,
    b"{}",
    b"\xed\xa0\x80",
]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one to eight changes; in the first 8 kB, where the schema is, as often as elsewhere."""
    changed = bytearray(data)
    reach = chance.choice((100, 8192, len(data), len(data)))
    for _ in range(chance.choice((1, 1, 2, 8))):
        at = chance.randrange(min(reach, len(changed)) or 1)
        match chance.randrange(4):
            case 0:
                changed[at : at + 1] = bytes([chance.choice((0, 255, chance.randrange(256)))])
            case 1 if at < len(changed):
                changed[at] ^= 1 << chance.randrange(8)
            case 2:
                part = chance.choice(PARTS)
                changed[at : at + len(part)] = part
            case _ if chance.random() < 0.1:
                del changed[at:]
                changed += b"\0"
    return bytes(changed)
