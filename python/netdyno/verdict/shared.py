"""Which resource explains the limit of ports loaded alone and together; rules: docs/verdicts-detail.md.

Only sums are read: who gets how much of what ports share is chance (deterministic arrivals at a full queue
may lock, and one port then gets all), and how much they get together is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from netdyno.errors import names
from netdyno.values.units import decimal
from netdyno.values.verdict import Limit, Verdict
from netdyno.verdict.saying import pps

Resource: TypeAlias = Literal["port", "card", "box", "tester", "not told"]
"""`port`: nothing is shared. `box`: whatever all of the ports share."""

SAME = Fraction(1, 50)
"""Sums within this share of each other, and as far as their own bounds are apart, are the same."""

COARSE = Fraction(1, 10)
"""Bounds further apart than this tell nothing of what is shared: a fall by less does not show."""

SOUND: tuple[Limit, ...] = ("device", "licence", "line")
"""Limits of which the tester has no part."""

Fall: TypeAlias = tuple["Loaded", dict[str, Fraction]]
"""A case whose ports pass less than apart, and what each would pass if nothing were shared."""


@dataclass(frozen=True)
class PortRate:
    """What came back of what a port sent. asked: its part of a load, as `Place.share`. is_bound: others ended
    the search, and its group may pass more."""

    port: str
    group: str
    card: str
    fps: Fraction
    asked: Fraction
    is_bound: bool = False


@dataclass(frozen=True)
class Loaded:
    """The rates that a case found for its port groups.

    one_load: all ports were held at one share of their lines, that of the weakest (a search); else each was
    loaded as far as it went. spread: how far the bounds of its rates are apart, a share of them. verdicts: on
    its streams.
    """

    name: str
    ports: tuple[PortRate, ...]
    one_load: bool
    spread: Fraction
    verdicts: tuple[Verdict, ...]

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(port.group for port in self.ports))

    @property
    def by_device(self) -> bool:
        """Whether the case met a limit of the device, not only full lines."""
        return any(verdict.limit in ("device", "licence") for verdict in self.verdicts)

    def sum(self, card: str | None = None) -> Fraction:
        """Frames per second of a card's ports; of all, unless one is named."""
        return sum((port.fps for port in self.ports if card in (None, port.card)), Fraction(0))

    def groups_on(self, card: str) -> frozenset[str]:
        return frozenset(port.group for port in self.ports if port.card == card)


@dataclass(frozen=True)
class Answer:
    """The resource that explains the cases, and the reason. cards: those that are the limit."""

    resource: Resource
    reason: str
    cards: tuple[str, ...] = ()


def apart(together: Loaded, alone: Iterable[Loaded]) -> dict[str, Fraction] | None:
    """The rate of each port if nothing were shared: the rate that its group passed alone.

    None if a group was not measured alone. Of cases of one load the weakest group is as far as all get.
    """
    single = {case.groups[0]: case for case in alone if len(case.groups) == 1}
    if not set(together.groups) <= set(single):
        return None
    found = {port.port: port.fps for group in together.groups for port in single[group].ports}
    if not together.one_load:
        return found
    # By what they are asked for together: alone a group's load is that of its own line.
    least = min(found[port.port] / port.asked for port in together.ports if port.asked)
    return {port.port: least * port.asked for port in together.ports}


def explain(cases: Sequence[Loaded]) -> Answer | None:
    """The answer of cases that differ in nothing but the groups they load; None if none loads several."""
    together = [case for case in cases if len(case.groups) > 1]
    if not together:
        return None
    wrong = _unsound(cases)
    if wrong is not None:
        return wrong
    falls = []
    for case in together:
        expected = apart(case, cases)
        if expected is None:
            missing = [group for group in case.groups if (group,) not in {one.groups for one in cases}]
            return Answer(
                "not told",
                f"{names(missing)} {'was' if len(missing) == 1 else 'were'} not measured alone, so what is"
                " lost together is unknown. Add a case of each group alone",
            )
        if case.sum() < sum(expected.values()) * (1 - _tolerance(cases)):
            falls.append((case, expected))
    if not falls and _tolerance(cases) > COARSE:
        share = decimal(100 * _tolerance(cases), 0, "at most")
        return Answer(
            "not told",
            f"the bounds of these rates are up to {share} % apart, which hides a smaller loss together."
            " Use finer steps (a smaller `width`) or a ramp",
        )
    if not falls:
        return _own(together, cases)
    return _who(cases, falls)


