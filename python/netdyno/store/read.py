"""Reading a run, also while another process writes it."""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from fractions import Fraction
from json import JSONDecodeError
from pathlib import Path
from types import TracebackType

from netdyno.store.columns import to_fraction, to_segments, to_sentences, to_series, to_time
from netdyno.store.records import (
    CaseHead,
    CaseWiring,
    RunHead,
    RunState,
    RunSummary,
    StoredCase,
    StoredGoal,
    StoredTrial,
    StoredVerdict,
)
from netdyno.store.schema import FILE, StoreError, open_for_reading
from netdyno.trial import (
    Health,
    Latency,
    Phase,
    PortResult,
    Result,
    Situation,
    StreamResult,
    TrialResult,
    Value,
)


def open_run(path: Path) -> StoredRun:
    """Opens the run in a folder (or a `run.sqlite`). Raises StoreError."""
    folder = path.parent if path.name == FILE else path
    return StoredRun(folder, open_for_reading(folder / FILE))


def list_runs(parent: Path) -> Iterator[RunSummary]:
    """The runs in the folders of `parent`, oldest first. Folders that hold none are passed over."""
    for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
        if (folder / FILE).exists():
            try:
                with open_run(folder) as run:
                    yield run.summary()
            except StoreError:
                continue


class StoredRun:
    """A run as the store holds it. Cases are read when asked for, trials one at a time.

    While the run goes on, each property reads what has been written by then.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._connection = connection
        connection.row_factory = sqlite3.Row
        if self._one("SELECT 1 FROM run") is None:
            connection.close()
            raise StoreError(f"{folder}: the run was stopped before it had begun")

    @property
    def head(self) -> RunHead:
        """Plan, versions, seed."""
        row = self._row("SELECT * FROM run")
        return RunHead(
            name=row["name"],
            title=row["title"],
            plan=row["plan"],
            plan_path=row["plan_path"],
            lab=row["lab"],
            scale=Fraction(row["scale"]),
            only=json.loads(row["only"]),
            seed=row["seed"],
            versions=json.loads(row["versions"]),
        )

    @property
    def state(self) -> RunState:
        """Whether it is done. `running` is also what a killed run says."""
        state: RunState = self._row("SELECT state FROM run")["state"]
        return state

    @property
    def started(self) -> datetime:
        """When it began, UTC."""
        return to_time(self._row("SELECT started FROM run")["started"])

    @property
    def ended(self) -> datetime | None:
        """When it ended, UTC; None if it has not."""
        ended = self._row("SELECT ended FROM run")["ended"]
        return None if ended is None else to_time(ended)

    @property
    def cases(self) -> tuple[StoredCase, ...]:
        """Every case in the order of the matrix, also those that have not run."""
        return tuple(
            self._case(row) for row in self._connection.execute("SELECT * FROM cases ORDER BY number")
        )

    def trials(self, case: int) -> Iterator[StoredTrial]:
        """The trials of a case with their series, in order, one at a time; invalid and cancelled ones too."""
        sql = "SELECT * FROM trials WHERE case_number = ? ORDER BY number, attempt"
        for row in self._connection.execute(sql, (case,)).fetchall():
            yield self._trial(row)

    def trial(self, case: int, number: int) -> StoredTrial | None:
        """The trial of that number that counts, or None: `Result.trials` names them."""
        sql = "SELECT * FROM trials WHERE case_number = ? AND number = ? AND state = 'done'"
        row = self._one(sql, case, number)
        return None if row is None else self._trial(row)

    def summary(self) -> RunSummary:
        """The run in one line."""
        states = Counter(row["state"] for row in self._connection.execute("SELECT state FROM cases"))
        sums = self._connection.execute("SELECT who FROM verdicts WHERE scope = 'sum'")
        return RunSummary(
            folder=self.folder,
            head=self.head,
            state=self.state,
            started=self.started,
            ended=self.ended,
            cases=states.total(),
            done=states["done"],
            failed=states["failed"],
            limits=dict(Counter(row["who"] for row in sums)),
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
        if isinstance(error, sqlite3.DatabaseError | zlib.error | struct.error | JSONDecodeError):
            raise StoreError(f"{self.folder}: the record is damaged: {error}") from error

    def _one(self, sql: str, *arguments: object) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self._connection.execute(sql, arguments).fetchone()
        return row

    def _row(self, sql: str, *arguments: object) -> sqlite3.Row:
        row = self._one(sql, *arguments)
        assert row is not None
        return row

    def _case(self, row: sqlite3.Row) -> StoredCase:
        number = row["number"]
        verdicts = self._connection.execute("SELECT * FROM verdicts WHERE case_number = ?", (number,))
        goals = self._connection.execute(
            "SELECT * FROM goals WHERE case_number = ? ORDER BY number", (number,)
        )
        return StoredCase(
            head=CaseHead(
                number=number,
                name=row["name"],
                axes=json.loads(row["axes"]),
                kind=row["kind"],
                kind_title=row["kind_title"],
                emulated=bool(row["emulated"]),
                settings=json.loads(row["settings"]),
                method=row["method"],
                parameters=row["parameters"],
                seed=row["seed"],
            ),
            state=row["state"],
            wiring=_wiring(row),
            result=self._result(number),
            verdicts=tuple(
                StoredVerdict(verdict["scope"], verdict["who"], verdict["reason"]) for verdict in verdicts
            ),
            goals=tuple(
                StoredGoal(
                    goal["name"], None if goal["passed"] is None else bool(goal["passed"]), goal["reason"]
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
                name=value["name"],
                scope=value["scope"],
                number=to_fraction(value["exact"]),
                unit=value["unit"],
                low=to_fraction(value["low"]),
                high=to_fraction(value["high"]),
                note=value["note"],
            )
            for value in self._connection.execute(sql, (case,))
        )
        return Result(
            method=row["method"],
            values=values,
            trials=tuple(json.loads(row["trials"])),
            compliance=to_sentences(row["compliance"]),
            notes=to_sentences(row["notes"]),
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
        result = TrialResult(
            streams=tuple(_stream(stream, series) for stream in streams),
            ports=tuple(_port(port, series) for port in ports),
            health=Health(
                unsent=row["unsent"],
                latest_departure_ns=row["latest_departure_ns"],
                longest_gap_ns=row["longest_gap_ns"],
                rx_dropped=row["rx_dropped"],
                tx_full=row["tx_full"],
                core_share_ppm=row["core_share_ppm"],
            ),
            phases=tuple(Phase(phase["name"], phase["start_ns"], phase["duration_ns"]) for phase in phases),
            sample_ns=row["sample_ns"],
            resolved=tuple((answer["address"], answer["mac"]) for answer in resolved),
            invalid=to_sentences(row["invalid"]),
            devices=tuple(json.loads(row["devices"])),
        )
        return StoredTrial(
            case=row["case_number"],
            number=row["number"],
            attempt=row["attempt"],
            name=row["name"],
            state=row["state"],
            segments=to_segments(row["segments"]),
            spec=row["spec"],
            result=result,
            started=to_time(row["started"]),
            ended=to_time(row["ended"]),
        )


def _wiring(row: sqlite3.Row) -> CaseWiring | None:
    if row["streams"] is None:
        return None
    return CaseWiring(
        clock=row["clock"],
        situation=Situation(
            streams=to_sentences(row["streams"]),
            line_fps=Fraction(row["line_fps"]),
            mean_size=Fraction(row["mean_size"]),
            flow_ceiling_fps=to_fraction(row["flow_ceiling_fps"]),
        ),
        enforced_rate=bool(row["enforced_rate"]),
        notes=to_sentences(row["notes"]),
        session=row["session"],
    )


def _stream(row: sqlite3.Row, series: dict[tuple[str, int, str], tuple[int, ...]]) -> StreamResult:
    latency = None
    if row["latency_count"] is not None:
        latency = Latency(
            count=row["latency_count"],
            min_ns=row["latency_min_ns"],
            sum_ns=int(row["latency_sum_ns"]),
            max_ns=row["latency_max_ns"],
            over=row["latency_over"],
            negative=row["latency_negative"],
            histogram=row["latency_histogram"],
        )
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
    )
