"""Features of a real Linux router: proven by packets before they are measured, and lies that are found."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from netdyno.devices import LabError, LabLink
from netdyno.devices.linux import ROUTER
from netdyno.devices.linux.features import FEATURES
from netdyno.devices.linux.features.acl import Acl
from netdyno.devices.linux.features.feature import COUNTER, Feature
from netdyno.devices.linux.features.nat import MASQUERADE
from netdyno.devices.linux.features.proof import prove
from netdyno.devices.linux.features.urpf import ReversePath
from netdyno.devices.linux.services import features
from netdyno.devices.linux.services.service import Lab
from netdyno.devices.live import Live
from netdyno.values.load import CORE_SETTING, NO_SERVICE, SERVICE_SETTING, TESTERS_CORE
from test_labs import needs_root

pytestmark = [pytest.mark.paired, needs_root]

LINKS = (LabLink("west", "d0", 10**9), LabLink("east", "d1", 10**9))
LACKING = {"fair-queue": "fq_codel"}
"""Queueing disciplines that kernels of test machines lack."""


def is_there(name: str) -> bool:
    command = ["unshare", "-n", "tc", "qdisc", "add", "dev", "lo", "root", name]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextmanager
def built(name: str) -> Iterator[Live]:
    with ROUTER.build(ROUTER.wire(LINKS, {SERVICE_SETTING: name})) as live:
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


class SwitchedOff(ReversePath):
    """Reverse path forwarding that is not on."""

    def install(self, lab: Lab) -> None:
        self.remove(lab)


LIES = (
    MatchesNothing("masquerade", "", how="masquerade", outside=MASQUERADE.outside, keeps_state=True),
    BehindAnAccept("acl-25", ""),
    Uncounted("acl-25", ""),
    SwitchedOff("urpf-strict", "", (), mode=1),
)


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: type(lie).__name__)
def test_feature_that_is_not_at_work_is_an_error_by_name(
    lie: Feature, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(features.FEATURES, lie.name, lie)  # type: ignore[arg-type]
    with pytest.raises(LabError) as found, built(lie.name):
        pytest.fail("a lab was built with it")
    assert found.value.code == "service-unproven"


def test_service_that_no_test_frame_comes_to_is_an_error_by_name() -> None:
    with built("masquerade") as live:
        live.switch({})
        with pytest.raises(LabError) as found:
            live.switch({SERVICE_SETTING: NO_SERVICE})
    assert found.value.code == "service-idle"


def test_flow_that_was_translated_before_is_translated_again() -> None:
    """Connections outlive the rules: without forgetting them none would come to the rules a second time."""
    with ROUTER.build(ROUTER.wire(LINKS, {SERVICE_SETTING: "masquerade"})) as live:
        for _ in range(2):
            live.switch({SERVICE_SETTING: NO_SERVICE})
            live.switch({SERVICE_SETTING: "masquerade"})
            device = live.device  # type: ignore[attr-defined]
            prove(MASQUERADE, Lab(device, live.wiring, ("p0", "p1")), ("p0", "p1"))
            live.switch({SERVICE_SETTING: "masquerade"})
