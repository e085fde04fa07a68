"""What lost frames have in common where that is not the load: sizes, members of a LAG, any load."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from methodlab import run_here, text
from netdyno.campaign.reasons import REASONS
from netdyno.methods.reasons.loss import ClassesInPhase
from netdyno.plan import parse
from netdyno.reports.model.from_store import view
from netdyno.reports.model.headline import headline
from netdyno.store import open_run
from netdyno.values.load import Frames, Trial
from netdyno.values.records import StoredCase
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate
from netdyno.verdict.causes import (
    ConstantLoss,
    IdleMembers,
    LostSizes,
    Polarised,
    Reordered,
    Retranslated,
    Translated,
    find_flow_notes,
)
from netdyno.verdict.reasons import DeviceLost, DeviceMeasured
from pages import report_text
from tendevices import measure as measure_by_model
from tendevices import passes_everything
from words import within

pytest.importorskip("netdyno._engine", reason="the engine is not built")


def measure(plan: str, place: Path) -> tuple[tuple[StoredCase, ...], tuple[str, ...]]:
    """The cases of a plan, and the notes of the first screen."""
    with open_run(run_here(parse(plan), place).folder, REASONS) as run:
        shown = view(run)
        codes = {
            note["code"] for case in json.loads(report_text("json", shown))["cases"] for note in case["notes"]
        }
        noted = {note.code for case in run.cases for note in (case.result.notes if case.result else ())}
        assert noted <= codes
        return tuple(run.cases), headline(shown).caveats


def loads_plan(settings: str, loads: str = "1Mpps, 600kpps, 200kpps, 100kpps", **changes: str) -> str:
    return text(
        f"sweep: {{loads: [{loads}], duration: 1s}}",
        kind=f"emulated/router, settings: {{{settings}}}",
        **changes,
    )


# Loss that does not depend on the load


def test_searches_of_a_device_that_loses_one_in_many_name_errors(tmp_path: Path) -> None:
    """A device of 1 Mpps that loses each 100,000th frame: NDR ends far below PDR, which is its capacity."""
    plan = text(
        "ndr: {goals: {NDR: csit-ndr, PDR: csit-pdr}, seed: ramp}",
        kind="emulated/router, settings: {loses: 1/100000, capacity: 1Mpps}",
        trial="sample: 10ms, settle: 1ms, drain: 500ms",
    )
    (case,), _ = measure(plan, tmp_path)
    assert case.result is not None
    ndr, pdr = (case.result.value(name, "sum") for name in ("NDR", "PDR"))
    assert ndr is not None
    assert pdr is not None
    assert ndr.number is not None
    assert pdr.number is not None
    assert ndr.number * 4 < pdr.number
    (cause,) = within(ConstantLoss, case.result.notes)
    assert cause.loads >= 3
    assert cause.to_pps >= 4 * cause.from_pps
    assert abs(Fraction(cause.lost, cause.sent) * 100_000 - 1) < Fraction(1, 5)
    verdict = case.verdict("sum", "NDR")
    assert verdict is not None
    assert isinstance(verdict.reason, DeviceLost)
    assert verdict.reason.cause == cause
    # PDR ends where capacity does.
    verdict = case.verdict("sum", "PDR")
    assert verdict is not None
    assert isinstance(verdict.reason, DeviceLost)
    assert verdict.reason.cause is None


@pytest.mark.parametrize("direction", ["uni", "bidir"])
def test_sweep_that_loses_a_share_at_each_load_names_errors(direction: str, tmp_path: Path) -> None:
    (case,), _ = measure(
        loads_plan("loses: 1/1000", matrix=f"direction: [{direction}]", profile="size: 64B, flows: 101"),
        tmp_path,
    )
    assert case.result is not None
    (cause,) = within(ConstantLoss, case.result.notes)
    assert cause.loads == 4
    assert (cause.from_pps, cause.to_pps) == (100_000, 1_000_000)
    assert abs(Fraction(cause.lost, cause.sent) * 1000 - 1) < Fraction(1, 100)
    # The shares of the single loads, as the trials have counted them.
    assert cause.least is not None
    assert cause.most is not None
    assert cause.least <= Fraction(cause.lost, cause.sent) <= cause.most
    (table,) = (one for one in case.result.tables if one.name == "Latency against load")
    names = [column.name for column in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    of_all = [
        row["loss"] for row in rows if row["stream"] == ("sum" if direction == "bidir" else "west-east")
    ]
    assert (min(of_all), max(of_all)) == (cause.least, cause.most)
    verdict = case.verdict("west-east", "loss-free load")
    assert verdict is not None
    assert isinstance(verdict.reason, DeviceLost)
    assert verdict.reason.cause == cause


@pytest.mark.parametrize(
    ("settings", "loads", "profile"),
    [
        # Capacity: at more load a larger share is lost.
        ("capacity: 100kpps", "1Mpps, 600kpps, 200kpps, 120kpps", "size: 64B, flows: 101"),
        # One flow of ten loses all of its frames.
        ("loses: 1/10", "1Mpps, 600kpps, 200kpps, 100kpps", "size: 64B, flows: 10"),
        # Loads less than four times apart, and too few of them.
        ("loses: 1/1000", "300kpps, 200kpps, 100kpps", "size: 64B, flows: 101"),
        ("loses: 1/1000", "1Mpps, 100kpps", "size: 64B, flows: 101"),
        # Fewer than ten lost frames a load.
        ("loses: 1/100000", "600kpps, 200kpps, 100kpps", "size: 64B, flows: 101"),
        ("loses: none", "600kpps, 200kpps, 100kpps", "size: 64B, flows: 101"),
    ],
)
def test_loss_by_load_or_flow_or_too_little_shown_is_no_constant_loss(
    settings: str, loads: str, profile: str, tmp_path: Path
) -> None:
    (case,), _ = measure(loads_plan(settings, loads, profile=profile), tmp_path)
    assert case.result is not None
    assert not within(ConstantLoss, case.result.notes)


def test_total_loss_at_any_load_is_no_constant_loss(tmp_path: Path) -> None:
    plan = text(
        "sweep: {loads: [40kpps, 20kpps, 10kpps], duration: 1s}",
        kind="emulated/bridge, settings: {largest: 1518B}",
        profile="size: 2000B, flows: 101",
    )
    (case,), _ = measure(plan, tmp_path)
    assert case.result is not None
    loss = case.result.value("frame loss rate", "west-east")
    assert loss is not None
    assert loss.number == 1
    assert not within(ConstantLoss, case.result.notes)


def test_share_lost_by_one_size_alone_is_no_constant_loss(tmp_path: Path) -> None:
    (case,), _ = measure(
        loads_plan(
            "loses: 1/1000",
            profile="size: {64: 999, 1518: 1}, flows: 101",
            loads="80kpps, 40kpps, 20kpps",
            trial="sample: 1ms, settle: 1ms, drain: 100ms",
        ),
        tmp_path,
    )
    assert case.result is not None
    # Each thousandth frame is of one size alone: that is what is lost.
    assert not within(ConstantLoss, case.result.notes)


# Sizes


@pytest.mark.parametrize(
    ("sizes", "largest", "lost", "method"),
    [
        ("{64: 1, 1518: 1, 1522: 1, 9000: 1}", "1518B", (1522, 9000), "frame-loss"),
        ("{64: 7, 594: 4, 1518: 1, 1522: 2}", "1518B", (1522,), "sweep"),
        ("{128: 1, 1518: 3, 4000: 2}", "1522B", (4000,), "throughput"),
    ],
)
def test_sizes_that_a_bridge_drops_are_named_and_not_the_flows(
    sizes: str, largest: str, lost: tuple[int, ...], method: str, tmp_path: Path
) -> None:
    asked = {
        "frame-loss": "frame-loss: {duration: 1s, maximum: 10%, step: 10%}",
        "sweep": "sweep: {loads: [10%, 20%], duration: 500ms}",
        "throughput": "throughput: {duration: 200ms, width: 5%}",
    }[method]
    plan = text(
        asked, kind=f"emulated/bridge, settings: {{largest: {largest}}}", profile=f"size: {sizes}, flows: 64"
    )
    (case,), caveats = measure(plan, tmp_path)
    assert case.result is not None
    (cause,) = within(LostSizes, case.result.notes)
    assert (cause.sizes, cause.is_whole) == (lost, True)
    reasons = [one.reason for one in case.verdicts if isinstance(one.reason, DeviceLost | DeviceMeasured)]
    assert reasons
    assert all((one.cause, one.dead) == (cause, None) for one in reasons)
    assert not any("flows lost every frame" in caveat for caveat in caveats)


def test_frames_of_every_size_that_are_lost_name_none(tmp_path: Path) -> None:
    plan = text(
        "frame-loss: {duration: 1s, maximum: 10%, step: 10%}",
        kind="emulated/bridge, settings: {loses: 1/10}",
        profile="size: {64: 1, 1518: 1, 512: 1}, flows: 64",
    )
    (case,), _ = measure(plan, tmp_path)
    assert case.result is not None
    assert not within(LostSizes, case.result.notes)


# Members of a LAG


@pytest.mark.parametrize(
    ("members", "switches", "idle", "hashed_by"), [(8, 2, 4, "src-dst-ip"), (4, 2, 2, "dst-ip")]
)
def test_members_that_two_equal_hashes_leave_idle_are_named(
    members: int, switches: int, idle: int, hashed_by: str, tmp_path: Path
) -> None:
    plan = (
        text(
            "throughput: {duration: 500ms, width: 0.5%}",
            kind=f"emulated/bridge, settings: {{members: {members}, switches: {switches}, hash: {hashed_by},"
            " partner_hash: l3-l4}",
            rate="100Mbps",
            profile="size: 64B, flows: 4096",
            trial="sample: 1ms, settle: 1ms, drain: 2s",
        )
        .replace("  it: {", "  long: {size: 1518B, flows: 4096}\n  it: {")
        .replace("profile: [it]", "profile: [it, long]")
    )
    cases, caveats = measure(plan, tmp_path)
    assert len(cases) == 2
    for case in cases:
        assert case.result is not None
        (cause,) = within(IdleMembers, case.result.notes)
        assert (cause.idle, cause.members, cause.port, cause.flows) == (idle, members, "d1", 4096)
        assert cause.varies == ("IPv4 source (4,096 values)", "IPv4 destination (4,096 values)")
        assert cause.fewest == 4096
        # Both stages XOR the bytes of the addresses: modulo the switches, and modulo their members.
        switch, own = divmod(cause.member - 1, members // switches)
        assert len(cause.shown) == 3
        for flow in cause.shown:
            source, destination = (one.partition(":")[0] for one in flow.split(" > "))
            hashed = 0
            for byte in f"{destination}.{source if hashed_by == 'src-dst-ip' else '0.0.0.0'}".split("."):
                hashed ^= int(byte)
            assert (hashed % switches, hashed % (members // switches)) == (switch, own)
        verdict = case.verdict("west-east")
        assert verdict is not None
        assert verdict.limit == "device"
        assert isinstance(verdict.reason, DeviceLost)
        assert verdict.reason.cause == cause
        assert verdict.reason.figure is None
    assert f"{idle} of {members} members" in caveats[0]


@pytest.mark.parametrize("settings", ["members: 8, switches: 2, second_hash: rotated", "members: 4"])
def test_lag_whose_members_all_carry_frames_has_none_idle(settings: str, tmp_path: Path) -> None:
    plan = text(
        "throughput: {duration: 100ms, width: 5%}",
        kind=f"emulated/bridge, settings: {{{settings}}}",
        rate="100Mbps",
        profile="size: 64B, flows: 4096",
    )
    (case,), _ = measure(plan, tmp_path)
    assert case.result is not None
    assert not within(IdleMembers, case.result.notes)


@pytest.mark.parametrize(("sources", "is_named"), [(9, True), (8, False)])
def test_shares_that_flows_do_not_explain_are_polarisation(
    sources: int, is_named: bool, tmp_path: Path
) -> None:
    """A hash over the source alone sees nine values, whatever the flows: one of 8 members has two of them."""
    plan = text(
        "throughput: {duration: 100ms, width: 5%}",
        kind="emulated/bridge, settings: {members: 8, hash: src-ip}",
        rate="100Mbps",
        profile="size: 64B, flows: 4608, headers: [{type: ethernet}, {type: ipv4,"
        f" src: {{step: {{start: 16.0.0.8, step: 1, count: {sources}}}}},"
        " dst: {random: {min: 48.0.0.1, max: 48.255.0.1}}},"
        " {type: udp, sport: 1, dport: 2}]",
    )
    (case,), _ = measure(plan, tmp_path)
    assert case.result is not None
    found = within(Polarised, case.result.notes)
    assert [(one.at, one.flows, len(one.frames)) for one in found] == (
        [("`d1`", 4608, 8)] if is_named else []
    )
    for one in found:
        assert one.varies[0] == f"IPv4 source ({sources} values)"
        # 16.0.0.8 to 16.0.0.16: the two that differ by 8 meet one member.
        assert {flow.partition(":")[0] for flow in one.shown} <= {"16.0.0.8", "16.0.0.16"}
        assert len(one.shown) == 3


# Order, and classes in one queue


@pytest.mark.parametrize(
    ("method", "every"),
    [("throughput: {duration: 200ms, width: 5%}", 1000), ("sweep: {loads: [50%], duration: 1s}", 100)],
)
def test_frames_out_of_order_are_on_the_first_screen(method: str, every: int, tmp_path: Path) -> None:
    plan = text(
        method, kind=f"emulated/router, settings: {{reorders: 1/{every}}}", profile="size: 64B, flows: 1"
    )
    (case,), caveats = measure(plan, tmp_path)
    assert case.result is not None
    (note,) = within(Reordered, case.result.notes)
    assert abs(Fraction(note.frames, note.received) * every - 1) < Fraction(1, 10)
    assert any("out of the order" in caveat for caveat in caveats[:3])


CLASSES = """\
title: Classes in one queue
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: emulated/router, settings: {queueing: %s}}}
  links:
    - {endpoints: ["tester:out", "dut:d0"], rate: 100Mbps}
    - {endpoints: ["tester:in1", "dut:d1"], rate: 100Mbps}
    - {endpoints: ["tester:in2", "dut:d2"], rate: 100Mbps}
