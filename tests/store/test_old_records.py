"""Fields of records: what a record of today holds can be read by every later version."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from netdyno.campaign.reasons import REASONS
from netdyno.store import open_run
from netdyno.store.bodies import TrialBody
from netdyno.values.finding import Result
from netdyno.values.reason import Reason
from netdyno.values.records import CaseHead, CaseWiring, RunHead, StoredGoal, StoredVerdict
from sealing import changing
from test_store import HEAD, NOW, new

FILE = Path(__file__).parents[1] / "data" / "stored-fields.json"
"""The fields of each stored type, and of each reason by its code; `?` behind those that have a default.
`NETDYNO_GOLDEN=write` adds types and fields, and changes nothing that is there."""

BODIES = (RunHead, CaseHead, CaseWiring, Result, StoredVerdict, StoredGoal, TrialBody)


def stored_types(kind: Any, seen: set[type]) -> Iterator[type]:
    """The dataclasses that a type holds, itself included; reasons are read by their code."""
    for inner in get_args(kind):
        yield from stored_types(inner, seen)
    if isinstance(kind, type) and is_dataclass(kind) and kind not in seen and not issubclass(kind, Reason):
        seen.add(kind)
        yield kind
        for inner in get_type_hints(kind).values():
            yield from stored_types(inner, seen)


def described(kind: Any) -> list[str]:
    """The fields that are stored, as the file has them."""
    return [
        f"{one.name}{'' if one.default is MISSING and one.default_factory is MISSING else '?'}"
        for one in fields(kind)
        if not one.metadata.get("unstored")
    ]


def types_of_now() -> dict[str, Any]:
    seen: set[type] = set()
    found = {kind.__name__: kind for body in BODIES for kind in stored_types(body, seen)}
    return found | {f"reason {code}": kind for code, kind in REASONS.items()}


def test_stored_types_read_what_records_of_before_hold() -> None:
    """A new field has a default; a field that every record had may have got one; none is gone."""
    now = types_of_now()
    before: dict[str, list[str]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    if os.environ.get("NETDYNO_GOLDEN") == "write":
        merged = {name: before.get(name, []) for name in sorted({*before, *now})}
        for name, kind in now.items():
            known = {one.rstrip("?") for one in merged[name]}
            merged[name] += [one for one in described(kind) if one.rstrip("?") not in known]
        lines = (f"{json.dumps(name)}: {json.dumps(listed)}" for name, listed in merged.items())
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        before = merged
    for name, kind in now.items():
        if name not in before:
            # A new reason is in no record yet; a new type is to be listed.
            assert name.startswith("reason "), f"list `{name}`: NETDYNO_GOLDEN=write pytest {__file__}"
            continue
        had = {one.rstrip("?"): one.endswith("?") for one in before[name]}
        new_names = [one for one in described(kind) if one.rstrip("?") not in had]
        assert all(one.endswith("?") for one in new_names), f"{name}: no default of {new_names}"
        has = {one.rstrip("?") for one in described(kind)}
        renamed = {one.metadata.get("was") for one in fields(kind)}
        assert had.keys() <= has | renamed, f"{name}: gone, and records have it: {had.keys() - has}"
        needed = {one for one in described(kind) if not one.endswith("?")}
        assert not [one for one, had_default in had.items() if had_default and one in needed], name


def test_record_without_a_newer_field_is_whole(tmp_path: Path) -> None:
    folder, writer = new(tmp_path)
    with writer:
        writer.run_ended("done", NOW)
    with changing(folder) as sql:
        sql.execute("UPDATE run SET head = json_remove(head, '$.overrides')")
        sql.execute("UPDATE cases SET head = json_remove(head, '$.repeat')")
    with open_run(folder) as run:
        assert run.head == HEAD
        assert run.cases[0].head.repeat == 1
        assert run.verify().damage == ()
