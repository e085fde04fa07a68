"""Address caching capacity as RFC 2889 section 5.7 has it: how many MAC addresses a switch keeps."""

from __future__ import annotations

from fractions import Fraction
from math import log2

from pydantic import Field, model_validator

from netdyno.errors import Problem
from netdyno.methods.parts import stations
from netdyno.methods.parts.procedure import Procedure
from netdyno.values.kind import ValueKind
from netdyno.values.load import Trial
from netdyno.values.method import Method
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, PositiveLoad, decimal

CAPACITY = ValueKind(
    "address caching capacity",
    "addresses",
    "how many addresses were all known, so that nothing was flooded (RFC 2285, 3.8.1)",
    hinges_on="flooding",
    good="more",
)
MOST = 16_777_216
"""Addresses of a trial: what a stream has flows for in a reasonable memory."""


class CachingParameters(stations.StationParameters):
    """Parameters of the address caching capacity."""

    maximum: int = Field(default=8192, ge=1, le=MOST)
    """Addresses of the first try, and the most there are."""
    width: int = Field(default=1, ge=1, le=MOST)
    """Stop when the bounds are this close."""
    learning: PositiveLoad = PositiveLoad(FrameRate(Fraction(50)))
    """Rate at which addresses are announced: no faster than the device learns."""

    @model_validator(mode="after")
    def _within_the_ageing_time(self) -> CachingParameters:
        rates = (self.learning.amount, self.test.amount)
        if all(isinstance(rate, FrameRate) for rate in rates):
            seconds = sum((self.maximum / rate.amount for rate in rates), self.pause.amount)
            if seconds > self.ageing.amount:
                raise Problem(
                    f"{self.maximum} addresses are learned and tested in {decimal(seconds, 1)} s, and"
                    f" forgotten after {self.ageing}",
                    "learn faster, begin with fewer, or set a longer ageing time in the device and here",
                    at=("maximum",),
                    code="conflict",
                )
        return self


def address_caching(parameters: CachingParameters, situation: Situation) -> Method:
    """RFC 2889 section 5.7: the most addresses that are all known, none of them flooded."""
    learning = parameters.learning.amount

    def trial(count: int) -> tuple[Trial, int, Fraction]:
        asked = stations.attempt(f"{count} addresses", parameters, situation, count, learning)
        return asked, count, situation.fps(learning)

    found = yield from stations.search(parameters.maximum, parameters.width, trial, at_any_rate=True)
    return stations.result(METHOD, CAPACITY, parameters, found, Fraction)


def _seconds(parameters: CachingParameters) -> Fraction:
    rate = parameters.learning.amount
    each = parameters.maximum / rate.amount if isinstance(rate, FrameRate) else Fraction(1)
    tries = 1 + round(log2(max(parameters.maximum / parameters.width, 1)))
    return tries * (each / 2 + parameters.pause.amount)


METHOD = Procedure(
    name="address-caching",
    title="Address caching capacity",
    doc="The most MAC addresses a switch knows at once, by halving; three ports, of which one watches.",
    standard="RFC 2889 section 5.7",
    parameters=CachingParameters,
    start=address_caching,
    traffic_seconds=_seconds,
    fits=stations.fits,
    pattern="addresses",
    values=(CAPACITY,),
)
