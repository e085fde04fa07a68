"""Reading a run, also while another process writes it."""

from __future__ import annotations

import json
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
from typing import Literal

from netdyno.stats.histogram import decode
from netdyno.store.columns import (
    exact,
    to_beside,
    to_fraction,
    to_given_reason,
    to_interfaces,
    to_mapping,
    to_mappings,
    to_names,
    to_numbers,
    to_places,
    to_reason,
    to_reasons,
    to_segments,
    to_series,
    to_tables,
    to_texts,
    to_threads,
    to_time,
    word,
)
from netdyno.store.hold import is_held
from netdyno.store.observations import of_table
from netdyno.store.schema import FILE, StoreError, open_for_reading
from netdyno.values.engine_reason import REASONS as ENGINE_REASONS
from netdyno.values.finding import Result, Value
from netdyno.values.health import Health
from netdyno.values.load import Happened
from netdyno.values.outcome import (
    Exchange,
    FrameCounts,
    Lag,
    Latency,
    Outcome,
    Phase,
    PortResult,
    StreamResult,
)
from netdyno.values.proven import Proven
from netdyno.values.reason import REASONS, Codes, join
from netdyno.values.records import (
    CaseHead,
    CaseState,
    CaseWiring,
    RunHead,
    RunState,
    RunSummary,
    StoredCalibration,
    StoredCase,
    StoredGoal,
    StoredTrial,
    StoredVerdict,
    TrialState,
    UnreadableRun,
)
from netdyno.values.situation import Situation
from netdyno.values.verdict import Limit
from netdyno.verdict.neighbours import conflict, next_hop

KNOWN = join(REASONS, ENGINE_REASONS)
"""Reasons of the values; those of the packages above are handed in."""


def open_run(path: Path, known: Codes = KNOWN) -> StoredRun:
    """Opens the run in a folder (or a `run.sqlite`). Raises StoreError.

    known: classes of reasons by code; those it does not have are read as `UnknownReason`.
    """
    folder = path.parent if path.name == FILE else path
    return StoredRun(folder, open_for_reading(folder / FILE), known)


