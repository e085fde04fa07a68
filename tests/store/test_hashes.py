"""What repeats is stored once, and runs of before there were hashes are read, verified and gone on with."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from netdyno.store import (
    FILE,
    DamagedError,
    RunWriter,
    StoreError,
    Verified,
    contents,
    open_run,
    schema,
    seals,
)
from netdyno.store.bodies import CASE_HEAD, RESULT, RUN_HEAD, TRIAL, VERDICT, WIRING, TrialBody, from_time
from netdyno.store.series import LABEL, pack, split
from netdyno.values.records import StoredCalibration, StoredGoal, StoredTrial, StoredVerdict
from test_store import CASE, HEAD, NOW, trial
from test_store import RESULT as FOUND
from test_store import WIRING as WIRED
from words import has_code, said


def write(folder: Path, *trials: StoredTrial) -> None:
    """A complete run."""
    with RunWriter.create(folder, HEAD, [CASE], NOW) as writer:
        writer.case_wired(3, WIRED, NOW, StoredCalibration("c", "{}"))
        for one in trials:
            writer.add_trial(one)
        goals = [StoredGoal("g", True, said("x"))]
        writer.case_done(3, FOUND, [StoredVerdict("sum", "line", said("full"))], goals, NOW)
        writer.run_ended("done", NOW)


def verified(folder: Path) -> Verified:
    """What is found of the record in a folder."""
    with open_run(folder) as run:
        return run.verify()


def write_unsealed(folder: Path, *trials: StoredTrial) -> None:
    """A run as the first schema had it."""
    number, first = schema.migrations()[0]
    with closing(sqlite3.connect(folder / FILE)) as sql, sql:
        for statement in schema.statements(first):
            sql.execute(statement)
        sql.execute(f"PRAGMA application_id={schema.APPLICATION_ID}")
        sql.execute(f"PRAGMA user_version={number}")
        at = from_time(NOW)
        sql.execute("INSERT INTO run VALUES (1, 'interrupted', ?, ?, ?)", (at, at, RUN_HEAD.encode(HEAD)))
        sql.execute(
            "INSERT INTO cases VALUES (3, ?, 'interrupted', ?, NULL, NULL, NULL, NULL, ?, ?, ?)",
            (CASE.name, at, CASE_HEAD.encode(CASE), WIRING.encode(WIRED), RESULT.encode(FOUND)),
        )
        verdict = StoredVerdict("sum", "line", said("full"))
        sql.execute("INSERT INTO verdicts VALUES (3, 0, 'sum', '', 'line', ?)", (VERDICT.encode(verdict),))
        sql.execute("INSERT INTO calibrations VALUES ('c', '{}')")
        for own, one in enumerate(trials, 1):
            bare, rows = split(one.result)
            text = TRIAL.encode(TrialBody(one.segments, bare)).encode()
            sql.execute(
                "INSERT INTO trials VALUES (?, 3, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (own, one.number, one.attempt, one.name, one.state, at, at, one.spec, len(text),
                 contents.compress(text)),
            )  # fmt: skip
            for row in rows:
                times = None if row.times is None else pack(row.times)
                label = [getattr(row, name) for name in LABEL]
                values = (own, *label, row.first_ns, row.every_ns, row.samples, times, pack(row.data))
                sql.execute(f"INSERT INTO series VALUES ({', '.join('?' * len(values))})", values)


def test_run_of_before_hashes_is_read_as_it_was(tmp_path: Path) -> None:
    write_unsealed(tmp_path, trial(), trial(number=1))
    with open_run(tmp_path) as run:
        assert run.head == HEAD
        (case,) = run.cases
        assert (case.head, case.wiring, case.result) == (CASE, WIRED, FOUND)
        assert list(run.trials(3)) == [trial(), trial(number=1)]
        assert run.calibrations == (StoredCalibration("c", "{}"),)
    assert verified(tmp_path) == Verified(1, 1, 2, 2, ())


def test_run_of_before_hashes_goes_on_with_hashes(tmp_path: Path) -> None:
    write_unsealed(tmp_path, trial(), trial(number=1))
    with RunWriter.resume(tmp_path) as writer:
        writer.add_trial(trial(number=2))
        writer.add_trial(trial(number=3))
    assert verified(tmp_path) == Verified(1, 0, 4, 2, ())
    for number in (2, 3):
        with torn(tmp_path, f"DELETE FROM trials WHERE number = {number}") as folder:
            with pytest.raises(DamagedError) as refused, open_run(folder) as run:
                list(run.trials(3))
            assert (refused.value.case, refused.value.trial) == (3, number)


@contextmanager
def torn(folder: Path, sql: str) -> Iterator[Path]:
    """The folder while its record is changed behind its hashes."""
    before = (folder / FILE).read_bytes()
    with closing(sqlite3.connect(folder / FILE)) as connection, connection:
        connection.execute(sql)
    yield folder
    (folder / FILE).write_bytes(before)


def test_killed_run_verifies_and_resumes(tmp_path: Path) -> None:
    """Nothing was closed or ended: its last state is in the log beside the file."""
    source = tmp_path / "source"
    killed = tmp_path / "killed"
    source.mkdir()
    killed.mkdir()
    writer = RunWriter.create(source, HEAD, [CASE], NOW)
    writer.case_wired(3, WIRED, NOW)
    writer.add_trial(trial())
    for file in source.iterdir():
        if not file.name.endswith("-shm"):
            (killed / file.name).write_bytes(file.read_bytes())
    writer.close()
    assert verified(killed) == Verified(1, 0, 1, 0, ())
    with RunWriter.resume(killed) as resumed:
        resumed.add_trial(trial(number=1))
    assert verified(killed) == Verified(1, 0, 2, 0, ())


def test_cancelled_trial_replaced_leaves_a_whole_chain(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, HEAD, [CASE], NOW) as writer:
        writer.add_trial(trial())
        writer.add_trial(trial(number=1, state="cancelled"))
        writer.add_trial(trial(number=1))
        writer.judged_again(3, [StoredVerdict("sum", "line", said("full"))])
        writer.versions({"netdyno": "9"})
    assert verified(tmp_path) == Verified(1, 0, 2, 0, ())


def test_verify_finds_every_damage(tmp_path: Path) -> None:
    write(tmp_path, *(trial(number=number) for number in range(4)))
    assert verified(tmp_path).damage == ()
    with torn(tmp_path, "UPDATE trials SET name = 'x' WHERE number IN (1, 3)") as folder:
        found = [error for error in verified(folder).damage if isinstance(error, DamagedError)]
        assert [(error.case, error.trial) for error in found] == [(3, 1), (3, 3)]
    with torn(tmp_path, "INSERT INTO contents (hash, data) VALUES (x'00', x'00')") as folder:
        (error,) = verified(folder).damage
        assert error.code == "store-damaged"


def with_routes(number: int, load: int) -> StoredTrial:
    """A trial to 65,536 routes."""
    addresses = [f"16.{place >> 8}.{place & 255}.{place * 7 % 251}" for place in range(65_536)]
    stream = {"headers": [{"dst": {"list": addresses}}], "schedule": [{"to_bps": load}]}
    return replace(trial(number=number), spec=json.dumps({"seed": 7, "streams": [stream]}))


def test_spec_with_routes_is_stored_once(tmp_path: Path) -> None:
    trials = [with_routes(number, 10**6 + number) for number in range(8)]
    sizes = []
    for count in (1, 8):
        folder = tmp_path / str(count)
        folder.mkdir()
        write(folder, *trials[:count])
        sizes.append((folder / FILE).stat().st_size)
        with open_run(folder) as run:
            assert list(run.trials(3)) == trials[:count]
            short = next(run.trials(3, with_lists=False))
            assert json.loads(short.spec)["streams"][0]["schedule"] == [{"to_bps": 10**6}]
            assert len(short.spec) < 1000
        assert verified(folder).damage == ()
    assert len(trials[0].spec) > 10**6
    assert sizes[1] - sizes[0] < 64 * 1024


def test_spec_whose_list_is_another_one_is_refused(tmp_path: Path) -> None:
    write(tmp_path, with_routes(0, 10**6))
    with torn(tmp_path, "UPDATE contents SET data = x'00' WHERE length(data) > 50000") as folder:
        with pytest.raises(StoreError, check=has_code("store-damaged")), open_run(folder) as run:
            list(run.trials(3))
        assert verified(folder).damage


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON" * 9999,
        json.dumps({"stored once": "00", "a": [0] * 9999}),
        json.dumps([[0] * 9999], indent=1),
    ],
    ids=["empty", "no JSON", "with the key", "indented"],
)
def test_spec_that_cannot_be_split_is_kept_as_it_is(text: str) -> None:
    assert contents.split(text, lambda _: b"never") == text


def test_trials_of_a_steady_load_take_little_room(tmp_path: Path) -> None:
    """The parts of a soak in virtual time are equal: each takes a row and its series' rows."""
    sizes = []
    for count in (100, 300):
        folder = tmp_path / str(count)
        folder.mkdir()
        write(folder, *(trial(number=number) for number in range(count)))
        sizes.append((folder / FILE).stat().st_size)
    assert (sizes[1] - sizes[0]) / 200 < 700


