"""Classes of traffic: how a device tells one stream's frames from another's, and their shares of the load."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from netdyno.errors import Problem, suggestion
from netdyno.plan.arrivals import EVEN, ArrivalField
from netdyno.plan.bursts import Bursts
from netdyno.plan.fields import Element, Hex, Name
from netdyno.plan.headers import HeadersField
from netdyno.plan.pools import MOST_IN_A_BURST, AddressesField, SizeField
from netdyno.plan.writes import MOST_WRITES, Write
from netdyno.values.mixes import MAX_SIZE
from netdyno.values.rates import load_l1
from netdyno.values.units import Duration, L1Rate, Percent, PositiveLoad

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


OF_BURSTS = ("bursts", "delay", "then", "starts", "loops")
"""Fields that say when a class with a rate sends."""
NOT_OF_PROFILE = frozenset(("dscp", "pcp", "share", "rate", *OF_BURSTS))
"""Fields of a class that a profile does not have: its mark and its load."""


class Back(Element):
    """What comes back, where it is not the same with addresses swapped: frames as long, at the same load."""

    headers: HeadersField
    """Its whole header stack, as it is sent."""
    writes: list[Write] = Field(default=[], max_length=MOST_WRITES)
    """Numbers that are written over its frames."""
    payload: Annotated[Hex, Field(max_length=2 * MAX_SIZE)] | None = None
    """Bytes that are repeated behind headers and probe; else those of the other way."""


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
    """A constant load of its own, of each sending port, beside the load of the method; where all classes have
    one, the method's load is divided as these are."""
    size: SizeField | None = None
    """Its frame size; else that of the profile."""
    flows: int | None = Field(default=None, ge=1, le=10**12)
    """Number of its flows; else that of the profile."""
    burst: int | None = Field(default=None, ge=1, le=MOST_IN_A_BURST)
    """Bursts of a class with a `rate`."""
    arrival: ArrivalField | None = None
    """When its frames leave; else as those of the profile."""
    addresses: AddressesField | None = None
    """Where its frames come from and go to; else as the profile."""
    headers: HeadersField | None = None
    """Its whole header stack; else that of the profile."""
    probe: bool | None = None
    """Whether its frames hold a probe; else as those of the profile."""
    writes: list[Write] | None = Field(default=None, max_length=MOST_WRITES)
    """Numbers that are written over its frames; else those of the profile."""
    payload: Annotated[Hex, Field(max_length=2 * MAX_SIZE)] | None = None
    """Bytes that are repeated behind headers and probe; else those of the profile."""
    back: Back | None = None
    """What comes back of it, if not the same with addresses swapped."""

    bursts: Bursts | None = None
    """Finite bursts at its `rate`: `{frames: 10, count: 5, gap: 1ms}`."""
    delay: Duration = Duration.of_ns(0)
    """When its first frame leaves, from the begin of the load, or from the last frame of the class before."""
    then: Name | None = None
    """The class with a `rate` that begins when the last of these `bursts` was sent."""
    starts: bool = True
    """Whether it begins with the load; `false`: only behind another."""
    loops: int | None = Field(default=None, ge=1, le=10**9)
    """How often it is sent before `then` ends; left out: as long as the load lasts."""

    @property
    def has_time(self) -> bool:
        """Whether it does not simply send all the time."""
        return self.bursts is not None or self.delay.ns > 0 or not self.starts

    @property
    def own(self) -> Mapping[str, Any]:
        """The fields of a profile that it has of its own: all but those of its mark and its load."""
        fields = {name: getattr(self, name) for name in type(self).model_fields if name not in NOT_OF_PROFILE}
        found = {name: value for name, value in fields.items() if value is not None}
        # The headers say their tags, and what comes back. Bursts are not of the profile's load.
        said = {"vlan": None, "back": None} if "headers" in found else {}
        return {**said, **({} if self.bursts is None else {"burst": 1, "arrival": EVEN}), **found}

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
        if self.rate is None and self.burst is not None:
            raise Problem(
                "`burst` of its own is for a class with a `rate`",
                "set `burst` of the profile",
                at=("burst",),
                code="unsupported",
            )
        given = [field for field in OF_BURSTS if field in self.model_fields_set]
        if self.rate is None and given:
            raise Problem(
                f"`{given[0]}` is for a class with a `rate`",
                "say how fast its frames leave: `rate: 1kpps`",
                at=(given[0],),
                code="missing-field",
            )
        both = [field for field in ("burst", "arrival") if getattr(self, field) is not None]
        if self.has_time and both:
            raise Problem(
                f"`{both[0]}` and `{given[0]}` cannot be combined: each says when frames leave",
                "remove one of them",
                at=(both[0],),
                code="conflict",
            )
        if self.then is not None and (self.bursts is None or self.bursts.count is None):
            raise Problem(
                "`then` begins when the last burst was sent, and these go on until the load ends",
                "say how many: `bursts: {frames: 10, count: 1}`",
                at=("then",),
                code="missing-field",
            )
        if self.loops is not None and self.then is None:
            raise Problem(
                "`loops` counts how often a class is sent before `then` ends, and there is no `then`",
                "say which class is next, or leave `loops` out",
                at=("loops",),
                code="missing-field",
            )
        return self


