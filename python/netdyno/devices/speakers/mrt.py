"""A routing table that a route collector dumped: MRT (RFC 6396), read once and kept in the user's cache.

Of each prefix the first entry is taken: it is one that a router of the Internet had. What is announced lacks
communities that routers act on by themselves (65535:...), for a speaker would keep such a route to itself. It
has the members of an AS_SET one behind the other, for BIRD sends none.

`mrtparse` (2.2.0) decodes the entries of all peers: with 40 of them 1 ms a prefix, 16 min for 1,040,000;
the first ones take 5 s here. And it accepts an attribute that runs into the next entry.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import os
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import compress
from pathlib import Path
from struct import Struct
from typing import BinaryIO, NoReturn, cast

from netdyno.devices.speakers.table import (
    BITS,
    MARTIANS,
    Attributes,
    Routes,
    Table,
    pack_prefixes,
    spans_of,
)
from netdyno.devices.wiring import LabError

TABLE_DUMP_V2 = 13
SUBTYPES = {2: (4, False), 4: (6, False), 8: (4, True), 10: (6, True)}
"""Of unicast routes (4.3, RFC 8050): the IP version, and whether an entry has the number of a path."""
TYPES = frozenset((11, 12, 13, 16, 17, 32, 33, 48, 49))
"""All types of records (section 4), so that a file of another kind is known by its first one."""
MOST_BYTES = 2**24
"""A record has no more: entries of 65,535 peers of some hundred bytes each."""

_HEADER = Struct(">IHHI")
_U16, _U32 = Struct(">H"), Struct(">I")

VERSION = 1
"""Of the files in the cache; those of another one are not read."""

DEFAULT_ROUTE = "default routes"
SPECIAL = "prefixes of networks that the Internet does not route"
OF_LAB = "prefixes of networks of the lab"
LOOPED = "paths with an AS number of the session"
NO_NEXT_HOP = "IPv6 routes, without `next_hop_ipv6`"


def read_table(
    path: Path,
    seed: int = 1,
    avoid: Sequence[str] = (),
    avoid_as: Collection[int] = (),
    has_ipv6: bool = True,
) -> Table:
    """The routes of an MRT file (`.gz` and `.bz2` too), as `make_table` has them.

    Left out, and counted in `Table.left_out`: default routes, prefixes that overlap with networks that the
    Internet does not route or with those to avoid, paths with AS numbers to avoid, and IPv6 without has_ipv6.
    Raises LabError, `not-a-table` if the file is none, is damaged or ends early.
    """
    try:
        with path.open("rb") as file:
            key = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise LabError(f"{path.name} cannot be read: {error.strerror}", code="cannot-read") from error
    table = _cached(key)
    if table is None:
        table = _read(path)
        with suppress(OSError):  # A cache saves time alone.
            _keep(key, table)
    return _announced(table, seed, avoid, frozenset(avoid_as), has_ipv6)


def _announced(
    table: Table, seed: int, avoid: Sequence[str], avoid_as: frozenset[int], has_ipv6: bool
) -> Table:
    left_out: Counter[str] = Counter()
    is_looped = [not avoid_as.isdisjoint(one.path) for one in table.attributes]

    def part(routes: Routes) -> Routes:
        special = _Overlap(MARTIANS[routes.version], routes.version)
        labs = _Overlap(avoid, routes.version)

        def why_not(prefix: int, place: int) -> str:
            if routes.version == 6 and not has_ipv6:
                return NO_NEXT_HOP
            if not prefix & 255:
                return DEFAULT_ROUTE
            if special.has(prefix):
                return SPECIAL
            if labs.has(prefix):
                return OF_LAB
            return LOOPED if is_looped[place] else ""

        whys = [why_not(*one) for one in zip(routes.prefixes, routes.attributes, strict=True)]
        left_out.update(why for why in whys if why)
        wanted = [not why for why in whys]
        prefixes = compress(routes.prefixes, wanted)
        kinds = array("I", compress(routes.attributes, wanted))
        return Routes(routes.version, pack_prefixes(routes.version, prefixes), kinds)

    return Table(part(table.ipv4), part(table.ipv6), table.attributes, seed=seed, left_out=dict(left_out))


class _Overlap:
    """Networks, asked whether a prefix is inside or around one of them."""

    def __init__(self, networks: Sequence[str], version: int) -> None:
        self.bits = BITS[version]
        ends = 0
        self.starts: list[int] = []
        self.ends: list[int] = []
        for first, end in sorted(spans_of(networks, version)):
            ends = max(ends, end)
            self.starts.append(first)
            self.ends.append(ends)

    def has(self, prefix: int) -> bool:
        first = prefix >> 8
        place = bisect_left(self.starts, first + (1 << (self.bits - (prefix & 255)))) - 1
        return place >= 0 and self.ends[place] > first


# The file.


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        begin = file.read(3)
    if begin[:2] == b"\x1f\x8b":
        return cast(BinaryIO, gzip.open(path))
    return cast(BinaryIO, bz2.open(path) if begin == b"BZh" else path.open("rb"))


class _Reading:
    """A file that is read, and what was found in it so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.prefixes: dict[int, dict[int, int]] = {4: {}, 6: {}}
        self.sets: dict[Attributes, int] = {}
        self.known: dict[bytes, int] = {}
        """By the bytes of attributes: most come again and again."""

    def fail(self, what: str, hint: str, is_begun: bool = True) -> NoReturn:
        count = sum(map(len, self.prefixes.values()))
        read = f", after {count:,} routes" if is_begun else ""
        raise LabError(f"{self.path.name} {what}{read}", hint, code="not-a-table")

    def records(self) -> Iterator[tuple[int, int, bytes]]:
        """Type, subtype and body of each record."""
        again = "get the file again: it is not whole"
        other = "a dump of a routing table, as RIPE RIS (`bview`) and RouteViews (`rib`) publish them"
        is_begun = False
        try:
            with _open(self.path) as file:
                while header := file.read(_HEADER.size):
                    if len(header) < _HEADER.size:
                        self.fail("ends within a record", again, is_begun)
                    _, kind, subtype, length = _HEADER.unpack(header)
                    if kind not in TYPES or length > MOST_BYTES:
                        if not is_begun:
                            self.fail("is no MRT file", other, False)
                        self.fail("has a damaged record", again)
                    is_begun = True
                    body = file.read(length)
                    if len(body) < length:
                        self.fail("ends within a record", again)
                    yield kind, subtype, body
        except (EOFError, zlib.error, OSError) as error:
            self.fail(f"cannot be unpacked ({error})", again)
        if not is_begun:
            self.fail("is empty", other, False)

    def table(self) -> Table:
        """The first entry of each prefix."""
        kinds: Counter[int] = Counter()
        for kind, subtype, body in self.records():
            kinds[kind] += 1
            if kind == TABLE_DUMP_V2 and subtype in SUBTYPES:
                version, has_number = SUBTYPES[subtype]
                try:
                    self._entry(version, has_number, body)
                except (IndexError, ValueError, ArithmeticError):
                    self.fail("has a damaged record", "get the file again: it is not whole")
        if not any(self.prefixes.values()):
            found = ", ".join(f"{count:,} records of type {kind}" for kind, count in kinds.most_common(3))
            self.fail(
                f"has no table (TABLE_DUMP_V2) but {found}",
                "a dump of a routing table, as RIPE RIS (`bview`) and RouteViews (`rib`) publish them",
                False,
            )
        ipv4, ipv6 = (
            Routes(version, pack_prefixes(version, iter(found)), array("I", found.values()))
            for version, found in self.prefixes.items()
        )
        return Table(ipv4, ipv6, tuple(self.sets))

    def _entry(self, version: int, has_number: bool, body: bytes) -> None:
        """A record of a prefix (section 4.3.2)."""
        length = body[4]
        end = 5 + (length + 7) // 8
        bits = BITS[version]
        if length > bits or len(body) < end + 2:
            raise ValueError
        if body[end : end + 2] == b"\0\0":
            return
        address = int.from_bytes(body[5:end], "big") << bits - 8 * (end - 5)
        spare = bits - length
        prefix = address >> spare << spare + 8 | length
        # Peer, time, number of the path.
        place = end + 2 + 6 + 4 * has_number
        size = int.from_bytes(body[place : place + 2], "big")
        said = body[place + 2 : place + 2 + size]
        if len(said) < size or place + 2 > len(body):
            raise ValueError
        one = self.known.get(said)
        if one is None:
            found = attributes_of(said)
            one = self.known[said] = self.sets.setdefault(found, len(self.sets))
        self.prefixes[version].setdefault(prefix, one)


