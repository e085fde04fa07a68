"""What a plan may ask an emulated device to do to frames: one in so many, exactly, whatever the load."""

from __future__ import annotations

from pathlib import Path

import pytest
from methodlab import measure_plan, run_here, text
from netdyno.campaign.reasons import REASONS
from netdyno.devices.reasons import DeviceSetTo
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from netdyno.store import open_run
from netdyno.values.outcome import StreamResult

pytest.importorskip("netdyno._engine", reason="the engine is not built")

FRAMES = 10_000
"""In 100 ms at 100,000 a second: of so many each `1/n` meets FRAMES / n, wherever it begins."""
KINDS = ("emulated/cross-connect", "emulated/bridge", "emulated/router")


def seen(kind: str, **settings: str) -> StreamResult:
    """What a tester sees of 10,000 frames of one flow through a device with these settings."""
    asked = "".join(f", {name}: [{value}]" for name, value in settings.items())
    plan = text(
        "frame-loss: {duration: 100ms, maximum: 100kpps}",
        kind=kind,
        profile="size: 64B, flows: 1",
        matrix=f"direction: [uni]{asked}",
    )
    _, _, outcomes = measure_plan(plan)
    (stream,) = outcomes[0].streams
    assert stream.offered == FRAMES
    return stream


def counts(stream: StreamResult) -> tuple[int, int, int, int]:
    return stream.lost, stream.duplicates, stream.corrupted, stream.out_of_order


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("every", [10, 100, 1000])
def test_one_frame_in_so_many_is_lost(kind: str, every: int) -> None:
    assert counts(seen(kind, loses=f"1/{every}")) == (FRAMES // every, 0, 0, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_one_frame_in_so_many_comes_twice(kind: str) -> None:
    """A copy is no loss and makes up for none."""
    stream = seen(kind, duplicates="1/100")
    assert counts(stream) == (0, FRAMES // 100, 0, 0)
    assert stream.received == FRAMES


@pytest.mark.parametrize("kind", KINDS)
def test_one_frame_in_so_many_is_overtaken(kind: str) -> None:
    """It comes after three later ones, so it alone is out of order (RFC 4737 section 3.3)."""
    assert counts(seen(kind, reorders="1/1000")) == (0, 0, 0, FRAMES // 1000)


@pytest.mark.parametrize("kind", KINDS[:2])
def test_one_frame_in_so_many_is_corrupted(kind: str) -> None:
    stream = seen(kind, corrupts="1/100")
    assert (stream.missing, stream.corrupted) == (FRAMES // 100, FRAMES // 100)


def test_faults_together_never_meet_one_frame() -> None:
    stream = seen("emulated/bridge", loses="1/10", duplicates="1/100", reorders="1/1000", corrupts="1/100")
    assert (stream.lost, stream.duplicates, stream.corrupted) == (FRAMES // 10, FRAMES // 100, FRAMES // 100)
    assert stream.out_of_order == FRAMES // 1000


@pytest.mark.parametrize("fault", ["loses", "duplicates", "reorders", "corrupts"])
@pytest.mark.parametrize("every", [10, 100, 1000])
def test_a_late_frame_is_none_that_another_fault_meets(fault: str, every: int) -> None:
    """Ten frames in 10,000 come only when nobody waits any more, beside all that befalls others."""
    stream = seen("emulated/bridge", behaviour="late", **{fault: f"1/{every}"})
    assert stream.missing == FRAMES // 1000 + (FRAMES // every if fault in ("loses", "corrupts") else 0)
    assert stream.duplicates == (FRAMES // every if fault == "duplicates" else 0)


def test_a_device_without_faults_has_none() -> None:
    assert counts(seen("emulated/bridge")) == (0, 0, 0, 0)


def test_a_router_believes_no_corrupted_answer() -> None:
    with pytest.raises(PlanErrors, match="corrupts"):
        parse(text("frame-loss: {}", kind="emulated/router", matrix="direction: [uni], corrupts: [1/100]"))


def test_its_throughput_is_none_and_the_report_says_what_the_device_is(tmp_path: Path) -> None:
    """One frame in a hundred is lost at any load: no load passes that has a hundred frames."""
    plan = text(
        "throughput: {duration: 100ms, maximum: 100kpps, width: 10kpps}",
        matrix="direction: [uni], loses: [1/100]",
    )
    outcome = run_here(parse(plan), tmp_path)
    with open_run(outcome.folder, REASONS) as run:
        (case,) = run.cases
        assert case.result is not None, case.error
        value = case.result.value("throughput", "sum")
        assert value is not None
        assert value.number == 0
        assert case.wiring is not None
        assert DeviceSetTo((("loses", "1/100"),)) in case.wiring.notes
