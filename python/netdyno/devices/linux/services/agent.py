"""The SNMP agent of a Linux router, by Net-SNMP: community `public`, on all addresses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from netdyno.devices import agent
from netdyno.devices.kind import Program
from netdyno.devices.linux import daemon
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.services.service import Installed, Lab, Service

SNMPD = Program("snmpd", "snmpd", "a Linux router answers management queries with it")


@dataclass(frozen=True)
class Agent(Service):
    """Nothing of this machine's own agent: neither its settings, nor what it keeps, nor any MIB."""

    @contextmanager
    def install(self, lab: Lab) -> Iterator[Installed]:
        own = "env MIBS= SNMPCONFPATH={folder} SNMP_PERSISTENT_DIR={folder}"
        command = f"{own} {dut.tool(SNMPD)} -f -C -c {{folder}}/conf -Lo udp:161"
        ready = "grep -q '^NET-SNMP version' {folder}/log"
        with daemon.run_daemon(lab.device, "snmpd", command, "rocommunity public\n", ready) as found:
            # An ifIndex is the kernel's number of the interface.
            shown = (lab.device.do(f"ip -oneline link show {name}") for name in lab.ports)
            yield Installed((found,), if_indexes=tuple(int(line.partition(":")[0]) for line in shown))


SERVICE = Agent(agent.SETTING, agent.VALUES, (SNMPD,))
