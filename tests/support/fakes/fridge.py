"""The ASR9006 of the published load test, behind SSH, and plans that are rehearsed on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from faketree import FakeDevice

from fakes import iosxr
from fakes.chassis import Chassis
from fakes.lab import Lab
from fakes.server import serve

RUNNING = """\
hostname fridge
username pim secret 5 $1$mtAn$x.y
aaa authentication login default local
interface TenGigE0/0/0/0
 description uplink
 ipv4 address 192.0.2.1 255.255.255.0
!
interface TenGigE0/1/0/0
 description lab one
!
interface TenGigE0/2/0/0
 description lab two
!
router static
 address-family ipv4 unicast
  0.0.0.0/0 192.0.2.254
 !
!
line vty 0 4
 transport input ssh
!
"""
PORTS = tuple(f"Te0/{slot}/0/{port}" for slot in (1, 2) for port in (0, 1))
PLAN = """\
title: The fridge, rehearsed
lab:
  nodes:
    tester: {kind: netdyno}
    dut:
      kind: emulated/asr9006
      driver: cisco_iosxr
      host: 127.0.0.1
      user: USER
      ssh: {port: PORT, known_hosts: KNOWN}
      configuration: "asr9006-{forwarding}-{lag}"
      allow: [no l2vpn, no xconnect group loadtest]
  links:
    - {endpoints: ["tester:west", "dut:Te0/1/0/0"], rate: 10Gbps, members: [Te0/1/0/1]}
    - {endpoints: ["tester:east", "dut:Te0/2/0/0"], rate: 10Gbps, members: [Te0/2/0/1]}
traffic:
  1514b: {size: 1514B, flows: 65536}
  64b: {size: 64B, flows: 65536}
matrix:
  forwarding: [l2-xconnect, bridge-domain, ipv4]
  lag: [plain, lacp]
  profile: [1514b]
  direction: [uni]
method: {ramp: {warmup: 1s at 1kpps, ramp: 8s to 100%, hold: 2s}}
scale: 1/100
"""


@dataclass
class Fridge(Lab):
    """The ASR9006 behind its SSH."""

    device: FakeDevice


@contextmanager
def fridge_in(folder: Path) -> Iterator[Fridge]:
    """The device with its usual configuration, until the block ends."""
    device = FakeDevice(folder / "device.json", "xr")
    device.create(RUNNING)
    zero = {"rx": 0, "tx": 0, "in_drops": 0, "out_drops": 0}
    chassis = Chassis({name: dict(zero) for name in PORTS}, device=device)
    with serve(lambda: iosxr.Session(chassis)) as server:
        yield Fridge(server, chassis, device, folder, PLAN)


def texts_of(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path, path.read_bytes()


def command_lines() -> Iterator[bytes]:
    """Those of all processes."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                yield (entry / "cmdline").read_bytes()
            except OSError:
                continue
