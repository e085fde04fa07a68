"""Which interfaces this machine uses itself, and what the names that a user gives stand for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from netdyno.errors import NetdynoError
from netdyno.ports.in_use import Machine, Use, find_links, find_uses, read_machine
from netdyno.ports.nic.netlink import Link

IDLE = {"tx_packets": 100, "rx_packets": 100, "multicast": 50}


def link(index: int, name: str, kind: str = "", lower: int | None = None, group: int | None = None) -> Link:
    return Link(
        index=index,
        name=name,
        up=True,
        loopback=name == "lo",
        ethernet=True,
        state="up",
        mac="",
        mtu=1500,
        kind=kind,
        in_group=group is not None,
        carrier=True,
        downs=0,
        promiscuity=0,
        xdp="",
        xdp_program=None,
        counters=IDLE,
        lower=lower,
        group=group,
    )


LINKS = (link(1, "lo"), link(2, "eth0"), link(3, "eth1"), link(4, "eth2"), link(5, "eth1.10", "vlan", 3))


def uses(machine: Machine, *names: str, later: dict[str, int] | None = None) -> list[Use]:
    """later: the counters of `eth1` at the second look."""
    second = [replace(one, counters=later or IDLE) if one.name == "eth1" else one for one in machine.links]
    looks = iter((machine, replace(machine, links=second)))
    return find_uses(names, lambda: next(looks), lambda _: None)


def test_idle_interface_is_not_used() -> None:
    machine = Machine(LINKS, frozenset({2}), {3: ["192.0.2.1/24"]}, ("10.0.0.1", "10.0.0.9"), 2)
    few = {"tx_packets": 103, "rx_packets": 160, "multicast": 90}
    assert uses(machine, "eth1", "eth2", later=few) == []


def test_default_route_is_used_and_so_is_what_is_below_it() -> None:
    assert uses(Machine(LINKS, frozenset({2})), "eth0", "eth1") == [
        Use("eth0", "it holds the default route of this machine")
    ]
    (found,) = uses(Machine(LINKS, frozenset({5})), "eth1", "eth2")
    assert found == Use("eth1", "`eth1.10`, which is made on it, holds the default route of this machine")


@pytest.mark.parametrize(("addresses", "route"), [({3: ["10.0.0.1/24"]}, None), ({}, 3)])
def test_ssh_session_by_address_or_route_is_used(addresses: dict[int, list[str]], route: int | None) -> None:
    machine = Machine(LINKS, frozenset(), addresses, ("10.0.0.1", "10.0.0.9"), route)
    assert uses(machine, "eth1", "eth2") == [Use("eth1", "it carries this ssh session, from 10.0.0.9")]


def test_tcp_connections_of_an_address_are_used() -> None:
    machine = Machine(LINKS, frozenset(), {3: ["10.0.0.1/24"]}, connections=[("10.0.0.1", "10.0.0.7")])
    (found,) = uses(machine, "eth1", "eth2")
    assert "10.0.0.7" in found.why


def test_port_of_a_bridge_is_used_and_one_of_a_vrf_is_not() -> None:
    ports = (link(3, "eth1", group=6), link(4, "eth2", group=7))
    machine = Machine((*ports, link(6, "br0", "bridge"), link(7, "red", "vrf")))
    assert uses(machine, "eth1", "eth2") == [Use("eth1", "it belongs to `br0`, a bridge of this machine")]


@pytest.mark.parametrize("counter", ["tx_packets", "rx_packets"])
def test_counters_that_move_are_other_traffic(counter: str) -> None:
    (found,) = uses(Machine(LINKS), "eth1", later={**IDLE, counter: 200})
    assert "other traffic" in found.why


def test_ssh_and_connections_are_read_from_proc(tmp_path: Path) -> None:
    for pid, parent, environ in (
        ("self", "20", b""),
        ("20", "1", b"A=b\0SSH_CONNECTION=fe80::9 22 fe80::1 9\0"),
    ):
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "stat").write_text(f"7 (a) b) S {parent} 7 7")
        (tmp_path / pid / "environ").write_bytes(environ)
    net = tmp_path / "thread-self" / "net"
    net.mkdir(parents=True)
    head = "  sl  local_address rem_address   st"
    (net / "tcp").write_text(f"{head}\n 0: 0100000A:0016 0900000A:C000 01 x\n 1: 0100000A:0016 0 0A x\n")
    (net / "tcp6").write_text(f"{head}\n 0: 0000000000000000FFFF00000100000A:0016 {'0' * 32}:0 01 x\n")
    found = read_machine(tmp_path, {})
    assert found.ssh == ("fe80::1", "fe80::9")
    assert found.connections == (("10.0.0.1", "10.0.0.9"), ("10.0.0.1", "::"))
    assert read_machine(tmp_path, {"SSH_CONNECTION": "10.0.0.9 5 10.0.0.1 22"}).ssh == (
        "10.0.0.1",
        "10.0.0.9",
    )
    assert read_machine(tmp_path / "none", {}).ssh is None


def test_links_by_names_as_ip_prints_them() -> None:
    assert [one.index for one in find_links(("eth2@if7", "eth1"), LINKS)] == [4, 3]


@pytest.mark.parametrize(
    ("names", "code", "hint"),
    [
        (("eth1", "eth1"), "given-twice", "two interfaces"),
        (("eth1", "eth11"), "no-such-interface", "did you mean `eth1`?"),
    ],
)
def test_names_of_no_two_interfaces_are_refused(names: tuple[str, ...], code: str, hint: str) -> None:
    with pytest.raises(NetdynoError) as refused:
        find_links(names, LINKS)
    assert refused.value.code == code
    assert hint in (refused.value.hint or "")
