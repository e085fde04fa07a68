"""Writing a run."""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from netdyno.store.columns import (
    from_beside,
    from_fraction,
    from_interfaces,
    from_places,
    from_reason,
    from_reasons,
    from_segments,
    from_series,
    from_tables,
    from_texts,
    from_threads,
    from_time,
)
from netdyno.store.hold import Hold
from netdyno.store.observations import to_table
from netdyno.store.schema import FILE, ROOM, StoreError, of_the_disk, open_for_writing, roll_back
from netdyno.values.finding import Result
from netdyno.values.records import (
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


def new_folder(parent: Path, name: str, now: datetime) -> Path:
    """Makes `parent/2026-11-21T1912Z-name-ab12`."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "run"
    while True:
        stamp = now.astimezone(UTC).strftime("%Y-%m-%dT%H%MZ")
        folder = parent / f"{stamp}-{slug}-{secrets.token_hex(2)}"
        try:
            folder.mkdir(parents=True)
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
        self._hold = hold

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
        with self._transaction() as sql:
            sql.execute(
                "INSERT INTO run VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, NULL)",
                (
                    head.name,
                    head.title,
                    head.plan,
                    head.plan_path,
                    head.lab,
                    str(head.scale),
                    json.dumps(dict(head.only)),
                    head.seed,
                    json.dumps(dict(head.versions)),
                    from_time(now),
                ),
            )
            for case in cases:
                sql.execute(
                    "INSERT INTO cases (number, name, axes, kind, kind_title, emulated, settings, method,"
                    " parameters, notes, seed, repeat, state)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '[]', ?, ?, 'pending')",
                    (
                        case.number,
                        case.name,
                        json.dumps(dict(case.axes), ensure_ascii=False),
                        case.kind,
                        case.kind_title,
                        case.emulated,
                        json.dumps(dict(case.settings), ensure_ascii=False),
                        case.method,
                        case.parameters,
                        case.seed,
                        case.repeat,
                    ),
                )

    @classmethod
    def resume(cls, folder: Path, hold: Hold | None = None) -> RunWriter:
        """Goes on with the record of a run that ended early. Cases that were under way are pending again.

        hold: on the folder, if the caller has it already; closing the writer lets go of it.
        """
        if not (folder / FILE).exists():
            raise StoreError(f"{folder}: no run in this folder", "`netdyno list` shows the runs")
        hold = hold or Hold(folder)
        writer = cls(folder, _open(folder / FILE, hold), hold)
        try:
            with writer._transaction() as sql:
                if sql.execute("SELECT count(*) FROM run").fetchone()[0] == 0:
                    raise StoreError(
                        f"{folder}: the run was stopped before it had begun", "run the plan again"
                    )
                sql.execute("UPDATE run SET state = 'running', ended = NULL")
                sql.execute("UPDATE cases SET state = 'pending' WHERE state IN ('running', 'interrupted')")
                # A cancelled trial is kept until its number is measured again, see `add_trial`.
        except BaseException:
            writer.close()
            raise
        return writer

    def versions(self, versions: Mapping[str, str]) -> None:
        """What the run is made with, from now on."""
        with self._transaction() as sql:
            sql.execute("UPDATE run SET versions = ?", (json.dumps(dict(versions)),))

    def case_wired(
        self,
        number: int,
        wiring: CaseWiring,
        now: datetime,
        calibration: StoredCalibration | None = None,
    ) -> None:
        """A case has begun and its lab is known. calibration: what its `proven` comes from, kept once."""
        situation = wiring.situation
        with self._transaction() as sql:
            sql.execute(
                "UPDATE cases SET state = 'running', started = ?, ended = NULL, error = NULL, hint = NULL,"
                " clock = ?, streams = ?, line_fps = ?, mean_size = ?, flow_ceiling_fps = ?,"
                " enforced_rate = ?, notes = ?, session = ?, proven = ?, places = ? WHERE number = ?",
                (
                    from_time(now),
                    wiring.clock,
                    from_texts(situation.streams),
                    from_fraction(situation.line_fps),
                    from_fraction(situation.mean_size),
                    from_fraction(situation.flow_ceiling_fps),
                    wiring.enforced_rate,
                    from_reasons(wiring.notes),
                    wiring.session,
                    None if wiring.proven is None else wiring.proven.to_json(),
                    from_places(situation.places),
                    number,
                ),
            )
            if calibration is not None:
                sql.execute(
                    "INSERT OR IGNORE INTO calibrations VALUES (?, ?)",
                    (calibration.id, calibration.document),
                )

    def add_trial(self, trial: StoredTrial) -> None:
        """A trial has ended. A cancelled one of the same number makes room."""
        with self._transaction() as sql:
            for (old,) in sql.execute(
                "SELECT id FROM trials WHERE case_number = ? AND number = ? AND attempt = ?"
                " AND state = 'cancelled'",
                (trial.case, trial.number, trial.attempt),
            ).fetchall():
                for table in ("streams", "ports", "series", "phases", "resolved"):
                    sql.execute(f"DELETE FROM {table} WHERE trial = ?", (old,))
                sql.execute("DELETE FROM trials WHERE id = ?", (old,))
            _insert_trial(sql, trial)

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
            sql.execute(
                "INSERT INTO results (case_number, method, trials, compliance, notes, tables, recommended,"
                " standard, headlines) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    number,
                    result.method,
                    json.dumps(list(result.trials)),
                    from_reasons(result.compliance),
                    from_reasons(result.notes),
                    from_tables(result.tables),
                    from_reasons(result.recommended),
                    result.standard,
                    json.dumps(dict(result.headlines), ensure_ascii=False),
                ),
            )
            for place, value in enumerate(result.values):
                sql.execute(
                    "INSERT INTO result_values VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        number,
                        place,
                        value.name,
                        value.scope,
                        from_fraction(value.number),
                        None if value.number is None else float(value.number),
                        value.unit,
                        from_fraction(value.low),
                        from_fraction(value.high),
                        from_reason(value.note),
                        value.searched,
                        from_reason(value.contradicted),
                    ),
                )
            _insert_verdicts(sql, number, verdicts)
            for place, goal in enumerate(goals):
                row_ = (number, place, goal.name, goal.passed, from_reason(goal.reason))
                sql.execute("INSERT INTO goals VALUES (?, ?, ?, ?, ?)", row_)
            _end_case(sql, number, "done", None, None, now)

    def judged_again(self, number: int, verdicts: Iterable[StoredVerdict]) -> None:
        """The verdicts on a case are others, now that those on its siblings are known."""
        with self._transaction() as sql:
            sql.execute("DELETE FROM verdicts WHERE case_number = ?", (number,))
            _insert_verdicts(sql, number, verdicts)

    def case_ended(
        self, number: int, state: CaseState, error: str | None, hint: str | None, now: datetime
    ) -> None:
        """A case has ended without a result."""
        with self._transaction() as sql:
            _end_case(sql, number, state, error, hint, now)

    def run_ended(self, state: RunState, now: datetime) -> None:
        """The run is over."""
        with self._transaction() as sql:
            sql.execute("UPDATE run SET state = ?, ended = ?", (state, from_time(now)))

    def close(self) -> None:
        """Closes the file. What was written stays, whether or not this is called."""
        self._connection.close()
        if self._hold is not None:
            self._hold.close()

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
            if full is None:
                raise
            raise full from error


def _insert_verdicts(sql: sqlite3.Connection, case: int, verdicts: Iterable[StoredVerdict]) -> None:
    """In the order of the headlines they are on."""
    places: dict[str, int] = {}
    rows = [
        (
            case,
            places.setdefault(one.value, len(places)),
            one.value,
            one.scope,
            one.limit,
            from_reason(one.reason),
        )
        for one in verdicts
    ]
    sql.executemany("INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?)", rows)


def _end_case(
    sql: sqlite3.Connection, number: int, state: CaseState, error: str | None, hint: str | None, now: datetime
) -> None:
    sql.execute(
        "UPDATE cases SET state = ?, error = ?, hint = ?, ended = ? WHERE number = ?",
        (state, error, hint, from_time(now), number),
    )


def _insert_trial(sql: sqlite3.Connection, trial: StoredTrial) -> None:
    result, health = trial.result, trial.result.health
    cursor = sql.execute(
        "INSERT INTO trials (case_number, number, attempt, name, state, segments, spec, sample_ns, unsent,"
        " latest_departure_ns, longest_gap_ns, rx_dropped, tx_full, core_share_ppm, threads, invalid,"
        " devices, interfaces, next_hops, conflicts, happened, beside, exchange, started, ended)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            trial.case,
            trial.number,
            trial.attempt,
            trial.name,
            trial.state,
            from_segments(trial.segments),
            trial.spec,
            result.sample_ns,
            health.unsent,
            health.latest_departure_ns,
            health.longest_gap_ns,
            health.rx_dropped,
            health.tx_full,
            health.core_share_ppm,
            from_threads(health),
            from_reasons(result.invalid),
            json.dumps([dict(device) for device in result.devices]),
            from_interfaces(result.interfaces),
            json.dumps([asdict(hop) for hop in result.next_hops]),
            json.dumps([asdict(conflict) for conflict in result.conflicts]),
            json.dumps([asdict(happened) for happened in result.happened]),
            from_beside(result.beside),
            None if result.exchange is None else json.dumps(asdict(result.exchange), ensure_ascii=False),
            from_time(trial.started),
            from_time(trial.ended),
        ),
    )
    row = cursor.lastrowid
    assert row is not None
    for number, stream in enumerate(result.streams):
        timed = stream.latency
        values: list[Any] = [row, number, stream.name, stream.intended, stream.offered, stream.offered_bytes]
        values += [
            stream.received,
            stream.received_bytes,
            stream.duplicates,
            stream.elsewhere,
            stream.out_of_order,
        ]
        values += [
            stream.corrupted,
            stream.lost,
            stream.beyond_window,
            stream.flows_received,
            stream.first_loss_ns,
        ]
        if timed is None:
            values += [None] * 7
        else:
            values += [timed.count, timed.min_ns, str(timed.sum_ns), timed.max_ns, timed.over, timed.negative]
            values += [timed.histogram]
        values.append(None if stream.lag is None else json.dumps(asdict(stream.lag)))
        observed = to_table(stream)
        values.append(json.dumps(observed) if observed else None)
        sql.execute(f"INSERT INTO streams VALUES ({', '.join('?' * len(values))})", values)
        for name, counts in (("tx", stream.tx), ("rx", stream.rx), ("arrived", stream.arrived)):
            _insert_series(sql, row, "stream", number, name, counts)
    for number, port in enumerate(result.ports):
        sql.execute(
            "INSERT INTO ports VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                row,
                number,
                port.name,
                port.tx_frames,
                port.tx_bytes,
                port.rx_frames,
                port.rx_bytes,
                port.foreign,
                port.stale,
                port.own_frames,
            ),
        )
        columns = (
            ("tx", port.tx),
            ("tx_bytes", port.tx_bytes_series),
            ("rx", port.rx),
            ("rx_bytes", port.rx_bytes_series),
        )
        for name, counts in columns:
            _insert_series(sql, row, "port", number, name, counts)
    for number, phase in enumerate(result.phases):
        sql.execute(
            "INSERT INTO phases VALUES (?, ?, ?, ?, ?)",
            (row, number, phase.name, phase.start_ns, phase.duration_ns),
        )
    for address, mac in result.resolved:
        sql.execute("INSERT OR REPLACE INTO resolved VALUES (?, ?, ?)", (row, address, mac))


def _insert_series(
    sql: sqlite3.Connection, trial: int, owner: str, number: int, name: str, counts: Sequence[int]
) -> None:
    sql.execute(
        "INSERT INTO series VALUES (?, ?, ?, ?, ?, ?)",
        (trial, owner, number, name, len(counts), from_series(counts)),
    )
