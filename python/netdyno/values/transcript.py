"""What a device printed while a trial ran, word for word: the evidence for what was read of it."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

from netdyno.values.series import LIMIT

MOST_BYTES = 2**26
"""Of a transcript unpacked."""
OVERHEAD = 100
"""Bytes around the texts, at most."""
LEVEL = 6
"""Of zlib: texts of one command that stand beside each other take a tenth of their length."""


@dataclass(frozen=True)
class Said:
    """One text for one command, and when it was printed, ns from the begin of traffic, in order."""

    command: str
    text: str
    at_ns: tuple[int, ...]


@dataclass(frozen=True)
class Transcript:
    """The texts of a trial, those of one command together. left_out: texts that there was no room for."""

    texts: tuple[Said, ...] = ()
    left_out: int = 0

    def without_texts(self) -> Transcript:
        """Only how many texts there were."""
        return Transcript(left_out=self.left_out + sum(len(one.at_ns) for one in self.texts))

    def pack(self) -> bytes:
        """It as a record has it: zlib of JSON. Texts beyond `MOST_BYTES` are left out and counted."""
        entries, left_out, room = list[bytes](), self.left_out, MOST_BYTES - OVERHEAD
        for one in self.texts:
            entry = _json([one.command, one.text, list(one.at_ns)])
            if len(entry) < room:
                room -= len(entry) + 1
                entries.append(entry)
            else:
                left_out += len(one.at_ns)
        return zlib.compress(b'{"left_out":%d,"texts":[%s]}' % (left_out, b",".join(entries)), LEVEL)

    @classmethod
    def unpack(cls, data: bytes) -> Transcript:
        """What `pack` wrote. Raises ValueError for everything else."""
        reader = zlib.decompressobj()
        try:
            found = reader.decompress(data, MOST_BYTES)
        except zlib.error as error:
            raise ValueError(f"a transcript that cannot be unpacked: {error}") from error
        if not reader.eof:
            raise ValueError(f"a transcript that is cut off, or of more than {MOST_BYTES} bytes")
        read = json.loads(found)
        if not isinstance(read, dict) or read.keys() != {"left_out", "texts"}:
            raise ValueError("a transcript without texts")
        if not _is_count(read["left_out"]) or not isinstance(read["texts"], list):
            raise ValueError("a transcript whose texts are not listed")
        return cls(tuple(map(_said, read["texts"])), read["left_out"])


def size(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text.encode(errors="replace"))


def _json(value: Any) -> bytes:
    # No report could write half a surrogate pair: `?` stands for it.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def _said(entry: Any) -> Said:
    if not isinstance(entry, list) or len(entry) != 3:
        raise ValueError("a text without its command and times")
    command, text, at_ns = entry
    if not isinstance(command, str) or not isinstance(text, str) or not isinstance(at_ns, list):
        raise ValueError("a text without its command and times")
    if not all(type(one) is int and -LIMIT <= one < LIMIT for one in at_ns):
        raise ValueError("a text at times that are none")
    for one in (command, text):
        # Halves of surrogate pairs, which JSON can have and no report can write: ValueError.
        one.encode()
    return Said(command, text, tuple(at_ns))


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < LIMIT
