"""Calibrations of several workers, of memif and AF_XDP, and of one port that leads back into itself."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from netdyno.calibration import Calibration, inventory, shelf, traffic_checks
from netdyno.calibration.bench import Shot
from netdyno.calibration.document import Check, Traffic
from netdyno.calibration.suite import FACING_ATTEMPTS, check_facing
from netdyno.calibration.traffic_checks import judge_latency, judge_most, point
from netdyno.campaign.versions import versions
from netdyno.cli.app import cli
from netdyno.cli.calibration_table import lines
from netdyno.devices import KINDS, LabLink
from netdyno.devices.linux import namespaces
from netdyno.errors import NetdynoError
from netdyno.plan import load, parse
from netdyno.plan.matrix import cases
from netdyno.ports.threads import Threads
from netdyno.testers import TESTERS
from netdyno.testers.netdyno import raw
from netdyno.testers.netdyno.spec import session_spec
from netdyno.values.health import Health
from netdyno.values.outcome import FrameCounts, Outcome, PortResult, StreamResult
from test_calibration import LITTLE, calibrated, calibration, needs_root, no_contradiction

needs_two_cores = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="two workers want two cores, and this process may use one"
)

MANY = ("C1", "C2", "C3", "C5", "C6", "C8")
"""Checks that are made with all workers of a plan."""


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netdyno.calibration.effort.QUICK", LITTLE)


def made_with(found: Calibration, workers: int, alone: int) -> None:
    """Each check says with how many workers it was made; C4 with `alone`."""
    for check in found.checks:
        expected = {"C4": alone, "C10": 1, "C7": None, "C9": None}.get(check.name, workers)
        assert check.workers == (None if check.title == "inventory" else expected), check
    assert found.basis["workers"] == str(workers)


@needs_two_cores
@pytest.mark.usefixtures("little")
def test_ring_calibrated_with_two_workers_names_them_in_each_check(tmp_path: Path) -> None:
    _, found = calibrated("--backend", "ring", "--workers", "2", "--out", str(tmp_path))
    no_contradiction(found)
    made_with(found, 2, alone=1)
    assert "for each of the tester's threads" in found.how
    assert len(found.machine["before"]["watch"]) == 2
    told = " ".join(" ".join(lines(found, 80)).split())
    assert "C3 most frames without loss (64b / uni), 2 workers" in told
    assert "C10 faults found, 1 worker" in told
    assert "no run rests on them" in told, "no plan's ports are rings"


@needs_two_cores
@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_memif_is_calibrated(workers: int, tmp_path: Path) -> None:
    _, found = calibrated("--backend", "memif", "--workers", str(workers), "--out", str(tmp_path))
    no_contradiction(found)
    # Four cores would do for two workers at each end; with fewer one receives what another one sends.
    made_with(found, workers, alone=workers if len(os.sched_getaffinity(0)) >= 2 * workers else 1)
    (alone,) = (check for check in found.checks if check.name == "C4")
    assert alone.mark in ("pass", "warn") or "nothing passed" in alone.reason, alone


def two_ports(backend: str, names: tuple[str, str] = ("west", "east"), tester: str = "") -> str:
    return f"""
title: One veth pair
lab:
  nodes: {{tester: {{kind: netdyno{tester}}}, dut: {{kind: linux/router}}}}
  links:
    - {{endpoints: ["tester:{names[0]}", "dut:d0"], rate: 10Gbps, backend: {backend}}}
    - {{endpoints: ["tester:{names[1]}", "dut:d1"], rate: 10Gbps, backend: {backend}}}
