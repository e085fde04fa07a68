"""Whether what is read of a record is what was written: its parts against their seals."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from netdyno.store import seals
from netdyno.store.schema import DamagedError


@dataclass(frozen=True)
class TrialRow:
    """A trial's place in the record. before: the seal of the case's trial before it."""

    id: int
    number: int
    attempt: int
    seal: bytes
    before: bytes

    @property
    def is_sealed(self) -> bool:
        """Whether there are hashes of it."""
        return self.seal != seals.NONE


@dataclass(frozen=True)
class _Sealed:
    """What the seals say of a case."""

    trials: int
    unsealed: int
    last: bytes
    last_number: int | None
    seal: bytes


class Checks:
    """Compares parts of an open record with their seals, each within one transaction of the caller."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._sql = connection
        self._folder = folder

    def name(self, case: int) -> str:
        """The name of a case, or its number if its name cannot be read."""
        try:
            found = self._sql.execute(
                "SELECT CAST(name AS BLOB) FROM cases WHERE number = ?", (case,)
            ).fetchone()
            return str(case) if found is None else bytes(found[0]).decode(errors="replace")
        except (sqlite3.Error, TypeError):
            return str(case)

    def damaged(self, what: str, case: int | None = None, trial: int | None = None) -> DamagedError:
        """The error of damage to a part. case: its number; None: the run's own part."""
        name = "" if case is None else self.name(case)
        return DamagedError(self._folder, what, case, trial, name, code="store-damaged")

    def is_empty(self) -> bool:
        """Whether no run has begun here. Raises DamagedError if one had."""
        if self._sql.execute("SELECT 1 FROM run").fetchone() is not None:
            return False
        if self._sql.execute("SELECT 1 FROM seals WHERE seal != x''").fetchone() is not None:
            raise self.damaged("its plan, title and state are missing")
        return True

    def run(self) -> None:
        """Raises DamagedError unless plan, title, versions, state and the list of cases are as written."""
        own = self._seal_of_run()
        cases = [number for (number,) in self._sql.execute("SELECT number FROM cases ORDER BY number")]
        sealed = dict(self._sql.execute("SELECT case_number, seal FROM seals WHERE case_number >= 0"))
        for number in sorted(set(cases) ^ set(sealed)):
            what = "it is missing" if number in sealed else "it was added, or its hash is missing"
            raise self.damaged(what, None if number == seals.RUN else number)
        if own == seals.NONE:
            if any(seal != seals.NONE for seal in sealed.values()):
                raise self.damaged("the hash of the run is missing")
        elif seals.of_run(self._sql) != own or not self._is_sum_right():
            # It covers the seals of all cases: one of these may be what changed.
            for number in cases:
                self.case(number)
            raise self.damaged("its plan, title, versions, state or hash changed")

    def case(self, number: int) -> None:
        """Raises DamagedError unless a case, its verdicts and goals are as written."""
        sealed = self._sealed(number)
        if sealed.seal != seals.NONE and seals.of_case(self._sql, number) != sealed.seal:
            raise self.damaged("its device, settings, state, result, limits, goals or hash changed", number)

    def is_case_sealed(self, number: int) -> bool:
        """Whether there are hashes of a case."""
        return self._sealed(number).seal != seals.NONE

    def trials(self, case: int) -> list[TrialRow]:
        """The trials of a case in the order stored, none missing and none added. `trial` checks each."""
        self.case(case)
        sealed = self._sealed(case)
        sql = "SELECT id, number, attempt, seal FROM trials WHERE case_number = ? ORDER BY id"
        rows, last = [], seals.NONE
        for own, number, attempt, seal in self._sql.execute(sql, (case,)):
            rows.append(TrialRow(own, number, attempt, seal, last))
            last = seal if seal != seals.NONE else last
        if sealed.seal == seals.NONE:
            return rows
        if len(rows) < sealed.trials:
            raise self.damaged("it is missing", case, self._find_missing_trial(rows, sealed))
        for place, row in enumerate(rows):
            if row.is_sealed is (place < sealed.unsealed):
                raise self.damaged("its hash is missing, or it was added", case, row.number)
        if len(rows) > sealed.trials:
            for row in rows:
                self.trial(case, row)
            raise self.damaged("it was added", case, rows[-1].number)
        if last != sealed.last:
            for row in rows:
                self.trial(case, row)
            raise self.damaged("it is another one, or its hash changed", case, sealed.last_number)
        return rows

    def trial(self, case: int, row: TrialRow) -> None:
        """Raises DamagedError unless a trial is as written: its entry, and what contents it has."""
        if row.is_sealed and seals.of_trial(self._sql, row.id, row.before) != row.seal:
            raise self.damaged("its entry, its list of series or its hash changed", case, row.number)

    def _find_missing_trial(self, rows: Sequence[TrialRow], sealed: _Sealed) -> int | None:
        """The number of the first trial that is missing among those found."""
        number = -1
        for place, row in enumerate(rows):
            if place < sealed.unsealed or seals.of_trial(self._sql, row.id, row.before) == row.seal:
                number = row.number
                continue
            if row.number > number + 1 or number < 0:
                return number + 1
            return row.number if row.attempt else number
        return sealed.last_number

    def _is_sum_right(self) -> bool:
        """Whether the seals of all cases add up to the sum that the run's seal covers, if there is one."""
        return seals.sum_kept(self._sql) in (seals.NONE, seals.sum_of_cases(self._sql))

    def _seal_of_run(self) -> bytes:
        found = self._sql.execute("SELECT seal FROM seals WHERE case_number = ?", (seals.RUN,)).fetchone()
        if found is None:
            raise self.damaged("the hash of the run is missing")
        return bytes(found[0])

    def _sealed(self, case: int) -> _Sealed:
        sql = "SELECT trials, unsealed, last, last_number, seal FROM seals WHERE case_number = ?"
        found = self._sql.execute(sql, (case,)).fetchone()
        if found is None:
            raise self.damaged("its hash is missing", case)
        return _Sealed(*found)
