"""A device is one under all its names and for all users: one lock and one journal, by its host key."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fakes.fridge import Fridge, fridge_in
from fakes.server import PASSWORD, USER
from killing import Moments, run_in_child
from netdyno.devices.access import Access, Ssh
from netdyno.devices.configure import locks
from netdyno.devices.configure.journal import Journal, journal_path
from netdyno.devices.configure.locks import Identity, SharedLock, shared_path
from netdyno.devices.drivers.cisco_iosxr import DRIVER
from netdyno.devices.drivers.driver import Reached
from netdyno.devices.reach.configuring import Configuration, held, identity, restore
from netdyno.devices.reach.session import Session
from netdyno.devices.wiring import LabError, LabLink

KNOWN = Identity("cisco_iosxr", "fridge", 22, key="SHA256:abc")
ALIAS = Identity("cisco_ios", "192.0.2.1", 2222, "x", key="SHA256:abc")
NOBODY = 65534


@pytest.fixture
def fridge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fridge]:
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with fridge_in(tmp_path) as found:
        yield found


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which each user may create files, in place of /run/lock."""
    with TemporaryDirectory() as name:
        os.chmod(name, 0o1777)
        monkeypatch.setattr(locks, "FOLDER", Path(name))
        yield Path(name)


def session_to(fridge: Fridge, host: str) -> Session:
    known = fridge.folder / "both"
    names = (f"[{name}]:{fridge.server.port} {fridge.server.key}\n" for name in ("127.0.0.1", "localhost"))
    known.write_text("".join(names))
    return Session(Access(host, USER, Ssh(fridge.server.port, known_hosts=str(known))), DRIVER.shell)


def code_of_lock(of: Identity) -> str:
    try:
        with SharedLock(of) as lock:
            return lock.note.code if lock.note else ""
    except LabError as error:
        return error.code


def test_device_by_name_and_by_address_has_one_journal(fridge: Fridge) -> None:
    found = []
    for host in ("127.0.0.1", "localhost"):
        with session_to(fridge, host) as session:
            session.open()
            found.append(identity(DRIVER, session))
    assert found[0].key.startswith("SHA256:")
    assert found[0].host != found[1].host
    assert journal_path(found[0]) == journal_path(found[1])
    with Journal(found[0]), pytest.raises(LabError) as raised:
        Journal(found[1])
    assert raised.value.code == "device-in-use"


@pytest.mark.parametrize("key", ["SHA256:other", ""])
def test_undo_is_not_sent_to_a_device_with_another_key(key: str, fridge: Fridge) -> None:
    ssh = Ssh(fridge.server.port, known_hosts=fridge.server.known_hosts(fridge.folder))
    of = Identity("cisco_iosxr", "127.0.0.1", ssh.port, USER, True, ssh.known_hosts, key=key)
    before = fridge.device.text()
    with Journal(of) as journal:
        journal.begin("interface TenGigE0/1/0/0\n", "interface TenGigE0/1/0/0\n description netdyno\n")
    with pytest.raises(LabError) as raised:
        restore(DRIVER, of)
    assert raised.value.code == "host-key-changed"
    assert " no description\n" in str(raised.value.hint)
    assert fridge.device.text() == before


def test_shared_lock_is_one_for_all_names_of_a_device(shared: Path) -> None:
    """By its key; by its address for users who know different keys of it."""
    others = (ALIAS, replace(KNOWN, key="SHA256:ed25519"), replace(KNOWN, key=""))
    with SharedLock(KNOWN) as lock:
        assert lock.note is None
        assert [code_of_lock(one) for one in others] == ["device-in-use"] * 3
    assert [code_of_lock(one) for one in others] == [""] * 3
    assert {one.stat().st_size for one in shared.iterdir()} == {0}


@pytest.mark.parametrize(
    ("changed", "remedy"),
    [
        ({"key": "SHA256:other"}, "delete {own}"),
        ({"key": ""}, "delete {own}"),
        ({"host": "localhost"}, "delete {own}"),
        ({"port": 2222}, "delete {own}"),
        # Of the device itself, as a copy under another name, that the begin of a run has asked to rename.
        ({}, "rename {copy} to {own.name}"),
    ],
)
def test_device_with_an_undo_of_another_key_or_address_is_left_alone(
    fridge: Fridge, changed: dict[str, Any], remedy: str
) -> None:
    """Under another key, or none, it may be the same device; with this key it may be a copy of it."""
    before = fridge.device.text()
    with session_to(fridge, "127.0.0.1") as session:
        session.open()
        with Journal(replace(identity(DRIVER, session), **changed)) as journal:
            journal.begin("interface TenGigE0/1/0/0\n", "interface TenGigE0/1/0/0\n description x\n")
        copy = journal.path.with_name("copy.journal")
        if not changed:
            journal.path.rename(copy)
        (fridge.folder / "own.j2").write_text("interface {{ ports[0] }}\n description y\n")
        reached = Reached(("Te0/1/0/0",), (), session.access, "own.j2", fridge.folder)
        links = (LabLink("west", "Te0/1/0/0", 10**10),)
        configuration = Configuration(DRIVER, session, replace(reached, links=links))
        with pytest.raises(LabError) as raised:
            configuration.apply({})
        held.pop(identity(DRIVER, session).file_name).release()
    assert raised.value.code == "undo-pending"
    assert remedy.format(own=journal.path, copy=copy) in str(raised.value.hint)
    assert fridge.device.text() == before


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to be another user")
def test_shared_lock_keeps_another_user_out(shared: Path) -> None:
    def be_another(expected: str) -> None:
        def work(_moments: Moments) -> None:
            os.setuid(NOBODY)
            assert code_of_lock(KNOWN) == expected

        run_in_child(work)

    before = os.umask(0o077)
    try:
        lock = SharedLock(KNOWN)
    finally:
        os.umask(before)
    with lock:
        be_another("device-in-use")
    # The file that one user has left keeps no other out.
    be_another("")


@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "folder", "missing"])
def test_trap_in_place_of_the_shared_lock_is_noted(
    kind: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("x")
    path = shared_path(KNOWN)
    path.unlink(missing_ok=True)
    match kind:
        case "link":
            path.symlink_to(precious)
        case "dangling":
            path.symlink_to(tmp_path / "made")
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case _:
            monkeypatch.setattr(locks, "FOLDER", tmp_path / "none")
    assert code_of_lock(KNOWN) == "lock-not-shared"
    assert precious.read_text() == "x"
    assert not (tmp_path / "made").exists()
