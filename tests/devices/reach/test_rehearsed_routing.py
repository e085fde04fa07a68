"""A full table and its neighbours on stand-ins: kept, lost on request, and a command line that is silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes import STAND_INS
from fakes.fridge import Fridge, fridge_in
from fakes.lab import series_of
from fakes.server import PASSWORD, USER
from netdyno.devices import outputs
from netdyno.devices.access import Access, Ssh
from netdyno.devices.drivers.cisco_iosxe import DRIVER as XE
from netdyno.devices.drivers.cisco_iosxr import DRIVER as XR
from netdyno.devices.reach.session import LOGIN_AGAIN_S, Session
from netdyno.devices.reach.tables import count_routes
from netdyno.devices.stand_ins.routing import Routing
from netdyno.devices.watches.by_cli import DaemonsByCli
from netdyno.devices.wiring import LabError

ROUTED = {
    "[l2-xconnect, bridge-domain, ipv4]": "[ipv4]",
    "[plain, lacp]": "[plain]",
    "members: [Te0/2/0/1]}": "members: [Te0/2/0/1], address: 100.64.1.2/30, gateway: 100.64.1.1,"
    " routing: {bgp: {own_as: 64512, routes: 1000, withdraw: 100}}}",
    "ramp: {warmup: 1s at 1kpps, ramp: 8s to 100%, hold: 2s}": "acceptance: {loads: [10%, 20%], hold: 5s,"
    " loss_free: 20%}",
    "scale: 1/100": "scale: 1/100\nwatch: {adjacencies: true, cli: 20s}",
}
UP = 10
"""Of the stand-in's twelve neighbours two are only 2-way."""


@pytest.fixture
def fridge(tmp_path: Path) -> Iterator[Fridge]:
    with fridge_in(tmp_path) as found:
        yield found


def change_at(fridge: Fridge, instant: int, text: str) -> None:
    """Changes its routing when it is given the counters of this instant, from 1."""
    whole: Callable[[dict[str, Any]], None] = fridge.chassis.stand_at

    def stand_at(given: dict[str, Any]) -> None:
        whole(given)
        if fridge.chassis.instants == instant:
            assert not fridge.chassis.routing.change(text)

    fridge.chassis.stand_at = stand_at  # type: ignore[method-assign]


def results(case: dict[str, Any]) -> dict[str, str]:
    """The verdict of each criterion of an acceptance."""
    (table,) = (one for one in case["tables"] if one["table"] == "Acceptance")
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
    return {row["criterion"]: row["result"] for row in rows}


def test_acceptance_on_a_stand_in_reads_its_table_and_neighbours(fridge: Fridge) -> None:
    code, said = fridge.run("run", str(fridge.plan(**ROUTED)))
    assert code == 0, said
    (case,) = fridge.cases()
    assert set(results(case).values()) == {"pass"}
    (failed,) = (one for one in case["values"] if one["value"] == "criteria failed")
    assert (failed["number"], failed["limit"]) == (0, "none")
    assert len(case["trials"][0]["series"]) > UP
    up = [one["values"] for one in series_of(case, "adjacency")]
    assert len(up) == 2 * UP
    assert {value for values in up for value in values} == {1}
    assert {value for one in series_of(case, "ipv4 routes") for value in one["values"]} == {903_415}
    assert {value for one in series_of(case, "ipv6 routes") for value in one["values"]} == {142_551}


def test_neighbour_that_a_stand_in_loses_fails_the_acceptance(fridge: Fridge) -> None:
    change_at(fridge, 4, '{"lost": ["194.1.163.87"]}')
    code, said = fridge.run("run", str(fridge.plan(**ROUTED)))
    assert code == 1, said
    (case,) = fridge.cases()
    assert [name for name, verdict in results(case).items() if verdict == "fail"] == ["adjacencies"]
    lost = {one["subject"] for one in series_of(case, "adjacency") if one["values"][-1] == 0}
    assert lost == {
        "OSPF neighbour 194.1.163.87",
        "OSPFv3 neighbour 194.1.163.87 on TenGigE0/0/0/0.101",
        "BGP neighbour 194.1.163.87",
    }


