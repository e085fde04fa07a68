"""Reports of iperf3: what is read of them, and what makes a trial invalid. Captured of iperf 3.12."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryFile
from types import SimpleNamespace
from typing import Any, cast

import pytest
from netdyno.campaign.versions import versions
from netdyno.devices.linux import device as dut
from netdyno.devices.linux.hosts import Running
from netdyno.hosts.split import HERE
from netdyno.methods.tcp import METHOD, PAYLOAD
from netdyno.plan import load, parse
from netdyno.plan.matrix import cases
from netdyno.stats.path import FULL
from netdyno.testers import TESTERS, iperf3, tables
from netdyno.testers.by_hosts import LocalPrograms, Machines, find_core_share_ppm
from netdyno.testers.iperf3 import Iperf3, Iperf3Session
from netdyno.testers.iperf3_report import read_report
from netdyno.testers.programs import Programs
from netdyno.testers.tester import TesterMissingError
from netdyno.values.load import Connections, Frames, Trial
from netdyno.values.outcome import Carried, Outcome, ProgramTime
from netdyno.values.reason import Reason
from netdyno.values.units import L1Rate, Percent
from netdyno.values.unmeasured import (
    CongestionRefused,
    FarServer,
    NotAskable,
    NotConnected,
    NotMeasuredError,
    ProgramFailed,
    ProgramHung,
    ServerBusy,
)

REPORTS = Path(__file__).parent.parent / "data" / "iperf3"
EXAMPLE = Path(__file__).parents[2] / "examples" / "linux-tcp.yaml"
WHOLE = (REPORTS / "3.12.json").read_text()


def _changed(**start: Any) -> str:
    report = json.loads(WHOLE)
    report["start"].update(start)
    return json.dumps(report)


def test_report_of_two_connections_is_read_to_the_byte() -> None:
    found = read_report("west-east", 2, WHOLE)
    assert found == Carried(
        name="west-east",
        connections=2,
        sent_bytes=1190002688,
        sent_ns=1005363000,
        received_bytes=1188298752,
        received_ns=1014307000,
        retransmitted_segments=10,
        mss_bytes=32768,
        mean_rtt_ns=385500,
        congestion="cubic",
        samples=((1190002688, 1005362988),),
    )


def test_report_of_a_newer_version_is_read_alike() -> None:
    # As iperf 3.19 has them.
    newer = _changed(version="iperf 3.19.1+", fq_rate=0, timestamp={"timemillisecs": 1761095127061})
    assert read_report("west-east", 2, newer) == read_report("west-east", 2, WHOLE)


def test_report_without_counts_of_another_kernel_has_none() -> None:
    report = json.loads(WHOLE)
    del report["start"]["tcp_mss_default"], report["end"]["sum_sent"]["retransmits"]
    for one in report["end"]["streams"]:
        del one["sender"]["mean_rtt"]
    found = read_report("west-east", 2, json.dumps(report))
    assert isinstance(found, Carried)
    assert (found.mss_bytes, found.retransmitted_segments, found.mean_rtt_ns) == (None, None, None)


def test_error_beside_a_whole_end_is_a_failure() -> None:
    printed = (REPORTS / "3.12-server-ended.json").read_text()
    assert json.loads(printed)["end"]["sum_sent"]["bytes"] > 0
    assert read_report("west-east", 1, printed) == ProgramFailed(
        "iperf3", "west-east", "the server has terminated"
    )


@pytest.mark.parametrize("printed", ["", WHOLE[: len(WHOLE) // 2], "{}", '{"end": {}}', "[]"])
def test_cut_report_is_a_failure(printed: str) -> None:
    found = read_report("west-east", 2, printed)
    assert isinstance(found, ProgramFailed)
    assert found.stream == "west-east"


@pytest.mark.parametrize("seconds", [0, -1.0, 1e-12, float("inf"), float("nan"), None])
@pytest.mark.parametrize("side", ["sum_sent", "sum_received"])
def test_report_of_no_length_is_a_failure(side: str, seconds: float | None) -> None:
    report = json.loads(WHOLE)
    report["end"][side]["seconds"] = seconds
    assert isinstance(read_report("west-east", 2, json.dumps(report)), ProgramFailed)


def test_stored_counts_of_no_length_carry_no_payload() -> None:
    found = read_report("west-east", 2, WHOLE)
    assert isinstance(found, Carried)
    counted = (found, replace(found, name="east-west", received_ns=0))
    running = METHOD.start(METHOD.parameters(), cast("Any", None))
    next(running)
    running.throw(NotMeasuredError(NotAskable(())))
    with pytest.raises(StopIteration) as ended:
        running.send(cast("Any", SimpleNamespace(carried=counted)))
    values = {one.scope: one.number for one in ended.value.value.values if one.kind == PAYLOAD}
    assert values == {
        "west-east": Fraction(8 * 1188298752 * 10**9, 1014307000),
        "east-west": None,
        "sum": None,
    }


def _here(*hosts: Any) -> Machines:
    """Hosts of this machine, by the order of the tester's ports; None: a server stands for the port."""
    made = Programs({number: host for number, host in enumerate(hosts) if host is not None})
    return Machines({HERE: LocalPrograms(made)}, (HERE,) * len(hosts))


