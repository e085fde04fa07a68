"""Reading a run, also while another process writes it."""

from __future__ import annotations

import sqlite3
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from netdyno.stats.histogram import check as check_histogram
from netdyno.store.bodies import (
    CASE_HEAD,
    GOAL,
    RESULT,
    RUN_HEAD,
    TRIAL,
    VERDICT,
    WIRING,
    to_mapping,
    to_time,
    word,
)
from netdyno.store.checks import Checks, TrialRow
from netdyno.store.contents import Contents, decompress
from netdyno.store.hold import is_held
from netdyno.store.notes import read_notes
from netdyno.store.schema import FILE, StoreError, open_for_reading
from netdyno.store.series import LABEL, Row, unpack
from netdyno.store.series import join as with_series
from netdyno.values.engine_reason import REASONS as ENGINE_REASONS
from netdyno.values.load import Segment
from netdyno.values.outcome import FrameCounts, Outcome, StreamResult
from netdyno.values.reason import REASONS, Codes, join
from netdyno.values.records import (
    CaseError,
    CaseState,
    CaseWiring,
    Notes,
    RunHead,
    RunState,
    RunSummary,
    StoredCalibration,
    StoredCase,
    StoredTrial,
    StoredVerdict,
    TrialState,
)
from netdyno.values.transcript import Transcript
from netdyno.values.verdict import Limit

KNOWN = join(REASONS, ENGINE_REASONS)
"""Reasons of the values; those of the packages above are handed in."""

MOST_FOUND = 20
"""Faults of the file that SQLite looks for."""
FEW, RECENT = 16, 4
"""Series, and trials and specs, that are kept decoded while others are read."""


def open_run(path: Path, known: Codes = KNOWN) -> StoredRun:
    """Opens the run in a folder (or a `run.sqlite`). Raises StoreError.

    known: classes of reasons by code; those it does not have are read as `UnknownReason`.
    """
    folder = path.parent if path.name == FILE else path
    return StoredRun(folder, open_for_reading(folder / FILE), known)


_LIMITS = """SELECT who FROM verdicts AS one WHERE place = 0 AND (scope = 'sum' OR NOT EXISTS
    (SELECT 1 FROM verdicts WHERE case_number = one.case_number AND place = 0 AND scope <> one.scope))"""
"""Of each case the limit of all streams together, or of its only one."""


@dataclass(frozen=True)
class Verified:
    """How much of a record was checked, and what was found.

    unsealed_cases, unsealed_trials: those without hashes, because they were stored before there were any.
    """

    cases: int
    unsealed_cases: int
    trials: int
    unsealed_trials: int
    damage: tuple[StoreError, ...]


