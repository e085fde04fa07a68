"""Deviations: what was not done as a standard requires (MUST) or recommends (SHOULD)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, TypeAlias

from netdyno.values.number import Claim, count, decimal, duration, share
from netdyno.values.reason import Codes, Reason, declared

Unit: TypeAlias = Literal["", "ns", "B", "share"]
"""Of a compared number; empty: a count."""
Relation: TypeAlias = Literal["at least", "at most", "exactly"]


class OutsideRule(Reason, code="outside-rule"):
    """A number is not what a standard asks for. cause: what follows from it, where something was seen."""

    subject: str
    found: Fraction
    relation: Relation
    bound: Fraction
    unit: Unit
    section: str
    is_required: bool
    cause: Reason | None

    def __str__(self) -> str:
        # A number below a bound is never printed as the bound.
        claims: Mapping[Relation, Claim] = {"at least": "at least", "at most": "at most", "exactly": "about"}
        found = _printed(self.found, self.unit, claims[self.relation])
        bound = _printed(self.bound, self.unit, "about")
        wanted = bound if self.relation == "exactly" else f"{self.relation} {bound}"
        cause = f": {self.cause}" if self.cause is not None else ""
        asks = "requires" if self.is_required else "recommends"
        return f"{self.subject} is {found}; {self.section} {asks} {wanted}{cause}"


class OtherThanRule(Reason, code="other-than-rule"):
    """Something was done in another way than a standard asks for."""

    subject: str
    found: str
    wanted: str
    section: str
    is_required: bool
    says = "{subject} is {found}; {section} {is_required:?requires|recommends} {wanted}"


class NotTested(Reason, code="not-tested"):
    """A test or a condition that a standard asks for is not part of the result."""

    test: str
    why: Reason | None
    section: str
    is_required: bool
    says = "not tested: {test}{why:? ({why})}; {section} {is_required:?requires|recommends} it"


class LeftOut(Reason, code="left-out"):
    """The plan leaves out a test of a suite."""

    says = "left out by the plan"


class ResetByHand(Reason, code="reset-by-hand"):
    """netdyno cannot make the event of a reset happen in the device."""

    event: str
    says = "netdyno cannot ask this device for `{event}`: use `reset: {{kind: by-hand}}`"


class CannotSend(Reason, code="cannot-send"):
    """No port of the tester sends frames with such an error."""

    error: Literal["undersize", "checksum", "octet"]

    def __str__(self) -> str:
        return {
            "undersize": "every frame has a probe and at least 64 bytes; a line pads what is shorter",
            "checksum": "the frame check sequence is the card's or the kernel's, and no port of this tester"
            " sends a wrong one",
            "octet": "no port of this tester ends a frame within an octet",
        }[self.error]


class Rehearsal(Reason, code="rehearsal"):
    """All times of a plan were shortened. drain_ns: of a drain that was not shortened as much."""

    scale: Fraction
    drain_ns: int | None

    def __str__(self) -> str:
        drain = f" (the drain only to {duration(self.drain_ns)})" if self.drain_ns is not None else ""
        return f"rehearsal, not a benchmark: every duration is {self.scale} of what the plan says{drain}"


def _printed(number: Fraction, unit: Unit, claim: Claim) -> str:
    if unit == "ns":
        return duration(number, claim)
    if unit == "share":
        return share(number)
    return f"{decimal(number, 2)} B" if unit == "B" else count(int(number))


REASONS: Codes = declared(globals())
