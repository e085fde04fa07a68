"""Programs of this machine that every Linux lab is made with: where they are, and which package has them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable

from netdyno.devices.kind import Program
from netdyno.devices.wiring import LabError

# Debian gives plain users no sbin in their PATH; `ip` and `tc` live there.
SEARCH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin", "/usr/bin", "/bin"))

_LABS = "Linux labs are made with it"
ALWAYS = {
    "ip": Program("ip", "iproute2", _LABS),
    "tc": Program("tc", "iproute2", _LABS),
    "setpriv": Program("setpriv", "util-linux", _LABS),
    "unshare": Program("unshare", "util-linux", _LABS),
    "sh": Program("sh", "dash", _LABS),
}
"""What every lab needs."""


def tool(program: str | Program) -> str:
    """Full path of a program, or of one of `ALWAYS` by its name. Raises LabError where it is missing."""
    path = shutil.which(program if isinstance(program, str) else program.name, path=SEARCH)
    if path is None:
        wanted = ALWAYS[program] if isinstance(program, str) else program
        raise LabError(
            f"the program `{wanted.name}` is not installed; {wanted.what_for}",
            f"sudo apt-get install {wanted.package}",
            code="tool-missing",
        )
    return path


def list_missing(programs: Iterable[Program]) -> list[Program]:
    """Those of some programs that this machine has not."""
    return [one for one in programs if shutil.which(one.name, path=SEARCH) is None]
