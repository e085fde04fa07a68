"""The rules of the standards, in one table, and the deviations of methods and plans from them.

A rule is one line of `RULES`, under the method it applies to. What a standard requires (MUST) is compared as
strictly as what it recommends (SHOULD); only where a deviation is listed differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, TypedDict

from netdyno.methods.reasons.deviations import (
    CannotSend,
    NotTested,
    OtherThanRule,
    OutsideRule,
    Relation,
    Unit,
)
from netdyno.values import number as printed
from netdyno.values.mixes import MIN_SIZE
from netdyno.values.outcome import Outcome
from netdyno.values.reason import Reason
from netdyno.values.situation import Situation
from netdyno.values.units import Duration, Percent

S = 10**9
"""Nanoseconds of a second."""
SHOULD = True
"""Of a rule: recommended, not required."""


@dataclass(frozen=True)
class MethodFacts:
    """The facts compared with the rules. parameters: of a method; or `Conditions` of a plan."""

    parameters: Any
    situation: Situation | None = None
    outcomes: Sequence[Outcome] = ()
    cause: Reason | None = None

    @property
    def has_mix(self) -> bool:
        """Whether its frames are of several sizes."""
        return self.situation is not None and bool(self.situation.mixed_receivers)

    def waited_ns(self, phase: Literal["settle", "drain"]) -> int | None:
        """The time the last trial waited before or after its traffic, ns. None without a trial.

        As the plan has it, where that is known: in real time each trial waits a little longer than the one
        before, and one deviation would be listed as many.
        """
        if not self.outcomes:
            return None
        if self.situation is not None and self.situation.waits_ns is not None:
            return self.situation.waits_ns[("settle", "drain").index(phase)]
        return {one.name: one.duration_ns for one in self.outcomes[-1].phases}.get(phase, 0)

    def rested_ns(self) -> int | None:
        """The time the device rested beside the waits that RFC 2544 asks for, ns. None without a trial."""
        waits = (self.waited_ns("settle"), self.waited_ns("drain"))
        known = [one for one in waits if one is not None]
        return sum(max(one - 2 * S, 0) for one in known) if known else None

    def timed(self) -> int | None:
        """The fewest frames of a stream that were timed. None if no stream was."""
        streams = [one.latency for outcome in self.outcomes for one in outcome.streams]
        return min((one.count for one in streams if one is not None), default=None)


@dataclass(frozen=True)
class Conditions:
    """The conditions that a plan as a whole tests, beside its method.

    sizes: how many frame sizes. modifiers_left: modifiers of RFC 2544 section 11 that it does not have.
    has_plain: some case has no modifier. networks: the most destinations of a profile. has_pair: some profile
    has one pair of addresses. has_both_ways: some case has the same load from both sides.
    """

    sizes: int
    modifiers_left: tuple[str, ...]
    has_plain: bool
    networks: int
    has_pair: bool
    has_both_ways: bool

    @property
    def has_all_modifiers(self) -> bool:
        """Whether no modifier of RFC 2544 section 11 is left out."""
        return not self.modifiers_left


@dataclass(frozen=True)
class Rule:
    """A number that a standard asks for. of: a field of the parameters, or a function, None: no number."""

    subject: str
    of: str | Callable[[MethodFacts], int | Fraction | None]
    bound: int | Fraction
    unit: Unit
    section: str
    should: bool = False
    relation: Relation = "at least"
    has_cause: bool = False
    """What was seen in the trials follows from this number."""

    def deviation(self, facts: MethodFacts) -> Reason | None:
        """The deviation from the rule; None if it is met, or if there is nothing to compare."""
        found = _number(getattr(facts.parameters, self.of)) if isinstance(self.of, str) else self.of(facts)
        if found is None or self._is_kept(found):
            return None
        bound = Fraction(self.bound)
        return OutsideRule(
            self.subject,
            Fraction(found),
            self.relation,
            bound,
            self.unit,
            self.section,
            not self.should,
            facts.cause if self.has_cause else None,
        )

    def _is_kept(self, found: int | Fraction) -> bool:
        if self.relation == "exactly":
            return found == self.bound
        return found >= self.bound if self.relation == "at least" else found <= self.bound


@dataclass(frozen=True)
class Wanted:
    """A way of doing something that a standard asks for. other: what was done instead; None: nothing else."""

    subject: str
    wanted: str
    section: str
    other: Callable[[MethodFacts], str | None]
    should: bool = False

    def deviation(self, facts: MethodFacts) -> Reason | None:
        """The deviation: the way it was done instead; None if it was done so."""
        found = self.other(facts)
        if found is None:
            return None
        return OtherThanRule(self.subject, found, self.wanted, self.section, not self.should)


@dataclass(frozen=True)
class Needed:
    """A test that a standard asks for.

    why: a field of the parameters that is true where it was done; or a function that says why it was not
    done, None: it was.
    """

    test: str | Callable[[MethodFacts], str]
    section: str
    why: str | Callable[[MethodFacts], Reason | None]
    should: bool = False

    def deviation(self, facts: MethodFacts) -> Reason | None:
        """The deviation that it was not done; None if it was."""
        why = None
        if isinstance(self.why, str):
            if getattr(facts.parameters, self.why):
                return None
        else:
            why = self.why(facts)
            if why is None:
                return None
        test = self.test if isinstance(self.test, str) else self.test(facts)
        return NotTested(test, why, self.section, not self.should)


AnyRule: TypeAlias = Rule | Wanted | Needed


class Deviations(TypedDict):
    """Those from requirements and those from recommendations, as `Result` has them."""

    compliance: tuple[Reason, ...]
    recommended: tuple[Reason, ...]


def deviations(
    applies_to: str,
    parameters: Any,
    situation: Situation | None = None,
    outcomes: Sequence[Outcome] = (),
    cause: Reason | None = None,
) -> Deviations:
    """The deviations from requirements and those from recommendations, in the order of the table.

    applies_to: a key of `RULES`. outcomes: of the trials the result rests on. cause: what was seen that
    follows from the numbers of rules with `has_cause`.
    """
    facts = MethodFacts(parameters, situation, outcomes, cause)
    found = [(rule.should, rule.deviation(facts)) for rule in RULES[applies_to]]
    return Deviations(
        compliance=tuple(one for should, one in found if one is not None and not should),
        recommended=tuple(one for should, one in found if one is not None and should),
    )


def _number(value: Any) -> int | Fraction:
    """A field of parameters as a number: durations in ns, shares of 1, lists by their length."""
    if isinstance(value, list):
        return len(value)
    if isinstance(value, Duration):
        return value.ns
    if isinstance(value, Percent):
        return value.amount
    assert isinstance(value, int | Fraction), f"{value!r} is no number"
    return value


def _first_load(facts: MethodFacts) -> str | None:
    """A load to begin with that is not written as 100 % of the line."""
    load = facts.parameters.maximum
    return None if load.amount == Percent(Fraction(1)) else str(load)


def _load(facts: MethodFacts) -> str | None:
    load = facts.parameters.load
    return None if load.amount == Percent(Fraction(1)) else str(load)


def _mean_size(facts: MethodFacts) -> Fraction:
    assert facts.situation is not None
    return facts.situation.mean_size


def _mix(facts: MethodFacts) -> str | None:
    return "a mix" if facts.has_mix else None


def _uneven(facts: MethodFacts) -> str | None:
    return "frames at uneven distances" if facts.situation is not None and facts.situation.is_uneven else None


def _bare(facts: MethodFacts) -> str | None:
    bare = any(stream.is_bare for outcome in facts.outcomes for stream in outcome.streams)
    return "counts by headers, of frames without sequence numbers" if bare else None


def _forgotten(facts: MethodFacts) -> str | None:
    return "a request to the device" if facts.parameters.forget else None


def _left_out(test: str) -> Needed:
    """A test of RFC 2544 that its suite may leave out. The parameters are reasons by test."""
    return Needed(test, "RFC 2544 section 26", lambda facts: facts.parameters.get(test))


def _cannot_send(error: Literal["undersize", "checksum", "octet"]) -> Callable[[MethodFacts], Reason]:
    return lambda facts: CannotSend(error)


def _given(facts: MethodFacts) -> str:
    return f"the plan ({facts.parameters})"


def _no_limit(facts: MethodFacts) -> str:
    return f"{printed.duration(facts.parameters.longest.ns)}, and it passed"


def _modifiers_left(facts: MethodFacts) -> str:
    return ", ".join(facts.parameters.modifiers_left)


WAITS: tuple[AnyRule, ...] = (
    Rule(
        "settle phase",
        lambda facts: facts.waited_ns("settle"),
        2 * S,
        "ns",
        "RFC 2544 section 23 phase b",
    ),
    Rule(
        "drain phase",
        lambda facts: facts.waited_ns("drain"),
        2 * S,
        "ns",
        "RFC 2544 section 23 phase d",
    ),
    Rule("rest between trials", MethodFacts.rested_ns, 5 * S, "ns", "RFC 2544 section 23 phase e"),
)
"""Around each trial."""

FRAMES: tuple[AnyRule, ...] = (
    Wanted("load", "constant load", "RFC 1242 section 3.4", _uneven),
    Wanted("verification", "sequence numbers", "RFC 2544 section 10", _bare, SHOULD),
)
"""How they leave, and are known again."""

STATIONS: tuple[AnyRule, ...] = (
    Wanted(
        "way to forget addresses", "to wait for the ageing time", "RFC 2889 section 5.7.3", _forgotten, SHOULD
    ),
)

TRIALS = "RFC 2544 section 24"

RULES: Mapping[str, tuple[AnyRule, ...]] = {
    # RFC 2544 and what updates it.
    "throughput": (
        *WAITS,
        *FRAMES,
        Rule(
            "length of the final trial",
            "duration",
            60 * S,
            "ns",
            "RFC 2544 section 24",
            SHOULD,
            has_cause=True,
        ),
    ),
    "throughput, given": (Wanted("source", "a measurement", "RFC 2544 section 26.1", _given),),
    "latency": (
        Rule("number of latency streams", "repeats", 20, "", "RFC 2544 section 26.2"),
        *WAITS,
        *FRAMES,
        Rule("length of latency streams", "duration", 120 * S, "ns", "RFC 2544 section 26.2", SHOULD),
        Rule("time before frames are timed", "after", 60 * S, "ns", "RFC 2544 section 26.2", SHOULD),
        Rule("number of timed frames", MethodFacts.timed, 500, "", "RFC 8219 section 7.2", SHOULD),
    ),
    "frame-loss": (
        *WAITS,
        *FRAMES,
        Rule("length of frame loss trials", "duration", 60 * S, "ns", TRIALS, SHOULD),
        Wanted("first load of frame loss", "100 %", "RFC 2544 section 26.3", _first_load, SHOULD),
    ),
    "back-to-back": (
        Rule("quiet time behind a burst", "quiet", 2 * S, "ns", "RFC 9004 section 6.2"),
        Wanted("frame size of bursts", "one size", "RFC 9004 section 3", _mix),
        Rule("number of back-to-back searches", "repeats", 50, "", "RFC 2544 section 26.4", SHOULD),
    ),
    "back-to-back, no limit": (
        Wanted("longest burst", "a repetition with a longer one", "RFC 9004 section 6.2", _no_limit),
    ),
    "recovery": (
        Rule("length of the overload", "overload", 60 * S, "ns", "RFC 2544 section 26.5"),
        Rule("overload", "share", Fraction(11, 10), "share", "RFC 2544 section 26.5", relation="exactly"),
        Rule("number of overloads", "repeats", 2, "", "RFC 2544 section 26.5", SHOULD),
    ),
    "reset": (
        Rule("traffic before the reset", "before", 15 * S, "ns", "RFC 6201 section 4"),
        Rule("frame size", _mean_size, MIN_SIZE, "B", "RFC 6201 section 4", SHOULD, relation="at most"),
    ),
    "rfc2544": tuple(
        _left_out(test) for test in ("latency", "frame loss", "back to back", "recovery", "reset")
    ),
    "RFC 2544": (
        Rule("number of frame sizes", "sizes", 5, "", "RFC 2544 section 9", SHOULD),
        Needed(_modifiers_left, "RFC 2544 section 11", "has_all_modifiers", SHOULD),
        Needed("traffic without modifiers", "RFC 2544 section 11", "has_plain", SHOULD),
        Rule("number of destination networks", "networks", 256, "", "RFC 2544 section 12", SHOULD),
        Needed("traffic between one pair of addresses", "RFC 2544 section 12", "has_pair", SHOULD),
        Needed("equal load from both sides", "RFC 2544 section 14", "has_both_ways", SHOULD),
    ),
    "bisection": (Rule("length of trials", "duration", 60 * S, "ns", TRIALS, SHOULD),),
    # RFC 8219.
    "delay-variation": (
        Rule("number of delay variation streams", "repeats", 20, "", "RFC 8219 section 7.3"),
        *WAITS,
        Rule("length of delay variation streams", "duration", 60 * S, "ns", "RFC 8219 section 7.3", SHOULD),
    ),
    # RFC 8239.
    "microburst": (
        Rule("number of searches", "repeats", 2, "", "RFC 8239 section 1.2", SHOULD),
        Wanted("frame size of bursts", "one size", "RFC 8239 section 3", _mix, SHOULD),
    ),
    # RFC 2889.
    "congestion": (
        Rule("length of the trial", "duration", 30 * S, "ns", "RFC 2889 section 5.5.2", SHOULD),
        Wanted("load of each sender", "100 %", "RFC 2889 section 5.5", _load, SHOULD),
    ),
    "max-forwarding-rate": (
        Rule("length of trials", "duration", 30 * S, "ns", "RFC 2889 section 5.6.2", SHOULD),
    ),
    "address-caching": STATIONS,
    "address-learning-rate": STATIONS,
    "errored-frames": (
        Needed("undersize", "RFC 2889 section 5.9", _cannot_send("undersize")),
        Needed("CRC errors", "RFC 2889 section 5.9", _cannot_send("checksum")),
        Needed("dribble bit errors", "RFC 2889 section 5.9", _cannot_send("octet")),
        Needed("alignment errors", "RFC 2889 section 5.9", _cannot_send("octet")),
        Rule("length of trials", "duration", 30 * S, "ns", "RFC 2889 section 5.9.2", SHOULD),
        Rule("number of loads", "at", 2, "", "RFC 2889 section 5.9.2", SHOULD),
    ),
    "broadcast": (Rule("length of trials", "duration", 30 * S, "ns", "RFC 2889 section 5.10.2", SHOULD),),
    # RFC 6349.
    "rfc6349": (
        Rule("length of each window's test", "duration", 30 * S, "ns", "RFC 6349 section 3.3.1", SHOULD),
    ),
    # ITU-T.
    "y1564": (
        Rule("length of the performance test", "performance", 15 * 60 * S, "ns", "ITU-T Y.1564", SHOULD),
    ),
}
"""By the method a rule applies to; `RFC 2544` are its conditions for a plan as a whole."""
