"""The ASR9006 of the published load test, behind SSH, and plans that are rehearsed on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from netdyno.devices.stand_ins.chassis import Chassis
from netdyno.devices.stand_ins.iosxr import PORTS, STAND_IN
from netdyno.devices.stand_ins.sections import Sections

from fakes.lab import Lab
from fakes.server import serve

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

    device: Sections


@contextmanager
def fridge_in(folder: Path) -> Iterator[Fridge]:
    """The device with its usual configuration, until the block ends."""
    zero = {"rx": 0, "tx": 0, "in_drops": 0, "out_drops": 0}
    opened = STAND_IN.opens(Chassis({name: dict(zero) for name in PORTS}), folder)
    device = opened.chassis.device
    assert device is not None
    with serve(opened.session) as server:
        yield Fridge(server, opened.chassis, device, folder, PLAN)


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
