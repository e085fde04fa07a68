"""What each system's command line is configured, checked and undone with."""

from __future__ import annotations

from collections.abc import Mapping

from netdyno.devices.configure.allow import Allowed
from netdyno.devices.configure.exports import ExportUndoing
from netdyno.devices.configure.iproute import IpUndoing
from netdyno.devices.configure.sections import SECTIONS
from netdyno.devices.configure.undo import TreeUndoing, Undoing
from netdyno.devices.shell import Shell

WITHOUT_TREE: Mapping[str, Undoing] = {"mikrotik_routeros": ExportUndoing(), "linux": IpUndoing()}
"""By `Shell.netmiko`. Their `Shell.running` must be `/export verbose`, and `ipprinted.RUNNING`."""


def find_undoing(shell: Shell) -> Undoing:
    """How configuration of a system is undone."""
    return WITHOUT_TREE.get(shell.netmiko) or TreeUndoing(shell)


def find_allowed(
    shell: Shell, ports: tuple[str, ...], allow: tuple[str, ...] = (), places: tuple[str, ...] = ()
) -> Allowed:
    """What a case may change on a system. ports, allow, places: as in `Allowed`."""
    sections = SECTIONS.get(shell.grammar or shell.netmiko)
    return Allowed(sections, ports, allow, shell.comment, places)
