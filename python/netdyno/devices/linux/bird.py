"""Routing protocols of a Linux router, by BIRD, which gives the kernel the routes that it learns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from netdyno.devices.linux import daemon
from netdyno.devices.linux import device as dut

# Passive: a router that announced its own routes would send the tester what the tester sent it.
_RIP = """log stderr all;
router id 100.64.0.1;
protocol device {}
protocol kernel { ipv4 { import none; export all; }; }
protocol rip {
  ipv4 { import all; export none; };
  interface %s { version 2; mode multicast; passive yes; };
}
"""

UP_S = 20.0
"""An adjacency comes up within two hellos and a few exchanges, or not at all."""


def configuration(ports: int) -> str:
    """The configuration of BIRD for a router that learns by RIP on so many ports."""
    return _RIP % ", ".join(f'"{name}"' for name in dut.PORTS[:ports])


@contextmanager
def run_bird(
    device: dut.Device,
    ports: int,
    settings: str | None = None,
    ready: str = "show protocols | grep -q 'RIP .* up '",
) -> Iterator[daemon.Daemon]:
    """BIRD runs in the namespace. Raises LabError where this machine cannot.

    settings: its configuration; by default it learns by RIP on so many ports. ready: a command for `birdc`,
    and what its output goes through; it succeeds once the router is ready.
    """
    bird, control = (dut.tool(name) for name in ("bird", "birdc"))
    command = f"{bird} -f -c {{folder}}/conf -s {{folder}}/{daemon.CONTROL}"
    asked = f"{control} -s {{folder}}/{daemon.CONTROL} {ready}"
    written = configuration(ports) if settings is None else settings
    with daemon.run_daemon(device, "bird", command, written, asked, UP_S) as found:
        yield found
