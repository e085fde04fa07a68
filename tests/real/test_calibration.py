"""The tester measured by itself: what is found of known limits, what is kept, and when it holds no longer."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from campaigns import PATIENCE_S
from click.testing import CliRunner, Result
from commands import held
from netdyno.calibration import Calibration, CalibrationError, shelf
from netdyno.calibration.document import Check, Traffic
from netdyno.calibration.effort import QUICK
from netdyno.calibration.ports import default_plan
from netdyno.calibration.reasons import CalibrationOld
from netdyno.calibration.traffic import key, pick_distinct
from netdyno.calibration.traffic_checks import Answer, Ask, most_without_loss
from netdyno.campaign.lab_reasons import CalibrationInvalid, PortsNotCalibrated
from netdyno.campaign.reasons import REASONS
from netdyno.cli.app import cli
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.reports import render
from netdyno.reports.model.from_store import view
from netdyno.store import open_run
from netdyno.values.records import StoredCase
from netdyno.verdict.reasons import TesterShort
from words import within

ROOT = Path(__file__).parents[2]


# The search for the most frames without loss, against a port of which the limit is known.


def searched(
    ceiling: int, resolution: Fraction, passes: Callable[[Fraction, bool], bool], sends: int
) -> tuple[Fraction | None, list[Ask]]:
    search = most_without_loss(Fraction(ceiling), resolution)
    asked = [next(search)]
    while True:
        fps = asked[-1].fps
        try:
            told = Answer(passes(fps, asked[-1].confirming), min(fps, Fraction(sends)))
            asked.append(search.send(told))
        except StopIteration as stop:
            return stop.value, asked


@pytest.mark.parametrize("limit", [1, 7_919, 350_000, 13_500_000, 199_999_999])
@pytest.mark.parametrize("sends", [Fraction(1, 3), Fraction(1), Fraction(3, 2)])
def test_the_most_without_loss_is_found_to_the_resolution(limit: int, sends: Fraction) -> None:
    resolution = Fraction(1, 20)
    most, asked = searched(300_000_000, resolution, lambda fps, _: fps <= limit, max(1, round(limit * sends)))
    assert most is not None
    assert most <= limit
    assert limit - most <= resolution * limit + 1
    assert asked[-1].confirming
    assert asked[-1].fps == most
    assert len(asked) < 45, "halving from the ceiling at worst"


def test_a_full_line_is_confirmed_at_once_and_never_exceeded() -> None:
    most, asked = searched(14_880_952, Fraction(1, 50), lambda fps, _: True, 20_000_000)
    assert most == 14_880_952
    assert [ask.confirming for ask in asked] == [False, True]


def test_what_does_not_hold_for_longer_is_not_proven() -> None:
    """A load that passes a short trial and fails a long one, and all below 1 Mpps hold."""
    passes = lambda fps, long: fps <= 2_000_000 and not (long and fps > 1_000_000)  # noqa: E731
    most, asked = searched(300_000_000, Fraction(1, 10), passes, 2_000_000)
    assert most is not None
    assert most <= 1_000_000
    assert asked[-1].confirming
    none, _ = searched(300_000_000, Fraction(1, 10), lambda fps, long: not long, 1_000_000)
    assert none is None


# What is kept.


def calibration(**changes: object) -> Calibration:
    traffic = Traffic("aa", "64b / uni", Fraction(13_500_000, 7), None, 800, 40_000, Fraction(3, 2))
    plain = Calibration(
        id="2026-11-22T0350Z-ab12",
        made_at=datetime(2026, 11, 22, 3, 50, tzinfo=UTC),
        effort="quick",
        how="a ring",
        ports=("one", "two"),
        basis={"kernel": "6.1", "eth1: driver": "ixgbe"},
        machine={},
        checks=(),
        traffic=(traffic,),
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_a_calibration_is_read_as_it_was_written_and_appears_whole(tmp_path: Path) -> None:
    file = shelf.save(tmp_path, calibration())
    assert file == tmp_path / "calibrations" / "2026-11-22T0350Z-ab12.json"
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    (file.parent / "other.json").write_text('{"format": 2}')
    (file.parent / "newer.json").write_text(file.read_text().replace('"format": 2', '"format": 99'))
    found, wrong = shelf.load(tmp_path)
    assert found == [calibration()]
    assert [one.cause for one in wrong] == ["newer-calibration", "not-a-calibration"]


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ({"kernel": "6.1"}, {"kernel": "6.2"}, "kernel is now 6.2, it was 6.1"),
        ({"MTU": "9000"}, {}, "MTU is now gone, it was 9000"),
        ({}, {"firmware": "8.3"}, "firmware is now 8.3, it was not there"),
        ({"kernel": "6.1"}, {"kernel": "6.1"}, None),
        (
            {"eth1: opened as": "zero-copy"},
            {"eth1: opened as": "copy"},
            "eth1: opened as is now copy, it was zero-copy",
        ),
        (
            {"eth1: offloads": '["gro", "tso"]', "rings": '{"rx": 256, "tx": 256}'},
            {"eth1: offloads": '["gro"]', "rings": '{"rx": 512, "tx": 256}'},
            "eth1: offloads: tso is now off, it was on; rings: rx is now 512, it was 256",
        ),
        # Not known before the port is open: no reason to doubt, when a backend is chosen.
        ({"eth1: opened as": "zero-copy"}, {}, None),
    ],
)
def test_it_expires_when_what_it_rests_on_changes(
    was: dict[str, str], now: dict[str, str], said: str
) -> None:
    assert shelf.describe_changes(was, now) == said


def test_the_newest_that_holds_is_taken_and_else_the_reason_is_given() -> None:
    older = calibration(id="older", made_at=datetime(2026, 11, 1, tzinfo=UTC))
    newer = calibration(basis={"kernel": "5.10", "eth1: driver": "ixgbe"})
    now = dict(older.basis)
    found = shelf.find_proven([older, newer], ("one", "two"), "aa", now)
    assert found is not None
    assert (found.id, found.expired) == ("older", None)
    assert found.holds
    found = shelf.find_proven([newer], ("one", "two"), "aa", now)
    assert found is not None
    assert not found.holds
    assert found.expired == "kernel is now 6.1, it was 5.10"
    assert shelf.find_proven([older], ("two", "one"), "aa", now) is None, "other ports"
    assert shelf.find_proven([older], ("one", "two"), "bb", now) is None, "other traffic"


def test_an_old_one_is_said_to_be_old() -> None:
    proven = shelf.find_proven([calibration()], ("one", "two"), "aa", calibration().basis)
    assert proven is not None
    made = calibration().made_at
    assert shelf.age_note(proven, made + timedelta(days=30)) is None
    assert shelf.age_note(proven, made + timedelta(days=31)) == CalibrationOld(proven.id, 31)


# Which traffic is the same work.

PLAN = """
title: One
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: emulated/cross-connect}}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 10Gbps}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 10Gbps}}
traffic: {{one: {profile}}}
matrix: {{profile: [one], direction: [{direction}]}}
method: {{throughput: {{}}}}
"""


def key_of(profile: str, direction: str = "uni", *, verify: bool = True) -> str:
    plan = parse(PLAN.format(profile=profile, direction=direction))
    (case,) = cases(plan)
    return key(case, plan.kind.wire(plan.lab.links, {}), verify=verify)


def test_addresses_make_no_other_traffic_and_all_else_does() -> None:
    plain = key_of("{size: 64B}")
    assert key_of("{size: 64B, addresses: rfc2544}") == plain
    others = [
        key_of("{size: 65B}"),
        key_of("{size: {64: 1, 65: 1}}"),
        key_of("{size: 64B, flows: 1}"),
        key_of("{size: 76B}"),
        key_of("{size: 76B, protocol: tcp}"),
        key_of("{size: 68B, vlan: 10}"),
        key_of("{size: 68B, vlan: {vid: {step: {start: 1, step: 1, count: 9}}}}"),
        key_of("{size: 64B}", "bidir"),
        key_of("{size: 64B}", verify=False),
    ]
    assert len({plain, *others}) == 1 + len(others)


def test_each_traffic_of_a_matrix_is_measured_once() -> None:
    plan = default_plan(quick=False)
    chosen, wiring = cases(plan), plan.kind.wire(plan.lab.links, {})
    assert len(pick_distinct((*chosen, *chosen), wiring, verify=True)) == len(chosen) == 6


# The real thing, in little time: what is reported must be true, however rough.

TIMES = {
    "trial_ns": 40_000_000,
    "confirm_ns": 60_000_000,
    "soak_ns": 100_000_000,
    "watch_s": 0.05,
    "spare": 12,
}
LITTLE = replace(QUICK, **TIMES, resolution=Fraction(1, 4))
IN_LITTLE_TIME = f"""\
from dataclasses import replace
from netdyno.calibration import effort
effort.QUICK = replace(effort.QUICK, **{TIMES})
"""


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netdyno.calibration.effort.QUICK", LITTLE)


def calibrated(*arguments: str) -> tuple[Result, Calibration]:
    done = CliRunner().invoke(cli, ["calibrate", "--quick", "--format", "json", *arguments])
    assert done.exit_code in (0, 1), done.output + str(done.exception)
    return done, Calibration.from_json(done.stdout)


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Calibration, Path]:
    """What a calibration of a ring printed and found, and the folder in which it is kept."""
    folder = tmp_path_factory.mktemp("ring")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("netdyno.calibration.effort.QUICK", LITTLE)
        return (*calibrated("--backend", "ring", "--out", str(folder)), folder)


def test_each_calibration_check_is_reported_as_it_ends(ring: tuple[Result, Calibration, Path]) -> None:
    done, found, _ = ring
    told = [line.split()[:2] for line in done.stderr.splitlines() if line.startswith("  ")]
    marks = {"pass": "pass", "warn": "WARN", "fail": "FAIL", "n/a": "n/a"}
    assert sorted(told) == sorted([marks[check.mark], check.name] for check in found.checks)


def no_contradiction(found: Calibration) -> None:
    """What must be so on any machine, however busy."""
    assert found.complete
    numbers = {check.name for check in found.checks}
    assert numbers == {f"C{number}" for number in range(11)}
    for check in found.checks:
        assert check.mark in ("pass", "warn", "fail", "n/a")
        assert check.reason or check.mark == "pass", check
        # A busy machine is warned of; nothing is miscounted on it, and no fault missed or made up.
        if check.name == "C1":
            assert check.mark == "pass", check
        if check.title == "loopback":
            assert check.mark == "pass" or "preempted" in check.reason, check
        # The device of C10 has a thread of its own, which may be preempted; it blames nobody then.
        if check.name == "C10":
            assert check.mark == "pass" or "preempted" in check.reason, check
    for one in found.traffic:
        if one.max_fps is None:
            # Nothing passes on a machine that is too busy; then that is said.
            (most,) = (check for check in found.checks if (check.name, check.scope) == ("C3", one.name))
            assert most.mark == "fail"
            assert "preempted" in most.reason, most
            continue
        assert one.max_fps > 0
        for point in one.points:
            assert 0 < point.fps <= one.max_fps
            times = (point.latency_min_ns, point.latency_p50_ns, point.latency_p99_ns, point.latency_p999_ns)
            told = [time for time in times if time is not None]
            assert told == sorted(told)
            assert point.longest_burst <= point.frames


def test_a_ring_is_calibrated_and_kept_beside_the_runs(ring: tuple[Result, Calibration, Path]) -> None:
    done, found, folder = ring
    no_contradiction(found)
    assert shelf.load(folder) == ([found], [])
    assert [one.name for one in found.traffic] == ["64b / uni", "64b / bidir"]
    assert "as fast as it goes" in done.stderr
    assert found.id in done.stderr
    assert found.machine["before"]["watch"]
    assert found.machine["after"]["watch"]
    (alone,) = (check for check in found.checks if check.name == "C4")
    assert alone.mark == "n/a"
    assert "one thread" in alone.reason


def test_the_longest_frames_are_calibrated_where_no_line_is_enforced(little: None, tmp_path: Path) -> None:
    """As many of them as nobody can send would be more bits than the engine takes."""
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        textwrap.dedent(f"""
        title: Jumbo frames over a memif
        lab:
          nodes: {{tester: {{kind: netdyno}}, dut: {{kind: external}}}}
          links:
            - {{endpoints: ["tester:w", "dut:a"], rate: 10Gbps, backend: memif, socket: {tmp_path}/s, id: 0}}
            - {{endpoints: ["tester:e", "dut:b"], rate: 10Gbps, backend: memif, socket: {tmp_path}/s, id: 1}}
        traffic: {{9000b: {{size: 9000B}}}}
        matrix: {{profile: [9000b], direction: [uni]}}
        method: {{throughput: {{duration: 1s}}}}
        """)
    )
    done, found = calibrated(str(plan), "--out", str(tmp_path))
    no_contradiction(found)
    assert [one.name for one in found.traffic] == ["9000b / uni"], done.stderr


def test_what_runs_in_virtual_time_needs_none(tmp_path: Path) -> None:
    plan = str(ROOT / "examples" / "asr9006.yaml")
    done = CliRunner().invoke(cli, ["calibrate", plan, "--out", str(tmp_path)])
    assert done.exit_code == 0
    assert "nothing to calibrate" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give a plan"),
        (["--ports", "lo"], "two ends"),
        (["--ports", "lo,lo"], "two ends"),
        (["--backend", "af_packet"], "give a plan"),
        (["--backend", "ring", "--soak", "soon"], "--soak"),
    ],
)
def test_calibration_mistakes_are_reported_before_anything_runs(arguments: list[str], said: str) -> None:
    done = CliRunner().invoke(cli, ["calibrate", *arguments])
    assert done.exit_code == 2
    assert said in done.output


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_interrupted_before_any_traffic_it_says_that_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netdyno.calibration.clocks.look", interrupted)
    monkeypatch.setattr("sys.argv", ["netdyno", "calibrate", "--backend", "ring", "--out", "my runs"])
    done = CliRunner().invoke(cli, ["calibrate", "--backend", "ring", "--quick", "--out", str(tmp_path)])
    assert done.exit_code == 130
    assert "interrupted before any traffic was measured: nothing is kept" in done.stderr
    assert "`netdyno calibrate --backend ring --out 'my runs'` begins again" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("little")
def test_interrupted_later_it_says_what_is_kept_and_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What comes second for the first of two kinds of traffic.
    monkeypatch.setattr("netdyno.calibration.traffic_checks.check_soak", interrupted)
    done = CliRunner().invoke(cli, ["calibrate", "--backend", "ring", "--quick", "--out", str(tmp_path)])
    assert done.exit_code == 130
    assert "measured: 64b / uni\n" in done.stderr
    (missing,) = (line for line in done.stderr.splitlines() if line.startswith("missing: "))
    assert missing.startswith("missing: 64b / bidir, ")
    assert "faults of known number (C10)" in missing
    ((kept,), wrong) = shelf.load(tmp_path)
    assert not wrong
    assert not kept.complete
    assert [one.name for one in kept.traffic] == ["64b / uni"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_calibrate_repeated_signal_keeps_the_measured_traffic(number: signal.Signals, tmp_path: Path) -> None:
    """The first one comes once a traffic is measured, the others until the command has ended."""
    asked = ("calibrate", "--backend", "ring", "--quick", "--out", tmp_path)
    # What comes second for the first of two kinds of traffic.
    with held("netdyno.calibration.traffic_checks:check_soak", *asked, before=IN_LITTLE_TIME) as process:
        while process.poll() is None:
            process.send_signal(number)
            time.sleep(0.002)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    ((kept,), wrong) = shelf.load(tmp_path)
    assert not wrong
    assert not kept.complete
    assert f"kept in {tmp_path / shelf.FOLDER / kept.id}.json" in err


def test_an_interrupted_calibration_proves_nothing() -> None:
    for whole in (True, False):
        kept = calibration(complete=whole)
        proven = shelf.find_proven([kept], kept.ports, kept.traffic[0].key, kept.basis)
        assert proven is not None
        assert proven.holds == whole
        assert proven.expired == (None if whole else "it was interrupted before its last checks")


def test_where_nothing_can_be_kept_nothing_is_measured(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    done = CliRunner().invoke(cli, ["calibrate", "--backend", "ring", "--out", str(tmp_path / "runs")])
    assert isinstance(done.exception, CalibrationError)
    assert "nothing can be kept there" in done.exception.message
    assert done.exception.hint == "`--out` names another folder"
    assert done.stdout == done.stderr == ""


def test_a_stranger_is_no_calibration() -> None:
    for text in ("", "[]", "{}", json.dumps({"format": 2, "id": 3}), '{"format": "x"}'):
        with pytest.raises(CalibrationError, match="not a calibration"):
            Calibration.from_json(text)


needs_root = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("ip", path="/usr/sbin:/usr/bin:/sbin:/bin") is None,
    reason="wants root and `ip` (apt-get install iproute2)",
)

VETH = """
title: One veth pair
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 10Gbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 10Gbps}
traffic: {64b: {size: 64B, flows: 16}, mix: {size: {64: 1, 1518: 1}, flows: 16}}
matrix: {profile: [64b, mix], direction: [bidir]}
method: {throughput: {}}
"""


@needs_root
@pytest.mark.usefixtures("little")
def test_a_veth_pair_is_calibrated_in_a_namespace_that_is_gone_afterwards(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(VETH)
    before = os.stat("/proc/self/ns/net").st_ino, socket.if_nameindex()
    _, found = calibrated(str(tmp_path / "plan.yaml"), "--out", str(tmp_path))
    assert (os.stat("/proc/self/ns/net").st_ino, socket.if_nameindex()) == before
    no_contradiction(found)
    assert [one.name for one in found.traffic] == ["64b / bidir", "mix / bidir"]
    assert found.basis["p0: driver"] == found.basis["p1: driver"] == "veth"
    assert found.basis["p0: MTU"] == "9000"
    assert found.basis["workers"] == "1"
    assert "One veth pair" in found.how
    # veth counts what it was handed, which has no FCS: 60 bytes of a frame of 64.
    counted = [check for check in found.checks if check.name == "C1"]
    assert [check.title for check in counted] == ["frame accounting, 64 B", "frame accounting, 1518 B"]
    for check in counted:
        # Of the 2000 a busy machine may keep some from being sent; none is miscounted.
        told = r"(\d+) sent, \1 received; drivers: \1 in, \1 out, bytes without FCS"
        assert re.fullmatch(told, check.value), check.value
    (alone,) = (check for check in found.checks if check.name == "C4")
    assert alone.mark in ("pass", "warn"), alone


@needs_root
def test_ports_that_do_not_face_each_other_are_named() -> None:
    """Two interfaces of which each leads elsewhere."""
    from netdyno.devices.linux import namespaces

    def ip(command: str) -> None:
        subprocess.run(["ip", *command.split()], check=True, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})

    with namespaces.tester_namespace():
        for name in ("a", "b"):
            ip(f"link add {name}0 type veth peer name {name}1")
            for end in ("0", "1"):
                ip(f"link set {name}{end} arp off up")
        done = CliRunner().invoke(cli, ["calibrate", "--quick", "--ports", "a0,b0"])
        error = done.exception
        assert isinstance(error, CalibrationError), done.output
        assert "do not face each other" in error.message
        assert error.hint is not None
        assert "plug a cable" in error.hint
        done = CliRunner().invoke(cli, ["calibrate", "--quick", "--ports", "a0,nothere"])
        assert "nothere" in str(done.exception)


# What a run makes of it.

ASKING = """
title: A Linux router, asked for what nobody can send
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 10Gbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 10Gbps}
traffic: {64b: {size: 64B, flows: 16}}
matrix: {profile: [64b], direction: [uni]}
method: {throughput: {maximum: 14Mpps, width: 1Mpps, duration: 100ms}}
trial: {settle: 0s, drain: 100ms, sample: 10ms}
"""


def netdyno(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "netdyno", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def ran(plan: Path, runs: Path, *options: str) -> StoredCase:
    """The only case of a plan, run beside the calibrations."""
    done = netdyno("run", plan, "--out", runs, *options)
    (newest,) = (path for path in runs.iterdir() if path.name != shelf.FOLDER)
    assert done.returncode in (0, 3, 4), done.stdout + done.stderr
    with open_run(newest, REASONS) as stored:
        (case,) = stored.cases
        return case


@needs_root
@pytest.mark.usefixtures("little")
def test_plan_above_its_calibration_has_a_lower_bound(tmp_path: Path) -> None:
    plan, runs = tmp_path / "plan.yaml", tmp_path / "runs"
    plan.write_text(ASKING)
    case = ran(plan, runs)
    ((found,), _) = shelf.load(runs)
    assert found.complete, "the run measured the tester first"
    assert case.wiring is not None
    proven = case.wiring.proven
    assert proven is not None
    failed = [f"{check.name}: {check.reason}" for check in found.checks if check.mark == "fail"]
    if proven.expired is not None and failed:
        pytest.skip(f"the machine was too busy for a proof: {'; '.join(failed)}")
    assert (proven.id, proven.expired, proven.max_fps) == (found.id, None, found.traffic[0].max_fps)
    assert not within(PortsNotCalibrated, case.wiring.notes)
    # Whatever came of it: 14 Mpps is beyond a veth pair by far, and no device is blamed for that.
    for verdict in case.verdicts:
        assert verdict.limit in ("tester", "receiver", "inconclusive"), verdict
        if isinstance(verdict.reason, TesterShort) and verdict.reason.reached.rate_pps is not None:
            assert "at least" in str(verdict.reason), verdict
    (folder,) = (path for path in runs.iterdir() if path.name != shelf.FOLDER)
    with open_run(folder, REASONS) as stored:
        (kept,) = stored.calibrations
        assert Calibration.from_json(kept.document) == found, "the run holds its own copy"
    shutil.rmtree(runs / shelf.FOLDER)
    with open_run(folder, REASONS) as stored:
        for name in ("terminal", "markdown", "html", "json"):
            told = render([view(stored)], name).decode()
            assert found.id in told, f"{name} is made from the store alone"

    # One that holds no longer is named with what has changed.
    other = tmp_path / "other"
    shelf.save(other, replace(found, basis={**found.basis, "kernel": "2.6.32"}))
    plan.write_text(ASKING.replace("maximum: 14Mpps, width: 1Mpps", "maximum: 1kpps, width: 1kpps"))
    case = ran(plan, other, "--no-calibrate")
    assert case.wiring is not None
    assert case.wiring.proven is not None
    changed = f"kernel is now {found.basis['kernel']}, it was 2.6.32"
    assert case.wiring.proven.expired == changed
    assert CalibrationInvalid(found.id, changed, f"netdyno calibrate {plan}") in case.wiring.notes


@needs_root
def test_a_run_without_a_calibration_says_so_once(tmp_path: Path) -> None:
    plan, runs = tmp_path / "plan.yaml", tmp_path / "runs"
    plan.write_text(ASKING.replace("maximum: 14Mpps, width: 1Mpps", "maximum: 1kpps, width: 100pps"))
    case = ran(plan, runs, "--no-calibrate")
    assert case.wiring is not None
    assert case.wiring.proven is None
    assert within(PortsNotCalibrated, case.wiring.notes) == (PortsNotCalibrated(f"netdyno calibrate {plan}"),)
    assert {verdict.limit for verdict in case.verdicts} <= {"none", "inconclusive", "tester", "receiver"}


@pytest.mark.parametrize(("name", "scope", "holds"), [("C5", "64b / uni", False), ("C5", "imix / uni", True)])
def test_calibration_with_a_failed_check_does_not_cover_that_traffic(
    name: str, scope: str, holds: bool
) -> None:
    check = Check(name, "soak", scope, "9 frames lost", "none lost", "fail", "frames were lost at 99 % of C3")
    traffic = Traffic("key", "64b / uni", Fraction(1_000_000), None, None, None, None)
    made = calibration(checks=(check,), traffic=(traffic,))
    found = shelf.find_proven([made], made.ports, "key", made.basis)
    assert found is not None
    assert found.holds is holds
    assert (found.expired is None) is holds
    if not holds:
        assert found.expired == "its check C5 (soak) failed"
