"""Programs of this machine that Linux labs are made with: where they are, and which package has them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping

from netdyno.devices import agent, filters, neighbours, rip
from netdyno.devices.kind import Program
from netdyno.devices.wiring import LabError

# Debian gives plain users no sbin in their PATH; `ip` and `tc` live there.
SEARCH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin", "/usr/bin", "/bin"))

_LABS = "Linux labs are made with it"
_ROUTES, _FILTERS = "a Linux router learns routes with it", "a Linux router filters packets with it"
PROGRAMS: Mapping[str, Program] = {
    program.name: program
    for program in (
        Program("ip", "iproute2", _LABS),
        Program("tc", "iproute2", _LABS),
        Program("setpriv", "util-linux", _LABS),
        Program("unshare", "util-linux", _LABS),
        Program("nsenter", "util-linux", _LABS),
        Program("sh", "dash", _LABS),
        Program("nft", "nftables", _FILTERS),
        Program("bird", "bird2", _ROUTES),
        Program("birdc", "bird2", _ROUTES),
        Program("snmpd", "snmpd", "a Linux router answers management queries with it"),
    )
}
ALWAYS = ("ip", "tc", "setpriv", "unshare", "sh")
"""What every lab needs."""


def tool(name: str) -> str:
    """Full path of a program. Raises LabError where it is missing."""
    path = shutil.which(name, path=SEARCH)
    if path is None:
        missing = PROGRAMS[name]
        raise LabError(
            f"the program `{name}` is not installed; {missing.what_for}",
            f"sudo apt-get install {missing.package}",
            code="tool-missing",
        )
    return path


def list_missing(settings: Mapping[str, str]) -> Iterator[Program]:
    """The programs that a device of these settings needs and this machine has not."""
    names = [*ALWAYS]
    names += ["nft"] if settings.get(filters.SETTING) is not None else []
    names += ["bird", "birdc"] if settings.get(rip.SETTING) in (rip.RIP, *neighbours.WITH_NEIGHBOUR) else []
    names += ["snmpd"] if settings.get(agent.SETTING) == agent.SNMP else []
    return (PROGRAMS[name] for name in names if shutil.which(name, path=SEARCH) is None)
