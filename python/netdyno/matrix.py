"""From a plan to its cases: one for every combination of the matrix that the filters leave."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from netdyno.arithmetic import line_rate
from netdyno.trial import Situation
from netdyno.units import L1Rate

if TYPE_CHECKING:
    from netdyno.labs.wiring import Wiring
    from netdyno.plan import Plan, Profile

Direction = Literal["uni", "uni-reverse", "bidir"]


@dataclass(frozen=True)
class Case:
    """One load test of a plan.

    name: the values of its axes in the matrix's order, `l2-xconnect / plain / imix / bidir`. number:
    from 0, in the matrix's order. choices: axis and value. settings: the device's, all of them: its
    defaults, then the lab's, then this case's. seed: of everything random in it.
    """

    name: str
    number: int
    choices: tuple[tuple[str, str], ...]
    settings: Mapping[str, str]
    profile_name: str
    profile: Profile
    direction: Direction
    seed: int


def cases(plan: Plan) -> tuple[Case, ...]:
    """The cases in order: the last axis changes fastest."""
    axes = [axis for axis, _ in plan.axes]
    found: list[Case] = []
    for values in itertools.product(*(values for _, values in plan.axes)):
        choices = tuple(zip(axes, values, strict=True))
        chosen = dict(choices)
        if plan.only and not any(_matches(entry, chosen) for entry in plan.only):
            continue
        if any(_matches(entry, chosen) for entry in plan.skip):
            continue
        name = " / ".join(values)
        defaults = {setting: known[0] for setting, known in plan.kind.settings.items() if known}
        own = {axis: value for axis, value in choices if axis in plan.kind.settings}
        found.append(
            Case(
                name=name,
                number=len(found),
                choices=choices,
                settings={**defaults, **plan.lab.settings, **own},
                profile_name=chosen["profile"],
                profile=plan.profiles[chosen["profile"]],
                direction=chosen["direction"],  # type: ignore[arg-type]
                seed=case_seed(plan.seed, name),
            )
        )
    return tuple(found)


def _matches(entry: Mapping[str, tuple[str, ...]], chosen: Mapping[str, str]) -> bool:
    return all(chosen.get(axis) in values for axis, values in entry.items())


def case_seed(seed: int, name: str) -> int:
    """The seed of a case: the first 63 bits of SHA-256 of `<plan seed>/<case name>`.

    From the name and not from the number, so that adding a value to an axis changes no other case.
    63 bits, because SQLite's integers are signed.
    """
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def possible(links: int) -> tuple[tuple[Direction, ...], str]:
    """Which directions a lab of so many links has, and why not the others."""
    if links == 1:
        return ("uni",), "one link has one stream: from its port, through the device, back to the same port"
    if links == 2:
        return ("uni", "bidir", "uni-reverse"), ""
    why = (
        "with three or more links each port would send two streams, and a load is that of one on a full line"
    )
    return ("uni", "uni-reverse"), why


def directions(case: Case, wiring: Wiring) -> tuple[tuple[int, int], ...]:
    """Sending and receiving port of each stream, as indices into the wiring's ports.

    One port sends to itself. Of three or more each sends to the next, and the last one to the first. So a
    port sends one stream at most and receives one at most: its line is that stream's alone.
    """
    ports = len(wiring.ports)
    if case.direction not in possible(ports)[0]:
        raise ValueError(f"`direction` cannot be `{case.direction}`: {possible(ports)[1]}")
    forward = ((0, 1),) if ports == 2 else tuple((port, (port + 1) % ports) for port in range(ports))
    backward = tuple((receiver, sender) for sender, receiver in forward)
    match case.direction:
        case "uni":
            return forward
        case "uni-reverse":
            return backward
        case "bidir":
            return forward + backward


def is_reverse(case: Case, stream: int, streams: Sequence[Any]) -> bool:
    """Whether a stream of `directions` goes backward: its frames have source and destination swapped."""
    return case.direction == "uni-reverse" or (case.direction == "bidir" and stream >= len(streams) // 2)


def stream_names(case: Case, wiring: Wiring) -> tuple[str, ...]:
    """`west-east`, after the ports."""
    return tuple(f"{wiring.ports[a].name}-{wiring.ports[b].name}" for a, b in directions(case, wiring))


def situation(case: Case, wiring: Wiring) -> Situation:
    """What a method may know of a case."""
    mean = case.profile.mix.mean
    slowest = min(port.rate_bps for port in wiring.ports)
    member = min(port.member_bps for port in wiring.ports)
    # One flow stays on one member of a group, whatever the hash: that member's line is its ceiling.
    single = case.profile.flows == 1 and member < slowest
    return Situation(
        streams=stream_names(case, wiring),
        line_fps=line_rate(L1Rate(Fraction(slowest)), mean).amount,
        mean_size=mean,
        flow_ceiling_fps=line_rate(L1Rate(Fraction(member)), mean).amount if single else None,
        mixed_receivers=tuple(receiver for _, receiver in directions(case, wiring))
        if len(case.profile.mix.weights) > 1
        else (),
        burst=case.profile.burst,
    )
