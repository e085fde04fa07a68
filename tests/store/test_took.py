"""How long readings took, and what else is known of a series: stored, sealed, and absent from old records."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from netdyno.store import FILE, DamagedError, open_run
from netdyno.store.series import join, split, took, unpack
from netdyno.values.records import StoredTrial
from netdyno.values.series import Missed, Series, Steps
from test_hashes import torn, verified, write
from test_store import trial
from words import said

PLAIN = Series("device", "cpu", "temperature", "C", Steps(0, 10), (1, 2))
COUNTER = Series(
    "snmp", "xe-0/0/0", "ifHCInOctets", "B", (5, 15), (7, 2**40), 0, (3, 4), None, True, 64,
    (Missed(25, said("the agent is silent")),),
)  # fmt: skip


def with_series(*series: Series) -> StoredTrial:
    one = trial()
    return replace(one, result=replace(one.result, series=series))


def test_series_with_details_is_read_as_it_was_written(tmp_path: Path) -> None:
    write(tmp_path, with_series(PLAIN, COUNTER))
    with open_run(tmp_path) as run:
        (found,) = run.trials(3)
    assert found.result.series == (PLAIN, COUNTER)
    assert verified(tmp_path).damage == ()


def test_view_of_series_has_times_that_readings_took(tmp_path: Path) -> None:
    write(tmp_path, with_series(PLAIN, COUNTER))
    sql = "SELECT took FROM series WHERE owner = 'instrument' ORDER BY number"
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        (plain,), (counter,) = connection.execute(sql).fetchall()
    assert plain is None
    assert unpack(2, counter) == COUNTER.took_ns


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM samples WHERE label IN (SELECT id FROM labels WHERE number < 0)",
        "UPDATE samples SET data = times WHERE label IN (SELECT id FROM labels WHERE name = 'ifHCInOctets')"
        " AND times IS NOT NULL",
    ],
)
def test_series_whose_details_changed_is_refused(damage: str, tmp_path: Path) -> None:
    write(tmp_path, with_series(COUNTER))
    with torn(tmp_path, damage) as folder, pytest.raises(DamagedError), open_run(folder) as run:
        list(run.trials(3))


def test_record_without_details_has_times_and_values() -> None:
    bare, rows = split(with_series(PLAIN, COUNTER).result)
    older = replace(bare, series=())
    found = join(older, [row for row in rows if row.owner != "instrument" or row.number >= 0])
    assert found.series == (
        PLAIN,
        replace(COUNTER, took_ns=(), is_counter=False, bits=None, missed=()),
    )


def test_details_of_another_number_of_series_are_refused() -> None:
    bare, rows = split(with_series(PLAIN, COUNTER).result)
    with pytest.raises(ValueError, match="2 series"):
        join(replace(bare, series=bare.series[:1]), list(rows))


def test_row_of_times_taken_has_a_number_of_its_own() -> None:
    assert {took(number) for number in range(3)} == {-1, -2, -3}