def with_chains(classes: dict[str, TrafficClass]) -> dict[str, TrafficClass]:
    """The classes, if each that begins behind others does so. Raises Problem."""
    for name, one in classes.items():
        if one.then is not None and one.then not in classes:
            raise Problem(
                f"there is no class `{one.then}`",
                suggestion(one.then, classes, "classes"),
                at=(name, "then"),
                code="unknown-name",
            )
        if one.then is not None and classes[one.then].rate is None:
            raise Problem(
                f"`{one.then}` has no `rate`: it has the method's load, and begins with that",
                "a class with a `rate`",
                at=(name, "then"),
                code="conflict",
            )
    reached = {name for first, one in classes.items() if one.starts for name in _reached(classes, first)}
    never = [name for name in classes if name not in reached]
    if never:
        raise Problem(
            f"`{never[0]}` never begins: no class that does so says `then: {never[0]}`",
            "`then` of another class, or no `starts: false`",
            at=(never[0], "starts"),
            code="conflict",
        )
    return classes


def _reached(classes: Mapping[str, TrafficClass], first: str) -> list[str]:
    """A class, and those that begin behind it, one behind the other."""
    found = [first]
    while (then := classes[found[-1]].then) is not None and then not in found:
        found.append(then)
    return found


def list_chains(classes: Mapping[str, TrafficClass]) -> list[set[str]]:
    """The classes with a rate, in sets of which one sends at a time."""
    chains: list[tuple[set[str], bool]] = []
    for name, one in classes.items():
        if one.rate is None or not one.starts:
            continue
        chain = set(_reached(classes, name))
        met = [each for each in chains if each[0] & chain]
        chains = [each for each in chains if each not in met]
        chains.append((chain.union(*(names for names, _ in met)), not met))
    return [
        names for chain, is_alone in chains for names in ([chain] if is_alone else [{one} for one in chain])
    ]


def _send_all_the_time(classes: Mapping[str, TrafficClass]) -> list[str]:
    """The classes with a rate that neither wait nor begin behind another."""
    behind = {one.then for one in classes.values()}
    return [name for name, one in classes.items() if one.rate and not one.has_time and name not in behind]


def with_shares(classes: dict[str, TrafficClass]) -> dict[str, TrafficClass]:
    """The classes with their shares, which make up the whole load; where all have a rate, as they are."""
    if all(one.rate is not None for one in classes.values()):
        return classes
    given = sum((one.share.amount for one in classes.values() if one.share is not None), Fraction(0))
    open_ = [name for name, one in classes.items() if one.share is None and one.rate is None]
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


def divided_by_rates(
    classes: Mapping[str, TrafficClass], means: Mapping[str, Fraction]
) -> dict[str, TrafficClass]:
    """Classes that all have a rate; those that send all the time with shares of the method's load, as their
    rates have them on the line.

    means: average frame size of each. Raises Problem.
    """
    steady = _send_all_the_time(classes)
    if not steady:
        return dict(classes)
    rates = {name: one.rate.amount for name, one in classes.items() if one.rate and name in steady}
    if len({isinstance(rate, Percent) for rate in rates.values()}) > 1:
        raise Problem(
            "every class has a `rate`, some of them in per cent and others not: they cannot be added up",
            "all in per cent of the line, or none; or a class without a `rate`, which has the method's load",
            at=("classes",),
            code="wrong-unit",
        )
    line = L1Rate(Fraction(1))
    loads = {name: load_l1(rate, line=line, size=means[name]).amount for name, rate in rates.items()}
    whole = sum(loads.values(), Fraction(0))
    return {
        name: one.model_copy(update={"rate": None, "share": Percent(loads[name] / whole)})
        if name in rates
        else one
        for name, one in classes.items()
    }


Classes = Annotated[dict[Name, TrafficClass], AfterValidator(with_chains), AfterValidator(with_shares)]
