"""Kinds of values: each method's file declares what it finds, and every value carries its kind.

Goals, verdicts and reports know a value by the fields of its kind, never by its name: so a new method brings
all that they need to know of what it finds, and a stored result is read without its method.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

Subject: TypeAlias = Literal["device", "tester", "plan"]
"""What a value is about. Of the tester: how far it can be trusted; that is no result and has no limit. Of the
plan: what it says in place of a measurement."""

Role: TypeAlias = Literal[
    "",
    "knee",
    "best rate",
    "held rate",
    "loss at the end",
    "schedule",
    "line share",
    "latency",
    "cost",
    "baseline",
    "frame time",
    "new frame time",
    "loss at the rate",
]
"""What verdicts and figures read a value as, whatever its method calls it.

knee: the load where loss sets in for good; it lies between its bounds, and not above the best rate.
best rate: the most that came back in a part of a trial, counted to the frame, whatever was lost.
held rate: what of the best rate lasts. loss at the end: the share lost at the end of a rising load.
schedule: the load up to which the tester was on time. line share: how full the line back was.
latency: the mean one-way delay. baseline: a rate without a service. cost: how much less there is with it.
frame time: what a core works longer for a frame; new frame time: for the first frame of a flow. loss at the
rate: the share lost of a load that passed. Empty: only what its name says.
"""

Hinge: TypeAlias = Literal["", "loss", "last loss", "order", "flooding", "delay"]
"""What decides a value: the number of lost frames alone, though it is a time; or beside that the last one
that was lost, those out of order or at other ports, their delay. Empty: what its unit says."""

SHARES = ("share", "ratio")
RATES = ("fps", "bps", "conn/s")
COUNTS = ("",)
TIMES = ("ns",)

_GOAL = re.compile(r"(\S.*?) (?:>=|<=|>|<) \S+")


@dataclass(frozen=True)
class ValueKind:
    """What a method finds.

    name: the field's term, `ramp max Rx`, `throughput`, `knee`. unit: `fps`, `ns`, `share` or `ratio` (of 1),
    `frames`, `addresses`; empty: a count. meaning: a clause that says what it is.
    """

    name: str
    unit: str
    meaning: str
    goal: str | None = None
    """An example of a goal for it, `loss <= 0.1%`; kinds may share a goal's name. None: there is no goal."""
    about: Subject = "device"
    on_throughput: bool = False
    """Whether it was measured at the throughput, at a load made from that, or is computed with it."""
    role: Role = ""
    label: str = ""
    """Its name in reports, where the name alone could be taken for one of the device's; empty: its name."""
    closer: str = ""
    """What brings its bounds closer, `a narrower width`, where a goal lies between them."""
    instead: str = ""
    """The name of the kind that other cases have in place of it; goals for that are not for this case."""
    of_class: str = field(default="", compare=False, metadata={"unstored": True})
    """The class of traffic that it is of; goals for it are for cases with that class alone."""
    at_full_load: bool = field(default=False, compare=False, metadata={"unstored": True})
    """Whether it is the device's only at all the load that the device lets through: less makes it better."""
    hinges_on: Hinge = field(default="", compare=False, metadata={"unstored": True})
    good: Literal["", "more", "less"] = field(default="", compare=False)
    """Whether more of it is better, or less, where neither its goal nor its unit says."""
    tail: Fraction | None = field(default=None, compare=False, metadata={"unstored": True})
    """Of a percentile of times the share of frames beyond it; 0: of the longest, the shortest, or a single
    one; None: no few frames decide it."""

    def __post_init__(self) -> None:
        """Raises ValueError for a kind without a name, and for a goal that cannot be one."""
        if not self.name:
            raise ValueError("a kind of values without a name")
        if self.goal is not None and not (
            _GOAL.fullmatch(self.goal) and self.unit in SHARES + RATES + COUNTS + TIMES
        ):
            raise ValueError(f"the kind `{self.name}` cannot have a goal like `{self.goal[:40]}`")

    @property
    def is_share(self) -> bool:
        """Whether it is a share of what was sent or done, and no rate, time or count."""
        return self.unit in SHARES

    @property
    def better(self) -> Literal["more", "less", ""]:
        """Whether more of it is better, or less; empty: neither."""
        if self.good:
            return self.good
        if self.goal is not None:
            return "more" if ">" in self.goal else "less"
        return "more" if self.unit in RATES else "less" if self.is_time else ""

    @property
    def is_time(self) -> bool:
        """Whether it is a time; a goal for it has a duration as its bound."""
        return self.unit in TIMES

    @property
    def is_count(self) -> bool:
        """Whether it is a plain number of things; a goal for it has a bound without a unit."""
        return self.unit in COUNTS

    @property
    def goal_name(self) -> str | None:
        """What goals call it; None: no goal can be set for it."""
        found = None if self.goal is None else _GOAL.fullmatch(self.goal)
        return None if found is None else found[1]

    @property
    def display_name(self) -> str:
        """What reports call it."""
        return self.label or self.name


TRIAL_LOSS = ValueKind(
    "loss",
    "share",
    "the share of frames lost in the trial that the result rests on",
    goal="loss <= 0.1%",
)
"""What every result of frames shows of a loss, in its trials. A kind whose goal has the same name takes its
place."""


def class_loss(traffic: str) -> ValueKind:
    """What a class of traffic lost, in the trial of a case in which it lost most."""
    return ValueKind(
        f"loss of {traffic}",
        "share",
        f"the largest share of the frames of class {traffic} that a trial lost",
        goal=f"loss of {traffic} <= 0%",
        of_class=traffic,
    )


def class_latency(traffic: str) -> ValueKind:
    """The 99th percentile of the latency of a class, in the trial in which it was highest."""
    return ValueKind(
        f"p99 of {traffic}",
        "ns",
        f"the highest 99th percentile of the one-way latency of class {traffic} in a trial",
        goal=f"p99 of {traffic} <= 1ms",
        of_class=traffic,
    )


def group_by_goal(kinds: Iterable[ValueKind]) -> dict[str, tuple[ValueKind, ...]]:
    """The kinds that a goal can be set for, by the name it calls them; `TRIAL_LOSS` is one of every result
    that counts frames."""
    found: dict[str, dict[ValueKind, None]] = {}
    for kind in (*kinds, TRIAL_LOSS):
        if kind.goal_name is not None:
            found.setdefault(kind.goal_name, {})[kind] = None
    return {name: tuple(theirs) for name, theirs in found.items()}
