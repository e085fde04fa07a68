"""What stands in for a device of one driver, as data: what it is, and what must be read of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from netdyno.devices.stand_ins.chassis import Chassis
from netdyno.devices.stand_ins.terminal import Terminal

from fakes.lab import Lab
from fakes.server import PASSWORD, Box, serve

PLAN = """\
title: A stand-in, rehearsed
lab:
  nodes:
    tester: {{kind: netdyno}}
    dut:
      kind: {kind}
      driver: {driver}
      host: 127.0.0.1
      user: USER
      ssh: {{port: PORT, known_hosts: KNOWN}}
{more}
  links:
    - {{endpoints: ["tester:west", "dut:{west}"], rate: {rate}}}
    - {{endpoints: ["tester:east", "dut:{east}"], rate: {rate}}}
traffic: {{frames: {{size: 256B, flows: 64}}}}
matrix: {{direction: [bidir]}}
method: {{ramp: {{warmup: 1s at 1kpps, ramp: 8s to {load}, hold: 2s}}}}
scale: 1/100
"""


class Configured(Protocol):
    """A device that can be configured."""

    def text(self) -> str:
        """Its configuration, byte for byte."""
        ...


@dataclass(frozen=True)
class Opened:
    """A stand-in that runs. box: what a session speaks with. print_by: the command that prints a text."""

    chassis: Chassis
    device: Configured
    box: Callable[[], Box | Terminal]
    prompt: str
    print_by: Callable[[str], str]


@dataclass(frozen=True)
class StandIn:
    """opens: starts it in a folder. kind, load: the emulated device that moves its counters, and under what.

    ports: of the lab, as a plan names them. version, state: what it says of itself and of each port. before:
    counters of each port when it starts. gauges: values of further quantities, by name. template: it is
    configured by; empty: it is not. enable: the password of privileged mode; empty: logins have it.
    """

    driver: str
    opens: Callable[[StandIn, Path], AbstractContextManager[Opened]]
    kind: str
    ports: tuple[str, str]
    rate: str
    version: str
    state: str
    before: Mapping[str, int]
    gauges: Mapping[str, set[str]] = field(default_factory=dict)
    template: str = ""
    allow: tuple[str, ...] = ()
    enable: str = ""
    load: str = "100%"

    @property
    def plan(self) -> str:
        """A plan that reaches it."""
        more = [f"      configuration: {self.template}"] if self.template else []
        more += [f"      allow: [{', '.join(self.allow)}]"] if self.allow else []
        return PLAN.format(
            kind=self.kind,
            driver=self.driver,
            more="\n".join(more),
            west=self.ports[0],
            east=self.ports[1],
            rate=self.rate,
            load=self.load,
        )

    def chassis(self) -> Chassis:
        """Its counters when it starts."""
        counters = {name: dict(self.before) for name in self.ports}
        return Chassis(counters, enable=self.enable, password=PASSWORD)

    @contextmanager
    def serve(self, folder: Path) -> Iterator[tuple[Opened, Lab]]:
        """Serves it until the block ends."""
        with self.opens(self, folder) as opened, serve(opened.box) as server:
            yield opened, Lab(server, opened.chassis, opened.device, folder, self.plan)
