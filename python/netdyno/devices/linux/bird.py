"""BIRD 2 as a program in a namespace: the device's, a neighbour's, or the tester's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from netdyno.devices.kind import Program
from netdyno.devices.linux import daemon
from netdyno.devices.linux import device as dut

UP_S = 20.0
"""An adjacency comes up within two hellos and a few exchanges, or not at all."""
_WHAT_FOR = "routes are learned and announced with it"
BIRD, BIRDC = Program("bird", "bird2", _WHAT_FOR), Program("birdc", "bird2", _WHAT_FOR)
OF_PROTOCOLS = "where source ~ [ RTS_OSPF, RTS_OSPF_IA, RTS_OSPF_EXT1, RTS_OSPF_EXT2, RTS_BGP ]"
"""A filter: what a router gives its kernel."""
IS_UP = "show status | grep -q 'up and run'"


@contextmanager
def run_bird(
    device: dut.Device,
    configuration: str,
    ready: str,
    within_s: float = UP_S,
    owner: str = "the device's",
    look: Callable[[], None] = lambda: None,
) -> Iterator[daemon.Daemon]:
    """BIRD runs in the namespace. Raises LabError where this machine cannot.

    ready: a command for `birdc`, and what its output goes through; it succeeds once the router is ready.
    look: called until then; what it raises ends BIRD.
    """
    bird, control = dut.tool(BIRD), dut.tool(BIRDC)
    command = f"{bird} -f -c {{folder}}/conf -s {{folder}}/{daemon.CONTROL}"
    # It takes the question when its table is read; the shell is not to wait for that.
    asked = f"timeout 1 {control} -s {{folder}}/{daemon.CONTROL} {ready}"
    with daemon.run_daemon(device, "bird", command, configuration, asked, within_s, owner, look) as found:
        yield found
