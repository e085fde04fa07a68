"""Service activation against emulated policers whose rates and buckets are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from lateness import encode
from methodlab import measure_plan, run_example, table, text, value
from netdyno.errors import PlanErrors
from netdyno.methods import METHODS
from netdyno.methods.parts.acceptance import unavailable
from netdyno.methods.reasons.services import Assumed, StepNotRun
from netdyno.plan import parse
from netdyno.values.finding import Result
from netdyno.values.outcome import Lag, Latency
from netdyno.values.situation import Situation
from tendevices import measure, wall
from words import within

SERVICE = "{cir: 100Mbps L2, eir: 50Mbps L2, sac: {ftd: 1ms, fdv: 100us}}"
CLASSES = "size: 512B, classes: {voice: {dscp: ef}, data: {}}"
STEPS = ["25% of CIR", "50% of CIR", "75% of CIR", "100% of CIR", "CIR + EIR", "policing"]


def bucket(mbps: int, burst: int = 6_000, excess: int | None = None) -> dict[str, Any]:
    """A policer of an L2 rate; excess: a second one, with a bucket of its own as deep."""
    more = {} if excess is None else {"excess": {"rate_bps": excess * 10**6, "burst_bytes": burst}}
    return {"rate_bps": mbps * 10**6, "layer": "l2", "burst_bytes": burst, **more}


def activated(
    police: Mapping[str, Any] | None, services: str = f"{{all: {SERVICE}}}", **changes: Any
) -> Result:
    """Frames of 512 bytes from west to east; steps of 100 ms."""
    profile = changes.pop("profile", "size: 512B")
    plan = text(
        f"y1564: {{step: 100ms, performance: {changes.pop('performance', '200ms')}, services: {services}}}",
        profile=profile,
        kind=changes.pop("kind", "emulated/bridge"),
    )
    result, _, _ = measure_plan(plan, lambda device: device["ports"][0].update({"police": police, **changes}))
    return result


def verdicts(result: Result, service: str = "all") -> dict[str, str]:
    rows = table(result, "Service configuration")
    found = {str(row["step"]): str(row["result"]) for row in rows if row["service"] == service}
    for row in table(result, "Service performance"):
        if row["service"] == service:
            found["performance"] = str(row["result"])
    return found


def test_a_policer_of_the_services_own_rates_passes_every_step() -> None:
    result = activated(bucket(100, excess=50))
    assert verdicts(result) == dict.fromkeys([*STEPS, "performance"], "pass")
    assert value(result, "steps passed").number == 1
    (policing,) = (row for row in table(result, "Service configuration") if row["step"] == "policing")
    # Offered are CIR + 1.25 EIR. What passes is what two full buckets and their rates let through in 100 ms,
    # the second from when the first is empty: 6,000 bytes at the 62.5 Mbit/s beyond what fills it.
    idle = Fraction(6_000 * 8, 62_500_000)
    offered, passed = (policing[name] for name in ("sent", "received"))
    assert offered == -(-162_500_000 // (8 * 512 * 10))
    assert abs(Fraction(passed or 0) - (2 * 6_000 * 8 + 15_000_000 - idle * 50_000_000) / (8 * 512)) <= 2
    # 20 bytes of each frame more: 532 for 512.
    assert policing["IR, L1"] == policing["IR, L2"] * Fraction(532, 512)  # type: ignore[operator]


def test_a_service_that_was_given_less_than_its_cir_fails_where_that_shows() -> None:
    result = activated(bucket(90))
    failing = {"100% of CIR", "CIR + EIR", "policing", "performance"}
    expected = {step: "fail" if step in failing else "pass" for step in [*STEPS, "performance"]}
    assert verdicts(result) == expected
    assert value(result, "steps passed").number == Fraction(3, 7)
    reasons = {row["step"]: str(row["reason"]) for row in table(result, "Service configuration")}
    assert reasons["100% of CIR"].startswith("FLR ")
    assert "is below 100" in reasons["CIR + EIR"]


def test_a_device_that_polices_nothing_fails_the_policing_step_alone() -> None:
    result = activated(None)
    assert verdicts(result) == {**dict.fromkeys([*STEPS, "performance"], "pass"), "policing": "fail"}


def test_a_rate_of_another_layer_is_seen() -> None:
    """100 Mbit/s of L1 are 96.2 of L2 in frames of 512 bytes."""
    result = activated({**bucket(100), "layer": "l1"}, "{all: {cir: 100Mbps L2}}")
    assert verdicts(result)["100% of CIR"] == "fail"
    assert verdicts(activated(bucket(100), "{all: {cir: 100Mbps L2}}"))["100% of CIR"] == "pass"


@pytest.mark.parametrize(("burst", "passed"), [(12_000, "pass"), (6_000, "fail")])
def test_bursts_of_cbs_and_ebs(burst: int, passed: str) -> None:
    services = "{all: {cir: 100Mbps L2, eir: 50Mbps L2, cbs: 12000B, ebs: 12000B}}"
    found = verdicts(activated(bucket(100, burst, excess=50), services, performance="0s"))
    assert (found["CBS + EBS"], found["100% of CIR"]) == (passed, "pass")


def test_a_burst_is_offered_at_the_rate_of_the_line_and_at_no_other() -> None:
    """12,000 bytes of CBS, at a tenth of a gigabit: frames of 512 bytes that take 532 on the wire."""
    result = activated(bucket(100), "{all: {cir: 100Mbps L2, cbs: 12000B}}", performance="0s")
    (row,) = (row for row in table(result, "Service configuration") if row["step"] == "CBS")
    assert float(row["offered IR, L2"]) == pytest.approx(10**9 * 512 / 532, rel=0.001)


@pytest.mark.parametrize(("burst", "passed"), [(100 * 512, "pass"), (99 * 512, "fail"), (50 * 512, "fail")])
def test_cbs_bucket_that_fills_meanwhile_is_found_to_the_frame(burst: int, passed: str) -> None:
    """At half the line a bucket of half the CBS passes a burst of the CBS: it fills as fast as it is emptied.
    Frames of 512 bytes are 532 on the wire, so half the line's frames are 481.2 Mbit/s of L2."""
    half = {"rate_bps": 481_203_007, "layer": "l2", "burst_bytes": burst}
    services = "{all: {cir: 481203007bps L2, cbs: 51200B}}"
    assert verdicts(activated(half, services, performance="0s"))["CBS"] == passed


