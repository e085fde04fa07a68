"""Hashes over the parts of a record, chained, so that a part that changed, is missing or was added is named.

The seal of a trial covers its row, its samples and the seal of the case's trial before it. That of a
case covers the case with its verdicts and goals, and the seal of its last trial. That of the run covers
plan, title and state, and the sum of the seals of all cases: one that changed is subtracted and added, so
that sealing a case costs the same in a run of any size. Each is written in the transaction of what it
covers, so a killed run has all of them.

They protect against bit rot, not against forgery: who changes a record on purpose can write its seals anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from netdyno.store.contents import hash_bytes

RUN = -1
"""Number in the table of seals that no case has: the run itself."""
NONE = b""
"""The seal of what was stored before there were seals."""


def _seal(
    sql: sqlite3.Connection,
    kind: str,
    before: bytes,
    texts: Iterable[str],
    *key: int,
    later: Iterable[str] = (),
) -> bytes:
    """The hash over rows: of their text as Python writes it, numbers, bytes and None.

    later: of tables that records of earlier versions do not have: without rows they change nothing.
    """
    rows = [sql.execute(text, key).fetchall() for text in texts]
    rows += filter(None, (sql.execute(text, key).fetchall() for text in later))
    return hash_bytes(repr((kind, before, rows)).encode())


# Text is taken as bytes: of a damaged record it need not be UTF-8.
_TRIAL = (
    "SELECT t.case_number, t.number, t.attempt, CAST(t.name AS BLOB), CAST(t.state AS BLOB),"
    " CAST(t.started AS BLOB), CAST(t.ended AS BLOB), s.hash, b.hash"
    " FROM trials AS t LEFT JOIN contents AS s ON s.id = t.spec LEFT JOIN contents AS b ON b.id = t.body"
    " WHERE t.id = ?"
)
_SAMPLES = (
    "SELECT CAST(l.owner AS BLOB), l.number, CAST(l.name AS BLOB), CAST(l.source AS BLOB),"
    " CAST(l.subject AS BLOB), CAST(l.unit AS BLOB), l.scale, s.first_ns, s.every_ns, s.samples,"
    " t.hash, d.hash"
    " FROM samples AS s LEFT JOIN labels AS l ON l.id = s.label LEFT JOIN contents AS t ON t.id = s.times"
    " LEFT JOIN contents AS d ON d.id = s.data WHERE s.trial = ? ORDER BY s.label"
)
_TRANSCRIPT = (
    "SELECT t.trial, d.hash FROM transcripts AS t LEFT JOIN contents AS d ON d.id = t.data WHERE t.trial = ?"
)
_CASE = (
    "SELECT c.number, CAST(c.name AS BLOB), CAST(c.state AS BLOB), CAST(c.started AS BLOB),"
    " CAST(c.ended AS BLOB),"
    " CAST(c.code AS BLOB), CAST(c.error AS BLOB), CAST(c.hint AS BLOB), CAST(c.head AS BLOB),"
    " CAST(c.result AS BLOB), w.hash, s.hash"
    " FROM cases AS c LEFT JOIN contents AS w ON w.id = c.wiring LEFT JOIN contents AS s ON s.id = c.session"
    " WHERE c.number = ?"
)
_VERDICTS = (
    "SELECT place, CAST(scope AS BLOB), CAST(value AS BLOB), CAST(who AS BLOB), CAST(body AS BLOB)"
    " FROM verdicts WHERE case_number = ? ORDER BY place, scope"
)
_GOALS = "SELECT number, passed, CAST(body AS BLOB) FROM goals WHERE case_number = ? ORDER BY number"
_TRIALS = "SELECT trials, unsealed, last, last_number FROM seals WHERE case_number = ?"
_RUN = (
    "SELECT CAST(state AS BLOB), CAST(started AS BLOB), CAST(ended AS BLOB), CAST(head AS BLOB) FROM run"
    " WHERE id = 1"
)
_CASES = (
    "SELECT case_number, trials, unsealed, last, last_number, seal FROM seals WHERE case_number >= 0"
    " ORDER BY case_number"
)
_CALIBRATIONS = (
    "SELECT CAST(c.id AS BLOB), d.hash FROM calibrations AS c LEFT JOIN contents AS d ON d.id = c.document"
    " ORDER BY c.id"
)


def of_trial(sql: sqlite3.Connection, trial: int, before: bytes) -> bytes:
    """The seal of a trial. trial: its id. before: the seal of the case's trial before it."""
    return _seal(sql, "trial", before, (_TRIAL, _SAMPLES), trial, later=(_TRANSCRIPT,))


