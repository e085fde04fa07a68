"""FRR's daemons in a namespace, started by hand with sockets of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from netdyno.devices.kind import Program
from netdyno.devices.linux import daemon, leftovers
from netdyno.devices.linux import device as dut

PROGRAMS = "/usr/lib/frr"
"""Where Debian has the daemons."""
UP_S = 20.0
VTYSH = Program("vtysh", "frr", "the router's daemons are FRR's")


@contextmanager
def run_frr(device: dut.Device, texts: Mapping[str, str]) -> Iterator[tuple[daemon.Daemon, ...]]:
    """Runs the daemons of these names, each with its configuration; zebra comes first. Raises LabError."""
    vtysh = dut.tool(VTYSH)
    with leftovers.own_folder("frr") as folder, ExitStack() as within:
        yield tuple(
            within.enter_context(
                daemon.run_daemon(
                    device,
                    name,
                    # Its group is what FRR wants of a user who may own its sockets.
                    f"{PROGRAMS}/{name} -u root -g frrvty -f {{folder}}/conf -i {folder}/{name}.pid"
                    f" -z {folder}/zserv --vty_socket {folder} -A 127.0.0.1 -P 0",
                    text,
                    f"{vtysh} --vty_socket {folder} -d {name} -c 'show version'",
                    UP_S,
                )
            )
            for name, text in texts.items()
        )
