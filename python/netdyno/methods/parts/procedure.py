"""The parts of a method: its parameters, its generator and its description."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from netdyno.errors import Problem
from netdyno.methods.reasons.tester import Preempted, SentLonger, ShortAfterPause, Unsent
from netdyno.values.described import Described
from netdyno.values.finding import Result
from netdyno.values.kind import ValueKind
from netdyno.values.load import FRAMES, LEAST_DRAIN_NS, STEADY, Frames, LoadClass, Observe, Trial
from netdyno.values.method import Method
from netdyno.values.offer import Offer
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.units import Duration, Load, Percent, PositiveDuration, PositiveLoad, Rate, UnitError
from netdyno.values.unmeasured import NotMeasuredError

AWAY_NS = 100_000_000
"""A tester that did nothing for longer than this did not offer a constant load, whatever it made up for."""


Place: TypeAlias = tuple[str | int, ...]


def find_models(value: object, place: Place = ()) -> Iterator[tuple[Place, BaseModel]]:
    """A model and all inside it, with their places as a plan writes them."""
    if isinstance(value, BaseModel):
        yield place, value
        for name, field in type(value).model_fields.items():
            yield from find_models(getattr(value, name), (*place, field.alias or name))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from find_models(inner, (*place, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from find_models(inner, (*place, number))


class Allowed(NamedTuple):
    """What a load that passes a search may lose. loss: this share of the frames of a trial. exceed: more than
    that in this share of the time of its trials."""

    loss: Fraction = Fraction(0)
    exceed: Fraction = Fraction(0)


class Parameters(Described):
    """The parameters of a method, as a plan writes them under `method:`."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @property
    def searched(self) -> Mapping[str, Allowed]:
        """The values that it searches a load for, by name; empty: it searches none."""
        return {}

    @property
    def needs_flows(self) -> bool:
        """Whether each flow of a profile is a connection, of a method that opens some."""
        return True

    def scaled(self, scale: Fraction) -> Any:
        """The same with every duration multiplied, for a rehearsal."""
        return self if scale == 1 else scaled(self, scale)

    def loads(self) -> Iterator[tuple[Place, Load]]:
        """Every load the method may ask for, with its place in the parameters; no `width` is one."""
        for place, model in find_models(self):
            for name, field in type(model).model_fields.items():
                value = getattr(model, name)
                for load in value if isinstance(value, list) else [value]:
                    if isinstance(load, Load) and name != "width":
                        yield (*place, field.alias or name), load


class FromMaximum(Parameters):
    """Parameters of a method that goes down from a load."""

    maximum: PositiveLoad = PositiveLoad(Percent(Fraction(1)))
    """The load to start from: `100%`."""


SLOWER = Fraction(1, 10_000)
"""A constant load is held to this share, or to one frame."""

HARDLY_LESS = Fraction(1, 100)
"""A load that is less than asked for by no more than this share: what is lost at it is lost at more, too."""

SHORT_NS = 500_000
"""A trial may end this much late in real time: no more than the pauses of the machine."""


PAUSE_NS = 10_000_000
"""A constant load with a longer pause of the tester is retried, as often as the plan says: in it a
device's queue empties, and behind it the tester makes up for it."""

BACKLOG = 3
"""A tester that is this many times as late as its longest pause was is too slow: no second attempt helps."""


class FurtherLoad(NamedTuple):
    """A load that follows from parameters and lab, frames a second of the port that sends most. what: how it
    comes about, a clause. above: the loads of the parameters that are less, a clause; empty: none is."""

    what: str
    fps: Fraction
    above: str = ""


P = TypeVar("P", bound=Parameters)
R = TypeVar("R")