def attributes_of(said: bytes) -> Attributes:
    """Path attributes as a dump has them: AS numbers are of four bytes. IndexError or ValueError if cut."""
    path: tuple[int, ...] = ()
    origin, med = 0, None
    communities: list[tuple[int, int]] = []
    large: list[tuple[int, int, int]] = []
    place = 0
    while place < len(said):
        flags, kind = said[place], said[place + 1]
        wide = flags >> 4 & 1
        size = int.from_bytes(said[place + 2 : place + 3 + wide], "big")
        begin = place + 3 + wide
        place = begin + size
        if place > len(said):
            raise ValueError
        value = said[begin:place]
        if kind == ORIGIN:
            origin = min(value[0], 2)
        elif kind == AS_PATH:
            path = tuple(_as_path(value))
        elif kind == MED:
            med = int.from_bytes(value, "big")
        elif kind == COMMUNITIES:
            pairs = array("H", value)
            pairs.byteswap()
            communities += [one for one in zip(pairs[::2], pairs[1::2], strict=True) if one[0] != WELL_KNOWN]
        elif kind == LARGE:
            words = array("I", value)
            words.byteswap()
            large += zip(words[::3], words[1::3], words[2::3], strict=True)
    return Attributes(path, origin, med, tuple(dict.fromkeys(communities)), tuple(dict.fromkeys(large)))


