"""RIP on a Linux router, by BIRD: it listens on all ports, and gives the kernel the routes it learns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from netdyno.devices.linux import daemon
from netdyno.devices.linux import device as dut

# Passive: a router that announced its own routes would send the tester what the tester sent it.
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
    """The configuration of BIRD for a router with so many ports."""
    return _CONFIGURATION % ", ".join(f'"{name}"' for name in dut.PORTS[:ports])


@contextmanager
def run_bird(device: dut.Device, ports: int) -> Iterator[daemon.Daemon]:
    """The router learns by RIP on all its ports. Raises LabError where this machine cannot."""
    bird, control = (dut.tool(name) for name in ("bird", "birdc"))
    command = f"{bird} -f -c {{folder}}/conf -s {{folder}}/ctl"
    ready = f"{control} -s {{folder}}/ctl show protocols | grep -q 'RIP .* up '"
    with daemon.run_daemon(device, "bird", command, configuration(ports), ready) as found:
        yield found
