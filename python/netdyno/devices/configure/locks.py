"""Who a device is, where its state is stored, and the locks that one run at a time holds."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import stat
from contextlib import suppress
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


@dataclass(frozen=True)
class Holder:
    """The process that uses a device. since: local time. run: its folder. user: its number."""

    process: int = 0
    since: str = ""
    run: str = ""
    user: str = ""

    def __str__(self) -> str:
        named = (("since", self.since), ("of user", self.user), ("run", self.run))
        words = [f"process {self.process}", *(f"{what} {value}" for what, value in named if value)]
        return ", ".join(words) if self.process else ""


class InUseError(LabError):
    """The error `device-in-use`. holder: who uses the device."""

    holder = Holder()


def _in_use(host: str, holder: Holder, hint: str) -> InUseError:
    who = f": {holder}" if holder.process else ""
    error = InUseError(f"{host}: another netdyno uses this device{who}.", hint, code="device-in-use")
    error.holder = holder
    return error


class DeviceLock:
    """Keeps other runs from changing a device. Raises InUseError, OSError.

    It is held until each process that was forked meanwhile and keeps `file` open has released it or ended.
    """

    def __init__(self, identity: Identity, path: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self.file = os.open(path, flags, 0o600)
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _read_holder(self.file)
            os.close(self.file)
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            hint = "wait until it ends, or stop it with Ctrl-C: it then undoes its configuration"
            raise _in_use(identity.host, holder, hint) from error
        self._since = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S")
        self._process = os.getpid()
        self.describe("")

    def describe(self, run: str) -> None:
        """Stores for the messages of others which process took it. run: the folder of its run."""
        stored = json.dumps({"pid": self._process, "since": self._since, "run": run}).encode() + b"\n"
        # Only for the message: a full disk is found when the undo is stored.
        with suppress(OSError):
            # In this order, so that its first line is whole at any time.
            os.pwrite(self.file, stored, 0)
            os.ftruncate(self.file, len(stored))

    def release(self) -> None:
        """Lets others use the device. The file stays: another run may be opening it."""
        os.close(self.file)


def _read_holder(file: int) -> Holder:
    try:
        found = json.loads(os.pread(file, 8192, 0).partition(b"\n")[0])
        return Holder(int(found["pid"]), str(found["since"])[:19], str(found.get("run", "")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Holder()


def read_holder(path: Path) -> Holder:
    """Who locked a device last, by the file of the lock."""
    try:
        file = _open_regular(path)
    except OSError:
        return Holder()
    try:
        return _read_holder(file)
    finally:
        os.close(file)


def find_holder(identity: Identity, own: Path) -> Holder | None:
    """Who uses a device; None: nobody. Its locks are only looked at. own: the file of this user's lock."""
    shared = (shared_path(one) for one in _names(identity))
    for path, read in ((own, _read_holder), *((path, _read_user) for path in shared)):
        with suppress(OSError):
            file = _open_regular(path)
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return read(file)
            finally:
                os.close(file)
    return None


FOLDER = Path("/run/lock")
"""Each user may create files in it, and remove only their own."""


class SharedLock:
    """Keeps all users of this machine from a device: by its host key, and by host and port.

    It has several host keys, and users may know different ones of it. Raises LabError `device-in-use`.
    note: why other users do not see it; None: they do. A file of another user is only opened to be read, and
    nothing is written to it: it may be a trap. It keeps out who means well, as any lock between users.
    """

    def __init__(self, identity: Identity) -> None:
        self.note: LockNotShared | None = None
        self.files: list[int] = []
        """What holds it."""
        try:
            for one in _names(identity):
                self._take(identity.host, shared_path(one))
        except LabError:
            self.release()
            raise

    def _take(self, host: str, path: Path) -> None:
        try:
            file = _make_shared(path)
        except OSError as error:
            self.note = self.note or LockNotShared(host, str(path), error.strerror or str(error))
            return
        self.files.append(file)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            hint = (
                "wait until it ends, or have its user stop it with Ctrl-C: it then undoes its configuration"
            )
            raise _in_use(host, _read_user(file), hint) from error

    def __enter__(self) -> SharedLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Lets others use the device. The files stay, empty: another run may be opening one."""
        while self.files:
            os.close(self.files.pop())


def shared_path(identity: Identity) -> Path:
    """The file of a device's lock for all users."""
    return FOLDER / f"netdyno-{identity.file_name}.lock"


def remove_shared(identity: Identity) -> None:
    """Removes the files of the locks of a device that nobody will reach any more."""
    for one in _names(identity):
        with suppress(OSError):
            shared_path(one).unlink()


def _names(identity: Identity) -> tuple[Identity, ...]:
    """A device by its host key, and by host and port."""
    return tuple(dict.fromkeys((identity, replace(identity, key=""))))


_LOOKED_AT = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def _make_shared(path: Path) -> int:
    """As `_open_regular`; it is made if it is not there."""
    with suppress(FileExistsError):
        made = os.open(path, _LOOKED_AT | os.O_CREAT | os.O_EXCL, 0o644)
        # Others must be able to open it, whatever the umask.
        os.fchmod(made, 0o644)
        os.close(made)
    return _open_regular(path)


def _open_regular(path: Path) -> int:
    """A regular file, which is not followed, waited for or written. Raises OSError."""
    file = os.open(path, _LOOKED_AT)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is no regular file")
    return file


def _read_user(file: int) -> Holder:
    """The process that holds a lock, as the kernel has it."""
    found = os.fstat(file)
    place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if words[1] == "FLOCK" and words[5] == place:
                return Holder(int(words[4]), user=str(os.stat(f"/proc/{int(words[4])}").st_uid))
    return Holder()
