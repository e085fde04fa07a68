"""The SNMP agent of a Linux router, by Net-SNMP: community `public`, on all addresses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from netdyno.devices.linux import daemon
from netdyno.devices.linux import device as dut


@contextmanager
def run_snmpd(device: dut.Device) -> Iterator[daemon.Daemon]:
    """The router has an agent. Raises LabError where this machine cannot."""
    snmpd = dut.tool("snmpd")
    # Nothing of this machine's own agent: neither its settings, nor what it keeps, nor any MIB.
    own = "env MIBS= SNMPCONFPATH={folder} SNMP_PERSISTENT_DIR={folder}"
    command = f"{own} {snmpd} -f -C -c {{folder}}/conf -Lo udp:161"
    ready = "grep -q '^NET-SNMP version' {folder}/log"
    with daemon.run_daemon(device, "snmpd", command, "rocommunity public\n", ready) as found:
        yield found


def indexes(device: dut.Device, ports: int) -> tuple[int, ...]:
    """The ifIndex of each port, which is the kernel's number of the interface."""
    shown = (device.do(f"ip -oneline link show {name}") for name in dut.PORTS[:ports])
    return tuple(int(line.partition(":")[0]) for line in shown)
