"""Records of agents, as simulators of SNMP take them: a row for each object, `OID|type|value`."""

from __future__ import annotations

from pathlib import Path

from snmp_agent import OBJECT, Value, oid, parse, whole


def load(path: Path) -> dict[str, Value]:
    """The objects of a record."""
    return dict(map(_object, path.read_text().splitlines()))


def _object(row: str) -> tuple[str, Value]:
    name, kind, value = row.split("|", 2)
    tag, is_hex = int(kind.rstrip("x")), kind.endswith("x")
    if tag == OBJECT:
        return name, oid(parse(value))
    if tag in (4, 64):
        return name, (tag, bytes.fromhex(value) if is_hex else value.encode())
    return name, whole(int(value), tag)
