"""What a profile and a class of it have in common: sizes, address pools, bursts."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from netdyno.errors import Problem, Problems, names, suggestion
from netdyno.values.mixes import MIXES, OF_MTU, Mix, read_mix
from netdyno.values.units import FrameSize


@dataclass(frozen=True)
class Addresses:
    """Where traffic comes from and goes to: two prefixes, hosts drawn at random; ports as constants.

    one: the pair that a single flow uses. networks: destinations are hosts in so many equal parts of the
    prefix, one in each, in random order; the source is the one of `one`. 0: anywhere in both prefixes.
    """

    name: str
    source: str
    destination: str
    sport: int
    dport: int
    one: tuple[str, str] | None = None
    note: str = ""
    networks: int = 0

    @property
    def version(self) -> int:
        """4 or 6."""
        return ipaddress.ip_network(self.source).version


_BENCHMARKING = Addresses(
    "rfc2544", "198.18.0.0/16", "198.19.0.0/16", 0xC020, 7, ("198.18.0.2", "198.19.0.2"), "RFC 2544, C.2.2"
)

ADDRESSES: Mapping[str, Addresses] = {
    table.name: table
    for table in (
        Addresses(
            "trex", "16.0.0.0/8", "48.0.0.0/8", 1025, 12, ("16.0.0.1", "48.0.0.1"), "as in T-Rex's profiles"
        ),
        _BENCHMARKING,
        replace(
            _BENCHMARKING,
            name="rfc2544-256",
            note="RFC 2544 section 12: from one host to 256 networks",
            networks=256,
        ),
        Addresses(
            "rfc5180", "2001:2::/49", "2001:2:0:8000::/49", 0xC020, 7, note="RFC 5180 section 8, as corrected"
        ),
    )
}


MOST_IN_A_BURST = 65_536
"""Frames of a burst: 4.4 ms of 64 bytes at 10 Gbit/s. Longer ones are a load of their own."""


def _addresses(value: object) -> Addresses:
    if isinstance(value, str):
        if value in ADDRESSES:
            return ADDRESSES[value]
        raise Problem(f"unknown addresses `{value[:40]}`", suggestion(value, ADDRESSES), code="unknown-name")
    if not isinstance(value, Mapping) or set(value) != {"source", "destination"}:
        raise Problem(
            "addresses are a name, or `source` and `destination`",
            f"names: {names(ADDRESSES)}",
            code="wrong-type",
        )
    networks, problems = [], []
    for end in ("source", "destination"):
        try:
            networks.append(ipaddress.ip_network(value[end] if isinstance(value[end], str) else "no"))
        except ValueError:
            hint = "an IP prefix without host bits, as in `16.0.0.0/8`"
            problems.append(
                Problem(f"`{str(value[end])[:40]}` is not a prefix", hint, (end,), code="wrong-format")
            )
    if problems:
        raise Problems(problems)
    if networks[0].version != networks[1].version:
        raise Problem(
            "source and destination are of different IP versions", "both IPv4 or both IPv6", code="conflict"
        )
    return Addresses("own", str(networks[0]), str(networks[1]), 1025, 12)


def hosts(prefix: str) -> tuple[str, str, int]:
    """First and last address of a prefix to draw from, and how many there are: without the two ends."""
    network = ipaddress.ip_network(prefix)
    edge = 1 if network.num_addresses > 2 else 0
    return str(network[edge]), str(network[-1 - edge]), network.num_addresses - 2 * edge


def in_networks(prefix: str, count: int) -> list[str]:
    """A host in each of so many equal networks of a prefix, in random order, the same ones every time.

    ValueError if the prefix is too small for networks of two hosts.
    """
    whole = ipaddress.ip_network(prefix)
    bits = whole.max_prefixlen - whole.prefixlen - (count - 1).bit_length()
    if bits < 2:
        raise ValueError(f"{prefix} has no room for {count} networks")
    draw = random.Random(f"{whole} {count}")
    first = int(whole.network_address)
    # Without each network's own address and its broadcast address.
    hosts = [first + (part << bits) + draw.randrange(1, (1 << bits) - 1) for part in range(count)]
    draw.shuffle(hosts)
    return [str(type(whole.network_address)(host)) for host in hosts]


SizeField: TypeAlias = Annotated[
    Mix,
    PlainValidator(lambda value: OF_MTU if value == OF_MTU.name else read_mix(value)),
    PlainSerializer(lambda mix: mix.name if mix.is_named or mix is OF_MTU else dict(mix.weights)),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": FrameSize.pattern(), "examples": ["64B", "1518B"]},
                {"type": "string", "pattern": "^[0-9]+B?-[0-9]+B$", "examples": ["64B-1518B"]},
                {"enum": [*MIXES, OF_MTU.name]},
                {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": {"type": "integer", "minimum": 1},
                },
            ]
        }
    ),
]

AddressesField: TypeAlias = Annotated[
    Addresses,
    PlainValidator(_addresses),
    PlainSerializer(
        lambda own: (
            own.name if own.name in ADDRESSES else {"source": own.source, "destination": own.destination}
        )
    ),
    WithJsonSchema(
        {"anyOf": [{"enum": list(ADDRESSES)}, {"type": "object", "required": ["source", "destination"]}]}
    ),
]
