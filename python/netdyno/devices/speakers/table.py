"""The routes that a speaker announces: a table as diverse as the Internet's, and BIRD's words for it.

How many prefixes have each length, and how many of them lie inside others, was counted in a full table of
December 2023, of an Internet router (`testdata/prefixes.txt.gz` of github.com/gaissmai/iprbench: 901,899 IPv4
and 160,147 IPv6 prefixes). Numbers of ASes and the mean length of paths are those of APNIC's routing table
report (thyme.apnic.net: 1,059,904 prefixes of 78,800 ASes, 27,539 of which announce one; 4.7 ASes a path).
How many routes share all their attributes is no published number: here seven.
"""

from __future__ import annotations

import ipaddress
import random
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain, compress, repeat, takewhile
from pathlib import Path
from socket import AF_INET, AF_INET6, inet_ntop
from typing import NamedTuple

from netdyno.devices.speakers.bird import TABLES

LENGTHS: Mapping[int, Mapping[int, tuple[int, int]]] = {
    4: {
        **{8: (16, 0), 9: (13, 31), 10: (38, 0), 11: (103, 4), 12: (299, 10), 13: (581, 17)},
        **{14: (1203, 15), 15: (2100, 22), 16: (13490, 24), 17: (8235, 46), 18: (13798, 50)},
        **{19: (24870, 39), 20: (42611, 54), 21: (50750, 55), 22: (108623, 45), 23: (96510, 57)},
        **{24: (537698, 51)},
    },
    6: {
        **{19: (1, 0), 20: (16, 0), 21: (3, 0), 22: (7, 0), 23: (8, 0), 24: (30, 10), 25: (8, 12)},
        **{26: (15, 0), 27: (20, 10), 28: (193, 44), 29: (4371, 1), 30: (650, 44), 31: (284, 46)},
        **{32: (22548, 25), 33: (2926, 81), 34: (2603, 72), 35: (1043, 62), 36: (5996, 57)},
        **{37: (880, 75), 38: (1617, 52), 39: (1377, 82), 40: (13418, 76), 41: (903, 53)},
        **{42: (2301, 80), 43: (1001, 43), 44: (14365, 72), 45: (1553, 82), 46: (3039, 53)},
        **{47: (3153, 79), 48: (75488, 59)},
    },
}
"""By IP version and length: prefixes of that table, and the percentage of them that lie inside others."""

AGGREGATES: Mapping[int, Mapping[int, int]] = {
    4: {
        **{8: 16, 9: 10, 10: 6, 11: 13, 12: 20, 13: 19, 14: 27, 15: 38, 16: 149, 17: 63, 18: 74},
        **{19: 122, 20: 114, 21: 84, 22: 132, 23: 112},
    },
    6: {
        **{20: 6, 24: 21, 28: 5, 29: 154, 30: 9, 31: 6, 32: 399, 33: 15, 34: 23, 36: 48, 37: 7},
        **{40: 139, 42: 42, 43: 18, 44: 58, 45: 7, 47: 31},
    },
}
"""How long the prefix is that the longest ones of that table lie in, of a thousand."""

DIVIDED = 4
"""One in so many prefixes has others inside it; of the table, 24 % of those that are shorter than /24."""

WITHIN: Mapping[int, tuple[str, ...]] = {
    4: ("0.0.0.0/0",),
    6: ("2400::/12", "2600::/12", "2800::/12", "2a00::/12", "2c00::/12"),
}
"""Where prefixes are drawn from. IPv6: what IANA gave to the five registries."""

MARTIANS: Mapping[int, tuple[str, ...]] = {
    4: (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"),
    ),
    6: (
        *("::/3", "4000::/2", "8000::/1", "2001::/32", "2001:2::/48", "2001:10::/28", "2001:20::/28"),
        *("2001:db8::/32", "2002::/16", "3fff::/20"),
    ),
}
"""Networks that no router of the Internet announces (RFC 6890 and its registries)."""

BITS: Mapping[int, int] = {4: 32, 6: 128}
_FAMILY = {4: AF_INET, 6: AF_INET6}

