"""Shares of LAG members on emulated devices, and members that two stages of hashing leave unused."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd
from pathlib import Path

import pytest
from methodlab import measure_plan, run_here, text
from netdyno.campaign.reasons import REASONS
from netdyno.devices.reasons import HashedMembers
from netdyno.errors import PlanErrors
from netdyno.plan import load, parse
from netdyno.reports.model import lag_members
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.verdict.causes import IdleMembers
from words import within

pytest.importorskip("netdyno._engine", reason="the engine is not built")

KINDS = ("emulated/cross-connect", "emulated/bridge", "emulated/router")
METHOD = "frame-loss: {duration: 256ms, maximum: 100kpps}"
"""25,600 frames, and 23,040 of them in a second trial: as many of each of 256 flows."""


def lag_plan(kind: str, profile: str, **settings: str) -> str:
    asked = "".join(f", {name}: [{value}]" for name, value in settings.items())
    return text(METHOD, kind=kind, profile=profile, matrix=f"direction: [uni]{asked}")


def sources(count: int, step: int = 1) -> str:
    """Flows from 16.0.0.0 on, which differ in the last byte of the source only."""
    return (
        f"size: 64B, flows: {count}, headers: [{{type: ethernet}},"
        f" {{type: ipv4, src: {{step: {{start: 16.0.0.0, step: {step}, count: {count}}}}}, dst: 48.0.0.1}},"
        " {type: udp, sport: 1025, dport: 12}]"
    )


def shares(plan: str) -> tuple[list[Fraction], list[Fraction]]:
    """What each member of the first port took in, and each of the second sent out, of all frames."""
    _, _, outcomes = measure_plan(plan)
    for outcome in outcomes:
        assert [stream.lost for stream in outcome.streams] == [0]
    west, east = outcomes[0].devices[0]["ports"]
    return as_shares(west["member_rx"]), as_shares(east["member_tx"])


def as_shares(frames: Sequence[int]) -> list[Fraction]:
    return [Fraction(one, sum(frames)) for one in frames]


@pytest.mark.parametrize("hash_", ["src-dst-ip", "src-ip", "dst-ip", "l2", "l3-l4"])
def test_single_flow_meets_one_member_with_each_hash(hash_: str) -> None:
    plan = lag_plan("emulated/cross-connect", sources(1), members="4", hash=hash_, partner_hash=hash_)
    for found in shares(plan):
        assert sorted(found) == [0, 0, 0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_flows_that_the_hash_tells_apart_load_members_evenly(kind: str) -> None:
    """256 sources, of which the device sees every byte value and the far end one destination."""
    came, left = shares(lag_plan(kind, sources(256), members="4", hash="src-ip", partner_hash="dst-ip"))
    # A router also answers ARP, a bridge learns addresses: a few frames of 25,600.
    assert max(came) > Fraction(999, 1000)
    assert all(abs(share - Fraction(1, 4)) < Fraction(1, 1000) for share in left)


@pytest.mark.parametrize("members", [2, 4, 8])
@pytest.mark.parametrize("switches", [2, 4, 8])
def test_second_stage_uses_members_by_the_common_divisor(switches: int, members: int) -> None:
    """The flows that a stage before, of so many switches and with the same hash, sends to this device.

    Their hashes are alike modulo the switches, so modulo the members they take one value in gcd.
    """
    common = gcd(switches, members)
    plan = lag_plan(
        "emulated/cross-connect",
        sources(256 // switches, step=switches),
        members=str(members),
        hash="src-ip",
        partner_hash="dst-ip",
    )
    _, left = shares(plan)
    assert sorted(left) == [Fraction(0)] * (members - members // common) + [Fraction(common, members)] * (
        members // common
    )


@pytest.mark.parametrize("switches", [2, 4])
def test_two_stages_that_hash_alike_leave_members_unused(switches: int) -> None:
    """Of 8 members: each switch sees hashes alike modulo the switches, and has 8 / switches members."""
    settings = {"members": "8", "hash": "src-ip", "switches": str(switches)}
    _, alike = shares(lag_plan("emulated/cross-connect", sources(256), **settings))
    each = 8 // switches
    used = each // gcd(switches, each)
    for switch in range(switches):
        own = alike[switch * each : (switch + 1) * each]
        assert sum(own) == Fraction(1, switches)
        assert sorted(own) == [Fraction(0)] * (each - used) + [Fraction(1, switches * used)] * used
    _, rotated = shares(lag_plan("emulated/cross-connect", sources(256), **settings, second_hash="rotated"))
    assert rotated == [Fraction(1, 8)] * 8


def test_report_has_the_share_of_each_lag_member(tmp_path: Path) -> None:
    settings = {"members": "8", "switches": "2", "hash": "src-ip", "partner_hash": "dst-ip"}
    plan = lag_plan("emulated/cross-connect", sources(256), **settings)
    with open_run(run_here(parse(plan), tmp_path).folder, REASONS) as run:
        (case,) = run.cases
        assert case.wiring is not None
        assert HashedMembers(8, "src-ip", "dst-ip", 2, "same") in case.wiring.notes
        (table,) = lag_members.tables(view(run))
    rows = {row[:2]: row[2:6] for row in table.rows}
    frames = Fraction(25_600)
    assert rows == {
        ("d0", "in"): (frames, Fraction(1, 8), 0, 1),
        ("d1", "out"): (frames, Fraction(1, 8), 0, Fraction(1, 4)),
    }
    (of_out,) = (row[6] for row in table.rows if row[1] == "out")
    assert sorted(str(of_out).split(", ")) == ["0.0 %"] * 4 + ["25.0 %"] * 4


def test_hash_policies_of_the_example_are_rows_of_one_table(tmp_path: Path) -> None:
    """256 sources to one address: `l2` and `dst-ip` see one flow. Others see each byte once: gcd(2, 4) = 2
    members of each switch by equal stages, 4 by rotated ones."""
    plan = Path(__file__).parents[2] / "examples" / "lag-hashes.yaml"
    with open_run(run_here(load(plan), tmp_path).folder, REASONS) as run:
        (table,) = lag_members.tables(view(run))
        idle = {
            tuple(case.head.axes.values())[:2]: within(IdleMembers, case.result.notes) for case in run.cases
        }
    rows = {row[0]: sorted(str(row[-1]).split(", ")) for row in table.rows if "out" in row}
    one, half, every = ["0.0 %"] * 7 + ["100.0 %"], ["0.0 %"] * 4 + ["25.0 %"] * 4, ["12.5 %"] * 8
    expected = {(hash_, second): one for hash_ in ("l2", "dst-ip") for second in ("same", "rotated")}
    expected |= {(hash_, "same"): half for hash_ in ("src-ip", "l3-l4")}
    expected |= {(hash_, "rotated"): every for hash_ in ("src-ip", "l3-l4")}
    assert rows == {
        f"{hash_} / {second} / clients / uni": shares for (hash_, second), shares in expected.items()
    }
    for policy, shares_ in expected.items():
        assert [cause.idle for cause in idle[policy]] == (
            [shares_.count("0.0 %")] if "0.0 %" in shares_ else []
        )


def test_report_without_lags_has_no_table_of_members(tmp_path: Path) -> None:
    plan = lag_plan("emulated/cross-connect", sources(256))
    with open_run(run_here(parse(plan), tmp_path).folder, REASONS) as run:
        assert lag_members.tables(view(run)) == ()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"members": "2", "switches": "4"}, "switches"),
        ({"members": "4", "second_hash": "rotated"}, "second_hash"),
        ({"members": "4", "hash": "crc"}, "hash"),
    ],
)
def test_lag_settings_that_conflict_are_refused(settings: dict[str, str], named: str) -> None:
    with pytest.raises(PlanErrors, match=named):
        parse(lag_plan("emulated/bridge", sources(1), **settings))


def test_asr9006_hash_decides_which_member_a_flow_meets() -> None:
    """16.0.0.0 to 48.0.0.1: the source is even, the destination odd, and so are both together."""
    for hash_, expected in {"src-ip": [1, 0], "dst-ip": [0, 1], "src-dst-ip": [0, 1]}.items():
        plan = lag_plan("emulated/asr9006", sources(1), forwarding="l2-xconnect", lag="lacp", hash=hash_)
        _, left = shares(plan)
        assert left == expected, hash_


@pytest.mark.parametrize(
    ("kind", "members", "asked", "parts"),
    [
        ("emulated/cross-connect", "4", "even", [1, 1, 1, 1]),
        ("emulated/router", "2", "[3, 1]", [3, 1]),
        ("emulated/bridge", "8", "[5, 1, 1, 1, 0, 0, 0, 0]", [5, 1, 1, 1, 0, 0, 0, 0]),
    ],
)
def test_flows_are_chosen_by_the_counters_of_the_device(
    kind: str, members: str, asked: str, parts: list[int], tmp_path: Path
) -> None:
    profile = f"size: 64B, flows: {{count: 64, members: {asked}}}"
    plan = lag_plan(kind, profile, members=members, hash="l3-l4", partner_hash="src-dst-ip")
    outcome = run_here(parse(plan), tmp_path)
    with open_run(outcome.folder, REASONS) as stored:
        (case,) = view(stored).cases
    assert case.result is not None
    *_, loss = case.trials
    # A router also answers ARP, a bridge learns addresses: a few frames of 25,600.
    found = as_shares(loss.result.devices[0]["ports"][1]["member_tx"])
    ideal = [Fraction(part, sum(parts)) for part in parts]
    assert all(abs(one - share) < Fraction(1, 1000) for one, share in zip(found, ideal, strict=True))
    (note,) = case.result.notes
    assert note.code == "flows-chosen"
    # A trial for each candidate, and two of the method, which the result rests on the first of.
    assert len(case.trials) == note.fields()["candidates"] + 2
    assert case.result.trials == (note.fields()["candidates"],)
    assert sum(note.fields()["found"]) == note.fields()["candidates"]
    assert [one.number for one in case.resting_trials] == list(case.result.trials)
