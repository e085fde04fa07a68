"""Opening the store's file, and bringing an older one up to date.

`PRAGMA user_version` is the number of the last migration that was applied. Each migration is one
file, `NNNN_what.sql`, applied in one transaction together with the new number.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from importlib import resources
from pathlib import Path

from netdyno.errors import NetdynoError
from netdyno.store.contents import compress, hash_bytes
from netdyno.values.printable import printable

FILE = "run.sqlite"
RUNS = "give the folder of a run; `netdyno list` shows them"
APPLICATION_ID = 0x6E64796E
"""What says that a SQLite file is a store of netdyno: `ndyn`, in its header (`PRAGMA application_id`)."""
SQLITE_VERSION = sqlite3.sqlite_version
ROOM = "make room on that disk, and try again"
LONGEST = 300
"""Characters of what is said of a damaged record: it may quote the record, on one line."""
LOCKED_S = 30.0
"""How long a writer waits for another program to let go of the record, s."""


class StoreError(NetdynoError):
    """The store cannot be opened or is not one. The message may quote a stranger's record, on one line."""

    def __init__(self, message: str, hint: str | None = None, *, code: str) -> None:
        super().__init__(printable(message), hint, code=code)


class DamagedError(StoreError):
    """A part of a record is not what was written.

    case, trial: numbers of the case and the trial it belongs to; None: to the run, to no trial. name: of the
    case. what: the part, as in `its series changed`.
    """

    def __init__(
        self,
        folder: Path,
        what: str,
        case: int | None = None,
        trial: int | None = None,
        name: str = "",
        *,
        code: str = "store-damaged",
    ) -> None:
        self.case, self.trial = case, trial
        what = " ".join(what.split())[:LONGEST]
        of_case = "" if case is None else f"case `{name}`: "
        self.found = f"{of_case}{what}" if trial is None else f"trial {trial} of {of_case}{what}"
        hint = (
            f"take the folder from a copy, or run the plan again; `netdyno verify {folder}` lists all damage"
        )
        super().__init__(f"{folder}: the record is damaged: {self.found}", hint, code=code)


class NoRoomError(StoreError):
    """The disk has no room for the record, or does not take it. What was recorded before stays."""


_DISK = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
"""What SQLite says of a disk that is full: the second where it maps a file into memory."""


def of_the_disk(error: sqlite3.Error, folder: Path, hint: str) -> NoRoomError | None:
    """The error of a full or failing disk; None if the error has another cause."""
    # The lowest byte is the code itself, what is above it says more closely what was being done.
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code not in _DISK:
        return None
    why = "is full" if code == sqlite3.SQLITE_FULL else "is full or fails"
    return NoRoomError(
        f"{folder}: the disk {why}, the record of the run cannot be kept: {error}", hint, code="disk-full"
    )


def of_the_file(error: sqlite3.Error, folder: Path) -> StoreError | None:
    """The error of a record that is damaged or may not be written; None if the error has another cause."""
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code == sqlite3.SQLITE_READONLY:
        hint = "look at the rights of the record and of its folder: `ls -l`"
        return StoreError(f"{folder}: the record cannot be written: {error}", hint, code="cannot-write")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreError(f"{folder}: the record is damaged: {error}", code="store-damaged")
    return None


def of_a_lock(error: sqlite3.Error, path: Path) -> StoreError | None:
    """The error of a record that another program has locked; None if the error has another cause."""
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return None
    hint = "close what has it open, a backup or an SQLite shell, and try again"
    return StoreError(f"{path}: another program has locked the record: {error}", hint, code="run-in-use")


def _is_ours(path: Path) -> bool:
    """Whether the header of a file, whatever is behind it, says that netdyno made it."""
    try:
        with open(path, "rb") as file:
            header = file.read(72)
    except OSError:
        return False
    # The database file format of SQLite has the application's number there.
    return header.startswith(b"SQLite format 3\x00") and header[68:] == APPLICATION_ID.to_bytes(4, "big")


def _refuse(error: sqlite3.Error, path: Path) -> StoreError:
    """Why a file cannot be opened as a record."""
    return (
        of_the_disk(error, path.parent, ROOM)
        or of_a_lock(error, path)
        or (_is_ours(path) and StoreError(f"{path}: the record is damaged: {error}", code="store-damaged"))
        or StoreError(f"{path}: not a run of netdyno: {error}", RUNS, code="not-a-store")
    )


def roll_back(connection: sqlite3.Connection) -> None:
    """Ends a transaction that failed. A full disk may have ended it already, or fail this too."""
    if connection.in_transaction:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """Every migration as (number, SQL), in order; numbered from 1 without a gap."""
    files = list(resources.files(__package__).joinpath("migrations").iterdir())
    found = sorted((int(item.name[:4]), item.read_text()) for item in files if item.name.endswith(".sql"))
    assert [number for number, _ in found] == list(range(1, len(found) + 1)), "migrations have a gap"
    return tuple(found)