ROUTES_AN_AS = 13.45
"""Prefixes that an AS announces in the mean."""
SPREAD = 2.1
"""Of the logarithm of that number: 36 % of all ASes announce one, the largest of 75,000 some thousands."""
OF_BOTH = 0.45
"""The ASes that announce IPv6 too."""
HOPS: Mapping[int, int] = {1: 3, 2: 20, 3: 40, 4: 26, 5: 8, 6: 2, 7: 1}
"""ASes in a path behind the speaker's own, prepended ones not counted, of a hundred."""
TRANSIT = 0.14
"""The ASes that others are behind."""
PREPENDS = (0,) * 78 + (1,) * 10 + (2,) * 7 + (3,) * 3 + (4, 6)
"""How often an origin repeats its number, of a hundred paths."""

RESERVED_AS = ((0, 0), (23456, 23456), (64496, 131071), (4200000000, 4294967295))
"""IANA: of no AS of the Internet."""


class Attributes(NamedTuple):
    """What a route of BGP has beside its prefix (RFC 4271 section 5.1).

    path: AS numbers, the origin last, without the speaker's own. origin: 0 IGP, 1 EGP, 2 incomplete. med:
    None is none. communities (RFC 1997), large (RFC 8092): in the order in which they are sent.
    """

    path: tuple[int, ...]
    origin: int = 0
    med: int | None = None
    communities: tuple[tuple[int, int], ...] = ()
    large: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True)
class Routes:
    """Routes of one IP version.

    prefixes: each `address << 8 | length`. attributes: of each, its place in those of the table;
    none: only the prefixes are known.
    """

    version: int
    prefixes: Sequence[int] = ()
    attributes: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.prefixes)

    def texts(self) -> Iterator[str]:
        """The prefixes as text."""
        return (prefix_text(prefix, self.version) for prefix in self.prefixes)


@dataclass(frozen=True)
class Table:
    """A table of routes. Nothing of it changes once it is made.

    withdrawn, withdrawn_ipv6: routes that can be withdrawn apart from the others, which lack them. seed: of
    what is drawn from it. left_out: routes of a file that are not announced, how many by why.
    """

    ipv4: Routes
    ipv6: Routes
    attributes: Sequence[Attributes]
    withdrawn: Routes = Routes(4)
    withdrawn_ipv6: Routes = Routes(6)
    seed: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.count(4) + self.count(6)

    def split(self, withdraw: int, withdraw_ipv6: int = 0) -> Table:
        """The same routes, so many of each IP version in the part that can be withdrawn: drawn by the seed.

        Among them are prefixes of every length that frames prove (`sample`), as many as a test sends to.
        """
        ipv4, withdrawn = _split(self.ipv4, withdraw, random.Random(f"{self.seed} withdraw"))
        ipv6, withdrawn_ipv6 = _split(self.ipv6, withdraw_ipv6, random.Random(f"{self.seed} withdraw IPv6"))
        return replace(self, ipv4=ipv4, withdrawn=withdrawn, ipv6=ipv6, withdrawn_ipv6=withdrawn_ipv6)

    def sample(self, count: int, version: int = 4) -> tuple[str, ...]:
        """So many prefixes for frames to go to, of every length, from the withdrawn part where there is one.

        No other prefix of the table is inside one of them or around it: any of its addresses proves that very
        route, and its withdrawal is seen. Fewer, where so many are not in the table. Drawn by the seed.
        """
        others, withdrawn = self._parts(version)
        part = withdrawn if len(withdrawn) else others
        alone = self._alone[version]
        draw = random.Random(f"{self.seed} sample {version}")
        found = _drawn([prefix for prefix in part.prefixes if prefix in alone], count, draw)
        return tuple(prefix_text(prefix, version) for prefix in found)

    def divide(self, parts: int, count: int) -> tuple[Table, ...]:
        """As many tables, each with an even part of the IPv4 routes.

        Of the prefixes of `sample(count)` each has every parts-th, as streams to the VLANs of a link have.
        """
        sampled = {prefix_of(text)[1]: place % parts for place, text in enumerate(self.sample(count))}

        def part(routes: Routes, number: int) -> Routes:
            own = [
                sampled.get(prefix, place % parts) == number for place, prefix in enumerate(routes.prefixes)
            ]
            kinds = array("I", compress(routes.attributes, own))
            return Routes(4, array("Q", compress(routes.prefixes, own)), kinds)

        return tuple(
            replace(
                self,
                ipv4=part(self.ipv4, number),
                withdrawn=part(self.withdrawn, number),
                ipv6=Routes(6),
                withdrawn_ipv6=Routes(6),
            )
            for number in range(parts)
        )

    def count(self, version: int) -> int:
        """How many routes of an IP version there are, those that can be withdrawn among them."""
        return sum(map(len, self._parts(version)))

    def write_bird(self, folder: Path, suffix: str = "") -> str:
        """Writes the table to a folder; the line that includes it in a configuration of BIRD 2.

        It has the static protocols `TABLES`, so that `birdc disable withdrawn4` withdraws that part; with a
        suffix where there are several tables. A session of BGP that exports them announces its own address as
        the next hop.
        """
        whole = {
            name: part
            for version, names in TABLES.items()
            for name, part in zip(names, self._parts(version), strict=True)
        }
        used = set().union(*(set(part.attributes) for part in whole.values()))
        names = {kind: _Names(suffix) for kind in ("path", "community", "large_community")}
        blocks = {place: _block(self.attributes[place], names) for place in sorted(used)}
        path = folder / f"table{suffix}.conf"
        with path.open("w", encoding="ascii") as file:
            for one in names.values():
                file.writelines(f"define {name} = {text};\n" for text, name in one.items())
            for name, part in whole.items():
                file.write(f"protocol static {name}{suffix} {{\nipv{part.version};\n")
                routes = zip(part.texts(), part.attributes, strict=True)
                file.writelines(f"route {text} blackhole {blocks[place]};\n" for text, place in routes)
                file.write("}\n")
        return f'include "{path}";'

    def _parts(self, version: int) -> tuple[Routes, Routes]:
        """Those that stay, and those that can be withdrawn."""
        return (self.ipv6, self.withdrawn_ipv6) if version == 6 else (self.ipv4, self.withdrawn)

    @cached_property
    def _alone(self) -> Mapping[int, frozenset[int]]:
        return {
            version: frozenset(_alone(chain(*(part.prefixes for part in self._parts(version))), version))
            for version in BITS
        }


