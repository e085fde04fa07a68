"""A LAG of the tester towards a bond of Open vSwitch. Truth: its own counters and what it says of LACP."""

from __future__ import annotations

import os
import re
import signal
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import ovs
import ovs_lag
import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.events import Looked, TrialEnded
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.devices.linux import links, namespaces
from netdyno.devices.speakers import lags
from netdyno.devices.speakers.lacp import Lacp
from netdyno.plan import parse
from netdyno.ports import nic
from netdyno.reports.model import bundle_shares, lag_members
from netdyno.reports.model.first_lines import routing_lines
from netdyno.reports.model.from_store import view
from netdyno.reports.model.headline import headline
from netdyno.reports.model.view import CaseView, RunView
from netdyno.store import open_run
from netdyno.values.failures import TABLE
from netdyno.verdict.causes import Polarised
from netdyno.verdict.doubt_reasons import LostAsPlanned
from test_labs import needs_root
from words import within

pytest.importorskip("netdyno._engine", reason="the engine is not built")
pytestmark = [
    pytest.mark.paired,
    needs_root,
    pytest.mark.skipif(
        not ovs.is_installed(), reason="wants Open vSwitch (apt-get install openvswitch-switch)"
    ),
]

S, MS = 10**9, 10**6
OURS = "02:00:00:00:00:0a"
PLAN = """\
title: LAG of Open vSwitch
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: external}}}}
  links:
    - {{endpoints: ["tester:west", "dut:p0"], rate: 1Gbps, interface: w0}}
    - endpoints: ["tester:east", "dut:bond0"]
      rate: 1Gbps
      lag: {{interfaces: [{members}]}}
traffic: {{some: {{size: 128B, flows: {flows}}}}}
matrix: {{direction: [{direction}]}}
method: {{soak: {{load: 1000pps, duration: {duration}, part: 0s, failures: {failures}}}}}
trial: {{sample: 10ms, settle: 100ms, drain: 500ms, retries: 0, catch_up: 1000%}}
"""


