"""Hashes for records that a test changes on purpose: what it changed is read as if it had been written so."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from netdyno.store import FILE, seals
from netdyno.store.contents import compress, decompress, hash_bytes


@contextmanager
def changing(folder: Path, *, is_sealed: bool = True) -> Iterator[sqlite3.Connection]:
    """The record of a run, to be changed; then its hashes are written anew, as a forger would,
    if is_sealed.

    SQL has `packed` and `unpacked` for what is compressed, and none of the schema's checks.
    """
    with closing(sqlite3.connect(folder / FILE)) as sql, sql:
        sql.execute("PRAGMA ignore_check_constraints = 1")
        sql.create_function("packed", 1, compress)
        sql.create_function("unpacked", 1, lambda data: decompress(data).decode())
        yield sql
        if is_sealed:
            reseal(sql)


def reseal(sql: sqlite3.Connection) -> None:
    """Writes all hashes of a record anew."""
    for own, data in sql.execute("SELECT id, data FROM contents").fetchall():
        sql.execute("UPDATE OR IGNORE contents SET hash = ? WHERE id = ?", (hash_bytes(data), own))
    for (case,) in sql.execute("SELECT number FROM cases").fetchall():
        sql.execute("UPDATE trials SET seal = x'01' WHERE case_number = ?", (case,))
        seals.trials_removed(sql, case)
        seals.case_changed(sql, case)
    seals.run_changed(sql)
