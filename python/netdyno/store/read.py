"""Reading a run, also while another process writes it."""

from __future__ import annotations

import sqlite3
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType

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
from netdyno.store.hold import is_held
from netdyno.store.schema import FILE, StoreError, open_for_reading
from netdyno.store.series import Row
from netdyno.store.series import join as with_series
from netdyno.values.engine_reason import REASONS as ENGINE_REASONS
from netdyno.values.outcome import FrameCounts, StreamResult
from netdyno.values.reason import REASONS, Codes, join
from netdyno.values.records import (
    CaseError,
    CaseHead,
    CaseState,
    CaseWiring,
    RunHead,
    RunState,
    RunSummary,
    StoredCalibration,
    StoredCase,
    StoredTrial,
    StoredVerdict,
    TrialState,
    UnreadableRun,
)
from netdyno.values.verdict import Limit

KNOWN = join(REASONS, ENGINE_REASONS)
"""Reasons of the values; those of the packages above are handed in."""

LONGEST = 300
"""Characters of what is said of a damaged record: it may quote the record, on one line."""


def open_run(path: Path, known: Codes = KNOWN) -> StoredRun:
    """Opens the run in a folder (or a `run.sqlite`). Raises StoreError.

    known: classes of reasons by code; those it does not have are read as `UnknownReason`.
    """
    folder = path.parent if path.name == FILE else path
    return StoredRun(folder, open_for_reading(folder / FILE), known)


def list_runs(parent: Path) -> Iterator[RunSummary | UnreadableRun]:
    """The runs in the folders of `parent`, oldest first, then those that cannot be read.

    Folders that hold none are passed over.
    """
    found: list[RunSummary] = []
    unreadable: list[UnreadableRun] = []
    for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
        if (folder / FILE).exists():
            try:
                with open_run(folder) as run:
                    found.append(run.summary())
            except StoreError as error:
                unreadable.append(UnreadableRun(folder, error.message))
    # A folder's name has the minute, and then the name of the plan.
    yield from sorted(found, key=lambda one: one.started)
    yield from unreadable