traffic:
  it:
    size: %s
    flows: 64
%s    classes: {voice: {dscp: ef, rate: 1Mbps, size: 218B}, data: {}}
matrix: {pattern: [many-to-one]}
method: {sweep: {loads: [30%%, 52%%, 60%%], duration: 1s}}
trial: {settle: 1ms, drain: 200ms}
"""


@pytest.mark.parametrize("size", ["1518B", "1024B"])
def test_class_of_few_frames_that_loses_most_in_one_queue_has_a_note(size: str, tmp_path: Path) -> None:
    (case,), _ = measure(CLASSES % ("fifo", size, ""), tmp_path)
    assert case.result is not None
    (note,) = within(ClassesInPhase, case.result.notes)
    assert (note.traffic, note.other) == ("voice", "data")
    assert note.loss >= 3 * note.other_loss > 0


@pytest.mark.parametrize("queueing", ["priority", "weighted"])
def test_classes_that_queues_tell_apart_have_no_note(queueing: str, tmp_path: Path) -> None:
    (case,), _ = measure(CLASSES % (queueing, "1518B", ""), tmp_path)
    assert case.result is not None
    assert not within(ClassesInPhase, case.result.notes)


def test_flows_that_came_out_elsewhere_are_those_of_the_trial_with_most() -> None:
    """Some trials are without the service; and what answers is not what is answered."""
    measured = measure_by_model(
        Trial("it", Frames.steady(FrameRate(Fraction(1000)), 10**8)),
        passes_everything(),
        Situation(("there", "back"), Fraction(10_000), Fraction(64)),
    )
    there, back = measured.streams
    trials = [
        measured.with_counts(
            streams=(replace(there, translated=of), replace(back, retranslated=2 * bool(of)))
        )
        for of in (0, 500, 0)
    ]
    changed, translated = find_flow_notes(trials)
    assert isinstance(translated, Translated)
    assert isinstance(changed, Retranslated)
    assert (translated.stream, translated.translated) == ("there", 500)
    assert (changed.stream, changed.changes, changed.trials) == ("back", 2, 1)
