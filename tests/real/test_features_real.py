"""Features of a real Linux router: proven by packets before they are measured, and lies that are found."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pytest
from netdyno.campaign.case import run_case
from netdyno.campaign.events import Failed, Measured
from netdyno.campaign.job import Job
from netdyno.devices import LabError, LabLink, linux
from netdyno.devices.kind import Program
from netdyno.devices.linux import ROUTER
from netdyno.devices.linux.features import FEATURES
from netdyno.devices.linux.features.acl import Acl
from netdyno.devices.linux.features.feature import COUNTER, Feature, TcFeature
from netdyno.devices.linux.features.flow_export import Capture
from netdyno.devices.linux.features.nat import MASQUERADE, Nat
from netdyno.devices.linux.features.proof import prove
from netdyno.devices.linux.features.urpf import ReversePath
from netdyno.devices.linux.leftovers import state_folder
from netdyno.devices.linux.live import LinuxLive
from netdyno.devices.linux.services import features
from netdyno.devices.linux.services.service import Lab
from netdyno.devices.reasons import ConnectionTable, DeviceOnOwnCore
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from netdyno.testers import TESTERS
from netdyno.values.load import CORE_SETTING, NO_SERVICE, SERVICE_SETTING, TESTERS_CORE, Event
from test_labs import needs_root

pytestmark = [pytest.mark.paired, needs_root]

LINKS = (LabLink("west", "d0", 10**9), LabLink("east", "d1", 10**9))
LACKING = {"fair-queue-100mbit": "fq_codel"}
"""Queueing disciplines that kernels of test machines lack."""


def is_there(name: str) -> bool:
    command = ["unshare", "-n", "tc", "qdisc", "add", "dev", "lo", "root", name]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextmanager
def built(name: str) -> Iterator[LinuxLive]:
    with ROUTER.build(ROUTER.wire(LINKS, {SERVICE_SETTING: name})) as live:
        assert isinstance(live, LinuxLive)
        yield live


@pytest.mark.parametrize("name", FEATURES)
def test_feature_does_what_it_says(name: str) -> None:
    """The lab is built only if each packet of its proof did as it should and its counter moved."""
    if name in LACKING and not is_there(LACKING[name]):
        with pytest.raises(LabError) as found, built(name):
            pytest.fail("a lab was built with it")
        assert found.value.code == "service-unavailable"
        return
    with built(name) as live:
        assert SERVICE_SETTING in live.wiring.switched
        live.switch({SERVICE_SETTING: NO_SERVICE})
        live.switch({CORE_SETTING: TESTERS_CORE})
        live.switch({})


class MatchesNothing(type(MASQUERADE)):  # type: ignore[misc]
    """Masquerade of what leaves by a port that there is not."""

    def chain(self, lab: Lab) -> Sequence[str]:
        return [line.replace("oifname d1", "oifname d7") for line in super().chain(lab)]


class BehindAnAccept(Acl):
    """An access list that a rule before it keeps every packet from."""

    def rules(self, lab: Lab) -> Sequence[str]:
        return [line.replace("iifname != d0 accept", "accept") for line in super().rules(lab)]


class Uncounted(Acl):
    """Which lets everything pass, and counts nothing of it."""

    def rules(self, lab: Lab) -> Sequence[str]:
        return [line.replace(f"counter name {COUNTER}", "") for line in super().rules(lab)]


MISSED = TcFeature(
    "priority",
    "",
    commands=tuple(one.replace("5060", "5061") for one in FEATURES["priority"].commands),  # type: ignore[attr-defined]
    queues=FEATURES["priority"].queues,  # type: ignore[attr-defined]
)
"""A class of priority for packets that nobody sends."""


class SwitchedOff(ReversePath):
    """Reverse path forwarding that is not on."""

    def install(self, lab: Lab) -> None:
        self.remove(lab)


LIES = (
    MatchesNothing("masquerade", "", how="masquerade", outside=MASQUERADE.outside, keeps_state=True),
    BehindAnAccept("acl-25", ""),
    Uncounted("acl-25", ""),
    SwitchedOff("urpf-strict", "", (), mode=1),
    MISSED,
)


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: type(lie).__name__)
def test_feature_that_is_not_at_work_is_an_error_by_name(
    lie: Feature, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(features.FEATURES, lie.name, lie)  # type: ignore[arg-type]
    with pytest.raises(LabError) as found, built(lie.name):
        pytest.fail("a lab was built with it")
    assert found.value.code == "service-unproven"


class PastIt(Acl):
    """An access list that lets long packets past its counter: all, or those of every other host."""

    def rules(self, lab: Lab) -> Sequence[str]:
        lines = list(super().rules(lab))
        hosts = "ip saddr & 0.0.0.1 == 0.0.0.0 " if self.as_set else ""
        return [*lines[:2], f"iifname d0 {hosts}meta length > 64 accept", *lines[2:]]


PLAN = """\
title: Services
lab:
  nodes: {tester: {kind: netdyno}, dut: {kind: linux/router}}
  links:
    - {endpoints: ["tester:in", "dut:d0"], rate: 1Gbps}
    - {endpoints: ["tester:out", "dut:d1"], rate: 1Gbps}
traffic:
  it:
    size: 128B
    flows: 256
    headers:
      - {type: ethernet}
      - {type: ipv4, src: {step: {start: 16.0.0.1, step: 1, count: 256}}, dst: 48.0.0.1}
      - {type: udp, sport: 1025, dport: 12}
