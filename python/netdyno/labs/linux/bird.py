"""RIP on a Linux router, by BIRD: it listens on all ports, and gives the kernel what it learns."""

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

# Passive: a router that announced its own routes would tell the tester what the tester has told it.
_CONFIGURATION = """log stderr all;
router id 100.64.0.1;
protocol device {}
protocol kernel { ipv4 { import none; export all; }; }
protocol rip {
  ipv4 { import all; export none; };
  interface %s { version 2; mode multicast; passive yes; };
}
"""


def configuration(ports: int) -> str:
    """Of a router with so many ports."""
    return _CONFIGURATION % ", ".join(f'"{name}"' for name in dut.PORTS[:ports])


@contextmanager
def running(device: dut.Device, ports: int) -> Iterator[None]:
    """The router learns by RIP on all its ports. Raises LabError where this machine cannot."""
    program, control = (shutil.which(name, path=dut.SEARCH) for name in ("bird", "birdc"))
    if program is None or control is None:
        raise LabError(
            "`bird` is missing; a Linux router learns routes with it", "sudo apt-get install bird2"
        )
    with TemporaryDirectory(prefix="netdyno-") as folder:
        file, socket, log = (Path(folder, name) for name in ("bird.conf", "bird.ctl", "log"))
        file.write_text(configuration(ports))
        # It ends with the shell that holds the namespace, however that ends.
        kept = f"{dut.tool('setpriv')} --pdeathsig KILL {program} -f -c {file} -s {socket}"
        device.do(f"{kept} > {log} 2>&1 & echo started")
        _await(device, f"{control} -s {socket} show protocols", log)
        yield


def _await(device: dut.Device, question: str, log: Path) -> None:
    """Waits until RIP runs."""
    deadline = time.monotonic() + READY_S
    while True:
        status, said = device.ask(question)
        if status == 0 and any(line.split()[1:4:2] == ["RIP", "up"] for line in said.splitlines()):
            return
        if time.monotonic() > deadline:
            wrong = log.read_text(errors="replace").strip() or said.strip()
            raise LabError(
                f"the routing protocol does not come up: `bird` said: {wrong}", dut.refusal_hint(wrong)
            )
        time.sleep(0.05)
