"""How the frames of a load are placed in time."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

from pydantic import WithJsonSchema, model_validator

from netdyno.errors import Problem, as_written, suggestion
from netdyno.plan.fields import Element
from netdyno.values.units import Duration, Percent, PositiveDuration

WAVES = ("sine", "triangle", "square", "sawtooth")
"""Shapes of a load that goes up and down: crates/engine/src/spec.rs, Shape."""
CONSTANT, POISSON = "constant", "poisson"
KINDS = (CONSTANT, POISSON, *WAVES)

SHORTEST, LONGEST = Duration.parse("1us"), Duration.parse("1h")


class Arrival(Element):
    """When frames depart, given the load: as many in all as with constant arrivals."""

    kind: str = CONSTANT
    """`constant`, `poisson`, or the shape of a wave."""
    period: PositiveDuration | None = None
    """Of a wave, from `1us` to `1h`."""
    depth: Percent | None = None
    """How far a wave goes above and below the load; `50%` if not given."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        """`poisson` alone is `{kind: poisson}`."""
        found = {"kind": value} if not isinstance(value, Mapping) else value
        kind = found.get("kind", CONSTANT)
        if kind not in KINDS:
            raise Problem(
                f"unknown arrival `{as_written(kind)}`",
                suggestion(kind, KINDS) if isinstance(kind, str) else f"one of {', '.join(KINDS)}",
                code="unknown-name",
            )
        return found

    @model_validator(mode="after")
    def _whole(self) -> Arrival:
        if self.kind in WAVES and self.period is None:
            raise Problem(
                f"a {self.kind} without a period",
                f"add `period`, from 1us to 1h: `{{kind: {self.kind}, period: 10ms}}`",
                code="missing-field",
            )
        for field in ("period", "depth"):
            if self.kind not in WAVES and getattr(self, field) is not None:
                raise Problem(
                    f"`{self.kind}` arrivals have no {field}", "leave it out", at=(field,), code="unsupported"
                )
        if self.period is not None and not SHORTEST.ns <= self.period.ns <= LONGEST.ns:
            raise Problem(
                f"a period of {self.period} is too {'long' if self.period.ns > LONGEST.ns else 'short'}",
                "from 1us to 1h",
                at=("period",),
                code="out-of-range",
            )
        if self.depth is not None and not Fraction(1, 1_000_000) <= self.depth.amount <= 1:
            why, hint = "that is no wave", "from `0.0001%` to `100%`, or leave `arrival` out"
            if self.depth.amount > 1:
                why, hint = "there is no load below nothing", "`100%` is from nothing to twice the load"
            raise Problem(f"a depth of {self.depth}: {why}", hint, at=("depth",), code="out-of-range")
        return self

    def __str__(self) -> str:
        """`poisson`, `sine of 10ms, 50% up and down`."""
        return self.kind if self.period is None else f"{self.kind} of {self.period}, {self.swing} up and down"

    @property
    def is_even(self) -> bool:
        """Whether frames are evenly spaced in time."""
        return self.kind == CONSTANT

    @property
    def swing(self) -> Percent:
        """The depth of a wave."""
        return Percent(Fraction(1, 2)) if self.depth is None else self.depth

    def spec(self) -> Any:
        """As the engine has it: crates/engine/src/spec.rs, ArrivalSpec."""
        if self.period is None:
            return self.kind
        depth_ppm = int(self.swing.amount * 1_000_000)
        return {"wave": {"shape": self.kind, "period_ns": self.period.ns, "depth_ppm": depth_ppm}}


EVEN = Arrival()

ArrivalField: TypeAlias = Annotated[
    Arrival,
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": [CONSTANT, POISSON]},
                {
                    "type": "object",
                    "properties": {
                        "kind": {"enum": list(KINDS)},
                        "period": {"type": "string", "examples": ["10ms"]},
                        "depth": {"type": "string", "examples": ["50%"]},
                    },
                    "additionalProperties": False,
                },
            ]
        }
    ),
]
