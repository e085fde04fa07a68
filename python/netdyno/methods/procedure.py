"""What a method is made of: its parameters, its generator and what it says about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from netdyno.trial import Method, Situation, TrialResult
from netdyno.units import Duration, FrameRate, L1Rate, L2Rate, Load, Percent

WIRE_OVERHEAD_BYTES = 20
"""What a frame takes on the wire beyond its own bytes: preamble and SFD (8), minimum gap (12)."""


class Parameters(BaseModel):
    """The parameters of a method, as a plan writes them under `method:`."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    def scaled(self, scale: Fraction) -> Any:
        """The same with every duration multiplied, for a rehearsal."""
        return self if scale == 1 else scaled(self, scale)

    def loads(self) -> Iterator[tuple[tuple[str, ...], Load]]:
        """Every load the method may ask for, with its place in the parameters."""
        yield from ()


P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True)
class Procedure(Generic[P]):
    """A method: one file, one line in `METHODS`.

    start: the generator. traffic_seconds: about how long a case sends, without settling and draining.
    """

    name: str
    title: str
    doc: str
    standard: str
    """The RFC and section it implements."""
    parameters: type[P]
    start: Callable[[P, Situation], Method]
    traffic_seconds: Callable[[P], Fraction]


class Shape(BaseModel):
    """A part of the parameters that has a short form, `30s at 1kpps`."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    short_form: ClassVar[str]
    """A regular expression (ECMA 262) of the short form, loosely; the parts are checked one by one."""
    short_examples: ClassVar[tuple[str, ...]]

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        long_form = handler.resolve_ref_schema(handler(schema))
        short = {"type": "string", "pattern": cls.short_form, "examples": list(cls.short_examples)}
        return {"anyOf": [short, long_form]}


def frames_per_second(load: Load, situation: Situation) -> Fraction:
    """A load of one direction in frames per second, exact. Of a mix: frames of average size."""
    match load.amount:
        case FrameRate(amount=amount):
            return amount
        case Percent(amount=amount):
            return amount * situation.line_fps
        case L1Rate(amount=amount):
            return amount / ((situation.mean_size + WIRE_OVERHEAD_BYTES) * 8)
        case L2Rate(amount=amount):
            return amount / (situation.mean_size * 8)


def starved(result: TrialResult) -> str | None:
    """Why the tester did not offer what was asked, or None if it did.

    Two signs: frames nobody sent, and less offered than intended by more than 0.01 % and 10 us of
    traffic. Such a trial says nothing against the device.
    """
    if result.health.unsent:
        return f"the tester left {result.health.unsent} of {_intended(result)} frames unsent"
    for stream in result.streams:
        missing = stream.intended - stream.offered
        sending_ns = max(result.sample_ns * len(stream.tx), 1)
        allowed = max(
            Fraction(stream.intended, 10_000), Fraction(stream.intended * 10_000, sending_ns), Fraction(1)
        )
        if missing > allowed:
            return f"the tester sent {stream.offered} of {stream.intended} frames of `{stream.name}`"
    return None


def _intended(result: TrialResult) -> int:
    return sum(stream.intended for stream in result.streams)


def scaled(model: BaseModel, scale: Fraction) -> Any:
    """A model with every duration in it multiplied; what is not zero stays at least 1 ns."""
    changes: dict[str, Any] = {}
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, Duration):
            changes[name] = type(value).of_ns(max(min(value.ns, 1), round(value.ns * scale)))
        elif isinstance(value, BaseModel):
            changes[name] = scaled(value, scale)
    return model.model_copy(update=changes)
