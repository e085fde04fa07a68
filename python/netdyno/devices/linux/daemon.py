"""Programs that run beside a Linux device's shell, in its namespace, and end with it however it ends."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from netdyno.devices.linux import device as dut
from netdyno.devices.linux import leftovers
from netdyno.devices.wiring import LabError

READY_S = 10.0
CONTROL = "ctl"
"""The socket in a daemon's folder on which it can be asked, if it has one."""


@dataclass(frozen=True)
class Daemon:
    """A running daemon."""

    device: dut.Device
    name: str
    pid: int
    begun: int | None
    """When it started, clock ticks after boot: another process may have its id once it has ended."""
    log: Path
    owner: str = "the device's"

    @property
    def control(self) -> Path:
        """The socket on which it can be asked."""
        return self.log.with_name(CONTROL)

    @property
    def is_running(self) -> bool:
        """Whether its process is there."""
        return self.begun is not None and leftovers.read_start_time(self.pid) == self.begun

    def look(self) -> None:
        """Raises LabError if it has ended: without it the device is not as the plan asks."""
        if self.is_running:
            return
        # The shell that started it knows how it ended.
        status, _ = self.device.ask(f"wait {self.pid}")
        kept = leftovers.state_folder() / f"{self.name}-{self.pid}.log"
        shutil.copyfile(self.log, kept)
        raise LabError(
            f"{self.owner} `{self.name}` ended during the run, {_ending(status)}: the trial does not count",
            f"the last line of its log ({kept}): {_last(self.log) or 'nothing'}",
            code="device-ended",
        )


def _ending(status: int) -> str:
    """A clause on how a process ended, from its exit status in a shell."""
    if status <= 128:
        return f"with exit code {status}"
    number = status - 128
    known = number in {one.value for one in signal.Signals}
    return f"killed by {signal.Signals(number).name if known else f'signal {number}'}"


def _last(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1][-300:] if lines else ""


@contextmanager
def run_daemon(
    device: dut.Device,
    name: str,
    command: str,
    settings: str,
    ready: str,
    within_s: float = READY_S,
    owner: str = "the device's",
    look: Callable[[], None] = lambda: None,
) -> Iterator[Daemon]:
    """Runs `command` from now on. Raises LabError if it does not come up.

    In it and in `ready`, a shell command that succeeds when it has, `{folder}` is a folder of its own, which
    holds its settings as `conf` and what it says as `log`. look: called while it comes up; what it raises
    ends the daemon.
    """
    with leftovers.own_folder(name) as folder:
        log = folder / "log"
        (folder / "conf").write_text(settings)
        # Killed with the shell that holds the namespace, which it would keep alive.
        kept = f"{dut.tool('setpriv')} --pdeathsig KILL {command.format(folder=folder)}"
        pid = int(device.do(f"{kept} > {log} 2>&1 & echo $!"))
        begun = leftovers.read_start_time(pid)
        deadline = time.monotonic() + within_s
        while device.ask(ready.format(folder=folder))[0] != 0:
            look()
            is_running = leftovers.read_start_time(pid) == begun
            if time.monotonic() > deadline or not is_running:
                said = log.read_text(errors="replace").strip()
                raise LabError(
                    f"{owner} `{name}` does not come up; it said: {said[-500:] or 'nothing'}",
                    dut.refusal_hint(said),
                    code="device-silent",
                )
            time.sleep(0.02)
        yield Daemon(device, name, pid, begun, log, owner)