def test_seal_of_a_case_takes_as_many_steps_in_a_large_run(tmp_path: Path) -> None:
    steps = []
    for count in (5, 200):
        folder = tmp_path / str(count)
        folder.mkdir()
        RunWriter.create(folder, HEAD, [replace(CASE, number=number) for number in range(count)], NOW).close()
        with closing(sqlite3.connect(folder / FILE)) as sql:
            taken: list[int] = []
            sql.set_progress_handler(lambda taken=taken: taken.append(1), 1)
            seals.case_changed(sql, 3)
            steps.append(len(taken))
    # A search in a larger tree may take a step more.
    assert steps[1] < steps[0] + 20


def test_run_of_before_the_sum_of_seals_is_read_and_goes_on(tmp_path: Path) -> None:
    write(tmp_path, trial())
    with closing(sqlite3.connect(tmp_path / FILE)) as sql, sql:
        sql.execute("UPDATE seals SET last = x'' WHERE case_number = ?", (seals.RUN,))
        seals.run_changed(sql)
        sql.execute("UPDATE run SET state = 'interrupted'")
        seals.run_changed(sql)
    with RunWriter.resume(tmp_path) as writer:
        writer.add_trial(trial(number=1))
    assert verified(tmp_path).damage == ()
    with (
        torn(tmp_path, "UPDATE seals SET trials = 7 WHERE case_number = 3") as folder,
        pytest.raises(DamagedError),
        open_run(folder) as run,
    ):
        _ = run.cases


def test_seal_of_a_case_changed_alone_is_damage_of_it(tmp_path: Path) -> None:
    write(tmp_path, trial())
    with torn(tmp_path, "UPDATE seals SET seal = x'0102' WHERE case_number = 3") as folder:
        with pytest.raises(DamagedError) as refused, open_run(folder) as run:
            _ = run.cases
        assert refused.value.case == 3