class _Endless:
    """A host whose programs print nothing and do not end."""

    pid, address = os.getpid(), "198.18.0.1"
    is_running, printed, complained, killed_by = True, "", "", ""

    @contextmanager
    def run(self, command: str) -> Iterator[_Endless]:
        """Itself as the program."""
        yield self

    def await_listener(self, port: int) -> None:
        """Nothing."""

    def limit(self, *limits: int | None) -> None:
        """Nothing."""


def test_client_cut_off_by_its_time_limit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iperf3, "PATIENCE_S", 0)
    machines = _here(_Endless(), _Endless())
    monkeypatch.setattr(iperf3, "open_machines", lambda wiring, mtu: nullcontext(machines))
    plan = load(EXAMPLE, tables=tables())
    wiring = plan.kind.wire(plan.lab.links, {})
    session = Iperf3Session(plan, wiring, cases(plan)[0], ExitStack(), processes={HERE: 1})
    trial = Trial("tcp", Connections(10**7, "cubic"))
    unseen: Any = SimpleNamespace(begin=lambda: None, look=lambda now: 0.001, end=lambda now: None)
    outcome = session.measure(cases(plan)[0], trial, unseen, lambda: False)
    (failed,) = outcome.invalid
    assert isinstance(failed, ProgramHung)
    assert (failed.within_ns, failed.is_lasting) == (10**7, True)


class _Scripted:
    """A host whose client is a script of the shell, and whose servers run on."""

    pid, address = os.getpid(), "198.18.0.1"

    def __init__(self, client: str) -> None:
        self._client = client

    @contextmanager
    def run(self, command: str) -> Iterator[Running]:
        """The script, or a server."""
        script = "exec sleep 30" if " -s " in command else self._client
        with (
            TemporaryFile() as output,
            TemporaryFile() as complaints,
            subprocess.Popen(["sh", "-c", script], stdout=output, stderr=complaints) as process,
        ):
            try:
                yield Running(process, output, complaints)
            finally:
                process.kill()

    def await_listener(self, port: int) -> None:
        """Nothing."""

    def limit(self, *limits: int | None) -> None:
        """Nothing."""


def _measure(first: str, second: str, direction: str) -> Outcome:
    """A trial of 5 s between two hosts with these clients."""
    plan = load(EXAMPLE, tables=tables())
    case = next(one for one in cases(plan) if dict(one.choices)["direction"] == direction)
    wiring = plan.kind.wire(plan.lab.links, {})
    session = Iperf3Session(plan, wiring, case, ExitStack(), processes={HERE: 1})
    session._machines = _here(_Scripted(first), _Scripted(second))
    unseen: Any = SimpleNamespace(begin=lambda: None, look=lambda now: 0.01, end=lambda now: None)
    return session.measure(case, Trial("tcp", Connections(5 * 10**9, "cubic")), unseen, lambda: False)


CLOSED = "unable to connect to server - server may have stopped running: Connection refused"


@pytest.mark.parametrize(
    ("client", "reason"),
    [
        ("kill -9 $$", ProgramFailed("iperf3", "west-east", "its client was killed by SIGKILL")),
        ("echo no such option >&2; exit 1", ProgramFailed("iperf3", "west-east", "no such option")),
        (
            f"echo '{json.dumps({'error': CLOSED})}'",
            NotConnected("iperf3", "west-east", "100.64.1.2:5201", "Connection refused"),
        ),
        (
            "echo '{\"start\":'",
            ProgramFailed("iperf3", "west-east", "its report is cut or wrong: '{\"start\":\\n'"),
        ),
    ],
)
def test_client_that_fails_says_why_and_no_other_is_waited_for(client: str, reason: Reason) -> None:
    outcome = _measure(client, "exec sleep 30", "bidir")
    assert outcome.invalid == (reason,)
    assert outcome.carried == ()
    assert outcome.phases[0].duration_ns < 5 * 10**9


