"""Damage to the folder of a run, from a fixed seed: each is refused by name, or without effect on any report.

Flips, bursts, swapped and copied pages, pages of zeros, truncations, removed and changed rows.
NETDYNO_FUZZ is how many; NETDYNO_FUZZ_SEED another seed.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from alarm import at_most
from campaigns import TWO, finish, write_plan
from device_sample import read_by_drivers
from netdyno.campaign.reasons import REASONS
from netdyno.errors import NetdynoError
from netdyno.reports.model.from_store import view
from netdyno.store import FILE, DamagedError, RunWriter, open_run
from netdyno.values.transcript import Said, Transcript
from pages import report_text
from sampling import examples
from words import has_code

COUNT = int(os.environ.get("NETDYNO_FUZZ", examples(120)))
SEED = int(os.environ.get("NETDYNO_FUZZ_SEED", "27"))
LIMIT_S = 20
PAGE = 4096
PLAN = TWO.replace("[64b]", "[64b, 512b]") + 'goals: ["throughput >= 1%"]\n'

Place = tuple[int | None, int | None]
"""A case and a trial by their numbers; None: the run's own part, no trial."""

CODES = {"store-damaged", "not-a-store", "newer-store", "old-store"}
"""Of what is refused. A flip in the number of the store's version, or of the program that made it, looks like
another version or program."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a complete run of four cases whose device was read, its file whole by itself."""
    parent = tmp_path_factory.mktemp("whole")
    code, folder, err = finish("run", write_plan(parent, PLAN), parent / "runs")
    assert code == 0, err
    kept = parent / "run"
    kept.mkdir()
    write_with_device(folder, kept)
    with closing(sqlite3.connect(kept / FILE)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return kept


def write_with_device(bare: Path, folder: Path) -> None:
    """Writes the record of a run anew, with what drivers read and what the device printed in each trial."""
    with open_run(bare, REASONS) as run:
        heads = [case.head for case in run.cases]
        with RunWriter.create(folder, run.head, heads, run.started) as writer:
            for case in run.cases:
                assert case.wiring is not None
                assert case.result is not None
                assert case.started is not None
                assert case.ended is not None
                number = case.head.number
                writer.case_wired(number, case.wiring, case.started)
                for trial in run.trials(number):
                    text = f"Te0 is up\n  {1000 * number + trial.number} packets input\n"
                    printed = Transcript((Said("show interfaces Te0", text, (-5, 10**9)),)).pack()
                    result = replace(read_by_drivers(trial.result), transcript=printed)
                    writer.add_trial(replace(trial, result=result))
                writer.case_done(number, case.result, case.verdicts, case.goals, case.ended)
            assert run.ended is not None
            writer.run_ended(run.state, run.ended)


@dataclass
class Record:
    """The bytes of a record, and a copy of it to be damaged."""

    data: bytes
    folder: Path

    @property
    def file(self) -> Path:
        """The copy."""
        return self.folder / FILE

    def write(self, data: bytes | bytearray) -> None:
        """Puts other bytes in the copy's place."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.file.write_bytes(data)

    def change(self, sql: str, *arguments: object) -> None:
        """Changes the copy by SQL, without its checks."""
        self.write(self.data)
        with closing(sqlite3.connect(self.file)) as connection, connection:
            connection.execute("PRAGMA ignore_check_constraints = 1")
            assert connection.execute(sql, arguments).rowcount > 0, sql


@pytest.fixture
def record(whole: Path, tmp_path: Path) -> Record:
    """A copy of the run."""
    return Record((whole / FILE).read_bytes(), tmp_path / "run")


def page_of(data: bytes, chance: random.Random) -> int:
    """The begin of a page."""
    return chance.randrange(len(data) // PAGE) * PAGE


def flip(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def burst(data: bytearray, chance: random.Random) -> None:
    at, size = chance.randrange(len(data)), chance.choice((2, 16, 512))
    data[at : at + size] = chance.randbytes(len(data[at : at + size]))


def swap(data: bytearray, chance: random.Random) -> None:
    one, other = page_of(data, chance), page_of(data, chance)
    data[one : one + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[one : one + PAGE]


def copy(data: bytearray, chance: random.Random) -> None:
    one, other = page_of(data, chance), page_of(data, chance)
    data[one : one + PAGE] = data[other : other + PAGE]


def zero(data: bytearray, chance: random.Random) -> None:
    at = page_of(data, chance)
    data[at : at + PAGE] = bytes(PAGE)


def truncate(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    del data[at - at % PAGE if chance.random() < 0.5 else at :]


DAMAGES: tuple[Callable[[bytearray, random.Random], None], ...] = (
    flip,
    flip,
    burst,
    swap,
    copy,
    zero,
    truncate,
)


def found_in(folder: Path) -> str:
    """The reports with everything. NetdynoError if the record is refused."""
    with open_run(folder, REASONS) as run:
        found = view(run, with_texts=True)
    return report_text("json", found) + report_text("transcript", found)


def is_intact(folder: Path) -> bool:
    """Whether nothing in the record is found to be damaged."""
    try:
        with open_run(folder, REASONS) as run:
            return not run.verify().damage
    except NetdynoError:
        return False


# An independent look at what a damage changed: rows as bytes, read without indexes, and found by their keys.
# A damaged entry of a page can lead a search for its neighbours astray: they are as damaged then.

OF_CONTENTS = (
    "SELECT t.spec, t.case_number, t.number FROM trials AS t NOT INDEXED"
    " UNION ALL SELECT t.body, t.case_number, t.number FROM trials AS t NOT INDEXED"
    " UNION ALL SELECT s.data, t.case_number, t.number FROM samples AS s JOIN trials AS t ON t.id = s.trial"
    " UNION ALL SELECT s.times, t.case_number, t.number FROM samples AS s JOIN trials AS t ON t.id = s.trial"
    " WHERE s.times IS NOT NULL"
    " UNION ALL SELECT s.data, t.case_number, t.number FROM transcripts AS s"
    " JOIN trials AS t ON t.id = s.trial"
    " UNION ALL SELECT wiring, number, NULL FROM cases UNION ALL SELECT session, number, NULL FROM cases"
)


def rows_of(file: Path) -> dict[str, Counter[tuple[object, ...]]]:
    """Each table's rows. sqlite3.Error if one cannot be read."""
    with closing(sqlite3.connect(file)) as connection:
        connection.text_factory = bytes
        return {
            table: Counter(connection.execute(f"SELECT * FROM {table} {hint}").fetchall())
            for table, hint in (
                ("run", ""),
                ("cases", ""),
                ("trials", "NOT INDEXED"),
                ("samples", ""),
                ("transcripts", ""),
                ("labels", "NOT INDEXED"),
                ("contents", "NOT INDEXED"),
                ("verdicts", ""),
                ("goals", ""),
                ("seals", ""),
            )
        }


def places_of(file: Path) -> Mapping[str, Mapping[int, set[Place]]]:
    """Where each content, label and trial of a whole record belongs."""
    found: dict[str, dict[int, set[Place]]] = {"contents": {}, "labels": {}, "trials": {}}
    with closing(sqlite3.connect(file)) as connection:
        for own, case, number in connection.execute(OF_CONTENTS):
            found["contents"].setdefault(own, set()).add((case, number))
        of_labels = (
            "SELECT s.label, t.case_number, t.number FROM samples AS s JOIN trials AS t ON t.id = s.trial"
        )
        for own, case, number in connection.execute(of_labels):
            found["labels"].setdefault(own, set()).add((case, number))
        for own, case, number in connection.execute("SELECT id, case_number, number FROM trials"):
            found["trials"][own] = {(case, number)}
    return found


def unfound(before: Path, after: Path, places: Mapping[str, Mapping[int, set[Place]]]) -> set[Place]:
    """Cases and trials with a row that is another one when it is looked up by its key."""
    astray: set[Place] = set()
    with closing(sqlite3.connect(before)) as whole, closing(sqlite3.connect(after)) as damaged:
        whole.text_factory = damaged.text_factory = bytes
        cases = {number: {(number, None)} for (number,) in whole.execute("SELECT number FROM cases")}
        for table, key, belongs in (
            *((name, "id", found) for name, found in places.items()),
            *((name, "trial", places["trials"]) for name in ("samples", "transcripts")),
            ("cases", "number", cases),
            *((name, "case_number", cases) for name in ("verdicts", "goals", "seals")),
        ):
            sql = f"SELECT * FROM {table} WHERE {key} = ?"
            for own, where in belongs.items():
                try:
                    same = damaged.execute(sql, (own,)).fetchall() == whole.execute(sql, (own,)).fetchall()
                except (sqlite3.Error, OverflowError):
                    same = False
                astray |= set() if same else where
    return astray


def touched(before: Path, after: Path) -> set[Place] | None:
    """Cases and trials whose rows differ; None: the rows of the damaged record cannot be read."""
    places = places_of(before)
    try:
        one, other = rows_of(before), rows_of(after)
    except (sqlite3.Error, OverflowError):
        return None
    found: set[Place] = set()
    for table, rows in one.items():
        for row in (rows - other[table]) + (other[table] - rows):
            key = row[0]
            if table in places:
                found |= places[table].get(key, {(None, None)}) if isinstance(key, int) else {(None, None)}
            elif table in ("samples", "transcripts"):
                found |= places["trials"].get(key, {(None, None)}) if isinstance(key, int) else set()
            elif table == "run" or not isinstance(key, int):
                found.add((None, None))
            else:
                found.add((None if key == -1 else key, None))
    return found | unfound(before, after, places) if found else found


def misnamed(error: DamagedError, changed: set[Place]) -> bool:
    """Whether a refusal names a case or trial that the damage did not touch."""
    if error.case not in {case for case, _ in changed}:
        return True
    trials = {trial for case, trial in changed if case == error.case and trial is not None}
    return error.trial is not None and bool(trials) and error.trial not in trials


def test_damage_is_refused_by_name_or_has_no_effect(record: Record, whole: Path) -> None:
    chance = random.Random(SEED)
    expected = found_in(whole)
    refused, without_effect, named = Counter[str](), 0, 0
    for number in range(COUNT):
        damage = chance.choice(DAMAGES)
        data = bytearray(record.data)
        damage(data, chance)
        record.write(data)
        told = f"{damage.__name__} {number} of seed {SEED}"
        found, error = "", None
        try:
            with at_most(LIMIT_S):
                found = found_in(record.folder)
        except NetdynoError as raised:
            error = raised
        except BaseException as raised:
            raise AssertionError(told) from raised
        if error is None:
            assert found == expected, told
            without_effect += 1
            continue
        refused[error.code] += 1
        assert not is_intact(record.folder), told
        if isinstance(error, DamagedError) and error.case is not None:
            changed = touched(whole / FILE, record.file)
            if changed:
                assert not misnamed(error, changed), (told, error.case, error.trial, changed)
                named += 1
    assert set(refused) <= CODES
    assert refused["store-damaged"] > COUNT / 4
    assert 0 < without_effect < COUNT / 2
    assert named > COUNT / 20


def test_trial_removed_is_named(record: Record) -> None:
    record.write(record.data)
    with closing(sqlite3.connect(record.file)) as connection:
        trials = connection.execute("SELECT id, case_number, number FROM trials").fetchall()
    chance = random.Random(SEED)
    assert len(trials) > 10
    for own, case, number in chance.sample(trials, min(len(trials), max(COUNT // 10, 10))):
        record.change("DELETE FROM trials WHERE id = ?", own)
        with pytest.raises(DamagedError) as refused:
            found_in(record.folder)
        assert (refused.value.code, refused.value.case, refused.value.trial) == (
            "store-damaged",
            case,
            number,
        )
        assert not is_intact(record.folder)


OF_TRIAL = "(SELECT id FROM trials WHERE case_number = 1 AND number = 2)"
OF_TRANSCRIPT = f"(SELECT data FROM transcripts WHERE trial = {OF_TRIAL})"


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        ("UPDATE run SET head = replace(head, 'A small search', 'A great search')", (None, None)),
        ("UPDATE run SET head = replace(head, 'width: 1%', 'width: 9%')", (None, None)),
        ("UPDATE run SET started = '2020-11-21T19:12:03.123456Z'", (None, None)),
        ("DELETE FROM run", (None, None)),
        ("UPDATE cases SET head = replace(head, 'emulated', 'real') WHERE number = 2", (2, None)),
        ("UPDATE cases SET result = replace(result, '1', '2') WHERE number = 1", (1, None)),
        ("UPDATE cases SET state = 'failed' WHERE number = 3", (3, None)),
        ("DELETE FROM cases WHERE number = 3", (3, None)),
        ("UPDATE goals SET passed = 0 WHERE case_number = 1", (1, None)),
        ("DELETE FROM goals WHERE case_number = 1", (1, None)),
        ("INSERT INTO goals SELECT case_number, 7, passed, body FROM goals WHERE case_number = 1", (1, None)),
        ("UPDATE verdicts SET body = replace(body, 'e', 'o') WHERE case_number = 2", (2, None)),
        ("DELETE FROM verdicts WHERE case_number = 2", (2, None)),
        ("UPDATE trials SET attempt = 5 WHERE case_number = 1 AND number = 2", (1, 2)),
        ("UPDATE trials SET state = 'invalid' WHERE case_number = 1 AND number = 2", (1, 2)),
        ("UPDATE trials SET body = spec WHERE case_number = 1 AND number = 2", (1, 2)),
        ("UPDATE trials SET seal = x'00' WHERE case_number = 1 AND number = 2", (1, 2)),
        ("UPDATE trials SET seal = x'' WHERE case_number = 1 AND number = 2", (1, 2)),
        (f"DELETE FROM samples WHERE trial = {OF_TRIAL}", (1, 2)),
        (f"DELETE FROM transcripts WHERE trial = {OF_TRIAL}", (1, 2)),
        (
            f"UPDATE transcripts SET data = (SELECT min(data) FROM transcripts) WHERE trial = {OF_TRIAL}",
            (1, 2),
        ),
        (f"UPDATE transcripts SET data = 10000000 WHERE trial = {OF_TRIAL}", (1, 2)),
        (f"UPDATE transcripts SET trial = 10000000 WHERE trial = {OF_TRIAL}", (1, 2)),
        (f"UPDATE contents SET data = x'00' WHERE id = {OF_TRANSCRIPT}", (1, 2)),
        (f"UPDATE contents SET hash = x'00' WHERE id = {OF_TRANSCRIPT}", (1, 2)),
        (f"DELETE FROM contents WHERE id = {OF_TRANSCRIPT}", (1, 2)),
        ("UPDATE seals SET seal = x'' WHERE case_number = 1", (None, None)),
        ("UPDATE seals SET seal = x'' WHERE case_number = -1", (None, None)),
        ("DELETE FROM seals WHERE case_number = -1", (None, None)),
        ("DELETE FROM seals WHERE case_number = 2", (2, None)),
    ],
)
def test_row_changed_is_refused_with_its_case_and_trial(sql: str, place: Place, record: Record) -> None:
    record.change(sql)
    with pytest.raises(DamagedError) as refused:
        found_in(record.folder)
    assert (refused.value.code, refused.value.case, refused.value.trial) == ("store-damaged", *place)
    assert not is_intact(record.folder)


@pytest.mark.parametrize("table", ["run", "cases"])
def test_record_damaged_is_not_resumed_and_not_sealed_anew(table: str, record: Record) -> None:
    """A writer would write hashes of what it changes: not before it has looked at these rows."""
    record.change(f"UPDATE {table} SET head = replace(head, 'small', 'great'), state = 'running'")
    for _ in range(2):
        with pytest.raises(DamagedError, check=has_code("store-damaged")):
            RunWriter.resume(record.folder)
    assert not is_intact(record.folder)
