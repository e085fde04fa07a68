"""The modules that a profile imports, made of what is here. Anything else of T-Rex and Scapy is not found."""

from __future__ import annotations

import binascii
import ipaddress
import os
import string
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from netdyno.profiles.stl import layers, packet, program, stream

OWNERS = ("trex", "trex_stl_lib", "scapy", "stl")
"""Packages whose modules are these and no others, whatever is installed."""


def _public(module: ModuleType) -> dict[str, Any]:
    """What a module defines itself, and numbers in capitals."""
    own = module.__name__
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", own if name[:3] == "STL" else "") == own
    }


def is_valid_ipv4(address: Any) -> bool:
    """Whether text is an IPv4 address."""
    try:
        ipaddress.IPv4Address(address)
    except ValueError:
        return False
    return isinstance(address, str)


def is_valid_ipv4_ret(address: Any) -> Any:
    """The bytes of an IPv4 address."""
    if not is_valid_ipv4(address):
        raise program.STLError(f"{address!r} is no IPv4 address")
    return ipaddress.IPv4Address(address).packed


def ip2int(address: Any) -> int:
    """An IPv4 address as a number."""
    return int(ipaddress.IPv4Address(address))


_HEADERS = {"Packet": packet.Packet, "bind_layers": packet.bind_layers}
_HEADERS |= {name: one for name, one in _public(packet).items() if name.endswith("Field")}
_HEADERS |= {name: one for name, one in _public(layers).items() if isinstance(one, type)}
# Two names of Scapy for fields that are printed in hexadecimal, and for bits with names.
_HEADERS |= {"XByteField": packet.ByteField, "XShortField": packet.ShortField, "XIntField": packet.IntField}
_HEADERS |= {"X3BytesField": packet.ThreeBytesField, "XBitField": packet.BitField}
_HEADERS |= {"ByteEnumField": packet.NamedField, "BitEnumField": packet.BitField}
CONTRIB = {"scapy.contrib.mpls": ("MPLS",), "scapy.contrib.geneve": ("GENEVE",)}
CONTRIB |= {"scapy.contrib.gtp": ("GTP_U_Header",)}
_IMPORTED = [name for names in CONTRIB.values() for name in names]
_STAR = {name: one for name, one in _HEADERS.items() if name not in _IMPORTED}
_STL = {name: one for name, one in (_public(program) | _public(stream)).items() if name[:3] in ("STL", "CTR")}
_API = {
    **_STAR,
    **_STL,
    **{one.__name__: one for one in (is_valid_ipv4, is_valid_ipv4_ret, ip2int)},
    "ipv4_str_to_num": lambda raw: int.from_bytes(raw, "big"),
    **{one.__name__: one for one in (os, sys, string, binascii)},
}
MODULES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("trex.stl.api", "trex_stl_lib.api", "stl.api"), _API),
    **{name: {} for name in ("trex", "trex.stl", "trex_stl_lib", "scapy", "scapy.contrib", "scapy.layers")},
    **dict.fromkeys(("scapy.all", "scapy.layers.l2", "scapy.layers.inet", "scapy.layers.inet6"), _STAR),
    **dict.fromkeys(("scapy.packet", "scapy.fields"), _STAR),
    **{module: {name: _HEADERS[name] for name in names} for module, names in CONTRIB.items()},
}


class Finder(MetaPathFinder, Loader):
    """Finds them before whatever is installed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of one of them; None of what is nobody's."""
        if name in MODULES:
            return ModuleSpec(name, self, is_package=True)
        if name.partition(".")[0] in OWNERS:
            raise packet.Refused(name)
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fills it."""
        vars(module).update(MODULES[module.__name__])