matrix: {service: [SERVICES], direction: [uni]}
method: {sweep: {loads: [1%], duration: 100ms}}
trial: {settle: 10ms, drain: 100ms, sample: 10ms}
"""


def run_cases(*services: str) -> list[str]:
    """How each case of a plan with these services ended: the code of its error, or `measured`."""
    plan = parse(PLAN.replace("SERVICES", ", ".join(services)))
    found: list[str] = []

    def emit(event: object) -> None:
        if isinstance(event, Failed):
            found.append(event.error.code)
        elif isinstance(event, Measured):
            found.append("measured")

    for case in cases(plan):
        run_case(Job(plan, case, TESTERS["netdyno"]), emit, lambda: False)
    return found


def test_service_that_frames_come_past_is_an_error_and_others_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether all of them or some; a lab is looked at after every trial, the last one with it."""
    monkeypatch.setitem(features.FEATURES, "acl-1", PastIt("acl-1", ""))  # type: ignore[arg-type]
    some = PastIt("acl-25-set", "", as_set=True)
    monkeypatch.setitem(features.FEATURES, "acl-25-set", some)  # type: ignore[arg-type]
    asked = ("acl-1", "acl-25-set", "acl-25", "masquerade", "priority", "flow-export", "urpf-strict")
    assert run_cases(*asked) == ["service-idle", "service-bypassed", *["measured"] * 5]


def test_pool_with_fewer_ports_than_flows_is_an_error_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each flow of the profile has an address of its own; all go to one destination."""
    how = "meta l4proto udp snat to 100.67.0.1:2000-2009"
    pool = Nat("nat-pool", "", keeps_state=True, how=how, outside=("100.67.0.1/32",))
    monkeypatch.setitem(features.FEATURES, "nat-pool", pool)  # type: ignore[arg-type]
    assert run_cases("nat-pool", "masquerade") == ["nat-exhausted", "measured"]


def test_table_of_connections_and_a_log_without_reader_are_noted() -> None:
    with built("masquerade") as live:
        (table,) = (note for note in live.wiring.notes if isinstance(note, ConnectionTable))
    assert (table.udp_s, table.answered_s) == (300, 300)
    with built("acl-25-nflog") as live:
        assert "log-unread" in {note.code for note in live.wiring.notes}
    wiring = replace(ROUTER.wire(LINKS, {SERVICE_SETTING: "masquerade"}), flows=table.most // 2 + 1)
    with pytest.raises(LabError) as found, ROUTER.build(wiring):
        pytest.fail("a lab was built with it")
    assert found.value.code == "too-many-flows"


def test_service_without_a_counter_is_proven_again_at_the_end() -> None:
    with pytest.raises(LabError) as found, built("urpf-strict") as live:
        live.device.do("echo 0 > /proc/sys/net/ipv4/conf/d0/rp_filter")
    assert found.value.code == "service-unproven"


def test_flow_export_captures_again_after_its_port_was_down() -> None:
    """And on the device's core alone: else it takes the tester's."""
    with built("flow-export") as live:
        (capture,) = (one for one in live.instruments() if isinstance(one, Capture))
        core = next(note.device_core for note in live.wiring.notes if isinstance(note, DeviceOnOwnCore))

        def read() -> tuple[int, int]:
            pid = int(capture.control.with_suffix(".ctl.pid").read_text())
            assert os.sched_getaffinity(pid) == {core}
            samples = capture.read(time.monotonic_ns)
            (seen,) = (one.value for channel, one in samples.items() if channel.name == "seen by its capture")
            assert isinstance(seen, int)
            return pid, seen

        first, _ = read()
        live.ask(Event(0, "link-down", "west"))
        live.ask(Event(0, "link-up", "west"))
        again, seen = read()
        lab = Lab(live.device, live.wiring, ("p0", "p1"), capture.control.parent)
        prove(FEATURES["flow-export"], lab, lab.interfaces)
        assert (again != first, read()) == (True, (again, seen + 20))
        live.switch({SERVICE_SETTING: NO_SERVICE})
        live.ask(Event(0, "link-up", "west"))
        assert not capture.control.exists(), "it is not in place"


def test_no_frame_is_timed_where_interrupts_are_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux, "counts_interrupts_apart", lambda: True)
    with built("acl-1") as live:
        assert live.wiring.switched == (SERVICE_SETTING,)
        assert "interrupts-apart" in {note.code for note in live.wiring.notes}


def test_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Acl("acl-1", "", (Program("nft-that-is-gone", "nftables", "a test wants it"),))
    monkeypatch.setitem(features.FEATURES, gone.name, gone)  # type: ignore[arg-type]
    assert run_cases("acl-1", "acl-25") == ["tool-missing", "measured"]


def test_nothing_of_a_service_is_left_of_its_lab() -> None:
    before = set(state_folder().iterdir())
    with built("flow-export"):
        pass
    assert set(state_folder().iterdir()) == before


def test_flow_that_was_translated_before_is_translated_again() -> None:
    """Connections outlive the rules: without forgetting them none would come to the rules a second time."""
    with built("masquerade") as live:
        for _ in range(2):
            live.switch({SERVICE_SETTING: NO_SERVICE})
            live.switch({SERVICE_SETTING: "masquerade"})
            prove(MASQUERADE, Lab(live.device, live.wiring, ("p0", "p1")), ("p0", "p1"))
            live.switch({SERVICE_SETTING: "masquerade"})