@dataclass(frozen=True)
class Procedure(Generic[P]):
    """A method: one file, one line in `METHODS`.

    start: the generator. traffic_seconds: about how long a case sends, without settling and draining.
    """

    name: str
    title: str
    doc: str
    standard: str
    """The RFC and section it implements; empty: it follows no standard."""
    parameters: type[P]
    start: Callable[[P, Situation], Method]
    traffic_seconds: Callable[[P], Fraction]
    values: tuple[ValueKind, ...]
    """Every kind of value that it finds."""
    pattern: str | None = None
    """The only pattern of traffic (patterns.py) it is for, which a plan need not name; None: any."""
    trials: Callable[[P], int | None] | None = None
    """How many trials a case has, all about as long; None: unknown beforehand."""
    groups: bool = False
    """Whether it measures several port groups at once, at the same share of their lines."""
    fits: Callable[[P, Situation], Problem | None] | None = None
    """Why a case cannot be measured so, if it cannot: a plan with such a case is not run."""
    further_loads: Callable[[P, Situation], tuple[FurtherLoad, ...]] | None = None
    """What a case sends beside the loads that its parameters name; None: nothing."""
    counted: Callable[[Situation, Outcome], Outcome] | None = None
    """A trial with what the method itself counts of each stream, which is what it is judged by; None: what
    the stream does."""
    sample: PositiveDuration | None = None
    """Length of a sample where a plan says none and another one than usual fits the method."""
    load_class: LoadClass = FRAMES
    further_needs: frozenset[Offer] = frozenset()
    """What a tester must offer besides loads of this class."""
    settle: Duration | None = None
    """Wait before traffic where a plan says none and the standard has another one than usual."""
    like: str = ""
    """What a method that follows no standard resembles, a clause."""
    conditions: str | None = None
    """Rules for the plan as a whole, by their name in the table of rules."""
    is_in_parts: bool = False
    """Whether its trials are parts of one load, kept packed until all have ended: there may be thousands."""
    sends_by_itself: bool = False
    """Whether it may have no load, where all classes of the traffic have rates and times of their own."""
    counts_alone: bool = False
    """Whether counts of each stream are all that it must have: frames without a probe will do."""
    needs_even: bool = False
    """Whether its load has a shape of its own, in which frames must be placed evenly."""
    needs_path: bool = False
    """Of connections: whether it rests on own frames over the same path, whose both ends are the tester's."""
    is_meshed: bool = False
    """Whether with the traffic of a pattern it measures what RFC 2889 sections 5.1 to 5.4 have."""

    @property
    def needs(self) -> frozenset[Offer]:
        """What a tester must offer."""
        return self.load_class.needs | self.further_needs

    @property
    def described_standard(self) -> str:
        """A sentence on its standard, or that it has none and which it resembles."""
        return self.standard or f"none; {self.like}"