def run(
    folder: Path,
    count: int,
    direction: str = "bidir",
    duration: str = "1s",
    failures: str = "[]",
    flows: int = 256,
) -> RunView:
    members = ", ".join(ours for ours, _ in ovs_lag.members(count))
    asked = {"direction": direction, "duration": duration, "failures": failures, "flows": flows}
    text = PLAN.format(members=members, **asked)
    outcome = runner.run(parse(text), folder, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as stored:
        return view(stored)


def count_data(switch: ovs.Switch, names: tuple[str, ...], way: str, bond: str = "bond0") -> list[int]:
    """Frames of the first members without LACPDUs, as Open vSwitch counts both. way: `tx` or `rx`."""
    printed = switch.do(f"ovs-appctl lacp/show-stats {bond}")
    pdus = map(int, re.findall(rf"{way.upper()} PDUs: (\d+)", printed))
    return [all - own for all, own in zip(ovs_lag.count_frames(switch, names, way), pdus, strict=False)]


@pytest.mark.parametrize("count", [2, 4])
def test_frames_of_each_member_are_those_that_the_switch_counts(count: int, tmp_path: Path) -> None:
    names = tuple(theirs for _, theirs in ovs_lag.members(count))
    with ovs_lag.lag_lab(count) as switch:
        ovs_lag.bond(switch, count)
        run_view = run(tmp_path, count)
        given, taken = (count_data(switch, names, way) for way in ("tx", "rx"))
        assert switch.do("ovs-appctl lacp/show bond0").count("current attached") == count
    (case,) = run_view.cases
    assert case.error is None
    (trial,) = case.trials
    streams = {one.name: one for one in trial.result.streams}
    assert set(streams) == {"west-east", *(f"east.e{number}-west" for number in range(count))}
    for one in streams.values():
        assert (one.received, one.lost, one.elsewhere, one.duplicates) == (one.offered, 0, 0, 0)
    # The shares of the first screen and of the table are what the switch has counted of each member.
    own = lag_members.count_own(case)
    # Beside them are frames for bridges to learn from, and LACPDUs between two readings.
    for frames, counted in (("out", given), ("in", taken)):
        beside = [theirs - ours for ours, theirs in zip(own["east", frames], counted, strict=True)]
        assert max(map(abs, beside)) <= 5, (frames, own, counted)
    assert sum(own["east", "out"]) == streams.pop("west-east").offered
    assert own["east", "in"] == [one.offered for one in streams.values()]
    assert ([bool(one.tables(run_view)) for one in (lag_members, bundle_shares)]) == [True, False]
    (note,) = (one for one in case.notes if one.code == "lag-formed")
    assert note.fields()["members"] == count
    (line,) = routing_lines(run_view, lambda case: case.name)
    assert f"east: LACP with {note.fields()['partner']}, {count} members collected and distributed" in line
    watched = [one for one in trial.result.series if one.source == "adjacency"]
    assert [one.subject for one in watched] == [f"LACP neighbour east.e{number}" for number in range(count)]
    assert all(set(one.values) == {1} for one in watched)


class CountsOfTrials:
    """Watches a run: spreads the hash of a bond over its members while the first trial settles, and reads
    counters when each has ended, while the next one settles."""

    def __init__(self, switch: ovs.Switch, names: tuple[str, ...]) -> None:
        self._switch, self._names = switch, names
        self._is_spread = False
        self.read: list[list[int]] = []

    def event(self, event: Any) -> None:
        if isinstance(event, Looked) and not self._is_spread:
            # What came while members joined one by one has given all hash values to the first of them.
            self._is_spread = True
            for mode in ("active-backup", "balance-tcp"):
                self._switch.do(f"ovs-vsctl --timeout=10 set port bond0 bond_mode={mode}")
        if isinstance(event, TrialEnded):
            self.read.append(count_data(self._switch, self._names, "tx"))

    def __getattr__(self, _: str) -> Any:
        return lambda *values: None


SHARES = {"even": 2 * [Fraction(1, 2)], "[3, 1]": [Fraction(3, 4), Fraction(1, 4)]}


@pytest.mark.parametrize(
    ("count", "members", "shares"),
    [
        *((2, members, shares) for members, shares in SHARES.items()),
        (4, "even", 4 * [Fraction(1, 4)]),
        (4, "[4, 2, 1, 1]", [Fraction(part, 8) for part in (4, 2, 1, 1)]),
    ],
)
def test_flows_chosen_for_members_load_them_in_the_shares(
    count: int, members: str, shares: list[Fraction], tmp_path: Path
) -> None:
    names = tuple(theirs for _, theirs in ovs_lag.members(count))
    with ovs_lag.lag_lab(count) as switch:
        # By default it moves flows each 10 s, until members carry even shares.
        ovs_lag.bond(
            switch, count, "lacp=active other_config:lacp-time=fast other_config:bond-rebalance-interval=0"
        )
        counts = CountsOfTrials(switch, names)
        text = PLAN.format(
            members=", ".join(ours for ours, _ in ovs_lag.members(count)),
            direction="uni",
            duration="2s",
            failures="[]",
            flows=f"{{count: 64, members: {members}}}",
        ).replace("settle: 100ms", "settle: 2s")
        outcome = runner.run(parse(text), tmp_path, counts, runner.Selection())
    with open_run(outcome.folder, REASONS) as stored:
        (case,) = view(stored).cases
    assert case.error is None
    assert case.result is not None
    _, trial = case.trials
    frames = [after - before for before, after in zip(*counts.read, strict=True)]
    (stream,) = trial.result.streams
    assert abs(sum(frames) - stream.received) <= 5
    for one, share in zip(frames, shares, strict=True):
        assert abs(Fraction(one, sum(frames)) - share) <= Fraction(1, 20), (frames, shares)
    (note,) = (one for one in case.result.notes if one.code == "flows-chosen")
    assert note.fields()["chosen"] == [64 * share for share in shares]
    assert not {"shares-not-reached", "shares-changed", "flows-wander"} & {
        one.code for one in case.result.notes
    }


def test_one_flow_of_the_example_stays_on_one_member(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "examples" / "lacp.yaml").read_text()
    for written, interface in (("eth1", "w0"), ("eth2", "e0"), ("eth3", "e1")):
        text = text.replace(written, interface)
    selection = runner.Selection(Fraction(1, 60), {"profile": "one"})
    with ovs_lag.lag_lab(2) as switch:
        ovs_lag.bond(switch, 2)
        outcome = runner.run(parse(text), tmp_path, watcher(), selection)
    with open_run(outcome.folder, REASONS) as stored:
        to_lag, from_lag = view(stored).cases
    assert (to_lag.error, from_lag.error) == (None, None)
    out, into = lag_members.count_own(to_lag)["east", "out"], lag_members.count_own(from_lag)["east", "in"]
    assert (min(out), max(out) > 0) == (0, True)
    assert (into[0] > 0, into[1]) == (True, 0)


def test_hash_of_mac_addresses_is_named_as_polarisation(tmp_path: Path) -> None:
    """`balance-slb` hashes source MAC address and VLAN, which all 256 flows of a port have alike."""
    with ovs_lag.lag_lab(2) as switch:
        ovs_lag.bond(switch, 2)
        switch.do("ovs-vsctl set port bond0 bond_mode=balance-slb")
        (case,) = run(tmp_path, 2, "uni").cases
    assert case.error is None
    assert case.result is not None
    out = lag_members.count_own(case)["east", "out"]
    assert (min(out), max(out) > 0) == (0, True)
    (why,) = within(Polarised, case.result.notes)
    assert why.frames == tuple(out)
    assert why.varies == ("IPv4 source (256 values)", "IPv4 destination (256 values)")


def test_device_leaves_a_silent_member_after_three_seconds(tmp_path: Path) -> None:
    """The short timeout of IEEE 802.1AX, from the last LACPDU on; Open vSwitch has this member first."""
    failures = "[{member: east.e0, by: silence, at: 1s, lasts: 5s}]"
    with ovs_lag.lag_lab(2) as switch:
        ovs_lag.bond(switch, 2)
        (case,) = run(tmp_path, 2, "uni", "7s", failures).cases
    (row,) = failures_of(case)
    assert (row["member"], row["died by"]) == ("east.e0", "silence")
    # The member receives all the time: nothing is lost.
    assert all(one.lost == 0 for one in case.trials[-1].result.streams)
    assert 3 * S - 20 * MS <= row["left after"] < row["back"] - row["died"]
    assert row["frames until then"] > 0


def test_loss_of_a_cut_member_is_what_the_switch_dropped(tmp_path: Path) -> None:
    """Open vSwitch sends there for 200 ms more (`bond_downdelay`), and its kernel counts what it drops."""
    failures = "[{member: east.e0, at: 1500ms, lasts: 500ms}]"
    with ovs_lag.lag_lab(2) as switch:
        ovs_lag.bond(switch, 2, "lacp=active other_config:lacp-time=fast bond_downdelay=200")
        run_view = run(tmp_path, 2, "bidir", "3s", failures, flows=32)
        printed = switch.do("ovs-vsctl get interface m0 statistics:tx_dropped")
    (case,) = run_view.cases
    (row,) = failures_of(case)
    assert (row["member"], row["died by"], row["own lost"]) == ("east.e0", "carrier", 0)
    assert row["lost"] == int(printed) > 0
    assert row["lost on return"] == 0
    assert 190 * MS <= row["left after"] <= 300 * MS
    streams = {one.name: one for one in case.trials[0].result.streams}
    assert streams["west-east"].lost == row["lost"]
    # What the plan's own cut cost is not held against the switch.
    verdict = case.verdicts["west-east"]
    assert (verdict.limit, verdict.reason.code) == ("inconclusive", LostAsPlanned.code)
    # A member has half of the flows, which is no loss of the others.
    assert not any("lost every frame" in caveat for caveat in headline(run_view).caveats)
    # Nothing is sent on it from then to the end.
    assert (streams["east.e0-west"].offered, streams["east.e1-west"].offered) == (750, 1500)


def test_cut_member_is_up_again_after_the_tester_is_killed() -> None:
    with namespaces.tester_namespace():
        links.ip("link add e0 type veth peer name e1")
        links.ip("link set e0 up")
        child = os.fork()
        if child == 0:
            port = lags._Port("east.e0", "e0", lags._open("e0"))
            runner = lags._Runner(Lacp(OURS, [OURS], 1, is_active=True, is_fast=True), [port])
            runner.guard(0)
            runner.cut(0, is_cut=True)
            os.kill(os.getpid(), signal.SIGTERM if is_up("e0") else signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL
        deadline = time.monotonic() + 5
        while not (is_on := is_up("e0")) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert is_on


def is_up(interface: str) -> bool:
    return next(link.up for link in nic.netlink.links() if link.name == interface)


def failures_of(case: CaseView) -> list[dict[str, Any]]:
    """The rows of the table of failures, by column."""
    assert case.error is None
    assert case.result is not None
    (table,) = (one for one in case.result.tables if one.name == TABLE)
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


def test_qinq_goes_from_one_lag_to_another(tmp_path: Path) -> None:
    """A passive LAG, and one that asks for a LACPDU in 30 s: the switch is active and slow."""
    first, second = PLAN.index("    - {{"), PLAN.index("traffic:")
    ends = "".join(
        f'    - {{{{endpoints: ["tester:{name}", "dut:{name}"], rate: 1Gbps, lag: {{{{{lag}}}}}}}}}\n'
        for name, lag in (
            ("a", "interfaces: [e0, e1], rate: slow"),
            ("b", "interfaces: [e2, e3], mode: passive"),
        )
    )
    text = PLAN[:first] + ends + PLAN[second:].replace("flows: {flows}", "flows: {flows}, vlan: {vlan}")
    vlan = "[{vid: 100, tpid: 0x88a8}, 200]"
    plan = parse(text.format(direction="bidir", duration="1s", failures="[]", flows=256, vlan=vlan))
    with ovs_lag.lag_lab(4) as switch:
        switch.do("ovs-vsctl set Open_vSwitch . other_config:vlan-limit=2")
        make_two_bonds(switch)
        outcome = runner.run(plan, tmp_path, watcher(), runner.Selection())
    with open_run(outcome.folder, REASONS) as stored:
        (case,) = view(stored).cases
    assert case.error is None
    streams = case.trials[-1].result.streams
    assert [one.name for one in streams] == ["a.e0-b", "a.e1-b", "b.e2-a", "b.e3-a"]
    for one in streams:
        assert (one.received, one.elsewhere, one.offered > 0) == (one.offered, 0, True)


def cross_cable(switch: ovs.Switch) -> None:
    """A cable between two interfaces of the LAG."""
    links.ip("link delete e0")
    links.ip("link delete e1")
    links.ip("link add e0 type veth peer name e1")
    links.ip("link set e0 up")
    links.ip("link set e1 up")


def make_two_bonds(switch: ovs.Switch) -> None:
    """The third member is of another bond than the first two."""
    for name, first in (("bond0", 0), ("bond1", 2)):
        ports = f"m{first} m{first + 1}"
        switch.do(f"ovs-vsctl --timeout=10 add-bond br {name} {ports} bond_mode=balance-tcp lacp=active")


FAULTS = {
    "silent": (lambda switch: ovs_lag.bond(switch, 2, "lacp=off"), "`east.e1`: no LACPDU came"),
    "loop": (cross_cable, "`east.e1`: the tester's own LACPDUs came back"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_lag_without_any_member_fails_with_the_state_of_each(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lags, "UP_S", 1.5)
    make, told = FAULTS[fault]
    with ovs_lag.lag_lab(4) as switch:
        make(switch)
        (case,) = run(tmp_path, 2, direction="uni").cases
    assert case.error is not None
    assert case.error.code == "lag-not-formed"
    assert told in case.error.message


ABSENT = {
    "key": (make_two_bonds, "its partner has another key"),
    "silent": (lambda switch: ovs_lag.bond(switch, 2), "no LACPDU came"),
}


@pytest.mark.parametrize("fault", ABSENT)
def test_traffic_stays_on_the_members_that_joined(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lags, "UP_S", 4.0)
    make, told = ABSENT[fault]
    with ovs_lag.lag_lab(4) as switch:
        make(switch)
        (case,) = run(tmp_path, 3).cases
        # Beside LACPDUs the third member carries nothing, either way; it is in no bond where nobody speaks.
        beside = [count_data(switch, ("m2",), way, "bond1") for way in ("tx", "rx")] if fault == "key" else []
    assert case.error is None
    assert all(abs(frames) <= 1 for one in beside for frames in one)
    (note,) = (one for one in case.notes if one.code == "lag-members-left-out")
    found = note.fields()
    assert (found["port"], found["members"], found["of"]) == ("east", 2, 3)
    (hang,) = found["hangs"]
    assert "`east.e2`" in hang
    assert told in hang
    streams = {one.name: one for one in case.trials[-1].result.streams}
    assert set(streams) == {"west-east", "east.e0-west", "east.e1-west"}
    assert all((one.lost, one.offered > 0) == (0, True) for one in streams.values())
    assert streams["east.e0-west"].offered == streams["east.e1-west"].offered
