"""What a killed run may leave: a device's process, and folders. Remembered by who made them, removed at the
next start.

Namespaces are anonymous and vanish with their processes, and a device's process dies with its parent
(a parent-death signal, and the end of its standard input). So this finds something only when both failed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from netdyno.devices.wiring import LabError


def state_folder() -> Path:
    """The private folder with this user's notes on living labs, made if needed. Later processes find it.

    Nobody else can take its name: all places but the last belong to this user, and in `/tmp` any free name
    will do. Raises LabError.
    """
    for folder in _places():
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_private(folder):
            return folder
    prefix = f"netdyno-labs-{_user()}-"
    for folder in sorted(Path("/tmp").glob(f"{prefix}*")):
        if _is_private(folder):
            return folder
    try:
        return Path(mkdtemp(prefix=prefix, dir="/tmp"))
    except OSError as error:
        raise LabError(
            f"no private folder for notes on labs: {error.strerror}",
            "set XDG_RUNTIME_DIR to a folder of this user with mode 0700",
            code="no-rights",
        ) from error


def _places() -> Iterator[Path]:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    # Under sudo it may still be that of the user before, and a folder of root's there would be in the way.
    if runtime and _is_private(Path(runtime)) and os.access(runtime, os.W_OK):
        yield Path(runtime, "netdyno-labs")
    if _user() == 0:
        yield Path("/run/netdyno")
        return
    home = Path(os.path.expanduser("~"))
    if home.is_absolute() and _owner(home) == os.getuid():
        yield home / ".cache" / "netdyno-labs"


def _is_private(folder: Path) -> bool:
    """Whether it is a folder, no link to one, that only this user can read or write."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def _owner(folder: Path) -> int | None:
    try:
        return folder.stat().st_uid
    except OSError:
        return None


def _user() -> int:
    """The user as the machine knows it: the same before and after we enter a user namespace."""
    here = os.getuid()
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        inside, outside, count = map(int, line.split())
        if inside <= here < inside + count:
            return outside + here - inside
    return here


def read_start_time(pid: int) -> int | None:
    """When a process started, clock ticks after boot; None if there is none. Tells reused ids apart."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # proc(5): field 22, counted from behind the command name, which may hold spaces and brackets.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


@contextmanager
def remember_process(folder: Path, pid: int) -> Iterator[None]:
    """While inside, a process of ours is noted in the folder."""
    note = folder / f"{pid}.json"
    owner = os.getpid()
    text = json.dumps({"owner": [owner, read_start_time(owner)], "child": [pid, read_start_time(pid)]})
    descriptor = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


_OWNED = re.compile(r"[a-z]+-([0-9]+)-([0-9]+)-[^-]+")
"""The name of a folder: what for, its owner's process, when that started, and what makes it the only one."""


@contextmanager
def own_folder(what_for: str) -> Iterator[Path]:
    """A folder of this process, gone at the end of the block, or else when a lab is next built."""
    owner = os.getpid()
    made = Path(mkdtemp(prefix=f"{what_for}-{owner}-{read_start_time(owner)}-", dir=state_folder()))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _remove_folders(folder: Path) -> None:
    """Those whose owner is dead."""
    for path in folder.iterdir():
        owned = _OWNED.fullmatch(path.name)
        if owned is not None and read_start_time(int(owned[1])) != int(owned[2]) and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)


def remove(folder: Path) -> list[int]:
    """Ends what dead runs left behind, and only that: same id and same start time. Returns the ids."""
    _remove_folders(folder)
    ended = []
    for note in sorted(folder.glob("*.json")):
        try:
            kept = json.loads(note.read_text())
            (owner, owner_start), (child, child_start) = kept["owner"], kept["child"]
        except (OSError, ValueError, KeyError, TypeError):
            owner, owner_start, child, child_start = 0, None, 0, None
        if owner and owner_start is not None and read_start_time(owner) == owner_start:
            continue  # A run that is still alive.
        if child and child_start is not None and read_start_time(child) == child_start:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
                ended.append(child)
        note.unlink(missing_ok=True)
    return ended