def test_a_bucket_is_waited_for_at_its_own_rate() -> None:
    """CBS of 12,000 bytes at 100 Mbit/s fills in 0.96 ms, the EBS at 1 Mbit/s in 96 ms."""
    services = "{all: {cir: 100Mbps L2, eir: 1Mbps L2, cbs: 12000B, ebs: 12000B}}"
    plan = text(f"y1564: {{step: 100ms, performance: 0s, services: {services}}}", profile="size: 512B")
    _, trials, _ = measure_plan(plan)
    waits = {trial.name: [one.segments[0].duration_ns for one in [trial]] for trial in trials}
    assert waits["all: CBS"] == [960_000]
    assert waits["all: CBS + EBS"] == [96_000_000]
    # Seven steps, one of them of CIR + EIR, and the two of bursts; and both waits.
    asked = parse(plan).parameters
    assert METHODS["y1564"].traffic_seconds(asked) == 8 * Fraction(1, 10) + Fraction(9696, 100_000)


def test_a_step_of_which_the_tester_took_longer_is_not_known() -> None:
    """A trial that lasted half as long again came at two thirds of the rate: nothing of the device's."""
    method = METHODS["y1564"]
    services = {"all": {"cir": "10%"}}
    situation = Situation(("west-east",), Fraction(10**6), Fraction(100))
    asked = method.parameters(services=services, steps=["100%"], step="1s", performance="0s")
    generator = method.start(asked, situation)
    try:
        trial = next(generator)
        while True:
            outcome = measure(trial, lambda fps, seconds, _: (int(fps * seconds),) * 2, situation)
            slow = tuple(
                replace(one, duration_ns=one.duration_ns * 3 // 2) if one.name == "traffic" else one
                for one in outcome.phases
            )
            trial = generator.send(replace(outcome, phases=slow))
    except StopIteration as stop:
        result: Result = stop.value
    assert set(verdicts(result).values()) == {"not known"}


def test_delay_beyond_the_criteria_fails() -> None:
    """A frame is stored (4.256 us of line), crosses in 5 us and leaves in 4.096 us: 13.3 us."""
    tight = "{all: {cir: 100Mbps L2, sac: {ftd: 13us}}}"
    assert verdicts(activated(bucket(100), tight))["25% of CIR"] == "fail"
    assert verdicts(activated(bucket(100), tight.replace("13us", "14us")))["25% of CIR"] == "pass"


def test_each_class_is_a_service_of_its_own() -> None:
    services = "{voice: {cir: 20Mbps L2}, data: {cir: 100Mbps L2}}"
    classes = [{"dscp": [46], "police": bucket(20, 1_500)}, {"dscp": [0], "police": bucket(60)}]
    result = activated(None, services, profile=CLASSES, police_classes=classes)
    assert set(verdicts(result, "voice").values()) == {"pass"}
    steps = [step for step in STEPS if step != "CIR + EIR"]
    passed = ["pass", "pass", "fail", "fail", "fail"]
    assert verdicts(result, "data") == {**dict(zip(steps, passed, strict=True)), "performance": "fail"}
    # In a step of one service the other one is silent.
    rows = table(result, "Service configuration")
    streams = [{row["stream"] for row in rows if row["service"] == name} for name in ("voice", "data")]
    assert [len(one) for one in streams] == [1, 1]
    assert streams[0] != streams[1]


def test_a_small_eir_is_policed_by_a_quarter_of_the_cir() -> None:
    """An EIR below 20 % of the CIR: offered are 1.25 CIR + EIR, here 135 Mbit/s."""
    (row,) = (
        row
        for row in table(activated(None, "{all: {cir: 100Mbps L2, eir: 10Mbps L2}}"), "Service configuration")
        if row["step"] == "policing"
    )
    assert row["sent"] == -(-135_000_000 // (8 * 512 * 10))


def test_a_step_beyond_the_line_is_not_run() -> None:
    result = activated(None, "{all: {cir: 90%}}", performance="0s")
    assert "policing" not in verdicts(result)
    assert StepNotRun("all", "policing", Fraction(9, 8)) in result.notes


def test_the_example_fails_where_nothing_is_policed(tmp_path: Path) -> None:
    """examples/activation.yaml, with steps of 10 ms."""
    with run_example("activation.yaml", "1/1000", tmp_path) as run:
        result = run.cases[0].result
        assert result is not None
    failed = {
        (row["service"], row["step"])
        for row in table(result, "Service configuration")
        if row["result"] != "pass"
    }
    assert failed == {("voice", "policing"), ("data", "policing")}


def test_uncertain_service_result_is_noted() -> None:
    assumed = within(Assumed, activated(None, performance="0s").notes)
    assert [one.what for one in assumed] == ["policing", "criteria", "bursts", "availability"]


@pytest.mark.parametrize(
    ("services", "profile", "said"),
    [
        ("{voice: {cir: 1Mbps}}", CLASSES, "the profile has the classes data, voice"),
        ("{a: {cir: 1Mbps}, b: {cir: 1Mbps}}", "size: 64B", "the profile has no classes"),
        ("{voice: {cir: 60%}, data: {cir: 60%}}", CLASSES, "120 % of the line"),
        ("{all: {cir: 60%, eir: 60%}}", "size: 64B", "CIR + EIR of `all` are 120 % of the line"),
        ("{all: {cir: 0%}}", "size: 64B", "no load at all"),
        (
            "{all: {cir: 50%, eir: 1kbps L2, cbs: 2000B, ebs: 1000000B}}",
            "size: 64B",
            "the EBS of `all` takes 8000 s to fill",
        ),
        ("{all: {cir: 1%, ebs: 2000B}}", "size: 64B", "an `ebs` goes with"),
    ],
)
def test_services_that_cannot_be_are_refused(services: str, profile: str, said: str) -> None:
    with pytest.raises(PlanErrors) as found:
        parse(text(f"y1564: {{services: {services}}}", profile=profile))
    assert any(said in error.message for error in found.value.errors)


def seconds(pattern: str) -> int:
    return unavailable([letter == "x" for letter in pattern])


@pytest.mark.parametrize(
    ("pattern", "down"),
    [
        ("." * 30, 0),
        ("x" * 9 + "." + "x" * 9, 0),
        ("." + "x" * 10 + "." * 10, 10),
        # Nine good seconds do not end it.
        ("x" * 10 + "." * 9 + "x" + "." * 10, 20),
        ("x" * 10 + "." * 10 + "x" * 9 + ".", 10),
        ("x" * 30, 30),
    ],
)
def test_ten_seconds_begin_and_end_unavailable_time(pattern: str, down: int) -> None:
    assert seconds(pattern) == down


def by_hand(change: Mapping[str, Any]) -> Result:
    """A service of 100 kpps whose frames may take 1 ms. change: what is changed of a trial, by its name."""
    method = METHODS["y1564"]
    parameters = method.parameters(
        services={"all": {"cir": "100kpps", "sac": {"ftd": "1ms"}}}, step="1s", performance="1s"
    )
    situation = Situation(("west-east",), Fraction(10_000_000), Fraction(64))
    running = method.start(parameters, situation)
    trial = next(running)
    while True:
        found = measure(trial, wall(100_000), situation)
        (stream,) = found.streams
        changed = replace(stream, **{"latency": FAST, **change.get(trial.name, {})})
        try:
            trial = running.send(found.with_counts(streams=(changed,)))
        except StopIteration as stop:
            result: Result = stop.value
            return result


FAST = Latency(1000, 1000, 1_000_000, 1000, 0, 0, encode([1000]))
SLOW = Latency(1000, 2_000_000, 2_000_000_000, 2_000_000, 0, 0, encode([2_000_000]))
"""2 ms each, of which 1 ms is allowed."""


def test_delay_of_frames_that_were_sent_late_fails_no_step() -> None:
    lag = Lag(1000, 0, 0, 20_000, 0, encode([0]), 1, 10_000)
    value_ = by_hand({"all: 25% of CIR": {"latency": SLOW, "lag": lag}}).value("steps passed", "sum")
    assert value_ is not None
    assert (value_.number, value_.low, value_.high) == (None, Fraction(5, 6), 1)
    failed = by_hand({"all: 25% of CIR": {"latency": SLOW}}).value("steps passed", "sum")
    assert failed is not None
    assert failed.number == Fraction(5, 6)
    assert failed.note is not None
    assert failed.note.fields()["is_by_delays"] is True


def test_steps_that_failed_are_judged_by_their_own_trials() -> None:
    """What a policer drops of a load that is too high is no loss of the step before it."""
    result = by_hand(
        {"all: 50% of CIR": {"latency": SLOW}, "all: 75% of CIR": {"lost": 75, "received": 74_925}}
    )
    assert result.resting("steps passed", "west-east") == (1, 2)
    found = result.value("steps passed", "west-east")
    assert found is not None
    assert found.note is not None
    assert found.note.fields()["is_by_delays"] is False
    assert by_hand({}).resting("steps passed", "west-east") == tuple(range(6))
