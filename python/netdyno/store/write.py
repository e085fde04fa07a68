"""Writing a run."""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from netdyno.store import seals
from netdyno.store.bodies import (
    CASE_HEAD,
    GOAL,
    RESULT,
    RUN_HEAD,
    TRIAL,
    VERDICT,
    WIRING,
    TrialBody,
    from_time,
)
from netdyno.store.checks import Checks
from netdyno.store.contents import Contents, compress
from netdyno.store.hold import Hold
from netdyno.store.schema import (
    FILE,
    ROOM,
    NoRoomError,
    StoreError,
    of_a_lock,
    of_the_disk,
    of_the_file,
    open_for_writing,
    roll_back,
)
from netdyno.store.series import LABEL, Row, pack, split
from netdyno.values.finding import Result
from netdyno.values.records import (
    CaseError,
    CaseHead,
    CaseState,
    CaseWiring,
    RunHead,
    RunState,
    StoredCalibration,
    StoredGoal,
    StoredTrial,
    StoredVerdict,
)
from netdyno.values.transcript import Transcript

MOST_TRANSCRIPTS = 20 * 10**6
"""Bytes of what devices printed, packed, in one record."""


def new_folder(parent: Path, name: str, now: datetime) -> Path:
    """Makes `parent/2026-11-21T1912Z-name-ab12`. Raises NoRoomError if `parent` can be no folder."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "run"
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NoRoomError(
            f"{parent}: no folder of runs: it is a file or a link that leads nowhere",
            "`--out` names another folder",
            code="cannot-write",
        ) from error
    while True:
        stamp = now.astimezone(UTC).strftime("%Y-%m-%dT%H%MZ")
        folder = parent / f"{stamp}-{slug}-{secrets.token_hex(2)}"
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder


def _open(path: Path, hold: Hold) -> sqlite3.Connection:
    try:
        return open_for_writing(path)
    except BaseException:
        hold.close()
        raise


class RunWriter:
    """The one writer of a run. Each call is a transaction; when it returns, it is on the disk."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, hold: Hold | None) -> None:
        self.folder = folder
        self._connection = connection
        self._contents = Contents(connection)
        self._hold = hold
        self._transcribed: int | None = None

    @classmethod
    def create(cls, folder: Path, head: RunHead, cases: Iterable[CaseHead], now: datetime) -> RunWriter:
        """Starts the record of a new run in an existing folder.

        It appears under its name once it holds the plan and every case: whoever sees it can read it, and
        a run killed before has none.
        """
        hold = Hold(folder)
        unborn = folder / f"{FILE}.new"
        try:
            unborn.unlink(missing_ok=True)
            writer = cls(folder, _open(unborn, hold), None)
            try:
                writer._begin(head, cases, now)
            finally:
                # The last connection that closes moves the log into the file, which then is whole by itself.
                writer.close()
            unborn.rename(folder / FILE)
            return cls(folder, _open(folder / FILE, hold), hold)
        except BaseException:
            hold.close()
            raise

    def _begin(self, head: RunHead, cases: Iterable[CaseHead], now: datetime) -> None:
        """The plan and every case, in one transaction."""
        numbers = []
        with self._transaction() as sql:
            sql.execute(
                "INSERT INTO run VALUES (1, 'running', ?, NULL, ?)", (from_time(now), RUN_HEAD.encode(head))
            )
            for case in cases:
                numbers.append(case.number)
                sql.execute(
                    "INSERT INTO cases (number, name, state, head) VALUES (?, ?, 'pending', ?)",
                    (case.number, case.name, CASE_HEAD.encode(case)),
                )
            seals.begin(sql, numbers)

    @classmethod
    def resume(cls, folder: Path, hold: Hold | None = None) -> RunWriter:
        """Goes on with the record of a run that ended early. Cases that were under way are pending again.

        hold: on the folder, if the caller has it already; closing the writer lets go of it.
        """
        if not (folder / FILE).exists():
            raise StoreError(
                f"{folder}: no run in this folder", "`netdyno list` shows the runs", code="no-such-run"
            )
        hold = hold or Hold(folder)
        writer = cls(folder, _open(folder / FILE, hold), hold)
        try:
            with writer._transaction() as sql:
                checks = Checks(sql, folder)
                if checks.is_empty():
                    raise StoreError(
                        f"{folder}: the run was stopped before it had begun",
                        "run the plan again",
                        code="nothing-stored",
                    )
                # What is sealed anew must be what was stored.
                checks.run()
                sql.execute("UPDATE run SET state = 'running', ended = NULL")
                under_way = "SELECT number FROM cases WHERE state IN ('running', 'interrupted')"
                for (number,) in sql.execute(under_way).fetchall():
                    checks.case(number)
                    sql.execute("UPDATE cases SET state = 'pending' WHERE number = ?", (number,))
                    seals.case_changed(sql, number)
                seals.run_changed(sql)
                # A cancelled trial is kept until its number is measured again, see `add_trial`.
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            # Also a check in a damaged schema that fails, and bytes of it that SQLite quotes.
            writer.close()
            raise StoreError(f"{folder}: the record is damaged: {error}", code="store-damaged") from error
        except BaseException:
            writer.close()
            raise
        return writer

    def versions(self, versions: Mapping[str, str]) -> None:
        """What the run is made with, from now on."""
        with self._transaction() as sql:
            (head,) = sql.execute("SELECT head FROM run").fetchone()
            text = RUN_HEAD.encode(replace(RUN_HEAD.decode(head, {}), versions=dict(versions)))
            sql.execute("UPDATE run SET head = ?", (text,))
            seals.run_changed(sql)

    def case_wired(
        self,
        number: int,
        wiring: CaseWiring,
        now: datetime,
        *calibrations: StoredCalibration,
    ) -> None:
        """A case has begun and its lab is known. calibrations: what its `proven` comes from, kept once."""
        with self._transaction() as sql:
            sql.execute(
                "UPDATE cases SET state = 'running', started = ?, ended = NULL, code = NULL, error = NULL,"
                " hint = NULL WHERE number = ?",
                (from_time(now), number),
            )
            self._set_wiring(sql, number, wiring)
            for calibration in calibrations:
                document = self._contents.put(compress(calibration.document))
                sql.execute("INSERT OR IGNORE INTO calibrations VALUES (?, ?)", (calibration.id, document))
            seals.case_changed(sql, number)

    def case_rewired(self, number: int, wiring: CaseWiring) -> None:
        """More is known of a case's lab than when it was built."""
        with self._transaction() as sql:
            self._set_wiring(sql, number, wiring)
            seals.case_changed(sql, number)

    def _set_wiring(self, sql: sqlite3.Connection, number: int, wiring: CaseWiring) -> None:
        body = self._contents.put(WIRING.pack(replace(wiring, session="")))
        session = self._contents.put_spec(wiring.session)
        sql.execute("UPDATE cases SET wiring = ?, session = ? WHERE number = ?", (body, session, number))

    def add_trial(self, trial: StoredTrial) -> None:
        """A trial has ended. A cancelled one of the same number makes room."""
        bare, rows = split(trial.result)
        body = TRIAL.pack(TrialBody(trial.segments, bare))
        transcript = self._with_room(trial.result.transcript)
        with self._transaction() as sql:
            replaced = sql.execute(
                "SELECT id FROM trials WHERE case_number = ? AND number = ? AND attempt = ?"
                " AND state = 'cancelled'",
                (trial.case, trial.number, trial.attempt),
            ).fetchall()
            for old in replaced:
                sql.execute("DELETE FROM samples WHERE trial = ?", old)
                sql.execute("DELETE FROM transcripts WHERE trial = ?", old)
                sql.execute("DELETE FROM trials WHERE id = ?", old)
            if replaced:
                seals.trials_removed(sql, trial.case)
            cursor = sql.execute(
                "INSERT INTO trials (case_number, number, attempt, name, state, started, ended, spec,"
                " body, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    trial.case,
                    trial.number,
                    trial.attempt,
                    trial.name,
                    trial.state,
                    from_time(trial.started),
                    from_time(trial.ended),
                    self._contents.put_spec(trial.spec),
                    self._contents.put(body),
                    seals.NONE,
                ),
            )
            own = cursor.lastrowid
            assert own is not None
            for row in rows:
                self._add_samples(sql, own, row)
            if transcript:
                sql.execute("INSERT INTO transcripts VALUES (?, ?)", (own, self._contents.put(transcript)))
            seals.add_trial(sql, trial.case, own)

    def _add_samples(self, sql: sqlite3.Connection, trial: int, row: Row) -> None:
        """A series of a trial."""
        label = tuple(getattr(row, name) for name in LABEL)
        sql.execute(
            f"INSERT OR IGNORE INTO labels ({', '.join(LABEL)}) VALUES (?{', ?' * (len(LABEL) - 1)})", label
        )
        where = " AND ".join(f"{name} = ?" for name in LABEL)
        (number,) = sql.execute(f"SELECT id FROM labels WHERE {where}", label).fetchone()
        times = None if row.times is None else self._contents.put(pack(row.times))
        values = (
            trial,
            number,
            row.first_ns,
            row.every_ns,
            row.samples,
            times,
            self._contents.put(pack(row.data)),
        )
        sql.execute("INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def _with_room(self, transcript: bytes) -> bytes:
        """What devices printed in a trial; how many texts alone, once the record has no room for them."""
        if not transcript:
            return b""
        if self._transcribed is None:
            every = "SELECT sum(length(data)) FROM contents WHERE id IN (SELECT data FROM transcripts)"
            with self._transaction() as sql:
                self._transcribed = sql.execute(every).fetchone()[0] or 0
        if self._transcribed + len(transcript) > MOST_TRANSCRIPTS:
            transcript = Transcript.unpack(transcript).without_texts().pack()
        self._transcribed += len(transcript)
        return transcript

    def case_done(
        self,
        number: int,
        result: Result,
        verdicts: Iterable[StoredVerdict],
        goals: Iterable[StoredGoal],
        now: datetime,
    ) -> None:
        """A case has ended with a result."""
        with self._transaction() as sql:
            sql.execute("UPDATE cases SET result = ? WHERE number = ?", (RESULT.encode(result), number))
            _insert_verdicts(sql, number, verdicts)
            for place, goal in enumerate(goals):
                row = (number, place, goal.passed, GOAL.encode(goal))
                sql.execute("INSERT INTO goals VALUES (?, ?, ?, ?)", row)
            _end_case(sql, number, "done", None, now)
            seals.case_changed(sql, number)

    def judged_again(self, number: int, verdicts: Iterable[StoredVerdict]) -> None:
        """The verdicts on a case are others, now that those on its siblings are known."""
        with self._transaction() as sql:
            sql.execute("DELETE FROM verdicts WHERE case_number = ?", (number,))
            _insert_verdicts(sql, number, verdicts)
            seals.case_changed(sql, number)

    def case_ended(self, number: int, state: CaseState, error: CaseError | None, now: datetime) -> None:
        """A case has ended without a result."""
        with self._transaction() as sql:
            _end_case(sql, number, state, error, now)
            seals.case_changed(sql, number)

    def run_ended(self, state: RunState, now: datetime) -> None:
        """The run is over."""
        with self._transaction() as sql:
            sql.execute("UPDATE run SET state = ?, ended = ?", (state, from_time(now)))
            seals.run_changed(sql)

    def close(self) -> None:
        """Closes the file. What was written stays, whether or not this is called."""
        self._connection.close()
        if self._hold is not None:
            self._hold.close()

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                roll_back(self._connection)
                raise
        except sqlite3.Error as error:
            hint = f"make room on that disk, then `netdyno run --resume {self.folder}` goes on with it"
            full = of_the_disk(error, self.folder, ROOM if self._hold is None else hint)
            why = full or of_a_lock(error, self.folder / FILE) or of_the_file(error, self.folder)
            if why is None:
                raise
            raise why from error


def _insert_verdicts(sql: sqlite3.Connection, case: int, verdicts: Iterable[StoredVerdict]) -> None:
    """In the order of the headlines they are on."""
    places: dict[str, int] = {}
    rows = [
        (
            case,
            places.setdefault(one.value, len(places)),
            one.scope,
            one.value,
            one.limit,
            VERDICT.encode(one),
        )
        for one in verdicts
    ]
    sql.executemany("INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?)", rows)


def _end_case(
    sql: sqlite3.Connection, number: int, state: CaseState, error: CaseError | None, now: datetime
) -> None:
    fields = (None, None, None) if error is None else (error.code, error.message, error.hint)
    sql.execute(
        "UPDATE cases SET state = ?, code = ?, error = ?, hint = ?, ended = ? WHERE number = ?",
        (state, *fields, from_time(now), number),
    )
