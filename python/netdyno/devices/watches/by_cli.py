"""Asks the routing daemons of a device that is reached by its command line for their neighbours."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from netdyno.devices.shell import Cli
from netdyno.devices.watches.adjacency import Adjacency
from netdyno.devices.wiring import LabError

WITHIN_S = 5.0
"""All daemons must answer in this time; on a busy device a command takes a second."""
LONGEST_TEXT = 2**20
"""Characters of one answer."""


@dataclass(frozen=True)
class RoutingDaemon:
    """How a routing daemon is asked. read: the neighbours in the answers to `commands`, or raises LabError.

    absent: a pattern of an answer by which it does not run.
    """

    name: str
    commands: tuple[str, ...]
    read: Callable[[Sequence[str]], tuple[Adjacency, ...]]
    absent: str


@dataclass
class DaemonsByCli:
    """The routing daemons that run on a device, of those that its system may have."""

    cli: Cli
    daemons: tuple[RoutingDaemon, ...]
    _running: set[str] = field(default_factory=set)
    """Names of those that have answered: if one ends, its neighbours are gone."""

    @property
    def asked(self) -> str:
        """All commands, in one line."""
        return "; ".join(command for daemon in self.daemons for command in daemon.commands)

    def ask(self, within_s: float) -> tuple[Adjacency, ...]:
        """The neighbours now. Raises LabError: none of the daemons ever answered, or not in time."""
        found: list[Adjacency] = []
        for daemon in self.daemons:
            texts = self._texts(daemon, within_s)
            if texts is not None:
                found += daemon.read(texts)
                self._running.add(daemon.name)
        if not self._running:
            names = " or ".join(daemon.name for daemon in self.daemons)
            raise LabError(
                f"the device runs no {names} that answers this user",
                "start it, give the user its right (on Linux the group `frrvty` or `bird`), or leave"
                " `adjacencies` out",
                code="no-routing-daemon",
            )
        return tuple(dict.fromkeys(found))

    def _texts(self, daemon: RoutingDaemon, within_s: float) -> tuple[str, ...] | None:
        """Its answers; None: it does not run here."""
        texts = []
        for command in daemon.commands:
            try:
                text = self.cli.ask(command, within_s)
            except LabError as error:
                if error.code != "command-refused":
                    raise
                return None
            if re.search(daemon.absent, text, re.MULTILINE):
                return None
            if len(text) > LONGEST_TEXT:
                raise LabError(
                    f"{daemon.name} prints more than {LONGEST_TEXT:,} characters for `{command}`",
                    "leave `adjacencies` out of `watch`",
                    code="too-long",
                )
            texts.append(text)
        return tuple(texts)
