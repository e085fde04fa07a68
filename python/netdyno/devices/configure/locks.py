"""Who a device is, where its state is stored, and the lock that one run at a time holds."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

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
        with contextlib.suppress(OSError):
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
