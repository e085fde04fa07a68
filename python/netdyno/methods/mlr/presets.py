"""Goals as a plan writes them: the attributes of RFC 9971, and the sets of them that have a name."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from pydantic import model_validator

from netdyno.errors import Problem
from netdyno.methods.mlr.goals import Target
from netdyno.methods.mlr.grid import Grid
from netdyno.methods.parts.procedure import Shape
from netdyno.values.units import Percent, PositiveDuration

PRECEDING = 2
"""Coarser targets before the final one, as FD.io CSIT has it."""

PRESETS: Mapping[str, Mapping[str, str]] = {
    # RFC 2544 section 26.1 and 24, and the goal that RFC 9971 names after it: one trial of 60 s, no loss.
    "rfc2544": {
        "loss": "0%",
        "exceed": "0%",
        "duration": "60s",
        "sum": "60s",
        "width": "0.1%",
        "initial": "1s",
    },
    # ETSI GS NFV-TST 009 section 12.3.3 (binary search with loss verification, z infinite) as a goal.
    "tst009": {
        "loss": "0%",
        "exceed": "50%",
        "duration": "60s",
        "sum": "120s",
        "width": "0.5%",
        "initial": "1s",
    },
    # FD.io CSIT's two goals.
    "csit-ndr": {"loss": "0%", "exceed": "50%", "duration": "1s", "sum": "21s", "width": "0.5%"},
    "csit-pdr": {"loss": "0.5%", "exceed": "50%", "duration": "1s", "sum": "21s", "width": "0.5%"},
}


class Goal(Shape):
    """A search goal of RFC 9971: when a load is good, and how sure that is to be."""

    short_form: ClassVar[str] = f"^({'|'.join(PRESETS)})$"
    short_examples: ClassVar[tuple[str, ...]] = tuple(PRESETS)
    misread = (
        "is not a goal",
        f"write {', '.join(f'`{name}`' for name in PRESETS)}, or all of `loss`, `exceed`, `duration` and"
        " `sum`",
    )

    loss: Percent
    """A trial is good if no larger share of its frames is missing."""
    exceed: Percent
    """A load is good if bad trials take no larger share of the time."""
    duration: PositiveDuration
    """Length of a trial that can prove a load good."""
    sum: PositiveDuration
    """Time of trials at one load that settles what it is."""
    width: Percent = Percent(Fraction(1, 200))
    """How near the bounds are to be, of the upper one."""
    initial: PositiveDuration | None = None
    """Length of the first trials while searching; as `duration` unless given."""

    @classmethod
    def parse_short(cls, text: str) -> Mapping[str, Any] | None:
        return PRESETS.get(text)

    @model_validator(mode="after")
    def _possible(self) -> Goal:
        for name, at_least in (("loss", "0%"), ("exceed", "0%"), ("width", "above 0%")):
            share = getattr(self, name).amount
            if share >= 1 or (name == "width" and share == 0):
                raise Problem(
                    f"`{name}` is {getattr(self, name)}",
                    f"{at_least} and below 100%",
                    at=(name,),
                    code="out-of-range",
                )
        if self.initial is not None and self.initial.ns > self.duration.ns:
            raise Problem(
                f"`initial` is longer than `duration`, {self.duration}",
                "the first trials are the shortest",
                at=("initial",),
                code="conflict",
            )
        if self.sum.ns < self.duration.ns:
            raise Problem(
                f"`sum` is shorter than one trial, {self.duration}",
                "the sum is of whole trials: make it at least as long",
                at=("sum",),
                code="conflict",
            )
        return self

    @property
    def preset(self) -> str | None:
        """The name of these attributes, if they have one."""
        return next((name for name in PRESETS if Goal.model_validate(name) == self), None)

    @property
    def initial_ns(self) -> int:
        """Length of the first trials."""
        return (self.initial or self.duration).ns

    def final(self, grid: Grid) -> Target:
        """The target that is the goal itself."""
        return Target(
            self.loss.amount,
            self.exceed.amount,
            grid.width(self.width.amount),
            self.duration.ns,
            self.sum.ns,
        )

    def chain(self, grid: Grid) -> tuple[Target, ...]:
        """Targets from coarse to final: sums of durations in equal ratios, each width twice the next."""
        final = self.final(grid)
        ratio = (self.initial_ns / self.sum.ns) ** (1 / PRECEDING)
        targets = [final]
        for place in range(1, PRECEDING + 1):
            sum_ns = self.initial_ns if place == PRECEDING else round(self.sum.ns * ratio**place)
            trial_ns = min(self.duration.ns, sum_ns)
            targets.append(Target(final.loss, final.exceed, final.width << place, trial_ns, sum_ns))
        return tuple(reversed(targets))