def _tolerance(cases: Iterable[Loaded]) -> Fraction:
    return SAME + max(case.spread for case in cases)


def _unsound(cases: Sequence[Loaded]) -> Answer | None:
    """The answer where a limit may be the tester's or is unknown: the device is not blamed."""
    for case in cases:
        for verdict in case.verdicts:
            if verdict.limit in SOUND:
                continue
            whose: Resource = "tester" if verdict.limit in ("tester", "receiver") else "not told"
            return Answer(whose, f"of `{case.name}` the limit is `{verdict.limit}`: {verdict.reason}")
    return None


def _own(together: Sequence[Loaded], cases: Sequence[Loaded]) -> Answer:
    """The answer where groups pass together the rates that they pass alone."""
    most = max(together, key=lambda case: len(case.ports))
    if not any(case.by_device for case in cases):
        return Answer(
            "port", "nothing the ports share was the limit: all lines were full, alone and together"
        )
    within = _within(most)
    if within is not None:
        return within
    expected = apart(most, cases)
    assert expected is not None
    times = _share(most.sum(), expected)
    if most.one_load:
        return Answer(
            "port",
            f"as far as the weakest of {names(most.groups)} goes alone, nothing is shared: together they"
            f" passed {pps(most.sum())}, {times} of what they would at its share of the line. A ramp takes"
            " each to its own limit",
        )
    return Answer(
        "port",
        f"nothing is shared: together the ports of {names(most.groups)} passed {pps(most.sum())},"
        f" {times} of what they passed alone; each has a limit of its own",
    )


def _within(most: Loaded) -> Answer | None:
    """Where each card's ports are of one group, they were never loaded apart, and may share the card."""
    cards = sorted({port.card for port in most.ports if port.card})
    groups = {card: {port.group for port in most.ports if port.card == card} for card in cards}
    several = [card for card in cards if sum(port.card == card for port in most.ports) > 1]
    if not several or any(len(groups[card]) > 1 for card in several):
        return None
    return Answer(
        "not told",
        f"the groups {names(most.groups)} share nothing, but all ports of {names(several)} are in one group."
        " Load some of them alone to see whether they share their card",
    )


@dataclass(frozen=True)
class _Full:
    """A capacity that explains every case.

    cards: whose; none: the box's. alike: other cases that reach it with fewer groups, which makes it a
    constant: names, or nothing.
    """

    cards: tuple[str, ...]
    alike: str


