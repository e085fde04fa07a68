"""The journal: on disk before anything is sent, locked, and read again whatever happened to it."""

from __future__ import annotations

import os
import resource
import stat
from pathlib import Path

import pytest
from configured import CASES, IDENTITY, configurer, device_in, journal_in
from faketree import FakeCli
from killing import Moments, run_in_child
from netdyno.campaign import pending
from netdyno.devices.configure.journal import Journal, list_pending, read_entry
from netdyno.devices.configure.locks import Identity, state_folder
from netdyno.devices.wiring import LabError


def test_entry_is_read_again_as_it_was_stored(tmp_path: Path) -> None:
    with journal_in(tmp_path) as journal:
        journal.begin("a\n", "b\n", 60)
        journal.store_left("c\n\u2028é")
        stored = journal.pending
    with journal_in(tmp_path) as journal:
        assert journal.pending == stored
        assert stored is not None
        assert (stored.before, stored.text, stored.after, stored.confirm_s) == (
            "a\n",
            "b\n",
            "c\n\u2028é",
            60,
        )
        journal.mark_undoing()
    with journal_in(tmp_path) as journal:
        assert journal.pending is not None
        assert journal.pending.is_undoing
        journal.mark_undone()
    assert not list_pending(tmp_path / "state")
    with journal_in(tmp_path) as journal:
        assert journal.pending is None
        assert journal.path.stat().st_size == 0


def test_files_of_the_journal_are_its_users_alone(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o755)
    with journal_in(tmp_path) as journal:
        journal.begin("a", "b")
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "state").iterdir()}
    assert modes == {0o600}


def test_journal_is_in_the_state_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "netdyno" / "devices"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert state_folder() == Path.home() / ".local" / "state" / "netdyno" / "devices"


def test_name_of_the_file_is_safe_and_the_same_for_each_user() -> None:
    hostile = Identity("x", "../../etc/passwd\n", 22, "root")
    assert "/" not in hostile.file_name
    assert "." not in hostile.file_name
    assert hostile.file_name == Identity("x", "../../etc/passwd\n", 22, "other").file_name
    names = {Identity("x", host, port).file_name for host in ("a.b", "a_b", "a" * 300) for port in (22, 23)}
    assert len(names) == 6
    assert max(map(len, names)) < 120


@pytest.mark.parametrize("cut", range(1, 200, 13))
def test_torn_last_record_is_ignored(cut: int, tmp_path: Path) -> None:
    with journal_in(tmp_path) as journal:
        journal.begin("a\n", "b\n")
        length = journal.path.stat().st_size
        journal.store_left("c\n" * 100)
        journal.path.write_bytes(journal.path.read_bytes()[: length + cut])
    with journal_in(tmp_path) as journal:
        assert journal.pending is not None
        assert journal.pending.after is None
        journal.store_left("d\n")
    with journal_in(tmp_path) as journal:
        assert journal.pending is not None
        assert journal.pending.after == "d\n"


@pytest.mark.parametrize("at", [0, 5, 9, 20, 60])
def test_damage_before_the_last_record_is_an_error(at: int, tmp_path: Path) -> None:
    with journal_in(tmp_path) as journal:
        journal.begin("a\n", "b\n")
        journal.store_left("c\n")
        data = bytearray(journal.path.read_bytes())
        data[at] ^= 1
        journal.path.write_bytes(data)
        path = journal.path
    for _ in range(2):
        with pytest.raises(LabError) as raised:
            journal_in(tmp_path)
        assert raised.value.code == "journal-damaged"
        assert str(path) in raised.value.message


def test_link_in_place_of_the_journal_is_not_followed(tmp_path: Path) -> None:
    with journal_in(tmp_path) as journal:
        path = journal.path
    path.unlink()
    (tmp_path / "precious").write_text("x")
    path.symlink_to(tmp_path / "precious")
    with pytest.raises(LabError) as raised:
        journal_in(tmp_path)
    assert raised.value.code == "journal-not-written"
    assert (tmp_path / "precious").read_text() == "x"


def test_device_in_use_names_the_process_that_holds_it(tmp_path: Path) -> None:
    with journal_in(tmp_path):
        with pytest.raises(LabError) as raised:
            journal_in(tmp_path)
        assert raised.value.code == "device-in-use"
        assert f"process {os.getpid()}" in raised.value.message
        Journal(Identity("fake", "192.0.2.2", 22), tmp_path / "state").close()
    journal_in(tmp_path).close()