FAR = """\
title: To a server
tester: iperf3
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:near", "dut:a"], rate: 1Gbps, address: 10.0.1.2/24, gateway: 10.0.1.1}
    - {endpoints: ["tester:far", "dut:b"], rate: 1Gbps, server: 192.0.2.20}
traffic: {it: {size: 1518B, flows: 1}}
matrix: {direction: [uni-reverse, bidir]}
method: {tcp: {duration: 1s}}
"""
BUSY = "error - the server is busy running a test. try again later"


def _measure_far(client: str, number: int = 0) -> tuple[Iperf3Session, Outcome]:
    """A short trial of a case towards a server, whose client is a script."""
    plan = parse(FAR, tables=tables())
    case = cases(plan)[number]
    session = Iperf3Session(plan, plan.kind.wire(plan.lab.links, {}), case, ExitStack(), processes={HERE: 2})
    session._machines = _here(_Scripted(client), None)
    unseen: Any = SimpleNamespace(begin=lambda: None, look=lambda now: 0.001, end=lambda now: None)
    return session, session.measure(case, Trial("tcp", Connections(10**6, "cubic")), unseen, lambda: False)


def test_server_that_sends_is_asked_for_that_by_its_client() -> None:
    report = (REPORTS / "3.12-reverse.json").read_text()
    session, outcome = _measure_far(f"sleep 0.05; echo '{report}'")
    (one,) = outcome.carried
    assert (one.name, one.sender, one.each) == ("far-near", None, ())
    assert one.receiver is not None
    assert one.received_bytes == json.loads(report)["end"]["sum_received"]["bytes"]
    plan = parse(FAR, tables=tables())
    asked = json.loads(session.asked(cases(plan)[1], Trial("tcp", Connections(10**9, "cubic"))))["streams"]
    commands = [client.split() for stream in asked for client in stream["clients"]]
    assert [(one[one.index("-p") + 1], "-R" in one) for one in commands] == [("5201", False), ("5202", True)]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (BUSY, ServerBusy("iperf3", "far-near", "192.0.2.20:5201")),
        (CLOSED, NotConnected("iperf3", "far-near", "192.0.2.20:5201", "Connection refused")),
    ],
)
def test_server_that_takes_no_test_is_named_with_what_to_do(said: str, reason: Reason) -> None:
    session, outcome = _measure_far(f"echo '{json.dumps({'error': said})}'")
    assert outcome.invalid == (reason,)
    assert session.advice(outcome.invalid) is not None


def test_missing_congestion_control_lasts_and_has_a_hint_of_those_there() -> None:
    # Captured of iperf 3.12.
    said = "unable to set TCP_CONGESTION: Supplied congestion control algorithm not supported on this host"
    session, outcome = _measure_far(f"echo '{json.dumps({'error': said})}'")
    assert outcome.invalid == (CongestionRefused("iperf3", "far-near", "cubic"),)
    assert outcome.invalid[0].is_lasting
    hint = session.advice(outcome.invalid) or ""
    there = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    assert all(f"`{name}`" in hint for name in there)


def test_own_frames_are_not_sent_to_a_server() -> None:
    plan = parse(FAR, tables=tables())
    case = cases(plan)[0]
    session = Iperf3Session(plan, plan.kind.wire(plan.lab.links, {}), case, ExitStack(), processes={HERE: 1})
    trial = Trial(FULL, Frames.steady(Percent(Fraction(1)), 10**9))
    with pytest.raises(NotMeasuredError) as refused:
        session.measure(case, trial, cast("Any", None), lambda: False)
    assert refused.value.reason == FarServer(("192.0.2.20:5201",))


def test_own_frames_of_a_path_go_between_the_hosts() -> None:
    plan = load(EXAMPLE, tables=tables())
    case = cases(plan)[-1]
    wiring = plan.kind.wire(plan.lab.links, {})
    session = Iperf3Session(plan, wiring, case, ExitStack(), processes={HERE: 1})
    asked = json.loads(session.asked(case, Trial(FULL, Frames.steady(Percent(Fraction(1)), 10**9))))
    west, east = (port.ipv4 for port in wiring.ports)
    ends = [(one["headers"][1]["src"], one["headers"][1]["dst"]) for one in asked["streams"]]
    assert ends == [(west, east), (east, west)]
    sources = [one["headers"][2]["sport"]["step"]["count"] for one in asked["streams"]]
    assert sources == [5, 5]


