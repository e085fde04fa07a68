"""A queue that takes longer to empty than a rehearsal's share of the drain: none of it is lost or broken."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from laboratory import Silent
from methodlab import OneProcess
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.plan import parse
from netdyno.store import open_run

pytest.importorskip("netdyno._engine", reason="the engine is not built")

CAPACITY, QUEUE, WIDTH = 10_000, 1024, 1_000
PLAN = f"""\
title: A long queue
lab:
  nodes:
    tester: {{kind: netdyno}}
    dut: {{kind: emulated/cross-connect, settings: {{capacity: {CAPACITY // 1000}kpps}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 1Gbps}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 1Gbps}}
traffic: {{small: {{size: 64B}}}}
matrix: {{direction: [uni]}}
method: {{throughput: {{duration: 60s, maximum: 40kpps, width: 1kpps}}}}
"""


@pytest.mark.parametrize("scale", [Fraction(1, 400), Fraction(1, 100)])
def test_a_rehearsal_finds_what_the_device_holds(
    scale: Fraction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "Workers", OneProcess)
    plan = parse(PLAN, name="queue.yaml", base=tmp_path)
    outcome = runner.run(plan, tmp_path, Silent(), runner.Selection(scale))
    with open_run(outcome.folder, REASONS) as stored:
        (case,) = stored.cases
        trials = list(stored.trials(case.head.number))
        assert case.result is not None, case.error
        (value,) = (one for one in case.result.values if (one.name, one.scope) == ("throughput", "sum"))
    seconds = 60 * scale
    for trial in trials:
        (stream,) = trial.result.streams
        assert trial.result.invalid == ()
        assert (stream.corrupted, stream.duplicates) == (0, 0)
        assert [port.stale for port in trial.result.ports] == [0, 0], "the queue was empty before each trial"
        (segment,) = trial.segments
        # A server and a queue: what comes beyond what is served meanwhile waits, up to the queue's length.
        over = (segment.from_rate.amount - CAPACITY) * seconds - QUEUE
        assert abs(stream.lost - max(over, 0)) <= 2, trial.name
    # So the highest rate without loss is the capacity and the queue spread over the trial.
    exact = CAPACITY + Fraction(QUEUE) / seconds
    assert value.number is not None
    assert value.load is not None
    assert exact - WIDTH - 2 / seconds <= value.load <= exact + 2 / seconds
    # What stands for the device is what lasts, to a step of the search.
    assert (value.as_searched is not None) == (value.load - CAPACITY > WIDTH)
    assert CAPACITY - 2 / seconds <= value.number <= CAPACITY + (0 if value.as_searched else WIDTH)


def test_a_scale_on_the_command_line_starts_from_what_the_plan_says(tmp_path: Path) -> None:
    def plan(text: str, scale: str | None) -> tuple[int, int, int]:
        whole = parse(PLAN + text, name="queue.yaml", base=tmp_path)
        trial = runner.Selection(None if scale is None else Fraction(scale)).plan(whole).trial
        return trial.settle.ns, trial.drain.ns, trial.sample.ns

    second = 10**9
    # RFC 2544 section 23: 2 s to settle, and the 5 s of rest behind the trial before.
    settle = 7 * second
    assert plan("", None) == (settle, 2 * second, second // 10)
    assert plan("", "1/400") == (settle // 400, second // 5, second // 4000)
    assert plan("", "1/2") == (settle // 2, second, second // 20)
    assert plan("scale: 1/400\n", "1") == (settle, 2 * second, second // 10)
    assert plan("scale: 1/400\n", None) == plan("", "1/400")
    for asked in (0, 150):
        (drain,) = {plan(f"trial: {{drain: {asked}ms}}\n", scale)[1] for scale in ("1", "1/400")}
        assert drain == asked * 10**6
