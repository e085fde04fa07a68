"""What killed runs left is undone at the start of a run: damaged journals and odd clocks cost no run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from netdyno.campaign import pending
from netdyno.devices.configure.journal import Journal
from netdyno.devices.configure.locks import Identity
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.reasons import NotUndone, Restored

OF = Identity("cisco_iosxr", "192.0.2.1", 22)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """What a start warns of; the driver undoes all that it is given."""
    found: list[Any] = []
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(pending, "warn", found.append)
    monkeypatch.setattr(type(DRIVERS["cisco_iosxr"]), "restore", lambda driver, of: True)
    return found


@pytest.mark.parametrize("when", [0.0, -1e12, 4e12, 1e300, float("inf"), float("nan")])
def test_entry_of_a_clock_that_jumped_is_undone(
    when: float, said: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netdyno.devices.configure.journal.time", lambda: when)
    with Journal(OF) as journal:
        journal.begin("a\n", "b\n", run="/runs/one")
    pending.restore_devices()
    (reason,) = said
    assert isinstance(reason, Restored)
    assert reason.host == "192.0.2.1"
    assert "/runs/one" in reason.run


def test_damaged_journal_is_reported_and_others_are_undone(said: list[Any]) -> None:
    with Journal(OF) as journal:
        journal.begin("a\n", "b\n")
        journal.path.write_bytes(b"00000000 {}\n" + journal.path.read_bytes())
        damaged = journal.path
    with Journal(replace(OF, host="192.0.2.2")) as journal:
        journal.begin("a\n", "b\n")
    pending.restore_devices()
    assert sorted(reason.code for reason in said) == ["configuration-not-undone", "configuration-restored"]
    (wrong,) = (reason for reason in said if isinstance(reason, NotUndone))
    assert str(damaged) in wrong.what
    assert damaged.stat().st_size
