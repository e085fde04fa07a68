"""A session of programs on hosts, through the device: a server and a client for each stream, all at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netdyno.devices.linux.hosts import Host
from netdyno.plan.matrix import streams
from netdyno.testers.tester import OneLab, PortInfo, Progress, Stop, Watcher

if TYPE_CHECKING:
    from netdyno.devices import Wiring
    from netdyno.plan.matrix import Case
    from netdyno.values.load import Trial

FIRST_PORT = 5201
"""Of TCP: each stream has its own, from here on."""


@dataclass(frozen=True)
class HostSession(OneLab):
    """The hosts of a lab."""

    ports: tuple[PortInfo, ...]
    wiring: Wiring
    hosts: tuple[Host, ...]

    def exchange(
        self,
        case: Case,
        trial: Trial,
        server: str,
        clients: Sequence[str],
        within_ns: int,
        watch: Watcher,
        stop: Stop,
    ) -> tuple[int, list[str | None]]:
        """How long the clients took, ns, and what each printed; None: it did not end in time.

        server: its command, with a place for its port. clients: their commands, by stream.
        """
        places = [stream.place for stream in streams(case, self.wiring)]
        with ExitStack() as running:
            for port, place in enumerate(places, FIRST_PORT):
                running.enter_context(self.hosts[place.rx].run(server.format(port)))
                self.hosts[place.rx].await_listener(port)
            watch.begin()
            started = [
                running.enter_context(self.hosts[place.tx].run(client))
                for place, client in zip(places, clients, strict=True)
            ]
            began_ns = time.monotonic_ns()

            def progress() -> Progress:
                took_ns = time.monotonic_ns() - began_ns
                return Progress("traffic", took_ns, trial.duration_ns, traffic_ns=took_ns)

            while any(one.is_running for one in started) and not stop() and progress().elapsed_ns < within_ns:
                time.sleep(watch.look(progress))
            watch.end(progress)
            took_ns = progress().elapsed_ns
            is_late = took_ns >= within_ns
            return took_ns, [None if is_late and one.is_running else one.printed for one in started]
