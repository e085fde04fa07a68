"""Which backend carries a port's frames: what a plan may ask for, and what a session gets."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from netdyno.calibration import Proven, ports
from netdyno.campaign import backend as choose
from netdyno.campaign.lab_reasons import BackendChosen
from netdyno.cli.app import cli
from netdyno.devices import Wiring
from netdyno.devices.linux import device, namespaces
from netdyno.errors import PlanErrors
from netdyno.plan import parse
from netdyno.plan.matrix import cases
from words import within

pytestmark = pytest.mark.paired

needs_root = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("ip", path=device.SEARCH) is None,
    reason="wants root and `ip` (apt-get install iproute2)",
)

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


def test_how_af_xdp_works_may_be_said() -> None:
    told = session_backends(plan("external", "backend: af_xdp, attach: generic, mode: copy"))
    assert told[0] == {"kind": "af_xdp", "interface": "west", "attach": "generic", "mode": "copy"}


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
    # Generic XDP never sees what tc redirects, and so receives nothing behind a cross connect.
    native = {"attach": "native"} if name == "linux/xconnect" else {}
    assert session_backends(plan(name, "backend: af_xdp", "backend: auto")) == [
        {"kind": "af_xdp", "interface": "p0"} | native,
        {"kind": "af_packet" if native else "auto", "interface": "p1"},
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
        ("external", "attach: native", "`attach` is AF_XDP's, and this link is none"),
        ("external", "backend: memif, socket: /s, mode: copy", "`mode` is AF_XDP's, and this link is none"),
        ("external", "backend: af_xdp, mode: fast", "`mode` cannot be `fast`"),
        ("external", "interface: east, id: 0", "`id` is a memif's, and this link is none"),
        ("linux/router", "backend: memif, socket: /s", "the ports of `linux/router` cannot be `memif`"),
        (
            "emulated/router",
            "backend: af_packet",
            "`emulated/router` is emulated in this process: no backend carries its frames",
        ),
    ],
)
def test_backend_that_does_not_fit_is_explained_in_its_line(kind: str, west: str, message: str) -> None:
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


# What is left to netdyno.


@pytest.fixture
def lab() -> Iterator[None]:
    with namespaces.tester_namespace():
        for command in (
            "link add west type veth peer name far-west",
            "link add east type veth peer name far-east",
            "link set west up",
            "link set east up",
        ):
            subprocess.run(["ip", *command.split()], env={"PATH": device.SEARCH}, check=True)
        yield


def chosen(
    text: str, proven: Mapping[str, int] | None = None, direction: str = "uni"
) -> tuple[list[str], tuple[BackendChosen, ...]]:
    """The backends a case gets and the notes of it, with what a calibration proved of each backend."""
    read = parse(text)
    (case,) = [case for case in cases(read) if case.direction == direction]

    def known(wiring: Wiring) -> Proven | None:
        kinds = {port["backend"]["kind"] for port in wiring.session["ports"]} - {"memif"}
        found = (proven or {}).get(kinds.pop())
        return None if found is None else Proven("c", datetime(2026, 1, 1, tzinfo=UTC), Fraction(found))

    wiring = choose.choose_backends(read, case, read.kind.wire(read.lab.links, {}), known)
    return [port["backend"]["kind"] for port in wiring.session["ports"]], within(BackendChosen, wiring.notes)


def asking(load: str, west: str = "backend: auto", east: str = "backend: auto") -> str:
    return plan("external", west, east).replace("to 100%", f"to {load}")


@needs_root
def test_packet_sockets_are_chosen_where_they_are_enough(lab: None) -> None:
    kinds, (note,) = chosen(asking("10kpps"))
    assert kinds == ["af_packet", "af_packet"]
    assert (note.backend, note.needed_pps, note.proven) == ("af_packet", 10_000, False)
    assert note.is_enough


@needs_root
def test_af_xdp_is_chosen_for_what_packet_sockets_do_not_carry(lab: None) -> None:
    kinds, (note,) = chosen(asking("800kpps"), {"af_packet": 400_000, "af_xdp": 900_000})
    assert kinds == ["af_xdp", "af_xdp"]
    assert (note.needed_pps, note.carried_pps, note.proven) == (800_000, 900_000, True)
    assert note.is_enough


@needs_root
def test_what_is_asked_for_beyond_all_is_a_lower_bound(lab: None) -> None:
    kinds, (note,) = chosen(asking("100%"), {"af_packet": 400_000, "af_xdp": 520_000})
    assert kinds == ["af_xdp", "af_xdp"]
    # RFC 2544 appendix: 14,880,952 frames of 64 bytes a second at 10 Gbit/s.
    assert round(note.needed_pps) == 14_880_952
    assert (note.carried_pps, note.proven, note.is_enough) == (520_000, True, False)


@needs_root
def test_backend_calibrated_as_faster_is_taken_over_the_usual_one(lab: None) -> None:
    kinds, (note,) = chosen(asking("100%"), {"af_packet": 700_000, "af_xdp": 520_000})
    assert kinds == ["af_packet", "af_packet"]
    assert (note.carried_pps, note.proven) == (700_000, True)


@needs_root
def test_only_what_is_left_to_netdyno_is_chosen(lab: None) -> None:
    kinds, _ = chosen(asking("100%", east='backend: memif, socket: "@dut"'))
    assert kinds == ["af_xdp", "memif"]
    kinds, notes = chosen(asking("100%", "backend: af_packet", "backend: af_xdp"))
    assert (kinds, notes) == (["af_packet", "af_xdp"], ())


@needs_root
def test_frames_too_long_for_af_xdp_go_by_packet_sockets(lab: None) -> None:
    kinds, (note,) = chosen(asking("100%").replace("64B", "9000B"), {"af_packet": 1000})
    assert kinds == ["af_packet", "af_packet"]
    (refused,) = note.refused
    assert refused.backend == "af_xdp"
    assert "8996 bytes" in refused.why


@needs_root
def test_missing_interface_is_reported_when_it_is_opened(lab: None) -> None:
    kinds, notes = chosen(asking("100%", "backend: auto, interface: eth77"))
    assert (kinds, notes) == (["af_packet", "af_packet"], ())


def test_a_calibration_takes_one_backend_in_the_place_of_auto(tmp_path: Path) -> None:
    read = parse(plan("linux/router", "backend: auto", "backend: af_packet"))
    taken = ports.with_backend(read, "af_xdp")
    assert [link.backend.kind for link in taken.lab.links] == ["af_xdp", "af_packet"]
    written = tmp_path / "plan.yaml"
    for text, backend, message in (
        (plan("linux/router"), "af_xdp", "leave it out with a plan"),
        (plan("linux/router", "backend: auto"), "memif", "give a plan, or"),
    ):
        written.write_text(text)
        done = CliRunner().invoke(cli, ["calibrate", str(written), "--backend", backend])
        assert done.exit_code == 2
        assert message in " ".join(done.output.split())
