"""The tester's threads: what a plan says of them, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, cast

import pytest
from netdyno.devices import KINDS, LabError, linux
from netdyno.devices.linux import device
from netdyno.devices.reasons import DeviceOnOwnCore, DeviceSharesCore
from netdyno.devices.wiring import LabLink, Wiring
from netdyno.plan import PlanErrors, parse
from netdyno.ports.threads import Threads, cores_of
from netdyno.values.reason import Reason

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
    return replace(found, clock=clock, session={**found.session, "clock": clock, **session})


def test_a_plan_says_how_many_threads_there_are_and_where() -> None:
    assert planned() == Threads(None, ())
    assert planned().count == 1
    assert planned(", workers: 2") == Threads(2, ())
    assert planned(", cores: [2, 3]").count == 2
    assert planned(", workers: 1, cores: [2, 3]") == Threads(1, (2, 3))


@pytest.mark.parametrize(
    ("tester", "device", "expected"),
    [
        (", workers: 3, cores: [0, 1]", "", "3 workers, and `cores` names 2 cores"),
        (", cores: [1, 1]", "", "a core is named twice"),
        ("", ", workers: 2", "a device has no `workers`"),
        (", workers: 0", "", "`workers` cannot be `0`"),
    ],
)
def test_impossible_threads_are_reported_with_their_place(tester: str, device: str, expected: str) -> None:
    with pytest.raises(PlanErrors) as told:
        planned(tester, device)
    (error,) = told.value.errors
    assert expected in error.message
    assert error.line in (4, 5)


def test_session_gets_the_threads_of_its_plan() -> None:
    assert wiring("real", cores=[0]).with_threads(Threads()) == wiring("real", cores=[0])
    assert wiring("virtual").with_threads(Threads(2)) == wiring("virtual")
    two = wiring("real").with_threads(Threads(2))
    assert two.session["workers"] == 2
    assert "cores" not in two.session
    named = wiring("real").with_threads(Threads(1, (2, 3)))
    assert (named.session["workers"], named.session["cores"]) == (1, [2, 3])


@pytest.mark.parametrize(
    ("session", "cores"),
    [
        ({}, []),
        ({"cores": [3]}, [3]),
        ({"workers": 1, "cores": [2, 3]}, [2]),
        ({"workers": 2, "cores": [3, 2, 5]}, [3, 2]),
        ({"workers": 2}, [4, 7]),
    ],
)
def test_workers_get_the_named_cores_or_the_first_that_exist(
    session: dict[str, object], cores: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {7, 4, 9})
    assert cores_of(session) == cores


@pytest.mark.parametrize(
    ("session", "core", "note"),
    [
        ({}, 3, DeviceOnOwnCore(3, (0,))),
        ({"workers": 2}, 3, DeviceOnOwnCore(3, (0, 1))),
        ({"workers": 3, "cores": [1, 2, 3]}, 0, DeviceOnOwnCore(0, (1, 2, 3))),
        ({"workers": 1, "cores": [2, 1]}, 1, DeviceOnOwnCore(1, (2,))),
        ({"workers": 4}, 3, DeviceSharesCore(3, 4, 4)),
        ({"workers": 2, "cores": [0, 1, 1]}, 1, DeviceSharesCore(1, 2, 2)),
    ],
)
def test_linux_lab_lists_the_core_of_each_thread_and_shared_cores(
    session: dict[str, object], core: int, note: Reason, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four cores; the device is moved to one, which the test only notes."""
    moved: list[tuple[int, int, int]] = []
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(device, "isolate", lambda _, core, ports, queues: moved.append((core, ports, queues)))
    wired = linux.ROUTER.wire((LabLink("west", "p0", 10**10), LabLink("east", "p1", 10**10)), {})
    built = linux._as_built(replace(wired, session={**wired.session, **session}), cast("device.Device", None))
    assert built.notes[-1] == note
    workers = session.get("workers", 1)
    assert len(built.session["cores"]) == workers
    assert moved == [(core, 2, workers)]


def test_af_xdp_on_a_veth_with_several_queues_is_native_and_never_generic() -> None:
    def queued(workers: int, **backend: object) -> list[dict[str, object]]:
        port = {"name": "west", "backend": {"interface": "p0", **backend}}
        found = linux._queued(wiring("real", workers=workers, ports=[port]))
        return [one["backend"] for one in found.session["ports"]]

    assert queued(1, kind="af_xdp") == [{"interface": "p0", "kind": "af_xdp"}]
    assert queued(2, kind="af_xdp") == [{"interface": "p0", "kind": "af_xdp", "attach": "native"}]
    assert queued(1, kind="auto") == [{"interface": "p0", "kind": "auto"}]
    assert queued(2, kind="auto") == [{"interface": "p0", "kind": "af_packet"}]
    assert queued(1, kind="af_xdp", attach="generic")[0]["attach"] == "generic"
    with pytest.raises(LabError, match="does not see the queue of a frame") as told:
        queued(2, kind="af_xdp", attach="generic")
    assert (told.value.link, told.value.code) == (0, "interface-unfit")
