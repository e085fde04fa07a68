"""Who a device is, where its state is stored, and the locks that one run at a time holds."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import stat
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from netdyno.devices.reasons import LockNotShared
from netdyno.devices.wiring import LabError


@dataclass(frozen=True)
class Identity:
    """A device as a plan reaches it. Without secrets. port: of TCP or UDP; 0: it has none.

    strict, known_hosts, old: of its SSH, as the plan has them, for the login that undoes what a run left.
    key: fingerprint of its host key, by which it is one device under all its names; empty: unknown.
    """

    driver: str
    host: str
    port: int = 0
    user: str = ""
    strict: bool = True
    known_hosts: str = ""
    old: tuple[str, ...] = ()
    key: str = ""

    @property
    def file_name(self) -> str:
        """Safe as the name of a file. The same for every user of the device, different for each device."""
        if self.key:
            return f"key-{hashlib.sha256(self.key.encode()).hexdigest()[:32]}"
        whole = f"{self.driver}-{self.host}-{self.port}"
        safe = re.sub(r"[^A-Za-z0-9_-]+", "_", whole)[:80]
        return f"{safe}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def state_folder() -> Path:
    """Where journals are: `netdyno/devices` in the user's state folder."""
    base = os.environ.get("XDG_STATE_HOME") or ""
    # The specification of XDG folders: a relative path is ignored.
    root = Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state"
    return root / "netdyno" / "devices"


def create_folder(folder: Path) -> None:
    """Creates a folder that only its user can read. Raises OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        folder.chmod(0o700)


class DeviceLock:
    """Keeps other runs from changing a device. Raises LabError `device-in-use`, OSError."""

    def __init__(self, identity: Identity, path: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _describe_holder(os.pread(self._file, 500, 0))
            os.close(self._file)
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            raise LabError(
                f"{identity.host}: another netdyno uses this device{holder}.",
                "wait until it ends, or stop it with Ctrl-C: it then undoes its configuration",
                code="device-in-use",
            ) from error
        with suppress(OSError):
            # Only for the message: a full disk is found when the undo is stored.
            since = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S")
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, json.dumps({"pid": os.getpid(), "since": since}).encode(), 0)

    def release(self) -> None:
        """Lets others use the device. The file stays: another run may be opening it."""
        os.close(self._file)


def read_holder(path: Path) -> int | None:
    """The process that locked a device last, by the file of its lock; None: unknown."""
    try:
        return int(json.loads(path.read_bytes()[:500])["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _describe_holder(stored: bytes) -> str:
    try:
        found = json.loads(stored)
        return f": process {int(found['pid'])}, since {str(found['since'])[:19]}"
    except (ValueError, KeyError, TypeError):
        return ""


FOLDER = Path("/run/lock")
"""Each user may create files in it, and remove only their own."""


class SharedLock:
    """The lock of a device for all users of this machine. Raises LabError `device-in-use`.

    note: why other users do not see it; None: they do. A file of another user is only opened to be read, and
    nothing is written to it: it may be a trap. It keeps out who means well, as any lock between users.
    """

    def __init__(self, identity: Identity, folder: Path | None = None) -> None:
        self.path = (folder or FOLDER) / f"netdyno-{identity.file_name}.lock"
        self.note: LockNotShared | None = None
        self._file: int | None = None
        try:
            self._file = _open_shared(self.path)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = _describe_user(self._file) if self._file is not None else ""
            self.release()
            raise LabError(
                f"{identity.host}: another netdyno uses this device{holder}.",
                "wait until it ends, or have its user stop it with Ctrl-C: it then undoes its configuration",
                code="device-in-use",
            ) from error
        except OSError as error:
            self.release()
            self.note = LockNotShared(identity.host, str(self.path), error.strerror or str(error))

    def __enter__(self) -> SharedLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Lets others use the device. The file stays, empty: another run may be opening it."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


class SharedLocks:
    """A device's locks for all users: by its host key, and by host and port. Raises LabError as `SharedLock`.

    A device has several host keys, and users may know different ones of it. note: as `SharedLock` has it.
    """

    def __init__(self, identity: Identity) -> None:
        by_address = replace(identity, key="")
        with ExitStack() as held:
            found = [held.enter_context(SharedLock(one)) for one in dict.fromkeys((identity, by_address))]
            self.note = next((one.note for one in found if one.note is not None), None)
            self._held = held.pop_all()

    def __enter__(self) -> SharedLocks:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Lets others use the device."""
        self._held.close()


def _open_shared(path: Path) -> int:
    """A regular file, which is not followed, waited for or written. Raises OSError."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(FileExistsError):
        made = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
        # Others must be able to open it, whatever the umask.
        os.fchmod(made, 0o644)
        os.close(made)
    file = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is no regular file")
    return file


def _describe_user(file: int) -> str:
    """The process that holds a lock, as the kernel has it."""
    found = os.fstat(file)
    place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if words[1] == "FLOCK" and words[5] == place:
                uid = os.stat(f"/proc/{int(words[4])}").st_uid
                return f": process {int(words[4])} of user {uid}"
    return ""