def list_runs(parent: Path) -> Iterator[RunSummary | UnreadableRun]:
    """The runs in the folders of `parent`, oldest first. Folders that hold none are passed over."""
    for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
        if (folder / FILE).exists():
            try:
                with open_run(folder) as run:
                    yield run.summary()
            except StoreError as error:
                yield UnreadableRun(folder, error.message)


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
                raise StoreError(f"{folder}: the run was stopped before it had begun")
        except StoreError:
            connection.close()
            raise

    @property
    def head(self) -> RunHead:
        """Plan, versions, seed."""
        with self._reading():
            row = self._row("SELECT * FROM run")
            return RunHead(
                name=row["name"],
                title=row["title"],
                plan=row["plan"],
                plan_path=row["plan_path"],
                lab=row["lab"],
                scale=exact(row["scale"]),
                only=to_names(row["only"]),
                seed=row["seed"],
                versions=to_names(row["versions"]),
            )

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

    def trials(self, case: int) -> Iterator[StoredTrial]:
        """The trials of a case with their series, in order, one at a time; invalid and cancelled ones too."""
        sql = "SELECT * FROM trials WHERE case_number = ? ORDER BY number, attempt"
        with self._reading():
            rows = self._connection.execute(sql, (case,)).fetchall()
        for row in rows:
            with self._reading():
                trial = self._trial(row)
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
            raise StoreError(f"{self.folder}: the record is damaged: {what}") from error

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
            "SELECT * FROM goals WHERE case_number = ? ORDER BY number", (number,)
        )
        return StoredCase(
            head=CaseHead(
                number=number,
                name=row["name"],
                axes=to_names(row["axes"]),
                kind=row["kind"],
                kind_title=row["kind_title"],
                emulated=bool(row["emulated"]),
                settings=to_names(row["settings"]),
                method=row["method"],
                parameters=row["parameters"],
                seed=row["seed"],
                repeat=row["repeat"],
            ),
            state=word(row["state"], CaseState),
            wiring=_wiring(row, self._known),
            result=self._result(number),
            verdicts=tuple(
                StoredVerdict(
                    verdict["scope"],
                    word(verdict["who"], Limit),
                    to_given_reason(verdict["reason"], self._known),
                    verdict["value"],
                )
                for verdict in verdicts
            ),
            goals=tuple(
                StoredGoal(
                    goal["name"],
                    None if goal["passed"] is None else bool(goal["passed"]),
                    to_given_reason(goal["reason"], self._known),
                )
                for goal in goals
            ),
            error=row["error"],
            hint=row["hint"],
            started=None if row["started"] is None else to_time(row["started"]),
            ended=None if row["ended"] is None else to_time(row["ended"]),
        )

    def _result(self, case: int) -> Result | None:
        row = self._one("SELECT * FROM results WHERE case_number = ?", case)
        if row is None:
            return None
        sql = "SELECT * FROM result_values WHERE case_number = ? ORDER BY number"
        values = tuple(
            Value(
                name=_named(value["name"]),
                scope=value["scope"],
                number=to_fraction(value["exact"]),
                unit=value["unit"],
                low=to_fraction(value["low"]),
                high=to_fraction(value["high"]),
                note=to_reason(value["note"], self._known),
                searched=bool(value["searched"]),
                contradicted=to_reason(value["contradicted"], self._known),
            )
            for value in self._connection.execute(sql, (case,))
        )
        return Result(
            method=row["method"],
            values=values,
            trials=to_numbers(row["trials"]),
            compliance=to_reasons(row["compliance"], self._known),
            notes=to_reasons(row["notes"], self._known),
            tables=to_tables(row["tables"]),
            recommended=to_reasons(row["recommended"], self._known),
            standard=row["standard"],
            headlines={_named(name): what for name, what in to_names(row["headlines"]).items()},
        )

    def _trial(self, row: sqlite3.Row) -> StoredTrial:
        trial = row["id"]
        series = {
            (found["owner"], found["number"], found["name"]): to_series(found["samples"], found["data"])
            for found in self._connection.execute("SELECT * FROM series WHERE trial = ?", (trial,))
        }
        streams = self._connection.execute("SELECT * FROM streams WHERE trial = ? ORDER BY number", (trial,))
        ports = self._connection.execute("SELECT * FROM ports WHERE trial = ? ORDER BY number", (trial,))
        phases = self._connection.execute("SELECT * FROM phases WHERE trial = ? ORDER BY number", (trial,))
        resolved = self._connection.execute("SELECT address, mac FROM resolved WHERE trial = ?", (trial,))
        result = Outcome(
            FrameCounts(
                tuple(_stream(stream, series) for stream in streams),
                tuple(_port(port, series) for port in ports),
                row["sample_ns"],
                beside=to_beside(row["beside"]),
            ),
            Health(
                unsent=row["unsent"],
                latest_departure_ns=row["latest_departure_ns"],
                longest_gap_ns=row["longest_gap_ns"],
                rx_dropped=row["rx_dropped"],
                tx_full=row["tx_full"],
                core_share_ppm=row["core_share_ppm"],
                **to_threads(row["threads"]),
            ),
            tuple(Phase(phase["name"], phase["start_ns"], phase["duration_ns"]) for phase in phases),
            resolved=tuple((answer["address"], answer["mac"]) for answer in resolved),
            invalid=to_reasons(row["invalid"], self._known),
            devices=to_mappings(row["devices"]),
            interfaces=to_interfaces(row["interfaces"]),
            exchange=None if row["exchange"] is None else Exchange.of(json.loads(row["exchange"])),
            next_hops=tuple(next_hop(hop) for hop in to_mappings(row["next_hops"])),
            conflicts=tuple(conflict(table) for table in to_mappings(row["conflicts"])),
            happened=tuple(Happened.of(table) for table in to_mappings(row["happened"])),
        )
        return StoredTrial(
            case=row["case_number"],
            number=row["number"],
            attempt=row["attempt"],
            name=row["name"],
            state=word(row["state"], TrialState),
            segments=to_segments(row["segments"]),
            spec=_spec(row["spec"]),
            result=result.dated(to_time(row["started"])),
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


def _named(name: str) -> str:
    """The name of a value, which reports begin sentences with."""
    if not name:
        raise ValueError("a value without a name")
    return name


def _wiring(row: sqlite3.Row, known: Codes) -> CaseWiring | None:
    if row["streams"] is None:
        return None
    streams = to_texts(row["streams"])
    return CaseWiring(
        clock=word(row["clock"], Literal["virtual", "real"]),
        situation=Situation(
            streams=streams,
            line_fps=exact(row["line_fps"]),
            mean_size=exact(row["mean_size"]),
            flow_ceiling_fps=to_fraction(row["flow_ceiling_fps"]),
            places=to_places(row["places"], len(streams)),
        ),
        enforced_rate=bool(row["enforced_rate"]),
        notes=to_reasons(row["notes"], known),
        session=row["session"],
        proven=None if row["proven"] is None else Proven.from_json(row["proven"]),
    )


def _stream(row: sqlite3.Row, series: dict[tuple[str, int, str], tuple[int, ...]]) -> StreamResult:
    latency = None
    if row["latency_count"] is not None:
        for part in ("min_ns", "sum_ns", "max_ns", "over", "negative", "histogram"):
            if row[f"latency_{part}"] is None:
                raise ValueError(f"a latency without `latency_{part}`")
        latency = Latency(
            count=row["latency_count"],
            min_ns=row["latency_min_ns"],
            sum_ns=int(row["latency_sum_ns"]),
            max_ns=row["latency_max_ns"],
            over=row["latency_over"],
            negative=row["latency_negative"],
            histogram=row["latency_histogram"],
        )
        if latency.count:
            decode(latency.histogram)  # What no report could show is told here, where it was read.
    number = row["number"]
    return StreamResult(
        name=row["name"],
        intended=row["intended"],
        offered=row["offered"],
        offered_bytes=row["offered_bytes"],
        received=row["received"],
        received_bytes=row["received_bytes"],
        duplicates=row["duplicates"],
        elsewhere=row["elsewhere"],
        out_of_order=row["out_of_order"],
        corrupted=row["corrupted"],
        lost=row["lost"],
        beyond_window=row["beyond_window"],
        flows_received=row["flows_received"],
        latency=latency,
        tx=series["stream", number, "tx"],
        rx=series["stream", number, "rx"],
        arrived=series["stream", number, "arrived"],
        first_loss_ns=row["first_loss_ns"],
        lag=None if row["lag"] is None else Lag(**to_mapping(row["lag"])),
        **of_table({} if row["observed"] is None else to_mapping(row["observed"])),
    )


def _port(row: sqlite3.Row, series: dict[tuple[str, int, str], tuple[int, ...]]) -> PortResult:
    number = row["number"]
    return PortResult(
        name=row["name"],
        tx_frames=row["tx_frames"],
        tx_bytes=row["tx_bytes"],
        rx_frames=row["rx_frames"],
        rx_bytes=row["rx_bytes"],
        foreign=row["foreign_frames"],
        tx=series["port", number, "tx"],
        tx_bytes_series=series["port", number, "tx_bytes"],
        rx=series["port", number, "rx"],
        rx_bytes_series=series["port", number, "rx_bytes"],
        stale=row["stale_frames"],
        own_frames=row["own_frames"],
    )
