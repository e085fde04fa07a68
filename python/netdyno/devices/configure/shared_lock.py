"""The lock of a device for all users of this machine, by the key that identifies the device."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from netdyno.devices.configure.locks import Identity
from netdyno.devices.reasons import LockNotShared
from netdyno.devices.wiring import LabError

FOLDER = Path("/run/lock")
"""Each user may create files in it, and remove only their own."""
_TRIES = 20


class SharedLock:
    """Held until `release`. Raises LabError `device-in-use`.

    note: why other users do not see it; None: they do. A file of another user is only opened to be read, and
    nothing is written to it: it may be a trap. It keeps out who means well, as any lock between users.
    """

    def __init__(self, identity: Identity, folder: Path | None = None) -> None:
        self.path = (folder or FOLDER) / f"netdyno-{identity.file_name}.lock"
        self.note: LockNotShared | None = None
        self._file: int | None = None
        for _ in range(_TRIES):
            try:
                file = _open(self.path)
            except FileExistsError:
                continue
            except OSError as error:
                self.note = LockNotShared(identity.host, str(self.path), error.strerror or str(error))
                return
            if self._take(file, identity):
                return
        self.note = LockNotShared(identity.host, str(self.path), "others replace it again and again")

    def __enter__(self) -> SharedLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def release(self) -> None:
        """Lets others use the device. Who waited for the file that is removed sees that it is another."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                if _is_at(file, self.path):
                    os.unlink(self.path)
            os.close(file)

    def _take(self, file: int, identity: Identity) -> bool:
        """Whether it is ours; False: the file was removed meanwhile."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _describe_holder(file)
            os.close(file)
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                self.note = LockNotShared(identity.host, str(self.path), error.strerror or str(error))
                return True
            raise LabError(
                f"{identity.host}: another netdyno uses this device{holder}.",
                "wait until it ends, or have its user stop it with Ctrl-C: it then undoes its configuration",
                code="device-in-use",
            ) from error
        if not _is_at(file, self.path):
            os.close(file)
            return False
        self._file = file
        return True


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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def release(self) -> None:
        """Lets others use the device."""
        self._held.close()


def _open(path: Path) -> int:
    """A regular file, which is not followed, waited for or written. Raises OSError."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = os.open(path, flags)
    except FileNotFoundError:
        file = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
        # Others must be able to open it, whatever the umask.
        os.fchmod(file, 0o644)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is no regular file")
    return file


def _is_at(file: int, path: Path) -> bool:
    own = os.fstat(file)
    try:
        there = os.lstat(path)
    except OSError:
        return False
    return (own.st_dev, own.st_ino) == (there.st_dev, there.st_ino)


def _describe_holder(file: int) -> str:
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