class Shape(Described):
    """A part of the parameters that has a short form, `30s at 1kpps`."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    short_form: ClassVar[str]
    """A regular expression (ECMA 262) of the short form, loosely; the parts are checked one by one."""
    short_examples: ClassVar[tuple[str, ...]]
    misread: ClassVar[tuple[str, str]]
    """What a text in another form is not, and what to write."""

    @classmethod
    def parse_short(cls, text: str) -> Mapping[str, Any] | None:
        """The fields that a short form stands for; None: it is in another form."""
        raise NotImplementedError

    @model_validator(mode="before")
    @classmethod
    def _read_short(cls, value: Any) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            return value
        found = cls.parse_short(value)
        if found is None:
            raise UnitError(value, *cls.misread, code="wrong-format")
        return found

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        long_form = handler.resolve_ref_schema(super().__get_pydantic_json_schema__(schema, handler))
        short = {"type": "string", "pattern": cls.short_form, "examples": list(cls.short_examples)}
        return {"anyOf": [short, long_form]}


COUNTS = Observe()
"""What every trial observes."""


def constant(
    name: str, rate: Rate, duration_ns: int, segment: str = STEADY, observe: Observe = COUNTS
) -> Trial:
    """A trial of one load. segment: what it is called, of a load that does not last."""
    return Trial(name, Frames.steady(rate, duration_ns, segment), observe=observe)


def part(name: str, method: Method, first: int) -> Generator[Trial, Outcome, tuple[Result, int]]:
    """Runs a method as a part of another one, which has made `first` trials before.

    Its result, with the trials numbered as the whole's, and the number of the next trial.
    """
    result, made = yield from through(method, lambda trial: replace(trial, name=f"{name}: {trial.name}"))
    return numbered_from(first, result), first + made


def numbered_from(first: int, result: Result) -> Result:
    """The result of a method that has made its trials behind `first` others of the case."""

    def shifted(trials: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(first + trial for trial in trials)

    rests = {name: shifted(trials) for name, trials in result.rests.items()}
    by_scope = {
        name: {scope: shifted(trials) for scope, trials in each.items()}
        for name, each in result.rests_by_scope.items()
    }
    return replace(result, trials=shifted(result.trials), rests=rests, rests_by_scope=by_scope)


def through(
    method: Generator[Trial, Outcome, R],
    asked: Callable[[Trial], Trial],
    told: Callable[[int, Outcome | NotMeasuredError], object] = lambda number, outcome: None,
) -> Generator[Trial, Outcome, tuple[R, int]]:
    """Runs a method within another one; returns its result and the number of its trials.

    asked: what becomes of each trial. told: hears of each outcome, with the trial's number from 0; of one
    that could not be measured it is the error, which the method is thrown.
    """
    number = 0
    try:
        trial = next(method)
        while True:
            try:
                outcome = yield asked(trial)
            except NotMeasuredError as error:
                told(number, error)
                number += 1
                trial = method.throw(error)
                continue
            told(number, outcome)
            number += 1
            trial = method.send(outcome)
    except StopIteration as stop:
        found: R = stop.value
        return found, number
    finally:
        method.close()


def record_trials(
    method: Generator[Trial, Outcome, R],
) -> Generator[Trial, Outcome, tuple[R, dict[int, tuple[Trial, Outcome]]]]:
    """Runs a method within another one; returns its result and, by number, its trials that were measured."""
    asked: list[Trial] = []
    made: dict[int, tuple[Trial, Outcome]] = {}

    def noted(trial: Trial) -> Trial:
        asked.append(trial)
        return trial

    def note(number: int, outcome: Outcome | NotMeasuredError) -> None:
        if not isinstance(outcome, NotMeasuredError):
            made[number] = asked[number], outcome

    result, _ = yield from through(method, noted, note)
    return result, made


def find_shortfall(result: Outcome, planned_ns: int | None) -> Reason | None:
    """The reason why the tester offered less than asked; None if it offered all.

    Up to 0.01 % of a stream, 10 us of its traffic or one frame may be missing: the last frames of a trial
    are due just before its clock runs out. And what was sent, over the time it took, may be 0.01 % less than
    what was asked for over the `planned_ns` it was to take, or as much less as half a millisecond or one
    frame more makes it: what took longer was a lower rate, though all of it was sent. The one frame that may
    be missing counts as sent there: where several streams share a line their last frames are due at once, and
    those that wait for the others are sent after the end, or not at all. A trial that falls short of either
    says nothing against the device. Of several streams it is that of the one with most.
    """
    return find_worst(reason for _, reason in shortfalls(result, planned_ns))


def find_own_shortfall(result: Outcome, planned_ns: int | None) -> Reason | None:
    """As `find_shortfall`, without the streams that a memif peer's full ring refused."""
    refused = {stream.name for stream in result.streams if stream.refused}
    return find_worst(reason for name, reason in shortfalls(result, planned_ns) if name not in refused)


def find_worst(reasons: Iterable[Unsent | SentLonger]) -> Unsent | SentLonger | None:
    """The one with the greatest part of the load that was not offered; frames unsent go before late ones."""
    return max(reasons, key=lambda reason: (isinstance(reason, Unsent), reason.part), default=None)


def is_nearly_sent(result: Outcome, planned_ns: int | None) -> bool:
    """Whether the load was offered, or hardly less, or memif peers' full rings are why it was not."""
    is_whole = find_own_shortfall(result, planned_ns) is None
    return is_whole or find_behind(result, planned_ns) <= HARDLY_LESS


