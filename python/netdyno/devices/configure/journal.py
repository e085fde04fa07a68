"""The undo of a device's configuration, on disk before anything is sent, and the lock of the device.

One file per device in the user's state folder. Each record is one line: a checksum and a JSON object.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import zlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import time
from typing import Any

from netdyno.devices.configure.locks import (
    DeviceLock,
    Holder,
    Identity,
    create_folder,
    find_holder,
    read_holder,
    state_folder,
)
from netdyno.devices.wiring import LabError
from netdyno.errors import advice

VERSION = 1
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Entry:
    """A configuration that was begun and is not undone.

    before: the reading before it. text: what is entered. when: Unix time, s. confirm_s: the device reverts
    by itself after so long unless it is confirmed. after: the reading when it was complete; None: the run
    was killed before. is_undoing: the undo had begun. run: the folder of the run; empty: unknown.
    """

    identity: Identity
    before: str
    text: str
    when: float
    confirm_s: int | None = None
    after: str | None = None
    is_undoing: bool = False
    run: str = ""


class Journal:
    """The open journal of one device, whose lock it holds until `close`. Use it in a `with` statement.

    Raises LabError: `device-in-use`, `journal-damaged`, `journal-not-written`.
    """

    def __init__(self, identity: Identity, folder: Path | None = None) -> None:
        self.identity = identity
        self.path = journal_path(identity, folder)
        self._spare = self.path.with_suffix(".new")
        try:
            create_folder(self.path.parent)
            self.lock = DeviceLock(identity, _lock_path(self.path))
        except OSError as error:
            raise self._not_written(error) from error
        try:
            self._file, self.pending = self._open()
        except LabError:
            self.lock.release()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> tuple[int, Entry | None]:
        """The file, to be written, and its pending entry. Raises LabError."""
        try:
            file = os.open(self.path, _FLAGS, 0o600)
        except OSError as error:
            raise self._not_written(error) from error
        try:
            # A run that was killed while it began has left it.
            self._spare.unlink(missing_ok=True)
            sync_folder(self.path.parent)
            pending, length = read_entry(self.path, self.identity.host)
            # A torn record is cut off, so that the next one begins a line; a finished journal is emptied.
            os.ftruncate(file, length if pending else 0)
        except OSError as error:
            os.close(file)
            raise self._not_written(error) from error
        except LabError:
            os.close(file)
            raise
        return file, pending

    def read_again(self) -> None:
        """Reads what other processes that share the lock have stored. Raises LabError."""
        before = self._file
        self._file, self.pending = self._open()
        os.close(before)

    @property
    def files(self) -> tuple[int, ...]:
        """Those of a process that shares it and its lock."""
        return self.lock.file, self._file

    def close(self) -> None:
        """Releases the device. A pending entry stays for the next run."""
        os.close(self._file)
        self.lock.release()

    def begin(self, before: str, text: str, confirm_s: int | None = None, run: str = "") -> None:
        """Stores what is needed for the undo. Nothing may be sent if it raises `journal-not-written`."""
        entry = Entry(self.identity, before, text, time(), confirm_s, run=run)
        record = {key: value for key, value in asdict(entry).items() if key not in ("after", "is_undoing")}
        self._replace(_line({"what": "begin", "version": VERSION, **record}))
        self.pending = entry

    def store_left(self, after: str) -> None:
        """Stores the reading that we leave. Raises LabError `journal-not-written`."""
        assert self.pending is not None
        self._append({"what": "left", "after": after})
        self.pending = replace(self.pending, after=after)

    def mark_undoing(self) -> None:
        """Stores that the undo begins, if the disk takes it: without, a kill of it needs hands to undo."""
        assert self.pending is not None
        with contextlib.suppress(LabError):
            self._append({"what": "undoing"})
        self.pending = replace(self.pending, is_undoing=True)

    def mark_undone(self) -> None:
        """Stores that the device is as before, if the disk takes it: else the next run finds it so."""
        with contextlib.suppress(LabError):
            self._append({"what": "undone"})
        # It holds a whole configuration, which nobody needs any more.
        with contextlib.suppress(OSError):
            os.ftruncate(self._file, 0)
        self.pending = None

    def _replace(self, line: bytes) -> None:
        """Makes a line all that the file holds: after a kill it is there whole, or not at all."""
        try:
            file = os.open(self._spare, _FLAGS | os.O_EXCL, 0o600)
            try:
                _write(file, line)
                self._spare.rename(self.path)
                sync_folder(self.path.parent)
            except OSError:
                os.close(file)
                with contextlib.suppress(OSError):
                    self._spare.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise self._not_written(error) from error
        os.close(self._file)
        self._file = file

    def _append(self, record: dict[str, Any]) -> None:
        length = os.fstat(self._file).st_size
        try:
            _write(self._file, _line(record))
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, length)
            raise self._not_written(error) from error

    def _not_written(self, error: OSError) -> LabError:
        return LabError(
            f"{self.path}: {error.strerror or error}: the undo cannot be stored, so nothing is configured.",
            advice(error)
            if error.errno not in (errno.EFBIG, None)
            else "`ulimit -f` limits the size of files",
            code="journal-not-written",
        )


def journal_path(identity: Identity, folder: Path | None = None) -> Path:
    """The file of a device's journal."""
    return (folder or state_folder()) / f"{identity.file_name}.journal"