def test_device_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    def hold(moments: Moments) -> None:
        with journal_in(tmp_path):
            for _ in range(10):
                moments.step("hold")

    assert run_in_child(hold, 8)[0]
    journal_in(tmp_path).close()


@pytest.mark.parametrize("system", ["xr", "ios"])
@pytest.mark.parametrize("records", [0, 1])
def test_full_disk_leaves_the_device_as_it_was(system: str, records: int, tmp_path: Path) -> None:
    device = device_in(tmp_path, system)
    before = device.text()
    sent: list[str] = []

    def work(moments: Moments) -> None:
        with journal_in(tmp_path) as journal:

            def fill(what: str) -> None:
                sent.append(what)
                is_full = what == "asked" and sent.count("asked") == 2 + records
                limit = journal.path.stat().st_size + 100 if is_full else -1
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, -1))

            with pytest.raises(LabError) as raised:
                configurer(FakeCli(device, fill), journal, system).apply(CASES[system])
            assert raised.value.code == "journal-not-written"
            assert journal.pending is None
            assert ("line" in sent) == bool(records)

    # In a child: the limit is the process's.
    run_in_child(work)
    assert device.text() == before
    path = tmp_path / "state" / f"{IDENTITY.file_name}.journal"
    assert read_entry(path)[0] is None


@pytest.mark.parametrize("system", ["xr", "ios"])
def test_full_disk_does_not_keep_the_undo_from_the_device(system: str, tmp_path: Path) -> None:
    """Neither the begin nor the end of the undo can be stored: it is carried out all the same."""
    device = device_in(tmp_path, system)
    before = device.text()

    def work(moments: Moments) -> None:
        with journal_in(tmp_path) as journal:
            subject = configurer(FakeCli(device), journal, system)
            subject.apply(CASES[system])
            # Only the journal: the device's own file is written by the fake.
            append = journal._append

            def full(record: dict[str, object]) -> None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (journal.path.stat().st_size, -1))
                try:
                    append(record)
                finally:
                    resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))

            journal._append = full  # type: ignore[method-assign]
            subject.undo()
            assert journal.pending is None

    run_in_child(work)
    assert device.text() == before
    with journal_in(tmp_path) as journal:
        assert journal.pending is None


@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_journal_that_is_no_regular_file_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        (tmp_path / "other").touch()
        path.symlink_to(tmp_path / "other")
    with pytest.raises(LabError) as raised:
        read_entry(path)
    assert raised.value.code == "journal-damaged"


def test_kill_in_the_first_record_leaves_all_of_it_or_none(tmp_path: Path) -> None:
    def begin(_moments: Moments) -> None:
        with journal_in(tmp_path) as journal:
            journal.begin("a\n", "b\n")

    def undo() -> bool:
        with journal_in(tmp_path) as journal:
            if is_stored := journal.pending is not None:
                journal.mark_undone()
        return is_stored

    _, most = run_in_child(begin)
    undo()
    found = []
    for at in range(1, most + 1):
        assert run_in_child(begin, at)[0]
        found.append(undo())
        assert not list((tmp_path / "state").glob("*.new"))
    assert found == sorted(found)
    assert len(set(found)) == 2


@pytest.mark.parametrize("length", [1, 40, -1])
def test_journal_cut_in_its_first_record_is_damaged(length: int, tmp_path: Path) -> None:
    with Journal(Identity("cisco_iosxr", "192.0.2.1"), tmp_path) as journal:
        journal.begin("hostname x\n", "hostname y\n")
    journal.path.write_bytes(journal.path.read_bytes()[:length])
    with pytest.raises(LabError) as raised:
        read_entry(journal.path)
    assert raised.value.code == "journal-damaged"


@pytest.mark.parametrize(
    ("driver", "name"), [("cisco_of_tomorrow", ""), ("openvswitch", ""), ("cisco_iosxr", "copy")]
)
def test_journal_of_no_known_driver_or_name_is_reported(
    driver: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with Journal(Identity(driver, "192.0.2.1")) as journal:
        journal.begin("hostname x\n", "hostname y\n")
    path = journal.path
    if name:
        path = path.rename(path.with_name(f"{name}.journal"))
    before, said = path.read_bytes(), list[str]()
    monkeypatch.setattr(pending, "warn", lambda reason: said.append(reason.code))
    pending.restore_devices()
    assert said == ["configuration-not-undone"]
    assert path.read_bytes() == before
