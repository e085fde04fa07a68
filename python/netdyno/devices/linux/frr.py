"""FRR's daemons in a namespace, started by hand with sockets of their own."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from netdyno.devices.kind import Program
from netdyno.devices.linux import daemon, leftovers
from netdyno.devices.linux import device as dut
from netdyno.devices.watches import frr
from netdyno.devices.watches.adjacency import Adjacency
from netdyno.devices.wiring import LabError

PROGRAMS = "/usr/lib/frr"
"""Where Debian has the daemons."""
UP_S = 20.0
VTYSH = Program("vtysh", "frr", "the router's daemons are FRR's")


@dataclass(frozen=True)
class Frr:
    """Daemons that run. vtysh: the command that asks them."""

    daemons: tuple[daemon.Daemon, ...]
    vtysh: tuple[str, ...]

    def adjacencies(self, within_s: float) -> tuple[Adjacency, ...]:
        """Their neighbours now. Raises LabError: no answer in time, or one that is not understood."""
        return frr.read_adjacencies([self._ask(one, within_s) for one in (frr.OSPF, frr.BGP)])

    def _ask(self, command: str, within_s: float) -> str:
        """What `vtysh -c ...` prints. Its daemons are asked by sockets in a folder, from any namespace."""
        _, *words = shlex.split(command)
        try:
            done = subprocess.run(
                [*self.vtysh, *words],
                capture_output=True,
                text=True,
                timeout=within_s,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise LabError(
                f"FRR does not answer `{command}` within {within_s:g} s",
                "look whether its daemons still run",
                code="device-silent",
            ) from None
        return done.stdout or done.stderr


@contextmanager
def run_frr(device: dut.Device, texts: Mapping[str, str]) -> Iterator[Frr]:
    """Runs the daemons of these names, each with its configuration; zebra comes first. Raises LabError."""
    vtysh = dut.tool(VTYSH)
    with leftovers.own_folder("frr") as folder, ExitStack() as within:
        ask = (vtysh, "--vty_socket", str(folder))
        daemons = [
            within.enter_context(
                daemon.run_daemon(
                    device,
                    name,
                    # Its group is what FRR wants of a user who may own its sockets.
                    f"{PROGRAMS}/{name} -u root -g frrvty -f {{folder}}/conf -i {folder}/{name}.pid"
                    f" -z {folder}/zserv --vty_socket {folder} -A 127.0.0.1 -P 0",
                    text,
                    f"{' '.join(ask)} -d {name} -c 'show version'",
                    UP_S,
                )
            )
            for name, text in texts.items()
        ]
        yield Frr(tuple(daemons), ask)
