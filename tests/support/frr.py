"""FRR's zebra, ospfd and bgpd in a network namespace, started by hand with sockets of their own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from netdyno.devices.linux import device as dut
from netdyno.devices.linux.daemon import run_daemon

PROGRAMS = Path("/usr/lib/frr")
UP_S = 20.0
_OSPF = """interface {port}
 ip ospf network point-to-point
 ip ospf hello-interval 1
 ip ospf dead-interval 4
router ospf
 ospf router-id {own}
 network {own}/30 area 0
"""
_BGP = """router bgp {own_as}
 bgp router-id {own}
 no bgp ebgp-requires-policy
 neighbor {other} remote-as {other_as}
 neighbor {other} timers 1 3
 neighbor {other} timers connect 1
"""


def is_installed() -> bool:
    return (PROGRAMS / "ospfd").exists() and shutil.which("vtysh", path=dut.SEARCH) is not None


@contextmanager
def run_frr(
    folder: Path, device: dut.Device, port: str, addresses: tuple[str, str], systems: tuple[int, int]
) -> Iterator[None]:
    """Runs the daemons until the block ends, with one neighbour by OSPF and by BGP on a port.

    addresses, systems: own and the neighbour's. The folder has a `vtysh` that asks these daemons.
    """
    (own, other), (own_as, other_as) = addresses, systems
    values = {"port": port, "own": own, "other": other, "own_as": own_as, "other_as": other_as}
    texts = {"zebra": "", "ospfd": _OSPF.format(**values), "bgpd": _BGP.format(**values)}
    with run_daemons(folder, device, texts):
        yield


@contextmanager
def run_daemons(folder: Path, device: dut.Device, texts: Mapping[str, str]) -> Iterator[None]:
    """Runs the daemons of these names until the block ends, each with its configuration. The folder has a
    `vtysh` that asks these daemons."""
    vtysh = folder / "vtysh"
    vtysh.write_text(f'#!/bin/sh\nexec {shutil.which("vtysh", path=dut.SEARCH)} --vty_socket {folder} "$@"\n')
    vtysh.chmod(0o755)
    with ExitStack() as within:
        for name, text in texts.items():
            # Its group is what FRR wants of a user who may own its sockets.
            command = (
                f"{PROGRAMS}/{name} -u root -g frrvty -f {{folder}}/conf -i {folder}/{name}.pid"
                f" -z {folder}/zserv --vty_socket {folder} -A 127.0.0.1 -P 0"
            )
            ready = f"{vtysh} -d {name} -c 'show version'"
            within.enter_context(run_daemon(device, name, command, text, ready, UP_S))
        yield
