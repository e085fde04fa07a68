"""A run measures the tester first: when, for which traffic, and what is said if it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from netdyno.calibration import inventory, shelf, suite, traffic
from netdyno.calibration.document import Calibration, Check, Traffic
from netdyno.calibration.effort import FIRST_S, LEAST_TRIAL_NS, QUICK, Effort, before_a_run, seconds
from netdyno.cli.calibrate_first import calibrate_first
from netdyno.devices import KINDS, LabError, Wiring
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import cases
from netdyno.ports.backends import PortBackend

PLAN = """
title: two sizes
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: KIND}}
  links:
    - {endpoints: ["tester:west", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:east", "dut:d1"], rate: 1Gbps}
traffic: {64b: {size: 64B}, 1518b: {size: 1518B}}
matrix: {profile: [64b, 1518b], direction: [uni]}
method: {throughput: {}}
"""


def of(kind: str) -> Plan:
    return parse(PLAN.replace("KIND", kind), name="plan.yaml")


class Suite:
    """In place of the measuring: what it was asked for, and a calibration of just that."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[list[str]] = []
        self.ports: list[tuple[str, ...]] = []
        self.seconds = 0.0
        self.checks: tuple[Check, ...] = ()
        self.complete, self.error = True, None
        monkeypatch.setattr(suite, "calibrate", self.calibrate)
        monkeypatch.setattr(inventory, "basis", lambda wiring, versions: {"kernel": "6.1"})
        router = KINDS["linux/router"]

        @contextmanager
        def loopback(kind: Any, links: Any, threads: Any, names: Any = None) -> Iterator[Wiring]:
            if self.error is not None:
                raise self.error
            yield kind.wire(links, {}).only(names)

        monkeypatch.setattr(type(router), "loopback", loopback)

    def calibrate(
        self, tester: Any, plan: Plan, chosen: Any, wiring: Wiring, effort: Effort, *_: Any
    ) -> Calibration:
        self.asked.append([case.profile_name for case in chosen])
        self.ports.append(tuple(port.name for port in wiring.ports))
        self.seconds += seconds(effort, *suite.extent(chosen, wiring))
        found = [
            Traffic(
                traffic.key(case, wiring, verify=plan.trial.verify),
                traffic.name(case),
                Fraction(412_000),
                None,
                None,
                None,
                None,
            )
            for case in chosen
        ]
        return Calibration(
            id=f"made-{len(self.asked)}",
            # Kept to the second, and the newest counts.
            made_at=datetime.now(UTC) + timedelta(seconds=len(self.asked)),
            effort="quick",
            how="a veth pair",
            ports=inventory.ports(wiring),
            basis={"kernel": "6.1"},
            machine={},
            checks=self.checks,
            traffic=tuple(found),
            complete=self.complete,
        )


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Suite:
    return Suite(monkeypatch)


def first(plan: Plan, out: Path, *, profiles: int = 2) -> None:
    calibrate_first(out, plan, cases(plan)[:profiles])


def test_a_calibration_is_kept_and_made_once(measured: Suite, tmp_path: Path) -> None:
    plan = of("linux/router")
    first(plan, tmp_path)
    first(plan, tmp_path)
    assert measured.asked == [["64b", "1518b"]]
    assert [one.id for one in shelf.load(tmp_path)[0]] == ["made-1"]


def test_only_traffic_that_was_never_calibrated_is_measured(measured: Suite, tmp_path: Path) -> None:
    plan = of("linux/router")
    first(plan, tmp_path, profiles=1)
    first(plan, tmp_path)
    assert measured.asked == [["64b"], ["1518b"]]


def test_a_calibration_whose_basis_changed_is_replaced(measured: Suite, tmp_path: Path) -> None:
    plan = of("linux/router")
    first(plan, tmp_path)
    (kept,) = shelf.load(tmp_path)[0]
    shelf.save(tmp_path, replace(kept, basis={"kernel": "5.10"}))
    first(plan, tmp_path)
    assert len(measured.asked) == 2


def test_a_calibration_that_does_not_hold_says_so(
    measured: Suite, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured.checks = (Check("C4", "loss", "", "9 frames lost", "none lost", "fail", "busy"),)
    first(of("linux/router"), tmp_path)
    assert "made-1 does not hold: its check C4 (loss) failed" in capsys.readouterr().err
    measured.checks = ()
    first(of("linux/router"), tmp_path)
    assert len(measured.asked) == 2, "the next run tries again"


@pytest.mark.parametrize("kind", ["emulated/router", "emulated/bridge"])
def test_virtual_time_needs_no_calibration(measured: Suite, tmp_path: Path, kind: str) -> None:
    first(of(kind), tmp_path)
    assert measured.asked == []
    assert list(tmp_path.iterdir()) == []


def test_a_lab_that_cannot_be_built_is_left_to_the_run(
    measured: Suite, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured.error = LabError("no rights", code="not-root")
    first(of("linux/router"), tmp_path)
    assert "not calibrated: no rights" in capsys.readouterr().err


def test_an_interrupted_calibration_ends_the_command(measured: Suite, tmp_path: Path) -> None:
    measured.complete = False
    with pytest.raises(SystemExit) as ended:
        first(of("linux/router"), tmp_path)
    assert ended.value.code == 130
    assert shelf.load(tmp_path)[0] == []


def test_ports_that_need_a_cable_are_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a device that stands between two cards nothing is known of a loop; memif can be led back here."""
    links = of("linux/router").lab.links
    memifs = tuple(replace(link, backend=PortBackend.of("memif", socket="@x")) for link in links)
    for count in (1, 2):
        assert KINDS["linux/router"].joins_itself(links * count)  # type: ignore[attr-defined]
        assert KINDS["external"].joins_itself(memifs * count)  # type: ignore[attr-defined]
        assert not KINDS["external"].joins_itself(links * count)  # type: ignore[attr-defined]
    assert not KINDS["external"].joins_itself(memifs[:1])  # type: ignore[attr-defined]


def grouped(count: int) -> Plan:
    """Pairs of ports, each a group, alone and all at once."""
    names = [f"p{n}" for n in range(2 * count)]
    links = "".join(
        f'    - {{endpoints: ["tester:{name}", "dut:d{n}"], rate: 1Gbps}}\n' for n, name in enumerate(names)
    )
    groups = ", ".join(f"g{n}: [p{2 * n}, p{2 * n + 1}]" for n in range(count))
    head, _, rest = PLAN.replace("KIND", "linux/bridge").partition("    - {")
    return parse(f"{head}{links}groups: {{{groups}}}\n{rest[rest.index('traffic:') :]}", name="plan.yaml")


def test_each_choice_of_port_groups_is_calibrated_by_itself(measured: Suite, tmp_path: Path) -> None:
    plan = grouped(2)
    chosen = [case for case in cases(plan) if case.profile_name == "64b"]
    calibrate_first(tmp_path, plan, chosen)
    alone, both = [("p0", "p1"), ("p2", "p3")], ("p0", "p1", "p2", "p3")
    assert sorted(measured.ports) == sorted([*alone, both])
    assert measured.asked == [["64b"]] * 3
    assert measured.seconds <= FIRST_S
    calibrate_first(tmp_path, plan, chosen)
    assert len(measured.asked) == 3, "each holds"


def test_a_run_waits_no_longer_for_many_choices_of_ports(
    measured: Suite, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four pairs and all eight ports; what is left out is said, and measured before the next run."""
    plan = grouped(4)
    calibrate_first(tmp_path, plan, cases(plan))
    assert 0 < len(measured.ports) < 5
    assert measured.seconds <= FIRST_S
    assert "not calibrated for the ports" in capsys.readouterr().err
    for _ in range(3):
        calibrate_first(tmp_path, plan, cases(plan))
    assert len(measured.ports) == len(set(measured.ports)) == 5


def test_a_calibration_that_others_disturbed_is_repeated(measured: Suite, tmp_path: Path) -> None:
    """It serves the run that it was made for. That of the other traffic is kept."""
    plan = of("linux/router")
    scope = traffic.name(cases(plan)[0])
    measured.checks = (Check("C3", "most", scope, "", "", "warn", "1 load failed while preempted"),)
    first(plan, tmp_path)
    (kept,) = shelf.load(tmp_path)[0]
    assert shelf.find_failed_check(kept, kept.traffic[0]) is None, "a verdict may rest on it"
    measured.checks = ()
    first(plan, tmp_path)
    first(plan, tmp_path)
    assert measured.asked == [["64b", "1518b"], ["64b"]]


@pytest.mark.parametrize("kinds", [1, 2, 4, 8, 16])
def test_many_kinds_of_traffic_are_measured_shortly(kinds: int) -> None:
    effort = before_a_run(kinds, kinds, 2)
    assert seconds(effort, kinds, kinds, 2) <= FIRST_S or effort.trial_ns <= LEAST_TRIAL_NS
    assert (effort == QUICK) == (kinds <= 2)