class StoredRun:
    """A run as the store holds it. Cases are read when asked for, trials one at a time.

    While the run goes on, each property reads what has been written by then.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection, known: Codes) -> None:
        self.folder = folder
        self._known = known
        self._connection = connection
        self._contents = Contents(connection)
        self._checks = Checks(connection, folder)
        # Trials of a steady load have the same contents: each is read and decoded once.
        self._unpacked = lru_cache(FEW)(self._samples)
        self._outcomes = lru_cache(RECENT)(self._outcome)
        self._specs = lru_cache(RECENT)(self._spec)
        try:
            with self._read_state():
                empty = self._checks.is_empty()
            if empty:
                raise StoreError(f"{folder}: the run was stopped before it had begun", code="nothing-stored")
        except StoreError:
            connection.close()
            raise

    @property
    def head(self) -> RunHead:
        """Plan, versions, seed."""
        with self._read_state():
            return RUN_HEAD.decode(self._of_run("head"), self._known)

    @property
    def state(self) -> RunState:
        """Whether it is done. A killed run could not say so: it is interrupted if no process writes it."""
        with self._read_state():
            state: RunState = word(self._of_run("state"), RunState)
        if state != "running" or is_held(self.folder):
            return state
        with self._read_state():
            # It may have ended in order between the two looks.
            state = word(self._of_run("state"), RunState)
        return "interrupted" if state == "running" else state

    @property
    def started(self) -> datetime:
        """When it began, UTC."""
        with self._read_state():
            return to_time(self._of_run("started"))

    @property
    def ended(self) -> datetime | None:
        """When it ended, UTC; None if it has not."""
        with self._read_state():
            ended = self._of_run("ended")
            return None if ended is None else to_time(ended)

    @property
    def cases(self) -> tuple[StoredCase, ...]:
        """Every case in the order of the matrix, also those that have not run."""
        cases = tuple(self._cases())
        if any(case.state == "running" for case in cases) and self.state == "interrupted":
            return tuple(
                replace(case, state="interrupted") if case.state == "running" else case for case in cases
            )
        return cases

    @property
    def calibrations(self) -> tuple[StoredCalibration, ...]:
        """Those that cases of the run rest on, in the order of their names."""
        with self._read_state():
            self._checks.run()
            rows = self._connection.execute("SELECT id, document FROM calibrations ORDER BY id").fetchall()
            return tuple(
                StoredCalibration(
                    own, decompress(self._contents.get(document, f"calibration {own}")).decode()
                )
                for own, document in rows
            )

    @property
    def notes(self) -> Notes:
        """What people added beside the record."""
        return read_notes(self.folder)

    def trial_count(self) -> int:
        """How many finished trials are kept, those of cases without a result too."""
        with self._read_state():
            sql = "SELECT count(*) FROM trials WHERE state = 'done'"
            return int(self._connection.execute(sql).fetchone()[0])

    def trials(
        self, case: int, *, with_ports: bool = True, with_lists: bool = True, with_texts: bool = False
    ) -> Iterator[StoredTrial]:
        """The trials of a case with their series, in order, one at a time; invalid and cancelled ones too.

        with_ports: whether with the series of ports, which are most of all series; without, they are empty
        and not checked. with_lists: whether specs have their long lists, such as the addresses of 65,536
        routes; without, hashes stand in their place. with_texts: whether outcomes have what devices printed.
        """
        with self._read_state(case):
            for row in self._trial_rows(case):
                with self._read_state(case, row.number):
                    trial = self._trial(case, row, with_ports=with_ports, with_lists=with_lists)
                    if with_texts:
                        trial = replace(trial, result=self._with_texts(row.id, trial.result))
                yield trial

    def trial(self, case: int, number: int) -> StoredTrial | None:
        """The trial of that number that counts, or None: `Result.trials` names them."""
        with self._read_state(case):
            for row in self._trial_rows(case):
                if row.number == number:
                    with self._read_state(case, number):
                        trial = self._trial(case, row)
                    if trial.state == "done":
                        return trial
            return None

    def summary(self) -> RunSummary:
        """The run in one line."""
        with self._read_state():
            self._checks.run()
            (run,) = self._rows("SELECT head, state, started, ended FROM run")
            head, state = RUN_HEAD.decode(run["head"], self._known), word(run["state"], RunState)
            started, ended = to_time(run["started"]), run["ended"] and to_time(run["ended"])
            states: Counter[str] = Counter()
            for number, of_case in self._connection.execute("SELECT number, state FROM cases").fetchall():
                self._checks.case(number)
                states[of_case] += 1
            limits = Counter(word(who, Limit) for (who,) in self._connection.execute(_LIMITS).fetchall())
            goals = Counter(
                None if passed is None else bool(passed)
                for (passed,) in self._connection.execute("SELECT passed FROM goals").fetchall()
            )
        return RunSummary(
            folder=self.folder,
            title=head.title,
            # One that is running may be held by no process any more.
            state=self.state if state == "running" else state,
            started=started,
            ended=ended,
            cases=states.total(),
            done=states["done"],
            failed=states["failed"],
            limits=dict(limits),
            goals=dict(goals),
            notes=self.notes,
        )

    def verify(self) -> Verified:
        """Checks all of the record, also what no report reads."""
        damage = list(self._damage_of_file())
        cases: list[bool] = []
        trials: list[bool] = []
        with self._read_state():
            for (number,) in self._connection.execute("SELECT number FROM cases ORDER BY number").fetchall():
                damage += self._damage_of_case(number, cases, trials)
            damage += self._damage_of_run() if not damage else ()
        return Verified(len(cases), cases.count(False), len(trials), trials.count(False), tuple(damage))

    def _damage_of_case(self, number: int, cases: list[bool], trials: list[bool]) -> Iterator[StoreError]:
        """The damage of a case and its trials. cases, trials: whether each has hashes, added here."""
        try:
            with self._read_state(number):
                cases.append(self._checks.is_case_sealed(number))
                rows = self._checks.trials(number)
                self._case(number)
        except StoreError as error:
            yield error
            return
        for row in rows:
            trials.append(row.is_sealed)
            try:
                with self._read_state(number, row.number):
                    found = self._trial(number, row)
                    assert self._with_texts(row.id, found.result)
            except StoreError as error:
                yield error

    def _damage_of_file(self) -> Iterator[StoreError]:
        """What SQLite finds of pages and indexes."""
        try:
            found = self._connection.execute(f"PRAGMA integrity_check({MOST_FOUND})").fetchall()
        except sqlite3.Error as error:
            found = [(str(error),)]
        for (text,) in found:
            if text != "ok":
                yield self._checks.damaged(f"the file: {text}")

    def _damage_of_run(self) -> Iterator[StoreError]:
        """What belongs to no case, or to none any more."""
        try:
            assert self.head
            assert self.started
            assert self.calibrations is not None
            for (number,) in self._connection.execute("SELECT id FROM contents").fetchall():
                self._contents.get(number, "a content that no trial has")
        except StoreError as error:
            yield error
        except _UNREADABLE as error:
            yield self._checks.damaged(str(error))

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    def __enter__(self) -> StoredRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _read_state(self, case: int | None = None, trial: int | None = None) -> Iterator[None]:
        """Reads one state of the record. What cannot be read is raised as damage: the record may come from
        anywhere. case, trial: what is read."""
        began = not self._connection.in_transaction
        try:
            if began:
                self._connection.execute("BEGIN")
            yield
        except _UNREADABLE as error:
            what = f"`{error.args[0]}` is missing" if isinstance(error, KeyError) else str(error)
            raise self._checks.damaged(what, case, trial) from error
        finally:
            if began:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")

    def _of_run(self, column: str) -> Any:
        """A column of the run's own row, which is checked."""
        self._checks.run()
        found = self._connection.execute(f"SELECT {column} FROM run").fetchone()
        if found is None:
            raise ValueError("the run's own row is missing")
        return found[0]

    def _cases(self) -> Iterator[StoredCase]:
        with self._read_state():
            self._checks.run()
            for (number,) in self._connection.execute("SELECT number FROM cases ORDER BY number").fetchall():
                with self._read_state(number):
                    self._checks.case(number)
                    yield self._case(number)

    def _rows(self, sql: str, *arguments: object) -> list[sqlite3.Row]:
        cursor = self._connection.cursor()
        cursor.row_factory = sqlite3.Row
        return cursor.execute(sql, arguments).fetchall()

    def _case(self, number: int) -> StoredCase:
        (row,) = self._rows("SELECT * FROM cases WHERE number = ?", number)
        verdicts = self._rows("SELECT * FROM verdicts WHERE case_number = ? ORDER BY place, scope", number)
        goals = self._rows("SELECT body FROM goals WHERE case_number = ? ORDER BY number", number)
        head = CASE_HEAD.decode(row["head"], self._known)
        if (head.number, head.name) != (row["number"], row["name"]):
            raise ValueError("a case that its columns contradict")
        return StoredCase(
            head=head,
            state=word(row["state"], CaseState),
            wiring=None if row["wiring"] is None else self._wiring(row["wiring"], row["session"]),
            result=None if row["result"] is None else RESULT.decode(row["result"], self._known),
            verdicts=tuple(_verdict(verdict, self._known) for verdict in verdicts),
            goals=tuple(GOAL.decode(goal["body"], self._known) for goal in goals),
            error=_error(row),
            started=None if row["started"] is None else to_time(row["started"]),
            ended=None if row["ended"] is None else to_time(row["ended"]),
        )

    def _wiring(self, wiring: int, session: int) -> CaseWiring:
        """The wiring, with the hashes of the session's long lists in place of these."""
        found = WIRING.unpack(self._contents.get(wiring, "its wiring"), self._known)
        spec = self._contents.get_spec(session, "its session", with_lists=False)
        places, streams = len(found.situation.places), len(found.situation.streams)
        if places not in (0, streams):
            raise ValueError(f"{places} places of {streams} streams")
        to_mapping(spec)
        return replace(found, session=spec)

    def _trial_rows(self, case: int) -> list[TrialRow]:
        """The trials of a case, none missing and none added, in order."""
        return sorted(self._checks.trials(case), key=lambda row: (row.number, row.attempt))

    def _trial(
        self, case: int, row: TrialRow, *, with_ports: bool = True, with_lists: bool = True
    ) -> StoredTrial:
        self._checks.trial(case, row)
        (found,) = self._rows("SELECT * FROM trials WHERE id = ?", row.id)
        series = self._series_rows(row.id, with_ports=with_ports)
        segments, outcome = self._outcomes(found["body"], series, with_ports)
        return StoredTrial(
            case=found["case_number"],
            number=found["number"],
            attempt=found["attempt"],
            name=found["name"],
            state=word(found["state"], TrialState),
            segments=segments,
            spec=self._specs(found["spec"], with_lists),
            result=outcome,
            started=to_time(found["started"]),
            ended=to_time(found["ended"]),
        )

    def _with_texts(self, trial: int, outcome: Outcome) -> Outcome:
        """The outcome of a trial with what devices printed. trial: its id."""
        found = self._connection.execute("SELECT data FROM transcripts WHERE trial = ?", (trial,)).fetchone()
        if found is None:
            return outcome
        data = self._contents.get(found[0], "what devices printed")
        Transcript.unpack(data)
        return replace(outcome, transcript=data)

    def _series_rows(self, trial: int, *, with_ports: bool) -> tuple[tuple[Any, ...], ...]:
        """What the record has of each series of a trial: `_COLUMNS`."""
        sql = (
            f"SELECT {', '.join(_COLUMNS)} FROM samples JOIN labels ON labels.id = samples.label"
            " WHERE trial = ? AND owner != ?"
        )
        return tuple(self._connection.execute(sql, (trial, "" if with_ports else "port")))

    def _outcome(
        self, body: int, rows: tuple[tuple[Any, ...], ...], with_ports: bool
    ) -> tuple[tuple[Segment, ...], Outcome]:
        """The load and the outcome of a trial, from its body and its series."""
        found = TRIAL.unpack(self._contents.get(body, "its counts"), self._known)
        if isinstance(found.outcome.counts, FrameCounts):
            for stream in found.outcome.streams:
                _check_histograms(stream)
        series = [self._row(**dict(zip(_COLUMNS, row, strict=True))) for row in rows]
        return found.segments, with_series(found.outcome, series, with_ports=with_ports)

    def _row(self, times: int | None, data: int, **others: Any) -> Row:
        """A series with its samples."""
        what = f"its series `{others['name']}` of `{others['subject']}`"
        samples = others["samples"]
        return Row(
            times=None if times is None else self._unpacked(times, samples, what),
            data=self._unpacked(data, samples, what),
            **others,
        )

    def _samples(self, content: int, samples: int, what: str) -> tuple[int, ...]:
        """A series, checked and unpacked."""
        return unpack(samples, self._contents.get(content, what))

    def _spec(self, content: int, with_lists: bool) -> str:
        """The spec of a trial, checked."""
        return _spec(self._contents.get_spec(content, "its spec", with_lists=with_lists))


