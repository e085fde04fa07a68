"""The calibration of a case of which an earlier run made the first trials."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from netdyno.campaign import standing
from netdyno.campaign.lab_reasons import ResumedOtherwise
from netdyno.values.proven import Proven
from netdyno.values.records import CaseWiring
from netdyno.values.situation import Situation

THEN, NOW = (
    Proven(name, datetime.now(UTC), Fraction(most)) for name, most in (("then", 200_000), ("now", 300_000))
)
SESSION = {
    "clock": "real",
    "workers": 1,
    "ports": [
        {"name": name, "backend": {"kind": "af_packet", "interface": name}} for name in ("west", "east")
    ],
}


def session(**changes: Any) -> dict[str, Any]:
    return {**SESSION, **changes}


def begun(proven: Proven | None, before: dict[str, Any] = SESSION) -> CaseWiring:
    situation = Situation(("west-east",), Fraction(1), Fraction(64))
    return CaseWiring("real", situation, False, (), json.dumps(before), proven)


def find(
    monkeypatch: pytest.MonkeyPatch, before: CaseWiring | None, *, done: int = 2, found: Proven = NOW
) -> tuple[Proven | None, list[str]]:
    """The calibration of a case with so many stored trials, and the codes of its notes."""
    monkeypatch.setattr(standing, "proven_for", lambda *_: found)
    trials = tuple(SimpleNamespace(number=number) for number in range(done))
    job = SimpleNamespace(
        plan=SimpleNamespace(file="plan.yaml", method="throughput"), done=trials, begun=before
    )
    wiring = SimpleNamespace(clock="real", ports=("west", "east"), session=SESSION)
    proven, notes = standing.find_proof(cast("Any", job), cast("Any", wiring), {})
    return proven, [note.code for note in notes]


def test_case_that_begins_now_has_the_calibration_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find(monkeypatch, None, done=0) == (NOW, [])
    # Wired by an earlier run that made no trial.
    assert find(monkeypatch, begun(None), done=0) == (NOW, [])


def test_resumed_case_has_the_lower_of_both_calibrations(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find(monkeypatch, begun(THEN)) == (THEN, [])
    assert find(monkeypatch, begun(NOW), found=THEN) == (THEN, [])


@pytest.mark.parametrize(
    "before",
    [
        None,
        begun(None),
        begun(Proven("then", THEN.made_at, Fraction(200_000), expired="the kernel is another")),
        begun(THEN, session(workers=2)),
        begun(THEN, session(cores=[1])),
        begun(
            THEN,
            session(
                ports=[
                    {"name": name, "backend": {"kind": "af_xdp", "interface": name}}
                    for name in ("west", "east")
                ]
            ),
        ),
    ],
)
def test_calibration_made_later_does_not_cover_earlier_trials(
    monkeypatch: pytest.MonkeyPatch, before: CaseWiring | None
) -> None:
    """Who went on uncalibrated, or by another backend, may have lost the frames itself."""
    assert find(monkeypatch, before) == (None, [ResumedOtherwise.code])


def test_calibration_of_a_plan_without_a_file_names_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = SimpleNamespace(file="send-a-b.yaml", words="send-a-b.yaml")
    job: Any = SimpleNamespace(plan=plan, run=str(tmp_path / "runs" / "one two"))
    assert standing._command(job) == "netdyno calibrate 'runs/one two'"
    Path("send-a-b.yaml").touch()
    assert standing._command(job) == "netdyno calibrate send-a-b.yaml"
