"""Programs that run beside a Linux device's shell, in its namespace, and end with it however it ends."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from netdyno.labs.linux import device as dut
from netdyno.labs.wiring import LabError

READY_S = 10.0


def program(name: str, package: str, what_for: str) -> str:
    """Its full path. Raises LabError where it is missing."""
    found = shutil.which(name, path=dut.SEARCH)
    if found is None:
        raise LabError(f"`{name}` is missing; {what_for}", f"sudo apt-get install {package}")
    return found


@contextmanager
def running(device: dut.Device, name: str, command: str, settings: str, ready: str) -> Iterator[None]:
    """Runs `command` from now on. Raises LabError if it does not come up.

    In it and in `ready`, a shell command that succeeds when it has, `{folder}` is a folder of its own, which
    holds its settings as `conf` and what it says as `log`.
    """
    with TemporaryDirectory(prefix="netdyno-") as folder:
        log = Path(folder, "log")
        Path(folder, "conf").write_text(settings)
        # Killed with the shell that holds the namespace, which it would keep alive.
        kept = f"{dut.tool('setpriv')} --pdeathsig KILL {command.format(folder=folder)}"
        device.do(f"{kept} > {log} 2>&1 & echo started")
        deadline = time.monotonic() + READY_S
        while device.ask(ready.format(folder=folder))[0] != 0:
            if time.monotonic() > deadline:
                said = log.read_text(errors="replace").strip()
                raise LabError(
                    f"the device's `{name}` does not come up; it said: {said[-500:] or 'nothing'}",
                    dut.refusal_hint(said),
                )
            time.sleep(0.02)
        yield
