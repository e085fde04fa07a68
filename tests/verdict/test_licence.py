"""A cap in bits a second differs from a capacity in frames by what it does to frames of other sizes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from kinds import kind
from netdyno.values.finding import Result, Value
from netdyno.values.records import CaseHead, CaseWiring, StoredCase, StoredVerdict
from netdyno.values.situation import Situation
from netdyno.values.verdict import Limit
from netdyno.verdict import across
from netdyno.verdict.causes import IdleMembers
from netdyno.verdict.proof_reasons import SameBits
from netdyno.verdict.reasons import DeviceLost
from netdyno.verdict.saying import Reached, RoundFigure
from words import said

GIGABIT = 10**9
SIZES = (64, 128, 512, 1518)


def case(
    number: int, size: int, fps: Fraction, *, limit: Limit = "device", forwarding: str = "ipv4"
) -> StoredCase:
    """A ramp whose hold forwarded so many frames a second each way."""
    head = CaseHead(
        number=number,
        name=f"{forwarding} / {size}",
        axes={"forwarding": forwarding, "profile": f"{size}b", "direction": "bidir"},
        kind="external",
        kind_title="device",
        emulated=False,
        settings={"forwarding": forwarding},
        method="ramp",
        parameters="{}",
        seed=number,
    )
    streams = ("west-east", "east-west")
    line = Fraction(GIGABIT, 8 * (size + 20))
    wiring = CaseWiring("real", Situation(streams, line, Fraction(size)), True, (), "{}")
    values = [Value(kind(name), scope, fps) for scope in streams for name in ("ramp max Rx", "hold rate")]
    verdicts = tuple(StoredVerdict(scope, limit, said("because")) for scope in (*streams, "sum"))
    return StoredCase(
        head, "done", wiring, Result("ramp", tuple(values), (0,), headlines=("ramp max Rx",)), verdicts
    )


def named(rate: Callable[[int], Fraction], sizes: tuple[int, ...] = SIZES) -> set[Limit]:
    """The limits named on cases of these sizes."""
    cases = [case(number, size, rate(size)) for number, size in enumerate(sizes)]
    changed = across(cases)
    return {verdict.limit for one in cases for verdict in changed.get(one.head.number, one.verdicts)}


@pytest.mark.parametrize("counted", [20, 0, -4, -18], ids=["L1", "L2", "L2 without FCS", "L3"])
@pytest.mark.parametrize("bps", [50_000_000, 100_000_000, 250_000_000, 300_000_000])
def test_the_same_round_rate_in_bits_at_all_sizes_is_a_licence(counted: int, bps: int) -> None:
    assert named(lambda size: Fraction(bps, 8 * (size + counted))) == {"licence"}


def test_the_same_frames_a_second_are_a_devices_capacity() -> None:
    assert named(lambda size: Fraction(100_000)) == {"device"}


def test_a_rate_in_bits_that_is_not_round_stays_the_devices() -> None:
    """A bus or a memory counts bytes as well."""
    assert named(lambda size: Fraction(273_000_000, 8 * size)) == {"device"}


def test_one_size_or_two_that_are_nearly_one_say_nothing() -> None:
    rate = lambda size: Fraction(100_000_000, 8 * size)  # noqa: E731
    assert named(rate, (512,)) == {"device"}
    assert named(rate, (1500, 1518)) == {"device"}
    assert named(rate, (512, 1518)) == {"licence"}


def test_only_the_cases_at_the_cap_are_its() -> None:
    """Short frames are limited by the processor, long ones by the licence: so are routers sold."""
    fps = [min(Fraction(150_000), Fraction(200_000_000, 8 * size)) for size in SIZES]
    cases = [case(number, size, rate) for number, (size, rate) in enumerate(zip(SIZES, fps, strict=True))]
    changed = across(cases)
    # 64 and 128 bytes at 150,000 a second are 77 and 154 Mbit/s.
    assert set(changed) == {2, 3}
    for verdicts in changed.values():
        assert [(one.scope, one.limit) for one in verdicts] == [
            ("west-east", "licence"),
            ("east-west", "licence"),
            ("sum", "licence"),
        ]
        assert verdicts[0].reason == SameBits(Fraction(200_000_000), "L2", (Fraction(512), Fraction(1518)))


def test_cases_of_other_configurations_and_other_limits_are_left_out() -> None:
    rates = {size: Fraction(100_000_000, 8 * size) for size in SIZES}
    other = [case(number, size, rates[size], forwarding=f"f{size}") for number, size in enumerate(SIZES)]
    assert across(other) == {}
    for limit in ("line", "tester", "receiver", "fixture", "inconclusive", "invalid"):
        assert across([case(n, s, rates[s], limit=limit) for n, s in enumerate(SIZES)]) == {}  # type: ignore[arg-type]


def test_devices_of_any_capacity_in_frames_are_never_taken_for_a_licence() -> None:
    draw = random.Random(5)
    for _ in range(2000):
        fps = Fraction(draw.randrange(1000, 80_000))
        assert named(lambda size, fps=fps: fps * draw.choice((1, Fraction(99, 100)))) == {"device"}  # type: ignore[misc]


def test_searches_in_which_no_load_passed_hint_at_nothing() -> None:
    """All of them came down to the same step of their search, 5 % of the line, which is a round figure."""
    cases = []
    for number, size in enumerate((64, 512)):
        one = case(number, size, Fraction(1))
        line = Fraction(GIGABIT, 8 * (size + 20))
        values = tuple(
            Value(kind("throughput"), scope, Fraction(0), Fraction(0), line / 20, searched=True)
            for scope in ("west-east", "east-west")
        )
        assert values[0].only_below is not None
        result = Result("throughput", values, (0,), headlines=("throughput",))
        cases.append(replace(one, result=result))
    assert across(cases) == {}


def at_figure(number: int, size: int, fps: Fraction, *, limit: Limit = "device") -> StoredCase:
    """A case whose verdicts hint at 100 Mbit/s L2."""
    one = case(number, size, fps, limit=limit)
    reached = Reached(fps)
    figure = RoundFigure(Fraction(100_000_000), "L2")
    lost = DeviceLost(reached, 1, 1000, 0, False, 1, 0, 0, True, figure)
    return replace(one, verdicts=tuple(replace(verdict, reason=lost) for verdict in one.verdicts))


def figures(verdicts: tuple[StoredVerdict, ...]) -> set[RoundFigure | None]:
    """The round figures that verdicts hint at."""
    return {one.reason.figure for one in verdicts if isinstance(one.reason, DeviceLost)}


@pytest.mark.parametrize("limit", ["device", "line", "tester", "none", "inconclusive"])
def test_round_figure_is_no_hint_where_another_size_passed_more(limit: Limit) -> None:
    """195,312 frames of 64 bytes a second are 100 Mbit/s, and as many of 512 bytes eight times that."""
    capacity = Fraction(100_000_000, 8 * 64)
    cases = [at_figure(0, 64, capacity), case(1, 512, capacity, limit=limit)]
    changed = across(cases)
    assert set(changed) == {0}
    assert {one.limit for one in changed[0]} == {"device"}
    # Of both streams, and of their sum, which has their reason.
    assert figures(changed[0][:2]) == {None}


def test_round_figure_stays_a_hint_where_other_sizes_passed_less() -> None:
    """A processor holds short frames below a cap of long ones, and what is invalid says nothing."""
    cap = Fraction(100_000_000, 8 * 512)
    assert across([at_figure(0, 512, cap), case(1, 64, cap)]) == {}
    assert across([at_figure(0, 512, cap), case(1, 1518, cap, limit="invalid")]) == {}
    other = case(1, 1518, cap, forwarding="l2")
    assert across([at_figure(0, 512, cap), other]) == {}


def test_two_sizes_at_one_figure_are_no_licence_where_a_third_passed_more() -> None:
    rates = {64: Fraction(100_000_000, 8 * 64), 128: Fraction(100_000_000, 8 * 128), 512: Fraction(50_000)}
    cases = [case(number, size, fps) for number, (size, fps) in enumerate(rates.items())]
    assert set(across(cases[:2])) == {0, 1}
    assert across(cases) == {}


@pytest.mark.parametrize("members", [2, 8])
def test_half_of_a_lag_with_idle_members_is_no_licence(members: int) -> None:
    """What half of the members carry is a round figure in bits of a full line."""
    rate = lambda size: Fraction(GIGABIT // 2, 8 * (size + 20))  # noqa: E731
    assert named(rate) == {"licence"}
    idle = IdleMembers("d1", members // 2, members, 4096)
    cases = [case(number, size, rate(size)) for number, size in enumerate(SIZES)]
    noted = [replace(one, result=replace(one.result, notes=(idle,))) for one in cases if one.result]
    assert across(noted) == {}


@pytest.mark.parametrize(
    ("bps", "counted", "part"),
    [
        (GIGABIT // 2, 20, Fraction(1, 2)),
        (GIGABIT // 4, 20, Fraction(1, 4)),
        (300_000_000, 20, None),
        # Bits of frames without what a line has between them are no part of a line.
        (GIGABIT // 2, 0, None),
    ],
)
def test_licence_that_is_a_part_of_the_line_says_which(bps: int, counted: int, part: Fraction | None) -> None:
    cases = [case(n, size, Fraction(bps, 8 * (size + counted))) for n, size in enumerate(SIZES)]
    for verdicts in across(cases).values():
        assert isinstance(verdicts[0].reason, SameBits)
        assert verdicts[0].reason.of_line == part
