"""What is declared of the device behind the tester's ports."""

from __future__ import annotations

from netdyno.campaign.inside import device_ports
from netdyno.devices import KINDS, LabLink


def test_members_of_a_lag_are_counted_with_the_port_of_their_link() -> None:
    links = (
        LabLink("west", "Te0/1/0/0", 10**10, interface="eth7", members=("Te0/1/0/1",)),
        LabLink("east", "Te0/2/0/0", 10**10, interface="eth8"),
    )
    wiring = KINDS["external"].wire(links, {})
    assert device_ports(links, wiring) == ("Te0/1/0/0+Te0/1/0/1", "Te0/2/0/0")
