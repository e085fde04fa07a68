"""Devices with known answers, and the whole way from plan text to store around them, in one process.

A kind of device like any other (a class and a line in `KINDS`), so that plan, check, matrix, runner,
engine and store are those of every run. Only the worker processes are left out.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from methodlab import OneProcess
from netdyno.campaign import run as runner
from netdyno.campaign.events import Event, Failed
from netdyno.campaign.reasons import REASONS
from netdyno.devices import KINDS, LabLink, Wiring
from netdyno.devices.kind import Kind
from netdyno.devices.live import Live
from netdyno.plan import parse
from netdyno.store import open_run
from netdyno.values.records import StoredCase, StoredTrial

GIGABIT = 1_000_000_000
RATE = GIGABIT
"""L1 rate of both links: a 64-byte frame takes 672 ns, without a remainder."""


@dataclass(frozen=True)
class Device:
    """What differs from an ideal device. Rates are frames/s, the rest as in crates/dut/src/spec.rs."""

    forwarding: str = "l2-xconnect"
    members: int = 1
    in_fps: int | None = None
    in_queue: int = 1024
    both_fps: int | None = None
    box_fps: int | None = None
    box_queue: int = 1024
    out_bps: int | None = None
    """The line of the second port, where it is slower than the first. Only for one direction."""
    out_queue: int = 1024
    partner_queue: int = 1024
    hash: str = "src-dst-ip"
    delay_ns: int = 5000
    delay_per_byte_ps: int = 0
    police: Mapping[str, Any] | None = None
    impairments: tuple[Mapping[str, Any], ...] = ()

    def session(self, session: Mapping[str, Any]) -> dict[str, Any]:
        """The session of an ideal device, with this one in its place."""
        changed: dict[str, Any] = copy.deepcopy(dict(session))
        (device,) = changed["devices"]
        device.update(
            box_fps=_rate(self.box_fps),
            box_queue=self.box_queue,
            delay_ns=self.delay_ns,
            delay_per_byte_ps=self.delay_per_byte_ps,
            impairments=[dict(impairment) for impairment in self.impairments],
        )
        for index, port in enumerate(device["ports"]):
            port.update(
                police=None if self.police is None else dict(self.police),
                in_fps=_rate(self.in_fps),
                in_queue=self.in_queue,
                both_fps=_rate(self.both_fps),
                out_queue=self.out_queue,
                partner_queue=self.partner_queue,
                hash=self.hash,
                partner_hash=self.hash,
            )
            if index == 1 and self.out_bps is not None:
                port["rate_bps"] = changed["links"][1]["rate_bps"] = self.out_bps
        return changed


def _rate(fps: int | None) -> list[int] | None:
    return None if fps is None else [fps, 1]


@dataclass(frozen=True)
class TruthKind(Kind):
    devices: Mapping[str, Device]

    def wire(self, links: tuple[LabLink, ...], settings: Mapping[str, str]) -> Wiring:
        device = self.devices[settings.get("device", next(iter(self.devices)))]
        lag = "lacp" if device.members == 2 else "plain"
        wiring = KINDS["emulated/asr9006"].wire(links, {"forwarding": device.forwarding, "lag": lag})
        return replace(wiring, session=device.session(wiring.session))

    def build(self, wiring: Wiring) -> AbstractContextManager[Live]:
        return nullcontext(Live(wiring))


def truth_kind(devices: Mapping[str, Device]) -> TruthKind:
    """The kind `emulated/truth`: its setting `device` names one of `devices`."""
    settings = {"device": tuple(devices)}
    return TruthKind(
        "emulated/truth", "emulated device of the truth tests", devices, settings=settings, emulated=True
    )


class Silent:
    """A watcher that watches nothing."""

    def begin(self, plan: object, cases: object, already: int) -> None: ...
    def event(self, event: Event) -> None:
        assert not isinstance(event, Failed), f"{event.error}\n{event.trace}"

    def tick(self) -> None: ...
    def end(self) -> None: ...


@dataclass(frozen=True)
class Found:
    """A case as the store gives it back, with its trials."""

    case: StoredCase
    trials: Sequence[StoredTrial]

    def value(self, name: str, scope: str) -> Any:
        """The one value of that name and scope."""
        assert self.case.result is not None, self.case.error
        (value,) = (one for one in self.case.result.values if (one.name, one.scope) == (name, scope))
        return value


PLAN = """\
title: Known answers
lab:
  nodes:
    tester: {{kind: netdyno}}
    dut: {{kind: {kind}}}
  links:
    - {{endpoints: ["tester:west", "dut:a"], rate: 1Gbps}}
    - {{endpoints: ["tester:east", "dut:b"], rate: 1Gbps}}
traffic:
{traffic}
matrix:
{matrix}
method: {method}
trial: {{settle: 100us, drain: 20ms, sample: {sample}}}
seed: {seed}
"""


def plan_text(
    *,
    kind: str = "emulated/truth",
    traffic: Mapping[str, str],
    method: str,
    matrix: Mapping[str, Sequence[str]],
    sample: str = "1ms",
    seed: int = 1,
) -> str:
    """A plan. Profiles are the first axis of its matrix."""
    axes = {"profile": tuple(traffic), **matrix}
    return PLAN.format(
        kind=kind,
        traffic="\n".join(f"  {name}: {profile}" for name, profile in traffic.items()),
        matrix="\n".join(f"  {axis}: [{', '.join(values)}]" for axis, values in axes.items()),
        method=method,
        sample=sample,
        seed=seed,
    )


def measure(
    folder: Path,
    *,
    devices: Mapping[str, Device] | None = None,
    matrix: Mapping[str, Sequence[str]],
    **rest: Any,
) -> dict[tuple[str, ...], Found]:
    """Runs a plan (`plan_text`) and reads it back: the values of the axes to what was stored.

    With devices these are an axis of their own, the second one.
    """
    axes = matrix if devices is None else {"device": tuple(devices), **matrix}
    text = plan_text(matrix=axes, **rest)
    with pytest.MonkeyPatch.context() as patch:
        if devices is not None:
            patch.setitem(KINDS, "emulated/truth", truth_kind(devices))
        patch.setattr(runner, "Workers", OneProcess)
        plan = parse(text, name="truth.yaml", base=folder)
        outcome = runner.run(plan, folder, Silent(), runner.Selection())
    with open_run(outcome.folder, REASONS) as stored:
        return {
            tuple(case.head.axes.values()): Found(case, tuple(stored.trials(case.head.number)))
            for case in stored.cases
        }