class StoredRun:
    """A run as the store holds it. Cases are read when asked for, trials one at a time.

    While the run goes on, each property reads what has been written by then.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection, known: Codes) -> None:
        self.folder = folder
        self._known = known
        self._connection = connection
        connection.row_factory = sqlite3.Row
        try:
            with self._reading():
                empty = self._one("SELECT 1 FROM run") is None
            if empty:
                raise StoreError(f"{folder}: the run was stopped before it had begun", code="nothing-stored")
        except StoreError:
            connection.close()
            raise

    @property
    def head(self) -> RunHead:
        """Plan, versions, seed."""
        with self._reading():
            return RUN_HEAD.decode(self._row("SELECT head FROM run")["head"], self._known)

    @property
    def state(self) -> RunState:
        """Whether it is done. A killed run could not say so: it is interrupted if no process writes it."""
        with self._reading():
            state: RunState = word(self._row("SELECT state FROM run")["state"], RunState)
        if state != "running" or is_held(self.folder):
            return state
        with self._reading():
            # It may have ended in order between the two looks.
            state = word(self._row("SELECT state FROM run")["state"], RunState)
        return "interrupted" if state == "running" else state

    @property
    def started(self) -> datetime:
        """When it began, UTC."""
        with self._reading():
            return to_time(self._row("SELECT started FROM run")["started"])

    @property
    def ended(self) -> datetime | None:
        """When it ended, UTC; None if it has not."""
        with self._reading():
            ended = self._row("SELECT ended FROM run")["ended"]
            return None if ended is None else to_time(ended)

    @property
    def cases(self) -> tuple[StoredCase, ...]:
        """Every case in the order of the matrix, also those that have not run."""
        with self._reading():
            rows = self._connection.execute("SELECT * FROM cases ORDER BY number").fetchall()
            cases = tuple(self._case(row) for row in rows)
        if any(case.state == "running" for case in cases) and self.state == "interrupted":
            return tuple(
                replace(case, state="interrupted") if case.state == "running" else case for case in cases
            )
        return cases

    @property
    def calibrations(self) -> tuple[StoredCalibration, ...]:
        """Those that cases of the run rest on, in the order of their names."""
        with self._reading():
            rows = self._connection.execute("SELECT id, document FROM calibrations ORDER BY id").fetchall()
            return tuple(StoredCalibration(row["id"], row["document"]) for row in rows)

    def trial_count(self) -> int:
        """How many finished trials are kept, those of cases without a result too."""
        with self._reading():
            return int(self._row("SELECT count(*) FROM trials WHERE state = 'done'")[0])

    def trials(self, case: int, *, with_ports: bool = True) -> Iterator[StoredTrial]:
        """The trials of a case with their series, in order, one at a time; invalid and cancelled ones too.

        with_ports: whether with the series of ports, which are most of all series; they are empty otherwise,
        and nobody looks whether they are damaged.
        """
        sql = "SELECT * FROM trials WHERE case_number = ? ORDER BY number, attempt"
        with self._reading():
            rows = self._connection.execute(sql, (case,)).fetchall()
        for row in rows:
            with self._reading():
                trial = self._trial(row, with_ports=with_ports)
            yield trial

    def trial(self, case: int, number: int) -> StoredTrial | None:
        """The trial of that number that counts, or None: `Result.trials` names them."""
        sql = "SELECT * FROM trials WHERE case_number = ? AND number = ? AND state = 'done'"
        with self._reading():
            row = self._one(sql, case, number)
            return None if row is None else self._trial(row)

    def summary(self) -> RunSummary:
        """The run in one line."""
        with self._reading():
            states = Counter(row["state"] for row in self._connection.execute("SELECT state FROM cases"))
            sums = self._connection.execute(
                "SELECT who FROM verdicts WHERE scope = 'sum' AND place = 0"
            ).fetchall()
            limits = Counter(word(row["who"], Limit) for row in sums)
        return RunSummary(
            folder=self.folder,
            head=self.head,
            state=self.state,
            started=self.started,
            ended=self.ended,
            cases=states.total(),
            done=states["done"],
            failed=states["failed"],
            limits=dict(limits),
        )

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    def __enter__(self) -> StoredRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise anything that cannot be read as a fault of the record, which may come from anywhere."""
        try:
            yield
        except _UNREADABLE as error:
            what = f"`{error.args[0]}` is missing" if isinstance(error, KeyError) else str(error)
            what = " ".join(what.split())[:LONGEST]
            raise StoreError(f"{self.folder}: the record is damaged: {what}", code="store-damaged") from error

    def _one(self, sql: str, *arguments: object) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self._connection.execute(sql, arguments).fetchone()
        return row

    def _row(self, sql: str, *arguments: object) -> sqlite3.Row:
        row = self._one(sql, *arguments)
        if row is None:
            raise ValueError("the run's own row is missing")
        return row

    def _case(self, row: sqlite3.Row) -> StoredCase:
        number = row["number"]
        verdicts = self._connection.execute(
            "SELECT * FROM verdicts WHERE case_number = ? ORDER BY place, scope", (number,)
        )
        goals = self._connection.execute(
            "SELECT body FROM goals WHERE case_number = ? ORDER BY number", (number,)
        )
        return StoredCase(
            head=_same(CASE_HEAD.decode(row["head"], self._known), row, "number", "name"),
            state=word(row["state"], CaseState),
            wiring=None if row["wiring"] is None else _wiring(WIRING.decode(row["wiring"], self._known)),
            result=None if row["result"] is None else RESULT.decode(row["result"], self._known),
            verdicts=tuple(_verdict(verdict, self._known) for verdict in verdicts),
            goals=tuple(GOAL.decode(goal["body"], self._known) for goal in goals),
            error=_error(row),
            started=None if row["started"] is None else to_time(row["started"]),
            ended=None if row["ended"] is None else to_time(row["ended"]),
        )

    def _trial(self, row: sqlite3.Row, *, with_ports: bool = True) -> StoredTrial:
        left_out = "" if with_ports else "port"
        sql = "SELECT * FROM series WHERE trial = ? AND owner != ?"
        found = self._connection.execute(sql, (row["id"], left_out))
        body = TRIAL.unpack(row["body_bytes"], row["body"], self._known)
        if isinstance(body.outcome.counts, FrameCounts):
            for stream in body.outcome.streams:
                _check_histograms(stream)
        return StoredTrial(
            case=row["case_number"],
            number=row["number"],
            attempt=row["attempt"],
            name=row["name"],
            state=word(row["state"], TrialState),
            segments=body.segments,
            spec=_spec(row["spec"]),
            result=with_series(body.outcome, [Row.of(one) for one in found], with_ports=with_ports),
            started=to_time(row["started"]),
            ended=to_time(row["ended"]),
        )


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
    return text


def _error(row: sqlite3.Row) -> CaseError | None:
    """Why a case has no result; None if nobody says so."""
    if row["error"] is None:
        return None
    if row["code"] is None:
        raise ValueError(f"the error of case {row['number']} has no code")
    return CaseError(row["code"], row["error"], row["hint"])


def _wiring(wiring: CaseWiring) -> CaseWiring:
    """The wiring, whose streams have a place each, or none has."""
    places, streams = len(wiring.situation.places), len(wiring.situation.streams)
    if places not in (0, streams):
        raise ValueError(f"{places} places of {streams} streams")
    to_mapping(wiring.session)
    return wiring


def _verdict(row: sqlite3.Row, known: Codes) -> StoredVerdict:
    found = VERDICT.decode(row["body"], known)
    if (found.scope, found.value, found.limit) != (row["scope"], row["value"], row["who"]):
        raise ValueError("a verdict that its columns contradict")
    return found


def _same(head: CaseHead, row: sqlite3.Row, *names: str) -> CaseHead:
    if any(getattr(head, name) != row[name] for name in names):
        raise ValueError("a case that its columns contradict")
    return head


def _check_histograms(stream: StreamResult) -> None:
    """ValueError for a histogram that no report could show: it is refused where it was read."""
    timed, order, variation = stream.latency, stream.order, stream.variation
    texts = [timed.histogram if timed is not None and timed.count else None]
    texts += [None if order is None else order.extents]
    texts += [] if variation is None else [variation.above, variation.below]
    for text in texts:
        if text is not None:
            check_histogram(text)