_COLUMNS = (*LABEL, "first_ns", "every_ns", "samples", "times", "data")
"""Of a series in the record, the fields of a `Row`; samples and times as ids of contents."""


# What reading a record that is not ours, or not whole, runs into.
_UNREADABLE = (
    sqlite3.Error,
    zlib.error,
    struct.error,
    ValueError,
    ArithmeticError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
)


def _spec(text: str) -> str:
    """The text of a trial spec, once the parts of it that reports show were looked at."""
    for stream in to_mapping(text).get("streams", ()):
        for size in stream.get("sizes", ()):
            if not all(isinstance(size[part], int) and size[part] > 0 for part in ("size", "weight")):
                raise ValueError("a trial spec with sizes or weights that are no whole numbers above 0")
        arrival = stream.get("arrival", "")
        wave = arrival.get("wave") if isinstance(arrival, dict) else None
        if not isinstance(arrival, str) and not _is_wave(wave):
            raise ValueError("a trial spec with an arrival that is neither a word nor a wave")
    return text


def _is_wave(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and isinstance(found.get("shape"), str)
        and all(isinstance(found.get(part), int) for part in ("period_ns", "depth_ppm"))
    )


def _error(row: sqlite3.Row) -> CaseError | None:
    """Why a case has no result; None if nobody says so."""
    if row["error"] is None:
        return None
    if row["code"] is None:
        raise ValueError(f"the error of case {row['number']} has no code")
    return CaseError(row["code"], row["error"], row["hint"])


def _verdict(row: sqlite3.Row, known: Codes) -> StoredVerdict:
    found = VERDICT.decode(row["body"], known)
    if (found.scope, found.value, found.limit) != (row["scope"], row["value"], row["who"]):
        raise ValueError("a verdict that its columns contradict")
    return found


def _check_histograms(stream: StreamResult) -> None:
    """ValueError for a histogram that no report could show: it is refused where it was read."""
    timed, order, variation = stream.latency, stream.order, stream.variation
    texts = [timed.histogram if timed is not None and timed.count else None]
    texts += [None if order is None else order.extents]
    texts += [None if stream.spacing is None else stream.spacing.histogram]
    texts += [] if variation is None else [variation.above, variation.below]
    for text in texts:
        if text is not None:
            check_histogram(text)