def _who(cases: Sequence[Loaded], falls: Sequence[Fall]) -> Answer:
    """The card or the box: which of them explains all cases. Of both the card, where it is shown to be a
    constant, the box is not, and other cards are not full."""
    case, expected = max(falls, key=lambda fall: len(fall[0].ports))
    lost = (
        f"{names(case.groups)} together passed {pps(case.sum())}, {_share(case.sum(), expected)} of"
        " what they would if nothing were shared"
    )
    on = {port.card for port in case.ports}
    named = all(port.card for one in cases for port in one.ports)
    box, card = _box(cases, falls), _cards(cases, falls) if named else None
    if box is not None and card is not None and len(on) == 1:
        return Answer(
            "not told",
            f"{lost}; all of them are on {_of_cards(card.cards)}: it or the whole box is full. Add a group on"
            " another card",
        )
    if card is not None and card.alike and set(card.cards) < on and box is not None and not box.alike:
        # A box would have to leave just that card what it passes in other cases, and the others theirs.
        box = None
    if box is not None and card is not None:
        return Answer(
            "not told",
            f"{lost}; {_of_cards(card.cards)} and the whole box explain it as well. Add groups of one"
            " card together, or several with one each",
        )
    if card is not None:
        each = " and ".join(pps(case.sum(name)) for name in card.cards)
        like = f", no more than in {card.alike}" if card.alike else ""
        what = "is" if len(card.cards) == 1 else "are"
        return Answer(
            "card", f"{lost}; {_of_cards(card.cards)} passed {each}{like}, and {what} full", card.cards
        )
    if box is None:
        return Answer(
            "not told", f"{lost}; neither one capacity of the box nor one of a card explains all cases"
        )
    if box.alike:
        return Answer("box", f"{lost}, no more than in {box.alike}: what all of them share is full")
    if named:
        return Answer(
            "box", f"{lost}, and no capacity of a card explains that: what all of them share is full"
        )
    return Answer(
        "not told",
        f"{lost}. Name their cards (`card:` of a link or group), or add cases of more groups or fewer",
    )


def _box(cases: Sequence[Loaded], falls: Sequence[Fall]) -> _Full | None:
    """One capacity of the box, if it explains every case: all that fall pass the same, and nobody more."""
    least = max(case.sum() for case in cases) * (1 - _tolerance(cases))
    if any(case.sum() < least for case, _ in falls):
        return None
    largest, _ = max(falls, key=lambda fall: len(fall[0].ports))
    fewer = [case for case in cases if set(case.groups) < set(largest.groups)]
    return _Full((), _alike((case, case.sum()) for case in fewer if case.sum() >= least))


def _cards(cases: Sequence[Loaded], falls: Sequence[Fall]) -> _Full | None:
    """A capacity of each card, if that explains every case: each that lost is full.

    Full is a card that carries several groups and as much as in any case. Where one load is held for all, one
    that is full is enough: it holds back all others.
    """
    tolerance = _tolerance(cases)
    full: dict[str, Loaded] = {}
    for case, expected in falls:
        lost = []
        for name in dict.fromkeys(port.card for port in case.ports):
            meant = sum(expected[port.port] for port in case.ports if port.card == name)
            lost += [name] if case.sum(name) < meant * (1 - tolerance) else []
        found = [
            name
            for name in lost
            if len(case.groups_on(name)) > 1
            and case.sum(name) >= max(one.sum(name) for one in cases) * (1 - tolerance)
        ]
        if not found or (found != lost and not case.one_load):
            return None
        full |= dict.fromkeys(found, case)
    alike = {}
    for name, most in full.items():
        fewer = [case for case in cases if case.groups_on(name) < most.groups_on(name)]
        least = most.sum(name) * (1 - tolerance)
        alike[name] = _alike((case, case.sum(name)) for case in fewer if case.sum(name) >= least)
    constant = [name for name in full if alike[name]]
    if len(constant) < len(full) and any(case.one_load for case, _ in falls) and constant:
        # The others are held at its share of their lines, and need not be full.
        full = {name: full[name] for name in constant}
    return _Full(tuple(full), alike[next(iter(full))] if all(alike[name] for name in full) else "")


def _alike(reached: Iterable[tuple[Loaded, Fraction]]) -> str:
    """Cases that met a limit of the device and passed something, in words."""
    found = [case.name for case, passed in reached if case.by_device and passed]
    return names(found) if found else ""


def _of_cards(cards: Sequence[str]) -> str:
    return f"the card {names(cards)}" if len(cards) == 1 else f"the cards {names(cards)}"


def _share(part: Fraction, expected: Mapping[str, Fraction]) -> str:
    whole = sum(expected.values(), Fraction(0))
    return f"{decimal(100 * part / whole, 1)} %" if whole else "n/a"