PROVEN = 2_000
"""Of the routes that can be withdrawn, so many are such that frames prove them."""


def prefix_text(prefix: int, version: int) -> str:
    """A prefix as text; of a million the library's own takes half a minute."""
    packed = (prefix >> 8).to_bytes(BITS[version] // 8, "big")
    return f"{inet_ntop(_FAMILY[version], packed)}/{prefix & 255}"


def prefix_of(text: str) -> tuple[int, int]:
    """Version and prefix of a text, which has no address below its length. ValueError if it is none."""
    network = ipaddress.ip_network(text)
    return network.version, int(network.network_address) << 8 | network.prefixlen


def spans_of(networks: Iterable[str], version: int) -> list[tuple[int, int]]:
    """Of the networks of an IP version, the first address of each and the one behind its last. ValueError."""
    found = [prefix for its_version, prefix in map(prefix_of, networks) if its_version == version]
    return [(one >> 8, (one >> 8) + (1 << (BITS[version] - (one & 255)))) for one in found]


def _split(routes: Routes, count: int, draw: random.Random) -> tuple[Routes, Routes]:
    """The routes without so many of them, and these."""
    version, whole = routes.version, routes.prefixes
    if not count:
        return routes, Routes(version)
    taken = set(_drawn(_alone(whole, version), min(count, PROVEN), draw))
    others = [prefix for prefix in whole if prefix not in taken]
    taken.update(draw.sample(others, min(count - len(taken), len(others))))

    def part(is_taken: bool) -> Routes:
        chosen = [(prefix in taken) is is_taken for prefix in whole]
        kinds = array("I", compress(routes.attributes, chosen))
        return Routes(version, pack_prefixes(version, compress(whole, chosen)), kinds)

    return part(False), part(True)


def pack_prefixes(version: int, prefixes: Iterable[int]) -> Sequence[int]:
    """The prefixes in as little memory as their IP version has."""
    return array("Q", prefixes) if version == 4 else list(prefixes)


def _alone(prefixes: Iterable[int], version: int) -> list[int]:
    """The prefixes that no other one is inside or around, in the order of their addresses."""
    bits = BITS[version]
    found = []
    end, candidate = 0, -1
    # A shorter prefix comes before the longer ones at its own address.
    for prefix in sorted(prefixes):
        if prefix >> 8 < end:
            candidate = -1
            continue
        if candidate >= 0:
            found.append(candidate)
        candidate = prefix
        end = (prefix >> 8) + (1 << (bits - (prefix & 255)))
    return [*found, candidate] if candidate >= 0 else found


def _drawn(prefixes: Sequence[int], count: int, draw: random.Random) -> list[int]:
    """So many of them at random, one of each length first, the shortest ones before the others."""
    by_length: dict[int, list[int]] = {}
    for prefix in prefixes:
        by_length.setdefault(prefix & 255, []).append(prefix)
    found = [draw.choice(by_length[length]) for length in sorted(by_length)][:count]
    first = set(found)
    others = [prefix for prefix in prefixes if prefix not in first]
    return [*found, *draw.sample(others, min(count - len(found), len(others)))]


# BIRD's words.

ORIGINS = ("ORIGIN_IGP", "ORIGIN_EGP", "ORIGIN_INCOMPLETE")


class _Names(dict[str, str]):
    """Names of expressions that BIRD evaluates once, as it reads them.

    Of the ways to give 1,043,000 routes 143,000 sets of attributes (BIRD 2.0.12) this is the one that is read
    soonest, in 4 s of its CPU and 695 MB. The expressions in each route: 5 s and 1.7 GB; a statement for each
    AS: 10 s and 2.2 GB; a function for each set, or a `case` over their numbers: minutes.
    """

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix

    def name(self, kind: str, text: str) -> str:
        return self.setdefault(text, f"{kind}_{len(self)}{self._suffix}")


def _block(one: Attributes, names: Mapping[str, _Names]) -> str:
    """What a static route says of its attributes."""
    texts = {
        "path": _nested("prepend", "+empty+", map(str, reversed(one.path))),
        "community": _nested("add", "-empty-", (f"({a},{b})" for a, b in one.communities)),
        "large_community": _nested("add", "---empty---", (f"({a},{b},{c})" for a, b, c in one.large)),
    }
    said = [f"bgp_{kind}={names[kind].name(kind, text)};" for kind, text in texts.items() if text[-1] == ")"]
    if one.med is not None:
        said.append(f"bgp_med={one.med};")
    if one.origin:
        said.append(f"bgp_origin={ORIGINS[one.origin]};")
    return f"{{{''.join(said)}}}"


def _nested(function: str, empty: str, texts: Iterable[str]) -> str:
    found = empty
    for text in texts:
        found = f"{function}({found},{text})"
    return found


# The synthetic table.


def make_table(
    routes: int,
    routes_ipv6: int,
    seed: int,
    withdraw: int = 0,
    avoid: Sequence[str] = (),
    avoid_as: Collection[int] = (),
    has_attributes: bool = True,
    withdraw_ipv6: int = 0,
) -> Table:
    """A table of so many routes, the same for the same arguments.

    Lengths, nesting, paths and communities are as diverse as in the Internet's. withdraw: of the IPv4 routes,
    withdraw_ipv6: of the others, see `Table.split`. avoid: networks that no prefix is inside or around.
    avoid_as: in no path, for a device refuses a path with its own. has_attributes: False for the prefixes
    alone, in half the time. ValueError if there is no room for so many.
    """
    ipv4, ipv6 = (
        _prefixes(version, count, avoid, random.Random(f"{seed} IPv{version}"))
        for version, count in ((4, routes), (6, routes_ipv6))
    )
    attributes: Sequence[Attributes] = ()
    kinds4 = kinds6 = array("I")
    if has_attributes:
        draw = random.Random(f"{seed} attributes")
        attributes, weights, both = _attribute_sets(routes, routes_ipv6, draw, frozenset(avoid_as))
        sums = list(accumulate(weights))
        kinds4 = array("I", draw.choices(range(len(sums)), cum_weights=sums, k=routes))
        kinds6 = array("I", draw.choices(range(both), cum_weights=sums[:both], k=routes_ipv6))
    table = Table(Routes(4, ipv4, kinds4), Routes(6, ipv6, kinds6), attributes, seed=seed)
    return table.split(withdraw, withdraw_ipv6)


def counts_by_length(version: int, routes: int) -> dict[int, int]:
    """How many prefixes of each length a table of so many has: one at least, if it has as many as lengths."""
    shares = {length: count for length, (count, _) in LENGTHS[version].items()}
    whole = sum(shares.values())
    # More than the Internet has are of the longest: for more of the others there is no room.
    found = {length: max(1, min(routes, whole) * count // whole) for length, count in shares.items()}
    longest = max(shares)
    for length in shares:
        # Too many by the ones that are there whatever the share: the shortest go first.
        if sum(found.values()) > routes and length != longest:
            found[length] -= found[length] == 1
    found[longest] += routes - sum(found.values())
    return {length: count for length, count in found.items() if count > 0}


class _Free:
    """Free blocks of addresses, by length; what is taken is cut off one of them, as a registry does."""

    def __init__(self, version: int, blocks: Iterable[tuple[int, int]], draw: random.Random) -> None:
        self.bits = BITS[version]
        self.draw = draw
        self.levels: dict[int, list[int]] = {}
        for first, length in blocks:
            self.levels.setdefault(length, []).append(first)

    def take(self, length: int) -> int | None:
        """The first address of a block of this length, which is free no more; None: there is none."""
        levels = self.levels
        fitting = [one for one, blocks in levels.items() if one <= length and blocks]
        if not fitting:
            return None
        # Mostly beside the one before, as those of one network are; now and then anywhere.
        level = max(fitting) if self.draw.random() < NEIGHBOURING else self.draw.choice(fitting)
        blocks = levels[level]
        place = int(self.draw.random() * len(blocks))
        first = blocks[place]
        blocks[place] = blocks[-1]
        blocks.pop()
        for one in range(level + 1, length + 1):
            half = 1 << (self.bits - one)
            keep = self.draw.getrandbits(1)
            levels.setdefault(one, []).append(first if keep else first + half)
            first += half if keep else 0
        return first


NEIGHBOURING = 0.9
"""Of the prefixes that lie in no other, so many are cut off the smallest block that is free."""


def _prefixes(version: int, routes: int, avoid: Sequence[str], draw: random.Random) -> Sequence[int]:
    counts = counts_by_length(version, routes)
    free = _Free(version, _free_blocks(version, avoid), draw)
    ordered: list[int] = []
    # By length, the prefixes that others may lie in.
    divided: dict[int, list[int]] = {}
    for length, count in counts.items():
        inside = count * LENGTHS[version][length][1] // 100
        found = _outside(length, count - inside, free)
        found += _inside(version, length, count - len(found), divided, draw)
        found += _outside(length, count - len(found), free)
        if len(found) < count:
            raise ValueError(f"no room for {routes} IPv{version} routes beside the networks of the lab")
        ordered += found
        divided[length] = found[DIVIDED - 1 :: DIVIDED]
    return array("Q", ordered) if version == 4 else ordered


def _outside(length: int, count: int, free: _Free) -> list[int]:
    """So many prefixes of a length in no other, fewer if there is no room for them."""
    found = (free.take(length) for _ in range(count))
    return [
        first << 8 | length for first in takewhile(lambda one: one is not None, found) if first is not None
    ]


def _inside(
    version: int,
    length: int,
    count: int,
    divided: Mapping[int, Sequence[int]],
    draw: random.Random,
) -> list[int]:
    """So many prefixes of a length inside others, fewer if these have no room for them."""
    weights = {one: AGGREGATES[version].get(one, 0) for one, prefixes in divided.items() if prefixes}
    weights = {one: weight for one, weight in weights.items() if weight}
    found: set[int] = set()
    if not weights:
        return []
    shift = BITS[version] - length + 8
    random_ = draw.random
    # A prefix that is there already is drawn anew, a bounded number of times.
    for _ in range(4):
        lengths = draw.choices(tuple(weights), tuple(weights.values()), k=count - len(found))
        for above in lengths:
            around = divided[above]
            parent = around[int(random_() * len(around))] & ~255
            found.add(parent | int(random_() * (1 << (length - above))) << shift | length)
        if len(found) == count:
            break
    return sorted(found)


def _free_blocks(version: int, avoid: Sequence[str]) -> list[tuple[int, int]]:
    """What may be announced, in as few blocks as it takes: first address and length, in order."""
    closed = spans_of((*MARTIANS[version], *avoid), version)
    found = []
    for text in WITHIN[version]:
        _, prefix = prefix_of(text)
        found += _cut(prefix >> 8, prefix & 255, closed, BITS[version])
    return found


def _cut(first: int, length: int, closed: Sequence[tuple[int, int]], bits: int) -> list[tuple[int, int]]:
    end = first + (1 << (bits - length))
    touching = [span for span in closed if span[0] < end and span[1] > first]
    if not touching:
        return [(first, length)]
    if any(low <= first and high >= end for low, high in touching):
        return []
    half = 1 << (bits - length - 1)
    return [*_cut(first, length + 1, touching, bits), *_cut(first + half, length + 1, touching, bits)]


def _as_numbers(count: int, avoid: frozenset[int], draw: random.Random) -> list[int]:
    """So many AS numbers of the ranges that registries give out: half of them of 16 bits."""
    found: dict[int, None] = {}
    while len(found) < count:
        if len(found) < MOST_SHORT and draw.getrandbits(1):
            number = draw.randrange(1, 64496)
        else:
            number = draw.randrange(131072, 131072 + 400_000)
        if number != 23456 and number not in avoid:
            found[number] = None
    return list(found)


MOST_SHORT = 80_000
"""With more ASes than this all further ones have 32 bits, since those of 16 run out."""


def _attribute_sets(
    routes: int, routes_ipv6: int, draw: random.Random, avoid: frozenset[int]
) -> tuple[list[Attributes], list[float], int]:
    """Sets of attributes, how often each is to occur, and how many of the first ones IPv6 has as well."""
    whole = routes + routes_ipv6
    count = max(8, int(whole / ROUTES_AN_AS))
    numbers = _as_numbers(count, avoid, draw)
    upstream = _upstream(count, draw)
    sizes = [draw.lognormvariate(0, SPREAD) for _ in range(count)]
    mean = sum(sizes) / count
    sets: list[Attributes] = []
    weights: list[float] = []
    both = 0
    for place in range(count):
        size = sizes[place] / mean * ROUTES_AN_AS
        variants = 1 + int(size**0.8 * VARIANTS)
        for _ in range(variants):
            hops = [place]
            while (above := upstream[hops[-1]]) >= 0:
                hops.append(above)
            # A network with several paths has some of them by way of another neighbour.
            if len(hops) > 1 and draw.random() < 0.3:
                hops[-1] = int(draw.random() * min(count, FIRST_HOPS))
            path = [numbers[hop] for hop in reversed(hops)]
            path += repeat(path[-1], PREPENDS[int(draw.random() * len(PREPENDS))])
            sets.append(_attributes(tuple(path), draw))
            weights.append(size / variants)
        if place == int(count * OF_BOTH):
            both = len(sets)
    return sets, weights, max(both, 1)


VARIANTS = 0.22
FIRST_HOPS = 300
"""ASes that the speaker's own has as neighbours."""


def _upstream(count: int, draw: random.Random) -> list[int]:
    """Of each AS the one before it in a path; -1: it is the first."""
    levels = sorted(draw.choices(tuple(HOPS), tuple(HOPS.values()), k=count))
    starts = [bisect_right(levels, level - 1) for level in range(1, max(HOPS) + 2)]
    found = []
    for level in levels:
        first, end = (starts[level - 2], starts[level - 1]) if level > 1 else (0, 0)
        few = max(1, int((end - first) * TRANSIT))
        # Few networks carry most of the others.
        found.append(first + int(few * draw.random() ** 2) if end > first else -1)
    order = list(range(count))
    draw.shuffle(order)
    place_of = [0] * count
    for place, one in enumerate(order):
        place_of[one] = place
    return [place_of[found[one]] if found[one] >= 0 else -1 for one in order]


def _attributes(path: tuple[int, ...], draw: random.Random) -> Attributes:
    """A path with communities of the networks on it, as operators set them: regions, customers, peers."""
    chance = draw.random
    communities = []
    for number in path[:2]:
        if number < 65536 and chance() < 0.7:
            communities += [(number, int(chance() ** 2 * 64) * 100 + tag) for tag in range(int(chance() * 4))]
    large = []
    if path[-1] > 65535 and chance() < 0.4:
        large += [(path[-1], 1 + int(chance() * 3), int(chance() * 500))]
    if chance() < 0.1:
        large.append((path[0], 100, int(chance() * 40)))
    med = int(chance() * 20) * 10 if chance() < 0.3 else None
    origin = 2 if chance() < 0.1 else 0
    return Attributes(path, origin, med, tuple(dict.fromkeys(communities)), tuple(large))
