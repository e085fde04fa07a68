"""iperf3 as a tester: TCP connections between the tester's ports as hosts, through the device."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netdyno.devices.linux.hosts import Host, as_hosts, find_version
from netdyno.plan.matrix import streams
from netdyno.testers.tester import OneLab, PortInfo, Stop, TesterMissingError, Watcher
from netdyno.values.health import Health
from netdyno.values.load import Trial
from netdyno.values.offer import Offer
from netdyno.values.outcome import Carried, ConnectionCounts, Outcome, Phase
from netdyno.values.rates import ip_length
from netdyno.values.reason import Reason
from netdyno.values.unmeasured import ProgramFailed

if TYPE_CHECKING:
    from netdyno.devices import Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case

FIRST_PORT = 5201
PATIENCE_S = 10
"""A connection has so long to open, and a client to end after its time."""
SAMPLE_NS = 10**9
"""Of a client's report."""


class Iperf3:
    """The tester `iperf3`: a client and a server for each stream, all at once."""

    offers = frozenset((Offer.CONNECTIONS,))

    def versions(self) -> dict[str, str]:
        """The version of the program. Raises TesterMissingError."""
        printed = find_version("iperf3")
        if printed is None:
            raise TesterMissingError(
                "the program `iperf3` is not installed", "sudo apt-get install iperf3", code="tester-missing"
            )
        return {"iperf3": printed.split()[1]}

    @contextmanager
    def open(self, plan: Plan, wiring: Wiring, cases: Sequence[Case]) -> Iterator[Iperf3Session]:
        """Makes hosts of the ports. The packet in the profile's longest frame is their MTU."""
        longest = max(size for size, _ in cases[0].profile.mix.weights)
        with as_hosts(wiring, int(ip_length(longest))) as hosts:
            yield Iperf3Session(tuple(PortInfo(port.name) for port in wiring.ports), wiring, hosts)


@dataclass(frozen=True)
class Iperf3Session(OneLab):
    """The hosts of a lab."""

    ports: tuple[PortInfo, ...]
    wiring: Wiring
    hosts: tuple[Host, ...]

    def asked(self, case: Case, trial: Trial) -> str:
        """Each stream with the command of its client."""
        seconds, flows = -(-trial.duration_ns // 10**9), case.profile.flows
        options = (
            f"-t {seconds} -P {flows} -C {trial.connections.congestion} --connect-timeout {PATIENCE_S}000"
        )
        common = {
            "sizes": [{"size": size, "weight": 1} for size, _ in case.profile.mix.weights],
            "flows": flows,
        }
        found = []
        for port, one in enumerate(streams(case, self.wiring), FIRST_PORT):
            client = f"iperf3 -J -4 -c {self.hosts[one.place.rx].address} -p {port} {options}"
            found.append({"name": one.name, **common, "client": client})
        return json.dumps({"streams": found})

    def measure(self, case: Case, trial: Trial, watch: Watcher, stop: Stop) -> Outcome:
        """What the clients reported. The trial is invalid if one of them failed."""
        asked = json.loads(self.asked(case, trial))["streams"]
        with ExitStack() as running:
            for port, stream in enumerate(streams(case, self.wiring), FIRST_PORT):
                server = self.hosts[stream.place.rx]
                running.enter_context(server.run(f"iperf3 -s -4 -p {port}"))
                server.await_listener(port)
            watch.begin()
            clients = [
                running.enter_context(self.hosts[stream.place.tx].run(one["client"]))
                for stream, one in zip(streams(case, self.wiring), asked, strict=True)
            ]
            most_ns = trial.duration_ns + PATIENCE_S * 10**9
            took_ns = self.await_end(clients, trial, most_ns, watch, stop)
            late = took_ns >= most_ns
            found = [
                ProgramFailed("iperf3", one["name"], f"did not end within {most_ns / 1e9:g} s")
                if late and client.is_running
                else read_report(one["name"], one["flows"], client.printed)
                for one, client in zip(asked, clients, strict=True)
            ]
        counts = ConnectionCounts(tuple(one for one in found if isinstance(one, Carried)), SAMPLE_NS)
        phases = (Phase("traffic", 0, took_ns),)
        failed = tuple(one for one in found if isinstance(one, Reason))
        return Outcome(counts, Health(0, 0, 0, 0, 0, None), phases, invalid=failed)


def read_report(name: str, asked: int, printed: str) -> Carried | Reason:
    """What a client reported of a stream of so many connections; the reason if it failed.

    A server that ended early leaves `error` beside an `end` that looks whole.
    """
    try:
        report = json.loads(printed)
        if "error" in report:
            return ProgramFailed("iperf3", name, str(report["error"]))
        end = report["end"]
        senders = [one["sender"] for one in end["streams"]]
        if len(senders) != asked:
            return ProgramFailed("iperf3", name, f"{len(senders)} of {asked} connections were open")
        sent, received = end["sum_sent"], end["sum_received"]
        rtts = [one["mean_rtt"] for one in senders if "mean_rtt" in one]
        return Carried(
            name=name,
            connections=asked,
            sent_bytes=sent["bytes"],
            sent_ns=_ns(sent),
            received_bytes=received["bytes"],
            received_ns=_ns(received),
            retransmitted_segments=sent.get("retransmits"),
            mss_bytes=report["start"].get("tcp_mss_default"),
            mean_rtt_ns=1000 * sum(rtts) // len(rtts) if rtts else None,
            congestion=end.get("sender_tcp_congestion", ""),
            samples=tuple(
                (one["sum"]["bytes"], round(one["sum"]["seconds"] * 1e9)) for one in report["intervals"]
            ),
        )
    except (ValueError, LookupError, TypeError, ArithmeticError):
        return ProgramFailed("iperf3", name, f"its report is cut or wrong: {printed[-80:]!r}")


def _ns(span: Mapping[str, Any]) -> int:
    """How long a span of a report was, ns. Raises ValueError, OverflowError: it had no length."""
    seconds: float = span["seconds"]
    ns = round(seconds * 1e9)
    if ns <= 0:
        raise ValueError(f"{seconds} s")
    return ns


TESTER = Iperf3()
