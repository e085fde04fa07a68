"""Address learning rate as RFC 2889 section 5.8 has it: how fast a switch learns MAC addresses."""

from __future__ import annotations

from fractions import Fraction
from math import log2

from pydantic import Field

from netdyno.methods.address_caching import MOST
from netdyno.methods.parts import stations
from netdyno.methods.parts.procedure import Procedure
from netdyno.values.kind import ValueKind
from netdyno.values.load import Trial
from netdyno.values.method import Method
from netdyno.values.number import whole
from netdyno.values.situation import Situation
from netdyno.values.units import FrameRate, Percent, PositiveLoad

RATE = ValueKind(
    "address learning rate",
    "addresses/s",
    "the highest rate of new addresses at which all were learned (RFC 2285, 3.8.2)",
    hinges_on="flooding",
    good="more",
)


class LearningParameters(stations.StationParameters):
    """Parameters of the address learning rate."""

    addresses: int = Field(default=1000, ge=1, le=MOST)
    """Addresses of each try: no more than the device keeps."""
    maximum: PositiveLoad = PositiveLoad(Percent(Fraction(1)))
    """The rate that is tried first: `100%`, `100kpps`."""
    width: PositiveLoad = PositiveLoad(Percent(Fraction(1, 1000)))
    """Stop when the bounds are this close."""


def learning_rate(parameters: LearningParameters, situation: Situation) -> Method:
    """RFC 2889 section 5.8: the highest rate of new addresses at which all of them are known afterwards."""
    maximum = situation.fps(parameters.maximum.amount)
    steps = -((-maximum) // situation.fps(parameters.width.amount))

    def trial(step: int) -> tuple[Trial, int, Fraction]:
        rate = maximum * step / steps
        name = f"{whole(rate)} addresses/s"
        asked = stations.attempt(name, parameters, situation, parameters.addresses, FrameRate(rate))
        return asked, parameters.addresses, rate

    found = yield from stations.search(steps, 1, trial)
    return stations.result(METHOD, RATE, parameters, found, lambda step: maximum * step / steps)


def _seconds(parameters: LearningParameters) -> Fraction:
    width = parameters.width.amount
    steps = 1 / width.amount if isinstance(width, Percent) else Fraction(1000)
    halvings = 1 + round(log2(max(float(steps), 1)))
    return halvings * (1 + parameters.pause.amount)


METHOD = Procedure(
    name="address-learning-rate",
    title="Address learning rate",
    doc="The highest rate at which a switch learns new MAC addresses, by halving; three ports.",
    standard="RFC 2889 section 5.8",
    parameters=LearningParameters,
    start=learning_rate,
    traffic_seconds=_seconds,
    fits=stations.fits,
    pattern="addresses",
    values=(RATE,),
)
