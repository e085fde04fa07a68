"""Stores and calibrations changed at random from a fixed seed: each is read or refused by a typed error.

NETDYNO_FUZZ is how many; NETDYNO_FUZZ_SEED another seed.
"""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from alarm import at_most
from campaigns import TWO, finish, write_plan
from mutating import mutated
from netdyno.calibration import shelf
from netdyno.calibration.document import Calibration, Traffic
from netdyno.errors import NetdynoError
from netdyno.reports.model.from_store import view
from netdyno.store import FILE, RunWriter, list_runs, open_run
from pages import report_text
from sampling import examples

COUNT = int(os.environ.get("NETDYNO_FUZZ", examples(300)))
SEED = int(os.environ.get("NETDYNO_FUZZ_SEED", "14"))
LIMIT_S = 10


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a complete run on the fake engine."""
    parent = tmp_path_factory.mktemp("store")
    code, folder, err = finish("run", write_plan(parent, TWO), parent / "runs")
    assert code == 0, err
    return (folder / FILE).read_bytes()


def test_store_mutated_is_read_or_refused_in_time(store: bytes, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    folder = tmp_path / "run"
    folder.mkdir()
    refused: list[str] = []
    for number in range(COUNT):
        for left in folder.iterdir():
            left.unlink()
        (folder / FILE).write_bytes(mutated(store, chance))
        try:
            with at_most(LIMIT_S):
                list(list_runs(tmp_path))
                with open_run(folder) as run:
                    report_text("json", view(run)).encode()
                    run.trial_count()
                # What can be read can be gone on with.
                RunWriter.resume(folder).close()
        except NetdynoError as error:
            refused.append(error.message)
        except BaseException as error:
            raise AssertionError(f"store {number} of seed {SEED}") from error
    assert 0 < len(refused) < COUNT
    assert not any("\n" in message for message in refused)


def test_calibration_mutated_is_read_or_refused(tmp_path: Path) -> None:
    """What cannot be read proves nothing and is reported; the others are sorted by their time."""
    kept = Calibration(
        id="2026-11-22T0350Z-ab12",
        made_at=datetime(2026, 11, 22, 3, 50, tzinfo=UTC),
        effort="quick",
        how="a ring",
        ports=("one", "two"),
        basis={"kernel": "6.1", "eth1: driver": "ixgbe"},
        machine={},
        checks=(),
        traffic=(Traffic("aa", "64b / uni", Fraction(13_500_000, 7), None, 800, 40_000, Fraction(3, 2)),),
    )
    plain = kept.to_json().encode()
    shelf.save(tmp_path, kept)
    chance = random.Random(SEED)
    refused = 0
    for number in range(COUNT):
        (tmp_path / shelf.FOLDER / "other.json").write_bytes(mutated(plain, chance))
        try:
            with at_most(LIMIT_S):
                found, wrong = shelf.load(tmp_path)
        except BaseException as error:
            raise AssertionError(f"calibration {number} of seed {SEED}") from error
        assert kept in found
        assert len(found) + len(wrong) == 2
        refused += len(wrong)
    assert 0 < refused < COUNT
