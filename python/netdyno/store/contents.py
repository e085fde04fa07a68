"""What a record holds once, however often it refers to it: packed bodies, found by their hash."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Callable, Mapping
from typing import Any

MOST_BYTES = 1 << 28
"""Of one content unpacked: what 4,032 streams with a histogram each take, forty times over."""

LONG = 2048
"""Entries of a list from which on it is kept apart from the spec it is in: addresses, routes, filter rules.
A mix has fewer sizes."""
SPLIT_BYTES = 1 << 15
"""Length of a spec from which on lists are looked for in it."""

INSTEAD = "stored once"
"""The only key of what stands in a spec in place of a list: the list's hash, hexadecimal."""


class DamageError(ValueError):
    """A part of a record is not what was written. The message says which, without its case and trial."""


def hash_bytes(data: bytes) -> bytes:
    """The hash of stored bytes, 16 bytes."""
    return hashlib.blake2b(data, digest_size=16).digest()


def compress(text: str | bytes) -> bytes:
    """The text, compressed. ValueError if a reader would not take it."""
    data = text.encode() if isinstance(text, str) else text
    if len(data) > MOST_BYTES:
        raise ValueError(f"a body of {len(data)} bytes, and a reader takes {MOST_BYTES}")
    return zlib.compress(data, 1)


def decompress(data: bytes) -> bytes:
    """What `packed` was given. A record from elsewhere cannot make it unpack more than `MOST_BYTES`."""
    reader = zlib.decompressobj()
    found = reader.decompress(data, MOST_BYTES + 1)
    if len(found) > MOST_BYTES:
        raise ValueError(f"a body of more than {MOST_BYTES} bytes")
    if not reader.eof:
        raise ValueError("a body that is cut off")
    return found


class Contents:
    """The table `contents` of an open record."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def put(self, data: bytes) -> int:
        """The id of a content, which is stored unless it is there. Within the caller's transaction."""
        own = hash_bytes(data)
        found = self._connection.execute("SELECT id, data FROM contents WHERE hash = ?", (own,)).fetchone()
        if found is not None and found[1] != data:
            # What was stored is damaged: what refers to it from now on must not be.
            self._connection.execute("UPDATE contents SET data = ? WHERE id = ?", (data, found[0]))
        if found is None:
            sql = "INSERT INTO contents (hash, data) VALUES (?, ?) RETURNING id"
            found = self._connection.execute(sql, (own, data)).fetchone()
        return int(found[0])

    def put_spec(self, text: str) -> int:
        """The id of a spec, whose long lists are contents of their own."""
        return self.put(compress(split(text, self._put_list)))

    def _put_list(self, text: str) -> bytes:
        data = compress(text)
        self.put(data)
        return hash_bytes(data)

    def get(self, number: int, what: str) -> bytes:
        """A content as it was stored. DamageError that names it if it is another one or missing."""
        sql = "SELECT hash, data FROM contents WHERE id = ?"
        return self._check(self._connection.execute(sql, (number,)).fetchone(), what)

    def get_spec(self, number: int, what: str, *, with_lists: bool = True) -> str:
        """The text of a spec. with_lists: whether with its long lists; their hashes stand there otherwise."""
        text = decompress(self.get(number, what)).decode()
        return join(text, lambda own: self._list(own, what)) if with_lists else text

    def _list(self, own: bytes, what: str) -> bytes:
        sql = "SELECT hash, data FROM contents WHERE hash = ?"
        return self._check(self._connection.execute(sql, (own,)).fetchone(), f"a list of {what}")

    def _check(self, row: tuple[bytes, bytes] | None, what: str) -> bytes:
        if row is None:
            raise DamageError(f"{what} is missing")
        own, data = row
        if not isinstance(data, bytes) or hash_bytes(data) != own:
            raise DamageError(f"{what} changed")
        return data


def split(text: str, keep: Callable[[str], bytes]) -> str:
    """A spec with hashes in place of its long lists. keep: stores the text of a list, returns its hash.

    A spec that is short, no JSON, or written otherwise than `json.dumps` writes it stays as it is.
    """
    if len(text) < SPLIT_BYTES:
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return text
    if INSTEAD in text or json.dumps(found) != text:
        return text
    return json.dumps(_without_lists(found, keep))


def _without_lists(found: Any, keep: Callable[[str], bytes]) -> Any:
    if isinstance(found, dict):
        return {name: _without_lists(one, keep) for name, one in found.items()}
    if not isinstance(found, list):
        return found
    if len(found) >= LONG and _is_flat(found[0]):
        return {INSTEAD: keep(json.dumps(found)).hex()}
    return [_without_lists(one, keep) for one in found]


def _is_flat(entry: Any) -> bool:
    """Whether an entry of a list has no lists and mappings in it: streams have."""
    inner = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ()
    return not any(isinstance(one, dict | list) for one in inner)


def join(text: str, look_up: Callable[[bytes], bytes]) -> str:
    """The spec that `split` was given. look_up: a list, packed, by its hash. ValueError if it takes too much
    room."""
    if INSTEAD not in text:
        return text
    room = MOST_BYTES

    def with_lists(found: Any) -> Any:
        nonlocal room
        if isinstance(found, Mapping):
            if list(found) == [INSTEAD]:
                data = decompress(look_up(bytes.fromhex(str(found[INSTEAD]))))
                room -= len(data)
                if room < 0:
                    raise ValueError(f"a spec of more than {MOST_BYTES} bytes")
                return json.loads(data)
            return {name: with_lists(one) for name, one in found.items()}
        return [with_lists(one) for one in found] if isinstance(found, list) else found

    return json.dumps(with_lists(json.loads(text)))