traffic: {{64b: {{size: 64B, flows: 64}}}}
matrix: {{profile: [64b], direction: [bidir]}}
method: {{throughput: {{}}}}
"""


def lacks_xdp() -> str | None:
    """Why no XDP program can be loaded here; None: it can."""
    from netdyno.ports.nic import fit

    refusal = fit.rights().af_xdp
    return None if refusal is None else refusal[0]


def assert_holds_in_the_lab(found: Calibration, plan_file: Path) -> None:
    """The device's lab has the ports of the loopback, open or not: a program at one end changes the other."""
    plan = load(plan_file)
    kind = KINDS[plan.lab.kind]
    with kind.build(kind.wire(plan.lab.links, {}).with_threads(plan.lab.threads)) as live:
        built = live.wiring
        assert inventory.ports(built) == found.ports
        now = inventory.basis(built, versions(TESTERS["netdyno"]))
        assert shelf.describe_changes(found.basis, now) is None
        with raw(session_spec(built)) as session:
            turned_out = inventory.describe_open_ports(built, session.ports)
    assert turned_out
    assert shelf.describe_changes(found.basis, {**now, **turned_out}) is None
    other = dict.fromkeys(turned_out, "something else")
    assert "opened as is now something else" in (shelf.describe_changes(found.basis, {**now, **other}) or "")


@needs_root
@needs_two_cores
@pytest.mark.usefixtures("little")
@pytest.mark.parametrize(("workers", "attach"), [(1, "generic"), (2, "native")])
def test_af_xdp_on_a_veth_is_calibrated_with_a_queue_for_each_worker(
    workers: int, attach: str, tmp_path: Path
) -> None:
    why = lacks_xdp()
    if why is not None:
        pytest.skip(f"no AF_XDP here: {why}")
    (tmp_path / "plan.yaml").write_text(two_ports("af_xdp", tester=f", workers: {workers}"))
    _, found = calibrated(str(tmp_path / "plan.yaml"), "--out", str(tmp_path))
    no_contradiction(found)
    made_with(found, workers, alone=1)
    assert f"copy, {attach} attach" in found.basis["p0: opened as"]
    (alone,) = (check for check in found.checks if check.name == "C4")
    if workers == 2 and len(os.sched_getaffinity(0)) < 4:
        assert (alone.mark, "it takes 4 cores" in alone.reason) == ("n/a", True), alone
    else:
        assert alone.mark in ("pass", "warn") or "nothing passed" in alone.reason, alone
    assert_holds_in_the_lab(found, tmp_path / "plan.yaml")
    # veth's drivers count as many frames as both workers did.
    for check in found.checks:
        if check.name == "C1":
            assert re.fullmatch(r"(\d+) sent, \1 received; drivers: \1 in, \1 out, .*", check.value), check


@needs_root
def test_a_port_by_another_name_in_the_plan_is_the_same_port(tmp_path: Path) -> None:
    """A calibration goes by interfaces: what a plan calls its ports neither voids nor confirms it."""

    def of(names: tuple[str, str]) -> tuple[tuple[str, ...], dict[str, str]]:
        plan = parse(two_ports("af_packet", names))
        kind = KINDS["linux/router"]
        with kind.loopback(plan.lab.links, plan.lab.threads) as wiring:  # type: ignore[attr-defined]
            return inventory.ports(wiring), inventory.basis(wiring, {})

    assert of(("west", "east")) == of(("left", "right")) == of(("east", "west"))


# One port, and something that sends back what it gets.


GIVE_BACK = (
    "tc qdisc add dev d0 ingress",
    "tc filter add dev d0 parent ffff: protocol all prio 1 u32 match u32 0 0"
    " action mirred egress redirect dev d0",
)


@pytest.fixture
def plug() -> Any:
    """An interface `p0` of a namespace of its own, whose far end gives back every frame."""
    run = lambda *words: subprocess.run(words, check=True, capture_output=True, text=True)  # noqa: E731
    with namespaces.tester_namespace():
        run("ip", "link", "add", "p0", "type", "veth", "peer", "name", "d0")
        try:
            for end in ("p0", "d0"):
                run("ip", "link", "set", end, "arp", "off", "up")
            yield lambda: [run(*command.split()) for command in GIVE_BACK]
        finally:
            run("ip", "link", "delete", "p0")


HAIRPIN = """
title: One port
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: external}}
  links:
    - {endpoints: ["tester:west", "dut:a"], rate: 10Gbps, interface: p0}
traffic: {64b: {size: 64B, flows: 16}}
matrix: {profile: [64b], direction: [uni]}
method: {throughput: {}}
"""


