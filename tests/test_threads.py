"""The tester's threads: what a plan says of them, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest
from netdyno.labs import KINDS
from netdyno.labs.threads import Threads
from netdyno.labs.wiring import LabLink, Wiring
from netdyno.plan import PlanErrors, parse

PLAN = """\
title: threads
lab:
  nodes:
    tester: {{kind: netdyno{tester}}}
    dut: {{kind: linux/router{device}}}
  links:
    - {{endpoints: ["tester:west", "dut:p0"], rate: 10Gbps}}
    - {{endpoints: ["tester:east", "dut:p1"], rate: 10Gbps}}
traffic:
  small: {{size: 64B, flows: 100}}
method:
  throughput: {{}}
"""


def planned(tester: str = "", device: str = "") -> Threads:
    return parse(PLAN.format(tester=tester, device=device)).lab.threads


def wiring(clock: Literal["virtual", "real"], **session: object) -> Wiring:
    links = (LabLink("west", "p0", 10**10), LabLink("east", "p1", 10**10))
    found = KINDS["emulated/cross-connect"].wire(links, {})
    return replace(found, clock=clock, session={**found.session, **session})


def test_a_plan_says_how_many_threads_there_are_and_where() -> None:
    assert planned() == Threads(None, ())
    assert planned().count == 1
    assert planned(", workers: 2") == Threads(2, ())
    assert planned(", cores: [2, 3]").count == 2
    assert planned(", workers: 1, cores: [2, 3]") == Threads(1, (2, 3))


@pytest.mark.parametrize(
    ("tester", "device", "expected"),
    [
        (", workers: 3, cores: [0, 1]", "", "3 workers on 2 cores"),
        (", cores: [1, 1]", "", "a core is named twice"),
        ("", ", workers: 2", "a device has no `workers`"),
        (", workers: 0", "", "`workers` cannot be `0`"),
    ],
)
def test_threads_that_cannot_be_are_told_with_their_place(tester: str, device: str, expected: str) -> None:
    with pytest.raises(PlanErrors) as told:
        planned(tester, device)
    (error,) = told.value.errors
    assert expected in error.message
    assert error.line in (4, 5)


def test_a_session_is_told_the_threads_of_its_plan() -> None:
    assert Threads().settled(wiring("real", cores=[0])) == wiring("real", cores=[0])
    assert Threads(2).settled(wiring("virtual")) == wiring("virtual")
    two = Threads(2).settled(wiring("real"))
    assert two.session["workers"] == 2
    assert "cores" not in two.session
    named = Threads(1, (2, 3)).settled(wiring("real"))
    assert (named.session["workers"], named.session["cores"]) == (1, [2, 3])


def test_cores_that_the_lab_meant_for_the_device_are_spoken_of() -> None:
    two = Threads(2).settled(wiring("real", cores=[0]))
    assert "cores" not in two.session
    assert "which the device may want too" in two.notes[-1]
    same = Threads(1, (0,)).settled(wiring("real", cores=[0]))
    assert same.notes == wiring("real").notes
