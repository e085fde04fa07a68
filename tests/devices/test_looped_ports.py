"""Labs of three ports and more on a loopback: what each port does there, and whose proof is whose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from netdyno.calibration import Calibration, inventory, traffic
from netdyno.calibration.bench import Bench, load_tester
from netdyno.calibration.document import Traffic
from netdyno.calibration.looping import lead_back
from netdyno.calibration.ports import by_ports
from netdyno.campaign.job import Job
from netdyno.campaign.lab_reasons import PortsNotCalibrated
from netdyno.campaign.standing import find_proof
from netdyno.devices import Wiring
from netdyno.devices.reasons import VethLoop
from netdyno.devices.wiring import loop_ports, with_far_end
from netdyno.plan import Plan, parse
from netdyno.plan.matrix import Case, cases, wire_groups
from netdyno.plan.patterns import PATTERNS, list_directions
from netdyno.testers import TESTERS
from netdyno.testers.netdyno.spec import trial_spec
from netdyno.values.load import Frames, Trial
from netdyno.values.units import FrameRate

FPS = Fraction(100_000)
LINE_BPS = 10**9
BITS = 672
"""Of a frame of 64 bytes on the line: 84 bytes."""


def plan_of(
    count: int, pattern: str = "pairs", direction: str = "bidir", kind: str = "linux/bridge", groups: str = ""
) -> Plan:
    links = "\n".join(f'    - {{endpoints: ["tester:t{n}", "dut:d{n}"], rate: 1Gbps}}' for n in range(count))
    axes = "group: [a, a+b]" if groups else f"pattern: [{pattern}]"
    return parse(
        f"""
title: Many ports
lab:
  nodes: {{tester: {{kind: netdyno}}, dut: {{kind: {kind}}}}}
  links:
{links}
{groups}
traffic: {{64b: {{size: 64B, flows: 16}}}}
matrix: {{profile: [64b], direction: [{direction}], {axes}}}
method: {{throughput: {{}}}}
""",
        name="plan.yaml",
    )


def wired(plan: Plan, case: Case) -> Wiring:
    """The case's lab, as it is opened."""
    return wire_groups(case, plan.kind.wire(plan.lab.links, case.settings))


def looped(lab: Wiring) -> Wiring:
    """The same ports in pairs, the odd one with a further port."""
    if len(lab.ports) % 2:
        lab = with_far_end(lab, {"kind": "af_packet", "interface": "far"})
    return loop_ports(lab, VethLoop())


def specs(plan: Plan, *, enforced: bool = False) -> tuple[dict[str, Any], dict[str, Any], Wiring]:
    """A trial of 100 kpps in the lab, the same on the loopback, and the looped wiring."""
    (case,) = cases(plan)
    lab = wired(plan, case)
    lab = replace(lab, ports=tuple(replace(port, enforced_rate=enforced) for port in lab.ports))
    joined = looped(lab)
    trial = Trial("t", Frames.steady(FrameRate(FPS), 10**9))
    return (
        trial_spec(plan, case, lab, trial),
        lead_back(trial_spec(plan, case, joined.own, trial), joined),
        joined,
    )


def loads(spec: dict[str, Any], side: str) -> dict[int, Fraction]:
    """Frames a second that each port sends (`tx_port`) or is to receive (`rx_port`)."""
    found: dict[int, Fraction] = {}
    for stream in spec["streams"]:
        fps = Fraction(stream["schedule"][0]["from_bps"], BITS)
        found[stream[side]] = found.get(stream[side], Fraction(0)) + fps
    return found


def combinations() -> Iterator[tuple[int, str, str]]:
    for count in range(3, 9):
        for pattern in (name for name, one in PATTERNS.items() if not one.within):
            for direction in list_directions(pattern, count)[0]:
                yield count, pattern, direction


@pytest.mark.parametrize(("count", "pattern", "direction"), list(combinations()))
def test_each_looped_port_does_at_least_what_it_does_in_the_lab(
    count: int, pattern: str, direction: str
) -> None:
    in_lab, on_loop, _ = specs(plan_of(count, pattern, direction))
    assert len(on_loop["ports"]) == count + count % 2
    names = [stream["name"] for stream in on_loop["streams"]]
    assert len(names) == len(set(names))
    for stream in on_loop["streams"]:
        assert stream["tx_port"] // 2 == stream["rx_port"] // 2, "joined two and two"
        assert stream["tx_port"] != stream["rx_port"]
    for side in ("tx_port", "rx_port"):
        least, done = loads(in_lab, side), loads(on_loop, side)
        # Loads are whole bits a second: each stream may lack one.
        slack = Fraction(len(in_lab["streams"]), BITS)
        assert all(done.get(port, 0) >= fps - slack for port, fps in least.items()), (least, done)


