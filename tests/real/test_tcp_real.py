"""TCP through a Linux router by iperf3: counted alike at both ends, shown in every report, nothing left."""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices import KINDS, LabLink
from netdyno.devices.linux import hosts, namespaces
from netdyno.devices.linux.hosts import as_hosts, list_host_ports
from netdyno.devices.linux.links import ip
from netdyno.devices.linux.live import LinuxLive
from netdyno.devices.wiring import LabError
from netdyno.plan import load
from netdyno.plan.matrix import cases
from netdyno.ports import nic
from netdyno.ports.nic import netlink
from netdyno.reports import render
from netdyno.reports.model.from_store import view
from netdyno.stats.path import FULL, HALF
from netdyno.store import open_run
from netdyno.testers import tables
from netdyno.testers.iperf3 import Iperf3
from netdyno.values.load import Connections, Trial
from pages import OF_RUNS
from test_labs import needs_root

pytestmark = [
    pytest.mark.paired,
    needs_root,
    pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed"),
]

EXAMPLE = Path(__file__).parents[2] / "examples" / "linux-tcp.yaml"
LINKS = (LabLink("west", "d0", 10**10), LabLink("east", "d1", 10**10))


class _Unseen:
    """Looks at a trial often, and shows nothing."""

    def begin(self) -> None:
        """Nothing."""

    def look(self, now: object) -> float:
        """At once again."""
        return 0.01

    def end(self, now: object) -> None:
        """Nothing."""


def test_tcp_example_both_ways_ends_in_every_report(tmp_path: Path) -> None:
    only = {"profile": "5-connections", "direction": "bidir"}
    outcome = runner.run(load(EXAMPLE, tables=tables()), tmp_path, watcher(), runner.Selection(only=only))
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert case.state == "done", case.error
        # Its path is as fast as this machine: whoever is the limit, nothing shows that it is the device.
        assert not {one.limit for one in case.verdicts} & {"device", "line", "shaper", "policer", "loss"}
        # Each is retried where this machine's other work held it up.
        made = list(run.trials(case.head.number))
        assert list(dict.fromkeys(one.name for one in made)) == [FULL, HALF, "tcp"]
        trial = made[-1]
        for one in trial.result.carried:
            assert 0 < one.received_bytes <= one.sent_bytes
            assert (one.connections, one.congestion, one.mss_bytes) == (5, "cubic", 1448)
            assert sum(sent for sent, _ in one.samples) == one.sent_bytes
            assert sum(each.sent_bytes for each in one.each) <= one.sent_bytes + 10**6
            assert [each.mss_bytes for each in one.each] == [1448] * 5
            assert one.sender is not None
            assert one.receiver is not None
        assert {one.name for one in trial.result.carried} == {"west-east", "east-west"}
        for name in OF_RUNS:
            render([view(run)], name)
        (told,) = json.loads(render([view(run)], "json"))["cases"]
    assert [one["name"] for one in told["trials"][-1]["connections"]] == ["west-east", "east-west"]


MTU_EXAMPLE = Path(__file__).parents[2] / "examples" / "linux-mtu.yaml"


def test_mtu_and_offloads_reach_both_ends_of_every_cable(tmp_path: Path) -> None:
    """Truth: the segments of the kernel's own sockets, and the frames that the router's kernel counted."""
    plan = load(MTU_EXAMPLE, tables=tables(), overrides=("method.tcp.duration=1s",))
    outcome = runner.run(plan, tmp_path, watcher(), runner.Selection(only={"mtu": "9000"}))
    mean: dict[str, Fraction] = {}
    with open_run(outcome.folder, REASONS) as run:
        for case in run.cases:
            assert case.state == "done", case.error
            made = list(run.trials(case.head.number))[-1].result
            (one,) = made.carried
            # IPv4 and TCP with time stamps: 52 bytes.
            assert one.mss_bytes == 9000 - 52
            (out,) = (port for port in made.devices[0]["ports"] if port["name"] == "d1")
            mean[case.head.axes["offloads"]] = Fraction(out["tx_bytes"], out["tx_packets"])
    # With an Ethernet header of 14 bytes.
    assert mean["off"] <= 9000 + 14 < mean["on"]


@pytest.mark.parametrize("offloads", ["off", "on"])
def test_cables_have_the_mtu_and_the_offloads_of_the_case(offloads: str) -> None:
    kind = KINDS["linux/router"]
    with kind.build(kind.wire(LINKS, {"mtu": "2000", "offloads": offloads})) as live:
        assert isinstance(live, LinuxLive)
        for pid, names in ((None, ("p0", "p1")), (live.device.pid, ("d0", "d1"))):
            with nullcontext() if pid is None else namespaces.within(pid):
                for name in names:
                    card = nic.read(name)
                    assert card is not None
                    assert card.link.mtu == 2000
                    assert card.offloads["rx-gro"].on is (offloads == "on")


def test_tcp_trial_stopped_ends_at_once_without_counts() -> None:
    plan = load(EXAMPLE, tables=tables())
    kind = KINDS["linux/router"]
    trial = Trial("tcp", Connections(60 * 10**9, "cubic"))
    with (
        kind.build(kind.wire(LINKS, {})) as live,
        Iperf3().open(plan, live.wiring, cases(plan)) as session,
    ):
        found = session.measure(cases(plan)[0], trial, _Unseen(), lambda: True)
    assert found.carried == ()
    assert [one.code for one in found.invalid] == ["program-failed"]
    assert sum(phase.duration_ns for phase in found.phases) < 60 * 10**9


SHOWN = ("address", "mtu", "gso_max_segs")
"""Of an interface, beside its flags."""


def _shown() -> dict[str, Any]:
    """The settings of each interface, as `ip` shows them."""
    found = json.loads(ip("-details -json link show"))
    return {
        link["ifname"]: {
            "flags": {"NOARP", "UP"} & set(link["flags"]),
            **{name: link[name] for name in SHOWN},
        }
        for link in found
    }


@pytest.mark.parametrize("settings", [(), ("arp on", "gso_max_segs 99", "mtu 3000", "down")])
def test_interfaces_of_hosts_come_back_as_they_were(settings: tuple[str, ...]) -> None:
    kind = KINDS["linux/bridge"]
    with kind.build(kind.wire(LINKS, {})) as live:
        for setting in settings:
            ip(f"link set p0 {setting}")
        before = _shown()
        assert "NOARP" in before["p1"]["flags"]
        ports = list_host_ports(live.wiring)
        with as_hosts(ports, 1500) as made:
            assert "p0" not in {link.name for link in netlink.links()}
            assert len({host.pid for host in made.values()}) == len(made) == 2
        assert _shown() == before


def test_host_of_a_failed_trial_gives_its_interface_back(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = KINDS["linux/bridge"]
    with kind.build(kind.wire(LINKS, {})) as live:
        before, ports = _shown(), list_host_ports(live.wiring)

        def fail_address(command: str, *within: str) -> str:
            if not within and " address " in command:
                raise LabError("address", code="command-failed")
            return ip(command, *within)

        monkeypatch.setattr(hosts, "ip", fail_address)
        with pytest.raises(RuntimeError, match="first"), as_hosts(ports, 1500):
            raise RuntimeError("first")
        with pytest.raises(LabError, match="address"), as_hosts(ports, 1500):
            pass
        after = _shown()
        for link in (*before.values(), *after.values()):
            del link["address"]
        assert after == before
