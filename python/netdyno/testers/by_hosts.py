"""Programs on hosts, through the device: pairs of a server and a client, all at once, and looked at."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netdyno.testers.looks import Looks, ProgramLooks, StreamLooks
from netdyno.testers.tester import Progress, Stop, Watcher

if TYPE_CHECKING:
    from netdyno.devices.linux.hosts import Host
    from netdyno.values.outcome import Connection, ProgramTime
    from netdyno.values.series import Series


@dataclass(frozen=True)
class Pair:
    """A client, and the server that it finds at a TCP port. stream: of the case that they are of.

    rx: the host of the server; None: it is not ours.
    """

    stream: str
    tx: Host
    rx: Host | None
    port: int
    server: str
    client: str


@dataclass(frozen=True)
class Answer:
    """What a client printed, None if it did not end in time; what the kernel says of both, and between."""

    printed: str | None
    sender: ProgramTime | None
    receiver: ProgramTime | None
    connections: tuple[Connection, ...]


@dataclass(frozen=True)
class Exchanged:
    """What came of all pairs, in their order."""

    took_ns: int
    answers: tuple[Answer, ...]
    series: tuple[Series, ...]
    stalled_ns: int | None


def exchange(
    pairs: Sequence[Pair], duration_ns: int, within_ns: int, watch: Watcher, stop: Stop
) -> Exchanged:
    """Starts all servers, then all clients, and waits for these: `within_ns` at most."""
    with ExitStack() as running:
        servers = []
        for pair in pairs:
            servers.append(None if pair.rx is None else running.enter_context(pair.rx.run(pair.server)))
            if pair.rx is not None:
                pair.rx.await_listener(pair.port)
        watch.begin()
        clients = [running.enter_context(pair.tx.run(pair.client)) for pair in pairs]
        began_ns = time.monotonic_ns()
        sending = [ProgramLooks(one.pid) for one in clients]
        receiving = [None if one is None else ProgramLooks(one.pid) for one in servers]
        streams = {name: StreamLooks(name) for name in dict.fromkeys(pair.stream for pair in pairs)}
        by_host: dict[int, list[StreamLooks]] = {}
        for pair in pairs:
            streams[pair.stream].ports.add(pair.port)
            of_host = by_host.setdefault(pair.tx.pid, [])
            if streams[pair.stream] not in of_host:
                of_host.append(streams[pair.stream])

        def progress() -> Progress:
            took_ns = time.monotonic_ns() - began_ns
            return Progress("traffic", took_ns, duration_ns, traffic_ns=took_ns)

        with Looks([*sending, *filter(None, receiving)], by_host) as looks:
            while any(one.is_running for one in clients) and not stop():
                if progress().elapsed_ns >= within_ns:
                    break
                time.sleep(watch.look(progress))
            watch.end(progress)
            took_ns = progress().elapsed_ns
        answers = [
            Answer(
                None if client.is_running and took_ns >= within_ns else client.printed,
                of_client.had(looks.elapsed_ns),
                None if of_server is None else of_server.had(looks.elapsed_ns),
                tuple(one for one in streams[pair.stream].last.values() if one.to == pair.port),
            )
            for pair, client, of_client, of_server in zip(pairs, clients, sending, receiving, strict=True)
        ]
    series = tuple(one for stream in streams.values() for one in stream.series(began_ns))
    return Exchanged(took_ns, tuple(answers), series, looks.stalled_ns)