def test_looped_ports_of_a_bundle_are_ports_of_their_own() -> None:
    plan = plan_of(4)
    (case,) = cases(plan)
    lab = wired(plan, case)
    joined = looped(replace(lab, ports=tuple(replace(port, bundle="far") for port in lab.ports)))
    spec = trial_spec(plan, case, joined.own, Trial("t", Frames.steady(FrameRate(FPS), 10**9)))
    assert [port["bundle"] for port in spec["ports"]] == [0] * 4
    assert not any({"lag", "bundle"} & port.keys() for port in lead_back(spec, joined)["ports"])


@pytest.mark.parametrize("hosts", [2, 4])
@pytest.mark.parametrize(("count", "pattern", "direction"), list(combinations()))
def test_ports_looped_on_each_host_do_what_they_do_in_the_lab(
    count: int, pattern: str, direction: str, hosts: int
) -> None:
    plan = plan_of(count, pattern, direction)
    (case,) = cases(plan)
    lab = loop_ports(wired(plan, case), VethLoop())
    owners = [f"gen{port % hosts}" for port in range(count)]
    ports = [{**port, "host": owner} for port, owner in zip(lab.session["ports"], owners, strict=True)]
    threads = {"scheduler": "", "threads": {owner: {"workers": 2} for owner in owners}}
    spread = replace(lab, session={**lab.session, "ports": ports, "hosts": threads})
    spec = trial_spec(plan, case, lab, Trial("t", Frames.steady(FrameRate(FPS), 10**9)))
    slack = Fraction(len(spec["streams"]), BITS)
    for host in dict.fromkeys(owners):
        share = spread.share(host)
        own = [number for number, owner in enumerate(owners) if owner == host]
        assert [port["name"] for port in share.session["ports"]] == [f"t{number}" for number in own]
        assert (share.session["workers"], "hosts" in share.session) == (2, False)
        on_loop = lead_back(spec, share)
        assert [port["mac"] for port in on_loop["ports"]] == [lab.ports[number].mac for number in own]
        for side in ("tx_port", "rx_port"):
            least, done = loads(spec, side), loads(on_loop, side)
            assert all(done.get(place, 0) >= least.get(number, 0) - slack for place, number in enumerate(own))


@pytest.mark.parametrize(
    ("count", "pattern", "direction", "sent"),
    [
        # In a ring each port sends half of its load to both of its neighbours.
        (4, "pairs", "bidir", dict.fromkeys(range(4), 1)),
        (4, "pairs", "uni", dict.fromkeys(range(4), 1)),
        (3, "pairs", "uni", dict.fromkeys(range(4), 1)),
        (8, "full-mesh", "bidir", dict.fromkeys(range(8), 1)),
        # Three lines to the first port, which its one partner has to send.
        (4, "many-to-one", "uni", {1: 3, 2: 1, 3: 1}),
        (4, "one-to-many", "uni", {0: 1, 2: Fraction(1, 3), 3: Fraction(1, 3)}),
        (5, "many-to-one", "uni", {1: 4, 2: 1, 3: 1, 4: 1}),
    ],
)
def test_looped_ports_send_what_the_pattern_asks_of_them(
    count: int, pattern: str, direction: str, sent: Mapping[int, Any]
) -> None:
    """In loads of a port, by the definitions of the patterns (RFC 2889 sections 5.1 and 5.2)."""
    _, on_loop, _ = specs(plan_of(count, pattern, direction))
    share = {port: float(fps / FPS) for port, fps in loads(on_loop, "tx_port").items()}
    assert share == pytest.approx({port: float(one) for port, one in sent.items()})


@pytest.mark.parametrize(
    ("count", "pattern", "direction", "stricter"),
    [
        (4, "pairs", "bidir", False),
        (8, "full-mesh", "bidir", False),
        (4, "half-to-half", "bidir", False),
        (3, "pairs", "bidir", True),
        (4, "many-to-one", "uni", True),
        (4, "one-to-many", "uni", True),
    ],
)
def test_calibration_that_sends_more_than_the_case_is_stricter(
    count: int, pattern: str, direction: str, stricter: bool
) -> None:
    """With an odd port, or where one port receives more than one sends."""
    plan = plan_of(count, pattern, direction)
    (case,) = cases(plan)
    bench = Bench(load_tester(TESTERS["netdyno"]), plan, looped(wired(plan, case)), 0)
    assert bench.is_stricter(case) == stricter


