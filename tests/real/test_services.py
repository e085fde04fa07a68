"""Services of a Linux router: installed in the order of their table, undone in reverse, known to watchers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from netdyno.devices import LabError, LabLink, Wiring
from netdyno.devices.linux import ROUTER
from netdyno.devices.linux.services import SERVICES
from netdyno.devices.linux.services.service import Installed, Lab, Service
from netdyno.values.load import Event
from test_labs import needs_root

pytestmark = pytest.mark.paired

LINKS = (LabLink("west", "d0", 10**9), LabLink("east", "d1", 10**9))
INSTRUMENT: Any = SimpleNamespace(name="counter of a test")
done: list[str] = []


@dataclass(frozen=True)
class Noted(Service):
    """Notes what is done with it. is_broken: it cannot be installed."""

    is_broken: bool = False

    def wire(self, wiring: Wiring, value: str) -> Wiring:
        return replace(wiring, counted_as=(*wiring.counted_as, value))

    @contextmanager
    def install(self, lab: Lab) -> Iterator[Installed]:
        if self.is_broken:
            raise LabError("it cannot be installed", code="command-failed")
        done.append(f"{self.setting} on {' '.join(lab.ports)}")
        try:
            yield Installed(instruments=(INSTRUMENT,), of_links=("ip link add name back0 type veth", "true"))
        finally:
            done.append(f"{self.setting} undone")

    def addresses_of(self, settings: Mapping[str, str]) -> Mapping[str, str]:
        return {self.setting: "192.0.2.1"}


FIRST, SECOND = (Noted(name, ("none", "some")) for name in ("first", "second"))


def router(*services: Service) -> Any:
    settings = {service.setting: service.values for service in services}
    return replace(ROUTER, services=services, settings=settings)


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    done.clear()


def test_every_service_is_a_documented_setting_of_the_router() -> None:
    assert ROUTER.settings.items() >= {service.setting: service.values for service in SERVICES}.items()
    text = (Path(__file__).parents[2] / "docs" / "labs.md").read_text()
    for service in SERVICES:
        assert f"`{service.setting}`" in text
        assert all(f"`{value}`" in text for value in service.values)


def test_default_value_leaves_a_service_out() -> None:
    kind = router(FIRST, SECOND)
    assert kind.list_watched({"first": "none"}) == ("device",)
    assert kind.list_watched({"first": "none", "second": "some"}) == ("device", "second")
    assert kind.wire(LINKS, {"second": "some"}).counted_as == ("d0", "d1", "some")
    with pytest.raises(ValueError, match="`second` cannot be `other`"):
        kind.wire(LINKS, {"second": "other"})


@needs_root
def test_services_are_undone_in_reverse_order() -> None:
    kind = router(FIRST, SECOND)
    with kind.build(kind.wire(LINKS, {"first": "some", "second": "some"})) as live:
        assert done == ["first on d0 d1", "second on d0 d1"]
        assert live.instruments().count(INSTRUMENT) == 2
        assert live.addresses_of()["second"] == "192.0.2.1"
    assert done[2:] == ["second undone", "first undone"]


@needs_root
def test_service_that_fails_undoes_those_before_it() -> None:
    kind = router(FIRST, replace(SECOND, is_broken=True))
    wiring = kind.wire(LINKS, {"first": "some", "second": "some"})
    with pytest.raises(LabError, match="cannot be installed"), kind.build(wiring):
        pass
    assert done == ["first on d0 d1", "first undone"]


@needs_root
def test_service_gives_a_port_back_what_went_with_its_link() -> None:
    kind = router(FIRST)
    with kind.build(kind.wire(LINKS, {"first": "some"})) as live:
        live.ask(Event(0, "link-down", "east"))
        live.ask(Event(0, "link-up", "east"))
        assert live.device.ask("ip link show back0")[0] != 0
        live.ask(Event(0, "link-up", "west"))
        assert live.device.ask("ip link show back0")[0] == 0
