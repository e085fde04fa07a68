"""Which interfaces this machine uses itself, and what the names that a user gives stand for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from netdyno.errors import NetdynoError
from netdyno.ports import in_use
from netdyno.ports.holders import Holder, read_holders
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


def test_interface_of_another_netdyno_is_used_by_it_alone() -> None:
    machine = Machine(LINKS, holders={3: Holder(77, "netdyno run a.yaml")})
    (found,) = uses(machine, "eth1", "eth2", later={**IDLE, "tx_packets": 200})
    assert (found.interface, found.pid) == ("eth1", 77)
    assert "netdyno run a.yaml" in found.why


def test_refusal_of_another_netdyno_s_interface_names_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Use("eth1", "another netdyno runs on it", 77), Use("eth2", "another netdyno runs on it", 77)]
    monkeypatch.setattr(in_use, "find_uses", lambda *_, **__: found)
    with pytest.raises(NetdynoError) as refused:
        in_use.refuse_used(["eth1", "eth2"], instead="`--force`")
    assert refused.value.code == "interface-in-use"
    assert "kill -INT 77`" in (refused.value.hint or "")
    assert "--force" not in (refused.value.hint or "")


def test_other_netdynos_are_found_by_packet_sockets_and_xdp_programs(tmp_path: Path) -> None:
    def process(pid: str, parent: str, *command: str, inside: str = "net:[1]") -> Path:
        made = tmp_path / pid
        for folder in ("fd", "fdinfo", "ns"):
            (made / folder).mkdir(parents=True)
        (made / "stat").write_text(f"{pid} (netdyno) S {parent} 7")
        (made / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in command))
        (made / "ns" / "net").symlink_to(inside)
        return made

    send = ("/usr/bin/python3", "/opt/bin/netdyno", "send", "a b", "eth2")
    (tmp_path / "thread-self" / "ns").mkdir(parents=True)
    (tmp_path / "thread-self" / "ns" / "net").symlink_to("net:[1]")
    (tmp_path / "thread-self" / "net").mkdir()
    (tmp_path / "thread-self" / "net" / "packet").write_text(
        "sk RefCnt Type Proto Iface R Rmem User Inode\n0 3 3 0003 3 1 0 0 71\n0 3 3 0003 4 1 0 0 72\n"
    )
    process("20", "1", *send)
    (process("21", "20", *send) / "fd" / "5").symlink_to("socket:[71]")
    (process("30", "1", "tcpdump", "-i", "eth2") / "fd" / "5").symlink_to("socket:[72]")
    (process("31", "1", *send, inside="net:[2]") / "fd" / "5").symlink_to("socket:[72]")
    with_xdp = process("40", "1", "python", "-m", "netdyno", "run")
    (with_xdp / "fd" / "5").symlink_to("anon_inode:bpf_link")
    (with_xdp / "fdinfo" / "5").write_text("link_type:\txdp\nifindex:\t6\n")
    assert read_holders(tmp_path) == {
        3: Holder(20, "netdyno send 'a b' eth2"),
        6: Holder(40, "netdyno run"),
    }
    assert read_holders(tmp_path / "none") == {}


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