def test_an_enforced_line_brings_no_port_more_than_a_line() -> None:
    """A load of the whole line: of three lines to the first port one comes out of the device."""
    plan = plan_of(4, "many-to-one", "uni")
    (case,) = cases(plan)
    lab = wired(plan, case)
    joined = looped(replace(lab, ports=tuple(replace(port, enforced_rate=True) for port in lab.ports)))
    full = Fraction(LINE_BPS, BITS)
    spec = trial_spec(plan, case, joined.own, Trial("t", Frames.steady(FrameRate(full), 10**9)))
    assert sum(stream["schedule"][0]["from_bps"] for stream in spec["streams"]) == pytest.approx(3 * LINE_BPS)
    sent = loads(lead_back(spec, joined), "tx_port")
    assert {port: round(fps * BITS / LINE_BPS, 6) for port, fps in sent.items()} == {1: 1, 2: 1, 3: 1}


def test_two_looped_ports_run_the_trial_as_it_is() -> None:
    in_lab, on_loop, _ = specs(plan_of(2))
    assert on_loop["streams"] == in_lab["streams"]


def test_frames_of_looped_streams_come_from_their_own_port() -> None:
    _, on_loop, joined = specs(plan_of(4, "many-to-one", "uni"))
    for stream in on_loop["streams"]:
        assert stream["headers"][0]["src"] == joined.ports[stream["tx_port"]].mac


# Whose proof is whose.


def job_of(plan: Plan, *kept: Calibration, number: int = 0) -> Job:
    return Job(plan, cases(plan)[number], TESTERS["netdyno"], calibrations=kept, versions={})


def proof(plan: Plan, number: int = 0) -> Calibration:
    """A calibration of a case, as its own loopback has it."""
    case = cases(plan)[number]
    joined = looped(wired(plan, case))
    found = Traffic(traffic.key(case, joined, verify=True), "x", Fraction(500_000), None, None, None, None)
    return Calibration(
        id=f"{plan.title}-{len(joined.own.ports)}",
        made_at=datetime(2026, 11, 22, tzinfo=UTC),
        effort="quick",
        how="veth pairs",
        ports=inventory.ports(joined),
        basis={},
        machine={},
        checks=(),
        traffic=(found,),
    )


def has_proof(plan: Plan, kept: Calibration, number: int = 0) -> bool:
    job = job_of(plan, kept, number=number)
    proven, _ = find_proof(job, wired(plan, job.case), {})
    return proven is not None and proven.holds


@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_proof_holds_for_its_number_of_ports_alone(count: int) -> None:
    kept = proof(plan_of(count))
    assert [other for other in (2, 3, 4, 8) if has_proof(plan_of(other), kept)] == [count]


def test_proof_of_one_pattern_is_none_of_another() -> None:
    ways = (("pairs", "uni"), ("pairs", "bidir"), ("full-mesh", "bidir"), ("many-to-one", "uni"))
    for way in ways:
        kept = proof(plan_of(4, *way))
        assert [other for other in ways if has_proof(plan_of(4, *other), kept)] == [way]


GROUPS = "groups: {a: [t0, t1], b: [t2, t3]}"


def test_proof_of_one_group_is_none_of_two_at_once() -> None:
    plan = plan_of(4, groups=GROUPS)
    alone, together = proof(plan, 0), proof(plan, 1)
    assert [has_proof(plan, alone, 0), has_proof(plan, alone, 1)] == [True, False]
    assert [has_proof(plan, together, 0), has_proof(plan, together, 1)] == [False, True]
    # Two groups of two ports each are no ring of four.
    assert not has_proof(plan_of(4), together)


def test_cases_of_groups_are_calibrated_by_the_ports_that_they_open() -> None:
    plan = plan_of(4, groups=GROUPS)
    assert {names: [case.number for case in some] for names, some in by_ports(plan, cases(plan)).items()} == {
        ("t0", "t1"): [0],
        ("t0", "t1", "t2", "t3"): [1],
    }


@pytest.mark.parametrize(
    ("kind", "count", "cables"),
    [
        ("linux/bridge", 4, ()),
        ("external", 2, (("t0", "t1"),)),
        ("external", 3, (("t0", "t1"), ("t2",))),
        ("external", 4, (("t0", "t1"), ("t2", "t3"))),
    ],
)
def test_report_names_the_cables_that_a_calibration_needs(
    kind: str, count: int, cables: tuple[tuple[str, ...], ...]
) -> None:
    plan = plan_of(count, kind=kind)
    job = job_of(plan)
    proven, notes = find_proof(job, wired(plan, job.case), {})
    assert proven is None
    assert notes == (PortsNotCalibrated("netdyno calibrate plan.yaml", cables),)
