"""Classes of traffic: how a device tells one stream's frames from another's, and their shares of the load."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from netdyno.errors import Problem
from netdyno.plan.arrivals import ArrivalField
from netdyno.plan.fields import Element, Name
from netdyno.plan.pools import MOST_IN_A_BURST, AddressesField, SizeField
from netdyno.values.units import Percent, PositiveLoad

CODE_POINTS: Mapping[str, int] = {
    "default": 0,
    **{f"cs{number}": 8 * number for number in range(8)},
    **{f"af{row}{drop}": 8 * row + 2 * drop for row in range(1, 5) for drop in range(1, 4)},
    "va": 44,
    "ef": 46,
}
"""DSCPs by name: RFC 2474 section 4.2.2.2, RFC 2597 section 6, RFC 3246 section 2.7, RFC 5865 section 2.3."""


def _code_point(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.lower() not in CODE_POINTS:
        raise Problem(
            f"`{value[:40]}` is no code point",
            f"a number from 0 to 63, or one of {', '.join(CODE_POINTS)}",
            code="wrong-format",
        )
    return CODE_POINTS[value.lower()]


class TrafficClass(Element):
    """Frames of one class: a stream of its own in each direction."""

    dscp: Annotated[int, BeforeValidator(_code_point), Field(ge=0, le=63)] | None = Field(
        default=None, json_schema_extra={"anyOf": [{"type": "integer"}, {"enum": list(CODE_POINTS)}]}
    )
    """DSCP of the outermost IP header: 0 to 63, or a name (`ef`, `af31`, `cs6`)."""
    pcp: int | None = Field(default=None, ge=0, le=7)
    """Priority code point of the outermost VLAN tag (802.1Q)."""
    share: Percent | None = None
    """Share of the load; of classes without one, an even part of the rest."""
    rate: PositiveLoad | None = None
    """A constant load of its own, of each sending port, beside the load of the method."""
    size: SizeField | None = None
    """Frame size of a class with a `rate`; else that of the profile."""
    flows: int | None = Field(default=None, ge=1, le=10**12)
    """Number of flows of a class with a `rate`."""
    burst: int | None = Field(default=None, ge=1, le=MOST_IN_A_BURST)
    """Bursts of a class with a `rate`."""
    arrival: ArrivalField | None = None
    """When its frames leave; else as those of the profile."""
    addresses: AddressesField | None = None
    """Where its frames come from and go to; else as the profile."""

    @model_validator(mode="after")
    def _own_load(self) -> TrafficClass:
        """A constant load is no share of another one; what makes frames unlike is of such a class only."""
        if self.rate is not None and self.share is not None:
            raise Problem(
                "a class with a `rate` has no `share` of the method's load",
                "leave one of them out",
                at=("share",),
                code="conflict",
            )
        for field in ("size", "flows", "burst"):
            if self.rate is None and getattr(self, field) is not None:
                raise Problem(
                    f"`{field}` of its own is for a class with a `rate`",
                    f"the method's load is of the profile's frames: set `{field}` of the profile",
                    at=(field,),
                    code="unsupported",
                )
        return self


def with_shares(classes: dict[str, TrafficClass]) -> dict[str, TrafficClass]:
    """The classes with their shares, which make up the whole load."""
    if not classes:
        return classes
    given = sum((one.share.amount for one in classes.values() if one.share is not None), Fraction(0))
    open_ = [name for name, one in classes.items() if one.share is None and one.rate is None]
    if given == 0 and not open_:
        raise Problem(
            "every class has a `rate`: none is left for the load of the method",
            "leave out the `rate` of one of them, or add a class such as `default: {}`",
            code="missing-field",
        )
    if given > 1 or (given == 1 and open_):
        raise Problem(
            f"the shares of the classes make {Percent(given)}"
            + (f", and `{open_[0]}` has none left" if open_ else ""),
            "the shares of all classes add up to 100 %",
            code="out-of-range",
        )
    if given < 1 and not open_:
        raise Problem(
            f"the shares of the classes make {Percent(given)} of the load",
            "together they are 100 %: leave one class without a share, and it has the rest",
            code="out-of-range",
        )
    if any(one.share is not None and one.share.amount == 0 for one in classes.values()):
        raise Problem(
            "a class with no share of the load",
            "leave the class out, or give it a share",
            code="out-of-range",
        )
    rest = Percent((1 - given) / len(open_)) if open_ else None
    return {
        name: one if name not in open_ else one.model_copy(update={"share": rest})
        for name, one in classes.items()
    }


Classes = Annotated[dict[Name, TrafficClass], AfterValidator(with_shares)]