def test_processes_that_begin_apart_carry_over_all_the_time_they_took() -> None:
    """Three connections of 9 MB, and a second later two of 6 MB, each for 3 s: 15 MB in 4 s, 30 Mbit/s. Added
    rates are 40, more than a line of 35 could have carried."""
    parts = [
        Carried("west-east", count, size, 3 * 10**9, size, 3 * 10**9, 0, 1448, 10**6, "cubic")
        for count, size in ((3, 9 * 10**6), (2, 6 * 10**6))
    ]
    found = iperf3._joined([(parts[0], 3 * 10**9), (parts[1], 4 * 10**9)])
    assert (found.connections, found.received_bytes, found.received_ns) == (5, 15 * 10**6, 4 * 10**9)


def test_core_share_is_cpu_time_over_time_wanted() -> None:
    # Idle for 6 s of 10: what it waited for costs three quarters of what it wanted, not three tenths.
    assert find_core_share_ppm([ProgramTime(10 * 10**9, 10**9, 3 * 10**9)]) == 250_000
    assert find_core_share_ppm([ProgramTime(10**9, 0, 0)]) is None


def test_report_with_fewer_connections_than_asked_is_a_failure() -> None:
    assert isinstance(read_report("west-east", 3, WHOLE), ProgramFailed)


@pytest.mark.parametrize(
    ("printed", "version", "processes"),
    [
        ("iperf 3.2 (cJSON 1.5.2)", "3.2", None),
        ("iperf 3.16-beta1 (cJSON 1.7.15)", "3.16-beta1", 1),
        ("iperf 3.19.1+ (cJSON 1.7.15)", "3.19.1+", 1),
        ("iperf 3.1.7", None, None),
        ("iperf version 2.1.8 (12 August 2022) pthreads", None, None),
        ("", None, None),
    ],
)
def test_version_too_old_or_unknown_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str, version: str | None, processes: int | None
) -> None:
    program = tmp_path / "iperf3"
    program.write_text(f"#!/bin/sh\necho '{printed}'\n")
    program.chmod(0o755)
    monkeypatch.setattr(dut, "SEARCH", str(tmp_path))
    if version is None:
        with pytest.raises(TesterMissingError) as refused:
            Iperf3().versions()
        assert refused.value.code == "tester-unfit"
        return
    assert Iperf3().versions()["iperf3"] == version
    assert iperf3._processes(version, L1Rate(Fraction(10**9))) == 1
    assert iperf3._processes(version, L1Rate(Fraction(10**10))) == (processes or len(os.sched_getaffinity(0)))


def test_missing_program_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path: None)
    with pytest.raises(TesterMissingError) as missing:
        Iperf3().versions()
    assert (missing.value.code, missing.value.hint) == ("tester-missing", "sudo apt-get install iperf3")


def test_program_of_other_hosts_is_not_asked_for_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path: None)
    plan = load(EXAMPLE.with_name("hosts-tcp.yaml"), tables=tables())
    assert "iperf3" not in versions(TESTERS["iperf3"], plan)
    here = replace(plan.lab.links[0], host="")
    one_here = replace(plan, lab=replace(plan.lab, links=(here, *plan.lab.links[1:])))
    with pytest.raises(TesterMissingError):
        versions(TESTERS["iperf3"], one_here)


def test_stream_has_processes_for_the_ends_it_has() -> None:
    plan = load(EXAMPLE.with_name("hosts-tcp.yaml"), tables=tables())
    case = cases(plan)[0]
    wiring = plan.kind.wire(plan.lab.links, {}).with_hosts(plan.lab.hosts)
    processes = {"gen1": 4, "gen2": 1, "gen3": 1, "gen4": 1}
    session = Iperf3Session(plan, wiring, case, ExitStack(), processes)
    asked = json.loads(session.asked(case, Trial("tcp", Connections(10**9, "cubic", streams=4))))
    clients = {one["name"]: one["clients"] for one in asked["streams"]}
    assert {name: len(found) for name, found in clients.items()} == {
        "p1-p2": 4,
        "p2-p3": 1,
        "p3-p4": 1,
        "p4-p1": 4,
    }
    ports = [client.split(" -p ")[1].split()[0] for found in clients.values() for client in found]
    assert len(set(ports)) == len(ports)