@pytest.mark.parametrize(("watched", "code"), [("cli: 20s", 1), ("ping: []", 3)])
def test_silent_command_line_costs_readings_and_no_trial(
    fridge: Fridge, monkeypatch: pytest.MonkeyPatch, watched: str, code: int
) -> None:
    """It fails what asks for answers; what it leaves unread is unknown, and no pass either."""
    change_at(fridge, 4, '{"silent_s": 600}')
    monkeypatch.setattr("netdyno.devices.reach.session.LOGIN_AGAIN_S", 0.3)
    # What it was configured with stays there: so long nobody waits for it.
    plan = fridge.plan(
        **ROUTED,
        **{
            '      configuration: "asr9006-{forwarding}-{lag}"\n': "",
            "      allow: [no l2vpn, no xconnect group loadtest]\n": "",
        },
    )
    text = plan.read_text().replace("  forwarding: [ipv4]\n  lag: [plain]\n", "")
    plan.write_text(text.replace("[10%, 20%]", "[20%]").replace("cli: 20s", watched))
    ended, said = fridge.run("run", str(plan))
    assert ended == code, said
    assert fridge.chassis.routing.silent_s > 300
    (case,) = fridge.cases()
    assert case["state"] == "done"
    found = results(case)
    failed = [name for name, verdict in found.items() if verdict == "fail"]
    assert failed == (["CLI answers"] if code == 1 else [])
    # What was read before the silence alone says nothing of the load.
    unknown = {name for name, verdict in found.items() if verdict == "not known"}
    assert unknown == {"adjacencies", "IPv4 table"}
    for one in case["trials"][0]["series"]:
        if one["source"] in ("routes", "adjacency", "command line"):
            assert one["missed"][0]["reason"]["fields"]["error_code"] == "device-silent"


def test_silent_command_line_is_given_up_at_its_deadline(
    fridge: Fridge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a login that follows the lost session."""
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    monkeypatch.setattr("netdyno.devices.reach.session.LOGIN_AGAIN_S", 0.2)
    assert LOGIN_AGAIN_S < 30
    ssh = Ssh(fridge.server.port, known_hosts=fridge.server.known_hosts(tmp_path))
    with Session(Access("127.0.0.1", USER, ssh), XR.shell) as session:
        asked = DaemonsByCli(session, XR.daemons)
        assert sum(one.is_up for one in asked.ask(5.0)) == UP
        assert not fridge.chassis.routing.change('{"silent_s": 600}')
        for _ in range(2):
            with pytest.raises(LabError) as caught:
                asked.ask(0.2)
            assert caught.value.code == "device-silent"
        assert fridge.chassis.routing.silent_s > 570


def test_stand_in_of_ios_xe_has_the_same_table_and_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETDYNO_PASSWORD", PASSWORD)
    with STAND_INS["cisco_iosxe"].serve(tmp_path) as (opened, lab):
        ssh = Ssh(lab.server.port, known_hosts=lab.server.known_hosts(tmp_path))
        with Session(Access("127.0.0.1", USER, ssh), XE.shell) as session:

            def rows(command: str, text: str) -> Any:
                return outputs.parse(XE.name, command, text).rows

            found = DaemonsByCli(session, XE.daemons)
            assert sum(one.is_up for one in found.ask(5.0)) == UP
            assert count_routes(XE.name, XE.readings, session, rows) == {4: 903_415, 6: 142_551}
            # By hand, in a session of its XE.
            session.ask('! netdyno-routing {"lost": ["194.1.163.3", "194.1.163.4", "194.1.163.87"]}')
            assert {one.protocol for one in found.ask(5.0)} == {"BGP"}
            assert [one.neighbour for one in found.ask(5.0) if not one.is_up] == ["194.1.163.87"]
            session.ask('! netdyno-routing {"lost": [], "routes": 5, "routes_ipv6": 0}')
            assert count_routes(XE.name, XE.readings, session, rows) == {4: 14, 6: 9}
        assert opened.chassis.routing.routes == 5


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{", '{"route": 1}', '{"routes": -1}', '{"routes": 1e9}', '{"routes": 99999999}'),
        *('{"lost": ["192.0.2.1"]}', '{"lost": 3}', '{"silent_s": 601}', '{"silent_s": "x"}'),
    ],
)
def test_strange_change_of_a_stand_in_is_refused_with_what_it_takes(text: str) -> None:
    routing = Routing()
    assert routing.change(text)
    assert routing == Routing()
