"""The store: what is written comes back, old stores are migrated, readers are not in the way."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netdyno.methods.ramp import KNEE, MAX_RX
from netdyno.store import FILE, RunWriter, StoreError, list_runs, new_folder, open_run, schema
from netdyno.store.schema import NoRoomError, open_for_writing
from netdyno.store.series import MAX_SAMPLES, join, pack, split, unpack
from netdyno.values.finding import Column, Figure, Result, Table, Value
from netdyno.values.health import CatchUp, Health, WorkerHealth
from netdyno.values.load import Segment
from netdyno.values.outcome import (
    Conflict,
    FrameCounts,
    Gap,
    Gaps,
    HopChange,
    HopSilence,
    InterfaceResult,
    Lag,
    Latency,
    NextHop,
    Outcome,
    Phase,
    PortResult,
    Reordering,
    Silence,
    StreamResult,
    Variation,
)
from netdyno.values.records import CaseHead, CaseWiring, RunHead, StoredGoal, StoredTrial, StoredVerdict
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from sealing import changing
from words import has_code, said, said_each

NOW = datetime(2026, 11, 21, 19, 12, 3, 123456, tzinfo=UTC)

HEAD = RunHead(
    name="asr9006",
    title="ASR9006 \N{EM DASH} 48 tests",
    plan="title: x\n",
    plan_path="plans/asr9006.yaml",
    lab="",
    scale=Fraction(1, 100),
    only={"direction": "uni"},
    seed=2**63 - 1,
    versions={"netdyno": "0.1.0"},
)
CASE = CaseHead(
    number=3,
    name="ipv4 / bidir",
    axes={"forwarding": "ipv4", "direction": "bidir"},
    kind="emulated/router",
    kind_title="emulated IPv4 router",
    emulated=True,
    settings={"lag": "plain"},
    method="ramp",
    parameters="{}",
    seed=7,
    repeat=2,
)
WIRING = CaseWiring(
    clock="virtual",
    situation=Situation(("a-b", "b-a"), Fraction(312500000, 21), Fraction(64), Fraction(7, 3)),
    enforced_rate=True,
    notes=said_each(("The device is emulated.",)),
    session='{"clock": "virtual"}',
)


def stream(name: str, latency: Latency | None) -> StreamResult:
    return StreamResult(
        name=name,
        intended=10,
        offered=9,
        offered_bytes=576,
        received=12,
        received_bytes=768,
        duplicates=1,
        elsewhere=2,
        out_of_order=3,
        corrupted=4,
        lost=-7,
        beyond_window=5,
        flows_received=6,
        latency=latency,
        tx=(4, 5, 0),
        rx=(3, 6, 2**62),
        arrived=(4, 5, 2**63 - 1),
        first_loss_ns=None if latency is None else 17,
        lag=None if latency is None else LAG,
        gaps=None
        if latency is None
        else Gaps((Gap(2**60, 2**60 + 1, 2, 3, 4), Gap(7, 9, 3, 5, 6)), 8, 2**50),
        silence=None if latency is None else Silence(5, 2**45),
        order=None if latency is None else Reordering(3, 12, 6, HISTOGRAM, 1, (3, 2, 1)),
        variation=None if latency is None else Variation(8, -(2**40), 7, -(2**70), 0, None, HISTOGRAM),
    )


# As the Python package hdrhistogram 0.10 writes a thousand values.
HISTOGRAM = "HISTFAAAACt4nJNpmSzMwMDAxQABzFCaEYiZQrifMNh/gAic59/Df5ZfaKInEwCFNgc8"
LAG = Lag(9, 0, 2**70, 2**40, 0, HISTOGRAM, 1, 10_000, by_sample=((7, 0, 3), (2**40, 5, 128), (0, 0, 0)))
WORKER = WorkerHealth(1, 999_000, 7, 8, 9, 10, (11,), (12,))
LATENCY = Latency(count=9, min_ns=1, sum_ns=2**80, max_ns=2**40, over=2, negative=1, histogram=HISTOGRAM)


CAUGHT_UP = CatchUp(200, 1, 2**40, 3, 4, 5)
MOVED = HopChange(-(2**40), "02:00:00:00:00:02", "02:00:00:00:00:01")
SILENT = HopSilence(7, None)


def trial(case: int = 3, number: int = 0, attempt: int = 0, state: str = "done") -> StoredTrial:
    result = Outcome(
        FrameCounts(
            (stream("a-b", LATENCY), stream("b-a", None)),
            (PortResult("a", 1, 64, 2, 128, 3, (1,), (64,), (2,), (128,), 5, 6),),
            1_000_000,
        ),
        Health(1, 2, 3, 4, 5, 999_000, 6, (WORKER,), 2, 1, catch_up=CAUGHT_UP),
        (Phase("settle", 0, 5), Phase("ramp", 5, 10)),
        resolved=(("100.64.0.1", "02:00:00:00:00:01"),),
        invalid=said_each(("link flap",) if state == "invalid" else ()),
        devices=({"ports": [{"partner_drops": 3}]},),
        interfaces=(
            InterfaceResult(
                "a",
                "eth1",
                {"rx_packets": 2**40},
                {"rx_no_dma_resources": 9},
                {"no room to receive": {"rx_no_dma_resources": 9}},
                2,
                3_100_000_000,
            ),
        ),
        next_hops=(
            NextHop("a", (100, 7), "100.64.0.1", "02:00:00:00:00:01", 3, 4, (MOVED,), 2, (SILENT,)),
            NextHop("a", (), "fe80::1", None, 0, 0, (), 0, ()),
        ),
        conflicts=(Conflict("a", "100.64.0.2", "02:00:00:00:00:09"),),
    )
    segments = (Segment("ramp", 10, FrameRate(0), FrameRate(Fraction(312500000, 21))),)
    return StoredTrial(
        case, number, attempt, "ramp", state, segments, '{"seed": 7}', result.dated(NOW), NOW, NOW
    )  # type: ignore[arg-type]


RESULT = Result(
    method="ramp",
    values=(
        Value(MAX_RX, "a-b", Fraction(7, 3), Fraction(2), Fraction(8, 3), said("best")),
        Value(KNEE, "sum", None, Fraction(1), None, said("no knee")),
    ),
    trials=(0,),
    compliance=said_each(("a deviation",)),
    notes=said_each(("a note", "another")),
    tables=(
        Table(
            "Loss",
            (Column("Size", "B"), Column("Stream"), Column("Loss", "share"), Column("Asked", "share")),
            ((Fraction(64), "7/3", Fraction(1, 3), None), (Fraction(2**70), "", None, Fraction(-7, 3))),
            "a caption",
            Figure(
                "Size",
                ("Loss", "Asked"),
                ("Asked",),
                (Fraction(0), Fraction(1, 3)),
                (Fraction(-1), Fraction(1)),
                by="Stream",
            ),
        ),
        Table("Nothing", (), ()),
    ),
    recommended=said_each(("a shortcut",)),
    standard="RFC 2544",
    headlines=("knee",),
)


def new(tmp_path: Path) -> tuple[Path, RunWriter]:
    folder = new_folder(tmp_path, "asr9006", NOW)
    return folder, RunWriter.create(folder, HEAD, [CASE], NOW)


def test_everything_written_comes_back(tmp_path: Path) -> None:
    folder, writer = new(tmp_path)
    writer.case_wired(3, WIRING, NOW)
    writer.add_trial(trial(attempt=0, state="invalid"))
    writer.add_trial(trial(attempt=1))
    verdicts = [StoredVerdict("a-b", "device", said("because")), StoredVerdict("sum", "line", said("full"))]
    goals = [
        StoredGoal("g", True, said("x")),
        StoredGoal("h", None, said("y")),
        StoredGoal("i", False, said("z")),
    ]
    writer.case_done(3, RESULT, verdicts, goals, NOW)
    writer.run_ended("done", NOW)
    writer.close()
    with open_run(folder) as run:
        assert run.head == HEAD
        assert (run.state, run.started, run.ended) == ("done", NOW, NOW)
        (case,) = run.cases
        assert (case.head, case.state, case.wiring, case.result) == (CASE, "done", WIRING, RESULT)
        assert case.verdicts == tuple(verdicts)
        assert case.goals == tuple(goals)
        assert case.verdict("sum") == verdicts[1]
        assert list(run.trials(3)) == [trial(attempt=0, state="invalid"), trial(attempt=1)]
        assert run.trial(3, 0) == trial(attempt=1)
        assert run.trial(3, 1) is None
        summary = run.summary()
        assert (summary.cases, summary.done, summary.failed, summary.limits) == (1, 1, 0, {"line": 1})
    assert [run.folder for run in list_runs(tmp_path)] == [folder]


def test_lags_by_sample_are_read_where_an_earlier_netdyno_kept_them(tmp_path: Path) -> None:
    whole = trial().result
    _, rows = split(whole)
    older = [row for row in rows if not row.name.startswith("lag_")]
    assert len(older) == 10
    assert join(whole, older) == whole


def test_series_of_a_trial_that_are_equal_are_kept_once() -> None:
    whole = trial().result
    lossless = whole.with_counts(streams=tuple(replace(one, arrived=one.tx) for one in whole.streams))
    bare, rows = split(lossless)
    read = join(bare, list(rows))
    assert read == lossless
    assert all(one.arrived is one.tx for one in read.streams)


def test_what_was_not_measured_is_absent(tmp_path: Path) -> None:
    folder, writer = new(tmp_path)
    writer.close()
    with open_run(folder) as run:
        (case,) = run.cases
        assert (case.state, case.wiring, case.result, case.started, case.verdicts) == (
            "pending",
            None,
            None,
            None,
            (),
        )
        assert list(run.trials(3)) == []
        assert run.ended is None


def test_the_folder_is_named_after_time_and_plan(tmp_path: Path) -> None:
    folder = new_folder(tmp_path, "ASR 9006/RSP", NOW)
    assert folder.name.startswith("2026-11-21T1912Z-asr-9006-rsp-")
    assert len(folder.name.rsplit("-", 1)[1]) == 4


def test_a_cancelled_trial_makes_room_and_a_measured_one_does_not(tmp_path: Path) -> None:
    folder, writer = new(tmp_path)
    writer.add_trial(trial(state="cancelled"))
    writer.add_trial(trial(state="done"))
    with pytest.raises(sqlite3.IntegrityError):
        writer.add_trial(trial(state="done"))
    with open_run(folder) as run:
        assert [found.state for found in run.trials(3)] == ["done"]


def test_resuming_makes_cases_under_way_pending_again(tmp_path: Path) -> None:
    folder, writer = new(tmp_path)
    writer.case_wired(3, WIRING, NOW)
    writer.run_ended("interrupted", NOW)
    writer.close()
    with RunWriter.resume(folder), open_run(folder) as run:
        assert (run.state, run.cases[0].state, run.ended) == ("running", "pending", None)


def test_run_without_a_writer_is_interrupted(tmp_path: Path) -> None:
    """Killed, it could not say so. The lock of its writer says it."""
    folder, writer = new(tmp_path)
    with open_run(folder) as run:
        assert run.state == run.summary().state == "running"
        writer.close()
        assert run.state == run.summary().state == "interrupted"


def test_record_that_another_program_has_locked_is_in_use_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, writer = new(tmp_path)
    writer.close()
    monkeypatch.setattr("netdyno.store.schema.LOCKED_S", 0.05)
    with closing(sqlite3.connect(folder / "run.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, check=has_code("run-in-use")):
            RunWriter.resume(folder)
        other.execute("ROLLBACK")
    with RunWriter.resume(folder):
        pass


@given(st.lists(st.integers(min_value=-(2**63), max_value=2**63 - 1), max_size=300))
def test_series_packed_is_unpacked_equal(counts: list[int]) -> None:
    assert unpack(len(counts), pack(counts)) == tuple(counts)


def test_a_series_that_no_reader_takes_is_not_written() -> None:
    assert len(unpack(MAX_SAMPLES, pack([0] * MAX_SAMPLES))) == MAX_SAMPLES
    with pytest.raises(ValueError, match="4000001 samples"):
        pack([0] * (MAX_SAMPLES + 1))


def test_a_series_is_read_by_what_the_schema_says_of_it(tmp_path: Path) -> None:
    """The recipe in the comment of the schema, run by a Python that does not know netdyno."""
    folder, writer = new(tmp_path)
    writer.add_trial(trial())
    writer.close()
    code = f"""
        import sqlite3, struct, zlib
        rows = sqlite3.connect({str(folder / FILE)!r}).execute(
            "SELECT samples, data FROM series WHERE owner = 'stream' AND number = 0 AND name = 'arrived'")
        for samples, data in rows:
            print(struct.unpack(f"<{{samples}}q", zlib.decompress(data)))
    """
    done = subprocess.run(
        [sys.executable, "-I", "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str((4, 5, 2**63 - 1))


# The file


def test_tables_are_strict_and_survive_a_power_cut(tmp_path: Path) -> None:
    folder, writer = new(tmp_path)
    connection = sqlite3.connect(folder / FILE)
    tables = connection.execute(
        "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
    )
    assert {strict for name, strict in tables if not name.startswith("sqlite_")} == {1}
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute("UPDATE cases SET number = 'no number'")
    connection.close()
    writer.close()


def test_a_store_written_by_a_newer_netdyno_is_refused(tmp_path: Path) -> None:
    folder, writer = new(tmp_path)
    writer.close()
    connection = sqlite3.connect(folder / FILE)
    connection.execute("PRAGMA user_version = 9999")
    connection.close()
    for opening in (open_run, RunWriter.resume):
        with pytest.raises(StoreError, check=has_code("newer-store")):
            opening(folder)


@pytest.mark.parametrize(
    "content", [b"", b"plain text, and long enough to be taken for a page of a database" * 100]
)
def test_what_is_not_a_store_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(StoreError):
        open_run(tmp_path)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoRoomError, check=has_code("cannot-write")) as refused:
        open_for_writing(tmp_path / "no folder" / "run.sqlite")
    assert "df -h -i" in str(refused.value.hint)
    with pytest.raises(StoreError, check=has_code("no-such-run")):
        open_run(tmp_path / "nothing")
    with pytest.raises(StoreError, check=has_code("no-such-run")):
        RunWriter.resume(tmp_path)


def test_migrations_are_applied_in_order_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store of today opened by a netdyno that has one migration more."""
    folder, writer = new(tmp_path)
    writer.add_trial(trial())
    writer.close()
    more = (
        *schema.migrations(),
        (len(schema.migrations()) + 1, "ALTER TABLE cases ADD COLUMN colour TEXT;\n"),
    )
    monkeypatch.setattr(schema, "migrations", lambda: more)
    for _ in range(2):
        with open_run(folder) as run:
            assert run.trial(3, 0) == trial()
    connection = sqlite3.connect(folder / FILE)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(more),)
    assert connection.execute("SELECT colour FROM cases").fetchall() == [(None,)]
    connection.close()


