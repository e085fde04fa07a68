"""How tests ask for a method, and what it is to find: a module in `proofs/` for each method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench import Bench, Plan


@dataclass(frozen=True)
class Strange:
    """How a method is asked for on a device or with a tester that is not as it should be (strangers.py).

    most: the most trials it may take. more: the rest of the plan.
    """

    parameters: str
    most: int
    more: Mapping[str, Any] = field(default_factory=dict)


def strange(parameters: str, most: int, **more: Any) -> Strange:
    """How a method is asked for there; more: the rest of the plan."""
    return Strange(parameters, most, more)


@dataclass(frozen=True)
class Proof:
    """What holds of a method.

    plan, row: how it is asked for in the table of truth (table.py), and its row there. finding: holds what it
    says against the reference. within: what is not exact there, where the row has a `~`. has_classes: whether
    its traffic can be of several classes. loses_nothing: whether the tries that its result rests on lose
    nothing, and so nothing late, or whether it has none. rates: the values it finds that are rates of the
    device. of_nothing: values that a device which passes nothing has nonetheless, and what they are then.
    """

    strange: Strange
    plan: Plan
    row: str
    finding: Callable[[Bench], object]
    within: str = ""
    has_classes: bool = True
    loses_nothing: bool = False
    rates: tuple[str, ...] = ()
    of_nothing: Mapping[str, int] = field(default_factory=dict)


# What several of them ask for.

HALVINGS = 1 + 5
"""Trials of a search of 20 steps: the maximum, and 21 halved until 1 is left, 5 times."""
GOAL = "exceed: 0%, duration: 10ms, sum: 10ms, initial: 10ms, width: 5%"
SEARCH = "throughput: {duration: 10ms, width: 5%}"
# A bridge is taught before the load comes; what is held of that is let go within 100 ms.
BRIDGE: dict[str, Any] = {"links": 3, "settle": "110ms", "matrix": ""}
TRY = "test: 10kpps, pause: 10ms, forget: true"
MIXED_UP = "whose a broken frame is that came to the wrong port is not always known"
