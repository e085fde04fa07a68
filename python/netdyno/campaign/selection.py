"""The part of a plan that is run, and how long it takes. A plan is checked with it: it loads nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from netdyno.campaign.learning import learned_one_by_one
from netdyno.devices.drivers import DRIVERS
from netdyno.devices.extras import find_missing_of
from netdyno.devices.wiring import LabError
from netdyno.errors import NetdynoError
from netdyno.methods import METHODS
from netdyno.plan import Plan
from netdyno.plan.matrix import Case, cases, wire, wire_groups


@dataclass
class Selection:
    """The part of a plan to run: a scale in place of the plan's own, and values of the matrix."""

    scale: Fraction | None = None
    only: Mapping[str, str] | None = None

    def plan(self, plan: Plan) -> Plan:
        """The plan at the chosen scale."""
        if self.scale is None or self.scale == plan.scale:
            return plan
        factor = self.scale / plan.scale
        trial = plan.written.scaled(self.scale)
        variants = {chosen: one.scaled(factor) for chosen, one in plan.variants.items()}
        return replace(plan, scale=self.scale, trial=trial, variants=variants)

    def cases(self, plan: Plan) -> tuple[Case, ...]:
        """The chosen cases, numbered as in the whole matrix."""
        wanted = dict(self.only or {})
        axes = dict(plan.axes)
        for axis, value in wanted.items():
            if axis not in axes:
                raise NetdynoError(
                    f"--only: the matrix has no axis `{axis}`",
                    f"its axes: {', '.join(axes)}",
                    code="unknown-name",
                )
            if value not in axes[axis]:
                hint = f"its values: {', '.join(axes[axis])}"
                raise NetdynoError(
                    f"--only: the axis `{axis}` has no value `{value}`", hint, code="unknown-name"
                )
        found = tuple(case for case in cases(plan) if wanted.items() <= dict(case.choices).items())
        if not found:
            raise NetdynoError("--only: no case of the plan is left", code="no-case")
        return found


@dataclass(frozen=True)
class Length:
    """How long a case takes in real time: about so many seconds of traffic, and before and after that of each
    trial. trials: how many; None: unknown beforehand."""

    traffic_s: Fraction
    around_s: Fraction
    trials: int | None

    @classmethod
    def of(cls, plan: Plan, case: Case) -> Length:
        """That of a case."""
        method, parameters = METHODS[plan.method], plan.parameters_of(case)
        trials = None if method.trials is None else method.trials(parameters)
        around_s = plan.trial.settle.amount + plan.trial.drain.amount
        learned = None
        if case.profile.spread is not None:
            learned = learned_one_by_one(plan, case, wire_groups(case, wire(plan, case)))
        learning_s = learned.seconds if learned else Fraction(0)
        return cls(method.traffic_seconds(parameters) + learning_s, around_s, trials)

    @property
    def seconds(self) -> Fraction:
        """All of it."""
        return self.traffic_s + (self.trials or 1) * self.around_s


def total_seconds(plan: Plan, cases: Sequence[Case]) -> Fraction:
    """About how long cases take in real time, settling and draining included."""
    return sum((Length.of(plan, case).seconds for case in cases), Fraction(0))


def missing_extra(plan: Plan) -> LabError | None:
    """The error if an extra is not installed by which the plan has its device reached."""
    driver = DRIVERS[plan.lab.driver] if plan.lab.driver else None
    return None if driver is None else find_missing_of(driver, plan.lab.access)
