"""Records of agents, as simulators of SNMP take them: a row for each object, `OID|type|value`."""

from __future__ import annotations

from pathlib import Path

from snmp_agent import OBJECT, TEXT, Value, oid, parse, whole


def load(path: Path) -> dict[str, Value]:
    """The objects of a record."""
    return dict(map(_object, path.read_text().splitlines()))


NAMES = {2: "integer", 4: "string", 65: "counter", 66: "gauge", 67: "timeticks", 70: "counter64"}
"""Types as programs of `pass_persist` print them."""


def load_for_snmpd(path: Path) -> dict[str, tuple[str, object]]:
    """The objects of a record, as `Snmpd.say` takes them."""
    rows = (row.split("|", 2) for row in path.read_text().splitlines())
    return {f".{name}": (NAMES[int(kind)], value) for name, kind, value in rows}


def _object(row: str) -> tuple[str, Value]:
    name, kind, value = row.split("|", 2)
    tag, is_hex = int(kind.rstrip("x")), kind.endswith("x")
    if tag == OBJECT:
        return name, oid(parse(value))
    if tag == TEXT:
        return name, (tag, bytes.fromhex(value) if is_hex else value.encode())
    return name, whole(int(value), tag)
