"""What is declared of the device behind the tester's ports."""

from __future__ import annotations

import pytest
from netdyno.campaign.inside import device_ports
from netdyno.devices import KINDS, LabLink
from netdyno.devices.wiring import Trait


def test_members_of_a_lag_are_counted_with_the_port_of_their_link() -> None:
    links = (
        LabLink("west", "Te0/1/0/0", 10**10, interface="eth7", members=("Te0/1/0/1",)),
        LabLink("east", "Te0/2/0/0", 10**10, interface="eth8"),
    )
    wiring = KINDS["external"].wire(links, {})
    assert device_ports(links, wiring) == ("Te0/1/0/0+Te0/1/0/1", "Te0/2/0/0")


@pytest.mark.parametrize("is_routed", [False, True])
def test_users_device_is_unproven_also_where_a_gateway_is_asked_for(is_routed: bool) -> None:
    """Who answers ARP may have no route for the test frames."""
    links = tuple(
        LabLink(name, name, 10**10, interface=name, address=f"10.0.{place}.2/24", gateway=f"10.0.{place}.1")
        if is_routed
        else LabLink(name, name, 10**10, interface=name)
        for place, name in enumerate(("west", "east"))
    )
    assert Trait.UNPROVEN in KINDS["external"].wire(links, {}).traits
