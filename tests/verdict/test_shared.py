"""Which resource explains the limit, of capacities that are known: never a wrong one, whoever gets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from netdyno.values.verdict import Limit, Verdict
from netdyno.verdict.shared import Answer, Loaded, PortRate, apart, explain
from sampling import examples
from words import said

DEVICE = Verdict("device", said("frames were lost"))
LINE = Verdict("line", said("it was full"))

Ports = Mapping[str, tuple[str, int]]
"""Group to its card and what its one port passed."""


def case(ports: Ports, verdict: Verdict = DEVICE, *, one_load: bool = False) -> Loaded:
    """A case with a port for each group, all with the same line."""
    found = tuple(
        PortRate(f"p-{group}", group, card, Fraction(fps), Fraction(1))
        for group, (card, fps) in ports.items()
    )
    return Loaded("+".join(ports), found, one_load, Fraction(0), (verdict,) * len(found))


def answer(*cases: Loaded) -> Answer:
    found = explain(cases)
    assert found is not None
    return found


def alone(
    cards: Mapping[str, str], fps: int, verdict: Verdict = DEVICE, *, one_load: bool = False
) -> list[Loaded]:
    return [case({group: (card, fps)}, verdict, one_load=one_load) for group, card in cards.items()]


TWO_CARDS = {"a": "1", "b": "1", "c": "2"}


def test_without_a_case_of_several_groups_there_is_no_answer() -> None:
    assert explain(alone(TWO_CARDS, 100)) is None


def test_nothing_is_shared_within_two_per_cent() -> None:
    singles = alone(TWO_CARDS, 100)
    assert answer(*singles, case({"a": ("1", 98), "b": ("1", 98), "c": ("2", 98)})).resource == "port"
    # A card whose sum fell by 3.5 %, and no other.
    lost = answer(*singles, case({"a": ("1", 96), "b": ("1", 97), "c": ("2", 94)}))
    assert lost.resource != "port"
    lines = [case({group: (card, 100)}, LINE) for group, card in TWO_CARDS.items()]
    full = answer(*lines, case({"a": ("1", 100), "b": ("1", 100), "c": ("2", 100)}, LINE))
    assert (full.resource, full.reason[:7]) == ("port", "nothing")


def test_coarsely_known_rates_name_no_shared_limit() -> None:
    """Steps of half the line: at least 50 alone and together, and a box of 150 for three is not seen."""
    coarse = [replace(one, spread=Fraction(1)) for one in alone(TWO_CARDS, 50)]
    together = replace(case({"a": ("1", 50), "b": ("1", 50), "c": ("2", 50)}), spread=Fraction(1))
    found = answer(*coarse, together)
    assert found.resource == "not told"
    assert "up to 102 % apart" in found.reason


@pytest.mark.parametrize("one_load", [False, True])
def test_ports_of_a_card_that_were_never_loaded_apart_may_share_it(one_load: bool) -> None:
    """Two cards of 100 each, a group of two ports on each: whether a card is full or a port shows nowhere."""

    def whole(*cards: str) -> Loaded:
        ports = [(card, port) for card in cards for port in (1, 2)]
        found = tuple(PortRate(f"{c}{p}", c, c, Fraction(50), Fraction(1)) for c, p in ports)
        return Loaded("+".join(cards), found, one_load, Fraction(0), (DEVICE,) * len(found))

    found = answer(whole("a"), whole("b"), whole("a", "b"))
    assert found.resource == "not told"
    assert "all ports of `a` and `b` are in one group" in found.reason


@pytest.mark.parametrize("split", [(50, 50), (100, 0), (3, 97)])
def test_full_card_is_named_for_any_division_among_its_ports(split: tuple[int, int]) -> None:
    together = case({"a": ("1", split[0]), "b": ("1", split[1]), "c": ("2", 100)})
    found = answer(*alone(TWO_CARDS, 100), together)
    assert (found.resource, found.cards) == ("card", ("1",))
    # The whole line alone, three quarters of it together: the card's, or a box's by chance.
    short = case({"a": ("1", 75), "b": ("1", 75), "c": ("2", 100)})
    assert answer(*alone(TWO_CARDS, 100, LINE), short).resource == "not told"
    # Without that card's neighbour the box would have had room for the third group.
    pair = case({"a": ("1", 75), "b": ("1", 75)})
    found = answer(*alone(TWO_CARDS, 100, LINE), pair, short)
    assert (found.resource, found.cards) == ("card", ("1",))


@pytest.mark.parametrize("split", [(33, 33, 34), (100, 0, 0), (0, 60, 40)])
def test_full_device_is_named_for_any_division_among_its_ports(split: tuple[int, int, int]) -> None:
    together = case({group: (card, fps) for (group, card), fps in zip(TWO_CARDS.items(), split, strict=True)})
    assert answer(*alone(TWO_CARDS, 100), together).resource == "box"


def test_full_device_is_named_by_groups_on_cards_that_share_nothing() -> None:
    together = case({"a": ("1", 60), "b": ("1", 70), "c": ("2", 70)})
    assert answer(*alone(TWO_CARDS, 100, LINE), together).resource == "box"
    unnamed = dict.fromkeys(TWO_CARDS, "")
    together = case({"a": ("", 60), "b": ("", 70), "c": ("", 70)})
    found = answer(*alone(unnamed, 100, LINE), together)
    assert (found.resource, "`card:`" in found.reason) == ("not told", True)


def test_one_card_alone_may_be_the_box() -> None:
    one_card = {"a": "1", "b": "1"}
    found = answer(*alone(one_card, 100), case({"a": ("1", 50), "b": ("1", 50)}))
    assert found.resource == "not told"
    assert "Add a group on another card" in found.reason


def test_two_full_cards_may_be_a_device_twice_as_fast_as_a_port() -> None:
    four = {"a": "1", "b": "1", "c": "2", "d": "2"}
    every = case({group: (card, 50) for group, card in four.items()})
    assert answer(*alone(four, 100), every).resource == "not told"
    pair = case({"a": ("1", 50), "b": ("1", 50)})
    found = answer(*alone(four, 100), pair, every)
    assert (found.resource, found.cards) == ("card", ("1", "2"))
    fast = case({"a": ("1", 100), "b": ("1", 100)})
    assert answer(*alone(four, 100), fast, every).resource == "box"


def test_a_search_holds_all_at_the_load_of_the_weakest() -> None:
    strong = {"a": "1", "b": "1"}
    singles = [*alone(strong, 100, one_load=True), case({"c": ("2", 40)}, one_load=True)]
    together = case({"a": ("1", 40), "b": ("1", 40), "c": ("2", 40)}, one_load=True)
    expected = apart(together, singles)
    assert expected is not None
    assert set(expected.values()) == {40}
    assert answer(*singles, together).resource == "port"
    # A card of 100: two groups of it have 50 each, and so has the third one.
    cards = {"a": "1", "b": "1", "c": "2"}
    held = case({group: (card, 50) for group, card in cards.items()}, one_load=True)
    found = answer(*alone(cards, 100, one_load=True), held)
    assert (found.resource, found.cards) == ("card", ("1",))
    # A box of 100, by three.
    held = case({group: (card, 33) for group, card in cards.items()}, one_load=True)
    assert answer(*alone(cards, 99, one_load=True), held).resource == "box"


@pytest.mark.parametrize(
    ("limit", "resource"),
    [
        ("tester", "tester"),
        ("receiver", "tester"),
        ("inconclusive", "not told"),
        ("invalid", "not told"),
        ("fixture", "not told"),
    ],
)
def test_the_device_is_not_blamed_where_the_tester_may_be_the_limit(limit: Limit, resource: str) -> None:
    together = case(
        {"a": ("1", 50), "b": ("1", 50), "c": ("2", 100)},
        Verdict(limit, said("not calibrated: unknown")),
    )
    found = answer(*alone(TWO_CARDS, 100), together)
    assert found.resource == resource
    assert "not calibrated: unknown" in found.reason


def test_a_group_that_was_not_measured_alone_is_named() -> None:
    found = answer(*alone({"a": "1"}, 100), case({"a": ("1", 50), "b": ("1", 50)}))
    assert found.resource == "not told"
    assert found.reason.startswith("`b` was not measured alone")


@st.composite
def devices(draw: st.DrawFn) -> tuple[Literal["port", "card", "box"], list[Loaded]]:
    """A device of which one kind of resource is scarce, and cases of it that were shared out by chance."""
    cards = draw(st.lists(st.sampled_from("123"), min_size=2, max_size=5))
    names = "abcde"[: len(cards)]
    lines = [draw(st.integers(500, 1500)) for _ in cards]
    scarce: Literal["port", "card", "box"] = draw(st.sampled_from(("port", "card", "box")))
    most = (
        {card: draw(st.integers(300, 2500)) for card in "123"}
        if scarce == "card"
        else dict.fromkeys("123", 10**9)
    )
    box = draw(st.integers(300, 4000)) if scarce == "box" else 10**9
    own = [draw(st.integers(200, line)) if scarce == "port" else line for line in lines]
    groups = range(len(cards))
    some = [chosen for size in range(2, len(cards)) for chosen in combinations(groups, size)]
    unions = draw(st.lists(st.sampled_from(some), max_size=3, unique=True)) if some else []
    cases = []
    for chosen in [*((group,) for group in groups), *unions, tuple(groups)]:
        left, room, got = box, dict(most), {}
        order = draw(st.permutations(chosen))
        # By turns, each as much as it wants of what is left: any split that there can be of a full queue.
        for turn, group in enumerate([*order, *order]):
            want = own[group] - got.get(group, 0)
            if turn < len(order):
                want = draw(st.integers(0, want))
            passed = min(want, left, room[cards[group]])
            got[group] = got.get(group, 0) + passed
            left -= passed
            room[cards[group]] -= passed
        verdict = LINE if all(got[group] == lines[group] for group in chosen) else DEVICE
        cases.append(case({names[group]: (cards[group], got[group]) for group in chosen}, verdict))
    return scarce, cases


@settings(max_examples=examples(400), deadline=None)
@given(devices())
def test_no_resource_is_named_that_is_not_the_one(device: tuple[str, Sequence[Loaded]]) -> None:
    """Nothing is shared, is said where what is shared is not scarce enough to be seen."""
    scarce, cases = device
    found = answer(*cases)
    every = cases[-1]
    expected = apart(every, cases)
    assert expected is not None
    if found.resource in ("card", "box"):
        assert found.resource == scarce
    if every.sum() < sum(expected.values()) * Fraction(97, 100):
        assert found.resource != "port"