ORIGIN, AS_PATH, MED, COMMUNITIES, LARGE = 1, 2, 4, 8, 32
"""Types of path attributes (IANA)."""
WELL_KNOWN = 65535
"""The AS number in front of communities that every router knows (RFC 1997)."""
SETS = (1, 2)
"""Segments of a path: AS_SET, AS_SEQUENCE. Others are of a confederation (RFC 5065)."""


def _as_path(value: bytes) -> Iterator[int]:
    place = 0
    while place < len(value):
        kind, count = value[place], value[place + 1]
        end = place + 2 + 4 * count
        if end > len(value):
            raise ValueError
        if kind in SETS:
            for one in range(place + 2, end, 4):
                yield int.from_bytes(value[one : one + 4], "big")
        place = end


# The cache.


def cache_folder() -> Path:
    """Where tables are kept: `netdyno/tables` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    # The specification of XDG folders: a relative path is ignored.
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "netdyno" / "tables"


def _keep(key: str, table: Table) -> None:
    """Stores a table: a line of JSON with the attributes, then the routes, packed."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    head = {
        "version": VERSION,
        "counts": [len(table.ipv4), len(table.ipv6)],
        "attributes": table.attributes,
    }
    body = b"".join(
        (
            array("Q", table.ipv4.prefixes).tobytes(),
            array("I", table.ipv4.attributes).tobytes(),
            b"".join(prefix.to_bytes(17, "big") for prefix in table.ipv6.prefixes),
            array("I", table.ipv6.attributes).tobytes(),
        )
    )
    new = folder / f"{key}.{os.getpid()}"
    with new.open("wb") as file:
        file.write(json.dumps(head).encode() + b"\n" + body)
    new.replace(folder / key)


def _cached(key: str) -> Table | None:
    """The table of a file of this hash; None: it was not read before, or what is kept is not whole."""
    try:
        line, _, body = (cache_folder() / key).read_bytes().partition(b"\n")
        head = json.loads(line)
        ipv4, ipv6 = head["counts"]
        if head["version"] != VERSION or len(body) != 12 * ipv4 + 21 * ipv6:
            return None
        attributes = [
            Attributes(tuple(path), origin, med, tuple(map(tuple, communities)), tuple(map(tuple, large)))
            for path, origin, med, communities, large in head["attributes"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    first, second = 8 * ipv4, 12 * ipv4
    third = second + 17 * ipv6
    wide = [int.from_bytes(body[place : place + 17], "big") for place in range(second, third, 17)]
    return Table(
        Routes(4, array("Q", body[:first]), array("I", body[first:second])),
        Routes(6, wide, array("I", body[third:])),
        attributes,
    )


def _read(path: Path) -> Table:
    return _Reading(path).table()
