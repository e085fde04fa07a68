"""Runs a T-Rex profile in a process of its own and reads the streams that it prints.

The profile is somebody's program. Its process has little time and memory, writes no file and starts no other.
Under root it also has no network, and is another user that may only read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import which
from threading import Thread
from typing import IO, Any

from netdyno.errors import NetdynoError
from netdyno.values.printable import printable

WALL_S = 20
"""How long a profile may take. Its processor time is bounded as well (`stl/__main__.py`)."""
MOST_BYTES = 64 << 20
"""What it may print: streams of some 40,000 packets."""
MOST_TEXT, MOST_NOTE = 1 << 20, 200
NOBODY = "65534"
"""A user whose processes are counted, so that a profile can be kept from starting any."""
LIBRARY = Path("automation/trex_control_plane/interactive")


@dataclass(frozen=True)
class Request:
    """What a profile is asked. tunables: as on T-Rex's command line. library: of T-Rex; None: ours."""

    path: Path
    tunables: tuple[str, ...] = ()
    library: Path | None = None


@dataclass(frozen=True)
class Read:
    """What a profile returned. ports: the streams of its ports 0 and 1, each as in T-Rex's JSON. notes: what
    was left out."""

    ports: list[list[dict[str, Any]]]
    notes: tuple[str, ...] = ()


def read_profile(request: Request) -> Read:
    """The streams of a profile. Raises NetdynoError."""
    path = request.path
    if not path.is_file():
        raise NetdynoError(
            f"{path}: no such file", "the name of a T-Rex profile, `bench.py`", code="no-such-file"
        )
    found = _run(request)
    if "failed" in found:
        raise _failure(path, found["failed"])
    ports = found.get("ports")
    if not isinstance(ports, list) or not all(isinstance(one, list) and one for one in ports):
        raise NetdynoError(f"{path}: its process printed no streams", None, code="profile-failed")
    notes = found.get("notes")
    return Read(
        [[one for one in port if isinstance(one, dict)] for port in ports],
        tuple(printable(str(one)[:MOST_NOTE]) for one in notes[:9]) if isinstance(notes, list) else (),
    )


def _library(path: Path) -> str:
    """The folder of T-Rex's library in the folder of a T-Rex. Raises NetdynoError."""
    for folder in (path, path / LIBRARY, path / "scripts" / LIBRARY):
        if (folder / "trex" / "stl" / "api.py").is_file():
            return str(folder.resolve())
    hint = f"the folder of a T-Rex, or its `{LIBRARY}`"
    raise NetdynoError(f"--library: {path} holds no library of T-Rex", hint, code="no-such-file")


def _run(request: Request) -> dict[str, Any]:
    wanted = {
        "path": str(request.path.resolve()),
        "tunables": list(request.tunables),
        "ports": [0, 1],
        "library": "" if request.library is None else _library(request.library),
    }
    command = [*_shut_in(), sys.executable, "-I", "-m", "netdyno.profiles.stl", json.dumps(wanted)]
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": "/"}
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    answer, said = _Taken(child.stdout, MOST_BYTES, child), _Taken(child.stderr, MOST_TEXT, child)
    try:
        child.wait(WALL_S)
        is_late = False
    except subprocess.TimeoutExpired:
        is_late = True
    finally:
        _end(child)
    for one in (answer, said):
        one.join()
    name = request.path
    if said.is_too_much or answer.is_too_much:
        most = f"{MOST_TEXT >> 20} MiB of text" if said.is_too_much else f"{MOST_BYTES >> 20} MiB of streams"
        raise NetdynoError(f"{name}: the profile printed more than {most}", None, code="too-large")
    if is_late or child.returncode in (-9, 137, -24, 152):
        why = f"the profile took more than {WALL_S} s, or 10 s of processor time"
        raise NetdynoError(
            f"{name}: {why}", "a profile that returns its streams and ends", code="profile-failed"
        )
    try:
        found = json.loads(answer.data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        last = (said.data.decode(errors="replace").strip().splitlines() or ["nothing"])[-1]
        why = f"the process of the profile ended with {child.returncode}: {printable(last[:200])}"
        raise NetdynoError(f"{name}: {why}", None, code="profile-failed")
    return found


class _Taken:
    """What a pipe brings, up to a limit; beyond it its process is ended."""

    def __init__(self, pipe: IO[bytes], most: int, child: subprocess.Popen[bytes]) -> None:
        self.data, self.is_too_much = b"", False
        self._pipe, self._most, self._child = pipe, most, child
        self._thread = Thread(target=self._take, daemon=True)
        self._thread.start()

    def _take(self) -> None:
        parts, size = [], 0
        while part := self._pipe.read1(1 << 16):  # type: ignore[attr-defined]
            parts.append(part)
            size += len(part)
            if size > self._most:
                self.is_too_much = True
                _end(self._child)
                break
        self.data = b"".join(parts)

    def join(self) -> None:
        """Waits until the other end is closed, which it is once the process has ended."""
        self._thread.join(5)
        self._pipe.close()


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends a process and those it started."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, 9)
    child.wait()


@cache
def _shut_in() -> tuple[str, ...]:
    """What stands before the command under root: no network, an own table of processes, a user that reads.

    Empty for others, and where a container allows none of it.
    """
    if os.geteuid() != 0 or which("unshare") is None or which("setpriv") is None:
        return ()
    alone = ("unshare", "--net", "--ipc", "--pid", "--fork", "--kill-child=KILL")
    reads = "-all,+dac_read_search"
    user = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs")
    rights = (f"--inh-caps={reads}", f"--ambient-caps={reads}", f"--bounding-set={reads}")
    prefix = (*alone, *user, *rights)
    tried = subprocess.run([*prefix, "true"], capture_output=True, check=False, timeout=10)
    return prefix if tried.returncode == 0 else ()


def _failure(path: Path, failed: Any) -> NetdynoError:
    """Why there are no streams, for the user. failed: the child's `failed`."""
    fields = failed if isinstance(failed, dict) else {}
    code, name = fields.get("code"), printable(str(fields.get("name", ""))[:80])
    text, line = printable(str(fields.get("text", ""))[:4000]), fields.get("line")
    where = f"{path}:{line}: " if isinstance(line, int) and line else f"{path}: "
    if code == "unknown":
        message = f"{where}`{name}` is not among the names of T-Rex and Scapy that netdyno knows"
        hint = "`--library FOLDER` names your T-Rex: its own library then reads the profile"
        return NetdynoError(message, hint, code="unsupported")
    if code == "wants":
        message = f"{where}the profile wants the tunable `{name}`"
        return NetdynoError(message, f"`-t {name}=VALUE`", code="missing-field")
    if code == "arguments":
        hint = "`-t name=value,...`, or `-t --name value ...` as the last words of the line"
        return NetdynoError(f"{where}the profile refused its tunables: {text}", hint, code="wrong-format")
    if code == "no-profile":
        hint = "a profile of T-Rex's stateless mode has a function `register`"
        return NetdynoError(f"{where}no profile of T-Rex: {text}", hint, code="wrong-format")
    why = {"help": f"the profile printed its help and no streams: {text}", "nothing": text}
    return NetdynoError(where + why.get(str(code), f"the profile raised {text}"), None, code="profile-failed")
