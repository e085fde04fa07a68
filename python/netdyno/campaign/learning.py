"""What a case learns before its method: which member of a LAG carries each flow, if its profile asks."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from netdyno.devices.wiring import LabError
from netdyno.methods.wrap.members import Wanted, learning_s
from netdyno.plan.matrix import count_candidates, list_spread, own_flows, situation

if TYPE_CHECKING:
    from netdyno.devices import Wiring
    from netdyno.plan import Plan
    from netdyno.plan.matrix import Case
    from netdyno.values.situation import Situation

USUAL = Fraction(3, 2)
"""Flows that are tried for each that is chosen, of members that a hash loads about evenly."""


def wanted_members(plan: Plan, case: Case, wiring: Wiring, known: Situation) -> Wanted | None:
    """The shares of flows that members of LAGs are to carry; None: the profile asks for none."""
    # It loads verdicts, which checking a plan does not.
    from netdyno.campaign.inside import count_members_of

    spread, to_lags = case.profile.spread, dict(list_spread(plan, case, wiring))
    if spread is None or not to_lags:
        return None
    every = count_candidates(case, wiring)
    return Wanted(
        every,
        {one.name: own_flows(one, wiring, every) for one in to_lags},
        {one.name: own_flows(one, wiring, spread) for one in to_lags},
        spread.shares,
        {one.name: members for one, members in to_lags.items() if not one.place.bundle},
        lambda trial, outcome, port: count_members_of(known, wiring, trial, outcome, port),
        {
            one.place.bundle: _carrying(spread.shares, wiring, one.place.bundle)
            for one in to_lags
            if spread.shares and one.place.bundle
        },
    )


def _carrying(shares: tuple[int, ...], wiring: Wiring, ports: tuple[int, ...]) -> tuple[int, ...]:
    """The shares of these ports of a LAG, which are fewer where members did not join. Raises LabError."""
    lag = wiring.ports[ports[0]].lag
    if lag is None:
        return shares
    of = dict(zip((f"{lag.name}.{one}" for one in lag.interfaces), shares, strict=True))
    found = tuple(of[wiring.ports[port].name] for port in ports)
    if not any(found):
        raise LabError(
            f"no member of `{lag.name}` that joined is to carry flows",
            "look at the members that did not, or give those that did a share",
            code="lag-not-formed",
        )
    return found


class OneByOne(NamedTuple):
    """Flows that are learned by the device's counters, a trial each. usual, most: trials. seconds: about how
    long the usual ones take in real time."""

    usual: int
    most: int
    seconds: Fraction


def learned_one_by_one(plan: Plan, case: Case, wiring: Wiring) -> OneByOne | None:
    """How many trials of a flow each a case makes; None: none."""
    spread = case.profile.spread
    inside = [one for one, _ in list_spread(plan, case, wiring) if not one.place.bundle]
    if spread is None or not inside:
        return None
    every = count_candidates(case, wiring)
    usual: Counter[int] = Counter()
    most: Counter[int] = Counter()
    for one in inside:
        # Streams to different ports share a trial.
        candidates = own_flows(one, wiring, every)
        most[one.place.rx] += candidates
        usual[one.place.rx] += min(int(own_flows(one, wiring, spread) * USUAL), candidates)
    each = plan.trial.settle.amount + plan.trial.drain.amount + learning_s(situation(case, wiring))
    return OneByOne(max(usual.values()), max(most.values()), max(usual.values()) * each)
