"""Which backend carries a port's frames: what a plan may ask for, and what a session is told."""

from __future__ import annotations

import pytest
from netdyno.errors import PlanErrors
from netdyno.labs import KINDS, LabLink, backends
from netdyno.labs.backends import PortBackend
from netdyno.plan import parse

PLAN = """\
title: Ports
lab:
  nodes:
    tester: {{kind: netdyno}}
    dut: {{kind: {kind}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 10Gbps{west}}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 10Gbps{east}}}
traffic:
  small: {{size: 64B, flows: 10}}
method:
  ramp: {{warmup: 1s at 1kpps, ramp: 2s to 100%, hold: 1s}}
"""


def plan(kind: str, west: str = "", east: str = "") -> str:
    return PLAN.format(kind=kind, west=west and f", {west}", east=east and f", {east}")


def mistakes(text: str) -> list[tuple[int, str]]:
    with pytest.raises(PlanErrors) as found:
        parse(text)
    return [(error.line, error.message) for error in found.value.errors]


def session_backends(text: str) -> list[object]:
    read = parse(text)
    return [port["backend"] for port in read.kind.wire(read.lab.links, {}).session["ports"]]


def test_a_link_without_a_backend_is_packet_sockets() -> None:
    assert session_backends(plan("external", "interface: eth1")) == [
        {"kind": "af_packet", "interface": "eth1"},
        {"kind": "af_packet", "interface": "east"},
    ]


def test_links_may_have_different_backends() -> None:
    west = "backend: memif, socket: /run/vpp/memif.sock, role: server, id: 7"
    assert session_backends(plan("external", west, "backend: af_xdp, interface: eth2")) == [
        {"kind": "memif", "socket": "/run/vpp/memif.sock", "role": "server", "id": 7},
        {"kind": "af_xdp", "interface": "eth2"},
    ]


def test_a_memif_is_a_client_of_number_0_unless_said() -> None:
    told = session_backends(
        plan("external", 'backend: memif, socket: "@dut"', 'backend: memif, socket: "@dut", id: 1')
    )
    assert told == [
        {"kind": "memif", "socket": "@dut", "role": "client", "id": 0},
        {"kind": "memif", "socket": "@dut", "role": "client", "id": 1},
    ]


@pytest.mark.parametrize("name", ["linux/router", "linux/bridge", "linux/xconnect"])
def test_a_linux_lab_takes_the_kernels_backends(name: str) -> None:
    assert session_backends(plan(name, "backend: af_xdp", "backend: auto")) == [
        {"kind": "af_xdp", "interface": "p0"},
        {"kind": "auto", "interface": "p1"},
    ]


@pytest.mark.parametrize(
    ("kind", "west", "message"),
    [
        ("external", "backend: dpdk", "`backend` cannot be `dpdk`"),
        ("external", "backend: memif", "a memif has no `socket`"),
        ("external", "backend: memif, socket: dut.sock", "`dut.sock` is not a socket"),
        ("external", 'backend: memif, socket: "@"', "`@` is not a socket"),
        (
            "external",
            f"backend: memif, socket: /{'x' * 107}",
            "a socket's name of 108 bytes is too long",
        ),
        ("external", "backend: memif, socket: /s, role: master", "`role` cannot be `master`"),
        ("external", "backend: memif, socket: /s, id: -1", "`id` cannot be `-1`"),
        ("external", "backend: memif, socket: /s, id: 4294967296", "`id` cannot be `4294967296`"),
        (
            "external",
            "backend: memif, socket: /s, interface: eth1",
            "a memif is no interface of this machine",
        ),
        ("external", "socket: /s", "`socket` is a memif's, and this link is none"),
        ("external", "backend: af_xdp, role: server", "`role` is a memif's, and this link is none"),
        ("external", "interface: east, id: 0", "`id` is a memif's, and this link is none"),
        ("linux/router", "backend: memif, socket: /s", "the ports of `linux/router` cannot be `memif`"),
        (
            "emulated/router",
            "backend: af_packet",
            "`emulated/router` is emulated in this process: no backend carries its frames",
        ),
    ],
)
def test_what_does_not_fit_is_told_in_its_line(kind: str, west: str, message: str) -> None:
    assert mistakes(plan(kind, west)) == [(7, message)]


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("interface: eth1", "interface `eth1` is used twice"),
        ("backend: memif, socket: /s", "memif 0 at `/s` is used twice"),
        ("backend: memif, socket: /s, id: 3", "memif 3 at `/s` is used twice"),
    ],
)
def test_two_links_cannot_be_one_port(link: str, message: str) -> None:
    assert mistakes(plan("external", link, link)) == [(8, message)]


def test_what_is_left_to_netdyno_is_settled_before_the_session_opens() -> None:
    links = (
        LabLink("west", "a", 1, "eth1", backend=PortBackend("auto")),
        LabLink("east", "b", 1, backend=PortBackend("memif", "@dut")),
    )
    wiring = backends.settled(KINDS["external"].wire(links, {}))
    assert [port["backend"]["kind"] for port in wiring.session["ports"]] == ["af_packet", "memif"]