def of_case(sql: sqlite3.Connection, number: int) -> bytes:
    """The seal of a case."""
    return _seal(sql, "case", NONE, (_CASE, _VERDICTS, _GOALS, _TRIALS), number)


def of_run(sql: sqlite3.Connection) -> bytes:
    """The seal of the run."""
    kept = sum_kept(sql)
    # A record of before there was a sum has the seals themselves.
    of_cases = (_CASES,) if kept == NONE else ()
    return _seal(sql, "run", kept, (_RUN, *of_cases, _CALIBRATIONS))


def sum_kept(sql: sqlite3.Connection) -> bytes:
    """The sum of the seals of all cases as it is stored."""
    found = sql.execute("SELECT last FROM seals WHERE case_number = ?", (RUN,)).fetchone()
    return NONE if found is None else bytes(found[0])


def sum_of_cases(sql: sqlite3.Connection) -> bytes:
    """The sum of the seals of all cases."""
    return _sum(seal for (seal,) in sql.execute("SELECT seal FROM seals WHERE case_number >= 0"))


def _sum(seals: Iterable[bytes], less: bytes = NONE) -> bytes:
    """Seals added as numbers, without the one to subtract."""
    total = sum(int.from_bytes(seal, "big") for seal in seals) - int.from_bytes(less, "big")
    return (total % 2**128).to_bytes(16, "big")


def add_trial(sql: sqlite3.Connection, case: int, trial: int) -> None:
    """Seals a trial that was just stored as its case's last one, and what it belongs to. trial: its id."""
    (last,) = sql.execute("SELECT last FROM seals WHERE case_number = ?", (case,)).fetchone()
    seal = of_trial(sql, trial, last)
    sql.execute("UPDATE trials SET seal = ? WHERE id = ?", (seal, trial))
    sql.execute(
        "UPDATE seals SET trials = trials + 1, last = ?,"
        " last_number = (SELECT number FROM trials WHERE id = ?) WHERE case_number = ?",
        (seal, trial, case),
    )
    case_changed(sql, case)


def trials_removed(sql: sqlite3.Connection, case: int) -> None:
    """Seals the trials of a case anew, some of which were removed. Those without a seal stay so."""
    last, count, unsealed, number = NONE, 0, 0, None
    found = "SELECT id, number, seal FROM trials WHERE case_number = ? ORDER BY id"
    for trial, number, seal in sql.execute(found, (case,)).fetchall():  # noqa: B007
        count += 1
        if seal == NONE:
            unsealed += 1
            continue
        last = of_trial(sql, trial, last)
        sql.execute("UPDATE trials SET seal = ? WHERE id = ?", (last, trial))
    sql.execute(
        "UPDATE seals SET trials = ?, unsealed = ?, last = ?, last_number = ? WHERE case_number = ?",
        (count, unsealed, last, number, case),
    )


def case_changed(sql: sqlite3.Connection, case: int) -> None:
    """Seals a case that was changed, and the run."""
    (old,) = sql.execute("SELECT seal FROM seals WHERE case_number = ?", (case,)).fetchone()
    new, kept = of_case(sql, case), sum_kept(sql)
    sql.execute("UPDATE seals SET seal = ? WHERE case_number = ?", (new, case))
    if kept != NONE:
        sql.execute("UPDATE seals SET last = ? WHERE case_number = ?", (_sum((kept, new), less=old), RUN))
    run_changed(sql)


def run_changed(sql: sqlite3.Connection) -> None:
    """Seals the run, of which something was changed."""
    sql.execute("UPDATE seals SET seal = ? WHERE case_number = ?", (of_run(sql), RUN))


def begin(sql: sqlite3.Connection, cases: Iterable[int]) -> None:
    """Seals a new run and its cases."""
    numbers = list(cases)
    rows = [(number, 0, 0, NONE, None, NONE) for number in (RUN, *numbers)]
    sql.executemany("INSERT OR REPLACE INTO seals VALUES (?, ?, ?, ?, ?, ?)", rows)
    for number in numbers:
        sql.execute("UPDATE seals SET seal = ? WHERE case_number = ?", (of_case(sql, number), number))
    sql.execute("UPDATE seals SET last = ? WHERE case_number = ?", (sum_of_cases(sql), RUN))
    run_changed(sql)