def _line(record: dict[str, Any]) -> bytes:
    """A record as it is stored."""
    body = json.dumps(record, ensure_ascii=True, sort_keys=True)
    return f"{zlib.crc32(body.encode()):08x} {body}\n".encode()


def _write(file: int, data: bytes) -> None:
    """Returns once the disk has it. Raises OSError."""
    while data:
        data = data[os.write(file, data) :]
    os.fsync(file)


def _lock_path(journal: Path) -> Path:
    return journal.with_suffix(".lock")


def find_user(identity: Identity) -> Holder | None:
    """Who uses a device; None: nobody. It is only looked at."""
    return find_holder(identity, _lock_path(journal_path(identity)))


def read_entry(path: Path, host: str = "") -> tuple[Entry | None, int]:
    """The pending entry of a journal, and its length without a torn last record, bytes.

    host: of its device, for the error; empty: as the journal has it.
    Raises LabError `journal-damaged`: a record before the last is damaged, or a newer netdyno wrote it.
    """
    data = _read_regular(path)
    entry: Entry | None = None
    length = 0
    for line in data.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            checksum, _, body = line.partition(b" ")
            record = json.loads(body) if int(checksum, 16) == zlib.crc32(body.rstrip(b"\n")) else None
            entry = _follow(entry, record)
        except (ValueError, TypeError, KeyError) as error:
            named = entry.identity.host if entry is not None else host
            raise _damaged(path, named, f"record at byte {length} is damaged") from error
        length += len(line)
    if entry is None and length < len(data):
        raise _damaged(path, host, "its first record is cut")
    return entry, length


def _damaged(path: Path, host: str, why: str) -> LabError:
    of = f"`{host}`" if host else "this device"
    return LabError(
        f"{path}: {why}: the undo of {of} is unknown.",
        "compare the device with its last saved configuration; then delete the file",
        code="journal-damaged",
    )


def explain_name(path: Path, identity: Identity) -> str:
    """What to do about a journal whose file has not the name of its device; empty: it has."""
    right = f"{identity.file_name}.journal"
    return "" if path.name == right else f"rename {path} to {right}, and run again"


def _read_regular(path: Path) -> bytes:
    """What a file holds. Raises OSError; LabError `journal-damaged` for what is no regular file."""
    # Nothing is waited for: it may be a pipe.
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENXIO):
            raise
        raise _no_file(path) from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise _no_file(path)
    with os.fdopen(file, "rb") as opened:
        return opened.read()


def _no_file(path: Path) -> LabError:
    return LabError(
        f"{path}: it is no regular file, so the undo of this device is unknown.",
        "find out who made it; then remove it",
        code="journal-damaged",
    )


def _follow(entry: Entry | None, record: Any) -> Entry | None:
    """The entry after a further record."""
    match record:
        case {"what": "begin", "version": 1} if entry is None:
            return Entry(
                Identity(**{**record["identity"], "old": tuple(record["identity"]["old"])}),
                str(record["before"]),
                str(record["text"]),
                float(record["when"]),
                record["confirm_s"],
                run=str(record.get("run", "")),
            )
        case {"what": "left", "after": str(after)} if entry is not None:
            return replace(entry, after=after)
        case {"what": "undoing"} if entry is not None:
            return replace(entry, is_undoing=True)
        case {"what": "undone"} if entry is not None:
            return None
    raise ValueError(record)


def list_pending(folder: Path | None = None) -> dict[Path, Entry]:
    """The pending entries of all journals that can be read, by their files."""
    found = {}
    for path in list_journals(folder):
        with contextlib.suppress(OSError, LabError):
            if (entry := read_entry(path)[0]) is not None:
                found[path] = entry
    return found


def list_held(run: str) -> tuple[tuple[Path, Entry], ...]:
    """Journals with a pending entry, of the run in this folder or locked by it; also if it was killed."""
    readable = list_pending().items()
    return tuple(one for one in readable if run in (one[1].run, read_holder(_lock_path(one[0])).run))


def list_journals(folder: Path | None = None) -> tuple[Path, ...]:
    """The journals of all devices. A folder that cannot be read has none."""
    return tuple(sorted((folder or state_folder()).glob("*.journal")))


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
