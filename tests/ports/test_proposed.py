"""Interfaces that a first plan is proposed for."""

from __future__ import annotations

import pytest
from netdyno.ports import proposed
from netdyno.ports.ethtool import Card
from netdyno.ports.in_use import Use
from netdyno.ports.listing import PortReport
from netdyno.ports.nic import Nic
from netdyno.ports.nic.netlink import Link


def port(
    name: str, *, up: bool = True, carrier: bool = True, kind: str = "", driver: str = "ixgbe", **more: object
) -> PortReport:
    link = Link(
        index=1,
        name=name,
        up=up,
        loopback=False,
        ethernet=True,
        state="up",
        mac="02:00:00:00:00:01",
        mtu=1500,
        kind=kind,
        in_group=name.startswith("slave"),
        carrier=carrier,
        downs=0,
        promiscuity=0,
        xdp="",
        xdp_program=None,
        counters={},
    )
    card = Card(driver, "" if kind else "0000:01:00.0", 10**10)
    return PortReport(Nic(link, card, **more), (), ())  # type: ignore[arg-type]


def test_cards_with_a_carrier_are_proposed_before_others(monkeypatch: pytest.MonkeyPatch) -> None:
    ports = [
        port("veth0", kind="veth", driver="veth"),
        port("eth10"),
        port("eth2"),
        port("eth1", carrier=False),
        port("eth0", default_route=True),
        port("eth3", addresses=("192.0.2.1/24",)),
        port("eth4"),
        port("slave1"),
        port("ifb0", up=False, kind="ifb", driver="ifb"),
    ]
    monkeypatch.setattr(proposed, "look", lambda: ports)
    monkeypatch.setattr(proposed, "find_uses", lambda names: [Use("eth4", "it has other traffic")])
    seen = proposed.see()
    assert proposed.propose(seen) == ("eth2", "eth10")
    free = [one.port.nic.name for one in seen if not one.why_not]
    assert free == ["eth1", "eth2", "eth10", "veth0"]
    assert proposed.propose([one for one in seen if one.port.nic.name not in ("eth2", "eth10")]) == (
        "eth1",
        "veth0",
    )
    assert proposed.propose(seen, 5) == ()
