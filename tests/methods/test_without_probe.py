"""Frames without a probe: as many come back as with one, and what is not known of them is not said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.errors import PlanErrors
from netdyno.methods.reasons.tester import NoProbe, RawUnchecked
from netdyno.plan import parse
from netdyno.reports import Look
from netdyno.reports.formats import csv, html, markdown, terminal
from netdyno.reports.formats import json as as_json
from netdyno.reports.model.from_store import view
from netdyno.reports.model.run_set import RunSet
from netdyno.store import open_run
from netdyno.values.records import StoredTrial

PLAN = """\
title: "Without a probe"
lab:
  nodes:
    tester: {{kind: netdyno}}
    dut: {{kind: {kind}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 10Gbps}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 10Gbps}}
traffic: {traffic}
{matrix}
method: {method}
trial: {{settle: 0s, drain: 50ms}}
"""
LOSS = "{frame-loss: {duration: 20ms}}"


def text(traffic: str, method: str = LOSS, kind: str = "emulated/asr1000-esp20", matrix: str = "") -> str:
    return PLAN.format(traffic=traffic, method=method, kind=kind, matrix=matrix)


def run(tmp_path: Path, plan: str) -> Path:
    return runner.run(parse(plan), tmp_path, watcher(), runner.Selection()).folder


def trials(folder: Path) -> list[StoredTrial]:
    with open_run(folder, REASONS) as stored:
        for case in stored.cases:
            assert case.result is not None, case.error
        return [trial for case in range(len(stored.cases)) for trial in stored.trials(case)]


def test_as_many_frames_come_back_without_a_probe_as_with_one(tmp_path: Path) -> None:
    """A router that forwards so many a second, however its frames are: to the frame."""
    folder = run(
        tmp_path,
        text("{with: {size: 64B, flows: 50}, without: {size: 64B, flows: 50, protocol: tcp, probe: false}}"),
    )
    found = trials(folder)
    half = len(found) // 2
    assert half > 4
    assert any(trial.result.lost for trial in found)
    for probed, bare in zip(found[:half], found[half:], strict=True):
        for one, other in zip(probed.result.streams, bare.result.streams, strict=True):
            assert (one.is_bare, other.is_bare) == (False, True)
            assert (other.offered, other.received, other.lost) == (one.offered, one.received, one.lost)
            assert (other.latency, other.first_loss_ns, other.flows_received) == (None, None, 0)
            assert sum(other.rx) == sum(other.arrived) == other.received
    with open_run(folder, REASONS) as stored:
        bare_case = stored.cases[2]
        assert bare_case.result is not None
        assert NoProbe() in bare_case.result.notes
        values = [
            {value.name: value.number for value in case.result.values if value.scope == "sum"}
            for case in stored.cases
            if case.result is not None
        ]
        assert values[0] == values[2]
        shown = view(stored)
        for form in (html, markdown, csv, as_json, terminal):
            assert form.render(RunSet((shown,)), Look())


ODD = [f"10.1.{number // 256}.{number % 256}" for number in range(600)]
ODD[302] = "203.0.113.9"


@pytest.mark.parametrize(
    ("flows", "headers"),
    [
        (600, f"{{type: ipv4, src: 192.0.2.1, dst: {{list: {ODD}}}}}, {{type: udp, sport: 9, dport: 9}}"),
        (
            59_999,
            "{type: ipv4, src: 192.0.2.1, dst: {step: {start: 10.1.255.1, step: 1, count: 59999}}},"
            "{type: tcp, sport: 9, dport: 9}",
        ),
        (
            3000,
            "{type: ipv6, src: 2001:db8::1, dst: {random: {min: 2001:db8:1::, max: 2001:db8:2::1, seed: 3}}},"
            "{type: udp, sport: 9, dport: {list: [9, 9, 9, 9, 9, 9, 9, 9, 9, 40000]}}",
        ),
        # Its sequence number counts up in each flow.
        (2, "{type: ipv4, src: 192.0.2.1, dst: {list: [10.1.0.1, 10.1.0.2]}}, {type: echo, id: 7}"),
    ],
)
def test_frames_unlike_all_others_of_their_stream_come_back(flows: int, headers: str, tmp_path: Path) -> None:
    plan = text(
        f"{{p: {{size: 128B, flows: {flows}, probe: false, headers: [{{type: ethernet}}, {headers}]}}}}",
        LOSS,
        "emulated/cross-connect",
        "matrix: {direction: [uni]}",
    )
    for trial in trials(run(tmp_path, plan)):
        (stream,) = trial.result.streams
        assert stream.offered > 10_000
        assert (stream.lost, stream.altered, stream.corrupted) == (0, 0, 0)


def test_checksum_that_the_plan_wrote_is_not_checked(tmp_path: Path) -> None:
    """ICMP as raw bytes, its checksum 0; a stream beside it is checked as ever."""
    headers = (
        "[{type: ethernet}, {type: ipv4, src: 192.0.2.1, dst: 198.51.100.1, protocol: 1},"
        '{type: raw, bytes: "0800000000010001"}]'
    )
    plan = text(f"{{p: {{size: 128B, flows: 1, headers: {headers}}}}}", LOSS, "emulated/cross-connect")
    folder = run(tmp_path, plan.replace("matrix", "matrix: {direction: [uni]}"))
    for trial in trials(folder):
        assert [(one.corrupted, one.lost) for one in trial.result.streams] == [(0, 0)] * len(
            trial.result.streams
        )
    with open_run(folder, REASONS) as stored:
        assert stored.cases[0].result is not None
        assert RawUnchecked() in stored.cases[0].result.notes


def test_frames_of_unlike_headers_are_counted_apart(tmp_path: Path) -> None:
    classes = "{voice: {dscp: ef, rate: 10Mbps}, rest: {}}"
    folder = run(
        tmp_path,
        text(
            f"{{p: {{size: 64B, flows: 9, protocol: tcp, probe: false, classes: {classes}}}}}",
            LOSS,
            "emulated/router",
            "matrix: {direction: [uni]}",
        ),
    )
    for trial in trials(folder):
        (rest,), (voice,) = trial.result.streams, trial.result.beside
        assert (rest.lost, voice.lost) == (0, 0)
        assert voice.offered == 298  # 10 Mbit/s of 672 bits in 20 ms.


def settings(**chosen: str) -> str:
    """A cross connect with these."""
    inside = ", ".join(f"{name}: {value}" for name, value in chosen.items())
    return f"emulated/cross-connect, settings: {{{inside}}}"


def test_copies_are_counted_as_far_as_they_show(tmp_path: Path) -> None:
    """Of 1 % of copies each is a frame beyond what was sent; the trial stays valid."""
    plan = text(
        "{p: {size: 128B, flows: 9, probe: false}}",
        LOSS,
        settings(duplicates="1/100"),
        "matrix: {direction: [uni]}",
    )
    folder = run(tmp_path, plan)
    for trial in trials(folder):
        (stream,) = trial.result.streams
        assert trial.state == "done"
        assert (stream.lost, stream.received) == (0, stream.offered)
        # Where the line is full some of the copies find no room.
        assert 0.6 * stream.offered / 100 <= stream.duplicates <= 1.1 * stream.offered / 100
    with open_run(folder, REASONS) as stored:
        (verdict, *_) = stored.cases[0].verdicts
        assert (verdict.limit, verdict.reason.code, verdict.reason.may_hide) == ("none", "nothing-lost", True)
        told = json.loads(as_json.render(RunSet((view(stored),)), Look()))["cases"][0]["trials"][0][
            "streams"
        ][0]
        assert told["duplicates_frames"] > 0
        assert not {"out_of_order_frames", "elsewhere_frames", "flows_received"} & set(told)


def test_late_frames_are_those_of_the_trial_before(tmp_path: Path) -> None:
    """Where they come while the next trial waits, they are not counted in it."""
    plan = text(
        "{p: {size: 128B, flows: 9, probe: false}}",
        LOSS,
        settings(behaviour="late", late_by="100ms"),
        "matrix: {direction: [uni]}",
    ).replace("settle: 0s", "settle: 200ms")
    for trial in trials(run(tmp_path, plan)):
        (stream,) = trial.result.streams
        assert stream.duplicates == 0
        if trial.number:
            assert sum(port.stale for port in trial.result.ports) > 0


@pytest.mark.parametrize(
    ("plan", "path", "code"),
    [
        (text("{p: {size: 64B, protocol: tcp}}"), "traffic.p.size", "frame-too-small"),
        (text("{p: {size: 64B, ip: 6, protocol: tcp, probe: false}}"), "traffic.p.size", "frame-too-small"),
        (
            text("{p: {size: 64B, probe: false, classes: {a: {pcp: 3}, b: {}}}}", LOSS),
            "traffic.p.classes.b",
            "conflict",
        ),
        (
            text("{p: {size: 64B, probe: false, classes: {v: {dscp: ef, rate: 1Mbps}, r: {}}}}", LOSS)
            + "goals: [p99 of v <= 1ms]\n",
            "goals[0]",
            "unsupported",
        ),
        (text("{p: {size: 64B, probe: false}}", "{sweep: {}}"), "traffic.p.probe", "unsupported"),
        (text("{p: {size: 64B, probe: false}}", "{ramp: {}}"), "traffic.p.probe", "unsupported"),
        (
            text("{p: {size: 64B, probe: false}}", LOSS, "emulated/router", "matrix: {routes: [256]}"),
            "traffic.p.probe",
            "unsupported",
        ),
    ],
)
def test_plans_that_need_probes_are_refused(plan: str, path: str, code: str) -> None:
    with pytest.raises(PlanErrors) as refused:
        parse(plan)
    assert [(one.path, one.code) for one in refused.value.errors] == [(path, code)]


def test_frames_with_a_probe_say_so_to_the_engine(tmp_path: Path) -> None:
    found = trials(run(tmp_path, text("{p: {size: 64B, flows: 9}}", LOSS, "emulated/router")))
    assert all(one["probe"] is True for trial in found for one in json.loads(trial.spec)["streams"])
