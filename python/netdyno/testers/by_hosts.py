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
    from netdyno.devices.linux.hosts import Host, Running
    from netdyno.values.outcome import Connection, ProgramTime
    from netdyno.values.series import Series

LOOK_S = 0.05
"""The ends of clients are known so well."""


@dataclass(frozen=True)
class Pair:
    """A client, and the server that it finds at a TCP port. stream: of the case that they are of.

    rx: the host of the server; None: it is not ours. is_reverse: the server sends.
    """

    stream: str
    tx: Host
    rx: Host | None
    port: int
    server: str
    client: str
    to: str = ""
    """The server, `ADDRESS:PORT`."""
    is_reverse: bool = False


@dataclass(frozen=True)
class Answer:
    """What a client printed, None if it had not ended; what the kernel says of both, and between.

    ended_ns: when it had ended, since the clients were started. complained: the last line on its standard
    error. killed: `client was killed by SIGKILL`, or its server; empty: none was.
    """

    printed: str | None
    ended_ns: int
    complained: str
    killed: str
    sender: ProgramTime | None
    receiver: ProgramTime | None
    connections: tuple[Connection, ...]


@dataclass(frozen=True)
class Exchanged:
    """What came of all pairs, in their order. is_late: a client had not ended when its time was over."""

    took_ns: int
    is_late: bool
    answers: tuple[Answer, ...]
    series: tuple[Series, ...]


def exchange(
    pairs: Sequence[Pair], duration_ns: int, within_ns: int, watch: Watcher, stop: Stop
) -> Exchanged:
    """Starts all servers, then all clients, and waits for these: `within_ns` at most.

    A client that ends before `duration_ns` has failed, and no other one is waited for.
    """
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
            if pair.is_reverse:
                continue
            streams[pair.stream].ports.add(pair.port)
            of_host = by_host.setdefault(pair.tx.pid, [])
            if streams[pair.stream] not in of_host:
                of_host.append(streams[pair.stream])

        def progress() -> Progress:
            took_ns = time.monotonic_ns() - began_ns
            return Progress("traffic", took_ns, duration_ns, traffic_ns=took_ns)

        ended_ns: dict[int, int] = {}
        with Looks([*sending, *filter(None, receiving)], by_host) as looks:
            while any(one.is_running for one in clients) and not stop():
                took_ns = progress().elapsed_ns
                has_failed = took_ns < duration_ns and not all(one.is_running for one in clients)
                if took_ns >= within_ns or has_failed:
                    break
                for number, one in enumerate(clients):
                    if not one.is_running:
                        ended_ns.setdefault(number, took_ns)
                time.sleep(min(watch.look(progress), LOOK_S))
            watch.end(progress)
            took_ns = progress().elapsed_ns
        answers = [
            Answer(
                None if client.is_running else client.printed,
                ended_ns.get(number, took_ns),
                client.complained,
                _killed(client, server),
                *_in_order(
                    of_client.had(looks.elapsed_ns),
                    None if of_server is None else of_server.had(looks.elapsed_ns),
                    is_reverse=pair.is_reverse,
                ),
                tuple(one for one in streams[pair.stream].last.values() if one.to == pair.port),
            )
            for number, (pair, client, server, of_client, of_server) in enumerate(
                zip(pairs, clients, servers, sending, receiving, strict=True)
            )
        ]
    series = tuple(one for stream in streams.values() for one in stream.series(began_ns))
    return Exchanged(took_ns, took_ns >= within_ns, tuple(answers), series)


def _in_order(
    client: ProgramTime | None, server: ProgramTime | None, *, is_reverse: bool
) -> tuple[ProgramTime | None, ProgramTime | None]:
    """The sender first."""
    return (server, client) if is_reverse else (client, server)


def _killed(client: Running, server: Running | None) -> str:
    ends = (("client", client), ("server", server))
    return next(
        (f"{end} was killed by {one.killed_by}" for end, one in ends if one is not None and one.killed_by), ""
    )