def shortfalls(result: Outcome, planned_ns: int | None) -> Iterator[tuple[str, Unsent | SentLonger]]:
    """Each stream of which the tester offered less than asked, as in `find_shortfall`, with the reason."""
    for stream in result.streams:
        missing = stream.intended - stream.offered
        traffic_ns = max(result.sample_ns * len(stream.tx), 1)
        allowed = max(
            Fraction(stream.intended, 10_000), Fraction(stream.intended * 10_000, traffic_ns), Fraction(1)
        )
        if missing > allowed:
            host = result.sender_of(stream.name)
            yield stream.name, Unsent(stream.name, missing, stream.intended, host.name if host else "")
    if planned_ns is None:
        return
    for stream in result.streams:
        host = result.sender_of(stream.name)
        took_ns = host.sent_ns if host else sending_ns(result)
        # How long this many frames may take.
        due = min(stream.offered + 1, stream.intended)
        ns = Fraction(planned_ns * due, max(stream.intended, 1))
        # A frame more or less is no other rate.
        allowed = max(planned_ns * SLOWER, Fraction(SHORT_NS), Fraction(planned_ns, max(stream.intended, 1)))
        if stream.intended and took_ns - ns > allowed:
            unsent = stream.intended - stream.offered
            over_ns = took_ns - planned_ns
            named = host.name if host else ""
            yield stream.name, SentLonger(stream.name, planned_ns, over_ns, unsent, stream.intended, named)


def find_behind(result: Outcome, planned_ns: int | None) -> Fraction:
    """By how much less than asked for the tester offered: the share of a stream, of the one with most; 0 as
    far as `find_shortfall` allows it."""
    return max((reason.part for _, reason in shortfalls(result, planned_ns)), default=Fraction(0))


def sending_ns(result: Outcome) -> int:
    """The time the tester sent, ns: all phases with traffic, the last one as long as it caught up."""
    around = ("resolve", "settle", "drain")
    return sum(phase.duration_ns for phase in result.phases if phase.name not in around)


def find_long_pause(trial: Trial, result: Outcome) -> Reason | None:
    """The pause of the tester that makes a trial not count; None if it counts.

    A load that was asked for as constant, or in steps, and came as a pause and a burst is another load. Of a
    load that rises each is offered for an instant, and a pause spoils those it falls on: the ramp leaves them
    out.
    """
    if trial.stands or not trial.constant or result.health.longest_gap_ns <= AWAY_NS:
        return None
    return Preempted(result.health.longest_gap_ns, result.paused_host)


def find_spoiling_pause(trial: Trial, result: Outcome) -> Reason | None:
    """The pause of the tester for which a trial should be retried; None if there is none.

    By what the tester knows of itself alone, and never by what came back: whoever repeats the trials that
    failed, and no others, chooses their result.
    """
    pause_ns = result.health.longest_gap_ns
    if trial.stands or not trial.constant or not pause_ns:
        return None
    if pause_ns > PAUSE_NS:
        return Preempted(pause_ns, result.paused_host)
    short = find_own_shortfall(result, trial.duration_ns)
    if short is None or result.health.latest_departure_ns > BACKLOG * pause_ns:
        return None
    return ShortAfterPause(short, pause_ns)


def scaled(model: BaseModel, scale: Fraction) -> Any:
    """A model with every duration in it multiplied; what is not zero stays at least 1 ns, and a wait for what
    a device's queue holds, or for what it learns, as long as that takes."""
    changes: dict[str, Any] = {}
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, Duration):
            least = LEAST_DRAIN_NS if name in ("quiet", "pause") else 1
            changes[name] = type(value).of_ns(max(min(value.ns, least), round(value.ns * scale)))
        elif isinstance(value, BaseModel):
            changes[name] = value.scaled(scale) if isinstance(value, Parameters) else scaled(value, scale)
    copied = model.model_copy(update=changes)
    # What was left to its default still is: a plan did not name it.
    copied.model_fields_set.intersection_update(model.model_fields_set)
    return copied


def load_begin_ns(outcome: Outcome) -> int:
    """When the load of a trial began, ns from the start of the trial."""
    return next(phase.start_ns for phase in outcome.phases if phase.name == "traffic")


def clock(outcome: Outcome, at_ns: int) -> str | None:
    """The time of day, UTC, `at_ns` after the load of a trial began; None in virtual time."""
    if outcome.started is None:
        return None
    when = outcome.started + timedelta(microseconds=(load_begin_ns(outcome) + at_ns) // 1000)
    return f"{when:%Y-%m-%d %H:%M:%S.%f}"