@needs_root
@pytest.mark.usefixtures("little")
def test_one_port_is_calibrated_with_what_leads_back_into_it(plug: Any, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(HAIRPIN)
    done = CliRunner().invoke(cli, ["calibrate", "--quick", str(plan), "--out", str(tmp_path)])
    assert isinstance(done.exception, NetdynoError), done.output
    assert "does not receive what it sends" in done.exception.message
    assert "loopback plug" in (done.exception.hint or "")
    try:
        plug()
    except subprocess.CalledProcessError as refused:
        pytest.skip(f"nothing sends frames back here: {refused.stderr.strip()}")
    _, found = calibrated(str(plan), "--out", str(tmp_path))
    no_contradiction(found)
    assert "loopback plug in" in found.how
    (faced,) = (check for check in found.checks if check.title == "loopback")
    assert faced.value == "`west` receives what it sends"
    (alone,) = (check for check in found.checks if check.name == "C4")
    assert "sender and receiver" in alone.reason
    # And the case of that plan is judged by it.
    link = LabLink("renamed", "a", 10**10, interface="p0")
    kind = KINDS["external"]
    with kind.loopback((link,), Threads()) as wiring:  # type: ignore[attr-defined]
        assert inventory.ports(wiring) == found.ports


# Reports on figures that prove nothing.


def shot(spacing: tuple[tuple[dict[str, Any], ...], ...], fps: int) -> Shot:
    health = Health(0, 0, 0, 0, 0, 1_000_000)
    result = Outcome(FrameCounts((), (), 10**7), health, ())
    return Shot(Fraction(fps), 10**9, result, spacing)


def noted(frames: int, first_ps: int, last_ps: int, longest_ps: int = 0) -> dict[str, Any]:
    gaps = {"first_ps": first_ps, "last_ps": last_ps, "squares_ps2": 0, "longest_ps": longest_ps}
    return {"frames": frames, "departures": {**gaps, "longest_burst": 1}}


def test_the_rate_of_a_direction_is_that_of_its_workers_together() -> None:
    """Frame k at k us: the even ones of one worker, the odd ones of the other; 1 Mpps to the picosecond."""
    us = 10**6
    even, odd = noted(500, 0, 998 * us, 2 * us), noted(500, us, 999 * us, 9 * us)
    found = point(50, shot(((), (even, odd)), 1_000_000), 0.0)
    assert found.rate_error_ppm == 0.0
    assert (found.gap_mean_ns, found.gap_max_ns) == (2000.0, 9000.0), "one worker's frames, the worst of both"
    # Another whose frames all came to one queue.
    assert (
        point(50, shot(((noted(1000, 0, 999 * us), noted(0, 0, 0)),), 1_000_000), 0.0).rate_error_ppm == 0.0
    )
    # One frame in each queue is two frames of the direction.
    both = point(50, shot(((noted(1, 0, 0), noted(1, 2 * us, 2 * us)),), 1_000_000), 0.0)
    assert both.rate_error_ppm == -500_000.0


def accounted(received: int, foreign: int, driver: int) -> tuple[Shot, list[dict[str, int]]]:
    """1000 frames sent; of what came, so many of somebody else; and what the driver saw each way."""
    counts = {"intended": 1000, "offered": 1000, "offered_bytes": 64_000, "received_bytes": 64 * received}
    none = dict.fromkeys(("duplicates", "elsewhere", "out_of_order", "corrupted", "beyond_window"), 0)
    rest = {"lost": 1000 - received, "flows_received": 1, "latency": None, "tx": (), "rx": (), "arrived": ()}
    stream = StreamResult("west-east", received=received, first_loss_ns=None, **counts, **none, **rest)  # type: ignore[arg-type]
    ports = (
        PortResult("west", 1000, 64_000, 0, 0, 0, (), (), (), ()),
        PortResult("east", 0, 0, received + foreign, 0, foreign, (), (), (), ()),
    )
    found = shot((), 10_000)
    result = found.result.with_counts(streams=(stream,), ports=ports)
    return replace(found, result=result), [{"tx_packets": driver}, {"rx_packets": driver}]


def test_what_a_kernel_sends_on_a_new_link_is_no_wrong_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two frames of the kernel's are counted by all; the next trial has none. What is lost is reported."""
    case = cases(parse(two_ports("af_packet")))[0]

    def run_check(*trials: tuple[Shot, list[dict[str, int]]]) -> tuple[Check, int]:
        left = list(trials)
        monkeypatch.setattr(traffic_checks, "_count_trial", lambda bench, case: left.pop(0))
        (check,) = traffic_checks.check_accounting(SimpleNamespace(), case, set())  # type: ignore[arg-type]
        return check, len(trials) - len(left)

    quiet, disturbed = accounted(1000, 0, 1000), accounted(1000, 2, 1002)
    assert [run_check(quiet)[0].mark, run_check(disturbed, disturbed, quiet)[0].mark] == ["pass", "pass"]
    check, trials = run_check(accounted(999, 2, 1002), quiet)
    assert (check.mark, trials) == ("fail", 1)
    assert "999 of 1000 frames came back" in check.reason
    check, trials = run_check(accounted(1000, 0, 999), quiet)
    assert (check.mark, trials) == ("fail", 1), "a driver that does not count all is found"
    check, trials = run_check(*[disturbed] * 9)
    assert (check.mark, trials) == ("fail", 5), "and so is one that counts too much each time"


def test_what_a_disturbed_machine_left_is_no_figure_and_said_at_the_end() -> None:
    case = cases(parse(two_ports("af_packet")))[0]

    def most(found: int, again: int) -> Check:
        return judge_most("x", case, Fraction(found), None, LITTLE, again, "", Fraction(1_000_000))

    assert [most(55, 20).mark, most(55, 0).mark, most(900_000, 3).mark, most(900_000, 0).mark] == [
        "fail",
        "pass",
        "warn",
        "pass",
    ]
    traffic = Traffic("aa", "x", Fraction(55), None, None, None, None)
    told = calibration(checks=(most(55, 20),), traffic=(traffic,))
    proof = shelf.find_proven([told], told.ports, "aa", told.basis)
    assert proof is not None
    assert not proof.holds
    assert "Nothing is proven for x: its check C3" in " ".join(" ".join(lines(told, 200)).split())


def test_latencies_of_a_disturbed_tester_are_recorded_and_prove_nothing() -> None:
    quiet = point(1, shot((), 1000), 0.0)
    away = point(10, shot((), 10_000), 0.0)
    assert not quiet.disturbed
    assert judge_latency("x", [quiet, away]).mark == "pass"
    check = judge_latency("x", [quiet, replace(away, disturbed=True)])
    assert (check.mark, "preempted at 10 %" in check.reason) == ("warn", True)
    assert "no latency is proven" in judge_latency("x", [replace(quiet, disturbed=True)]).reason


def facing_bench(*shots: tuple[int, int, bool]) -> Any:
    """A bench of one stream: what each shot sent and received, and whether others had the core."""
    left = list(shots)

    def shoot(*_: object) -> SimpleNamespace:
        sent, came, disturbed = left.pop(0)
        stream = SimpleNamespace(name="west-west", offered=sent, received=came)
        return SimpleNamespace(result=SimpleNamespace(streams=[stream]), disturbed=disturbed)

    ports = (SimpleNamespace(name="west"),)
    return SimpleNamespace(wiring=SimpleNamespace(ports=ports), shoot=shoot)


def test_preempted_tester_finds_neither_a_switch_nor_a_missing_cable() -> None:
    """It sent nothing at all, or was late to hear it: that says nothing of what is between its ports."""
    away, heard, silent, late = (0, 0, True), (100, 100, False), (100, 0, False), (100, 0, True)
    case: Any = None
    assert check_facing(facing_bench(away, late, heard, late, heard), case).mark == "pass"
    assert check_facing(facing_bench(heard, silent), case).mark == "warn", "there is a switch"
    assert check_facing(facing_bench(heard, *[away] * FACING_ATTEMPTS), case).mark == "n/a"
    with pytest.raises(NetdynoError, match="preempted for so long"):
        check_facing(facing_bench(*[away] * FACING_ATTEMPTS), case)
    for nothing in ([away, silent], [late] * FACING_ATTEMPTS):
        with pytest.raises(NetdynoError, match="does not receive what it sends"):
            check_facing(facing_bench(*nothing), case)