@pytest.mark.parametrize("opening", [open_run, RunWriter.resume])
def test_store_of_before_0_1_0_is_refused_and_left_untouched(opening: Any, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("CREATE TABLE run (id INTEGER PRIMARY KEY, plan TEXT NOT NULL)")
    connection.execute("PRAGMA user_version = 17")
    connection.commit()
    connection.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(StoreError, check=has_code("old-store")) as refused:
        opening(tmp_path)
    assert refused.value.hint == "run the plan again"
    assert "\n" not in refused.value.message
    assert (tmp_path / FILE).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("opening", [open_run, RunWriter.resume])
def test_database_of_another_program_is_refused_and_left_untouched(opening: Any, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("PRAGMA application_id = 77")
    connection.execute("CREATE TABLE notes (text TEXT)")
    connection.commit()
    connection.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(StoreError, check=has_code("not-a-store", "store-damaged")):
        opening(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, writer = new(tmp_path)
    writer.close()
    number = len(schema.migrations()) + 1
    broken = [
        *schema.migrations(),
        (number, "ALTER TABLE cases ADD COLUMN colour TEXT;\nALTER TABLE nothing ADD x;\n"),
    ]
    with monkeypatch.context() as patch:
        patch.setattr(schema, "migrations", lambda: broken)
        with pytest.raises(StoreError):
            open_run(folder)
    with open_run(folder) as run:
        assert run.head == HEAD


def test_another_process_reads_while_this_one_writes(tmp_path: Path) -> None:
    """The reader sees every trial once it is acknowledged, and never half of one."""
    folder, writer = new(tmp_path)
    code = f"""
        import sys
        from pathlib import Path
        from netdyno.store import open_run
        with open_run(Path({str(folder)!r})) as run:
            print("open", flush=True)
            for line in sys.stdin:
                trials = list(run.trials(3))
                assert all(len(trial.result.streams) == 2 for trial in trials)
                print(len(trials), flush=True)
    """
    reader = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdin is not None
    assert reader.stdout is not None
    assert reader.stdout.readline() == "open\n"
    for number in range(20):
        writer.add_trial(trial(number=number))
        print("look", file=reader.stdin, flush=True)
        assert reader.stdout.readline() == f"{number + 1}\n"
    reader.stdin.close()
    assert reader.wait(20) == 0
    reader.stdout.close()
    writer.close()


def test_a_run_of_48_cases_is_a_few_megabytes(tmp_path: Path) -> None:
    """1800 samples of seven series a port and direction each, as the article's ramp has them."""
    ramp = tuple(range(0, 1_488_000, 827))
    folder, writer = new(tmp_path)
    both = tuple(
        StreamResult("s", 1, 1, 64, 1, 64, 0, 0, 0, 0, 0, 0, 1, None, ramp, ramp, ramp, None)
        for _ in range(2)
    )
    ports = tuple(PortResult("p", 1, 64, 1, 64, 0, ramp, ramp, ramp, ramp) for _ in range(2))
    for number in range(48):
        result = Outcome(FrameCounts(both, ports, 10**8), Health(0, 0, 0, 0, 0, None), ())
        writer.add_trial(StoredTrial(3, number, 0, "ramp", "done", (), "{}", result, NOW, NOW))
    writer.close()
    assert (folder / FILE).stat().st_size < 8 * 2**20


def test_a_run_has_one_writer(tmp_path: Path) -> None:
    with (
        RunWriter.create(tmp_path, HEAD, [], NOW),
        pytest.raises(StoreError, check=has_code("run-in-use")),
    ):
        RunWriter.resume(tmp_path)
    RunWriter.resume(tmp_path).close()


def test_damaged_record_is_reported_without_a_traceback(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, HEAD, [CASE], NOW) as writer:
        writer.add_trial(trial())
    damage(tmp_path, "UPDATE contents SET data = x'00'")
    with pytest.raises(StoreError, check=has_code("store-damaged")), open_run(tmp_path) as run:
        list(run.trials(3))


def test_trials_are_read_without_the_series_of_ports(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, HEAD, [CASE], NOW) as writer:
        writer.add_trial(trial())
    with open_run(tmp_path) as run:
        (whole,), (bare,) = run.trials(3), run.trials(3, with_ports=False)
    assert any(port.tx for port in whole.result.ports)
    emptied = [
        replace(port, tx=(), tx_bytes_series=(), rx=(), rx_bytes_series=()) for port in whole.result.ports
    ]
    assert bare == replace(whole, result=whole.result.with_counts(ports=tuple(emptied)))


def damage(folder: Path, sql: str) -> None:
    """As a stranger may: without the checks of the schema, and with hashes that fit if they can be made."""
    with changing(folder, is_sealed="TABLE" not in sql) as connection:
        connection.execute(sql)


BOTH = '["a-b","b-a"]'
BOTH = '["a-b","b-a"]'
OF_WIRING = "WHERE id IN (SELECT wiring FROM cases)"
OF_SPEC = "WHERE id IN (SELECT spec FROM trials)"
NO_WEIGHT = '[{"size": 64, "weight": 0}]'


def read_all(folder: Path) -> None:
    with open_run(folder) as run:
        assert run.head, run.started
        assert run.summary()
        assert run.cases
        assert list(run.trials(3))


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE run SET state = 'asleep'",
        "UPDATE run SET started = 'yesterday'",
        "UPDATE run SET head = '[]'",
        "UPDATE run SET head = '" + "[" * 100_000 + "'",
        "UPDATE run SET head = replace(head, '1/100', '1/0')",
        "UPDATE run SET head = replace(head, '1/100', '1e999999999')",
        "UPDATE cases SET state = 'asleep'",
        "UPDATE cases SET name = 'another'",
        f"UPDATE contents SET data = packed('{{}}') {OF_WIRING}",
        f"UPDATE contents SET data = packed(replace(unpacked(data), '{BOTH}', '7')) {OF_WIRING}",
        "UPDATE contents SET data = packed('no JSON') WHERE id IN (SELECT session FROM cases)",
        "UPDATE contents SET data = packed('{}') WHERE id IN (SELECT body FROM trials)",
        "UPDATE cases SET session = NULL",
        "UPDATE cases SET wiring = 99",
        "UPDATE cases SET result = replace(result, '\"ramp max Rx\"', '\"\"')",
        "UPDATE cases SET result = replace(result, '\"ramp max Rx\"', 'NaN')",
        'UPDATE cases SET result = replace(result, \'"x":"Size"\', \'"x":"Colour"\')',
        "UPDATE trials SET state = 'asleep'",
        "UPDATE trials SET body = spec",
        "UPDATE contents SET data = x'00' WHERE id IN (SELECT body FROM trials)",
        "UPDATE contents SET data = substr(data, 1, 20) WHERE id IN (SELECT body FROM trials)",
        f'UPDATE contents SET data = packed(\'{{"streams": [{{"sizes": [{{}}]}}]}}\') {OF_SPEC}',
        f'UPDATE contents SET data = packed(\'{{"streams": [{{"sizes": {NO_WEIGHT}}}]}}\') {OF_SPEC}',
        f'UPDATE contents SET data = packed(\'{{"a": {{"stored once": "00"}}}}\') {OF_SPEC}',
        f'UPDATE contents SET data = packed(\'{{"a": {{"stored once": 7}}}}\') {OF_SPEC}',
        "UPDATE samples SET samples = -1",
        "UPDATE samples SET samples = 4000000000",
        "DELETE FROM samples",
        "DELETE FROM labels",
        "UPDATE verdicts SET who = 'the moon'",
        "UPDATE verdicts SET who = 'device'",
        "UPDATE goals SET body = '{}'",
        "DROP TABLE goals",
        "ALTER TABLE cases RENAME COLUMN hint TO advice",
    ],
)
def test_a_strangers_record_is_a_clear_error(sql: str, tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, HEAD, [CASE], NOW) as writer:
        writer.case_wired(3, WIRING, NOW)
        writer.add_trial(trial())
        goals = [StoredGoal("g", True, said("x"))]
        writer.case_done(3, RESULT, [StoredVerdict("sum", "line", said("full"))], goals, NOW)
        writer.run_ended("done", NOW)
    damage(tmp_path, sql)
    with pytest.raises(StoreError, check=has_code("store-damaged", "not-a-store")):
        read_all(tmp_path)


def test_store_with_damaged_schema_bytes_is_refused(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 where SQLite keeps the text of the schema."""
    RunWriter.create(tmp_path, HEAD, [CASE], NOW).close()
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    whole = (tmp_path / FILE).read_bytes()
    assert whole.count(b"CREATE TABLE goals") == 1
    (tmp_path / FILE).write_bytes(whole.replace(b"CREATE TABLE goals", b"CREATE TAB\xff\xfe goals"))
    with pytest.raises(StoreError, check=has_code("not-a-store", "store-damaged")):
        read_all(tmp_path)


def test_store_that_may_not_be_written_is_refused_when_resumed(tmp_path: Path) -> None:
    """Byte 18 of its header: a number above 2 forbids to write the file (SQLite file format, 1.3.3)."""
    RunWriter.create(tmp_path, HEAD, [CASE], NOW).close()
    whole = bytearray((tmp_path / FILE).read_bytes())
    whole[18] = 255
    (tmp_path / FILE).write_bytes(whole)
    with pytest.raises(StoreError) as refused:
        RunWriter.resume(tmp_path)
    assert refused.value.code == "cannot-write"


@pytest.mark.parametrize("check", [b"'runn\xdbng'", b"'sunning'"])
def test_store_with_a_damaged_check_is_refused_when_resumed(check: bytes, tmp_path: Path) -> None:
    """The schema's list of states lacks the one to be written; SQLite quotes it."""
    RunWriter.create(tmp_path, HEAD, [CASE], NOW).close()
    whole = (tmp_path / FILE).read_bytes()
    assert b"'running'" in whole
    (tmp_path / FILE).write_bytes(whole.replace(b"'running'", check))
    with pytest.raises(StoreError) as refused:
        RunWriter.resume(tmp_path)
    assert refused.value.code in ("store-damaged", "not-a-store")


def test_a_bug_of_a_reader_is_not_taken_for_a_damaged_record(tmp_path: Path) -> None:
    RunWriter.create(tmp_path, HEAD, [CASE], NOW).close()
    with pytest.raises(KeyError), open_run(tmp_path):
        raise KeyError("mine")


def test_record_cut_short_is_damaged_and_no_other_file(tmp_path: Path) -> None:
    RunWriter.create(tmp_path, HEAD, [CASE], NOW).close()
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, check=has_code("store-damaged")), open_run(tmp_path):
        pass
