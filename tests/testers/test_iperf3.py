"""Reports of iperf3: what is read of them, and what makes a trial invalid. Captured of iperf 3.12."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from netdyno.methods.tcp import METHOD, PAYLOAD
from netdyno.plan import load
from netdyno.plan.matrix import cases
from netdyno.testers import iperf3, tables
from netdyno.testers.iperf3 import Iperf3, Iperf3Session
from netdyno.testers.iperf3_report import read_report
from netdyno.testers.tester import TesterMissingError
from netdyno.values.load import Connections, Trial
from netdyno.values.outcome import Carried
from netdyno.values.unmeasured import NotAskable, NotMeasuredError, ProgramFailed

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


class _Endless:
    """A host whose programs print nothing and do not end."""

    pid = os.getpid()
    is_running, printed = True, ""

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
    monkeypatch.setattr(iperf3, "as_hosts", lambda wiring, mtu: nullcontext((_Endless(), _Endless())))
    plan = load(EXAMPLE, tables=tables())
    wiring = plan.kind.wire(plan.lab.links, {})
    session = Iperf3Session(plan, wiring, cases(plan)[0], ExitStack(), processes=1)
    trial = Trial("tcp", Connections(10**7, "cubic"))
    unseen: Any = SimpleNamespace(begin=lambda: None, look=lambda now: 0.001, end=lambda now: None)
    outcome = session.measure(cases(plan)[0], trial, unseen, lambda: False)
    (failed,) = outcome.invalid
    assert isinstance(failed, ProgramFailed)
    assert "0.01 s" in failed.said


def test_report_with_fewer_connections_than_asked_is_a_failure() -> None:
    assert isinstance(read_report("west-east", 3, WHOLE), ProgramFailed)


def test_missing_program_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path: None)
    with pytest.raises(TesterMissingError) as missing:
        Iperf3().versions()
    assert (missing.value.code, missing.value.hint) == ("tester-missing", "sudo apt-get install iperf3")
