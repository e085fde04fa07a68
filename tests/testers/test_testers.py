"""The table of testers, what a plan may name, and a campaign with a tester that is not the engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from campaigns import ONE, SEARCH
from methodlab import OneProcess
from netdyno.calibration.bench import load_tester
from netdyno.calibration.document import CalibrationError
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.testers import TESTERS, TesterEntry, tables
from netdyno.testers.fake import Fake, FakeSession
from netdyno.testers.tester import TesterMissingError
from netdyno.values.offer import Offer
from netdyno.values.reason import Reason
from netdyno.values.unmeasured import NotConnected, ProgramFailed

FAKE = TesterEntry("fake", Fake.offers, "netdyno.testers.fake")
WITH_FAKE = replace(tables(), testers={**tables().testers, "fake": FAKE.offers})


def test_each_tester_of_the_table_offers_what_its_module_does() -> None:
    for entry in TESTERS.values():
        assert entry.load().offers == entry.offers


def test_tester_of_the_package_is_known_by_its_name_and_offers() -> None:
    entry = TesterEntry.own("fake", *Fake.offers)
    assert entry == FAKE
    assert entry.load().offers == Fake.offers


def test_tester_without_raw_sessions_cannot_be_calibrated() -> None:
    assert load_tester(TESTERS["netdyno"])
    with pytest.raises(CalibrationError) as refused:
        load_tester(FAKE)
    assert refused.value.code == "unsupported"


def test_a_tester_without_its_module_is_missing() -> None:
    with pytest.raises(TesterMissingError):
        TesterEntry("none", frozenset(), "netdyno.testers.no_such_module").load()


def test_an_unknown_tester_is_an_error_of_the_plan() -> None:
    with pytest.raises(PlanErrors) as caught:
        parse(ONE + "tester: netdino\n", tables=tables())
    (error,) = caught.value.errors
    assert error.line == ONE.count("\n") + 1
    assert "`netdyno`" in (error.hint or "")


def test_a_method_beyond_the_testers_offers_is_an_error_of_the_plan() -> None:
    plan = ONE.replace("throughput: {duration: 10ms, width: 1%}", "latency: {duration: 10ms, after: 0s}")
    with pytest.raises(PlanErrors) as caught:
        parse(plan + "tester: fake\n", tables=WITH_FAKE)
    (error,) = caught.value.errors
    assert Offer.LATENCY in str(error)
    assert "tester: netdyno" in (error.hint or "")


def test_a_campaign_with_another_tester_is_measured_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "Workers", OneProcess)
    plan = parse(SEARCH.replace("drain: 0s", "drain: 50ms") + "tester: fake\n", tables=WITH_FAKE)
    outcome = runner.run(plan, tmp_path, watcher(), runner.Selection(), FAKE)
    assert outcome.exit_code == 0
    with open_run(outcome.folder, REASONS) as run:
        assert run.head.versions["fake"] == "1"
        assert "engine" not in run.head.versions
        assert len(view(run).cases) == len(run.cases)
        numbers = {
            value.number
            for case in run.cases
            if case.result is not None and case.head.axes["profile"] == "64b"
            for value in case.result.values
            if value.scope == "west-east" and value.number is not None
        }
    # A wall of 5 Mpps, found to one per cent.
    assert numbers
    assert all(4_900_000 <= number <= 5_000_000 for number in numbers)


@pytest.mark.parametrize(
    ("reason", "attempts"),
    [
        (ProgramFailed("iperf3", "west-east", "it was killed"), 3),
        (NotConnected("iperf3", "west-east", "10.0.0.1:5201", "Connection timed out"), 1),
    ],
)
def test_trial_with_a_lasting_fault_is_not_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: Reason, attempts: int
) -> None:
    plan = parse(ONE + "tester: fake\n", tables=WITH_FAKE)
    monkeypatch.setattr(runner, "Workers", OneProcess)
    measure = FakeSession.measure
    monkeypatch.setattr(FakeSession, "measure", lambda *given: replace(measure(*given), invalid=(reason,)))
    outcome = runner.run(plan, tmp_path, watcher(), runner.Selection(), FAKE)
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert len(tuple(run.trials(case.head.number))) == attempts
