"""Values of gNMI answers: leaves of OpenConfig by their paths, however the target packs them."""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

MOST_LEAVES = 20_000
DEEPEST = 32
_DECIMAL = re.compile(r"-?\d{1,20}(?:\.\d{1,18})?")


class UnreadableError(Exception):
    """An answer that is no JSON, or has too many leaves."""


@dataclass(frozen=True)
class Leaf:
    """names: of its path, without modules. key: of the innermost list entry on it; empty: there is none."""

    names: tuple[str, ...]
    key: str
    value: object


def list_leaves(response: Any) -> Iterator[Leaf]:
    """The leaves of a GetResponse. Raises UnreadableError."""
    count = 0
    for notification in response.notification:
        before = _walk_path(notification.prefix)
        for update in notification.update:
            names, key = _walk_path(update.path)
            start = (*before[0], *names), key or before[1]
            for leaf in _below(_unpacked(update.val), *start, DEEPEST):
                count += 1
                if count > MOST_LEAVES:
                    raise UnreadableError("too many leaves")
                yield leaf


def to_number(value: object) -> Fraction | None:
    """The number of a leaf; None: it is none.

    JSON of YANG has 64 bits and decimals as texts (RFC 7951), and `ieeefloat32` as four bytes in base64.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float):
        return Fraction(value) if abs(value) < 2.0**63 else None
    if isinstance(value, str):
        if _DECIMAL.fullmatch(value):
            return Fraction(value)
        try:
            value = base64.b64decode(value, validate=True) if len(value) == 8 else b""
        except (binascii.Error, ValueError):
            return None
    if isinstance(value, bytes) and len(value) == 4:
        found: float = struct.unpack(">f", value)[0]
        # The comparison is false for what is no number.
        return Fraction(found) if abs(found) < 2.0**63 else None
    return None


def _walk_path(path: Any) -> tuple[tuple[str, ...], str]:
    """Names of a path, and the key of its innermost list entry."""
    key = ""
    for element in path.elem:
        key = "/".join(element.key[name] for name in sorted(element.key)) or key
    return tuple(_bare(element.name) for element in path.elem), key


def _unpacked(value: Any) -> object:
    """A TypedValue as Python has it."""
    kind = value.WhichOneof("value")
    if kind in ("json_ietf_val", "json_val"):
        try:
            return json.loads(getattr(value, kind))
        except (ValueError, RecursionError):
            raise UnreadableError("it is no JSON") from None
    if kind == "decimal_val":
        scale = min(value.decimal_val.precision, 18)
        return Fraction(value.decimal_val.digits, 10**scale)
    return None if kind is None else getattr(value, kind)


def _below(value: object, names: tuple[str, ...], key: str, deep: int) -> Iterator[Leaf]:
    if not deep:
        raise UnreadableError("it is too deep")
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _below(inner, (*names, _bare(str(name))), key, deep - 1)
    elif isinstance(value, list):
        for entry in value:
            yield from _below(entry, names, _key_of(entry) or key, deep - 1)
    else:
        yield Leaf(names, key, value)


def _key_of(entry: object) -> str:
    """The key of an entry of a list: `name` of interfaces and components, `index` of processors."""
    if not isinstance(entry, Mapping):
        return ""
    return next((str(entry[one])[:100] for one in entry if _bare(str(one)) in ("name", "index")), "")


def _bare(name: str) -> str:
    """A name without its module: `openconfig-interfaces:counters`."""
    return name.rpartition(":")[2]
