"""iperf3 as a tester: TCP connections between the tester's ports as hosts, through the device."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from netdyno.devices.linux.hosts import as_hosts, find_version
from netdyno.plan.matrix import streams
from netdyno.testers.by_hosts import FIRST_PORT, HostSession
from netdyno.testers.iperf3_report import read_report
from netdyno.testers.tester import PortInfo, Stop, TesterMissingError, Watcher
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


class Iperf3Session(HostSession):
    """A client and a server for each stream."""

    def asked(self, case: Case, trial: Trial) -> str:
        """Each stream with the command of its client."""
        seconds, flows = -(-trial.connections.counted_ns // 10**9), case.profile.flows
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
        within_ns = trial.duration_ns + PATIENCE_S * 10**9
        commands = [one["client"] for one in asked]
        took_ns, printed = self.exchange(case, trial, "iperf3 -s -4 -p {}", commands, within_ns, watch, stop)
        found = [
            ProgramFailed("iperf3", one["name"], f"did not end within {within_ns / 1e9:g} s")
            if report is None
            else read_report(one["name"], one["flows"], report)
            for one, report in zip(asked, printed, strict=True)
        ]
        counts = ConnectionCounts(tuple(one for one in found if isinstance(one, Carried)), SAMPLE_NS)
        phases = (Phase("traffic", 0, took_ns),)
        failed = tuple(one for one in found if isinstance(one, Reason))
        return Outcome(counts, Health(0, 0, 0, 0, 0, None), phases, invalid=failed)


TESTER = Iperf3()
