"""Frames that do not leave evenly: Poisson arrivals and waves, against closed forms."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from netdyno.campaign import run as runner
from netdyno.campaign.reasons import REASONS
from netdyno.cli.live import watcher
from netdyno.errors import PlanErrors
from netdyno.methods.wrap.spacing import DRAWN, GAP, SHARE, TABLE
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.reports import Look
from netdyno.reports.formats import html, markdown
from netdyno.reports.formats import json as as_json
from netdyno.reports.model.from_store import view
from netdyno.reports.model.run_set import RunSet
from netdyno.store import open_run
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.load import Frames, Segment, Trial
from netdyno.values.records import StoredCase, StoredTrial
from netdyno.values.units import FrameRate

PLAN = """\
title: "Arrivals"
lab:
  nodes:
    tester: {{kind: netdyno}}
    dut: {{kind: emulated/bridge}}
  links:
    - {{endpoints: ["tester:west", "dut:in"], rate: {line_in}}}
    - {{endpoints: ["tester:east", "dut:out"], rate: {line_out}}}
traffic: {traffic}
matrix: {{direction: [uni]}}
method: {method}
trial: {{sample: 1ms, settle: 0s, drain: 100ms}}
"""


def run(
    tmp_path: Path, traffic: str, method: str, line_in: str = "100Gbps", line_out: str = "100Gbps"
) -> Path:
    plan = parse(PLAN.format(traffic=traffic, method=method, line_in=line_in, line_out=line_out))
    return runner.run(plan, tmp_path, watcher(), runner.Selection()).folder


def only_case(folder: Path) -> StoredCase:
    with open_run(folder, REASONS) as stored:
        (case,) = stored.cases
        assert case.result is not None, case.error
        return case


def rows(case: StoredCase, name: str) -> list[dict[str, Any]]:
    assert case.result is not None
    (table,) = (one for one in case.result.tables if one.name == name)
    return [dict(zip([column.name for column in table.columns], row, strict=True)) for row in table.rows]


def only_trial(folder: Path) -> StoredTrial:
    with open_run(folder, REASONS) as stored:
        (trial,) = stored.trials(0)
        return trial


def means_ns(folder: Path) -> Mapping[str, Fraction]:
    """Mean latency by trial."""
    with open_run(folder, REASONS) as stored:
        found = {}
        for trial in stored.trials(0):
            (stream,) = trial.result.streams
            assert stream.latency is not None
            assert stream.lost == 0
            found[trial.name] = Fraction(stream.latency.sum_ns, stream.latency.count)
        return found


def test_waits_of_poisson_arrivals_are_those_of_pollaczek_khinchine(tmp_path: Path) -> None:
    """An M/D/1 queue: constant service of S at load r makes frames wait r S / (2 (1 - r)) on average."""
    loads = (Fraction(1, 10), Fraction(1, 2), Fraction(8, 10))
    asked = ", ".join(f"{100 * load}%" for load in loads)
    folder = run(
        tmp_path,
        "{p: {size: 1518B, flows: 100, arrival: poisson}}",
        f"{{sweep: {{loads: [{asked}], duration: 10s}}}}",
        line_out="1Gbps",
    )
    service_ns = Fraction(1538 * 8)  # On 1 Gbit/s; the line in front is 100 times as fast.
    found = means_ns(folder)
    first = found["10%"]
    for load in loads[1:]:
        waits = [part * service_ns / (2 * (1 - part)) for part in (loads[0], load)]
        assert found[f"{100 * load}%"] - first == pytest.approx(float(waits[1] - waits[0]), rel=0.03)


def test_times_between_arrivals_have_the_quantiles_of_an_exponential(tmp_path: Path) -> None:
    folder = run(
        tmp_path,
        "{p: {size: 64B, flows: 100, arrival: poisson}}",
        "{sweep: {loads: [500kpps], duration: 2s}}",
    )
    case = only_case(folder)
    found = rows(case, TABLE)
    assert [row[SHARE] for row in found][:4] == [
        Fraction(1, 20),
        Fraction(1, 4),
        Fraction(1, 2),
        Fraction(3, 4),
    ]
    for row in found:
        # A million frames 2 us apart; of the last percent there are few.
        quantile_ns = -2000 * math.log(1 - row[SHARE])
        assert row[GAP] == pytest.approx(quantile_ns, rel=0.03, abs=2)
        assert row[DRAWN] == pytest.approx(quantile_ns, rel=0.005, abs=2)
    with open_run(folder, REASONS) as stored:
        shown = view(stored)
        assert "arrivals poisson" in shown.cases[0].frames
        (trial,) = json.loads(as_json.render(RunSet((shown,)), Look()))["cases"][0]["trials"]
        assert trial["streams"][0]["time_between_arrivals"]["count"] == 999_999
        assert "time between arrivals" in html.render(RunSet((shown,)), Look()).decode()
        assert "arrivals poisson" in markdown.render(RunSet((shown,)), Look()).decode()


@pytest.mark.parametrize("kind", ["sine", "triangle", "square", "sawtooth"])
def test_a_wave_sends_in_each_millisecond_what_its_integral_says(tmp_path: Path, kind: str) -> None:
    """By the integral of the shape from the begin of a period: its textbook form."""
    integrals = {
        "sine": lambda at: (1 - math.cos(math.tau * at)) / math.tau,
        "triangle": lambda at: (
            2 * at * at if at <= 0.25 else 2 * (1 - at) ** 2 if at > 0.75 else 2 * at - 2 * at * at - 0.25
        ),
        "square": lambda at: min(at, 1 - at),
        "sawtooth": lambda at: at * at - at,
    }
    folder = run(
        tmp_path,
        f"{{w: {{size: 64B, flows: 10, arrival: {{kind: {kind}, period: 20ms, depth: 80%}}}}}}",
        "{sweep: {loads: [1Mpps], duration: 60ms}}",
    )
    trial = only_trial(folder)
    (stream,) = trial.result.streams
    assert stream.offered == 60_000
    total = 0
    for millisecond, sent in enumerate(stream.tx[:60]):
        total += sent
        periods, at = divmod(millisecond + 1, 20)
        meant = 1000 * (20 * periods + at + 0.8 * 20 * integrals[kind](at / 20))
        assert total == pytest.approx(meant, abs=2), millisecond


def test_a_class_has_arrivals_of_its_own(tmp_path: Path) -> None:
    folder = run(
        tmp_path,
        "{p: {size: 256B, classes: {voice: {dscp: ef, rate: 10Mbps, arrival: poisson}, rest: {}}}}",
        "{sweep: {loads: [100kpps], duration: 100ms}}",
    )
    trial = only_trial(folder)
    spec = json.loads(trial.spec)
    assert {one["name"]: one["arrival"] for one in spec["streams"]} == {
        "west-east/rest": "constant",
        "west-east/voice": "poisson",
    }
    assert spec["observe"]["spacing"] is True
    (rest,) = trial.result.streams
    assert rest.spacing is not None
    assert rest.spacing.min_ns == pytest.approx(10_000, abs=30)


def test_times_between_arrivals_are_of_a_trial_that_lost_nothing(tmp_path: Path) -> None:
    """A search rests on the trial that failed, too, with more frames: at the pace of the device."""
    plan = PLAN.replace("emulated/bridge", "emulated/cross-connect, settings: {{capacity: 1Mpps}}").format(
        traffic="{p: {size: 64B, flows: 10, arrival: poisson}}",
        method="{throughput: {duration: 50ms, maximum: 20%, width: 1%}}",
        line_in="10Gbps",
        line_out="10Gbps",
    )
    folder = runner.run(parse(plan), tmp_path, watcher(), runner.Selection()).folder
    case = only_case(folder)
    found = rows(case, TABLE)
    with open_run(folder, REASONS) as stored:
        (trial,) = (one for one in stored.trials(0) if one.name == found[0]["trial"])
        lossy = [one.name for one in stored.trials(0) if one.result.lost > 0]
    assert trial.result.lost == 0
    assert lossy
    assert found[0]["load"] == trial.segments[-1].from_rate.amount


def test_a_wave_longer_than_the_trials_is_refused(tmp_path: Path) -> None:
    folder = run(
        tmp_path,
        "{w: {size: 64B, flows: 10, arrival: {kind: sine, period: 1s}}}",
        "{sweep: {loads: [50%], duration: 20ms}}",
    )
    with open_run(folder, REASONS) as stored:
        (case,) = stored.cases
    assert case.result is None
    assert case.error is not None
    assert "period" in case.error.message


def test_crest_of_a_wave_fits_into_the_line(tmp_path: Path) -> None:
    """With a depth of a half two thirds of the line are the most."""
    wave = "{w: {size: 64B, flows: 10, arrival: {kind: square, period: 2ms, depth: 50%}}}"
    with pytest.raises(PlanErrors) as refused:
        parse(PLAN.format(traffic=wave, method="{throughput: {}}", line_in="1Gbps", line_out="1Gbps"))
    assert [(one.path, one.code) for one in refused.value.errors] == [
        ("method.throughput", "load-above-line")
    ]
    assert refused.value.errors[0].hint is not None
    assert "`66.6%`" in refused.value.errors[0].hint
    folder = run(
        tmp_path, wave, "{sweep: {loads: [66.6%], duration: 20ms}}", line_in="10Gbps", line_out="10Gbps"
    )
    (stream,) = only_trial(folder).result.streams
    assert (stream.lost, stream.offered) == (0, stream.intended)
    assert stream.lag is not None
    assert stream.lag.max_ns == 0


def test_rfc_2544_asks_for_a_constant_load(tmp_path: Path) -> None:
    for arrival, deviations in (("constant", 0), ("poisson", 1)):
        folder = run(
            tmp_path / arrival,
            f"{{p: {{size: 64B, flows: 10, arrival: {arrival}}}}}",
            "{throughput: {duration: 20ms, maximum: 10%, width: 5%}}",
        )
        result = only_case(folder).result
        assert result is not None
        found = [one for one in result.compliance if "section 3.4" in str(one)]
        assert len(found) == deviations


@pytest.mark.parametrize(
    ("traffic", "method", "place", "code"),
    [
        ("{p: {size: 64B, arrival: poison}}", "{sweep: {}}", "traffic.p.arrival", "unknown-name"),
        ("{p: {size: 64B, arrival: 7}}", "{sweep: {}}", "traffic.p.arrival", "unknown-name"),
        ("{p: {size: 64B, arrival: sine}}", "{sweep: {}}", "traffic.p.arrival", "missing-field"),
        (
            "{p: {size: 64B, arrival: {kind: sine, period: 2h}}}",
            "{sweep: {}}",
            "traffic.p.arrival.period",
            "out-of-range",
        ),
        (
            "{p: {size: 64B, arrival: {kind: sine, period: 10ns}}}",
            "{sweep: {}}",
            "traffic.p.arrival.period",
            "out-of-range",
        ),
        (
            "{p: {size: 64B, arrival: {kind: sine, period: 1s, depth: 101%}}}",
            "{sweep: {}}",
            "traffic.p.arrival.depth",
            "out-of-range",
        ),
        (
            "{p: {size: 64B, arrival: {kind: poisson, period: 1s}}}",
            "{sweep: {}}",
            "traffic.p.arrival.period",
            "unsupported",
        ),
        (
            "{p: {size: 64B, arrival: {kind: sine, period: 1s, depth: 0%}}}",
            "{sweep: {}}",
            "traffic.p.arrival.depth",
            "out-of-range",
        ),
        ("{p: {size: 64B, burst: 4, arrival: poisson}}", "{sweep: {}}", "traffic.p.arrival", "conflict"),
        (
            "{p: {size: 64B, arrival: poisson, classes: {v: {rate: 1Mbps, burst: 2}, r: {}}}}",
            "{sweep: {}}",
            "traffic.p.classes.v.burst",
            "conflict",
        ),
        ("{p: {size: 64B, arrival: poisson}}", "{ramp: {}}", "traffic.p.arrival", "unsupported"),
        ("{p: {size: 64B, arrival: poisson}}", "{recovery: {}}", "traffic.p.arrival", "unsupported"),
    ],
)
def test_wrong_arrivals_are_refused_where_they_stand(
    traffic: str, method: str, place: str, code: str
) -> None:
    with pytest.raises(PlanErrors) as refused:
        parse(PLAN.format(traffic=traffic, method=method, line_in="10Gbps", line_out="10Gbps"))
    assert [(one.path, one.code) for one in refused.value.errors] == [(place, code)]


def test_a_trial_of_bursts_has_no_other_arrivals() -> None:
    """A witness sends bursts of its own, which the engine refuses beside drawn times."""
    traffic = "{p: {size: 64B, arrival: poisson}}"
    plan = parse(PLAN.format(traffic=traffic, method="{sweep: {}}", line_in="10Gbps", line_out="10Gbps"))
    (case,) = cases(plan)
    wiring = plan.kind.wire(plan.lab.links, case.settings)
    load = (Segment("traffic", 20_000_000, FrameRate(1000), FrameRate(1000)),)
    plain, witness = (
        trial_spec(plan, case, wiring, Trial("x", Frames(load, burst=burst))) for burst in (None, 4)
    )
    assert [(one["streams"][0]["arrival"], one["observe"]["spacing"]) for one in (plain, witness)] == [
        ("poisson", True),
        ("constant", False),
    ]