def open_for_writing(path: Path) -> sqlite3.Connection:
    """The open store: created or migrated, with durable commits.

    WAL lets others read while this process writes. `synchronous=FULL` makes a commit survive a power
    cut too, and not only a kill; a trial takes seconds, a commit milliseconds.
    """
    if path.exists():
        with closing(_connect_read_only(path)) as connection:
            _check_made_by_netdyno(connection, path)
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=LOCKED_S)
    except sqlite3.OperationalError as error:
        hint = f"look at its folder's rights and at the disk's room and inodes: df -h -i {path.parent}"
        raise NoRoomError(
            f"{path}: the record of the run cannot be begun: {error}", hint, code="cannot-write"
        ) from error
    with _closed_on_error(connection, path):
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        migrate(connection, path)
    return connection


@contextmanager
def _closed_on_error(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Closes a connection whose file turns out to be no record; SQLite's errors are raised as StoreError."""
    try:
        yield
    except UnicodeDecodeError as error:
        # SQLite quotes the damaged schema, which Python cannot read as text.
        connection.close()
        raise StoreError(
            f"{path}: not a run of netdyno: its schema is damaged", code="store-damaged"
        ) from error
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _refuse(error, path) from error
    except BaseException:
        connection.close()
        raise


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Applies what is missing. A store written by a newer netdyno is refused, not guessed at."""
    known = migrations()
    connection.create_function("packed", 1, compress, deterministic=True)
    connection.create_function("hashed", 1, _hashed, deterministic=True)
    for number, sql in known:
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = stored_version(connection)
            if version > len(known):
                raise StoreError(*_newer(path, version), code="newer-store")
            if version < number:
                connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
                for statement in statements(sql):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version={number}")
            connection.execute("COMMIT")
        except BaseException:
            roll_back(connection)
            raise


def _hashed(data: bytes | None) -> bytes | None:
    return None if data is None else hash_bytes(data)


def statements(sql: str) -> list[str]:
    """The statements of a migration. (`executescript` would commit before the first one.)"""
    found, rest = [], ""
    for line in sql.splitlines(keepends=True):
        rest += line
        if sqlite3.complete_statement(rest):
            found.append(rest)
            rest = ""
    assert all(not line.strip() or line.strip().startswith("--") for line in rest.splitlines()), (
        "half a statement"
    )
    return found


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Opens the file read-only; a run may be writing it at the same time."""
    if not path.exists():
        message = f"{path.parent}: no run is here (no such file: {path.name})"
        raise StoreError(message, RUNS, code="no-such-run")
    connection = _connect_read_only(path)
    with _closed_on_error(connection, path):
        _check_made_by_netdyno(connection, path)
        version = stored_version(connection)
        current = len(migrations())
        if version == current:
            _check_shape(connection, path)
            return connection
    connection.close()
    if version > current:
        raise StoreError(*_newer(path, version), code="newer-store")
    if version == 0:
        raise StoreError(f"{path}: not a run of netdyno: it holds no tables", RUNS, code="not-a-store")
    open_for_writing(path).close()
    return open_for_reading(path)


def _check_made_by_netdyno(connection: sqlite3.Connection, path: Path) -> None:
    """Refuses a file of another program or of a netdyno before 0.1.0, before anything is written to it."""
    try:
        (found,) = connection.execute("PRAGMA application_id").fetchone()
        version = stored_version(connection)
    except sqlite3.DatabaseError as error:
        raise _refuse(error, path) from error
    if found == APPLICATION_ID:
        return
    if found == 0 and version:
        raise StoreError(f"{path}: made before 0.1.0", "run the plan again", code="old-store")
    raise StoreError(f"{path}: not a run of netdyno: another program made it", RUNS, code="not-a-store")


def _check_shape(connection: sqlite3.Connection, path: Path) -> None:
    """That the tables are those of the migrations: STRICT ones, whose columns then hold what they say."""
    wrong = _shape_after(migrations()) - _shape(connection)
    if wrong:
        table, column = min(wrong)[:2]
        raise StoreError(
            f"{path}: not a run of netdyno: its table `{table}` has no such `{column}`",
            code="store-damaged",
        )


@cache
def _shape_after(known: tuple[tuple[int, str], ...]) -> set[tuple[str, str, str, int, int]]:
    """The shape that the migrations give a new file. Made once: thousands of files may be listed."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        migrate(model, Path(FILE))
        return _shape(model)


def _shape(connection: sqlite3.Connection) -> set[tuple[str, str, str, int, int]]:
    return set(
        connection.execute(
            'SELECT t.name, c.name, c.type, c."notnull", t.strict'
            " FROM pragma_table_list AS t, pragma_table_info(t.name) AS c"
            " WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'"
        )
    )


def _connect_read_only(path: Path) -> sqlite3.Connection:
    # On read-only media SQLite cannot make the shared index that WAL readers use; a store at rest does not
    # need it.
    at_rest = not path.with_name(path.name + "-wal").exists() and not os.access(path.parent, os.W_OK)
    query = "mode=ro&immutable=1" if at_rest else "mode=ro"
    uri = f"{path.resolve().as_uri()}?{query}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30.0)


def stored_version(connection: sqlite3.Connection) -> int:
    """The number of the last migration applied to the file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _newer(path: Path, version: int) -> tuple[str, str]:
    return (f"{path}: written by a newer netdyno (store version {version})", "update netdyno")
